#include "tests/simulate/outside.h"

#include "tests/simulate/prng.h"
#include "tests/simulate/vfs_power.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

Outside *outside_new(void) {
    Outside *outside = mmap(NULL, sizeof *outside, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return outside == MAP_FAILED ? NULL : outside;
}

void outside_begin(Outside *outside, uint64_t seed, Instant start) {
    memset(outside, 0, offsetof(Outside, arrivals));
    outside->now = start;
    outside->random = seed;
    outside->kind = (BoxKind)(seed % BOX_KINDS);
    outside->validity = 1;
    outside->next_uid = 1;
    outside->faults = (Faults){.later = 12, .refused = 60, .unknown = 12, .line = 30, .letter = 50, .empty = 40, .hang_up = 60, .outage = 25,
                               .validity = 40, .delay_hours = 10};
}

void outside_calm(Outside *outside) {
    outside->faults = (Faults){.delay_hours = 1};
    outside->mailbox_back = outside->relay_back = outside->disk_back = 0;
}

bool outside_one_in(Outside *outside, unsigned many) {
    return many && prng_below(&outside->random, many) == 0;
}

/* --- letters --- */

bool outside_keep(Outside *outside, const char *bytes, size_t length, size_t *ret_offset) {
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
    else if (!outside_keep(outside, raw, length, &arrival->offset))
        return -1;
    if (outside_one_in(outside, outside->faults.empty))
        arrival->empty_until = visible + (Instant)prng_below(&outside->random, 6 * 3600);
    snprintf(arrival->message_id, sizeof arrival->message_id, "%s", message_id);
    outside->arrival_count++;
    return index;
}

void naming_write(const Outside *outside, const Naming *naming, char ret_mailbox[MAILBOX_SIZE], char ret_name[NAME_SIZE]) {
    if (outside->kind == BOX_POP3_DELETE)
        snprintf(ret_mailbox, MAILBOX_SIZE, "pop3");
    else
        snprintf(ret_mailbox, MAILBOX_SIZE, "INBOX;%u", naming->validity);
    snprintf(ret_name, NAME_SIZE, "%u", naming->uid);
}

/* --- weather --- */

/* Mostly some minutes, sometimes as long as a day and a half. */
static Instant outage_end(Outside *outside) {
    return outside->now + 60 + (Instant)(prng_below(&outside->random, 3) ? prng_below(&outside->random, 4 * 3600) : prng_below(&outside->random, 36 * 3600));
}

void outside_rename(Outside *outside, unsigned many) {
    if (outside->kind == BOX_POP3_DELETE || !outside_one_in(outside, many))
        return;
    outside->validity++;
    outside->validities++;
    outside->next_uid = 1 + (unsigned)prng_below(&outside->random, 1000); /* old numbers come again, for other letters */
    for (size_t i = 0; i < outside->arrival_count; i++) {
        Arrival *arrival = &outside->arrivals[i];
        if (arrival->filed && outside->kind != BOX_IMAP_SEEN)
            continue;
        arrival->uid = 0;
        arrival->filed = false;
    }
}

void outside_weather(Outside *outside) {
    if (outside->now >= outside->mailbox_back && outside_one_in(outside, outside->faults.outage)) {
        outside->mailbox_back = outage_end(outside);
        outside->mailbox_outages++;
    }
    if (outside->now >= outside->relay_back && outside_one_in(outside, outside->faults.outage)) {
        outside->relay_back = outage_end(outside);
        outside->relay_outages++;
    }
    if (outside->now >= outside->disk_back && outside_one_in(outside, outside->faults.outage * 2)) {
        outside->disk_back = outage_end(outside);
        outside->disk_outages++;
    }
    outside->operators = outside_one_in(outside, 3);
    outside_rename(outside, outside->faults.validity);
}

/* --- a life's end --- */

/* To this life, if serve's loop has begun and takes it. */
static void send_signal(Outside *outside, int number) {
    sigset_t blocked;
    sigemptyset(&blocked);
    if (outside->asked_to_end || sigprocmask(SIG_BLOCK, NULL, &blocked) != 0 || sigismember(&blocked, number) != 1)
        return;
    outside->asked_to_end = number == SIGTERM;
    kill(getpid(), number);
}

void outside_wait(Outside *outside, bool busy) {
    outside->now += busy ? (Instant)prng_below(&outside->random, 20) : 1 + (Instant)prng_below(&outside->random, 300);
    if (outside_one_in(outside, 100))
        outside_weather(outside);
    if (outside->end_at != INSTANT_NONE && outside->now >= outside->end_at) {
        outside->end_at = INSTANT_NONE;
        send_signal(outside, SIGTERM);
    }
}

void outside_step(Outside *outside) {
    outside->steps++;
    if (outside->steps == outside->signal_at)
        send_signal(outside, outside->signal);
    if (outside->steps != outside->die_at)
        return;
    if (outside->die_by_loss)
        power_loss(outside->die_seed, STATUS_POWER_LOSS);
    power_crash(STATUS_CRASHED);
}

int outside_power_step(void *data, int operation, const char *path, uint64_t number) {
    (void)path, (void)number;
    Outside *outside = data;
    outside_step(outside);
    return operation == POWER_WRITE && outside->now < outside->disk_back ? SQLITE_FULL : SQLITE_OK;
}

/* --- the world --- */

static Instant world_time(void *data) {
    return ((const Outside *)data)->now;
}

static void world_dice(void *data, void *ret_bytes, size_t length) {
    Outside *outside = data;
    for (size_t i = 0; i < length; i++)
        ((uint8_t *)ret_bytes)[i] = (uint8_t)prng_next(&outside->service_random);
}

World outside_world(Outside *outside) {
    return (World){.data = outside, .now = world_time, .random = world_dice, .source = outside_mailbox(outside), .sender = outside_relay(outside)};
}
