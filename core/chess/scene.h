/* Scene: what the legality of every move of one position rests on, computed once and then asked
 * about many men, squares and moves. Readers of notation ask "which knights may go to f3", a
 * replayed game asks "may this man go there"; neither needs the list of all moves.
 *
 * Law 3.9: no move may leave one's own king attacked. A man other than the king may go where he
 * moves (Laws 3.2–3.7) if the square is among `targets` and, should he be pinned, on the line
 * of his king and the pinning man. The king may go where no enemy man attacks, he himself not
 * shielding. En passant and castling are tried on the board as it would be. */
#ifndef EPISTLE_CORE_CHESS_SCENE_H
#define EPISTLE_CORE_CHESS_SCENE_H

#include "core/chess/position.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct Scene {
    const Position *position; /* borrowed: the scene is of use as long as it stands unchanged */
    uint64_t own, enemy, occupied;
    uint64_t checkers; /* enemy men that give check */
    uint64_t targets;  /* where men other than the king may end: not on own men; in check only what ends it (none in double check) */
    uint64_t pinned;   /* own men that may move only on the line through their king and themselves */
    int king;          /* the square of the king of the side to move */
    Colour us, them;   /* us: the side to move */
} Scene;

void scene_read(const Position *position, Scene *ret);

/* Men of one kind (PAWN to KING) of the side to move that may legally move to `to`, a square
 * 0–63. Captures, en passant and promotions count, castling does not. */
uint64_t scene_movers(const Scene *scene, int kind, int to);

/* The same before Law 3.9: men that would reach `to` did it not matter what becomes of the king. */
uint64_t scene_reachers(const Scene *scene, int kind, int to);

/* Whether the man on `from`, who is able to move to `to` (one of scene_reachers()), does so
 * without leaving his king in check. */
bool scene_safe(const Scene *scene, int from, int to);

/* Whether the man of the side to move on `from` may move to `to`, promotion aside; false where
 * there is no such man. Castling does not count. Squares 0–63. */
bool scene_legal(const Scene *scene, int from, int to);

/* Those of the squares that no enemy man attacks, our king not shielding: where he could stand. */
uint64_t scene_unattacked(const Scene *scene, uint64_t squares);

/* The rooks with which the king may castle now (Law 3.8; Chess960 castling too). The move is
 * move_make(scene->king, rook, EMPTY). */
uint64_t scene_castling(const Scene *scene);

/* Whether the move, any 16 bits, is legal: as move_is_legal(). */
bool scene_move_legal(const Scene *scene, Move move);

#endif
