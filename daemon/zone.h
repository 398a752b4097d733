/* Time zones through glibc and the system's tzdata (RULINGS 34). */
#ifndef EPISTLE_DAEMON_ZONE_H
#define EPISTLE_DAEMON_ZONE_H

#include "core/base/instant.h"

#include <stdbool.h>

enum { ZONE_NAME_MAX = 64 };

/* A name such as "Europe/Vienna" or "UTC" of the system's list (tzdata's files are looked up by checked names: letters, digits, "_+-/", no
 * dots, not absolute). */
bool zone_known(const char *name);

/* Seconds to add to UTC at that instant; 0 and false for an unknown zone. */
bool zone_offset(const char *name, Instant instant, int *ret_seconds);

#endif
