#include "core/chess/scene.h"

#include "core/chess/attacks.h"

/* Of each enemy slider on a line of our king, by what stands between: nobody, and it gives check; one man of
 * ours, and he is pinned. */
static void look_along_lines(Scene *scene) {
    const uint64_t *kinds = scene->position->kinds;
    const Lines *lines = &LINES[scene->king];
    uint64_t snipers = ((lines->file | lines->rank) & (kinds[ROOK] | kinds[QUEEN]))
        | ((lines->diagonal | lines->antidiagonal) & (kinds[BISHOP] | kinds[QUEEN]));
    for (snipers &= scene->enemy; snipers != 0; snipers &= snipers - 1) {
        uint64_t between = line_between(scene->king, set_first(snipers)) & scene->occupied;
        scene->checkers |= between == 0 ? snipers & -snipers : 0;
        scene->pinned |= (between & (between - 1)) == 0 ? between & scene->own : 0;
    }
}

void scene_read(const Position *position, Scene *ret) {
    ret->position = position;
    ret->us = position_turn(position);
    ret->them = ret->us == WHITE ? BLACK : WHITE;
    ret->own = position->sides[ret->us];
    ret->enemy = position->sides[ret->them];
    ret->occupied = ret->own | ret->enemy;
    ret->king = position_king(position, ret->us);
    uint64_t king = square_set(ret->king);
    ret->checkers = ((attacks_pawns(ret->us, king) & position->kinds[PAWN]) | (attacks_knights(king) & position->kinds[KNIGHT])) & ret->enemy;
    ret->pinned = 0;
    look_along_lines(ret);
    ret->targets = ~ret->own;
    if (ret->checkers != 0) {
        uint64_t others = ret->checkers & (ret->checkers - 1);
        ret->targets = others != 0 ? 0 : ret->checkers | line_between(ret->king, set_first(ret->checkers));
    }
}

uint64_t scene_unattacked(const Scene *scene, uint64_t squares) {
    const uint64_t *kinds = scene->position->kinds;
    uint64_t enemy = scene->enemy, occupied = scene->occupied & ~square_set(scene->king);
    squares &= ~(attacks_pawns(scene->them, enemy & kinds[PAWN]) | attacks_knights(enemy & kinds[KNIGHT])
                 | attacks_king(position_king(scene->position, scene->them)));
    uint64_t lines = enemy & (kinds[ROOK] | kinds[QUEEN]), diagonals = enemy & (kinds[BISHOP] | kinds[QUEEN]);
    for (uint64_t left = squares; left != 0; left &= left - 1) {
        int square = set_first(left);
        if ((attacks_rook(square, occupied) & lines) | (attacks_bishop(square, occupied) & diagonals))
            squares ^= left & -left;
    }
    return squares;
}

static uint64_t pawns_to(const Scene *scene, int to) {
    uint64_t target = square_set(to), pawns = scene->own & scene->position->kinds[PAWN];
    if ((target & scene->enemy) || to == scene->position->en_passant)
        return attacks_pawns(scene->them, target) & pawns;
    if (target & scene->occupied)
        return 0;
    bool white = scene->us == WHITE;
    uint64_t one = white ? target >> 8 : target << 8;
    uint64_t two = white ? target >> 16 & RANK_1 << 8 : target << 16 & RANK_8 >> 8;
    return (one & scene->occupied ? one : two) & pawns;
}

uint64_t scene_reachers(const Scene *scene, int kind, int to) {
    if (kind == PAWN)
        return pawns_to(scene, to);
    if (square_set(to) & scene->own)
        return 0;
    return attacks_of(kind, to, scene->occupied) & scene->own & scene->position->kinds[kind];
}

bool scene_safe(const Scene *scene, int from, int to) {
    const Position *position = scene->position;
    uint64_t man = square_set(from), target = square_set(to);
    if (from == scene->king)
        return scene_unattacked(scene, target) != 0;
    if (to == position->en_passant && (position->kinds[PAWN] & man))
        return position_en_passant_safe(position, from, to);
    return (scene->targets & target) && (!(scene->pinned & man) || (line_through(scene->king, from) & target));
}

uint64_t scene_movers(const Scene *scene, int kind, int to) {
    uint64_t movers = scene_reachers(scene, kind, to);
    if ((movers & scene->pinned) == 0 && (scene->targets & square_set(to)) && kind != KING && to != scene->position->en_passant)
        return movers;
    for (uint64_t left = movers; left != 0; left &= left - 1)
        if (!scene_safe(scene, set_first(left), to))
            movers ^= left & -left;
    return movers;
}

bool scene_legal(const Scene *scene, int from, int to) {
    uint64_t man = square_set(from) & scene->own;
    if (man == 0)
        return false;
    int kind = piece_kind(position_piece_at(scene->position, from));
    return (scene_reachers(scene, kind, to) & man) && scene_safe(scene, from, to);
}

/* Squares from one to another of the same rank, both included. */
static uint64_t span(int one, int other) {
    return one < other ? 2 * square_set(other) - square_set(one) : 2 * square_set(one) - square_set(other);
}

/* In check it is not: the way of the king begins where he stands. */
static bool castling_legal(const Scene *scene, int rook) {
    uint64_t others = scene->occupied & ~square_set(rook) & ~square_set(scene->king);
    if (span(scene->king, rook) & others) /* whatever the squares, one of the two crosses all between them */
        return false;
    int king_to, rook_to;
    castling_targets(scene->position, move_make(scene->king, rook, EMPTY), &king_to, &rook_to);
    uint64_t king_way = span(scene->king, king_to);
    if (((king_way | span(rook, rook_to)) & others) || scene_unattacked(scene, king_way) != king_way)
        return false;
    /* In Chess960 the rook may have shielded the king along the rank. */
    uint64_t occupied = others | square_set(king_to) | square_set(rook_to);
    const uint64_t *kinds = scene->position->kinds;
    return (attacks_line(king_to, LINES[king_to].rank, occupied) & scene->enemy & (kinds[ROOK] | kinds[QUEEN])) == 0;
}

uint64_t scene_castling(const Scene *scene) {
    uint64_t rooks = scene->position->castling & scene->own;
    for (uint64_t left = rooks; left != 0; left &= left - 1)
        if (!castling_legal(scene, set_first(left)))
            rooks ^= left & -left;
    return rooks;
}

bool scene_move_legal(const Scene *scene, Move move) {
    int from = move_from(move), to = move_to(move), promotion = move_promotion(move);
    uint64_t man = square_set(from), target = square_set(to);
    if (target & scene->own) /* none but castling */
        return from == scene->king && promotion == EMPTY && (scene_castling(scene) & target);
    bool promotes = (scene->position->kinds[PAWN] & man) && (target & (RANK_1 | RANK_8));
    if (promotes ? promotion < KNIGHT || promotion > QUEEN : promotion != EMPTY)
        return false;
    return scene_legal(scene, from, to);
}
