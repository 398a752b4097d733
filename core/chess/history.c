#include "core/chess/history.h"

#include "core/chess/movegen.h"

enum { FIFTY = 100, SEVENTY_FIVE = 150 }; /* plies */

/* The position asked about, and how many positions of the line stand before it. */
static Position present(const History *history, Move intended, size_t *ret_before) {
    Position position = history->positions[history->count - 1];
    *ret_before = history->count - 1;
    if (intended != MOVE_NONE) {
        position_move(&position, &position, intended);
        *ret_before = history->count;
    }
    return position;
}

/* The same side is to move every second ply only, and behind a capture or a pawn move nothing can be the same. */
static int occurrences(const History *history, const Position *position, size_t before, size_t *ret_at, int room) {
    int times = 1;
    for (size_t back = 2; back <= before && back <= (size_t)position_halfmove(position); back += 2) {
        if (!position_same(&history->positions[before - back], position))
            continue;
        if (times <= room)
            ret_at[times - 1] = before - back;
        times++;
    }
    return times;
}

int history_occurrences(const History *history, Move intended, size_t *ret_at, int room) {
    size_t before;
    Position position = present(history, intended, &before);
    return occurrences(history, &position, before, ret_at, room);
}

static bool checkmate(const Position *position) {
    if (!position_in_check(position))
        return false;
    return moves_count(position) == 0;
}

unsigned history_draws(const History *history, Move intended) {
    size_t before;
    Position position = present(history, intended, &before);
    if (checkmate(&position))
        return 0;
    int times = occurrences(history, &position, before, NULL, 0), plies = position_halfmove(&position);
    return (times >= 3 ? HISTORY_THREEFOLD : 0u) | (times >= 5 ? HISTORY_FIVEFOLD : 0u) | (plies >= FIFTY ? HISTORY_FIFTY : 0u)
        | (plies >= SEVENTY_FIVE ? HISTORY_SEVENTY_FIVE : 0u);
}
