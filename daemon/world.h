/* World: everything of the outside that the service touches, behind one table of functions
 * (DESIGN decision 5). Real ones: world_real.c, inbox/source_*.c, outbox/sender_*.c; simulated
 * ones: tests/simulate. Nothing else in the project asks for the time, for randomness, or
 * for a mailbox. */
#ifndef EPISTLE_DAEMON_WORLD_H
#define EPISTLE_DAEMON_WORLD_H

#include "core/base/instant.h"
#include "daemon/inbox/source.h"
#include "daemon/outbox/sender.h"

#include <stddef.h>

typedef struct World {
    void *data; /* handed to now and random */
    Instant (*now)(void *data);
    void (*random)(void *data, void *ret_bytes, size_t length);
    MailSource *source; /* owned by whoever made the world; NULL: no mailbox (offline verbs) */
    MailSender *sender; /* likewise */
} World;

static inline Instant world_now(const World *world) {
    return world->now(world->data);
}
static inline void world_random(const World *world, void *ret_bytes, size_t length) {
    world->random(world->data, ret_bytes, length);
}

/* The real clock and libsodium's random bytes. `fixed` other than INSTANT_NONE stands still in
 * the clock's place (once --now). source and sender are left NULL. */
World world_real(Instant fixed);

#endif
