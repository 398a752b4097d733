/* Transfer decodings (RFC 2045, RFC 2047), strict about what is an escape and kind to everything else.
 *
 * libetpan's decoder turns an `=` that is no escape into garbage (`e8=Q+` → `e8` NUL); chess letters
 * are full of them. All functions append bytes to *ret_bytes, run in linear time and return false only if
 * it overflowed. The result is bytes in the part's own character set and may hold NUL. */
#ifndef EPISTLE_DAEMON_INBOX_DECODE_H
#define EPISTLE_DAEMON_INBOX_DECODE_H

#include "core/base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* `=XX` with hex digits of any case becomes a byte; `=` and only blanks before a line end is a soft break; blanks
 * before a line end are dropped, as transport added them. Every other `=` stays. A `=` behind a promotion square
 * (`f8=` at a line's end) is a soft break as the standard says. */
bool decode_quoted_printable(const char *text, size_t size, Str *ret_bytes);

/* Skips what is no base64 digit; `=` ends a quantum, and another may follow (letters glued together
 * from several encodings); missing padding is forgiven, a lone last digit dropped. */
bool decode_base64(const char *text, size_t size, Str *ret_bytes);

/* RFC 2047's "Q": as quoted-printable, but `_` is a blank and there are no line ends. */
bool decode_q_word(const char *text, size_t size, Str *ret_bytes);

/* By the name in Content-Transfer-Encoding (NULL, 7bit, 8bit, binary and unknown names: as it is). Names
 * with junk behind them ("base64;", "quoted-printable (sent by …)") are understood. */
bool decode_transfer(const char *encoding, const char *text, size_t size, Str *ret_bytes);

#endif
