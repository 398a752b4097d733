#include "core/chess/mating_walls.h"

#include "core/chess/attacks.h"

#include <string.h>

/* A least fixpoint. It starts with every man at home and every occupied square solid, and
 * grows: a man reaches what his kind reaches from where he may be, over squares that are not
 * solid; a square is no longer solid when its man has somewhere to go or an enemy can come
 * there to take him. Why nothing possible is left out: look at the first move of a game that
 * does what the fixpoint denies. Up to it every man stood within his reach and every solid
 * square kept its man, so the rule below that allows this move had already been satisfied.
 * Whose turn it is, checks, and who took whom how often are left out; that only adds. */

static uint64_t diagonal_steps(uint64_t set) {
    uint64_t up = set << 8, down = set >> 8;
    return ((up | down) & ~FILE_H) << 1 | ((up | down) & ~FILE_A) >> 1;
}

static uint64_t straight_steps(uint64_t set) {
    return set << 8 | set >> 8 | (set & ~FILE_H) << 1 | (set & ~FILE_A) >> 1;
}

static uint64_t king_steps(uint64_t set) {
    return diagonal_steps(set) | straight_steps(set);
}

static uint64_t forward(Colour colour, uint64_t set) {
    return colour == WHITE ? set << 8 : set >> 8;
}

static Colour other(Colour colour) {
    return colour == WHITE ? BLACK : WHITE;
}

/* Where men of this colour other than the king may stand. */
static uint64_t presence(const Walls *walls, Colour colour) {
    const uint64_t *reach = walls->reach[colour];
    return reach[PAWN] | reach[KNIGHT] | reach[BISHOP] | reach[ROOK] | reach[QUEEN];
}

/* Squares a king of the other colour can never step on: attacked at arm's length by men of
 * this colour who stay for good. */
static uint64_t guarded(const Position *position, const Walls *walls, Colour by) {
    uint64_t men = position->sides[by] & walls->solid;
    const uint64_t *kinds = position->kinds;
    return attacks_pawns(by, men & kinds[PAWN]) | attacks_knights(men & kinds[KNIGHT])
        | diagonal_steps(men & (kinds[BISHOP] | kinds[QUEEN])) | straight_steps(men & (kinds[ROOK] | kinds[QUEEN]))
        | king_steps(men & kinds[KING]);
}

static uint64_t flood(uint64_t set, uint64_t (*steps)(uint64_t), uint64_t open) {
    for (uint64_t before = 0; before != set;) {
        before = set;
        set |= steps(set) & open;
    }
    return set;
}

/* Squares a pawn of this colour may capture on: men there, or the en passant square. */
static uint64_t capturable(const Position *position, const Walls *walls, Colour by) {
    uint64_t targets = presence(walls, other(by));
    if (position->en_passant != NO_SQUARE && position_turn(position) == by)
        targets |= square_set(position->en_passant);
    return targets;
}

/* Where pawns of this colour may arrive by taking. */
static uint64_t entries(const Position *position, const Walls *walls, Colour colour) {
    return attacks_pawns(colour, walls->reach[colour][PAWN]) & capturable(position, walls, colour);
}

/* Files as whole columns. */
static uint64_t files_of(uint64_t set) {
    set |= set >> 32;
    set |= set >> 16;
    set |= set >> 8;
    return (set & RANK_1) * FILE_A;
}

/* Squares pawns of this colour cannot advance to: solid ones, and the homes of enemy pawns that
 * stay on their file for good. Such a pawn has gone ahead when its home is empty, so who comes
 * to it down the file would have passed it; unless he took his way into that file. One that has
 * promoted had nobody left ahead of it. */
static uint64_t closed_to_pawns(const Position *position, const Walls *walls, Colour colour) {
    uint64_t staying = position_men(position, other(colour), PAWN) & ~walls->astray;
    return walls->solid | (staying & ~files_of(entries(position, walls, colour)));
}

static void spread(const Position *position, Walls *walls, Colour colour) {
    uint64_t *reach = walls->reach[colour];
    uint64_t enemy_king = position_men(position, other(colour), KING);
    uint64_t open = ~(walls->solid & (position->sides[colour] | enemy_king));
    reach[PAWN] |= (forward(colour, reach[PAWN]) & ~closed_to_pawns(position, walls, colour))
        | entries(position, walls, colour);
    uint64_t promoted = reach[PAWN] & (RANK_1 | RANK_8);
    if (promoted != 0) {
        for (int kind = KNIGHT; kind <= QUEEN; kind++)
            reach[kind] |= promoted;
    }
    reach[KNIGHT] = flood(reach[KNIGHT], attacks_knights, open);
    reach[BISHOP] = flood(reach[BISHOP], diagonal_steps, open);
    reach[ROOK] = flood(reach[ROOK], straight_steps, open);
    reach[QUEEN] = flood(reach[QUEEN], king_steps, open);
    reach[KING] = flood(reach[KING], king_steps, open & ~guarded(position, walls, other(colour)));
}

/* Men of this colour, at home so far, who can leave or be taken. */
static uint64_t loosened(const Position *position, const Walls *walls, Colour colour) {
    uint64_t home = position->sides[colour] & walls->solid;
    const uint64_t *kinds = position->kinds;
    uint64_t enemy_king = position_men(position, other(colour), KING);
    uint64_t open = ~(walls->solid & (position->sides[colour] | enemy_king));
    uint64_t walkable = open & ~guarded(position, walls, other(colour));
    uint64_t leaving = (kinds[PAWN]
                        & (forward(other(colour), ~closed_to_pawns(position, walls, colour))
                           | attacks_pawns(other(colour), capturable(position, walls, colour))))
        | (kinds[KNIGHT] & attacks_knights(open)) | ((kinds[BISHOP] | kinds[QUEEN]) & diagonal_steps(open))
        | ((kinds[ROOK] | kinds[QUEEN]) & straight_steps(open)) | (kinds[KING] & king_steps(walkable));
    uint64_t taken = presence(walls, other(colour)) | walls->reach[other(colour)][KING];
    return home & (leaving | (taken & ~kinds[KING]));
}

/* Where this pawn may stand by advancing alone. */
static uint64_t path_of(const Walls *walls, Colour colour, int home) {
    uint64_t ahead = colour == WHITE ? ~UINT64_C(0) << home : ~UINT64_C(0) >> (63 - home);
    return line_file(home) & walls->reach[colour][PAWN] & ahead;
}

/* Pawns of this colour that may take or be taken anywhere on their file. */
static uint64_t strayed(const Position *position, const Walls *walls, Colour colour) {
    const uint64_t *enemy = walls->reach[other(colour)];
    uint64_t takers = enemy[KNIGHT] | enemy[BISHOP] | enemy[ROOK] | enemy[QUEEN] | enemy[KING]
        | entries(position, walls, other(colour));
    uint64_t ends = takers | attacks_pawns(other(colour), capturable(position, walls, colour));
    uint64_t found = 0;
    for (uint64_t pawns = position_men(position, colour, PAWN) & ~walls->astray; pawns != 0; pawns &= pawns - 1) {
        int home = set_first(pawns);
        if (path_of(walls, colour, home) & ends)
            found |= square_set(home);
    }
    return found;
}

/* Castling puts king and rook where their steps may not: taken as possible while the right is there. */
static void add_castling(const Position *position, Walls *walls) {
    for (uint64_t rooks = position->castling; rooks != 0; rooks &= rooks - 1) {
        int rook = set_first(rooks), king_to, rook_to;
        Colour colour = position->sides[WHITE] & square_set(rook) ? WHITE : BLACK;
        int king = position_king(position, colour);
        castling_targets(position, move_make(king, rook, EMPTY), &king_to, &rook_to);
        walls->reach[colour][KING] |= square_set(king_to);
        walls->reach[colour][ROOK] |= square_set(rook_to);
        walls->solid &= ~(square_set(king) | square_set(rook));
    }
}

static void begin(const Position *position, Walls *ret) {
    ret->solid = position->sides[WHITE] | position->sides[BLACK];
    ret->astray = 0;
    for (int colour = WHITE; colour <= BLACK; colour++)
        for (int kind = EMPTY; kind < KIND_COUNT; kind++)
            ret->reach[colour][kind] = position->sides[colour] & position->kinds[kind];
    add_castling(position, ret);
    if (position->en_passant != NO_SQUARE) {
        ret->solid &= ~square_set(position->en_passant ^ 8);
        ret->astray |= square_set(position->en_passant ^ 8);
    }
}

/* One round of growing; false if nothing grew. */
static bool grow(const Position *position, Walls *walls) {
    Walls before = *walls;
    for (int colour = WHITE; colour <= BLACK; colour++)
        spread(position, walls, (Colour)colour);
    walls->solid &= ~(loosened(position, walls, WHITE) | loosened(position, walls, BLACK));
    walls->astray |= strayed(position, walls, WHITE) | strayed(position, walls, BLACK);
    return memcmp(&before, walls, sizeof before) != 0;
}

void walls_find(const Position *position, Walls *ret) {
    begin(position, ret);
    while (grow(position, ret)) { }
}

bool walls_hold(const Position *position, Colour side) {
    Walls walls;
    begin(position, &walls);
    while (grow(position, &walls))
        if (!walls_prevent_mate(position, &walls, side))
            return false;
    return walls_prevent_mate(position, &walls, side);
}

/* A line may pass through the enemy king, who does not shield the square behind him. */
uint64_t walls_attacks(const Position *position, const uint64_t reach[KIND_COUNT], Colour side) {
    uint64_t king = position_men(position, other(side), KING);
    uint64_t diagonal = reach[BISHOP] | reach[QUEEN], straight = reach[ROOK] | reach[QUEEN];
    diagonal |= diagonal_steps(diagonal) & king;
    straight |= straight_steps(straight) & king;
    return attacks_pawns(side, reach[PAWN]) | attacks_knights(reach[KNIGHT]) | diagonal_steps(diagonal)
        | straight_steps(straight);
}

static uint64_t pawn_reach(const Position *position, const Walls *walls, Colour colour, int home) {
    uint64_t reach = path_of(walls, colour, home);
    if (attacks_pawns(colour, reach) & capturable(position, walls, colour))
        reach = walls->reach[colour][PAWN];
    return reach & (RANK_1 | RANK_8) ? reach | presence(walls, colour) : reach;
}

uint64_t walls_flood(int kind, uint64_t from, uint64_t open) {
    switch (kind) {
    case KNIGHT: return flood(from, attacks_knights, open);
    case BISHOP: return flood(from, diagonal_steps, open);
    case ROOK: return flood(from, straight_steps, open);
    default: return flood(from, king_steps, open);
    }
}

uint64_t walls_reach_of(const Position *position, const Walls *walls, int square) {
    int piece = position_piece_at(position, square), kind = piece_kind(piece);
    Colour colour = piece_colour(piece);
    if (kind == PAWN)
        return pawn_reach(position, walls, colour, square);
    if (kind == KING || kind == ROOK) /* castling may have put them elsewhere */
        return walls->reach[colour][kind];
    uint64_t enemy_king = position_men(position, other(colour), KING);
    return walls_flood(kind, square_set(square), ~(walls->solid & (position->sides[colour] | enemy_king)));
}

void blockers_find(const Position *position, const Walls *walls, uint64_t men, Blockers *ret) {
    ret->count = 0;
    for (; men != 0; men &= men - 1)
        ret->reach[ret->count++] = walls_reach_of(position, walls, set_first(men));
}

/* Bipartite matching by augmenting paths: `taken[i]` is the square that man i is to block. */
static bool assign(const Blockers *blockers, int square, int taken[], uint32_t *tried) {
    for (int man = 0; man < blockers->count; man++) {
        if (!(blockers->reach[man] & square_set(square)) || (*tried & (UINT32_C(1) << man)))
            continue;
        *tried |= UINT32_C(1) << man;
        if (taken[man] == NO_SQUARE || assign(blockers, taken[man], taken, tried)) {
            taken[man] = square;
            return true;
        }
    }
    return false;
}

bool blockers_fill(const Blockers *blockers, uint64_t squares) {
    int taken[BLOCKERS_MAX];
    if (set_count(squares) > blockers->count)
        return false;
    for (int man = 0; man < blockers->count; man++)
        taken[man] = NO_SQUARE;
    for (; squares != 0; squares &= squares - 1) {
        uint32_t tried = 0;
        if (!assign(blockers, set_first(squares), taken, &tried))
            return false;
    }
    return true;
}

enum { NOT_FOUND = -1 };

bool walls_prevent_mate(const Position *position, const Walls *walls, Colour side) {
    Colour loser = other(side);
    uint64_t checks = walls_attacks(position, walls->reach[side], side), kings = walls->reach[side][KING];
    uint64_t own = position->sides[loser] & ~position->kinds[KING];
    /* every square beside the mated king is attacked, or a man of his own stands there */
    uint64_t shut = checks | king_steps(kings) | presence(walls, loser);
    uint64_t places = walls->reach[loser][KING] & checks & ~king_steps(~shut);
    if (places == 0)
        return true;
    Blockers blockers = { .count = NOT_FOUND };
    for (; places != 0; places &= places - 1) {
        int king = set_first(places);
        uint64_t beside = attacks_king(king);
        for (uint64_t from = kings & ~(beside | square_set(king)); from != 0; from &= from - 1) {
            uint64_t open = beside & ~checks & ~attacks_king(set_first(from)) & ~(walls->solid & own);
            if (open == 0)
                return false;
            if (blockers.count == NOT_FOUND)
                blockers_find(position, walls, own & ~walls->solid, &blockers);
            if (blockers_fill(&blockers, open))
                return false;
        }
    }
    return true;
}
