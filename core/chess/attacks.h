/* Attacks: which squares a man attacks, computed without tables.
 *
 * Lines use the obstruction difference: the nearest man below and the nearest man above on
 * the line come out of one subtraction. Nothing here looks at colours. */
#ifndef EPISTLE_CORE_CHESS_ATTACKS_H
#define EPISTLE_CORE_CHESS_ATTACKS_H

#include "core/chess/position.h"

#include <stdint.h>

#define FILE_A UINT64_C(0x0101010101010101)
#define FILE_H UINT64_C(0x8080808080808080)
#define RANK_1 UINT64_C(0x00000000000000ff)
#define RANK_8 UINT64_C(0xff00000000000000)
#define LIGHT_SQUARES UINT64_C(0x55aa55aa55aa55aa)

static inline uint64_t square_set(int square) { return UINT64_C(1) << square; }
static inline int set_first(uint64_t set) { return __builtin_ctzll(set); } /* set is not empty */
static inline int set_count(uint64_t set) { return __builtin_popcountll(set); }

/* Lines through a square, the square itself included. */
static inline uint64_t line_file(int square) { return FILE_A << (square & 7); }
static inline uint64_t line_rank(int square) { return RANK_1 << (square & 56); }
static inline uint64_t line_diagonal(int square) {
    const uint64_t main = UINT64_C(0x8040201008040201);
    int shift = 8 * (square & 7) - (square & 56);
    return shift >= 0 ? main >> shift : main << -shift;
}
static inline uint64_t line_antidiagonal(int square) {
    const uint64_t main = UINT64_C(0x0102040810204080);
    int shift = 56 - 8 * (square & 7) - (square & 56);
    return shift >= 0 ? main >> shift : main << -shift;
}

static inline uint64_t attacks_line(int square, uint64_t line, uint64_t occupied) {
    uint64_t self = square_set(square);
    line &= ~self;
    uint64_t lower = line & occupied & (self - 1);
    uint64_t upper = line & occupied & ~(self - 1);
    uint64_t below = ~UINT64_C(0) << (63 - __builtin_clzll(lower | 1));
    return line & (2 * (upper & -upper) + below);
}
static inline uint64_t attacks_rook(int square, uint64_t occupied) {
    return attacks_line(square, line_file(square), occupied) | attacks_line(square, line_rank(square), occupied);
}
static inline uint64_t attacks_bishop(int square, uint64_t occupied) {
    return attacks_line(square, line_diagonal(square), occupied)
        | attacks_line(square, line_antidiagonal(square), occupied);
}

static inline uint64_t attacks_knights(uint64_t knights) {
    uint64_t one = (knights & ~FILE_H) << 1 | (knights & ~FILE_A) >> 1;
    uint64_t two = (knights & ~(FILE_H | FILE_H >> 1)) << 2 | (knights & ~(FILE_A | FILE_A << 1)) >> 2;
    return one << 16 | one >> 16 | two << 8 | two >> 8;
}
static inline uint64_t attacks_king(int square) {
    uint64_t row = square_set(square);
    row |= (row & ~FILE_H) << 1 | (row & ~FILE_A) >> 1;
    return (row | row << 8 | row >> 8) & ~square_set(square);
}
static inline uint64_t attacks_pawns(Colour colour, uint64_t pawns) {
    uint64_t forward = colour == WHITE ? pawns << 8 : pawns >> 8;
    return (forward & ~FILE_H) << 1 | (forward & ~FILE_A) >> 1;
}

/* Squares a man of this kind (not a pawn) attacks. */
static inline uint64_t attacks_of(int kind, int square, uint64_t occupied) {
    switch (kind) {
    case KNIGHT: return attacks_knights(square_set(square));
    case BISHOP: return attacks_bishop(square, occupied);
    case ROOK: return attacks_rook(square, occupied);
    case QUEEN: return attacks_rook(square, occupied) | attacks_bishop(square, occupied);
    case KING: return attacks_king(square);
    default: return 0;
    }
}

/* The whole line through two squares, 0 if no rook or bishop line joins them; and the squares
 * strictly between them. */
static inline uint64_t line_through(int one, int other) {
    uint64_t target = square_set(other);
    if (line_rank(one) & target) return line_rank(one);
    if (line_file(one) & target) return line_file(one);
    if (line_diagonal(one) & target) return line_diagonal(one);
    if (line_antidiagonal(one) & target) return line_antidiagonal(one);
    return 0;
}
static inline uint64_t line_between(int one, int other) {
    uint64_t line = line_through(one, other);
    return one == other ? 0
        : attacks_line(one, line, square_set(other)) & attacks_line(other, line, square_set(one));
}

#endif
