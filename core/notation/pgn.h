/* PGN: games as text, read kindly (import format) and written exactly (export format).
 *
 * The reader takes a whole file in memory and gives one game after another. Comments and
 * semicolons, nested variations (skipped), NAGs, lines beginning with %, BOM, CRLF, 0x1A and
 * Latin-1 are all understood. A broken game is reported with its line; reading goes on at the
 * next one. Time is linear in the length of the text whatever it holds. */
#ifndef EPISTLE_CORE_NOTATION_PGN_H
#define EPISTLE_CORE_NOTATION_PGN_H

#include "core/base/arena.h"
#include "core/base/str.h"
#include "core/chess/position.h"

#include <stddef.h>

enum {
    PGN_TAGS_MAX = 128,    /* of one game; further ones are an error and dropped */
    PGN_PLIES_MAX = 12000, /* no game under the 75-move rule is longer */
    PGN_FAULTS_MAX = 8,    /* kept for one game; all are counted */
};

typedef struct PgnTag {
    const char *name, *value; /* UTF-8, escapes undone */
} PgnTag;

typedef struct PgnFault {
    int line;       /* in the text, from 1 */
    int move;       /* number of the move, 0 if it is not about one */
    bool black;     /* whose */
    char text[200]; /* a sentence */
} PgnFault;

/* All memory belongs to the arena given to pgn_next(). */
typedef struct PgnGame {
    int line; /* where it begins, from 1 */
    PgnTag *tags;
    size_t tag_count;
    Position start;
    Move *moves; /* main line, up to the first that is not legal */
    size_t move_count;
    const char **comments; /* one for each move, NULL if there is none; several are joined by a blank */
    const char *comment;   /* before the first move; NULL if none */
    const char *result;    /* "1-0" "0-1" "1/2-1/2" "*"; "" if the text ends without one */
    PgnFault faults[PGN_FAULTS_MAX];
    size_t fault_count; /* may be more than PGN_FAULTS_MAX */
} PgnGame;

typedef struct PgnReader {
    const char *text;
    size_t length, at;
    int line;
    bool no_brace_ahead; /* an unclosed { was met: none of the later ones is closed either */
} PgnReader;

void pgn_begin(PgnReader *reader, const char *text, size_t length); /* text stays the caller's */

/* The next game, broken or not; false at the end of the text. A game that does not fit into
 * the arena ends early and has a fault saying so. */
bool pgn_next(PgnReader *reader, Arena *arena, PgnGame *ret);

/* The value of a tag (name without regard to case), NULL if it is not there. */
const char *pgn_tag(const PgnGame *game, const char *name);

/* Appends one game in export format: the seven tags first (those not given as ? or ????.??.??,
 * Result always as `result`), SetUp and FEN if `start` is not the standard array (given ones are
 * ignored), the rest in the alphabet's order; moves in SAN with lines under 80 columns; an empty
 * line behind. comments may be NULL, and each of them. A } in a comment becomes ). The result may
 * be "*". False if a move is illegal, a tag's name is none, or `out` is full; out may then hold a
 * part. */
bool pgn_write(Str *out, const PgnTag *tags, size_t tag_count, const Position *start, const Move *moves,
               size_t move_count, const char *const *comments, const char *result);

#endif
