/* The body of counting, written in lanes (lanes.h). Each count_*.c includes it once, after the
 * lanes it is to be compiled with; without any it is empty. It leaves moves_of() and
 * replies_of(), which are CountWay's moves and replies. */
#ifndef EPISTLE_CORE_CHESS_COUNT_BODY_H
#define EPISTLE_CORE_CHESS_COUNT_BODY_H

#include "core/chess/count.h"

#ifdef LANES_TARGET

LANES_INLINE Lanes step(Lanes sets) {
    return lanes_and(lanes_turn(sets, STEP_ONE), lanes_table(STEP_ARRIVES));
}

LANES_INLINE Lanes jumps(uint64_t knights) {
    return lanes_and(lanes_turn(lanes_all(knights), JUMP), lanes_table(JUMP_ARRIVES));
}

/* Squares from which the last one, two, four steps in each direction went over open squares. */
LANES_INLINE Paths paths_over(uint64_t open) {
    Paths paths;
    paths.one = lanes_and(lanes_all(open), lanes_table(STEP_ARRIVES));
    paths.two = lanes_and(paths.one, lanes_turn(paths.one, STEP_ONE));
    paths.four = lanes_and(paths.two, lanes_turn(paths.two, STEP_TWO));
    return paths;
}

/* What sliders attack: as far as squares are open, and the first that is not. */
LANES_INLINE Lanes slide(Lanes from, const Paths *paths) {
    from = lanes_or(from, lanes_and(paths->one, lanes_turn(from, STEP_ONE)));
    from = lanes_or(from, lanes_and(paths->two, lanes_turn(from, STEP_TWO)));
    from = lanes_or(from, lanes_and(paths->four, lanes_turn(from, STEP_FOUR)));
    return step(from);
}

LANES_INLINE uint64_t ahead(uint64_t pawns, Colour us) {
    return us == WHITE ? pawns << 8 : pawns >> 8;
}

LANES_INLINE int promoting(uint64_t ends) {
    return 3 * __builtin_popcountll(ends & (RANK_1 | RANK_8));
}

LANES_INLINE int pawn_moves(uint64_t pawns, uint64_t enemy, uint64_t occupied, uint64_t allowed, Colour us) {
    uint64_t one = ahead(pawns, us), right = (one & ~FILE_H) << 1 & enemy & allowed, left = (one & ~FILE_A) >> 1 & enemy & allowed;
    one &= ~occupied;
    uint64_t two = ahead(one & (us == WHITE ? RANK_1 << 16 : RANK_8 >> 16), us) & ~occupied & allowed;
    one &= allowed;
    int count = __builtin_popcountll(one) + __builtin_popcountll(two) + __builtin_popcountll(right) + __builtin_popcountll(left);
    if (pawns & (us == WHITE ? RANK_8 >> 8 : RANK_1 << 8))
        count += promoting(one) + promoting(right) + promoting(left);
    return count;
}

/* Moves of pinned men that leave the line of their pin: counted above, and not legal. */
static inline LANES_TARGET int pinned_moves(const Men *men, uint64_t pinned, int king, uint64_t own, uint64_t enemy, Colour us) {
    uint64_t occupied = own | enemy, queens = men_kind(men, QUEEN);
    int count = 0;
    for (; pinned != 0; pinned &= pinned - 1) {
        int from = set_first(pinned);
        uint64_t man = square_set(from), off = ~line_through(king, from), to = 0;
        if (men_kind(men, PAWN) & man) {
            count += pawn_moves(man, enemy, occupied, off, us);
            continue;
        }
        if (men_kind(men, KNIGHT) & man)
            to = attacks_knights(man);
        if ((men_kind(men, ROOK) | queens) & man)
            to |= attacks_rook(from, occupied);
        if ((men_kind(men, BISHOP) | queens) & man)
            to |= attacks_bishop(from, occupied);
        count += __builtin_popcountll(to & off & ~own);
    }
    return count;
}

/* Counts the moves of `us`, castling and en passant apart, into *tally and *count; false, and
 * nothing counted, if he is in check. *ret_attacked: the squares his enemy attacks. (That a king
 * shields what is behind him matters in check alone.) */
LANES_INLINE bool count_men(const Men *men, const Colour us, Tally *tally, uint64_t *count, uint64_t *ret_attacked) {
    const Colour them = us == WHITE ? BLACK : WHITE;
    uint64_t own = men->sets[us], enemy = men->sets[them], occupied = own | enemy, king = men_kind(men, KING) & own;
    uint64_t lines = men_kind(men, ROOK) | men_kind(men, QUEEN), diagonals = men_kind(men, BISHOP) | men_kind(men, QUEEN);
    Paths paths = paths_over(~occupied);
    Lanes theirs = slide(lanes_sliders(lines & enemy, diagonals & enemy), &paths);
    Lanes beams = lanes_and(theirs, lanes_opposite(slide(lanes_all(king), &paths))); /* from their sliders and from our king */
    Lanes leaps = lanes_or(jumps(enemy & men_kind(men, KNIGHT)), step(lanes_all(enemy & men_kind(men, KING))));
    uint64_t attacked = lanes_union(lanes_or(theirs, leaps)) | attacks_pawns(them, enemy & men_kind(men, PAWN));
    *ret_attacked = attacked;
    if (attacked & king)
        return false;
    Lanes free = lanes_all(~own);
    Tally sum = tally_add(*tally, lanes_and(slide(lanes_sliders(lines & own, diagonals & own), &paths), free));
    sum = tally_add(sum, lanes_and(jumps(own & men_kind(men, KNIGHT)), free));
    *tally = tally_add(sum, lanes_and(step(lanes_all(king)), lanes_all(~own & ~attacked)));
    *count += (uint64_t)pawn_moves(own & men_kind(men, PAWN), enemy, occupied, ~UINT64_C(0), us);
    if (lanes_meet(beams, own))
        *count -= (uint64_t)pinned_moves(men, lanes_union(beams) & own, set_first(king), own, enemy, us);
    return true;
}

/* Squares from one to another of the same rank, both included. */
LANES_INLINE uint64_t span(int one, int other) {
    return one < other ? 2 * square_set(other) - square_set(one) : 2 * square_set(one) - square_set(other);
}

/* Castling of a king not in check, as scene_castling() has it. */
LANES_INLINE uint64_t count_castling(const Men *men, uint64_t rooks, uint64_t attacked, Colour us) {
    uint64_t own = men->sets[us], enemy = men->sets[us == WHITE ? BLACK : WHITE], count = 0;
    int king = set_first(own & men_kind(men, KING));
    for (rooks &= own; rooks != 0; rooks &= rooks - 1) {
        int rook = set_first(rooks), first = rook & 56;
        uint64_t both = square_set(king) | square_set(rook), others = (own | enemy) & ~both;
        if (span(king, rook) & others)
            continue;
        int king_to = first + (rook > king ? 6 : 2), rook_to = first + (rook > king ? 5 : 3);
        uint64_t king_way = span(king, king_to);
        if (((king_way | span(rook, rook_to)) & others) || (king_way & attacked))
            continue;
        /* In Chess960 the rook may have shielded the king along the rank. */
        uint64_t occupied = others | square_set(king_to) | square_set(rook_to);
        count += (attacks_line(king_to, LINES[king_to].rank, occupied) & enemy & (men_kind(men, ROOK) | men_kind(men, QUEEN))) == 0;
    }
    return count;
}

LANES_INLINE uint64_t moves_for(const Position *position, const Men *men, const Colour us) {
    uint64_t count = 0, attacked;
    Tally tally = tally_none();
    if (position->en_passant != NO_SQUARE || !count_men(men, us, &tally, &count, &attacked))
        return count_plain(position);
    if (position->castling & position->sides[us])
        count += count_castling(men, position->castling, attacked, us);
    return count + tally_total(tally);
}

static inline void men_read(const Position *position, Men *ret) {
    ret->sets[WHITE] = position->sides[WHITE];
    ret->sets[BLACK] = position->sides[BLACK];
    for (int kind = PAWN; kind < KIND_COUNT; kind++)
        ret->sets[MEN_KINDS + kind - PAWN] = position->kinds[kind];
}

static inline LANES_TARGET uint64_t moves_of(const Position *position) {
    Men men;
    men_read(position, &men);
    return position->turn == WHITE ? moves_for(position, &men, WHITE) : moves_for(position, &men, BLACK);
}

/* Moves that change more than two squares, the kind of a man, or what may be captured en passant. */
LANES_INLINE bool is_special(const Position *position, Move move, const Colour us) {
    uint64_t from = square_set(move_from(move)), to = square_set(move_to(move));
    if (move_promotion(move) != EMPTY || (to & position->sides[us]))
        return true;
    if (!(from & position->kinds[PAWN]))
        return false;
    if (move_to(move) == position->en_passant)
        return true;
    uint64_t beside = (to & ~FILE_H) << 1 | (to & ~FILE_A) >> 1;
    return (move_from(move) ^ move_to(move)) == 16 && (beside & position->kinds[PAWN]) != 0;
}

LANES_INLINE uint64_t replies_for(const Position *position, const MoveList *list, const Colour us) {
    const Colour them = us == WHITE ? BLACK : WHITE;
    uint64_t count = 0;
    Tally tally = tally_none();
    Men men, moved;
    men_read(position, &men);
    for (int i = 0; i < list->count; i++) {
        Move move = list->moves[i];
        uint64_t from = square_set(move_from(move)), to = square_set(move_to(move)), attacked;
        if (is_special(position, move, us)) {
            Position after;
            position_move(&after, position, move);
            count += moves_of(&after);
            continue;
        }
        men_move(&moved, &men, from, to);
        if (!count_men(&moved, them, &tally, &count, &attacked)) {
            Position after;
            position_move(&after, position, move);
            count += count_plain(&after);
            continue;
        }
        uint64_t castling = position->castling & position->sides[them];
        if (castling != 0)
            count += count_castling(&moved, castling, attacked, them);
    }
    return count + tally_total(tally);
}

static inline LANES_TARGET uint64_t replies_of(const Position *position, const MoveList *list) {
    return position->turn == WHITE ? replies_for(position, list, WHITE) : replies_for(position, list, BLACK);
}

#endif
#endif
