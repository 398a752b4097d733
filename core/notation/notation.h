/* Notation: moves as people and programs write them.
 *
 * One reader for every way of writing, and it never guesses: either exactly one legal move is
 * meant, or the Reading says what stood in the way, so that a letter can say it in words.
 *
 * Whatever is written here is read back as the same move, in the language it was written in with
 * READ_OWN_ONLY; without that flag, and in UCI with it, English letters may make it FAULT_TWO_LANGUAGES, never another
 * move. No two legal moves of a position are written alike in any notation. */
#ifndef EPISTLE_CORE_NOTATION_NOTATION_H
#define EPISTLE_CORE_NOTATION_NOTATION_H

#include "core/chess/position.h"
#include "core/notation/language.h"

#include <stddef.h>

typedef enum {
    NOTATION_SAN,      /* Nf3 exd6 e8=Q+ O-O#   (PGN export form, 8.2.3) */
    NOTATION_LONG,     /* Ng1-f3 e5xd6 e7-e8=Q+ O-O# */
    NOTATION_UCI,      /* g1f3 e7e8q e1g1; in Chess960 castling is king takes rook */
    NOTATION_NUMERIC,  /* ICCF: 7163, 57581 (1 queen 2 rook 3 bishop 4 knight), 5171; in Chess960 castling goes
                          to the rook's square, since the king's may be a king's move or none */
    NOTATION_FIGURINE, /* SAN with the mover's figures: U+2654 … for White, U+265A … for Black */
    NOTATION_SPOKEN,   /* "knight Felix three", "Bauer Eva vier schlaegt David fuenf, Schach": in full squares
                          wherever SAN would name a file or rank */
    NOTATION_COUNT
} Notation;

/* "san" "long" "uci" "numeric" "figurine" "spoken": for verbs, JSON and tests. */
const char *notation_name(Notation notation);

enum { NOTATION_MAX = 160 }; /* bytes with the NUL; spoken Russian takes the most, about 120 */

/* The move must be legal. */
void notation_write(const Position *position, Move move, Notation notation, char ret[NOTATION_MAX]);

/* SAN and long form with another language's letters, spoken form with its words (NULL: English); a
 * language without words of its own speaks those of Law E. The others are the same in all. */
void notation_write_in(const Position *position, Move move, Notation notation, const MoveLanguage *language,
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
    FAULT_NOT_STRICT,  /* with READ_STRICT only: a move, but not in export form; candidates: what it means */
    /* with READING_AMBIGUOUS */
    FAULT_SEVERAL_MEN,        /* more than one man can: piece, to */
    FAULT_BISHOP_OR_PAWN,     /* Bxc3 at the start of a line, the phone's capital or a bishop: piece, to, from_file. In other
                                 languages the piece is another one (German Dxe5: queen or d-pawn) */
    FAULT_TWO_LANGUAGES,      /* own letters and English ones both make sense */
    /* with READING_ILLEGAL */
    FAULT_INCOMPLETE,         /* a part is missing (Nf): piece */
    FAULT_NO_SUCH_SQUARE,     /* Nf9: piece */
    FAULT_UNKNOWN_LETTER,     /* Sf3: to; candidates: what it means in other languages */
    FAULT_SQUARE_EMPTY,       /* from; also where a man is said to be taken and none is there */
    FAULT_OPPONENTS_PIECE,    /* from, piece as on the board */
    FAULT_OTHER_PIECE,        /* Ng1-f3 but on g1 stands another; or "takes the bishop on f3" and it is a knight:
                                 from, piece as named, cause = from, cause_piece */
    FAULT_NO_PIECE_NAMED,     /* Nbd2 without a knight on the b-file, or no knight at all: piece, from_file or
                                 from_rank as named (-1: neither) */
    FAULT_CANNOT_REACH,       /* no such man can get there: piece, to; from if only one was meant */
    FAULT_OWN_PIECE,          /* an own man stands there, perhaps he himself: piece, to, cause = to, cause_piece; from if known */
    FAULT_PATH_BLOCKED,       /* piece, from, to, cause, cause_piece */
    FAULT_PAWN_BLOCKED,       /* from, to, cause, cause_piece: of two squares the first that is not empty */
    FAULT_PAWN_TWO_SQUARES,   /* two squares from another place than the first: from, to */
    FAULT_PAWN_BACKWARDS,     /* from, to */
    FAULT_PAWN_STRAIGHT,      /* pawns do not capture straight ahead: from, to, cause = to, cause_piece */
    FAULT_NOTHING_TO_CAPTURE, /* a pawn goes slantwise only to capture: from, to */
    FAULT_EN_PASSANT_LATE,    /* as above, beside an enemy pawn that did not just go two squares: from, to, cause */
    FAULT_EN_PASSANT_EXPOSED, /* both pawns leave their squares, and so the own king would be in check: from, to,
                                 cause, cause_piece (who checks) */
    FAULT_KING_EXPOSED,       /* own king would be in check: piece, from, to, cause, cause_piece (who checks) */
    FAULT_STILL_IN_CHECK,     /* the king is in check and this does not end it: same */
    FAULT_KING_ATTACKED,      /* the king would step into an attack: same */
    FAULT_CASTLING_KING_AWAY, /* the king does not stand where he began: from (where he is) */
    FAULT_CASTLING_NO_ROOK,   /* nor the rook: from (the king), to (the rook's first square; NO_SQUARE in Chess960) */
    FAULT_CASTLING_ROOK_MOVED, /* the king may castle on the other side, so it is the rook: from, cause, cause_piece */
    FAULT_CASTLING_NO_RIGHT,  /* both stand there, but one has moved, or the game began so: from, cause, cause_piece */
    FAULT_CASTLING_IN_CHECK,  /* cause, cause_piece */
    FAULT_CASTLING_THROUGH,   /* a square the king crosses is attacked: to (that square), cause, cause_piece */
    FAULT_CASTLING_INTO,      /* the same of where he ends */
    FAULT_CASTLING_BLOCKED,   /* in the way of the king or the rook: from, cause, cause_piece */
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
    Move candidates[READING_CANDIDATES_MAX]; /* legal, sorted by UCI name; further ones are left out */
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
    READ_OWN_ONLY = 2,   /* the player has said which letters he uses: English ones do not count, but for what
                            a pawn becomes in UCI (e7e8q), which is no language's: asked where his differ */
    READ_SPOKEN = 4,     /* words are understood too; not where prose may stand: "king to e2" is either */
    READ_STRICT = 8,     /* the export form of PGN (8.2.3) byte by byte, as proofs and archives have it, or else
                            FAULT_NOT_STRICT where it is a move all the same; other flags and languages do not count */
};

/* text: one move, UTF-8, untrusted, without move number or draw offer. Blanks around it, between
 * its parts ("e2 e4", "O - O") and marks behind it (+ # ++ ! ? e.p. mate $1 and a full stop) are
 * allowed; missing or wrong marks do not matter. Letters are English ones.
 * Castling may be written as the king's move in full (e1g1), in Chess960 as the king taking his rook
 * or as the king going two squares or more to where castling takes him, short forms (Kxh1, Kg1) too. Spoken moves, in the words of
 * Law E or of the language, may name the man that is taken; if they do, it counts.
 * notation_read_in(): `own` letters first (may be NULL); where the own reading is not even
 * pseudo-legal, English ones; where both are pseudo-legal and differ, READING_AMBIGUOUS. A capital that
 * is an own piece (German Dxe5) is the phone's at the start of a line only, not English for the d-pawn.
 * "OO", "OOO", "00" and "000" are castling; lower-case o needs its dashes. */
void notation_read(const Position *position, const char *text, unsigned flags, Reading *ret);
void notation_read_in(const Position *position, const char *text, unsigned flags, const MoveLanguage *own,
                      Reading *ret);

/* Whether a token is shaped like a move, playable anywhere or not: exactly where notation_read_in() with
 * these flags (READ_STRICT aside) would say anything but NOT_A_MOVE, and for descriptive notation. False
 * for words, names, dates, "b", "12", "2026", "be". notation_shaped(): English letters, no flags. */
bool notation_shaped(const char *text);
bool notation_shaped_in(const char *text, unsigned flags, const MoveLanguage *own);

/* Splits a move number off: "12.Nf3", "12. Nf3", "12... Nf3", "12…Nf3", "12) Nf3", "12 Nf3", and
 * dots alone ("...Nf3", Black, number 0). True if there was one: *ret_rest is behind it and its
 * blanks (perhaps empty), *ret_black whether dots say Black. False, and nothing set, otherwise:
 * "5254" is a move, "12" alone is no number here. Numbers have at most four digits, none is 0. */
bool notation_number(const char *text, const char **ret_rest, int *ret_number, bool *ret_black);

/* A stable name, "path_blocked": for templates, JSON and tests. */
const char *notation_fault_name(MoveFault fault);

#endif
