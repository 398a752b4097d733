/* mating_skeptic SEED COUNT [NODES FULL_NODES [FILE]]: tries to catch core/chess/mating saying
 * "cannot" of a side that can mate. It knows moves and mates only, nothing of walls or material.
 *
 * Backwards: a mate is laid out among blocked pawns and taken back move by move, with men taken,
 * en passant, promotion and castling; so in every position met the side can mate, by a line that
 * is known. COUNT mates.
 * Forwards: COUNT / 4 times three positions made by lot (blocked pawns, few men, cages, castling set-ups) or
 * from the positions of FILE (a FEN at the end of each line, after three signs), changed by lot.
 * Where the answer is "cannot", a search by guess looks for a mate in NODES positions, and the
 * answers after moves by lot must be no better; where it is "can", its line is played. The same
 * must be said of the board with colours changed and of the board in a mirror.
 *
 * mating_skeptic find NODES FILE: how many of the sides known to be able (WB, W-, -B) the search
 * by guess finds a mate for: its strength.
 *
 * Prints counts; each contradiction with its FEN and line. Exit 1 if there is any. */
#include "core/chess/attacks.h"
#include "core/chess/fen.h"
#include "core/chess/mating.h"
#include "core/chess/movegen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 24, BUCKETS = 2048, MEN_MAX = 16, PAWNS_MAX = 8, TEXT_MAX = 256, ROLL_PLIES = 60, WAYS_BACK = 8, FORWARDS = 4 };

typedef struct Counts {
    unsigned long mates, backwards, backwards_full, forwards, cannot, exhausted, can, unknown, mirrored, uneven, rolled, wrong;
} Counts;

typedef struct Line {
    Move moves[MATING_LINE_MAX + ROLL_PLIES];
    int count;
} Line;

/* A position met by the search by guess. */
typedef struct Node {
    Position position;
    uint32_t parent, next;
    Move move;
    uint16_t plies;
} Node;

typedef struct Finder {
    Node *nodes;
    uint32_t *slots;
    uint32_t capacity, slot_count, count;
    uint32_t buckets[BUCKETS];
    int weights[6];
} Finder;

static Counts counts;
static uint64_t chance;
static const char *palette = "PNBRQ"; /* the kinds put on the board */
static unsigned takings; /* how often a man is put back, in eight */
static Finder finder;
static MatingLimits limits;
static char (*stock)[TEXT_MAX];
static size_t stock_count;

/* SplitMix64. */
static unsigned draw(unsigned below) {
    uint64_t x = chance += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((x ^ x >> 31) % below);
}

static Colour other(Colour colour) {
    return colour == WHITE ? BLACK : WHITE;
}

static uint64_t occupied(const Position *position) {
    return position->sides[WHITE] | position->sides[BLACK];
}

/* One square of a set that is not empty. */
static int draw_square(uint64_t set) {
    for (unsigned skip = draw((unsigned)set_count(set)); skip > 0; skip--)
        set &= set - 1;
    return set_first(set);
}

static bool mate(const Position *position) {
    MoveList list;
    if (!position_in_check(position))
        return false;
    moves_legal(position, &list);
    return list.count == 0;
}

/* ---- contradictions ---- */

static void contradict(const Position *position, Colour side, const char *mode, const Line *line) {
    char fen[FEN_MAX];
    fen_write(position, 0, fen);
    printf("WRONG %s, %s: %s ;", mode, side == WHITE ? "White" : "Black", fen);
    for (int i = 0; line != NULL && i < line->count; i++) {
        Move move = line->moves[i];
        int from = move_from(move), to = move_to(move);
        char promotion[2] = { "\0\0nbrq"[move_promotion(move)], 0 };
        printf(" %c%c%c%c%s", 'a' + square_file(from), '1' + square_rank(from), 'a' + square_file(to), '1' + square_rank(to), promotion);
    }
    printf("\n");
    fflush(stdout);
    counts.wrong++;
}

/* Plays the line out, whatever made it. */
static bool line_mates(Position position, Colour side, const Line *line) {
    for (int i = 0; i < line->count; i++) {
        if (!move_is_legal(&position, line->moves[i]))
            return false;
        position_move(&position, &position, line->moves[i]);
    }
    return mate(&position) && position_turn(&position) != side;
}

/* ---- laying out ---- */

static bool fair(const Position *position) {
    for (int colour = WHITE; colour <= BLACK; colour++)
        if (set_count(position->sides[colour]) > MEN_MAX || set_count(position_men(position, (Colour)colour, PAWN)) > PAWNS_MAX
            || set_count(position_men(position, (Colour)colour, KING)) != 1)
            return false;
    Colour waits = other(position_turn(position));
    return (position->kinds[PAWN] & (RANK_1 | RANK_8)) == 0
        && position_attackers(position, position_king(position, waits), position_turn(position), occupied(position)) == 0;
}

static void clear(Position *position) {
    memset(position, 0, sizeof *position);
    position->fullmove = 1;
    position->en_passant = NO_SQUARE;
}

static void lift(Position *position, int square) {
    for (int colour = WHITE; colour <= BLACK; colour++)
        position->sides[colour] &= ~square_set(square);
    for (int kind = EMPTY; kind < KIND_COUNT; kind++)
        position->kinds[kind] &= ~square_set(square);
    position->castling &= ~square_set(square);
}

static bool room(const Position *position, int square, int kind) {
    return (occupied(position) & square_set(square)) == 0 && (kind != PAWN || (square_set(square) & (RANK_1 | RANK_8)) == 0);
}

/* Few kinds make walls that hold. */
static void choose_palette(void) {
    static const char *const palettes[] = { "PNBRQ", "PNB", "PB", "PPPB", "P", "PN", "PBBB", "B", "BN", "PR", "NBR", "PPPPPQ" };
    palette = palettes[draw(sizeof palettes / sizeof *palettes)];
}

static int draw_kind(void) {
    static const char kinds[] = " PNBRQ";
    return (int)(strchr(kinds, palette[draw((unsigned)strlen(palette))]) - kinds);
}

static void put_by_lot(Position *position, int square, Colour colour) {
    int kind = draw_kind();
    if (room(position, square, kind))
        position_put(position, square, piece_make(colour, kind));
}

static void put_rams(Position *position, unsigned most) {
    for (unsigned i = draw(most + 1); i > 0; i--) {
        int square = square_make((int)draw(8), (int)(1 + draw(5)));
        if (room(position, square, PAWN) && room(position, square + 8, PAWN)) {
            position_put(position, square, piece_make(WHITE, PAWN));
            position_put(position, square + 8, piece_make(BLACK, PAWN));
        }
    }
}

/* A pair on every file but `gaps` or so, none beside one of the same height: no pawn of them can take. */
static void put_chain(Position *position, unsigned gaps) {
    for (int file = 0, before = 0, rank; file < 8; file++, before = rank) {
        rank = before > 1 && (before == 5 || draw(2)) ? before - 1 : before > 0 ? before + 1 : (int)(1 + draw(5));
        int square = square_make(file, rank);
        if (draw(8) < gaps || !room(position, square, PAWN) || !room(position, square + 8, PAWN)) {
            rank = 0;
            continue;
        }
        position_put(position, square, piece_make(WHITE, PAWN));
        position_put(position, square + 8, piece_make(BLACK, PAWN));
    }
}

static void put_many(Position *position, unsigned most) {
    for (unsigned i = draw(most + 1); i > 0; i--)
        put_by_lot(position, (int)draw(64), (Colour)draw(2));
}

/* Kings apart; men about the loser's. */
static void put_kings(Position *position, Colour loser, unsigned cage) {
    int king = draw(2) ? (int)draw(64) : draw_square(RANK_1 | RANK_8 | FILE_A | FILE_H);
    position_put(position, king, piece_make(loser, KING));
    position_put(position, draw_square(~attacks_king(king) & ~square_set(king)), piece_make(other(loser), KING));
    for (uint64_t beside = attacks_king(king); beside != 0; beside &= beside - 1)
        if (draw(8) < cage)
            put_by_lot(position, set_first(beside), draw(6) ? loser : other(loser));
}

/* Takes off men the mate does not need: none, some or all. */
static void strip(Position *position, unsigned share) {
    for (uint64_t men = occupied(position) & ~position->kinds[KING]; men != 0; men &= men - 1) {
        Position less = *position;
        lift(&less, set_first(men));
        if (draw(4) < share && fair(&less) && mate(&less))
            *position = less;
    }
}

/* A mate by `side`; false if the lot did not make one. */
static bool lay_mate(Position *ret, Colour side) {
    clear(ret);
    choose_palette();
    ret->turn = (uint8_t)other(side);
    put_kings(ret, other(side), draw(8));
    if (draw(2))
        put_chain(ret, draw(4) / 2);
    else
        put_rams(ret, draw(9));
    put_many(ret, draw(8));
    int king = position_king(ret, other(side)), kind = draw_kind();
    uint64_t from = kind == PAWN ? attacks_pawns(other(side), square_set(king)) : attacks_of(kind, king, occupied(ret));
    from &= ~occupied(ret) & (kind == PAWN ? ~(RANK_1 | RANK_8) : ~UINT64_C(0));
    if (from == 0)
        return false;
    position_put(ret, draw_square(from), piece_make(side, kind));
    if (!fair(ret) || !mate(ret))
        return false;
    strip(ret, draw(5));
    return true;
}

/* ---- backwards ---- */

/* A man back on the square where one was taken. */
static void untake(Position *position, int square, Colour colour, bool must) {
    int kind = draw_kind();
    if (kind == PAWN && (square_set(square) & (RANK_1 | RANK_8)))
        kind = (int)(KNIGHT + draw(4));
    if (must || draw(8) < takings)
        position_put(position, square, piece_make(colour, kind));
}

static Move unpawn(Position *position, Colour us, int to, int promotion) {
    int up = us == WHITE ? 8 : -8, ways = (int)draw(4), from = to - up;
    if (from < 8 || from > 55)
        return MOVE_NONE;
    if (ways == 0 && square_rank(to) == (us == WHITE ? 3 : 4) && room(position, from, PAWN))
        from -= up;
    if (ways >= 2) {
        uint64_t sides = attacks_pawns(other(us), square_set(to)) & ~occupied(position);
        if (sides == 0)
            return MOVE_NONE;
        from = draw_square(sides);
        if (ways == 2 && square_rank(to) == (us == WHITE ? 5 : 2) && room(position, to + up, PAWN) && room(position, to - up, PAWN)) {
            position_put(position, to - up, piece_make(other(us), PAWN));
            position->en_passant = (int8_t)to;
        } else {
            untake(position, to, other(us), true);
        }
    }
    if (!room(position, from, PAWN))
        return MOVE_NONE;
    position_put(position, from, piece_make(us, PAWN));
    return move_make(from, to, promotion);
}

/* King and rook back to where they may have castled from. */
static Move uncastle(Position *position, Colour us, int king_to) {
    int first = us == WHITE ? 0 : 56, far = square_file(king_to) == 2, rook_to = first + (far ? 3 : 5);
    if (king_to != first + (far ? 2 : 6) || (position_men(position, us, ROOK) & square_set(rook_to)) == 0)
        return MOVE_NONE;
    lift(position, rook_to);
    int king = first + (draw(2) ? 4 : (int)(1 + draw(6))), rook = first + (draw(2) ? (far ? 0 : 7) : (int)draw(8));
    if (king == rook || (rook < king) != (far != 0) || !room(position, king, KING) || !room(position, rook, ROOK))
        return MOVE_NONE;
    position_put(position, king, piece_make(us, KING));
    position_put(position, rook, piece_make(us, ROOK));
    position->castling |= square_set(rook);
    position->chess960 = true;
    return move_make(king, rook, EMPTY);
}

static Move unmove_by_lot(Position *position, Colour us) {
    int to = draw_square(position->sides[us]), kind = piece_kind(position_piece_at(position, to));
    bool promoted = kind >= KNIGHT && kind <= QUEEN && (square_set(to) & (us == WHITE ? RANK_8 : RANK_1)) && draw(2);
    lift(position, to);
    if (kind == PAWN || promoted)
        return unpawn(position, us, to, promoted ? kind : EMPTY);
    if (kind == KING && (to == 2 || to == 6 || to == 58 || to == 62) && draw(4))
        return uncastle(position, us, to);
    uint64_t from = attacks_of(kind, to, occupied(position)) & ~occupied(position);
    if (from == 0)
        return MOVE_NONE;
    untake(position, to, other(us), false);
    int square = draw_square(from);
    position_put(position, square, piece_make(us, kind));
    return move_make(square, to, EMPTY);
}

/* A position from which `move` leads to `after`; MOVE_NONE if the lot found none. */
static Move take_back(const Position *after, Position *ret) {
    Colour us = other(position_turn(after));
    for (int tries = 0; tries < 64; tries++) {
        *ret = *after;
        ret->turn = (uint8_t)us;
        ret->en_passant = NO_SQUARE;
        Move move = unmove_by_lot(ret, us);
        Position again;
        if (move == MOVE_NONE || !fair(ret) || !move_is_legal(ret, move))
            continue;
        position_move(&again, ret, move);
        if (position_same(&again, after))
            return move;
    }
    return MOVE_NONE;
}

/* Of some ways back the one that leaves the fewest moves, in half of the draws. */
static Move take_back_narrow(const Position *after, Position *ret) {
    Move best = MOVE_NONE;
    int least = MOVES_MAX + 1;
    for (unsigned tries = draw(2) ? 1 : 4; tries > 0; tries--) {
        Position before;
        Move move = take_back(after, &before);
        int moves = move == MOVE_NONE ? MOVES_MAX + 1 : moves_count(&before);
        if (moves < least) {
            least = moves;
            best = move;
            *ret = before;
        }
    }
    return best;
}

static void backwards(Position position, Colour side) {
    Position before;
    Line line = { .count = 0 };
    takings = draw(2) ? draw(9) : 0;
    for (unsigned depth = 1 + draw(DEPTH_MAX - 1); depth > 0; depth--) {
        Move move = take_back_narrow(&position, &before);
        if (move == MOVE_NONE)
            return;
        memmove(line.moves + 1, line.moves, (size_t)line.count++ * sizeof *line.moves);
        line.moves[0] = move;
        position = before;
        counts.backwards++;
        if (mating_quick(&position, side) == MATING_CANNOT)
            contradict(&position, side, "quick", &line);
        if (draw(8) != 0)
            continue;
        counts.backwards_full++;
        MatingLine found;
        MatingAnswer answer = mating_full(&position, side, &limits, &found, NULL);
        if (answer == MATING_CANNOT)
            contradict(&position, side, "full", &line);
    }
}

/* ---- search by guess ---- */

static int guess(const Position *position, Colour side) {
    Colour loser = other(side);
    const int *weights = finder.weights;
    uint64_t own = position->sides[side], enemy = position->sides[loser];
    int king = position_king(position, loser), rival = position_king(position, side), flights = 0, nearest = 8;
    for (uint64_t beside = attacks_king(king) & ~enemy; beside != 0; beside &= beside - 1)
        flights += position_attackers(position, set_first(beside), side, occupied(position) & ~square_set(king)) == 0;
    for (uint64_t pawns = own & position->kinds[PAWN]; pawns != 0; pawns &= pawns - 1) {
        int left = side == WHITE ? 7 - square_rank(set_first(pawns)) : square_rank(set_first(pawns));
        nearest = left < nearest ? left : nearest;
    }
    int across = abs(square_file(king) - square_file(rival)), up = abs(square_rank(king) - square_rank(rival));
    bool heavy = (own & (position->kinds[QUEEN] | position->kinds[ROOK])) != 0;
    return weights[0] * flights + weights[1] * (across > up ? across : up) + weights[2] * set_count(enemy)
        + (heavy ? 0 : weights[3] * (2 + nearest)) + (int)draw((unsigned)weights[4] + 1);
}

static uint32_t keep(const Position *position, uint32_t parent, Move move, Colour side) {
    uint32_t at = (uint32_t)position_key(position) & (finder.slot_count - 1);
    for (; finder.slots[at] != 0; at = (at + 1) & (finder.slot_count - 1))
        if (position_same(&finder.nodes[finder.slots[at]].position, position))
            return 0;
    if (finder.count + 1 >= finder.capacity)
        return 0;
    uint32_t number = ++finder.count;
    finder.slots[at] = number;
    Node *node = &finder.nodes[number];
    *node = (Node){ .position = *position, .parent = parent, .move = move, .plies = (uint16_t)(parent ? finder.nodes[parent].plies + 1 : 0) };
    int bucket = guess(position, side) + node->plies * finder.weights[5];
    bucket = bucket < BUCKETS ? bucket : BUCKETS - 1;
    node->next = finder.buckets[bucket];
    finder.buckets[bucket] = number;
    return number;
}

static void begin_find(uint32_t nodes) {
    static const int most[6] = { 8, 4, 24, 12, 6, 2 };
    finder.count = 0;
    finder.capacity = nodes;
    for (finder.slot_count = 16; finder.slot_count < 2 * nodes;)
        finder.slot_count *= 2;
    memset(finder.slots, 0, finder.slot_count * sizeof *finder.slots);
    memset(finder.buckets, 0, sizeof finder.buckets);
    for (int i = 0; i < 6; i++)
        finder.weights[i] = (int)draw((unsigned)most[i] + 1);
}

typedef enum { FIND_GAVE_UP, FIND_MATE, FIND_NONE } Found;

/* Once through the nodes. FIND_NONE: all positions were seen. */
static Found find_once(const Position *position, Colour side, uint32_t nodes, Line *ret) {
    begin_find(nodes);
    keep(position, 0, MOVE_NONE, side);
    for (int bucket = 0; bucket < BUCKETS;) {
        uint32_t at = finder.buckets[bucket];
        if (at == 0) {
            bucket++;
            continue;
        }
        finder.buckets[bucket] = finder.nodes[at].next;
        MoveList list;
        moves_legal(&finder.nodes[at].position, &list);
        for (int i = 0; i < list.count; i++) {
            Position after;
            position_move(&after, &finder.nodes[at].position, list.moves[i]);
            uint32_t number = keep(&after, at, list.moves[i], side);
            if (number == 0 || position_turn(&after) == side || !mate(&after))
                continue;
            ret->count = finder.nodes[number].plies;
            if (ret->count > MATING_LINE_MAX)
                return FIND_GAVE_UP;
            for (int ply = ret->count; ply > 0; number = finder.nodes[number].parent)
                ret->moves[--ply] = finder.nodes[number].move;
            return FIND_MATE;
        }
        bucket = 0;
    }
    return finder.count + 1 >= finder.capacity ? FIND_GAVE_UP : FIND_NONE;
}

/* Several times, each with other weights. */
static Found find(const Position *position, Colour side, uint32_t nodes, Line *ret) {
    if (set_count(position->sides[side]) == 1) /* a bare king */
        return mate(position) && position_turn(position) != side ? FIND_MATE : FIND_NONE;
    ret->count = 0;
    if (mate(position))
        return position_turn(position) != side ? FIND_MATE : FIND_NONE;
    for (int times = 0; times < 4; times++) {
        Found found = find_once(position, side, nodes / 4, ret);
        if (found != FIND_GAVE_UP)
            return found;
    }
    return FIND_GAVE_UP;
}

/* ---- forwards ---- */

static void turn_round(const Position *position, Position *ret, bool flip, bool mirror) {
    clear(ret);
    ret->turn = (uint8_t)(position->turn ^ flip);
    int change = (flip ? 56 : 0) ^ (mirror ? 7 : 0);
    for (uint64_t men = occupied(position); men != 0; men &= men - 1) {
        int piece = position_piece_at(position, set_first(men));
        position_put(ret, set_first(men) ^ change, piece_make((Colour)(piece_colour(piece) ^ flip), piece_kind(piece)));
    }
    if (position->en_passant != NO_SQUARE)
        ret->en_passant = (int8_t)(position->en_passant ^ change);
    for (uint64_t rooks = position->castling; rooks != 0; rooks &= rooks - 1)
        ret->castling |= square_set(set_first(rooks) ^ change);
    ret->chess960 = position->chess960;
}

static bool opposed(MatingAnswer one, MatingAnswer two) {
    return (one == MATING_CAN && two == MATING_CANNOT) || (one == MATING_CANNOT && two == MATING_CAN);
}

/* Castling is not the same in a mirror. "Unknown" may depend on what comes first. */
static void same_when_turned(const Position *position, Colour side, MatingAnswer quick, MatingAnswer full) {
    for (unsigned i = 1; i < (position->castling ? 2 : 4); i++) {
        Position turned;
        Colour who = (Colour)(side ^ (i & 1));
        turn_round(position, &turned, i & 1, i & 2);
        counts.mirrored++;
        MatingAnswer again = mating_quick(&turned, who), slowly = mating_full(&turned, who, &limits, NULL, NULL);
        counts.uneven += again != quick || slowly != full;
        if (opposed(again, quick) || opposed(again, full) || opposed(slowly, full))
            contradict(position, side, "turned round", NULL);
    }
}

/* Moves by lot: whoever cannot now can never. */
static void roll(const Position *position, Colour side, const char *mode) {
    Position now = *position;
    Line line = { .count = 0 };
    while (line.count < ROLL_PLIES) {
        MoveList list;
        moves_legal(&now, &list);
        if (list.count == 0)
            break;
        Move move = list.moves[draw((unsigned)list.count)];
        line.moves[line.count++] = move;
        position_move(&now, &now, move);
        counts.rolled++;
        if (mate(&now) && position_turn(&now) != side)
            contradict(position, side, mode, &line);
    }
    MatingLine more;
    if (line.count == ROLL_PLIES && mating_full(&now, side, &limits, &more, NULL) == MATING_CAN) {
        memcpy(line.moves + line.count, more.moves, sizeof *more.moves * (size_t)more.count);
        line.count += more.count;
        contradict(position, side, mode, &line);
    }
}

/* Every position on the way to a mate is one that can. */
static void walk_line(const Position *position, Colour side, const MatingLine *found) {
    Line line = { .count = found->count };
    memcpy(line.moves, found->moves, sizeof *found->moves * (size_t)found->count);
    if (!line_mates(*position, side, &line))
        contradict(position, side, "a line that does not mate", &line);
    Position now = *position;
    for (int i = 0; i < line.count; i++) {
        position_move(&now, &now, line.moves[i]);
        if (mating_quick(&now, side) == MATING_CANNOT)
            contradict(&now, side, "quick, on the way to a mate", &line);
    }
}

static void ask(const Position *position, Colour side, uint32_t nodes) {
    MatingAnswer quick = mating_quick(position, side);
    MatingLine found;
    MatingAnswer full = mating_full(position, side, &limits, &found, NULL);
    counts.forwards++;
    if (full == MATING_CAN) {
        counts.can++;
        walk_line(position, side, &found);
    }
    counts.unknown += full == MATING_UNKNOWN;
    if (opposed(quick, full))
        contradict(position, side, "quick and full differ", NULL);
    same_when_turned(position, side, quick, full);
    if (full != MATING_CANNOT || set_count(position->sides[side]) == 1)
        return;
    const char *mode = quick == MATING_CANNOT ? "quick" : "full";
    Line line;
    counts.cannot++;
    Found seen = find(position, side, nodes, &line);
    counts.exhausted += seen == FIND_NONE;
    if (seen == FIND_MATE)
        contradict(position, side, mode, &line);
    for (int times = 0; seen == FIND_GAVE_UP && times < 4; times++)
        roll(position, side, mode);
}

static void add_rights(Position *position) {
    for (int colour = WHITE; colour <= BLACK && draw(2); colour++) {
        uint64_t first = colour == WHITE ? RANK_1 : RANK_8;
        if (position_men(position, (Colour)colour, KING) & first & ~FILE_A & ~FILE_H)
            position->castling |= position_men(position, (Colour)colour, ROOK) & first; /* more than one a wing go below */
    }
    for (int colour = WHITE; colour <= BLACK; colour++) {
        uint64_t rooks = position->castling & position->sides[colour];
        uint64_t left = rooks & (square_set(position_king(position, (Colour)colour)) - 1), right = rooks & ~left;
        position->castling &= ~rooks;
        position->castling |= (left & -left) | (right ? square_set(63 - __builtin_clzll(right)) : 0);
    }
    position->chess960 = position->castling != 0;
    Colour us = position_turn(position);
    uint64_t passed = position_men(position, other(us), PAWN) & (us == WHITE ? RANK_1 << 32 : RANK_1 << 24);
    for (; passed != 0 && draw(4); passed &= passed - 1) {
        int square = set_first(passed), over = square ^ 8, home = us == WHITE ? over + 8 : over - 8;
        if (room(position, over, EMPTY) && room(position, home, EMPTY)) {
            position->en_passant = (int8_t)over;
            position_settle(position);
            return;
        }
    }
}

/* A pawn that has just gone two squares past one that else could never move again. */
static void put_passing(Position *position) {
    Colour us = position_turn(position);
    int up = us == WHITE ? 8 : -8, file = (int)draw(8), beside = file == 0 || (file < 7 && draw(2)) ? file + 1 : file - 1;
    int went = square_make(file, us == WHITE ? 4 : 3), taker = went - file + beside;
    if (!room(position, went, PAWN) || !room(position, went - up, PAWN) || !room(position, taker, PAWN) || !room(position, taker + up, PAWN))
        return;
    position_put(position, went, piece_make(other(us), PAWN));
    position_put(position, went - up, piece_make(us, PAWN));
    position_put(position, taker, piece_make(us, PAWN));
    position_put(position, taker + up, piece_make(other(us), PAWN));
}

/* King and rooks at home, behind pawns perhaps. */
static void put_castle(Position *position, Colour us) {
    int first = us == WHITE ? 0 : 56;
    lift(position, position_king(position, us));
    int king = first + 1 + (int)draw(6), rook = first + (draw(2) ? 0 : 7);
    if (!room(position, king, KING) || (attacks_king(king) & position_men(position, other(us), KING)))
        king = first + 4;
    if (room(position, king, KING))
        position_put(position, king, piece_make(us, KING));
    if (room(position, rook, ROOK))
        position_put(position, rook, piece_make(us, ROOK));
    uint64_t second = us == WHITE ? RANK_1 << 8 : RANK_8 >> 8;
    for (; second != 0; second &= second - 1)
        if (draw(4) && room(position, set_first(second), PAWN))
            position_put(position, set_first(second), piece_make(us, draw(3) ? PAWN : draw_kind()));
}

/* A man moved, taken off, added or of another kind; the turn, a shift of a file. */
static void change(Position *position) {
    int square = draw_square(occupied(position)), piece = position_piece_at(position, square), to = (int)draw(64);
    unsigned way = draw(6);
    if (way == 0 && position->en_passant == NO_SQUARE)
        position->turn ^= 1;
    if (way <= 1)
        put_by_lot(position, to, (Colour)draw(2));
    if (piece_kind(piece) == KING && way > 3)
        way = 3;
    if (way >= 3) {
        int near = draw_square(attacks_king(square));
        lift(position, square);
        if (way == 3 && room(position, near, piece_kind(piece)))
            position_put(position, near, piece);
        else if (way == 4)
            put_by_lot(position, square, piece_colour(piece));
        else if (piece_kind(piece) == KING)
            position_put(position, square, piece);
    }
    position->en_passant = NO_SQUARE;
}

static bool lay_out(Position *ret) {
    clear(ret);
    choose_palette();
    ret->turn = (uint8_t)draw(2);
    Error error;
    if (stock_count > 0 && draw(2)) {
        if (!fen_read(stock[draw((unsigned)stock_count)] + 3, 0, ret, &error))
            return false;
        for (unsigned times = draw(4); times > 0; times--)
            change(ret);
    } else {
        static const unsigned cages[4] = { 0, 0, 6, 8 }, rams[4] = { 8, 0, 3, 6 }, many[4] = { 4, 4, 2, 10 };
        unsigned kind = draw(6) % 4;
        put_kings(ret, (Colour)draw(2), cages[kind]);
        unsigned rights = draw(4);
        if (rights == 0)
            put_passing(ret);
        else if (rights == 1)
            put_castle(ret, (Colour)draw(2));
        if (kind == 0)
            put_chain(ret, draw(4) / 2);
        else
            put_rams(ret, rams[kind]);
        put_many(ret, many[kind]);
    }
    if (!fair(ret))
        return false;
    return true;
}

/* Somebody with more than a king is said to be unable. */
static bool shut(const Position *position) {
    for (int side = WHITE; side <= BLACK; side++)
        if (set_count(position->sides[side]) > 1 && mating_quick(position, (Colour)side) == MATING_CANNOT)
            return true;
    return false;
}

/* One mostly where somebody is unable, and two others near it: that is where the answers turn. */
static void forwards(uint32_t nodes) {
    Position position, near;
    while (!lay_out(&position) || !(shut(&position) || draw(32) == 0)) { }
    for (int times = 0; times < 3; times++) {
        near = position;
        for (int changes = 0; changes < times; changes++)
            change(&near);
        if ((times > 0 || draw(2)) && fair(&near))
            add_rights(&near);
        if (!fair(&near))
            continue;
        ask(&near, WHITE, nodes);
        ask(&near, BLACK, nodes);
    }
}

/* ---- from outside ---- */

static bool read_stock(const char *name) {
    FILE *file = fopen(name, "r");
    if (file == NULL)
        return false;
    static char text[1 << 16][TEXT_MAX];
    stock = text;
    while (stock_count < sizeof text / sizeof *text && fgets(text[stock_count], TEXT_MAX, file) != NULL) {
        text[stock_count][strcspn(text[stock_count], "\r\n")] = 0;
        stock_count += strlen(text[stock_count]) > 3;
    }
    fclose(file);
    return true;
}

static void measure(uint32_t nodes) {
    unsigned long able = 0, found = 0, unable = 0, none = 0, wrong = 0;
    for (size_t i = 0; i < stock_count; i++) {
        Position position;
        Error error;
        if (!fen_read(stock[i] + 3, 0, &position, &error))
            continue;
        for (int side = WHITE; side <= BLACK; side++) {
            Line line;
            bool can = stock[i][side] != '-';
            Found seen = find(&position, (Colour)side, nodes, &line);
            able += can;
            unable += !can;
            found += can && seen == FIND_MATE;
            none += !can && seen == FIND_NONE;
            wrong += seen == (can ? FIND_NONE : FIND_MATE);
        }
    }
    printf("able %lu, found %lu; unable %lu, all seen %lu; wrong %lu\n", able, found, unable, none, wrong);
    counts.wrong = wrong;
}

static unsigned long number(const char *text) {
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    return *text == 0 || *end != 0 || value > UINT32_MAX / 8 ? 0 : value;
}

static bool begin(uint32_t nodes, uint32_t full_nodes) {
    if (nodes < 64 || full_nodes < 64)
        return false;
    finder.nodes = malloc((nodes + 1) * sizeof *finder.nodes);
    finder.slots = malloc(4 * (nodes + 16) * sizeof *finder.slots);
    limits = (MatingLimits){ .nodes = full_nodes, .size = (size_t)full_nodes * MATING_NODE_BYTES };
    limits.memory = malloc(limits.size);
    return finder.nodes != NULL && finder.slots != NULL && limits.memory != NULL;
}

static int attempt(unsigned long count, uint32_t nodes) {
    while (counts.mates < count) {
        Position position;
        Colour side = (Colour)draw(2);
        if (!lay_mate(&position, side))
            continue;
        counts.mates++;
        for (int ways = 0; ways < WAYS_BACK; ways++)
            backwards(position, side);
        if (counts.mates % FORWARDS == 0)
            forwards(nodes);
    }
    printf("mates %lu, taken back %lu, full asked %lu; forwards sides %lu, can %lu, unknown %lu, cannot with men %lu, "
           "seen whole %lu, moves by lot %lu, turned round %lu, answers uneven %lu; wrong %lu\n",
           counts.mates, counts.backwards, counts.backwards_full, counts.forwards, counts.can, counts.unknown, counts.cannot,
           counts.exhausted, counts.rolled, counts.mirrored,
           counts.uneven, counts.wrong);
    return counts.wrong == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc == 4 && strcmp(argv[1], "find") == 0) {
        uint32_t nodes = (uint32_t)number(argv[2]);
        if (!begin(nodes, 64) || !read_stock(argv[3]))
            return 2;
        measure(nodes);
        return counts.wrong == 0 ? 0 : 1;
    }
    unsigned long count = argc >= 3 ? number(argv[2]) : 0;
    uint32_t nodes = argc >= 5 ? (uint32_t)number(argv[3]) : 2000, full_nodes = argc >= 5 ? (uint32_t)number(argv[4]) : 1000;
    if (count == 0 || argc == 4 || !begin(nodes, full_nodes) || (argc == 6 && !read_stock(argv[5]))) {
        fprintf(stderr, "mating_skeptic SEED COUNT [NODES FULL_NODES [FILE]] | find NODES FILE\n");
        return 2;
    }
    chance = strtoull(argv[1], NULL, 10);
    return attempt(count, nodes);
}
