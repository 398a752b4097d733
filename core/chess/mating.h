/* Mating: can this side ever mate, by any series of legal moves? (Laws 5.2b, 6.9, 9.6)
 *
 * Both sides are taken to help: the question is what the rules allow, not what is wise. Who
 * oversteps against a side that cannot mate has drawn (6.9); where neither side can, the
 * position is dead and the game over (5.2b, 9.6).
 *
 * Whoever calls with MATING_CANNOT ends games, so that answer is always a proof:
 * - no move: mate or stalemate has ended the game. Who has mated "can", nobody else;
 * - material: a bare king; a knight alone against queens only; bishops of one square colour
 *   against rooks, queens and bishops of that colour only; no pawns on either side then;
 * - walls: what each man can ever reach, with everything that could be captured or moved out
 *   of the way gone, leaves no square on which the king could be mated (mating_walls.h);
 * - fortresses: kings and pawns played out in full, the pieces that roam thought to be everywhere
 *   they may get to, all at once (mating_ghosts.h);
 * - forced moves and small worlds: every position that can arise has been looked at, and none
 *   is mate (mating_search.h). Positions are compared whole, not by a hash.
 * MATING_CAN comes with a line of legal moves that ends in the mate. MATING_UNKNOWN is said
 * where neither was found; it counts as "can", so the game goes on and the flag falls.
 *
 * Not counted: the fifty- and 75-move rules and repetition. A line may be longer than they
 * allow, as everywhere where the Laws ask for "any series of legal moves".
 *
 * Nothing here allocates, keeps state, or fails: any Position (see position.h) has an answer,
 * set-up positions with odd men, Chess960, castling and en passant rights included. */
#ifndef EPISTLE_CORE_CHESS_MATING_H
#define EPISTLE_CORE_CHESS_MATING_H

#include "core/chess/position.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { MATING_UNKNOWN, MATING_CAN, MATING_CANNOT } MatingAnswer;

enum {
    MATING_LINE_MAX = 256,    /* plies of a line; longer ones are not looked for */
    MATING_NODE_BYTES = 56,   /* memory for each position the full mode looks at */
    MATING_NODES = 300000,    /* a budget that answers nearly everything: 17 MB, a second at worst */
};

/* The moves from the position asked about to the mate; no moves if it stands on the board. */
typedef struct MatingLine {
    Move moves[MATING_LINE_MAX];
    int count;
} MatingLine;

/* What a full answer may cost. */
typedef struct MatingLimits {
    void *memory; /* the caller's, aligned for uint64_t, of any content before and after; NULL: a few
                     positions on the stack, which is enough for forced moves only */
    size_t size;  /* of memory in bytes, MATING_NODE_BYTES for each position */
    uint64_t nodes; /* positions, at most; less memory than that bounds it too */
} MatingLimits;

/* The quick mode, for every move accepted: some microseconds, in blocked positions up to some
 * milliseconds; some 70 KB of stack. Says MATING_CAN of a mate on the board only, MATING_CANNOT
 * where that is cheaply proved, else MATING_UNKNOWN. */
MatingAnswer mating_quick(const Position *position, Colour side);

/* The full mode, for flags, claims and adjudication. ret_line, if not NULL, is set with
 * MATING_CAN, else untouched; ret_nodes, if not NULL, counts the positions looked at. */
MatingAnswer mating_full(const Position *position, Colour side, const MatingLimits *limits,
                         MatingLine *ret_line, uint64_t *ret_nodes);

/* Dead, by the quick mode: stalemate, or neither side can mate and none has. */
bool mating_dead(const Position *position);

#endif
