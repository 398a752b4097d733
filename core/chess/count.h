/* Count: how many legal moves there are, without listing them; the last ply of perft.
 *
 * The work is done in one of several ways with the same results: in plain C, or with the wide
 * registers of the machine the program finds itself on. Nothing here keeps state. */
#ifndef EPISTLE_CORE_CHESS_COUNT_H
#define EPISTLE_CORE_CHESS_COUNT_H

#include "core/chess/movegen.h"

typedef struct CountWay {
    const char *name;
    bool (*usable)(void); /* on this machine */
    uint64_t (*moves)(const Position *position);
    /* The sum of moves() of all positions after the listed moves, which are legal. */
    uint64_t (*replies)(const Position *position, const MoveList *list);
} CountWay;

/* All ways this program was built with, the plain one last and always usable; ends with NULL. */
extern const CountWay *const COUNT_WAYS[];

/* The first usable one. */
const CountWay *count_way(void);

/* The plain way: the generator of moves_legal(), made to count. The others fall back to it in check
 * and where en passant is possible. */
uint64_t count_plain(const Position *position);

#endif
