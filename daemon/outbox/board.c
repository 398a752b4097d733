#include "daemon/outbox/board.h"

#include <stdio.h>
#include <string.h>

static void write_files(bool from_black, char *line) {
    int at = snprintf(line, BOARD_LINE_SIZE, "|   ");
    for (int i = 0; i < 8; i++)
        at += snprintf(line + at, BOARD_LINE_SIZE - (size_t)at, "%s%c", i == 0 ? " " : "  ", from_black ? 'h' - i : 'a' + i);
}

bool board_text(const char *squares, bool from_black, char ret_lines[BOARD_LINES][BOARD_LINE_SIZE]) {
    if (strlen(squares) != 64 || strspn(squares, "pnbrqkPNBRQK.") != 64)
        return false;
    write_files(from_black, ret_lines[0]);
    for (int row = 0; row < 8; row++) {
        int from_top = from_black ? 7 - row : row; /* 0 is the eighth rank */
        char *line = ret_lines[1 + row];
        int at = snprintf(line, BOARD_LINE_SIZE, "| %d", 8 - from_top);
        for (int column = 0; column < 8; column++) {
            int file = from_black ? 7 - column : column;
            char man = squares[from_top * 8 + file];
            if (man == '.' && (from_top + file) % 2 == 1)
                man = ':';
            at += snprintf(line + at, BOARD_LINE_SIZE - (size_t)at, "  %c", man);
        }
        snprintf(line + at, BOARD_LINE_SIZE - (size_t)at, "  %d", 8 - from_top);
    }
    write_files(from_black, ret_lines[9]);
    return true;
}
