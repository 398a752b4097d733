/* Words: one language's words.ini, names and ICU MessageFormat patterns (RULINGS 40).
 *
 *     ; a comment
 *     piece-knight = knight
 *     days         = {0, plural, one {# day} other {# days}}
 *         a line that begins with a blank goes on with the entry above
 *
 * Arguments are whole numbers: {0, number}, {0, plural, …} and {0, selectordinal, …}, from {0} to {3}; anything else is an
 * error when the file is read, so that formatting cannot fail for want of a good pattern. An apostrophe before { or }
 * quotes as in ICU. */
#ifndef EPISTLE_DAEMON_OUTBOX_WORDS_H
#define EPISTLE_DAEMON_OUTBOX_WORDS_H

#include "core/base/error.h"
#include "core/base/str.h"

#include <stdbool.h>
#include <stdint.h>

enum { WORDS_ARGUMENTS_MAX = 4, WORDS_ENTRIES_MAX = 1000, WORDS_PATTERN_MAX = 4000 };

typedef struct Words Words;

/* text: the file's contents, UTF-8; `file` stands in errors as "file:line: …". */
Words *words_open(const char *text, const char *file, const char *language, Error *error);
void words_close(Words *words); /* NULL is fine */

/* An entry that takes no arguments; NULL if there is none of that name or it takes some. */
const char *words_text(const Words *words, const char *name);

/* Appends any entry. False if there is none, or fewer than its arguments are given, or `out` is full. */
bool words_write(const Words *words, const char *name, const int64_t *arguments, int argument_count, Str *out);

#endif
