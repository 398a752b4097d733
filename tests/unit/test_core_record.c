/* Entries as text: what is written is read back, and nothing else is read. The chain and the rules are test_core_game.c's. */
#include "core/game/record.h"

#include "core/base/str.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define HASH "89abcdef0123456789abcdef0123456789abcdef0123456789abcdef01234567"

#define START_HEAD "1 start at=2026-11-30T02:09:11Z by=service letter=0 "
#define START_KEYS "format=epistle-record/1 rules=1 white=7 black=12 control=10/50d fen=- start=- "
#define MOVE_HEAD "3 move at=2026-12-01T10:00:00Z by=white letter=40 "
#define MOVE_KEYS "epoch=1 ply=1 uci=g1f3 san=Nf3 offer=no charged=0 late=0 "
#define END "prev=" HASH

static const char *const good[] = {
    START_HEAD START_KEYS "prev=" ZEROS,
    "1 start at=0000-01-01T00:00:00Z by=arbiter letter=0 format=epistle-record/1 rules=9 white=1 black=999999999999999999 "
    "control=none fen=4k3/8/8/8/8/8/8/4K2R%20w%20K%20-%200%201 start=9999-12-31T23:59:59Z prev=" ZEROS,
    "2 notice at=2026-11-30T02:09:12Z by=service letter=1 to=white epoch=1 ply=0 " END,
    MOVE_HEAD MOVE_KEYS END,
    "4 move at=2026-12-09T10:00:00Z by=black letter=0 epoch=2147483647 ply=2147483647 uci=e7e8q san=exd8=Q%23 offer=yes "
    "charged=86400 late=1 " END,
    "4 move at=2026-12-09T10:00:00Z by=black letter=0 epoch=1 ply=2 uci=%25 san=O-O+ offer=no charged=0 late=0 " END,
    "5 offer at=2026-12-01T10:00:00Z by=white letter=41 " END,
    "6 decline at=2026-12-01T10:00:00Z by=black letter=42 " END,
    "7 accept at=2026-12-01T10:00:00Z by=white letter=43 " END,
    "2147483647 resign at=2026-12-01T10:00:00Z by=white letter=43 " END,
    "8 result at=2026-12-01T10:00:00Z by=service letter=43 result=1/2-1/2 reason=agreement " END,
    "8 result at=2026-12-01T10:00:00Z by=service letter=43 result=1-0 reason=checkmate " END,
    "8 result at=2026-12-01T10:00:00Z by=service letter=43 result=0-1 reason=resignation " END,
    "8 result at=2026-12-01T10:00:00Z by=service letter=43 result=1/2-1/2 reason=stalemate " END,
    "8 result at=2026-12-01T10:00:00Z by=service letter=43 result=1/2-1/2 reason=dead-position " END,
    "8 result at=2026-12-01T10:00:00Z by=arbiter letter=0 result=0-0 reason=ruling " END,
    "8 result at=2026-12-01T10:00:00Z by=arbiter letter=0 result=void reason=ruling " END,
    "9 restore at=2026-12-01T10:00:00Z by=arbiter letter=0 epoch=2 ply=0 " END,
};

static const char *const bad[] = {
    "",
    " ",
    "1",
    "1 ",
    "1 start",
    " " START_HEAD START_KEYS END,                         /* blanks: exactly one, between words only */
    START_HEAD START_KEYS END " ",
    START_HEAD START_KEYS " " END,
    START_HEAD "\t" START_KEYS END,
    START_HEAD START_KEYS END "\r",
    START_HEAD START_KEYS END "\n\n",
    START_HEAD START_KEYS END "\n" START_HEAD START_KEYS END,
    "0 offer at=2026-12-01T10:00:00Z by=white letter=41 " END, /* numbers: one spelling */
    "-1 offer at=2026-12-01T10:00:00Z by=white letter=41 " END,
    "+1 offer at=2026-12-01T10:00:00Z by=white letter=41 " END,
    "01 offer at=2026-12-01T10:00:00Z by=white letter=41 " END,
    "2147483648 offer at=2026-12-01T10:00:00Z by=white letter=41 " END,
    "99999999999999999999 offer at=2026-12-01T10:00:00Z by=white letter=41 " END,
    "x offer at=2026-12-01T10:00:00Z by=white letter=41 " END,
    "%31 offer at=2026-12-01T10:00:00Z by=white letter=41 " END,
    "1 offer at=2026-12-01T10:00:00Z by=white letter= " END,
    "1 offer at=2026-12-01T10:00:00Z by=white letter=00 " END,
    "1 offer at=2026-12-01T10:00:00Z by=white letter=-1 " END,
    "1 offer at=2026-12-01T10:00:00Z by=white letter=1000000000000000000 " END,
    "1 offers at=2026-12-01T10:00:00Z by=white letter=41 " END, /* kinds */
    "1 Offer at=2026-12-01T10:00:00Z by=white letter=41 " END,
    "1 claim at=2026-12-01T10:00:00Z by=white letter=41 " END,
    "1 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa at=2026-12-01T10:00:00Z by=white letter=41 " END,
    "1 offer at=2026-12-01T10:00:00+00:00 by=white letter=41 " END, /* instants */
    "1 offer at=2026-12-01t10:00:00z by=white letter=41 " END,
    "1 offer at=2026-12-01%2010:00:00Z by=white letter=41 " END,
    "1 offer at=2026-12-01T10:00:00.0Z by=white letter=41 " END,
    "1 offer at=2026-12-31T23:59:60Z by=white letter=41 " END,
    "1 offer at=2026-02-29T10:00:00Z by=white letter=41 " END,
    "1 offer at=- by=white letter=41 " END,
    "1 offer at=0000-01-01T00:00:00+00:01 by=white letter=41 " END,
    "1 offer at=2026-12-01T10:00:00Z by=nobody letter=41 " END, /* authors */
    "1 offer at=2026-12-01T10:00:00Z by=White letter=41 " END,
    "1 offer at=2026-12-01T10:00:00Z by= letter=41 " END,
    "1 offer by=white at=2026-12-01T10:00:00Z letter=41 " END, /* keys: order, doubles, strangers, gaps */
    "1 offer at=2026-12-01T10:00:00Z at=2026-12-01T10:00:00Z by=white letter=41 " END,
    "1 offer at=2026-12-01T10:00:00Z by=white letter=41 epoch=1 " END,
    "1 offer at=2026-12-01T10:00:00Z by=white " END,
    "1 offer at=2026-12-01T10:00:00Z by=white letter=41",
    "1 offer at=2026-12-01T10:00:00Z by=white letter=41 ",
    "1 offer at=2026-12-01T10:00:00Z by=white letter=41 " END " x=1",
    "1 offer AT=2026-12-01T10:00:00Z by=white letter=41 " END,
    "1 offer at:2026-12-01T10:00:00Z by=white letter=41 " END,
    "1 offer at=2026-12-01T10:00:00Z by=white letter=41 prev=", /* hashes */
    "1 offer at=2026-12-01T10:00:00Z by=white letter=41 prev=89abcdef",
    "1 offer at=2026-12-01T10:00:00Z by=white letter=41 " END "0",
    "1 offer at=2026-12-01T10:00:00Z by=white letter=41 prev=89ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef01234567",
    "1 offer at=2026-12-01T10:00:00Z by=white letter=41 prev=89abcdeg0123456789abcdef0123456789abcdef0123456789abcdef01234567",
    START_HEAD "format=epistle-record/2 rules=1 white=7 black=12 control=10/50d fen=- start=- " END, /* start */
    START_HEAD "rules=1 white=7 black=12 control=10/50d fen=- start=- " END,
    START_HEAD "format=epistle-record/1 rules=0 white=7 black=12 control=10/50d fen=- start=- " END,
    START_HEAD "format=epistle-record/1 rules=1 white=0 black=12 control=10/50d fen=- start=- " END,
    START_HEAD "format=epistle-record/1 rules=1 white=7 black=-12 control=10/50d fen=- start=- " END,
    START_HEAD "format=epistle-record/1 rules=1 white=7 black=12 control=10/50D fen=- start=- " END,
    START_HEAD "format=epistle-record/1 rules=1 white=7 black=12 control=010/50d fen=- start=- " END,
    START_HEAD "format=epistle-record/1 rules=1 white=7 black=12 control=- fen=- start=- " END,
    START_HEAD "format=epistle-record/1 rules=1 white=7 black=12 control=10/50d fen= start=- " END,
    START_HEAD "format=epistle-record/1 rules=1 white=7 black=12 control=10/50d fen=- start= " END,
    START_HEAD "format=epistle-record/1 rules=1 white=7 black=12 control=10/50d start=- " END,
    START_HEAD "format=epistle-record/1 rules=1 white=7 black=12 control=10/50d fen="
    "4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3/4k3 start=- " END,
    MOVE_HEAD "epoch=0 ply=1 uci=g1f3 san=Nf3 offer=no charged=0 late=0 " END, /* move */
    MOVE_HEAD "epoch=1 ply=-1 uci=g1f3 san=Nf3 offer=no charged=0 late=0 " END,
    MOVE_HEAD "epoch=1 ply=1 uci= san=Nf3 offer=no charged=0 late=0 " END,
    MOVE_HEAD "epoch=1 ply=1 uci=g1f3 san= offer=no charged=0 late=0 " END,
    MOVE_HEAD "epoch=1 ply=1 uci=g1f3g1f3 san=Nf3 offer=no charged=0 late=0 " END,
    MOVE_HEAD "epoch=1 ply=1 uci=g1f3 san=Nf3Nf3Nf3Nf3Nf3Nf3 offer=no charged=0 late=0 " END,
    MOVE_HEAD "epoch=1 ply=1 uci=g1f3 san=Nf3 offer=maybe charged=0 late=0 " END,
    MOVE_HEAD "epoch=1 ply=1 uci=g1f3 san=Nf3 offer=no charged=-1 late=0 " END,
    MOVE_HEAD "epoch=1 ply=1 uci=g1f3 san=Nf3 offer=no late=0 charged=0 " END,
    MOVE_HEAD "epoch=1 ply=1 uci=g1f3 san=Nf3# offer=no charged=0 late=0 " END, /* encoding */
    MOVE_HEAD "epoch=1 ply=1 uci=g1f3 san=Nf3%2 offer=no charged=0 late=0 " END,
    MOVE_HEAD "epoch=1 ply=1 uci=g1f3 san=Nf3% offer=no charged=0 late=0 " END,
    MOVE_HEAD "epoch=1 ply=1 uci=g1f3 san=Nf3%2g offer=no charged=0 late=0 " END,
    MOVE_HEAD "epoch=1 ply=1 uci=g1f3 san=%4Ef3 offer=no charged=0 late=0 " END,
    MOVE_HEAD "epoch=1 ply=1 uci=g1f3 san=Nf3%2B offer=no charged=0 late=0 " END,
    MOVE_HEAD "epoch=1 ply=1 uci=g1f3 san=Nf3%3f offer=no charged=0 late=0 " END,
    MOVE_HEAD "epoch=1 ply=1 uci=g1f3 san=Nf3%00 offer=no charged=0 late=0 " END,
    MOVE_HEAD "epoch=1 ply=1 uci=g1f3 san=\xe2\x99\x98" "f3 offer=no charged=0 late=0 " END,
    "8 result at=2026-12-01T10:00:00Z by=service letter=43 result=* reason=ruling " END, /* result */
    "8 result at=2026-12-01T10:00:00Z by=service letter=43 result=none reason=ruling " END,
    "8 result at=2026-12-01T10:00:00Z by=service letter=43 result=1-0 reason=none " END,
    "8 result at=2026-12-01T10:00:00Z by=service letter=43 result=1-0 reason=time " END,
    "8 result at=2026-12-01T10:00:00Z by=service letter=43 result=1%2F2-1%2F2 reason=ruling " END,
};

/* Writes the entry and demands the line again, with the same hash. */
static void check_again(const Entry *entry, const char *line) {
    Entry again = *entry;
    Str str;
    memset(again.hash, 'x', sizeof again.hash - 1);
    str_init(&str, 4096);
    str_append(&str, "before|");
    assert_int_equal(entry_write(&again, &str, NULL), 0);
    assert_memory_equal(str.data, "before|", 7); /* it appends */
    assert_int_equal(str.length, 7 + strlen(line) + 1);
    assert_memory_equal(str.data + 7, line, strlen(line));
    assert_string_equal(str.data + 7 + strlen(line), "\n");
    assert_string_equal(again.hash, entry->hash);
    char hex[SHA256_HEX_SIZE];
    sha256_hex(str.data + 7, str.length - 7, hex);
    assert_string_equal(hex, entry->hash);
    str_free(&str);
}

static void test_good_lines(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        Entry entry, with_end;
        Error error = { .grade = ERROR_NONE };
        char line[RECORD_LINE_MAX + 1];
        if (entry_read(good[i], &entry, &error) < 0)
            fail_msg("%s: %s", good[i], error.text);
        check_again(&entry, good[i]);
        snprintf(line, sizeof line, "%s\n", good[i]);
        assert_int_equal(entry_read(line, &with_end, NULL), 0);
        assert_string_equal(entry.hash, with_end.hash);
    }
}

static void test_bad_lines(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        Entry entry = { .number = 77 };
        Error error = { .grade = ERROR_NONE };
        if (entry_read(bad[i], &entry, &error) == 0)
            fail_msg("“%s” was read", bad[i]);
        assert_int_equal(entry.number, 77);
        assert_int_equal(error.grade, ERROR_DAMAGED);
        size_t length = strlen(error.text);
        assert_true(length > 20 && error.text[length - 1] == '.'); /* a sentence */
        assert_int_equal(entry_read(bad[i], &entry, NULL), -1);
    }
}

static void test_members(void **state) {
    (void)state;
    Entry entry;
    assert_int_equal(entry_read(good[1], &entry, NULL), 0);
    assert_int_equal(entry.number, 1);
    assert_int_equal(entry.kind, ENTRY_START);
    assert_int_equal(entry.by, AUTHOR_ARBITER);
    assert_int_equal(entry.at, -62167219200);
    assert_int_equal(entry.rules_version, 9);
    assert_int_equal(entry.white, 1);
    assert_int_equal(entry.black, 999999999999999999);
    assert_string_equal(entry.control, "none");
    assert_string_equal(entry.fen, "4k3/8/8/8/8/8/8/4K2R w K - 0 1");
    assert_int_equal(entry.start, 253402300799);
    assert_string_equal(entry.previous, ZEROS);
    assert_int_equal(entry_read(good[0], &entry, NULL), 0);
    assert_string_equal(entry.fen, "");
    assert_int_equal(entry.start, INSTANT_NONE);
    assert_int_equal(entry_read(good[2], &entry, NULL), 0);
    assert_int_equal(entry.kind, ENTRY_NOTICE);
    assert_int_equal(entry.to, AUTHOR_WHITE);
    assert_int_equal(entry.start, INSTANT_NONE);
    assert_int_equal(entry_read(good[4], &entry, NULL), 0);
    assert_int_equal(entry.kind, ENTRY_MOVE);
    assert_int_equal(entry.by, AUTHOR_BLACK);
    assert_int_equal(entry.epoch, INT_MAX);
    assert_string_equal(entry.uci, "e7e8q");
    assert_string_equal(entry.san, "exd8=Q#");
    assert_true(entry.offer);
    assert_int_equal(entry.charged, 86400);
    assert_int_equal(entry.late, 1);
    assert_string_equal(entry.previous, HASH);
}

static void put(Entry *entry, const char *line) {
    assert_int_equal(entry_read(line, entry, NULL), 0);
}

static void check_unwritable(Entry *entry) {
    Str str;
    Error error = { .grade = ERROR_NONE };
    str_init(&str, RECORD_LINE_MAX);
    if (entry_write(entry, &str, &error) == 0)
        fail_msg("written: %s", str.data);
    assert_int_equal(error.grade, ERROR_INPUT);
    assert_int_equal(str.length, 0);
    str_free(&str);
}

/* What a record cannot spell must not get into one. */
static void test_unwritable(void **state) {
    (void)state;
    Entry entry;
    put(&entry, good[0]), entry.at = INSTANT_NONE, check_unwritable(&entry);
    put(&entry, good[0]), entry.at = 253402300800, check_unwritable(&entry);
    put(&entry, good[0]), entry.start = -62167219201, check_unwritable(&entry);
    put(&entry, good[0]), entry.number = 0, check_unwritable(&entry);
    put(&entry, good[0]), entry.letter = -1, check_unwritable(&entry);
    put(&entry, good[0]), entry.letter = INT64_MAX, check_unwritable(&entry);
    put(&entry, good[0]), entry.white = 0, check_unwritable(&entry);
    put(&entry, good[0]), entry.control[0] = 0, check_unwritable(&entry);
    put(&entry, good[0]), text_copy(entry.control, sizeof entry.control, "10/50D"), check_unwritable(&entry);
    put(&entry, good[0]), text_copy(entry.fen, sizeof entry.fen, "-"), check_unwritable(&entry);
    put(&entry, good[0]), entry.previous[5] = 0, check_unwritable(&entry);
    put(&entry, good[0]), entry.previous[5] = 'A', check_unwritable(&entry);
    put(&entry, good[0]), entry.kind = (EntryKind)99, check_unwritable(&entry);
    put(&entry, good[0]), entry.kind = (EntryKind)-1, check_unwritable(&entry);
    put(&entry, good[0]), entry.by = (Author)99, check_unwritable(&entry);
    put(&entry, good[3]), entry.san[0] = 0, check_unwritable(&entry);
    put(&entry, good[3]), entry.charged = -1, check_unwritable(&entry);
    put(&entry, good[3]), entry.ply = -1, check_unwritable(&entry);
    put(&entry, good[3]), entry.epoch = 0, check_unwritable(&entry);
    put(&entry, good[15]), entry.result = RESULT_NONE, check_unwritable(&entry);
    put(&entry, good[15]), entry.reason = REASON_NONE, check_unwritable(&entry);
    put(&entry, good[15]), entry.result = (Result)99, check_unwritable(&entry);

    Str narrow; /* no room: not the entry's fault */
    Error error = { .grade = ERROR_NONE };
    str_init(&narrow, 20);
    put(&entry, good[0]);
    assert_int_equal(entry_write(&entry, &narrow, &error), -1);
    assert_int_equal(error.grade, ERROR_LATER);
    str_free(&narrow);
}

/* Every byte but NUL goes through a value and comes back; the plain ones stand for themselves. */
static void test_every_byte(void **state) {
    (void)state;
    int escaped = 0;
    for (int byte = 1; byte < 256; byte++) {
        Entry entry, again;
        Str str;
        put(&entry, good[3]);
        snprintf(entry.san, sizeof entry.san, "a%cb%c", byte, byte);
        str_init(&str, RECORD_LINE_MAX);
        assert_int_equal(entry_write(&entry, &str, NULL), 0);
        for (size_t i = 0; i + 1 < str.length; i++)
            assert_true(str.data[i] >= ' ' && str.data[i] < 0x7f);
        put(&again, str.data);
        assert_string_equal(again.san, entry.san);
        escaped += strchr(str.data, '%') != NULL;
        str_free(&str);
    }
    assert_int_equal(escaped, 255 - 62 - 10);
}

/* The longest line there can be fits, and longer ones are refused without harm. */
static void test_long_lines(void **state) {
    (void)state;
    Entry entry;
    Str str;
    put(&entry, good[1]);
    memset(entry.fen, '%', sizeof entry.fen - 1); /* each byte becomes three */
    entry.fen[sizeof entry.fen - 1] = 0;
    entry.number = INT_MAX;
    entry.letter = entry.white = entry.black = 999999999999999999;
    str_init(&str, RECORD_LINE_MAX);
    assert_int_equal(entry_write(&entry, &str, NULL), 0);
    assert_true(str.length < RECORD_LINE_MAX);
    str_free(&str);

    for (size_t length = 1; length < 5000; length += 113) {
        char *line = malloc(length + 1);
        assert_non_null(line);
        static const char fills[] = "1 =%a";
        for (size_t i = 0; i < sizeof fills - 1; i++) {
            memset(line, fills[i], length);
            line[length] = 0;
            assert_int_equal(entry_read(line, &entry, NULL), -1);
        }
        free(line);
    }
}

static void test_names(void **state) {
    (void)state;
    assert_string_equal(result_text(RESULT_NONE), "*");
    assert_string_equal(result_text(RESULT_WHITE), "1-0");
    assert_string_equal(result_text(RESULT_BLACK), "0-1");
    assert_string_equal(result_text(RESULT_DRAW), "1/2-1/2");
    assert_string_equal(result_text(RESULT_BOTH_LOSE), "0-0");
    assert_string_equal(result_text(RESULT_VOID), "*");
    assert_string_equal(result_text((Result)99), "*");
    assert_string_equal(reason_name(REASON_DEAD_POSITION), "dead-position");
    assert_string_equal(reason_name((Reason)-1), "none");
    assert_string_equal(author_name(AUTHOR_ARBITER), "arbiter");
    assert_string_equal(author_name((Author)9), "nobody");
    assert_string_equal(entry_kind_name(ENTRY_RESTORE), "restore");
    assert_string_equal(entry_kind_name((EntryKind)9), "unknown");
    assert_string_equal(entry_kind_name((EntryKind)-1), "unknown");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_lines), cmocka_unit_test(test_bad_lines),  cmocka_unit_test(test_members),
        cmocka_unit_test(test_unwritable), cmocka_unit_test(test_every_byte), cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
