/* Modified UTF-7 (RFC 3501, 5.1.3): how names of IMAP folders go over the line. */
#ifndef EPISTLE_DAEMON_INBOX_UTF7_H
#define EPISTLE_DAEMON_INBOX_UTF7_H

#include "core/base/str.h"

#include <stdbool.h>

/* Appends the UTF-8 name in modified UTF-7. False, and nothing certain appended, if it is no UTF-8, has a control character in it, or
 * does not fit. */
bool utf7_append(Str *ret_name, const char *name);

#endif
