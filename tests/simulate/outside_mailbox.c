/* The simulated mailbox: what a line to it may do, by the outside's dice. */
#include "tests/simulate/outside.h"

#include "tests/simulate/prng.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct SimulatedSource {
    MailSource base;
    Outside *outside;
} SimulatedSource;

static Outside *outside_of(MailSource *base) {
    return ((SimulatedSource *)base)->outside;
}

static int line_breaks(Outside *outside, ErrorGrade grade, const char *why, Error *error) {
    outside->mailbox_failures += !outside->mailbox_failing;
    outside->mailbox_failing = true;
    return error_set(error, grade, 0, "the simulated mailbox %s", why);
}

/* The line's own faults, at any moment of any call. */
static int line_goes(Outside *outside, Error *error) {
    outside_step(outside);
    if (outside->now < outside->mailbox_back)
        return outside->operators ? line_breaks(outside, ERROR_INPUT, "refuses the log-in", error)
                                  : line_breaks(outside, ERROR_MAILBOX, "is not to be had", error);
    return outside_one_in(outside, outside->faults.line) ? line_breaks(outside, ERROR_MAILBOX, "is cut off", error) : 0;
}

static bool lies_there(const Outside *outside, const Arrival *arrival) {
    return arrival->visible <= outside->now && (!arrival->filed || outside->kind == BOX_IMAP_SEEN);
}

/* Those that have come get their UIDs, in the order in which they came. */
static void give_names(Outside *outside) {
    for (;;) {
        Arrival *next = NULL;
        for (size_t i = 0; i < outside->arrival_count; i++) {
            Arrival *arrival = &outside->arrivals[i];
            if (!arrival->uid && lies_there(outside, arrival) && (!next || arrival->visible < next->visible))
                next = arrival;
        }
        if (!next)
            return;
        if (outside->naming_count == NAMINGS_MAX)
            abort();
        next->uid = outside->next_uid++;
        outside->namings[outside->naming_count++] = (Naming){(int)(next - outside->arrivals), outside->validity, next->uid};
    }
}

static int source_list(MailSource *base, Arena *arena, SourceList *ret_list, Error *error) {
    Outside *outside = outside_of(base);
    if (line_goes(outside, error) < 0)
        return -1;
    give_names(outside);
    SourceList list = {0};
    list.letters = arena_alloc(arena, (outside->arrival_count + 1) * sizeof *list.letters);
    unsigned *uids = calloc(outside->arrival_count + 1, sizeof *uids);
    if (!list.letters || !uids)
        abort();
    for (size_t i = 0; i < outside->arrival_count; i++) {
        const Arrival *arrival = &outside->arrivals[i];
        if (!lies_there(outside, arrival))
            continue;
        char mailbox[MAILBOX_SIZE], name[NAME_SIZE];
        naming_write(outside, &(Naming){(int)i, outside->validity, arrival->uid}, mailbox, name);
        size_t at = list.count++;
        for (; at > 0 && uids[at - 1] > arrival->uid; at--) {
            list.letters[at] = list.letters[at - 1];
            uids[at] = uids[at - 1];
        }
        uids[at] = arrival->uid;
        list.letters[at] = (SourceLetter){.received = INSTANT_NONE, .file_time = INSTANT_NONE};
        list.letters[at].mailbox = arena_copy(arena, mailbox, strlen(mailbox));
        list.letters[at].name = arena_copy(arena, name, strlen(name));
    }
    free(uids);
    *ret_list = list;
    if (line_goes(outside, error) < 0)
        return -1;
    outside->mailbox_failing = false;
    return 0;
}

/* By its present name only. */
static Arrival *arrival_named(Outside *outside, const char *mailbox, const char *name) {
    char its_mailbox[MAILBOX_SIZE], its_name[NAME_SIZE];
    unsigned uid = (unsigned)strtoul(name, NULL, 10);
    naming_write(outside, &(Naming){0, outside->validity, uid}, its_mailbox, its_name);
    if (uid == 0 || strcmp(its_name, name) || strcmp(its_mailbox, mailbox))
        return NULL;
    for (size_t i = 0; i < outside->arrival_count; i++)
        if (outside->arrivals[i].uid == uid && lies_there(outside, &outside->arrivals[i]))
            return &outside->arrivals[i];
    return NULL;
}

/* The letter, or NULL and its fault. */
static const Arrival *take(Outside *outside, SourceLetter *letter) {
    const Arrival *arrival = arrival_named(outside, letter->mailbox, letter->name);
    error_clear(&letter->fault);
    if (!arrival || outside_one_in(outside, outside->faults.letter)) { /* another program has moved it, and will move it back */
        error_set(&letter->fault, ERROR_LETTER, ENOENT, "the simulated letter %s has gone", letter->name);
        return NULL;
    }
    if (outside_one_in(outside, outside->faults.letter)) {
        error_set(&letter->fault, ERROR_LETTER, EIO, "the simulated letter %s cannot be read", letter->name);
        return NULL;
    }
    return arrival;
}

static int source_look(MailSource *base, Arena *arena, SourceLetter *const *letters, size_t count, Error *error) {
    Outside *outside = outside_of(base);
    (void)arena;
    outside_rename(outside, outside->faults.validity * 20);
    if (line_goes(outside, error) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const Arrival *arrival = take(outside, letters[i]);
        if (!arrival)
            continue;
        letters[i]->received = arrival->visible;
        letters[i]->file_time = INSTANT_NONE;
        letters[i]->size = arrival->length;
        letters[i]->head = outside->pool + arrival->offset;
        letters[i]->head_length = arrival->length < HEAD_TAKEN ? arrival->length : HEAD_TAKEN;
    }
    return line_goes(outside, error);
}

static int source_fetch(MailSource *base, SourceFetch *fetches, size_t count, Error *error) {
    Outside *outside = outside_of(base);
    if (line_goes(outside, error) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        outside_step(outside);
        const Arrival *arrival = take(outside, fetches[i].letter);
        if (!arrival || outside->now < arrival->empty_until)
            continue;
        if (outside_one_in(outside, outside->faults.line * 8))
            return line_breaks(outside, ERROR_MAILBOX, "is cut off within a letter", error);
        size_t length = arrival->length < fetches[i].limit ? arrival->length : fetches[i].limit;
        if (!str_append_bytes(fetches[i].raw, outside->pool + arrival->offset, length))
            abort();
    }
    return line_goes(outside, error);
}

/* Over IMAP each letter by itself; what was marked just when the line broke may be done and not told. */
static int source_file(MailSource *base, SourceFile *files, size_t count, Error *error) {
    Outside *outside = outside_of(base);
    Arrival *deleted[1024];
    size_t deletions = 0;
    outside_rename(outside, outside->faults.validity * 20);
    if (line_goes(outside, error) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        Arrival *arrival = arrival_named(outside, files[i].mailbox, files[i].name);
        outside_step(outside);
        if (outside->kind == BOX_POP3_DELETE) {
            if (arrival && deletions < sizeof deleted / sizeof *deleted)
                deleted[deletions++] = arrival;
            continue;
        }
        bool breaks = outside_one_in(outside, outside->faults.line * 4);
        if (arrival && (!breaks || outside_one_in(outside, 2)))
            arrival->filed = true;
        if (breaks)
            return line_breaks(outside, ERROR_MAILBOX, "is cut off at a mark", error);
        files[i].filed = true; /* also one of another UIDVALIDITY: nothing can be marked any more */
    }
    outside_step(outside);
    if (outside->kind != BOX_POP3_DELETE)
        return 0;
    /* QUIT: deleted or not, confirmed or not */
    bool breaks = outside_one_in(outside, outside->faults.line);
    if (!breaks || outside_one_in(outside, 2))
        for (size_t i = 0; i < deletions; i++)
            deleted[i]->filed = true;
    outside_step(outside);
    if (breaks)
        return line_breaks(outside, ERROR_MAILBOX, "is cut off at QUIT", error);
    for (size_t i = 0; i < count; i++)
        files[i].filed = true;
    return 0;
}

static int source_probe(MailSource *base, bool make, Error *error) {
    (void)make;
    return line_goes(outside_of(base), error);
}

static int source_wait_begin(MailSource *base, int *ret_descriptor, Error *error) {
    *ret_descriptor = -1;
    return line_goes(outside_of(base), error);
}

static bool source_wait_heard(MailSource *base) {
    (void)base;
    return true;
}

static void source_wait_end(MailSource *base) {
    outside_step(outside_of(base));
}

static void source_close(MailSource *base) {
    free(base);
}

MailSource *outside_mailbox(Outside *outside) {
    static const MailSourceOperations operations = {
        source_list, source_look, source_fetch, source_file, source_probe, source_wait_begin, source_wait_heard, source_wait_end, source_close,
    };
    SimulatedSource *source = calloc(1, sizeof *source);
    if (!source)
        abort();
    *source = (SimulatedSource){{&operations}, outside};
    return &source->base;
}
