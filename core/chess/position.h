/* Position: where the pieces stand, whose turn it is, and what of the past still matters.
 *
 * A value: copy it, compare it, put it on the stack. A move makes a new position from an old
 * one (position_move); there is no undo. It carries no hash, since most positions of a replayed
 * game or a search are never asked for one: position_key() computes it. Squares are 0–63, a1 = 0,
 * b1 = 1, h8 = 63. A square set ("bitboard") has bit n for square n.
 *
 * A Position is always one that fen_read() or position_start() made, or what legal moves made
 * of it: both sides have exactly one king and the side that is not to move is not in check.
 * The functions here do not check that again. */
#ifndef EPISTLE_CORE_CHESS_POSITION_H
#define EPISTLE_CORE_CHESS_POSITION_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { WHITE, BLACK } Colour;

/* The kinds of men. A piece is kind | colour << 3: white 1–6, black 9–14, 0 an empty square. */
enum { EMPTY = 0, PAWN = 1, KNIGHT, BISHOP, ROOK, QUEEN, KING, KIND_COUNT };

enum { NO_SQUARE = -1 };

/* A move: from (bits 0–5), to (6–11), promotion kind (12–14, 0 if none). Castling is the king
 * taking his own rook, in standard chess too. Build it with move_make(). */
typedef uint16_t Move;
enum { MOVE_NONE = 0 };

typedef struct Position Position;
struct Position {
    uint64_t sides[2];          /* men of each colour */
    uint64_t kinds[KIND_COUNT]; /* men of each kind; kinds[EMPTY] unused, always 0 */
    uint64_t castling;          /* rooks that may still castle with their king */
    int32_t fullmove;           /* number of the move, from 1; grows after Black's moves */
    uint16_t halfmove;          /* plies since the last pawn move or capture, 65535 at most */
    int8_t en_passant;          /* square behind the pawn, only if a capture there is legal; else NO_SQUARE */
    uint8_t turn;               /* Colour */
    bool chess960;              /* castling is written as king takes rook, read that way too */
};

static inline Move move_make(int from, int to, int promotion) {
    return (Move)(from | to << 6 | promotion << 12);
}
static inline int move_from(Move move) { return move & 63; }
static inline int move_to(Move move) { return move >> 6 & 63; }
static inline int move_promotion(Move move) { return move >> 12; }

static inline int square_make(int file, int rank) { return rank * 8 + file; } /* both 0–7 */
static inline int square_file(int square) { return square & 7; }
static inline int square_rank(int square) { return square >> 3; }

static inline int piece_kind(int piece) { return piece & 7; }
static inline Colour piece_colour(int piece) { return (Colour)(piece >> 3); } /* not of EMPTY */
static inline int piece_make(Colour colour, int kind) { return kind | (int)colour << 3; }

/* The start array of standard chess. */
void position_start(Position *ret);

/* A Chess960 start array by its number, 0–959 (Scharnagl; 518 is the standard array). False
 * for other numbers. The number of a start array, or -1 if the position is none. */
bool position_start960(int number, Position *ret);
int position_number960(const Position *position);

static inline Colour position_turn(const Position *position) { return (Colour)position->turn; }
static inline int position_fullmove(const Position *position) { return position->fullmove; }
static inline int position_halfmove(const Position *position) { return position->halfmove; }
static inline int position_en_passant(const Position *position) { return position->en_passant; }

/* The piece on a square 0–63: kind | colour << 3, EMPTY (0) if none. */
int position_piece_at(const Position *position, int square);

/* Squares of the men of one colour and kind; the square of the king. */
static inline uint64_t position_men(const Position *position, Colour colour, int kind) {
    return position->sides[colour] & position->kinds[kind];
}
static inline int position_king(const Position *position, Colour colour) {
    return __builtin_ctzll(position_men(position, colour, KING));
}

/* Men of `by` that attack the square, with the occupied squares as given. */
uint64_t position_attackers(const Position *position, int square, Colour by, uint64_t occupied);

bool position_in_check(const Position *position);       /* the side to move */
uint64_t position_checkers(const Position *position);   /* by which men */

/* The position after a legal move. `after` and `before` may be the same. */
void position_move(Position *after, const Position *before, Move move);

/* True of moves of this position, legal or pseudo-legal. */
bool position_is_castling(const Position *position, Move move);
bool position_is_en_passant(const Position *position, Move move);
bool position_is_capture(const Position *position, Move move); /* en passant too, castling not */

/* A hash of all that repetition is about (Law 9.2): men, turn, castling rights, and an en
 * passant capture only where it is legal. Counters do not matter. The same on every machine
 * and in every version. Computed anew each time, in some tens of nanoseconds. position_same() compares the thing itself. */
uint64_t position_key(const Position *position);
bool position_same(const Position *left, const Position *right);

/* For those who set up men by hand (fen_read): lays a piece on an empty square; then
 * position_settle() drops an en passant square nobody can use. */
void position_put(Position *position, int square, int piece);
void position_settle(Position *position);

/* Whether the pawn on `from` (it attacks the square behind the enemy pawn that went two squares)
 * may capture en passant on `to` without leaving its king in check. */
bool position_en_passant_safe(const Position *position, int from, int to);

/* Where king and rook stand after castling with the rook on this square. */
void castling_targets(const Position *position, Move castling, int *ret_king, int *ret_rook);

#endif
