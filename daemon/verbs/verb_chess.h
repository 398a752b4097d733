/* The verbs that are about chess alone: no configuration, no store. What they share.
 *
 * Each writes to stdout and stderr and returns the exit status: 0 done, 1 something is wrong with what was asked, 2 usage. */
#ifndef EPISTLE_DAEMON_VERBS_VERB_CHESS_H
#define EPISTLE_DAEMON_VERBS_VERB_CHESS_H

#include "core/chess/position.h"
#include "daemon/verbs/verbs.h"

enum { FEN_LINE_MAX = 1024 };

/* The position of a FEN given as a word; false if it is none, which was said on stderr. */
bool chess_position(const char *fen, bool chess960, Position *ret);

/* One line of standard input without its end; false at the end of input. Too long ones are cut: no FEN is that long, so its
 * reader refuses them; and a zero byte, which no FEN has, becomes a question mark. */
bool chess_line(char ret[FEN_LINE_MAX]);

/* The next line of standard input and its position. A line without one (nothing but blanks, or behind #) has none and is no fault; what
 * is wrong with a FEN was said on stderr with the line's number. *line counts the lines, from 0 before the first. */
typedef enum ChessLine { CHESS_LINE_END, CHESS_LINE_POSITION, CHESS_LINE_NONE, CHESS_LINE_BAD } ChessLine;
ChessLine chess_next(char ret[FEN_LINE_MAX], int *line, bool chess960, Position *ret_position);

/* The move as UCI to stdout. */
void chess_print_uci(const Position *position, Move move);

/* "epistle: WHAT WHICH; usage: epistle USAGE" on stderr, control characters of `which` made visible; STATUS_USAGE. */
int chess_usage_error(const char *usage, const char *what, const char *which);

int verb_perft(const VerbCall *call);  /* perft DEPTH [FEN] [--chess960] */
int verb_notate(const VerbCall *call); /* notate FEN MOVE [--language L] [--chess960] */
int verb_moves(const VerbCall *call);  /* moves FEN|- [--chess960] */
int verb_mating(const VerbCall *call); /* mating FEN|- [--quick] [--line] [--nodes N] [--chess960] */
int verb_replay(const VerbCall *call); /* replay FILE.pgn [--json] */

#endif
