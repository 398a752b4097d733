/* Positions, moves, FEN and endings against published numbers (chessprogramming.org, Laws). */
#include "core/chess/attacks.h"
#include "core/chess/endings.h"
#include "core/chess/fen.h"
#include "core/chess/movegen.h"
#include "core/chess/perft.h"
#include "core/notation/notation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__)
#define SLOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLOW 1
#endif
#endif
#ifndef SLOW
#define SLOW 0
#endif

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#define KIWIPETE "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"

static Position position_of(const char *fen) {
    Position position;
    Error error = { 0 };
    if (!fen_read(fen, 0, &position, &error))
        fail_msg("%s: %s", fen, error.text);
    return position;
}

/* Plays moves of any notation, blank between; fails on the first that is none. */
static Position after_moves(Position position, const char *moves, uint64_t *ret_keys, size_t *ret_count) {
    size_t count = 0;
    if (ret_keys != NULL)
        ret_keys[count++] = position_key(&position);
    while (*moves != 0) {
        char word[32];
        size_t length = strcspn(moves, " ");
        assert_true(length < sizeof word);
        memcpy(word, moves, length);
        word[length] = 0;
        moves += length + (moves[length] == ' ');
        Reading reading;
        notation_read(&position, word, 0, &reading);
        if (reading.kind != READING_MOVE)
            fail_msg("%s: %s", word, notation_fault_name(reading.fault));
        position_move(&position, &position, reading.move);
        Position again = position;
        position_settle(&again);
        assert_true(again.key == position.key); /* the running key is the computed one */
        if (ret_keys != NULL)
            ret_keys[count++] = position_key(&position);
    }
    if (ret_count != NULL)
        *ret_count = count;
    return position;
}

static void test_perft(void **state) {
    (void)state;
    static const struct { const char *fen; int depth; unsigned long long nodes; } cases[] = {
        { START, 5, 4865609 },
        { KIWIPETE, 4, 4085603 },
        { "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 5, 674624 },
        { "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 4, 422333 },
        { "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1", 4, 422333 },
        { "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 4, 2103487 },
        { "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", 4, 3894594 },
        { "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1", 1, 6 },      /* en passant would open the rank */
        { "8/8/8/1k6/3Pp3/8/8/4KQ2 b - d3", 3, 711 },        /* and may end a check */
        { "8/5bk1/8/2Pp4/8/1K6/8/8 w - d6 0 1", 6, 824064 },
        { "8/8/1k6/2b5/2pP4/8/5K2/8 b - d3 0 1", 6, 1440467 },
        { "5k2/8/8/8/8/8/8/4K2R w K - 0 1", 6, 661072 },
        { "3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", 6, 803711 },
        { "r3k2r/1b4bq/8/8/8/8/7B/R3K2R w KQkq - 0 1", 4, 1274206 },
        { "r3k2r/8/3Q4/8/8/5q2/8/R3K2R b KQkq - 0 1", 4, 1720476 },
        { "2K2r2/4P3/8/8/8/8/8/3k4 w - - 0 1", 6, 3821001 },
        { "8/8/1P2K3/8/2n5/1q6/8/5k2 b - - 0 1", 5, 1004658 },
        { "4k3/1P6/8/8/8/8/K7/8 w - - 0 1", 6, 217342 },
        { "8/P1k5/K7/8/8/8/8/8 w - - 0 1", 6, 92683 },
        { "K1k5/8/P7/8/8/8/8/8 w - - 0 1", 6, 2217 },
        { "8/k1P5/8/1K6/8/8/8/8 w - - 0 1", 7, 567584 },
        { "8/8/2k5/5q2/5n2/8/5K2/8 b - - 0 1", 4, 23527 },
        /* Chess960 by X-FEN: the right rook among two, a rook that shields its king */
        { "r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1R2Q w KQkq - 0 1", 4, 285754 },
        { "8/8/8/4B2b/6nN/8/5P2/2R1K2k w Q - 0 1", 4, 118388 },
        { "4r3/3k4/8/8/8/8/6PP/qR1K1R2 w KQ - 0 1", 4, 405636 },
        { "4rrk1/pbbp2p1/1ppnp3/3n1pqp/3N1PQP/1PPNP3/PBBP2P1/4RRK1 w Ff - 0 1", 3, 71908 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Position position = position_of(cases[i].fen);
        unsigned long long nodes = perft_count(&position, cases[i].depth);
        if (nodes != cases[i].nodes)
            fail_msg("%s depth %d: %llu, not %llu", cases[i].fen, cases[i].depth, nodes, cases[i].nodes);
    }
}

static void test_perft_deep(void **state) {
    (void)state;
    if (SLOW)
        skip();
    Position position = position_of(START);
    assert_true(perft_count(&position, 6) == 119060324);
    position = position_of(KIWIPETE);
    assert_true(perft_count(&position, 5) == 193690690);
}

/* The suites beside the project, up to a million nodes a line. */
static void test_perft_suites(void **state) {
    (void)state;
    static const char *const files[] = { "../shared/chess-data/perft-standard.epd", "../shared/chess-data/perft-chess960.epd" };
    const unsigned long long most = SLOW ? 50000 : 1000000;
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(files[i], "r");
        if (file == NULL)
            skip();
        char line[512];
        while (fgets(line, sizeof line, file) != NULL) {
            char *at = strchr(line, ';');
            if (at == NULL)
                continue;
            *at++ = 0;
            Position position = position_of(line);
            while (at != NULL && *at == 'D') {
                char *end;
                int depth = (int)strtol(at + 1, &end, 10);
                unsigned long long nodes = strtoull(end, &end, 10);
                if (nodes <= most && perft_count(&position, depth) != nodes)
                    fail_msg("%s depth %d", line, depth);
                at = strchr(end, ';');
                at = at == NULL ? NULL : at + 1;
            }
        }
        fclose(file);
    }
}

static void test_fen_errors(void **state) {
    (void)state;
    static const struct { const char *fen; unsigned flags; int code; } cases[] = {
        { "", 0, FEN_FIELDS },
        { "8/8/8/8/8/8/8/8", 0, FEN_FIELDS },
        { START " x", 0, FEN_FIELDS },
        { "4k3/8/8/8/8/8/8/4K3 w - -", FEN_STRICT, FEN_FIELDS },
        { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP w KQkq - 0 1", 0, FEN_BOARD },
        { "rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0, FEN_PIECE },
        { "rnbqkbnr/pppppppp/7/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0, FEN_BOARD },
        { "rnbqkbnrr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0, FEN_BOARD },
        { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR/8 w KQkq - 0 1", 0, FEN_BOARD },
        { "rnbqkbnr/ppppxppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 0, FEN_PIECE },
        { "8/8/8/8/8/8/8/4K3 w - - 0 1", 0, FEN_NO_KING },
        { "4k3/8/8/8/8/8/8/8 w - - 0 1", 0, FEN_NO_KING },
        { "4k3/8/8/8/8/8/8/K3K3 w - - 0 1", 0, FEN_TWO_KINGS },
        { "P3k3/8/8/8/8/8/8/4K3 w - - 0 1", 0, FEN_PAWN_RANK },
        { "4k3/8/8/8/8/8/8/p3K3 w - - 0 1", 0, FEN_PAWN_RANK },
        { "4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1", 0, FEN_TOO_MANY },
        { "4k3/8/8/8/8/QQQQQQQQ/QQQQQQQQ/4K3 b - - 0 1", 0, FEN_TOO_MANY },
        { "4k3/8/8/8/8/8/8/4K3 x - - 0 1", 0, FEN_TURN },
        { "4k3/8/8/8/8/8/8/4K3 w X - 0 1", 0, FEN_CASTLING },
        { "4k3/8/8/8/8/8/8/4K3 w KQkqK - 0 1", 0, FEN_CASTLING },
        { "rkrnnbbq/pppppppp/8/8/8/8/PPPPPPPP/RKRNNBBQ w HEhe - 0 1", 0, FEN_CASTLING },
        { "4k3/8/8/8/8/8/8/4K3 w KQ - 0 1", FEN_STRICT, FEN_CASTLING },
        { "4k3/8/8/8/8/8/8/4K1RR w GH - 0 1", 0, FEN_CASTLING },
        { "4k3/8/8/8/8/8/8/4K3 w - e9 0 1", 0, FEN_EN_PASSANT },
        { "4k3/8/8/8/8/8/8/4K3 w - e6 0 1", FEN_STRICT, FEN_EN_PASSANT },
        { "4k3/8/8/8/8/8/8/4K3 w - - x 1", 0, FEN_COUNTER },
        { "4k3/8/8/8/8/8/8/4K3 w - - 0 -1", 0, FEN_COUNTER },
        { "4k3/8/8/8/8/8/8/4K3 w - - 0 99999999999999999999", 0, FEN_COUNTER },
        { "1n6/8/2Q5/1rK5/8/8/8/5k2 b - - 0 1", 0, FEN_CHECK },
        { "8/8/8/8/8/8/5kK1/8 w - - 0 1", 0, FEN_CHECK },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Position position, untouched;
        memset(&position, 0x55, sizeof position);
        untouched = position;
        Error error = { 0 };
        if (fen_read(cases[i].fen, cases[i].flags, &position, &error) || error.code != cases[i].code)
            fail_msg("%s: code %d, not %d (%s)", cases[i].fen, error.code, cases[i].code, error.text);
        assert_int_equal(error.grade, ERROR_INPUT);
        assert_true(strlen(error.text) > 20);
        assert_memory_equal(&position, &untouched, sizeof position);
        assert_false(fen_read(cases[i].fen, cases[i].flags, &position, NULL));
    }
}

static void test_fen_round(void **state) {
    (void)state;
    static const struct { const char *fen, *written, *shredder; } cases[] = {
        { START, START, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1" },
        { "  4k3/8/8/8/8/8/8/4K3   w ", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", NULL },
        { "4k3/8/8/8/8/8/8/4K3 b - - 3 0", "4k3/8/8/8/8/8/8/4K3 b - - 3 1", NULL },
        { "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
          "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", NULL },
        { "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", NULL },
        { "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1", "8/8/8/8/k2Pp2Q/8/8/3K4 b - - 0 1", NULL },
        { "4k3/8/8/8/8/8/8/4K1RR w K - 0 1", "4k3/8/8/8/8/8/8/4K1RR w K - 0 1", "4k3/8/8/8/8/8/8/4K1RR w H - 0 1" },
        { "4k3/8/8/8/8/8/8/4K1RR w G - 0 1", "4k3/8/8/8/8/8/8/4K1RR w G - 0 1", "4k3/8/8/8/8/8/8/4K1RR w G - 0 1" },
        { "4k3/pppppppp/8/8/8/8/PPPPPPPP/rR2K3 w Q - 0 1", "4k3/pppppppp/8/8/8/8/PPPPPPPP/rR2K3 w Q - 0 1",
          "4k3/pppppppp/8/8/8/8/PPPPPPPP/rR2K3 w B - 0 1" },
        { "3qk1nb/1p3p2/p1r1p1p1/3p4/3P4/2N1BP2/PPPQ1P2/R3K3 w Qk - 0 1",
          "3qk1nb/1p3p2/p1r1p1p1/3p4/3P4/2N1BP2/PPPQ1P2/R3K3 w Q - 0 1", NULL },
        { "k7/1R1RN3/p3p3/P3P2p/1PP4P/3K1PP1/8/8 b KQkq h3 0 1", "k7/1R1RN3/p3p3/P3P2p/1PP4P/3K1PP1/8/8 b - - 0 1", NULL },
        { "8/7Q/2r1p3/2rkr3/2rrr2Q/7K/8/8 w", "8/7Q/2r1p3/2rkr3/2rrr2Q/7K/8/8 w - - 0 1", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Position position = position_of(cases[i].fen);
        char fen[FEN_MAX];
        fen_write(&position, 0, fen);
        assert_string_equal(fen, cases[i].written);
        if (cases[i].shredder == NULL)
            continue;
        fen_write(&position, FEN_SHREDDER, fen);
        assert_string_equal(fen, cases[i].shredder);
        Position again = position_of(fen);
        assert_true(position_same(&again, &position));
    }
}

static void test_chess960(void **state) {
    (void)state;
    static const struct { int number; const char *board; } known[] = {
        { 0, "bbqnnrkr" }, { 518, "rnbqkbnr" }, { 959, "rkrnnqbb" }, { 1, "bqnbnrkr" }, { 960 - 2, "rkrnnbbq" },
    };
    Position position;
    char fen[FEN_MAX];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_true(position_start960(known[i].number, &position));
        fen_write(&position, 0, fen);
        fen[8] = 0;
        if (i != 4) /* only that it is some right array */
            assert_string_equal(fen, known[i].board);
    }
    assert_false(position_start960(-1, &position));
    assert_false(position_start960(960, &position));
    for (int number = 0; number < 960; number++) {
        assert_true(position_start960(number, &position));
        assert_int_equal(position_number960(&position), number);
        uint64_t bishops = position_men(&position, WHITE, BISHOP), rooks = position_men(&position, WHITE, ROOK);
        assert_int_equal(set_count(bishops & LIGHT_SQUARES), 1);
        int king = position_king(&position, WHITE);
        assert_int_equal(set_count(rooks & (square_set(king) - 1)), 1);
        fen_write(&position, FEN_SHREDDER, fen);
        Position again;
        assert_true(fen_read(fen, FEN_CHESS960, &again, NULL));
        assert_true(position_same(&again, &position));
    }
    /* Number 0 is the array of the FEN every table begins with. */
    position = position_of("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1");
    assert_int_equal(position_number960(&position), 0);
}

static void test_endings(void **state) {
    (void)state;
    static const struct { const char *fen; Ending ending; } cases[] = {
        { START, ENDING_NONE },
        { "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", ENDING_CHECKMATE },
        { "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", ENDING_STALEMATE },
        { "k7/1R1RN3/p3p3/P3P2p/1PP4P/3K1PP1/8/8 b - - 0 1", ENDING_STALEMATE },
        { "4k3/8/8/8/8/8/8/4K3 w - - 0 1", ENDING_INSUFFICIENT },
        { "4k3/8/8/8/8/8/8/4KN2 w - - 0 1", ENDING_INSUFFICIENT },
        { "4k3/8/8/8/8/8/8/4KB2 b - - 0 1", ENDING_INSUFFICIENT },
        { "8/8/8/4k3/5b2/3K4/8/2B5 w - - 0 1", ENDING_INSUFFICIENT },
        { "B1b1k3/3b4/4b3/8/8/8/8/4KB2 w - - 0 1", ENDING_INSUFFICIENT },
        { "4k1b1/8/8/8/8/8/8/2B1K3 w - - 0 1", ENDING_NONE },
        { "4k3/8/8/8/8/8/8/3NKN2 w - - 0 1", ENDING_NONE },
        { "4kn2/8/8/8/8/8/8/4KN2 w - - 0 1", ENDING_NONE },
        { "4k3/8/8/8/8/8/P7/4K3 w - - 0 1", ENDING_NONE },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Position position = position_of(cases[i].fen);
        if (ending_of(&position) != cases[i].ending)
            fail_msg("%s: %d", cases[i].fen, ending_of(&position));
    }
}

static void test_repetition(void **state) {
    (void)state;
    static const struct { const char *fen, *moves; int times; } cases[] = {
        { "6k1/1p2p1rp/rP1pR3/2pP1pP1/p1P2P1P/R5K1/8/8 b", "h5 Rh6 Rh7 Re6 Rg7 Rh6 Rh7 Re6 Rg7", 3 },
        { "5kbq/3Q2n1/6p1/r3PpKn/2n5/8/8/q7 w - f6", "d7c8 f8f7 c8d7 f7f8 d7d8 f8f7 d8d7 f7f8", 3 },
        { "8/8/8/8/4p3/8/R2P3k/K7 w", "d2d4 h2h3 a2a3 h3h2 a3a2 h2h1 a2a3 h1h2 a3a2", 3 },
        { START, "f4 Nf6 Nf3 Ng8 Ng1 Nf6 Nf3 Ng8 Ng1", 3 },
        { "4k3/8/8/8/8/4P3/8/4K3 w", "Kd2 Kd7 Ke1 Ke8 Kf2 Kf7 Ke1 Ke8", 3 },
        { "4k3/8/8/8/8/8/8/R3K3 w Q", "Ra2 Kd8 Ra1 Ke8", 1 }, /* the right to castle is gone */
        { "4k3/8/8/8/3p4/8/4P3/4K3 w", "e4 Kd8 Kd1 Ke8 Ke1", 1 }, /* so is en passant */
        { "4k3/8/8/8/8/8/4P3/4K3 w", "e4 Kd8 Kd1 Ke8 Ke1", 2 }, /* that was never possible here */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t keys[32];
        size_t count;
        Position position = after_moves(position_of(cases[i].fen), cases[i].moves, keys, &count);
        int times = ending_repetitions(keys, count, position_halfmove(&position));
        if (times != cases[i].times)
            fail_msg("%s: %d times, not %d", cases[i].moves, times, cases[i].times);
    }
    assert_int_equal(ending_repetitions(NULL, 0, 0), 0);
}

static void test_moves(void **state) {
    (void)state;
    Position position = position_of(START);
    MoveList list;
    moves_legal(&position, &list);
    int legal = 0;
    for (unsigned move = 0; move < 65536; move++) /* any 16 bits may be asked about */
        legal += move_is_legal(&position, (Move)move);
    assert_int_equal(legal, list.count);

    /* The most a position of chess can have (Petrovic 1964). */
    position = position_of("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1");
    moves_legal(&position, &list);
    assert_int_equal(list.count, 218);

    position = position_of("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    assert_int_equal(position_piece_at(&position, 0), ROOK);
    assert_int_equal(position_piece_at(&position, 63), ROOK | BLACK << 3);
    assert_int_equal(position_piece_at(&position, 28), EMPTY);
    assert_int_equal(position_turn(&position), WHITE);
    position = after_moves(position, "e4 e5 Nf3", NULL, NULL);
    assert_int_equal(position_fullmove(&position), 2);
    assert_int_equal(position_halfmove(&position), 1);
    assert_int_equal(position_turn(&position), BLACK);
    assert_false(position_in_check(&position));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_perft),      cmocka_unit_test(test_perft_deep),  cmocka_unit_test(test_perft_suites),
        cmocka_unit_test(test_fen_errors), cmocka_unit_test(test_fen_round),   cmocka_unit_test(test_chess960),
        cmocka_unit_test(test_endings),    cmocka_unit_test(test_repetition),  cmocka_unit_test(test_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
