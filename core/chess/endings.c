#include "core/chess/endings.h"

#include "core/chess/attacks.h"
#include "core/chess/mating.h"
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

Ending ending_plain(const Position *position) {
    if (moves_count(position) == 0)
        return position_in_check(position) ? ENDING_CHECKMATE : ENDING_STALEMATE;
    return ending_insufficient(position) ? ENDING_INSUFFICIENT : ENDING_NONE;
}

Ending ending_of(const Position *position) {
    Ending ending = ending_plain(position);
    return ending == ENDING_NONE && mating_dead(position) ? ENDING_DEAD : ending;
}
