/* Perft: counts the leaves of the move tree, the proof of a move generator. The moves of the last
 * ply are counted and not listed (count.h), so two independent pieces of work are held against the
 * published numbers: listing and counting. */
#ifndef EPISTLE_CORE_CHESS_PERFT_H
#define EPISTLE_CORE_CHESS_PERFT_H

#include "core/chess/position.h"

/* Sequences of exactly `depth` legal moves; 1 for depth 0 or less. */
uint64_t perft_count(const Position *position, int depth);

#endif
