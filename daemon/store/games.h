/* Games: their records (the truth) and the index over them. */
#ifndef EPISTLE_DAEMON_STORE_GAMES_H
#define EPISTLE_DAEMON_STORE_GAMES_H

#include "core/game/game.h"
#include "daemon/store/store.h"

typedef struct GameRow { /* the index */
    int64_t id, white, black;
    int epoch, ply;
    int64_t to_move; /* player number, 0: nobody, the game is over */
    Instant due;     /* INSTANT_NONE: not known yet */
    char control[CONTROL_TEXT_MAX];
    char result[8];
} GameRow;

/* Begins a record with its first entry. initial: NULL for the start array. */
int game_create(Store *store, int64_t white, int64_t black, const char *control, const Position *initial, Instant start, Instant now,
                int64_t letter, int64_t *ret_id, Error *error);

/* Replays the record; 1, 0 (no such game), -1. The caller frees the game. */
int game_load(Store *store, int64_t id, Game **ret_game, Error *error);

/* Writes entries (planned on this very state), applies them to *game and brings the index up to date. A UNIQUE conflict
 * is ERROR_DAMAGED: the callers look before. */
int game_append(Store *store, int64_t id, Game *game, Entry *entries, int count, Error *error);

int game_row(Store *store, int64_t id, GameRow *ret_row, Error *error); /* 1, 0, -1 */

/* Calls `each` for every game of a player (0: of all), running ones first, by id; stops when it returns non-zero. `running`: only those not
 * over. */
int games_each(Store *store, int64_t player, bool running, int (*each)(void *data, const GameRow *row), void *data, Error *error);

/* Replays every record, compares the index. Calls `complain` with a sentence for each fault; returns the number of faults, -1 if the store fails. */
int games_verify(Store *store, void (*complain)(void *data, const char *sentence), void *data, int64_t *ret_games, int64_t *ret_entries, Error *error);

/* The record as text, line by line. */
int game_record(Store *store, int64_t id, Str *ret_text, Error *error);

#endif
