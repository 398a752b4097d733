/* Str: the one growing string, born with a maximum it never passes.
 *
 * Bytes, always NUL-terminated behind `length`; may hold NUL bytes itself. An append that
 * would pass the maximum (or finds no memory) appends nothing, sets `overflowed` and
 * returns false; the flag stays until str_clear(), so a caller may append many pieces and
 * look once at the end. Owned by whoever called str_init(); str_free() takes an empty one. */
#ifndef EPISTLE_CORE_BASE_STR_H
#define EPISTLE_CORE_BASE_STR_H

#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>

typedef struct Str {
    char *data; /* never NULL after str_init: an empty one points at "" */
    size_t length;
    size_t capacity;
    size_t maximum; /* of length, without the NUL */
    bool overflowed;
} Str;

void str_init(Str *str, size_t maximum);
void str_free(Str *str);
void str_clear(Str *str);

bool str_append(Str *str, const char *text);
bool str_append_bytes(Str *str, const void *bytes, size_t length);
bool str_append_char(Str *str, char byte);
bool str_append_repeated(Str *str, char byte, size_t count);
bool str_printf(Str *str, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool str_vprintf(Str *str, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

/* Cuts to at most `length` bytes. */
void str_truncate(Str *str, size_t length);

/* Removes blanks (space, tab, CR, LF) from the end. */
void str_trim_end(Str *str);

/* Hands the buffer to the caller, who frees it with free(); the Str is empty afterwards.
 * NULL if it had overflowed. */
char *str_take(Str *str);

/* Helpers on plain C strings; ASCII case only, NULL is not allowed. */
bool text_equal_nocase(const char *left, const char *right);
bool text_starts_nocase(const char *text, const char *prefix);
bool text_blank(const char *text); /* nothing but space, tab, CR, LF */

/* Copies at most size-1 bytes and terminates; false if it had to cut. Size 0: nothing is written. */
bool text_copy(char *target, size_t size, const char *source);

#endif
