/* Outages of ours: mailbox, relay, disk. Each has a beginning and an end in the store (RULINGS 31: only time in which the mailbox could not be reached
 * is ever credited), waits longer from try to try, and is told to the operator once.
 *
 *     subject  state          what happens                          goes to
 *     any      well           failure                               failing: began, tries 1, next try in RETRY seconds; a line in the log
 *     any      failing        failure                               failing: tries + 1, next try later (to an hour); told after OUTAGE_TOLD_SECONDS
 *     any      failing        success                               well: ended; a line in the log; if it was told, or is long enough to be, a letter of its end
 *
 * The one letter: of an outage of the mailbox it is queued when it has lasted OUTAGE_TOLD_SECONDS; of the relay or of a disk it cannot go before the end, so
 * it is queued at the end and says from when to when. It is queued at most once per outage, in the transaction that notes it. */
#ifndef EPISTLE_DAEMON_SERVICE_OUTAGE_H
#define EPISTLE_DAEMON_SERVICE_OUTAGE_H

#include "daemon/service/service.h"

typedef enum OutageSubject { OUTAGE_MAILBOX, OUTAGE_RELAY, OUTAGE_DISK, OUTAGE_SUBJECTS } OutageSubject;

enum {
    OUTAGE_TOLD_SECONDS = 900,  /* shorter ones are what every network has */
    OUTAGE_RETRY_MAX = 3600,
};

typedef struct Outage {
    OutageSubject subject;
    Instant began, ended; /* ended INSTANT_NONE: it lasts */
    int tries;
    bool told;
    char why[ERROR_TEXT_MAX]; /* of the last failure */
} Outage;

const char *outage_name(OutageSubject subject); /* "mailbox", "relay", "disk" */

/* What was tried failed or went well. Each opens a transaction of its own where something is to be noted, and must be called outside any. A store
 * that cannot be written to (the disk is full) is kept in mind and noted later: never an error. */
void outage_failed(Service *service, OutageSubject subject, const char *why);
void outage_over(Service *service, OutageSubject subject);

/* When the next try is due, and whether something fails now. INSTANT_NONE and false while all is well. */
Instant outage_next_try(const Service *service, OutageSubject subject);
bool outage_lasts(const Service *service, OutageSubject subject, Outage *ret_outage);
/* At start, before anything else is called: what the store says of outages that lasted when the last process ended. */
int outage_load(Service *service, Error *error);
void outage_unload(Service *service);

#endif
