/* UTF-8 (RFC 3629): strict decoding, one code point at a time, and writing. */
#ifndef EPISTLE_CORE_BASE_UTF8_H
#define EPISTLE_CORE_BASE_UTF8_H

#include "core/base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the code point at text (length bytes are there, at least 1). Returns the number of
 * bytes it takes, or 0 where they are not well-formed UTF-8 (overlong, surrogate, cut). */
int utf8_next(const char *text, size_t length, uint32_t *ret_point);

bool utf8_valid(const char *text, size_t length);
bool utf8_append(Str *str, uint32_t point); /* an impossible point becomes U+FFFD */

/* Code points in a well-formed text. */
size_t utf8_length(const char *text);

#endif
