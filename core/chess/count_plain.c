#include "core/chess/count_ways.h"

#include "core/chess/count_body.h"

static bool usable(void) {
    return true;
}

const CountWay COUNT_PLAIN = { .name = "plain", .usable = usable, .moves = moves_of, .replies = replies_of };
