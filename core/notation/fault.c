#include "core/notation/fault.h"

#include "core/chess/attacks.h"

/* Why one man cannot go to one square. */
typedef struct Obstacle {
    MoveFault fault; /* FAULT_NONE: nothing but promotion stands in the way */
    int cause;
} Obstacle;

static Colour other(Colour colour) {
    return colour == WHITE ? BLACK : WHITE;
}

static uint64_t all_men(const Position *position) {
    return position->sides[WHITE] | position->sides[BLACK];
}

static bool holds(uint64_t set, int square) {
    return (set & square_set(square)) != 0;
}

/* The one of `squares` nearest to `from` on a line. */
static int nearest(uint64_t squares, int from) {
    return set_first(squares) > from ? set_first(squares) : 63 - __builtin_clzll(squares);
}

/* What the king of the mover would suffer; the move is right in every other way. */
static Obstacle king_obstacle(const Position *position, Colour us, int from, int to) {
    bool king_moves = position_king(position, us) == from;
    int king = king_moves ? to : position_king(position, us);
    uint64_t occupied = (all_men(position) & ~square_set(from)) | square_set(to);
    uint64_t gone = square_set(to);
    if (holds(position->kinds[PAWN], from) && to == position->en_passant) {
        gone |= square_set(to ^ 8);
        occupied &= ~square_set(to ^ 8);
    }
    uint64_t attackers = position_attackers(position, king, other(us), occupied) & ~gone;
    if (attackers == 0)
        return (Obstacle){ FAULT_NONE, NO_SQUARE };
    if (king_moves)
        return (Obstacle){ FAULT_KING_ATTACKED, set_first(attackers) };
    uint64_t before = position_attackers(position, king, other(us), all_men(position));
    if (attackers & before)
        return (Obstacle){ FAULT_STILL_IN_CHECK, set_first(attackers & before) };
    return (Obstacle){ FAULT_KING_EXPOSED, set_first(attackers) };
}

/* Slantwise onto an empty square: too late, or nothing there at all. */
static Obstacle slant_obstacle(const Position *position, Colour us, int from, int to) {
    if (to == position->en_passant)
        return king_obstacle(position, us, from, to);
    int beside = to ^ 8;
    int rank = us == WHITE ? 4 : 3;
    if (square_rank(from) != rank || !holds(position_men(position, other(us), PAWN), beside))
        return (Obstacle){ FAULT_NOTHING_TO_CAPTURE, NO_SQUARE };
    /* A position does not keep an en passant square where the capture exposes the king, so
     * that reason comes first: it holds in either case. */
    if (!position_en_passant_safe(position, from, to)) {
        uint64_t occupied = (all_men(position) & ~square_set(from) & ~square_set(beside)) | square_set(to);
        uint64_t attackers = position_attackers(position, position_king(position, us), other(us), occupied);
        return (Obstacle){ FAULT_KING_EXPOSED, set_first(attackers & ~square_set(beside)) };
    }
    return (Obstacle){ FAULT_EN_PASSANT_LATE, beside };
}

static Obstacle pawn_obstacle(const Position *position, Colour us, int from, int to, bool capture) {
    int forward = us == WHITE ? 8 : -8;
    int files = square_file(to) - square_file(from), step = to - from;
    uint64_t occupied = all_men(position);
    bool at_home = square_rank(from) == (us == WHITE ? 1 : 6);
    if (files == 0 && (step == forward || (step == 2 * forward && at_home))) {
        if (step == 2 * forward && holds(occupied, from + forward))
            return (Obstacle){ FAULT_PAWN_BLOCKED, from + forward };
        if (holds(occupied, to))
            return (Obstacle){ capture ? FAULT_PAWN_STRAIGHT : FAULT_PAWN_BLOCKED, to };
        return king_obstacle(position, us, from, to);
    }
    if ((files == 1 || files == -1) && step - files == forward) {
        if (holds(position->sides[us], to))
            return (Obstacle){ FAULT_OWN_PIECE, to };
        return holds(occupied, to) ? king_obstacle(position, us, from, to) : slant_obstacle(position, us, from, to);
    }
    return (Obstacle){ FAULT_CANNOT_REACH, NO_SQUARE };
}

static Obstacle obstacle(const Position *position, int from, int to, bool capture) {
    int piece = position_piece_at(position, from);
    Colour us = piece_colour(piece);
    if (piece_kind(piece) == PAWN)
        return pawn_obstacle(position, us, from, to, capture);
    if (!holds(attacks_of(piece_kind(piece), from, 0), to))
        return (Obstacle){ FAULT_CANNOT_REACH, NO_SQUARE };
    uint64_t between = line_between(from, to) & all_men(position);
    if (piece_kind(piece) != KNIGHT && between != 0)
        return (Obstacle){ FAULT_PATH_BLOCKED, nearest(between, from) };
    if (holds(position->sides[us], to))
        return (Obstacle){ FAULT_OWN_PIECE, to };
    return king_obstacle(position, us, from, to);
}

/* The nearer a man is to being able, the more his reason tells. */
static int telling(MoveFault fault) {
    switch (fault) {
    case FAULT_CANNOT_REACH: return 0;
    case FAULT_NOTHING_TO_CAPTURE: return 1;
    case FAULT_OWN_PIECE: return 2;
    case FAULT_PATH_BLOCKED: return 3;
    case FAULT_PAWN_BLOCKED:
    case FAULT_PAWN_STRAIGHT: return 4;
    default: return 5;
    }
}

static void set_cause(const Position *position, int cause, Reading *ret) {
    ret->cause = cause;
    if (cause != NO_SQUARE)
        ret->cause_piece = position_piece_at(position, cause);
}

static void set_obstacle(const Position *position, int from, Obstacle found, Reading *ret) {
    ret->fault = found.fault;
    ret->from = from;
    ret->piece = position_piece_at(position, from);
    set_cause(position, found.cause, ret);
}

/* Men of one side that the token may name. */
static uint64_t men_named(const Position *position, Colour us, const Shape *shape) {
    uint64_t men = shape->man == EMPTY ? position->sides[us] : position_men(position, us, shape->man);
    if (shape->from_file >= 0)
        men &= line_file(shape->from_file);
    if (shape->from_rank >= 0)
        men &= line_rank(8 * shape->from_rank);
    if (shape->man == PAWN && shape->from_file < 0) { /* "e4" is a move on its file, "xe4" to it */
        uint64_t file = line_file(shape->to_file);
        men &= shape->capture ? (file & ~FILE_H) << 1 | (file & ~FILE_A) >> 1 : file;
    }
    return men;
}

/* A man of the side not to move who could go there; NO_SQUARE if none. */
static int opponent_could(const Position *position, const Shape *shape, int to) {
    uint64_t men = men_named(position, other(position_turn(position)), shape);
    for (; men != 0; men &= men - 1)
        if (obstacle(position, set_first(men), to, shape->capture).fault == FAULT_NONE)
            return set_first(men);
    return NO_SQUARE;
}

static void wrong_turn(const Position *position, int from, Reading *ret) {
    ret->fault = FAULT_WRONG_TURN;
    ret->from = from;
    ret->piece = position_piece_at(position, from);
    ret->cause = NO_SQUARE;
    ret->cause_piece = EMPTY;
}

/* Nf3 and the like: the best reason among the men of that kind. */
static void find_short(const Position *position, const Shape *shape, int to, Reading *ret) {
    Colour us = position_turn(position);
    uint64_t men = men_named(position, us, shape);
    bool any_file = shape->man == PAWN && shape->from_file < 0 && shape->capture;
    ret->fault = men == 0 && !any_file ? FAULT_NO_PIECE_NAMED : FAULT_CANNOT_REACH;
    int best = -1;
    bool alone = set_count(men) == 1;
    for (uint64_t rest = men; rest != 0; rest &= rest - 1) {
        Obstacle found = obstacle(position, set_first(rest), to, shape->capture);
        if (telling(found.fault) <= best)
            continue;
        best = telling(found.fault);
        set_obstacle(position, set_first(rest), found, ret);
    }
    if (best <= 0) {
        ret->from = alone && best == 0 ? set_first(men) : NO_SQUARE;
        ret->piece = piece_make(us, shape->man);
        int opponent = opponent_could(position, shape, to);
        if (opponent != NO_SQUARE)
            wrong_turn(position, opponent, ret);
    }
    /* A pawn that cannot reach the square is told as such where there is no pawn on the file. */
    if (ret->fault == FAULT_NO_PIECE_NAMED && shape->man == PAWN && shape->from_file < 0)
        ret->from_file = shape->to_file;
}

/* Ng1-f3, g1f3: the square is named, so the fault is about it. */
static void find_long(const Position *position, const Shape *shape, int from, int to, Reading *ret) {
    Colour us = position_turn(position);
    int piece = position_piece_at(position, from);
    ret->from = from;
    ret->piece = piece;
    if (piece == EMPTY) {
        ret->fault = FAULT_SQUARE_EMPTY;
        return;
    }
    if (piece_colour(piece) != us) {
        bool named = shape->man == EMPTY || shape->man == piece_kind(piece);
        bool could = named && obstacle(position, from, to, shape->capture).fault == FAULT_NONE;
        ret->fault = could ? FAULT_WRONG_TURN : FAULT_OPPONENTS_PIECE;
        return;
    }
    if (shape->man != EMPTY && shape->man != piece_kind(piece)) {
        ret->fault = FAULT_OTHER_PIECE;
        set_cause(position, from, ret);
        ret->piece = piece_make(us, shape->man);
        return;
    }
    set_obstacle(position, from, obstacle(position, from, to, shape->capture), ret);
}

static void find_castling(const Position *position, bool king_side, Reading *ret) {
    Colour us = position_turn(position);
    int king = position_king(position, us);
    uint64_t side = king_side ? ~(square_set(king) - 1) : square_set(king) - 1;
    uint64_t right = position->castling & position->sides[us] & side;
    ret->piece = piece_make(us, KING);
    ret->from = king;
    if (right == 0) {
        ret->fault = FAULT_CASTLING_NO_RIGHT;
        return;
    }
    uint64_t checkers = position_checkers(position);
    if (checkers != 0) {
        ret->fault = FAULT_CASTLING_IN_CHECK;
        set_cause(position, set_first(checkers), ret);
        return;
    }
    int rook = set_first(right), king_to, rook_to;
    castling_targets(position, move_make(king, rook, EMPTY), &king_to, &rook_to);
    uint64_t others = all_men(position) & ~square_set(king) & ~square_set(rook);
    uint64_t king_way = line_between(king, king_to) | square_set(king_to);
    uint64_t blocked = (king_way | line_between(rook, rook_to) | square_set(rook_to)) & others;
    if (blocked != 0) {
        ret->fault = FAULT_CASTLING_BLOCKED;
        set_cause(position, king_side ? set_first(blocked) : 63 - __builtin_clzll(blocked), ret);
        return;
    }
    for (uint64_t way = king_way & ~square_set(king_to); way != 0; way &= way - 1) {
        uint64_t attackers = position_attackers(position, set_first(way), other(us), all_men(position) & ~square_set(king));
        if (attackers == 0)
            continue;
        ret->fault = FAULT_CASTLING_THROUGH;
        ret->to = set_first(way);
        set_cause(position, set_first(attackers), ret);
        return;
    }
    uint64_t occupied = others | square_set(king_to) | square_set(rook_to);
    uint64_t attackers = position_attackers(position, king_to, other(us), occupied);
    if (attackers == 0) /* in Chess960 only the rook, now gone, may have shielded him */
        attackers = position_attackers(position, king_to, other(us), all_men(position) & ~square_set(king));
    ret->fault = FAULT_CASTLING_INTO;
    ret->to = king_to;
    if (attackers != 0)
        set_cause(position, set_first(attackers), ret);
}

void fault_find(const Position *position, const Shape *shape, Reading *ret) {
    ret->kind = READING_ILLEGAL;
    ret->from_file = shape->from_file;
    ret->from_rank = shape->from_rank;
    if (shape->kind == SHAPE_CASTLING) {
        find_castling(position, shape->king_side, ret);
        return;
    }
    if (shape->man != EMPTY)
        ret->piece = piece_make(position_turn(position), shape->man);
    if (shape->bad_square || shape->incomplete || shape->unknown_letter) {
        ret->fault = shape->bad_square ? FAULT_NO_SUCH_SQUARE
            : shape->incomplete        ? FAULT_INCOMPLETE
                                       : FAULT_UNKNOWN_LETTER;
        if (shape->unknown_letter)
            ret->to = square_make(shape->to_file, shape->to_rank);
        return;
    }
    if (shape->to_rank < 0) { /* exd, and no pawn can */
        ret->fault = men_named(position, position_turn(position), shape) == 0 ? FAULT_NO_PIECE_NAMED
                                                                             : FAULT_INCOMPLETE;
        return;
    }
    int to = square_make(shape->to_file, shape->to_rank);
    ret->to = to;
    if (shape->from_file >= 0 && shape->from_rank >= 0)
        find_long(position, shape, square_make(shape->from_file, shape->from_rank), to, ret);
    else
        find_short(position, shape, to, ret);
}
