/* The POP3 source: five commands of our own on a line that curl has opened and logged in on (RFC 1939, RULINGS 45).
 *
 * A letter's number holds for one line only, its UIDL for ever. So everything that names a letter looks its number up in the UIDL list of the very line it
 * goes over; a line that broke is gone with its list, and the next call begins with a new one. Deletions count at QUIT (RFC 1939, 6): one is believed
 * when the answer to QUIT has come. */
#include "daemon/inbox/source.h"

#include "daemon/inbox/gate.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAILBOX "pop3"

enum {
    UIDL_MAX = 200,          /* RFC 1939 says 70; some servers are longer */
    COMMAND_MAX = 64,
    ANSWER_MAX = 512,        /* of a status line that is kept, for its words */
    LISTED_MAX = 2 * 1000 * 1000,
    LIST_LINE_MAX = 4096,
    CACHE_MAX = 16 * 1024 * 1024,
    LETTER_SLACK = 64 * 1024, /* dots that were doubled, sizes that were estimated */
    SLOW_BYTES = 20 * 1000,   /* a second that a letter may take for so many bytes, beyond the operation's own time */
    QUIT_SECONDS = 5,
};

typedef struct Listed { /* a letter as this line numbers it */
    char *name;         /* the UIDL; "/2" and so on behind the second of that name (RFC 1939, 7: copies may share theirs) */
    uint32_t number;
    size_t size;        /* 0: the server does not say */
} Listed;

typedef struct Cached { /* a letter that look() has fetched, for fetch() */
    char *name;
    Str raw;
    size_t limit; /* with which it was fetched */
} Cached;

typedef struct Pop3Source {
    MailSource base;
    LineAccount account;
    AfterKind after;
    Line *line;
    char buffer[16 * 1024];
    size_t begin, end; /* what lies in the buffer */
    Listed *listed;    /* sorted by name; of this line */
    size_t listed_count, nameless;
    Cached *cached;
    size_t cached_count, cached_bytes;
} Pop3Source;

/* ---- the line ---- */

static void forget_list(Pop3Source *pop) {
    for (size_t i = 0; i < pop->listed_count; i++)
        free(pop->listed[i].name);
    free(pop->listed);
    pop->listed = NULL;
    pop->listed_count = pop->nameless = 0;
}

static void drop_line(Pop3Source *pop) {
    line_close(pop->line);
    pop->line = NULL;
    pop->begin = pop->end = 0;
    forget_list(pop);
}

static int seconds_of(const Pop3Source *pop) {
    return pop->account.seconds > 0 ? pop->account.seconds : LINE_SECONDS;
}

static int fill(Pop3Source *pop, Error *error) {
    if (pop->begin < pop->end)
        return 0;
    ssize_t got = line_read(pop->line, pop->buffer, sizeof pop->buffer, error);
    if (got <= 0)
        return -1;
    pop->begin = 0;
    pop->end = (size_t)got;
    return 0;
}

/* One line without its end; of a longer one the first `most` bytes. */
static int read_line(Pop3Source *pop, char *ret_line, size_t most, Error *error) {
    size_t length = 0;
    for (;;) {
        if (fill(pop, error) < 0)
            return -1;
        char byte = pop->buffer[pop->begin++];
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

/* Sends a command and reads its status line. 1 for +OK, 0 for -ERR with the server's words, -1 for a line that cannot be used any more. */
static int command(Pop3Source *pop, const char *text, char ret_words[ANSWER_MAX + 1], Error *error) {
    if (line_write(pop->line, text, strlen(text), error) < 0 || read_line(pop, ret_words, ANSWER_MAX, error) < 0)
        return -1;
    bool well = text_starts_nocase(ret_words, "+OK");
    if (!well && !text_starts_nocase(ret_words, "-ERR"))
        return error_set(error, ERROR_MAILBOX, 0,
                         "%s answers \"%.100s\" where POP3 has +OK or -ERR: the mailbox is read again from its list",
                         line_host(pop->line), ret_words);
    size_t skip = well ? 3 : 4;
    skip += strspn(ret_words + skip, " \t");
    memmove(ret_words, ret_words + skip, strlen(ret_words + skip) + 1);
    return well;
}

/* ---- the list ---- */

static int by_number(const void *left, const void *right) {
    const Listed *one = left, *other = right;
    return one->number < other->number ? -1 : one->number > other->number;
}

static int by_name(const void *left, const void *right) {
    return strcmp(((const Listed *)left)->name, ((const Listed *)right)->name);
}

static bool name_good(const char *name) {
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++)
        if (name[i] < '!' || name[i] > '~')
            return false;
    return length > 0 && length <= UIDL_MAX;
}

/* "NUMBER REST". A number that no letter can have makes the whole answer worthless: a command could reach the wrong letter. */
static int split_entry(Pop3Source *pop, char *line, const char *what, uint32_t *ret_number, char **ret_rest, Error *error) {
    char *end;
    size_t digits = strspn(line, "0123456789");
    unsigned long number = digits > 0 && digits < 10 ? strtoul(line, &end, 10) : 0;
    if (number == 0)
        return error_set(error, ERROR_MAILBOX, 0,
                         "%s names a letter \"%.40s\" in its answer to %s: numbers begin with 1, so nothing is read or deleted",
                         line_host(pop->line), line, what);
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
static int read_entries(Pop3Source *pop, const char *what, int (*take)(Pop3Source *pop, uint32_t number, const char *rest, Error *error), Error *error) {
    char line[LIST_LINE_MAX + 1];
    for (;;) {
        uint32_t number = 0;
        char *rest = NULL;
        if (read_line(pop, line, LIST_LINE_MAX, error) < 0)
            return -1;
        if (strcmp(line, ".") == 0)
            return 0;
        if (split_entry(pop, line, what, &number, &rest, error) < 0 || take(pop, number, rest, error) < 0)
            return -1;
    }
}

static int take_name(Pop3Source *pop, uint32_t number, const char *rest, Error *error) {
    if (!name_good(rest)) {
        pop->nameless++;
        return 0;
    }
    if (pop->listed_count == LISTED_MAX)
        return error_set(error, ERROR_MAILBOX, 0, "%s lists more than %d letters", line_host(pop->line), LISTED_MAX);
    if ((pop->listed_count & (pop->listed_count - 1)) == 0) { /* room for the next power of two */
        Listed *grown = realloc(pop->listed, (pop->listed_count == 0 ? 1 : 2 * pop->listed_count) * sizeof *grown);
        if (grown == NULL)
            return error_set(error, ERROR_LATER, ENOMEM, "no memory for the list of letters");
        pop->listed = grown;
    }
    char *name = strdup(rest);
    if (name == NULL)
        return error_set(error, ERROR_LATER, ENOMEM, "no memory for the list of letters");
    pop->listed[pop->listed_count++] = (Listed){ .name = name, .number = number };
    return 0;
}

static int take_size(Pop3Source *pop, uint32_t number, const char *rest, Error *error) {
    (void)error;
    Listed wanted = { .number = number };
    Listed *found = pop->listed_count == 0 ? NULL : bsearch(&wanted, pop->listed, pop->listed_count, sizeof wanted, by_number);
    size_t digits = strspn(rest, "0123456789");
    if (found != NULL && digits > 0 && digits < 19)
        found->size = (size_t)strtoull(rest, NULL, 10);
    return 0;
}

/* Two letters of one number: whichever a command reached, it might be the other one. */
static int check_numbers(Pop3Source *pop, Error *error) {
    for (size_t i = 1; i < pop->listed_count; i++)
        if (pop->listed[i].number == pop->listed[i - 1].number)
            return error_set(error, ERROR_MAILBOX, 0,
                             "%s names two letters %u in its answer to UIDL: nothing is read or deleted",
                             line_host(pop->line), (unsigned)pop->listed[i].number);
    return 0;
}

/* Letters that share a UIDL are told apart by their order. */
static int part_copies(Pop3Source *pop, Error *error) {
    for (size_t i = 0; i < pop->listed_count;) {
        size_t same = i + 1;
        while (same < pop->listed_count && strcmp(pop->listed[same].name, pop->listed[i].name) == 0)
            same++;
        for (size_t copy = i + 1; copy < same; copy++) {
            char name[UIDL_MAX + 32];
            snprintf(name, sizeof name, "%s/%zu", pop->listed[i].name, copy - i + 1);
            char *own = strdup(name);
            if (own == NULL)
                return error_set(error, ERROR_LATER, ENOMEM, "no memory for the list of letters");
            free(pop->listed[copy].name);
            pop->listed[copy].name = own;
        }
        i = same;
    }
    return 0;
}

static int by_name_then_number(const void *left, const void *right) {
    int order = by_name(left, right);
    return order != 0 ? order : by_number(left, right);
}

static int read_list(Pop3Source *pop, Error *error) {
    char words[ANSWER_MAX + 1];
    line_begin(pop->line, seconds_of(pop), LINE_BYTES_MAX);
    int well = command(pop, "UIDL\r\n", words, error);
    if (well == 0)
        return error_set(error, ERROR_INPUT, 0,
                         "%s has no UIDL, without which letters cannot be told from each other (it says \"%.100s\"): use its IMAP, or another server",
                         line_host(pop->line), words);
    if (well < 0 || read_entries(pop, "UIDL", take_name, error) < 0)
        return -1;
    if (pop->listed_count > 0)
        qsort(pop->listed, pop->listed_count, sizeof *pop->listed, by_number);
    if (check_numbers(pop, error) < 0)
        return -1;
    line_begin(pop->line, seconds_of(pop), LINE_BYTES_MAX);
    well = command(pop, "LIST\r\n", words, error);
    if (well < 0 || (well == 1 && read_entries(pop, "LIST", take_size, error) < 0))
        return -1;
    if (pop->listed_count > 0)
        qsort(pop->listed, pop->listed_count, sizeof *pop->listed, by_name_then_number);
    if (part_copies(pop, error) < 0)
        return -1;
    if (pop->listed_count > 0)
        qsort(pop->listed, pop->listed_count, sizeof *pop->listed, by_name);
    return 0;
}

/* A line with its list. */
static int ready(Pop3Source *pop, Error *error) {
    if (pop->line != NULL)
        return 0;
    pop->line = line_open(&pop->account, error);
    if (pop->line == NULL)
        return -1;
    if (read_list(pop, error) == 0)
        return 0;
    drop_line(pop);
    return -1;
}

/* Says good-bye; deletions count when it is answered. 0: they do. */
static int quit(Pop3Source *pop, int seconds, Error *error) {
    char words[ANSWER_MAX + 1];
    if (pop->line == NULL)
        return 0;
    line_begin(pop->line, seconds, LIST_LINE_MAX);
    int well = command(pop, "QUIT\r\n", words, error);
    if (well == 0)
        error_set(error, ERROR_MAILBOX, 0, "%s would not delete the letters it was told to: %.200s", line_host(pop->line), words);
    drop_line(pop);
    return well == 1 ? 0 : -1;
}

static Listed *find(Pop3Source *pop, const char *name) {
    Listed wanted = { .name = NULL };
    char copy[UIDL_MAX + 32];
    if (pop->listed_count == 0 || !text_copy(copy, sizeof copy, name))
        return NULL;
    wanted.name = copy;
    return bsearch(&wanted, pop->listed, pop->listed_count, sizeof wanted, by_name);
}

/* ---- letters ---- */

/* Bytes of a line, as far as they are still wanted. */
static void keep(Str *raw, size_t limit, const char *bytes, size_t length) {
    size_t room = raw->length < limit ? limit - raw->length : 0;
    str_append_bytes(raw, bytes, length < room ? length : room);
}

/* The body of the answer to RETR: dots at the beginning of lines undone, up to the line with a dot alone. Lines end in CRLF and nothing else: taking
 * a bare LF for a line's end could take a part of the letter for all of it. */
static int read_body(Pop3Source *pop, size_t limit, bool whole, Str *raw, Error *error) {
    enum { LINE_START, AFTER_DOT, AFTER_DOT_CR, INSIDE } state = LINE_START;
    char last = 0;
    while (whole || raw->length < limit) {
        if (fill(pop, error) < 0)
            return -1;
        char *at = pop->buffer + pop->begin;
        if ((state == LINE_START && *at == '.') || (state == AFTER_DOT && *at == '\r')) {
            state = state == LINE_START ? AFTER_DOT : AFTER_DOT_CR;
            pop->begin++;
            continue;
        }
        if (state == AFTER_DOT_CR && *at == '\n') {
            pop->begin++;
            return 0;
        }
        if (state == AFTER_DOT_CR)
            keep(raw, limit, "\r", 1);
        char *end = memchr(at, '\n', pop->end - pop->begin);
        size_t length = end != NULL ? (size_t)(end - at) + 1 : pop->end - pop->begin;
        keep(raw, limit, at, length);
        pop->begin += length;
        bool crlf = end != NULL && (length > 1 ? end[-1] : last) == '\r';
        last = at[length - 1];
        state = crlf ? LINE_START : INSIDE;
    }
    return 1; /* there is more, which nobody wants */
}

static int letter_fault(SourceLetter *letter, int code, const char *why, const char *words) {
    error_set(&letter->fault, ERROR_LETTER, code, "letter %s of the POP3 mailbox %s%s%.200s", letter->name, why, words[0] != 0 ? ": " : "", words);
    return 0;
}

/* 0 with the letter, or with letter->fault; -1: the line is gone. */
static int retrieve(Pop3Source *pop, SourceLetter *letter, size_t limit, Str *ret_raw, Error *error) {
    char text[COMMAND_MAX], words[ANSWER_MAX + 1];
    if (ready(pop, error) < 0)
        return -1;
    const Listed *listed = find(pop, letter->name);
    if (listed == NULL)
        return letter_fault(letter, ENOENT, "has gone", "");
    size_t size = listed->size;
    bool whole = size <= GATE_LETTER_MAX; /* of a larger one nobody waits for the rest: the line is given up instead */
    size_t expected = whole ? size : limit;
    size_t cap = size == 0 ? LINE_BYTES_MAX : expected + expected / 8 + LETTER_SLACK;
    line_begin(pop->line, seconds_of(pop) + (int)(expected / SLOW_BYTES), cap);
    snprintf(text, sizeof text, "RETR %u\r\n", (unsigned)listed->number);
    letter->size = size;
    int well = command(pop, text, words, error);
    if (well == 0)
        return letter_fault(letter, EIO, "was not given by its server", words);
    int rest = well < 0 ? -1 : read_body(pop, limit, whole, ret_raw, error);
    if (rest != 0)
        drop_line(pop);
    if (rest < 0) {
        str_clear(ret_raw);
        return -1;
    }
    if (ret_raw->overflowed)
        return letter_fault(letter, ENOMEM, "is larger than the room for it", "");
    if (size == 0)
        letter->size = ret_raw->length;
    return 0;
}

/* ---- what look() has fetched already ---- */

static void forget_cached(Pop3Source *pop) {
    for (size_t i = 0; i < pop->cached_count; i++) {
        free(pop->cached[i].name);
        str_free(&pop->cached[i].raw);
    }
    free(pop->cached);
    pop->cached = NULL;
    pop->cached_count = pop->cached_bytes = 0;
}

/* Takes over raw, which is empty afterwards. What does not fit is fetched again. */
static void cache(Pop3Source *pop, const char *name, Str *raw, size_t limit) {
    if (pop->cached_bytes + raw->length > CACHE_MAX)
        return;
    Cached *grown = realloc(pop->cached, (pop->cached_count + 1) * sizeof *grown);
    char *own = grown == NULL ? NULL : strdup(name);
    if (grown != NULL)
        pop->cached = grown;
    if (own == NULL)
        return;
    pop->cached_bytes += raw->length;
    pop->cached[pop->cached_count++] = (Cached){ own, *raw, limit };
    str_init(raw, 0);
}

static Cached *cached_of(Pop3Source *pop, const char *name) {
    for (size_t i = 0; i < pop->cached_count; i++)
        if (strcmp(pop->cached[i].name, name) == 0)
            return &pop->cached[i];
    return NULL;
}

/* ---- the operations ---- */

static int pop3_list(MailSource *source, Arena *arena, SourceList *ret_list, Error *error) {
    Pop3Source *pop = (Pop3Source *)source;
    Error ignored;
    error_clear(&ignored);
    forget_cached(pop);
    quit(pop, QUIT_SECONDS, &ignored); /* a line shows the letters of its beginning only */
    if (ready(pop, error) < 0)
        return -1;
    SourceList list = { .letters = arena_alloc(arena, (pop->listed_count + 1) * sizeof *list.letters), .count = pop->listed_count };
    Listed *ordered = malloc((pop->listed_count + 1) * sizeof *ordered);
    if (list.letters == NULL || ordered == NULL) {
        free(ordered);
        return error_set(error, ERROR_LATER, ENOMEM, "no memory for the list of letters");
    }
    if (pop->listed_count > 0) {
        memcpy(ordered, pop->listed, pop->listed_count * sizeof *ordered);
        qsort(ordered, pop->listed_count, sizeof *ordered, by_number);
    }
    bool well = true;
    for (size_t i = 0; i < list.count; i++) {
        const char *name = arena_copy(arena, ordered[i].name, strlen(ordered[i].name));
        well = well && name != NULL;
        list.letters[i] = (SourceLetter){ .mailbox = MAILBOX, .name = name, .received = INSTANT_NONE, .file_time = INSTANT_NONE };
    }
    free(ordered);
    if (!well)
        return error_set(error, ERROR_LATER, ENOMEM, "no memory for the list of letters");
    if (pop->nameless > 0)
        error_set(&list.fault, ERROR_MAILBOX, 0,
                  "%s gives %zu letters no usable UIDL: they cannot be told from each other and stay where they are",
                  line_host(pop->line), pop->nameless);
    *ret_list = list;
    return 0;
}

/* The length of the header with the empty line behind it, or of everything. */
static size_t head_length(const Str *raw) {
    const char *end = memmem(raw->data, raw->length, "\r\n\r\n", 4), *other = memmem(raw->data, raw->length, "\n\n", 2);
    size_t length = end != NULL ? (size_t)(end - raw->data) + 4 : raw->length;
    if (other != NULL && (size_t)(other - raw->data) + 2 < length)
        length = (size_t)(other - raw->data) + 2;
    return length < HEAD_TAKEN ? length : HEAD_TAKEN;
}

static int look_at(Pop3Source *pop, Arena *arena, SourceLetter *letter, Error *error) {
    Str raw;
    str_init(&raw, GATE_LETTER_MAX + 1);
    letter->received = letter->file_time = INSTANT_NONE;
    error_clear(&letter->fault);
    int result = ready(pop, error);
    const Listed *listed = result < 0 ? NULL : find(pop, letter->name);
    size_t limit = listed != NULL && listed->size > GATE_LETTER_MAX ? GATE_LARGE_TAKEN : GATE_LETTER_MAX;
    if (result == 0)
        result = retrieve(pop, letter, limit, &raw, error);
    if (result == 0 && letter->fault.grade == ERROR_NONE) {
        letter->head_length = head_length(&raw);
        letter->head = arena_copy(arena, raw.data, letter->head_length);
        if (letter->head == NULL)
            result = error_set(error, ERROR_LATER, ENOMEM, "no memory for a letter's header");
        else
            cache(pop, letter->name, &raw, limit);
    }
    str_free(&raw);
    return result;
}

static int pop3_look(MailSource *source, Arena *arena, SourceLetter *const *letters, size_t count, Error *error) {
    for (size_t i = 0; i < count; i++)
        if (look_at((Pop3Source *)source, arena, letters[i], error) < 0)
            return -1;
    return 0;
}

static int pop3_fetch(MailSource *source, SourceFetch *fetches, size_t count, Error *error) {
    Pop3Source *pop = (Pop3Source *)source;
    for (size_t i = 0; i < count; i++) {
        SourceFetch *fetch = &fetches[i];
        Cached *cached = cached_of(pop, fetch->letter->name);
        error_clear(&fetch->letter->fault);
        if (cached != NULL && (cached->limit >= fetch->limit || cached->raw.length < cached->limit))
            str_append_bytes(fetch->raw, cached->raw.data, cached->raw.length < fetch->limit ? cached->raw.length : fetch->limit);
        else if (retrieve(pop, fetch->letter, fetch->limit, fetch->raw, error) < 0)
            return -1;
    }
    return 0;
}

/* DELE for each of them that is there still. The line's number is looked up on the line that the command goes over. */
static int delete_all(Pop3Source *pop, SourceFile *files, size_t count, Error *error) {
    for (size_t i = 0; i < count; i++) {
        char text[COMMAND_MAX], words[ANSWER_MAX + 1];
        Listed *listed = strcmp(files[i].mailbox, MAILBOX) == 0 ? find(pop, files[i].name) : NULL;
        if (listed == NULL) {
            files[i].filed = true;
            continue;
        }
        line_begin(pop->line, seconds_of(pop), LIST_LINE_MAX);
        snprintf(text, sizeof text, "DELE %u\r\n", (unsigned)listed->number);
        int well = command(pop, text, words, error);
        if (well == 0)
            error_set(error, ERROR_MAILBOX, 0, "%s would not delete letter %s: %.200s", line_host(pop->line), files[i].name, words);
        if (well != 1)
            return -1;
    }
    return 0;
}

static int pop3_file(MailSource *source, SourceFile *files, size_t count, Error *error) {
    Pop3Source *pop = (Pop3Source *)source;
    if (pop->after != AFTER_DELETE) {
        for (size_t i = 0; i < count; i++)
            files[i].filed = true;
        return 0;
    }
    if (count == 0)
        return 0;
    if (ready(pop, error) < 0)
        return -1;
    if (delete_all(pop, files, count, error) < 0) {
        drop_line(pop); /* without QUIT: what was marked is not deleted (RFC 1939, 6) */
        return -1;
    }
    if (quit(pop, seconds_of(pop), error) < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        files[i].filed = true;
    return 0;
}

static int pop3_probe(MailSource *source, bool make, Error *error) {
    Pop3Source *pop = (Pop3Source *)source;
    Error ignored;
    error_clear(&ignored);
    (void)make;
    quit(pop, QUIT_SECONDS, &ignored);
    if (ready(pop, error) < 0)
        return -1;
    quit(pop, QUIT_SECONDS, &ignored);
    return 0;
}

static int pop3_wait_begin(MailSource *source, int *ret_descriptor, Error *error) {
    (void)source, (void)error;
    *ret_descriptor = -1;
    return 0;
}

static bool pop3_wait_heard(MailSource *source) {
    (void)source;
    return false;
}

static void pop3_wait_end(MailSource *source) {
    (void)source;
}

static void pop3_close(MailSource *source) {
    if (source == NULL)
        return;
    Pop3Source *pop = (Pop3Source *)source;
    Error ignored;
    error_clear(&ignored);
    quit(pop, QUIT_SECONDS, &ignored); /* never with deletions pending: file() ends with QUIT or gives the line up */
    drop_line(pop);
    forget_cached(pop);
    free(pop);
}

static const MailSourceOperations operations = {
    .list = pop3_list, .look = pop3_look, .fetch = pop3_fetch, .file = pop3_file, .probe = pop3_probe,
    .wait_begin = pop3_wait_begin, .wait_heard = pop3_wait_heard, .wait_end = pop3_wait_end, .close = pop3_close,
};

MailSource *source_pop3_open(const LineAccount *account, AfterKind after, Error *error) {
    if (after == AFTER_MOVE) {
        error_set(error, ERROR_INPUT, 0, "after = move: POP3 has no folders: say seen (letters stay there), delete, or use IMAP");
        return NULL;
    }
    Pop3Source *pop = calloc(1, sizeof *pop);
    if (pop == NULL) {
        error_set(error, ERROR_LATER, ENOMEM, "no memory for the mailbox");
        return NULL;
    }
    pop->base.operations = &operations;
    pop->account = *account;
    pop->after = after;
    return &pop->base;
}
