/* Prng: the simulation's own small random numbers (splitmix64), the same on every machine. */
#ifndef EPISTLE_TESTS_SIMULATE_PRNG_H
#define EPISTLE_TESTS_SIMULATE_PRNG_H

#include <stdint.h>

static inline uint64_t prng_next(uint64_t *state) {
    uint64_t mixed = (*state += 0x9e3779b97f4a7c15u);
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
    return mixed ^ mixed >> 31;
}

/* 0 … below-1; 0 for 0. The bias of the remainder does not matter here. */
static inline uint64_t prng_below(uint64_t *state, uint64_t below) {
    return below ? prng_next(state) % below : 0;
}

#endif
