/* The gate before the MIME parser (DESIGN decision 3, FACTS.md): refuses what can crash or stall libetpan.
 *
 * Linear time, no allocation, no decoding. It looks at the whole letter for what a parser would meet at any
 * depth: header line lengths and counts, runs of '(' in header-like lines, boundary parameters with characters
 * outside RFC 2046's bchars, the number of boundaries, the number of message/rfc822 and multipart fields. */
#ifndef EPISTLE_DAEMON_INBOX_GATE_H
#define EPISTLE_DAEMON_INBOX_GATE_H

#include <stdbool.h>
#include <stddef.h>

enum {
    GATE_LETTER_MAX = 2 * 1024 * 1024, /* RULINGS 7: larger letters arrive here as header and first 64 kB */
    GATE_LARGE_TAKEN = 64 * 1024,
};

/* True if the letter may go to the parser. Else *ret_why is a phrase for the operator ("a boundary with a quote in it"). */
bool gate_pass(const char *raw, size_t size, const char **ret_why);

#endif
