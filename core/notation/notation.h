/* Notation: moves as people and programs write them.
 *
 * One reader for every way of writing, and it never guesses: either exactly one legal move is
 * meant, or the Reading says what stood in the way, so that a letter can say it in words. */
#ifndef EPISTLE_CORE_NOTATION_NOTATION_H
#define EPISTLE_CORE_NOTATION_NOTATION_H

#include "core/chess/position.h"

#include <stddef.h>

typedef enum {
    NOTATION_SAN,    /* Nf3 exd6 e8=Q+ O-O#   (PGN export form) */
    NOTATION_LONG,   /* Ng1-f3 e5xd6 e7-e8=Q+ O-O# */
    NOTATION_UCI,    /* g1f3 e7e8q e1g1; in Chess960 castling is king takes rook */
    NOTATION_NUMERIC /* ICCF: 7163, 57581 (1 queen 2 rook 3 bishop 4 knight), 5171; Chess960 as UCI */
} Notation;

enum { NOTATION_MAX = 48 };

/* The move must be legal. */
void notation_write(const Position *position, Move move, Notation notation, char ret[NOTATION_MAX]);

/* The piece letters of a language, UTF-8, indexed by kind (PAWN … KING). */
typedef struct PieceLetters {
    const char *language; /* "de" */
    const char *letters[KIND_COUNT];
} PieceLetters;

/* By language code (en de fr es so far, "de-AT" too); NULL if not known. */
const PieceLetters *notation_letters(const char *language);

/* SAN or long form with another language's letters (NULL: English); others as above. */
void notation_write_in(const Position *position, Move move, Notation notation, const PieceLetters *letters,
                       char ret[NOTATION_MAX]);

typedef enum {
    READING_MOVE,      /* exactly one legal move: `move` */
    READING_AMBIGUOUS, /* several meanings: `candidates` holds the legal ones (perhaps only one, where the
                          other meaning is illegal), `fault` why it is asked */
    READING_ILLEGAL,   /* shaped like a move, not playable: `fault`; `candidates` what may have been meant */
    READING_NOT_A_MOVE /* not shaped like one; fault FAULT_DESCRIPTIVE if it is English descriptive notation */
} ReadingKind;

/* Why. Behind each: which of from, to, cause, piece, cause_piece are filled in the Reading. */
typedef enum MoveFault {
    FAULT_NONE,
    /* with READING_NOT_A_MOVE */
    FAULT_UNSHAPED,
    FAULT_DESCRIPTIVE, /* P-K4 */
    /* with READING_AMBIGUOUS */
    FAULT_SEVERAL_MEN,        /* more than one man can: piece, to */
    FAULT_BISHOP_OR_PAWN,     /* Bxc3 at the start of a line, the phone's capital or a bishop: piece, to. In other
                                 languages the piece is another one (German Dxe5: queen or d-pawn) */
    FAULT_TWO_LANGUAGES,      /* own letters and English ones both make sense */
    /* with READING_ILLEGAL */
    FAULT_INCOMPLETE,         /* a part is missing (Nf): piece */
    FAULT_NO_SUCH_SQUARE,     /* Nf9: piece */
    FAULT_UNKNOWN_LETTER,     /* Sf3: to; candidates: what it means in other languages */
    FAULT_SQUARE_EMPTY,       /* from */
    FAULT_OPPONENTS_PIECE,    /* from, piece as on the board */
    FAULT_OTHER_PIECE,        /* Ng1-f3 but on g1 stands another: from, piece as named, cause = from, cause_piece */
    FAULT_NO_PIECE_NAMED,     /* Nbd2 without a knight on the b-file, or no knight at all: piece, from_file or
                                 from_rank as named (-1: neither) */
    FAULT_CANNOT_REACH,       /* no such man can get there: piece, to; from if only one was meant */
    FAULT_OWN_PIECE,          /* an own man stands there: piece, to, cause = to, cause_piece; from if known */
    FAULT_PATH_BLOCKED,       /* piece, from, to, cause, cause_piece */
    FAULT_PAWN_BLOCKED,       /* from, to, cause, cause_piece */
    FAULT_PAWN_STRAIGHT,      /* pawns do not capture straight ahead: from, to, cause = to, cause_piece */
    FAULT_NOTHING_TO_CAPTURE, /* a pawn goes slantwise only to capture: from, to */
    FAULT_EN_PASSANT_LATE,    /* as above, beside an enemy pawn that did not just come: from, to, cause */
    FAULT_KING_EXPOSED,       /* own king would be in check: piece, from, to, cause, cause_piece (who checks) */
    FAULT_STILL_IN_CHECK,     /* the king is in check and this does not end it: same */
    FAULT_KING_ATTACKED,      /* the king would step into an attack: same */
    FAULT_CASTLING_NO_RIGHT,  /* king or rook has moved, or there is no such rook */
    FAULT_CASTLING_IN_CHECK,  /* cause, cause_piece */
    FAULT_CASTLING_THROUGH,   /* a square the king crosses is attacked: to (that square), cause, cause_piece */
    FAULT_CASTLING_INTO,      /* the same of where he ends */
    FAULT_CASTLING_BLOCKED,   /* cause, cause_piece */
    FAULT_PROMOTION_MISSING,  /* to; candidates: the four */
    FAULT_PROMOTION_PIECE,    /* not to king, pawn, or an unknown letter: to; candidates: the four */
    FAULT_PROMOTION_RANK,     /* a promotion where none is: piece, to; candidates: the move without it */
    FAULT_WRONG_TURN,         /* it is a move of the other side: piece, from, to */
    FAULT_COUNT
} MoveFault;

enum { READING_CANDIDATES_MAX = 16 };

typedef struct Reading {
    ReadingKind kind;
    MoveFault fault;
    Move move; /* MOVE_NONE unless READING_MOVE */
    Move candidates[READING_CANDIDATES_MAX];
    int candidate_count;
    int from, to, cause;         /* squares, NO_SQUARE where not known */
    int from_file, from_rank;    /* as named for disambiguation, 0–7 or -1 */
    int piece, cause_piece;      /* as position_piece_at(), EMPTY where not known */
    bool capture_mark_wrong;     /* written as a capture and is none */
    bool check_mark_wrong;       /* + or # where there is none */
    Notation notation;           /* how it was written (of READING_MOVE); SAN for short forms */
} Reading;

enum {
    READ_LINE_START = 1, /* a capital may be the phone's: Bxc3 may be the b-pawn */
    READ_OWN_ONLY = 2,   /* the player has said which letters he uses: English ones do not count */
};

/* text: one move, UTF-8, untrusted, without move number or draw offer. Blanks around it, between
 * its parts ("e2 e4", "O - O") and marks behind it (+ # ++ ! ? e.p. mate $1 and a full stop) are
 * allowed; missing or wrong marks do not matter. Letters are English ones.
 * notation_read_in(): `own` letters first (may be NULL); where the own reading is not even
 * pseudo-legal, English ones; where both are pseudo-legal and differ, READING_AMBIGUOUS.
 * "OO", "OOO", "00" and "000" are castling; lower-case o needs its dashes. */
void notation_read(const Position *position, const char *text, unsigned flags, Reading *ret);
void notation_read_in(const Position *position, const char *text, unsigned flags, const PieceLetters *own,
                      Reading *ret);

/* Whether a token is shaped like a move, playable anywhere or not: exactly where notation_read()
 * would say anything but NOT_A_MOVE, and for descriptive notation. False for words, names, dates,
 * "b", "12", "2026", "be". notation_shaped_in() knows the letters of `own` too. */
bool notation_shaped(const char *text);
bool notation_shaped_in(const char *text, const PieceLetters *own);

/* Splits a move number off: "12.Nf3", "12. Nf3", "12... Nf3", "12…Nf3", "12) Nf3", "12 Nf3", and
 * dots alone ("...Nf3", Black, number 0). True if there was one: *ret_rest is behind it and its
 * blanks (perhaps empty), *ret_black whether dots say Black. False, and nothing set, otherwise:
 * "5254" is a move, "12" alone is no number here. Numbers have at most four digits, none is 0. */
bool notation_number(const char *text, const char **ret_rest, int *ret_number, bool *ret_black);

/* A stable name, "path_blocked": for templates, JSON and tests. */
const char *notation_fault_name(MoveFault fault);

#endif
