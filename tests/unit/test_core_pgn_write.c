/* PGN: writing what the standard asks, and reading it back. */
#include "tests/unit/test_core_pgn.h"

static void check_lines(const char *text) {
    for (const char *line = text; *line != 0;) {
        size_t length = strcspn(line, "\n");
        assert_true(length < 80);
        assert_true(length == 0 || line[length - 1] != ' ');
        line += length + (line[length] == '\n');
    }
}

static void expect_written(const PgnGame *game, const char *expected) {
    Str out;
    str_init(&out, 65536);
    assert_true(pgn_write(&out, game));
    assert_string_equal(out.data, expected);
    str_free(&out);
}

static void expect_refused(const PgnGame *game) {
    Str out;
    str_init(&out, 65536);
    assert_false(pgn_write(&out, game));
    str_free(&out);
}

/* Reads `text` with everything kept and expects it written as `expected`. */
static void expect_rewritten(const char *text, const char *expected) {
    assert_int_equal(read_bytes(text, strlen(text), PGN_KEEP_VARIATIONS), 1);
    assert_int_equal(games[0].fault_count, 0);
    expect_written(&games[0], expected);
}

#define ROSTER "[Event \"?\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"?\"]\n[White \"?\"]\n[Black \"?\"]\n"

static void test_tags(void **state) {
    (void)state;
    static const PgnTag tags[] = { { "White", "A \"x\" \\ \t" }, { "Zeta", "z" }, { "black", "B" }, { "Annotator", "n" }, { "Result", "1-0" },
                                   { "ECO", "A00" },            { "ECO", "B00" }, { "FEN", "x" },   { "Variant", "Fischerandom" }, { "a", "" } };
    PgnGame game = { .tags = tags, .tag_count = sizeof tags / sizeof tags[0], .result = "1/2-1/2" };
    position_start(&game.start);
    expect_written(&game, "[Event \"?\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"?\"]\n[White \"A \\\"x\\\" \\\\  \"]\n[Black \"B\"]\n"
                          "[Result \"1/2-1/2\"]\n[Annotator \"n\"]\n[ECO \"A00\"]\n[Zeta \"z\"]\n[a \"\"]\n\n1/2-1/2\n\n");
    game.start.chess960 = true; /* the standard array, Chess960's castling */
    game.tag_count = 0;
    game.result = NULL;
    expect_written(&game, ROSTER "[Result \"*\"]\n[FEN \"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\"]\n[SetUp \"1\"]\n"
                                 "[Variant \"Chess960\"]\n\n*\n\n");
    static const PgnTag bad[] = { { "A b", "x" } };
    game.tags = bad;
    game.tag_count = 1;
    expect_refused(&game);
    game.tag_count = 0;
    game.result = "0-0";
    expect_refused(&game);
}

static void test_moves(void **state) {
    (void)state;
    Move moves[2] = { move_make(60, 52, EMPTY), move_make(4, 7, EMPTY) };
    PgnGame game = { .moves = moves, .move_count = 2, .result = "" };
    assert_true(fen_read("4k3/8/8/8/8/8/8/4K2R b K - 5 40", 0, &game.start, NULL));
    expect_written(&game, ROSTER "[Result \"*\"]\n[FEN \"4k3/8/8/8/8/8/8/4K2R b K - 5 40\"]\n[SetUp \"1\"]\n\n40... Ke7 41. O-O *\n\n");
    PgnNote notes[] = { { .kind = PGN_NOTE_COMMENT, .ply = 0, .text = " before } it " }, { .kind = PGN_NOTE_COMMENT, .ply = 1, .text = " \n " } };
    game.notes = notes;
    game.note_count = 2;
    expect_written(&game, ROSTER "[Result \"*\"]\n[FEN \"4k3/8/8/8/8/8/8/4K2R b K - 5 40\"]\n[SetUp \"1\"]\n\n{before ) it} 40... Ke7 41. O-O *\n\n");
    notes[0].ply = 3; /* behind a move that is not there */
    expect_refused(&game);
    notes[0] = (PgnNote){ .kind = PGN_NOTE_OPEN, .ply = 1 };
    expect_refused(&game);
    notes[0].kind = PGN_NOTE_CLOSE;
    expect_refused(&game);
    notes[0].kind = PGN_NOTE_MOVE;
    expect_refused(&game);
    notes[0].kind = PGN_NOTE_OPEN;
    notes[1] = (PgnNote){ .kind = PGN_NOTE_MOVE, .ply = 1, .move = move_make(0, 8, EMPTY) };
    game.note_count = 2;
    expect_refused(&game);
    game.note_count = 0;
    moves[1] = move_make(4, 6, EMPTY);
    expect_refused(&game);
    moves[1] = move_make(4, 7, EMPTY);
    Str out;
    str_init(&out, 100);
    assert_false(pgn_write(&out, &game));
    str_free(&out);
}

static void test_layout(void **state) {
    (void)state;
    expect_rewritten("1.e4!?{a}{b}e5 ; c } d\n2.Nf3(2.Bc4$1 Nc6(2...d6))(2.--)Nc6 1-0",
                     ROSTER "[Result \"1-0\"]\n\n1. e4 $5 {a} {b} 1... e5 {c ) d} 2. Nf3 (2. Bc4 $1 Nc6 (2... d6)) (2. --) 2...\nNc6 1-0\n\n");
    expect_rewritten("1.e4()({x})(()1. d4{z})c5 *",
                     ROSTER "[Result \"*\"]\n\n1. e4 () ({x}) (() 1. d4 {z}) 1... c5 *\n\n");
}

static void test_columns(void **state) {
    (void)state;
    static const char comment[] = "many words that go on and on so that they must be broken over several lines of the text, %really, more than two "
                                  "of them and then some [Event \"x\"] [Event \"y\"] [%clk 0:01] %a %b %c %d %e %f %g %h %i %j %k %l %m %n %o %p %q";
    /* Wherever the words fall, no line begins with % or [. */
    for (size_t skip = 0; skip < 78; skip++) {
        Str text, out;
        str_init(&text, 65536);
        str_init(&out, 65536);
        str_append(&text, "1. e4 {");
        str_append_repeated(&text, 'x', skip + 1);
        str_printf(&text, " %s} e5 *", comment);
        assert_int_equal(read_all(text.data), 1);
        assert_true(pgn_write(&out, &games[0]));
        check_lines(out.data);
        assert_null(strstr(out.data, "\n%"));
        assert_null(strstr(strstr(out.data, "\n\n"), "\n["));
        Str told;
        str_init(&told, 65536);
        tell_score(&told, &games[0]);
        size_t length = told.length;
        assert_int_equal(read_all(out.data), 1);
        tell_score(&told, &games[0]);
        assert_int_equal(told.length, 2 * length);
        assert_memory_equal(told.data, told.data + length, length);
        str_free(&told);
        str_free(&text);
        str_free(&out);
    }
}

/* --- games by lot --- */

typedef struct Maker {
    uint64_t chance;
    PgnTag tags[8];
    Move moves[200];
    PgnNote notes[400];
    PgnGame game;
} Maker;

static Move move_by_lot(Maker *maker, const Position *position) {
    MoveList list;
    moves_legal(position, &list);
    return list.count == 0 ? MOVE_NONE : list.moves[draw(&maker->chance, (uint64_t)list.count)];
}

static void note(Maker *maker, PgnNoteKind kind, Move move, int number, const char *text) {
    maker->notes[maker->game.note_count++] =
        (PgnNote){ .kind = kind, .ply = (uint32_t)maker->game.move_count, .move = move, .number = (uint8_t)number, .text = text };
}

static void annotate(Maker *maker) {
    static const char *const texts[] = { "x", "A novelty.", "[%clk 1:23:45]", "(=)", "{ braces { and (brackets) ; $1 1-0 e4 *", "M\xc3\xbcller [Event \"no\"]",
                                         "a_word_that_is_longer_than_half_a_line_of_the_text a_word_that_is_longer_than_half_a_line_of_the_text",
                                         "% [ % [ % [ % [ % [ % [ % [ % [ % [ % [ % [ % [ % [ % [ % [ % [ % [ % [ % [ % [ % [ % [ % [ % [" };
    if (draw(&maker->chance, 4) == 0)
        note(maker, PGN_NOTE_NAG, 0, (int)draw(&maker->chance, 256), NULL);
    while (draw(&maker->chance, 4) == 0)
        note(maker, PGN_NOTE_COMMENT, 0, 0, texts[draw(&maker->chance, sizeof texts / sizeof texts[0])]);
}

static void vary(Maker *maker, Position base, int depth) {
    Position before = base;
    if (maker->game.note_count > 250 || depth > 5)
        return;
    note(maker, PGN_NOTE_OPEN, 0, 0, NULL);
    annotate(maker);
    for (uint64_t left = draw(&maker->chance, 5); left > 0; left--) {
        Move move = move_by_lot(maker, &base);
        if (move == MOVE_NONE)
            break;
        note(maker, PGN_NOTE_MOVE, move, 0, NULL);
        before = base;
        position_move(&base, &base, move);
        annotate(maker);
        if (draw(&maker->chance, 4) == 0)
            vary(maker, before, depth + 1);
    }
    note(maker, PGN_NOTE_CLOSE, 0, 0, NULL);
}

static void make(Maker *maker) {
    static const char *const names[] = { "Event", "White", "Black", "ECO", "Annotator", "Zz", "WhiteNA", "Mode" };
    static const char *const values[] = { "", "x", "The \"Old\" \\ Mill", "  two  blanks ", "M\xc3\xbcller", "[A \"b\"]", "1-0", "Ke\xe2\x99\x94" };
    static const char *const results[] = { "1-0", "0-1", "1/2-1/2", "*" };
    PgnGame *game = &maker->game;
    *game = (PgnGame){ .tags = maker->tags, .moves = maker->moves, .notes = maker->notes, .result = results[draw(&maker->chance, 4)] };
    for (size_t i = 0; i < 8; i++)
        if (draw(&maker->chance, 2) == 0)
            maker->tags[game->tag_count++] = (PgnTag){ names[i], values[draw(&maker->chance, 8)] };
    if (draw(&maker->chance, 3) == 0)
        position_start960((int)draw(&maker->chance, 960), &game->start);
    else
        position_start(&game->start);
    for (uint64_t ply = draw(&maker->chance, 9); draw(&maker->chance, 3) == 0 && ply > 0; ply--) /* a set-up position */
        position_move(&game->start, &game->start, move_by_lot(maker, &game->start));
    Position before = game->start;
    game->end = game->start;
    for (uint64_t left = draw(&maker->chance, 100);; left--) {
        annotate(maker);
        if (draw(&maker->chance, 8) == 0)
            vary(maker, before, 1);
        Move move = left == 0 ? MOVE_NONE : move_by_lot(maker, &game->end);
        if (move == MOVE_NONE)
            break;
        before = game->end;
        maker->moves[game->move_count++] = move;
        position_move(&game->end, &game->end, move);
        if (game->note_count > 300)
            break;
    }
}

static void test_round_trip(void **state) {
    (void)state;
    static Maker maker = { .chance = 11 };
    Str first, second, told, again;
    str_init(&first, 1 << 20);
    str_init(&second, 1 << 20);
    str_init(&told, 1 << 20);
    str_init(&again, 1 << 20);
    size_t notes = 0, moves = 0;
    for (int i = 0; i < 10000; i++) {
        make(&maker);
        str_clear(&first);
        str_clear(&second);
        str_clear(&told);
        str_clear(&again);
        assert_true(pgn_write(&first, &maker.game));
        tell_score(&told, &maker.game);
        assert_int_equal(read_bytes(first.data, first.length, PGN_KEEP_VARIATIONS), 1);
        assert_int_equal(games[0].fault_count, 0);
        tell_score(&again, &games[0]);
        assert_string_equal(again.data, told.data);
        for (size_t j = 0; j < maker.game.tag_count; j++)
            assert_string_equal(pgn_tag(&games[0], maker.tags[j].name), maker.tags[j].value);
        assert_true(pgn_write(&second, &games[0]));
        assert_string_equal(second.data, first.data);
        check_lines(first.data);
        notes += games[0].note_count;
        moves += games[0].move_count;
    }
    assert_true(notes > 300000 && moves > 300000);
    str_free(&first);
    str_free(&second);
    str_free(&told);
    str_free(&again);
}

int main(void) {
    arena_init(&arena, 64 << 20);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tags), cmocka_unit_test(test_moves), cmocka_unit_test(test_layout), cmocka_unit_test(test_columns),
        cmocka_unit_test(test_round_trip),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
