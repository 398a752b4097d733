/* History: what the positions of a game so far say about repetition (Law 9.2) and about moves without a pawn move or a
 * capture (9.3), and about the two limits of the later Laws at which nobody needs to claim (9.6 since 2014).
 *
 * Positions are compared themselves (position_same()), never by their hash alone: no collision draws a game. That a right to
 * castle was lost, or an en passant capture was legal once only, makes positions differ there and needs no care here. */
#ifndef EPISTLE_CORE_CHESS_HISTORY_H
#define EPISTLE_CORE_CHESS_HISTORY_H

#include "core/chess/position.h"

#include <stddef.h>

/* A view of a line of play; owns nothing. positions[0] is the start or set-up position, each of the others follows from the one
 * before by one move, the last is the present one. A game that was set back has one line only: what stood in the plies that
 * were taken back never counts. A set-up position may have moves without capture behind it (its halfmove clock): they count for
 * 9.3, but no position before the set-up one is known and none counts for 9.2. */
typedef struct History {
    const Position *positions;
    size_t count; /* at least 1 */
} History;

/* How often the present position (intended: MOVE_NONE), or the one that would stand after a legal intended move, has stood in
 * the game, that time included; so 1 at least. ret_at (room for `room` of them; NULL if room is 0) gets the indices of the
 * earlier ones, oldest last, as evidence for the letter that answers a claim. */
int history_occurrences(const History *history, Move intended, size_t *ret_at, int room);

/* What holds in the present position, or after a legal intended move. A set of bits. */
typedef enum HistoryDraw {
    HISTORY_THREEFOLD = 1,   /* 9.2: the third time at least; to be claimed by the player to move */
    HISTORY_FIFTY = 2,       /* 9.3: the last 50 moves of each player without pawn move and capture; to be claimed likewise */
    HISTORY_FIVEFOLD = 4,    /* later Laws, 9.6.1: the fifth time at least; ends the game where the event says so */
    HISTORY_SEVENTY_FIVE = 8 /* later Laws, 9.6.2: 75 moves of each; likewise */
} HistoryDraw;

/* 0 if that position is checkmate, which ends the game before anything can be claimed (5.1a, 9.6.2: mate takes precedence): an
 * intended move that mates is not claimed with but played. */
unsigned history_draws(const History *history, Move intended);

#endif
