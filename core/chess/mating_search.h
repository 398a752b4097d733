/* Search: a line of legal moves to mate, both sides helping, or the proof that there is none.
 *
 * Best first over all positions that can arise, each looked at once. Positions that the
 * quick proofs rule out are left aside. Nothing left to look at and no mate seen: none can
 * arise. */
#ifndef EPISTLE_CORE_CHESS_MATING_SEARCH_H
#define EPISTLE_CORE_CHESS_MATING_SEARCH_H

#include "core/chess/mating.h"

/* The arguments are mating_full()'s; limits->memory is not NULL. The game has not ended in the position. */
MatingAnswer search_mate(const Position *position, Colour side, const MatingLimits *limits, MatingLine *ret_line,
                         uint64_t *ret_nodes);

#endif
