#include "core/chess/count_ways.h"
#include "core/chess/lanes_avx2.h"

#if LANES_WIDE

#include "core/chess/count_body.h"

static bool usable(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

const CountWay COUNT_AVX2 = { .name = "avx2", .usable = usable, .moves = moves_of, .replies = replies_of };

#endif
