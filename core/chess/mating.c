#include "core/chess/mating.h"

#include "core/chess/mating_ghosts.h"
#include "core/chess/mating_material.h"
#include "core/chess/mating_search.h"
#include "core/chess/mating_walls.h"
#include "core/chess/movegen.h"

/* The game has ended on the board: true, and who has mated can. Else the number of moves there are. */
static bool ended(const Position *position, Colour side, MatingAnswer *ret, int *ret_moves) {
    MoveList list;
    moves_legal(position, &list);
    *ret_moves = list.count;
    if (list.count > 0)
        return false;
    bool mated = position_in_check(position) && position_turn(position) != side;
    *ret = mated ? MATING_CAN : MATING_CANNOT;
    return true;
}

enum {
    FEW_MOVES = 3,   /* that are all tried */
    FORCED_PLIES = 3,
    FORTRESS_SHARE = 6, /* of the budget for each way to look at one */
    FIRST_TRY = 8000, /* positions: most mates are found among them */
};

/* What needs no counting of positions. */
static MatingAnswer judge(const Position *position, Colour side, int *ret_moves) {
    MatingAnswer answer;
    if (ended(position, side, &answer, ret_moves))
        return answer;
    return mating_material_lacks(position, side) || walls_hold(position, side) ? MATING_CANNOT : MATING_UNKNOWN;
}

/* Fortresses, and where there is hardly a choice, those that every choice leads to. */
static bool fortress(const Position *position, Colour side, const MatingLimits *limits, int depth, uint64_t *ret_nodes) {
    Walls walls;
    walls_find(position, &walls);
    if (ghosts_prevent_mate(position, &walls, side, limits, ret_nodes))
        return true;
    MoveList list;
    moves_legal(position, &list);
    if (depth == 0 || list.count > FEW_MOVES)
        return false;
    for (int i = 0; i < list.count; i++) {
        Position after;
        position_move(&after, position, list.moves[i]);
        int moves;
        MatingAnswer answer = judge(&after, side, &moves);
        if (answer == MATING_CAN || (answer == MATING_UNKNOWN && !fortress(&after, side, limits, depth - 1, ret_nodes)))
            return false;
    }
    return true;
}

/* Room on the stack, for positions as many as blocked games or forced moves need. */
enum { SMALL_ROOM = 512, QUICK_ROOM = 256 }; /* twice as many would cost half as much time again, and find 2 in 100 more */

/* Where counting positions is likely to prove something: no pawn can advance, or hardly a choice. */
static bool worth_counting(const Position *position, int moves) {
    uint64_t empty = ~(position->sides[WHITE] | position->sides[BLACK]);
    uint64_t white = position_men(position, WHITE, PAWN), black = position_men(position, BLACK, PAWN);
    if ((white | black) != 0 && ((white << 8 | black >> 8) & empty) == 0)
        return true;
    return moves <= 1;
}

MatingAnswer mating_quick(const Position *position, Colour side) {
    int moves;
    MatingAnswer answer = judge(position, side, &moves);
    if (answer != MATING_UNKNOWN || !worth_counting(position, moves))
        return answer;
    uint64_t room[QUICK_ROOM * MATING_NODE_BYTES / sizeof(uint64_t)], nodes = 0;
    MatingLimits limits = { .memory = room, .size = sizeof room, .nodes = QUICK_ROOM };
    MatingLine line;
    if (fortress(position, side, &limits, 1, &nodes))
        return MATING_CANNOT;
    answer = search_mate(position, side, &limits, &line, &nodes);
    return answer == MATING_CANNOT ? answer : MATING_UNKNOWN;
}

/* A mate that is near, then fortresses, then all that can arise. */
static MatingAnswer count(const Position *position, Colour side, const MatingLimits *limits, MatingLine *ret_line,
                          uint64_t *ret_nodes) {
    MatingLimits first = *limits, middle = *limits;
    if (first.nodes > FIRST_TRY)
        first.nodes = FIRST_TRY;
    middle.nodes /= FORTRESS_SHARE;
    MatingAnswer answer = search_mate(position, side, &first, ret_line, ret_nodes);
    if (answer != MATING_UNKNOWN)
        return answer;
    if (fortress(position, side, &middle, FORCED_PLIES, ret_nodes))
        return MATING_CANNOT;
    return search_mate(position, side, limits, ret_line, ret_nodes);
}

MatingAnswer mating_full(const Position *position, Colour side, const MatingLimits *limits, MatingLine *ret_line,
                         uint64_t *ret_nodes) {
    uint64_t room[SMALL_ROOM * MATING_NODE_BYTES / sizeof(uint64_t)], nodes = 0;
    MatingLimits own = { .memory = room, .size = sizeof room, .nodes = limits->nodes };
    MatingLine line = { .count = 0 };
    int moves;
    MatingAnswer answer = judge(position, side, &moves);
    if (answer == MATING_UNKNOWN)
        answer = count(position, side, limits->memory != NULL ? limits : &own, &line, &nodes);
    if (answer == MATING_CAN && ret_line != NULL)
        *ret_line = line;
    if (ret_nodes != NULL)
        *ret_nodes = nodes;
    return answer;
}

bool mating_dead(const Position *position) {
    return mating_quick(position, WHITE) == MATING_CANNOT && mating_quick(position, BLACK) == MATING_CANNOT;
}
