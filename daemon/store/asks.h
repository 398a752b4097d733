/* What waits for an answer: registrations, challenges, questions (unproven moves and moves asked about), and timers. */
#ifndef EPISTLE_DAEMON_STORE_ASKS_H
#define EPISTLE_DAEMON_STORE_ASKS_H

#include "core/base/instant.h"
#include "core/game/clock.h"
#include "daemon/store/players.h"
#include "daemon/store/store.h"

typedef struct RegistrationRow {
    int64_t id;
    char address[ADDRESS_MAX];
    char name[PLAYER_NAME_MAX];
    char state[16]; /* "open", "done", "expired" */
    Instant created;
} RegistrationRow;

int registration_add(Store *store, const char *address, const char *name, Instant now, int64_t *ret_id, Error *error);
int registration_get(Store *store, int64_t id, RegistrationRow *ret_row, Error *error); /* 1, 0, -1 */
int registration_finish(Store *store, int64_t id, const char *state, int64_t player, Error *error);

typedef struct ChallengeRow {
    int64_t id, challenger, opponent;
    char control[CONTROL_TEXT_MAX];
    char colour[8]; /* the challenger's: "white", "black", "random" */
    char state[16]; /* "open", "accepted", "declined", "expired" */
    Instant created;
} ChallengeRow;

int challenge_add(Store *store, const ChallengeRow *draft, Instant now, int64_t *ret_id, Error *error);
int challenge_get(Store *store, int64_t id, ChallengeRow *ret_row, Error *error); /* 1, 0, -1 */
/* An open challenge between the two, in either direction: 1, 0, -1. */
int challenge_open_between(Store *store, int64_t one, int64_t other, int64_t *ret_id, Error *error);
int challenge_finish(Store *store, int64_t id, const char *state, int64_t game, Error *error);

typedef struct QuestionRow {
    int64_t id, letter, player, game;
    char kind[16]; /* "confirm": unproven (RULINGS 4); "old": an answer to an old letter (RULINGS 13) */
    int epoch, ply;
    char move[8];  /* UCI */
    bool offer;
    char remark[4096];
    Instant arrival; /* of the letter asked about */
    char state[16];  /* "open", "answered", "expired" */
} QuestionRow;

int question_add(Store *store, const QuestionRow *draft, int64_t *ret_id, Error *error);
int question_get(Store *store, int64_t id, QuestionRow *ret_row, Error *error); /* 1, 0, -1 */
int question_finish(Store *store, int64_t id, const char *state, Error *error);
/* An open question of that kind for this player, game, epoch and ply. 1, 0, -1. */
int question_open(Store *store, const char *kind, int64_t player, int64_t game, int epoch, int ply, int64_t *ret_id, Error *error);

/* Timers: UNIQUE(subject, kind, instant) (RULINGS 35); setting one that is set does nothing. */
int timer_set(Store *store, const char *subject, const char *kind, Instant instant, Error *error);
int timer_clear(Store *store, const char *subject, const char *kind, Error *error);
typedef struct TimerRow {
    char subject[48]; /* "question 7", "registration 3", "challenge 9" */
    char kind[24];    /* "expiry" */
    Instant instant;
} TimerRow;
int timer_due(Store *store, Instant now, TimerRow *ret_row, Error *error); /* the earliest due: 1, 0, -1 */
int timer_done(Store *store, const TimerRow *row, Error *error);

#endif
