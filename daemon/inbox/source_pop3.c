/* The POP3 source: five commands of our own on a line that curl has opened and logged in on (RFC 1939, RULINGS 45).
 *
 * A letter's number holds for one line only, its UIDL for ever. So everything that names a letter looks its number up in the UIDL list of the very line it
 * goes over; a line that broke is gone with its list. Deletions count at QUIT (RFC 1939, 6): one is believed when the answer to QUIT has come.
 *
 *     the line breaks        what is done
 *     as it had been idle    the same once more on a new line
 *     at one letter's RETR   if another letter can be read on a new line, the one is at fault; else the mailbox
 *     at one letter's DELE   nothing is deleted; once more without this letter
 *     before QUIT's answer   the server has deleted nothing, or all: the next call looks for them in a new list, and those that have gone are filed */
#include "daemon/inbox/source.h"

#include "daemon/inbox/gate.h"
#include "daemon/inbox/pop3_session.h"
#include "daemon/line/host.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAILBOX_MAX = 128, /* with NUL; as the store has room for */
    HASH_DIGITS = 32,
    NAME_MAX_HERE = POP3_UIDL_MAX + 1 + HASH_DIGITS + 1,
    CACHE_MAX = 16 * 1024 * 1024,
    TWINS_MAX = 64,                     /* letters that share their UIDL and are read for their names on one line */
    TWINS_BYTES_MAX = 8 * 1024 * 1024,
    SHUNNED_MAX = 8,                    /* UIDLs that are left alone */
    BREAKS_MAX = 16,                    /* letters at which the line may break in one reading of the mailbox: each costs a time-out */
    QUIT_SECONDS = 5,
};

typedef struct Cached { /* a letter that was read already, for fetch() */
    char *name;
    Str raw;
    size_t limit; /* with which it was fetched */
    size_t size;
} Cached;

typedef struct Twin { /* a letter that shares its UIDL, named on this line by its bytes */
    char name[NAME_MAX_HERE];
    uint32_t number;
    bool copy; /* of one before it: one name, one letter */
} Twin;

typedef struct Pop3Source {
    MailSource base;
    Pop3Session session;
    AfterKind after;
    char mailbox[MAILBOX_MAX];
    Cached *cached;
    size_t cached_count, cached_bytes;
    Twin twins[TWINS_MAX];
    size_t twin_count, twin_bytes;
    bool twins_named; /* as far as they may be, on the present line */
    char shunned[SHUNNED_MAX][POP3_UIDL_MAX + 1]; /* a letter of this UIDL broke the line while it was read for its name */
    size_t shunned_count;
    int breaks; /* since list() */
} Pop3Source;

/* Before an operation: whoever worked since the last one may have taken longer than the server waits. */
static void begin_operation(Pop3Source *pop) {
    pop->session.idle = pop->session.line != NULL;
}

static int ready(Pop3Source *pop, Error *error) {
    unsigned before = pop->session.serial;
    int result = pop3_ready(&pop->session, error);
    if (pop->session.serial != before) {
        pop->twin_count = pop->twin_bytes = 0;
        pop->twins_named = false;
    }
    return result;
}

static int letter_fault(SourceLetter *letter, int code, const char *why, const char *words) {
    error_set(&letter->fault, ERROR_LETTER, code, "letter %.80s of the POP3 mailbox %s%s%.200s", letter->name, why, words[0] != 0 ? ": " : "", words);
    return 0;
}

/* ---- what was read already ---- */

static void forget_cached(Pop3Source *pop) {
    for (size_t i = 0; i < pop->cached_count; i++) {
        free(pop->cached[i].name);
        str_free(&pop->cached[i].raw);
    }
    free(pop->cached);
    pop->cached = NULL;
    pop->cached_count = pop->cached_bytes = 0;
}

static Cached *cached_of(Pop3Source *pop, const char *name) {
    for (size_t i = 0; i < pop->cached_count; i++)
        if (strcmp(pop->cached[i].name, name) == 0)
            return &pop->cached[i];
    return NULL;
}

/* Takes over raw, which is empty afterwards. What does not fit is fetched again. */
static void cache(Pop3Source *pop, const char *name, Str *raw, size_t limit, size_t size) {
    if (pop->cached_bytes + raw->length > CACHE_MAX || cached_of(pop, name) != NULL)
        return;
    Cached *grown = realloc(pop->cached, (pop->cached_count + 1) * sizeof *grown);
    char *own = grown == NULL ? NULL : strdup(name);
    if (grown != NULL)
        pop->cached = grown;
    if (own == NULL)
        return;
    pop->cached_bytes += raw->length;
    pop->cached[pop->cached_count++] = (Cached){ own, *raw, limit, size };
    str_init(raw, 0);
}

/* ---- letters that share a UIDL (RFC 1939, 7 allows it to copies; some servers give it to others) ---- */

static bool is_shunned(const Pop3Source *pop, const char *uidl) {
    for (size_t i = 0; i < pop->shunned_count; i++)
        if (strcmp(pop->shunned[i], uidl) == 0)
            return true;
    return pop->shunned_count == SHUNNED_MAX; /* enough of it */
}

static const Twin *twin_of(const Pop3Source *pop, uint32_t number) {
    for (size_t i = 0; i < pop->twin_count; i++)
        if (pop->twins[i].number == number)
            return &pop->twins[i];
    return NULL;
}

static bool twin_named(const Pop3Source *pop, const char *name) {
    for (size_t i = 0; i < pop->twin_count; i++)
        if (strcmp(pop->twins[i].name, name) == 0)
            return true;
    return false;
}

/* Reads one whole and names it by its bytes, so that its name hangs neither on an order nor on the other's being there. 0, also where it is not
 * given; -1: the line broke. */
static int name_twin(Pop3Source *pop, const Pop3Entry *entry, Error *error) {
    Str raw;
    Sha256 sha;
    uint8_t digest[SHA256_SIZE];
    str_init(&raw, GATE_LETTER_MAX + 1);
    sha256_start(&sha);
    Pop3Body body = { .raw = &raw, .keep = GATE_LETTER_MAX, .stop = TWINS_BYTES_MAX - pop->twin_bytes, .hash = &sha };
    int result = pop3_retrieve(&pop->session, entry, &body, error);
    if (result == 1 && body.cut)
        result = error_set(error, ERROR_MAILBOX, 0, "a letter is larger than its server says");
    if (result == 1 && !raw.overflowed) {
        Twin *twin = &pop->twins[pop->twin_count];
        sha256_finish(&sha, digest);
        size_t length = (size_t)snprintf(twin->name, sizeof twin->name, "%s/", entry->uidl);
        for (size_t i = 0; i < HASH_DIGITS / 2; i++)
            snprintf(twin->name + length + 2 * i, 3, "%02x", digest[i]);
        twin->number = entry->number;
        twin->copy = twin_named(pop, twin->name);
        pop->twin_count++;
        size_t limit = body.length > GATE_LETTER_MAX ? GATE_LARGE_TAKEN : GATE_LETTER_MAX;
        str_truncate(&raw, limit);
        cache(pop, twin->name, &raw, limit, body.length);
    }
    pop->twin_bytes += body.length;
    str_free(&raw);
    return result < 0 ? -1 : 0;
}

/* Names those that may be on a line that is ready. One at which the line breaks is left alone with its namesakes, and all is begun anew. */
static int name_twins(Pop3Source *pop, Error *error) {
    Pop3Session *session = &pop->session;
    if (ready(pop, error) < 0)
        return -1;
    for (size_t i = 0; i < session->count && !pop->twins_named; i++) {
        const Pop3Entry *entry = &session->entries[i];
        if (!entry->doubled || is_shunned(pop, entry->uidl) || pop->twin_count == TWINS_MAX || entry->size >= TWINS_BYTES_MAX - pop->twin_bytes ||
            twin_of(pop, entry->number) != NULL)
            continue;
        char uidl[POP3_UIDL_MAX + 1];
        Error fault;
        bool idle = session->idle;
        error_clear(&fault);
        text_copy(uidl, sizeof uidl, entry->uidl);
        if (name_twin(pop, entry, &fault) == 0)
            continue;
        if (!idle)
            text_copy(pop->shunned[pop->shunned_count++], sizeof pop->shunned[0], uidl);
        if (ready(pop, error) < 0)
            return -1;
        i = SIZE_MAX; /* from the first again */
    }
    pop->twins_named = true;
    return 0;
}

static bool is_twin_name(const char *name) {
    const char *slash = strrchr(name, '/');
    return slash != NULL && strlen(slash + 1) == HASH_DIGITS && strspn(slash + 1, "0123456789abcdef") == HASH_DIGITS;
}

/* ---- list ---- */

typedef struct Ordered { /* for sorting without moving the session's own list */
    const Pop3Entry *entry;
} Ordered;

static int by_number(const void *left, const void *right) {
    const Pop3Entry *one = ((const Ordered *)left)->entry, *other = ((const Ordered *)right)->entry;
    return one->number < other->number ? -1 : one->number > other->number;
}

/* The letters in the mailbox's own order. The number of those that have no name, or -1. */
static long fill_list(Pop3Source *pop, Ordered *ordered, Arena *arena, SourceList *ret_list) {
    const Pop3Session *session = &pop->session;
    SourceList list = { .letters = arena_alloc(arena, (session->count + 1) * sizeof *list.letters) };
    long unnamed = 0;
    if (list.letters == NULL)
        return -1;
    for (size_t i = 0; i < session->count; i++)
        ordered[i].entry = &session->entries[i];
    if (session->count > 0)
        qsort(ordered, session->count, sizeof *ordered, by_number);
    for (size_t i = 0; i < session->count; i++) {
        const Pop3Entry *entry = ordered[i].entry;
        const Twin *twin = entry->doubled ? twin_of(pop, entry->number) : NULL;
        const char *name = entry->doubled ? (twin != NULL ? twin->name : NULL) : entry->uidl;
        unnamed += name == NULL;
        if (name == NULL || (twin != NULL && twin->copy))
            continue;
        char *copy = arena_copy(arena, name, strlen(name));
        if (copy == NULL)
            return -1;
        list.letters[list.count++] = (SourceLetter){ .mailbox = pop->mailbox, .name = copy, .received = INSTANT_NONE, .file_time = INSTANT_NONE };
    }
    *ret_list = list;
    return unnamed;
}

static int pop3_list(MailSource *source, Arena *arena, SourceList *ret_list, Error *error) {
    Pop3Source *pop = (Pop3Source *)source;
    Pop3Session *session = &pop->session;
    forget_cached(pop);
    pop->breaks = 0;
    pop->shunned_count = 0;
    pop3_quit(session, QUIT_SECONDS, NULL); /* a line shows the letters of its beginning only */
    if (name_twins(pop, error) < 0)
        return -1;
    Ordered *ordered = malloc((session->count + 1) * sizeof *ordered);
    long unnamed = ordered != NULL ? fill_list(pop, ordered, arena, ret_list) : -1;
    free(ordered);
    if (unnamed < 0)
        return error_set(error, ERROR_MAILBOX, ENOMEM, "no memory for the list of letters");
    if (session->nameless > 0)
        error_set(&ret_list->fault, ERROR_MAILBOX, 0, "%s gives %zu letters no usable UIDL: they cannot be told from each other and stay where they are",
                  line_host(session->line), session->nameless);
    else if (unnamed > 0)
        error_set(&ret_list->fault, ERROR_MAILBOX, 0,
                  "%s gives %ld letters a UIDL that others have too, and they are too many or too large to be told apart by their text, or cannot be read: they stay where "
                  "they are; move them away by another program, or use the server's IMAP",
                  line_host(session->line), unnamed);
    return 0;
}

/* ---- reading ---- */

typedef enum Reading { READ_DONE, READ_BROKE, READ_NO_LINE } Reading; /* done: with the letter or its fault; broke: at this letter */

/* Up to `limit` bytes over the line; of a letter larger than GATE_LETTER_MAX its beginning, and the line is given up instead of waiting for the rest. */
static Reading retrieve(Pop3Source *pop, SourceLetter *letter, size_t limit, Str *ret_raw, size_t *ret_limit, Error *error) {
    Pop3Session *session = &pop->session;
    for (;;) {
        if (ready(pop, error) < 0)
            return READ_NO_LINE;
        const Pop3Entry *entry = pop3_find(session, letter->name);
        if (entry == NULL || entry->doubled) {
            letter_fault(letter, ENOENT, "has gone", "");
            return READ_DONE;
        }
        bool large = entry->size > GATE_LETTER_MAX, idle = session->idle;
        size_t size = entry->size;
        Pop3Body body = { .raw = ret_raw, .keep = large ? GATE_LARGE_TAKEN : limit, .stop = large ? GATE_LARGE_TAKEN : size > 0 ? SIZE_MAX : GATE_LETTER_MAX };
        int result = pop3_retrieve(session, entry, &body, error);
        if (result < 0) {
            str_clear(ret_raw);
            if (idle)
                continue; /* on a new line; at most once, as a new one is not idle */
            return READ_BROKE;
        }
        if (result == 0)
            letter_fault(letter, EIO, "was not given by its server", session->words);
        else if (ret_raw->overflowed)
            letter_fault(letter, ENOMEM, "is larger than the room for it", "");
        letter->size = !body.cut ? body.length : size > GATE_LETTER_MAX ? size : GATE_LETTER_MAX + 1;
        if (letter->size > GATE_LETTER_MAX)
            str_truncate(ret_raw, GATE_LARGE_TAKEN);
        *ret_limit = letter->size > GATE_LETTER_MAX ? GATE_LARGE_TAKEN : limit;
        return READ_DONE;
    }
}

/* The length of the header with the empty line behind it, or of everything. */
static size_t head_length(const Str *raw) {
    const char *end = memmem(raw->data, raw->length, "\r\n\r\n", 4), *other = memmem(raw->data, raw->length, "\n\n", 2);
    size_t length = end != NULL ? (size_t)(end - raw->data) + 4 : raw->length;
    if (other != NULL && (size_t)(other - raw->data) + 2 < length)
        length = (size_t)(other - raw->data) + 2;
    return length < HEAD_TAKEN ? length : HEAD_TAKEN;
}

typedef struct Job { /* one letter to be looked at, or to be fetched */
    SourceLetter *letter;
    Arena *arena;       /* look() */
    SourceFetch *fetch; /* fetch(), else NULL */
    bool done;
    bool read; /* over the line and well: proof that letters can be read */
} Job;

static int take_head(Job *job, const Str *raw, Error *error) {
    job->letter->head_length = head_length(raw);
    job->letter->head = arena_copy(job->arena, raw->data, job->letter->head_length);
    return job->letter->head != NULL ? 0 : error_set(error, ERROR_MAILBOX, ENOMEM, "no memory for a letter's header");
}

/* From what was read already. False: it was not. */
static bool do_cached(Pop3Source *pop, Job *job, Error *error, Reading *ret_reading) {
    Cached *cached = cached_of(pop, job->letter->name);
    if (cached == NULL || (job->fetch != NULL && cached->limit < job->fetch->limit && cached->raw.length >= cached->limit))
        return false;
    *ret_reading = READ_DONE;
    if (job->fetch != NULL) {
        str_append_bytes(job->fetch->raw, cached->raw.data, cached->raw.length < job->fetch->limit ? cached->raw.length : job->fetch->limit);
    } else {
        job->letter->size = cached->size;
        if (take_head(job, &cached->raw, error) < 0)
            *ret_reading = READ_NO_LINE;
    }
    return true;
}

static Reading do_job(Pop3Source *pop, Job *job, Error *error) {
    SourceLetter *letter = job->letter;
    Reading reading;
    Str raw;
    size_t limit = job->fetch != NULL ? job->fetch->limit : GATE_LETTER_MAX;
    error_clear(&letter->fault);
    if (job->fetch == NULL)
        letter->received = letter->file_time = INSTANT_NONE;
    if (!do_cached(pop, job, error, &reading)) {
        str_init(&raw, GATE_LETTER_MAX + 1);
        reading = retrieve(pop, letter, limit, job->fetch != NULL ? job->fetch->raw : &raw, &limit, error);
        job->read = reading == READ_DONE && letter->fault.grade == ERROR_NONE;
        if (job->read && job->fetch == NULL) {
            if (take_head(job, &raw, error) < 0)
                reading = READ_NO_LINE;
            else
                cache(pop, letter->name, &raw, limit, letter->size);
        }
        str_free(&raw);
    }
    job->done = reading == READ_DONE;
    return reading;
}

/* Reads a letter that could be read before once more. */
static Reading read_again(Pop3Source *pop, const SourceLetter *letter, Error *error) {
    SourceLetter same = *letter;
    size_t limit;
    Str raw;
    str_init(&raw, GATE_LETTER_MAX + 1);
    Reading reading = retrieve(pop, &same, GATE_LETTER_MAX, &raw, &limit, error);
    str_free(&raw);
    return reading;
}

/* The smallest of those that could be read; NULL. */
static const Job *proof_of(const Job *jobs, size_t count) {
    const Job *proof = NULL;
    for (size_t i = 0; i < count; i++)
        if (jobs[i].read && (proof == NULL || jobs[i].letter->size < proof->letter->size))
            proof = &jobs[i];
    return proof;
}

/* The line broke at jobs[at]. Whether that is this letter's own fault: if another one can be read, one that could before or else the last of those to come;
 * without any, if it breaks the line again. False, and *error where it is another's: it is the mailbox's. */
static bool is_its_own_fault(Pop3Source *pop, Job *jobs, size_t count, size_t at, Error *error) {
    const Job *proof = proof_of(jobs, count);
    if (++pop->breaks > BREAKS_MAX)
        return false;
    if (proof != NULL)
        return read_again(pop, proof->letter, error) == READ_DONE;
    for (size_t i = count - 1; i > at; i--) {
        if (jobs[i].done)
            continue;
        if (do_job(pop, &jobs[i], error) != READ_DONE)
            return false;
        if (jobs[i].read)
            return true;
    }
    Reading again = do_job(pop, &jobs[at], error);
    return again == READ_DONE || again == READ_BROKE;
}

static int do_in_order(Pop3Source *pop, Job *jobs, size_t count, Error *error) {
    for (size_t i = 0; i < count; i++) {
        Error fault, other;
        error_clear(&fault);
        error_clear(&other);
        Reading reading = jobs[i].done ? READ_DONE : do_job(pop, &jobs[i], &fault);
        if (reading == READ_BROKE && is_its_own_fault(pop, jobs, count, i, &other)) {
            if (!jobs[i].done)
                letter_fault(jobs[i].letter, EIO, "cannot be read", fault.text);
        } else if (reading != READ_DONE) {
            const Error *why = other.grade != ERROR_NONE ? &other : &fault;
            return error_set(error, why->grade, why->code, "%s", why->text);
        }
    }
    return 0;
}

/* Letters that cost the line come last: a server that keeps its lock for a while then delays no other letter. */
static void large_last(Pop3Source *pop, Job *jobs, size_t count, Job *ret_ordered) {
    size_t at = 0;
    for (int large = 0; large < 2; large++)
        for (size_t i = 0; i < count; i++) {
            const Pop3Entry *entry = pop->session.line != NULL ? pop3_find(&pop->session, jobs[i].letter->name) : NULL;
            if ((entry != NULL && entry->size > GATE_LETTER_MAX) == (large == 1))
                ret_ordered[at++] = jobs[i];
        }
}

static int do_all(Pop3Source *pop, Job *jobs, size_t count, Error *error) {
    Job *ordered = calloc(count + 1, sizeof *ordered);
    if (ordered == NULL)
        return error_set(error, ERROR_MAILBOX, ENOMEM, "no memory for reading letters");
    large_last(pop, jobs, count, ordered);
    int result = do_in_order(pop, ordered, count, error);
    free(ordered);
    return result;
}

static int pop3_look(MailSource *source, Arena *arena, SourceLetter *const *letters, size_t count, Error *error) {
    Pop3Source *pop = (Pop3Source *)source;
    Job *jobs = calloc(count + 1, sizeof *jobs);
    if (jobs == NULL)
        return error_set(error, ERROR_MAILBOX, ENOMEM, "no memory for looking at letters");
    begin_operation(pop);
    for (size_t i = 0; i < count; i++)
        jobs[i] = (Job){ .letter = letters[i], .arena = arena };
    int result = do_all(pop, jobs, count, error);
    free(jobs);
    return result;
}

static int pop3_fetch(MailSource *source, SourceFetch *fetches, size_t count, Error *error) {
    Pop3Source *pop = (Pop3Source *)source;
    Job *jobs = calloc(count + 1, sizeof *jobs);
    if (jobs == NULL)
        return error_set(error, ERROR_MAILBOX, ENOMEM, "no memory for fetching letters");
    begin_operation(pop);
    for (size_t i = 0; i < count; i++)
        jobs[i] = (Job){ .letter = fetches[i].letter, .fetch = &fetches[i] };
    int result = do_all(pop, jobs, count, error);
    free(jobs);
    return result;
}

/* ---- filing ---- */

typedef enum Fate { FATE_GONE, FATE_MARKED, FATE_KEPT } Fate; /* kept: the file's fault says why */

static void keep_file(SourceFile *file, Fate *fate, const char *host, const char *words) {
    *fate = FATE_KEPT;
    error_set(&file->fault, ERROR_LETTER, EIO, "%s would not delete letter %.80s, which stays and is tried again later: %.200s", host, file->name, words);
}

/* DELE for one file: all its copies, if it has some. The line's numbers are looked up on the line that the command goes over. 0, or -1: the line broke. */
static int mark(Pop3Source *pop, SourceFile *file, Fate *fate, Error *error) {
    Pop3Session *session = &pop->session;
    const Pop3Entry *entry = pop3_find(session, file->name);
    bool shared = (entry == NULL || entry->doubled) && is_twin_name(file->name);
    for (size_t i = 0; i < (shared ? session->count : 1); i++) {
        if (shared) {
            const Twin *twin = session->entries[i].doubled ? twin_of(pop, session->entries[i].number) : NULL;
            entry = twin != NULL && strcmp(twin->name, file->name) == 0 ? &session->entries[i] : NULL;
        }
        if (entry == NULL || entry->doubled != shared)
            continue;
        int result = pop3_delete(session, entry, error);
        if (result < 0)
            return -1;
        if (result == 0)
            keep_file(file, fate, line_host(session->line), session->words);
        else if (*fate == FATE_GONE)
            *fate = FATE_MARKED;
    }
    return 0;
}

/* Whether a name that is not found may yet be there, behind what could not be read for its name. */
static bool may_lie_there(Pop3Source *pop, const SourceFile *file) {
    char uidl[POP3_UIDL_MAX + 1];
    const char *slash = strrchr(file->name, '/');
    if (!is_twin_name(file->name) || (size_t)(slash - file->name) >= sizeof uidl)
        return false;
    snprintf(uidl, sizeof uidl, "%.*s", (int)(slash - file->name), file->name);
    const Pop3Entry *entry = pop3_find(&pop->session, uidl), *end = pop->session.entries + pop->session.count;
    for (; entry != NULL && entry < end && strcmp(entry->uidl, uidl) == 0; entry++)
        if (entry->doubled && twin_of(pop, entry->number) == NULL)
            return true;
    return false;
}

/* One line's work: marks all that may be, says QUIT. *ret_at: the file at which the line broke, or count. */
static int delete_once(Pop3Source *pop, SourceFile *files, Fate *fates, size_t count, size_t *ret_at, Error *error) {
    Pop3Session *session = &pop->session;
    char host[ERROR_TEXT_MAX / 2];
    bool shared = false, marked = false;
    *ret_at = count;
    for (size_t i = 0; i < count; i++)
        shared = shared || is_twin_name(files[i].name);
    if ((shared ? name_twins(pop, error) : ready(pop, error)) < 0)
        return -1;
    text_copy(host, sizeof host, line_host(session->line));
    for (*ret_at = 0; *ret_at < count; (*ret_at)++) {
        SourceFile *file = &files[*ret_at];
        Fate *fate = &fates[*ret_at];
        if (*fate == FATE_KEPT || file->filed)
            continue;
        *fate = FATE_GONE;
        if (mark(pop, file, fate, error) < 0)
            return -1;
        if (*fate == FATE_GONE && may_lie_there(pop, file))
            keep_file(file, fate, host, "others share its UIDL and cannot be read");
        marked = marked || *fate == FATE_MARKED;
    }
    int result = marked ? pop3_quit(session, pop3_seconds(session), error) : 1;
    if (result < 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (result == 0 && fates[i] == FATE_MARKED) /* RFC 1939, 6: some were not removed; the next list shows which */
            keep_file(&files[i], &fates[i], host, session->words);
        else
            files[i].filed = files[i].filed || fates[i] != FATE_KEPT;
    return 0;
}

static int delete_all(Pop3Source *pop, SourceFile *files, Fate *fates, size_t count, Error *error) {
    for (bool blamed = false;;) {
        char host[ERROR_TEXT_MAX / 2] = "the server";
        Error fault;
        size_t at = count;
        bool idle = pop->session.idle;
        unsigned answers = pop->session.answers;
        error_clear(&fault);
        if (delete_once(pop, files, fates, count, &at, &fault) == 0)
            return 0;
        pop3_drop(&pop->session); /* without QUIT: what was marked is not deleted (RFC 1939, 6) */
        if (idle && pop->session.answers == answers) /* which a new line is not */
            continue;
        if (blamed || at == count || count == 1)
            return error_set(error, fault.grade, fault.code, "%s", fault.text);
        blamed = true; /* the others without it */
        keep_file(&files[at], &fates[at], host, fault.text);
    }
}

static int pop3_file(MailSource *source, SourceFile *files, size_t count, Error *error) {
    Pop3Source *pop = (Pop3Source *)source;
    bool ours = false;
    for (size_t i = 0; i < count; i++) {
        files[i].filed = files[i].filed || pop->after != AFTER_DELETE || strcmp(files[i].mailbox, pop->mailbox) != 0;
        ours = ours || !files[i].filed;
    }
    if (!ours)
        return 0;
    Fate *fates = calloc(count, sizeof *fates);
    if (fates == NULL)
        return error_set(error, ERROR_MAILBOX, ENOMEM, "no memory for filing letters");
    begin_operation(pop);
    int result = delete_all(pop, files, fates, count, error);
    free(fates);
    return result;
}

/* ---- the rest ---- */

static int pop3_probe(MailSource *source, bool make, Error *error) {
    Pop3Source *pop = (Pop3Source *)source;
    (void)make;
    pop3_quit(&pop->session, QUIT_SECONDS, NULL);
    int result = ready(pop, error);
    pop3_quit(&pop->session, QUIT_SECONDS, NULL);
    return result;
}

/* An open line keeps the mailbox locked for all others, and hears of nothing. */
static int pop3_wait_begin(MailSource *source, int *ret_descriptor, Error *error) {
    (void)error;
    pop3_quit(&((Pop3Source *)source)->session, QUIT_SECONDS, NULL);
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
    pop3_quit(&pop->session, QUIT_SECONDS, NULL); /* never with deletions pending: file() ends with QUIT or gives the line up */
    forget_cached(pop);
    free(pop);
}

static const MailSourceOperations operations = {
    .list = pop3_list, .look = pop3_look, .fetch = pop3_fetch, .file = pop3_file, .probe = pop3_probe,
    .wait_begin = pop3_wait_begin, .wait_heard = pop3_wait_heard, .wait_end = pop3_wait_end, .close = pop3_close,
};

/* "pop3/USER@HOST:PORT", or its hash where the store has no room for it. */
static void name_mailbox(const LineAccount *account, char ret_mailbox[MAILBOX_MAX]) {
    char host[HOST_MAX], hex[SHA256_HEX_SIZE];
    const char *user = account->user != NULL ? account->user : "";
    host_and_port(account->url, host, sizeof host);
    if (snprintf(ret_mailbox, MAILBOX_MAX, "pop3/%s@%s", user, host) < MAILBOX_MAX)
        return;
    Sha256 sha;
    uint8_t digest[SHA256_SIZE];
    sha256_start(&sha);
    sha256_add(&sha, user, strlen(user) + 1);
    sha256_add(&sha, host, strlen(host));
    sha256_finish(&sha, digest);
    sha256_hex(digest, sizeof digest, hex);
    snprintf(ret_mailbox, MAILBOX_MAX, "pop3/%s", hex);
}

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
    pop->session.account = *account;
    pop->after = after;
    name_mailbox(account, pop->mailbox);
    return &pop->base;
}
