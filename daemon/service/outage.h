/* Outages of ours: mailbox, relay, disk, and a single folder of a mailbox that can be read otherwise. Each has a beginning and an end in the store
 * (RULINGS 31: only time in which the mailbox could not be reached is ever credited), waits longer from try to try, and is told to the operator once.
 *
 *     state    what happens   goes to
 *     well     failure        failing: began, tries 1, next try in OUTAGE_RETRY_FIRST seconds; a line in the log
 *     failing  failure        failing: tries + 1, next try later (to an hour); a line in the log if the reason is another
 *     failing  success        well: ended; a line in the log; what else fails is tried at once, for it may have failed of the same
 *
 * The one letter is queued with the first failure after OUTAGE_TOLD_SECONDS, in the transaction that notes it; where that could not be (the disk
 * was full, nothing was tried since), and always where the relay fails, with the end. It says from when to when if the end comes before it could be sent.
 * An outage that lasts when the process ends is the same one for the next process. */
#ifndef EPISTLE_DAEMON_SERVICE_OUTAGE_H
#define EPISTLE_DAEMON_SERVICE_OUTAGE_H

#include "daemon/service/service.h"
#include "daemon/store/outages.h"

typedef enum OutageSubject { OUTAGE_MAILBOX, OUTAGE_RELAY, OUTAGE_DISK, OUTAGE_FOLDER, OUTAGE_SUBJECTS } OutageSubject;

enum {
    OUTAGE_TOLD_SECONDS = 900,  /* shorter ones are what every network has */
    OUTAGE_RETRY_FIRST = 30,
    OUTAGE_RETRY_MAX = 3600,
};

typedef struct Outage {
    OutageSubject subject;
    Instant began, ended; /* began INSTANT_NONE: all is well; ended INSTANT_NONE: it lasts; both set: the end waits to be noted */
    Instant next_try;
    int tries;
    bool told;
    char why[ERROR_TEXT_MAX]; /* of the last failure */
    int64_t id_;              /* of its row, 0: not noted yet */
    bool said_;               /* in the log of this process */
} Outage;

const char *outage_name(OutageSubject subject); /* "mailbox", "relay", "disk", "folder" */

/* What was tried failed or went well. Each opens a transaction of its own where something is to be noted, and must be called outside any. A store
 * that cannot be written to (the disk is full) is kept in mind and noted later: never an error. The end of the disk's outage is
 * that it could be noted. Without outage_load() they do nothing. */
void outage_failed(Service *service, OutageSubject subject, const char *why);
void outage_over(Service *service, OutageSubject subject);

/* What the last reading of the mailbox says of its single folders (service->folder_fault_). Nobody waits for them: each reading tries again, and one that
 * comes before the next try is due is not noted. */
void outage_folders(Service *service);

/* When the next try is due: never more than OUTAGE_RETRY_MAX from now, and now where the clock was set back by more; and whether something fails
 * now. INSTANT_NONE and false while all is well. */
Instant outage_next_try(const Service *service, OutageSubject subject);
bool outage_lasts(const Service *service, OutageSubject subject, Outage *ret_outage); /* ret_outage may be NULL */

/* The next try of whatever fails is due now: after a start, a new configuration. */
void outage_try_now(Service *service);

/* Whether the store's disk has the room that free_space_mb wants before letters are taken in; if not, the disk's outage is noted, *error is ERROR_LATER, and -1
 * returned. A disk that cannot be asked is taken for well. */
int outage_room(Service *service, Error *error);
/* Whether an error of the store is the disk's: full, failing, mounted read-only. */
bool outage_of_disk(const Error *error);

/* At start, before anything else is called: what the store says of outages that lasted when the last process ended. */
int outage_load(Service *service, Error *error);
void outage_unload(Service *service);

#endif
