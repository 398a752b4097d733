/* What the PGN tests share: games read from a text, and a game told as text so that two can be compared in one go. */
#ifndef EPISTLE_TESTS_UNIT_TEST_CORE_PGN_H
#define EPISTLE_TESTS_UNIT_TEST_CORE_PGN_H

#include "core/chess/fen.h"
#include "core/chess/movegen.h"
#include "core/notation/notation.h"
#include "core/notation/pgn.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GAMES_MAX = 8 };

/* The games of a text, kept until the next call of read_bytes() or read_all(). */
static Arena arena;
static PgnGame games[GAMES_MAX];

static inline size_t read_bytes(const char *text, size_t length, unsigned flags) {
    PgnReader reader;
    size_t count = 0;
    arena_free(&arena);
    arena_init(&arena, 64 << 20);
    pgn_begin(&reader, text, length, flags);
    while (count < GAMES_MAX && pgn_next(&reader, &arena, &games[count]))
        count++;
    return count;
}

static inline size_t read_all(const char *text) {
    return read_bytes(text, strlen(text), PGN_KEEP_NOTES);
}

static inline void expect_fault(const PgnGame *game, size_t index, PgnFaultKind kind, int64_t line) {
    assert_true(index < game->fault_count);
    assert_string_equal(pgn_fault_name(game->faults[index].kind), pgn_fault_name(kind));
    assert_int_equal(game->faults[index].line, line);
    assert_true(strlen(game->faults[index].text) > 10);
}

/* SplitMix64. */
static inline uint64_t draw(uint64_t *state, uint64_t below) {
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (x ^ x >> 31) % below;
}

static inline void tell_note(Str *out, const PgnNote *note) {
    static const char *const kinds[] = { "comment", "nag", "open", "move", "close" };
    str_printf(out, "%u %s %u %u %s\n", note->ply, kinds[note->kind], note->number, note->move, note->text == NULL ? "" : note->text);
}

/* Everything but where it stands in the text. */
static inline void tell_score(Str *out, const PgnGame *game) {
    char fen[FEN_MAX];
    fen_write(&game->start, FEN_SHREDDER, fen);
    str_printf(out, "start %s %d\n", fen, game->start.chess960);
    fen_write(&game->end, FEN_SHREDDER, fen);
    str_printf(out, "end %s\nmoves", fen);
    for (size_t i = 0; i < game->move_count; i++)
        str_printf(out, " %u", game->moves[i]);
    str_printf(out, "\nresult %s unchecked %d\n", game->result, game->unchecked);
    for (size_t i = 0; i < game->note_count; i++)
        tell_note(out, &game->notes[i]);
}

static inline void tell(Str *out, const PgnGame *game) {
    str_printf(out, "game %lld %lld\n", (long long)game->line, (long long)game->result_line);
    for (size_t i = 0; i < game->tag_count; i++)
        str_printf(out, "%s=%s\n", game->tags[i].name, game->tags[i].value);
    tell_score(out, game);
    for (size_t i = 0; i < game->fault_count; i++)
        str_printf(out, "%s %lld %d %d %s\n", pgn_fault_name(game->faults[i].kind), (long long)game->faults[i].line,
                   game->faults[i].move, game->faults[i].black, game->faults[i].text);
}

#endif
