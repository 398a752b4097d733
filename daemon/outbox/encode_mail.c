#include "daemon/outbox/encode_mail.h"

#include "core/base/utf8.h"

#include <stdint.h>
#include <string.h>

static bool all_of(const char *text, size_t length, const char *forbidden) {
    for (size_t i = 0; i < length; i++)
        if (text[i] <= 0x20 || text[i] >= 0x7f || strchr(forbidden, text[i]) != NULL)
            return false;
    return length > 0;
}

bool mail_address_good(const char *address) {
    const char *at = strchr(address, '@');
    return at != NULL && strlen(address) <= MAIL_ADDRESS_MAX && all_of(address, (size_t)(at - address), "<>()[],;:\\\"@") &&
           all_of(at + 1, strlen(at + 1), "<>()[],;:\\\"@") && at[1] != '.' && strstr(at, "..") == NULL;
}

bool mail_id_good(const char *id) {
    const char *at = strchr(id, '@');
    return at != NULL && strlen(id) <= MAIL_ID_MAX && all_of(id, (size_t)(at - id), "<>()[],;:\\\"@") &&
           all_of(at + 1, strlen(at + 1), "<>(),;\\\"@");
}

/* One code point that may stand in a header; controls become blanks, broken bytes U+FFFD. */
static size_t next_point(const char *text, size_t length, uint32_t *ret_point) {
    int size = utf8_next(text, length, ret_point);
    if (size == 0) {
        *ret_point = 0xfffd;
        return 1;
    }
    if (*ret_point < 0x20 || (*ret_point >= 0x7f && *ret_point < 0xa0) || *ret_point == 0x2028 || *ret_point == 0x2029)
        *ret_point = ' ';
    return (size_t)size;
}

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void base64_write(Str *out, const unsigned char *bytes, size_t length) {
    for (size_t i = 0; i < length; i += 3) {
        uint32_t group = (uint32_t)bytes[i] << 16;
        if (i + 1 < length)
            group |= (uint32_t)bytes[i + 1] << 8;
        if (i + 2 < length)
            group |= bytes[i + 2];
        str_append_char(out, base64_digits[group >> 18]);
        str_append_char(out, base64_digits[group >> 12 & 63]);
        str_append_char(out, i + 1 < length ? base64_digits[group >> 6 & 63] : '=');
        str_append_char(out, i + 2 < length ? base64_digits[group & 63] : '=');
    }
}

/* Encoded words of at most 75 columns, each of whole characters (RFC 2047, 2 and 5), one a line. */
static void encoded_words(Str *out, size_t column, const char *text) {
    enum { OVERHEAD = 12 }; /* =?UTF-8?B? and ?= */
    size_t length = strlen(text), at = 0;
    do {
        char piece[64];
        size_t size = 0;
        while (at < length) {
            uint32_t point;
            size_t taken = next_point(text + at, length - at, &point);
            Str letter;
            str_init(&letter, 8);
            utf8_append(&letter, point);
            bool fits = column + OVERHEAD + (size + letter.length + 2) / 3 * 4 <= MAIL_LINE_MAX && size + letter.length <= sizeof piece;
            if (fits || size == 0) {
                memcpy(piece + size, letter.data, letter.length);
                size += letter.length;
                at += taken;
            }
            str_free(&letter);
            if (!fits)
                break;
        }
        str_append(out, "=?UTF-8?B?");
        base64_write(out, (const unsigned char *)piece, size);
        str_append(out, "?=");
        if (at < length)
            str_append(out, "\r\n ");
        column = 1;
    } while (at < length);
}

/* Plain ASCII that a fold at its blanks leaves as it is, and that nobody takes for an encoded word. */
static bool field_plain(const char *text) {
    size_t word = 0;
    if (*text == ' ' || strstr(text, "=?") != NULL)
        return false;
    for (const char *at = text; *at != 0; at++) {
        if (*at < 0x20 || *at >= 0x7f || (*at == ' ' && (at[1] == ' ' || at[1] == 0)))
            return false;
        word = *at == ' ' ? 0 : word + 1;
        if (word > 60)
            return false;
    }
    return true;
}

bool encode_text_field(Str *out, const char *field, const char *text) {
    str_printf(out, "%s: ", field);
    size_t column = strlen(field) + 2;
    if (!field_plain(text)) {
        encoded_words(out, column, text);
    } else {
        bool first = true;
        for (const char *word = text; *word != 0;) {
            size_t length = strcspn(word, " ");
            if (!first && column + 1 + length > MAIL_LINE_MAX) {
                str_append(out, "\r\n");
                column = 0;
            }
            if (!first) {
                str_append_char(out, ' ');
                column++;
            }
            str_append_bytes(out, word, length);
            column += length;
            word += length + (word[length] == ' ');
            first = false;
        }
    }
    return str_append(out, "\r\n");
}

bool encode_address_field(Str *out, const char *field, const char *name, const char *address) {
    size_t start = out->length;
    str_printf(out, "%s: ", field);
    if (*name == 0) {
        str_printf(out, "%s\r\n", address);
        return !out->overflowed;
    }
    if (field_plain(name) && strlen(field) + strlen(name) <= MAIL_LINE_MAX - 10) {
        str_append_char(out, '"');
        for (const char *at = name; *at != 0; at++) {
            if (*at == '"' || *at == '\\')
                str_append_char(out, '\\');
            str_append_char(out, *at);
        }
        str_append_char(out, '"');
    } else {
        encoded_words(out, strlen(field) + 2, name);
    }
    size_t column = 0;
    for (size_t at = out->length; at > start && out->data[at - 1] != '\n'; at--)
        column++;
    str_append(out, column + 3 + strlen(address) > MAIL_LINE_MAX ? "\r\n <" : " <");
    str_append(out, address);
    return str_append(out, ">\r\n");
}

bool encode_ids_field(Str *out, const char *field, const char *const *ids, size_t count) {
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (ids[i] == NULL || !mail_id_good(ids[i]))
            continue;
        if (!any)
            str_printf(out, "%s:", field);
        str_printf(out, "%s <%s>", any ? "\r\n" : "", ids[i]);
        any = true;
    }
    return any ? str_append(out, "\r\n") : true;
}

bool encode_parameter(Str *out, const char *name, const char *value) {
    bool plain = strlen(value) <= 60;
    for (const char *at = value; *at != 0; at++)
        plain = plain && *at >= 0x20 && *at < 0x7f && *at != '"' && *at != '\\';
    if (plain)
        return str_printf(out, ";\r\n %s=\"%s\"", name, value);
    str_printf(out, ";\r\n %s*0*=UTF-8''", name);
    size_t column = strlen(name) + 13;
    int part = 0;
    for (const unsigned char *at = (const unsigned char *)value; *at != 0; at++) {
        if (column + 4 > MAIL_LINE_MAX) {
            part++;
            str_printf(out, ";\r\n %s*%d*=", name, part);
            column = strlen(name) + 8;
        }
        bool safe = (*at >= '0' && *at <= '9') || (*at >= 'A' && *at <= 'Z') || (*at >= 'a' && *at <= 'z') || *at == '-' || *at == '.' || *at == '_';
        str_printf(out, safe ? "%c" : "%%%02X", *at);
        column += safe ? 1 : 3;
    }
    return !out->overflowed;
}

bool mail_text_plain(const char *text) {
    size_t column = 0;
    for (const char *at = text; *at != 0; at++) {
        if (column == 0 && (*at == '.' || strncmp(at, "From ", 5) == 0))
            return false;
        if (*at == '\n') {
            if (column > 0 && at[-1] == ' ')
                return false;
            column = 0;
            continue;
        }
        if (*at < 0x20 || *at >= 0x7f || ++column > MAIL_LINE_MAX)
            return false;
    }
    return column == 0; /* whole lines only */
}

bool encode_plain(Str *out, const char *text) {
    while (*text != 0) {
        size_t length = strcspn(text, "\n");
        str_append_bytes(out, text, length);
        str_append(out, "\r\n");
        text += length + (text[length] == '\n');
    }
    return !out->overflowed;
}

bool encode_quoted_printable(Str *out, const char *text) {
    size_t column = 0;
    for (const unsigned char *at = (const unsigned char *)text; *at != 0; at++) {
        if (*at == '\n') {
            str_append(out, "\r\n");
            column = 0;
            continue;
        }
        bool line_end = at[1] == '\n' || at[1] == 0;
        bool safe = *at > 0x20 && *at < 0x7f && *at != '=';
        if (*at == ' ')
            safe = !line_end;
        size_t width = safe ? 1 : 3;
        /* the last column is for the '=' of a soft break; whole characters stay together where they fit */
        size_t whole = width;
        if (*at >= 0xc0)
            for (const unsigned char *more = at + 1; (*more & 0xc0) == 0x80; more++)
                whole += 3;
        if (column + (whole > 12 ? width : whole) > MAIL_LINE_MAX - 1) {
            str_append(out, "=\r\n");
            column = 0;
        }
        /* "From " is changed by mbox, a dot by careless SMTP */
        if (column == 0 && (*at == '.' || strncmp((const char *)at, "From ", 5) == 0))
            safe = false;
        str_printf(out, safe ? "%c" : "=%02X", *at);
        column += safe ? 1 : 3;
    }
    if (column > 0)
        str_append(out, "=\r\n"); /* the text ends without a line end: so does what is read */
    return !out->overflowed;
}

bool encode_base64(Str *out, const void *bytes, size_t length) {
    const unsigned char *at = bytes;
    while (length > 0) {
        size_t size = length < 57 ? length : 57;
        base64_write(out, at, size);
        str_append(out, "\r\n");
        at += size;
        length -= size;
    }
    return !out->overflowed;
}
