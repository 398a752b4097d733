#include "core/chess/movegen.h"

#include "core/chess/attacks.h"
#include "core/chess/scene.h"

static void add(MoveList *list, int from, int to, int promotion) {
    list->moves[list->count++] = move_make(from, to, promotion);
}

static void add_all(MoveList *list, int from, uint64_t targets) {
    for (; targets != 0; targets &= targets - 1)
        add(list, from, set_first(targets), EMPTY);
}

static void add_pieces(const Scene *scene, MoveList *list) {
    uint64_t pieces = scene->own & ~scene->position->kinds[PAWN] & ~square_set(scene->king);
    for (; pieces != 0; pieces &= pieces - 1) {
        int from = set_first(pieces);
        int kind = piece_kind(position_piece_at(scene->position, from));
        uint64_t targets = attacks_of(kind, from, scene->occupied) & ~scene->own & scene->targets;
        if (scene->pinned & square_set(from))
            targets &= line_through(scene->king, from);
        add_all(list, from, targets);
    }
}

/* Pawns that reach `targets` by going `step` squares up the board's numbering. */
static void add_pawns(const Scene *scene, MoveList *list, uint64_t targets, int step) {
    for (; targets != 0; targets &= targets - 1) {
        int to = set_first(targets), from = to - step;
        if ((scene->pinned & square_set(from)) && !(line_through(scene->king, from) & square_set(to)))
            continue;
        if (square_set(to) & (RANK_1 | RANK_8))
            for (int kind = QUEEN; kind >= KNIGHT; kind--)
                add(list, from, to, kind);
        else
            add(list, from, to, EMPTY);
    }
}

static void add_en_passant(const Scene *scene, MoveList *list, uint64_t pawns) {
    int to = scene->position->en_passant;
    if (to == NO_SQUARE)
        return;
    uint64_t able = attacks_pawns(scene->them, square_set(to)) & pawns;
    for (; able != 0; able &= able - 1)
        if (position_en_passant_safe(scene->position, set_first(able), to))
            add(list, set_first(able), to, EMPTY);
}

static void add_pawn_moves(const Scene *scene, MoveList *list) {
    uint64_t pawns = scene->own & scene->position->kinds[PAWN];
    uint64_t empty = ~scene->occupied, targets = scene->targets;
    bool white = scene->us == WHITE;
    int forward = white ? 8 : -8;
    uint64_t one = (white ? pawns << 8 : pawns >> 8) & empty;
    uint64_t third = white ? RANK_1 << 16 : RANK_8 >> 16;
    uint64_t two = (white ? (one & third) << 8 : (one & third) >> 8) & empty;
    uint64_t ahead = white ? pawns << 8 : pawns >> 8;
    add_pawns(scene, list, one & targets, forward);
    add_pawns(scene, list, two & targets, 2 * forward);
    add_pawns(scene, list, (ahead & ~FILE_H) << 1 & scene->enemy & targets, forward + 1);
    add_pawns(scene, list, (ahead & ~FILE_A) >> 1 & scene->enemy & targets, forward - 1);
    add_en_passant(scene, list, pawns);
}

static void add_castling(const Scene *scene, MoveList *list) {
    for (uint64_t rooks = scene_castling(scene); rooks != 0; rooks &= rooks - 1)
        add(list, scene->king, set_first(rooks), EMPTY);
}

static void add_king(const Scene *scene, MoveList *list) {
    for (uint64_t steps = attacks_king(scene->king) & ~scene->own; steps != 0; steps &= steps - 1)
        if (scene_safe(scene, scene->king, set_first(steps)))
            add(list, scene->king, set_first(steps), EMPTY);
}

void moves_legal(const Position *position, MoveList *ret) {
    Scene scene;
    scene_read(position, &scene);
    ret->count = 0;
    add_king(&scene, ret);
    if (scene.targets == 0)
        return;
    add_pieces(&scene, ret);
    add_pawn_moves(&scene, ret);
    add_castling(&scene, ret);
}

/* File before rank and promotion last, b n q r: how the letters of UCI sort. */
static int uci_rank(const Position *position, Move move) {
    static const int promotions[KIND_COUNT] = { [BISHOP] = 1, [KNIGHT] = 2, [QUEEN] = 3, [ROOK] = 4 };
    int from = move_from(move), to = move_to(move), rook;
    if (position_is_castling(position, move) && !position->chess960)
        castling_targets(position, move, &to, &rook);
    return ((square_file(from) * 8 + square_rank(from)) * 64 + square_file(to) * 8 + square_rank(to)) * 8
        + promotions[move_promotion(move)];
}

void moves_sort(const Position *position, MoveList *list) {
    for (int i = 1; i < list->count; i++) {
        Move move = list->moves[i];
        int rank = uci_rank(position, move), at = i;
        for (; at > 0 && uci_rank(position, list->moves[at - 1]) > rank; at--)
            list->moves[at] = list->moves[at - 1];
        list->moves[at] = move;
    }
}

bool move_is_legal(const Position *position, Move move) {
    Scene scene;
    scene_read(position, &scene);
    return scene_move_legal(&scene, move);
}

bool move_gives_check(const Position *before, Move move) {
    Colour us = position_turn(before), them = us == WHITE ? BLACK : WHITE;
    int king = position_king(before, them), to = move_to(move);
    uint64_t from = square_set(move_from(move)), target = square_set(to);
    const uint64_t *kinds = before->kinds;
    uint64_t own = before->sides[us] & ~from, occupied = (before->sides[WHITE] | before->sides[BLACK]) & ~from;
    uint64_t lines = kinds[ROOK] | kinds[QUEEN], diagonals = kinds[BISHOP] | kinds[QUEEN], direct = 0;
    if (own & target) { /* castling */
        int king_to, rook_to;
        castling_targets(before, move, &king_to, &rook_to);
        own &= ~target;
        occupied = (occupied & ~target) | square_set(king_to) | square_set(rook_to);
        direct = attacks_rook(king, occupied) & square_set(rook_to);
    } else {
        int kind = move_promotion(move) != EMPTY ? move_promotion(move) : piece_kind(position_piece_at(before, move_from(move)));
        occupied |= target;
        if (position_is_en_passant(before, move))
            occupied &= ~square_set(to ^ 8);
        direct = (kind == PAWN ? attacks_pawns(them, square_set(king)) : attacks_of(kind, king, occupied)) & target;
    }
    return direct != 0
        || (((attacks_rook(king, occupied) & lines) | (attacks_bishop(king, occupied) & diagonals)) & own) != 0;
}
