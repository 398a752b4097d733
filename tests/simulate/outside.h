/* Outside: the simulated world around the service (DESIGN decision 5): its mailbox, its relay, the players' folders, the clock, the weather.
 *
 * All of it lies in memory shared between the parent, which plays the people, and each life of the service, a forked process: it
 * survives the service's death as the real outside does. Nothing is ever removed, so that the end can be compared with the whole story.
 *
 * The mailbox is of one of three kinds, by the seed. In one read over IMAP a letter is known by UIDVALIDITY and UID, and when UIDVALIDITY
 * changes, all that lie there have new names; over POP3 what is deleted goes with QUIT, all or nothing. */
#ifndef EPISTLE_TESTS_SIMULATE_OUTSIDE_H
#define EPISTLE_TESTS_SIMULATE_OUTSIDE_H

#include "core/base/instant.h"
#include "daemon/world.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    ARRIVALS_MAX = 8000,  /* letters in the mailbox in one seed */
    NAMINGS_MAX = 100000,
    SENDINGS_MAX = 40000, /* attempts of the service */
    POOL_BYTES = 256 * 1024 * 1024, /* of raw letters; taken from the system only where it is written to */
    MESSAGE_ID_SIZE = 128,
    ADDRESS_SIZE = 64,
    MAILBOX_SIZE = 24,
    NAME_SIZE = 24,
};

typedef enum BoxKind { BOX_IMAP_SEEN, BOX_IMAP_DELETE, BOX_POP3_DELETE, BOX_KINDS } BoxKind;

/* What was written to the service. */
typedef struct Arrival {
    size_t offset, length; /* in the pool */
    Instant visible;  /* when it gets to the mailbox: sent plus a delay */
    Instant empty_until; /* the server gives no bytes of it before (its disk is slow, say) */
    unsigned uid;     /* its present one; 0: not in the mailbox yet */
    bool filed;
    char message_id[MESSAGE_ID_SIZE]; /* without <> */
    int copy_of;  /* index of the same letter delivered before, -1 */
    bool forged;  /* not from whom it says: must change nothing */
} Arrival;

/* A name some letter had at some time. */
typedef struct Naming {
    int arrival;
    unsigned validity, uid;
} Naming;

/* One attempt of the service to send. */
typedef struct Sending {
    char to[ADDRESS_SIZE], id[MESSAGE_ID_SIZE];
    size_t offset, length;
    Instant at, visible; /* visible: when the addressee sees it; INSTANT_NONE: never delivered */
    SendResult reported; /* what the service was told, if it lived to hear it */
    bool heard;          /* the service did not die or turn away before it was told */
} Sending;

typedef struct Faults { /* one in so many; 0: never */
    unsigned later, refused, unknown; /* of letters to the relay */
    unsigned line;        /* of calls to the mailbox: the line breaks in it */
    unsigned letter;      /* of letters looked at or fetched: this one cannot be had, or seems gone */
    unsigned empty;       /* of letters: no bytes for some hours */
    unsigned hang_up;     /* of letters to the relay: 421, and no more for now */
    unsigned outage;      /* of the times of day: mailbox, relay or disk are gone for minutes, or for a day */
    unsigned validity;    /* of the times of day: UIDVALIDITY changes; more seldom while letters are being read */
    unsigned delay_hours; /* of letters to players, at most */
} Faults;

typedef struct Outside {
    Instant now;
    uint64_t random;       /* the outside's own dice */
    uint64_t service_random; /* the service's, another row each life */
    Faults faults;
    BoxKind kind;
    unsigned validity, next_uid;
    Instant mailbox_back, relay_back, disk_back; /* before, there is none */
    bool operators;        /* what fails of mailbox and relay now only the operator can mend: a log-in is refused */
    unsigned mailbox_outages, relay_outages, disk_outages, validities; /* how many there were */
    bool mailbox_failing, relay_failing; /* it failed the service, and has not served it since, were it for one call only */
    unsigned mailbox_failures, relay_failures; /* how often that began */
    uint64_t steps;        /* of the present life: operations of the store and calls of the world */
    uint64_t die_at;       /* the step to die at, 0: lives */
    uint64_t die_seed;
    bool die_by_loss;      /* of power */
    uint64_t signal_at;    /* the step at which serve is sent `signal`; 0: never */
    int signal;
    Instant end_at;        /* when it is sent SIGTERM; INSTANT_NONE: never */
    bool asked_to_end;     /* this life had its SIGTERM; a second one would end it at once, as it should */
    size_t arrival_count, naming_count, sending_count, pool_used;
    Arrival arrivals[ARRIVALS_MAX];
    Naming namings[NAMINGS_MAX];
    Sending sendings[SENDINGS_MAX];
    char pool[POOL_BYTES];
} Outside;

enum { STATUS_WELL = 0, STATUS_SAID_ERROR = 60, STATUS_POWER_LOSS = 61, STATUS_CRASHED = 62 };

/* Mapped once; NULL if there is no memory. outside_begin empties it for a seed. */
Outside *outside_new(void);
void outside_begin(Outside *outside, uint64_t seed, Instant start);

/* A letter to the service; index of the arrival, -1 if there is no room. */
int outside_post(Outside *outside, const char *raw, size_t length, const char *message_id, Instant visible, int copy_of, bool forged);
/* The time of day has changed: outages begin and end, names change. */
void outside_weather(Outside *outside);
/* From now on nothing fails. */
void outside_calm(Outside *outside);
void naming_write(const Outside *outside, const Naming *naming, char ret_mailbox[MAILBOX_SIZE], char ret_name[NAME_SIZE]);

/* The world as one life of the service sees it. Every call is a step, and may be its last one. */
World outside_world(Outside *outside);
/* Counts a step of this life, and ends it if it is the one. */
void outside_step(Outside *outside);
/* For the store's file operations: set with power_hook(). Nothing can be written while the disk is full. */
int outside_power_step(void *outside, int operation, const char *path, uint64_t number);

/* ---- shared by outside.c, outside_mailbox.c and outside_relay.c ---- */

MailSource *outside_mailbox(Outside *outside);
MailSender *outside_relay(Outside *outside);
bool outside_one_in(Outside *outside, unsigned many);
/* By chance: a rebuilt mailbox, in which every letter has another name, and marks are lost. */
void outside_rename(Outside *outside, unsigned many);
/* The service waits for something: time goes on. */
void outside_wait(Outside *outside, bool busy);
/* Bytes kept in the pool; false if it is full. */
bool outside_keep(Outside *outside, const char *bytes, size_t length, size_t *ret_offset);

#endif
