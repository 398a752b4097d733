/* Commands of letters: every case of tests/data/commands (see its README), and what must hold of any text. */
#include "daemon/inbox/command.h"

#include "core/base/str.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { ARENA_MAX = 8 * 1024 * 1024, OUT_MAX = 64 * 1024, CASES_LEAST = 150 };

static const char *const names[] = { "Tom Smith", "Ann Berg" };
static const CommandContext context = { names, 2, "en" };

static const char *problem_name(Problem problem) {
    switch (problem) {
    case PROBLEM_NONE: return "none";
    case PROBLEM_NEAR_MISS: return "near-miss";
    case PROBLEM_SEVERAL_MOVES: return "several-moves";
    case PROBLEM_BELOW_REMARK: return "below-remark";
    case PROBLEM_MOVE_BESIDE: return "move-beside";
    case PROBLEM_TOO_MANY: return "too-many";
    }
    return "?";
}

static void write_command(Str *out, const Command *command) {
    bool own = command->verb == VERB_GAME || strpbrk(command->argument, "0123456789") != NULL;
    bool digits = command->game != 0 && own && !text_starts_nocase(command->line, "game ");
    str_append(out, "=> ");
    if (command->game != 0 && !digits && command->verb != VERB_GAME)
        str_printf(out, "game %lld: ", (long long)command->game);
    str_append(out, verb_name(command->verb));
    for (size_t i = 0; i < command->item_count; i++) {
        const MoveItem *item = &command->items[i];
        if (item->number > 0)
            str_printf(out, " %d%s %s", item->number, item->black ? "..." : ".", item->text);
        else
            str_printf(out, " %s%s", item->black ? "..." : "", item->text);
    }
    if (command->verb == VERB_GAME)
        str_printf(out, " %lld", (long long)command->game);
    else if (command->argument[0] != 0)
        str_printf(out, " %s", command->argument);
    if (digits && command->verb != VERB_GAME)
        str_printf(out, " (game %lld)", (long long)command->game);
    str_append(out, command->offer ? " (offer)" : "");
    str_append(out, command->said_move ? " (said)" : "");
    str_append_char(out, '\n');
}

static void write_reading(Str *out, const CommandReading *reading) {
    for (size_t i = 0; i < reading->count; i++)
        write_command(out, &reading->commands[i]);
    if (reading->problem != PROBLEM_NONE) {
        str_printf(out, "=> stop %s: ", problem_name(reading->problem));
        for (size_t i = 0; i < reading->problem_line_count; i++)
            str_printf(out, "%s%s", i > 0 ? " / " : "", reading->problem_lines[i]);
        if (reading->problem == PROBLEM_NEAR_MISS)
            str_printf(out, " (%s?)", reading->meant);
        str_append_char(out, '\n');
    }
    for (size_t i = 0; i < reading->asked_count; i++)
        str_printf(out, "=> asked %s\n", reading->asked[i]);
    if (reading->remark[0] != 0) {
        str_append(out, "=> remark ");
        for (const char *at = reading->remark; *at != 0; at++) {
            if (*at != '\n')
                str_append_char(out, *at);
            else
                str_append(out, at[1] == '\n' ? " /" : " / ");
        }
        str_append_char(out, '\n');
    }
    if (reading->question && reading->count > 0)
        str_append(out, "=> question\n");
    if (out->length == 0)
        str_append(out, "=> nothing\n");
}

static bool check_case(const char *file, const char *title, const char *letter, const char *expected) {
    Arena arena;
    arena_init(&arena, ARENA_MAX);
    Str out;
    str_init(&out, OUT_MAX);
    CommandReading reading;
    assert_true(command_read(&arena, letter, &context, &reading));
    write_reading(&out, &reading);
    bool same = strcmp(out.data, expected) == 0;
    if (!same)
        print_error("%s: %s\n%s  wanted\n%s  got\n%s\n", file, title, letter, expected, out.data);
    str_free(&out);
    arena_free(&arena);
    return same;
}

static void check_file(const char *file, int *cases, int *failures) {
    FILE *stream = fopen(file, "r");
    assert_non_null(stream);
    char line[4096], title[256] = "";
    Str letter, expected;
    str_init(&letter, OUT_MAX);
    str_init(&expected, OUT_MAX);
    for (bool more = true; more;) {
        more = fgets(line, sizeof line, stream) != NULL;
        if (!more || strncmp(line, "--- ", 4) == 0) {
            if (title[0] != 0) {
                ++*cases;
                *failures += !check_case(file, title, letter.data, expected.data);
            }
            str_clear(&letter);
            str_clear(&expected);
            if (more)
                text_copy(title, sizeof title, line + 4);
            continue;
        }
        str_append(strncmp(line, "=> ", 3) == 0 ? &expected : &letter, line);
    }
    str_free(&letter);
    str_free(&expected);
    fclose(stream);
}

static void every_case(void **state) {
    (void)state;
    glob_t found;
    assert_int_equal(glob("tests/data/commands/[a-z]*.txt", 0, NULL, &found), 0);
    int cases = 0, failures = 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
        check_file(found.gl_pathv[i], &cases, &failures);
    globfree(&found);
    print_message("%d letters\n", cases);
    assert_int_equal(failures, 0);
    assert_true(cases >= CASES_LEAST);
}

/* The move's place on its line decides whether its capital may be the phone's (RULINGS 11). */
static void line_start(void **state) {
    (void)state;
    static const struct {
        const char *letter;
        bool start;
    } cases[] = { { "Bxc3", true }, { "*Bxc3*", true }, { "12. Bxc3", false }, { "move Bxc3", false }, { "game 4: Bxc3", false } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Arena arena;
        arena_init(&arena, ARENA_MAX);
        CommandReading reading;
        assert_true(command_read(&arena, cases[i].letter, &context, &reading));
        assert_int_equal(reading.count, 1);
        assert_int_equal(reading.commands[0].line_start, cases[i].start);
        arena_free(&arena);
    }
}

/* A player may be called nearly like a command: his name alone does not hide one, his whole name under a letter is none. */
static void names_near_commands(void **state) {
    (void)state;
    static const char *const near[] = { "Anna Resing", "Boris Accept" };
    static const CommandContext named = { near, 2, "en" };
    static const struct {
        const char *letter;
        Problem problem;
    } cases[] = {
        { "resing\ne3", PROBLEM_NEAR_MISS }, { "Resing\ne3", PROBLEM_NEAR_MISS }, { "I Resing\ne3", PROBLEM_NEAR_MISS }, { "resing, Boris\ne3", PROBLEM_NEAR_MISS },
        { "Accept!\ne3", PROBLEM_MOVE_BESIDE }, { "Boris, accept\ne3", PROBLEM_NEAR_MISS }, { "Boris Accept\ne3", PROBLEM_NEAR_MISS },
        { "e3\nAnna Resing", PROBLEM_NONE }, { "Dear Anna Resing,\ne3", PROBLEM_NONE },
        { "Dear Boris Accept,\ne3", PROBLEM_NONE }, { "Dear Boris, accept\ne3", PROBLEM_NEAR_MISS }, { "Dear Accept,\ne3", PROBLEM_NEAR_MISS },
        { "Anna\ne3", PROBLEM_NONE }, { "Dear Boris,\ne3", PROBLEM_NONE },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Arena arena;
        arena_init(&arena, ARENA_MAX);
        CommandReading reading;
        assert_true(command_read(&arena, cases[i].letter, &named, &reading));
        if (reading.problem != cases[i].problem)
            print_error("%s: %s\n", cases[i].letter, problem_name(reading.problem));
        assert_int_equal(reading.problem, cases[i].problem);
        arena_free(&arena);
    }
}

/* Ordinary words in lines of ordinary lengths. The words of the commands themselves are among them, as they are in
 * letters, but a line of one word is never one of those. */
static const char *const words[] = {
    "the", "of", "a", "and", "I", "you", "we", "he", "is", "was", "to", "in", "on", "game", "games", "board", "bishop", "knight", "queen",
    "king", "pawn", "move", "moves", "resign", "accept", "withdraw", "decline", "draw", "offer", "if", "then", "not", "never", "should",
    "would", "could", "think", "thought", "long", "leave", "open", "seal", "present", "time", "clock", "e4", "Nf3", "O-O", "12.", "good",
    "bad", "nice", "strong", "weak", "weather", "here", "rain", "snow", "garden", "holiday", "children", "work", "week", "month", "letter",
    "post", "answer", "wrote", "write", "play", "played", "won", "lost", "drawn", "tournament", "club", "evening", "coffee", "tea", "house",
    "except", "design", "help", "show", "table", "bank", "note", "join", "mute", "seek", "ping", "yes", "no", "confirm", "record", "but",
    "because", "yesterday", "tomorrow", "Vienna", "Anna", "sincerely", "regards", "thanks", "hope", "well", "please", "really",
};

static uint64_t random_next(uint64_t *seed) { /* xorshift64 */
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* RULINGS 10, DESIGN decision 8: prose never resigns, accepts, withdraws or moves. */
static void prose_does_nothing(void **state) {
    (void)state;
    uint64_t seed = 20261130;
    for (int letter = 0; letter < 20000; letter++) {
        Str text;
        str_init(&text, OUT_MAX);
        size_t lines = 1 + random_next(&seed) % 8;
        for (size_t line = 0; line < lines; line++) {
            size_t count = 3 + random_next(&seed) % 9;
            for (size_t i = 0; i < count; i++)
                str_printf(&text, "%s%s", i > 0 ? " " : "", words[random_next(&seed) % (sizeof words / sizeof words[0])]);
            str_append(&text, line % 3 == 2 ? ".\n\n" : "\n");
        }
        Arena arena;
        arena_init(&arena, ARENA_MAX);
        CommandReading reading;
        assert_true(command_read(&arena, text.data, &context, &reading));
        for (size_t i = 0; i < reading.count; i++) {
            const Command *command = &reading.commands[i];
            /* "12. e4 Nf3 O-O" can come up and is a score indeed. */
            bool moves = command->verb == VERB_MOVE && command->item_count >= 2;
            bool said = command->verb == VERB_MOVE && command->said_move;
            if (reading.problem == PROBLEM_NONE && (verb_needs_full_proof(command->verb) || (command->verb == VERB_MOVE && !moves && !said && !command->offer)))
                fail_msg("prose did something: %s", command->line);
        }
        arena_free(&arena);
        str_free(&text);
    }
}

static void expect_quick(const char *piece, size_t size) {
    char *text = malloc(size + 1);
    assert_non_null(text);
    for (size_t i = 0; i < size; i++)
        text[i] = piece[i % strlen(piece)];
    text[size] = 0;
    Arena arena;
    arena_init(&arena, ARENA_MAX);
    CommandReading reading;
    clock_t before = clock();
    assert_true(command_read(&arena, text, &context, &reading));
    double seconds = (double)(clock() - before) / CLOCKS_PER_SEC;
    if (seconds > 5)
        fail_msg("%.1f s for \"%s\"", seconds, piece);
    print_message("%.3f s, %zu kB of arena: %.12s\n", seconds, arena.used / 1024, piece);
    arena_free(&arena);
    free(text);
}

/* 256 kB of anything, linear in time and bounded in memory. */
static void large_letters(void **state) {
    (void)state;
    static const char *const pieces[] = { "a\n", "\n", "a", " ", "e4 ", "e4\n", "1. e4 e5 ", "1", "(", "{", "{}", "- ", "Nf3 - ", "resing\n", "resign\n",
                                          "game 1: e4\n", "game 1:\n", "if e4 then e5 ", "if e4 then\n", "?", "\xff", "*", "\xe2\x80\x8b", "draw? ", "caaaaaaaaaaaaaaaaaaaaaaaaa ",
                                          "regsiter a b\n", "i i i i i i i\n", "\xef\xbc\xae", "12345678 ", "e4,", "...", "12. ... ", "note x\n\n" };
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
        expect_quick(pieces[i], 256 * 1024);
}

/* A score of 1,200 half-moves, over as many lines and over one. */
static void long_scores(void **state) {
    (void)state;
    for (int limit = COMMAND_ITEMS_MAX; limit <= COMMAND_ITEMS_MAX + 1; limit++) {
        for (int lines = 0; lines < 2; lines++) {
            Str text;
            str_init(&text, OUT_MAX);
            for (int ply = 0; ply < limit; ply++)
                str_printf(&text, "%d%s %s%c", ply / 2 + 1, ply % 2 ? "..." : ".", ply % 4 < 2 ? "Nf3" : "Ng1", lines ? '\n' : ' ');
            Arena arena;
            arena_init(&arena, ARENA_MAX);
            CommandReading reading;
            assert_true(command_read(&arena, text.data, &context, &reading));
            if (limit <= COMMAND_ITEMS_MAX) {
                assert_int_equal(reading.problem, PROBLEM_NONE);
                assert_int_equal(reading.count, 1);
                assert_int_equal(reading.commands[0].item_count, limit);
            } else {
                assert_int_equal(reading.problem, PROBLEM_TOO_MANY);
            }
            arena_free(&arena);
            str_free(&text);
        }
    }
}

static void little_memory(void **state) {
    (void)state;
    for (size_t most = 0; most < 120000; most += 500) {
        Arena arena;
        arena_init(&arena, most);
        CommandReading reading;
        bool done = command_read(&arena, "11... Bb4\n12. Nf3\nboard\nHello", &context, &reading);
        assert_int_equal(done, !arena.exhausted);
        arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case), cmocka_unit_test(names_near_commands), cmocka_unit_test(line_start), cmocka_unit_test(prose_does_nothing),
        cmocka_unit_test(large_letters), cmocka_unit_test(long_scores), cmocka_unit_test(little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
