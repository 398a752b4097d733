#include "core/chess/count.h"

#include "core/chess/count_ways.h"
#include "core/chess/lanes.h"

#include <stddef.h>

const CountWay *const COUNT_WAYS[] = {
#if LANES_WIDE
    &COUNT_AVX512,
    &COUNT_AVX2,
#endif
    &COUNT_PLAIN,
    NULL,
};

const CountWay *count_way(void) {
    size_t way = 0;
    while (!COUNT_WAYS[way]->usable())
        way++;
    return COUNT_WAYS[way];
}

int moves_count(const Position *position) {
    return (int)count_way()->moves(position);
}
