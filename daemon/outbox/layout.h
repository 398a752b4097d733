/* Layout: the plain text of a rendered Markdown template, and the care that no line of it reads as a command (RULINGS 10).
 *
 * Paragraphs and "- " items are filled to LAYOUT_WIDTH columns; a line that begins with four blanks stands as it is, without
 * them; several empty lines become one; no line ends in a blank. Where a line is broken, the next never begins with a
 * word by which a command or a move could begin, and a last line of a few words holds none: the break is made earlier, or, where
 * every word is such a one, later. */
#ifndef EPISTLE_DAEMON_OUTBOX_LAYOUT_H
#define EPISTLE_DAEMON_OUTBOX_LAYOUT_H

#include "core/base/str.h"

#include <stdbool.h>

enum { LAYOUT_WIDTH = 72 };

/* commands: the first words of all commands, with blanks between. False if `out` is full or memory is out. */
bool layout_text(const char *markdown, const char *commands, Str *out);

/* Whether a word, quotes and marks around it left aside, holds a digit, is castling, or is one of the commands or near one
 * as RULINGS 9 says: words of 4 and 5 letters by one edit, longer ones by two, shorter ones exactly. */
bool layout_guarded(const char *word, size_t length, const char *commands);

/* Appends words of `text` in lines of at most `width` columns, each behind `prefix`; a word that is longer is broken. An empty
 * text is one line. */
bool layout_prefixed(const char *text, const char *prefix, size_t width, Str *out);

#endif
