/* Games: whole ones replayed from their records, damage of every kind found, the rules of notices, clocks and offers. */
#include "core/game/game.h"

#include "core/base/str.h"
#include "core/chess/movegen.h"
#include "core/notation/notation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DAY = SECONDS_PER_DAY };
static const Instant T0 = 1796004551; /* 2026-11-30T02:09:11Z */

/* A game and the text of its record, which grow together. */
typedef struct Match {
    Game *game;
    Str record;
    int64_t letter; /* of the last entry */
} Match;

static void apply(Match *match, const Entry *entries, int count) {
    for (int i = 0; i < count; i++) {
        Error error = { .grade = ERROR_NONE };
        Entry entry = entries[i];
        char hash[SHA256_HEX_SIZE];
        assert_true(text_copy(hash, sizeof hash, entry.hash));
        assert_int_equal(entry_write(&entry, &match->record, NULL), 0);
        assert_string_equal(hash, entry.hash); /* the plan filled it */
        if (game_apply(match->game, &entry, &error) < 0)
            fail_msg("%s", error.text);
        assert_string_equal(match->game->head, hash);
        assert_int_equal(match->game->entry_count, entry.number);
    }
}

static void begin_from(Match *match, const char *control, const char *fen, unsigned flags, Instant start) {
    Control rules;
    Position initial;
    Entry entry;
    Error error = { .grade = ERROR_NONE };
    *match = (Match){ .game = game_new() };
    str_init(&match->record, 1 << 22);
    assert_non_null(match->game);
    assert_int_equal(control_read(control, &rules, NULL), 0);
    if (fen != NULL)
        assert_true(fen_read(fen, flags, &initial, NULL));
    if (game_plan_start(7, 12, &rules, fen != NULL ? &initial : NULL, start, AUTHOR_SERVICE, T0, 0, &entry, &error) != 1)
        fail_msg("%s", error.text);
    apply(match, &entry, 1);
}

static void begin(Match *match, const char *control) {
    begin_from(match, control, NULL, 0, INSTANT_NONE);
}

static void notice(Match *match, Instant at) {
    Entry entry;
    const Game *game = match->game;
    assert_int_equal(game_plan_notice(game, game_turn(game), game->epoch, game->ply_count, at, ++match->letter, &entry), 1);
    apply(match, &entry, 1);
}

static Move read_move(const Game *game, const char *text) {
    Reading reading;
    notation_read(&game->position, text, 0, &reading);
    if (reading.kind != READING_MOVE)
        fail_msg("%s is no move", text);
    return reading.move;
}

/* Returns how many entries it made. */
static int move(Match *match, const char *text, Instant at, bool offer) {
    Entry entries[2];
    Error error = { .grade = ERROR_NONE };
    int count = game_plan_move(match->game, read_move(match->game, text), at, ++match->letter, offer, entries, &error);
    if (count < 0)
        fail_msg("%s: %s", text, error.text);
    apply(match, entries, count);
    return count;
}

static void moves(Match *match, const char *const *texts, int count) {
    for (int i = 0; i < count; i++)
        move(match, texts[i], T0 + i, false);
}
#define MOVES(match, ...) \
    moves(match, (const char *const[]){ __VA_ARGS__ }, (int)(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)))

static void same_clock(const Clock *left, const Clock *right) {
    assert_int_equal(left->moves_made, right->moves_made);
    assert_int_equal(left->used, right->used);
    assert_int_equal(left->left, right->left);
}

static void same_position(const Position *left, const Position *right) {
    char one[FEN_MAX], other[FEN_MAX];
    fen_write(left, 0, one);
    fen_write(right, 0, other);
    assert_string_equal(one, other);
    assert_true(position_same(left, right));
    assert_true(position_key(left) == position_key(right));
    assert_int_equal(left->chess960, right->chess960);
}

static void same_game(const Game *left, const Game *right) {
    assert_int_equal(left->white, right->white);
    assert_int_equal(left->black, right->black);
    assert_string_equal(left->control.text, right->control.text);
    assert_int_equal(left->rules_version, right->rules_version);
    assert_int_equal(left->created, right->created);
    assert_int_equal(left->start, right->start);
    assert_int_equal(left->epoch, right->epoch);
    assert_int_equal(left->ply_count, right->ply_count);
    assert_int_equal(left->running_since, right->running_since);
    assert_int_equal(left->offer_standing, right->offer_standing);
    if (left->offer_standing)
        assert_int_equal(left->offer_by, right->offer_by);
    assert_int_equal(left->result, right->result);
    assert_int_equal(left->reason, right->reason);
    assert_int_equal(left->ended, right->ended);
    assert_int_equal(left->entry_count, right->entry_count);
    assert_int_equal(left->due_result_, right->due_result_);
    assert_string_equal(left->head, right->head);
    same_clock(&left->clocks[WHITE], &right->clocks[WHITE]);
    same_clock(&left->clocks[BLACK], &right->clocks[BLACK]);
    same_position(&left->initial, &right->initial);
    same_position(&left->position, &right->position);
    for (int i = 0; i < left->ply_count; i++) {
        const GamePly *one = &left->plies[i], *other = &right->plies[i];
        assert_true(one->move == other->move && one->at == other->at && one->charged == other->charged &&
                    one->late == other->late && one->offer == other->offer && one->letter == other->letter);
        assert_string_equal(one->san, other->san);
        same_position(&left->positions[i], &right->positions[i]);
    }
    if (left->entry_count > 0)
        same_position(&left->positions[left->ply_count], &left->position);
}

/* The record alone gives the same game. */
static void check_replay(const Match *match) {
    Error error = { .grade = ERROR_NONE };
    Game *again = game_replay(match->record.data, match->record.length, &error);
    if (again == NULL)
        fail_msg("%s", error.text);
    same_game(match->game, again);
    game_free(again);
}

static void finish(Match *match) {
    check_replay(match);
    game_free(match->game);
    str_free(&match->record);
}

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
    size_t length = match.record.length;
    char *copy = malloc(length + 1);
    assert_non_null(copy);
    for (size_t i = 0; i < length; i++) {
        memcpy(copy, match.record.data, length);
        for (int bit = 0; bit < 8; bit++) {
            copy[i] = (char)(match.record.data[i] ^ (1 << bit));
            demand_damaged(copy, length, "a flipped bit", i);
        }
        static const char others[] = { 0, '\n', ' ', '%', '0', 'a', '=', '-', '\r' };
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
    }
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

/* An entry that fits but for what the caller changes. The hash is made anew: this is about the rules, not the chain. */
static void demand_refused(Match *match, Entry *entry, const char *why) {
    Error error = { .grade = ERROR_NONE };
    Game before = *match->game;
    entry->hash[0] = 0;
    if (game_apply(match->game, entry, &error) == 0)
        fail_msg("accepted, though: %s", why);
    assert_int_equal(error.grade, ERROR_DAMAGED);
    if (strstr(error.text, why) == NULL)
        fail_msg("“%s” does not say “%s”", error.text, why);
    before.plies = match->game->plies;
    before.positions = match->game->positions;
    before.room_ = match->game->room_;
    same_game(&before, match->game);
}

static Entry next(const Match *match, EntryKind kind, Author by) {
    Entry entry;
    game_next_entry(match->game, kind, by, T0 + DAY, 5, &entry);
    entry.epoch = match->game->epoch;
    entry.ply = match->game->ply_count;
    return entry;
}

static Entry planned_move(const Match *match, const char *text) {
    Entry entries[2];
    assert_true(game_plan_move(match->game, read_move(match->game, text), T0 + 3 * DAY, 5, false, entries, NULL) > 0);
    return entries[0];
}

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
    assert_int_equal(game_plan_notice(match.game, WHITE, 1, 4, T0, 6, entries), 0);
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
        { "7k/8/8/8/8/8/6r1/7K w - - 0 1", "Kxg2", RESULT_DRAW, REASON_DEAD_POSITION },
        { "7k/8/8/8/8/8/6r1/5B1K w - - 0 1", "Bxg2", RESULT_DRAW, REASON_DEAD_POSITION },
        { "7k/8/8/8/8/8/P5r1/7K w - - 0 1", "Kxg2", RESULT_NONE, REASON_NONE },
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
    assert_int_equal(game_plan_notice(game, BLACK, 1, 0, T0, 1, &entry), 0);
    assert_int_equal(game_plan_notice(game, WHITE, 2, 0, T0, 1, &entry), 0);
    assert_int_equal(game_plan_notice(game, WHITE, 1, 1, T0, 1, &entry), 0);
    assert_int_equal(game_plan_notice(game, WHITE, 1, 0, INSTANT_NONE, 1, &entry), 0);
    notice(&match, T0 + 60);
    assert_int_equal(game->running_since, T0 + 10 * DAY);
    assert_int_equal(game_plan_notice(game, WHITE, 1, 0, T0 + 99, 2, &entry), 0); /* once */
    assert_int_equal(game_deadline(game, T0 + 99 * DAY), T0 + (10 + 36) * DAY);
    move(&match, "e4", T0 + 12 * DAY, false);
    assert_int_equal(game->plies[0].charged, DAY);
    assert_int_equal(game->running_since, INSTANT_NONE);
    assert_int_equal(game_plan_notice(game, WHITE, 1, 1, T0, 1, &entry), 0);
    assert_int_equal(game_plan_notice(game, BLACK, 1, 0, T0, 1, &entry), 0);
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
    assert_int_equal(game_plan_notice(game, BLACK, 1, 5, T0, 3, &entry), 0); /* a letter of the old epoch */
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
    assert_int_equal(game_plan_notice(game, WHITE, 0, 0, T0, 1, entries), 0);
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
            count = game_plan_notice(game, game_turn(game), game->epoch, game->ply_count, at, ++match->letter, entries);
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
    for (int number = 0; number < 150; number++) {
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
    for (int reason = REASON_NONE; reason <= REASON_RULING; reason++)
        if (ended[reason] == 0)
            fail_msg("no random game ended by %s", reason_name((Reason)reason));
    assert_true(late > 20 && restored > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_game),    cmocka_unit_test(test_every_damage), cmocka_unit_test(test_refused_starts),
        cmocka_unit_test(test_refused_moves), cmocka_unit_test(test_refused_acts), cmocka_unit_test(test_result_due),
        cmocka_unit_test(test_endings),       cmocka_unit_test(test_resign_and_rulings),
        cmocka_unit_test(test_notices),       cmocka_unit_test(test_late),         cmocka_unit_test(test_offers),
        cmocka_unit_test(test_restore),       cmocka_unit_test(test_spelling),     cmocka_unit_test(test_plan_errors),
        cmocka_unit_test(test_longest),       cmocka_unit_test(test_random_games),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
