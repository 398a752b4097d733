/* Movegen: the legal moves of a position (Laws 3.1–3.9), and nothing else. */
#ifndef EPISTLE_CORE_CHESS_MOVEGEN_H
#define EPISTLE_CORE_CHESS_MOVEGEN_H

#include "core/chess/position.h"

/* No position with one king a side has more than 218 legal moves; hand-made ones with more
 * queens than chess allows could, so fen_read() refuses more than 16 men a side. */
typedef struct MoveList {
    Move moves[256];
    int count;
} MoveList;

/* Every legal move, in no promised order. */
void moves_legal(const Position *position, MoveList *ret);

/* Sorts by the moves' UCI names. */
void moves_sort(const Position *position, MoveList *list);

/* Any 16 bits may be asked about. */
bool move_is_legal(const Position *position, Move move);

#endif
