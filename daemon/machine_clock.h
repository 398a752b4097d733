/* The machine's own clock, which nobody sets: for bounding how long a server, a program or a child may take. No game hangs on it, and the simulation runs
 * without it; the world's time is world_now(). */
#ifndef EPISTLE_DAEMON_MACHINE_CLOCK_H
#define EPISTLE_DAEMON_MACHINE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Microseconds since some moment of this boot (CLOCK_MONOTONIC). */
static inline int64_t machine_microseconds(void) {
    struct timespec now = { 0 };
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static inline int64_t machine_milliseconds(void) {
    return machine_microseconds() / 1000;
}

#endif
