/* The board's text, layout, zones, and what view_render() promises besides its golden letters. */
#include "daemon/outbox/board.h"
#include "daemon/outbox/layout.h"
#include "daemon/outbox/view.h"
#include "daemon/zone.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char start[] = "rnbqkbnrpppppppp................................PPPPPPPPRNBQKBNR";

static void test_board(void **state) {
    (void)state;
    char lines[BOARD_LINES][BOARD_LINE_SIZE];
    assert_true(board_text(start, false, lines));
    assert_string_equal(lines[0], "|    a  b  c  d  e  f  g  h");
    assert_string_equal(lines[1], "| 8  r  n  b  q  k  b  n  r  8");
    assert_string_equal(lines[3], "| 6  .  :  .  :  .  :  .  :  6");
    assert_string_equal(lines[8], "| 1  R  N  B  Q  K  B  N  R  1");
    assert_string_equal(lines[9], lines[0]);
    assert_true(board_text(start, true, lines));
    assert_string_equal(lines[0], "|    h  g  f  e  d  c  b  a");
    assert_string_equal(lines[1], "| 1  R  N  B  K  Q  B  N  R  1");
    assert_string_equal(lines[3], "| 3  .  :  .  :  .  :  .  :  3");
    assert_string_equal(lines[8], "| 8  r  n  b  k  q  b  n  r  8");
    assert_false(board_text("", false, lines));
    assert_false(board_text("rnbqkbnr", false, lines));
    char broken[65];
    memcpy(broken, start, sizeof broken);
    broken[20] = 'x';
    assert_false(board_text(broken, false, lines));
}

/* a1 and h8 are dark on every board. */
static void test_board_colours(void **state) {
    (void)state;
    char empty[65], lines[BOARD_LINES][BOARD_LINE_SIZE];
    memset(empty, '.', 64);
    empty[64] = 0;
    for (int black = 0; black < 2; black++) {
        assert_true(board_text(empty, black, lines));
        assert_int_equal(lines[8][5], ':');
        assert_int_equal(lines[1][26], ':');
        assert_int_equal(lines[1][5], '.');
    }
}

static void check_layout(const char *markdown, const char *expected) {
    Str out;
    str_init(&out, 10000);
    assert_true(layout_text(markdown, "resign accept yes if", &out));
    assert_string_equal(out.data, expected);
    str_free(&out);
}

static void test_layout(void **state) {
    (void)state;
    check_layout("", "");
    check_layout("\n\none\n  two\n\n\n\nthree  \n\n", "one two\n\nthree\n");
    check_layout("- a\n- b\n  goes on\n\nafter\n", "- a\n- b goes on\n\nafter\n");
    check_layout("text\n\n    | 1  x\n    |\n\nmore\n", "text\n\n| 1  x\n|\n\nmore\n");
    check_layout("aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee fffffffff ggggggggg hhhhhhhhh iii\n",
                 "aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee fffffffff ggggggggg\nhhhhhhhhh iii\n");
    /* no line begins with a command, or near one, or with a move's number */
    check_layout("aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee fffffffff ggggggggg \"resign\" iii jj\n",
                 "aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee fffffffff\nggggggggg \"resign\" iii jj\n");
    check_layout("aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee fffffffff 12. Nf3 yes\n",
                 "aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee fffffffff 12. Nf3 yes\n");
    check_layout("aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee fffffffff gggggggg 12. Nf3 yes\n",
                 "aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee fffffffff\ngggggggg 12. Nf3 yes\n");
    /* nor does a short last line hold one */
    check_layout("aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee fffffffff ggggggggg you resigned.\n",
                 "aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee\nfffffffff ggggggggg you resigned.\n");
    /* where all are such words the line grows */
    check_layout("resign resign resign resign resign resign resign resign resign resign accept end\n",
                 "resign resign resign resign resign resign resign resign resign resign accept\nend\n");
}

static void test_guarded(void **state) {
    (void)state;
    static const char *const yes[] = { "resign", "Resign.", "\"resign\"", "resing", "resigns", "accept", "acept", "except", "yes", "YES!", "if", "12.", "Nf3", "O-O", "0-0", "…Nf6", "x1" };
    static const char *const no[] = { "yess", "is", "the", "king", "", "\"", "rest", "Anna", "übernehmen" };
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        if (!layout_guarded(yes[i], strlen(yes[i]), "resign accept yes if"))
            fail_msg("%s is not guarded", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        if (layout_guarded(no[i], strlen(no[i]), "resign accept yes if"))
            fail_msg("%s is guarded", no[i]);
}

static void test_prefixed(void **state) {
    (void)state;
    Str out;
    str_init(&out, 1000);
    assert_true(layout_prefixed("one two three", "| ", 8, &out));
    assert_true(layout_prefixed("", "| ", 8, &out));
    assert_true(layout_prefixed("ééééééééééé", "| ", 8, &out));
    assert_string_equal(out.data, "| one two\n| three\n|\n| éééééééé\n| ééé\n");
    str_free(&out);
}

/* Computed with Python's zoneinfo: today, 1970, 2004, and a second before and after each change of 2026. */
static const struct { const char *zone; int64_t at; int offset; } offsets[] = {
    { "Europe/Vienna", 1796004551, 3600 },
    { "Europe/Vienna", 0, 3600 },
    { "Europe/Vienna", 1100000000, 3600 },
    { "Europe/Vienna", 1774745999, 3600 },
    { "Europe/Vienna", 1774746000, 7200 },
    { "Europe/Vienna", 1792889999, 7200 },
    { "Europe/Vienna", 1792890000, 3600 },
    { "America/New_York", 1796004551, -18000 },
    { "America/New_York", 0, -18000 },
    { "America/New_York", 1100000000, -18000 },
    { "America/New_York", 1772953199, -18000 },
    { "America/New_York", 1772953200, -14400 },
    { "America/New_York", 1793512799, -14400 },
    { "America/New_York", 1793512800, -18000 },
    { "Australia/Lord_Howe", 1796004551, 39600 },
    { "Australia/Lord_Howe", 0, 36000 },
    { "Australia/Lord_Howe", 1100000000, 39600 },
    { "Australia/Lord_Howe", 1775314799, 39600 },
    { "Australia/Lord_Howe", 1775314800, 37800 },
    { "Australia/Lord_Howe", 1791041399, 37800 },
    { "Australia/Lord_Howe", 1791041400, 39600 },
    { "Asia/Kathmandu", 1796004551, 20700 },
    { "Asia/Kathmandu", 0, 19800 },
    { "Asia/Kathmandu", 1100000000, 20700 },
    { "Pacific/Apia", 1796004551, 46800 },
    { "Pacific/Apia", 0, -39600 },
    { "Pacific/Apia", 1100000000, -39600 },
    { "America/Sao_Paulo", 1796004551, -10800 },
    { "America/Sao_Paulo", 0, -10800 },
    { "America/Sao_Paulo", 1100000000, -7200 },
    { "Asia/Tokyo", 1796004551, 32400 },
    { "Asia/Tokyo", 0, 32400 },
    { "Asia/Tokyo", 1100000000, 32400 },
    { "America/St_Johns", 1796004551, -12600 },
    { "America/St_Johns", 0, -12600 },
    { "America/St_Johns", 1100000000, -12600 },
    { "America/St_Johns", 1772947799, -12600 },
    { "America/St_Johns", 1772947800, -9000 },
    { "America/St_Johns", 1793507399, -9000 },
    { "America/St_Johns", 1793507400, -12600 },
    { "Antarctica/Troll", 1796004551, 0 },
    { "Antarctica/Troll", 0, 0 },
    { "Antarctica/Troll", 1100000000, 0 },
    { "Antarctica/Troll", 1774745999, 0 },
    { "Antarctica/Troll", 1774746000, 7200 },
    { "Antarctica/Troll", 1792889999, 7200 },
    { "Antarctica/Troll", 1792890000, 0 },
    { "Etc/GMT+5", 1796004551, -18000 },
    { "Etc/GMT+5", 0, -18000 },
    { "Etc/GMT+5", 1100000000, -18000 },
    { "UTC", 1796004551, 0 },
    { "UTC", 0, 0 },
    { "UTC", 1100000000, 0 },
};

static void test_zones(void **state) {
    (void)state;
    setenv("TZ", "Asia/Tokyo", 1);
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        int seconds = -1;
        if (!zone_offset(offsets[i].zone, offsets[i].at, &seconds) || seconds != offsets[i].offset)
            fail_msg("%s at %lld: %d, not %d", offsets[i].zone, (long long)offsets[i].at, seconds, offsets[i].offset);
    }
    assert_string_equal(getenv("TZ"), "Asia/Tokyo");
    unsetenv("TZ");
    int seconds = 77;
    assert_true(zone_offset("Europe/Vienna", 0, &seconds));
    assert_null(getenv("TZ"));
    static const char *const unknown[] = { "", "/etc/passwd", "../zoneinfo/UTC", "Europe", "Europe/", "Europe/Wien", "Europe//Vienna", "right/UTC", "posix/UTC", "tzdata.zi",
                                           "UTC\n", "Europe/Vienna ", "EST5EDT4,M3.2.0", "leapseconds", "zone.tab" };
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        seconds = 77;
        if (zone_known(unknown[i]) || zone_offset(unknown[i], 0, &seconds) || seconds != 77)
            fail_msg("%s is known", unknown[i]);
    }
    assert_false(zone_offset("UTC", INT64_MAX / 2, &seconds));
}

/* What is not a good view gives an error or a letter without the missing piece, never a crash. */
static void test_views(void **state) {
    (void)state;
    Error error = { 0 };
    Templates *templates = templates_open("templates", &error);
    assert_non_null(templates);
    static const char *const bad[] = {
        "[]", "{}", "{\"kind\":\"gone\"}", "{\"kind\":\"../answer\"}", "{\"kind\":7}", "3",
        "{\"kind\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}}}}}}}}}}",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        json_t *view = json_loads(bad[i], JSON_DECODE_ANY, NULL);
        assert_non_null(view);
        RenderedLetter letter = { 0 };
        assert_int_equal(view_render(templates, view, &letter, &error), -1);
        assert_null(letter.text);
        json_decref(view);
    }
    static const char *const thin[] = {
        "{\"kind\":\"move\"}", "{\"kind\":\"answer\",\"outcomes\":7}", "{\"kind\":\"answer\",\"outcomes\":[7,null,{\"code\":7},{\"code\":\"\"},{\"code\":\"unheard-of\"}]}",
        "{\"kind\":\"end\",\"game\":{\"over\":true,\"moves\":[\"Ke9\",7],\"squares\":\"x\",\"clocks\":[],\"result\":7,\"fen\":\"x\"}}",
        "{\"kind\":\"move\",\"game\":{\"moves\":[null],\"clocks\":{\"white\":{},\"black\":{\"left_days\":-3}},\"move_number\":-1},\"deadline\":{\"at\":\"x\"},\"remark\":[7,\"\"]}",
        "{\"kind\":\"move\",\"player\":{\"name\":\"\",\"zone\":\"../x\",\"language\":\"../../x\"},\"deadline\":{\"at\":\"9999-12-31T23:59:59Z\",\"since\":\"0000-01-01T00:00:00Z\"},\"game\":{\"control\":\"999999999999999999999d/move\"}}",
    };
    for (size_t i = 0; i < sizeof thin / sizeof thin[0]; i++) {
        json_t *view = json_loads(thin[i], 0, NULL);
        assert_non_null(view);
        RenderedLetter letter = { 0 };
        if (view_render(templates, view, &letter, &error) != 0)
            fail_msg("%s: %s", thin[i], error.text);
        assert_non_null(letter.text);
        assert_non_null(letter.html);
        assert_null(letter.pgn);
        rendered_letter_free(&letter);
        json_decref(view);
    }
    rendered_letter_free(NULL);
    templates_close(templates);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_board),  cmocka_unit_test(test_board_colours), cmocka_unit_test(test_layout), cmocka_unit_test(test_guarded),
        cmocka_unit_test(test_prefixed), cmocka_unit_test(test_zones),       cmocka_unit_test(test_views),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
