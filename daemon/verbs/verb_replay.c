#include "daemon/verbs/verb_chess.h"

#include "core/notation/pgn.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { FILE_MAX = 1 << 30, GAME_MAX = 64 << 20 };
#define USAGE "replay FILE.pgn [--json]"
#define HELP "Checks every game of a PGN file (- for standard input): one line for each error, then the sums.\n"

typedef struct Replay {
    const char *file;
    size_t games, moves, errors;
    json_t *faults; /* NULL: print lines */
} Replay;

static void report_fault(Replay *replay, const PgnFault *fault) {
    if (replay->faults == NULL) {
        printf("%s:%d: game %zu: %s\n", replay->file, fault->line, replay->games, fault->text);
        return;
    }
    json_t *object = json_pack("{s:i, s:i, s:s}", "game", (int)replay->games, "line", fault->line, "text", fault->text);
    if (fault->move > 0) {
        json_object_set_new(object, "move", json_integer(fault->move));
        json_object_set_new(object, "side", json_string(fault->black ? "black" : "white"));
    }
    json_array_append_new(replay->faults, object);
}

static void replay_games(Replay *replay, const Str *text) {
    PgnReader reader;
    PgnGame game;
    Arena arena;
    arena_init(&arena, GAME_MAX);
    pgn_begin(&reader, text->data, text->length);
    while (pgn_next(&reader, &arena, &game)) {
        replay->games++;
        replay->moves += game.move_count;
        replay->errors += game.fault_count;
        for (size_t i = 0; i < game.fault_count && i < PGN_FAULTS_MAX; i++)
            report_fault(replay, &game.faults[i]);
        arena_free(&arena);
    }
    arena_free(&arena);
}

static bool file_read(const char *name, Str *ret) {
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "rb");
    char buffer[65536];
    bool read = file != NULL;
    for (size_t length; read && (length = fread(buffer, 1, sizeof buffer, file)) > 0;)
        read = str_append_bytes(ret, buffer, length);
    if (!read || ferror(file))
        fprintf(stderr, "epistle: %s cannot be read: %s\n", name,
                ret->overflowed ? "it is larger than 1 GB; split it" : strerror(errno));
    read = read && !ferror(file);
    if (file != NULL && file != stdin)
        fclose(file);
    return read;
}

int verb_replay(const VerbCall *call) {
    const char *words[1];
    bool json = false;
    const VerbOption options[] = { { .name = "json", .flag = &json }, { .name = NULL } };
    int count, status;
    if (!verb_arguments(call, USAGE, HELP, options, words, 1, 1, &count, &status))
        return status;
    Str text;
    str_init(&text, FILE_MAX);
    Replay replay = { .file = words[0] };
    if (!file_read(replay.file, &text)) {
        str_free(&text);
        return STATUS_WRONG;
    }
    if (json)
        replay.faults = json_array();
    replay_games(&replay, &text);
    str_free(&text);
    if (json) {
        json_t *object = json_pack("{s:I, s:I, s:I, s:o}", "games", (json_int_t)replay.games, "moves",
                                   (json_int_t)replay.moves, "errors", (json_int_t)replay.errors, "faults",
                                   replay.faults);
        json_dumpf(object, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(object);
    } else {
        printf("games %zu, moves %zu, errors %zu\n", replay.games, replay.moves, replay.errors);
    }
    return replay.errors > 0 ? STATUS_WRONG : 0;
}
