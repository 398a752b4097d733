/* PGN: reading what is found in the world, writing what the standard asks. */
#include "core/chess/fen.h"
#include "core/notation/notation.h"
#include "core/notation/pgn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

/* The games of a text, at most 8, kept until the next call of read_all(). */
static Arena arena;
static PgnGame games[8];

static size_t read_bytes(const char *text, size_t length) {
    PgnReader reader;
    size_t count = 0;
    arena_free(&arena);
    arena_init(&arena, 64 << 20);
    pgn_begin(&reader, text, length);
    while (count < 8 && pgn_next(&reader, &arena, &games[count]))
        count++;
    return count;
}

static size_t read_all(const char *text) {
    return read_bytes(text, strlen(text));
}

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
    assert_int_equal(read_bytes(text, sizeof text - 1), 1);
    assert_int_equal(games[0].fault_count, 0);
    assert_int_equal(games[0].move_count, 8);
    assert_string_equal(games[0].comment, "Before");
    assert_string_equal(games[0].comments[0], "King's pawn");
    assert_string_equal(games[0].comments[1], "a classic");
    assert_string_equal(games[0].comments[4], "one two");
    assert_null(games[0].comments[5]);
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
    assert_true(pgn_write(&out, games[0].tags, games[0].tag_count, &games[0].start, NULL, 0, NULL, "*"));
    assert_non_null(strstr(out.data, "[Event \"The \\\"Open\\\"\"]\n[Site \"a\\\\b\"]\n[Date \"????.??.??\"]\n[Round \"?\"]\n"));
    str_free(&out);
    /* Latin-1 becomes UTF-8 */
    assert_int_equal(read_all("[White \"M\xfcller\"]\n[Black \"M\xc3\xbcller\"]\n\n1. e4 {sch\xf6n} *\n"), 1);
    assert_string_equal(pgn_tag(&games[0], "White"), "M\xc3\xbcller");
    assert_string_equal(pgn_tag(&games[0], "Black"), "M\xc3\xbcller");
    assert_string_equal(games[0].comments[0], "sch\xc3\xb6n");
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
    assert_true(pgn_write(&out, games[0].tags, games[0].tag_count, &games[0].start, games[0].moves, games[0].move_count,
                          games[0].comments, "*"));
    assert_non_null(strstr(out.data, "[FEN \"bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq - 0 1\"]\n"
                                     "[SetUp \"1\"]\n[Variant \"Chess960\"]\n\n1. b3 c5 2. Nf3 d5 3. d4 b6 4. O-O *\n\n"));
    str_free(&out);
}

static void test_hostile(void **state) {
    (void)state;
    enum { SIZE = 4 << 20 };
    static const char *const pieces[] = { "(", "{", ")", "[", "[A \"", "{}", "1.", "Nf9 ", "((1. e4) ", ";\n", "$", "\"", "*", "\n[",
                                          "[Event \"x\"]\n", "e4 ", "\xff", "1. e4 e5 {a} ", "\\" };
    char *text = malloc(SIZE);
    assert_non_null(text);
    clock_t begin = clock();
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        size_t length = strlen(pieces[i]);
        for (size_t at = 0; at + length <= SIZE; at += length)
            memcpy(text + at, pieces[i], length);
        PgnReader reader;
        PgnGame game;
        Arena small;
        arena_init(&small, 8 << 20);
        pgn_begin(&reader, text, SIZE - SIZE % length);
        while (pgn_next(&reader, &small, &game)) {
            assert_true(game.move_count <= PGN_PLIES_MAX && game.tag_count <= PGN_TAGS_MAX);
            arena_free(&small);
        }
        arena_free(&small);
    }
    free(text);
    /* 80 MB: a second or two where it is linear, hours where it is not. */
    assert_true((clock() - begin) / CLOCKS_PER_SEC < 120);
}

static void test_small_arena(void **state) {
    (void)state;
    static const char text[] = "[Event \"A\"]\n[Site \"B\"]\n\n1. e4 {a comment that fills the arena all by itself} e5 *\n[Event \"C\"]\n\n1. d4 *\n";
    for (size_t maximum = 0; maximum < 4096; maximum += 64) {
        PgnReader reader;
        PgnGame game;
        Arena small;
        int count = 0;
        arena_init(&small, maximum);
        pgn_begin(&reader, text, strlen(text));
        while (pgn_next(&reader, &small, &game)) {
            count++;
            arena_free(&small);
        }
        arena_free(&small);
        assert_in_range(count, 1, 3);
    }
}

static void check_columns(const char *text) {
    for (const char *line = text; *line != 0;) {
        size_t length = strcspn(line, "\n");
        assert_true(length < 80);
        line += length + (line[length] == '\n');
    }
}

static void test_write(void **state) {
    (void)state;
    /* A long game of knights, a comment of many words, one with a brace. */
    Position position;
    Move moves[400];
    const char *comments[400] = { 0 };
    static const char *const knights[] = { "Nf3", "Nf6", "Ng1", "Ng8" };
    position_start(&position);
    Position start = position;
    for (int i = 0; i < 400; i++) {
        Reading reading;
        notation_read(&position, knights[i % 4], 0, &reading);
        assert_int_equal(reading.kind, READING_MOVE);
        moves[i] = reading.move;
        position_move(&position, &position, reading.move);
    }
    comments[0] = "first } of all";
    comments[1] = "many words that go on and on so that they must be broken over several lines of the text, %really, more than two\n"
                  "of them and then some";
    comments[2] = "  ";
    static const PgnTag tags[] = { { "White", "A" }, { "Zeta", "z" }, { "Black", "B" }, { "Annotator", "n" }, { "Result", "1-0" },
                                   { "ECO", "A00" } };
    Str out;
    str_init(&out, 65536);
    assert_true(pgn_write(&out, tags, 6, &start, moves, 400, comments, "1/2-1/2"));
    check_columns(out.data);
    static const char head[] = "[Event \"?\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"?\"]\n[White \"A\"]\n[Black \"B\"]\n"
                               "[Result \"1/2-1/2\"]\n[Annotator \"n\"]\n[ECO \"A00\"]\n[Zeta \"z\"]\n\n1. Nf3 {first ) of all} 1... Nf6 {many words";
    assert_memory_equal(out.data, head, strlen(head));
    assert_int_equal(read_bytes(out.data, out.length), 1);
    assert_int_equal(games[0].fault_count, 0);
    assert_int_equal(games[0].move_count, 400);
    assert_memory_equal(games[0].moves, moves, sizeof moves);
    assert_string_equal(games[0].comments[0], "first ) of all");
    assert_string_equal(games[0].result, "1/2-1/2");

    str_clear(&out);
    assert_false(pgn_write(&out, tags, 6, &start, moves + 1, 1, NULL, "*")); /* Black's move first */
    static const PgnTag bad[] = { { "A b", "x" } };
    assert_false(pgn_write(&out, bad, 1, &start, moves, 1, NULL, "*"));
    str_free(&out);
    str_init(&out, 100);
    assert_false(pgn_write(&out, tags, 6, &start, moves, 4, NULL, "*"));
    str_free(&out);

    /* Black begins. */
    str_init(&out, 4096);
    assert_true(fen_read("4k3/8/8/8/8/8/8/4K2R b K - 5 40", 0, &start, NULL));
    Move one[2] = { move_make(60, 52, EMPTY), move_make(4, 7, EMPTY) };
    assert_true(pgn_write(&out, NULL, 0, &start, one, 2, NULL, "*"));
    assert_non_null(strstr(out.data, "[FEN \"4k3/8/8/8/8/8/8/4K2R b K - 5 40\"]\n[SetUp \"1\"]\n\n40... Ke7 41. O-O *\n\n"));
    str_free(&out);
    arena_free(&arena);
}

int main(void) {
    arena_init(&arena, 64 << 20);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),           cmocka_unit_test(test_marks),   cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_escapes),         cmocka_unit_test(test_several), cmocka_unit_test(test_recovery),
        cmocka_unit_test(test_start_positions), cmocka_unit_test(test_hostile), cmocka_unit_test(test_small_arena),
        cmocka_unit_test(test_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
