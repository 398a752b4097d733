/* Outages of ours in the store: one table, of which a row per subject may last (RULINGS 31). What they mean: service/outage.h. */
#ifndef EPISTLE_DAEMON_STORE_OUTAGES_H
#define EPISTLE_DAEMON_STORE_OUTAGES_H

#include "core/base/instant.h"
#include "daemon/store/store.h"

enum { OUTAGE_SUBJECT_MAX = 16 };

typedef struct OutageRow {
    int64_t id;                       /* 0: not stored yet */
    char subject[OUTAGE_SUBJECT_MAX]; /* "mailbox", "relay", "disk", "folder" */
    Instant began, ended;             /* ended INSTANT_NONE: it lasts */
    Instant next_try;
    int tries;                        /* that failed, since it began */
    bool told;                        /* the operator's letter is queued, or it needs none */
    char why[ERROR_TEXT_MAX];         /* of the last failure */
} OutageRow;

/* Notes it anew (id 0, which is filled) or as it is now. Within a transaction. */
int outage_put(Store *store, OutageRow *row, Error *error);
/* Those that last, by subject: their number, at most `most`, or -1. */
int outages_lasting(Store *store, OutageRow *ret_rows, int most, Error *error);
/* A letter about it (scope "none", ask its id) that no line has opened for yet tells the newer state. Within a transaction. */
int outage_letter_renew(Store *store, int64_t id, const char *view, Error *error);

#endif
