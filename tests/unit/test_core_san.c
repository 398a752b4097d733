/* San: the short reader of moves says nothing that the kind one does not say as well. */
#include "core/notation/san.h"
#include "tests/unit/test_core_pgn.h"

static void expect(const char *fen, const char *token, const char *uci) {
    Position position;
    Move move = MOVE_NONE;
    char written[NOTATION_MAX], padded[32] = { 0 };
    assert_true(fen_read(fen, 0, &position, NULL));
    assert_true(text_copy(padded, sizeof padded, token));
    size_t length = san_read(&position, padded, &move);
    if (uci == NULL) {
        assert_int_equal(length, 0);
        assert_int_equal(move, MOVE_NONE);
        return;
    }
    assert_int_equal(length, strlen(token));
    notation_write(&position, move, NOTATION_UCI, written);
    assert_string_equal(written, uci);
}

static void test_tokens(void **state) {
    (void)state;
    static const char start[] = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    static const char *const cases[][3] = {
        { start, "e4", "e2e4" }, { start, "e3", "e2e3" }, { start, "e5", NULL }, { start, "Nf3", "g1f3" }, { start, "Ng1f3", "g1f3" },
        { start, "Nb1f3", NULL }, { start, "Ngf3", "g1f3" }, { start, "N1f3", "g1f3" }, { start, "Nxf3", "g1f3" }, { start, "Nf3+", "g1f3" },
        { start, "Bf1", NULL }, { start, "exd3", NULL }, { start, "O-O", NULL }, { start, "", NULL }, { start, "N", NULL }, { start, "Nf", NULL },
        { start, "e", NULL }, { start, "ex", NULL }, { start, "exd", NULL }, { start, "Pe4", NULL }, { start, "O", NULL }, { start, "O-", NULL },
        { start, "Ng1", NULL }, { start, "Nd2", NULL }, { start, "e9", NULL }, { start, "i4", NULL }, { start, "Ni3", NULL }, { start, "a8=Q", NULL },
        /* the other rook is pinned; both could, one by rank, by file, by both */
        { "1r5k/6p1/3p3p/8/8/4bQ2/2R3PP/2KRq3 w - - 0 1", "Rcd2", "c2d2" }, { "1r5k/6p1/3p3p/8/8/4bQ2/2R3PP/2KRq3 w - - 0 1", "Rd2", "c2d2" },
        { "4k3/8/8/8/8/2N3N1/8/4K3 w - - 0 1", "Ne2", NULL }, { "4k3/8/8/8/8/2N3N1/8/4K3 w - - 0 1", "Nge2", "g3e2" },
        { "4k3/8/8/R7/8/8/8/R3K3 w - - 0 1", "R5a3", "a5a3" }, { "4k3/8/8/R7/8/8/8/R3K3 w - - 0 1", "R1a3", "a1a3" },
        { "4k3/8/8/R7/8/8/8/R3K3 w - - 0 1", "Ra3", NULL }, { "8/7k/8/8/8/Q7/6K1/Q1Q5 w - - 0 1", "Qa1c3", "a1c3" },
        { "8/7k/8/8/2p5/Q7/6K1/Q1Q5 w - - 0 1", "Qc1xc4", "c1c4" },
        /* en passant: legal; the king would stand in check along the rank; too late */
        { "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "exd6", "e5d6" }, { "4k3/8/8/K2pP2r/8/8/8/8 w - d6 0 2", "exd6", NULL },
        { "4k3/8/8/3pP3/8/8/8/4K3 w - - 0 2", "exd6", NULL }, { "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 2", "dxe3", "d4e3" },
        /* promotions */
        { "1n5k/P7/8/8/8/8/8/K7 w - - 0 1", "a8=Q", "a7a8q" }, { "1n5k/P7/8/8/8/8/8/K7 w - - 0 1", "axb8=N", "a7b8n" },
        { "1n5k/P7/8/8/8/8/8/K7 w - - 0 1", "axb8=Q+", "a7b8q" }, { "1n5k/P7/8/8/8/8/8/K7 w - - 0 1", "a8", NULL },
        { "1n5k/P7/8/8/8/8/8/K7 w - - 0 1", "a8=K", NULL }, { "1n5k/P7/8/8/8/8/8/K7 w - - 0 1", "a8=", NULL }, { "1n5k/P7/8/8/8/8/8/K7 w - - 0 1", "a8Q", NULL },
        { "k7/8/8/8/8/8/p7/1N5K b - - 0 1", "a1=R", "a2a1r" }, { "k7/8/8/8/8/8/p7/1N5K b - - 0 1", "axb1=B", "a2b1b" },
        /* check, and who may end it */
        { "4k3/8/8/8/7b/8/5P2/4K3 w - - 0 1", "f3", NULL }, { "4k3/8/8/8/4r3/8/3P4/4K1N1 w - - 0 1", "d3", NULL },
        { "4k3/8/8/8/4r3/8/3P4/4K1N1 w - - 0 1", "Ne2", "g1e2" }, { "4k3/8/8/8/4r3/5N2/8/4K3 w - - 0 1", "Ke2", NULL },
        { "4k3/8/8/8/4r3/8/8/4K3 w - - 0 1", "Kd1", "e1d1" }, { "4k3/4r3/8/8/8/8/4q3/4K3 w - - 0 1", "Kxe2", NULL },
        { "4k3/8/8/8/8/8/4q3/4K3 w - - 0 1", "Kxe2", "e1e2" },
        /* castling */
        { "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "O-O", "e1g1" }, { "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "O-O-O+", "e8c8" },
        { "r3k2r/8/8/8/8/8/8/R3K2R w Kkq - 0 1", "O-O-O", NULL }, { "4kr2/8/8/8/8/8/8/R3K2R w KQ - 0 1", "O-O", NULL },
        { "R7/8/8/8/3N4/2B5/br6/k3K2R w K - 0 1", "O-O#", "e1g1" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect(cases[i][0], cases[i][1], cases[i][2]);
}

/* A token with a letter changed or left out by lot is read as the kind reader reads it, or not at all. True if it was read. */
static bool check_spoilt(const Position *position, const char *san, uint64_t *state) {
    static const char alphabet[] = "abcdefgh12345678NBRQKOPx=+#-";
    char text[NOTATION_MAX + SAN_MAX] = { 0 };
    assert_true(text_copy(text, sizeof text, san));
    size_t length = strlen(text), at = (size_t)draw(state, length);
    if (draw(state, 3) == 0)
        memmove(text + at, text + at + 1, length - at);
    else
        text[at] = alphabet[draw(state, sizeof alphabet - 1)];
    Move move;
    size_t read = san_read(position, text, &move);
    if (read == 0 || read != strlen(text))
        return false;
    Reading reading;
    notation_read(position, text, 0, &reading);
    assert_int_equal(reading.kind, READING_MOVE);
    assert_int_equal(reading.move, move);
    return true;
}

/* Every legal move as written is read back. */
static void check_position(const Position *position, uint64_t *state, long *ret_moves, long *ret_spoilt) {
    MoveList list;
    moves_legal(position, &list);
    for (int i = 0; i < list.count; i++) {
        char san[NOTATION_MAX + SAN_MAX] = { 0 };
        Move move = MOVE_NONE;
        notation_write(position, list.moves[i], NOTATION_SAN, san);
        size_t length = strlen(san);
        assert_int_equal(san_read(position, san, &move), length);
        assert_int_equal(move, list.moves[i]);
        ++*ret_moves;
        for (int tries = 0; tries < 4; tries++)
            *ret_spoilt += check_spoilt(position, san, state);
    }
}

static void test_agreement(void **state) {
    (void)state;
    uint64_t chance = 4;
    long moves = 0, spoilt = 0;
    for (int game = 0; moves < 300000; game++) {
        Position position;
        if (game % 2 == 0)
            position_start(&position);
        else
            position_start960((int)draw(&chance, 960), &position);
        for (int ply = 0; ply < 200; ply++) {
            MoveList list;
            moves_legal(&position, &list);
            if (list.count == 0)
                break;
            check_position(&position, &chance, &moves, &spoilt);
            position_move(&position, &position, list.moves[draw(&chance, (uint64_t)list.count)]);
        }
    }
    print_message("%ld moves, %ld spoilt tokens read alike\n", moves, spoilt);
    assert_true(spoilt > 30000);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_tokens), cmocka_unit_test(test_agreement) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
