/* Any bytes as a PGN file. Invariants: read in pieces it is the same as read whole; a game read is written, read back the same and
 * written again to the same bytes; work is linear. The first byte of the input chooses what is kept and how the pieces are cut. */
#include "core/notation/pgn.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool right) {
    if (!right)
        abort();
}

static bool names_good(const PgnGame *game) {
    for (size_t i = 0; i < game->tag_count; i++)
        for (const char *byte = game->tags[i].name; *byte != 0; byte++)
            if (strchr("-+#=:", *byte) != NULL)
                return false;
    return true;
}

static bool same_text(const char *left, const char *right) {
    return left == NULL || right == NULL ? left == right : strcmp(left, right) == 0;
}

static void demand_same_score(const PgnGame *game, const PgnGame *again) {
    demand(position_same(&game->start, &again->start) && position_same(&game->end, &again->end));
    demand(again->move_count == game->move_count && again->note_count == game->note_count);
    for (size_t i = 0; i < game->move_count; i++)
        demand(game->moves[i] == again->moves[i]);
    for (size_t i = 0; i < game->note_count; i++) {
        const PgnNote *left = &game->notes[i], *right = &again->notes[i];
        demand(left->kind == right->kind && left->ply == right->ply && left->number == right->number && left->move == right->move);
        demand((left->text == NULL) == (right->text == NULL));
        demand(left->text == NULL || strchr(left->text, '}') != NULL || strcmp(left->text, right->text) == 0);
    }
}

static void demand_same_faults(const PgnGame *game, const PgnGame *again) {
    demand(again->fault_count == game->fault_count && again->line == game->line && again->tag_count == game->tag_count);
    for (size_t i = 0; i < game->fault_count; i++)
        demand(game->faults[i].kind == again->faults[i].kind && game->faults[i].line == again->faults[i].line
               && strcmp(game->faults[i].text, again->faults[i].text) == 0);
    for (size_t i = 0; i < game->tag_count; i++)
        demand(same_text(game->tags[i].name, again->tags[i].name) && same_text(game->tags[i].value, again->tags[i].value));
    demand(strcmp(game->result, again->result) == 0 && game->unchecked == again->unchecked);
}

/* In a game that is broken, variations may be left out; what is left must be writable all the same. */
static void check_writing(const PgnGame *game) {
    const char *result = game->result[0] != 0 ? game->result : "*";
    Str out, twice;
    str_init(&out, 1 << 20);
    str_init(&twice, 1 << 20);
    bool written = pgn_write(&out, game);
    demand(written || !names_good(game) || out.overflowed);
    if (written && !game->unchecked) {
        PgnReader reader;
        PgnGame again;
        Arena arena;
        arena_init(&arena, 8 << 20);
        pgn_begin(&reader, out.data, out.length, PGN_KEEP_VARIATIONS);
        demand(pgn_next(&reader, &arena, &again));
        demand(again.fault_count == 0 && strcmp(again.result, result) == 0);
        demand_same_score(game, &again);
        demand(pgn_write(&twice, &again) && twice.length == out.length && memcmp(twice.data, out.data, out.length) == 0);
        Arena rest;
        arena_init(&rest, 1 << 20);
        demand(!pgn_next(&reader, &rest, &again));
        arena_free(&rest);
        arena_free(&arena);
    }
    str_free(&out);
    str_free(&twice);
}

/* Hands the text out in pieces whose lengths a small generator draws. */
typedef struct Pieces {
    const char *at;
    size_t left, most;
    unsigned chance;
} Pieces;

static size_t next_piece(void *context, char *buffer, size_t size) {
    Pieces *pieces = context;
    pieces->chance = pieces->chance * 1103515245u + 12345u;
    size_t length = 1 + (pieces->chance >> 16) % pieces->most;
    length = length > pieces->left ? pieces->left : length;
    length = length > size ? size : length;
    memcpy(buffer, pieces->at, length);
    pieces->at += length;
    pieces->left -= length;
    return length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > 16384)
        return 0;
    const char *text = (const char *)data + 1;
    size_t length = size - 1;
    unsigned flags = data[0] & 3;
    static char buffer[PGN_BUFFER_LEAST];
    Pieces pieces = { text, length, data[0] & 4 ? 1 : 1 + data[0] / 2, data[0] };
    PgnReader whole, cut;
    PgnGame game, again;
    Arena arena, other;
    arena_init(&arena, 4 << 20);
    arena_init(&other, 4 << 20);
    pgn_begin(&whole, text, length, flags);
    pgn_open(&cut, next_piece, &pieces, buffer, sizeof buffer, flags);
    while (pgn_next(&whole, &arena, &game)) {
        demand(pgn_next(&cut, &other, &again));
        demand(game.line >= 1);
        demand_same_score(&game, &again);
        demand_same_faults(&game, &again);
        check_writing(&game);
        arena_reset(&arena);
        arena_reset(&other);
    }
    demand(!pgn_next(&cut, &other, &again));
    uint64_t most = (uint64_t)PGN_WORK_MOST * (length + PGN_LOOKAHEAD);
    demand(whole.work <= most && cut.work <= most);
    arena_free(&arena);
    arena_free(&other);
    return 0;
}
