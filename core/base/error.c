#include "core/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* An operator's terminal must not obey what a stranger wrote (RULINGS 50). */
static void make_harmless(char *text) {
    for (unsigned char *byte = (unsigned char *)text; *byte != 0; byte++)
        if (*byte < 0x20 || *byte == 0x7f)
            *byte = '?';
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
    if (length >= 0 && (size_t)length < sizeof error->text)
        snprintf(error->text + length, sizeof error->text - (size_t)length, ": %s", old);
    make_harmless(error->text);
}

void error_clear(Error *error) {
    if (error == NULL)
        return;
    error->grade = ERROR_NONE;
    error->code = 0;
    error->text[0] = 0;
}
