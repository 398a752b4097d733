#include "daemon/inbox/pop3_session.h"


#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAMES_MAX = 64 * 1024 * 1024, /* all UIDLs of a mailbox */
    REPLY_BYTES_MAX = 64 * 1024,  /* of an answer of one line */
    ENTRY_SIZE = 512,             /* what is kept of a list's line */
    LEFTOVER_MAX = 4096,          /* behind the log-in's own answer */
    BYE_SECONDS = 2,              /* for an answer to QUIT that nothing depends on */
    GROWTH = 1024,
};

void pop3_init(Pop3Session *session, const LineAccount *account) {
    *session = (Pop3Session){ .account = *account };
    str_init(&session->names, NAMES_MAX);
}

static void forget_list(Pop3Session *session) {
    str_free(&session->names);
    str_init(&session->names, NAMES_MAX);
    free(session->entries);
    free(session->by_name);
    session->entries = NULL;
    session->by_name = NULL;
    session->count = session->good = 0;
    session->listed = false;
}

void pop3_drop(Pop3Session *session) {
    line_close(session->line);
    session->line = NULL;
    session->deleting = false;
    session->at = session->length = 0;
    forget_list(session);
}

/* The list, the letter or the answer is not what it must be: what comes next on this line could be anything. */
#define OUT_OF_ORDER(session, error, ...) (error_set(error, ERROR_MAILBOX, 0, __VA_ARGS__), pop3_drop(session), -1)

static void begin(Pop3Session *session, size_t bytes) {
    line_begin(session->line, session->account.seconds > 0 ? session->account.seconds : LINE_SECONDS, bytes);
}

/* ---- lines ---- */

/* The next bytes, at least one, are at buffer[at]. */
static int fill(Pop3Session *session, Error *error) {
    if (session->at < session->length)
        return 0;
    ssize_t length = line_read(session->line, session->buffer, sizeof session->buffer, error);
    if (length < 0) {
        pop3_drop(session);
        return -1;
    }
    session->at = 0;
    session->length = (size_t)length;
    return 0;
}

/* One line without its end; what does not fit is dropped. *ret_bare: LF stood alone. */
static int read_text(Pop3Session *session, char *ret_text, size_t size, bool *ret_bare, Error *error) {
    size_t length = 0;
    char last = 0;
    for (;;) {
        if (fill(session, error) < 0)
            return -1;
        char byte = session->buffer[session->at++];
        if (byte == '\n')
            break;
        if (length < size - 1)
            ret_text[length++] = byte == 0 ? '\x7f' : byte; /* a NUL must not hide what stands behind it */
        last = byte;
    }
    *ret_bare = last != '\r';
    if (last == '\r' && length > 0 && ret_text[length - 1] == '\r')
        length--;
    ret_text[length] = 0;
    return 0;
}

/* Nothing may lie there when we begin to speak: answers would be taken for those of other commands. What curl has left behind the log-in's answer
 * is no harm (RULINGS 46). */
static int check_silence(Pop3Session *session, Error *error) {
    size_t leftover = 0;
    while (session->at < session->length || line_pending(session->line)) {
        if (fill(session, error) < 0)
            return -1;
        leftover += session->length - session->at;
        session->at = session->length = 0;
        if (!session->fresh || leftover > LEFTOVER_MAX)
            return OUT_OF_ORDER(session, error, "%s: the server spoke without being asked; a new connection is tried later", line_host(session->line));
    }
    session->fresh = false;
    return 0;
}

/* One command and the first line of its answer. 0: +OK; 1: -ERR; -1: the line was dropped. */
static int ask(Pop3Session *session, const char *command, size_t number, size_t bytes, Error *error) {
    char text[40];
    int length = number > 0 ? snprintf(text, sizeof text, "%s %zu\r\n", command, number) : snprintf(text, sizeof text, "%s\r\n", command);
    begin(session, bytes);
    if (check_silence(session, error) < 0)
        return -1;
    if (line_write(session->line, text, (size_t)length, error) < 0) {
        pop3_drop(session);
        return -1;
    }
    if (read_text(session, session->words, sizeof session->words, &session->bare, error) < 0)
        return -1;
    if (strncmp(session->words, "+OK", 3) == 0)
        return 0;
    if (strncmp(session->words, "-ERR", 4) == 0)
        return 1;
    return OUT_OF_ORDER(session, error, "%s: the server answered %s by \"%.100s\", which is no POP3; a new connection is tried later",
                        line_host(session->line), command, session->words);
}

/* ---- the list ---- */

static bool is_end(const Pop3Session *session, const char *text, bool bare) {
    return strcmp(text, ".") == 0 && (!bare || session->bare);
}

/* A number as it stands at the beginning of a list's line, or behind it; *text goes on behind the blanks. */
static bool take_number(const char **text, size_t *ret_number) {
    size_t number = 0;
    const char *at = *text;
    if (*at < '0' || *at > '9')
        return false;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (number > (SIZE_MAX - 9) / 10)
            return false;
        number = number * 10 + (size_t)(*at - '0');
    }
    if (*at != 0 && *at != ' ')
        return false;
    *text = at + strspn(at, " ");
    *ret_number = number;
    return true;
}

typedef struct Numbered { /* a line of UIDL */
    size_t number, name;
} Numbered;

static bool name_is_good(const char *name) {
    size_t length = strlen(name);
    for (const char *at = name; *at != 0; at++)
        if (*at < 0x21 || *at > 0x7e)
            return false;
    return length >= 1 && length <= POP3_UIDL_MAX;
}

static int bad_number(Pop3Session *session, const char *command, size_t number, Error *error) {
    return OUT_OF_ORDER(session, error, "%s: the server's answer to %s is out of order at a letter of number %zu; nothing was done, and it is asked again later",
                        line_host(session->line), command, number);
}

static int bad_line(Pop3Session *session, const char *command, const char *text, Error *error) {
    return OUT_OF_ORDER(session, error, "%s: the server's answer to %s has a line \"%.60s\", which names no letter; nothing was done, and it is asked again later",
                        line_host(session->line), command, text);
}

static int no_memory(Pop3Session *session, Error *error) {
    error_set(error, ERROR_MAILBOX, ENOMEM, "%s: no memory for the list of letters, or there are more than %d of them: move old ones elsewhere",
              line_host(session->line), POP3_LETTERS_MAX);
    pop3_drop(session);
    return -1;
}

/* The lines of UIDL as they come. On failure the line was dropped; the caller frees *ret_lines in any case. */
static int read_names(Pop3Session *session, Numbered **ret_lines, size_t *ret_count, Error *error) {
    char text[ENTRY_SIZE];
    size_t room = 0;
    for (bool bare;;) {
        if (read_text(session, text, sizeof text, &bare, error) < 0)
            return -1;
        if (is_end(session, text, bare))
            return 0;
        if (*ret_count == room) {
            room += room < GROWTH ? GROWTH : room;
            Numbered *more = *ret_count < POP3_LETTERS_MAX ? realloc(*ret_lines, room * sizeof *more) : NULL;
            if (more == NULL)
                return no_memory(session, error);
            *ret_lines = more;
        }
        const char *at = text;
        Numbered *line = &(*ret_lines)[*ret_count];
        if (!take_number(&at, &line->number))
            return bad_line(session, "UIDL", text, error);
        line->name = session->names.length;
        size_t length = strlen(at);
        while (length > 0 && at[length - 1] == ' ')
            length--;
        text[at - text + (ptrdiff_t)length] = 0;
        if (!str_append_bytes(&session->names, name_is_good(at) ? at : "", (name_is_good(at) ? length : 0) + 1))
            return no_memory(session, error);
        (*ret_count)++;
    }
}

/* Every number from 1 to their count must be there once. */
static int take_names(Pop3Session *session, const Numbered *lines, size_t count, Error *error) {
    session->entries = calloc(count + 1, sizeof *session->entries);
    bool *seen = calloc(count + 1, sizeof *seen);
    int result = session->entries != NULL && seen != NULL ? 0 : no_memory(session, error);
    session->count = result == 0 ? count : 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        size_t number = lines[i].number;
        if (number < 1 || number > count || seen[number - 1]) {
            result = bad_number(session, "UIDL", number, error);
            break;
        }
        seen[number - 1] = true;
        Pop3Entry *entry = &session->entries[number - 1];
        entry->name = lines[i].name;
        entry->kind = session->names.data[entry->name] != 0 ? POP3_NAME_GOOD : POP3_NAME_BAD;
    }
    free(seen);
    return result;
}

static int read_sizes(Pop3Session *session, Error *error) {
    char text[ENTRY_SIZE];
    size_t count = 0;
    for (bool bare;; count++) {
        if (read_text(session, text, sizeof text, &bare, error) < 0)
            return -1;
        if (is_end(session, text, bare))
            break;
        const char *at = text;
        size_t number = 0, bytes = 0;
        if (!take_number(&at, &number) || !take_number(&at, &bytes))
            return bad_line(session, "LIST", text, error);
        if (number < 1 || number > session->count || session->entries[number - 1].sized)
            return bad_number(session, "LIST", number, error);
        session->entries[number - 1].bytes = bytes;
        session->entries[number - 1].sized = true;
    }
    if (count < session->count)
        return OUT_OF_ORDER(session, error, "%s: the server lists %zu letters by UIDL and %zu by LIST; nothing was done, and it is asked again later",
                            line_host(session->line), session->count, count);
    return 0;
}

static int by_name(const void *left, const void *right, void *data) {
    const Pop3Session *session = data;
    return strcmp(pop3_name(session, *(const size_t *)left), pop3_name(session, *(const size_t *)right));
}

/* Doubled names stay in the order, so that they are found as what they are. */
static int sort_names(Pop3Session *session, Error *error) {
    session->by_name = calloc(session->count + 1, sizeof *session->by_name);
    if (session->by_name == NULL)
        return no_memory(session, error);
    for (size_t i = 0; i < session->count; i++)
        if (session->entries[i].kind == POP3_NAME_GOOD)
            session->by_name[session->good++] = i;
    qsort_r(session->by_name, session->good, sizeof *session->by_name, by_name, session);
    for (size_t i = 1; i < session->good; i++)
        if (by_name(&session->by_name[i - 1], &session->by_name[i], session) == 0)
            session->entries[session->by_name[i - 1]].kind = session->entries[session->by_name[i]].kind = POP3_NAME_DOUBLED;
    return 0;
}

static int refused_list(Pop3Session *session, const char *command, const char *more, Error *error) {
    return OUT_OF_ORDER(session, error, "%s: the server does not answer %s: it says \"%.100s\"; it is asked again later%s", line_host(session->line), command,
                        session->words, more);
}

static int read_list(Pop3Session *session, Error *error) {
    Numbered *lines = NULL;
    size_t count = 0;
    int result = ask(session, "UIDL", 0, LINE_BYTES_MAX, error);
    if (result == 1)
        return refused_list(session, "UIDL", ", and a server that never does cannot be used", error);
    if (result == 0)
        result = read_names(session, &lines, &count, error);
    if (result == 0)
        result = take_names(session, lines, count, error);
    free(lines);
    if (result == 0)
        result = ask(session, "LIST", 0, LINE_BYTES_MAX, error);
    if (result == 1)
        return refused_list(session, "LIST", "", error);
    if (result == 0)
        result = read_sizes(session, error);
    if (result == 0)
        result = sort_names(session, error);
    session->listed = result == 0;
    return result;
}

bool pop3_alive(Pop3Session *session) {
    return session->line != NULL && session->listed && session->at == session->length && !line_pending(session->line);
}

int pop3_ready(Pop3Session *session, Error *error) {
    if (pop3_alive(session))
        return 0;
    pop3_drop(session);
    session->line = line_open(&session->account, error);
    if (session->line == NULL)
        return -1;
    session->fresh = true;
    return read_list(session, error);
}

const char *pop3_name(const Pop3Session *session, size_t index) {
    return session->names.data + session->entries[index].name;
}

size_t pop3_find(const Pop3Session *session, const char *name, bool *ret_doubled) {
    size_t low = 0, high = session->good;
    *ret_doubled = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(pop3_name(session, session->by_name[middle]), name);
        if (order == 0) {
            *ret_doubled = session->entries[session->by_name[middle]].kind == POP3_NAME_DOUBLED;
            return *ret_doubled ? 0 : session->by_name[middle] + 1;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* ---- letters ---- */

typedef enum DotState { AT_START, BEHIND_DOT, BEHIND_DOT_CR, IN_LINE, AT_END } DotState;

static void keep(Pop3Letter *letter, const char *bytes, size_t length) {
    size_t room = letter->total < letter->keep ? letter->keep - letter->total : 0;
    if (room > 0)
        str_append_bytes(letter->raw, bytes, length < room ? length : room);
    letter->total += length;
}

/* Takes bytes from `bytes`, at least one; how many. A line "." ends the letter, one more dot before a line goes (RFC 1939, 3). */
static size_t unstuff(const Pop3Session *session, DotState *state, Pop3Letter *letter, const char *bytes, size_t length) {
    switch (*state) {
    case AT_START:
        if (*bytes == '.') {
            *state = BEHIND_DOT;
            return 1;
        }
        *state = IN_LINE;
        break;
    case BEHIND_DOT:
        if (*bytes == '\r' || (*bytes == '\n' && session->bare)) {
            *state = *bytes == '\r' ? BEHIND_DOT_CR : AT_END;
            return 1;
        }
        *state = IN_LINE;
        break;
    case BEHIND_DOT_CR:
        if (*bytes == '\n') {
            *state = AT_END;
            return 1;
        }
        keep(letter, "\r", 1);
        *state = IN_LINE;
        break;
    case IN_LINE:
    case AT_END:
        break;
    }
    const char *end = memchr(bytes, '\n', length);
    size_t taken = end == NULL ? length : (size_t)(end - bytes) + 1;
    keep(letter, bytes, taken);
    if (end != NULL)
        *state = AT_START;
    return taken;
}

int pop3_retrieve(Pop3Session *session, size_t number, Pop3Letter *letter, Error *error) {
    letter->total = 0;
    letter->whole = false;
    int result = ask(session, "RETR", number, LINE_BYTES_MAX, error);
    if (result != 0)
        return result;
    for (DotState state = AT_START; state != AT_END;) {
        if (letter->total >= letter->stop) {
            pop3_drop(session);
            return 0;
        }
        if (fill(session, error) < 0)
            return -1;
        session->at += unstuff(session, &state, letter, session->buffer + session->at, session->length - session->at);
    }
    letter->whole = true;
    return 0;
}

int pop3_delete(Pop3Session *session, size_t number, Error *error) {
    session->deleting = true; /* from now on QUIT might delete, whatever becomes of the answer */
    return ask(session, "DELE", number, REPLY_BYTES_MAX, error);
}

int pop3_commit(Pop3Session *session, Error *error) {
    int result = ask(session, "QUIT", 0, REPLY_BYTES_MAX, error);
    if (result == 1)
        result = OUT_OF_ORDER(session, error, "%s: the server has not deleted all letters that it was told to: it says \"%.100s\"; it is asked again later",
                              line_host(session->line), session->words);
    pop3_drop(session);
    return result;
}

void pop3_leave(Pop3Session *session) {
    if (session->line != NULL && !session->deleting && session->at == session->length && !line_pending(session->line)) {
        bool bare;
        line_begin(session->line, BYE_SECONDS, REPLY_BYTES_MAX);
        if (line_write(session->line, "QUIT\r\n", 6, NULL) == 0)
            read_text(session, session->words, sizeof session->words, &bare, NULL);
    }
    pop3_drop(session);
}
