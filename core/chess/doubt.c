#include "core/chess/doubt.h"

#include "core/chess/attacks.h"

/* Who moved last ("them"), whose king is checked ("us"), and what a capture may have added. */
typedef struct Past {
    const Position *position;
    Colour us, them;
    int king;
    uint64_t occupied;
    bool captured; /* a man of ours is missing, so one may have been captured */
} Past;

static const char *const names[] = { "White", "Black" };

static int beyond(int count, int array) {
    return count > array ? count - array : 0;
}

/* Men that only promotion can have added. Bishops are counted by the colour of their squares. */
static int promoted(const Position *position, Colour colour) {
    uint64_t bishops = position_men(position, colour, BISHOP);
    return beyond(set_count(position_men(position, colour, QUEEN)), 1) + beyond(set_count(position_men(position, colour, ROOK)), 2)
        + beyond(set_count(position_men(position, colour, KNIGHT)), 2) + beyond(set_count(bishops & LIGHT_SQUARES), 1)
        + beyond(set_count(bishops & ~LIGHT_SQUARES), 1);
}

/* Whether our king was not in check before their man, then of this kind, went from `from` to `to`. `added` are squares
 * where men of ours stood that the move captured. */
static bool quiet_before(const Past *past, int from, int to, int kind, uint64_t added) {
    Position before = *past->position;
    uint64_t left = square_set(to), taken = square_set(from);
    before.sides[past->them] = (before.sides[past->them] & ~left) | taken;
    for (int other = PAWN; other < KIND_COUNT; other++)
        before.kinds[other] &= ~left;
    before.kinds[kind] |= taken;
    return position_attackers(&before, past->king, past->them, (past->occupied & ~left) | taken | added) == 0;
}

/* A capture leaves a man of ours on `to` before, which can only shut lines: where it is possible nothing else need be tried. */
static bool any_quiet(const Past *past, uint64_t origins, int to, int kind, bool captures) {
    for (; origins != 0; origins &= origins - 1)
        if (quiet_before(past, set_first(origins), to, kind, captures ? square_set(to) : 0))
            return true;
    return false;
}

/* Their pawn went to `to`, or became what stands there. */
static bool pawn_move(const Past *past, int to) {
    uint64_t empty = ~past->occupied & ~RANK_1 & ~RANK_8;
    bool white = past->them == WHITE;
    uint64_t one = (white ? square_set(to) >> 8 : square_set(to) << 8) & empty;
    uint64_t two = square_rank(to) == (white ? 3 : 4) ? (white ? one >> 8 : one << 8) & empty : 0;
    uint64_t aside = attacks_pawns(past->us, square_set(to)) & empty;
    if (any_quiet(past, one | two, to, PAWN, false) || (past->captured && any_quiet(past, aside, to, PAWN, true)))
        return true;
    uint64_t origin = white ? square_set(to) << 8 : square_set(to) >> 8;
    if (square_rank(to) != (white ? 5 : 2) || !past->captured || one == 0 || (past->occupied & origin) != 0)
        return false;
    for (; aside != 0; aside &= aside - 1) /* en passant */
        if (quiet_before(past, set_first(aside), to, PAWN, one))
            return true;
    return false;
}

static bool castled_from(const Past *past, int king, int king_to, int rook, int rook_to) {
    uint64_t others = past->occupied & ~square_set(king_to) & ~square_set(rook_to);
    uint64_t way = line_between(king, king_to) | line_between(rook, rook_to) | square_set(king) | square_set(rook);
    if (others & way)
        return false;
    Position before = *past->position;
    uint64_t after_both = square_set(king_to) | square_set(rook_to), before_both = square_set(king) | square_set(rook);
    before.sides[past->them] = (before.sides[past->them] & ~after_both) | before_both;
    before.kinds[KING] = (before.kinds[KING] & ~square_set(king_to)) | square_set(king);
    before.kinds[ROOK] = (before.kinds[ROOK] & ~square_set(rook_to)) | square_set(rook);
    return position_attackers(&before, past->king, past->them, others | before_both) == 0;
}

/* From any squares Chess960 knows. */
static bool castling_move(const Past *past) {
    int first = past->them == WHITE ? 0 : 56, king_to = position_king(past->position, past->them);
    bool king_side = king_to == first + 6;
    int rook_to = first + (king_side ? 5 : 3);
    if ((!king_side && king_to != first + 2) || (position_men(past->position, past->them, ROOK) & square_set(rook_to)) == 0)
        return false;
    for (int king = first + 1; king < first + 7; king++)
        for (int rook = king_side ? king + 1 : first; rook < (king_side ? first + 8 : king); rook++)
            if (castled_from(past, king, king_to, rook, rook_to))
                return true;
    return false;
}

static bool man_move(const Past *past, int to) {
    int kind = piece_kind(position_piece_at(past->position, to));
    if (kind == PAWN)
        return pawn_move(past, to);
    if (any_quiet(past, attacks_of(kind, to, past->occupied) & ~past->occupied, to, kind, past->captured))
        return true;
    return kind != KING && square_rank(to) == (past->them == WHITE ? 7 : 0) && pawn_move(past, to);
}

static bool check_possible(const Past *past) {
    for (uint64_t men = past->position->sides[past->them]; men != 0; men &= men - 1)
        if (man_move(past, set_first(men)))
            return true;
    return castling_move(past);
}

/* The double step behind an en passant square, taken back. */
static bool double_step_possible(const Past *past, int square) {
    int pawn = square ^ 8, origin = past->them == WHITE ? square - 8 : square + 8;
    return position_halfmove(past->position) == 0 && quiet_before(past, origin, pawn, PAWN, 0);
}

/* Kings that may castle have not moved: they stand on one file, and so do the rooks of one side. */
static bool castling_possible(const Position *position) {
    uint64_t white = position->castling & position->sides[WHITE], black = (position->castling & position->sides[BLACK]) >> 56;
    int king = position_king(position, WHITE);
    if (white == 0 || black == 0)
        return true;
    if (square_file(king) != square_file(position_king(position, BLACK)))
        return false;
    uint64_t left = square_set(king) - 1;
    for (int side = 0; side < 2; side++, left = ~left)
        if ((white & left) != 0 && (black & left) != 0 && (white & left) != (black & left))
            return false;
    return true;
}

static Doubt doubt(Error *error, Doubt code, const char *sentence) {
    error_set(error, ERROR_INPUT, (int)code, "%s", sentence);
    return code;
}

Doubt position_doubt(const Position *position, Error *error) {
    for (int colour = WHITE; colour <= BLACK; colour++) {
        int more = promoted(position, (Colour)colour), pawns = set_count(position_men(position, (Colour)colour, PAWN));
        if (more > 8 - pawns) {
            error_set(error, ERROR_INPUT, DOUBT_PROMOTED, "%s has %d men more than an array, but only %d pawns that could have become them.",
                      names[colour], more, 8 - pawns);
            return DOUBT_PROMOTED;
        }
    }
    Past past = { .position = position, .us = position_turn(position), .occupied = position->sides[WHITE] | position->sides[BLACK] };
    past.them = past.us == WHITE ? BLACK : WHITE;
    past.king = position_king(position, past.us);
    past.captured = set_count(position->sides[past.us]) < 16;
    int square = position_en_passant(position), halfmove = position_halfmove(position);
    if (square != NO_SQUARE && !double_step_possible(&past, square))
        return doubt(error, DOUBT_EN_PASSANT, "The last move cannot have been the pawn's two squares that the en passant square speaks of.");
    if (position_in_check(position) && !check_possible(&past))
        return doubt(error, DOUBT_CHECK, "No last move can have given the check in which the king stands.");
    if (!castling_possible(position))
        return doubt(error, DOUBT_CASTLING, "Both sides may castle, but their kings or rooks stand on different files.");
    if (halfmove > 2 * (position_fullmove(position) - 1) + (position_turn(position) == BLACK))
        return doubt(error, DOUBT_COUNTERS, "More plies are counted without a capture or pawn move than were played by that move number.");
    return DOUBT_NONE;
}
