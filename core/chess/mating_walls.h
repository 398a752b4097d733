/* Walls: what every man can ever reach, and whether that leaves a square to mate on. */
#ifndef EPISTLE_CORE_CHESS_MATING_WALLS_H
#define EPISTLE_CORE_CHESS_MATING_WALLS_H

#include "core/chess/position.h"

/* More than any series of legal moves can bring about, and never less. */
typedef struct Walls {
    uint64_t reach[2][KIND_COUNT]; /* squares where a man of this colour and kind may ever stand */
    uint64_t solid;                /* squares whose man of today stands there for good */
    uint64_t astray;               /* homes of pawns that may leave their file: take or be taken */
} Walls;

void walls_find(const Position *position, Walls *ret);

/* True if `side` can never mate, judged by these walls. */
bool walls_prevent_mate(const Position *position, const Walls *walls, Colour side);

/* Both in one, for who needs no more: stops as soon as a mate seems possible. */
bool walls_hold(const Position *position, Colour side);

/* Where the man of this square may ever stand, a pawn also as what he promotes to. */
uint64_t walls_reach_of(const Position *position, const Walls *walls, int square);

/* Where a piece of this kind, not a pawn, comes from these squares over open ones, in any number of moves. */
uint64_t walls_flood(int kind, uint64_t from, uint64_t open);

/* Squares that men other than the king attack when each kind may stand anywhere in its reach. */
uint64_t walls_attacks(const Position *position, const uint64_t reach[KIND_COUNT], Colour side);

/* Men that may help to shut their own king in, by where each may ever stand. */
enum { BLOCKERS_MAX = 16 };
typedef struct Blockers {
    uint64_t reach[BLOCKERS_MAX];
    int count;
} Blockers;

/* Of the men on these squares, 16 at most. */
void blockers_find(const Position *position, const Walls *walls, uint64_t men, Blockers *ret);

/* Whether each of the squares could be held by a different man at once. */
bool blockers_fill(const Blockers *blockers, uint64_t squares);

#endif
