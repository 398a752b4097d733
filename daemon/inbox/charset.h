/* Character sets to UTF-8, through ICU with our own table of the names mail programs use wrongly (FACTS.md). */
#ifndef EPISTLE_DAEMON_INBOX_CHARSET_H
#define EPISTLE_DAEMON_INBOX_CHARSET_H

#include "core/base/str.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends `bytes` as well-formed UTF-8, otherwise unchanged (it may hold NUL and controls). charset may be NULL or any
 * untrusted text: an unknown or undeclared one, and 8-bit bytes in "us-ascii", are UTF-8 if well-formed,
 * else windows-1252. Latin-1 is read as windows-1252, gb2312 as gb18030, as the senders mean
 * it. Bytes that mean nothing become U+FFFD. False only if *ret_text overflowed (or ICU found no memory). */
bool charset_to_utf8(const char *charset, const char *bytes, size_t size, Str *ret_text);

/* True if the name is one we convert by itself, not by guessing. */
bool charset_known(const char *charset);

/* Appends `text` (any bytes) as plain lines: LF line ends (CRLF, CR, NEL, U+2028 and U+2029 too), no NUL, no
 * controls but TAB and LF, no BOM at the start; what is not UTF-8 becomes U+FFFD. */
bool charset_clean(const char *text, size_t size, Str *ret_text);

/* Opens the usual converters once, so that a locked child needs no data file and no time for it. */
void charset_warm_up(void);

#endif
