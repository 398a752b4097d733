/* What ends a game on the board, what may be claimed, and what a flag is worth. */
#include "core/chess/endings.h"
#include "core/chess/fen.h"
#include "core/chess/history.h"
#include "core/chess/movegen.h"
#include "core/game/game.h"
#include "core/notation/notation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#define SHUFFLE "Nf3 Nf6 Ng1 Ng8 "

enum { LINE_MAX = 400 };

static Position position_of(const char *fen) {
    Position position;
    Error error = { 0 };
    if (!fen_read(fen, 0, &position, &error))
        fail_msg("%s: %s", fen, error.text);
    return position;
}

static Move move_of(const Position *position, const char *text) {
    Reading reading;
    notation_read(position, text, 0, &reading);
    if (reading.kind != READING_MOVE)
        fail_msg("%s is no move", text);
    return reading.move;
}

/* The positions of a line: moves of any notation, a blank between them. */
static History line_of(const char *fen, const char *moves, Position positions[LINE_MAX]) {
    History history = { positions, 1 };
    for (positions[0] = position_of(fen); *moves != 0;) {
        char word[32];
        size_t length = strcspn(moves, " ");
        assert_true(length < sizeof word && history.count < LINE_MAX);
        memcpy(word, moves, length);
        word[length] = 0;
        moves += length + (moves[length] == ' ');
        position_move(&positions[history.count], &positions[history.count - 1], move_of(&positions[history.count - 1], word));
        history.count++;
    }
    return history;
}

static void test_endings(void **state) {
    (void)state;
    static const struct { const char *fen; Ending ending; } cases[] = {
        { START, ENDING_NONE },
        { "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3", ENDING_CHECKMATE },
        { "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", ENDING_STALEMATE },
        { "k7/1R1RN3/p3p3/P3P2p/1PP4P/3K1PP1/8/8 b KQkq h3 0 1", ENDING_STALEMATE },
        { "kb6/8/1K6/8/8/8/8/8 b - - 0 1", ENDING_INSUFFICIENT },
        { "k7/8/1K6/8/8/8/8/8 b - - 0 1", ENDING_INSUFFICIENT },
        { "k7/P7/K7/8/8/8/8/8 b - - 0 1", ENDING_STALEMATE }, /* dead too: stalemate is the plainer word */
        { "4k3/8/8/8/8/8/8/4K3 w - - 0 1", ENDING_INSUFFICIENT },
        { "4k3/8/8/8/8/8/8/4KN2 w - - 0 1", ENDING_INSUFFICIENT },
        { "4k3/8/8/8/8/8/8/4KB2 b - - 0 1", ENDING_INSUFFICIENT },
        { "8/8/8/4k3/5b2/3K4/8/2B5 w - - 0 1", ENDING_INSUFFICIENT },
        { "B1b1k3/3b4/4b3/8/8/8/8/4KB2 w - - 0 1", ENDING_INSUFFICIENT },
        { "4k1b1/8/8/8/8/8/8/2B1K3 w - - 0 1", ENDING_NONE },
        { "4k3/8/8/8/8/8/8/3NKN2 w - - 0 1", ENDING_NONE },
        { "4kn2/8/8/8/8/8/8/4KN2 w - - 0 1", ENDING_NONE },
        { "4kn2/8/8/8/8/8/8/4KB2 w - - 0 1", ENDING_NONE },
        { "4k3/8/8/8/8/8/P7/4K3 w - - 0 1", ENDING_NONE },
        { "4k3/8/8/8/8/8/8/R3K3 w - - 0 1", ENDING_NONE },
        { "4k2q/8/8/8/8/8/8/4K3 w - - 0 1", ENDING_NONE },
        /* walls of pawns that nobody can pass */
        { "4k3/8/8/p2p2p1/P2P2P1/8/8/4K3 w - - 0 1", ENDING_DEAD },
        { "4k3/8/1p1p1p1p/1P1P1P1P/8/8/8/4K3 b - - 0 1", ENDING_DEAD },
        { "2b1k3/8/8/1p1p1p1p/1P1P1P1P/8/8/2B1K3 w - - 0 1", ENDING_DEAD }, /* bishops that see the other's pawns never */
        { "2b1k3/8/8/1p1p1p1p/1P1P1P1P/8/8/3BK3 w - - 0 1", ENDING_NONE },  /* Bb3-a4xb5 */
        { "4k3/8/8/p2p4/P2P4/8/8/4K3 w - - 0 1", ENDING_NONE }, /* round by the king's side */
        /* the only move takes the last man */
        { "r7/K1k5/8/8/8/8/8/8 w - - 0 1", ENDING_DEAD },
        { "r7/K7/8/2k5/8/8/8/8 w - - 0 1", ENDING_NONE },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Position position = position_of(cases[i].fen);
        if (ending_of(&position) != cases[i].ending)
            fail_msg("%s: %d", cases[i].fen, (int)ending_of(&position));
        assert_int_equal(ending_plain(&position), cases[i].ending == ENDING_DEAD ? ENDING_NONE : cases[i].ending);
    }
}

static void test_repetition(void **state) {
    (void)state;
    static const struct { const char *fen, *moves; int times; } cases[] = {
        { START, "", 1 },
        { START, "e4", 1 },
        { START, SHUFFLE, 2 },
        { START, SHUFFLE SHUFFLE, 3 },
        { START, SHUFFLE SHUFFLE "Nf3", 3 },
        { START, SHUFFLE SHUFFLE SHUFFLE, 4 },
        { START, SHUFFLE SHUFFLE SHUFFLE SHUFFLE "Nf3 Nf6 Ng1", 5 },
        { "6k1/1p2p1rp/rP1pR3/2pP1pP1/p1P2P1P/R5K1/8/8 b", "h5 Rh6 Rh7 Re6 Rg7 Rh6 Rh7 Re6 Rg7", 3 },
        { "5kbq/3Q2n1/6p1/r3PpKn/2n5/8/8/q7 w - f6", "d7c8 f8f7 c8d7 f7f8 d7d8 f8f7 d8d7 f7f8", 3 },
        { "8/8/8/8/4p3/8/R2P3k/K7 w", "d2d4 h2h3 a2a3 h3h2 a3a2 h2h1 a2a3 h1h2 a3a2", 3 },
        { START, "f4 Nf6 Nf3 Ng8 Ng1 Nf6 Nf3 Ng8 Ng1", 3 },
        { "4k3/8/8/8/8/4P3/8/4K3 w", "Kd2 Kd7 Ke1 Ke8 Kf2 Kf7 Ke1 Ke8", 3 },
        { "4k3/8/8/8/8/4P3/8/4K3 w - - 77 90", "Kd2 Kd7 Ke1 Ke8 Kf2 Kf7 Ke1 Ke8", 3 }, /* what was before the set-up is not known */
        { "4k3/8/8/8/8/4P3/8/4K3 w", "Kd2 Kd7 Ke1 Ke8 e4 Kd7 Kd2 Ke8 Ke1", 2 },
        { "4k3/8/8/8/8/8/8/4K3 w", "Ke2 Ke7 Kd1 Kd8 Ke1 Ke8", 2 },
        { "4k3/8/8/8/8/8/8/4K3 w", "Kd1 Ke7 Kd2 Ke8 Ke1", 1 }, /* the other side is to move */
        { "4k3/8/8/8/8/8/8/R3K3 w Q", "Ra2 Kd8 Ra1 Ke8", 1 }, /* the right to castle is gone */
        { "4k3/8/8/8/8/8/8/R3K3 w Q", "Ra2 Kd8 Ra1 Ke8 Ra2 Kd8 Ra1 Ke8", 2 },
        { "4k3/8/8/8/8/8/8/R3K3 w Q", "Kd1 Kd8 Ke1 Ke8", 1 },
        { "r3k3/8/8/8/8/8/8/R3K2R w KQq", "Rh2 Kd8 Rh1 Ke8", 1 },
        { "4k3/8/8/8/3p4/8/4P3/4K3 w", "e4 Kd8 Kd1 Ke8 Ke1", 1 }, /* so is en passant */
        { "4k3/8/8/8/8/8/4P3/4K3 w", "e4 Kd8 Kd1 Ke8 Ke1", 2 },   /* which was never possible here */
        { "8/8/8/8/k2p3Q/8/4P3/4K3 w", "e4 Ka5 Kd1 Ka4 Ke1", 2 },  /* nor here: the rank would open */
    };
    static Position positions[LINE_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        History history = line_of(cases[i].fen, cases[i].moves, positions);
        int times = history_occurrences(&history, MOVE_NONE, NULL, 0);
        if (times != cases[i].times)
            fail_msg("%s: %d times, not %d", cases[i].moves, times, cases[i].times);
        /* The same by the move that led there, not yet played. */
        if (history.count == 1)
            continue;
        const char *last = strrchr(cases[i].moves, ' ');
        last = last == NULL ? cases[i].moves : last[1] == 0 ? "Ng8" : last + 1;
        History before = { positions, history.count - 1 };
        Move intended = move_of(&positions[before.count - 1], last);
        assert_int_equal(history_occurrences(&before, intended, NULL, 0), times);
        assert_int_equal(history_draws(&before, intended), history_draws(&history, MOVE_NONE));
    }
    /* Evidence: the latest first, as many as there is room for. */
    History history = line_of(START, SHUFFLE "e4 e5 " SHUFFLE SHUFFLE, positions);
    size_t at[4] = { 99, 99, 99, 99 };
    assert_int_equal(history_occurrences(&history, MOVE_NONE, at, 4), 3);
    assert_true(at[0] == 10 && at[1] == 6 && at[2] == 99);
    at[1] = 99;
    assert_int_equal(history_occurrences(&history, MOVE_NONE, at, 1), 3);
    assert_true(at[0] == 10 && at[1] == 99);
    assert_int_equal(history_occurrences(&history, move_of(&positions[14], "Nf3"), at, 4), 3);
    assert_true(at[0] == 11 && at[1] == 7);
}

/* By one position compared with all before it: no rule about turn, halfmove clock or rights. */
static int occurrences_plain(const History *history) {
    int times = 0;
    for (size_t i = 0; i < history->count; i++)
        times += position_same(&history->positions[i], &history->positions[history->count - 1]);
    return times;
}

static void test_repetition_random(void **state) {
    (void)state;
    static Position positions[LINE_MAX];
    static const char *const fens[] = { START, "r3k3/8/8/8/8/8/8/R3K2R w KQq - 0 1", "k7/p7/P7/8/8/p7/P7/K7 w - - 7 40",
                                       "4k3/8/8/8/3p4/8/2P1P3/4K3 w - - 0 1" };
    uint32_t seed = 9;
    int repeated = 0;
    Move moves[LINE_MAX];
    for (int game = 0; game < 300; game++) {
        positions[0] = position_of(fens[game % 4]);
        History history = { positions, 1 };
        while (history.count < 120) {
            MoveList list;
            moves_legal(&positions[history.count - 1], &list);
            if (list.count == 0)
                break;
            seed = seed * 1664525u + 1013904223u;
            Move move = list.moves[(seed >> 8) % (unsigned)list.count];
            Move back = history.count < 3 ? MOVE_NONE : move_make(move_to(moves[history.count - 3]), move_from(moves[history.count - 3]), EMPTY);
            if ((seed >> 30) != 0 && move_is_legal(&positions[history.count - 1], back))
                move = back; /* as people do who want a draw */
            moves[history.count - 1] = move;
            int expected = history_occurrences(&history, move, NULL, 0);
            position_move(&positions[history.count], &positions[history.count - 1], move);
            history.count++;
            int times = history_occurrences(&history, MOVE_NONE, NULL, 0);
            assert_int_equal(times, occurrences_plain(&history));
            assert_int_equal(times, expected);
            repeated += times > 2;
        }
    }
    assert_in_range(repeated, 100, 300 * 120);
}

static void test_draws(void **state) {
    (void)state;
    static const struct { const char *fen, *moves, *intended; unsigned draws; } cases[] = {
        { START, SHUFFLE, "", 0 },
        { START, SHUFFLE SHUFFLE, "", HISTORY_THREEFOLD },
        { START, SHUFFLE "Nf3 Nf6 Ng1", "", 0 },
        { START, SHUFFLE "Nf3 Nf6 Ng1", "Ng8", HISTORY_THREEFOLD },
        { START, SHUFFLE "Nf3 Nf6 Ng1", "e5", 0 },
        { START, SHUFFLE SHUFFLE SHUFFLE, "", HISTORY_THREEFOLD },
        { START, SHUFFLE SHUFFLE SHUFFLE "Nf3 Nf6 Ng1", "Ng8", HISTORY_THREEFOLD | HISTORY_FIVEFOLD },
        { START, SHUFFLE SHUFFLE SHUFFLE SHUFFLE, "", HISTORY_THREEFOLD | HISTORY_FIVEFOLD },
        { START, SHUFFLE SHUFFLE SHUFFLE SHUFFLE SHUFFLE, "", HISTORY_THREEFOLD | HISTORY_FIVEFOLD },
        { "4k3/8/8/8/8/8/P7/R3K3 w - - 98 80", "", "", 0 },
        { "4k3/8/8/8/8/8/P7/R3K3 w - - 98 80", "", "Rb1", 0 },
        { "4k3/8/8/8/8/8/P7/R3K3 w - - 98 80", "Rb1", "Kd8", HISTORY_FIFTY },
        { "4k3/8/8/8/8/8/P7/R3K3 w - - 99 80", "", "", 0 },
        { "4k3/8/8/8/8/8/P7/R3K3 w - - 99 80", "", "Rb1", HISTORY_FIFTY },
        { "4k3/8/8/8/8/8/P7/R3K3 w - - 99 80", "", "a3", 0 },
        { "4k3/8/8/8/8/8/P7/r3K3 w - - 99 80", "", "Kd2", HISTORY_FIFTY },
        { "4k3/8/8/8/8/8/r7/R3K3 w - - 99 80", "", "Rxa2", 0 },
        { "4k3/8/8/8/8/8/P7/R3K3 w - - 100 80", "", "", HISTORY_FIFTY },
        { "4k3/8/8/8/8/8/P7/R3K3 w Q - 99 80", "", "O-O-O", HISTORY_FIFTY }, /* castling is no pawn move and no capture */
        { "4k3/8/8/8/8/8/P7/R3K3 w - - 148 80", "", "Rb1", HISTORY_FIFTY },
        { "4k3/8/8/8/8/8/P7/R3K3 w - - 149 80", "", "Rb1", HISTORY_FIFTY | HISTORY_SEVENTY_FIVE },
        { "4k3/8/8/8/8/8/P7/R3K3 w - - 9999 5000", "", "Rb1", HISTORY_FIFTY | HISTORY_SEVENTY_FIVE },
        /* mate comes first, check does not */
        { "6k1/5ppp/8/8/8/8/8/K3R3 w - - 99 80", "", "Re8#", 0 },
        { "6k1/5ppp/8/8/8/8/8/K3R3 w - - 149 80", "Re8#", "", 0 },
        { "6k1/6pp/8/8/8/8/8/K3R3 w - - 99 80", "", "Re8+", HISTORY_FIFTY },
        { "7k/8/6K1/5Q2/8/8/8/8 w - - 149 80", "", "Qf7", HISTORY_FIFTY | HISTORY_SEVENTY_FIVE }, /* stalemate: a draw anyhow */
    };
    static Position positions[LINE_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        History history = line_of(cases[i].fen, cases[i].moves, positions);
        Move intended = cases[i].intended[0] == 0 ? MOVE_NONE : move_of(&positions[history.count - 1], cases[i].intended);
        if (history_draws(&history, intended) != cases[i].draws)
            fail_msg("%s %s (%s): %u, not %u", cases[i].fen, cases[i].moves, cases[i].intended, history_draws(&history, intended), cases[i].draws);
    }
}

static void test_forfeit(void **state) {
    (void)state;
    static const struct { const char *fen, *moves; Colour loser; Result result; } cases[] = {
        { START, "", WHITE, RESULT_BLACK },
        { START, "", BLACK, RESULT_WHITE },
        { "4k3/8/8/8/8/8/P7/4K3 w - - 0 1", "", WHITE, RESULT_DRAW }, /* a bare king */
        { "4k3/8/8/8/8/8/P7/4K3 w - - 0 1", "", BLACK, RESULT_WHITE },
        { "4kn2/8/8/8/8/8/P7/4K3 w - - 0 1", "", WHITE, RESULT_BLACK }, /* a knight against a pawn: it may become a bishop, in the corner */
        { "4kn2/8/8/8/8/8/8/3QK3 w - - 0 1", "", WHITE, RESULT_DRAW },  /* against a queen never */
        { "4kn2/8/8/8/8/8/8/3RK3 w - - 0 1", "", WHITE, RESULT_BLACK },
        { "4k3/8/8/p2p2p1/P2P2P1/8/8/4K3 w - - 0 1", "", WHITE, RESULT_DRAW },
        { "4k3/8/8/p2p2p1/P2P2P1/8/8/4K3 w - - 0 1", "", BLACK, RESULT_DRAW },
        /* the only move takes the last man */
        { "8/2kr4/8/K7/8/8/8/8 w - - 0 1", "Ka6 Rd8 Ka7 Ra8+", WHITE, RESULT_DRAW },
        { "8/2kr4/8/K7/8/8/8/8 w - - 0 1", "Ka6 Rd8 Ka7", WHITE, RESULT_BLACK },
        { "7k/1qQ5/p4PPK/6PP/8/5P2/8/8 w - - 0 1", "Qg7+ Qxg7+", WHITE, RESULT_DRAW },
        { "8/p3k1p1/6Pp/7K/2rq4/7P/8/8 w - - 0 1", "", WHITE, RESULT_BLACK },
        { "7k/q5Q1/5PPK/5PPP/p7/8/8/8 b - - 0 1", "", BLACK, RESULT_WHITE },
        /* who has mated wins whatever else */
        { "6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1", "Re8#", BLACK, RESULT_WHITE },
        { "6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1", "Re8#", WHITE, RESULT_DRAW },
    };
    static Position positions[LINE_MAX];
    size_t size = (size_t)MATING_NODE_BYTES * MATING_NODES;
    MatingLimits limits = { .memory = malloc(size), .size = size, .nodes = MATING_NODES };
    assert_non_null(limits.memory);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        History history = line_of(cases[i].fen, cases[i].moves, positions);
        Position position = positions[history.count - 1];
        MatingLine line = { .count = -1 };
        Result result = game_forfeit(&position, cases[i].loser, &limits, &line);
        if (result != cases[i].result)
            fail_msg("%s %s: %s", cases[i].fen, cases[i].moves, result_text(result));
        if (line.count < 0)
            continue; /* a draw, or the opponent's win for want of proof */
        assert_int_not_equal(result, RESULT_DRAW);
        for (int ply = 0; ply < line.count; ply++) {
            assert_true(move_is_legal(&position, line.moves[ply]));
            position_move(&position, &position, line.moves[ply]);
        }
        assert_int_equal(ending_plain(&position), ENDING_CHECKMATE);
        assert_int_equal(position_turn(&position), cases[i].loser);
    }
    free(limits.memory);
    Position start = position_of(START); /* nothing to look with: unknown counts as can */
    MatingLimits none = { .memory = NULL };
    assert_int_equal(game_forfeit(&start, WHITE, &none, NULL), RESULT_BLACK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_endings), cmocka_unit_test(test_repetition), cmocka_unit_test(test_repetition_random),
        cmocka_unit_test(test_draws),   cmocka_unit_test(test_forfeit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
