#include "daemon/inbox/decode.h"

#include "core/base/encode.h"

#include <string.h>

/* The byte that `=XX` at `at` stands for, or -1. */
static int escape_at(const char *text, size_t size, size_t at) {
    if (size - at < 3)
        return -1;
    int high = hex_value(text[at + 1]), low = hex_value(text[at + 2]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

static size_t skip_blanks(const char *text, size_t size, size_t at) {
    while (at < size && (text[at] == ' ' || text[at] == '\t'))
        at++;
    return at;
}

/* Where the line end at `at` ends; `at` itself if there is none. */
static size_t skip_line_end(const char *text, size_t size, size_t at) {
    if (at < size && text[at] == '\r')
        at++;
    return at < size && text[at] == '\n' ? at + 1 : at;
}

bool decode_quoted_printable(const char *text, size_t size, Str *ret_bytes) {
    for (size_t at = 0; at < size && !ret_bytes->overflowed;) {
        char byte = text[at];
        if (byte == '=') {
            int value = escape_at(text, size, at);
            if (value >= 0) {
                str_append_char(ret_bytes, (char)value);
                at += 3;
                continue;
            }
            size_t end = skip_blanks(text, size, at + 1);
            size_t next = skip_line_end(text, size, end);
            if (next > end || end == size) {
                at = next;
                continue;
            }
        } else if (byte == ' ' || byte == '\t') {
            size_t end = skip_blanks(text, size, at);
            if (end < size && text[end] != '\r' && text[end] != '\n')
                str_append_bytes(ret_bytes, text + at, end - at);
            at = end;
            continue;
        }
        str_append_char(ret_bytes, byte);
        at++;
    }
    return !ret_bytes->overflowed;
}

static int base64_value(char digit) {
    if (digit >= 'A' && digit <= 'Z')
        return digit - 'A';
    if (digit >= 'a' && digit <= 'z')
        return digit - 'a' + 26;
    if (digit >= '0' && digit <= '9')
        return digit - '0' + 52;
    return digit == '+' ? 62 : digit == '/' ? 63 : -1;
}

bool decode_base64(const char *text, size_t size, Str *ret_bytes) {
    unsigned bits = 0;
    int digits = 0;
    for (size_t at = 0; at < size && !ret_bytes->overflowed; at++) {
        int value = base64_value(text[at]);
        if (value < 0 && text[at] != '=')
            continue;
        if (value >= 0) {
            bits = bits << 6 | (unsigned)value;
            digits++;
        }
        if (digits >= 2 && value >= 0) /* each digit from the second on completes a byte */
            str_append_char(ret_bytes, (char)(bits >> (6 - 2 * (digits - 1)) & 0xff));
        if (value < 0 || digits == 4)
            digits = 0;
    }
    return !ret_bytes->overflowed;
}

bool decode_q_word(const char *text, size_t size, Str *ret_bytes) {
    for (size_t at = 0; at < size && !ret_bytes->overflowed; at++) {
        int value = text[at] == '=' ? escape_at(text, size, at) : -1;
        if (value >= 0)
            at += 2;
        str_append_char(ret_bytes, value >= 0 ? (char)value : text[at] == '_' ? ' ' : text[at]);
    }
    return !ret_bytes->overflowed;
}

/* uuencode (POSIX), as some old programs still label a part: lines behind "begin", until "end". */
static bool decode_uu(const char *text, size_t size, Str *ret_bytes) {
    bool begun = false;
    for (size_t at = 0; at < size;) {
        const char *line = text + at;
        const char *newline = memchr(line, '\n', size - at);
        size_t length = newline != NULL ? (size_t)(newline - line) : size - at;
        at += length + 1;
        if (!begun) {
            begun = length >= 6 && memcmp(line, "begin ", 6) == 0;
            continue;
        }
        size_t bytes = length > 0 ? (size_t)((line[0] - 32) & 63) : 0;
        if (bytes == 0 || (length >= 3 && memcmp(line, "end", 3) == 0))
            break;
        for (size_t i = 0, digit = 1; i < bytes; i++, digit += i % 3 == 0 ? 2 : 1) {
            if (digit + 1 >= length)
                break;
            unsigned high = (unsigned)(line[digit] - 32) & 63, low = (unsigned)(line[digit + 1] - 32) & 63;
            unsigned shift = 2 * (unsigned)(i % 3 + 1);
            str_append_char(ret_bytes, (char)((high << shift | low >> (6 - shift)) & 0xff));
        }
    }
    return begun ? !ret_bytes->overflowed : str_append_bytes(ret_bytes, text, size);
}

bool decode_transfer(const char *encoding, const char *text, size_t size, Str *ret_bytes) {
    if (encoding == NULL)
        encoding = "";
    while (*encoding == ' ' || *encoding == '\t' || *encoding == '"')
        encoding++;
    if (text_starts_nocase(encoding, "base64"))
        return decode_base64(text, size, ret_bytes);
    if (text_starts_nocase(encoding, "quoted-printable"))
        return decode_quoted_printable(text, size, ret_bytes);
    if (text_starts_nocase(encoding, "x-uu") || text_starts_nocase(encoding, "uuencode"))
        return decode_uu(text, size, ret_bytes);
    return str_append_bytes(ret_bytes, text, size);
}
