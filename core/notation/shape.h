/* Shape: what a token says, before anyone looks at the board.
 *
 * Inside core/notation only; others use notation.h. */
#ifndef EPISTLE_CORE_NOTATION_SHAPE_H
#define EPISTLE_CORE_NOTATION_SHAPE_H

#include "core/notation/notation.h"

typedef enum ShapeKind {
    SHAPE_NONE,
    SHAPE_DESCRIPTIVE, /* P-K4, BxN */
    SHAPE_CASTLING,
    SHAPE_MAN,         /* a man goes to a square */
} ShapeKind;

enum { PROMOTION_UNKNOWN = -1 }; /* a letter or digit that names no piece */

typedef struct Shape {
    ShapeKind kind;
    bool king_side;      /* of SHAPE_CASTLING */
    int castling_rook;   /* of SHAPE_CASTLING: the rook's square where it was named (Chess960), else NO_SQUARE */
    int man;             /* kind; EMPTY in coordinates, which may be of any man */
    bool unknown_letter; /* a capital that is no piece letter stands before the square */
    bool incomplete;     /* Nf, e2- */
    bool bad_square;     /* Nf9 */
    int from_file, from_rank, to_file, to_rank; /* 0–7 or -1 */
    bool capture, check;
    int captured;        /* kind, where it was said which man is taken, else EMPTY */
    bool promoting;      /* something was said about a promotion */
    int promotion;       /* kind, EMPTY (a sign without a letter), PROMOTION_UNKNOWN */
    Notation notation;
} Shape;

extern const Shape shape_blank; /* SHAPE_NONE, nothing said */

enum {
    SHAPE_LOWER_FIRST = 1, /* take a capital first letter for a file */
    SHAPE_SPOKEN = 2,      /* words are understood too */
};

void shape_read(const char *text, const MoveLanguage *language, unsigned flags, Shape *ret);

#endif
