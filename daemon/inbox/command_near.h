/* Lines that look like a move but are none: letters set apart, too many digits, a piece's name in words, a move behind
 * something else. Used by command_lines.c only, for the opening lines, where nothing is passed over (RULINGS 9). */
#ifndef EPISTLE_DAEMON_INBOX_COMMAND_NEAR_H
#define EPISTLE_DAEMON_INBOX_COMMAND_NEAR_H

#include "daemon/inbox/command_words.h"

/* line: cleaned, and not readable as moves; words: the same split. Dates, times, years and plain numbers are none. */
bool near_move(const char *line, const Words *words);

#endif
