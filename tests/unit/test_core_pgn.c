/* PGN: reading what is found in the world. */
#include "tests/unit/test_core_pgn.h"

static void test_plain(void **state) {
    (void)state;
    assert_int_equal(read_all("[Event \"Club\"]\n[Site \"?\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 1/2-1/2\n"), 1);
    assert_int_equal(games[0].move_count, 5);
    assert_int_equal(games[0].fault_count, 0);
    assert_int_equal(games[0].line, 1);
    assert_string_equal(games[0].result, "1/2-1/2");
    assert_string_equal(pgn_tag(&games[0], "event"), "Club");
    assert_null(pgn_tag(&games[0], "White"));
    assert_int_equal(read_all(""), 0);
    assert_int_equal(read_all("\n\n \r\n\x1a"), 0);
    assert_int_equal(read_all("*"), 1);
    assert_int_equal(read_all("1.e4e5"), 1); /* glued moves are none */
    assert_int_equal(games[0].fault_count, 1);
}

static void test_marks(void **state) {
    (void)state;
    static const char text[] = "\xef\xbb\xbf%ignored [Event \"no\"]\r\n[Event \"A\"]\r\n\r\n"
                               "{Before} 1. e4 $1 {King's pawn} e5 (1... c5 2. Nf3 (2. c3 {Alapin (} d5) 2... d6) ; a classic\r\n"
                               "% another line\r\n2.Nf3! Nc6!? 3.Bb5 {one} {two} a6 4.0-0 += Nf6 1-0\r\n\x1a";
    assert_int_equal(read_bytes(text, sizeof text - 1, PGN_KEEP_NOTES), 1);
    assert_int_equal(games[0].fault_count, 0);
    assert_int_equal(games[0].move_count, 8);
    assert_string_equal(pgn_comment(&games[0], 0), "Before");
    assert_string_equal(pgn_comment(&games[0], 1), "King's pawn");
    assert_string_equal(pgn_comment(&games[0], 2), "a classic");
    assert_string_equal(pgn_comment(&games[0], 5), "one");
    assert_string_equal(games[0].notes[games[0].note_count - 2].text, "two");
    assert_int_equal(games[0].notes[games[0].note_count - 1].number, 14); /* += */
    assert_null(pgn_comment(&games[0], 6));
    assert_string_equal(games[0].result, "1-0");
}

static void test_spellings(void **state) {
    (void)state;
    assert_int_equal(read_all("1.e4 e5 2.Nf3 Nc6 3.Bc4 Bc5 4.0-0 Nf6 5. c3 \"quoted\" *"), 1);
    assert_int_equal(games[0].move_count, 9);
    assert_int_equal(games[0].fault_count, 1);
    assert_int_equal(games[0].faults[0].move, 5);
    assert_true(games[0].faults[0].black);
    assert_int_equal(read_all("1.d4 e5 2.dxe5 Qh4 3.Nf3 {x} 3....Qd4 1-0"), 1);
    assert_int_equal(games[0].move_count, 6);
    assert_int_equal(read_all("1.e4 e5 2.-- Nc6 *"), 1);
    assert_int_equal(games[0].fault_count, 1);
}

static void test_escapes(void **state) {
    (void)state;
    assert_int_equal(read_all("[Event \"The \\\"Open\\\"\"]\n[Site \"a\\\\b\"]\n[White \"\"]\n\n*\n"), 1);
    assert_string_equal(pgn_tag(&games[0], "Event"), "The \"Open\"");
    assert_string_equal(pgn_tag(&games[0], "Site"), "a\\b");
    assert_string_equal(pgn_tag(&games[0], "White"), "");
    Str out;
    str_init(&out, 4096);
    assert_true(pgn_write(&out, &games[0]));
    assert_non_null(strstr(out.data, "[Event \"The \\\"Open\\\"\"]\n[Site \"a\\\\b\"]\n[Date \"????.??.??\"]\n[Round \"?\"]\n"));
    str_free(&out);
    /* Latin-1 becomes UTF-8 */
    assert_int_equal(read_all("[White \"M\xfcller\"]\n[Black \"M\xc3\xbcller\"]\n\n1. e4 {sch\xf6n} *\n"), 1);
    assert_string_equal(pgn_tag(&games[0], "White"), "M\xc3\xbcller");
    assert_string_equal(pgn_tag(&games[0], "Black"), "M\xc3\xbcller");
    assert_string_equal(pgn_comment(&games[0], 1), "sch\xc3\xb6n");
}

static void test_several(void **state) {
    (void)state;
    /* tags without moves or result, then a game; a game without result, then another */
    assert_int_equal(read_all("[Event \"A\"]\n[White \"a\"]\n\n[Event \"B\"]\n\n1. e4\n\n[Event \"C\"]\n\n1. d4 *\n"), 3);
    assert_int_equal(games[0].move_count, 0);
    assert_string_equal(games[0].result, "");
    assert_int_equal(games[1].move_count, 1);
    assert_int_equal(games[1].line, 4);
    assert_int_equal(games[2].line, 8);
    assert_string_equal(games[2].result, "*");
    assert_int_equal(read_all("1. e4 * 1. d4 1-0 1. c4 *"), 3);
}

static void test_recovery(void **state) {
    (void)state;
    assert_int_equal(read_all("[Event \"5th \"Mikis\" Tournament\"]\n[Site \"X\"]\n\n1. e4 1-0\n\n[Event \"B\"]\n\n1. d4 0-1\n"), 2);
    assert_int_equal(games[0].fault_count, 1);
    assert_int_equal(games[0].faults[0].line, 1);
    assert_string_equal(pgn_tag(&games[0], "Site"), "X");
    assert_int_equal(games[0].move_count, 1);
    assert_int_equal(games[1].fault_count, 0);

    assert_int_equal(read_all("1.g3 e5 2.f4 Nc6\n3.Nfe3 d5 4. e4 *\n[Event \"B\"]\n\n1. d4 *"), 2);
    assert_int_equal(games[0].fault_count, 1);
    assert_int_equal(games[0].faults[0].line, 2);
    assert_int_equal(games[0].faults[0].move, 3);
    assert_false(games[0].faults[0].black);
    assert_int_equal(games[0].move_count, 4);
    assert_string_equal(games[0].result, "*");
    assert_int_equal(games[1].fault_count, 0);

    assert_int_equal(read_all("[Event \"A\"]\n\n1. e4 {never closed\n e5 *\n\n[Event \"B\"]\n\n1. d4 *\n"), 2);
    assert_int_equal(games[0].faults[0].line, 3);
    assert_int_equal(games[1].move_count, 1);
    assert_int_equal(read_all("[Event \"A\"]\n\n1. e4 (1. d4\n\n[Event \"B\"]\n\n1. d4 *\n"), 2);
    assert_int_equal(games[0].fault_count, 1);
    assert_int_equal(games[1].fault_count, 0);
    assert_int_equal(read_all("[Event \"A\"]\n[FEN \"nonsense\"]\n\n1. e4 *\n"), 1);
    assert_int_equal(games[0].fault_count, 1);
    assert_int_equal(games[0].move_count, 0);
    assert_int_equal(read_all("[Event \"A\n[Site \"B\"]\n\n1. e4 *\n"), 1);
    assert_string_equal(pgn_tag(&games[0], "Site"), "B");
    assert_int_equal(read_all("[Event \"A\"]\n\n1. e4 ) e5 ] } *\n"), 1);
    assert_int_equal(games[0].move_count, 2);
}

static void test_start_positions(void **state) {
    (void)state;
    assert_int_equal(read_all("[FEN \"R7/8/8/8/3N4/1BB5/pr6/kb2K2R w K - 0 1\"]\n\n1.Bxa2 Bxa2 2.O-O# 1-0"), 1);
    assert_int_equal(games[0].move_count, 3);
    assert_int_equal(games[0].fault_count, 0);
    assert_int_equal(read_all("[Variant \"Chess960\"]\n[FEN \"bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq - 0 1\"]\n\n"
                              "1. b3 c5 2.Nf3 d5 3.d4 b6 4.O-O *"), 1);
    assert_int_equal(games[0].move_count, 7);
    assert_true(games[0].start.chess960);
    Str out;
    str_init(&out, 4096);
    assert_true(pgn_write(&out, &games[0]));
    assert_non_null(strstr(out.data, "[FEN \"bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq - 0 1\"]\n"
                                     "[SetUp \"1\"]\n[Variant \"Chess960\"]\n\n1. b3 c5 2. Nf3 d5 3. d4 b6 4. O-O *\n\n"));
    str_free(&out);
}

int main(void) {
    arena_init(&arena, 64 << 20);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),           cmocka_unit_test(test_marks),   cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_escapes),         cmocka_unit_test(test_several), cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_start_positions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
