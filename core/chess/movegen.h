/* Movegen: the legal moves of a position (Laws 3.1–3.9), and nothing else. */
#ifndef EPISTLE_CORE_CHESS_MOVEGEN_H
#define EPISTLE_CORE_CHESS_MOVEGEN_H

#include "core/chess/position.h"

/* Chess as played has at most 218 legal moves in a position. Composed positions may have more
 * queens: fen_read() lets 16 men a side through, so 15 queens of at most 27 moves and a king's 10. */
enum { MOVES_MAX = 416 };

typedef struct MoveList {
    Move moves[MOVES_MAX];
    int count;
} MoveList;

/* Every legal move, in no promised order. */
void moves_legal(const Position *position, MoveList *ret);

/* How many moves moves_legal() would list, without listing them; how stands in count.h. */
int moves_count(const Position *position);

/* Sorts by the moves' UCI names. */
void moves_sort(const Position *position, MoveList *list);

/* Any 16 bits may be asked about. For many questions about one position see scene.h. */
bool move_is_legal(const Position *position, Move move);

/* Whether a legal move gives check: what position_in_check() says of the position after it. */
bool move_gives_check(const Position *before, Move move);

#endif
