#include "daemon/verbs/verb_chess.h"

#include "core/base/str.h"
#include "core/chess/mating.h"
#include "core/notation/notation.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define USAGE "mating FEN|- [--quick] [--line] [--nodes N] [--chess960]"
#define HELP "Which side can still mate by any series of legal moves, and whether the position is dead (Laws 5.2b, 6.9, 9.6).\n" \
    "With - for each FEN of standard input: WB, W-, -B or -- (who can) before it; a bad FEN has an empty line, and its error\n" \
    "on standard error.\n" \
    "  --quick    the mode that looks at every accepted move: no long search\n" \
    "  --line     also the moves to the mate that was found, and how many positions were looked at\n" \
    "  --nodes N  look at so many positions a side, at most\n" \
    "\"No\" is proved. \"Yes\" is a line of moves, or where none was found within the budget, nothing proved against it: --line\n" \
    "says which. The fifty- and 75-move rules are not counted.\n"

enum { NODES_MOST = 10000000 }; /* 560 MB */

/* How the question is to be answered, and with what memory. */
typedef struct Asking {
    bool quick, line;
    MatingLimits limits;
} Asking;

typedef struct Told {
    MatingAnswer answer;
    MatingLine line;
    uint64_t nodes;
} Told;

static bool can(const Position *position, Colour side, const Asking *asking, Told *ret) {
    *ret = (Told){ .answer = MATING_UNKNOWN };
    ret->answer = asking->quick ? mating_quick(position, side)
                                : mating_full(position, side, &asking->limits, &ret->line, &ret->nodes);
    return ret->answer != MATING_CANNOT;
}

static void print_line(const Position *position, const char *name, const Told *told) {
    printf("%s, %" PRIu64 " positions:", name, told->nodes);
    Position at = *position, after;
    for (int i = 0; i < told->line.count; i++, at = after) {
        char san[NOTATION_MAX];
        notation_write(&at, told->line.moves[i], NOTATION_SAN, san);
        if (position_turn(&at) == WHITE || i == 0)
            printf(" %d%s", position_fullmove(&at), position_turn(&at) == WHITE ? "." : "...");
        printf(" %s", san);
        position_move(&after, &at, told->line.moves[i]);
    }
    puts(told->answer == MATING_CANNOT ? " cannot mate"
         : told->answer == MATING_UNKNOWN ? " no mate found, nothing proved against one"
         : told->line.count == 0 ? " has mated" : "");
}

static const char *yes(bool is) {
    return is ? "yes" : "no";
}

static void print_answers(const Position *position, const Asking *asking) {
    Told white, black;
    bool white_can = can(position, WHITE, asking, &white), black_can = can(position, BLACK, asking, &black);
    printf("White can mate: %s\nBlack can mate: %s\ndead: %s\n", yes(white_can), yes(black_can), yes(!white_can && !black_can));
    if (asking->line) {
        print_line(position, "White", &white);
        print_line(position, "Black", &black);
    }
}

static int each_line(const Asking *asking, bool chess960) {
    char text[FEN_LINE_MAX];
    int line = 0, status = 0;
    Position position;
    for (ChessLine next; (next = chess_next(text, &line, chess960, &position)) != CHESS_LINE_END;) {
        Told told;
        if (next == CHESS_LINE_BAD)
            status = STATUS_WRONG;
        if (next != CHESS_LINE_POSITION) {
            putchar('\n');
            continue;
        }
        putchar(can(&position, WHITE, asking, &told) ? 'W' : '-');
        putchar(can(&position, BLACK, asking, &told) ? 'B' : '-');
        printf(" %s\n", text);
    }
    return status;
}

static int answer(const char *word, const Asking *asking, bool chess960) {
    if (strcmp(word, "-") == 0)
        return each_line(asking, chess960);
    Position position;
    if (!chess_position(word, chess960, &position))
        return STATUS_WRONG;
    print_answers(&position, asking);
    return 0;
}

int verb_mating(const VerbCall *call) {
    const char *words[1], *nodes = NULL;
    Asking asking = { .limits.nodes = MATING_NODES };
    bool chess960 = false;
    const VerbOption options[] = { { .name = "quick", .flag = &asking.quick }, { .name = "line", .flag = &asking.line },
                                   { .name = "nodes", .value = &nodes }, { .name = "chess960", .flag = &chess960 },
                                   { .name = NULL } };
    int count, status;
    if (!verb_arguments(call, USAGE, HELP, options, words, 1, 1, &count, &status))
        return status;
    int64_t most = MATING_NODES;
    if (nodes != NULL && (!verb_number(nodes, &most) || most > NODES_MOST))
        return chess_usage_error(USAGE, "--nodes takes a number from 1 to 10000000, not ", nodes);
    asking.limits.nodes = (uint64_t)most;
    asking.limits.size = (size_t)most * MATING_NODE_BYTES;
    if (!asking.quick) {
        asking.limits.memory = malloc(asking.limits.size);
        if (asking.limits.memory == NULL)
            return verb_wrong("no memory for %s positions; ask with a smaller --nodes", nodes != NULL ? nodes : "so many");
    }
    status = answer(words[0], &asking, chess960);
    free(asking.limits.memory);
    return status;
}
