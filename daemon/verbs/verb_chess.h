/* The verbs that are about chess alone: no configuration, no store.
 *
 * Each takes its own arguments, argv[0] being the verb, writes to stdout and stderr, and
 * returns the exit status: 0 done, 1 something is wrong with what was asked, 2 usage. */
#ifndef EPISTLE_DAEMON_VERBS_VERB_CHESS_H
#define EPISTLE_DAEMON_VERBS_VERB_CHESS_H

int verb_perft(int argc, char **argv);  /* perft DEPTH [FEN] [--chess960] */
int verb_notate(int argc, char **argv); /* notate FEN MOVE [--language L] [--chess960] */
int verb_moves(int argc, char **argv);  /* moves FEN|- [--chess960] */
int verb_replay(int argc, char **argv); /* replay FILE.pgn [--json] */

#endif
