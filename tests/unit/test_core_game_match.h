/* A match: a game and the text of its record, which grow together; for the tests of core/game. */
#ifndef EPISTLE_TESTS_UNIT_TEST_CORE_GAME_MATCH_H
#define EPISTLE_TESTS_UNIT_TEST_CORE_GAME_MATCH_H

#include "core/game/game.h"

#include "core/base/str.h"
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

static inline void apply(Match *match, const Entry *entries, int count) {
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

static inline void begin_from(Match *match, const char *control, const char *fen, unsigned flags, Instant start) {
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

static inline void begin(Match *match, const char *control) {
    begin_from(match, control, NULL, 0, INSTANT_NONE);
}

static inline void notice(Match *match, Instant at) {
    Entry entry;
    const Game *game = match->game;
    assert_int_equal(game_plan_notice(game, game_turn(game), game->epoch, game->ply_count, at, ++match->letter, &entry, NULL), 1);
    apply(match, &entry, 1);
}

static inline Move read_move(const Game *game, const char *text) {
    Reading reading;
    notation_read(&game->position, text, 0, &reading);
    if (reading.kind != READING_MOVE)
        fail_msg("%s is no move", text);
    return reading.move;
}

/* Returns how many entries it made. */
static inline int move(Match *match, const char *text, Instant at, bool offer) {
    Entry entries[2];
    Error error = { .grade = ERROR_NONE };
    int count = game_plan_move(match->game, read_move(match->game, text), at, ++match->letter, offer, entries, &error);
    if (count < 0)
        fail_msg("%s: %s", text, error.text);
    apply(match, entries, count);
    return count;
}

static inline void moves(Match *match, const char *const *texts, int count) {
    for (int i = 0; i < count; i++)
        move(match, texts[i], T0 + i, false);
}
#define MOVES(match, ...) \
    moves(match, (const char *const[]){ __VA_ARGS__ }, (int)(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)))

static inline void same_clock(const Clock *left, const Clock *right) {
    assert_int_equal(left->moves_made, right->moves_made);
    assert_int_equal(left->used, right->used);
    assert_int_equal(left->left, right->left);
}

static inline void same_position(const Position *left, const Position *right) {
    char one[FEN_MAX], other[FEN_MAX];
    fen_write(left, 0, one);
    fen_write(right, 0, other);
    assert_string_equal(one, other);
    assert_true(position_same(left, right));
    assert_true(position_key(left) == position_key(right));
    assert_int_equal(left->chess960, right->chess960);
}

static inline void same_game(const Game *left, const Game *right) {
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
static inline void check_replay(const Match *match) {
    Error error = { .grade = ERROR_NONE };
    Game *again = game_replay(match->record.data, match->record.length, &error);
    if (again == NULL)
        fail_msg("%s", error.text);
    same_game(match->game, again);
    game_free(again);
}

static inline void finish(Match *match) {
    check_replay(match);
    game_free(match->game);
    str_free(&match->record);
}

/* An entry that fits but for what the caller changes. The hash is made anew: this is about the rules, not the chain. */
static inline void demand_refused(Match *match, Entry *entry, const char *why) {
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

static inline Entry next(const Match *match, EntryKind kind, Author by) {
    Entry entry;
    game_next_entry(match->game, kind, by, T0 + DAY, 5, &entry);
    entry.epoch = match->game->epoch;
    entry.ply = match->game->ply_count;
    return entry;
}

static inline Entry planned_move(const Match *match, const char *text) {
    Entry entries[2];
    assert_true(game_plan_move(match->game, read_move(match->game, text), T0 + 3 * DAY, 5, false, entries, NULL) > 0);
    return entries[0];
}

#endif
