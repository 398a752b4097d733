/* Endings: what ends a game on the board by itself. Repetition and move counts: history.h. */
#ifndef EPISTLE_CORE_CHESS_ENDINGS_H
#define EPISTLE_CORE_CHESS_ENDINGS_H

#include "core/chess/position.h"

typedef enum {
    ENDING_NONE,
    ENDING_CHECKMATE,    /* the side to move is mated (5.1a) */
    ENDING_STALEMATE,    /* 5.2a */
    ENDING_INSUFFICIENT, /* neither side can mate with any play (5.2b), by material: see ending_insufficient() */
    ENDING_DEAD          /* neither side can, though the material would do (5.2b, 9.6): walls of pawns, forced moves */
} Ending;

/* The first of them that holds. Dead positions by the quick mode of mating.h: none that is said is none, one or the other is
 * not seen. It may see more in later versions, so what an older one played on from is no fault. */
Ending ending_of(const Position *position);

/* Without ENDING_DEAD: what is plain on every board and the same in every version. */
Ending ending_plain(const Position *position);

/* Bare kings; king and one minor piece against a bare king; kings and any number of bishops
 * that all move on squares of one colour. */
bool ending_insufficient(const Position *position);

#endif
