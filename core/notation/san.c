#include "core/notation/san.h"

#include "core/chess/attacks.h"
#include "core/chess/scene.h"

/* What a byte can be in a token. */
static const uint8_t kinds_of[256] = { ['N'] = KNIGHT, ['B'] = BISHOP, ['R'] = ROOK, ['Q'] = QUEEN, ['K'] = KING };

static inline bool is_file(char byte) {
    return (unsigned char)(byte - 'a') < 8;
}

static inline bool is_rank(char byte) {
    return (unsigned char)(byte - '1') < 8;
}

static inline int square_of(const char *text) {
    return square_make(text[0] - 'a', text[1] - '1');
}

static inline Colour enemy_of(Colour colour) {
    return colour == WHITE ? BLACK : WHITE;
}

/* Whether the king is safe after a man other than he went there, taking what stands on `captured`. */
static inline bool king_safe(const Position *position, int from, int to, int captured) {
    Colour us = position_turn(position);
    uint64_t taken = square_set(captured);
    uint64_t occupied = (((position->sides[WHITE] | position->sides[BLACK]) & ~taken) ^ square_set(from)) | square_set(to);
    return (position_attackers(position, position_king(position, us), enemy_of(us), occupied) & ~taken) == 0;
}

static inline size_t with_check_mark(const char *text, size_t length) {
    return length + (text[length] == '+' || text[length] == '#');
}

/* --- pawns --- */

/* The square a pawn comes from that goes straight to `to`, or NO_SQUARE. */
static inline int push_origin(const Position *position, Colour us, int to) {
    int back = us == WHITE ? -8 : 8, one = to + back;
    uint64_t occupied = position->sides[WHITE] | position->sides[BLACK], pawns = position_men(position, us, PAWN);
    if ((occupied & square_set(to)) || (unsigned)one > 63)
        return NO_SQUARE;
    if (pawns & square_set(one))
        return one;
    bool fourth = square_rank(to) == (us == WHITE ? 3 : 4);
    return fourth && !(occupied & square_set(one)) && (pawns & square_set(one + back)) ? one + back : NO_SQUARE;
}

static inline int capture_origin(const Position *position, Colour us, int file, int to) {
    int apart = file - square_file(to), one = to + (us == WHITE ? -8 : 8);
    if ((apart != 1 && apart != -1) || (unsigned)one > 63)
        return NO_SQUARE;
    bool prey = (position->sides[enemy_of(us)] & square_set(to)) != 0 || to == position_en_passant(position);
    return prey && (position_men(position, us, PAWN) & square_set(one + apart)) ? one + apart : NO_SQUARE;
}

static size_t read_pawn(const Position *position, const char *text, Move *ret) {
    Colour us = position_turn(position);
    bool capture = text[1] == 'x';
    size_t length = capture ? 4 : 2;
    if (capture ? !(is_file(text[2]) && is_rank(text[3])) : !is_rank(text[1]))
        return 0;
    int to = square_of(text + length - 2);
    int from = capture ? capture_origin(position, us, text[0] - 'a', to) : push_origin(position, us, to);
    if (from == NO_SQUARE)
        return 0;
    int promotion = EMPTY;
    if (square_set(to) & (RANK_1 | RANK_8)) {
        promotion = text[length] == '=' ? kinds_of[(unsigned char)text[length + 1]] : EMPTY;
        if (promotion == EMPTY || promotion == KING)
            return 0;
        length += 2;
    }
    int captured = capture && to == position_en_passant(position) ? to ^ 8 : to;
    if (!king_safe(position, from, to, captured))
        return 0;
    *ret = move_make(from, to, promotion);
    return with_check_mark(text, length);
}

/* --- pieces --- */

/* Where a piece goes and which ones are meant; the length, 0 if the token is none of these. */
static inline size_t parse_piece(const char *text, int *ret_to, uint64_t *ret_among) {
    if (is_file(text[1]) && is_rank(text[2]) && text[3] != 'x' && !is_file(text[3])) {
        *ret_to = square_of(text + 1);
        return 3;
    }
    size_t at = 1;
    uint64_t among = ~UINT64_C(0);
    if (is_file(text[at]) && !is_rank(text[at + 1]))
        among = FILE_A << (text[at++] - 'a');
    else if (is_rank(text[at]))
        among = RANK_1 << 8 * (text[at++] - '1');
    else if (is_file(text[at])) {
        among = square_set(square_of(text + at));
        at += 2;
    }
    at += text[at] == 'x';
    if (!is_file(text[at]) || !is_rank(text[at + 1]))
        return 0;
    *ret_to = square_of(text + at);
    *ret_among = among;
    return at + 2;
}

static size_t read_piece(const Position *position, const char *text, int kind, Move *ret) {
    int to;
    uint64_t among = ~UINT64_C(0);
    size_t length = parse_piece(text, &to, &among);
    Colour us = position_turn(position);
    if (length == 0 || (position->sides[us] & square_set(to)))
        return 0;
    uint64_t occupied = position->sides[WHITE] | position->sides[BLACK];
    uint64_t able = attacks_of(kind, to, occupied) & position_men(position, us, kind) & among;
    if (kind == KING) {
        uint64_t without = occupied & ~position_men(position, us, KING);
        if (able == 0 || (position_attackers(position, to, enemy_of(us), without) & ~square_set(to)) != 0)
            return 0;
        *ret = move_make(set_first(able), to, EMPTY);
        return with_check_mark(text, length);
    }
    int from = NO_SQUARE;
    for (; able != 0; able &= able - 1) {
        if (!king_safe(position, set_first(able), to, to))
            continue;
        if (from != NO_SQUARE)
            return 0;
        from = set_first(able);
    }
    if (from == NO_SQUARE)
        return 0;
    *ret = move_make(from, to, EMPTY);
    return with_check_mark(text, length);
}

/* Comes up once or twice in a game: the general question is quick enough. */
static size_t read_castling(const Position *position, const char *text, Move *ret) {
    if (text[1] != '-' || text[2] != 'O')
        return 0;
    bool long_one = text[3] == '-' && text[4] == 'O';
    Scene scene;
    scene_read(position, &scene);
    uint64_t left_of_king = square_set(scene.king) - 1;
    uint64_t rooks = scene_castling(&scene) & (long_one ? left_of_king : ~left_of_king);
    if (rooks == 0 || (rooks & (rooks - 1)) != 0)
        return 0;
    *ret = move_make(scene.king, set_first(rooks), EMPTY);
    return with_check_mark(text, long_one ? 5 : 3);
}

size_t san_read(const Position *position, const char *text, Move *ret) {
    int kind = kinds_of[(unsigned char)text[0]];
    if (kind != EMPTY)
        return read_piece(position, text, kind, ret);
    if (is_file(text[0]))
        return read_pawn(position, text, ret);
    return text[0] == 'O' ? read_castling(position, text, ret) : 0;
}
