/* What a server's URL and its replies say, for this folder alone. */
#ifndef EPISTLE_DAEMON_LINE_HOST_H
#define EPISTLE_DAEMON_LINE_HOST_H

#include <stdbool.h>
#include <stddef.h>

enum {
    HOST_MAX = 300,  /* a name of 253 bytes, a port */
    REPLY_MAX = 256, /* of a server's words, as much as fits a sentence */
};

/* "imap.club.example:993", with the scheme's own port where the URL gives none; the URL itself if it cannot be read. */
void host_and_port(const char *url, char *ret_host, size_t size);

/* Whether a server's line is one that says how things went: "* OK …", "A3 NO …", "+OK …", "250 …"; and whether it says no. */
bool reply_is_status(const char *reply);
bool reply_refuses(const char *reply);

#endif
