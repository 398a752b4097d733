#include "core/chess/position.h"

#include "core/chess/attacks.h"

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

static uint64_t piece_key(Colour colour, int kind, int square) {
    return feature_key((unsigned)(FEATURE_PIECES + piece_make(colour, kind) * 64 + square));
}

static uint64_t castling_key(uint64_t rooks) {
    uint64_t key = 0;
    for (; rooks != 0; rooks &= rooks - 1)
        key ^= feature_key((unsigned)(FEATURE_CASTLING + set_first(rooks)));
    return key;
}

static uint64_t en_passant_key(int square) {
    return square == NO_SQUARE ? 0 : feature_key((unsigned)(FEATURE_EN_PASSANT + square));
}

static Colour other(Colour colour) {
    return colour == WHITE ? BLACK : WHITE;
}

static void toggle(Position *position, Colour colour, int kind, int square) {
    position->sides[colour] ^= square_set(square);
    position->kinds[kind] ^= square_set(square);
    position->key ^= piece_key(colour, kind, square);
}

void position_put(Position *position, int square, int piece) {
    toggle(position, piece_colour(piece), piece_kind(piece), square);
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

Colour position_turn(const Position *position) {
    return (Colour)position->turn;
}

int position_fullmove(const Position *position) {
    return position->fullmove;
}

int position_halfmove(const Position *position) {
    return position->halfmove;
}

int position_en_passant(const Position *position) {
    return position->en_passant;
}

static int kind_at(const Position *position, uint64_t square) {
    for (int kind = PAWN; kind < KIND_COUNT; kind++)
        if (position->kinds[kind] & square)
            return kind;
    return EMPTY;
}

int position_piece_at(const Position *position, int square) {
    int kind = kind_at(position, square_set(square));
    return kind == EMPTY ? EMPTY : piece_make(position->sides[BLACK] & square_set(square) ? BLACK : WHITE, kind);
}

int position_king(const Position *position, Colour colour) {
    return set_first(position->sides[colour] & position->kinds[KING]);
}

uint64_t position_men(const Position *position, Colour colour, int kind) {
    return position->sides[colour] & position->kinds[kind];
}

uint64_t position_attackers(const Position *position, int square, Colour by, uint64_t occupied) {
    const uint64_t *kinds = position->kinds;
    uint64_t self = square_set(square);
    uint64_t attackers = (attacks_pawns(other(by), self) & kinds[PAWN]) | (attacks_knights(self) & kinds[KNIGHT])
        | (attacks_king(square) & kinds[KING]) | (attacks_rook(square, occupied) & (kinds[ROOK] | kinds[QUEEN]))
        | (attacks_bishop(square, occupied) & (kinds[BISHOP] | kinds[QUEEN]));
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
    position->key = castling_key(position->castling) ^ en_passant_key(position->en_passant);
    if (position->turn == BLACK)
        position->key ^= feature_key(FEATURE_TURN);
    for (int square = 0; square < 64; square++) {
        int piece = position_piece_at(position, square);
        if (piece != EMPTY)
            position->key ^= piece_key(piece_colour(piece), piece_kind(piece), square);
    }
}

static void drop_castling(Position *position, uint64_t rooks) {
    position->key ^= castling_key(position->castling & rooks);
    position->castling &= ~rooks;
}

static void move_man(Position *position, Move move, int kind) {
    Colour us = position_turn(position);
    int from = move_from(move), to = move_to(move);
    int captured = kind_at(position, square_set(to));
    if (captured != EMPTY) {
        toggle(position, other(us), captured, to);
        position->halfmove = 0;
    }
    if (kind == PAWN) {
        position->halfmove = 0;
        if (to == position->en_passant)
            toggle(position, other(us), PAWN, to ^ 8);
    }
    toggle(position, us, kind, from);
    toggle(position, us, move_promotion(move) != EMPTY ? move_promotion(move) : kind, to);
}

static void castle(Position *position, Move move) {
    Colour us = position_turn(position);
    int king, rook;
    castling_targets(position, move, &king, &rook);
    toggle(position, us, KING, move_from(move));
    toggle(position, us, ROOK, move_to(move));
    toggle(position, us, KING, king);
    toggle(position, us, ROOK, rook);
}

void position_move(Position *after, const Position *before, Move move) {
    *after = *before;
    Colour us = position_turn(before);
    int from = move_from(move), to = move_to(move);
    int kind = kind_at(before, square_set(from));
    if (after->halfmove < UINT16_MAX)
        after->halfmove++;
    if (position_is_castling(before, move))
        castle(after, move);
    else
        move_man(after, move, kind);

    uint64_t touched = square_set(from) | square_set(to);
    if (kind == KING)
        touched |= us == WHITE ? RANK_1 : RANK_8;
    if (after->castling & touched)
        drop_castling(after, touched);

    after->fullmove += us == BLACK;
    after->turn = (uint8_t)other(us);
    after->key ^= feature_key(FEATURE_TURN) ^ en_passant_key(before->en_passant);
    after->en_passant = NO_SQUARE;
    int behind = (from + to) / 2;
    if (kind == PAWN && (to - from == 16 || from - to == 16) && en_passant_possible(after, behind)) {
        after->en_passant = (int8_t)behind;
        after->key ^= en_passant_key(behind);
    }
}

uint64_t position_key(const Position *position) {
    return position->key;
}

bool position_same(const Position *left, const Position *right) {
    return memcmp(left->sides, right->sides, sizeof left->sides) == 0
        && memcmp(left->kinds, right->kinds, sizeof left->kinds) == 0 && left->castling == right->castling
        && left->turn == right->turn && left->en_passant == right->en_passant;
}
