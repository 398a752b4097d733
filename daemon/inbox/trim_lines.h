/* The signs by which trim.c knows what a mail program has put into a letter, one line (or a few) at a time.
 * Internal to reply trimming. All functions take linear time in the lines they look at. */
#ifndef EPISTLE_DAEMON_INBOX_TRIM_LINES_H
#define EPISTLE_DAEMON_INBOX_TRIM_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* The lines of a letter: NUL-terminated, typographic blanks folded, nothing blank at their ends. */
typedef struct TrimLines {
    const char **text;
    size_t count;
} TrimLines;

bool trim_is_quote(const char *line);     /* '>' behind blanks, "| ", "＞", initials before '>' */
bool trim_is_signature(const char *line); /* "--" */
bool trim_is_device(const char *line);    /* "Sent from my …", "Get Outlook for …" */
bool trim_is_rule(const char *line);      /* ten or more of - _ = * and nothing else */
bool trim_is_board(const char *line);     /* the file letters under a board: a b c d e f g h */

typedef enum TrimMarker {
    TRIM_NO_MARKER,
    TRIM_ORIGINAL, /* "-----Original Message-----", "Begin forwarded message:" */
    TRIM_ABOVE,    /* "reply above this line" */
} TrimMarker;
TrimMarker trim_marker(const char *line);

/* How many lines a mail program's header block (From, Sent, To, Subject in many languages) takes from line `at` on; 0: none. */
size_t trim_header_block(const TrimLines *lines, size_t at);

typedef enum TrimSurety {
    TRIM_NO_ATTRIBUTION,
    TRIM_NEEDS_QUOTE, /* one if a quotation or a board follows */
    TRIM_SURE,        /* "wrote" or "quoting" and a date, a time, an address or a name alone; address and date: one by itself */
} TrimSurety;
enum { TRIM_ATTRIBUTION_LINES = 4 };
/* Does an attribution ("On … wrote:") end with line `end`? Then *ret_begin is its first line, at most
 * TRIM_ATTRIBUTION_LINES above and not above `floor`. */
TrimSurety trim_attribution(const TrimLines *lines, size_t floor, size_t end, size_t *ret_begin);

#endif
