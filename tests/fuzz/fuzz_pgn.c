/* Any bytes as a PGN file: every game read is written and must be read back the same. */
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

static void check_game(const PgnGame *game) {
    const char *result = game->result[0] != 0 ? game->result : "*";
    Str out;
    str_init(&out, 1 << 20);
    bool written = pgn_write(&out, game->tags, game->tag_count, &game->start, game->moves, game->move_count,
                             game->comments, result);
    demand(written || !names_good(game) || out.overflowed);
    if (written) {
        PgnReader reader;
        PgnGame again;
        Arena arena;
        arena_init(&arena, 8 << 20);
        pgn_begin(&reader, out.data, out.length);
        demand(pgn_next(&reader, &arena, &again));
        /* Variant tags may be any text; a tag of that name decides how castling is written. */
        demand(again.fault_count == 0 && again.move_count == game->move_count);
        for (size_t i = 0; i < game->move_count; i++)
            demand(game->moves[i] == again.moves[i]);
        demand(strcmp(again.result, result) == 0);
        demand(!pgn_next(&reader, &arena, &again));
        arena_free(&arena);
    }
    str_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 16384)
        return 0;
    PgnReader reader;
    PgnGame game;
    Arena arena;
    arena_init(&arena, 4 << 20);
    pgn_begin(&reader, (const char *)data, size);
    while (pgn_next(&reader, &arena, &game)) {
        demand(game.line >= 1);
        check_game(&game);
        arena_free(&arena);
    }
    arena_free(&arena);
    return 0;
}
