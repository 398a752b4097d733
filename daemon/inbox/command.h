/* Commands: what the new text of a letter asks for (CONTRACT.md "Letters from players", RULINGS 9–14).
 *
 * Pure syntax: no store, no game, no position. Lines are classed as command, near-miss or other text; then the
 * letter as a whole is judged. The service never guesses: what is not certain is a problem, and then nothing is done.
 *
 *     opening lines: from the top to the first line that is neither command nor near-miss (empty lines do not end them;
 *     greetings, closings and the players' names are other text, never near-misses)
 *     a near-miss among them                          → PROBLEM_NEAR_MISS, nothing is done
 *     commands among them                             → these, in order; the rest is the remark; within the remark:
 *         a lone resign, accept, withdraw or another move  → PROBLEM_BELOW_REMARK (the whole letter is asked about)
 *         another lone command                             → the commands count, that line is listed in `asked`
 *     no command at the top                           → the whole text is searched for lines that are a command alone:
 *         one move line (or one block, or the same move again) and harmless commands count, the other lines are the remark;
 *         several different moves                          → PROBLEM_SEVERAL_MOVES
 *         resign, accept, withdraw                         → PROBLEM_BELOW_REMARK
 *         a near-miss and no command                       → PROBLEM_NEAR_MISS
 *     a move beside accept, resign or withdraw        → PROBLEM_MOVE_BESIDE
 *     several different moves of one game in the opening → PROBLEM_SEVERAL_MOVES
 *
 * Some consequences, and what the table leaves open:
 *     a near-miss of resign, accept or withdraw in a searched text stops the letter even beside a move
 *     "a move beside" holds for the same game, or where one of the two names none; also for accept beside resign or
 *       decline, and for a move beside `claim …`, which is a claim with an intended move (RULINGS 14) and not served yet
 *     bare moves and moves of "game 43:" do not clash here: that game 43 is the letter's own game only the service knows
 *     "game 43:" alone on its line is a heading: the game of the commands below it, up to other text or another game;
 *       "game 43" without the colon is the question
 *     a conditional that ends in "then", "if" or a number takes the next line with it, which else would be a move
 *     `arbiter:` anywhere, `appeal` at the head of a paragraph: the text runs to the end of the letter
 *     commands that sentences begin like (register, challenge, note, join, table, appeal) count below the opening lines
 *       only at the head of a paragraph
 *     in the opening lines a short line that only looks like a move ("N f 9", "e-4", "King e2", "PS: d4", "1."), says resign, accept or
 *       withdraw beside a name, begins or ends with such a word, or is a command's word without its argument is a near-miss
 *     from a line "[…]" on, below which trimming puts what stood between quotations, all is remark, and nothing in it a
 *       problem; conditionals, seals and text for the arbiter are listed in `asked` there and not passed on
 *     lines beginning with "|" or ">" are never commands; a line wholly in * _ or backquotes is read without them;
 *       in quotes or brackets it is a near-miss
 * tests/data/commands/ has a letter for each of these.
 */
#ifndef EPISTLE_DAEMON_INBOX_COMMAND_H
#define EPISTLE_DAEMON_INBOX_COMMAND_H

#include "core/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    COMMANDS_MAX = 32,        /* per letter; a director asking about every game of his needs no more */
    COMMAND_ITEMS_MAX = 1200, /* moves of one block: a whole long game with one more */
    COMMAND_LINE_MAX = 400,   /* longer lines are no commands, but blocks of a score may be longer */
};

typedef enum Verb {
    VERB_MOVE, VERB_OFFER_DRAW, VERB_ACCEPT, VERB_DECLINE, VERB_RESIGN,
    VERB_BOARD, VERB_GAMES, VERB_GAME, VERB_PGN, VERB_HELP,
    VERB_REGISTER, VERB_CHALLENGE, VERB_CONFIRM, VERB_YES, VERB_WITHDRAW, VERB_PING,
    VERB_LATER /* a command of CONTRACT.md that is known but not served yet (claim, seal, leave, arbiter:, if …, set …): `argument` says which */
} Verb;

typedef struct MoveItem {
    int number;         /* 0: none was given */
    bool black;         /* "…" or "..." stood behind the number, or before the move */
    const char *text;   /* the move token as written, marks included, draw offer cut off */
} MoveItem;

typedef struct Command {
    Verb verb;
    const char *line;      /* as written, blanks folded; of a block over several lines the one with its last move */
    int64_t game;          /* from a prefix "game 43:", 0 if none; for VERB_GAME its argument */
    const char *argument;  /* register NAME, challenge WHO …, help TOPIC, pgn N…; VERB_LATER: its name ("claim", "if", "arbiter"); "" if none */
    const MoveItem *items; /* VERB_MOVE: 1 for a single move, more for a block of a score */
    size_t item_count;
    bool offer;            /* VERB_MOVE: "(=)", "draw?", "offer draw" on the move's line */
    bool said_move;        /* introduced by the word "move" */
    bool line_start;       /* the move token is the first thing on its line (phones capitalise) */
} Command;

typedef enum Problem {
    PROBLEM_NONE, PROBLEM_NEAR_MISS, PROBLEM_SEVERAL_MOVES, PROBLEM_BELOW_REMARK, PROBLEM_MOVE_BESIDE, PROBLEM_TOO_MANY
} Problem;

typedef struct CommandReading {
    Command *commands; /* in the arena, in order; filled as far as read even when there is a problem, for the answer to show */
    size_t count;
    Problem problem;   /* other than NONE: nothing may be done */
    const char *problem_lines[8]; /* the lines it is about */
    size_t problem_line_count;
    const char *meant;   /* NEAR_MISS: the command it is near to ("resign"), "move" for something shaped like a move, else NULL */
    const char *asked[8];  /* lone commands below the remark that were not done */
    size_t asked_count;
    const char *remark;  /* the rest, LF lines, outer empty lines cut; "" if none; text of "arbiter:" and of our own letters' token strings never in it */
    bool question;       /* the remark seems to put a question to the service or the opponent ("?") */
} CommandReading;

typedef struct CommandContext {
    const char *const *names; /* names (and their single words) of the players concerned, exempt from near-misses */
    size_t name_count;
    const char *language;     /* "en" so far; further languages by table */
} CommandContext;

/* new_text as trim_new_text() gives it. False only if the arena is exhausted. */
bool command_read(Arena *arena, const char *new_text, const CommandContext *context, CommandReading *ret_reading);

const char *verb_name(Verb verb); /* "move", "offer draw", … as in `read --json` */

/* Commands that count only with full proof by a token of the current ply, challenge or registration (RULINGS 2). */
bool verb_needs_full_proof(Verb verb);

#endif
