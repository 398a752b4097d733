#include "daemon/log.h"

#include "core/base/str.h"
#include "core/base/utf8.h"

#include <stdarg.h>
#include <string.h>

enum { LINE_MAX_BYTES = 64 * 1024 };

static bool harmless(uint32_t point) {
    if (point < 0x20 || (point >= 0x7f && point < 0xa0))
        return false;
    return point != 0x061c && point != 0x200e && point != 0x200f && point != 0xfeff && !(point >= 0x2028 && point <= 0x202e) &&
           !(point >= 0x2066 && point <= 0x2069);
}

static void write_clean(FILE *stream, const char *text, size_t length, bool lines) {
    for (size_t at = 0; at < length;) {
        uint32_t point = 0;
        int size = utf8_next(text + at, length - at, &point);
        if (size > 0 && (harmless(point) || (lines && (point == '\n' || point == '\t'))))
            fwrite(text + at, 1, (size_t)size, stream);
        else
            fputc('?', stream);
        at += size > 0 ? (size_t)size : 1;
    }
}

void print_line(FILE *stream, const char *format, ...) {
    Str line;
    str_init(&line, LINE_MAX_BYTES);
    va_list arguments;
    va_start(arguments, format);
    str_vprintf(&line, format, arguments);
    va_end(arguments);
    write_clean(stream, line.data, line.length, false);
    fputc('\n', stream);
    str_free(&line);
}

void print_text(FILE *stream, const char *text) {
    size_t length = strlen(text);
    write_clean(stream, text, length, true);
    if (length > 0 && text[length - 1] != '\n')
        fputc('\n', stream);
}

void log_line(const char *line) {
    print_line(stderr, "epistle: %s", line);
}
