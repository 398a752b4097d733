/* Our own scanner of a letter's header (RULINGS 6): authorship is never taken from the MIME child.
 *
 * Works on the raw bytes in linear time, forgives what mail programs and servers do (a BOM or a
 * "From " line before the header, bare LF or CR, a line that is no field in its midst), unfolds
 * values, and copies them into the arena. NUL and other controls in a value become blanks. Names compare without case. */
#ifndef EPISTLE_DAEMON_INBOX_HEADER_H
#define EPISTLE_DAEMON_INBOX_HEADER_H

#include "core/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

enum { HEADER_FIELDS_MAX = 1000 }; /* real letters have under 100; more are dropped, from the bottom */

typedef struct HeaderField {
    const char *name;
    const char *value; /* unfolded, outer blanks cut, raw bytes (RFC 2047 words not decoded) */
} HeaderField;

typedef struct Header {
    HeaderField *fields; /* in order of appearance */
    size_t count;
    size_t body; /* offset of the first body byte in the raw letter; its size if there is no body */
} Header;

/* False only if the arena is exhausted. The header ends at the first empty line; a line of blanks alone continues
 * the field above it (RFC 5322 4.2) and does not end it. Without an empty line all is header. */
bool header_scan(Arena *arena, const char *raw, size_t size, Header *ret_header);

/* The nth (from 0) field of that name, NULL if there is none. */
/* The value lives as long as the arena. */
const char *header_field(const Header *header, const char *name, size_t nth);
size_t header_count(const Header *header, const char *name);

/* Only what is unmistakable is an address: `John Doe <john@x>` and `john@x (John)` are, `John Doe john@x` is none.
 * A mailbox with two pairs of <> counts as two. A quoted local part that needs no quotes loses them.
 *
 * The addr-specs (RFC 5322, with obsolete forms, groups, comments, quoted local parts) of an address list, domain in
 * lower case, at most `most`. Returns how many there were, counting those that did not fit; text that is no address
 * counts as none. ret_names (may be NULL) receives display names decoded to UTF-8 (RFC 2047), "" where there is none. */
size_t header_addresses(Arena *arena, const char *value, const char **ret_addresses, const char **ret_names, size_t most);

/* RFC 2047 words to UTF-8 on one line (raw 8-bit text too); what cannot be decoded stands as it was. */
const char *header_decode(Arena *arena, const char *value);

/* Message-IDs without <>, well-formed ones only (References, In-Reply-To, Message-ID).
 * Returns how many there were, counting those that did not fit. */
size_t header_message_ids(Arena *arena, const char *value, const char **ret_ids, size_t most);

#endif
