/* Lanes in plain C, one word each, for every machine. What the functions do stands in lanes.h. */
#ifndef EPISTLE_CORE_CHESS_LANES_PLAIN_H
#define EPISTLE_CORE_CHESS_LANES_PLAIN_H

#include "core/chess/lanes.h"

#define LANES_TARGET
#define LANES_INLINE static inline

typedef struct Lanes { uint64_t set[8]; } Lanes;
typedef uint64_t Tally;
typedef struct Paths { Lanes one, two, four; } Paths;

LANES_INLINE Lanes lanes_all(uint64_t set) { return (Lanes) { { set, set, set, set, set, set, set, set } }; }
LANES_INLINE Lanes lanes_table(const uint64_t table[8]) {
    Lanes sets;
    for (int i = 0; i < 8; i++)
        sets.set[i] = table[i];
    return sets;
}
LANES_INLINE Lanes lanes_and(Lanes one, Lanes other) {
    for (int i = 0; i < 8; i++)
        one.set[i] &= other.set[i];
    return one;
}
LANES_INLINE Lanes lanes_or(Lanes one, Lanes other) {
    for (int i = 0; i < 8; i++)
        one.set[i] |= other.set[i];
    return one;
}
LANES_INLINE Lanes lanes_turn(Lanes sets, const uint64_t by[8]) {
    for (int i = 0; i < 8; i++)
        sets.set[i] = sets.set[i] << by[i] | sets.set[i] >> (64 - by[i]);
    return sets;
}

LANES_INLINE Lanes lanes_sliders(uint64_t lines, uint64_t diagonals) {
    return (Lanes) { { lines, lines, diagonals, diagonals, lines, lines, diagonals, diagonals } };
}
LANES_INLINE Lanes lanes_opposite(Lanes sets) {
    const uint64_t *set = sets.set;
    return (Lanes) { { set[4], set[5], set[6], set[7], set[0], set[1], set[2], set[3] } };
}
LANES_INLINE uint64_t lanes_union(Lanes sets) {
    uint64_t all = 0;
    for (int i = 0; i < 8; i++)
        all |= sets.set[i];
    return all;
}
LANES_INLINE bool lanes_meet(Lanes sets, uint64_t set) { return (lanes_union(sets) & set) != 0; }

LANES_INLINE Tally tally_none(void) { return 0; }
LANES_INLINE Tally tally_add(Tally tally, Lanes sets) {
    uint64_t bytes = 0; /* each byte counts eight squares of eight lanes: 64 at most */
    for (int i = 0; i < 8; i++) {
        uint64_t x = sets.set[i];
        x -= x >> 1 & UINT64_C(0x5555555555555555);
        x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
        bytes += (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    }
    bytes = (bytes & UINT64_C(0x00ff00ff00ff00ff)) + (bytes >> 8 & UINT64_C(0x00ff00ff00ff00ff));
    return tally + (bytes * UINT64_C(0x0001000100010001) >> 48);
}
LANES_INLINE uint64_t tally_total(Tally tally) { return tally; }

LANES_INLINE void men_move(Men *after, const Men *before, uint64_t from, uint64_t to) {
    for (int i = 0; i < MEN_SETS; i++) {
        uint64_t set = before->sets[i];
        uint64_t moved = set & from ? from | to : 0;
        after->sets[i] = (set & ~to) ^ moved;
    }
}

#endif
