#include "core/chess/position.h"

#include "core/chess/attacks.h"

#include <assert.h>
#include <string.h>

/* The hash of one feature: SplitMix64 (Steele, Lea, Flood 2014) of its number. It takes the
 * place of the usual table of random numbers and cannot be forgotten to be filled. */
static uint64_t feature_key(unsigned feature) {
    uint64_t x = (feature + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}
enum { FEATURE_PIECES = 0, FEATURE_CASTLING = 16 * 64, FEATURE_EN_PASSANT = 17 * 64, FEATURE_TURN = 18 * 64 };

static Colour other(Colour colour) {
    return colour == WHITE ? BLACK : WHITE;
}

void position_put(Position *position, int square, int piece) {
    position->sides[piece_colour(piece)] |= square_set(square);
    position->kinds[piece_kind(piece)] |= square_set(square);
}

/* Starts from an empty board with the back ranks as given, kinds from a to h. */
static void set_up(Position *position, const uint8_t back[8]) {
    memset(position, 0, sizeof *position);
    position->fullmove = 1;
    position->en_passant = NO_SQUARE;
    for (int file = 0; file < 8; file++) {
        position_put(position, square_make(file, 0), piece_make(WHITE, back[file]));
        position_put(position, square_make(file, 1), piece_make(WHITE, PAWN));
        position_put(position, square_make(file, 6), piece_make(BLACK, PAWN));
        position_put(position, square_make(file, 7), piece_make(BLACK, back[file]));
    }
    position->castling = position->kinds[ROOK];
    position_settle(position);
}

void position_start(Position *ret) {
    static const uint8_t back[8] = { ROOK, KNIGHT, BISHOP, QUEEN, KING, BISHOP, KNIGHT, ROOK };
    set_up(ret, back);
}

static void put_on_free(uint8_t back[8], int nth, int kind) {
    for (int file = 0; file < 8; file++)
        if (back[file] == EMPTY && nth-- == 0)
            back[file] = (uint8_t)kind;
}

bool position_start960(int number, Position *ret) {
    if (number < 0 || number > 959)
        return false;
    /* Places of the two knights among the five squares left, in Scharnagl's order. */
    static const uint8_t knights[10][2] = { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 0, 4 }, { 1, 2 },
                                            { 1, 3 }, { 1, 4 }, { 2, 3 }, { 2, 4 }, { 3, 4 } };
    uint8_t back[8] = { 0 };
    back[number % 4 * 2 + 1] = BISHOP;
    back[number / 4 % 4 * 2] = BISHOP;
    put_on_free(back, number / 16 % 6, QUEEN);
    put_on_free(back, knights[number / 96][1], KNIGHT); /* the right one first, so the left place still counts */
    put_on_free(back, knights[number / 96][0], KNIGHT);
    put_on_free(back, 0, ROOK);
    put_on_free(back, 0, KING);
    put_on_free(back, 0, ROOK);
    set_up(ret, back);
    ret->chess960 = true;
    return true;
}

int position_number960(const Position *position) {
    Position start;
    for (int number = 0; number < 960; number++)
        if (position_start960(number, &start) && position_same(&start, position))
            return number;
    return -1;
}

/* The three digits of a kind in twos stand in three unions of sets, so nothing is searched for. */
static_assert(PAWN == 1 && KNIGHT == 2 && BISHOP == 3 && ROOK == 4 && QUEEN == 5 && KING == 6, "digits of kinds");

int position_piece_at(const Position *position, int square) {
    const uint64_t *kinds = position->kinds;
    uint64_t one = kinds[PAWN] | kinds[BISHOP] | kinds[QUEEN], two = kinds[KNIGHT] | kinds[BISHOP] | kinds[KING];
    uint64_t four = kinds[ROOK] | kinds[QUEEN] | kinds[KING], black = position->sides[BLACK];
    return (int)((one >> square & 1) | (two >> square & 1) << 1 | (four >> square & 1) << 2 | (black >> square & 1) << 3);
}

uint64_t position_attackers(const Position *position, int square, Colour by, uint64_t occupied) {
    const uint64_t *kinds = position->kinds;
    const Lines *lines = &LINES[square];
    uint64_t self = square_set(square);
    uint64_t attackers = (attacks_pawns(other(by), self) & kinds[PAWN]) | (attacks_knights(self) & kinds[KNIGHT])
        | (attacks_king(square) & kinds[KING]);
    /* Few sliders stand on a line of the square, so each is asked whether anybody is between. */
    uint64_t sliders = ((lines->file | lines->rank) & (kinds[ROOK] | kinds[QUEEN]))
        | ((lines->diagonal | lines->antidiagonal) & (kinds[BISHOP] | kinds[QUEEN]));
    for (sliders &= position->sides[by]; sliders != 0; sliders &= sliders - 1)
        if ((line_between(square, set_first(sliders)) & occupied) == 0)
            attackers |= sliders & -sliders;
    return attackers & position->sides[by];
}

uint64_t position_checkers(const Position *position) {
    Colour us = position_turn(position);
    return position_attackers(position, position_king(position, us), other(us),
                              position->sides[WHITE] | position->sides[BLACK]);
}

bool position_in_check(const Position *position) {
    return position_checkers(position) != 0;
}

void castling_targets(const Position *position, Move castling, int *ret_king, int *ret_rook) {
    (void)position;
    int first = move_from(castling) & 56;
    bool king_side = move_to(castling) > move_from(castling);
    *ret_king = first + (king_side ? 6 : 2);
    *ret_rook = first + (king_side ? 5 : 3);
}

bool position_is_castling(const Position *position, Move move) {
    uint64_t own = position->sides[position->turn];
    return (own & square_set(move_to(move))) != 0 && (own & position->kinds[KING] & square_set(move_from(move))) != 0;
}

bool position_is_en_passant(const Position *position, Move move) {
    return move_to(move) == position->en_passant && (position->kinds[PAWN] & square_set(move_from(move))) != 0;
}

bool position_is_capture(const Position *position, Move move) {
    return (position->sides[!position->turn] & square_set(move_to(move))) != 0
        || position_is_en_passant(position, move);
}

bool position_en_passant_safe(const Position *position, int from, int to) {
    Colour us = position_turn(position);
    uint64_t captured = square_set(to ^ 8); /* rank 6 to 5, 3 to 4 */
    uint64_t occupied = position->sides[WHITE] | position->sides[BLACK];
    occupied = (occupied & ~captured & ~square_set(from)) | square_set(to);
    return (position_attackers(position, position_king(position, us), other(us), occupied) & ~captured) == 0;
}

/* An en passant square counts only if some pawn can really capture there (Law 9.2, X-FEN). */
static bool en_passant_possible(const Position *position, int square) {
    Colour us = position_turn(position);
    uint64_t pawns = attacks_pawns(other(us), square_set(square)) & position_men(position, us, PAWN);
    for (; pawns != 0; pawns &= pawns - 1)
        if (position_en_passant_safe(position, set_first(pawns), square))
            return true;
    return false;
}

void position_settle(Position *position) {
    if (position->en_passant != NO_SQUARE && !en_passant_possible(position, position->en_passant))
        position->en_passant = NO_SQUARE;
}

static void castle(Position *position, Colour us, Move move) {
    int king_to, rook_to;
    castling_targets(position, move, &king_to, &rook_to);
    uint64_t king = square_set(move_from(move)), rook = square_set(move_to(move));
    position->sides[us] = (position->sides[us] & ~(king | rook)) | square_set(king_to) | square_set(rook_to);
    position->kinds[KING] = (position->kinds[KING] & ~king) | square_set(king_to);
    position->kinds[ROOK] = (position->kinds[ROOK] & ~rook) | square_set(rook_to);
}

/* A set of men after the man on `from` has gone to `to`, whoever was there. */
static uint64_t moved_set(uint64_t set, uint64_t from, uint64_t to) {
    return (set & ~to) ^ (set & from ? from | to : 0);
}

/* What a pawn of `us` does besides going from one square to another; it has gone, and the turn has changed. */
static void pawn_move(Position *position, Colour us, Move move, int passing) {
    int from = move_from(move), to = move_to(move);
    uint64_t target = square_set(to);
    if (move_promotion(move) != EMPTY) {
        position->kinds[PAWN] ^= target;
        position->kinds[move_promotion(move)] |= target;
    } else if (to == passing) {
        position->kinds[PAWN] ^= square_set(to ^ 8);
        position->sides[other(us)] ^= square_set(to ^ 8);
    } else if ((from ^ to) == 16) {
        uint64_t beside = (target & ~FILE_H) << 1 | (target & ~FILE_A) >> 1;
        if ((beside & position_men(position, other(us), PAWN)) && en_passant_possible(position, to ^ 8))
            position->en_passant = (int8_t)(to ^ 8);
    }
}

/* `after` and `before` may be the same: whatever is needed of `before` is read before it is written. */
void position_move(Position *after, const Position *before, Move move) {
    Colour us = position_turn(before);
    uint64_t from = square_set(move_from(move)), to = square_set(move_to(move)), touched = from | to;
    bool castles = (to & before->sides[us]) != 0, pawn = (before->kinds[PAWN] & from) != 0;
    bool rests = !pawn && (before->sides[other(us)] & to) == 0;
    int passing = before->en_passant;
    if (before->kinds[KING] & from)
        touched |= us == WHITE ? RANK_1 : RANK_8;
    uint64_t gone = castles ? 0 : from, come = castles ? 0 : to;
    for (int side = WHITE; side <= BLACK; side++)
        after->sides[side] = moved_set(before->sides[side], gone, come);
    for (int kind = EMPTY; kind < KIND_COUNT; kind++)
        after->kinds[kind] = moved_set(before->kinds[kind], gone, come);
    after->castling = before->castling & ~touched;
    after->fullmove = before->fullmove + (us == BLACK);
    after->halfmove = (uint16_t)(rests ? before->halfmove + (before->halfmove < UINT16_MAX) : 0);
    after->en_passant = NO_SQUARE;
    after->turn = (uint8_t)other(us);
    after->chess960 = before->chess960;
    if (castles)
        castle(after, us, move);
    else if (pawn)
        pawn_move(after, us, move, passing);
}

uint64_t position_key(const Position *position) {
    uint64_t key = position->turn == BLACK ? feature_key(FEATURE_TURN) : 0;
    if (position->en_passant != NO_SQUARE)
        key ^= feature_key((unsigned)(FEATURE_EN_PASSANT + position->en_passant));
    for (uint64_t rooks = position->castling; rooks != 0; rooks &= rooks - 1)
        key ^= feature_key((unsigned)(FEATURE_CASTLING + set_first(rooks)));
    for (int kind = PAWN; kind < KIND_COUNT; kind++)
        for (uint64_t men = position->kinds[kind]; men != 0; men &= men - 1) {
            unsigned colour = position->sides[BLACK] & men & -men ? BLACK : WHITE;
            key ^= feature_key(FEATURE_PIECES + (unsigned)piece_make((Colour)colour, kind) * 64 + (unsigned)set_first(men));
        }
    return key;
}

bool position_same(const Position *left, const Position *right) {
    return memcmp(left->sides, right->sides, sizeof left->sides) == 0
        && memcmp(left->kinds, right->kinds, sizeof left->kinds) == 0 && left->castling == right->castling
        && left->turn == right->turn && left->en_passant == right->en_passant;
}
