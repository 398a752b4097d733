#include "core/chess/endings.h"

#include "core/chess/attacks.h"
#include "core/chess/movegen.h"

bool ending_insufficient(const Position *position) {
    const uint64_t *kinds = position->kinds;
    if (kinds[PAWN] | kinds[ROOK] | kinds[QUEEN])
        return false;
    uint64_t minor = kinds[KNIGHT] | kinds[BISHOP];
    if (set_count(minor) <= 1)
        return true;
    return kinds[KNIGHT] == 0 && ((minor & LIGHT_SQUARES) == 0 || (minor & ~LIGHT_SQUARES) == 0);
}

Ending ending_of(const Position *position) {
    MoveList list;
    moves_legal(position, &list);
    if (list.count == 0)
        return position_in_check(position) ? ENDING_CHECKMATE : ENDING_STALEMATE;
    return ending_insufficient(position) ? ENDING_INSUFFICIENT : ENDING_NONE;
}

int ending_repetitions(const uint64_t *keys, size_t count, int halfmove) {
    if (count == 0)
        return 0;
    int repetitions = 1;
    /* The same side is to move every second ply only. */
    for (size_t back = 2; back < count && back <= (size_t)halfmove; back += 2)
        repetitions += keys[count - 1 - back] == keys[count - 1];
    return repetitions;
}
