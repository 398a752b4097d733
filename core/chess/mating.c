#include "core/chess/mating.h"

#include "core/chess/mating_ghosts.h"
#include "core/chess/mating_material.h"
#include "core/chess/mating_search.h"
#include "core/chess/mating_walls.h"
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
    if (mating_material_lacks(position, side))
        return MATING_CANNOT;
    Walls walls;
    walls_find(position, &walls);
    return walls_prevent_mate(position, &walls, side) ? MATING_CANNOT : MATING_UNKNOWN;
}

/* Room for forced moves where the caller gave none. */
enum { SMALL_ROOM = 256 };

MatingAnswer mating_full(const Position *position, Colour side, const MatingLimits *limits, MatingLine *ret_line,
                         uint64_t *ret_nodes) {
    uint64_t room[SMALL_ROOM * MATING_NODE_BYTES / sizeof(uint64_t)];
    MatingLimits own = { .memory = room, .size = sizeof room, .nodes = limits->nodes };
    MatingLine line = { .count = 0 };
    uint64_t nodes = 0;
    MatingAnswer answer = mating_quick(position, side);
    if (answer == MATING_UNKNOWN)
{
        Walls walls;
        walls_find(position, &walls);
        if (ghosts_prevent_mate(position, &walls, side, limits, &nodes))
            answer = MATING_CANNOT;
        else answer = search_mate(position, side, limits->memory != NULL ? limits : &own, &line, &nodes);
}
    if (answer == MATING_CAN && ret_line != NULL)
        *ret_line = line;
    if (ret_nodes != NULL)
        *ret_nodes = nodes;
    return answer;
}

bool mating_dead(const Position *position) {
    return mating_quick(position, WHITE) == MATING_CANNOT && mating_quick(position, BLACK) == MATING_CANNOT;
}
