/* mating_speed quick|full [--list] FILE…: lines "WB FEN" (W-, -B, --), what is known about who can
 * mate, against what core/chess/mating answers, and what the answers cost.
 *
 * One line a file: sides asked about; sides unable, of them found; wrong answers; sides able
 * without a line; microseconds a side, mean and worst; positions looked at, mean and worst.
 * --list names every side that is wrong, missed or unknown. Exit 1 if any answer is wrong
 * or a line found is not one of legal moves to a mate. */
#include "core/chess/fen.h"
#include "core/chess/mating.h"
#include "core/chess/movegen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Sums {
    long sides, unable, found, wrong, unknown;
    double spent, worst;
    uint64_t nodes, worst_nodes;
} Sums;

static bool full, list;
static MatingLimits limits = { .nodes = MATING_NODES, .size = (size_t)MATING_NODES * MATING_NODE_BYTES };

/* Of this process alone, so that others on the machine do not count. */
static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static double clock_cost; /* of asking for the time */

static bool line_mates(Position position, Colour side, const MatingLine *line) {
    for (int i = 0; i < line->count; i++) {
        if (!move_is_legal(&position, line->moves[i]))
            return false;
        position_move(&position, &position, line->moves[i]);
    }
    MoveList moves;
    moves_legal(&position, &moves);
    return moves.count == 0 && position_in_check(&position) && position_turn(&position) != side;
}

static void ask(const Position *position, Colour side, bool able, const char *text, Sums *sums) {
    MatingLine line;
    uint64_t nodes = 0;
    double start = microseconds();
    MatingAnswer answer = full ? mating_full(position, side, &limits, &line, &nodes) : mating_quick(position, side);
    double spent = microseconds() - start - clock_cost;
    bool wrong = answer == (able ? MATING_CANNOT : MATING_CAN)
        || (full && answer == MATING_CAN && !line_mates(*position, side, &line));
    bool unknown = answer == MATING_UNKNOWN;
    sums->sides++;
    sums->unable += !able;
    sums->found += !able && answer == MATING_CANNOT;
    sums->wrong += wrong;
    sums->unknown += able && unknown;
    sums->spent += spent;
    sums->nodes += nodes;
    if (spent > sums->worst)
        sums->worst = spent;
    if (nodes > sums->worst_nodes)
        sums->worst_nodes = nodes;
    if (list && (wrong || (!able && unknown) || (full && unknown)))
        printf("%s %s %s\n", wrong ? "WRONG" : able ? "unknown" : "missed", side == WHITE ? "W" : "B", text);
}

static bool measure(const char *name) {
    FILE *file = fopen(name, "r");
    if (file == NULL) {
        perror(name);
        return false;
    }
    Sums sums = { 0 };
    char text[256];
    while (fgets(text, sizeof text, file) != NULL) {
        Position position;
        Error error;
        text[strcspn(text, "\r\n")] = 0;
        if (strlen(text) < 4 || text[0] == '#')
            continue;
        if (!fen_read(text + 3, 0, &position, &error)) {
            fprintf(stderr, "%s: %s\n", text, error.text);
            fclose(file);
            return false;
        }
        ask(&position, WHITE, text[0] == 'W', text, &sums);
        ask(&position, BLACK, text[1] == 'B', text, &sums);
    }
    fclose(file);
    const char *base = strrchr(name, '/') == NULL ? name : strrchr(name, '/') + 1;
    printf("%s %s: sides %ld, unable %ld, found %ld, wrong %ld, unknown %ld; us a side mean %.2f worst %.0f; "
           "positions mean %.1f worst %llu\n",
           base, full ? "full" : "quick", sums.sides, sums.unable, sums.found, sums.wrong, sums.unknown,
           sums.spent / (double)sums.sides, sums.worst, (double)sums.nodes / (double)sums.sides,
           (unsigned long long)sums.worst_nodes);
    return sums.wrong == 0;
}

int main(int argc, char **argv) {
    int first = 2;
    if (argc > 2 && strcmp(argv[2], "--list") == 0) {
        list = true;
        first = 3;
    }
    if (argc <= first || (strcmp(argv[1], "quick") != 0 && strcmp(argv[1], "full") != 0)) {
        fprintf(stderr, "mating_speed quick|full [--list] FILE...\n");
        return 2;
    }
    full = strcmp(argv[1], "full") == 0;
    limits.memory = malloc(limits.size);
    if (limits.memory == NULL)
        return 2;
    double start = microseconds();
    for (int i = 0; i < 1000; i++)
        clock_cost = (microseconds() - start) / (i + 1);
    bool right = true;
    for (int i = first; i < argc; i++)
        right = measure(argv[i]) && right;
    free(limits.memory);
    return right ? 0 : 1;
}
