/* PGN: what annotators add, as it is kept. */
#include "tests/unit/test_core_pgn.h"

static void expect_notes(const char *text, unsigned flags, const char *notes) {
    Str told;
    str_init(&told, 65536);
    assert_int_equal(read_bytes(text, strlen(text), flags), 1);
    for (size_t i = 0; i < games[0].note_count; i++)
        tell_note(&told, &games[0].notes[i]);
    assert_string_equal(told.data, notes);
    str_free(&told);
}

static void test_notes(void **state) {
    (void)state;
    expect_notes("1. e4 $1 $255 $256 $ e5!? 2. Nf3 ! Nc6+- 3. Bb5 (=) a6\xc2\xb1 4. Ba4 \xe2\x88\x9e *", PGN_KEEP_NOTES,
                 "1 nag 1 0 \n1 nag 255 0 \n2 nag 5 0 \n3 nag 1 0 \n4 nag 18 0 \n5 comment 0 0 (=)\n6 nag 16 0 \n7 nag 13 0 \n");
    assert_int_equal(games[0].fault_count, 0);
    assert_int_equal(games[0].move_count, 7);
    expect_notes("1. e4 $1 {x} (1. d4 {y}) *", 0, "");
    assert_int_equal(games[0].fault_count, 0);
    expect_notes("1. e4 {x} (1. d4 {y}) { } {\n} *", PGN_KEEP_NOTES, "1 comment 0 0 x\n");
}

static void test_variations(void **state) {
    (void)state;
    static const char text[] = "1. e4 (1. d4 {queen's} d5! (1... Nf6 $6) 2. c4) 1... e5 (1... c5) (1... -- 2. d4 Z0) 2. Nf3 *";
    unsigned d4 = move_make(11, 27, 0), d5 = move_make(51, 35, 0), nf6 = move_make(62, 45, 0), c4 = move_make(10, 26, 0),
             c5 = move_make(50, 34, 0);
    Str told;
    str_init(&told, 65536);
    str_printf(&told,
               "1 open 0 0 \n1 move 0 %u \n1 comment 0 0 queen's\n1 move 0 %u \n1 nag 1 0 \n1 open 0 0 \n1 move 0 %u \n1 nag 6 0 \n"
               "1 close 0 0 \n1 move 0 %u \n1 close 0 0 \n2 open 0 0 \n2 move 0 %u \n2 close 0 0 \n"
               "2 open 0 0 \n2 move 0 0 \n2 move 0 %u \n2 move 0 0 \n2 close 0 0 \n",
               d4, d5, nf6, c4, c5, d4);
    expect_notes(text, PGN_KEEP_VARIATIONS, told.data);
    assert_int_equal(games[0].fault_count, 0);
    assert_int_equal(games[0].move_count, 3);
    str_free(&told);
}

/* One that is wrong ends there; the game goes on. Skipped ones are not looked at. */
static void test_wrong_variations(void **state) {
    (void)state;
    static const char wrong[] = "1. e4 (1. e5 {lost} (1. d4) Nf6) e5\n (1... Ke6) 2. Nf3 (2. --) 1-0";
    expect_notes(wrong, PGN_KEEP_VARIATIONS, "1 open 0 0 \n1 close 0 0 \n2 open 0 0 \n2 close 0 0 \n3 open 0 0 \n3 move 0 0 \n3 close 0 0 \n");
    assert_int_equal(games[0].fault_count, 2);
    expect_fault(&games[0], 0, PGN_FAULT_VARIATION, 1);
    expect_fault(&games[0], 1, PGN_FAULT_VARIATION, 2);
    assert_int_equal(games[0].faults[1].move, 1);
    assert_true(games[0].faults[1].black);
    assert_int_equal(games[0].move_count, 3);
    expect_notes(wrong, PGN_KEEP_NOTES, "");
    assert_int_equal(games[0].fault_count, 0);
    /* A null move in check, or in the game itself, is none. */
    expect_notes("1. e4 e5 2. Qh5 Nc6 3. Qxf7+ Kxf7 (3... --) 4. -- *", PGN_KEEP_VARIATIONS, "6 open 0 0 \n6 close 0 0 \n");
    assert_int_equal(games[0].fault_count, 2);
    expect_fault(&games[0], 1, PGN_FAULT_MOVE, 1);
    assert_int_equal(games[0].faults[1].move, 4);
    /* One before the first move is another first move; an unclosed one is left out. */
    expect_notes("(1. d4) 1. e4 *", PGN_KEEP_VARIATIONS, "0 open 0 0 \n0 move 0 1739 \n0 close 0 0 \n");
    assert_int_equal(games[0].fault_count, 0);
    expect_notes("1. e4 {kept} (1. d4 {x} (1. c4 *\n", PGN_KEEP_VARIATIONS, "1 comment 0 0 kept\n");
    expect_fault(&games[0], 0, PGN_FAULT_VARIATION, 1);
}

static void test_nesting(void **state) {
    (void)state;
    static const unsigned flags[] = { 0, PGN_KEEP_NOTES, PGN_KEEP_VARIATIONS };
    for (int deep = PGN_NESTING_MAX; deep <= PGN_NESTING_MAX + 2; deep++)
        for (int i = 0; i < 3; i++) {
            Str text;
            str_init(&text, 4096);
            str_append(&text, "1. e4\n");
            str_append_repeated(&text, '(', (size_t)deep);
            str_append(&text, " 1. d4 {)} ");
            str_append_repeated(&text, ')', (size_t)deep);
            str_append(&text, " e5 *");
            assert_int_equal(read_bytes(text.data, text.length, flags[i]), 1);
            assert_int_equal(games[0].move_count, 2);
            assert_int_equal(games[0].fault_count, deep > PGN_NESTING_MAX);
            if (deep > PGN_NESTING_MAX)
                expect_fault(&games[0], 0, PGN_FAULT_VARIATION, 2);
            str_free(&text);
        }
}

static void test_commands(void **state) {
    (void)state;
    static const char *const expected[][2] = { { "clk", "1:23:45" }, { "eval", "#-3" }, { "cal", "Gd2d4,Re7e5" }, { "csl", "" } };
    assert_int_equal(read_all("1. e4 {[%clk 1:23:45] best [%eval #-3][%cal Gd2d4,Re7e5 ] [% x] [%csl] [%emt 0:01} e5 *"), 1);
    const char *at = pgn_comment(&games[0], 1);
    PgnCommand command;
    for (size_t i = 0; i < 4; i++) {
        assert_true(pgn_command(&at, &command));
        assert_int_equal(command.name_length, strlen(expected[i][0]));
        assert_memory_equal(command.name, expected[i][0], command.name_length);
        assert_int_equal(command.value_length, strlen(expected[i][1]));
        assert_memory_equal(command.value, expected[i][1], command.value_length);
    }
    const char *before = at;
    assert_false(pgn_command(&at, &command));
    assert_ptr_equal(at, before);
    at = "[%clk]";
    assert_true(pgn_command(&at, &command));
    assert_int_equal(command.value_length, 0);
    assert_false(pgn_command(&at, &command));
}

int main(void) {
    arena_init(&arena, 64 << 20);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_notes),   cmocka_unit_test(test_variations), cmocka_unit_test(test_wrong_variations),
        cmocka_unit_test(test_nesting), cmocka_unit_test(test_commands),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
