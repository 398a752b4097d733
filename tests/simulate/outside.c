#include "tests/simulate/outside.h"

#include "tests/simulate/prng.h"
#include "tests/simulate/vfs_power.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAILBOX "simulated;1"

typedef struct SimulatedSource {
    MailSource base;
    Outside *outside;
} SimulatedSource;

typedef struct SimulatedSender {
    MailSender base;
    Outside *outside;
    Mailing *mailings;
    size_t count, next;
} SimulatedSender;

Outside *outside_new(void) {
    Outside *outside = mmap(NULL, sizeof *outside, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return outside == MAP_FAILED ? NULL : outside;
}

void outside_begin(Outside *outside, uint64_t seed, Instant start) {
    memset(outside, 0, offsetof(Outside, arrivals));
    outside->now = start;
    outside->random = seed;
    outside->removes = seed % 2;
    outside->faults = (Faults){.later = 12, .refused = 60, .unknown = 12, .list_fails = 20, .delay_hours = 10};
}

static bool one_in(Outside *outside, unsigned many) {
    return many && prng_below(&outside->random, many) == 0;
}

static bool pool_put(Outside *outside, const char *bytes, size_t length, size_t *ret_offset) {
    if (length > POOL_BYTES - outside->pool_used)
        return false;
    *ret_offset = outside->pool_used;
    memcpy(outside->pool + outside->pool_used, bytes, length);
    outside->pool_used += length;
    return true;
}

int outside_post(Outside *outside, const char *raw, size_t length, const char *message_id, Instant visible, int copy_of, bool forged) {
    if (outside->arrival_count == ARRIVALS_MAX)
        return -1;
    int index = (int)outside->arrival_count;
    Arrival *arrival = &outside->arrivals[index];
    *arrival = (Arrival){.length = length, .visible = visible, .copy_of = copy_of, .forged = forged};
    if (copy_of >= 0)
        arrival->offset = outside->arrivals[copy_of].offset;
    else if (!pool_put(outside, raw, length, &arrival->offset))
        return -1;
    /* names say nothing about the order */
    snprintf(arrival->name, sizeof arrival->name, "%08llx.%d", (unsigned long long)prng_next(&outside->random) >> 32, index);
    snprintf(arrival->message_id, sizeof arrival->message_id, "%s", message_id);
    outside->arrival_count++;
    return index;
}

void outside_step(Outside *outside) {
    if (++outside->steps != outside->die_at)
        return;
    if (outside->die_by_loss)
        power_loss(outside->die_seed, STATUS_POWER_LOSS);
    power_crash(STATUS_CRASHED);
}

int outside_power_step(void *outside, int operation, const char *path, uint64_t number) {
    (void)operation, (void)path, (void)number;
    outside_step(outside);
    return 0;
}

/* --- the mailbox --- */

static int source_list(MailSource *base, Arena *arena, SourceList *ret_list, Error *error) {
    Outside *outside = ((SimulatedSource *)base)->outside;
    outside_step(outside);
    if (one_in(outside, outside->faults.list_fails))
        return error_set(error, ERROR_MAILBOX, 0, "the simulated mailbox is not to be had");
    SourceList list = {0};
    list.letters = arena_alloc(arena, (outside->arrival_count + 1) * sizeof *list.letters);
    if (!list.letters)
        return error_set(error, ERROR_LATER, 0, "no memory for the simulated mailbox's list");
    /* in the order in which they got there */
    for (size_t i = 0; i < outside->arrival_count; i++) {
        const Arrival *arrival = &outside->arrivals[i];
        if (arrival->visible > outside->now || (arrival->filed && outside->removes))
            continue;
        size_t at = list.count++;
        for (; at > 0 && list.letters[at - 1].received > arrival->visible; at--)
            list.letters[at] = list.letters[at - 1];
        list.letters[at] = (SourceLetter){.mailbox = MAILBOX, .name = arrival->name, .received = arrival->visible, .file_time = INSTANT_NONE};
    }
    for (size_t i = 0; i < list.count; i++)
        list.letters[i].received = INSTANT_NONE;
    *ret_list = list;
    return 0;
}

static Arrival *arrival_named(Outside *outside, const char *name) {
    for (size_t i = 0; i < outside->arrival_count; i++)
        if (!strcmp(outside->arrivals[i].name, name))
            return &outside->arrivals[i];
    return NULL;
}

static int source_look(MailSource *base, Arena *arena, SourceLetter *const *letters, size_t count, Error *error) {
    Outside *outside = ((SimulatedSource *)base)->outside;
    (void)arena;
    outside_step(outside);
    if (one_in(outside, outside->faults.list_fails * 4))
        return error_set(error, ERROR_MAILBOX, 0, "the simulated mailbox's line broke");
    for (size_t i = 0; i < count; i++) {
        const Arrival *arrival = arrival_named(outside, letters[i]->name);
        error_clear(&letters[i]->fault);
        if (!arrival) {
            error_set(&letters[i]->fault, ERROR_LETTER, ENOENT, "the simulated letter %s is not there", letters[i]->name);
            continue;
        }
        letters[i]->received = arrival->visible;
        letters[i]->file_time = INSTANT_NONE;
        letters[i]->size = arrival->length;
        letters[i]->head = outside->pool + arrival->offset;
        letters[i]->head_length = arrival->length < HEAD_TAKEN ? arrival->length : HEAD_TAKEN;
    }
    return 0;
}

static int source_fetch(MailSource *base, SourceFetch *fetches, size_t count, Error *error) {
    Outside *outside = ((SimulatedSource *)base)->outside;
    for (size_t i = 0; i < count; i++) {
        SourceLetter *letter = fetches[i].letter;
        outside_step(outside);
        const Arrival *arrival = arrival_named(outside, letter->name);
        error_clear(&letter->fault);
        if (!arrival) {
            error_set(&letter->fault, ERROR_LETTER, ENOENT, "the simulated letter %s is not there", letter->name);
            continue;
        }
        if (one_in(outside, outside->faults.list_fails * 4))
            return error_set(error, ERROR_MAILBOX, 0, "the simulated mailbox's line broke");
        size_t length = arrival->length < fetches[i].limit ? arrival->length : fetches[i].limit;
        if (!str_append_bytes(fetches[i].raw, outside->pool + arrival->offset, length))
            return error_set(error, ERROR_LATER, 0, "no memory for a simulated letter");
    }
    return 0;
}

static int source_file(MailSource *base, SourceFile *files, size_t count, Error *error) {
    (void)error;
    Outside *outside = ((SimulatedSource *)base)->outside;
    for (size_t i = 0; i < count; i++) {
        outside_step(outside);
        Arrival *arrival = arrival_named(outside, files[i].name);
        if (arrival)
            arrival->filed = true;
        files[i].filed = true;
        outside_step(outside);
    }
    return 0;
}

static int source_probe(MailSource *base, bool make, Error *error) {
    (void)base, (void)make, (void)error;
    return 0;
}

static int source_wait_begin(MailSource *base, int *ret_descriptor, Error *error) {
    (void)base, (void)error;
    *ret_descriptor = -1;
    return 0;
}

static bool source_wait_heard(MailSource *base) {
    (void)base;
    return false;
}

static void source_wait_end(MailSource *base) {
    (void)base;
}

static void source_close(MailSource *base) {
    free(base);
}

/* --- the relay --- */

static void send_one(Outside *outside, const Envelope *envelope, const char *bytes, size_t length, SendReport *ret_report) {
    Instant now = outside->now;
    outside_step(outside);
    SendResult result = SEND_ACCEPTED;
    bool delivered = true;
    if (one_in(outside, outside->faults.later)) {
        result = SEND_LATER, delivered = false;
    } else if (one_in(outside, !strncmp(envelope->to, "td@", 3) && outside->faults.refused ? 2 : outside->faults.refused)) {
        /* a newcomer's letter, once refused, is given up, rightly: there is no player yet */
        if (!strstr(envelope->to, "@n"))
            result = SEND_REFUSED, delivered = false;
    } else if (one_in(outside, outside->faults.unknown)) {
        result = SEND_UNKNOWN, delivered = one_in(outside, 2);
    }
    *ret_report = (SendReport){.result = result, .at = now};
    snprintf(ret_report->words, sizeof ret_report->words, "simulated %d", (int)result);
    if (outside->sending_count == SENDINGS_MAX)
        abort();
    Sending *sending = &outside->sendings[outside->sending_count];
    *sending = (Sending){.length = length, .at = now, .visible = INSTANT_NONE, .reported = result};
    snprintf(sending->to, sizeof sending->to, "%s", envelope->to);
    snprintf(sending->id, sizeof sending->id, "%s", envelope->id);
    if (!pool_put(outside, bytes, length, &sending->offset))
        abort();
    if (delivered)
        sending->visible = now + (Instant)prng_below(&outside->random, outside->faults.delay_hours * 3600u + 1);
    outside->sending_count++;
    outside_step(outside); /* dies with the letter gone and the answer unheard */
    sending->heard = true;
}

static void sender_begin(MailSender *base, Mailing *mailings, size_t count, Instant (*clock)(void *data), void *clock_data) {
    SimulatedSender *sender = (SimulatedSender *)base;
    (void)clock, (void)clock_data;
    sender->mailings = mailings;
    sender->count = count;
    sender->next = 0;
}

static size_t sender_work(MailSender *base, struct pollfd *extra, size_t extra_count, int milliseconds) {
    SimulatedSender *sender = (SimulatedSender *)base;
    (void)extra, (void)extra_count, (void)milliseconds;
    if (sender->next < sender->count) {
        Mailing *mailing = &sender->mailings[sender->next++];
        send_one(sender->outside, &mailing->envelope, mailing->bytes, mailing->length, &mailing->report);
        mailing->done = true;
    }
    return sender->count - sender->next;
}

static void sender_stop(MailSender *base) {
    SimulatedSender *sender = (SimulatedSender *)base;
    for (; sender->next < sender->count; sender->next++) {
        Mailing *mailing = &sender->mailings[sender->next];
        mailing->report = (SendReport){.result = SEND_LATER, .unbegun = true, .at = sender->outside->now};
        mailing->done = true;
    }
}

static int sender_probe(MailSender *base, Error *error) {
    (void)base, (void)error;
    return 0;
}

static void sender_close(MailSender *base) {
    free(base);
}

static Instant world_time(void *data) {
    return ((const Outside *)data)->now;
}

static void world_dice(void *data, void *ret_bytes, size_t length) {
    Outside *outside = data;
    for (size_t i = 0; i < length; i++)
        ((uint8_t *)ret_bytes)[i] = (uint8_t)prng_next(&outside->service_random);
}

World outside_world(Outside *outside) {
    static const MailSourceOperations source_operations = {
        source_list, source_look, source_fetch, source_file, source_probe, source_wait_begin, source_wait_heard, source_wait_end, source_close,
    };
    static const MailSenderOperations sender_operations = {sender_begin, sender_work, sender_stop, sender_probe, sender_close};
    SimulatedSource *source = calloc(1, sizeof *source);
    SimulatedSender *sender = calloc(1, sizeof *sender);
    if (!source || !sender)
        abort();
    *source = (SimulatedSource){{&source_operations}, outside};
    *sender = (SimulatedSender){.base = {&sender_operations}, .outside = outside};
    return (World){.data = outside, .now = world_time, .random = world_dice, .source = &source->base, .sender = &sender->base};
}
