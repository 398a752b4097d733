/* A game: the fold of its record (DESIGN decision 1).
 *
 * game_apply() is the only way a Game changes; it checks each entry against the state so far as strictly as an arbiter
 * (order, hash chain, legality, SAN, charges under the record's rules_version, whose turn, no entry after the result), so that replaying a
 * record is also its verification. The game_plan_… functions say which entries an action adds; the caller
 * writes them to the store and applies them.
 * A Game is owned by its maker: game_new() … game_free(). */
#ifndef EPISTLE_CORE_GAME_GAME_H
#define EPISTLE_CORE_GAME_GAME_H

#include "core/chess/position.h"
#include "core/game/record.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct GamePly {
    Move move;
    char san[16];
    Instant at;
    int64_t charged, late;
    bool offer;
    int64_t letter;
} GamePly;

typedef struct Game {
    int64_t white, black; /* player numbers */
    Control control;
    int rules_version;
    Instant created, start; /* start: announced, INSTANT_NONE for at once */
    Position initial, position;
    int epoch;
    int ply_count;
    GamePly *plies;       /* of the current epoch's line, ply_count of them */
    Position *positions;  /* positions[i] stands before ply i+1; ply_count + 1 of them */
    Clock clocks[2];      /* by Colour */
    Instant running_since; /* when the time of the side to move began; INSTANT_NONE: its notice is not yet accepted */
    bool offer_standing;
    Colour offer_by;
    Result result;
    Reason reason;
    Instant ended;
    int entry_count;
    char head[SHA256_HEX_SIZE]; /* hash of the last entry */
    size_t room_;               /* of plies and positions */
} Game;

enum { GAME_PLIES_MAX = 4000 };

Game *game_new(void); /* an empty record; NULL without memory */
void game_free(Game *game);

/* Applies one entry; the game is untouched on error (ERROR_DAMAGED, with entry number and what is wrong). */
int game_apply(Game *game, const Entry *entry, Error *error);
/* Reads and applies one line of the record. */
int game_apply_line(Game *game, const char *line, Error *error);

/* Number, previous hash, kind, author and time filled in for the next entry; everything else zero. */
void game_next_entry(const Game *game, EntryKind kind, Author by, Instant at, int64_t letter, Entry *ret_entry);

/* The entries of a move by the side to move: the move itself with charge and lateness, and the result behind it if it ends the
 * game. Returns their number (1 or 2), or -1 (ERROR_INPUT) if the game is over or the move is illegal. The second entry's number and previous are
 * set, so ret_entries[0].hash is filled too. */
int game_plan_move(const Game *game, Move move, Instant arrival, int64_t letter, bool offer, Entry ret_entries[2], Error *error);

/* A notice to `to` accepted at `at`. 0: no entry is needed (not his turn any more, other epoch, clock already running, game over); 1: one. */
int game_plan_notice(const Game *game, Colour to, int epoch, int ply, Instant at, int64_t letter, Entry *ret_entry);

/* The end by resignation or agreement: the act and the result. Returns 2, or -1 (no offer of the opponent stands, game over). */
int game_plan_resign(const Game *game, Colour by, Instant at, int64_t letter, Entry ret_entries[2], Error *error);
int game_plan_accept(const Game *game, Colour by, Instant at, int64_t letter, Entry ret_entries[2], Error *error);

static inline Colour game_turn(const Game *game) { return position_turn(&game->position); }
static inline bool game_over(const Game *game) { return game->result != RESULT_NONE; }
static inline int64_t game_player(const Game *game, Colour colour) { return colour == WHITE ? game->white : game->black; }

/* The deadline of the side to move: from running_since, or, where that is not known yet, from `assumed` (a floor, RULINGS 32). */
Instant game_deadline(const Game *game, Instant assumed);

/* Plies in the given epoch's line when the record had them: the position a letter of (epoch, ply) was written at. False if that epoch is gone or ply out of range. */
bool game_position_at(const Game *game, int epoch, int ply, const Position **ret_position);

#endif
