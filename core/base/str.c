#include "core/base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char empty[1]; /* what an empty Str points at; never written */

void str_init(Str *str, size_t maximum) {
    *str = (Str){ .data = empty, .maximum = maximum };
}

void str_free(Str *str) {
    if (str == NULL)
        return;
    if (str->data != empty)
        free(str->data);
    str_init(str, str->maximum);
}

void str_clear(Str *str) {
    str->length = 0;
    str->overflowed = false;
    if (str->data != empty)
        str->data[0] = 0;
}

static bool reserve(Str *str, size_t more) {
    if (str->overflowed || more > str->maximum - str->length) {
        str->overflowed = true;
        return false;
    }
    size_t need = str->length + more + 1;
    if (need <= str->capacity)
        return true;
    size_t capacity = str->capacity < 64 ? 64 : str->capacity * 2;
    if (capacity < need)
        capacity = need;
    char *data = realloc(str->data == empty ? NULL : str->data, capacity);
    if (data == NULL) {
        str->overflowed = true;
        return false;
    }
    str->data = data;
    str->capacity = capacity;
    return true;
}

bool str_append_bytes(Str *str, const void *bytes, size_t length) {
    if (!reserve(str, length))
        return false;
    if (length > 0)
        memcpy(str->data + str->length, bytes, length);
    str->length += length;
    str->data[str->length] = 0;
    return true;
}

bool str_append(Str *str, const char *text) {
    return str_append_bytes(str, text, strlen(text));
}

bool str_append_char(Str *str, char byte) {
    return str_append_bytes(str, &byte, 1);
}

bool str_append_repeated(Str *str, char byte, size_t count) {
    if (!reserve(str, count))
        return false;
    memset(str->data + str->length, byte, count);
    str->length += count;
    str->data[str->length] = 0;
    return true;
}

bool str_vprintf(Str *str, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0 || !reserve(str, (size_t)length)) {
        str->overflowed = true;
        return false;
    }
    vsnprintf(str->data + str->length, (size_t)length + 1, format, arguments);
    str->length += (size_t)length;
    return true;
}

bool str_printf(Str *str, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    bool done = str_vprintf(str, format, arguments);
    va_end(arguments);
    return done;
}

void str_truncate(Str *str, size_t length) {
    if (length >= str->length)
        return;
    str->length = length;
    str->data[length] = 0;
}

static bool blank(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

void str_trim_end(Str *str) {
    size_t length = str->length;
    while (length > 0 && blank(str->data[length - 1]))
        length--;
    str_truncate(str, length);
}

char *str_take(Str *str) {
    char *taken = NULL;
    if (!str->overflowed && reserve(str, 0)) {
        taken = str->data;
        taken[str->length] = 0;
        str->data = empty;
    }
    str_free(str);
    return taken;
}

static char lower(char byte) {
    return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

bool text_equal_nocase(const char *left, const char *right) {
    while (*left != 0 && lower(*left) == lower(*right)) {
        left++;
        right++;
    }
    return lower(*left) == lower(*right);
}

bool text_starts_nocase(const char *text, const char *prefix) {
    for (; *prefix != 0; text++, prefix++)
        if (lower(*text) != lower(*prefix))
            return false;
    return true;
}

bool text_blank(const char *text) {
    while (blank(*text))
        text++;
    return *text == 0;
}

bool text_copy(char *target, size_t size, const char *source) {
    if (size == 0)
        return false;
    size_t length = strlen(source);
    bool whole = length < size;
    if (!whole)
        length = size - 1;
    memcpy(target, source, length);
    target[length] = 0;
    return whole;
}
