#include "core/chess/perft.h"

#include "core/chess/count.h"

/* The moves of the last ply are counted, not listed. */
static uint64_t count_by(const CountWay *way, const Position *position, int depth) {
    MoveList list;
    moves_legal(position, &list);
    if (depth == 2)
        return way->replies(position, &list);
    uint64_t count = 0;
    for (int i = 0; i < list.count; i++) {
        Position after;
        position_move(&after, position, list.moves[i]);
        count += count_by(way, &after, depth - 1);
    }
    return count;
}

uint64_t perft_count(const Position *position, int depth) {
    if (depth <= 0)
        return 1;
    const CountWay *way = count_way();
    return depth == 1 ? way->moves(position) : count_by(way, position, depth);
}
