#include "core/chess/movegen.h"

#include "core/chess/attacks.h"

/* What one generation needs to know, computed once. */
typedef struct Scene {
    const Position *position;
    MoveList *list;
    Colour us, them;
    int king;
    uint64_t own, enemy, occupied;
    uint64_t danger;   /* attacked by the enemy, the king himself not shielding */
    uint64_t checkers;
    uint64_t targets;  /* where men other than the king may go: anywhere, or to end a check */
    uint64_t pinned;   /* own men that may move only on their line with the king */
} Scene;

static void add(MoveList *list, int from, int to, int promotion) {
    list->moves[list->count++] = move_make(from, to, promotion);
}

static void add_all(MoveList *list, int from, uint64_t targets) {
    for (; targets != 0; targets &= targets - 1)
        add(list, from, set_first(targets), EMPTY);
}

static uint64_t attacked_by(const Position *position, Colour by, uint64_t occupied) {
    uint64_t side = position->sides[by];
    const uint64_t *kinds = position->kinds;
    uint64_t attacked = attacks_pawns(by, side & kinds[PAWN]) | attacks_knights(side & kinds[KNIGHT])
        | attacks_king(position_king(position, by));
    for (uint64_t men = side & (kinds[BISHOP] | kinds[QUEEN]); men != 0; men &= men - 1)
        attacked |= attacks_bishop(set_first(men), occupied);
    for (uint64_t men = side & (kinds[ROOK] | kinds[QUEEN]); men != 0; men &= men - 1)
        attacked |= attacks_rook(set_first(men), occupied);
    return attacked;
}

static uint64_t pinned_men(const Scene *scene) {
    const uint64_t *kinds = scene->position->kinds;
    uint64_t snipers = (attacks_rook(scene->king, scene->enemy) & (kinds[ROOK] | kinds[QUEEN]))
        | (attacks_bishop(scene->king, scene->enemy) & (kinds[BISHOP] | kinds[QUEEN]));
    uint64_t pinned = 0;
    for (snipers &= scene->enemy; snipers != 0; snipers &= snipers - 1) {
        uint64_t between = line_between(scene->king, set_first(snipers)) & scene->own;
        if (set_count(between) == 1)
            pinned |= between;
    }
    return pinned;
}

static void add_pieces(const Scene *scene) {
    uint64_t pieces = scene->own & ~scene->position->kinds[PAWN] & ~square_set(scene->king);
    for (; pieces != 0; pieces &= pieces - 1) {
        int from = set_first(pieces);
        int kind = piece_kind(position_piece_at(scene->position, from));
        uint64_t targets = attacks_of(kind, from, scene->occupied) & ~scene->own & scene->targets;
        if (scene->pinned & square_set(from))
            targets &= line_through(scene->king, from);
        add_all(scene->list, from, targets);
    }
}

/* Pawns that reach `targets` by going `step` squares up the board's numbering. */
static void add_pawns(const Scene *scene, uint64_t targets, int step) {
    for (; targets != 0; targets &= targets - 1) {
        int to = set_first(targets), from = to - step;
        if ((scene->pinned & square_set(from)) && !(line_through(scene->king, from) & square_set(to)))
            continue;
        if (square_set(to) & (RANK_1 | RANK_8))
            for (int kind = QUEEN; kind >= KNIGHT; kind--)
                add(scene->list, from, to, kind);
        else
            add(scene->list, from, to, EMPTY);
    }
}

static void add_en_passant(const Scene *scene, uint64_t pawns) {
    int to = scene->position->en_passant;
    if (to == NO_SQUARE)
        return;
    uint64_t able = attacks_pawns(scene->them, square_set(to)) & pawns;
    for (; able != 0; able &= able - 1)
        if (position_en_passant_safe(scene->position, set_first(able), to))
            add(scene->list, set_first(able), to, EMPTY);
}

static void add_pawn_moves(const Scene *scene) {
    uint64_t pawns = scene->own & scene->position->kinds[PAWN];
    uint64_t empty = ~scene->occupied, targets = scene->targets;
    bool white = scene->us == WHITE;
    int forward = white ? 8 : -8;
    uint64_t one = (white ? pawns << 8 : pawns >> 8) & empty;
    uint64_t third = white ? RANK_1 << 16 : RANK_8 >> 16;
    uint64_t two = (white ? (one & third) << 8 : (one & third) >> 8) & empty;
    uint64_t ahead = white ? pawns << 8 : pawns >> 8;
    add_pawns(scene, one & targets, forward);
    add_pawns(scene, two & targets, 2 * forward);
    add_pawns(scene, (ahead & ~FILE_H) << 1 & scene->enemy & targets, forward + 1);
    add_pawns(scene, (ahead & ~FILE_A) >> 1 & scene->enemy & targets, forward - 1);
    add_en_passant(scene, pawns);
}

static void add_castling(const Scene *scene) {
    uint64_t rooks = scene->position->castling & scene->own;
    for (; rooks != 0; rooks &= rooks - 1) {
        int rook = set_first(rooks), king_to, rook_to;
        Move move = move_make(scene->king, rook, EMPTY);
        castling_targets(scene->position, move, &king_to, &rook_to);
        uint64_t king_way = line_between(scene->king, king_to) | square_set(king_to);
        uint64_t rook_way = line_between(rook, rook_to) | square_set(rook_to);
        uint64_t others = scene->occupied & ~square_set(rook) & ~square_set(scene->king);
        if (((king_way | rook_way) & others) || (king_way & scene->danger))
            continue;
        /* In Chess960 the rook may have shielded the king along the rank. */
        uint64_t occupied = others | square_set(king_to) | square_set(rook_to);
        if (position_attackers(scene->position, king_to, scene->them, occupied) == 0)
            add(scene->list, scene->king, rook, EMPTY);
    }
}

void moves_legal(const Position *position, MoveList *ret) {
    Scene scene = { .position = position, .list = ret, .us = position_turn(position) };
    scene.them = scene.us == WHITE ? BLACK : WHITE;
    scene.own = position->sides[scene.us];
    scene.enemy = position->sides[scene.them];
    scene.occupied = scene.own | scene.enemy;
    scene.king = position_king(position, scene.us);
    scene.danger = attacked_by(position, scene.them, scene.occupied & ~square_set(scene.king));
    scene.targets = ~UINT64_C(0);
    ret->count = 0;

    add_all(ret, scene.king, attacks_king(scene.king) & ~scene.own & ~scene.danger);
    if (scene.danger & square_set(scene.king)) {
        scene.checkers = position_checkers(position);
        if (set_count(scene.checkers) > 1)
            return;
        scene.targets = scene.checkers | line_between(scene.king, set_first(scene.checkers));
    }
    scene.pinned = pinned_men(&scene);
    add_pieces(&scene);
    add_pawn_moves(&scene);
    if (scene.checkers == 0)
        add_castling(&scene);
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
    MoveList list;
    moves_legal(position, &list);
    for (int i = 0; i < list.count; i++)
        if (list.moves[i] == move)
            return true;
    return false;
}
