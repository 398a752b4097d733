/* Without memory: every allocation of core fails once, the first, the second, and so on. Each time the function says so, leaks
 * nothing and changes nothing; given memory again, it does its work. */
#include "core/base/arena.h"
#include "core/game/game.h"
#include "core/notation/notation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif

/* The allocator of this program: glibc's, until it is told to fail. The sanitizer has its own. */
static long allowed = -1; /* allocations that still succeed; -1: all */
static long living;
static long asked; /* how often memory was asked for */

#ifndef SANITIZED
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);

static bool grant(void) {
    asked++;
    if (allowed == 0)
        return false;
    allowed -= allowed > 0;
    living++;
    return true;
}

void *malloc(size_t size) {
    return grant() ? __libc_malloc(size) : NULL;
}

void *calloc(size_t count, size_t size) {
    return grant() ? __libc_calloc(count, size) : NULL;
}

void *realloc(void *block, size_t size) {
    if (!grant())
        return NULL;
    living -= block != NULL;
    return __libc_realloc(block, size);
}

void free(void *block) {
    living -= block != NULL;
    __libc_free(block);
}
#endif

enum { TRIES_MAX = 100 };
static const Instant T0 = 1796004551;

/* Runs `act` with 0, 1, 2 … allocations until it succeeds, and returns how often it failed. Where it fails it must say ERROR_LATER
 * and leave as many blocks as it found, but for those the subject keeps. */
static int starve(bool (*act)(void *subject, Error *error), void *subject, bool keeps) {
    for (int granted = 0; granted < TRIES_MAX; granted++) {
        Error error = { .grade = ERROR_NONE };
        long before = living;
        allowed = granted;
        bool done = act(subject, &error);
        long left = living - before;
        allowed = -1;
        if (done)
            return granted;
        assert_true(keeps || left == 0);
        assert_int_equal(error.grade, ERROR_LATER);
        assert_true(strlen(error.text) > 10);
    }
    fail_msg("it never succeeds");
    return -1;
}

/* A short game to its mate, of `plies` plies before. */
static void make_record(Str *record, int plies, Game **ret_game) {
    static const char *const shuffle[] = { "Nf3", "Nf6", "Ng1", "Ng8" }, *const mate[] = { "f3", "e5", "g4", "Qh4" };
    Game *game = game_new();
    Control control;
    Entry entries[2];
    assert_int_equal(control_read("10/50d", &control, NULL), 0);
    int count = game_plan_start(7, 12, &control, NULL, INSTANT_NONE, AUTHOR_SERVICE, T0, 0, entries, NULL);
    for (int ply = 0;; ply++) {
        for (int i = 0; i < count; i++) {
            assert_int_equal(entry_write(&entries[i], record, NULL), 0);
            assert_int_equal(game_apply(game, &entries[i], NULL), 0);
        }
        if (ply == plies + 4)
            break;
        Reading reading;
        notation_read(&game->position, ply < plies ? shuffle[ply % 4] : mate[ply - plies], 0, &reading);
        assert_int_equal(reading.kind, READING_MOVE);
        count = game_plan_move(game, reading.move, T0 + ply, ply + 1, false, entries, NULL);
        assert_true(count > 0);
    }
    assert_int_equal(game->result, RESULT_BLACK);
    *ret_game = game;
}

static bool replay(void *subject, Error *error) {
    Str *record = subject;
    Game *game = game_replay(record->data, record->length, error);
    bool done = game != NULL;
    game_free(game);
    return done;
}

static void test_replay(void **state) {
    (void)state;
    Str record;
    Game *game = NULL;
    str_init(&record, 1 << 20);
    make_record(&record, 40, &game);
    int failed = starve(replay, &record, false);
    assert_in_range(failed, 5, TRIES_MAX); /* the game, its plies twice, its positions twice */
    game_free(game);
    str_free(&record);
}

typedef struct Scene {
    Game *game;
    int (*plan)(Game *game, Entry entries[2], Error *error);
    int count;
    Entry entries[2];
} Scene;

static bool plan(void *subject, Error *error) {
    Scene *scene = subject;
    scene->count = scene->plan(scene->game, scene->entries, error);
    return scene->count > 0;
}

static bool apply(void *subject, Error *error) {
    Scene *scene = subject;
    char head[SHA256_HEX_SIZE];
    int plies = scene->game->ply_count;
    assert_true(text_copy(head, sizeof head, scene->game->head));
    if (game_apply(scene->game, &scene->entries[0], error) == 0)
        return true;
    assert_string_equal(scene->game->head, head);
    assert_int_equal(scene->game->ply_count, plies);
    return false;
}

static Move mate_of(const Game *game) {
    Reading reading;
    notation_read(&game->position, "Qh4#", 0, &reading);
    assert_int_equal(reading.kind, READING_MOVE);
    return reading.move;
}

static int plan_start(Game *game, Entry entries[2], Error *error) {
    return game_plan_start(7, 12, &game->control, NULL, INSTANT_NONE, AUTHOR_SERVICE, T0, 0, entries, error);
}
static int plan_mate(Game *game, Entry entries[2], Error *error) {
    return game_plan_move(game, mate_of(game), T0, 1, false, entries, error);
}
static int plan_resign(Game *game, Entry entries[2], Error *error) {
    return game_plan_resign(game, WHITE, T0, 1, entries, error);
}
static int plan_accept(Game *game, Entry entries[2], Error *error) {
    return game_plan_accept(game, BLACK, T0, 1, entries, error);
}
static int plan_decline(Game *game, Entry entries[2], Error *error) {
    return game_plan_decline(game, BLACK, T0, 1, entries, error);
}
static int plan_ruling(Game *game, Entry entries[2], Error *error) {
    return game_plan_ruling(game, RESULT_DRAW, T0, 1, entries, error);
}
static int plan_restore(Game *game, Entry entries[2], Error *error) {
    return game_plan_restore(game, 0, T0, 1, entries, error);
}
static int plan_notice(Game *game, Entry entries[2], Error *error) {
    return game_plan_notice(game, game_turn(game), 1, game->ply_count, T0, 1, entries, error);
}

static void test_plans(void **state) {
    (void)state;
    static int (*const plans[])(Game *, Entry[2], Error *) = { plan_start, plan_mate, plan_resign, plan_accept, plan_decline, plan_ruling, plan_restore,
                                                                    plan_notice };
    static const char *const lines[] = { "f3", "e5", "g4" };
    for (size_t i = 0; i < sizeof plans / sizeof plans[0]; i++) {
        long before = living;
        Scene scene = { .game = game_new(), .plan = plans[i] };
        Control control;
        assert_int_equal(control_read("10/50d", &control, NULL), 0);
        assert_int_equal(game_plan_start(7, 12, &control, NULL, INSTANT_NONE, AUTHOR_SERVICE, T0, 0, scene.entries, NULL), 1);
        assert_true(starve(apply, &scene, true) > 0);
        for (int ply = 0; ply < 3; ply++) {
            Reading reading;
            notation_read(&scene.game->position, lines[ply], 0, &reading);
            assert_int_equal(game_plan_move(scene.game, reading.move, T0, 1, ply == 2, scene.entries, NULL), 1);
            assert_true(starve(apply, &scene, true) > 0);
        }
        assert_true(scene.game->offer_standing);
        assert_true(starve(plan, &scene, false) > 0);
        if (plans[i] != plan_start)
            assert_true(starve(apply, &scene, true) > 0);
        game_free(scene.game);
        assert_int_equal(living, before);
    }
    allowed = 0;
    Game *game = game_new();
    allowed = -1;
    assert_null(game);
}

/* The 33rd ply needs new room: the game stays as it was without it. */
static void test_growing(void **state) {
    (void)state;
    Str record;
    Game *game = NULL;
    str_init(&record, 1 << 20);
    make_record(&record, 28, &game);
    assert_int_equal(game->ply_count, 32);
    game_free(game);
    long before = living;
    game = game_new();
    const char *at = record.data;
    for (int entries = 0; entries < 32; entries++) { /* all but the mate and the result */
        char line[RECORD_LINE_MAX + 1];
        size_t length = strcspn(at, "\n") + 1;
        assert_true(length < sizeof line);
        memcpy(line, at, length);
        line[length] = 0;
        assert_int_equal(game_apply_line(game, line, NULL), 0);
        at += length;
    }
    Scene scene = { .game = game };
    static const char *const more[] = { "a6", "a3", "b6" };
    for (int i = 0; i < 3; i++) {
        Reading reading;
        notation_read(&game->position, more[i], 0, &reading);
        assert_int_equal(reading.kind, READING_MOVE);
        assert_int_equal(game_plan_move(game, reading.move, T0 + 99, 1, false, scene.entries, NULL), 1);
        int failed = starve(apply, &scene, true);
        assert_true(failed > (game->ply_count == 33 ? 1 : 0)); /* its line; and plies and positions */
    }
    assert_int_equal(game->ply_count, 34);
    game_free(game);
    assert_int_equal(living, before);
    str_free(&record);
}

static void test_strings(void **state) {
    (void)state;
    Str str;
    str_init(&str, 1000);
    allowed = 0;
    bool appended = str_append(&str, "a");
    str_clear(&str);
    bool repeated = str_append_repeated(&str, 'a', 3);
    str_clear(&str);
    bool printed = str_printf(&str, "%d", 1);
    str_clear(&str);
    char *taken = str_take(&str);
    Arena arena;
    arena_init(&arena, 1000);
    void *piece = arena_alloc(&arena, 10);
    char *text = arena_printf(&arena, "%d", 1);
    allowed = -1;
    assert_false(appended);
    assert_false(repeated);
    assert_false(printed);
    assert_null(taken);
    assert_null(piece);
    assert_null(text);
    arena_free(&arena);
    assert_string_equal(str.data, "");
    str_free(&str);
    str_init(&str, 1000);
    assert_true(str_append(&str, "again"));
    assert_string_equal(str.data, "again");
    str_free(&str);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_replay),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_growing),
        cmocka_unit_test(test_strings),
    };
    game_free(game_new());
    if (asked == 0)
        return 0; /* the sanitizer's or valgrind's allocator stands in front, which fails for nobody */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
