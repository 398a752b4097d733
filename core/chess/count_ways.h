/* The ways of count.h, each in its file. */
#ifndef EPISTLE_CORE_CHESS_COUNT_WAYS_H
#define EPISTLE_CORE_CHESS_COUNT_WAYS_H

#include "core/chess/count.h"

extern const CountWay COUNT_AVX512, COUNT_AVX2, COUNT_PLAIN;

#endif
