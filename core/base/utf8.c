#include "core/base/utf8.h"

#include <string.h>

int utf8_next(const char *text, size_t length, uint32_t *ret_point) {
    const unsigned char *bytes = (const unsigned char *)text;
    if (bytes[0] < 0x80) {
        *ret_point = bytes[0];
        return 1;
    }
    int size = bytes[0] >= 0xf0 ? 4 : bytes[0] >= 0xe0 ? 3 : 2;
    static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (bytes[0] < 0xc2 || bytes[0] > 0xf4 || (size_t)size > length)
        return 0;
    uint32_t point = bytes[0] & (0x7fu >> size);
    for (int i = 1; i < size; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        point = point << 6 | (bytes[i] & 0x3f);
    }
    if (point < smallest[size] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
        return 0;
    *ret_point = point;
    return size;
}

bool utf8_valid(const char *text, size_t length) {
    for (size_t at = 0; at < length;) {
        uint32_t point;
        int size = utf8_next(text + at, length - at, &point);
        if (size == 0)
            return false;
        at += (size_t)size;
    }
    return true;
}

bool utf8_append(Str *str, uint32_t point) {
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
        point = 0xfffd;
    char bytes[4];
    size_t size = 0;
    if (point < 0x80) {
        bytes[size++] = (char)point;
    } else if (point < 0x800) {
        bytes[size++] = (char)(0xc0 | point >> 6);
        bytes[size++] = (char)(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
        bytes[size++] = (char)(0xe0 | point >> 12);
        bytes[size++] = (char)(0x80 | (point >> 6 & 0x3f));
        bytes[size++] = (char)(0x80 | (point & 0x3f));
    } else {
        bytes[size++] = (char)(0xf0 | point >> 18);
        bytes[size++] = (char)(0x80 | (point >> 12 & 0x3f));
        bytes[size++] = (char)(0x80 | (point >> 6 & 0x3f));
        bytes[size++] = (char)(0x80 | (point & 0x3f));
    }
    return str_append_bytes(str, bytes, size);
}

size_t utf8_length(const char *text) {
    size_t count = 0;
    for (; *text != 0; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}
