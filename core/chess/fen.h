/* FEN: positions as text (PGN standard 16.1), with X-FEN and Shredder-FEN castling fields. */
#ifndef EPISTLE_CORE_CHESS_FEN_H
#define EPISTLE_CORE_CHESS_FEN_H

#include "core/base/error.h"
#include "core/chess/position.h"

enum { FEN_MAX = 128 }; /* longest written one, with NUL, has 71 + 2 + 5 + 3 + 6 + 11 bytes */

enum {
    FEN_CHESS960 = 1, /* read: the game is Chess960 (castling written as king takes rook) */
    FEN_STRICT = 2,   /* read: an impossible castling right or en passant square is an error,
                         not dropped, and all six fields must be there */
    FEN_SHREDDER = 4, /* write: castling as files of the rooks (HAha) */
};

/* Error.code of fen_read(). */
typedef enum FenError {
    FEN_OK,
    FEN_FIELDS,     /* too few or too many fields */
    FEN_BOARD,      /* not eight ranks of eight squares */
    FEN_PIECE,      /* a letter that is no piece */
    FEN_NO_KING,    /* a side without king */
    FEN_TWO_KINGS,  /* a side with two or more */
    FEN_PAWN_RANK,  /* a pawn on the first or last rank */
    FEN_TOO_MANY,   /* more than 16 men or 8 pawns a side */
    FEN_TURN,       /* not w or b */
    FEN_CASTLING,   /* no castling field, or (FEN_STRICT, and always for a file letter) no such rook */
    FEN_EN_PASSANT, /* no square, or (FEN_STRICT) no pawn that just went two squares */
    FEN_COUNTER,    /* halfmove clock or move number is no number or too large */
    FEN_CHECK,      /* the side not to move is in check */
} FenError;

/* Reads X-FEN, Shredder-FEN and plain FEN; text is untrusted, of any length. The last four
 * fields may be missing (from the right: castling, en passant, counters) and blanks may be
 * any number. Fullmove 0 is taken as 1. A castling right is impossible where the king is not
 * on his first rank or no own rook stands on that side of him; a right that standard chess
 * cannot have makes the position a Chess960 one. An en passant square nobody can capture on is
 * never kept. False and *error (grade ERROR_INPUT) if impossible; *ret untouched then. */
bool fen_read(const char *text, unsigned flags, Position *ret, Error *error);

/* X-FEN: en passant square only where the capture is legal, castling as KQkq unless another
 * rook stands further out on that side, whose right it would be. */
void fen_write(const Position *position, unsigned flags, char ret[FEN_MAX]);

#endif
