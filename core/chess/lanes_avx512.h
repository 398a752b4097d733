/* Lanes by AVX-512: all eight in one register. What the functions do stands in lanes.h. */
#ifndef EPISTLE_CORE_CHESS_LANES_AVX512_H
#define EPISTLE_CORE_CHESS_LANES_AVX512_H

#include "core/chess/lanes.h"

#if LANES_WIDE

#include <immintrin.h>

#define LANES_TARGET __attribute__((target("avx512f,avx512vpopcntdq,avx2,bmi,bmi2,popcnt")))
#define LANES_INLINE static ALWAYS_INLINE LANES_TARGET

typedef __m512i Lanes;
typedef __m512i Tally;
typedef struct Paths { Lanes one, two, four; } Paths;

LANES_INLINE Lanes lanes_all(uint64_t set) { return _mm512_set1_epi64((long long)set); }
LANES_INLINE Lanes lanes_table(const uint64_t table[8]) { return _mm512_loadu_si512(table); }
LANES_INLINE Lanes lanes_and(Lanes one, Lanes other) { return _mm512_and_si512(one, other); }
LANES_INLINE Lanes lanes_or(Lanes one, Lanes other) { return _mm512_or_si512(one, other); }
LANES_INLINE Lanes lanes_turn(Lanes sets, const uint64_t by[8]) { return _mm512_rolv_epi64(sets, lanes_table(by)); }

LANES_INLINE Lanes lanes_sliders(uint64_t lines, uint64_t diagonals) {
    return _mm512_mask_blend_epi64(0xcc, lanes_all(lines), lanes_all(diagonals));
}
LANES_INLINE Lanes lanes_opposite(Lanes sets) { return _mm512_shuffle_i64x2(sets, sets, 0x4e); }
LANES_INLINE bool lanes_meet(Lanes sets, uint64_t set) { return _mm512_test_epi64_mask(sets, lanes_all(set)) != 0; }
LANES_INLINE uint64_t lanes_union(Lanes sets) { return (uint64_t)_mm512_reduce_or_epi64(sets); }

LANES_INLINE Tally tally_none(void) { return _mm512_setzero_si512(); }
LANES_INLINE Tally tally_add(Tally tally, Lanes sets) { return _mm512_add_epi64(tally, _mm512_popcnt_epi64(sets)); }
LANES_INLINE uint64_t tally_total(Tally tally) { return (uint64_t)_mm512_reduce_add_epi64(tally); }

LANES_INLINE void men_move(Men *after, const Men *before, uint64_t from, uint64_t to) {
    Lanes sets = _mm512_load_si512(before);
    __mmask8 moved = _mm512_test_epi64_mask(sets, lanes_all(from));
    sets = _mm512_andnot_si512(lanes_all(to), sets);
    _mm512_store_si512(after, _mm512_mask_xor_epi64(sets, moved, sets, lanes_all(from | to)));
}

#endif
#endif
