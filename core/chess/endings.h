/* Endings: what ends a game on the board by itself, and repetition.
 *
 * Dead positions beyond bare material (Law 5.2b, blocked positions) are not told here yet. */
#ifndef EPISTLE_CORE_CHESS_ENDINGS_H
#define EPISTLE_CORE_CHESS_ENDINGS_H

#include "core/chess/position.h"

#include <stddef.h>

typedef enum {
    ENDING_NONE,
    ENDING_CHECKMATE,   /* the side to move is mated (5.1a) */
    ENDING_STALEMATE,   /* 5.2a */
    ENDING_INSUFFICIENT /* neither side can mate with any play: see ending_insufficient() */
} Ending;

Ending ending_of(const Position *position);

/* Bare kings; king and one minor piece against a bare king; kings and any number of bishops
 * that all move on squares of one colour. */
bool ending_insufficient(const Position *position);

/* How often the last of the keys occurs among them, itself included (Law 9.2 wants three).
 * keys: position_key() of every position of the game from the start position on; halfmove: of
 * the last position, older ones than that cannot be the same and are not looked at. */
int ending_repetitions(const uint64_t *keys, size_t count, int halfmove);

#endif
