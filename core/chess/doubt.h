/* Doubt: whether a position can have come about in a game. fen_read() lets every position through from which the rules say how
 * to go on, composed ones too; who sets up a game for players may want to know when no game can have led there.
 *
 * Each doubt is certain (no game from any start array leads there); that none is found proves nothing. */
#ifndef EPISTLE_CORE_CHESS_DOUBT_H
#define EPISTLE_CORE_CHESS_DOUBT_H

#include "core/base/error.h"
#include "core/chess/position.h"

typedef enum Doubt {
    DOUBT_NONE,
    DOUBT_PROMOTED,   /* more men beyond those of an array than pawns are missing */
    DOUBT_CHECK,      /* no last move can have given this check: three men check, or two that no discovery or promotion joins,
                         or a pawn that never moved */
    DOUBT_EN_PASSANT, /* the king was in check already before the pawn went two squares, or plies are counted since */
    DOUBT_CASTLING,   /* both sides may castle, but their kings or those rooks stand on different files */
    DOUBT_COUNTERS    /* more plies without capture and pawn move than moves were made */
} Doubt;

/* The first of them; *error (ERROR_INPUT, code: the Doubt) gets a sentence about it. */
Doubt position_doubt(const Position *position, Error *error);

#endif
