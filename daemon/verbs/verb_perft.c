#include "daemon/verbs/verb_chess.h"

#include "core/base/str.h"
#include "core/chess/movegen.h"
#include "core/chess/perft.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* No tree of so many plies is counted to its end, unless almost every move in it is forced. The FEN may come as one word or
 * as its six. */
enum { DEPTH_MAX = 99, WORDS_MAX = 1 + 6 };
#define USAGE "perft DEPTH [FEN] [--chess960]"
#define HELP "Counts the sequences of DEPTH legal moves: for each first move, in total, and how many in a second of processor time.\n"

static bool read_depth(const char *word, int *ret) {
    char *end;
    errno = 0;
    long depth = strtol(word, &end, 10);
    if (errno != 0 || *end != 0 || end == word || depth < 0 || depth > DEPTH_MAX)
        return false;
    *ret = (int)depth;
    return true;
}

static bool read_position(const char *const *words, int count, bool chess960, Position *ret) {
    if (count == 0) {
        position_start(ret);
        return true;
    }
    Str fen;
    str_init(&fen, FEN_LINE_MAX);
    for (int i = 0; i < count; i++)
        str_printf(&fen, "%s%s", i > 0 ? " " : "", words[i]);
    bool read = chess_position(fen.overflowed ? "" : fen.data, chess960, ret);
    str_free(&fen);
    return read;
}

static uint64_t count_moves(const Position *position, int depth) {
    MoveList list;
    uint64_t total = depth == 0 ? 1 : 0;
    moves_legal(position, &list);
    moves_sort(position, &list);
    for (int i = 0; depth > 0 && i < list.count; i++) {
        Position after;
        position_move(&after, position, list.moves[i]);
        uint64_t below = perft_count(&after, depth - 1);
        chess_print_uci(position, list.moves[i]);
        printf(": %" PRIu64 "\n", below);
        total += below;
    }
    return total;
}

int verb_perft(const VerbCall *call) {
    const char *words[WORDS_MAX];
    bool chess960 = false;
    const VerbOption options[] = { { .name = "chess960", .flag = &chess960 }, { .name = NULL } };
    int count, status, depth;
    if (!verb_arguments(call, USAGE, HELP, options, words, 1, WORDS_MAX, &count, &status))
        return status;
    if (!read_depth(words[0], &depth))
        return chess_usage_error(USAGE, "DEPTH must be a number from 0 to 99, not ", words[0]);
    Position position;
    if (!read_position(words + 1, count - 1, chess960, &position))
        return STATUS_WRONG;

    clock_t begin = clock();
    uint64_t total = count_moves(&position, depth);
    clock_t ticks = clock() - begin;
    printf("total: %" PRIu64 "\n", total);
    /* what took less than a tick took one, so that no number is made up */
    printf("nodes per second: %.0f\n", (double)total * CLOCKS_PER_SEC / (double)(ticks > 0 ? ticks : 1));
    return STATUS_DONE;
}
