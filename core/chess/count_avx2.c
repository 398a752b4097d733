#include "core/chess/count_ways.h"
#include "core/chess/lanes_avx2.h"

#if LANES_WIDE

#include "core/chess/count_body.h"

/* What LANES_TARGET names. */
static bool usable(void) {
    int missing = !__builtin_cpu_supports("avx2") + !__builtin_cpu_supports("bmi") + !__builtin_cpu_supports("bmi2")
        + !__builtin_cpu_supports("popcnt");
    return missing == 0;
}

const CountWay COUNT_AVX2 = { .name = "avx2", .usable = usable, .moves = moves_of, .replies = replies_of };

#endif
