#include "daemon/inbox/pop3_session.h"

#include "daemon/inbox/gate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COMMAND_MAX = 64,
    LIST_LINE_MAX = 4096,
    LISTED_MAX = 1000 * 1000,
    SIZE_USUAL = GATE_LETTER_MAX, /* what a letter may have whatever LIST says, which is often an estimate */
    SIZE_SLACK = 1024 * 1024,
    SLOW_BYTES = 20 * 1000,   /* a second that a letter may take for so many bytes, beyond the operation's own time */
};

int pop3_seconds(const Pop3Session *session) {
    return session->account.seconds > 0 ? session->account.seconds : LINE_SECONDS;
}

/* ---- the line ---- */

void pop3_drop(Pop3Session *session) {
    line_close(session->line);
    session->line = NULL;
    session->idle = false;
    session->begin = session->end = 0;
    for (size_t i = 0; i < session->count; i++)
        free(session->entries[i].uidl);
    free(session->entries);
    session->entries = NULL;
    session->count = session->nameless = 0;
}

static int fill(Pop3Session *session, Error *error) {
    if (session->begin < session->end)
        return 0;
    ssize_t got = line_read(session->line, session->buffer, sizeof session->buffer, error);
    if (got <= 0)
        return -1;
    session->begin = 0;
    session->end = (size_t)got;
    return 0;
}

/* One line without its end; of a longer one the first `most` bytes. */
static int read_line(Pop3Session *session, char *ret_line, size_t most, Error *error) {
    size_t length = 0;
    for (;;) {
        if (fill(session, error) < 0)
            return -1;
        char byte = session->buffer[session->begin++];
        if (byte == '\n')
            break;
        if (length < most)
            ret_line[length++] = byte;
    }
    if (length > 0 && ret_line[length - 1] == '\r')
        length--;
    ret_line[length] = 0;
    return 0;
}

static bool silent(Pop3Session *session) {
    return session->begin == session->end && !line_pending(session->line);
}

/* Sends a command and reads its status line. 1 for +OK, 0 for -ERR, -1 for a line that cannot be used any more. */
static int command(Pop3Session *session, const char *text, Error *error) {
    char *words = session->words;
    *words = 0;
    if (!silent(session))
        return error_set(error, ERROR_MAILBOX, 0, "%s hung up, or said something that it was not asked: a new connection is tried later", line_host(session->line));
    if (line_write(session->line, text, strlen(text), error) < 0 || read_line(session, words, POP3_WORDS_MAX, error) < 0) {
        *words = 0;
        return -1;
    }
    session->idle = false;
    session->answers++;
    bool well = text_starts_nocase(words, "+OK");
    if (!well && !text_starts_nocase(words, "-ERR"))
        return error_set(error, ERROR_MAILBOX, 0, "%s answers \"%.100s\" where POP3 has +OK or -ERR: the mailbox is read again from its list",
                         line_host(session->line), words);
    size_t skip = well ? 3 : 4;
    skip += strspn(words + skip, " \t");
    memmove(words, words + skip, strlen(words + skip) + 1);
    return well;
}

int pop3_quit(Pop3Session *session, int seconds, Error *error) {
    if (session->line == NULL)
        return 1;
    line_begin(session->line, seconds, LIST_LINE_MAX);
    int result = command(session, "QUIT\r\n", error);
    pop3_drop(session);
    return result;
}

/* ---- the list ---- */

static int by_number(const void *left, const void *right) {
    const Pop3Entry *one = left, *other = right;
    return one->number < other->number ? -1 : one->number > other->number;
}

static int by_uidl(const void *left, const void *right) {
    return strcmp(((const Pop3Entry *)left)->uidl, ((const Pop3Entry *)right)->uidl);
}

static int by_uidl_then_number(const void *left, const void *right) {
    int order = by_uidl(left, right);
    return order != 0 ? order : by_number(left, right);
}

static bool uidl_good(const char *uidl) {
    size_t length = strlen(uidl);
    for (size_t i = 0; i < length; i++)
        if (uidl[i] < '!' || uidl[i] > '~')
            return false;
    return length > 0 && length <= POP3_UIDL_MAX;
}

/* "NUMBER REST". A number that no letter can have makes the whole answer worthless: a command could reach the wrong letter. */
static int split_entry(Pop3Session *session, char *line, const char *what, uint32_t *ret_number, char **ret_rest, Error *error) {
    size_t digits = strspn(line, "0123456789");
    unsigned long number = digits > 0 && digits < 10 ? strtoul(line, NULL, 10) : 0;
    if (number == 0)
        return error_set(error, ERROR_MAILBOX, 0, "%s names a letter \"%.40s\" in its answer to %s: numbers begin with 1, so nothing is read or deleted",
                         line_host(session->line), line, what);
    char *rest = line + digits;
    rest += strspn(rest, " \t");
    size_t length = strlen(rest);
    while (length > 0 && (rest[length - 1] == ' ' || rest[length - 1] == '\t'))
        rest[--length] = 0;
    *ret_number = (uint32_t)number;
    *ret_rest = rest;
    return 0;
}

/* Reads the lines of a multi-line answer up to ".", each by `take`. */
static int read_entries(Pop3Session *session, const char *what, int (*take)(Pop3Session *session, uint32_t number, const char *rest, Error *error),
                        Error *error) {
    char line[LIST_LINE_MAX + 1];
    for (;;) {
        uint32_t number = 0;
        char *rest = NULL;
        if (read_line(session, line, LIST_LINE_MAX, error) < 0)
            return -1;
        if (strcmp(line, ".") == 0)
            return 0;
        if (split_entry(session, line, what, &number, &rest, error) < 0 || take(session, number, rest, error) < 0)
            return -1;
    }
}

static int take_uidl(Pop3Session *session, uint32_t number, const char *rest, Error *error) {
    if (!uidl_good(rest)) {
        session->nameless++;
        return 0;
    }
    if (session->count == LISTED_MAX)
        return error_set(error, ERROR_MAILBOX, 0, "%s lists more than %d letters, which is more than one club can have", line_host(session->line), LISTED_MAX);
    if ((session->count & (session->count - 1)) == 0) { /* room for the next power of two */
        Pop3Entry *grown = realloc(session->entries, (session->count == 0 ? 1 : 2 * session->count) * sizeof *grown);
        if (grown == NULL)
            return error_set(error, ERROR_MAILBOX, ENOMEM, "no memory for the list of letters");
        session->entries = grown;
    }
    char *uidl = strdup(rest);
    if (uidl == NULL)
        return error_set(error, ERROR_MAILBOX, ENOMEM, "no memory for the list of letters");
    session->entries[session->count++] = (Pop3Entry){ .uidl = uidl, .number = number };
    return 0;
}

static int take_size(Pop3Session *session, uint32_t number, const char *rest, Error *error) {
    (void)error;
    Pop3Entry wanted = { .number = number };
    Pop3Entry *found = session->count == 0 ? NULL : bsearch(&wanted, session->entries, session->count, sizeof wanted, by_number);
    size_t digits = strspn(rest, "0123456789");
    if (found != NULL && digits > 0 && digits < 19)
        found->size = (size_t)strtoull(rest, NULL, 10);
    return 0;
}

static void sort(Pop3Session *session, int (*order)(const void *left, const void *right)) {
    if (session->count > 0)
        qsort(session->entries, session->count, sizeof *session->entries, order);
}

/* Two letters of one number: whichever a command reached, it might be the other one. */
static int check_numbers(Pop3Session *session, Error *error) {
    for (size_t i = 1; i < session->count; i++)
        if (session->entries[i].number == session->entries[i - 1].number)
            return error_set(error, ERROR_MAILBOX, 0, "%s names two letters %u in its answer to UIDL: nothing is read or deleted",
                             line_host(session->line), (unsigned)session->entries[i].number);
    return 0;
}

static int read_list(Pop3Session *session, Error *error) {
    line_begin(session->line, pop3_seconds(session), LINE_BYTES_MAX);
    int result = command(session, "UIDL\r\n", error);
    if (result == 0)
        return error_set(error, ERROR_INPUT, 0,
                         "%s has no UIDL, without which letters cannot be told from each other (it says \"%.100s\"): use its IMAP, or another server",
                         line_host(session->line), session->words);
    if (result < 0 || read_entries(session, "UIDL", take_uidl, error) < 0)
        return -1;
    sort(session, by_number);
    if (check_numbers(session, error) < 0)
        return -1;
    line_begin(session->line, pop3_seconds(session), LINE_BYTES_MAX);
    result = command(session, "LIST\r\n", error);
    if (result < 0 || (result == 1 && read_entries(session, "LIST", take_size, error) < 0))
        return -1;
    sort(session, by_uidl_then_number);
    for (size_t i = 1; i < session->count; i++)
        if (by_uidl(&session->entries[i - 1], &session->entries[i]) == 0)
            session->entries[i - 1].doubled = session->entries[i].doubled = true;
    return 0;
}

int pop3_ready(Pop3Session *session, Error *error) {
    Error fault;
    error_clear(&fault);
    if (session->line != NULL && silent(session))
        return 0;
    pop3_drop(session);
    session->serial++;
    session->line = line_open(&session->account, &fault);
    if (session->line != NULL && read_list(session, &fault) == 0)
        return 0;
    pop3_drop(session);
    return error_set(error, fault.grade == ERROR_INPUT ? ERROR_INPUT : ERROR_MAILBOX, fault.code, "%s", fault.text);
}

Pop3Entry *pop3_find(Pop3Session *session, const char *uidl) {
    char copy[POP3_UIDL_MAX + 1];
    if (session->count == 0 || !text_copy(copy, sizeof copy, uidl))
        return NULL;
    Pop3Entry wanted = { .uidl = copy };
    Pop3Entry *found = bsearch(&wanted, session->entries, session->count, sizeof wanted, by_uidl);
    while (found != NULL && found > session->entries && by_uidl(found - 1, found) == 0)
        found--;
    return found;
}

/* ---- letters ---- */

static void keep(Pop3Body *body, const char *bytes, size_t length) {
    size_t room = body->length < body->keep ? body->keep - body->length : 0;
    if (body->raw != NULL && room > 0)
        str_append_bytes(body->raw, bytes, length < room ? length : room);
    if (body->hash != NULL)
        sha256_add(body->hash, bytes, length);
    body->length += length;
}

/* Up to the line with a dot alone, dots at the beginning of lines undone. Lines end in CRLF and nothing else: taking a bare LF for a line's end could take
 * a part of the letter for all of it. *ret_bare: the last that came was a dot alone behind a bare LF. */
static int read_body(Pop3Session *session, Pop3Body *body, bool *ret_bare, Error *error) {
    enum { LINE_START, AFTER_DOT, AFTER_DOT_CR, INSIDE } state = LINE_START;
    char tail[4] = ""; /* the last bytes that came */
    while (body->length < body->stop) {
        if (fill(session, error) < 0) {
            *ret_bare = memcmp(tail, "\n.\r\n", 4) == 0 || memcmp(tail + 1, "\n.\n", 3) == 0;
            return -1;
        }
        char *at = session->buffer + session->begin;
        size_t length = 1;
        if (state == LINE_START && *at == '.') {
            state = AFTER_DOT;
        } else if (state == AFTER_DOT && *at == '\r') {
            state = AFTER_DOT_CR;
        } else if (state == AFTER_DOT_CR && *at == '\n') {
            session->begin++;
            return 0;
        } else {
            if (state == AFTER_DOT_CR)
                keep(body, "\r", 1);
            char *end = memchr(at, '\n', session->end - session->begin);
            length = end != NULL ? (size_t)(end - at) + 1 : session->end - session->begin;
            keep(body, at, length);
            state = end != NULL && (length > 1 ? end[-1] : tail[3]) == '\r' ? LINE_START : INSIDE;
        }
        for (size_t i = length < 4 ? length : 4; i > 0; i--) {
            memmove(tail, tail + 1, 3);
            tail[3] = at[length - i];
        }
        session->begin += length;
    }
    body->cut = true;
    return 0;
}

static size_t smaller(size_t one, size_t other) {
    return one < other ? one : other;
}

int pop3_retrieve(Pop3Session *session, const Pop3Entry *entry, Pop3Body *body, Error *error) {
    char text[COMMAND_MAX];
    bool bare = false;
    size_t likely = smaller(body->stop, entry->size > 0 ? entry->size : SIZE_USUAL);
    size_t most = smaller(body->stop, entry->size > SIZE_USUAL ? entry->size : SIZE_USUAL);
    most = smaller(most, LINE_BYTES_MAX / 2) + smaller(most, LINE_BYTES_MAX / 2) / 3; /* each line ".CRLF" comes as "..CRLF" */
    line_begin(session->line, pop3_seconds(session) + (int)(smaller(likely, LINE_BYTES_MAX) / SLOW_BYTES), most + SIZE_SLACK);
    snprintf(text, sizeof text, "RETR %u\r\n", (unsigned)entry->number);
    int result = command(session, text, error);
    if (result == 1 && read_body(session, body, &bare, error) < 0)
        result = -1;
    if (bare)
        error_set(error, ERROR_MAILBOX, 0, "%s ended the letter with a dot behind a bare line feed, after which a letter may go on (RFC 1939 wants CR and LF)",
                  line_host(session->line));
    if (result < 0 || body->cut)
        pop3_drop(session);
    return result;
}

int pop3_delete(Pop3Session *session, const Pop3Entry *entry, Error *error) {
    char text[COMMAND_MAX];
    line_begin(session->line, pop3_seconds(session), LIST_LINE_MAX);
    snprintf(text, sizeof text, "DELE %u\r\n", (unsigned)entry->number);
    int result = command(session, text, error);
    if (result < 0)
        pop3_drop(session);
    return result;
}
