/* A POP3 mailbox. It has no command for a letter's header alone that every server knows, so look() reads letters whole and
 * keeps what it may for fetch().
 *
 *     the line breaks              what is done
 *     while letters are read       nothing was deleted; the next call begins with a new line. A letter that breaks it
 *                                  again is left alone, so that the others are read
 *     after DELE, before QUIT's    the server has deleted nothing, or all; the next call looks for them in a new list, and
 *     answer                       those that have gone are filed (RULINGS 45) */
#include "daemon/inbox/source.h"

#include "daemon/inbox/gate.h"
#include "daemon/inbox/pop3_session.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEPT_BYTES_MAX = 16 * 1024 * 1024, /* in all, of letters looked at and not fetched yet */
    KEPT_LETTERS_MAX = 4096,
    /* A letter that LIST calls larger is not read to its end: its line is dropped, which costs a log-in, but no time that grows with it. */
    DRAINED_MAX = 8 * 1024 * 1024,
    MEMORIES_MAX = 16,
};

static const char mailbox_name[] = "pop3";

typedef struct Kept { /* what is known of a letter that was read */
    char *name;
    Str raw;
    size_t size;
} Kept;

typedef struct Memory { /* letters that did something once, by their UIDL */
    char names[MEMORIES_MAX][POP3_UIDL_MAX + 1];
    size_t next;
} Memory;

typedef struct Pop3Source {
    MailSource source; /* first: this is a MailSource */
    Pop3Session session;
    AfterKind after;
    Kept *kept;
    size_t kept_count, kept_bytes;
    Memory breakers;  /* the line broke while they were read */
    Memory undeleted; /* the server refused to delete them */
    bool broke;       /* the last letter that was read broke the line */
} Pop3Source;

/* ---- what is remembered ---- */

static bool remembers(const Memory *memory, const char *name) {
    for (size_t i = 0; i < MEMORIES_MAX; i++)
        if (strcmp(memory->names[i], name) == 0)
            return true;
    return false;
}

static void remember(Memory *memory, const char *name) {
    if (!remembers(memory, name))
        text_copy(memory->names[memory->next++ % MEMORIES_MAX], POP3_UIDL_MAX + 1, name);
}

static void forget(Memory *memory, const char *name) {
    for (size_t i = 0; i < MEMORIES_MAX; i++)
        if (strcmp(memory->names[i], name) == 0)
            memory->names[i][0] = 0;
}

static Kept *kept_find(const Pop3Source *pop3, const char *name) {
    for (size_t i = 0; i < pop3->kept_count; i++)
        if (strcmp(pop3->kept[i].name, name) == 0)
            return &pop3->kept[i];
    return NULL;
}

static void kept_free(Pop3Source *pop3, Kept *kept) {
    pop3->kept_bytes -= kept->raw.length;
    free(kept->name);
    str_free(&kept->raw);
    *kept = pop3->kept[--pop3->kept_count];
}

/* Takes over the bytes, or frees them where there is no room. */
static void kept_add(Pop3Source *pop3, const char *name, Str *raw, size_t size) {
    if (pop3->kept == NULL)
        pop3->kept = calloc(KEPT_LETTERS_MAX, sizeof *pop3->kept);
    bool room = pop3->kept != NULL && pop3->kept_count < KEPT_LETTERS_MAX && pop3->kept_bytes + raw->length <= KEPT_BYTES_MAX;
    char *copy = room ? strdup(name) : NULL;
    if (copy == NULL) {
        str_free(raw);
        return;
    }
    pop3->kept[pop3->kept_count++] = (Kept){ copy, *raw, size };
    pop3->kept_bytes += raw->length;
}

/* Letters that have gone from the mailbox are not asked for any more. */
static void kept_tidy(Pop3Source *pop3) {
    for (size_t i = pop3->kept_count; i > 0; i--) {
        bool doubled;
        if (pop3_find(&pop3->session, pop3->kept[i - 1].name, &doubled) == 0)
            kept_free(pop3, &pop3->kept[i - 1]);
    }
}

/* ---- list ---- */

/* The name of a letter that has none of its own: with blanks in it, which no UIDL has. look() says what is wrong. */
static char *nameless(const Pop3Session *session, size_t index, Arena *arena) {
    if (session->entries[index].kind == POP3_NAME_DOUBLED)
        return arena_printf(arena, "%s is doubled", pop3_name(session, index));
    return arena_printf(arena, "letter %zu without a UIDL", index + 1);
}

static int pop3_list(MailSource *source, Arena *arena, SourceList *ret_list, Error *error) {
    Pop3Source *pop3 = (Pop3Source *)source;
    Pop3Session *session = &pop3->session;
    pop3_leave(session); /* new letters are seen by a new line alone (RFC 1939, 3) */
    if (pop3_ready(session, error) < 0)
        return -1;
    kept_tidy(pop3);
    SourceList list = { .letters = arena_alloc(arena, (session->count + 1) * sizeof *list.letters) };
    for (size_t i = 0; i < session->count && list.letters != NULL; i++) {
        bool good = session->entries[i].kind == POP3_NAME_GOOD;
        const char *name = pop3_name(session, i);
        char *copy = good ? arena_copy(arena, name, strlen(name)) : nameless(session, i, arena);
        if (copy == NULL)
            break;
        list.letters[list.count++] = (SourceLetter){ .mailbox = mailbox_name, .name = copy, .received = INSTANT_NONE, .file_time = INSTANT_NONE };
    }
    if (list.letters == NULL || list.count < session->count)
        return error_set(error, ERROR_MAILBOX, ENOMEM, "%s: the mailbox holds more letters than can be listed", line_host(session->line));
    *ret_list = list;
    return 0;
}

/* ---- letters ---- */

/* Reads one letter's first `keep` bytes. 0: *ret_size is its size; 1: letter->fault says why it cannot be had; -1. */
static int take(Pop3Source *pop3, SourceLetter *letter, size_t keep, Str *raw, size_t *ret_size, Error *error) {
    Pop3Session *session = &pop3->session;
    bool doubled;
    if (pop3_ready(session, error) < 0)
        return -1;
    size_t number = pop3_find(session, letter->name, &doubled);
    if (doubled || strchr(letter->name, ' ') != NULL) {
        error_set(&letter->fault, ERROR_LETTER, EIO, "%s: %s: the server gives several letters one name, or none; nothing can be done with them until they are "
                  "removed with another mail program", line_host(session->line), letter->name);
        return 1;
    }
    if (number == 0) {
        error_set(&letter->fault, ERROR_LETTER, ENOENT, "%s: the letter %s has gone", line_host(session->line), letter->name);
        return 1;
    }
    size_t announced = session->entries[number - 1].bytes;
    Pop3Letter taken = { .raw = raw, .keep = keep, .stop = announced > DRAINED_MAX ? (keep < GATE_LARGE_TAKEN ? keep : GATE_LARGE_TAKEN) : SIZE_MAX };
    char host[ERROR_TEXT_MAX / 2];
    text_copy(host, sizeof host, line_host(session->line));
    Error fault = { 0 };
    int result = pop3_retrieve(session, number, &taken, &fault);
    if (result == 1) {
        error_set(&letter->fault, ERROR_LETTER, EIO, "%s: the server does not give the letter %s: it says \"%.100s\"", host, letter->name, session->words);
        pop3->broke = false;
        return 1;
    }
    if (raw->overflowed) {
        pop3_drop(session);
        return error_set(error, ERROR_MAILBOX, ENOMEM, "no memory for the letter %s", letter->name);
    }
    if (result == 0 || taken.total > GATE_LETTER_MAX) { /* of one so large only the beginning is wanted (RULINGS 7) */
        *ret_size = taken.whole ? taken.total : announced > DRAINED_MAX ? announced : taken.total;
        pop3->broke = false;
        forget(&pop3->breakers, letter->name);
        return 0;
    }
    str_clear(raw);
    bool again = remembers(&pop3->breakers, letter->name) && !pop3->broke;
    remember(&pop3->breakers, letter->name);
    pop3->broke = again;
    if (!again)
        return error_set(error, fault.grade, fault.code, "%s", fault.text);
    error_set(&letter->fault, ERROR_LETTER, EIO, "the letter %s cannot be read: %s", letter->name, fault.text);
    return 1;
}

static int look_at(Pop3Source *pop3, Arena *arena, SourceLetter *letter, Error *error) {
    letter->fault = (Error){ .grade = ERROR_NONE };
    Kept *kept = kept_find(pop3, letter->name);
    Str raw;
    size_t size = kept != NULL ? kept->size : 0;
    str_init(&raw, GATE_LETTER_MAX);
    int result = kept != NULL ? 0 : take(pop3, letter, GATE_LETTER_MAX, &raw, &size, error);
    if (result == 0) {
        const Str *from = kept != NULL ? &kept->raw : &raw;
        if (kept == NULL && size > GATE_LETTER_MAX)
            str_truncate(&raw, GATE_LARGE_TAKEN);
        letter->size = size;
        letter->head_length = from->length < HEAD_TAKEN ? from->length : HEAD_TAKEN;
        letter->head = arena_copy(arena, from->data, letter->head_length);
        if (letter->head == NULL)
            result = error_set(error, ERROR_MAILBOX, ENOMEM, "no memory for the letter %s", letter->name);
    }
    if (result == 0 && kept == NULL)
        kept_add(pop3, letter->name, &raw, size);
    else
        str_free(&raw);
    return result < 0 ? -1 : 0;
}

static bool is_large(const Pop3Source *pop3, const SourceLetter *letter) {
    bool doubled;
    size_t number = pop3->session.listed ? pop3_find(&pop3->session, letter->name, &doubled) : 0;
    return number > 0 && pop3->session.entries[number - 1].bytes > DRAINED_MAX;
}

static int pop3_look(MailSource *source, Arena *arena, SourceLetter *const *letters, size_t count, Error *error) {
    Pop3Source *pop3 = (Pop3Source *)source;
    bool *later = calloc(count + 1, sizeof *later);
    if (later == NULL)
        return error_set(error, ERROR_LATER, ENOMEM, "no memory for looking at letters");
    int result = pop3_ready(&pop3->session, error);
    pop3->broke = false;
    for (size_t i = 0; i < count && result == 0; i++)
        later[i] = is_large(pop3, letters[i]);
    /* Those that cost the line come last: what a server that keeps its lock for a while then delays is the filing alone. */
    for (size_t i = 0; i < 2 * count && result == 0; i++)
        if (later[i % count] == (i >= count))
            result = look_at(pop3, arena, letters[i % count], error);
    free(later);
    return result;
}

static int fetch_one(Pop3Source *pop3, SourceFetch *fetch, Error *error) {
    Kept *kept = kept_find(pop3, fetch->letter->name);
    size_t size = 0;
    fetch->letter->fault = (Error){ .grade = ERROR_NONE };
    if (kept == NULL)
        return take(pop3, fetch->letter, fetch->limit, fetch->raw, &size, error) < 0 ? -1 : 0;
    bool good = str_append_bytes(fetch->raw, kept->raw.data, kept->raw.length < fetch->limit ? kept->raw.length : fetch->limit);
    kept_free(pop3, kept);
    return good ? 0 : error_set(error, ERROR_MAILBOX, ENOMEM, "no memory for the letter %s", fetch->letter->name);
}

static int pop3_fetch(MailSource *source, SourceFetch *fetches, size_t count, Error *error) {
    Pop3Source *pop3 = (Pop3Source *)source;
    int result = 0;
    pop3->broke = false;
    for (size_t i = 0; i < count && result == 0; i++)
        result = fetch_one(pop3, &fetches[i], error);
    return result;
}

/* ---- filing ---- */

typedef enum Fate { FATE_NONE, FATE_DELETED, FATE_LEFT, FATE_REFUSED } Fate;

/* DELE for one letter, if it lies there alone under its name. */
static int mark(Pop3Source *pop3, const SourceFile *file, Fate *ret_fate, Error *error) {
    bool doubled;
    size_t number = pop3_find(&pop3->session, file->name, &doubled);
    *ret_fate = FATE_LEFT;
    if (number == 0)
        return 0;
    int result = pop3_delete(&pop3->session, number, error);
    if (result >= 0)
        *ret_fate = result == 0 ? FATE_DELETED : FATE_REFUSED;
    return result < 0 ? -1 : 0;
}

/* A letter that the server refuses to delete for the second time stays where it is: it is known, and must not keep others waiting. */
static bool settle_refused(Pop3Source *pop3, SourceFile *file) {
    file->filed = remembers(&pop3->undeleted, file->name);
    remember(&pop3->undeleted, file->name);
    return file->filed;
}

static int delete(Pop3Source *pop3, SourceFile *files, size_t count, Fate *fates, Error *error) {
    Pop3Session *session = &pop3->session;
    char host[ERROR_TEXT_MAX / 2], words[POP3_REPLY_MAX] = "";
    size_t marked = 0, refused = 0;
    if (pop3_ready(session, error) < 0)
        return -1;
    text_copy(host, sizeof host, line_host(session->line));
    for (size_t i = 0; i < count; i++) {
        if (files[i].filed)
            continue;
        if (mark(pop3, &files[i], &fates[i], error) < 0)
            return -1;
        marked += fates[i] == FATE_DELETED;
        if (fates[i] == FATE_REFUSED)
            text_copy(words, sizeof words, session->words);
    }
    if (marked > 0 && pop3_commit(session, error) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (fates[i] == FATE_DELETED || fates[i] == FATE_LEFT)
            files[i].filed = true;
        else if (fates[i] == FATE_REFUSED)
            refused += !settle_refused(pop3, &files[i]);
    }
    if (refused == 0)
        return 0;
    return error_set(error, ERROR_MAILBOX, 0, "%s: the server does not let %zu letters be deleted: it says \"%.100s\"; they are tried once more and then left: "
                     "set `after = seen` if that goes on", host, refused, words);
}

static int pop3_file(MailSource *source, SourceFile *files, size_t count, Error *error) {
    Pop3Source *pop3 = (Pop3Source *)source;
    size_t ours = 0;
    for (size_t i = 0; i < count; i++) {
        if (pop3->after != AFTER_DELETE || strcmp(files[i].mailbox, mailbox_name) != 0)
            files[i].filed = true;
        ours += !files[i].filed;
    }
    if (ours == 0)
        return 0;
    Fate *fates = calloc(count, sizeof *fates);
    if (fates == NULL)
        return error_set(error, ERROR_LATER, ENOMEM, "no memory for filing letters");
    int result = delete(pop3, files, count, fates, error);
    free(fates);
    return result;
}

/* ---- the rest ---- */

static int pop3_probe(MailSource *source, bool make, Error *error) {
    Pop3Source *pop3 = (Pop3Source *)source;
    (void)make;
    pop3_leave(&pop3->session);
    int result = pop3_ready(&pop3->session, error);
    pop3_leave(&pop3->session);
    return result;
}

/* An open line keeps the mailbox locked for all others, and hears of nothing. */
static int pop3_wait_begin(MailSource *source, int *ret_descriptor, Error *error) {
    (void)error;
    pop3_leave(&((Pop3Source *)source)->session);
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
    Pop3Source *pop3 = (Pop3Source *)source;
    pop3_leave(&pop3->session);
    str_free(&pop3->session.names);
    while (pop3->kept_count > 0)
        kept_free(pop3, &pop3->kept[pop3->kept_count - 1]);
    free(pop3->kept);
    free(pop3);
}

static const MailSourceOperations operations = {
    .list = pop3_list,
    .look = pop3_look,
    .fetch = pop3_fetch,
    .file = pop3_file,
    .probe = pop3_probe,
    .wait_begin = pop3_wait_begin,
    .wait_heard = pop3_wait_heard,
    .wait_end = pop3_wait_end,
    .close = pop3_close,
};

MailSource *source_pop3_open(const LineAccount *account, AfterKind after, Error *error) {
    if (after == AFTER_MOVE) {
        error_set(error, ERROR_INPUT, 0, "letters cannot be moved in a POP3 mailbox, which has no folders: set `after = seen` or `after = delete`");
        return NULL;
    }
    Pop3Source *pop3 = calloc(1, sizeof *pop3);
    if (pop3 == NULL) {
        error_set(error, ERROR_LATER, ENOMEM, "no memory for the mailbox");
        return NULL;
    }
    pop3->source.operations = &operations;
    pop3->after = after;
    pop3_init(&pop3->session, account);
    return &pop3->source;
}
