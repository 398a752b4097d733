#include "core/chess/mating_ghosts.h"

#include "core/chess/attacks.h"
#include "core/chess/mating_store.h"
#include "core/chess/movegen.h"

/* Why nothing possible is left out. Take any game that ends in a mate by the side, lift the ghosts off its positions, and look at one move:
 * - a ghost moves: the board stays and the turn passes (`pass`), or a man on the board vanishes who stood in the
 *   ghost's reach (`ghost_takes`). Neither while the king stands in a check from the board which that does not end
 *   and no ghost can interpose;
 * - a man on the board moves to a square of the board: he can there too, as fewer men block and attack;
 * - a pawn takes a ghost: `pawns_take_ghosts`. Other men who take one just move to its square.
 * A capture en passant may be illegal on the board and legal in the game, as a ghost shields the king: the square behind a
 * pawn that went two squares is kept wherever a pawn on the board could use it, and the check judged like every other.
 * A ghost that was taken is still thought to be there: it may then do less, not more.
 * Where a ghost may be: it moves when it is its side's turn, over squares that are then held by no man on the board of
 * its own and not by the other king. A square so held in every position seen with that side to move is closed to it.
 * So long as the game's positions have all been seen, that is all it can do.
 * A pawn of the loser's may be lifted too. It does what the pawn does and, if it gets to the end, what a queen or a knight
 * does from there, which is what anything it becomes can do; en passant it takes a pawn that stands beside where it goes.
 * Never while the side has ghosts: taken en passant it would open a line on which nobody comes to stand.
 * A side left with nothing but the king, on the board and off it, mates no more: such positions are not in the game.
 * So every game leads through positions seen here, and a mate in it would have passed as possible: the move before
 * gives check from the board or from where a ghost may be, and each square beside the king is attacked by the board
 * or by where a ghost may be, or held by a man of his own: one on the board or a ghost, each a different one. If the
 * side has no ghosts, nor has the loser a legal move on the board over squares that none of his ghosts may hold: more men
 * on the board would all be his own, so that move, which nothing hinders, would be legal in the game too. */

typedef struct Ghosts {
    Store store;
    Colour side, loser;
    uint64_t ghosts[2];    /* homes of each side's */
    uint64_t reach[64];    /* where the ghost of this home may be */
    uint64_t presence[2];  /* the same of each side's */
    uint64_t passing[2];   /* the same of its lifted pawns */
    uint64_t held[2];      /* squares of its own men or the other king, whenever it was that side's turn */
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

/* Whether the loser has a legal move, wherever his ghosts are; asked only if the side has none. */
static bool escapes(const Ghosts *ghosts, const Position *position) {
    MoveList list;
    moves_legal(position, &list);
    for (int i = 0; i < list.count; i++) {
        int from = move_from(list.moves[i]), to = move_to(list.moves[i]);
        uint64_t needed = line_between(from, to) | (square_set(to) & ~position->sides[ghosts->side]);
        if ((needed & ghosts->presence[ghosts->loser]) == 0)
            return true;
    }
    return false;
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
    return blockers_fill(&ghosts->blockers, open) && (ghosts->ghosts[side] != 0 || !escapes(ghosts, position));
}

/* A position that may arise after a move of the other than its turn. */
static void arise(Ghosts *ghosts, const Position *position, uint32_t parent, bool by_ghost, uint64_t left) {
    Colour turn = position_turn(position);
    if (((position->sides[ghosts->side] & ~position->kinds[KING]) | ghosts->ghosts[ghosts->side]) == 0)
        return;
    if (turn == ghosts->loser && may_be_mate(ghosts, position, by_ghost, left))
        ghosts->failed = true;
    mating_store_keep(&ghosts->store, position, parent, MOVE_NONE);
    ghosts->held[turn] &= position->sides[turn] | position->kinds[KING];
}

/* The king of who has just moved is attacked from the board, and no ghost can be in between. */
static bool leaves_check(const Ghosts *ghosts, const Position *after) {
    Colour mover = other(position_turn(after));
    uint64_t occupied = after->sides[WHITE] | after->sides[BLACK];
    uint64_t shields = ghosts->presence[WHITE] | ghosts->presence[BLACK];
    return position_attackers(after, position_king(after, mover), position_turn(after), occupied | shields) != 0;
}

static void pass(Ghosts *ghosts, const Position *position, uint32_t at) {
    Position after = *position;
    after.turn = (uint8_t)other(position_turn(position));
    after.en_passant = NO_SQUARE;
    if (!leaves_check(ghosts, &after))
        arise(ghosts, &after, at, true, 0);
}

/* Pawns on the board that a lifted one might take en passant, had they just gone two squares. */
static uint64_t beside_passing(const Ghosts *ghosts, const Position *position) {
    Colour us = position_turn(position);
    uint64_t behind = ghosts->passing[us] & (us == WHITE ? RANK_8 >> 16 : RANK_1 << 16);
    return position_men(position, other(us), PAWN) & (us == WHITE ? behind >> 8 : behind << 8);
}

static void ghost_takes(Ghosts *ghosts, const Position *position, uint32_t at) {
    Colour us = position_turn(position);
    uint64_t targets = position->sides[other(us)] & ~position->kinds[KING] & ghosts->presence[us];
    targets |= beside_passing(ghosts, position);
    for (; targets != 0; targets &= targets - 1) {
        uint64_t taken = targets & -targets;
        Position after = *position;
        after.sides[other(us)] &= ~taken;
        for (int kind = PAWN; kind < KIND_COUNT; kind++)
            after.kinds[kind] &= ~taken;
        after.castling &= ~taken;
        after.turn = (uint8_t)other(us);
        after.en_passant = NO_SQUARE;
        if (!leaves_check(ghosts, &after))
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
            bool promotes = (targets & -targets & (RANK_1 | RANK_8)) != 0;
            for (int kind = promotes ? KNIGHT : EMPTY; kind <= (promotes ? QUEEN : EMPTY); kind++) {
                position_move(&after, &before, move_make(from, set_first(targets), kind));
                if (!leaves_check(ghosts, &after))
                    arise(ghosts, &after, at, false, square_set(from));
            }
        }
    }
}

/* position_move() keeps the square only if the capture is legal; here a ghost may make it so. */
static void allow_en_passant(const Position *position, Move move, Position *after) {
    Colour us = position_turn(position);
    int from = move_from(move), to = move_to(move), behind = (from + to) / 2;
    bool two = to - from == 16 || from - to == 16;
    if (two && position_men(position, us, PAWN) & square_set(from)
        && attacks_pawns(us, square_set(behind)) & position_men(position, other(us), PAWN))
        after->en_passant = (int8_t)behind;
}

static void try_move(Ghosts *ghosts, const Position *position, uint32_t at, Move move) {
    Position after;
    uint64_t left = square_set(move_from(move));
    if (position_is_en_passant(position, move))
        left |= square_set(move_to(move) ^ 8);
    position_move(&after, position, move);
    allow_en_passant(position, move, &after);
    if (!leaves_check(ghosts, &after))
        arise(ghosts, &after, at, false, left);
}

static void pawns_move(Ghosts *ghosts, const Position *position, uint32_t at) {
    Colour us = position_turn(position);
    uint64_t empty = ~(position->sides[WHITE] | position->sides[BLACK]);
    uint64_t targets = position->sides[other(us)] & ~position->kinds[KING];
    uint64_t third = us == WHITE ? RANK_1 << 16 : RANK_8 >> 16;
    if (position->en_passant != NO_SQUARE)
        targets |= square_set(position->en_passant);
    for (uint64_t pawns = position_men(position, us, PAWN); pawns != 0; pawns &= pawns - 1) {
        int from = set_first(pawns);
        uint64_t one = (us == WHITE ? square_set(from) << 8 : square_set(from) >> 8) & empty;
        uint64_t two = (us == WHITE ? (one & third) << 8 : (one & third) >> 8) & empty;
        uint64_t to = one | two | (attacks_pawns(us, square_set(from)) & targets);
        for (; to != 0; to &= to - 1)
            if (to & -to & (RANK_1 | RANK_8))
                for (int kind = KNIGHT; kind <= QUEEN; kind++)
                    try_move(ghosts, position, at, move_make(from, set_first(to), kind));
            else
                try_move(ghosts, position, at, move_make(from, set_first(to), EMPTY));
    }
}

/* Not moves_legal(): a ghost may stand in the way of a check. */
static void men_move(Ghosts *ghosts, const Position *position, uint32_t at) {
    Colour us = position_turn(position);
    uint64_t own = position->sides[us], enemy_king = position_men(position, other(us), KING);
    uint64_t occupied = position->sides[WHITE] | position->sides[BLACK];
    for (uint64_t men = own & ~position->kinds[PAWN]; men != 0; men &= men - 1) {
        int from = set_first(men);
        uint64_t to = attacks_of(piece_kind(position_piece_at(position, from)), from, occupied) & ~own & ~enemy_king;
        for (; to != 0; to &= to - 1)
            try_move(ghosts, position, at, move_make(from, set_first(to), EMPTY));
    }
    pawns_move(ghosts, position, at);
}

static void expand(Ghosts *ghosts, uint32_t at) {
    Position position;
    mating_store_get(&ghosts->store, at, &position);
    Colour us = position_turn(&position);
    men_move(ghosts, &position, at);
    if (ghosts->presence[other(us)] != 0)
        pawns_take_ghosts(ghosts, &position, at);
    if (ghosts->ghosts[us] != 0) {
        ghost_takes(ghosts, &position, at);
        pass(ghosts, &position, at);
    }
}

/* Where a lifted pawn may be: as a pawn, then from the last rank as whatever it becomes. */
static uint64_t pawn_flood(Colour colour, uint64_t from, uint64_t open) {
    for (uint64_t before = 0; before != from;) {
        before = from;
        from |= ((colour == WHITE ? from << 8 : from >> 8) | attacks_pawns(colour, from)) & open;
    }
    uint64_t promoted = from & (RANK_1 | RANK_8);
    return from | walls_flood(QUEEN, promoted, open) | walls_flood(KNIGHT, promoted, open);
}

/* Where the ghosts may be, over squares that are not always taken. False if no ghost has got further. */
static bool haunt(Ghosts *ghosts, const Position *position, const Walls *walls, const Position *board) {
    uint64_t reach[KIND_COUNT] = { 0 }, presence[2] = { 0, 0 }, passing[2] = { 0, 0 };
    bool grown = false;
    ghosts->blockers.count = 0;
    for (uint64_t left = ghosts->ghosts[WHITE] | ghosts->ghosts[BLACK]; left != 0; left &= left - 1) {
        int home = set_first(left), piece = position_piece_at(position, home), kind = piece_kind(piece);
        Colour colour = piece_colour(piece);
        uint64_t open = walls_reach_of(position, walls, home) & ~ghosts->held[colour];
        uint64_t own = kind == PAWN ? pawn_flood(colour, square_set(home), open) : walls_flood(kind, square_set(home), open);
        grown = grown || own != ghosts->reach[home];
        ghosts->reach[home] = own;
        presence[colour] |= own;
        passing[colour] |= kind == PAWN ? own : 0;
        if (colour == ghosts->side)
            reach[kind] |= own;
        else
            ghosts->blockers.reach[ghosts->blockers.count++] = own;
    }
    ghosts->presence[WHITE] = presence[WHITE];
    ghosts->presence[BLACK] = presence[BLACK];
    ghosts->passing[WHITE] = passing[WHITE];
    ghosts->passing[BLACK] = passing[BLACK];
    ghosts->attacks = walls_attacks(board, reach, ghosts->side);
    ghosts->diagonal = reach[BISHOP] | reach[QUEEN];
    ghosts->straight = reach[ROOK] | reach[QUEEN];
    return grown;
}

static void lift(const Position *position, uint64_t men, Ghosts *ret, Position *ret_board) {
    *ret_board = *position;
    for (int colour = WHITE; colour <= BLACK; colour++) {
        ret->ghosts[colour] = men & position->sides[colour];
        ret_board->sides[colour] &= ~men;
        ret->held[colour] = ret_board->sides[colour] | position->kinds[KING];
    }
    for (int kind = PAWN; kind < KIND_COUNT; kind++)
        ret_board->kinds[kind] &= ~men;
}

/* Where ghosts may be and what may stand on the board depend on each other: both grow until neither does. */
static bool prevent(const Position *position, const Walls *walls, Colour side, uint64_t men, const MatingLimits *limits,
                    uint64_t *ret_nodes) {
    Ghosts ghosts = { .side = side, .loser = other(side) };
    Position board;
    lift(position, men, &ghosts, &board);
    haunt(&ghosts, position, walls, &board);
    do {
        if (!mating_store_begin(&ghosts.store, &board, limits))
            return false;
        mating_store_keep(&ghosts.store, &board, NO_NODE, MOVE_NONE);
        for (uint32_t at = 1; at <= ghosts.store.count && !ghosts.failed && !ghosts.store.overflowed; at++)
            expand(&ghosts, at);
        *ret_nodes += ghosts.store.count;
        if (ghosts.failed || ghosts.store.overflowed)
            return false;
    } while (haunt(&ghosts, position, walls, &board));
    return true;
}

/* Men of these who have a move now, legal or not. */
static uint64_t mobile(const Position *position, uint64_t men) {
    uint64_t occupied = position->sides[WHITE] | position->sides[BLACK], found = 0;
    for (; men != 0; men &= men - 1) {
        int from = set_first(men), piece = position_piece_at(position, from);
        if (attacks_of(piece_kind(piece), from, occupied) & ~position->sides[piece_colour(piece)])
            found |= square_set(from);
    }
    return found;
}

/* The loser's pawns that can advance now, if the side has a single man besides the king: then all that follows on who
 * takes him is over, and what is left to count is few but for those pawns and what they become. */
static uint64_t runners(const Position *position, Colour side) {
    uint64_t pawns = position_men(position, other(side), PAWN), empty = ~(position->sides[WHITE] | position->sides[BLACK]);
    return set_count(position->sides[side]) == 2 ? pawns & (side == WHITE ? empty << 8 : empty >> 8) : 0;
}

bool ghosts_prevent_mate(const Position *position, const Walls *walls, Colour side, const MatingLimits *limits,
                         uint64_t *ret_nodes) {
    const uint64_t *kinds = position->kinds;
    uint64_t loose = (position->sides[WHITE] | position->sides[BLACK]) & ~walls->solid & ~kinds[PAWN] & ~kinds[KING];
    if (position->castling != 0)
        return false;
    uint64_t tried[] = { loose, mobile(position, loose), loose & kinds[BISHOP] & LIGHT_SQUARES,
                         loose & kinds[BISHOP] & ~LIGHT_SQUARES, runners(position, side) };
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        bool again = i > 1 && tried[i] == 0;
        for (size_t j = 0; j < i; j++)
            again = again || tried[j] == tried[i];
        if (!again && prevent(position, walls, side, tried[i], limits, ret_nodes))
            return true;
    }
    return false;
}
