/* Outside: the simulated world around the service (DESIGN decision 5): its mailbox, the players' folders, the clock.
 *
 * All of it lies in memory shared between the parent, which plays the people, and each life of the service, a forked process: it
 * survives the service's death as the real outside does. Nothing is ever removed, so that the end can be compared with the whole story. */
#ifndef EPISTLE_TESTS_SIMULATE_OUTSIDE_H
#define EPISTLE_TESTS_SIMULATE_OUTSIDE_H

#include "core/base/instant.h"
#include "daemon/world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ARRIVALS_MAX = 8000,  /* letters in the mailbox in one seed */
    SENDINGS_MAX = 40000, /* attempts of the service */
    POOL_BYTES = 256 * 1024 * 1024, /* of raw letters; taken from the system only where it is written to */
    MESSAGE_ID_SIZE = 128,
    ADDRESS_SIZE = 64,
};

/* What was written to the service. */
typedef struct Arrival {
    char name[32];
    size_t offset, length; /* in the pool */
    Instant visible; /* when it gets to the mailbox: sent plus a delay */
    bool filed;
    char message_id[MESSAGE_ID_SIZE]; /* without <> */
    int copy_of;  /* index of the same letter delivered before, -1 */
    bool forged;  /* not from whom it says: must change nothing */
} Arrival;

/* One attempt of the service to send. */
typedef struct Sending {
    char to[ADDRESS_SIZE], id[MESSAGE_ID_SIZE];
    size_t offset, length;
    Instant at, visible; /* visible: when the addressee sees it; INSTANT_NONE: never delivered */
    SendResult reported; /* what the service was told, if it lived to hear it */
    bool heard;          /* the service did not die during this very call */
} Sending;

typedef struct Faults { /* one in so many; 0: never */
    unsigned later, refused, unknown, list_fails;
    unsigned delay_hours; /* of letters to players, at most */
} Faults;

typedef struct Outside {
    Instant now;
    uint64_t random;       /* the outside's own dice */
    uint64_t service_random; /* the service's, another row each life */
    Faults faults;
    bool removes;          /* what is filed leaves the mailbox, as with `after = delete` */
    uint64_t steps;        /* of the present life: operations of the store and calls of the world */
    uint64_t die_at;       /* the step to die at, 0: lives */
    uint64_t die_seed;
    bool die_by_loss;      /* of power */
    size_t arrival_count, sending_count, pool_used;
    Arrival arrivals[ARRIVALS_MAX];
    Sending sendings[SENDINGS_MAX];
    char pool[POOL_BYTES];
} Outside;

enum { STATUS_WELL = 0, STATUS_SAID_ERROR = 60, STATUS_POWER_LOSS = 61, STATUS_CRASHED = 62 };

/* Mapped once; NULL if there is no memory. outside_begin empties it for a seed. */
Outside *outside_new(void);
void outside_begin(Outside *outside, uint64_t seed, Instant start);

/* A letter to the service; index of the arrival, -1 if there is no room. */
int outside_post(Outside *outside, const char *raw, size_t length, const char *message_id, Instant visible, int copy_of, bool forged);

/* The world as one life of the service sees it. Every call is a step, and may be its last one. */
World outside_world(Outside *outside);
/* Counts a step of this life, and ends it if it is the one. */
void outside_step(Outside *outside);
/* For the store's file operations: set with power_hook(). */
int outside_power_step(void *outside, int operation, const char *path, uint64_t number);

#endif
