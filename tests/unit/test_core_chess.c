/* Positions and moves against published numbers (chessprogramming.org, Laws). */
#include "core/chess/attacks.h"
#include "core/chess/fen.h"
#include "core/chess/movegen.h"
#include "core/chess/perft.h"
#include "core/notation/notation.h"
#include "tests/unit/slow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
static Position after_moves(Position position, const char *moves) {
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
        assert_true(position_key(&again) == position_key(&position));
    }
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
    position = after_moves(position, "e4 e5 Nf3");
    assert_int_equal(position_fullmove(&position), 2);
    assert_int_equal(position_halfmove(&position), 1);
    assert_int_equal(position_turn(&position), BLACK);
    assert_false(position_in_check(&position));
}

/* Castling where king or rook stands still or both change places, crossing, and by which rook. */
static void test_castling(void **state) {
    (void)state;
    static const struct { const char *fen; const char *uci; bool legal; const char *after; } cases[] = {
        { "brnbqkrn/pppppppp/8/8/8/8/PPPPPPPP/BRNBQKRN w KQkq - 0 1", "f1g1", true, "brnbqkrn/pppppppp/8/8/8/8/PPPPPPPP/BRNBQRKN b kq - 1 1" },
        { "qrnkbbrn/pppppppp/8/8/8/2N5/PPPPPPPP/QR1KBBRN w KQkq - 0 1", "d1b1", true,
          "qrnkbbrn/pppppppp/8/8/8/2N5/PPPPPPPP/Q1KRBBRN b kq - 1 1" },
        { "qrnkbbrn/pppppppp/8/8/8/8/PPPPPPPP/QRNKBBRN w KQkq - 0 1", "d1b1", false, NULL },     /* the knight in the way */
        { "2rkr3/pppppppp/8/8/8/8/PPPPPPPP/2RKR3 w KQkq - 0 1", "d1c1", true,
          "2rkr3/pppppppp/8/8/8/8/PPPPPPPP/2KRR3 b kq - 1 1" },
        { "2rkr3/pppppppp/8/8/8/8/PPPPPPPP/2RKR3 w KQkq - 0 1", "d1e1", true,
          "2rkr3/pppppppp/8/8/8/8/PPPPPPPP/2R2RK1 b kq - 1 1" },
        { "2rkr1q1/pppppp1p/8/8/8/8/PPPPPP1P/2RKR3 w KQkq - 0 1", "d1e1", false, NULL },                        /* into check */
        { "2rkrq2/ppppp1pp/8/8/8/8/PPPPP1PP/2RKR3 w KQkq - 0 1", "d1e1", false, NULL },                         /* through check */
        { "1k2r3/8/8/8/8/8/8/RK2R3 w KQ - 0 1", "b1a1", true, "1k2r3/8/8/8/8/8/8/2KRR3 b - - 1 1" }, /* the king goes the other way */
        { "1k6/8/8/8/8/8/8/1KR5 w K - 0 1", "b1c1", true, "1k6/8/8/8/8/8/8/5RK1 b - - 1 1" },
        { "6k1/8/8/8/8/8/8/rRK5 w Q - 0 1", "c1b1", false, NULL },    /* the rook shields its king from a1 */
        { "6k1/8/8/8/8/8/8/1RK4r w Q - 0 1", "c1b1", false, NULL },   /* out of check */
        { "4k3/8/8/8/8/8/8/5KRR w K - 0 1", "f1g1", false, NULL },    /* the right is h1's, and g1 in the way */
        { "4k3/8/8/8/8/8/8/5KRR w G - 0 1", "f1g1", true, "4k3/8/8/8/8/8/8/5RKR b - - 1 1" },
        { "4k3/8/8/8/8/8/8/4K1RR w H - 0 1", "e1h1", false, NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Position position;
        assert_true(fen_read(cases[i].fen, FEN_CHESS960, &position, NULL));
        Move move = move_make(square_make(cases[i].uci[0] - 'a', cases[i].uci[1] - '1'), square_make(cases[i].uci[2] - 'a', cases[i].uci[3] - '1'), EMPTY);
        if (move_is_legal(&position, move) != cases[i].legal)
            fail_msg("%s: %s", cases[i].fen, cases[i].uci);
        if (!cases[i].legal)
            continue;
        assert_true(position_is_castling(&position, move));
        char text[NOTATION_MAX + FEN_MAX];
        notation_write(&position, move, NOTATION_UCI, text);
        assert_string_equal(text, cases[i].uci);
        position_move(&position, &position, move);
        fen_write(&position, 0, text);
        assert_string_equal(text, cases[i].after);
    }
    Position position;
    assert_true(fen_read("bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq - 0 1", FEN_CHESS960, &position, NULL));
    position = after_moves(position, "b3 c5 Nf3 d5 d4 b6 O-O");
    char fen[FEN_MAX];
    fen_write(&position, 0, fen);
    assert_string_equal(fen, "bqnrnkrb/p3pppp/1p6/2pp4/3P4/1P3N2/P1P1PPPP/BQNR1RKB b kq - 1 4");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_perft),
        cmocka_unit_test(test_perft_deep),
        cmocka_unit_test(test_perft_suites),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_castling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
