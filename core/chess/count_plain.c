#include "core/chess/count_ways.h"

static bool usable(void) {
    return true;
}

static uint64_t replies_of(const Position *position, const MoveList *list) {
    uint64_t count = 0;
    for (int i = 0; i < list->count; i++) {
        Position after;
        position_move(&after, position, list->moves[i]);
        count += count_plain(&after);
    }
    return count;
}

const CountWay COUNT_PLAIN = { .name = "plain", .usable = usable, .moves = count_plain, .replies = replies_of };
