/* PGN: wherever a text is cut, it is read the same; and whatever it holds, the work is linear. */
#include "tests/unit/test_core_pgn.h"
#include "tests/unit/slow.h"

typedef struct Pieces {
    const char *at;
    size_t left;
    size_t most; /* bytes of one piece: by lot from 1 to this */
    uint64_t chance;
} Pieces;

static size_t next_piece(void *context, char *buffer, size_t size) {
    Pieces *pieces = context;
    size_t length = 1 + (size_t)draw(&pieces->chance, pieces->most);
    assert_true(size > 0);
    length = length > pieces->left ? pieces->left : length;
    length = length > size ? size : length;
    memcpy(buffer, pieces->at, length);
    pieces->at += length;
    pieces->left -= length;
    return length;
}

static void tell_all(PgnReader *reader, Str *out) {
    Arena small;
    PgnGame game;
    arena_init(&small, 4 << 20);
    while (pgn_next(reader, &small, &game)) {
        tell(out, &game);
        arena_reset(&small);
    }
    arena_free(&small);
}

static void check_pieces(const char *text, size_t length, unsigned flags) {
    static const size_t most[] = { 1, 7, 300, 70000 }, sizes[] = { PGN_BUFFER_LEAST, PGN_BUFFER_LEAST + 1, 65536 };
    Str whole, cut;
    PgnReader reader;
    str_init(&whole, 64 << 20);
    str_init(&cut, 64 << 20);
    pgn_begin(&reader, text, length, flags);
    tell_all(&reader, &whole);
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 3; j++) {
            char *buffer = malloc(sizes[j]);
            assert_non_null(buffer);
            Pieces pieces = { text, length, most[i], i + j };
            pgn_open(&reader, next_piece, &pieces, buffer, sizes[j], flags);
            str_clear(&cut);
            tell_all(&reader, &cut);
            free(buffer);
            assert_false(cut.overflowed);
            assert_string_equal(cut.data, whole.data);
        }
    str_free(&whole);
    str_free(&cut);
}

static void append_game(Str *out, uint64_t *chance) {
    static const char *const between[] = { " ", " ", " ", "\n", "\r\n", "\r", "  ", " {a comment\nof two lines} ", " $3 ", " (1. e4 (1. Ke2)) ", "! ",
                                           " ; to the end (\n", "\n% escape {\n", " {[%clk 0:01:02] [Event \"x\"]} ", "\n {\n\n [Site \"\"] }", " += " };
    Position position;
    position_start(&position);
    str_printf(out, "[Event \"%d\"]\r\n[White \"\\\"M\xc3\xbcller\\\"\"]\n[Black \"M\xfcller\"]\n\n", (int)draw(chance, 1000));
    for (uint64_t ply = draw(chance, 60); ply > 0; ply--) {
        MoveList list;
        char san[NOTATION_MAX];
        moves_legal(&position, &list);
        if (list.count == 0)
            break;
        Move move = list.moves[draw(chance, (uint64_t)list.count)];
        notation_write(&position, move, draw(chance, 9) == 0 ? NOTATION_LONG : NOTATION_SAN, san);
        str_printf(out, "%d%s%s%s%s", position_fullmove(&position), position_turn(&position) == WHITE ? "." : "...", draw(chance, 2) ? " " : "", san,
                   between[draw(chance, sizeof between / sizeof between[0])]);
        position_move(&position, &position, move);
    }
    static const char *const ends[] = { " 1-0\n\n", " *\n\n", "\n\n", " {open\n\n", " Ke9 1-0\n", " ( \n", " 1/2-1/2 ", ") } 0-1\n[\n" };
    str_append(out, ends[draw(chance, sizeof ends / sizeof ends[0])]);
}

static void test_pieces(void **state) {
    (void)state;
    uint64_t chance = 9;
    Str text;
    str_init(&text, 64 << 20);
    for (int i = 0; i < (SLOW ? 20 : 300); i++)
        append_game(&text, &chance);
    for (unsigned flags = 0; flags <= PGN_KEEP_VARIATIONS; flags++)
        check_pieces(text.data, text.length, flags);
    /* Every length of a text around what the reader looks at together. */
    for (size_t length = 0; length < 2 * PGN_LOOKAHEAD + 3; length += SLOW ? 17 : 1)
        check_pieces(text.data, length, PGN_KEEP_VARIATIONS);
    /* Blanks and bytes that span whole buffers, wherever they begin. */
    static const char *const long_ones[] = { " ", "\n", "x", "{", "0", ".", "!", "\xc2\xa0", "\xef\xbb\xbf", "\r\n", "$1", "[", "(", "[A \"" };
    for (size_t i = 0; i < sizeof long_ones / sizeof long_ones[0]; i++) {
        str_clear(&text);
        append_game(&text, &chance);
        while (text.length < 3000)
            str_append(&text, long_ones[i]);
        str_append(&text, "[Event \"B\"]\n\n1. e4 *\n");
        check_pieces(text.data, text.length, PGN_KEEP_VARIATIONS);
    }
    str_free(&text);
}

/* --- hostile texts --- */

enum { HOSTILE = SLOW ? 1 << 15 : 1 << 20 };

static uint64_t work_of(const char *text, size_t length, unsigned flags, size_t *ret_games) {
    PgnReader reader;
    PgnGame game;
    Arena small;
    arena_init(&small, 1 << 20);
    pgn_begin(&reader, text, length, flags);
    *ret_games = 0;
    while (pgn_next(&reader, &small, &game)) {
        assert_true(game.move_count <= PGN_PLIES_MAX && game.tag_count <= PGN_TAGS_MAX && game.fault_count <= PGN_FAULTS_MAX);
        ++*ret_games;
        arena_reset(&small);
    }
    arena_free(&small);
    return reader.work;
}

static void test_hostile(void **state) {
    (void)state;
    static const char *const pieces[] = { "(", "{", ")", "[", "[A \"", "{}", "1.", "Nf9 ", "((1. e4) ", ";\n", "$", "\"", "*", "\n[", "\n[A",
                                          "[Event \"x\"]\n", "e4 ", "\xff", "1. e4 e5 {a} ", "\\", "7", "\0", "}", "\n{\n\n[A", "[A \"x\"]\n",
                                          "[A \"\\\"", "a*", "e4 * ", "(e4 ", "(--", "!", "+-", ". ", "{\n[Event", "(e4) ", "%\n", "(x)", "\r" };
    char *text = malloc(HOSTILE);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        size_t length = pieces[i][0] == 0 ? 1 : strlen(pieces[i]), games_read;
        for (size_t at = 0; at + length <= HOSTILE; at += length)
            memcpy(text + at, pieces[i], length);
        for (unsigned flags = 0; flags <= PGN_KEEP_VARIATIONS; flags++) {
            /* Linear, with the factor that is promised; and a text twice as long is not more than twice the work. */
            uint64_t half = work_of(text, HOSTILE / 2, flags, &games_read), whole = work_of(text, HOSTILE, flags, &games_read);
            assert_true(whole >= HOSTILE && whole <= (uint64_t)PGN_WORK_MOST * (HOSTILE + PGN_LOOKAHEAD));
            assert_true(whole <= 2 * half + half / 8 + (uint64_t)PGN_WORK_MOST * PGN_LOOKAHEAD);
        }
    }
    free(text);
}

static void test_work_limit(void **state) {
    (void)state;
    static const char text[] = "[Event \"A\"]\n\n1. e4 e5 *\n[Event \"B\"]\n\n1. e2e4 e7e5 2. g1f3 b8c6 *\n[Event \"C\"]\n\n1. d4 *\n";
    PgnReader reader;
    PgnGame game;
    size_t all;
    uint64_t needed = work_of(text, sizeof text - 1, 0, &all);
    assert_int_equal(all, 3);
    assert_in_range(needed, 4 * PGN_WORK_READING, 5 * PGN_WORK_READING);
    for (uint64_t limit = 1; limit < 2 * needed; limit += 5) {
        int count = 0;
        bool faulty = false;
        arena_free(&arena);
        arena_init(&arena, 64 << 20);
        pgn_begin(&reader, text, sizeof text - 1, 0);
        reader.work_limit = limit;
        while (pgn_next(&reader, &arena, &game)) {
            count++;
            faulty = game.fault_count > 0;
            if (faulty)
                assert_int_equal(game.faults[0].kind, PGN_FAULT_WORK);
        }
        assert_true(faulty == (limit < needed));
        assert_true(faulty ? count >= 1 : count == 3);
        assert_false(pgn_next(&reader, &arena, &game));
    }
}

static void test_small_arena(void **state) {
    (void)state;
    static const char text[] = "[Event \"A\"]\n[Site \"B\"]\n\n1. e4 {a comment that fills the arena all by itself} (1. d4 {one more} (1. c4)) e5 *\n"
                               "[Event \"C\"]\n\n1. d4 *\n";
    for (size_t maximum = 0; maximum < 40000; maximum += SLOW ? 400 : 16)
        for (unsigned flags = 0; flags <= PGN_KEEP_VARIATIONS; flags++) {
            PgnReader reader;
            PgnGame game;
            Arena small;
            int count = 0;
            arena_init(&small, maximum);
            pgn_begin(&reader, text, strlen(text), flags);
            while (pgn_next(&reader, &small, &game)) {
                Str out;
                str_init(&out, 65536);
                assert_true(pgn_write(&out, &game)); /* no variation is left half open */
                assert_true(game.fault_count == 0 || game.faults[0].kind == PGN_FAULT_SIZE);
                str_free(&out);
                count++;
                arena_reset(&small);
            }
            arena_free(&small);
            assert_int_equal(count, 2);
        }
}

static void test_long_game(void **state) {
    (void)state;
    Str text;
    str_init(&text, 1 << 20);
    for (int i = 0; i < PGN_PLIES_MAX + 5; i++)
        str_append(&text, i % 4 < 2 ? (i % 2 == 0 ? "Nf3 " : "Nf6 ") : i % 2 == 0 ? "Ng1 " : "Ng8 ");
    str_append(&text, "1/2-1/2");
    assert_int_equal(read_all(text.data), 1);
    assert_int_equal(games[0].move_count, PGN_PLIES_MAX);
    expect_fault(&games[0], 0, PGN_FAULT_SIZE, 1);
    assert_int_equal(games[0].fault_count, 1);
    assert_string_equal(games[0].result, "1/2-1/2");
    str_free(&text);
}

/* What is glued to a move's number is what it would be alone, on the quick way through the text and on the other. */
static void test_glued(void **state) {
    (void)state;
    static const struct { const char *text, *result; size_t moves, faults; } cases[] = {
        { "1.e4", "", 1, 0 }, { "1.2.e4", "", 1, 0 }, { "2.3 e4", "", 1, 0 }, { "1.1-0", "1-0", 0, 0 }, { "1.e4 1.*", "*", 1, 0 },
        { "1.e4 1...e5 2.1/2-1/2", "1/2-1/2", 2, 0 }, { "1.e4(1.2.d4)1...e5 0-1", "0-1", 2, 0 }, { "1.e4 12345678.e5 *", "*", 2, 0 },
        { "1.e4 123456789.e5 *", "*", 2, 0 }, { "1.e4 1.\xe2\x80\xa6" "e5 *", "*", 2, 0 }, { "1.zork *", "*", 0, 1 }, { "1.2.3.$1e4", "", 1, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int quick = 0; quick < 2; quick++) {
            char text[4 * PGN_LOOKAHEAD];
            snprintf(text, sizeof text, "%s%*s", cases[i].text, quick ? 3 * PGN_LOOKAHEAD : 0, "");
            assert_int_equal(read_all(text), 1);
            if (games[0].move_count != cases[i].moves || games[0].fault_count != cases[i].faults)
                fail_msg("%s, quick %d: %zu moves, %zu faults", cases[i].text, quick, games[0].move_count, games[0].fault_count);
            assert_string_equal(games[0].result, cases[i].result);
        }
}

int main(void) {
    arena_init(&arena, 64 << 20);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces),      cmocka_unit_test(test_hostile),   cmocka_unit_test(test_work_limit),
        cmocka_unit_test(test_small_arena), cmocka_unit_test(test_long_game), cmocka_unit_test(test_glued),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
