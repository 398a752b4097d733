/* Listings: what the operator's verbs show of the store, and what they may change in the queue.
 *
 * Every listing calls `each` row by row; a non-zero answer stops it. Texts live until the next row. They return 0, or -1 with *error. */
#ifndef EPISTLE_DAEMON_STORE_LISTING_H
#define EPISTLE_DAEMON_STORE_LISTING_H

#include "core/base/instant.h"
#include "daemon/store/store.h"

/* One consistent view of the store over several listings, also of a store opened STORE_READ; ended by store_rollback(). */
int listing_begin(Store *store, Error *error);

typedef struct PlayerLine {
    int64_t id;
    const char *name, *address, *language, *zone;
    const char *trouble; /* what is wrong with the address, "" if nothing */
    bool blocked;
    int64_t running; /* games */
    Instant created;
} PlayerLine;
/* player 0: all, by number. */
int listing_players(Store *store, int64_t player, int (*each)(void *data, const PlayerLine *line), void *data, Error *error);

typedef struct LetterLine {
    int64_t id, player, game; /* 0: none */
    Instant arrival;
    const char *name;         /* of the player, "" if not known */
    const char *state, *kind, *proof, *outcome, *why;
    bool filed;
} LetterLine;
/* Letters in, newest first, at most `most`. failed: only those set aside, or stored and unsettled after more than one try. */
int listing_letters(Store *store, bool failed, int64_t most, int (*each)(void *data, const LetterLine *line), void *data, Error *error);

typedef struct OutcomeLine {
    int number;
    const char *verb, *outcome, *detail;
} OutcomeLine;
int listing_outcomes(Store *store, int64_t letter, int (*each)(void *data, const OutcomeLine *line), void *data, Error *error);

typedef struct OutLine {
    int64_t id, cause, player, game;
    const char *name, *address, *kind, *state, *words;
    Instant queued, due, tried;
    int attempts, unknowns;
} OutLine;
/* Letters out that are neither accepted nor overtaken, oldest first; caused_by: instead all those of that letter in, whatever their state
 * (its own answer and the notices that follow from it). */
int listing_outbox(Store *store, int64_t caused_by, int (*each)(void *data, const OutLine *line), void *data, Error *error);

typedef enum OutboxAct { OUTBOX_HOLD, OUTBOX_RELEASE, OUTBOX_RETRY, OUTBOX_DROP } OutboxAct;
/* Within a transaction. 1 done, 0 there is no such letter or its state does not allow it, -1.
 *     hold     queued, refused → held          release  held → queued
 *     retry    queued, trying, refused, given up, bounced → queued, due now
 *     drop     anything that is not accepted → overtaken */
int outbox_act(Store *store, int64_t id, OutboxAct act, Instant now, Error *error);

typedef struct CountLine {
    const char *state;
    int64_t count;
} CountLine;
int listing_letter_states(Store *store, int (*each)(void *data, const CountLine *line), void *data, Error *error);
int listing_queue_states(Store *store, int (*each)(void *data, const CountLine *line), void *data, Error *error);

typedef struct Figures {
    int64_t players, running, over, unfiled;
    int64_t due_game;     /* whose deadline is next, 0: none */
    Instant due;
    Instant next_timer;   /* INSTANT_NONE: none is set */
    Instant next_sending; /* of what waits in the queue */
    int64_t unreadable;   /* files that could not be opened then */
    Instant mailbox_read; /* the last time it was read to its end */
} Figures;
int listing_figures(Store *store, Figures *ret_figures, Error *error);

/* What the service waits for, at the cost of what waits: the next timer's and the next sending's instant (INSTANT_NONE: none), letters that wait to go
 * out. A sending that is more than LETTER_PUT_OFF_MAX ahead of `now` counts as due now; INSTANT_NONE: instants are told as they are. */
typedef struct Ahead {
    Instant timer, sending;
    int64_t letters;
} Ahead;
int listing_ahead(Store *store, Instant now, Ahead *ret_ahead, Error *error);
int listing_running(Store *store, int64_t *ret_games, Error *error); /* games that are not over; costs a look at each */

typedef struct SetAside {
    int64_t recent; /* letters stored since then */
    int64_t ever;
} SetAside;
int listing_set_aside(Store *store, Instant since, SetAside *ret_counts, Error *error);

typedef struct TroubleLine {
    const char *kind; /* "set aside", "tried", "unknown", "given up", "refused", "address" */
    int64_t id;       /* of the letter in or out, or of the player */
    const char *text;
} TroubleLine;
/* What wants the operator's eye: of letters that were set aside, those stored since then. */
int listing_troubles(Store *store, Instant since, int (*each)(void *data, const TroubleLine *line), void *data, Error *error);

/* Ids of letters whose raw bytes are kept, above `after`, by id: their number or -1. */
int listing_raw(Store *store, int64_t after, int64_t *ret_ids, int most, Error *error);
/* SQLite's own checks of the file; complains sentence by sentence. The number of faults, or -1. */
int store_check_file(Store *store, void (*complain)(void *data, const char *sentence), void *data, Error *error);

#endif
