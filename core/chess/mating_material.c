#include "core/chess/mating_material.h"

#include "core/chess/attacks.h"

/* Why these cannot. No pawn is on the board (but for the bare king, who needs no more words),
 * so captures only make less of the same.
 *
 * Knight against queens. The king stands on (0,0), the knight checks from (1,2). The squares
 * (0,1), (1,1), (1,0) are on the board and the knight does not attack them. A queen on one of
 * them could take the knight: she attacks (1,2) from (0,1) and (1,1), and from (1,0) unless
 * somebody stands on (1,1), which could only be another such queen, as the kings may not
 * touch. No pin is possible. So the knight's king attacks all three without touching his
 * rival: no such square exists. All other checks are turns and reflections of this one.
 *
 * Bishops of one colour against rooks, queens and bishops of it. The king in check stands on
 * that colour, on (0,0), the check comes along (1,1) from one bishop: two at once would need
 * to have moved off each other's line onto another of the same king, which lines of one
 * colour do not allow (a set-up double check that is mate was told before). The squares (1,0)
 * and (0,1) are on the board, of the other colour, so no bishop attacks them and no bishop
 * stands there. The attacking king, not touching, attacks one of them at most. On the other
 * stands a rook or queen; it is not pinned, as that square is on no diagonal of the king's;
 * and it can go to (1,1), to take or to block. */

static bool on_one_colour(uint64_t men) {
    return (men & LIGHT_SQUARES) == 0 || (men & ~LIGHT_SQUARES) == 0;
}

bool mating_material_lacks(const Position *position, Colour side) {
    const uint64_t *kinds = position->kinds;
    uint64_t own = position->sides[side] & ~kinds[KING];
    uint64_t enemy = position->sides[!side] & ~kinds[KING];
    if (own == 0)
        return true;
    if (kinds[PAWN] != 0)
        return false;
    if ((own & ~kinds[KNIGHT]) == 0)
        return set_count(own) == 1 && (enemy & ~kinds[QUEEN]) == 0;
    if ((own & ~kinds[BISHOP]) == 0)
        return (enemy & kinds[KNIGHT]) == 0 && on_one_colour(own | (enemy & kinds[BISHOP]));
    return false;
}
