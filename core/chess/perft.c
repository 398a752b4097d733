#include "core/chess/perft.h"

#include "core/chess/movegen.h"

uint64_t perft_count(const Position *position, int depth) {
    if (depth <= 0)
        return 1;
    MoveList list;
    moves_legal(position, &list);
    if (depth == 1) /* the moves are legal already: counting them is enough */
        return (uint64_t)list.count;
    uint64_t count = 0;
    for (int i = 0; i < list.count; i++) {
        Position after;
        position_move(&after, position, list.moves[i]);
        count += perft_count(&after, depth - 1);
    }
    return count;
}
