#include "daemon/verbs/verb_chess.h"

#include "core/chess/movegen.h"
#include "core/notation/pgn.h"
#include "daemon/log.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum {
    BUFFER_SIZE = 64 * 1024,
    GAME_MAX = 4 << 20, /* the longest game has 12,000 moves; without comments nothing else takes room but tags */
};
#define USAGE "replay FILE.pgn [--json]"
#define HELP "Checks every game of a PGN file (- for standard input): one line for each error, then the sums.\n" \
    "Results that do not fit the game are warned of on standard error and are no errors.\n"

typedef struct Replay {
    const char *name;
    FILE *file;
    int failed; /* errno of a reading that failed */
    bool json;
    size_t games, moves, errors, bad_games, warnings, not_checked;
} Replay;

static size_t read_piece(void *context, char *buffer, size_t size) {
    Replay *replay = context;
    errno = 0;
    size_t length = fread(buffer, 1, size, replay->file);
    if (length == 0 && ferror(replay->file))
        replay->failed = errno != 0 ? errno : EIO;
    return length;
}

static void report_fault(Replay *replay, const PgnFault *fault) {
    if (!replay->json) {
        print_line(stdout, "%s:%lld: game %zu: %s", replay->name, (long long)fault->line, replay->games, fault->text);
        return;
    }
    json_t *object = json_pack("{s:I, s:I, s:s, s:s}", "game", (json_int_t)replay->games, "line", (json_int_t)fault->line, "kind",
                               pgn_fault_name(fault->kind), "text", fault->text);
    if (fault->move > 0) {
        json_object_set_new(object, "move", json_integer(fault->move));
        json_object_set_new(object, "side", json_string(fault->black ? "black" : "white"));
    }
    fputs(replay->errors > 0 ? ",\n  " : "\n  ", stdout);
    json_dumpf(object, stdout, JSON_COMPACT);
    json_decref(object);
}

static void warn(Replay *replay, const PgnGame *game, const char *what, const char *which) {
    int64_t line = game->result_line > 0 ? game->result_line : game->line;
    print_line(stderr, "%s:%lld: game %zu: warning: %s%s", replay->name, (long long)line, replay->games, what, which);
    replay->warnings++;
}

/* What the board says of the result where no move is left; else NULL. */
static const char *result_on_board(const Position *end) {
    if (moves_count(end) > 0)
        return NULL;
    if (!position_in_check(end))
        return "1/2-1/2";
    return position_turn(end) == WHITE ? "0-1" : "1-0";
}

/* Directors enter results from scorecards, and games end by adjudication: what does not fit is to be looked at, not refused. */
static void check_result(Replay *replay, const PgnGame *game) {
    const char *tag = pgn_tag(game, "Result"), *board = result_on_board(&game->end);
    if (game->result[0] == 0)
        warn(replay, game, "the game ends without a result", "");
    else if (tag != NULL && strcmp(tag, game->result) != 0)
        warn(replay, game, "the Result tag does not say what stands behind the moves: ", game->result);
    if (board != NULL && game->result[0] != 0 && strcmp(board, game->result) != 0)
        warn(replay, game, "the last move ends the game, but not as its result says: it is ", board);
}

static void check_game(Replay *replay, const PgnGame *game) {
    replay->games++;
    replay->moves += game->move_count;
    replay->bad_games += game->fault_count > 0;
    for (size_t i = 0; i < game->fault_count; i++) {
        report_fault(replay, &game->faults[i]);
        replay->errors++;
    }
    if (game->unchecked) {
        warn(replay, game, "not checked: the rules of this Variant are not known here: ", pgn_tag(game, "Variant"));
        replay->not_checked++;
    } else if (game->fault_count == 0) {
        check_result(replay, game);
    }
}

static void replay_games(Replay *replay) {
    static char buffer[BUFFER_SIZE];
    PgnReader reader;
    PgnGame game;
    Arena arena;
    arena_init(&arena, GAME_MAX);
    pgn_open(&reader, read_piece, replay, buffer, sizeof buffer, 0);
    if (replay->json)
        fputs("{\"faults\": [", stdout);
    while (pgn_next(&reader, &arena, &game)) {
        check_game(replay, &game);
        arena_reset(&arena);
    }
    arena_free(&arena);
}

static void print_sums(const Replay *replay) {
    if (replay->json)
        printf("],\n \"games\": %zu, \"moves\": %zu, \"errors\": %zu, \"bad_games\": %zu, \"warnings\": %zu, \"not_checked\": %zu}\n",
               replay->games, replay->moves, replay->errors, replay->bad_games, replay->warnings, replay->not_checked);
    else
        printf("games %zu, moves %zu, errors %zu\n", replay->games, replay->moves, replay->errors);
}

int verb_replay(const VerbCall *call) {
    const char *words[1];
    bool json = false;
    const VerbOption options[] = { { .name = "json", .flag = &json }, { .name = NULL } };
    int count, status;
    if (!verb_arguments(call, USAGE, HELP, options, words, 1, 1, &count, &status))
        return status;
    bool input = strcmp(words[0], "-") == 0;
    Replay replay = { .name = words[0], .file = input ? stdin : fopen(words[0], "rb"), .json = json };
    if (replay.file == NULL) {
        print_line(stderr, "epistle: %s cannot be read: %s", replay.name, strerror(errno));
        return STATUS_WRONG;
    }
    replay_games(&replay);
    print_sums(&replay);
    if (!input)
        fclose(replay.file);
    if (replay.failed != 0)
        print_line(stderr, "epistle: %s cannot be read to its end: %s", replay.name, strerror(replay.failed));
    return replay.errors > 0 || replay.failed != 0 ? STATUS_WRONG : STATUS_DONE;
}
