/* The rules of a game's record: which entries fit, notices and clocks, offers, results, restoring. */
#include "tests/unit/test_core_game_match.h"

static void test_refused_starts(void **state) {
    (void)state;
    Match match = { .game = game_new() };
    str_init(&match.record, 4096);
    Entry good = next(&match, ENTRY_START, AUTHOR_SERVICE), entry;
    good.rules_version = RULES_VERSION;
    good.white = 1;
    good.black = 2;
    text_copy(good.control, sizeof good.control, "10/50d");
    entry = good, entry.number = 2, demand_refused(&match, &entry, "entry 1 should stand here");
    entry = good, entry.previous[0] = '1', demand_refused(&match, &entry, "hash of the entry before");
    entry = good, entry.kind = ENTRY_RESIGN, entry.by = AUTHOR_WHITE, demand_refused(&match, &entry, "begins with its start");
    entry = good, entry.rules_version = 2, demand_refused(&match, &entry, "rules version 2");
    entry = good, entry.by = AUTHOR_WHITE, demand_refused(&match, &entry, "not by a player");
    entry = good, entry.by = AUTHOR_BLACK, demand_refused(&match, &entry, "not by a player");
    entry = good, entry.control[0] = 0, assert_int_equal(game_apply(match.game, &entry, NULL), -1);
    entry = good, entry.black = 1, demand_refused(&match, &entry, "against himself");
    static const struct { const char *fen, *why; } fens[] = {
        { "nonsense", "FEN" },
        { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "spelled" }, /* is "-" */
        { "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1", "spelled" }, /* nobody can take there */
        { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0", "FEN" },
        { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w QKkq - 0 2", "spelled" },
        { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 00 2", "spelled" },
        { " rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 2", "spelled" },
        { "bqnbrnkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBRNKR w KQkq - 0 1", "spelled" }, /* Chess960 has files */
        { "8/8/8/8/8/8/8/4kKR1 w - - 0 1", "FEN" },
        { "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "over already" },
        { "7k/8/8/8/8/8/8/K7 w - - 0 1", "over already" },
        { "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "over already" },
    };
    for (size_t i = 0; i < sizeof fens / sizeof fens[0]; i++) {
        entry = good;
        text_copy(entry.fen, sizeof entry.fen, fens[i].fen);
        demand_refused(&match, &entry, fens[i].why);
    }
    entry = good, text_copy(entry.hash, sizeof entry.hash, entry.previous);
    Error error;
    assert_int_equal(game_apply(match.game, &entry, &error), -1);
    assert_non_null(strstr(error.text, "hash"));
    entry = good;
    assert_int_equal(game_apply(match.game, &entry, NULL), 0);
    entry = next(&match, ENTRY_START, AUTHOR_SERVICE);
    entry.rules_version = 1, entry.white = 1, entry.black = 2, text_copy(entry.control, sizeof entry.control, "none");
    demand_refused(&match, &entry, "has no other");
    game_free(match.game);
}

static void test_refused_moves(void **state) {
    (void)state;
    Match match;
    begin(&match, "10/50d");
    notice(&match, T0);
    Entry good = planned_move(&match, "e4"), entry;
    assert_int_equal(good.charged, 2 * DAY);
    entry = good, entry.by = AUTHOR_BLACK, demand_refused(&match, &entry, "white is to move, not black");
    entry = good, entry.by = AUTHOR_SERVICE, demand_refused(&match, &entry, "white is to move");
    entry = good, entry.ply = 2, demand_refused(&match, &entry, "next is ply 1");
    entry = good, entry.ply = 0, demand_refused(&match, &entry, "next is ply 1");
    entry = good, entry.epoch = 2, demand_refused(&match, &entry, "of epoch 1");
    entry = good, text_copy(entry.uci, 8, "e2e5"), demand_refused(&match, &entry, "no legal move");
    entry = good, text_copy(entry.uci, 8, "e7e5"), demand_refused(&match, &entry, "no legal move");
    entry = good, text_copy(entry.uci, 8, "e4"), demand_refused(&match, &entry, "no legal move");
    entry = good, text_copy(entry.uci, 8, "e"), demand_refused(&match, &entry, "no legal move");
    entry = good, text_copy(entry.uci, 8, "e2e4q"), demand_refused(&match, &entry, "no legal move");
    entry = good, text_copy(entry.uci, 8, "E2E4"), demand_refused(&match, &entry, "no legal move");
    entry = good, text_copy(entry.uci, 8, "d2d4"), demand_refused(&match, &entry, "d2d4 is d4, not e4");
    entry = good, text_copy(entry.san, 16, "e4!"), demand_refused(&match, &entry, "e2e4 is e4, not e4!");
    entry = good, text_copy(entry.san, 16, "e2-e4"), demand_refused(&match, &entry, "e2e4 is e4");
    entry = good, entry.charged--, demand_refused(&match, &entry, "it costs 172800 s");
    entry = good, entry.charged = 0, demand_refused(&match, &entry, "it costs 172800 s");
    entry = good, entry.late = 1, demand_refused(&match, &entry, "0 s late, not 172800 and 1");
    entry = good, entry.at += DAY, demand_refused(&match, &entry, "it costs 259200 s");
    entry = good, entry.number--, demand_refused(&match, &entry, "entry 3 should stand here");
    entry = good, entry.charged = -1, demand_refused(&match, &entry, "charged");
    apply(&match, &good, 1);

    good = planned_move(&match, "e5"); /* Black's notice has not been accepted: no charge */
    assert_int_equal(good.charged, 0);
    entry = good, entry.charged = DAY, demand_refused(&match, &entry, "it costs 0 s");
    finish(&match);
}

static void test_refused_acts(void **state) {
    (void)state;
    Match match;
    begin(&match, "10/50d");
    Entry entry;
    static const struct { EntryKind kind; Author by; const char *why; } acts[] = {
        { ENTRY_OFFER, AUTHOR_SERVICE, "offered by players" },  { ENTRY_OFFER, AUTHOR_ARBITER, "offered by players" },
        { ENTRY_DECLINE, AUTHOR_ARBITER, "answered by players" }, { ENTRY_ACCEPT, AUTHOR_SERVICE, "answered by players" },
        { ENTRY_DECLINE, AUTHOR_WHITE, "no offer to white" },   { ENTRY_ACCEPT, AUTHOR_BLACK, "no offer to black" },
        { ENTRY_RESIGN, AUTHOR_SERVICE, "only players resign" }, { ENTRY_RESTORE, AUTHOR_SERVICE, "only the arbiter" },
    };
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++) {
        entry = next(&match, acts[i].kind, acts[i].by);
        demand_refused(&match, &entry, acts[i].why);
    }
    entry = next(&match, ENTRY_RESTORE, AUTHOR_ARBITER), demand_refused(&match, &entry, "the game stands at ply 0 of epoch 1");
    entry.epoch = 3, demand_refused(&match, &entry, "the game stands at");
    entry.epoch = 2, entry.ply = 1, demand_refused(&match, &entry, "the game stands at");

    entry = next(&match, ENTRY_NOTICE, AUTHOR_SERVICE);
    Entry good = entry;
    good.to = AUTHOR_WHITE;
    entry = good, entry.by = AUTHOR_WHITE, demand_refused(&match, &entry, "notices are the service's");
    entry = good, entry.to = AUTHOR_BLACK, demand_refused(&match, &entry, "begins no time, white is to move");
    entry = good, entry.to = AUTHOR_SERVICE, demand_refused(&match, &entry, "begins no time");
    entry = good, entry.ply = 1, demand_refused(&match, &entry, "speaks of epoch 1, ply 1");
    entry = good, entry.epoch = 2, demand_refused(&match, &entry, "speaks of epoch 2");
    notice(&match, T0);
    entry = next(&match, ENTRY_NOTICE, AUTHOR_SERVICE), entry.to = AUTHOR_WHITE;
    demand_refused(&match, &entry, "runs already");

    /* a result must be called for: by the board or the players, or be a ruling */
    for (int reason = REASON_CHECKMATE; reason <= REASON_RULING; reason++) {
        entry = next(&match, ENTRY_RESULT, AUTHOR_SERVICE);
        entry.result = RESULT_DRAW, entry.reason = (Reason)reason;
        demand_refused(&match, &entry, "ends the game here");
        entry.by = AUTHOR_ARBITER;
        if (reason != REASON_RULING)
            demand_refused(&match, &entry, "ends the game here");
    }
    finish(&match);
}

/* After what ends a game its result follows at once, and no other one; then nothing. */
static void test_result_due(void **state) {
    (void)state;
    Match match;
    begin(&match, "none");
    MOVES(&match, "f3", "e5", "g4");
    Entry entries[2], entry;
    assert_int_equal(game_plan_move(match.game, read_move(match.game, "Qh4"), T0, 5, false, entries, NULL), 2);
    apply(&match, &entries[0], 1);
    assert_false(game_over(match.game));
    assert_int_equal(game_deadline(match.game, T0), INSTANT_NONE);
    entry = next(&match, ENTRY_RESIGN, AUTHOR_WHITE), demand_refused(&match, &entry, "result (0-1, checkmate) must stand here");
    entry = next(&match, ENTRY_OFFER, AUTHOR_WHITE), demand_refused(&match, &entry, "must stand here");
    entry = next(&match, ENTRY_RESTORE, AUTHOR_ARBITER), entry.epoch = 2, demand_refused(&match, &entry, "must stand here");
    Entry good = entries[1];
    entry = good, entry.result = RESULT_WHITE, demand_refused(&match, &entry, "ends the game 0-1 (checkmate)");
    entry = good, entry.reason = REASON_RESIGNATION, demand_refused(&match, &entry, "ends the game 0-1 (checkmate)");
    entry = good, entry.by = AUTHOR_ARBITER, demand_refused(&match, &entry, "by the service");
    entry = good, entry.by = AUTHOR_ARBITER, entry.reason = REASON_RULING, demand_refused(&match, &entry, "ends the game 0-1");
    entry = good, entry.at++, demand_refused(&match, &entry, "time and the letter");
    entry = good, entry.letter++, demand_refused(&match, &entry, "time and the letter");
    assert_int_equal(game_plan_resign(match.game, WHITE, T0, 6, entries, NULL), -1);
    apply(&match, &good, 1);
    assert_true(game_over(match.game));
    for (int kind = ENTRY_NOTICE; kind <= ENTRY_RESTORE; kind++) {
        entry = next(&match, (EntryKind)kind, AUTHOR_ARBITER);
        text_copy(entry.uci, 8, "a2a3"), text_copy(entry.san, 16, "a3"), entry.epoch = 2;
        entry.result = RESULT_DRAW, entry.reason = REASON_RULING;
        demand_refused(&match, &entry, "nothing follows its result");
    }
    Error error;
    assert_int_equal(game_plan_resign(match.game, WHITE, T0, 6, entries, &error), -1);
    assert_int_equal(error.grade, ERROR_INPUT);
    assert_string_equal(error.text, "The game is over: 0-1 (checkmate).");
    assert_int_equal(game_plan_accept(match.game, WHITE, T0, 6, entries, NULL), -1);
    assert_int_equal(game_plan_decline(match.game, WHITE, T0, 6, entries, NULL), -1);
    assert_int_equal(game_plan_offer(match.game, WHITE, T0, 6, entries, NULL), -1);
    assert_int_equal(game_plan_move(match.game, move_make(8, 16, 0), T0, 6, false, entries, NULL), -1);
    assert_int_equal(game_plan_ruling(match.game, RESULT_DRAW, T0, 6, entries, NULL), -1);
    assert_int_equal(game_plan_restore(match.game, 0, T0, 6, entries, NULL), -1);
    assert_int_equal(game_plan_notice(match.game, WHITE, 1, 4, T0, 6, entries, NULL), 0);
    finish(&match);
}

static void test_endings(void **state) {
    (void)state;
    static const struct {
        const char *fen, *move;
        Result result;
        Reason reason;
    } ends[] = {
        { "6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1", "Re8#", RESULT_WHITE, REASON_CHECKMATE },
        { "k3r3/8/8/8/8/8/5PPP/6K1 b - - 0 1", "Re1#", RESULT_BLACK, REASON_CHECKMATE },
        { "7k/8/6K1/5Q2/8/8/8/8 w - - 0 1", "Qf7", RESULT_DRAW, REASON_STALEMATE },
        { "7k/8/8/8/8/8/5r2/6K1 w - - 0 1", "Kxf2", RESULT_DRAW, REASON_DEAD_POSITION },
        { "7k/8/8/8/8/8/5r2/4B1K1 w - - 0 1", "Bxf2", RESULT_DRAW, REASON_DEAD_POSITION },
        { "7k/8/8/8/8/8/P4r2/6K1 w - - 0 1", "Kxf2", RESULT_NONE, REASON_NONE },
        { "4k3/8/8/p2p2p1/P2P2n1/5P2/8/4K3 w - - 0 1", "fxg4", RESULT_DRAW, REASON_DEAD_POSITION }, /* walls of pawns */
        { "4k3/8/8/p2p2p1/P2P2n1/5P2/8/4K3 w - - 0 1", "f4", RESULT_NONE, REASON_NONE },
    };
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        Match match;
        begin_from(&match, "10/50d", ends[i].fen, 0, INSTANT_NONE);
        assert_int_equal(move(&match, ends[i].move, T0 + DAY, true), ends[i].result == RESULT_NONE ? 1 : 2);
        assert_int_equal(match.game->result, ends[i].result);
        assert_int_equal(match.game->reason, ends[i].reason);
        assert_int_equal(match.game->ended, ends[i].result == RESULT_NONE ? INSTANT_NONE : T0 + DAY);
        finish(&match);
    }
}

/* Positions dead but for their material: the service ends the game there; a record that went on, since the version that wrote
 * it did not see that, stays a good record. */
static void test_dead_position(void **state) {
    (void)state;
    static const char fen[] = "4k3/8/8/p2p2p1/P2P2n1/5P2/8/4K3 w - - 0 1";
    Match match;
    Entry entries[2], entry;
    begin_from(&match, "10/50d", fen, 0, INSTANT_NONE);
    assert_int_equal(game_plan_move(match.game, read_move(match.game, "fxg4"), T0 + DAY, 3, true, entries, NULL), 2);
    Entry early = entries[1];
    early.number = 2;
    text_copy(early.previous, sizeof early.previous, match.game->head);
    demand_refused(&match, &early, "nothing on the board"); /* before the move */
    apply(&match, &entries[0], 1);
    assert_int_equal(match.game->result, RESULT_NONE);
    check_replay(&match);
    entry = entries[1], entry.result = RESULT_WHITE, demand_refused(&match, &entry, "ends the game 1/2-1/2 (dead-position)");
    entry = entries[1], entry.by = AUTHOR_WHITE, demand_refused(&match, &entry, "by the service");
    entry = entries[1], entry.at++, demand_refused(&match, &entry, "time and the letter");
    entry = entries[1], entry.letter++, demand_refused(&match, &entry, "time and the letter");
    entry = entries[1], entry.reason = REASON_STALEMATE, demand_refused(&match, &entry, "nothing on the board");
    apply(&match, &entries[1], 1);
    assert_int_equal(match.game->reason, REASON_DEAD_POSITION);
    finish(&match);

    begin_from(&match, "10/50d", fen, 0, INSTANT_NONE);
    assert_int_equal(game_plan_move(match.game, read_move(match.game, "fxg4"), T0 + DAY, 3, false, entries, NULL), 2);
    apply(&match, &entries[0], 1); /* as an older version left it */
    notice(&match, T0 + DAY);
    entry = entries[1], entry.number = 4;
    text_copy(entry.previous, sizeof entry.previous, match.game->head);
    demand_refused(&match, &entry, "nothing on the board"); /* not behind the move */
    assert_int_equal(move(&match, "Kd7", T0 + 2 * DAY, false), 2); /* but at the next one */
    assert_int_equal(match.game->result, RESULT_DRAW);
    assert_int_equal(match.game->reason, REASON_DEAD_POSITION);
    finish(&match);

    begin_from(&match, "10/50d", fen, 0, INSTANT_NONE);
    assert_int_equal(move(&match, "f4", T0 + DAY, false), 1);
    entry = next(&match, ENTRY_RESULT, AUTHOR_SERVICE);
    entry.result = RESULT_DRAW, entry.reason = REASON_DEAD_POSITION, entry.at = T0 + DAY, entry.letter = match.letter;
    demand_refused(&match, &entry, "nothing on the board"); /* not dead */
    finish(&match);

    Control control;
    Position dead;
    Error error = { .grade = ERROR_NONE };
    assert_int_equal(control_read("10/50d", &control, NULL), 0);
    assert_true(fen_read("4k3/8/8/p2p2p1/P2P2P1/8/8/4K3 w - - 0 1", 0, &dead, NULL));
    assert_int_equal(game_plan_start(7, 12, &control, &dead, INSTANT_NONE, AUTHOR_SERVICE, T0, 0, &entry, &error), -1);
    assert_int_equal(error.grade, ERROR_INPUT);
    assert_non_null(strstr(error.text, "neither side can ever checkmate"));
    assert_int_equal(game_plan_start(7, 12, &control, &dead, INSTANT_NONE, AUTHOR_SERVICE, T0, 0, &entry, NULL), -1);
    assert_int_equal(game_plan_start(7, 7, &control, NULL, INSTANT_NONE, AUTHOR_SERVICE, T0, 0, &entry, NULL), -1);
    assert_int_equal(game_plan_start(7, 12, &control, NULL, INSTANT_NONE, AUTHOR_ARBITER, T0, 0, &entry, NULL), 1); /* who may begin one */
    assert_int_equal(game_plan_start(7, 12, &control, NULL, INSTANT_NONE, AUTHOR_WHITE, T0, 0, &entry, NULL), -1);
}

static void test_resign_and_rulings(void **state) {
    (void)state;
    Entry entries[2];
    for (int by = WHITE; by <= BLACK; by++) {
        Match match; /* on the move or not */
        begin(&match, "10/50d");
        assert_int_equal(game_plan_resign(match.game, (Colour)by, T0 + 9, 77, entries, NULL), 2);
        apply(&match, entries, 2);
        assert_int_equal(match.game->result, by == WHITE ? RESULT_BLACK : RESULT_WHITE);
        assert_int_equal(match.game->reason, REASON_RESIGNATION);
        assert_int_equal(match.game->ended, T0 + 9);
        finish(&match);
    }
    for (int result = RESULT_WHITE; result <= RESULT_VOID; result++) {
        Match match;
        begin(&match, "10/50d");
        assert_int_equal(game_plan_ruling(match.game, (Result)result, T0 + 9, 0, entries, NULL), 1);
        apply(&match, entries, 1);
        assert_int_equal(match.game->result, result);
        assert_int_equal(match.game->reason, REASON_RULING);
        finish(&match);
    }
    Match match;
    begin(&match, "none");
    assert_int_equal(game_plan_ruling(match.game, RESULT_NONE, T0 + 9, 0, entries, NULL), -1);
    finish(&match);
}

/* A player's time begins with the acceptance of his notice, White's never before the announced start. */
static void test_notices(void **state) {
    (void)state;
    Match match;
    Entry entry;
    begin_from(&match, "10/50d", NULL, 0, T0 + 10 * DAY);
    const Game *game = match.game;
    assert_int_equal(game->running_since, INSTANT_NONE);
    assert_int_equal(game_deadline(game, T0 + 11 * DAY), T0 + (11 + 36) * DAY); /* assumed: a floor */
    assert_int_equal(game_deadline(game, T0 + 2 * DAY), T0 + (10 + 36) * DAY);  /* not before the start */
    assert_int_equal(game_deadline(game, INSTANT_NONE), INSTANT_NONE);
    assert_int_equal(game_plan_notice(game, BLACK, 1, 0, T0, 1, &entry, NULL), 0);
    assert_int_equal(game_plan_notice(game, WHITE, 2, 0, T0, 1, &entry, NULL), 0);
    assert_int_equal(game_plan_notice(game, WHITE, 1, 1, T0, 1, &entry, NULL), 0);
    assert_int_equal(game_plan_notice(game, WHITE, 1, 0, INSTANT_NONE, 1, &entry, NULL), 0);
    notice(&match, T0 + 60);
    assert_int_equal(game->running_since, T0 + 10 * DAY);
    assert_int_equal(game_plan_notice(game, WHITE, 1, 0, T0 + 99, 2, &entry, NULL), 0); /* once */
    assert_int_equal(game_deadline(game, T0 + 99 * DAY), T0 + (10 + 36) * DAY);
    move(&match, "e4", T0 + 12 * DAY, false);
    assert_int_equal(game->plies[0].charged, DAY);
    assert_int_equal(game->running_since, INSTANT_NONE);
    assert_int_equal(game_plan_notice(game, WHITE, 1, 1, T0, 1, &entry, NULL), 0);
    assert_int_equal(game_plan_notice(game, BLACK, 1, 0, T0, 1, &entry, NULL), 0);
    notice(&match, T0 + 13 * DAY);
    assert_int_equal(game->running_since, T0 + 13 * DAY);
    move(&match, "e5", T0 + 12 * DAY, false); /* clocks of two machines: before his notice, costs nothing */
    assert_int_equal(game->plies[1].charged, 0);
    move(&match, "Nf3", T0 + 80 * DAY, false); /* no notice accepted: costs nothing */
    assert_int_equal(game->plies[2].charged, 0);
    finish(&match);

    begin_from(&match, "3d/move", NULL, 0, T0 + DAY);
    notice(&match, T0 + 2 * DAY);
    assert_int_equal(match.game->running_since, T0 + 2 * DAY); /* the later of the two */
    assert_int_equal(game_deadline(match.game, INSTANT_NONE), T0 + 5 * DAY);
    finish(&match);

    begin_from(&match, "3d/move", "4k3/8/8/8/8/8/4P3/4K3 b - - 0 1", 0, T0 + DAY); /* Black may begin a set-up position */
    notice(&match, T0);
    assert_int_equal(match.game->running_since, T0 + DAY);
    move(&match, "Ke7", T0 + 2 * DAY, false);
    assert_int_equal(match.game->clocks[BLACK].used, DAY);
    assert_int_equal(match.game->clocks[WHITE].moves_made, 0);
    finish(&match);
}

/* A late move counts, and says how late it was. */
static void test_late(void **state) {
    (void)state;
    Match match;
    begin(&match, "3d/move");
    notice(&match, T0);
    move(&match, "e4", T0 + 3 * DAY, false);
    assert_int_equal(match.game->plies[0].late, 0);
    notice(&match, T0 + 3 * DAY);
    move(&match, "e5", T0 + 6 * DAY + 1, false);
    assert_int_equal(match.game->plies[1].late, 1);
    assert_int_equal(match.game->result, RESULT_NONE);
    assert_non_null(strstr(match.record.data, " san=e5 offer=no charged=259201 late=1 "));
    finish(&match);

    begin(&match, "1/1d");
    notice(&match, T0);
    move(&match, "e4", T0 + 5 * DAY, false);
    assert_int_equal(match.game->plies[0].late, 3 * DAY);
    assert_int_equal(match.game->clocks[WHITE].left, (1 - 4 + 1) * DAY); /* the next period brings its day */
    finish(&match);
}

static void test_offers(void **state) {
    (void)state;
    Match match;
    Entry entries[2];
    Error error;
    begin(&match, "none");
    const Game *game = match.game;
    /* with a move: stands after it, until the opponent moves */
    move(&match, "e4", T0, true);
    assert_true(game->offer_standing && game->offer_by == WHITE);
    assert_int_equal(game_plan_accept(game, WHITE, T0, 5, entries, &error), -1); /* not his own */
    assert_int_equal(error.grade, ERROR_INPUT);
    assert_int_equal(game_plan_decline(game, WHITE, T0, 5, entries, NULL), -1);
    assert_int_equal(game_plan_offer(game, WHITE, T0, 5, entries, NULL), -1);
    assert_int_equal(game_plan_offer(game, BLACK, T0, 5, entries, NULL), -1); /* let him accept */
    Entry entry = next(&match, ENTRY_OFFER, AUTHOR_BLACK);
    demand_refused(&match, &entry, "an offer by white stands already");
    entry = next(&match, ENTRY_ACCEPT, AUTHOR_WHITE);
    demand_refused(&match, &entry, "no offer to white stands");
    move(&match, "e5", T0, false);
    assert_false(game->offer_standing);
    assert_int_equal(game_plan_accept(game, BLACK, T0, 5, entries, NULL), -1); /* too late */
    /* without a move, by the player on the move; his own move does not withdraw it */
    assert_int_equal(game_plan_offer(game, WHITE, T0, 5, entries, NULL), 1);
    apply(&match, entries, 1);
    move(&match, "Nf3", T0, false);
    assert_true(game->offer_standing && game->offer_by == WHITE);
    /* declined in words; then he may offer himself */
    assert_int_equal(game_plan_decline(game, BLACK, T0, 6, entries, NULL), 1);
    apply(&match, entries, 1);
    assert_false(game->offer_standing);
    assert_int_equal(game_plan_decline(game, BLACK, T0, 6, entries, NULL), -1);
    /* declined by a move that offers in turn */
    assert_int_equal(game_plan_offer(game, WHITE, T0, 5, entries, NULL), 1);
    apply(&match, entries, 1);
    move(&match, "Nc6", T0, true);
    assert_true(game->offer_standing && game->offer_by == BLACK);
    /* an offer by the player not on the move falls with the opponent's move */
    move(&match, "Bb5", T0, false);
    assert_false(game->offer_standing);
    assert_int_equal(game_plan_offer(game, WHITE, T0, 5, entries, NULL), 1);
    apply(&match, entries, 1);
    move(&match, "a6", T0, false);
    assert_false(game->offer_standing);
    move(&match, "Ba4", T0, true);
    assert_int_equal(game_plan_accept(game, BLACK, T0 + 3, 8, entries, NULL), 2);
    apply(&match, entries, 2);
    assert_int_equal(game->result, RESULT_DRAW);
    assert_int_equal(game->reason, REASON_AGREEMENT);
    assert_int_equal(game->ended, T0 + 3);
    finish(&match);

    /* without an offer nobody agrees to it */
    begin(&match, "none");
    assert_int_equal(game_plan_accept(match.game, WHITE, T0, 5, entries, NULL), -1);
    finish(&match);
}

/* What was taken back never stood; what a set-up position has behind it counts for its moves only. */
static void test_history(void **state) {
    (void)state;
    Match match;
    Entry entry;
    begin_from(&match, "10/50d", "4k3/8/8/8/8/4P3/8/4K3 w - - 93 90", 0, INSTANT_NONE);
    History history = game_history(match.game);
    assert_int_equal(history_occurrences(&history, MOVE_NONE, NULL, 0), 1);
    MOVES(&match, "Kd2", "Kd7", "Ke1", "Ke8", "Kd2", "Kd7");
    history = game_history(match.game);
    assert_int_equal(history.count, 7);
    assert_int_equal(history_draws(&history, MOVE_NONE), 0);
    assert_int_equal(history_draws(&history, read_move(match.game, "Ke1")), HISTORY_FIFTY);
    MOVES(&match, "Ke1", "Ke8");
    history = game_history(match.game);
    assert_int_equal(history_draws(&history, MOVE_NONE), HISTORY_FIFTY | HISTORY_THREEFOLD);
    assert_int_equal(game_plan_restore(match.game, 2, T0 + DAY, 0, &entry, NULL), 1);
    apply(&match, &entry, 1);
    history = game_history(match.game);
    assert_int_equal(history.count, 3);
    assert_int_equal(history_draws(&history, MOVE_NONE), 0);
    MOVES(&match, "Ke1", "Ke8");
    history = game_history(match.game);
    assert_int_equal(history_occurrences(&history, MOVE_NONE, NULL, 0), 2);
    assert_int_equal(history_draws(&history, MOVE_NONE), 0);
    MOVES(&match, "e4", "Ke7", "Ke2", "Ke8");
    history = game_history(match.game);
    assert_int_equal(history_occurrences(&history, read_move(match.game, "Ke1"), NULL, 0), 2);
    finish(&match);
}

static void test_restore(void **state) {
    (void)state;
    Match match;
    Entry entry;
    begin(&match, "3/10d");
    const Game *game = match.game;
    static const char *const line[] = { "e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6" };
    Clock clocks[9][2];
    for (int i = 0; i < 8; i++) {
        memcpy(clocks[i], game->clocks, sizeof clocks[i]);
        notice(&match, T0 + i * 10 * DAY);
        move(&match, line[i], T0 + i * 10 * DAY + (i + 1) * DAY, i == 7);
    }
    Position after_five = game->positions[5];
    notice(&match, T0 + 90 * DAY);
    assert_true(game->offer_standing);
    assert_int_equal(game_plan_restore(game, 9, T0, 0, &entry, NULL), -1);
    assert_int_equal(game_plan_restore(game, -1, T0, 0, &entry, NULL), -1);
    assert_int_equal(game_plan_restore(game, 5, T0 + 91 * DAY, 0, &entry, NULL), 1);
    apply(&match, &entry, 1);
    assert_int_equal(game->epoch, 2);
    assert_int_equal(game->ply_count, 5);
    same_position(&game->position, &after_five);
    same_clock(&game->clocks[WHITE], &clocks[5][WHITE]);
    same_clock(&game->clocks[BLACK], &clocks[5][BLACK]);
    assert_false(game->offer_standing);
    assert_int_equal(game->running_since, INSTANT_NONE);
    check_replay(&match);
    assert_int_equal(game_plan_notice(game, BLACK, 1, 5, T0, 3, &entry, NULL), 0); /* a letter of the old epoch */
    notice(&match, T0 + 92 * DAY);
    move(&match, "Nf6", T0 + 93 * DAY, false);
    assert_string_equal(game->plies[5].san, "Nf6");
    assert_int_equal(game_plan_restore(game, 6, T0, 0, &entry, NULL), 1); /* to where it stands: only a new epoch */
    apply(&match, &entry, 1);
    assert_int_equal(game->epoch, 3);
    assert_int_equal(game->ply_count, 6);
    assert_int_equal(game_plan_restore(game, 0, T0, 0, &entry, NULL), 1);
    apply(&match, &entry, 1);
    assert_int_equal(game->epoch, 4);
    same_position(&game->position, &game->initial);
    assert_int_equal(game->clocks[WHITE].left, 10 * DAY);
    MOVES(&match, "f3", "e5", "g4", "Qh4");
    assert_int_equal(game->result, RESULT_BLACK);
    finish(&match);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused_starts), cmocka_unit_test(test_refused_moves), cmocka_unit_test(test_refused_acts),
        cmocka_unit_test(test_result_due),     cmocka_unit_test(test_endings),
        cmocka_unit_test(test_dead_position),  cmocka_unit_test(test_resign_and_rulings),
        cmocka_unit_test(test_notices),        cmocka_unit_test(test_late),          cmocka_unit_test(test_offers),
        cmocka_unit_test(test_restore),        cmocka_unit_test(test_history),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
