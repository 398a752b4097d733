/* Pgn_parse: what the files of the PGN reader share. Inside core/notation only; others use pgn.h.
 *
 * Looking at bytes: wherever a loop stands, `reader->at < reader->safe` or pgn_more() says that at least one byte is there and
 * PGN_LOOKAHEAD bytes may be looked at (zeros behind the end of the text). Nothing else may move on by more than that. */
#ifndef EPISTLE_CORE_NOTATION_PGN_PARSE_H
#define EPISTLE_CORE_NOTATION_PGN_PARSE_H

#include "core/notation/pgn.h"

/* A text that grows inside the arena, by doubling. */
typedef struct PgnGrowing {
    char *data;
    size_t length, capacity;
} PgnGrowing;

/* One open variation. */
typedef struct PgnFrame {
    Position before, now; /* before its last move (before it, if it has none yet), and behind it */
    bool broken;          /* its moves are no longer read */
} PgnFrame;

/* One game being read. */
typedef struct PgnParse {
    PgnReader *reader;
    Arena *arena;
    PgnGame *game;
    PgnTag *tags;
    Move *moves;
    PgnNote *notes;
    size_t tag_capacity, move_capacity, note_capacity;
    PgnGrowing raw;      /* a comment or value as it stands in the text */
    Position before;     /* before the last move of the main line; kept only for variations */
    PgnFrame *frames;    /* PGN_NESTING_MAX, from the first variation that is kept on */
    size_t depth;        /* of kept variations */
    size_t outermost;    /* note that opened the outermost one */
    int64_t open_line;   /* where */
    bool broken;         /* moves of the main line are no longer read, nor anything kept */
    bool full;           /* the arena is */
    bool ended;
} PgnParse;

/* What a byte can begin. */
enum { PGN_BYTE_WORD, PGN_BYTE_BLANK, PGN_BYTE_LINE, PGN_BYTE_DIGIT, PGN_BYTE_SAN, PGN_BYTE_MARK, PGN_BYTE_OTHER };
extern const uint8_t pgn_bytes[256];

/* --- pgn_text.c --- */

bool pgn_refill(PgnReader *reader);
static inline bool pgn_more(PgnReader *reader) {
    return reader->at < reader->safe || pgn_refill(reader);
}

void pgn_newline(PgnReader *reader);   /* stands at \n, \r or \r\n and passes it */
void pgn_skip_line(PgnReader *reader); /* up to the line's end */
void pgn_skip_blanks(PgnReader *reader); /* line ends, lines with % and byte order marks too */

/* Length of a blank of several bytes at `at` (byte order mark, no-break space), else 0. */
size_t pgn_wide_blank(const char *at);
void pgn_pass_wide_blank(PgnReader *reader, size_t length); /* a line begins behind it, if it did before it */

/* Whether the [ at `at` begins a tag: a letter follows; and whether it certainly does: a name and " follow. */
bool pgn_tag_begins(const char *at);
bool pgn_tag_certain(const char *at, bool *ret_event);

__attribute__((format(printf, 4, 5))) void pgn_fault(PgnParse *parse, PgnFaultKind kind, int64_t line, const char *format, ...);
void pgn_out_of_memory(PgnParse *parse);

/* Appends bytes of the text to parse->raw, as many as PGN_COMMENT_MAX lets. */
void pgn_collect(PgnParse *parse, const char *bytes, size_t length);

/* What was collected as UTF-8 in the arena: Latin-1 mended, control characters made blanks; if `line`, blanks made single and
 * taken off the ends. NULL if the arena is full. */
const char *pgn_collected(PgnParse *parse, bool line);

/* Room for one more than `count` things of a size; false if the arena is full. */
bool pgn_reserve(PgnParse *parse, void **things, size_t size, size_t count, size_t *capacity);

/* --- pgn_tags.c --- */

/* False if the next game's tags begin before any moves of this one. */
bool pgn_read_tags(PgnParse *parse);
void pgn_set_start(PgnParse *parse);
bool pgn_variant_is_chess960(const char *variant);

/* --- pgn_notes.c --- */

/* Adds a note if notes are kept and the game is whole so far; `text` may be NULL. */
void pgn_add_note(PgnParse *parse, PgnNoteKind kind, int number, Move move, const char *text);

void pgn_read_comment(PgnParse *parse, bool keep); /* stands at { or ; */
void pgn_read_nag(PgnParse *parse);                /* at $ */

/* Marks as ! ?? +- = at the end of a word: the length of the word without them and without + and # (0: it is nothing else);
 * and their NAGs added as notes. */
size_t pgn_bare_length(const char *word, size_t length);
void pgn_add_marks(PgnParse *parse, const char *marks, size_t length);

/* --- pgn_variations.c --- */

void pgn_open_variation(PgnParse *parse);     /* stands at ( */
void pgn_close_variation(PgnParse *parse);    /* at ), in a variation that is kept */
void pgn_abandon_variations(PgnParse *parse); /* those open are left out */
void pgn_skip_variations(PgnParse *parse, size_t depth, int64_t line); /* behind so many (, the first in that line */

/* --- pgn_moves.c --- */

/* Stands at a line's end; passes it and what begins the next line. True if that is a tag. */
bool pgn_pass_line(PgnReader *reader);

/* The turn passes to the other side: a null move. The side to move must not be in check. */
void pgn_pass_turn(Position *position);

void pgn_read_moves(PgnParse *parse);

/* --- pgn.c --- */

/* The work limit is passed: the game and the reader end here. */
void pgn_stop(PgnParse *parse);

#endif
