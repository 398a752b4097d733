#include "daemon/verbs/verb_chess.h"

#include "core/chess/movegen.h"
#include "core/chess/perft.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DEPTH_MAX = 20 };
#define USAGE "perft DEPTH [FEN] [--chess960]"
#define HELP "Counts the sequences of DEPTH legal moves: for each first move, in total, and how fast.\n"

int verb_perft(const VerbCall *call) {
    const char *words[2];
    bool chess960 = false;
    const VerbOption options[] = { { .name = "chess960", .flag = &chess960 }, { .name = NULL } };
    int count, status;
    if (!verb_arguments(call, USAGE, HELP, options, words, 1, 2, &count, &status))
        return status;
    char *end;
    errno = 0;
    long depth = strtol(words[0], &end, 10);
    if (errno != 0 || *end != 0 || end == words[0] || depth < 0 || depth > DEPTH_MAX)
        return chess_usage_error(USAGE, "DEPTH must be a number from 0 to 20, not ", words[0]);
    Position position;
    position_start(&position);
    if (count > 1 && !chess_position(words[1], chess960, &position))
        return STATUS_WRONG;

    MoveList list;
    moves_legal(&position, &list);
    moves_sort(&position, &list);
    uint64_t total = depth == 0 ? 1 : 0;
    clock_t begin = clock();
    for (int i = 0; depth > 0 && i < list.count; i++) {
        Position after;
        position_move(&after, &position, list.moves[i]);
        uint64_t below = perft_count(&after, (int)depth - 1);
        chess_print_uci(&position, list.moves[i]);
        printf(": %" PRIu64 "\n", below);
        total += below;
    }
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    printf("total: %" PRIu64 "\n", total);
    printf("nodes per second: %.0f\n", (double)total / (seconds > 1e-6 ? seconds : 1e-6));
    return 0;
}
