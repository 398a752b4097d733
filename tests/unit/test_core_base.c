/* core/base: SHA-256 against NIST's vectors, instants against known days, strings and arenas at their ends. */
#include "core/base/arena.h"
#include "core/base/encode.h"
#include "core/base/error.h"
#include "core/base/instant.h"
#include "core/base/sha256.h"
#include "core/base/str.h"
#include "core/base/utf8.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* FIPS 180-4 examples and NIST's CAVP byte vectors (SHA256ShortMsg, SHA256LongMsg). */
static void test_sha256(void **state) {
    (void)state;
    static const struct { const char *message, *digest; } texts[] = {
        { "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
        { "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
        { "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
        { "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
          "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1" },
    };
    static const struct { const char *message, *digest; } bytes[] = {
        { "d3", "28969cdfa74a12c82f3bad960b0b000aca2ac329deea5c2328ebc6f2ba9802c1" },
        { "11af", "5ca7133fa735326081558ac312c620eeca9970d1e70a4b95533d956f072d1f98" },
        { "b4190e", "dff2e73091f6c05e528896c4c831b9448653dc2ff043528f6769437bc7b975c2" },
        { "74ba2521", "b16aa56be3880d18cd41e68384cf1ec8c17680c45a02b1575dc1518923ae8b0e" },
    };
    char hex[SHA256_HEX_SIZE];
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sha256_hex(texts[i].message, strlen(texts[i].message), hex);
        assert_string_equal(hex, texts[i].digest);
    }
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        uint8_t message[8];
        size_t length = strlen(bytes[i].message) / 2;
        assert_true(hex_read(bytes[i].message, message, length));
        sha256_hex(message, length, hex);
        assert_string_equal(hex, bytes[i].digest);
    }
}

/* A million times "a", in pieces of every size from 0 to 199: the same as at once. */
static void test_sha256_pieces(void **state) {
    (void)state;
    Sha256 sha;
    char piece[200], hex[SHA256_HEX_SIZE];
    uint8_t digest[SHA256_SIZE];
    memset(piece, 'a', sizeof piece);
    sha256_start(&sha);
    for (size_t done = 0, size = 0; done < 1000000; size = (size + 1) % 200) {
        size_t take = 1000000 - done < size ? 1000000 - done : size;
        sha256_add(&sha, piece, take);
        done += take;
    }
    sha256_finish(&sha, digest);
    hex_write(digest, sizeof digest, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    for (size_t length = 0; length < 200; length++) {
        uint8_t once[SHA256_SIZE];
        sha256(piece, length, once);
        sha256_start(&sha);
        for (size_t i = 0; i < length; i++)
            sha256_add(&sha, piece + i, 1);
        sha256_finish(&sha, digest);
        assert_memory_equal(once, digest, sizeof digest);
    }
}

static void test_instants(void **state) {
    (void)state;
    static const struct { const char *text; Instant instant; int weekday; } days[] = {
        { "1970-01-01T00:00:00Z", 0, 4 },           { "1969-12-31T23:59:59Z", -1, 3 },
        { "2000-02-29T12:00:00Z", 951825600, 2 },   { "1999-12-31T23:59:59Z", 946684799, 5 },
        { "2000-03-01T00:00:00Z", 951868800, 3 },   { "1900-03-01T00:00:00Z", -2203891200, 4 },
        { "2024-02-29T23:59:59Z", 1709251199, 4 },  { "2100-03-01T00:00:00Z", 4107542400, 1 },
        { "2026-11-30T02:09:11Z", 1796004551, 1 },  { "2038-01-19T03:14:08Z", 2147483648, 2 },
        { "0000-01-01T00:00:00Z", -62167219200, 6 }, { "9999-12-31T23:59:59Z", 253402300799, 5 },
    };
    for (size_t i = 0; i < sizeof days / sizeof days[0]; i++) {
        Instant instant = INSTANT_NONE;
        char text[INSTANT_TEXT_SIZE];
        assert_true(instant_read(days[i].text, &instant));
        assert_int_equal(instant, days[i].instant);
        instant_write(instant, text);
        assert_string_equal(text, days[i].text);
        CivilTime civil = instant_civil(instant);
        assert_int_equal(civil.weekday, days[i].weekday);
        assert_int_equal(civil_instant(&civil), instant);
    }
}

/* Every day of 400 years and some: each follows the one before as a calendar says. */
static void test_calendar(void **state) {
    (void)state;
    static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    CivilTime day = { .year = 1899, .month = 1, .day = 1 };
    Instant instant = civil_instant(&day);
    int weekday = instant_civil(instant).weekday;
    for (; day.year < 2310; instant += SECONDS_PER_DAY, weekday = (weekday + 1) % 7) {
        CivilTime civil = instant_civil(instant + 86399);
        assert_true(civil.year == day.year && civil.month == day.month && civil.day == day.day);
        assert_true(civil.hour == 23 && civil.minute == 59 && civil.second == 59 && civil.weekday == weekday);
        bool leap = (day.year % 4 == 0 && day.year % 100 != 0) || day.year % 400 == 0;
        if (++day.day > lengths[day.month - 1] + (day.month == 2 && leap)) {
            day.day = 1;
            day.month++;
        }
        if (day.month > 12) {
            day.month = 1;
            day.year++;
        }
    }
}

static void test_rfc3339(void **state) {
    (void)state;
    static const struct { const char *text; Instant instant; } good[] = {
        { "2026-11-30T02:09:11+00:00", 1796004551 }, { "2026-11-30T03:09:11+01:00", 1796004551 },
        { "2026-11-29T20:39:11-05:30", 1796004551 }, { "2026-11-30t02:09:11z", 1796004551 },
        { "2026-11-30 02:09:11.999Z", 1796004551 },  { "2026-12-31T23:59:60Z", 1798761600 },
        { "2024-02-29T00:00:00Z", 1709164800 },
    };
    static const char *const bad[] = {
        "", "2026-11-30", "2026-11-30T02:09Z", "2026-11-30T02:09:11", "2026-11-30T02:09:11Zx", "2026-11-30T02:09:11 Z",
        "2026-11-31T00:00:00Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-00-10T00:00:00Z", "2026-13-10T00:00:00Z",
        "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "226-01-01T00:00:00Z",
        "2026-1-01T00:00:00Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+0100", "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00+01:60", "+2026-01-01T00:00:00Z", "20260101T000000Z", " 2026-01-01T00:00:00Z",
        "2026-11-30 02:09:11.:Z", "2026-11-30 02:09:11.9:Z", "2026-11-30T02:09:11+0x:00", "2026-11-30T02:09:11+01:0x",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        Instant instant = INSTANT_NONE;
        assert_true(instant_read(good[i].text, &instant));
        assert_int_equal(instant, good[i].instant);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        Instant instant = 77;
        if (instant_read(bad[i], &instant))
            fail_msg("“%s” was read", bad[i]);
        assert_int_equal(instant, 77);
    }
}

static void test_mail_dates(void **state) {
    (void)state;
    static const struct { const char *text; Instant instant; } good[] = {
        { "Mon, 30 Nov 2026 02:09:11 +0000", 1796004551 },
        { " Mon, 30 Nov 2026 03:09:11 +0100 (CET)", 1796004551 },
        { "30 Nov 2026 02:09:11 GMT", 1796004551 },
        { "30 Nov 26 02:09:11 UT", 1796004551 },
        { "Mon, 30 Nov 2026 02:09 +0000", 1796004540 },
        { "Sun, 29 Nov 2026 21:09:11 EST", 1796004551 },
        { "Sun, 29 Nov 2026 18:09:11 -0800", 1796004551 },
        { "Sun, 29 Nov 2026 19:09:11 PDT", 1796004551 },
        { "Mon,\r\n 30 nov 2026\r\n\t02:09:11 +0000", 1796004551 },
        { "Mon (a (nested) remark), 30 (of) Nov 2026 02 : 09 : 11 +0000", 1796004551 },
        { "Mon, 30 Nov 2026 02:09:11", 1796004551 },
        { "Mon, 30 Nov 2026 02:09:11 Z", 1796004551 },
        { "Thu, 1 Jan 1970 00:00:00 -0000", 0 },
        { "Sat, 1 Jan 100 00:00:00 +0000", 946684800 },
        { "1 Jan 70 00:00:00 +0000", 0 },
        { "mon , 30 Nov 2026 02:09:11 +0000", 1796004551 },
    };
    static const char *const bad[] = {
        "", "Mon", "Mon, ", "Mon, 30", "Mon, 30 Nov", "Mon, 30 Nov 2026", "Mon, 30 Nov 2026 02", "Mon, 30 Nov 2026 02:",
        "Mon, 31 Nov 2026 02:09:11 +0000", "Mon, 30 Nox 2026 02:09:11 +0000", "Mon, 30 Nov 2026 25:09:11 +0000",
        "Mon, 30 Nov 2026 02:09:11 +00", "Mon, 30 Nov 2026 02:09:11 +0060", "Mon, 30 Nov 2 02:09:11 +0000", "(Mon, 30 Nov 2026",
        "Mon, 30 November 2026 02:09:11 +0000", "2026-11-30T02:09:11Z",
        "Mon) 30 Nov 2026 02:09:11 +0000", "Mon[, 30 Nov 2026 02:09:11 +0000", "Mon{, 30 Nov 2026 02:09:11 +0000", "[Mon], 30 Nov 2026 02:09:11 +0000",
        "Mon, 30 Nov 2026 02:09: +0000", "{Mon}, 30 Nov 2026 02:09:11 +0000", ") 30 Nov 2026 02:09:11 +0000",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        Instant instant = INSTANT_NONE;
        if (!instant_read_mail(good[i].text, &instant) || instant != good[i].instant)
            fail_msg("“%s” is read as %lld", good[i].text, (long long)instant);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        Instant instant = 77;
        if (instant_read_mail(bad[i], &instant))
            fail_msg("“%s” was read", bad[i]);
        assert_int_equal(instant, 77);
    }
    char text[INSTANT_TEXT_SIZE];
    instant_write_mail(1796004551, text);
    assert_string_equal(text, "Mon, 30 Nov 2026 02:09:11 +0000");
    for (Instant instant = -3000000000; instant < 5000000000; instant += 7654321) {
        Instant again = INSTANT_NONE;
        instant_write_mail(instant, text);
        assert_true(instant_read_mail(text, &again));
        assert_int_equal(again, instant);
    }
}

static void test_instants_out_of_range(void **state) {
    (void)state;
    char text[INSTANT_TEXT_SIZE];
    instant_write(INSTANT_NONE, text);
    assert_string_equal(text, "0000-01-01T00:00:00Z");
    instant_write(INT64_MAX, text);
    assert_string_equal(text, "9999-12-31T23:59:59Z");
    instant_write_mail(INT64_MAX, text);
    assert_string_equal(text, "Fri, 31 Dec 9999 23:59:59 +0000");
    CivilTime civil = instant_civil(INSTANT_NONE); /* for the sanitizers */
    assert_in_range(civil.month, 1, 12);
    civil = instant_civil(INT64_MAX);
    assert_in_range(civil.day, 1, 31);
    assert_in_range(civil.weekday, 0, 6);
}

static void test_encode(void **state) {
    (void)state;
    uint8_t all[256], back[256];
    char hex[513];
    for (int i = 0; i < 256; i++)
        all[i] = (uint8_t)i;
    hex_write(all, sizeof all, hex);
    assert_int_equal(strlen(hex), 512);
    assert_memory_equal(hex, "000102", 6);
    assert_string_equal(hex + 506, "fdfeff");
    assert_true(hex_read(hex, back, sizeof back));
    assert_memory_equal(all, back, sizeof all);
    assert_true(hex_read("aBcD", back, 2));
    assert_int_equal(back[0] << 8 | back[1], 0xabcd);
    assert_true(hex_read("", back, 0));
    assert_false(hex_read("aBcDe", back, 2));
    assert_false(hex_read("aBc", back, 2));
    assert_false(hex_read("aBcg", back, 2));
    assert_false(hex_read("", back, 1));
    const char *digits = "abcdefghijklmnopqrstuvwxyz234567";
    int known = 0;
    for (unsigned value = 0; value < 32; value++) {
        assert_int_equal(base32_digit(value), digits[value]);
        assert_int_equal(base32_value(digits[value]), (int)value);
    }
    for (int byte = -128; byte < 128; byte++)
        known += base32_value((char)byte) >= 0;
    assert_int_equal(known, 26 + 26 + 6);
    assert_int_equal(base32_value('A'), 0);
    assert_int_equal(base32_value('Z'), 25);
}

static void test_str(void **state) {
    (void)state;
    Str str;
    str_init(&str, 10);
    assert_string_equal(str.data, "");
    str_truncate(&str, 0);
    str_trim_end(&str);
    assert_true(str_append(&str, "12345"));
    assert_true(str_append_char(&str, '6'));
    assert_true(str_printf(&str, "%d", 78));
    assert_false(str_append(&str, "9ab")); /* one too many: nothing of it */
    assert_string_equal(str.data, "12345678");
    assert_true(str.overflowed);
    assert_false(str_append(&str, "9")); /* would fit, but the text has a hole */
    assert_string_equal(str.data, "12345678");
    assert_null(str_take(&str));
    assert_false(str.overflowed);
    assert_true(str_append_repeated(&str, 'x', 10));
    assert_string_equal(str.data, "xxxxxxxxxx");
    assert_true(str_append_bytes(&str, "", 0));
    assert_false(str_append_char(&str, 'x'));
    str_clear(&str);
    assert_int_equal(str.length, 0);
    assert_string_equal(str.data, "");
    assert_true(str_append_bytes(&str, "a\0b \r\n\t", 7));
    str_trim_end(&str);
    assert_int_equal(str.length, 3);
    assert_memory_equal(str.data, "a\0b", 4);
    assert_false(str_printf(&str, "%08d", 1));
    assert_int_equal(str.length, 3);
    str_clear(&str);
    assert_true(str_printf(&str, "%s", ""));
    char *taken = str_take(&str);
    assert_string_equal(taken, "");
    free(taken);
    str_append(&str, "abc");
    taken = str_take(&str);
    assert_string_equal(taken, "abc");
    free(taken);
    assert_string_equal(str.data, "");
    str_free(&str);
    str_free(&str);
    str_free(NULL);

    str_init(&str, 0);
    assert_true(str_append(&str, ""));
    assert_false(str_append(&str, "a"));
    str_free(&str);

    str_init(&str, 100000);
    for (int i = 0; i < 10000; i++)
        assert_true(str_append(&str, "0123456789"));
    assert_int_equal(str.length, 100000);
    assert_false(str_append_char(&str, '!'));
    str_truncate(&str, 5);
    assert_string_equal(str.data, "01234");
    str_free(&str);
}

static void test_texts(void **state) {
    (void)state;
    assert_true(text_equal_nocase("RE: \xc3\x84", "re: \xc3\x84"));
    assert_false(text_equal_nocase("\xc3\x84", "\xc3\xa4")); /* ASCII only */
    assert_false(text_equal_nocase("abc", "ab"));
    assert_false(text_equal_nocase("ab", "abc"));
    assert_true(text_equal_nocase("", ""));
    assert_false(text_equal_nocase("@", "`")); /* they differ by the case bit and are no letters */
    assert_true(text_starts_nocase("Resign.", "rESIGN"));
    assert_true(text_starts_nocase("x", ""));
    assert_false(text_starts_nocase("res", "resign"));
    assert_true(text_blank(" \t\r\n"));
    assert_true(text_blank(""));
    assert_false(text_blank(" \v"));
    char target[4] = "zzz";
    assert_true(text_copy(target, sizeof target, "abc"));
    assert_string_equal(target, "abc");
    assert_false(text_copy(target, sizeof target, "defg"));
    assert_string_equal(target, "def");
    assert_false(text_copy(target, 1, "x"));
    assert_string_equal(target, "");
    assert_false(text_copy(target, 0, ""));
}

static void test_arena(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 100000);
    for (size_t size = 0; size < 300; size++) {
        unsigned char *piece = arena_alloc(&arena, size);
        assert_non_null(piece);
        assert_int_equal((uintptr_t)piece % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(piece[i], 0);
        memset(piece, 0xff, size);
    }
    assert_non_null(arena_alloc(&arena, 40000)); /* larger than a block */
    assert_string_equal(arena_copy(&arena, "abcdef", 3), "abc");
    assert_string_equal(arena_copy(&arena, NULL, 0), "");
    assert_string_equal(arena_printf(&arena, "%d-%s", 12, "x"), "12-x");
    assert_false(arena.exhausted);
    assert_null(arena_alloc(&arena, 90000));
    assert_true(arena.exhausted);
    assert_null(arena_alloc(&arena, 1)); /* stays so */
    assert_null(arena_printf(&arena, "x"));
    arena_free(&arena);
    assert_non_null(arena_alloc(&arena, 99000));
    arena_free(&arena);
    arena_free(&arena);

    arena_init(&arena, SIZE_MAX);
    assert_null(arena_alloc(&arena, SIZE_MAX));
    arena_free(&arena);
    assert_null(arena_alloc(&arena, SIZE_MAX - 7));
    arena_free(&arena);
    assert_null(arena_copy(&arena, "x", SIZE_MAX));
    arena_free(&arena);
}

/* Memory is zeroed again, exhaustion forgotten, and the limit the same. */
static void test_arena_reset(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 100000);
    arena_reset(&arena); /* of an empty one */
    for (int round = 0; round < 5; round++) {
        for (size_t size = 16; size < 90000; size = size * 3 + 16) {
            unsigned char *piece = arena_alloc(&arena, size);
            assert_non_null(piece);
            for (size_t i = 0; i < size; i++)
                assert_int_equal(piece[i], 0);
            memset(piece, 0xff, size);
        }
        assert_null(arena_alloc(&arena, 100000));
        assert_true(arena.exhausted);
        arena_reset(&arena);
        assert_false(arena.exhausted);
        assert_int_equal(arena.used, 0);
    }
    arena_free(&arena);
    assert_non_null(arena_alloc(&arena, 100000)); /* a large block alone is not kept */
    arena_reset(&arena);
    assert_null(arena.blocks);
    arena_free(&arena);
}

static void test_utf8(void **state) {
    (void)state;
    static const char *const bad[] = {
        "\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xe2\x82", "\xed\xa0\x80",
        "\xed\xbf\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf8\x88\x80\x80\x80",
        "\xff", "\xfe", "a\xe2\x82", "\xf0\x9f\x98",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(utf8_valid(bad[i], strlen(bad[i])));
    assert_true(utf8_valid("", 0));
    assert_true(utf8_valid("a\0b", 3));
    assert_false(utf8_valid("\xe2\x99\x98", 2)); /* cut by the length */
    Str str;
    str_init(&str, 64);
    for (uint32_t point = 0; point <= 0x10ffff; point++) {
        bool surrogate = point >= 0xd800 && point <= 0xdfff;
        uint32_t back = 0;
        str_clear(&str);
        assert_true(utf8_append(&str, point));
        int size = utf8_next(str.data, str.length, &back);
        if ((size_t)size != str.length || back != (surrogate ? 0xfffdu : point))
            fail_msg("U+%04X", (unsigned)point);
    }
    str_clear(&str);
    assert_true(utf8_append(&str, 0x110000));
    assert_string_equal(str.data, "\xef\xbf\xbd");
    str_free(&str);
    assert_int_equal(utf8_length("N\xc3\xa4he \xe2\x99\x98"), 6);
    assert_int_equal(utf8_length(""), 0);
}

static void test_error(void **state) {
    (void)state;
    Error error;
    error_clear(&error);
    assert_int_equal(error.grade, ERROR_NONE);
    assert_int_equal(error_set(&error, ERROR_LATER, 7, "line %d\n\x1b[2J\x7f\xc3\xa4", 3), -1);
    assert_int_equal(error.grade, ERROR_LATER);
    assert_int_equal(error.code, 7);
    assert_string_equal(error.text, "line 3??[2J?\xc3\xa4"); /* a terminal must not obey it */
    error_prefix(&error, "%s", "epistle.conf");
    assert_string_equal(error.text, "epistle.conf: line 3??[2J?\xc3\xa4");
    assert_int_equal(error.grade, ERROR_LATER);
    error_set(&error, ERROR_INPUT, 0, "\xc2\x9b" "1m \x9b \xe2\x99\x98 \xe2\x99");
    assert_string_equal(error.text, "??1m ? \xe2\x99\x98 ??");
    char longer[1000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    error_set(&error, ERROR_INPUT, 0, "%s", longer);
    assert_int_equal(strlen(error.text), ERROR_TEXT_MAX - 1);
    error_prefix(&error, "before");
    assert_int_equal(strlen(error.text), ERROR_TEXT_MAX - 1);
    error_prefix(&error, "%s", longer);
    assert_int_equal(strlen(error.text), ERROR_TEXT_MAX - 1);
    assert_int_equal(error_set(NULL, ERROR_INPUT, 0, "nobody asks"), -1);
    error_prefix(NULL, "nobody");
    error_clear(NULL);
    error_clear(&error);
    assert_string_equal(error.text, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha256),   cmocka_unit_test(test_sha256_pieces),
        cmocka_unit_test(test_instants), cmocka_unit_test(test_calendar),
        cmocka_unit_test(test_rfc3339),  cmocka_unit_test(test_mail_dates),
        cmocka_unit_test(test_instants_out_of_range), cmocka_unit_test(test_encode),
        cmocka_unit_test(test_str),      cmocka_unit_test(test_texts),
        cmocka_unit_test(test_arena), cmocka_unit_test(test_arena_reset),    cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
