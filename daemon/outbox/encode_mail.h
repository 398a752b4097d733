/* Encoding for the wire: header fields (RFC 5322, 2047, 2231) and bodies (RFC 2045), all 7-bit with CRLF.
 *
 * Texts are UTF-8 with LF lines; bytes that are not UTF-8, and control characters in header texts, are replaced, so that
 * nothing handed in here can end a header line. Lines stay within 76 columns wherever a blank allows a fold; only an address or id
 * longer than that makes a longer one. Every function returns false only if `out` is full. */
#ifndef EPISTLE_DAEMON_OUTBOX_ENCODE_MAIL_H
#define EPISTLE_DAEMON_OUTBOX_ENCODE_MAIL_H

#include "core/base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAIL_LINE_MAX = 76, MAIL_ADDRESS_MAX = 254, MAIL_ID_MAX = 250 };

/* user@domain of printable ASCII without blanks, quotes and specials; exactly one '@'. What a quoted local part could
 * hold besides is not worth its danger. */
bool mail_address_good(const char *address);
/* left@right of a Message-ID, without its angle brackets. */
bool mail_id_good(const char *id);

/* "Subject: text": as it is where it is plain ASCII, else in encoded words. */
bool encode_text_field(Str *out, const char *field, const char *text);
/* "To: "Name" <address>"; a name "" leaves the address alone. The address must be good. */
bool encode_address_field(Str *out, const char *field, const char *name, const char *address);
/* "References: <id> <id>", one a line; ids that are not good are left out, and without any the field is. */
bool encode_ids_field(Str *out, const char *field, const char *const *ids, size_t count);
/* `; name="value"` on a line of its own, by RFC 2231 where it is not plain ASCII. */
bool encode_parameter(Str *out, const char *name, const char *value);

/* Whether a text can stand as it is: ASCII, lines of at most MAIL_LINE_MAX columns, none beginning with "From " or '.', none
 * ending in a blank. */
bool mail_text_plain(const char *text);
bool encode_plain(Str *out, const char *text); /* LF to CRLF */
bool encode_quoted_printable(Str *out, const char *text);
bool encode_base64(Str *out, const void *bytes, size_t length); /* in lines */

#endif
