/* Walls: what every man can ever reach, and whether that leaves a square to mate on. */
#ifndef EPISTLE_CORE_CHESS_MATING_WALLS_H
#define EPISTLE_CORE_CHESS_MATING_WALLS_H

#include "core/chess/position.h"

/* More than any series of legal moves can bring about, and never less. */
typedef struct Walls {
    uint64_t reach[2][KIND_COUNT]; /* squares where a man of this colour and kind may ever stand */
    uint64_t solid;                /* squares whose man of today stands there for good */
    bool promotes[2];              /* a pawn of this colour may promote */
} Walls;

void walls_find(const Position *position, Walls *ret);

/* True if `side` can never mate, judged by the walls of this position. */
bool walls_prevent_mate(const Position *position, const Walls *walls, Colour side);

#endif
