/* PGN: bytes and values at the edges of what the reader and the writer take. */
#include "tests/unit/test_core_pgn.h"

/* A text of one game, its faults and moves. */
static void expect(const char *text, size_t faults, size_t moves) {
    assert_int_equal(read_bytes(text, strlen(text), PGN_KEEP_VARIATIONS), 1);
    assert_int_equal(games[0].fault_count, faults);
    assert_int_equal(games[0].move_count, moves);
}

static void test_tag_names(void **state) {
    (void)state;
    expect("[aZ09_-+#=: \"x\"]\n\n*", 0, 0);
    assert_string_equal(pgn_tag(&games[0], "AZ09_-+#=:"), "x");
    static const char *const none[] = { "[A/ \"x\"]", "[A@ \"x\"]", "[A[ \"x\"]", "[A` \"x\"]", "[A{ \"x\"]", "[A; \"x\"]", "[A! \"x\"]", "[A< \"x\"]" };
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_true(read_all(none[i]) >= 1);
        expect_fault(&games[0], 0, PGN_FAULT_TAG, 1);
    }
    /* A name may have 64 bytes, with 16 blanks before it and any number behind. */
    Str text;
    for (size_t blanks = 15; blanks <= 17; blanks++)
        for (size_t length = 63; length <= 65; length++) {
            str_init(&text, 4096);
            str_append_char(&text, '[');
            str_append_repeated(&text, blanks == 15 ? '\t' : ' ', blanks);
            str_append_repeated(&text, 'N', length);
            str_append_repeated(&text, ' ', 500);
            str_append(&text, "\"x\"\t ]\n\n1. e4 *");
            expect(text.data, blanks > 16 || length > 64, 1);
            str_free(&text);
        }
    expect("[Event \"a\x7f\x01\xc3\xbc\"]\n\n*", 0, 0);
    assert_string_equal(pgn_tag(&games[0], "Event"), "a  \xc3\xbc");
    expect("[Variant \"Freestyle\"]\n\n1. e4 *", 0, 1);
    assert_true(games[0].start.chess960);
    /* What might begin a tag within a comment: [Even, a long name, no blank, no quotation mark. */
    static const char *const inside[] = { "[Even \"x\"]", "[Evens \"x\"]", "[Event\"x\"]", "[Event x]", "[E1_ \"x\"]", "[\t[", "[ 1", "[@", "[`", "[{", "[[",
                                          "[NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN \"x\"]", "[E~ \"x\"]",
                                          "[E/ \"x\"]", "[E: \"x\"]" };
    for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++) {
        char comment[300];
        snprintf(comment, sizeof comment, "1. e4 {x\n%s\x7f} e5 *", inside[i]);
        expect(comment, 0, 2);
        assert_int_equal(games[0].note_count, 1);
    }
}

static void test_tokens(void **state) {
    (void)state;
    expect("1. e4 $2560 $9999999999999999999999 $0 e5 *", 0, 2);
    assert_int_equal(games[0].note_count, 1);
    static const char *const passes[] = { "--", "Z0", "@@@@" };
    for (size_t i = 0; i < 3; i++) {
        char text[64];
        snprintf(text, sizeof text, "1. e4 %s 2. d4 *", passes[i]);
        expect(text, 1, 1);
        snprintf(text, sizeof text, "1. e4 (1. d4 %s 2. c4) 1... e5 *", passes[i]);
        expect(text, 0, 2);
        assert_int_equal(games[0].note_count, 5);
    }
    expect("1. e4 (=) (= ) (1. d4 (=)) e5 *", 0, 2);
    assert_int_equal(games[0].note_count, 8); /* (= ) is a variation of nothing but a mark */
    expect("1. e4 (1. d4 1-0 {x}) e5\n   \t[%clk] *", 1, 2); /* no tag, no comment */
    assert_int_equal(read_bytes("1. e4 (1. d4\n \t [B \"\"]\n*", 24, 0), 2);
    expect("1. e4 %x *", 1, 1);
    expect("1. e4 (1. d4 %x\n%y )\n) e5 *", 1, 2);
    expect("1. e4 (1. e5 $1 {lost} ! (1. c4) Nf3) e5 *", 1, 2);
    assert_int_equal(games[0].note_count, 2);
    static const char big_endian[] = "\xfe\xff\0[", half_mark[] = "\xff[", other_half[] = "\xfe[";
    assert_int_equal(read_bytes(big_endian, 4, 0), 1);
    expect_fault(&games[0], 0, PGN_FAULT_ENCODING, 1);
    assert_int_equal(read_bytes(half_mark, 2, 0), 1);
    expect_fault(&games[0], 0, PGN_FAULT_MOVE, 1);
    assert_int_equal(read_bytes(other_half, 2, 0), 1);
    expect_fault(&games[0], 0, PGN_FAULT_MOVE, 1);
    expect("1. e4 \x7f\xff\x01 e5 *", 1, 1); /* told without its control characters */
    assert_null(strchr(games[0].faults[0].text, '\x01'));
    assert_null(strchr(games[0].faults[0].text, '\xff'));
    expect("1. \xc3\xbc *", 1, 0);
    assert_non_null(strstr(games[0].faults[0].text, "\xc3\xbc"));
    assert_string_equal(pgn_fault_name((PgnFaultKind)99), "none");
}

static void test_commands(void **state) {
    (void)state;
    static const char *const none[] = { "[%]", "[% clk 1]", "[%clk-1]", "[%clk 1", "%clk 1]", "[%!x]", "[%[]", "[%{x]", "[%@x]", "[%/]", "[%:]" };
    PgnCommand command;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        const char *at = none[i];
        assert_false(pgn_command(&at, &command));
    }
    const char *at = "[%!] [%aZ_09 ]";
    assert_true(pgn_command(&at, &command));
    assert_int_equal(command.name_length, 5);
    assert_int_equal(command.value_length, 0);
}

static bool writes(const PgnGame *game) {
    Str out;
    str_init(&out, 65536);
    bool good = pgn_write(&out, game);
    str_free(&out);
    return good;
}

static void test_writer(void **state) {
    (void)state;
    PgnNote notes[2 * PGN_NESTING_MAX + 2];
    PgnGame game = { .notes = notes };
    position_start(&game.start);
    for (size_t depth = PGN_NESTING_MAX; depth <= PGN_NESTING_MAX + 1; depth++) {
        for (size_t i = 0; i < depth; i++) {
            notes[i] = (PgnNote){ .kind = PGN_NOTE_OPEN };
            notes[depth + i] = (PgnNote){ .kind = PGN_NOTE_CLOSE };
        }
        game.note_count = 2 * depth;
        assert_true(writes(&game) == (depth == PGN_NESTING_MAX));
    }
    notes[0] = (PgnNote){ .kind = (PgnNoteKind)77 };
    game.note_count = 1;
    assert_false(writes(&game));
    notes[0] = (PgnNote){ .kind = PGN_NOTE_COMMENT, .text = NULL };
    assert_true(writes(&game));
    notes[0].text = "a\x7f\x01" "b";
    assert_true(writes(&game));
    const PgnTag empty[] = { { "", "x" } }, variant[] = { { "Variant", "Chess 960" } };
    game.tags = empty;
    game.tag_count = 1;
    assert_false(writes(&game));
    game.tags = variant;
    assert_true(writes(&game));
    /* a null move in check */
    assert_true(fen_read("4k3/8/8/8/4r3/8/8/4K3 w - - 30 7", 0, &game.start, NULL));
    notes[0] = (PgnNote){ .kind = PGN_NOTE_OPEN };
    notes[1] = (PgnNote){ .kind = PGN_NOTE_MOVE };
    notes[2] = (PgnNote){ .kind = PGN_NOTE_CLOSE };
    game.note_count = 3;
    assert_false(writes(&game));
    assert_true(fen_read("4k3/8/8/8/3r4/8/8/4K3 w - - 30 7", 0, &game.start, NULL));
    game.start.halfmove = UINT16_MAX; /* where it stays */
    assert_true(writes(&game));
    /* the standard array later in the game is a set-up position */
    static const char *const late[] = { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 2", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 4 1" };
    for (size_t i = 0; i < 2; i++) {
        Str out;
        str_init(&out, 4096);
        PgnGame set_up = { 0 };
        assert_true(fen_read(late[i], 0, &set_up.start, NULL));
        assert_true(pgn_write(&out, &set_up));
        assert_non_null(strstr(out.data, late[i]));
        str_free(&out);
    }
}

int main(void) {
    arena_init(&arena, 64 << 20);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tag_names), cmocka_unit_test(test_tokens), cmocka_unit_test(test_commands), cmocka_unit_test(test_writer),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
