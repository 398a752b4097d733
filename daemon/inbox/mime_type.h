/* Content-Type and Content-Disposition values: type and parameters (RFC 2045, RFC 2231), kindly. */
#ifndef EPISTLE_DAEMON_INBOX_MIME_TYPE_H
#define EPISTLE_DAEMON_INBOX_MIME_TYPE_H

#include "core/base/arena.h"

#include <stdbool.h>

/* value: a field's value, NULL if the field is missing. Is it of this type ("text/plain"), or, with a
 * name that ends in '/', of this family ("multipart/")? A missing or malformed type (no '/') is text/plain. */
bool mime_type_is(const char *value, const char *name);

/* The parameter's value, without quotes; RFC 2231 pieces joined and percent signs resolved (bytes,
 * not converted). NULL if there is none. In the arena. */
const char *mime_parameter(Arena *arena, const char *value, const char *name);

#endif
