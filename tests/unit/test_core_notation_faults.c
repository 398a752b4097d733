/* Why a text is no move: tests/data/chess/notation-faults.txt, each reason in several positions. */
#include "core/chess/fen.h"
#include "core/chess/movegen.h"
#include "core/notation/explain.h"
#include "core/notation/notation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS = 8, LINE_MAX_ = 1024, LEAST = 3 };

enum { FROM = 1, TO = 2, CAUSE = 4, PIECE = 8, FILE_NAMED = 16, SOME = 32, MAN_THERE = 64 };

/* What the header promises of each: squares and pieces that must be there, and SOME candidates; MAN_THERE: the piece is
 * the one on `from`. */
static const unsigned promised[FAULT_COUNT] = {
    [FAULT_NOT_STRICT] = SOME,
    [FAULT_SEVERAL_MEN] = PIECE | TO | SOME,
    [FAULT_BISHOP_OR_PAWN] = PIECE | TO | FILE_NAMED | SOME,
    [FAULT_TWO_LANGUAGES] = SOME,
    [FAULT_UNKNOWN_LETTER] = TO,
    [FAULT_SQUARE_EMPTY] = FROM,
    [FAULT_OPPONENTS_PIECE] = FROM | PIECE | MAN_THERE,
    [FAULT_OTHER_PIECE] = FROM | PIECE | CAUSE,
    [FAULT_NO_PIECE_NAMED] = PIECE,
    [FAULT_CANNOT_REACH] = PIECE | TO,
    [FAULT_OWN_PIECE] = PIECE | TO | CAUSE,
    [FAULT_PATH_BLOCKED] = PIECE | FROM | TO | CAUSE | MAN_THERE,
    [FAULT_PAWN_BLOCKED] = PIECE | FROM | TO | CAUSE | MAN_THERE,
    [FAULT_PAWN_TWO_SQUARES] = PIECE | FROM | TO | MAN_THERE,
    [FAULT_PAWN_BACKWARDS] = PIECE | FROM | TO | MAN_THERE,
    [FAULT_PAWN_STRAIGHT] = PIECE | FROM | TO | CAUSE | MAN_THERE,
    [FAULT_NOTHING_TO_CAPTURE] = PIECE | FROM | TO | MAN_THERE,
    [FAULT_EN_PASSANT_LATE] = PIECE | FROM | TO | CAUSE | MAN_THERE,
    [FAULT_EN_PASSANT_EXPOSED] = PIECE | FROM | TO | CAUSE | MAN_THERE,
    [FAULT_KING_EXPOSED] = PIECE | FROM | TO | CAUSE | MAN_THERE,
    [FAULT_STILL_IN_CHECK] = PIECE | FROM | TO | CAUSE | MAN_THERE,
    [FAULT_KING_ATTACKED] = PIECE | FROM | TO | CAUSE | MAN_THERE,
    [FAULT_CASTLING_KING_AWAY] = PIECE | FROM | MAN_THERE,
    [FAULT_CASTLING_NO_ROOK] = PIECE | FROM | MAN_THERE,
    [FAULT_CASTLING_ROOK_MOVED] = PIECE | FROM | CAUSE | MAN_THERE,
    [FAULT_CASTLING_NO_RIGHT] = PIECE | FROM | CAUSE | MAN_THERE,
    [FAULT_CASTLING_IN_CHECK] = PIECE | FROM | CAUSE | MAN_THERE,
    [FAULT_CASTLING_THROUGH] = PIECE | FROM | TO | CAUSE | MAN_THERE,
    [FAULT_CASTLING_INTO] = PIECE | FROM | TO | CAUSE | MAN_THERE,
    [FAULT_CASTLING_BLOCKED] = PIECE | FROM | CAUSE | MAN_THERE,
    [FAULT_PROMOTION_MISSING] = TO | SOME,
    [FAULT_PROMOTION_PIECE] = TO | SOME,
    [FAULT_PROMOTION_RANK] = PIECE | TO | SOME,
    [FAULT_WRONG_TURN] = PIECE | FROM | TO | MAN_THERE,
};

typedef struct Case {
    char *columns[COLUMNS]; /* FEN, how it is read, text, fault, squares, pieces, candidates, sentence */
    Position position;
    Reading reading;
} Case;

static void put_square(char *text, size_t size, int square, const char *before) {
    size_t length = strlen(text);
    if (square == NO_SQUARE)
        snprintf(text + length, size - length, "%s-", before);
    else
        snprintf(text + length, size - length, "%s%c%c", before, 'a' + square_file(square), '1' + square_rank(square));
}

static char piece_sign(int piece) {
    return piece == EMPTY ? '-' : (piece_colour(piece) == WHITE ? " PNBRQK" : " pnbrqk")[piece_kind(piece)];
}

/* The columns as they came out, written as they stand in the file. */
static void write_result(const Case *tried, char *text, size_t size) {
    const Reading *reading = &tried->reading;
    snprintf(text, size, "%s | ", reading->kind == READING_MOVE ? "-" : notation_fault_name(reading->fault));
    put_square(text, size, reading->from, "");
    put_square(text, size, reading->to, " ");
    put_square(text, size, reading->cause, " ");
    size_t length = strlen(text);
    snprintf(text + length, size - length, " | %c %c |", piece_sign(reading->piece), piece_sign(reading->cause_piece));
    for (int i = 0; i < reading->candidate_count; i++) {
        char san[NOTATION_MAX];
        notation_write(&tried->position, reading->candidates[i], NOTATION_SAN, san);
        length = strlen(text);
        snprintf(text + length, size - length, " %s", san);
    }
    Str sentence;
    str_init(&sentence, LINE_MAX_);
    if (reading->kind != READING_MOVE)
        notation_explain(&sentence, &tried->position, reading);
    length = strlen(text);
    snprintf(text + length, size - length, "%s | %s", reading->candidate_count == 0 ? " -" : "", sentence.length == 0 ? "-" : sentence.data);
    str_free(&sentence);
}

static void read_case(Case *tried) {
    static const struct { const char *word; unsigned flag; } words[] = {
        { "start", READ_LINE_START }, { "own", READ_OWN_ONLY }, { "spoken", READ_SPOKEN }, { "strict", READ_STRICT },
    };
    unsigned flags = 0, fen_flags = 0;
    const MoveLanguage *language = NULL;
    char how[64], *rest;
    snprintf(how, sizeof how, "%s", tried->columns[1]);
    for (char *word = strtok_r(how, " -", &rest); word != NULL; word = strtok_r(NULL, " -", &rest)) {
        unsigned found = 0;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            found |= strcmp(word, words[i].word) == 0 ? words[i].flag : 0;
        flags |= found;
        if (strcmp(word, "960") == 0)
            fen_flags = FEN_CHESS960;
        else if (found == 0)
            assert_non_null(language = language_find(word));
    }
    Error error;
    if (!fen_read(tried->columns[0], fen_flags, &tried->position, &error))
        fail_msg("%s: %s", tried->columns[0], error.text);
    notation_read_in(&tried->position, tried->columns[2], flags, language, &tried->reading);
}

/* True if everything is there. */
static bool keeps_promise(const Case *tried) {
    const Reading *reading = &tried->reading;
    unsigned wanted = promised[reading->fault];
    if (((wanted & FROM) && reading->from == NO_SQUARE) || ((wanted & TO) && reading->to == NO_SQUARE)
        || ((wanted & PIECE) && reading->piece == EMPTY) || ((wanted & FILE_NAMED) && reading->from_file < 0)
        || ((wanted & SOME) && reading->candidate_count == 0))
        return false;
    if ((wanted & MAN_THERE) && position_piece_at(&tried->position, reading->from) != reading->piece)
        return false;
    bool cause = reading->cause != NO_SQUARE;
    if ((wanted & CAUSE) && !cause)
        return false;
    return reading->cause_piece == (cause ? position_piece_at(&tried->position, reading->cause) : EMPTY);
}

/* Parts the line at " | "; false if there are not so many parts. */
static bool part(char *line, Case *ret) {
    for (int i = 0; i < COLUMNS; i++) {
        ret->columns[i] = line;
        char *end = strstr(line, " | ");
        if (end == NULL)
            return i == COLUMNS - 1;
        *end = 0;
        line = end + 3;
    }
    return false;
}

static void test_reasons(void **state) {
    (void)state;
    FILE *file = fopen("tests/data/chess/notation-faults.txt", "r");
    assert_non_null(file);
    char line[LINE_MAX_], wanted[LINE_MAX_], got[LINE_MAX_];
    int seen[FAULT_COUNT] = { 0 }, wrong = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '#' || line[0] == 0)
            continue;
        snprintf(wanted, sizeof wanted, "%s", line);
        Case tried = { 0 };
        if (!part(line, &tried))
            fail_msg("not %d columns: %s", COLUMNS, wanted);
        read_case(&tried);
        size_t length = (size_t)snprintf(got, sizeof got, "%s | %s | %s | ", tried.columns[0], tried.columns[1], tried.columns[2]);
        write_result(&tried, got + length, sizeof got - length);
        seen[tried.reading.fault]++;
        bool right = strcmp(got, wanted) == 0 && keeps_promise(&tried) && strstr(got, "that square") == NULL;
        if (!right)
            print_message("%s\n", got);
        wrong += !right;
    }
    fclose(file);
    for (int fault = FAULT_NONE + 1; fault < FAULT_COUNT; fault++) {
        if (seen[fault] < LEAST)
            print_message("%s: %d positions only\n", notation_fault_name((MoveFault)fault), seen[fault]);
        wrong += seen[fault] < LEAST;
    }
    assert_int_equal(wrong, 0);
}

/* Reasons where many men, squares and languages are: whatever is said has its squares and men. */
static void test_promises_everywhere(void **state) {
    (void)state;
    static const char *const fens[] = {
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        "4k3/8/8/1KpP3r/8/8/8/8 w - c6 0 1",
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "1r2kr2/8/8/8/8/8/8/1RR1KR1R w BFbf - 0 1",
    };
    int counted = 0;
    for (size_t i = 0; i < sizeof fens / sizeof fens[0]; i++) {
        Case tried = { 0 };
        assert_true(fen_read(fens[i], 0, &tried.position, NULL));
        for (int squares = 0; squares < 64 * 64; squares++) {
            char text[8] = { (char)('a' + squares % 8), (char)('1' + squares / 8 % 8), (char)('a' + squares / 64 % 8), (char)('1' + squares / 512), 0 };
            for (int man = PAWN; man <= KING + 1; man++) { /* e2e4, and Ne4 for each kind */
                char named[8];
                snprintf(named, sizeof named, "%c%s", " PNBRQK"[man % KIND_COUNT], text + 2);
                notation_read(&tried.position, man > KING ? text : named, 0, &tried.reading);
                if (tried.reading.kind != READING_MOVE && !keeps_promise(&tried))
                    fail_msg("%s: %s: %s", fens[i], man > KING ? text : named, notation_fault_name(tried.reading.fault));
                counted += tried.reading.kind == READING_ILLEGAL;
            }
        }
    }
    assert_true(counted > 10000);
}

/* What the reading holds, else what the man can do, else all there is. */
static void test_alternatives(void **state) {
    (void)state;
    static const struct { const char *fen, *text, *alternatives; } cases[] = {
        { "4k3/8/8/8/8/8/8/1N2KN2 w - - 0 1", "Nd2", "Nbd2 Nfd2" },
        { "7k/8/8/8/8/8/4N3/K7 w - - 0 1", "Nf5", "Nc1 Nc3 Nd4 Nf4 Ng1 Ng3" },
        { "7k/8/8/8/8/8/8/K7 w - - 0 1", "Nf5", "Ka2 Kb1 Kb2" },
        { "7k/8/8/8/8/8/8/K7 w - - 0 1", "hello", "Ka2 Kb1 Kb2" },
        { "7k/8/8/8/8/8/PP6/K7 w - - 0 1", "Ka2", "Kb1" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Position position;
        Reading reading;
        Str text;
        str_init(&text, 512);
        assert_true(fen_read(cases[i].fen, 0, &position, NULL));
        notation_read(&position, cases[i].text, 0, &reading);
        notation_alternatives(&text, &position, &reading, NULL);
        assert_string_equal(text.data, cases[i].alternatives);
        str_free(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_promises_everywhere),
        cmocka_unit_test(test_alternatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
