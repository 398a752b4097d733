/* A game of the service as PGN: the tags a player's own programs look for. */
#include "core/chess/fen.h"
#include "core/game/record.h"
#include "daemon/outbox/score.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void expect(const Score *score, const char *line) {
    Str out;
    str_init(&out, 65536);
    assert_true(score_write(&out, score));
    if (strstr(out.data, line) == NULL)
        print_error("%s\nis not in\n%s", line, out.data);
    assert_non_null(strstr(out.data, line));
    str_free(&out);
}

static Position start;
static const Move moves[] = { 12 | 28 << 6, 52 | 36 << 6 }; /* e4 e5 */
static Score running(void) {
    position_start(&start);
    return (Score){ .id = 42, .service = "Anytown Chess by Mail", .address = "chess@club.example", .white = "Anna \"A\" Smith", .black = "Robert Jones",
                    .control = "10/50d", .began = INSTANT_NONE, .start = &start, .moves = moves, .move_count = 2 };
}

static void test_whole(void **state) {
    (void)state;
    Score score = running();
    assert_true(instant_read("2026-03-09T23:59:59Z", &score.began));
    expect(&score, "[Event \"Anytown Chess by Mail\"]\n[Site \"chess@club.example\"]\n[Date \"2026.03.09\"]\n[Round \"-\"]\n[White \"Anna \\\"A\\\" Smith\"]\n"
                   "[Black \"Robert Jones\"]\n[Result \"*\"]\n[BlackNA \"chess@club.example\"]\n[CmailGameName \"chess-42\"]\n[Mode \"EM\"]\n"
                   "[Termination \"unterminated\"]\n[TimeControl \"10/4320000\"]\n[WhiteNA \"chess@club.example\"]\n\n1. e4 e5 *\n\n");
    score.began = INSTANT_NONE;
    expect(&score, "[Date \"????.??.??\"]");
    start.chess960 = true;
    expect(&score, "[Variant \"Chess960\"]");
}

static void test_time_controls(void **state) {
    (void)state;
    static const char *const cases[][2] = { { "10/50d", "10/4320000" }, { "3d/move", "1/259200" }, { "none", "-" }, { "no control", "?" } };
    for (size_t i = 0; i < 4; i++) {
        char line[64];
        Score score = running();
        score.control = cases[i][0];
        snprintf(line, sizeof line, "[TimeControl \"%s\"]\n", cases[i][1]);
        expect(&score, line);
    }
}

/* Every reason a game can end for has its word, or this says that it was forgotten. */
static void test_ends(void **state) {
    (void)state;
    for (int reason = REASON_CHECKMATE; strcmp(reason_name((Reason)reason), "none") != 0; reason++) {
        Score score = running();
        score.reason = reason_name((Reason)reason);
        score.result = "1/2-1/2";
        expect(&score, reason == REASON_RULING ? "[Termination \"adjudication\"]" : "[Termination \"normal\"]");
        expect(&score, "[Result \"1/2-1/2\"]");
        score.result = "0-0"; /* both lose: PGN has no word for it */
        expect(&score, "[Result \"*\"]");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_whole), cmocka_unit_test(test_time_controls), cmocka_unit_test(test_ends) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
