#include "core/base/error.h"

#include "core/base/str.h"

#include "core/base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* An operator's terminal must not obey what a stranger wrote (RULINGS 50), and JSON must stay UTF-8: control characters, those
 * of 0x80 to 0x9f too, and bytes that are no UTF-8 (or were cut in the middle) become '?'. */
static void make_harmless(char *text) {
    size_t length = strlen(text);
    for (size_t at = 0; at < length;) {
        uint32_t point = 0;
        int size = utf8_next(text + at, length - at, &point);
        if (size == 0 || point < 0x20 || (point >= 0x7f && point < 0xa0)) {
            size = size == 0 ? 1 : size;
            memset(text + at, '?', (size_t)size);
        }
        at += (size_t)size;
    }
}

int error_set(Error *error, ErrorGrade grade, int code, const char *format, ...) {
    if (error == NULL)
        return -1;
    va_list arguments;
    va_start(arguments, format);
    error->grade = grade;
    error->code = code;
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    make_harmless(error->text);
    return -1;
}

void error_prefix(Error *error, const char *format, ...) {
    if (error == NULL)
        return;
    char old[ERROR_TEXT_MAX];
    memcpy(old, error->text, sizeof old);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    size_t at = length < 0 ? 0 : (size_t)length;
    if (at + 2 < sizeof error->text) {
        memcpy(error->text + at, ": ", 3);
        text_copy(error->text + at + 2, sizeof error->text - at - 2, old);
    }
    make_harmless(error->text);
}

void error_clear(Error *error) {
    if (error == NULL)
        return;
    error->grade = ERROR_NONE;
    error->code = 0;
    error->text[0] = 0;
}
