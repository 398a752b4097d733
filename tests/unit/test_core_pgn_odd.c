/* PGN: spellings of old files and other programs, and what becomes of broken games. */
#include "tests/unit/test_core_pgn.h"

static void expect_moves(const char *text, size_t moves, const char *result) {
    assert_int_equal(read_all(text), 1);
    assert_int_equal(games[0].fault_count, 0);
    assert_int_equal(games[0].move_count, moves);
    assert_string_equal(games[0].result, result);
}

static void test_spellings(void **state) {
    (void)state;
    expect_moves("1 e4 e5 2 Nf3 Nc6 3 Bc4 Bc5 4 0-0 1/2", 7, "1/2-1/2");
    expect_moves("1.e4\xc2\xa0" "e5 2\xe2\x80\xa6 Nf3 2\xe2\x80\xa6Nc6 1:0", 4, "1-0");
    expect_moves("1.e4 a6 2.e5 d5 3.exd6e.p. h6 4.dxc7 ep 0-1", 7, "0-1");
    expect_moves("1.e4 a6 2.e5 d5 3.exd6 e.p. h6 4.Bxa6!! += *", 7, "*");
    expect_moves("1.e4 {1-0} (1. d4 0-1) ; 1/2-1/2\n e5 *", 2, "*");
    expect_moves("1. e4 e5 2. Ng1f3 Nb8-c6 3. Bf1-b5 a7a6 4. \xe2\x99\x97xc6 *", 7, "*");
    expect_moves("{a} {b} 1. e4 *", 1, "*");
    assert_string_equal(pgn_comment(&games[0], 0), "a");
    expect_moves("1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# \xc2\xbd-\xc2\xbd", 7, "1/2-1/2"); /* the verb warns */
    expect_moves("1.e4\re5\r2.Nf3 ; comment\r2... Nc6\r\r*", 4, "*"); /* line ends of old Macs */
    assert_int_equal(games[0].result_line, 6);
    expect_moves("\xef\xbb\xbf\xef\xbb\xbf[Event \"A\"]\n\n1. e4 *", 1, "*");
    expect_moves("1. e4 e5\n%clk {\n% (\n2. Nf3 *", 3, "*");
    assert_int_equal(read_all("1. e4 e5\n %clk\n2. Nf3 *"), 1); /* not in the first column */
    expect_fault(&games[0], 0, PGN_FAULT_MOVE, 2);
}

static void test_bytes(void **state) {
    (void)state;
    static const char nul[] = "1. e4\0e5\0\0*\x1a\0";
    assert_int_equal(read_bytes(nul, sizeof nul - 1, 0), 1);
    assert_int_equal(games[0].move_count, 2);
    assert_int_equal(games[0].fault_count, 0);
    static const char wide[] = "\xff\xfe[\0E\0v\0";
    assert_int_equal(read_bytes(wide, sizeof wide - 1, 0), 1);
    expect_fault(&games[0], 0, PGN_FAULT_ENCODING, 1);
    assert_int_equal(position_number960(&games[0].end), 518); /* there is a position all the same */
    assert_int_equal(read_bytes("", 0, 0), 0);
    assert_int_equal(read_bytes(NULL, 0, 0), 0);
    /* a token that is too long, whatever its beginning means */
    static const char *const begins[] = { "1. e4", "1. e2e4", "1. x" };
    for (size_t i = 0; i < 3; i++) {
        Str text;
        str_init(&text, 4096);
        str_append(&text, begins[i]);
        str_append_repeated(&text, '!', 100);
        str_append(&text, " e5 *");
        assert_int_equal(read_all(text.data), 1);
        expect_fault(&games[0], 0, PGN_FAULT_MOVE, 1);
        str_free(&text);
    }
}

static void test_variants(void **state) {
    (void)state;
    static const char *const chess960[] = { "Chess960", "chess 960", "Fischerandom", "Fischer Random", "fischerrandom/960", "FRC" };
    for (size_t i = 0; i < sizeof chess960 / sizeof chess960[0]; i++) {
        char text[200];
        snprintf(text, sizeof text, "[Variant \"%s\"]\n[FEN \"rqnkbbnr/pppppppp/8/8/8/8/PPPPPPPP/RQNKBBNR w KQkq - 0 1\"]\n\n1. g3 *", chess960[i]);
        expect_moves(text, 1, "*");
        assert_true(games[0].start.chess960);
    }
    expect_moves("[Variant \"From Position\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\"]\n\n1. e4 *", 1, "*");
    assert_false(games[0].start.chess960);
    assert_false(games[0].unchecked);
    expect_moves("[Variant \"Atomic\"]\n\n1. Nf3 f6 2. Nd4 Nc6 {x} 3. Nxc6 Kxe1 1-0", 0, "1-0");
    assert_true(games[0].unchecked);
    assert_int_equal(games[0].note_count, 0);
    expect_moves("[Variant \"Crazyhouse\"]\n[FEN \"8/8[Q] w - -\"]\n\n1. Q@f7# 1-0", 0, "1-0");
    assert_true(games[0].unchecked);
}

/* Moves other programs stumbled over. */
static void test_reported(void **state) {
    (void)state;
    expect_moves("[FEN \"5k2/8/8/8/8/8/6K1/2R4R w - - 0 27\"]\n\n27.Rc1c4 Ke7 28. Rhh4 *", 3, "*");
    expect_moves("[FEN \"8/7k/8/8/8/Q7/6K1/Q1Q5 w - - 0 1\"]\n\n1. Qa1c3 Kg6 2. Q1c2+ *", 3, "*");
    assert_int_equal(read_all("1.e4 d5 2.d8 *"), 1);
    expect_fault(&games[0], 0, PGN_FAULT_MOVE, 1);
    assert_int_equal(games[0].faults[0].move, 2);
    expect_moves("[FEN \"r3k3/8/8/8/8/8/8/3K3R b q - 0 1\"]\n\n1... 0-0-0+ 2. Kc2 *", 2, "*");
    assert_int_equal(read_all("1.e4 c5 2.d4 e5 3.c4 xd4 *"), 1);
    assert_int_equal(games[0].move_count, 5);
    expect_fault(&games[0], 0, PGN_FAULT_MOVE, 1);
    expect_moves("[Variant \"Chess960\"]\n[FEN \"rqnkbbnr/pppppppp/8/8/8/8/PPPPPPPP/RQNKBBNR w KQkq - 0 1\"]\n\n"
                 "1. g3 g6 2. Bg2 Bg7 3. Nf3 Nf6 4. d4 d5 5. Bd2 Bd7 6. O-O O-O *", 12, "*");
}

static void test_unclosed_comments(void **state) {
    (void)state;
    /* One that swallows a game's end stops before the next game. */
    assert_int_equal(read_all("[Event \"A\"]\n\n1. e4 {open\n[%clk 1] ( \n [Event \"in it\"]\n[Site \"in it\"]\ne5 1-0\n\n"
                              "[Site \"B\"]\n\n1. d4 {closed} *\n"), 2);
    expect_fault(&games[0], 0, PGN_FAULT_COMMENT, 3);
    assert_int_equal(games[0].fault_count, 1);
    assert_int_equal(games[0].move_count, 1);
    assert_int_equal(games[1].line, 9);
    assert_string_equal(pgn_comment(&games[1], 1), "closed");
    static const char inside[] = "1. e4 (1. d4 {open\n[Event \"B\"]\n1. d4";
    for (unsigned flags = 0; flags <= PGN_KEEP_VARIATIONS; flags++) {
        assert_int_equal(read_bytes(inside, sizeof inside - 1, flags), 2);
        assert_int_equal(games[0].fault_count, 1);
        expect_fault(&games[0], 0, PGN_FAULT_COMMENT, 1);
        assert_int_equal(games[0].note_count, 0);
        assert_int_equal(games[1].move_count, 1);
    }
    assert_int_equal(read_all("1. e4\n{open"), 1);
    expect_fault(&games[0], 0, PGN_FAULT_COMMENT, 2);
    assert_int_equal(read_all("1. e4 } e5 *"), 1);
    expect_fault(&games[0], 0, PGN_FAULT_COMMENT, 1);
    assert_int_equal(games[0].move_count, 2);
    assert_int_equal(read_all("1. e4 ) e5 *"), 1);
    expect_fault(&games[0], 0, PGN_FAULT_VARIATION, 1);
}

static void test_bad_tags(void **state) {
    (void)state;
    static const char *const bad[] = { "[Event]", "[Event \"x]", "[Event \"x\"", "[Event x]", "[\"x\"]", "[Event \"x\"y]", "[Ev\xc3\xa9nt \"x\"]",
                                       "[", "[Event \"5th \"Mikis\" Tournament\"]" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        Str text;
        str_init(&text, 4096);
        str_printf(&text, "[Site \"S\"]\n%s\n[White \"W\"]\n\n1. e4 e5 1-0\n", bad[i]);
        assert_int_equal(read_all(text.data), 1);
        assert_int_equal(games[0].fault_count, 1);
        expect_fault(&games[0], 0, PGN_FAULT_TAG, 2);
        assert_int_equal(games[0].move_count, 2);
        assert_string_equal(pgn_tag(&games[0], "White"), "W");
        str_free(&text);
    }
    /* A broken game is told of once, not again for what follows from it. */
    assert_int_equal(read_all("1. e4 {a {b} c} ) } e5 *"), 1);
    assert_int_equal(games[0].fault_count, 1);
    expect_fault(&games[0], 0, PGN_FAULT_MOVE, 1);
    /* No more faults are told than there is room for. */
    assert_int_equal(read_all("1. e4 ) ) ) ) ) ) ) ) ) ) ) ) e5 *"), 1);
    assert_int_equal(games[0].fault_count, PGN_FAULTS_MAX);
    expect_fault(&games[0], PGN_FAULTS_MAX - 1, PGN_FAULT_MORE, 1);
    assert_int_equal(games[0].move_count, 2);
}

static void test_tags(void **state) {
    (void)state;
    assert_int_equal(read_all("[Event  \"A  \t B\" ]  [ Site \"x\"][White\"w\"]\n[Black \"\\\"\\\\\\x\"]\n\n*"), 1);
    assert_int_equal(games[0].fault_count, 0);
    assert_string_equal(pgn_tag(&games[0], "Event"), "A    B"); /* a tab is a blank */
    assert_string_equal(pgn_tag(&games[0], "Site"), "x");
    assert_string_equal(pgn_tag(&games[0], "White"), "w");
    assert_string_equal(pgn_tag(&games[0], "Black"), "\"\\\\x");
    Str text;
    str_init(&text, 1 << 20);
    for (int i = 0; i < PGN_TAGS_MAX + 3; i++)
        str_printf(&text, "[Tag%d \"%d\"]\n", i, i);
    str_append(&text, "\n1. e4 *");
    assert_int_equal(read_all(text.data), 1);
    assert_int_equal(games[0].tag_count, PGN_TAGS_MAX);
    expect_fault(&games[0], 0, PGN_FAULT_TAG, PGN_TAGS_MAX + 1);
    str_clear(&text);
    str_append(&text, "[Long \"");
    str_append_repeated(&text, 'x', PGN_COMMENT_MAX + 1000);
    str_append(&text, "\"]\n[White \"W\"]\n\n1. e4 {");
    str_append_repeated(&text, 'y', PGN_COMMENT_MAX + 1000);
    str_append(&text, "} *");
    assert_int_equal(read_all(text.data), 1);
    assert_int_equal(games[0].fault_count, 0);
    assert_int_equal(strlen(pgn_tag(&games[0], "Long")), PGN_COMMENT_MAX);
    assert_int_equal(strlen(pgn_comment(&games[0], 1)), PGN_COMMENT_MAX);
    assert_string_equal(pgn_tag(&games[0], "White"), "W");
    str_free(&text);
}

int main(void) {
    arena_init(&arena, 64 << 20);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spellings), cmocka_unit_test(test_bytes),    cmocka_unit_test(test_variants), cmocka_unit_test(test_reported),
        cmocka_unit_test(test_unclosed_comments), cmocka_unit_test(test_bad_tags), cmocka_unit_test(test_tags),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
