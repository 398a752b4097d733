#include "daemon/verbs/verb_chess.h"

#include "core/chess/movegen.h"
#include "core/notation/notation.h"

#include <stdio.h>
#include <string.h>

#define USAGE "moves FEN|- [--chess960]"
#define HELP "Every legal move as uci=san=long, sorted by uci, on one line; with - for each FEN of standard input.\n" \
    "A bad FEN has an empty line, and its error on standard error.\n"

static void print_moves(const Position *position) {
    MoveList list;
    moves_legal(position, &list);
    moves_sort(position, &list);
    for (int i = 0; i < list.count; i++) {
        static const Notation notations[] = { NOTATION_UCI, NOTATION_SAN, NOTATION_LONG };
        for (int j = 0; j < 3; j++) {
            char text[NOTATION_MAX];
            notation_write(position, list.moves[i], notations[j], text);
            printf("%s%s", j > 0 ? "=" : i > 0 ? " " : "", text);
        }
    }
    putchar('\n');
}

int verb_moves(const VerbCall *call) {
    const char *words[1];
    bool chess960 = false;
    const VerbOption options[] = { { .name = "chess960", .flag = &chess960 }, { .name = NULL } };
    int count, status;
    if (!verb_arguments(call, USAGE, HELP, options, words, 1, 1, &count, &status))
        return status;
    Position position;
    if (strcmp(words[0], "-") != 0) {
        if (!chess_position(words[0], chess960, &position))
            return STATUS_WRONG;
        print_moves(&position);
        return 0;
    }
    char text[FEN_LINE_MAX];
    int line = 0;
    status = 0;
    for (ChessLine next; (next = chess_next(text, &line, chess960, &position)) != CHESS_LINE_END;) {
        if (next == CHESS_LINE_POSITION)
            print_moves(&position);
        else
            putchar('\n');
        if (next == CHESS_LINE_BAD)
            status = STATUS_WRONG;
    }
    return status;
}
