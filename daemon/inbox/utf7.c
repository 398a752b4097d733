#include "daemon/inbox/utf7.h"

#include "core/base/utf8.h"

#include <stdint.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+,"; /* BASE64 with a comma for the slash */

typedef struct Shifted { /* bits of UTF-16 that have not filled a digit yet */
    uint32_t bits;
    int count;
} Shifted;

static bool put_unit(Str *name, Shifted *shifted, uint32_t unit) {
    shifted->bits = shifted->bits << 16 | unit;
    shifted->count += 16;
    bool good = true;
    while (shifted->count >= 6) {
        shifted->count -= 6;
        good = good && str_append_char(name, digits[shifted->bits >> shifted->count & 63]);
    }
    shifted->bits &= (1u << shifted->count) - 1;
    return good;
}

static bool put_point(Str *name, Shifted *shifted, uint32_t point) {
    if (point < 0x10000)
        return put_unit(name, shifted, point);
    point -= 0x10000;
    return put_unit(name, shifted, 0xD800 | point >> 10) && put_unit(name, shifted, 0xDC00 | (point & 0x3FF));
}

static bool end_shift(Str *name, const Shifted *shifted) {
    bool good = true;
    if (shifted->count > 0)
        good = str_append_char(name, digits[shifted->bits << (6 - shifted->count) & 63]);
    return good && str_append_char(name, '-');
}

bool utf7_append(Str *ret_name, const char *name) {
    size_t length = strlen(name);
    Shifted shifted = { 0, 0 };
    bool in_shift = false, good = utf8_valid(name, length);
    for (size_t at = 0; good && at < length;) {
        uint32_t point = 0;
        at += (size_t)utf8_next(name + at, length - at, &point);
        if (point < 0x20 || (point >= 0x7F && point < 0xA0))
            return false;
        bool plain = point < 0x7F;
        if (plain && in_shift)
            good = end_shift(ret_name, &shifted);
        if (!plain && !in_shift) {
            shifted = (Shifted){ 0, 0 };
            good = str_append_char(ret_name, '&');
        }
        in_shift = !plain;
        if (plain)
            good = good && str_append_char(ret_name, (char)point) && (point != '&' || str_append_char(ret_name, '-'));
        else
            good = good && put_point(ret_name, &shifted, point);
    }
    return good && (!in_shift || end_shift(ret_name, &shifted));
}
