#include "core/chess/mating_ghosts.h"

#include "core/chess/attacks.h"
#include "core/chess/mating_store.h"
#include "core/chess/movegen.h"

/* Why nothing possible is left out. Take any game, lift the ghosts off its positions, and look at one move:
 * - a ghost moves: the board stays and the turn passes (`pass`), or a man on the board vanishes who stood in the
 *   ghost's reach (`ghost_takes`). Neither while the king stands in a check from the board which that does not end:
 *   checks on the board come from pawns, kings, knights and lines no ghost can enter, so no ghost interposes;
 * - a man on the board moves to a square of the board: it is a legal move there too, as fewer men attack;
 * - a pawn takes a ghost: `pawns_take_ghosts`. Other men who take one just move to its square.
 * A ghost that was taken is still thought to be there: it may then do less, not more.
 * So every game leads through positions seen here, and a mate in it would have passed as possible: the move before
 * gives check from the board or from where a ghost may be, and each square beside the king is attacked by the board
 * or by where a ghost may be, or held by a man of his own: one on the board or a ghost, each a different one. */

typedef struct Ghosts {
    Store store;
    Colour side, loser;
    uint64_t ghosts[2];    /* homes of each side's */
    uint64_t presence[2];  /* where each side's may be */
    uint64_t attacks;      /* what the side's may attack */
    uint64_t diagonal, straight; /* where the side's bishops and queens, rooks and queens may be */
    Blockers blockers;     /* the loser's ghosts */
    bool failed;           /* a mate cannot be ruled out */
} Ghosts;

static Colour other(Colour colour) {
    return colour == WHITE ? BLACK : WHITE;
}

/* Whether a ghost's line to the king may have been opened by the man who left this square. */
static bool may_discover(const Ghosts *ghosts, const Position *position, int king, int left) {
    uint64_t line = line_through(king, left);
    uint64_t sight = attacks_line(king, line, position->sides[WHITE] | position->sides[BLACK]);
    bool straight = square_file(king) == square_file(left) || square_rank(king) == square_rank(left);
    if ((sight & square_set(left)) == 0)
        return false;
    return (sight & ~line_between(king, left) & (straight ? ghosts->straight : ghosts->diagonal)) != 0;
}

/* Whether the loser, to move, may be mated. by_ghost: the last move was one of a ghost; else
 * `left` are the squares men left, from where a ghost's line may now be open. */
static bool may_be_mate(const Ghosts *ghosts, const Position *position, bool by_ghost, uint64_t left) {
    Colour side = ghosts->side;
    int king = position_king(position, ghosts->loser);
    bool check = by_ghost && ghosts->attacks & square_set(king);
    for (; !check && left != 0; left &= left - 1)
        check = may_discover(ghosts, position, king, set_first(left));
    if (!check && !position_in_check(position))
        return false;
    uint64_t occupied = position->sides[WHITE] | position->sides[BLACK];
    uint64_t beside = attacks_king(king) & ~position->sides[ghosts->loser] & ~ghosts->attacks, open = 0;
    for (; beside != 0; beside &= beside - 1) {
        int square = set_first(beside);
        if (position_attackers(position, square, side, occupied & ~square_set(king)))
            continue;
        if (occupied & square_set(square))
            return false; /* a man whom nothing protects can be taken */
        open |= square_set(square);
    }
    return blockers_fill(&ghosts->blockers, open);
}

/* A position that may arise after a move of the other than its turn. */
static void arise(Ghosts *ghosts, const Position *position, uint32_t parent, bool by_ghost, uint64_t left) {
    if (position_turn(position) == ghosts->loser && may_be_mate(ghosts, position, by_ghost, left))
        ghosts->failed = true;
    store_keep(&ghosts->store, position, parent, MOVE_NONE);
}

static bool leaves_check(const Position *after) {
    Colour mover = other(position_turn(after));
    return position_attackers(after, position_king(after, mover), position_turn(after),
                              after->sides[WHITE] | after->sides[BLACK]) != 0;
}

static void pass(Ghosts *ghosts, const Position *position, uint32_t at) {
    Position after = *position;
    after.turn = (uint8_t)other(position_turn(position));
    after.en_passant = NO_SQUARE;
    if (!leaves_check(&after))
        arise(ghosts, &after, at, true, 0);
}

static void ghost_takes(Ghosts *ghosts, const Position *position, uint32_t at) {
    Colour us = position_turn(position);
    uint64_t targets = position->sides[other(us)] & ~position->kinds[KING] & ghosts->presence[us];
    for (; targets != 0; targets &= targets - 1) {
        uint64_t taken = targets & -targets;
        Position after = *position;
        after.sides[other(us)] &= ~taken;
        for (int kind = PAWN; kind < KIND_COUNT; kind++)
            after.kinds[kind] &= ~taken;
        after.castling &= ~taken;
        after.turn = (uint8_t)other(us);
        after.en_passant = NO_SQUARE;
        if (!leaves_check(&after))
            arise(ghosts, &after, at, true, 0);
    }
}

static void pawns_take_ghosts(Ghosts *ghosts, const Position *position, uint32_t at) {
    Colour us = position_turn(position);
    uint64_t empty = ~(position->sides[WHITE] | position->sides[BLACK]);
    Position before = *position, after;
    before.en_passant = NO_SQUARE;
    for (uint64_t pawns = position_men(position, us, PAWN); pawns != 0; pawns &= pawns - 1) {
        int from = set_first(pawns);
        uint64_t targets = attacks_pawns(us, square_set(from)) & empty & ghosts->presence[other(us)];
        for (; targets != 0; targets &= targets - 1) {
            if (targets & -targets & (RANK_1 | RANK_8)) {
                ghosts->failed = true; /* promotion: not thought through */
                return;
            }
            position_move(&after, &before, move_make(from, set_first(targets), EMPTY));
            if (!leaves_check(&after))
                arise(ghosts, &after, at, false, square_set(from));
        }
    }
}

static void men_move(Ghosts *ghosts, const Position *position, uint32_t at) {
    MoveList list;
    moves_legal(position, &list);
    for (int i = 0; i < list.count; i++) {
        Move move = list.moves[i];
        if (move_promotion(move) != EMPTY) {
            ghosts->failed = true;
            return;
        }
        Position after;
        uint64_t left = square_set(move_from(move));
        if (position_is_en_passant(position, move))
            left |= square_set(move_to(move) ^ 8);
        position_move(&after, position, move);
        arise(ghosts, &after, at, false, left);
    }
}

static void expand(Ghosts *ghosts, uint32_t at) {
    Position position;
    store_get(&ghosts->store, at, &position);
    Colour us = position_turn(&position);
    men_move(ghosts, &position, at);
    if (ghosts->presence[other(us)] != 0)
        pawns_take_ghosts(ghosts, &position, at);
    if (ghosts->ghosts[us] != 0) {
        ghost_takes(ghosts, &position, at);
        pass(ghosts, &position, at);
    }
}

static void lift(const Position *position, const Walls *walls, uint64_t men, Ghosts *ret, Position *ret_board) {
    uint64_t reach[KIND_COUNT] = { 0 };
    Colour side = ret->side;
    for (int colour = WHITE; colour <= BLACK; colour++)
        ret->ghosts[colour] = men & position->sides[colour];
    for (uint64_t left = men; left != 0; left &= left - 1) {
        int home = set_first(left), piece = position_piece_at(position, home);
        uint64_t own = walls_reach_of(position, walls, home);
        ret->presence[piece_colour(piece)] |= own;
        if (piece_colour(piece) == side)
            reach[piece_kind(piece)] |= own;
    }
    ret->attacks = walls_attacks(position, reach, side);
    ret->diagonal = reach[BISHOP] | reach[QUEEN];
    ret->straight = reach[ROOK] | reach[QUEEN];
    blockers_find(position, walls, ret->ghosts[ret->loser], &ret->blockers);
    *ret_board = *position;
    for (int colour = WHITE; colour <= BLACK; colour++)
        ret_board->sides[colour] &= ~men;
    for (int kind = PAWN; kind < KIND_COUNT; kind++)
        ret_board->kinds[kind] &= ~men;
}

static bool prevent(const Position *position, const Walls *walls, Colour side, uint64_t men, const MatingLimits *limits,
                    uint64_t *ret_nodes) {
    Ghosts ghosts = { .side = side, .loser = other(side) };
    Position board;
    lift(position, walls, men, &ghosts, &board);
    if (!store_begin(&ghosts.store, &board, limits))
        return false;
    store_keep(&ghosts.store, &board, NO_NODE, MOVE_NONE);
    for (uint32_t at = 1; at <= ghosts.store.count && !ghosts.failed && !ghosts.store.overflowed; at++)
        expand(&ghosts, at);
    *ret_nodes += ghosts.store.count;
    return !ghosts.failed && !ghosts.store.overflowed;
}

bool ghosts_prevent_mate(const Position *position, const Walls *walls, Colour side, const MatingLimits *limits,
                         uint64_t *ret_nodes) {
    const uint64_t *kinds = position->kinds;
    uint64_t loose = (position->sides[WHITE] | position->sides[BLACK]) & ~walls->solid & ~kinds[PAWN] & ~kinds[KING];
    if (position->castling != 0)
        return false;
    if (prevent(position, walls, side, loose, limits, ret_nodes))
        return true;
    if (loose & (kinds[ROOK] | kinds[QUEEN]))
        return false;
    /* bishops of the other square colour and knights on the board: no ghost can enter their lines */
    for (uint64_t colour = LIGHT_SQUARES, i = 0; i < 2; i++, colour = ~colour) {
        uint64_t men = loose & kinds[BISHOP] & colour;
        if (men != 0 && men != loose && prevent(position, walls, side, men, limits, ret_nodes))
            return true;
    }
    return false;
}
