#include "daemon/inbox/mime_flowed.h"

#include <string.h>

void mime_unflow(Str *text, bool delsp) {
    size_t to = 0, from = 0;
    bool joins = false; /* the line before ended softly */
    while (from < text->length) {
        const char *line = text->data + from;
        const char *newline = memchr(line, '\n', text->length - from);
        size_t length = newline != NULL ? (size_t)(newline - line) : text->length - from;
        from += length + (newline != NULL);
        bool quoted = length > 0 && line[0] == '>';
        bool signature = length == 3 && memcmp(line, "-- ", 3) == 0;
        if (joins && (quoted || signature))
            text->data[to++] = '\n';
        if (!quoted && length > 0 && line[0] == ' ') { /* space-stuffed */
            line++;
            length--;
        }
        joins = !quoted && !signature && length > 0 && line[length - 1] == ' ';
        memmove(text->data + to, line, length);
        to += length;
        if (joins && delsp)
            to--;
        if (!joins && newline != NULL)
            text->data[to++] = '\n';
    }
    str_truncate(text, to);
}
