#include "daemon/verbs/verb_chess.h"

#include "core/chess/fen.h"
#include "core/notation/notation.h"
#include "daemon/log.h"

#include <stdio.h>
#include <string.h>

bool chess_position(const char *fen, bool chess960, Position *ret) {
    Error error;
    if (fen_read(fen, chess960 ? FEN_CHESS960 : 0, ret, &error))
        return true;
    print_line(stderr, "epistle: %s", error.text);
    return false;
}

bool chess_line(char ret[FEN_LINE_MAX]) {
    size_t length = 0;
    int byte;
    while ((byte = getchar()) != EOF && byte != '\n')
        if (length + 1 < FEN_LINE_MAX)
            ret[length++] = byte == 0 ? '?' : (char)byte;
    bool found = byte != EOF || length > 0;
    if (length > 0 && ret[length - 1] == '\r')
        length--;
    ret[length] = 0;
    return found;
}

ChessLine chess_next(char ret[FEN_LINE_MAX], int *line, bool chess960, Position *ret_position) {
    Error error;
    if (!chess_line(ret))
        return CHESS_LINE_END;
    ++*line;
    size_t blanks = strspn(ret, " \t");
    if (ret[blanks] == 0 || ret[blanks] == '#')
        return CHESS_LINE_NONE;
    if (fen_read(ret, chess960 ? FEN_CHESS960 : 0, ret_position, &error))
        return CHESS_LINE_POSITION;
    print_line(stderr, "epistle: -:%d: %s", *line, error.text);
    return CHESS_LINE_BAD;
}

void chess_print_uci(const Position *position, Move move) {
    char uci[NOTATION_MAX];
    notation_write(position, move, NOTATION_UCI, uci);
    fputs(uci, stdout);
}

int chess_usage_error(const char *usage, const char *what, const char *which) {
    print_line(stderr, "epistle: %s%s; usage: epistle %s", what, which, usage);
    return STATUS_USAGE;
}
