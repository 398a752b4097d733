#include "core/notation/notation.h"

#include "core/chess/attacks.h"
#include "core/chess/movegen.h"
#include "core/notation/fault.h"
#include "core/notation/shape.h"

#include <string.h>

static const Reading blank_reading = {
    .from = NO_SQUARE, .to = NO_SQUARE, .cause = NO_SQUARE, .from_file = -1, .from_rank = -1
};

static void add_candidate(Reading *reading, Move move) {
    for (int i = 0; i < reading->candidate_count; i++)
        if (reading->candidates[i] == move)
            return;
    if (reading->candidate_count < READING_CANDIDATES_MAX)
        reading->candidates[reading->candidate_count++] = move;
}

/* --- from shape to moves --- */

/* The side on which the king castles who goes from his square to `to`; -1 if that is a king's move like others. */
static int castling_side(const Position *position, int king, int to) {
    int apart = to - king;
    if (!position->chess960)
        return square_file(king) == 4 && (apart == 2 || apart == -2) ? apart > 0 : -1;
    if (position_men(position, position_turn(position), ROOK) & square_set(to))
        return apart > 0;
    bool far = apart > 1 || apart < -1;
    return far && square_file(to) == 6 ? 1 : far && square_file(to) == 2 ? 0 : -1;
}

/* e1g1 in standard chess, king takes own rook in Chess960, are castling. Who names where he comes from says where he goes. */
static void see_castling(const Position *position, Shape *shape) {
    Colour us = position_turn(position);
    bool from_known = shape->from_file >= 0 && shape->from_rank >= 0, from_open = shape->from_file < 0 && shape->from_rank < 0;
    if (shape->kind != SHAPE_MAN || (shape->man != EMPTY && shape->man != KING))
        return;
    bool short_form = position->chess960 && shape->man == KING && from_open; /* Kxh1, Kg1: there is one king only */
    if (!from_known && !short_form)
        return;
    int first_rank = us == WHITE ? 0 : 7;
    int king = position_king(position, us), to = square_make(shape->to_file, shape->to_rank);
    if ((from_known && square_make(shape->from_file, shape->from_rank) != king) || square_rank(king) != first_rank || shape->to_rank != first_rank
        || shape->bad_square || shape->incomplete || shape->unknown_letter || shape->promoting)
        return;
    int side = castling_side(position, king, to);
    if (side < 0)
        return;
    shape->kind = SHAPE_CASTLING;
    shape->king_side = side == 1;
    if (position_men(position, us, ROOK) & square_set(to))
        shape->castling_rook = to;
}

/* How much of the token a move must fit. */
typedef enum Fit { FIT_WHOLE, FIT_BUT_PROMOTION, FIT_MAN_AND_TARGET } Fit;

static int kind_taken(const Position *position, Move move) {
    return position_is_en_passant(position, move) ? PAWN : piece_kind(position_piece_at(position, move_to(move)));
}

static bool castling_fits(const Position *position, const Shape *shape, Move move, Fit fit) {
    int king, rook;
    castling_targets(position, move, &king, &rook);
    if (shape->kind == SHAPE_CASTLING)
        return shape->king_side == (move_to(move) > move_from(move)) && (shape->castling_rook == NO_SQUARE || shape->castling_rook == move_to(move));
    int to = shape->to_rank < 0 ? NO_SQUARE : square_make(shape->to_file, shape->to_rank); /* "Kg1" may have meant it */
    return fit == FIT_MAN_AND_TARGET && shape->man == KING && (to == king || to == move_to(move));
}

static bool fits(const Position *position, const Shape *shape, Move move, Fit fit) {
    if (position_is_castling(position, move))
        return castling_fits(position, shape, move, fit);
    int from = move_from(move), to = move_to(move);
    int man = piece_kind(position_piece_at(position, from));
    if (shape->kind == SHAPE_CASTLING || (shape->man != EMPTY && shape->man != man) || shape->to_file != square_file(to)
        || (shape->to_rank >= 0 && shape->to_rank != square_rank(to)))
        return false;
    if (fit == FIT_MAN_AND_TARGET)
        return true;
    if ((shape->from_file >= 0 && shape->from_file != square_file(from))
        || (shape->from_rank >= 0 && shape->from_rank != square_rank(from))
        || (shape->captured != EMPTY && shape->captured != kind_taken(position, move)))
        return false;
    if (shape->man == PAWN && shape->from_file < 0 && shape->capture == (square_file(from) == square_file(to)))
        return false;
    return fit == FIT_BUT_PROMOTION || (shape->promoting ? shape->promotion : EMPTY) == move_promotion(move);
}

static void collect(const Position *position, const Shape *shape, Fit fit, Reading *ret) {
    MoveList list, found = { .count = 0 };
    moves_legal(position, &list);
    for (int i = 0; i < list.count; i++)
        if (fits(position, shape, list.moves[i], fit))
            found.moves[found.count++] = list.moves[i];
    moves_sort(position, &found);
    for (int i = 0; i < found.count; i++)
        add_candidate(ret, found.moves[i]);
}

static bool check_follows(const Position *position, Move move) {
    Position after;
    position_move(&after, position, move);
    return position_in_check(&after);
}

static void settle_on(const Position *position, const Shape *shape, Move move, Reading *ret) {
    *ret = blank_reading;
    ret->kind = READING_MOVE;
    ret->move = move;
    ret->from = move_from(move);
    ret->to = move_to(move);
    ret->piece = position_piece_at(position, ret->from);
    ret->capture_mark_wrong = shape->capture && !position_is_capture(position, move);
    ret->check_mark_wrong = shape->check && !check_follows(position, move);
    ret->notation = shape->notation;
}

/* The promotion alone is missing or wrong. True if that is so. */
static bool promotion_fault(const Position *position, const Shape *shape, Reading *ret) {
    collect(position, shape, FIT_BUT_PROMOTION, ret);
    if (ret->candidate_count == 0)
        return false;
    Move first = ret->candidates[0];
    bool promotes = move_promotion(first) != EMPTY;
    ret->kind = READING_ILLEGAL;
    ret->fault = !promotes           ? FAULT_PROMOTION_RANK
        : shape->promotion == EMPTY ? FAULT_PROMOTION_MISSING
                                    : FAULT_PROMOTION_PIECE;
    ret->to = move_to(first);
    ret->piece = position_piece_at(position, move_from(first));
    return true;
}

static bool own_man(const Position *position, int square) {
    return square != NO_SQUARE && (position->sides[position_turn(position)] & square_set(square)) != 0;
}

static void resolve(const Position *position, Shape shape, Reading *ret) {
    *ret = blank_reading;
    if (shape.kind == SHAPE_NONE || shape.kind == SHAPE_DESCRIPTIVE) {
        ret->kind = READING_NOT_A_MOVE;
        ret->fault = shape.kind == SHAPE_NONE ? FAULT_UNSHAPED : FAULT_DESCRIPTIVE;
        return;
    }
    see_castling(position, &shape);
    bool playable = !shape.bad_square && !shape.incomplete && !shape.unknown_letter;
    if (!playable) {
        fault_find(position, &shape, ret);
        return;
    }
    collect(position, &shape, FIT_WHOLE, ret);
    if (ret->candidate_count == 1) {
        settle_on(position, &shape, ret->candidates[0], ret);
    } else if (ret->candidate_count > 1) {
        ret->kind = READING_AMBIGUOUS;
        ret->fault = FAULT_SEVERAL_MEN;
        ret->piece = position_piece_at(position, move_from(ret->candidates[0]));
        ret->to = move_to(ret->candidates[0]);
    } else if (!promotion_fault(position, &shape, ret)) {
        fault_find(position, &shape, ret);
        if (shape.man == EMPTY && own_man(position, ret->from))
            shape.man = piece_kind(ret->piece);
        if (shape.kind == SHAPE_MAN && shape.man != EMPTY)
            collect(position, &shape, FIT_MAN_AND_TARGET, ret);
    }
}

/* --- more than one meaning --- */

/* Everything is right but for the king's safety, or that no promotion piece is named. */
static bool pseudo_legal(const Reading *reading) {
    if (reading->kind == READING_MOVE || reading->kind == READING_AMBIGUOUS)
        return true;
    switch (reading->fault) {
    case FAULT_EN_PASSANT_EXPOSED:
    case FAULT_KING_EXPOSED:
    case FAULT_STILL_IN_CHECK:
    case FAULT_KING_ATTACKED:
    case FAULT_PROMOTION_MISSING: return true;
    default: return false;
    }
}

static void take_moves(const Reading *from, Reading *ret) {
    if (from->kind == READING_MOVE)
        add_candidate(ret, from->move);
    else if (from->kind == READING_AMBIGUOUS || from->fault == FAULT_PROMOTION_MISSING)
        for (int i = 0; i < from->candidate_count; i++)
            add_candidate(ret, from->candidates[i]);
}

static bool playable(const Reading *reading) {
    return reading->kind == READING_MOVE || reading->kind == READING_AMBIGUOUS;
}

/* Puts two pseudo-legal meanings together in *ret, which is the first of them. */
static void merge(const Reading *second, MoveFault fault, Reading *ret) {
    Reading first = *ret, both = blank_reading;
    if (!playable(&first) && !playable(second))
        return;
    take_moves(&first, &both);
    int count = both.candidate_count;
    take_moves(second, &both);
    if (playable(&first) && both.candidate_count == count) /* the second says nothing new */
        return;
    *ret = blank_reading;
    ret->kind = READING_AMBIGUOUS;
    ret->fault = fault;
    ret->piece = first.piece;
    ret->to = first.to;
    take_moves(&first, ret);
    take_moves(second, ret);
}

/* One language's meaning, the phone's capital considered. */
static void read_with(const Position *position, const char *text, unsigned flags, const MoveLanguage *language,
                      Reading *ret) {
    Shape shape, small;
    unsigned spoken = flags & READ_SPOKEN ? SHAPE_SPOKEN : 0;
    shape_read(text, language, spoken, &shape);
    resolve(position, shape, ret);
    bool piece_letter = shape.kind == SHAPE_MAN && shape.man > PAWN;
    if (!piece_letter)
        return;
    shape_read(text, language, SHAPE_LOWER_FIRST, &small);
    if (small.kind != SHAPE_MAN || small.man > PAWN || small.bad_square || small.incomplete)
        return;
    Reading pawn;
    resolve(position, small, &pawn);
    if (!(flags & READ_LINE_START)) { /* only told, where the piece cannot */
        if (ret->kind == READING_ILLEGAL && pawn.kind == READING_MOVE)
            add_candidate(ret, pawn.move);
        return;
    }
    if (!pseudo_legal(&pawn))
        return;
    if (!pseudo_legal(ret))
        *ret = pawn;
    else if (small.capture || small.from_rank >= 0) /* "Bc4" is the bishop's, as all write it */
        merge(&pawn, FAULT_BISHOP_OR_PAWN, ret);
    if (ret->fault == FAULT_BISHOP_OR_PAWN)
        ret->from_file = small.from_file;
}

static bool understood(const Reading *reading) {
    return reading->kind != READING_NOT_A_MOVE && reading->fault != FAULT_UNKNOWN_LETTER;
}

static void read_strictly(const Position *position, const char *text, Reading *ret) {
    char exact[NOTATION_MAX];
    read_with(position, text, 0, language_english(), ret);
    if (ret->kind != READING_MOVE)
        return;
    notation_write(position, ret->move, NOTATION_SAN, exact);
    if (strcmp(text, exact) == 0)
        return;
    Move move = ret->move;
    *ret = blank_reading;
    ret->kind = READING_NOT_A_MOVE;
    ret->fault = FAULT_NOT_STRICT;
    add_candidate(ret, move);
}

/* "e7e8q": UCI has its own letters for what a pawn becomes, whatever the player's are. */
static bool uci_promotion(const char *text) {
    static const char *const classes[] = { "abcdefgh", "27", "abcdefgh", "18", "qrbn" };
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if (text[i] == 0 || strchr(classes[i], text[i]) == NULL)
            return false;
    return text[5] == 0;
}

static bool english_counts(const char *text, unsigned flags, const MoveLanguage *own) {
    return own != NULL && own != language_english() && (!(flags & READ_OWN_ONLY) || uci_promotion(text));
}

void notation_read_in(const Position *position, const char *text, unsigned flags, const MoveLanguage *own,
                      Reading *ret) {
    if (flags & READ_STRICT) {
        read_strictly(position, text, ret);
        return;
    }
    const MoveLanguage *english = language_english();
    if (own == NULL)
        own = english;
    read_with(position, text, flags, own, ret);
    if (english_counts(text, flags, own)) {
        Reading second;
        read_with(position, text, flags, english, &second);
        bool capital_file = piece_kind(second.piece) == PAWN && piece_kind(ret->piece) > PAWN; /* looked at already */
        if (pseudo_legal(ret) && capital_file)
            return;
        if (pseudo_legal(ret) && pseudo_legal(&second))
            merge(&second, FAULT_TWO_LANGUAGES, ret);
        else if (pseudo_legal(&second) || (!understood(ret) && understood(&second)) || ret->fault == FAULT_UNSHAPED)
            *ret = second;
    }
    if (ret->fault != FAULT_UNKNOWN_LETTER)
        return;
    size_t count;
    const MoveLanguage *tables = language_table(&count);
    for (size_t i = 0; i < count; i++) {
        Reading reading;
        read_with(position, text, 0, &tables[i], &reading);
        take_moves(&reading, ret);
    }
}

void notation_read(const Position *position, const char *text, unsigned flags, Reading *ret) {
    notation_read_in(position, text, flags, NULL, ret);
}

bool notation_shaped_in(const char *text, unsigned flags, const MoveLanguage *own) {
    Shape shape;
    unsigned spoken = flags & READ_SPOKEN ? SHAPE_SPOKEN : 0;
    shape_read(text, own == NULL ? language_english() : own, spoken, &shape);
    if (shape.kind == SHAPE_NONE && english_counts(text, flags, own))
        shape_read(text, language_english(), spoken, &shape);
    return shape.kind != SHAPE_NONE;
}

bool notation_shaped(const char *text) {
    return notation_shaped_in(text, 0, NULL);
}
