/* Lanes: eight square sets side by side, one for each direction a queen goes, and what is done
 * to all of them at once.
 *
 * The fill by doubling (Kogge and Stone 1973, as chess programs use it) carries any number of
 * sliders in one direction over the empty squares in three steps, whatever the board looks like;
 * eight directions fit the wide registers of many machines. Sliders of one side that go in one
 * direction never share a square, so the members of the eight sets are the moves: they can be
 * counted without being listed.
 *
 * This header has the tables of directions, which are data, and the store of men. The operations
 * come in two kinds with the same names and meanings, lanes_avx2.h and lanes_avx512.h.
 * count_body.h is written in them and compiled once with each.
 *
 *   LANES_TARGET, LANES_INLINE     before functions that use them
 *   Lanes, Tally                   eight sets; a count under way
 *   lanes_all(set)                 the same set in each lane
 *   lanes_table(table)             the eight given
 *   lanes_sliders(lines, diagonals) one set for the four rook directions, the other for the bishop's
 *   lanes_and, lanes_or            lane by lane
 *   lanes_turn(sets, by)           each lane rotated left; what leaves the board comes back, or does not: mask it
 *   lanes_opposite(sets)           each lane in the place of its opposite direction
 *   lanes_meet(sets, set)          whether any lane meets the set
 *   lanes_union(sets)              all lanes in one
 *   tally_none, tally_add(tally, sets), tally_total(tally)     counts members of all lanes
 *   men_move(after, before, from, to)   the man in the set `from` goes to `to`, capturing what is there */
#ifndef EPISTLE_CORE_CHESS_LANES_H
#define EPISTLE_CORE_CHESS_LANES_H

#include "core/chess/attacks.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether lanes_avx*.h have anything in them; whether the machine has, is asked at run time. */
#if defined(__x86_64__) && defined(__GNUC__)
#define LANES_WIDE 1
#else
#define LANES_WIDE 0
#endif

/* The men of a position without the rest: sides first, then kinds from PAWN. */
enum { MEN_KINDS = 2, MEN_SETS = 8 };
typedef struct Men { alignas(64) uint64_t sets[MEN_SETS]; } Men;
static inline uint64_t men_kind(const Men *men, int kind) { return men->sets[MEN_KINDS + kind - PAWN]; }

/* Directions: up, right, up right, up left; then their opposites in the same order. The distance
 * of one, two and four steps as a rotation left, and where a step in that direction can arrive. */
static const uint64_t STEP_ONE[8] = { 8, 1, 9, 7, 56, 63, 55, 57 };
static const uint64_t STEP_TWO[8] = { 16, 2, 18, 14, 48, 62, 46, 50 };
static const uint64_t STEP_FOUR[8] = { 32, 4, 36, 28, 32, 60, 28, 36 };
static const uint64_t STEP_ARRIVES[8] = {
    ~RANK_1, ~FILE_A, ~(RANK_1 | FILE_A), ~(RANK_1 | FILE_H), ~RANK_8, ~FILE_H, ~(RANK_8 | FILE_H), ~(RANK_8 | FILE_A),
};

/* A knight's eight jumps, the first four up the numbering. */
#define FILES_AB (FILE_A | FILE_A << 1)
#define FILES_GH (FILE_H | FILE_H >> 1)
static const uint64_t JUMP[8] = { 17, 10, 6, 15, 47, 54, 58, 49 };
static const uint64_t JUMP_ARRIVES[8] = {
    ~(RANK_1 | RANK_1 << 8 | FILE_A), ~(RANK_1 | FILES_AB), ~(RANK_1 | FILES_GH), ~(RANK_1 | RANK_1 << 8 | FILE_H),
    ~(RANK_8 | RANK_8 >> 8 | FILE_H), ~(RANK_8 | FILES_GH), ~(RANK_8 | FILES_AB), ~(RANK_8 | RANK_8 >> 8 | FILE_A),
};

#endif
