/* A game: the fold of its record (DESIGN decision 1).
 *
 * game_apply() is the only way a Game changes; it checks each entry against the state so far as strictly as an arbiter
 * (order, hash chain, legality, SAN, charges under the record's rules_version, whose turn, no entry after the result), so that replaying a
 * record is also its verification. The game_plan_… functions say which entries an action adds; the caller
 * writes them to the store and applies them; their hash is filled.
 * A Game is owned by its maker: game_new() … game_free(). Its members are read, never written, by others.
 *
 *     state                   entry → next state                                        planned by
 *     empty                   start → running                                           game_plan_start
 *     running                 notice → running (once a ply, for the side to move)       game_plan_notice
 *                             move → running, or result due (mate, stalemate, dead)     game_plan_move
 *                             result (dead position) → over, if the entry before is a   with the move
 *                             move into one that is not plain by material
 *                             offer, decline → running                                  game_plan_offer, _decline
 *                             accept, resign → result due                               game_plan_accept, _resign
 *                             result (a ruling) → over                                  game_plan_ruling
 *                             restore → running, in a new epoch                         game_plan_restore
 *     result due              result (that one, same time and letter) → over            with the act
 *     over                    nothing
 *
 * A late move counts: its entry says how late it was, the clock may fall below zero (no loss on time under rules 1).
 * The times of entries need not rise: letters are settled as they are read. */
#ifndef EPISTLE_CORE_GAME_GAME_H
#define EPISTLE_CORE_GAME_GAME_H

#include "core/chess/history.h"
#include "core/chess/mating.h"
#include "core/chess/position.h"
#include "core/game/record.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct GamePly {
    Move move;
    char san[16];
    Instant at; /* arrival */
    int64_t charged, late;
    bool offer;
    int64_t letter; /* 0: by the operator's hand */
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
    Instant running_since; /* when the time of the side to move began: its notice's acceptance, never before the
                              announced start; INSTANT_NONE: its notice is not yet accepted */
    bool offer_standing;   /* until the opponent of offer_by accepts, declines or moves, or a restore */
    Colour offer_by;
    Result result;
    Reason reason;
    Instant ended;
    int entry_count;
    char head[SHA256_HEX_SIZE]; /* hash of the last entry */
    size_t room_;               /* of plies; positions have one more */
    /* The result that the last entry (a mating move, accept, resign …) calls for and the next one must be; RESULT_NONE: none. */
    Result due_result_;
    Reason due_reason_;
    Instant due_at_;
    int64_t due_letter_;
    EntryKind last_kind_;
} Game;

enum { GAME_PLIES_MAX = 4000 };

Game *game_new(void); /* an empty record; NULL without memory */
void game_free(Game *game);

/* Applies one entry; the game is untouched on error (ERROR_DAMAGED, with entry number and what is wrong; ERROR_LATER
 * without memory). entry->hash may be empty; if it is not, it must be right. */
int game_apply(Game *game, const Entry *entry, Error *error);
/* Reads and applies one line of the record, with or without its LF. */
int game_apply_line(Game *game, const char *line, Error *error);
/* The game of a whole record: lines that each end in LF, nothing else. NULL on error, as above; the caller frees it.
 * The last entry is vouched for by nobody but the head: compare game->head where it is known. */
Game *game_replay(const char *record, size_t length, Error *error);

/* Number, previous hash, kind, author, time and letter filled in for the next entry; everything else zero (start: INSTANT_NONE). */
void game_next_entry(const Game *game, EntryKind kind, Author by, Instant at, int64_t letter, Entry *ret_entry);

/* The first entry. initial NULL: the start array; a Chess960 position is written with its castling rights as files (HAha), and
 * read back as Chess960 for that. start: announced, INSTANT_NONE for at once. by: service or arbiter. Returns 1, or -1
 * (ERROR_INPUT: the position is the end already, the players are the same, …). */
int game_plan_start(int64_t white, int64_t black, const Control *control, const Position *initial, Instant start,
                    Author by, Instant at, int64_t letter, Entry *ret_entry, Error *error);

/* The entries of a move by the side to move: the move itself with charge and lateness, and the result behind it if it ends the
 * game. Returns their number (1 or 2), or -1 (ERROR_INPUT) if the game is over or the move is illegal. The second entry's number and previous are
 * set, so ret_entries[0].hash is filled too. */
int game_plan_move(const Game *game, Move move, Instant arrival, int64_t letter, bool offer, Entry ret_entries[2], Error *error);

/* A notice to `to`, written when `ply` plies of `epoch` were played, accepted at `at`. 0: no entry is needed (not his turn any more,
 * other epoch, clock already running, game over, `at` INSTANT_NONE); 1: one; -1:
 * ERROR_LATER, without memory: the clock must not stay still for that. */
int game_plan_notice(const Game *game, Colour to, int epoch, int ply, Instant at, int64_t letter, Entry *ret_entry, Error *error);

/* The end by resignation or agreement: the act and the result. Returns 2, or -1 (no offer of the opponent stands, game over). */
int game_plan_resign(const Game *game, Colour by, Instant at, int64_t letter, Entry ret_entries[2], Error *error);
int game_plan_accept(const Game *game, Colour by, Instant at, int64_t letter, Entry ret_entries[2], Error *error);

/* Draw offer without a move; declining in words. Return 1, or -1 (ERROR_INPUT: an offer stands already, of himself or of the
 * opponent, who is to be answered; no offer of the opponent stands; game over). */
int game_plan_offer(const Game *game, Colour by, Instant at, int64_t letter, Entry *ret_entry, Error *error);
int game_plan_decline(const Game *game, Colour by, Instant at, int64_t letter, Entry *ret_entry, Error *error);

/* The arbiter's: the end with any result, and back to the position after `ply` plies of the current line. Return 1, or -1.
 * A restore opens the next epoch, computes both clocks anew from the plies that stay, withdraws a standing offer, and no
 * time runs until the side to move has its notice. */
int game_plan_ruling(const Game *game, Result result, Instant at, int64_t letter, Entry *ret_entry, Error *error);
int game_plan_restore(const Game *game, int ply, Instant at, int64_t letter, Entry *ret_entry, Error *error);

static inline Colour game_turn(const Game *game) { return position_turn(&game->position); }
static inline bool game_over(const Game *game) { return game->result != RESULT_NONE; }
static inline int64_t game_player(const Game *game, Colour colour) { return colour == WHITE ? game->white : game->black; }

/* The line as it stands, for repetition and move counts: of the current epoch, so that plies an arbiter took back never count.
 * A view, good until the next entry; not of an empty record. */
static inline History game_history(const Game *game) {
    return (History){ game->positions, (size_t)game->ply_count + 1 };
}

static inline Author game_author(Colour colour) { return colour == WHITE ? AUTHOR_WHITE : AUTHOR_BLACK; }
static inline Colour game_opponent(Colour colour) { return colour == WHITE ? BLACK : WHITE; }

/* What ends a game in this position by itself: mate, stalemate, a dead position. RESULT_NONE: nothing. A record must end where
 * the position is mate, stalemate, or dead by its material; where it is dead for another reason (ENDING_DEAD) it may end, as it
 * does since the service sees that, and need not, as it did not before. */
Result game_ending(const Position *after, Reason *ret_reason);

/* What comes of it when a side must lose but for its opponent's inability: a flag (6.9), a third illegal move (7.4), a sealed move
 * that is none. A draw if the opponent cannot mate by any series of legal moves, by the full mode of mating.h, whose limits and
 * line these are (ret_line may be NULL: how he still could); else the opponent's win. */
Result game_forfeit(const Position *position, Colour loser, const MatingLimits *limits, MatingLine *ret_line);

/* The deadline of the side to move: from running_since, or, where that is not known yet, from `assumed` (a floor, RULINGS 32;
 * moved up to the announced start). INSTANT_NONE when the game is over or has no time control. */
Instant game_deadline(const Game *game, Instant assumed);

/* The position a letter of (epoch, ply) was written at, after `ply` plies. False if that epoch is gone or ply out of range.
 * It stays where it is until the next entry is applied. */
bool game_position_at(const Game *game, int epoch, int ply, const Position **ret_position);

#endif
