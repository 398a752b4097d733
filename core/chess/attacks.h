/* Attacks: which squares a man attacks. Nothing here looks at colours.
 *
 * Lines use the obstruction difference (Michael Hoffmann 2006, chessprogramming.org): the nearest
 * man below and the nearest man above on the line come out of one subtraction, so a table of the
 * lines themselves (2 KB) is all that is looked up. */
#ifndef EPISTLE_CORE_CHESS_ATTACKS_H
#define EPISTLE_CORE_CHESS_ATTACKS_H

#include "core/chess/position.h"

#include <stdint.h>

#define FILE_A UINT64_C(0x0101010101010101)
#define FILE_H UINT64_C(0x8080808080808080)
#define RANK_1 UINT64_C(0x00000000000000ff)
#define RANK_8 UINT64_C(0xff00000000000000)
#define LIGHT_SQUARES UINT64_C(0x55aa55aa55aa55aa)

/* For functions that are written once and become several by constant arguments. Not in builds for
 * debuggers and for the coverage of branches, where one copy is wanted. */
#ifdef __OPTIMIZE__
#define ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE inline
#endif

static inline uint64_t square_set(int square) { return UINT64_C(1) << square; }
static inline int set_first(uint64_t set) { return __builtin_ctzll(set); } /* set is not empty */
/* By halves, pairs, nibbles, bytes where the machine promises no instruction for it: the compiler's helper would
 * go by a table. Code for a particular machine asks the compiler. */
static inline int set_count(uint64_t set) {
#if defined(__x86_64__) && !defined(__POPCNT__)
    set -= set >> 1 & UINT64_C(0x5555555555555555);
    set = (set & UINT64_C(0x3333333333333333)) + (set >> 2 & UINT64_C(0x3333333333333333));
    set = (set + (set >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (int)(set * UINT64_C(0x0101010101010101) >> 56);
#else
    return __builtin_popcountll(set);
#endif
}

/* The four lines through each square, the square itself left out. */
typedef struct Lines { uint64_t file, rank, diagonal, antidiagonal; } Lines;
extern const Lines LINES[64];

/* Whole file or rank of a square, the square itself included. */
static inline uint64_t line_file(int square) { return FILE_A << (square & 7); }
static inline uint64_t line_rank(int square) { return RANK_1 << (square & 56); }

/* Squares a slider on `square` attacks along one of its lines. */
static inline uint64_t attacks_line(int square, uint64_t line, uint64_t occupied) {
    uint64_t men = line & occupied, self = square_set(square);
    uint64_t lower = men & (self - 1), upper = men & -self;
    uint64_t below = ~UINT64_C(0) << (63 - __builtin_clzll(lower | 1));
    return line & (2 * (upper & -upper) + below);
}
static inline uint64_t attacks_rook(int square, uint64_t occupied) {
    return attacks_line(square, LINES[square].file, occupied) | attacks_line(square, LINES[square].rank, occupied);
}
static inline uint64_t attacks_bishop(int square, uint64_t occupied) {
    return attacks_line(square, LINES[square].diagonal, occupied)
        | attacks_line(square, LINES[square].antidiagonal, occupied);
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

/* The whole line through two squares, without `one` itself; 0 if no rook or bishop line joins them. And the
 * squares strictly between them. */
static inline uint64_t line_through(int one, int other) {
    const Lines *lines = &LINES[one];
    uint64_t target = square_set(other);
    return (lines->rank & target ? lines->rank : 0) | (lines->file & target ? lines->file : 0)
        | (lines->diagonal & target ? lines->diagonal : 0) | (lines->antidiagonal & target ? lines->antidiagonal : 0);
}
static inline uint64_t line_between(int one, int other) {
    uint64_t line = line_through(one, other), first = square_set(one), last = square_set(other);
    return line & (first < last ? last - first : first - last) & ~(first | last);
}

#endif
