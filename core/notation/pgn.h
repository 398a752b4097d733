/* PGN: games as text, read kindly (import format) and written exactly (export format).
 *
 * The reader takes a text in memory or, piece by piece, from a function of the caller's; it then holds nothing but the caller's
 * buffer and the game at hand, however long the text is, and wherever the pieces are cut makes no difference. It understands
 * comments { } and ; to the line's end, nested variations, NAGs and the marks that stand for them (! ?? +- =), lines beginning
 * with %, byte order marks, all line ends, 0x1A and Latin-1. Move numbers are not looked at.
 *
 * A broken game has faults with their lines; its moves up to the first fault are kept, and reading goes on at the next game: behind
 * the result, or where a line begins a tag. A comment, quotation mark or bracket that is never closed breaks one game only: a
 * comment ends, with a fault, before a line that begins with [Event " or, after an empty line, with any tag.
 *
 * Work is linear in the length of the text whatever it holds: see PgnReader.work. */
#ifndef EPISTLE_CORE_NOTATION_PGN_H
#define EPISTLE_CORE_NOTATION_PGN_H

#include "core/base/arena.h"
#include "core/base/str.h"
#include "core/chess/position.h"

#include <stddef.h>
#include <stdint.h>

enum {
    PGN_TAGS_MAX = 128,      /* of one game; further ones are a fault and dropped */
    PGN_PLIES_MAX = 12000,   /* no game under the 75-move rule is longer */
    PGN_FAULTS_MAX = 8,      /* of one game; the last says that there are more */
    PGN_COMMENT_MAX = 65536, /* bytes of a comment or a tag's value; the rest is cut off. Nobody reads more */
    PGN_NESTING_MAX = 64,    /* variations within variations; annotators use half a dozen */
    PGN_LOOKAHEAD = 256,     /* bytes the reader wants to see at once */
    PGN_BUFFER_LEAST = 4 * PGN_LOOKAHEAD,
};

typedef struct PgnTag {
    const char *name, *value; /* UTF-8, escapes undone, control characters made blanks */
} PgnTag;

typedef enum PgnFaultKind {
    PGN_FAULT_TAG,       /* not written as [Name "value"], or too many */
    PGN_FAULT_FEN,       /* the FEN tag is no position */
    PGN_FAULT_MOVE,      /* no legal move, or not understood: `move` and `black` say which */
    PGN_FAULT_COMMENT,   /* never closed, or closed but not open */
    PGN_FAULT_VARIATION, /* the same, nested too deeply, or (if variations are kept) with an illegal move */
    PGN_FAULT_SIZE,      /* too many moves, or the arena is full */
    PGN_FAULT_WORK,      /* the work limit is reached */
    PGN_FAULT_ENCODING,  /* UTF-16: nothing can be read */
    PGN_FAULT_MORE,      /* the last of PGN_FAULTS_MAX: the rest is not listed */
    PGN_FAULT_COUNT
} PgnFaultKind;

typedef struct PgnFault {
    PgnFaultKind kind;
    int64_t line;   /* in the text, from 1 */
    int move;       /* number of the move, 0 if it is not about one */
    bool black;     /* whose */
    char text[200]; /* a sentence, UTF-8 */
} PgnFault;

/* What annotators add, in the order of the text. */
typedef enum PgnNoteKind {
    PGN_NOTE_COMMENT, /* text. A draw offer, (=), is kept as a comment of just that */
    PGN_NOTE_NAG,     /* number, 0 to 255 */
    PGN_NOTE_OPEN,    /* a variation begins: it takes back the last move before it (before the first one, nothing) */
    PGN_NOTE_MOVE,    /* of a variation; MOVE_NONE: a null move, -- */
    PGN_NOTE_CLOSE,   /* it ends; what follows goes on where it began */
} PgnNoteKind;

typedef struct PgnNote {
    PgnNoteKind kind;
    uint32_t ply;     /* stands behind so many moves of the main line; the same for all of a variation */
    uint8_t number;
    Move move;
    const char *text; /* one line of UTF-8, single blanks, not empty; NULL but for comments */
} PgnNote;

typedef struct PgnGame {
    int64_t line; /* where it begins, from 1 */
    const PgnTag *tags;
    size_t tag_count;
    Position start, end; /* before the first move, behind the last */
    const Move *moves;   /* main line, up to the first that is not legal */
    size_t move_count;
    const PgnNote *notes;
    size_t note_count;
    const char *result; /* "1-0" "0-1" "1/2-1/2" "*"; "" if the game ends without one */
    int64_t result_line;
    bool unchecked;     /* the Variant tag names rules not known here: no move was read, which is no fault */
    size_t fault_count;
    PgnFault faults[PGN_FAULTS_MAX];
} PgnGame;

/* Puts up to `size` (never 0) bytes into `buffer` and returns how many; 0 at the end, and where reading failed, which the
 * caller's context must remember. */
typedef size_t (*PgnSource)(void *context, char *buffer, size_t size);

enum {
    PGN_KEEP_NOTES = 1,      /* comments and NAGs of the main line */
    PGN_KEEP_VARIATIONS = 2, /* variations with all theirs; their moves are checked. Implies PGN_KEEP_NOTES */
};

typedef struct PgnReader {
    /* To be set behind pgn_begin() or pgn_open() if wanted: no limit else. Where `work` passes it the game at hand gets a
     * PGN_FAULT_WORK and is the last. */
    uint64_t work_limit;
    /* Bytes looked at, each as often as it was, and PGN_WORK_READING for each token put to notation_read(). Never more than
     * PGN_WORK_MOST for each byte of the text and PGN_WORK_MOST * PGN_LOOKAHEAD besides. */
    uint64_t work;
    /* The reader's own. */
    unsigned flags;
    const char *at, *safe, *end; /* behind `safe` fewer than PGN_LOOKAHEAD bytes are left, and perhaps more to be had */
    const char *mark;            /* up to here work is counted */
    const char *line_start;      /* where the line begins; NULL: before what is in the buffer */
    int64_t line;
    PgnSource source; /* NULL: the text is in memory */
    void *context;
    char *buffer;
    size_t size;
    bool drained; /* nothing is behind `end` */
    bool begun, stopped;
    Position standard; /* the start array, made once */
    char tail[2 * PGN_LOOKAHEAD]; /* the end of a text in memory, with zeros behind it */
} PgnReader;

enum { PGN_WORK_READING = 256, PGN_WORK_MOST = 512 };

/* Reads a text in memory, which stays the caller's and must stay. */
void pgn_begin(PgnReader *reader, const char *text, size_t length, unsigned flags);

/* Reads from a source through a buffer of the caller's of at least PGN_BUFFER_LEAST bytes (64 kB is good). */
void pgn_open(PgnReader *reader, PgnSource source, void *context, char *buffer, size_t size, unsigned flags);

/* The next game, broken or not; false at the end of the text. All memory of the game belongs to the arena, which may be reset
 * before the next call. A game that does not fit into it ends early and has a fault saying so. The reader must not be moved. */
bool pgn_next(PgnReader *reader, Arena *arena, PgnGame *ret);

/* The value of a tag (name without regard to case), NULL if it is not there. */
const char *pgn_tag(const PgnGame *game, const char *name);

/* The first comment of the main line behind so many moves (0: before the first), NULL if there is none. */
const char *pgn_comment(const PgnGame *game, size_t ply);

/* Looks for the next command [%name value] in a comment from *at on. True if there is one: *at is behind it, and name and value
 * point into the comment (value without the blanks around it, perhaps empty; [%clk 1:23:45] has "clk" and "1:23:45"). */
typedef struct PgnCommand {
    const char *name, *value;
    size_t name_length, value_length;
} PgnCommand;
bool pgn_command(const char **at, PgnCommand *ret);

/* A stable name, "variation": for JSON and tests. */
const char *pgn_fault_name(PgnFaultKind kind);

/* Appends one game in export format (PGN standard 8): the seven tags first (those not given as ? or ????.??.??, Result always as
 * `result`), then the others in the order of ASCII, each name once, first come first served; among them SetUp and FEN if `start`
 * is not the standard array, and Variant "Chess960" where castling is Chess960's (given ones are not looked at then, nor is a
 * Variant that would wrongly say so); moves in SAN and notes on lines of at most 79 bytes, unless one word is longer; an empty
 * line behind. A } in a comment becomes ), control characters blanks.
 *
 * Of the game, tags, start, moves, notes and result are looked at; the latter may be NULL or "" for "*". False if a move or a
 * note is impossible (a variation left open, an illegal move in it), a tag's name is none, the result is none of the four, or
 * `out` is full; out may then hold a part.
 *
 * What is read back is the same game, and written again the same bytes. */
bool pgn_write(Str *out, const PgnGame *game);

#endif
