/* Every legal move of many positions, written as the tables have it and read back in every way.
 *
 * tests/data/chess/moves-*.tsv are ours (FEN, moves as uci=san=long); the tables of
 * ../shared/chess-data, made by another program, have the same moves in their fifth column. */
#include "core/chess/fen.h"
#include "core/chess/movegen.h"
#include "core/notation/notation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void must_read(const Position *position, const char *text, Move move) {
    Reading reading;
    notation_read(position, text, 0, &reading);
    if (reading.kind == READING_MOVE && reading.move == move)
        return;
    char fen[FEN_MAX];
    fen_write(position, 0, fen);
    fail_msg("%s: \"%s\" read as %d, %s", fen, text, reading.kind, notation_fault_name(reading.fault));
}

/* Each letter's twin: zeros for O, no check marks, no capture sign, another dash. */
static void must_read_kindly(const Position *position, const char *text, Move move) {
    char other[NOTATION_MAX * 3], *at = other;
    for (const char *byte = text; *byte != 0; byte++) {
        if (*byte == 'O')
            *at++ = '0';
        else if (*byte == '-')
            at += snprintf(at, 4, "\xe2\x80\x93");
        else if (strchr("+#x=", *byte) == NULL)
            *at++ = *byte;
    }
    *at = 0;
    must_read(position, other, move);
}

static void must_read_in_languages(const Position *position, Move move) {
    static const char *const languages[] = { "de", "fr", "es" };
    for (int i = 0; i < 3; i++) {
        char text[NOTATION_MAX];
        Reading reading;
        const MoveLanguage *letters = language_find(languages[i]);
        notation_write_in(position, move, NOTATION_SAN, letters, text);
        notation_read_in(position, text, READ_OWN_ONLY, letters, &reading);
        if (reading.kind != READING_MOVE || reading.move != move)
            fail_msg("%s in %s: %s", text, languages[i], notation_fault_name(reading.fault));
        notation_read_in(position, text, 0, letters, &reading); /* English may make it doubtful, not another */
        assert_true(reading.kind == READING_AMBIGUOUS || (reading.kind == READING_MOVE && reading.move == move));
    }
}

static void check_move(const Position *position, Move move, const char *expected) {
    char uci[NOTATION_MAX], san[NOTATION_MAX], lan[NOTATION_MAX], numeric[NOTATION_MAX], all[3 * NOTATION_MAX];
    notation_write(position, move, NOTATION_UCI, uci);
    notation_write(position, move, NOTATION_SAN, san);
    notation_write(position, move, NOTATION_LONG, lan);
    notation_write(position, move, NOTATION_NUMERIC, numeric);
    snprintf(all, sizeof all, "%s=%s=%s", uci, san, lan);
    assert_string_equal(all, expected);
    must_read(position, uci, move);
    must_read(position, san, move);
    must_read(position, lan, move);
    must_read(position, numeric, move);
    must_read_kindly(position, san, move);
    must_read_kindly(position, lan, move);
    must_read_in_languages(position, move);
    assert_true(notation_shaped(san) && notation_shaped(lan) && notation_shaped(uci) && notation_shaped(numeric));
}

static void check_line(const char *fen, unsigned flags, char *moves) {
    Position position;
    Error error = { 0 };
    if (!fen_read(fen, flags, &position, &error))
        fail_msg("%s: %s", fen, error.text);
    char written[FEN_MAX];
    fen_write(&position, 0, written);
    assert_string_equal(written, fen);
    MoveList list;
    moves_legal(&position, &list);
    moves_sort(&position, &list);
    int count = 0;
    for (char *rest, *word = strtok_r(moves, " \n", &rest); word != NULL; word = strtok_r(NULL, " \n", &rest)) {
        assert_true(count < list.count);
        check_move(&position, list.moves[count++], word);
    }
    assert_int_equal(count, list.count);
}

/* `column` of the moves, counted from 0; the FEN is column 0. */
static void check_file(const char *name, unsigned flags, int column) {
    FILE *file = fopen(name, "r");
    if (file == NULL)
        skip();
    char line[8192];
    int checked = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#')
            continue;
        char *moves = line;
        for (int i = 0; i < column && moves != NULL; i++) {
            moves = strchr(moves, '\t');
            if (moves != NULL)
                *moves++ = 0;
        }
        assert_non_null(moves);
        check_line(line, flags, moves);
        checked++;
    }
    fclose(file);
    assert_true(checked > 50);
}

static void test_own_standard(void **state) {
    (void)state;
    check_file("tests/data/chess/moves-standard.tsv", 0, 1);
}

static void test_own_chess960(void **state) {
    (void)state;
    check_file("tests/data/chess/moves-chess960.tsv", FEN_CHESS960, 1);
}

static void test_shared_standard(void **state) {
    (void)state;
    check_file("../shared/chess-data/moves-standard.tsv", 0, 4);
}

static void test_shared_chess960(void **state) {
    (void)state;
    check_file("../shared/chess-data/moves-chess960.tsv", FEN_CHESS960, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_standard),
        cmocka_unit_test(test_own_chess960),
        cmocka_unit_test(test_shared_standard),
        cmocka_unit_test(test_shared_chess960),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
