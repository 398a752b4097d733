/* faults_line: what is to be said of the position at the end of a line of play. For the reports of others' faults that are
 * about more than one move.
 *
 * usage: faults_line FEN [MOVE …]   (moves as a player may write them, each to be legal)
 *
 * Prints the FEN at the end; how often that position has stood in the line; what could be claimed or holds by the count of
 * moves; how the game has ended; who can still mate by the full mode ("WB", "W-", "-B", "--") and whom the quick mode calls
 * unable, likewise. Exit 2 if the FEN or a move cannot be read, and why. */
#include "core/chess/endings.h"
#include "core/chess/fen.h"
#include "core/chess/history.h"
#include "core/chess/mating.h"
#include "core/notation/notation.h"

#include <stdio.h>
#include <stdlib.h>

enum { PLIES_MAX = 400 };

static int unreadable(const char *what, const char *why) {
    fprintf(stderr, "faults_line: %s: %s\n", what, why);
    return 2;
}

static void print_draws(const History *history) {
    static const struct { unsigned draw; const char *name; } names[] = {
        { HISTORY_THREEFOLD, " threefold" }, { HISTORY_FIFTY, " fifty" }, { HISTORY_FIVEFOLD, " fivefold" },
        { HISTORY_SEVENTY_FIVE, " seventy-five" },
    };
    unsigned draws = history_draws(history, MOVE_NONE);
    printf("draws:");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (draws & names[i].draw)
            fputs(names[i].name, stdout);
    putchar('\n');
}

static bool print_mating(const Position *position) {
    MatingLimits limits = { .size = (size_t)MATING_NODES * MATING_NODE_BYTES, .nodes = MATING_NODES };
    limits.memory = malloc(limits.size);
    if (limits.memory == NULL)
        return false;
    bool white = mating_full(position, WHITE, &limits, NULL, NULL) != MATING_CANNOT;
    bool black = mating_full(position, BLACK, &limits, NULL, NULL) != MATING_CANNOT;
    free(limits.memory);
    printf("mating: %c%c\n", white ? 'W' : '-', black ? 'B' : '-');
    white = mating_quick(position, WHITE) != MATING_CANNOT;
    black = mating_quick(position, BLACK) != MATING_CANNOT;
    printf("quick: %c%c\n", white ? 'W' : '-', black ? 'B' : '-');
    return true;
}

int main(int argc, char **argv) {
    static Position positions[PLIES_MAX + 1];
    static const char *const endings[] = {
        [ENDING_NONE] = "none", [ENDING_CHECKMATE] = "checkmate", [ENDING_STALEMATE] = "stalemate",
        [ENDING_INSUFFICIENT] = "insufficient", [ENDING_DEAD] = "dead",
    };
    Error error;
    if (argc < 2 || argc > PLIES_MAX + 2)
        return unreadable("usage", "faults_line FEN [MOVE …]");
    if (!fen_read(argv[1], 0, &positions[0], &error))
        return unreadable(argv[1], error.text);
    int plies = argc - 2;
    for (int i = 0; i < plies; i++) {
        Reading reading;
        notation_read(&positions[i], argv[i + 2], 0, &reading);
        if (reading.kind != READING_MOVE)
            return unreadable(argv[i + 2], notation_fault_name(reading.fault));
        position_move(&positions[i + 1], &positions[i], reading.move);
    }
    char fen[FEN_MAX];
    const Position *last = &positions[plies];
    const History history = { positions, (size_t)plies + 1 };
    fen_write(last, 0, fen);
    printf("fen: %s\ntimes: %d\n", fen, history_occurrences(&history, MOVE_NONE, NULL, 0));
    print_draws(&history);
    printf("ending: %s\n", endings[ending_of(last)]);
    return print_mating(last) ? 0 : unreadable("mating", "no memory");
}
