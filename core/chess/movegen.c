#include "core/chess/movegen.h"

#include "core/chess/attacks.h"
#include "core/chess/count.h"
#include "core/chess/scene.h"

/* Where found moves go: into a list, or only their number into a count. Which of the two is a constant wherever
 * the functions below are used, so each becomes a loop of its own kind. */
typedef struct Found {
    bool listing;
    Move *next;
    int count;
} Found;

static ALWAYS_INLINE void found(Found *found, int from, int to, int promotion) {
    *found->next++ = move_make(from, to, promotion);
}

static ALWAYS_INLINE void found_all(Found *to, int from, uint64_t targets) {
    if (!to->listing)
        to->count += set_count(targets);
    else
        for (; targets != 0; targets &= targets - 1)
            found(to, from, set_first(targets), EMPTY);
}

/* Men of the kinds that move like `kind`, a queen once as rook and once as bishop. */
static ALWAYS_INLINE void find_pieces(const Scene *scene, Found *to, uint64_t men, int kind) {
    for (uint64_t left = men & ~scene->pinned; left != 0; left &= left - 1) {
        int from = set_first(left);
        found_all(to, from, attacks_of(kind, from, scene->occupied) & scene->targets);
    }
    for (uint64_t left = kind == KNIGHT ? 0 : men & scene->pinned; left != 0; left &= left - 1) {
        int from = set_first(left);
        found_all(to, from, attacks_of(kind, from, scene->occupied) & scene->targets & line_through(scene->king, from));
    }
}

/* Pawns that reach `ends` by going `step` squares up the board's numbering. */
static ALWAYS_INLINE void found_pawns(Found *to, uint64_t ends, int step) {
    if (!to->listing) {
        to->count += set_count(ends);
        if (ends & (RANK_1 | RANK_8))
            to->count += 3 * set_count(ends & (RANK_1 | RANK_8));
        return;
    }
    for (uint64_t left = ends & ~(RANK_1 | RANK_8); left != 0; left &= left - 1)
        found(to, set_first(left) - step, set_first(left), EMPTY);
    for (uint64_t left = ends & (RANK_1 | RANK_8); left != 0; left &= left - 1)
        for (int kind = QUEEN; kind >= KNIGHT; kind--)
            found(to, set_first(left) - step, set_first(left), kind);
}

static ALWAYS_INLINE uint64_t ahead(uint64_t pawns, Colour us) {
    return us == WHITE ? pawns << 8 : pawns >> 8;
}

static ALWAYS_INLINE void find_pawns_to(const Scene *scene, Found *to, uint64_t pawns, uint64_t targets, const Colour us) {
    const int forward = us == WHITE ? 8 : -8;
    uint64_t next = ahead(pawns, us), one = next & ~scene->occupied;
    uint64_t two = ahead(one & (us == WHITE ? RANK_1 << 16 : RANK_8 >> 16), us) & ~scene->occupied;
    found_pawns(to, one & targets, forward);
    found_pawns(to, two & targets, 2 * forward);
    found_pawns(to, (next & ~FILE_H) << 1 & scene->enemy & targets, forward + 1);
    found_pawns(to, (next & ~FILE_A) >> 1 & scene->enemy & targets, forward - 1);
}

static ALWAYS_INLINE void find_pawns(const Scene *scene, Found *to, const Colour us) {
    uint64_t pawns = scene->own & scene->position->kinds[PAWN];
    find_pawns_to(scene, to, pawns & ~scene->pinned, scene->targets, us);
    for (uint64_t left = pawns & scene->pinned; left != 0; left &= left - 1)
        find_pawns_to(scene, to, left & -left, scene->targets & line_through(scene->king, set_first(left)), us);
    int passing = scene->position->en_passant;
    if (passing == NO_SQUARE)
        return;
    for (uint64_t left = attacks_pawns(scene->them, square_set(passing)) & pawns; left != 0; left &= left - 1)
        if (position_en_passant_safe(scene->position, set_first(left), passing))
            found_all(to, set_first(left), square_set(passing));
}

static ALWAYS_INLINE void find_moves(const Scene *scene, Found *to, const Colour us) {
    const uint64_t *kinds = scene->position->kinds;
    uint64_t own = scene->own;
    found_all(to, scene->king, scene_unattacked(scene, attacks_king(scene->king) & ~own));
    if (scene->targets == 0)
        return;
    find_pieces(scene, to, own & kinds[KNIGHT], KNIGHT);
    find_pieces(scene, to, own & (kinds[BISHOP] | kinds[QUEEN]), BISHOP);
    find_pieces(scene, to, own & (kinds[ROOK] | kinds[QUEEN]), ROOK);
    find_pawns(scene, to, us);
    if (scene->position->castling & own)
        found_all(to, scene->king, scene_castling(scene));
}

void moves_legal(const Position *position, MoveList *ret) {
    Scene scene;
    scene_read(position, &scene);
    ret->count = 0;
    Found to = { .listing = true, .next = ret->moves };
    if (scene.us == WHITE)
        find_moves(&scene, &to, WHITE);
    else
        find_moves(&scene, &to, BLACK);
    ret->count = (int)(to.next - ret->moves);
}

uint64_t count_plain(const Position *position) {
    Scene scene;
    scene_read(position, &scene);
    Found to = { .listing = false };
    if (scene.us == WHITE)
        find_moves(&scene, &to, WHITE);
    else
        find_moves(&scene, &to, BLACK);
    return (uint64_t)to.count;
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
    int from = move_from(move), to = move_to(move), king = position_king(before, them);
    int kind = move_promotion(move) != EMPTY ? move_promotion(move) : piece_kind(position_piece_at(before, from));
    uint64_t stays = before->sides[us] & ~square_set(from), target = square_set(to);
    uint64_t occupied = (before->sides[WHITE] | before->sides[BLACK]) & ~square_set(from);
    if (stays & target) { /* castling: what may give check is the rook */
        int king_to;
        stays &= ~target;
        occupied &= ~target;
        castling_targets(before, move, &king_to, &to);
        target = square_set(to);
        occupied |= square_set(king_to);
        kind = ROOK;
    } else if (kind == PAWN && to == before->en_passant) {
        occupied &= ~square_set(to ^ 8);
    }
    occupied |= target;
    uint64_t line_men = stays & (before->kinds[ROOK] | before->kinds[QUEEN]), diagonal_men = stays & (before->kinds[BISHOP] | before->kinds[QUEEN]);
    line_men |= kind == ROOK || kind == QUEEN ? target : 0;
    diagonal_men |= kind == BISHOP || kind == QUEEN ? target : 0;
    uint64_t near = (kind == PAWN ? attacks_pawns(them, square_set(king)) : 0) | (kind == KNIGHT ? attacks_knights(square_set(king)) : 0);
    if (near & target)
        return true;
    const Lines *lines = &LINES[king];
    uint64_t snipers = ((lines->file | lines->rank) & line_men) | ((lines->diagonal | lines->antidiagonal) & diagonal_men);
    for (; snipers != 0; snipers &= snipers - 1)
        if ((line_between(king, set_first(snipers)) & occupied) == 0)
            return true;
    return false;
}
