/* Who can still mate: positions of our own, each answer with its evidence, and what the header promises besides. */
#include "core/chess/attacks.h"
#include "core/chess/fen.h"
#include "core/chess/mating.h"
#include "core/chess/mating_ghosts.h"
#include "core/chess/mating_material.h"
#include "core/chess/mating_walls.h"
#include "core/chess/movegen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 60000, FORTRESS_NODES = 6000, POSITIONS_LEAST = 150 };
static uint64_t memory[NODES * MATING_NODE_BYTES / sizeof(uint64_t)];
static const MatingLimits limits = { .memory = memory, .size = sizeof memory, .nodes = NODES };

static Position position_of(const char *fen) {
    Position position;
    Error error = { 0 };
    if (!fen_read(fen, 0, &position, &error))
        fail_msg("%s: %s", fen, error.text);
    return position;
}

/* The same position with the colours exchanged. */
static Position exchanged(const Position *position) {
    Position other = { .turn = (uint8_t)!position->turn, .fullmove = 1, .en_passant = NO_SQUARE };
    for (int square = 0; square < 64; square++) {
        int piece = position_piece_at(position, square);
        if (piece != EMPTY)
            position_put(&other, square ^ 56, piece ^ 8);
        if (position->castling & square_set(square))
            other.castling |= square_set(square ^ 56);
    }
    if (position->en_passant != NO_SQUARE)
        other.en_passant = (int8_t)(position->en_passant ^ 56);
    position_settle(&other);
    return other;
}

static void assert_mates(Position position, Colour side, const MatingLine *line, const char *fen) {
    MoveList moves;
    for (int i = 0; i < line->count; i++) {
        if (!move_is_legal(&position, line->moves[i]))
            fail_msg("%s: move %d of the line is not legal", fen, i + 1);
        position_move(&position, &position, line->moves[i]);
    }
    moves_legal(&position, &moves);
    if (moves.count > 0 || !position_in_check(&position) || position_turn(&position) == side)
        fail_msg("%s: the line does not end in mate", fen);
}

/* What the fortress proof says by itself: elsewhere a search may find the mate before it is asked. */
static bool fortress(const Position *position, Colour side) {
    MatingLimits some = limits;
    uint64_t nodes = 0;
    Walls walls;
    walls_find(position, &walls);
    some.nodes = FORTRESS_NODES;
    return ghosts_prevent_mate(position, &walls, side, &some, &nodes);
}

static void check(const Position *position, Colour side, bool can, const char *fen) {
    MatingLine line;
    uint64_t nodes = 0;
    MatingAnswer quick = mating_quick(position, side), full = mating_full(position, side, &limits, &line, &nodes);
    if (full != (can ? MATING_CAN : MATING_CANNOT))
        fail_msg("%s: full mode says %d of %s", fen, full, side == WHITE ? "White" : "Black");
    if (quick != MATING_UNKNOWN && quick != full)
        fail_msg("%s: quick mode says %d of %s", fen, quick, side == WHITE ? "White" : "Black");
    if (!can)
        return;
    assert_mates(*position, side, &line, fen);
    if (line.count > 0 && fortress(position, side))
        fail_msg("%s: taken for a fortress against %s", fen, side == WHITE ? "White" : "Black");
}

static void test_own_positions(void **context) {
    (void)context;
    FILE *file = fopen("tests/data/chess/mating-own.txt", "r");
    assert_non_null(file);
    char text[256];
    int count = 0;
    for (; fgets(text, sizeof text, file) != NULL;) {
        text[strcspn(text, "\n")] = 0;
        if (text[0] == '#')
            continue;
        Position position = position_of(text + 3), other = exchanged(&position);
        bool white = text[0] == 'W', black = text[1] == 'B';
        check(&position, WHITE, white, text);
        check(&position, BLACK, black, text);
        assert_int_equal(mating_quick(&position, WHITE), mating_quick(&other, BLACK));
        assert_int_equal(mating_quick(&position, BLACK), mating_quick(&other, WHITE));
        if (mating_dead(&position) && (white || black))
            fail_msg("%s: not dead", text);
        count++;
    }
    fclose(file);
    assert_true(count >= POSITIONS_LEAST);
}

/* Positions that quick must tell: Law 5.2b ends the game with the move that leads there. */
static void test_dead_at_once(void **context) {
    (void)context;
    static const char *const dead[] = {
        "8/8/4k3/8/8/3K4/8/8 w - - 0 1", "8/4k3/8/8/2B5/3K4/8/8 w - - 0 1", "8/8/4k3/8/2N5/3K4/8/8 b - - 0 1",
        "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "4k3/8/8/1p1p1p1p/1P1P1P1P/8/8/4K3 w - - 0 1", "k7/1Q6/8/8/8/8/8/7K b - - 0 1",
        "4k3/8/8/p1p1p1p1/P1P1P1P1/8/8/4K3 b - - 0 1",
    };
    for (size_t i = 0; i < sizeof dead / sizeof dead[0]; i++) {
        Position position = position_of(dead[i]);
        if (!mating_dead(&position))
            fail_msg("%s is dead", dead[i]);
    }
    static const char *const alive[] = {
        "7k/5KQ1/8/8/8/8/8/8 b - - 0 1", "8/8/4k3/8/2P5/3K4/8/8 w - - 0 1", "4k3/8/8/p1p1p1p1/P1P3P1/8/8/4K3 b - - 0 1",
    };
    for (size_t i = 0; i < sizeof alive / sizeof alive[0]; i++) {
        Position position = position_of(alive[i]);
        if (mating_dead(&position))
            fail_msg("%s is not dead", alive[i]);
    }
}

/* Taken from public reports of other programs' faults; the values are the right ones. */
static void test_reported(void **context) {
    (void)context;
    static const struct { const char *fen; bool white, black; } cases[] = {
        { "4k3/8/8/p2p2p1/P2P2P1/8/8/4K3 w - - 0 1", false, false },
        { "8/p3k1p1/6Pp/7K/2rq4/7P/8/8 w - - 0 1", false, true },
        { "7k/q5Q1/5PPK/5PPP/p7/8/8/8 b - - 0 1", true, false },
        { "r7/K1k5/8/8/8/8/8/8 w - - 0 1", false, false },
        { "7k/6q1/p4PPK/6PP/8/5P2/8/8 w - - 0 1", true, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Position position = position_of(cases[i].fen);
        MatingLine line;
        if (mating_quick(&position, WHITE) == MATING_CANNOT)
            assert_false(cases[i].white);
        assert_int_equal(mating_full(&position, WHITE, &limits, &line, NULL) == MATING_CANNOT, !cases[i].white);
        assert_int_equal(mating_full(&position, BLACK, &limits, &line, NULL) == MATING_CANNOT, !cases[i].black);
    }
}

/* A lone piece before a box of men, while pawns run elsewhere: whatever takes one of them is taken at once. */
static void test_lone_piece(void **context) {
    (void)context;
    static const char *const fens[] = {
        "8/8/3b4/2bpp3/2Qkp1K1/2qnp3/8/8 b - - 0 1",
        "8/4p3/2K5/2b1pp2/2Qk4/2bnr3/8/8 b - - 0 1",
        "8/5p2/8/8/6K1/2Qpq3/2pkp3/b1bnb3 b - - 0 1",
        "8/np6/kQ6/rp2p3/1K3p2/5p2/8/8 b - - 0 1",
        "8/bnb5/bkp5/Qpp5/5p2/1K6/5p2/8 b - - 0 1",
    };
    for (size_t i = 0; i < sizeof fens / sizeof fens[0]; i++) {
        Position position = position_of(fens[i]), other = exchanged(&position);
        if (!fortress(&position, WHITE) || !fortress(&other, BLACK))
            fail_msg("%s: White cannot mate, and this is how that is known", fens[i]);
    }
    Position open = position_of("8/5ppp/8/Q7/1ppp4/1bkp4/1qnp4/1n1K4 b - - 0 1"); /* such a box, and a mate */
    MatingLine line;
    assert_int_equal(mating_full(&open, WHITE, &limits, &line, NULL), MATING_CAN);
    assert_false(fortress(&open, WHITE));
}

static void test_limits(void **context) {
    (void)context;
    Position start;
    position_start(&start);
    MatingLine line = { .count = 77 };
    uint64_t nodes = 0;
    MatingLimits few = { .memory = memory, .size = 100 * MATING_NODE_BYTES, .nodes = NODES };
    assert_int_equal(mating_full(&start, WHITE, &few, &line, &nodes), MATING_UNKNOWN);
    assert_int_equal(line.count, 77); /* untouched */
    assert_true(nodes > 0);
    few = (MatingLimits){ .memory = memory, .size = sizeof memory, .nodes = 0 };
    assert_int_equal(mating_full(&start, BLACK, &few, &line, NULL), MATING_UNKNOWN);
    few = (MatingLimits){ .memory = NULL, .nodes = NODES }; /* forced moves need no memory */
    Position forced = position_of("8/8/8/8/8/8/1r6/K6k w - - 0 1");
    assert_int_equal(mating_full(&forced, BLACK, &few, NULL, NULL), MATING_CANNOT);
    assert_int_equal(mating_full(&start, WHITE, &few, NULL, NULL), MATING_UNKNOWN);
    Position mated = position_of("7k/5KQ1/8/8/8/8/8/8 b - - 0 1");
    assert_int_equal(mating_full(&mated, WHITE, &limits, &line, NULL), MATING_CAN);
    assert_int_equal(line.count, 0);
}

/* What memory held before does not matter. */
static void test_memory_of_any_content(void **context) {
    (void)context;
    Position position = position_of("4k3/8/8/p1p1p1p1/P1P3P1/8/8/4K3 b - - 0 1");
    MatingLine first, second;
    memset(memory, 0, sizeof memory);
    assert_int_equal(mating_full(&position, WHITE, &limits, &first, NULL), MATING_CAN);
    memset(memory, 0xa5, sizeof memory);
    assert_int_equal(mating_full(&position, WHITE, &limits, &second, NULL), MATING_CAN);
    assert_int_equal(first.count, second.count);
    assert_memory_equal(first.moves, second.moves, (size_t)first.count * sizeof first.moves[0]);
}

static void test_material(void **context) {
    (void)context;
    static const struct { const char *fen; bool white, black; } lacks[] = {
        { "8/8/4k3/8/8/3K4/8/8 w - - 0 1", true, true }, { "8/8/4k1q1/8/2N5/3K4/8/8 w - - 0 1", true, false },
        { "8/8/4k1r1/8/2N5/3K4/8/8 w - - 0 1", false, false }, { "8/4k2r/8/8/2B5/3K4/8/8 w - - 0 1", true, false },
        { "8/4k1p1/8/8/2B5/3K4/8/8 w - - 0 1", false, false }, { "8/4k1n1/8/8/2B5/3K4/8/8 w - - 0 1", false, false },
        { "8/4k3/8/8/2BB4/3K4/8/8 w - - 0 1", false, true }, { "8/4k3/8/8/2NN4/3K4/8/8 w - - 0 1", false, true },
        { "8/1b2k3/8/8/2B5/3K4/8/8 w - - 0 1", true, true }, { "8/2b1k3/8/8/2B5/3K4/8/8 w - - 0 1", false, false },
        { "8/4k3/8/8/2P5/3K4/8/8 w - - 0 1", false, true },
    };
    for (size_t i = 0; i < sizeof lacks / sizeof lacks[0]; i++) {
        Position position = position_of(lacks[i].fen);
        if (mating_material_lacks(&position, WHITE) != lacks[i].white || mating_material_lacks(&position, BLACK) != lacks[i].black)
            fail_msg("%s", lacks[i].fen);
    }
}

static void test_walls(void **context) {
    (void)context;
    Position position = position_of("4k3/8/8/1p1p1p1p/1P1P1P1P/8/8/4K3 w - - 0 1");
    Walls walls;
    walls_find(&position, &walls);
    assert_int_equal(walls.solid, position.kinds[PAWN]); /* nobody ever takes or moves one */
    assert_int_equal(walls.reach[WHITE][KING] & (RANK_8 | RANK_8 >> 8 | RANK_8 >> 16 | RANK_8 >> 24), 0);
    assert_int_equal(walls.reach[WHITE][KING] & walls.reach[BLACK][KING], 0);
    assert_true(walls_prevent_mate(&position, &walls, WHITE) && walls_prevent_mate(&position, &walls, BLACK));

    position_start(&position);
    walls_find(&position, &walls);
    assert_int_equal(walls.solid, 0);
    assert_int_equal(walls.reach[BLACK][QUEEN], ~UINT64_C(0));

    Blockers blockers = { .reach = { 3, 1 }, .count = 2 };
    assert_true(blockers_fill(&blockers, 3)); /* the first must leave square 0 to the second */
    assert_false(blockers_fill(&blockers, 6));
    assert_true(blockers_fill(&blockers, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_positions), cmocka_unit_test(test_dead_at_once), cmocka_unit_test(test_reported),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_memory_of_any_content), cmocka_unit_test(test_material),
        cmocka_unit_test(test_walls), cmocka_unit_test(test_lone_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
