/* The gate before the MIME parser (DESIGN decision 3, FACTS.md): refuses what can crash or stall libetpan.
 *
 * A boundary may hold any printable ASCII but '"' and '\\' (some programs use more than RFC 2046's bchars, and only
 * those two hurt).
 *
 * Linear time, no allocation, no decoding. It looks at the whole letter for what a parser would meet at any
 * depth: header line lengths and counts, runs of '(' in header-like lines, boundary parameters with characters
 * that hurt, the number of boundaries, the number of message/rfc822 and multipart fields. */
#ifndef EPISTLE_DAEMON_INBOX_GATE_H
#define EPISTLE_DAEMON_INBOX_GATE_H

#include <stdbool.h>
#include <stddef.h>

enum {
    GATE_LETTER_MAX = 2 * 1024 * 1024, /* RULINGS 7: larger letters arrive here as header and first 64 kB */
    GATE_LARGE_TAKEN = 64 * 1024,

    /* libetpan recurses once per '(' in a comment and overflows 8 MB of stack near 100,000; it counts per logical line
     * (a line with its continuations), so that a letter full of brackets passes: a page of Lisp has some 500. */
    GATE_PARENTHESES_MAX = 4000,
    /* Content-Type lines that name a multipart or a message, at any place. libetpan recurses once per level (dies near
     * 28,000, 850 on a small stack) and takes quadratic time; an honest letter has under 10, a day's digest some 100. */
    GATE_COMPOSITES_MAX = 250,
    /* Lines beginning with "--": every part needs one. 100,000 parts cost libetpan 100 MB; letters have under 50. */
    GATE_DASH_LINES_MAX = 10 * 1000,
    /* Of the letter's own header. The longest honest field is a To with 1,000 addresses (some 50 kB). */
    GATE_FIELD_MAX = 128 * 1024,
    GATE_HEADER_LINES_MAX = 10 * 1000,
    GATE_BOUNDARY_MAX = 8000, /* RFC 2046 says 70; the corpus has one of 7,000 */
};

/* True if the letter may go to the parser. Else *ret_why is a phrase for the operator ("a boundary with a quote in it"). */
bool gate_pass(const char *raw, size_t size, const char **ret_why);

#endif
