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

static uint64_t attackers_of_king(const Position *position, Colour us, int king, uint64_t occupied, uint64_t gone) {
    return position_attackers(position, king, other(us), occupied) & ~gone;
}

/* What the king of the mover would suffer; the move is right in every other way. `passed` is the pawn captured en passant. */
static Obstacle king_obstacle(const Position *position, Colour us, int from, int to, int passed) {
    bool king_moves = position_king(position, us) == from;
    int king = king_moves ? to : position_king(position, us);
    uint64_t captured = passed == NO_SQUARE ? 0 : square_set(passed);
    uint64_t occupied = (all_men(position) & ~square_set(from)) | square_set(to);
    uint64_t attackers = attackers_of_king(position, us, king, occupied & ~captured, square_set(to) | captured);
    if (attackers == 0)
        return (Obstacle){ FAULT_NONE, NO_SQUARE };
    if (king_moves)
        return (Obstacle){ FAULT_KING_ATTACKED, set_first(attackers) };
    uint64_t before = attackers_of_king(position, us, king, all_men(position), 0);
    if (attackers & before)
        return (Obstacle){ FAULT_STILL_IN_CHECK, set_first(attackers & before) };
    /* Were it only for the pawn that captures, it would be a pin like any other. */
    uint64_t pinning = attackers & attackers_of_king(position, us, king, occupied, 0);
    if (pinning != 0)
        return (Obstacle){ FAULT_KING_EXPOSED, set_first(pinning) };
    return (Obstacle){ FAULT_EN_PASSANT_EXPOSED, set_first(attackers) };
}

/* Slantwise onto an empty square: too late, or nothing there at all. */
static Obstacle slant_obstacle(const Position *position, Colour us, int from, int to) {
    int beside = to ^ 8;
    bool on_rank = square_rank(from) == (us == WHITE ? 4 : 3);
    if (!on_rank || !holds(position_men(position, other(us), PAWN), beside))
        return (Obstacle){ FAULT_NOTHING_TO_CAPTURE, NO_SQUARE };
    /* A position does not keep an en passant square where the capture exposes the king, so
     * that reason comes first: it holds in either case. */
    Obstacle exposed = king_obstacle(position, us, from, to, beside);
    if (exposed.fault != FAULT_NONE || to == position_en_passant(position))
        return exposed;
    return (Obstacle){ FAULT_EN_PASSANT_LATE, beside };
}

static Obstacle straight_obstacle(const Position *position, Colour us, int from, int to, bool capture) {
    int middle = (from + to) / 2;
    bool two = to - from == 16 || from - to == 16;
    uint64_t occupied = all_men(position);
    if (two && square_rank(from) != (us == WHITE ? 1 : 6))
        return (Obstacle){ FAULT_PAWN_TWO_SQUARES, NO_SQUARE };
    if (two && holds(occupied, middle))
        return (Obstacle){ FAULT_PAWN_BLOCKED, middle };
    if (holds(occupied, to))
        return (Obstacle){ capture ? FAULT_PAWN_STRAIGHT : FAULT_PAWN_BLOCKED, to };
    return king_obstacle(position, us, from, to, NO_SQUARE);
}

static Obstacle pawn_obstacle(const Position *position, Colour us, int from, int to, bool capture) {
    int files = square_file(to) - square_file(from), ranks = square_rank(to) - square_rank(from);
    int ahead = us == WHITE ? ranks : -ranks;
    if (files == 0 && (ahead == 1 || ahead == 2))
        return straight_obstacle(position, us, from, to, capture);
    if (ahead < 0 && files >= -1 && files <= 1)
        return (Obstacle){ FAULT_PAWN_BACKWARDS, NO_SQUARE };
    if (ahead != 1 || (files != 1 && files != -1))
        return (Obstacle){ FAULT_CANNOT_REACH, NO_SQUARE };
    if (holds(position->sides[us], to))
        return (Obstacle){ FAULT_OWN_PIECE, to };
    return holds(all_men(position), to) ? king_obstacle(position, us, from, to, NO_SQUARE) : slant_obstacle(position, us, from, to);
}

static Obstacle obstacle(const Position *position, int from, int to, bool capture) {
    int piece = position_piece_at(position, from);
    Colour us = piece_colour(piece);
    if (from == to)
        return (Obstacle){ FAULT_OWN_PIECE, to };
    if (piece_kind(piece) == PAWN)
        return pawn_obstacle(position, us, from, to, capture);
    if (!holds(attacks_of(piece_kind(piece), from, 0), to))
        return (Obstacle){ FAULT_CANNOT_REACH, NO_SQUARE };
    uint64_t between = line_between(from, to) & all_men(position);
    if (piece_kind(piece) != KNIGHT && between != 0)
        return (Obstacle){ FAULT_PATH_BLOCKED, nearest(between, from) };
    if (holds(position->sides[us], to))
        return (Obstacle){ FAULT_OWN_PIECE, to };
    return king_obstacle(position, us, from, to, NO_SQUARE);
}

/* The nearer a man is to being able, the more his reason tells. */
static int telling(MoveFault fault) {
    switch (fault) {
    case FAULT_CANNOT_REACH: return 0;
    case FAULT_PAWN_BACKWARDS:
    case FAULT_NOTHING_TO_CAPTURE: return 1;
    case FAULT_PAWN_TWO_SQUARES:
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

/* Own rooks on the king's first rank, on one side of him. */
static uint64_t rooks_beside(const Position *position, Colour us, int king, bool king_side) {
    uint64_t side = king_side ? ~(square_set(king) - 1) : square_set(king) - 1;
    return position_men(position, us, ROOK) & side & (us == WHITE ? RANK_1 : RANK_8);
}

/* Who has moved, as far as the board tells. In Chess960 the first squares are known only while there is a right. */
static void find_lost_right(const Position *position, const Shape *shape, int king, Reading *ret) {
    Colour us = position_turn(position);
    int first_rank = us == WHITE ? 0 : 7;
    bool away = position->chess960 ? square_rank(king) != first_rank : king != square_make(4, first_rank);
    if (away) {
        ret->fault = FAULT_CASTLING_KING_AWAY;
        return;
    }
    int home = position->chess960 ? shape->castling_rook : square_make(shape->king_side ? 7 : 0, first_rank);
    uint64_t rooks = rooks_beside(position, us, king, shape->king_side) & (home == NO_SQUARE ? ~UINT64_C(0) : square_set(home));
    if (rooks == 0) {
        ret->fault = FAULT_CASTLING_NO_ROOK;
        ret->to = home;
        return;
    }
    bool king_unmoved = (position->castling & position->sides[us]) != 0;
    ret->fault = king_unmoved ? FAULT_CASTLING_ROOK_MOVED : FAULT_CASTLING_NO_RIGHT;
    set_cause(position, shape->king_side ? 63 - __builtin_clzll(rooks) : set_first(rooks), ret);
}

/* The first square on the king's way that is attacked. True if there is one. */
static bool find_attack(const Position *position, uint64_t way, int king, int king_to, Reading *ret) {
    Colour us = position_turn(position);
    for (; way != 0; way &= way - 1) {
        uint64_t attackers = position_attackers(position, set_first(way), other(us), all_men(position) & ~square_set(king));
        if (attackers == 0)
            continue;
        ret->fault = set_first(way) == king_to ? FAULT_CASTLING_INTO : FAULT_CASTLING_THROUGH;
        ret->to = set_first(way);
        set_cause(position, set_first(attackers), ret);
        return true;
    }
    return false;
}

static void find_castling(const Position *position, const Shape *shape, Reading *ret) {
    Colour us = position_turn(position);
    int king = position_king(position, us);
    uint64_t named = shape->castling_rook == NO_SQUARE ? ~UINT64_C(0) : square_set(shape->castling_rook);
    uint64_t right = position->castling & rooks_beside(position, us, king, shape->king_side) & named;
    ret->piece = piece_make(us, KING);
    ret->from = king;
    if (right == 0) {
        find_lost_right(position, shape, king, ret);
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
        set_cause(position, shape->king_side ? set_first(blocked) : 63 - __builtin_clzll(blocked), ret);
        return;
    }
    if (find_attack(position, king_way & ~square_set(king_to), king, king_to, ret)
        || find_attack(position, square_set(king_to), king, king_to, ret))
        return;
    /* In Chess960 the rook may have shielded him. */
    ret->fault = FAULT_CASTLING_INTO;
    ret->to = king_to;
    uint64_t occupied = others | square_set(king_to) | square_set(rook_to);
    uint64_t attackers = position_attackers(position, king_to, other(us), occupied);
    if (attackers != 0)
        set_cause(position, set_first(attackers), ret);
}

/* "Takes the bishop on f3", and there is none. */
static bool find_captured(const Position *position, const Shape *shape, int to, Reading *ret) {
    Colour them = other(position_turn(position));
    int there = position_piece_at(position, to);
    bool passing = there == EMPTY && shape->captured == PAWN && shape->man <= PAWN;
    if (shape->captured == EMPTY || passing || (there != EMPTY && (piece_colour(there) != them || piece_kind(there) == shape->captured)))
        return false;
    ret->fault = there == EMPTY ? FAULT_SQUARE_EMPTY : FAULT_OTHER_PIECE;
    ret->from = to;
    ret->piece = piece_make(them, shape->captured);
    if (there != EMPTY)
        set_cause(position, to, ret);
    return true;
}

/* What was written says too little, or what no board has. True if so. */
static bool find_unfinished(const Position *position, const Shape *shape, Reading *ret) {
    if (shape->bad_square)
        ret->fault = FAULT_NO_SUCH_SQUARE;
    else if (shape->incomplete)
        ret->fault = FAULT_INCOMPLETE;
    else if (shape->unknown_letter)
        ret->fault = FAULT_UNKNOWN_LETTER;
    else if (shape->to_rank < 0) /* exd, and no pawn can */
        ret->fault = men_named(position, position_turn(position), shape) == 0 ? FAULT_NO_PIECE_NAMED : FAULT_INCOMPLETE;
    else
        return false;
    if (ret->fault == FAULT_UNKNOWN_LETTER)
        ret->to = square_make(shape->to_file, shape->to_rank);
    return true;
}

void fault_find(const Position *position, const Shape *shape, Reading *ret) {
    ret->kind = READING_ILLEGAL;
    ret->from_file = shape->from_file;
    ret->from_rank = shape->from_rank;
    if (shape->kind == SHAPE_CASTLING) {
        find_castling(position, shape, ret);
        return;
    }
    if (shape->man != EMPTY)
        ret->piece = piece_make(position_turn(position), shape->man);
    if (find_unfinished(position, shape, ret))
        return;
    int to = square_make(shape->to_file, shape->to_rank);
    ret->to = to;
    if (find_captured(position, shape, to, ret))
        return;
    if (shape->from_file >= 0 && shape->from_rank >= 0)
        find_long(position, shape, square_make(shape->from_file, shape->from_rank), to, ret);
    else
        find_short(position, shape, to, ret);
}
