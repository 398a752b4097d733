/* Reply trimming: the new text of a letter, without what its mail program quoted and without signature.
 *
 * A hand-written line scanner in linear time, no regular expressions. Cuts: lines beginning with '>' (also
 * behind blanks; "| " lines, by which our own letters mark passed-on remarks, RULINGS 10); attribution lines ("On … wrote:", wrapped over up
 * to four lines, date first or name first; languages as a table) where the line holds a date, a time, an address or only a
 * name; Outlook header blocks; "-----Original Message-----"; the signature behind "-- "; "Sent from my …", and what stands below it if anything
 * stands above. Below an attribution or a header block nothing is new, unless '>' lines follow it at once and the text stands below those.
 * If nothing stands above the quotation, the text below it counts (bottom posting); text between
 * quoted lines does not hold commands but is kept for the remark. What is cut is never read for moves. */
#ifndef EPISTLE_DAEMON_INBOX_TRIM_H
#define EPISTLE_DAEMON_INBOX_TRIM_H

#include "core/base/arena.h"

/* Between two quotations, or below one with own text above it, nothing counts as a command: such text stands at the end of
 * the new text, each stretch of it below this mark as a line of its own, and command_read() takes all from the first mark on for remark. */
#define TRIM_BETWEEN_MARK "[…]"

/* text: UTF-8 with LF. Returns the new text: LF lines, typographic blanks (NBSP, zero-width) folded to plain ones or dropped,
 * no blanks at line ends, no empty lines at either end; "" if nothing is new. NULL only if the arena is exhausted. */
const char *trim_new_text(Arena *arena, const char *text);

#endif
