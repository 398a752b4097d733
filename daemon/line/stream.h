/* A mailstream for libetpan over a Line. Its first read is answered with a greeting of our own, "* PREAUTH", so that mailimap_connect()
 * enters the authenticated state that curl has reached already (DESIGN decision 4). */
#ifndef EPISTLE_DAEMON_LINE_STREAM_H
#define EPISTLE_DAEMON_LINE_STREAM_H

#include "daemon/line/line.h"

#include <libetpan/libetpan.h>

/* Owns nothing: closing the mailstream leaves the line open, and the line must outlive it. Reads answer −1 at the line's end, when time
 * is over and when the cap is passed, never 0 (libetpan loops for ever on 0). A single protocol line without LF is bounded
 * by the operation's cap. The mailstream itself is freed by mailstream_close(), which mailimap_logout() and mailimap_free() call once mailimap_connect() has
 * taken it over. NULL if there is no memory. */
mailstream *stream_open(Line *line);

#endif
