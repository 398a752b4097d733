/* mating_oracle: who can mate, found by looking at every position that can arise, against
 * what core/chess/mating answers.
 *
 *   mating_oracle tables SAMPLE MEN…   all positions of a few men ("KBkn": White's capital), and of all that taking
 *                                and promoting makes of them: who can mate is spread backwards until nothing
 *                                changes. The quick mode is asked about one position in SAMPLE, the full mode too,
 *                                on one in 64 of those
 *   mating_oracle walls SEED COUNT     random blocked pawns, two kings, up to three pieces: forwards from there, as far
 *                                as WORLD_MAX positions
 *
 *   mating_oracle compose SEED COUNT   such positions with what is known of them, those of which a side cannot mate first
 *                                of all: how tests/data/chess/mating-own.txt was made
 *
 * Prints what was compared; each contradiction with its FEN. Exit 1 if there is any. */
#include "core/chess/attacks.h"
#include "core/chess/fen.h"
#include "core/chess/mating.h"
#include "core/chess/movegen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEN_MAX = 4, TABLES_MAX = 256, WORLD_MAX = 60000, SMALL_WORLD = 8000, FULL_NODES = 20000 };

typedef struct Counts {
    long positions, sides, unable, quick_missed, full_asked, full_missed, full_unknown, wrong;
} Counts;
static Counts counts;
static uint64_t memory[FULL_NODES * MATING_NODE_BYTES / sizeof(uint64_t)];
static const MatingLimits limits = { .memory = memory, .size = sizeof memory, .nodes = FULL_NODES };

static void contradict(const Position *position, Colour side, const char *mode, bool can) {
    char fen[FEN_MAX];
    fen_write(position, 0, fen);
    printf("WRONG %s: %s %s, the oracle says %s\n", mode, side == WHITE ? "White" : "Black", fen, can ? "can" : "cannot");
    counts.wrong++;
}

static bool line_mates(Position position, Colour side, const MatingLine *line) {
    for (int i = 0; i < line->count; i++) {
        if (!move_is_legal(&position, line->moves[i]))
            return false;
        position_move(&position, &position, line->moves[i]);
    }
    MoveList moves;
    moves_legal(&position, &moves);
    return moves.count == 0 && position_in_check(&position) && position_turn(&position) != side;
}

/* known: the oracle has seen a mate, or everything. */
static void compare(const Position *position, Colour side, bool can, bool known, bool ask_full) {
    MatingAnswer quick = mating_quick(position, side);
    counts.sides++;
    counts.unable += known && !can;
    counts.quick_missed += known && !can && quick == MATING_UNKNOWN;
    if (quick == MATING_CANNOT ? can : quick == MATING_CAN && known && !can)
        contradict(position, side, "quick", can);
    if (!ask_full)
        return;
    MatingLine line;
    MatingAnswer full = mating_full(position, side, &limits, &line, NULL);
    counts.full_asked++;
    counts.full_missed += known && !can && full == MATING_UNKNOWN;
    counts.full_unknown += can && full == MATING_UNKNOWN;
    if (full == MATING_CANNOT ? can : full == MATING_CAN && known && !can)
        contradict(position, side, "full", can);
    if (full == MATING_CAN && !line_mates(*position, side, &line))
        contradict(position, side, "the line of the full mode", can);
}

/* --- tables --- */

typedef struct Table {
    int men[MEN_MAX]; /* pieces, kings first, like ones together */
    int count;
    uint8_t *can;     /* of each position: bit 0 White, bit 1 Black */
} Table;
static Table tables[TABLES_MAX];
static int table_count;

static int order_of(int piece) {
    return (piece_kind(piece) == KING ? 0 : 32) + piece;
}

static size_t size_of(const Table *table) {
    return (size_t)2 << 6 * table->count;
}

/* False if these squares are no position, or not the one way to number it. */
static bool position_of(const Table *table, size_t index, Position *ret) {
    memset(ret, 0, sizeof *ret);
    ret->turn = index & 1;
    ret->en_passant = NO_SQUARE;
    ret->fullmove = 1;
    index >>= 1;
    for (int i = 0, before = -1; i < table->count; i++, index >>= 6) {
        int square = (int)(index & 63);
        uint64_t set = square_set(square);
        if ((ret->sides[WHITE] | ret->sides[BLACK]) & set)
            return false;
        if (i > 0 && table->men[i] == table->men[i - 1] && square < before)
            return false;
        if (piece_kind(table->men[i]) == PAWN && set & (RANK_1 | RANK_8))
            return false;
        before = square;
        position_put(ret, square, table->men[i]);
    }
    Colour waiting = ret->turn == WHITE ? BLACK : WHITE;
    return position_attackers(ret, position_king(ret, waiting), position_turn(ret), ret->sides[0] | ret->sides[1]) == 0;
}

static void men_of(const Position *position, Table *ret) {
    ret->count = 0;
    for (int square = 0; square < 64; square++) {
        int piece = position_piece_at(position, square), at = ret->count;
        if (piece == EMPTY)
            continue;
        for (; at > 0 && order_of(ret->men[at - 1]) > order_of(piece); at--)
            ret->men[at] = ret->men[at - 1];
        ret->men[at] = piece;
        ret->count++;
    }
}

static Table *table_find(const Table *men) {
    for (int i = 0; i < table_count; i++)
        if (tables[i].count == men->count && memcmp(tables[i].men, men->men, (size_t)men->count * sizeof men->men[0]) == 0)
            return &tables[i];
    return NULL;
}

static size_t index_of(const Table *table, const Position *position) {
    size_t index = 0;
    uint64_t left[16] = { 0 };
    for (int colour = WHITE; colour <= BLACK; colour++)
        for (int kind = PAWN; kind <= KING; kind++)
            left[piece_make((Colour)colour, kind)] = position_men(position, (Colour)colour, kind);
    for (int i = 0; i < table->count; i++) {
        uint64_t *set = &left[table->men[i]];
        index |= (size_t)set_first(*set) << 6 * i;
        *set &= *set - 1;
    }
    return index << 1 | (size_t)position_turn(position);
}

static unsigned after_moves(const Table *table, const Position *position);

/* A position of a table, or one with an en passant capture besides. */
static unsigned known_of(const Table *table, const Position *position, bool same_men) {
    if (!same_men) {
        Table men;
        men_of(position, &men);
        table = table_find(&men);
    }
    unsigned can = table->can[index_of(table, position)];
    if (position_en_passant(position) != NO_SQUARE)
        can |= after_moves(table, position);
    return can;
}

static unsigned after_moves(const Table *table, const Position *position) {
    MoveList list;
    moves_legal(position, &list);
    if (list.count == 0)
        return !position_in_check(position) ? 0 : position_turn(position) == BLACK ? 1 : 2;
    unsigned can = 0;
    for (int i = 0; i < list.count && can != 3; i++) {
        Position after;
        position_move(&after, position, list.moves[i]);
        can |= known_of(table, &after, !position_is_capture(position, list.moves[i]) && !move_promotion(list.moves[i]));
    }
    return can;
}

static void table_fill(const Table *men);

/* What taking one man or promoting makes of these. */
static void fill_smaller(const Table *men) {
    for (int i = 2; i < men->count; i++) {
        Table smaller = { .count = men->count - 1 };
        for (int j = 0, at = 0; j < men->count; j++)
            if (j != i)
                smaller.men[at++] = men->men[j];
        table_fill(&smaller);
        if (piece_kind(men->men[i]) != PAWN)
            continue;
        for (int kind = KNIGHT; kind <= QUEEN; kind++) {
            Table promoted = { .count = 0 };
            for (int j = 0; j < men->count; j++) {
                int piece = j == i ? piece_make(piece_colour(men->men[i]), kind) : men->men[j], at = promoted.count++;
                for (; at > 0 && order_of(promoted.men[at - 1]) > order_of(piece); at--)
                    promoted.men[at] = promoted.men[at - 1];
                promoted.men[at] = piece;
            }
            table_fill(&promoted);
        }
    }
}

static void table_fill(const Table *men) {
    if (table_find(men) != NULL)
        return;
    fill_smaller(men);
    Table *table = &tables[table_count++];
    *table = *men;
    table->can = calloc(size_of(table), 1);
    if (table->can == NULL || table_count == TABLES_MAX)
        exit(2);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t index = 0; index < size_of(table); index++) {
            Position position;
            if (table->can[index] == 3 || !position_of(table, index, &position))
                continue;
            unsigned can = after_moves(table, &position);
            changed = changed || can != table->can[index];
            table->can[index] = (uint8_t)can;
        }
    }
}

static bool table_named(const char *name, Table *ret) {
    static const char letters[] = " PNBRQK  pnbrqk";
    Position position = { .en_passant = NO_SQUARE };
    int square = 0;
    for (; *name != 0; name++, square++) {
        const char *at = strchr(letters, *name);
        if (at == NULL || *at == ' ' || square == MEN_MAX)
            return false;
        position_put(&position, square, (int)(at - letters));
    }
    men_of(&position, ret);
    return ret->count >= 2 && piece_kind(ret->men[1]) == KING;
}

static bool compare_table(const char *name, long sample) {
    Table men;
    if (!table_named(name, &men))
        return false;
    table_fill(&men);
    const Table *table = table_find(&men);
    uint64_t chance = 1;
    for (size_t index = 0; index < size_of(table); index++) {
        Position position;
        chance = chance * UINT64_C(6364136223846793005) + 1442695040888963407;
        if ((chance >> 33) % (uint64_t)sample != 0 || !position_of(table, index, &position))
            continue;
        counts.positions++;
        bool ask_full = (chance >> 20) % 64 == 0;
        compare(&position, WHITE, table->can[index] & 1, true, ask_full);
        compare(&position, BLACK, table->can[index] & 2, true, ask_full);
    }
    return true;
}

/* --- walls --- */

static uint64_t state;
static unsigned chance(unsigned below) {
    state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = (state ^ state >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((x ^ x >> 31) >> 33) % below;
}

static void put_somewhere(Position *position, int piece, uint64_t where) {
    int square;
    do
        square = (int)chance(64);
    while ((position->sides[0] | position->sides[1] | ~where) & square_set(square));
    position_put(position, square, piece);
}

/* Pawns blocked on each file or every second, the kings mostly behind their own, few pieces. */
static bool random_walls(Position *ret) {
    *ret = (Position){ .en_passant = NO_SQUARE, .fullmove = 1, .turn = (uint8_t)chance(2) };
    int step = chance(3) ? 2 : 1, rank = 2 + (int)chance(3);
    for (int file = (int)chance(2); file < 8; file += step) {
        if (chance(3) == 0)
            rank = 2 + (int)chance(3);
        if (chance(12) == 0)
            continue;
        position_put(ret, square_make(file, rank), piece_make(WHITE, PAWN));
        position_put(ret, square_make(file, rank + 1 + (chance(12) == 0 && rank < 4)), piece_make(BLACK, PAWN));
    }
    uint64_t behind = chance(4) ? RANK_1 | RANK_1 << 8 : ~UINT64_C(0);
    put_somewhere(ret, piece_make(WHITE, KING), behind);
    put_somewhere(ret, piece_make(BLACK, KING), behind << (behind == ~UINT64_C(0) ? 0 : 48));
    static const uint8_t kinds[] = { BISHOP, BISHOP, BISHOP, KNIGHT, ROOK };
    for (unsigned pieces = chance(3); pieces > 0; pieces--)
        put_somewhere(ret, piece_make((Colour)chance(2), kinds[chance(sizeof kinds)]), ~UINT64_C(0));
    char fen[FEN_MAX];
    Error error;
    fen_write(ret, 0, fen);
    return fen_read(fen, 0, ret, &error);
}

static size_t world_max = WORLD_MAX;
static Position world[WORLD_MAX];
static uint32_t slots[4 * WORLD_MAX];

static bool world_add(const Position *position, size_t *count) {
    uint64_t hash = position->turn + 2 * (uint64_t)(position->en_passant + 1);
    for (int kind = PAWN; kind <= KING; kind++)
        hash = (hash ^ position->kinds[kind]) * UINT64_C(0xd6e8feb86659fd93), hash ^= hash >> 32;
    hash = (hash ^ position->sides[WHITE]) * UINT64_C(0xd6e8feb86659fd93);
    size_t at = (hash ^ hash >> 32) % (4 * WORLD_MAX);
    for (; slots[at] != 0; at = (at + 1) % (4 * WORLD_MAX))
        if (position_same(&world[slots[at] - 1], position))
            return true;
    if (*count == world_max)
        return false;
    world[*count] = *position;
    slots[at] = (uint32_t)++*count;
    return true;
}

/* Who can mate, by bits; *ret_whole: everything that can arise was seen, so who is not named cannot. */
static unsigned explore(const Position *root, bool *ret_whole) {
    size_t count = 0;
    unsigned can = 0;
    *ret_whole = true;
    memset(slots, 0, sizeof slots);
    world_add(root, &count);
    for (size_t at = 0; at < count && can != 3; at++) {
        MoveList list;
        moves_legal(&world[at], &list);
        if (list.count == 0 && position_in_check(&world[at]))
            can |= position_turn(&world[at]) == BLACK ? 1 : 2;
        for (int i = 0; i < list.count; i++) {
            Position after;
            position_move(&after, &world[at], list.moves[i]);
            *ret_whole = world_add(&after, &count) && *ret_whole;
        }
    }
    return can;
}

static void compare_world(const Position *root) {
    bool whole;
    unsigned can = explore(root, &whole);
    counts.positions++;
    compare(root, WHITE, can & 1, whole || can & 1, true);
    compare(root, BLACK, can & 2, whole || can & 2, true);
}

static bool compose(const Position *root) {
    bool whole;
    unsigned can = explore(root, &whole);
    if (can == 3 ? chance(8) != 0 : !whole)
        return false;
    char fen[FEN_MAX];
    fen_write(root, 0, fen);
    printf("%c%c %s\n", can & 1 ? 'W' : '-', can & 2 ? 'B' : '-', fen);
    return true;
}

int main(int argc, char **argv) {
    if (argc >= 4 && strcmp(argv[1], "tables") == 0) {
        long sample = strtol(argv[2], NULL, 10);
        for (int i = 3; i < argc; i++)
            if (sample < 1 || !compare_table(argv[i], sample))
                return 2;
    } else if (argc == 4 && (strcmp(argv[1], "walls") == 0 || strcmp(argv[1], "compose") == 0)) {
        bool composing = strcmp(argv[1], "compose") == 0;
        world_max = composing ? SMALL_WORLD : WORLD_MAX;
        state = strtoull(argv[2], NULL, 10);
        for (long left = strtol(argv[3], NULL, 10); left > 0;) {
            Position root;
            if (!random_walls(&root))
                continue;
            if (!composing)
                compare_world(&root);
            left -= !composing || compose(&root);
        }
        if (composing)
            return 0;
    } else {
        fprintf(stderr, "mating_oracle tables SAMPLE MEN... | walls|compose SEED COUNT\n");
        return 2;
    }
    printf("positions %ld, sides %ld, unable %ld; quick missed %ld; full asked %ld, missed %ld, without a line %ld; wrong %ld\n",
           counts.positions, counts.sides, counts.unable, counts.quick_missed, counts.full_asked, counts.full_missed,
           counts.full_unknown, counts.wrong);
    return counts.wrong > 0 || counts.full_missed > 0 ? 1 : 0;
}
