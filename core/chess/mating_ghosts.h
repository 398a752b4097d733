/* Ghosts: fortresses, judged by kings and pawns alone.
 *
 * Pieces that roam make blocked positions too many to count. So they are lifted off the
 * board and become ghosts: each may stand anywhere its walls leave open, at any time, and
 * all at once. What remains on the board is played out in full. */
#ifndef EPISTLE_CORE_CHESS_MATING_GHOSTS_H
#define EPISTLE_CORE_CHESS_MATING_GHOSTS_H

#include "core/chess/mating.h"
#include "core/chess/mating_walls.h"

/* True if `side` can never mate; false says nothing. walls: of this position. The game has not ended in it.
 * Looks at no more positions than limits allow; adds to *ret_nodes how many. */
bool ghosts_prevent_mate(const Position *position, const Walls *walls, Colour side, const MatingLimits *limits,
                         uint64_t *ret_nodes);

#endif
