/* What the program writes for the operator: on a terminal, into a pipe, into the system's journal.
 *
 * Text may come from letters, so nothing written here holds control characters, bidi marks or broken UTF-8: each becomes '?'
 * (RULINGS 50). Callers see to it that no token, Reply-To or body is logged. */
#ifndef EPISTLE_DAEMON_LOG_H
#define EPISTLE_DAEMON_LOG_H

#include <stdio.h>

/* One line, formatted, its line feed added; a line feed in the text becomes '?' too. */
void print_line(FILE *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A text of several lines; LF and tab stay. Ends the last line if it is open. */
void print_text(FILE *stream, const char *text);

/* "epistle: LINE" on standard error: for errors and for Service.log. */
void log_line(const char *line);

#endif
