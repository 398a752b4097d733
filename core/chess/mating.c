#include "core/chess/mating.h"

#include "core/chess/mating_material.h"
#include "core/chess/movegen.h"

/* The game has ended on the board: true, and who has mated can. */
static bool ended(const Position *position, Colour side, MatingAnswer *ret) {
    MoveList list;
    moves_legal(position, &list);
    if (list.count > 0)
        return false;
    bool mated = position_in_check(position) && position_turn(position) != side;
    *ret = mated ? MATING_CAN : MATING_CANNOT;
    return true;
}

MatingAnswer mating_quick(const Position *position, Colour side) {
    MatingAnswer answer;
    if (ended(position, side, &answer))
        return answer;
    return mating_material_lacks(position, side) ? MATING_CANNOT : MATING_UNKNOWN;
}

MatingAnswer mating_full(const Position *position, Colour side, const MatingLimits *limits, MatingLine *ret_line,
                         uint64_t *ret_nodes) {
    (void)limits;
    MatingAnswer answer = mating_quick(position, side);
    if (answer == MATING_CAN && ret_line != NULL)
        ret_line->count = 0;
    if (ret_nodes != NULL)
        *ret_nodes = 0;
    return answer;
}

bool mating_dead(const Position *position) {
    return mating_quick(position, WHITE) == MATING_CANNOT && mating_quick(position, BLACK) == MATING_CANNOT;
}
