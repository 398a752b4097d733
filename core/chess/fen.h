/* FEN: positions as text (PGN standard 16.1), with X-FEN and Shredder-FEN castling fields. */
#ifndef EPISTLE_CORE_CHESS_FEN_H
#define EPISTLE_CORE_CHESS_FEN_H

#include "core/base/error.h"
#include "core/chess/position.h"

enum { FEN_MAX = 128 }; /* longest written one, with NUL, has 71 + 2 + 5 + 3 + 6 + 11 bytes */

enum {
    FEN_CHESS960 = 1, /* read: the game is Chess960 (castling written as king takes rook) */
    FEN_STRICT = 2,   /* read: an impossible castling right or en passant square is an error,
                         not dropped, and all six fields must be there and nothing else */
    FEN_SHREDDER = 4, /* write: castling as files of the rooks (HAha) */
};

/* Error.code of fen_read(). */
typedef enum FenError {
    FEN_OK,
    FEN_FIELDS,     /* too few or too many fields, or one of FEN_MAX bytes and more */
    FEN_BOARD,      /* not eight ranks of eight squares */
    FEN_PIECE,      /* a sign that is no piece */
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

/* Reads X-FEN, Shredder-FEN and plain FEN; text is untrusted, of any length. False and *error (grade ERROR_INPUT, a FenError,
 * a sentence that names square, side or field) if impossible; *ret untouched then.
 *
 * Text as people paste it: fields are parted by any number of blanks, also Unicode's, Latin-1's hard blank and underscores (as in
 * web addresses); the dashes that mail programs make of a hyphen count as one. Without FEN_STRICT the last four fields may be
 * missing, from the right (no castling, no en passant, 0 and 1), and a semicolon ends the FEN, as do the operations that follow
 * the fourth field of an EPD line (PGN standard 16.2; they are not read); quotation marks and a FEN tag around it are taken off.
 * Refused with a sentence: the board alone (who is to move would be a guess), anything else beside the fields.
 *
 * Castling: K and Q name the outermost rook on that side of the king (X-FEN), another letter the rook on that file. A right is
 * impossible where the king is not on his first rank or no own rook stands there. A right that standard chess cannot have
 * makes the position a Chess960 one without being asked, for it could not be used or spelled otherwise: castling is then
 * read and written as king takes rook, in UCI too. What standard chess can have stays standard unless FEN_CHESS960 is
 * given, for a Chess960 array with king and rooks on e, a and h looks the same in X-FEN.
 *
 * En passant: the square is impossible unless a pawn stands before it and the square itself and the pawn's origin are empty. One
 * that nobody can legally capture on is never kept, nor an error. Fullmove 0 is taken as 1.
 *
 * Not refused, since the rules say clearly how to go on from there, and problems and test suites have such positions: more
 * promoted men than pawns are missing, checks that no last move can have given, counters that do not fit each other.
 * position_doubt() (doubt.h) tells them. */
bool fen_read(const char *text, unsigned flags, Position *ret, Error *error);

/* X-FEN: en passant square only where the capture is legal, castling as KQkq unless another
 * rook stands further out on that side, whose right it would be. */
void fen_write(const Position *position, unsigned flags, char ret[FEN_MAX]);

#endif
