#include "daemon/inbox/charset.h"

#include "core/base/utf8.h"

#include <string.h>
#include <unicode/ucnv.h>

enum { CHARSET_NAME_MAX = 60 /* longest registered name has 45 */ };

/* Names that ICU does not know or takes too literally, and what their senders mean. "" means: guess. */
static const struct { const char *name, *meant; } aliases[] = {
    { "us-ascii", "" }, { "ascii", "" }, { "ansi_x3.4-1968", "" }, { "646", "" }, { "iso-8859-1", "windows-1252" },
    { "iso8859-1", "windows-1252" }, { "iso_8859-1", "windows-1252" }, { "latin1", "windows-1252" }, { "latin-1", "windows-1252" },
    { "l1", "windows-1252" }, { "iso-8859-9", "windows-1254" }, { "iso-8859-11", "windows-874" },
    { "unicode-1-1-utf-7", "utf-7" }, { "unicode-1-1-utf-8", "utf-8" }, { "unicode", "utf-16" }, { "utf", "utf-8" },
    { "utf8mb4", "utf-8" }, { "x-utf-8", "utf-8" }, { "_iso-2022-jp", "iso-2022-jp" }, { "_iso-2022-jp$esc", "iso-2022-jp" },
    { "x-iso-2022-jp", "iso-2022-jp" }, { "iso-2022-jp", "iso-2022-jp-2" }, { "iso2022_jp_2", "iso-2022-jp-2" }, { "gb2312", "gb18030" },
    { "gb_2312-80", "gb18030" }, { "x-gbk", "gb18030" }, { "gbk", "gb18030" }, { "cp936", "gb18030" },
    { "x-sjis", "windows-31j" }, { "shift_jis", "windows-31j" }, { "shift-jis", "windows-31j" }, { "sjis", "windows-31j" },
    { "x-euc-jp", "euc-jp" }, { "x-euc-kr", "windows-949" }, { "euc-kr", "windows-949" }, { "ks_c_5601-1987", "windows-949" },
    { "ks_c_5601", "windows-949" }, { "ksc5601", "windows-949" }, { "x-windows-949", "windows-949" }, { "hz-gb-2312", "hz" }, { "x-big5", "big5" },
    { "win-1250", "windows-1250" }, { "win-1251", "windows-1251" }, { "win-1252", "windows-1252" },
    { "x-cp1250", "windows-1250" }, { "x-cp1251", "windows-1251" }, { "x-cp1252", "windows-1252" },
    { "cp-850", "cp850" }, { "cp-866", "cp866" }, { "cp-1251", "windows-1251" }, { "cp-1252", "windows-1252" },
    { "koi8", "koi8-r" }, { "x-mac-roman", "macintosh" }, { "x-macroman", "macintosh" }, { "x-mac-cyrillic", "x-mac-cyrillic" },
    { "x-unknown", "" }, { "unknown", "" }, { "unknown-8bit", "" }, { "x-user-defined", "" }, { "8bit", "" },
    { "7bit", "" }, { "binary", "" }, { "ansi", "windows-1252" }, { "default", "" }, { "default_charset", "" },
    { "none", "" }, { "iso-8859-8-i", "iso-8859-8" }, { "iso-8859-6-i", "iso-8859-6" },
};

/* Lower case, without blanks, quotes and RFC 2231's language; false if it cannot be a name. */
static bool name_normalise(const char *charset, char ret_name[CHARSET_NAME_MAX]) {
    size_t length = 0;
    for (; *charset != 0; charset++) {
        char byte = *charset;
        if (byte == ' ' || byte == '\t' || byte == '"' || byte == '\'')
            continue;
        if (byte == ';' || byte == '*')
            break;
        if (byte < '!' || byte > '~' || length + 1 >= CHARSET_NAME_MAX)
            return false;
        ret_name[length++] = byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
    }
    ret_name[length] = 0;
    return length > 0;
}

/* The converter's name to hand to ICU, "" for guessing; `name` is scratch. */
static const char *name_meant(const char *charset, char name[CHARSET_NAME_MAX]) {
    if (charset == NULL || !name_normalise(charset, name))
        return "";
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (strcmp(aliases[i].name, name) == 0)
            return aliases[i].meant;
    /* ICU itself would read a comma as options ("utf-8,version=1") and take paths apart. */
    return strpbrk(name, ",/\\=") != NULL ? "" : name;
}

static UConverter *converter_open(const char *name) {
    UErrorCode status = U_ZERO_ERROR;
    UConverter *converter = ucnv_open(name, &status);
    if (U_SUCCESS(status))
        return converter;
    ucnv_close(converter);
    return NULL;
}

bool charset_known(const char *charset) {
    char name[CHARSET_NAME_MAX];
    const char *meant = name_meant(charset, name);
    UConverter *converter = meant[0] != 0 ? converter_open(meant) : NULL;
    if (converter == NULL)
        return false;
    ucnv_close(converter);
    return true;
}

/* Appends UTF-16 units; *high carries a surrogate's first half from one call to the next. */
static void append_units(const UChar *units, size_t count, UChar *high, Str *ret_text) {
    for (size_t i = 0; i < count; i++) {
        UChar unit = units[i];
        if (*high != 0 && U16_IS_TRAIL(unit)) {
            utf8_append(ret_text, (uint32_t)U16_GET_SUPPLEMENTARY(*high, unit));
            *high = 0;
            continue;
        }
        if (*high != 0)
            utf8_append(ret_text, 0xfffd);
        *high = U16_IS_LEAD(unit) ? unit : 0;
        if (*high == 0)
            utf8_append(ret_text, unit);
    }
}

static bool convert(UConverter *converter, const char *bytes, size_t size, Str *ret_text) {
    UChar units[2048];
    UChar high = 0;
    const char *source = bytes, *end = bytes + size;
    UErrorCode status;
    do {
        UChar *target = units;
        status = U_ZERO_ERROR;
        ucnv_toUnicode(converter, &target, units + sizeof units / sizeof units[0], &source, end, NULL, true, &status);
        append_units(units, (size_t)(target - units), &high, ret_text);
    } while (status == U_BUFFER_OVERFLOW_ERROR && !ret_text->overflowed);
    if (high != 0)
        utf8_append(ret_text, 0xfffd);
    return U_SUCCESS(status) && !ret_text->overflowed;
}

/* Copies UTF-8, with U+FFFD for each byte that is none. */
static bool copy_repaired(const char *bytes, size_t size, Str *ret_text) {
    for (size_t at = 0; at < size && !ret_text->overflowed;) {
        uint32_t point;
        int length = utf8_next(bytes + at, size - at, &point);
        if (length == 0)
            utf8_append(ret_text, 0xfffd);
        else
            str_append_bytes(ret_text, bytes + at, (size_t)length);
        at += length == 0 ? 1 : (size_t)length;
    }
    return !ret_text->overflowed;
}

/* Is at least one multi-byte character well-formed? Then the text was meant as UTF-8 and got damaged. */
static bool looks_like_utf8(const char *bytes, size_t size) {
    for (size_t at = 0; at < size; at++) {
        uint32_t point;
        if ((unsigned char)bytes[at] >= 0xc2 && utf8_next(bytes + at, size - at, &point) > 1)
            return true;
    }
    return false;
}

bool charset_to_utf8(const char *charset, const char *bytes, size_t size, Str *ret_text) {
    if (size == 0)
        return !ret_text->overflowed;
    char name[CHARSET_NAME_MAX];
    const char *meant = name_meant(charset, name);
    bool utf8 = strcmp(meant, "utf-8") == 0 || strcmp(meant, "utf8") == 0;
    if ((meant[0] == 0 || utf8) && utf8_valid(bytes, size))
        return str_append_bytes(ret_text, bytes, size);
    if (utf8 && looks_like_utf8(bytes, size))
        return copy_repaired(bytes, size, ret_text);
    UConverter *converter = meant[0] != 0 && !utf8 ? converter_open(meant) : NULL;
    if (converter == NULL && utf8_valid(bytes, size))
        return str_append_bytes(ret_text, bytes, size);
    if (converter == NULL)
        converter = converter_open("windows-1252");
    if (converter == NULL)
        return copy_repaired(bytes, size, ret_text);
    bool done = convert(converter, bytes, size, ret_text);
    ucnv_close(converter);
    return done;
}

static bool line_break(uint32_t point) {
    return point == '\n' || point == '\r' || point == 0x85 || point == 0x2028 || point == 0x2029;
}

bool charset_clean(const char *text, size_t size, Str *ret_text) {
    for (size_t at = 0; at < size && !ret_text->overflowed;) {
        uint32_t point = 0xfffd;
        int length = utf8_next(text + at, size - at, &point);
        if (length == 0) {
            point = 0xfffd;
            length = 1;
        }
        if (line_break(point)) {
            if (point == '\r' && at + 1 < size && text[at + 1] == '\n')
                length = 2;
            str_append_char(ret_text, '\n');
        } else if (point != '\t' && (point < 0x20 || (point >= 0x7f && point < 0xa0) || (point == 0xfeff && at == 0))) {
            /* dropped */
        } else {
            utf8_append(ret_text, point);
        }
        at += (size_t)length;
    }
    return !ret_text->overflowed;
}

void charset_warm_up(void) {
    static const char *const usual[] = { "windows-1250", "windows-1251", "windows-1252", "iso-8859-2", "iso-8859-15", "koi8-r",
                                         "utf-7", "utf-16", "gb18030", "big5", "windows-31j", "euc-jp", "iso-2022-jp-2",
                                         "windows-949", "hz" };
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        ucnv_close(converter_open(usual[i])); /* ICU keeps what it loaded */
}
