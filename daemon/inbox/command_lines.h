/* One line of a letter: cleaned, and classed as command, near-miss or other text. What that means for the letter is
 * command.c's business. Works in the caller's buffers, in time linear in the line's length. */
#ifndef EPISTLE_DAEMON_INBOX_COMMAND_LINES_H
#define EPISTLE_DAEMON_INBOX_COMMAND_LINES_H

#include "daemon/inbox/command.h"

/* Copies the next line of *text (up to its LF or the end) to ret_line, cleaned, and moves *text behind it: blanks of all
 * kinds folded to single ones, none at the ends; invisible characters dropped; full-width letters and typographic
 * apostrophes made plain; emphasis marks (*…*, _…_, backquotes) around the whole line taken off. ret_line has room for the whole
 * line and a NUL. Returns false at the end of the text. */
bool line_next(const char **text, char *ret_line);

typedef enum LineClass {
    LINE_EMPTY,        /* also "My move:" with nothing behind it */
    LINE_OTHER,
    LINE_GREETING,     /* other text, behind which a paragraph begins */
    LINE_COMMAND,
    LINE_NEAR,         /* nearly a command; `meant` says which */
    LINE_NEAR_OPENING, /* the same, but only among the opening lines: elsewhere sentences look like this */
    LINE_HEADING,      /* "game 43:" with nothing behind it: command is the VERB_GAME it is if no command follows */
    LINE_TOO_MANY      /* a block of more than COMMAND_ITEMS_MAX moves */
} LineClass;

/* Where the next move of a score would be, "12 Black". */
typedef struct ScorePlace {
    bool known;
    int number;
    bool black;
} ScorePlace;

/* False, and *place untouched, if the item cannot stand there. */
bool score_step(ScorePlace *place, const MoveItem *item);

typedef struct LineReading {
    LineClass class;
    Command command;    /* its items point to `items` below, its texts into `line` and `cut`, all owned by the caller */
    const char *meant;
    ScorePlace place;   /* behind the last item of a move line */
    bool free_text;     /* sentences can begin like this: below the opening lines it counts only at the head of a paragraph */
    bool opening_only;  /* below the opening lines it never counts */
    bool to_end;        /* its text runs to the end of the letter */
    bool goes_on;       /* a conditional that ends in "then" or "if": the next line belongs to it */
} LineReading;

/* line: as line_next() gives it. cut: a buffer as long as line with its NUL. items: COMMAND_ITEMS_MAX of them. */
void command_line_read(const char *line, char *cut, MoveItem *items, const CommandContext *context, LineReading *ret_reading);

/* "…then" and the next line "bxc6, if 14." belong together: whether a conditional line is not finished. */
bool line_goes_on(const char *line);

#endif
