/* Service: what a letter or a timer does (DESIGN "The way of a letter").
 *
 * One cycle: read the mailbox to its end in batches (store, settle, file), run due timers, send the queue.
 * The states a letter passes are DESIGN's table; the steps below move it:
 *
 *     I0 waiting   intake_run: fetch, store raw bytes            commit 1 of a batch → I1
 *     I1 stored    settle_letter: outcomes, entries, answers     commit 2 of a batch → I2 or I2c
 *     I2c awaiting settle_letter of the `confirm`, or timer      → I2
 *     I2 settled   source file(), noted with the next commit     → I3
 *     O1 queued    queue_run: render, note the attempt           commit 1 of a batch → O2
 *     O2 trying    send, note the result                         commit 2 of a batch → O3, O4, O5, O1 again
 */
#ifndef EPISTLE_DAEMON_SERVICE_SERVICE_H
#define EPISTLE_DAEMON_SERVICE_SERVICE_H

#include "daemon/config.h"
#include "daemon/inbox/mime.h"
#include "daemon/inbox/token.h"
#include "daemon/outbox/template.h"
#include "daemon/store/store.h"
#include "daemon/world.h"

enum {
    BATCH_SIZE = 64, /* letters per transaction, in and out (RULINGS 42) */
    LETTERS_RESTING_MAX = 64, /* letters in the mailbox that cannot be had now; more are tried each time */
    TRIES_MAX = 3,   /* unclean ends with one letter in hand before it is set aside (RULINGS 44) */
};

typedef struct LetterRest { /* a letter in the mailbox that was empty or could not be read (RULINGS 7) */
    uint64_t hash; /* of its mailbox and name; 0: a free place */
    Instant next;
    int times;
    bool unreadable;
} LetterRest;

typedef struct Service {
    const Config *config;
    Store *store;
    const Templates *templates;
    World *world;
    Instant fixed; /* the time of --now, INSTANT_NONE otherwise */
    /* Reads one letter's MIME: the zygote in the daemon, mime_read() itself in simulation. */
    int (*read_mime)(void *data, Arena *arena, const char *raw, size_t size, MimeResult *ret_result, Error *error);
    void *mime_data;
    void (*log)(const char *line); /* one line for the operator: no tokens, no bodies (RULINGS 50); may be NULL */

    /* What is done and waits to be noted with the next commit, whichever that is (RULINGS 42). Zero at first. */
    int64_t unnoted_[BATCH_SIZE]; /* letters the source has filed */
    int unnoted_count_;
    int unreadable_;              /* files in the mailbox that could not be opened when it was read */
    Instant read_at_;             /* when the mailbox was last read to its end; 0: nothing to note */

    /* What serve wants to know and to say while a cycle lasts; NULL elsewhere. */
    void (*alive)(void);    /* called between letters, and at least once a second while a line is waited for */
    bool (*stopping)(void); /* asked between letters: true ends the work after the letter in hand */

    LetterRest resting_[LETTERS_RESTING_MAX];
    Error folder_fault_; /* of the last reading: a further folder that could not be read, or letters that could not be filed, while the rest was
                          * done; ERROR_NONE: all went well */
    struct Outage *outages_;       /* outage.h; NULL until outage_load() */
    struct QueueBatch *batch_;     /* letters on their way; NULL: none */
} Service;

typedef struct CycleReport {
    int fetched, settled, set_aside, filed, sent, refused, deferred, unknown, timers;
} CycleReport;

/* One whole cycle. 0, or -1 if it had to stop: what was committed is done, the rest is done by the next cycle. An
 * unreachable mailbox does not keep the queue from being sent. */
int service_cycle(Service *service, CycleReport *ret_report, Error *error);

/* Its parts, for serve and for tests. */
/* A folder that cannot be read or filed into stops nobody else's letters: intake_run() then returns 0 and service->folder_fault_ says what it was; where
 * a folder was not read, read_at_ stays unset, for the mailbox was not read to its end (RULINGS 30). service_cycle() fails with it at its end. */
int intake_run(Service *service, CycleReport *report, Error *error);
int timers_run(Service *service, CycleReport *report, Error *error);
int queue_run(Service *service, CycleReport *report, Error *error);

/* queue_run() in steps, for serve's loop: letters go out while the mailbox is read and waited for.
 * queue_begin: takes up to BATCH_SIZE due letters, notes the attempts (commit 1) and hands them to the sender. How many; 0: none is due, or a
 * batch is under way.
 * queue_step: lets the sender work as in sender.h, with its descriptors; once all are done, notes the results (commit 2). How many are still
 * under way, or -1. ERROR_MAILBOX: the results are noted, and the relay took no letter (its outage is noted too). ERROR_LATER: the store could not note
 * them now; the batch stays, and a later step notes them. Anything else: they are lost, and the letters' ends count as unknown.
 * queue_stop: what is not begun waits again; the rest is finished by further steps. queue_drop: forgets a batch (at the end of serve). */
int queue_begin(Service *service, CycleReport *report, Error *error);
int queue_step(Service *service, struct pollfd *extra, size_t extra_count, int milliseconds, CycleReport *report, Error *error);
void queue_stop(Service *service);
void queue_drop(Service *service);

/* A transaction of the service: begins with the notes that wait; they are forgotten only once it is committed. */
int service_begin(Service *service, Error *error);
int service_commit(Service *service, Error *error);
/* A commit of their own for the notes that no other took; none where nothing waits. */
int service_note(Service *service, Error *error);

#endif
