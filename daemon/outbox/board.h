/* The board as text: lines that stand in a letter as they are, on a screen reader's pitch or a printed page.
 *
 *     |    a  b  c  d  e  f  g  h
 *     | 8  r  n  b  q  k  b  n  r  8
 *     | 7  p  p  p  p  p  p  p  p  7
 *     | 6  .  :  .  :  .  :  .  :  6
 *       …
 *
 * Seven-bit, every cell three columns, capitals for White's men, '.' an empty light square, ':' an empty dark one. Every line
 * begins with '|', by which reply trimming knows our lines (RULINGS 10): a board sent back is never read for moves. */
#ifndef EPISTLE_DAEMON_OUTBOX_BOARD_H
#define EPISTLE_DAEMON_OUTBOX_BOARD_H

#include <stdbool.h>

enum { BOARD_LINES = 10, BOARD_LINE_SIZE = 36 };

/* squares: 64 characters a8 … h8, a7 … h1, letters as in a FEN, '.' empty. from_black: Black's men stand below.
 * False, nothing written, if it is something else. */
bool board_text(const char *squares, bool from_black, char ret_lines[BOARD_LINES][BOARD_LINE_SIZE]);

#endif
