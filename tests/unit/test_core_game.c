/* Games: whole ones replayed from their records, damage of every kind found, random ones, the man page's. The rules are
 * test_core_game_rules.c's. */
#include "tests/unit/test_core_game_match.h"

#include "core/chess/movegen.h"
#include "tests/unit/slow.h"

/* A short game with everything that can stand in a record before a mate. */
static void sample(Match *match) {
    begin_from(match, "10/50d", NULL, 0, T0 + DAY);
    Entry entry;
    notice(match, T0 + 5);
    move(match, "f3", T0 + 4 * DAY, false);
    notice(match, T0 + 4 * DAY + 60);
    move(match, "e5", T0 + 5 * DAY, true);
    assert_int_equal(game_plan_decline(match->game, WHITE, T0 + 5 * DAY + 50, 91, &entry, NULL), 1);
    apply(match, &entry, 1);
    notice(match, T0 + 5 * DAY + 60);
    move(match, "e4", T0 + 6 * DAY, false);
    assert_int_equal(game_plan_offer(match->game, WHITE, T0 + 6 * DAY + 50, 92, &entry, NULL), 1);
    apply(match, &entry, 1);
    assert_int_equal(game_plan_restore(match->game, 2, T0 + 7 * DAY, 93, &entry, NULL), 1);
    apply(match, &entry, 1);
    notice(match, T0 + 7 * DAY + 60);
    move(match, "g4", T0 + 60 * DAY, false);
    notice(match, T0 + 60 * DAY + 60);
    assert_int_equal(move(match, "Qh4#", T0 + 61 * DAY, false), 2);
}

static void test_whole_game(void **state) {
    (void)state;
    Match match;
    sample(&match);
    const Game *game = match.game;
    assert_int_equal(game->result, RESULT_BLACK);
    assert_int_equal(game->reason, REASON_CHECKMATE);
    assert_int_equal(game->ended, T0 + 61 * DAY);
    assert_int_equal(game->epoch, 2);
    assert_int_equal(game->ply_count, 4);
    assert_int_equal(game->white, 7);
    assert_int_equal(game_player(game, BLACK), 12);
    assert_int_equal(game->entry_count, 15);
    assert_string_equal(game->plies[3].san, "Qh4#");
    assert_true(game->plies[1].offer);
    /* White: two days after the start announced; then 52 days of which 32 count double, 46 days left: late */
    assert_int_equal(game->plies[0].charged, 2 * DAY);
    assert_int_equal(game->plies[2].charged, 84 * DAY);
    assert_true(game->plies[2].late > 0);
    assert_int_equal(game->clocks[WHITE].left, (50 - 2 - 84) * DAY);
    assert_int_equal(game->clocks[WHITE].used, 86 * DAY);
    assert_int_equal(game->clocks[BLACK].left, 50 * DAY);
    assert_int_equal(game_deadline(game, T0), INSTANT_NONE);
    const Position *position;
    assert_false(game_position_at(game, 1, 2, &position));
    assert_false(game_position_at(game, 3, 2, &position));
    assert_false(game_position_at(game, 2, 5, &position));
    assert_false(game_position_at(game, 2, -1, &position));
    assert_true(game_position_at(game, 2, 0, &position));
    same_position(position, &game->initial);
    assert_true(game_position_at(game, 2, 4, &position));
    same_position(position, &game->position);
    finish(&match);
}

static void demand_damaged(const char *record, size_t length, const char *what, size_t where) {
    Error error = { .grade = ERROR_NONE };
    Game *game = game_replay(record, length, &error);
    if (game != NULL)
        fail_msg("not found: %s at byte %zu", what, where);
    assert_int_equal(error.grade, ERROR_DAMAGED);
    size_t size = strlen(error.text);
    if (size < 20 || error.text[size - 1] != '.')
        fail_msg("no sentence: %s", error.text);
    game_free(game);
}

/* A finished game's record: no byte can be changed, lost or doubled, no line lost, doubled or moved, and nobody notices. */
static void test_every_damage(void **state) {
    (void)state;
    Match match;
    sample(&match);
    static const char others[] = { 0, '\n', ' ', '%', '0', 'a', '=', '-', '\r' };
    size_t length = match.record.length;
    char *copy = malloc(length + 1); /* one byte may be added */
    assert_non_null(copy);
    for (size_t i = 0; i < length; i++) {
        memcpy(copy, match.record.data, length);
        for (int bit = 0; bit < 8; bit++) {
            copy[i] = (char)(match.record.data[i] ^ (1 << bit));
            demand_damaged(copy, length, "a flipped bit", i);
        }
        for (size_t k = 0; k < sizeof others; k++) {
            copy[i] = others[k];
            if (copy[i] != match.record.data[i])
                demand_damaged(copy, length, "another byte", i);
        }
        memmove(copy + i, match.record.data + i + 1, length - i - 1);
        demand_damaged(copy, length - 1, "a lost byte", i);
        memcpy(copy, match.record.data, i + 1);
        memcpy(copy + i + 1, match.record.data + i, length - i);
        demand_damaged(copy, length + 1, "a doubled byte", i);
        for (size_t k = 0; k < sizeof others; k++) {
            copy[i] = others[k];
            if (memcmp(copy, match.record.data, length) != 0)
                demand_damaged(copy, length + 1, "an added byte", i);
        }
    }
    char endless[2 * RECORD_LINE_MAX];
    memset(endless, '1', sizeof endless);
    demand_damaged(endless, sizeof endless, "no end of the line", 0);
    endless[sizeof endless - 1] = '\n';
    demand_damaged(endless, sizeof endless, "a line too long", 0);
    const char *lines[32];
    int count = 0;
    for (const char *at = match.record.data; *at != 0; at = strchr(at, '\n') + 1)
        lines[count++] = at;
    lines[count] = match.record.data + length;
    char *larger = malloc(length * 2);
    assert_non_null(larger);
    for (int from = 0; from < count; from++) {
        for (int to = 0; to <= count; to++) { /* line `from` doubled before line `to`; then moved there */
            size_t size = (size_t)(lines[from + 1] - lines[from]), before = (size_t)(lines[to] - lines[0]);
            memcpy(larger, lines[0], before);
            memcpy(larger + before, lines[from], size);
            memcpy(larger + before + size, lines[to], length - before);
            demand_damaged(larger, length + size, "a doubled line", before);
            if (to == from || to == from + 1)
                continue;
            size_t gone = (size_t)(lines[from] - lines[0]) + (from > to ? size : 0);
            memmove(larger + gone, larger + gone + size, length - gone);
            demand_damaged(larger, length, "a moved line", gone);
        }
        if (from + 1 < count) { /* a record may end earlier, but not in between */
            size_t at = (size_t)(lines[from] - lines[0]), size = (size_t)(lines[from + 1] - lines[from]);
            memcpy(larger, lines[0], at);
            memcpy(larger + at, lines[from + 1], length - at - size);
            demand_damaged(larger, length - size, "a lost line", at);
        }
    }
    demand_damaged("", 0, "no record", 0);
    demand_damaged(match.record.data, length - 1, "no LF at the end", length - 1);
    demand_damaged(match.record.data, (size_t)(lines[count - 1] - lines[0]), "a mate without result", 0);
    free(copy);
    free(larger);
    finish(&match);
}

/* Castling, en passant and promotion in the record's spelling; Chess960 has king takes rook. */
static void test_spelling(void **state) {
    (void)state;
    Match match;
    begin_from(&match, "none", "r3k2r/6P1/8/8/3p4/8/4P3/R3K2R w KQkq - 0 1", 0, INSTANT_NONE);
    MOVES(&match, "e4", "dxe3", "O-O", "O-O-O", "gxh8=N");
    assert_non_null(strstr(match.record.data, " uci=d4e3 san=dxe3 "));
    assert_non_null(strstr(match.record.data, " uci=e1g1 san=O-O "));
    assert_non_null(strstr(match.record.data, " uci=e8c8 san=O-O-O "));
    assert_non_null(strstr(match.record.data, " uci=g7h8n san=gxh8=N "));
    assert_non_null(strstr(match.record.data, " fen=r3k2r/6P1/8/8/3p4/8/4P3/R3K2R%20w%20KQkq%20-%200%201 "));
    finish(&match);

    begin_from(&match, "none", "rk2r3/pppppppp/8/8/8/8/PPPPPPPP/RK2R3 w KQkq - 0 1", FEN_CHESS960, INSTANT_NONE);
    assert_true(match.game->initial.chess960);
    assert_non_null(strstr(match.record.data, "%20w%20EAea%20-%200%201 "));
    MOVES(&match, "O-O", "a6");
    assert_non_null(strstr(match.record.data, " uci=b1e1 san=O-O "));
    finish(&match);

    Position array; /* Chess960's number 518 is no standard game: castling is spelled otherwise */
    Control none;
    Entry entry;
    assert_true(position_start960(518, &array));
    assert_int_equal(control_read("none", &none, NULL), 0);
    assert_int_equal(game_plan_start(1, 2, &none, &array, INSTANT_NONE, AUTHOR_SERVICE, T0, 0, &entry, NULL), 1);
    assert_string_equal(entry.fen, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1");
    position_start(&array);
    assert_int_equal(game_plan_start(1, 2, &none, &array, INSTANT_NONE, AUTHOR_SERVICE, T0, 0, &entry, NULL), 1);
    assert_string_equal(entry.fen, "");
    for (int number = 0; number < 960; number += 7) {
        Game *game = game_new();
        assert_true(position_start960(number, &array));
        assert_int_equal(game_plan_start(1, 2, &none, &array, INSTANT_NONE, AUTHOR_SERVICE, T0, 0, &entry, NULL), 1);
        assert_int_equal(game_apply(game, &entry, NULL), 0);
        same_position(&game->initial, &array);
        game_free(game);
    }
}

static void test_plan_errors(void **state) {
    (void)state;
    Control none;
    Entry entries[2] = { { .number = 77 }, { .number = 77 } };
    Error error;
    Position over;
    assert_int_equal(control_read("none", &none, NULL), 0);
    assert_int_equal(game_plan_start(1, 1, &none, NULL, INSTANT_NONE, AUTHOR_SERVICE, T0, 0, entries, &error), -1);
    assert_int_equal(error.grade, ERROR_INPUT);
    assert_int_equal(game_plan_start(0, 1, &none, NULL, INSTANT_NONE, AUTHOR_SERVICE, T0, 0, entries, &error), -1);
    assert_int_equal(error.grade, ERROR_INPUT);
    assert_true(fen_read("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", 0, &over, NULL));
    assert_int_equal(game_plan_start(1, 2, &none, &over, INSTANT_NONE, AUTHOR_SERVICE, T0, 0, entries, &error), -1);
    assert_int_equal(error.grade, ERROR_INPUT);
    assert_non_null(strstr(error.text, "over already"));
    Game *game = game_new();
    assert_int_equal(game_plan_move(game, move_make(12, 28, 0), T0, 1, false, entries, &error), -1);
    assert_int_equal(game_plan_notice(game, WHITE, 0, 0, T0, 1, entries, NULL), 0);
    const Position *position;
    assert_false(game_position_at(game, 0, 0, &position));
    game_free(game);
    Match match;
    begin(&match, "none");
    assert_int_equal(game_plan_move(match.game, move_make(12, 36, 0), T0, 1, false, entries, &error), -1);
    assert_int_equal(error.grade, ERROR_INPUT);
    assert_int_equal(game_plan_move(match.game, move_make(12, 28, 0), INSTANT_NONE, 1, false, entries, &error), -1);
    assert_int_equal(error.grade, ERROR_INPUT);
    assert_int_equal(game_plan_move(match.game, MOVE_NONE, T0, 1, false, entries, &error), -1);
    assert_int_equal(entries[0].number, 77); /* untouched */
    assert_int_equal(entries[1].number, 77);
    finish(&match);
}

/* A game can be as long as GAME_PLIES_MAX and no longer. */
static void test_longest(void **state) {
    (void)state;
    if (SLOW) /* the same thing 4000 times */
        skip();
    Match match;
    begin(&match, "none");
    static const char *const dance[] = { "Nf3", "Nf6", "Ng1", "Ng8" };
    for (int i = 0; i < GAME_PLIES_MAX; i++)
        move(&match, dance[i % 4], T0, false);
    Entry entries[2];
    Error error;
    assert_int_equal(game_plan_move(match.game, read_move(match.game, "Nf3"), T0, 1, false, entries, &error), -1);
    assert_int_equal(error.grade, ERROR_INPUT);
    Entry entry = next(&match, ENTRY_MOVE, AUTHOR_WHITE);
    entry.ply++;
    text_copy(entry.uci, 8, "g1f3"), text_copy(entry.san, 16, "Nf3");
    demand_refused(&match, &entry, "at most 4000 plies");
    finish(&match);
}

/* xorshift64*, so that a seed gives the same games everywhere. */
static uint64_t seed;
static int draw(int below) {
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return (int)(seed * 0x2545f4914f6cdd1du >> 33) % below;
}

static void random_act(Match *match, Instant at) {
    Entry entries[2];
    Game *game = match->game;
    Colour by = (Colour)draw(2);
    int count = 0, result = 1 + draw(5);
    switch (draw(40)) {
    case 0:
        count = game_plan_offer(game, by, at, ++match->letter, entries, NULL);
        break;
    case 1:
        count = game_plan_decline(game, by, at, ++match->letter, entries, NULL);
        break;
    case 2:
        count = draw(8) == 0 ? game_plan_accept(game, by, at, ++match->letter, entries, NULL) : 0;
        break;
    case 3:
        count = draw(30) == 0 ? game_plan_resign(game, by, at, ++match->letter, entries, NULL) : 0;
        break;
    case 4:
        count = draw(4) == 0 ? game_plan_restore(game, draw(game->ply_count + 1), at, 0, entries, NULL) : 0;
        break;
    case 5:
        count = draw(60) == 0 ? game_plan_ruling(game, (Result)result, at, 0, entries, NULL) : 0;
        break;
    default:
        if (draw(3) == 0) {
            count = game_plan_notice(game, game_turn(game), game->epoch, game->ply_count, at, ++match->letter, entries, NULL);
        } else {
            MoveList list;
            moves_legal(&game->position, &list);
            Move any = list.moves[draw(list.count)];
            bool offers = draw(12) == 0;
            count = game_plan_move(game, any, at, ++match->letter, offers, entries, NULL);
            assert_true(count > 0);
        }
    }
    apply(match, entries, count < 0 ? 0 : count);
}

static void test_random_games(void **state) {
    (void)state;
    static const char *const controls[] = { "10/50d", "3d/move", "10/30d", "none", "2/5d" };
    int ended[REASON_RULING + 1] = { 0 }, late = 0, restored = 0;
    seed = 20261130;
    for (int number = 0; number < (SLOW ? 10 : 150); number++) {
        static const char *const set_up[] = { NULL, NULL, NULL, "8/2k5/8/8/3q4/6K1/8/7R b - - 0 1",
                                              "7k/8/5K2/6Q1/8/8/8/8 w - - 0 1", "8/8/8/8/8/p7/8/k1K5 b - - 0 1" };
        Match match;
        Position array;
        char fen[FEN_MAX];
        assert_true(position_start960(draw(960), &array));
        fen_write(&array, FEN_SHREDDER, fen);
        bool chess960 = draw(3) == 0;
        const char *from = set_up[draw(6)], *control = controls[draw(5)];
        Instant start = draw(2) == 0 ? INSTANT_NONE : T0 + draw(9 * DAY);
        begin_from(&match, control, chess960 ? fen : from, chess960 ? FEN_CHESS960 : 0, start);
        Instant at = T0;
        int most = 1 + draw(400);
        for (int act = 0; act < most && !game_over(match.game); act++) {
            at += draw(10) == 0 ? draw(45 * DAY) : draw(3 * DAY) - 600;
            random_act(&match, at);
            if (draw(100) == 0)
                check_replay(&match);
        }
        for (int i = 0; i < match.game->ply_count; i++)
            late += match.game->plies[i].late > 0;
        restored += match.game->epoch > 1;
        ended[match.game->reason]++;
        finish(&match);
    }
    /* the games are of many kinds */
    for (int reason = REASON_NONE; reason <= REASON_RULING && !SLOW; reason++)
        if (ended[reason] == 0)
            fail_msg("no random game ended by %s", reason_name((Reason)reason));
    assert_true(SLOW || (late > 20 && restored > 20));
}

/* The example of the man page is a record whose every byte this program would write, and the script that stands there
 * checks it. */
static void test_man_page(void **state) {
    (void)state;
    char page[32768], folder[] = "/tmp/epistle-record-XXXXXX", path[256], command[700];
    FILE *file = fopen("docs/epistle-record.5", "r");
    if (file == NULL)
        fail_msg("docs/epistle-record.5 is missing; run from the project's root");
    size_t length = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    page[length] = 0;
    char *record = strstr(page, ".Bd -literal\n1 start "), *end = record != NULL ? strstr(record, ".Ed\n") : NULL;
    assert_non_null(end);
    record += strlen(".Bd -literal\n");

    Error error = { .grade = ERROR_NONE };
    Game *game = game_replay(record, (size_t)(end - record), &error);
    if (game == NULL)
        fail_msg("%s", error.text);
    assert_int_equal(game->result, RESULT_BLACK);
    assert_int_equal(game->entry_count, 11);
    assert_non_null(strstr(end, game->head)); /* the page names it */

    char *script = strstr(end, "#!/bin/sh\n"), *script_end = script != NULL ? strstr(script, ".Ed\n") : NULL;
    assert_non_null(script_end);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/script", folder);
    assert_non_null(file = fopen(path, "w"));
    for (const char *at = script; at < script_end; at++) {
        if (at[0] == '\\' && at[1] == 'e') { /* roff's backslash */
            fputc('\\', file);
            at++;
        } else {
            fputc(*at, file);
        }
    }
    fclose(file);
    for (int broken = 0; broken < 2; broken++) {
        char answer[256] = "";
        if (broken)
            *strstr(record, "san=e5") = 'S';
        snprintf(path, sizeof path, "%s/record", folder);
        assert_non_null(file = fopen(path, "w"));
        fwrite(record, 1, (size_t)(end - record), file);
        fclose(file);
        snprintf(command, sizeof command, "sh %s/script %s/record", folder, folder);
        assert_non_null(file = popen(command, "r"));
        assert_non_null(fgets(answer, sizeof answer, file));
        int status = pclose(file);
        if (broken) {
            assert_memory_equal(answer, "broken at: 6 notice", 19);
            assert_int_not_equal(status, 0);
        } else {
            assert_memory_equal(answer, "head ", 5);
            assert_memory_equal(answer + 5, game->head, 64);
            assert_int_equal(status, 0);
        }
    }
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    game_free(game);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_game), cmocka_unit_test(test_every_damage), cmocka_unit_test(test_spelling),
        cmocka_unit_test(test_plan_errors), cmocka_unit_test(test_longest),     cmocka_unit_test(test_random_games),
        cmocka_unit_test(test_man_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
