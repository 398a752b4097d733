/* Lanes by AVX2: four in each of two registers. What the functions do stands in lanes.h. */
#ifndef EPISTLE_CORE_CHESS_LANES_AVX2_H
#define EPISTLE_CORE_CHESS_LANES_AVX2_H

#include "core/chess/lanes.h"

#if LANES_WIDE

#include <immintrin.h>

#define LANES_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define LANES_INLINE static ALWAYS_INLINE LANES_TARGET

/* Lanes 0–3 go up the board's numbering and 4–7 down. */
typedef struct Lanes { __m256i up, down; } Lanes;
typedef __m256i Tally;
typedef struct Paths { Lanes one, two, four; } Paths;

LANES_INLINE __m256i four_table(const uint64_t table[4]) { return _mm256_loadu_si256((const __m256i *)table); }
LANES_INLINE __m256i four_all(uint64_t set) { return _mm256_set1_epi64x((long long)set); }

LANES_INLINE Lanes lanes_all(uint64_t set) { return (Lanes) { four_all(set), four_all(set) }; }
LANES_INLINE Lanes lanes_table(const uint64_t table[8]) { return (Lanes) { four_table(table), four_table(table + 4) }; }
LANES_INLINE Lanes lanes_and(Lanes one, Lanes other) {
    return (Lanes) { _mm256_and_si256(one.up, other.up), _mm256_and_si256(one.down, other.down) };
}
LANES_INLINE Lanes lanes_or(Lanes one, Lanes other) {
    return (Lanes) { _mm256_or_si256(one.up, other.up), _mm256_or_si256(one.down, other.down) };
}
/* What a shift drops instead of turning round, the masks of lanes.h would drop. */
LANES_INLINE Lanes lanes_turn(Lanes sets, const uint64_t by[8]) {
    __m256i down = _mm256_sub_epi64(four_all(64), four_table(by + 4));
    return (Lanes) { _mm256_sllv_epi64(sets.up, four_table(by)), _mm256_srlv_epi64(sets.down, down) };
}

LANES_INLINE Lanes lanes_sliders(uint64_t lines, uint64_t diagonals) {
    __m256i both = _mm256_blend_epi32(four_all(lines), four_all(diagonals), 0xf0);
    return (Lanes) { both, both };
}
LANES_INLINE Lanes lanes_opposite(Lanes sets) { return (Lanes) { sets.down, sets.up }; }
LANES_INLINE bool lanes_meet(Lanes sets, uint64_t set) {
    return !_mm256_testz_si256(_mm256_or_si256(sets.up, sets.down), four_all(set));
}
LANES_INLINE uint64_t lanes_union(Lanes sets) {
    __m256i four = _mm256_or_si256(sets.up, sets.down);
    __m128i two = _mm_or_si128(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
    return (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(two, _mm_unpackhi_epi64(two, two)));
}

/* Counts of nibbles by a table of sixteen (Muła 2008), summed by bytes of a lane. */
LANES_INLINE __m256i four_bytes(__m256i sets) {
    const __m256i counts = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    const __m256i nibble = _mm256_set1_epi8(15);
    __m256i low = _mm256_shuffle_epi8(counts, _mm256_and_si256(sets, nibble));
    __m256i high = _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16(sets, 4), nibble));
    return _mm256_add_epi8(low, high);
}
LANES_INLINE Tally tally_none(void) { return _mm256_setzero_si256(); }
LANES_INLINE Tally tally_add(Tally tally, Lanes sets) {
    __m256i bytes = _mm256_add_epi8(four_bytes(sets.up), four_bytes(sets.down));
    return _mm256_add_epi64(tally, _mm256_sad_epu8(bytes, _mm256_setzero_si256()));
}
LANES_INLINE uint64_t tally_total(Tally tally) {
    __m128i two = _mm_add_epi64(_mm256_castsi256_si128(tally), _mm256_extracti128_si256(tally, 1));
    return (uint64_t)_mm_cvtsi128_si64(two) + (uint64_t)_mm_extract_epi64(two, 1);
}

LANES_INLINE __m256i four_moved(__m256i sets, uint64_t from, uint64_t to) {
    __m256i hit = _mm256_cmpeq_epi64(_mm256_and_si256(sets, four_all(from)), four_all(from));
    return _mm256_xor_si256(_mm256_andnot_si256(four_all(to), sets), _mm256_and_si256(hit, four_all(from | to)));
}
LANES_INLINE void men_move(Men *after, const Men *before, uint64_t from, uint64_t to) {
    const __m256i *sets = (const __m256i *)before->sets;
    __m256i *moved = (__m256i *)after->sets;
    _mm256_store_si256(moved, four_moved(_mm256_load_si256(sets), from, to));
    _mm256_store_si256(moved + 1, four_moved(_mm256_load_si256(sets + 1), from, to));
}

#endif
#endif
