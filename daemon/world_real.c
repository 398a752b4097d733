#include "daemon/world.h"

#include <sodium.h>
#include <time.h>

static Instant clock_now(void *data) {
    (void)data;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec;
}

/* `data` of a world that stands still: one of a few, for the life of the process. */
static Instant clock_fixed(void *data) {
    return *(const Instant *)data;
}

static void random_bytes(void *data, void *ret_bytes, size_t length) {
    (void)data;
    randombytes_buf(ret_bytes, length);
}

World world_real(Instant fixed) {
    static Instant standing;
    World world = { .now = clock_now, .random = random_bytes };
    if (sodium_init() >= 0 && fixed != INSTANT_NONE) {
        standing = fixed;
        world.now = clock_fixed;
        world.data = &standing;
    }
    return world;
}
