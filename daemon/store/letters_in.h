/* Letters in: raw bytes first, then what was decided. States: "stored" (I1), "awaiting" (I2c), "settled" (I2); filed (I3) is a mark beside. */
#ifndef EPISTLE_DAEMON_STORE_LETTERS_IN_H
#define EPISTLE_DAEMON_STORE_LETTERS_IN_H

#include "core/base/instant.h"
#include "core/base/sha256.h"
#include "daemon/inbox/source.h"
#include "daemon/store/store.h"

enum {
    RAW_KEPT_DAYS = 1000, /* raw bytes are evidence: a game of two years and an appeal after it (RULINGS 48) */
    RAW_DROPPED_AT_ONCE = 64,
};

typedef struct LetterIn {
    int64_t id;
    Instant arrival, stored;
    char mailbox[SOURCE_MAILBOX_MAX], name[300];
    char state[16];
    bool filed;
    int tries;
    char kind[16], proof[8], outcome[24], why[200];
    int64_t player, game, same_as, answer; /* 0: none */
} LetterIn;

int letter_in_known(Store *store, const char *mailbox, const char *name, Error *error); /* 1, 0, -1 */

/* Seals and writes the raw bytes: state "stored", one try counted (the first settling follows at once). */
int letter_in_add(Store *store, const char *mailbox, const char *name, Instant arrival, Instant now, const Str *raw,
                  const uint8_t nonce[24], int64_t *ret_id, Error *error);
int letter_in_raw(Store *store, int64_t id, Str *ret_raw, Error *error); /* 1, 0 (no longer kept), -1 (damaged) */
int letter_in_get(Store *store, int64_t id, LetterIn *ret_letter, Error *error); /* 1, 0, -1 */

/* Stored and not settled, by arrival, then id. Their number or -1. */
int letters_in_stored(Store *store, int64_t *ret_ids, int most, Error *error);
int letter_in_count_try(Store *store, int64_t id, Error *error);
int letter_in_take_back_try(Store *store, int64_t id, Error *error);

/* The decision's head: everything but the outcomes. */
typedef struct Settlement {
    const char *state; /* "settled" or "awaiting" */
    const char *kind, *proof, *outcome, *why;
    int64_t player, game, same_as, answer;
    const char *message_id; /* NULL: without a second key */
    const char *body_hash;
} Settlement;
int letter_in_settle(Store *store, int64_t id, const Settlement *settlement, Error *error);
int letter_in_set_state(Store *store, int64_t id, const char *state, const char *outcome, const char *why, Error *error);

/* The letter settled before under the same second key (RULINGS 8). 1, 0, -1. */
int letter_in_same(Store *store, const char *proof, const char *message_id, const char *body_hash, int64_t *ret_id, Error *error);
/* 1 if a copy of the letter `first` that arrived at this very time was answered already; 0 or -1. */
int letter_in_answered_at(Store *store, int64_t first, Instant arrival, Error *error);

/* Drops the oldest raw bytes of settled letters that were stored before `before`, a few at a time. What was decided stays. */
int letters_in_drop_raw(Store *store, Instant before, Error *error);

/* One outcome of one command; number counts from 1 in each letter. */
int outcome_add(Store *store, int64_t letter, int number, const char *verb, const char *outcome, const char *detail, Error *error);

/* Settled and not filed, at most `most` ids; filing is noted after the source has done it. */
int letters_in_unfiled(Store *store, int64_t *ret_ids, int most, Error *error);
int letter_in_note_filed(Store *store, int64_t id, Error *error);

#endif
