/* format=flowed (RFC 3676): paragraphs that a mail program broke softly become one line again. */
#ifndef EPISTLE_DAEMON_INBOX_MIME_FLOWED_H
#define EPISTLE_DAEMON_INBOX_MIME_FLOWED_H

#include "core/base/str.h"

#include <stdbool.h>

/* In place; text: LF lines. A line that ends in a blank goes on in the next one (with delsp the blank itself is dropped);
 * "-- " ends nothing and joins nothing. Quoted lines (">") are left as they are: a line glued to a quotation would
 * be lost with it, or a quotation glued to the text would be read. */
void mime_unflow(Str *text, bool delsp);

#endif
