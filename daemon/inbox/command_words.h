/* The words of commands: what is a command word for word, what is nearly one, and what is a greeting.
 *
 * Tables of English in the .c; a further language is a further set of them. Used by command_lines.c only. */
#ifndef EPISTLE_DAEMON_INBOX_COMMAND_WORDS_H
#define EPISTLE_DAEMON_INBOX_COMMAND_WORDS_H

#include "daemon/inbox/command.h"

enum { WORDS_MAX = 24 /* words of a line that can matter; `more` says that there were others */ };

/* A line of at most COMMAND_LINE_MAX bytes, in words, without case. */
typedef struct Words {
    size_t count;
    bool more;
    const char *word[WORDS_MAX]; /* as written but for its case; the line's own full stop or '!' is gone */
    const char *bare[WORDS_MAX]; /* without the punctuation and quotes around it; "" if it was nothing else */
    size_t offset[WORDS_MAX];    /* where the word begins in the line */
    bool asking;                 /* the line ends in '?', which word[] and bare[] no longer hold */
    char held[2 * (COMMAND_LINE_MAX + 1) + 2 * WORDS_MAX];
} Words;

void words_split(const char *line, Words *ret_words);

typedef struct Phrase {
    const char *words; /* its fixed words, one blank between */
    Verb verb;
    unsigned rest;     /* what may stand behind them, see command_words.c */
    unsigned flags;
} Phrase;

enum {
    PHRASE_FREE = 1,     /* free text behind it: a sentence can begin like this, so that below the opening lines it
                            counts only where a paragraph begins */
    PHRASE_QUESTION = 2, /* harmless, may end in '?' */
    PHRASE_NEVER_NEAR = 4,
    PHRASE_BARE_NEAR = 8, /* alone, without what must stand behind it, it is a near-miss */
    PHRASE_TO_END = 16,  /* its text runs to the end of the letter */
};

/* The phrase that the whole line is, or NULL. *ret_fixed is how many words the phrase itself has. */
const Phrase *words_command(const Words *words, size_t *ret_fixed);

/* The command that the line nearly is ("resign"), or NULL. */
const char *words_near(const Words *words);

/* A short line that says resign, accept, withdraw or the like beside names and greetings ("resign, Boris", "Hi, I accept"),
 * or begins or ends with such a word, rightly written or nearly: what it is near to, or NULL. ret_sure: nothing else is in it.
 * A player whose own name is nearly such a word signs with his whole name. */
const char *words_final_near(const Words *words, const CommandContext *context, bool *ret_sure);

/* A command with blanks or points within it ("re sign", "r.e.s.i.g.n", "offerdraw"), or NULL. */
const char *words_apart(const char *line);

/* A command's word without what must stand behind it ("appeal", "set"), or NULL. */
const char *words_unfinished(const Words *words);

/* Nothing but greetings, closings, courtesies and the names given. */
bool words_greeting(const Words *words, const CommandContext *context);

/* A word that says nothing by itself ("well", "I'd", "please", "yes"), or only punctuation. */
bool words_filler(const char *bare);

/* Whether a word is in a list of words with one blank before and behind each. */
bool words_in(const char *list, const char *word);

/* Edits (insert, delete, replace, exchange of two neighbours) between two words; most + 1 if there are more than most. */
int words_distance(const char *left, const char *right, int most);

#endif
