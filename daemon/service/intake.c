/* Intake: from the mailbox to settled and filed letters, in batches (RULINGS 7, 18, 42, 44). */
#include "daemon/service/settling.h"

#include "daemon/inbox/arrival.h"
#include "daemon/inbox/gate.h"
#include "daemon/service/outage.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH_BYTES_MAX = 16 * 1024 * 1024,   /* raw letters held at once */
    LETTER_ARENA_MAX = 16 * 1024 * 1024,  /* header, text and commands of one letter; honest ones take 100 kB */
    REST_SECONDS_MAX = 3600,
    FAULTS_LOGGED_MAX = 8, /* letters that cannot be read, of one reading; status counts them all */
    LOOK_ARENA_MAX = 2 * BATCH_SIZE * HEAD_TAKEN,
    LIST_ARENA_MAX = 1024 * 1024 * 1024,  /* names of a mailbox that was never emptied */
};

typedef struct Incoming { /* one letter of a batch */
    int64_t id;
    Arena arena;
    ReadLetter read;
    Str raw;
    bool unreadable; /* it is to be set aside */
    bool headed;     /* `read` is filled, as far as the header at least */
    char why[ERROR_TEXT_MAX];
} Incoming;

typedef struct Waiting { /* one letter in the mailbox that the store does not know */
    SourceLetter *letter;
    Instant arrival;
} Waiting;

typedef struct Intake {
    Service *service;
    CycleReport *report;
    bool not_filing; /* filing failed in this reading; the next one tries again */
} Intake;

static bool stopping(const Service *service) {
    return service->stopping != NULL && service->stopping();
}

static void say_alive(const Service *service) {
    if (service->alive != NULL)
        service->alive();
}

/* ---- letters that rest ---- */

/* A letter that could not be had or filed, or came empty, is left alone for a while, each time for longer (RULINGS 7): from a minute to an hour. */
static uint64_t rest_hash(const SourceLetter *letter) {
    uint64_t hash = 14695981039346656037u; /* FNV-1a; a collision makes a letter wait an hour at most */
    for (const char *byte = letter->mailbox; *byte != 0; byte++)
        hash = (hash ^ (unsigned char)*byte) * 1099511628211u;
    for (const char *byte = letter->name; *byte != 0; byte++)
        hash = (hash ^ (unsigned char)*byte) * 1099511628211u;
    return hash;
}

static LetterRest *rest_of(Service *service, const SourceLetter *letter) {
    uint64_t hash = rest_hash(letter);
    for (int i = 0; i < LETTERS_RESTING_MAX; i++)
        if (service->resting_[i].hash == hash)
            return &service->resting_[i];
    return NULL;
}

static bool is_resting(Service *service, const SourceLetter *letter) {
    const LetterRest *rest = rest_of(service, letter);
    Instant now = world_now(service->world);
    return rest != NULL && now < rest->next && rest->next - now <= REST_SECONDS_MAX; /* further off: the clock was set back */
}

static void let_rest(Service *service, const SourceLetter *letter, bool unreadable) {
    Instant now = world_now(service->world);
    LetterRest *rest = rest_of(service, letter);
    for (int i = 0; i < LETTERS_RESTING_MAX && rest == NULL; i++)
        if (service->resting_[i].hash == 0 || service->resting_[i].next + SECONDS_PER_DAY < now) {
            rest = &service->resting_[i];
            *rest = (LetterRest){ .hash = rest_hash(letter) };
        }
    if (rest == NULL) /* more than it has room for are tried each time */
        return;
    int seconds = 60 << (rest->times < 6 ? rest->times : 6);
    rest->times++;
    rest->unreadable = unreadable;
    rest->next = now + (seconds < REST_SECONDS_MAX ? seconds : REST_SECONDS_MAX);
}

/* ---- filing ---- */

/* One that the mailbox will not mark keeps no other from being read or filed. */
static void note_unfiled(Service *service, const SourceFile *file) {
    let_rest(service, &(SourceLetter){ .mailbox = file->mailbox, .name = file->name }, false);
    if (service->log != NULL)
        service->log(file->fault.text);
}

/* Reads back from the store what is settled and not filed, and files it. What cannot be filed is known by its key all the same: it is left for the next
 * reading, and keeps no other letter from being read. */
static int file_settled(Intake *intake, Error *error) {
    Service *service = intake->service;
    MailSource *source = service->world->source;
    int64_t ids[BATCH_SIZE];
    LetterIn letters[BATCH_SIZE];
    SourceFile files[BATCH_SIZE];
    size_t asked = 0;
    service->unnoted_count_ = 0;
    if (intake->not_filing)
        return 0;
    int count = letters_in_unfiled(service->store, ids, BATCH_SIZE, error);
    for (int i = 0; i < count; i++) {
        if (letter_in_get(service->store, ids[i], &letters[i], error) < 0)
            return -1;
        if (is_resting(service, &(SourceLetter){ .mailbox = letters[i].mailbox, .name = letters[i].name }))
            continue;
        ids[asked] = ids[i];
        files[asked++] = (SourceFile){ .mailbox = letters[i].mailbox, .name = letters[i].name };
    }
    if (count <= 0 || asked == 0)
        return count < 0 ? -1 : 0;
    say_alive(service);
    Error fault;
    error_clear(&fault);
    if (source->operations->file(source, files, asked, &fault) < 0) {
        intake->not_filing = true;
        service->folder_fault_ = fault;
    }
    for (size_t i = 0; i < asked; i++)
        if (files[i].filed)
            service->unnoted_[service->unnoted_count_++] = ids[i];
        else if (files[i].fault.grade != ERROR_NONE)
            note_unfiled(service, &files[i]);
    intake->report->filed += service->unnoted_count_;
    return 0;
}

/* ---- storing ---- */

static int store_one(Intake *intake, const Waiting *waiting, Incoming *incoming, Error *error) {
    uint8_t nonce[24];
    world_random(intake->service->world, nonce, sizeof nonce);
    return letter_in_add(intake->service->store, waiting->letter->mailbox, waiting->letter->name, waiting->arrival,
                         world_now(intake->service->world), &incoming->raw, nonce, &incoming->id, error);
}

/* Commit 1 of a batch: raw bytes and keys, and the filing of the batch before. */
static int store_batch(Intake *intake, const Waiting *waiting, Incoming *incoming, int count, Error *error) {
    int result = service_begin(intake->service, error);
    for (int i = 0; i < count && result == 0; i++)
        if (incoming[i].raw.length > 0)
            result = store_one(intake, &waiting[i], &incoming[i], error);
    if (result == 0)
        result = service_commit(intake->service, error);
    if (result < 0)
        store_rollback(intake->service->store);
    return result;
}

/* ---- settling ---- */

/* A clean end without an outcome (a full disk, no memory, a mailbox out of reach) is no letter's doing: what was counted for
 * having it in hand is taken back, as far as the store still can. `but` keeps its count; it may be 0. */
static void take_back_tries(Intake *intake, const Incoming *incoming, int count, int64_t but) {
    Store *store = intake->service->store;
    Error ignored;
    error_clear(&ignored);
    bool well = store_begin(store, &ignored) == 0;
    for (int i = 0; i < count && well; i++)
        if (incoming[i].id != 0 && incoming[i].id != but)
            well = letter_in_take_back_try(store, incoming[i].id, &ignored) == 0;
    if (!well || store_commit(store, &ignored) < 0)
        store_rollback(store);
}

/* Reads a stored letter outside any transaction: parsing may take its time. */
static int read_incoming(Service *service, Incoming *incoming, Error *error) {
    Error fault;
    error_clear(&fault);
    if (settle_read(service, &incoming->arena, &incoming->raw, &incoming->read, &fault) == 0) {
        incoming->headed = true;
        return 0;
    }
    if (fault.grade == ERROR_LATER)
        return error_set(error, fault.grade, fault.code, "%s", fault.text);
    incoming->unreadable = true;
    text_copy(incoming->why, sizeof incoming->why, fault.text);
    return 0;
}

static int settle_incoming(Service *service, Incoming *incoming, CycleReport *report, Error *error) {
    if (incoming->unreadable) {
        report->set_aside++;
        return settle_aside(service, &incoming->arena, incoming->id, incoming->headed ? &incoming->read : NULL, incoming->why, error);
    }
    if (incoming->read.kind == LETTER_UNREADABLE)
        report->set_aside++;
    return settle_letter(service, &incoming->arena, incoming->id, &incoming->read, error);
}

/* Commit 2 of a batch: each letter in its savepoint. Any error of the store drops the whole batch (RULINGS 42). */
static int settle_together(Intake *intake, Incoming *incoming, int count, Error *error) {
    Store *store = intake->service->store;
    CycleReport report = *intake->report;
    int result = service_begin(intake->service, error);
    for (int i = 0; i < count && result == 0; i++) {
        if (incoming[i].id == 0)
            continue;
        result = store_savepoint(store, error);
        if (result == 0)
            result = settle_incoming(intake->service, &incoming[i], &report, error);
        if (result == 0)
            result = store_release(store, error);
        report.settled++;
    }
    if (result == 0)
        result = service_commit(intake->service, error);
    if (result < 0)
        store_rollback(store);
    else
        *intake->report = report;
    return result;
}

/* One letter in its own transaction. A letter that damage keeps from being settled (a broken record, say) is set
 * aside, so that it does not stop the others. */
static int settle_alone(Intake *intake, Incoming *incoming, Error *error) {
    Error fault;
    error_clear(&fault);
    if (settle_together(intake, incoming, 1, &fault) == 0)
        return 0;
    if (fault.grade != ERROR_DAMAGED && fault.grade != ERROR_LETTER && fault.grade != ERROR_INPUT)
        return error_set(error, fault.grade, fault.code, "%s", fault.text);
    incoming->unreadable = true;
    text_copy(incoming->why, sizeof incoming->why, fault.text);
    return settle_together(intake, incoming, 1, error);
}

static int settle_batch(Intake *intake, Incoming *incoming, int count, Error *error) {
    Error fault;
    error_clear(&fault);
    if (settle_together(intake, incoming, count, &fault) == 0)
        return 0;
    for (int i = 0; i < count; i++)
        if (incoming[i].id != 0 && settle_alone(intake, &incoming[i], error) < 0)
            return -1;
    return 0;
}

/* ---- letters left by an unclean end ---- */

static int count_try(Intake *intake, int64_t id, Error *error) {
    Store *store = intake->service->store;
    if (store_begin(store, error) < 0)
        return -1;
    if (letter_in_count_try(store, id, error) == 0 && store_commit(store, error) == 0)
        return 0;
    store_rollback(store);
    return -1;
}

/* The third death: its sender is told, for which the header is enough. Should even that kill the service, nobody is told. */
static int give_up_reading(Intake *intake, const LetterIn *letter, Incoming *incoming, Error *error) {
    incoming->unreadable = true;
    text_copy(incoming->why, sizeof incoming->why, "the service died three times with this letter in hand");
    if (letter->tries > TRIES_MAX)
        return 0;
    if (count_try(intake, letter->id, error) < 0)
        return -1;
    incoming->headed = settle_read_head(intake->service, &incoming->arena, &incoming->raw, &incoming->read, NULL) == 0;
    return 0;
}

static int settle_leftover(Intake *intake, int64_t id, Incoming *incoming, Error *error) {
    Store *store = intake->service->store;
    LetterIn letter;
    if (letter_in_get(store, id, &letter, error) < 0)
        return -1;
    incoming->id = id;
    int found = letter_in_raw(store, id, &incoming->raw, error);
    if (found < 0 && error->grade != ERROR_DAMAGED)
        return -1;
    if (found <= 0) {
        incoming->unreadable = true;
        text_copy(incoming->why, sizeof incoming->why, "its stored bytes cannot be opened");
    } else if (letter.tries >= TRIES_MAX) {
        if (give_up_reading(intake, &letter, incoming, error) < 0)
            return -1;
    } else {
        if (count_try(intake, id, error) < 0)
            return -1;
        if (read_incoming(intake->service, incoming, error) < 0) {
            if (error->code != MIME_PROCESS_DIED)
                take_back_tries(intake, incoming, 1, 0);
            return -1;
        }
    }
    if (settle_alone(intake, incoming, error) == 0)
        return 0;
    take_back_tries(intake, incoming, 1, 0);
    return -1;
}

static void incoming_init(Incoming *incoming) {
    *incoming = (Incoming){ .id = 0 };
    arena_init(&incoming->arena, LETTER_ARENA_MAX);
    str_init(&incoming->raw, GATE_LETTER_MAX + 1);
}

static void incoming_free(Incoming *incoming) {
    arena_free(&incoming->arena);
    str_free(&incoming->raw);
}

/* Everything stored and not settled, one by one, by arrival. */
static int settle_leftovers(Intake *intake, int *ret_count, Error *error) {
    int64_t id = 0;
    *ret_count = 0;
    for (;;) {
        int found = stopping(intake->service) ? 0 : letters_in_stored(intake->service->store, &id, 1, error);
        if (found <= 0)
            return found;
        say_alive(intake->service);
        Incoming incoming;
        incoming_init(&incoming);
        int result = settle_leftover(intake, id, &incoming, error);
        incoming_free(&incoming);
        if (result < 0)
            return -1;
        (*ret_count)++;
    }
}

/* ---- the mailbox ---- */

static int arrival_from_head(Service *service, const SourceLetter *letter, Instant *ret_arrival, Error *error) {
    Arena arena;
    Header header = { .fields = NULL };
    arena_init(&arena, LETTER_ARENA_MAX);
    int result = 0;
    if (!header_scan(&arena, letter->head, letter->head_length, &header))
        result = error_set(error, ERROR_LATER, 0, "no memory to read a letter's header");
    if (result == 0)
        *ret_arrival = arrival_of(&header, (const char *const *)service->config->received_by, service->config->received_by_count,
                                  letter->received, letter->file_time, service->fixed, world_now(service->world));
    arena_free(&arena);
    return result;
}

static int by_arrival(const void *left, const void *right) {
    const Waiting *one = left, *other = right;
    if (one->arrival != other->arrival)
        return one->arrival < other->arrival ? -1 : 1;
    if (one->letter == other->letter)
        return 0;
    return one->letter < other->letter ? -1 : 1; /* the mailbox's own order */
}

static void note_fault(Service *service, const SourceLetter *letter) {
    if (letter->fault.code == ENOENT)
        return;
    let_rest(service, letter, true);
    if (service->unreadable_++ < FAULTS_LOGGED_MAX && service->log != NULL)
        service->log(letter->fault.text);
}

/* Those of the list that the store does not know and that are not resting. */
static int find_unknown(Service *service, const SourceList *list, Waiting *waiting, int *ret_count, Error *error) {
    *ret_count = 0;
    for (size_t i = 0; i < list->count; i++) {
        SourceLetter *letter = &list->letters[i];
        int known = letter_in_known(service->store, letter->mailbox, letter->name, error);
        if (known < 0)
            return -1;
        if (known == 1)
            continue;
        if (is_resting(service, letter))
            service->unreadable_ += rest_of(service, letter)->unreadable;
        else
            waiting[(*ret_count)++].letter = letter;
    }
    return 0;
}

/* Looks at up to BATCH_SIZE letters; those that can be had get their arrival and are kept. */
static int look_at(Service *service, Waiting *waiting, int count, int *ret_kept, Error *error) {
    Arena arena;
    SourceLetter *letters[BATCH_SIZE];
    MailSource *source = service->world->source;
    *ret_kept = 0;
    for (int i = 0; i < count; i++)
        letters[i] = waiting[i].letter;
    arena_init(&arena, LOOK_ARENA_MAX);
    say_alive(service);
    int result = source->operations->look(source, &arena, letters, (size_t)count, error);
    for (int i = 0; i < count && result == 0; i++) {
        if (letters[i]->fault.grade != ERROR_NONE) { /* gone in the meantime, or not for us to read: the others are */
            note_fault(service, letters[i]);
            continue;
        }
        Waiting *kept = &waiting[*ret_kept];
        result = arrival_from_head(service, letters[i], &kept->arrival, error);
        kept->letter = letters[i];
        letters[i]->head = NULL;
        letters[i]->head_length = 0;
        (*ret_kept)++;
    }
    arena_free(&arena);
    return result;
}

/* The letters that are to be taken in, by arrival. */
static int find_waiting(Service *service, const SourceList *list, Waiting *waiting, int *ret_count, Error *error) {
    int unknown = 0, count = 0, kept = 0;
    if (find_unknown(service, list, waiting, &unknown, error) < 0)
        return -1;
    for (int at = 0; at < unknown && !stopping(service); at += BATCH_SIZE) {
        int most = unknown - at < BATCH_SIZE ? unknown - at : BATCH_SIZE;
        if (look_at(service, waiting + at, most, &kept, error) < 0)
            return -1;
        memmove(waiting + count, waiting + at, (size_t)kept * sizeof *waiting);
        count += kept;
    }
    qsort(waiting, (size_t)count, sizeof *waiting, by_arrival);
    *ret_count = count;
    return 0;
}

static size_t limit_of(const SourceLetter *letter) {
    return letter->size > GATE_LETTER_MAX ? GATE_LARGE_TAKEN : GATE_LETTER_MAX;
}

/* Fetches raw bytes of up to `most` letters, as many as may be held at once; one that has gone or is empty has none (RULINGS 7). */
static int fetch_batch(Service *service, const Waiting *waiting, int most, Incoming *incoming, int *ret_count, Error *error) {
    MailSource *source = service->world->source;
    SourceFetch fetches[BATCH_SIZE];
    size_t bytes = 0;
    int count = 0;
    for (; count < most && bytes < BATCH_BYTES_MAX; count++) {
        SourceLetter *letter = waiting[count].letter;
        size_t limit = limit_of(letter);
        incoming_init(&incoming[count]);
        fetches[count] = (SourceFetch){ letter, limit, &incoming[count].raw };
        bytes += letter->size < limit ? letter->size : limit;
    }
    *ret_count = count;
    say_alive(service);
    int result = source->operations->fetch(source, fetches, (size_t)count, error);
    for (int i = 0; i < count && result == 0; i++) {
        if (fetches[i].letter->fault.grade != ERROR_NONE) {
            str_clear(&incoming[i].raw);
            note_fault(service, fetches[i].letter);
        } else if (incoming[i].raw.length == 0) {
            let_rest(service, fetches[i].letter, false);
        }
    }
    return result;
}

static int take_batch(Intake *intake, const Waiting *waiting, int most, int *ret_taken, bool *ret_stored, Error *error) {
    Incoming incoming[BATCH_SIZE];
    int result = fetch_batch(intake->service, waiting, most, incoming, ret_taken, error);
    if (result == 0)
        result = store_batch(intake, waiting, incoming, *ret_taken, error);
    bool stored = *ret_stored = result == 0;
    int64_t deadly = 0; /* with this one the MIME process itself died */
    int read = 0;       /* those behind it are left to the next start */
    for (; read < *ret_taken && result == 0; read++) {
        if (incoming[read].id == 0)
            continue;
        if (stopping(intake->service))
            break;
        say_alive(intake->service);
        intake->report->fetched++;
        result = read_incoming(intake->service, &incoming[read], error);
        if (result < 0 && error->code == MIME_PROCESS_DIED)
            deadly = incoming[read].id;
    }
    if (result == 0)
        result = settle_batch(intake, incoming, read, error);
    if (stored && result < 0)
        take_back_tries(intake, incoming, *ret_taken, deadly);
    else if (stored && read < *ret_taken)
        take_back_tries(intake, incoming + read, *ret_taken - read, 0);
    for (int i = 0; i < *ret_taken; i++)
        incoming_free(&incoming[i]);
    if (result == 0)
        result = file_settled(intake, error);
    return result;
}

static int take_all(Intake *intake, const SourceList *list, int batch_size, Error *error) {
    Waiting *waiting = calloc(list->count + 1, sizeof *waiting);
    int count = 0, taken = 0;
    if (waiting == NULL)
        return error_set(error, ERROR_LATER, 0, "no memory for the list of letters");
    int result = find_waiting(intake->service, list, waiting, &count, error);
    for (int at = 0; at < count && result == 0 && !stopping(intake->service); at += taken) {
        int most = count - at < batch_size ? count - at : batch_size;
        bool stored = false;
        result = take_batch(intake, waiting + at, most, &taken, &stored, error);
        if (result < 0 && !stored && most > 1 && error->grade == ERROR_LATER) { /* too much for the disk: as many as fit (RULINGS 42) */
            batch_size = 1;
            taken = 0;
            result = 0;
        }
    }
    free(waiting);
    return result;
}

/* *ret_whole: every folder was read to its end. */
static int read_mailbox(Intake *intake, int batch_size, bool *ret_whole, Error *error) {
    MailSource *source = intake->service->world->source;
    Arena arena;
    SourceList list = { .count = 0 };
    arena_init(&arena, LIST_ARENA_MAX);
    int result = source->operations->list(source, &arena, &list, error);
    if (result == 0)
        result = take_all(intake, &list, batch_size, error);
    *ret_whole = list.fault.grade == ERROR_NONE;
    if (!*ret_whole)
        intake->service->folder_fault_ = list.fault;
    arena_free(&arena);
    return result;
}

static int run(Service *service, CycleReport *report, Error *error) {
    Intake intake = { .service = service, .report = report };
    int leftovers = 0;
    bool whole = false;
    service->unreadable_ = 0;
    error_clear(&service->folder_fault_);
    if (settle_leftovers(&intake, &leftovers, error) < 0)
        return -1;
    /* Letters settled before the end came and not filed: found by their key, only filed. */
    for (;;) {
        if (file_settled(&intake, error) < 0)
            return -1;
        if (service->unnoted_count_ < BATCH_SIZE)
            break;
        if (service_note(service, error) < 0)
            return -1;
    }
    if (read_mailbox(&intake, leftovers > 0 ? 1 : BATCH_SIZE, &whole, error) < 0)
        return -1;
    if (whole && !stopping(service))
        service->read_at_ = world_now(service->world);
    return 0;
}

int intake_run(Service *service, CycleReport *report, Error *error) {
    Error fault;
    error_clear(&fault);
    if (service->world->source == NULL)
        return 0;
    if (run(service, report, &fault) == 0) {
        outage_over(service, OUTAGE_MAILBOX);
        return 0;
    }
    if (fault.grade == ERROR_MAILBOX || fault.grade == ERROR_INPUT)
        outage_failed(service, OUTAGE_MAILBOX, fault.text);
    return error_set(error, fault.grade, fault.code, "%s", fault.text);
}
