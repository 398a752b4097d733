/* Moves against a slow board of letters that knows nothing of sets, and every fast answer against
 * the list: on games at random, on Chess960, on boards strewn with queens, on castling and en
 * passant of every kind. */
#include "core/chess/attacks.h"
#include "core/chess/count.h"
#include "core/chess/fen.h"
#include "core/chess/movegen.h"
#include "core/chess/perft.h"
#include "core/chess/scene.h"
#include "tests/unit/slow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = SLOW ? 1 : 4 };

static uint64_t seed;
static uint64_t chance(uint64_t below) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % below;
}

static const char *fen_of(const Position *position) {
    static char text[FEN_MAX];
    fen_write(position, 0, text);
    return text;
}

/* ---- the slow board ---- */

static bool on_board(int file, int rank) {
    return file >= 0 && file < 8 && rank >= 0 && rank < 8;
}

static const int STEPS[16][2] = { { 1, 0 },  { -1, 0 }, { 0, 1 },  { 0, -1 }, { 1, 1 },   { 1, -1 },  { -1, 1 },  { -1, -1 },
                                  { 1, 2 },  { 2, 1 },  { -1, 2 }, { -2, 1 }, { 1, -2 },  { 2, -1 },  { -1, -2 }, { -2, -1 } };
static const struct { int first, last; bool slides; } GAITS[KIND_COUNT] = {
    [KNIGHT] = { 8, 16, false }, [BISHOP] = { 4, 8, true }, [ROOK] = { 0, 4, true }, [QUEEN] = { 0, 8, true }, [KING] = { 0, 8, false },
};

static bool slow_attacks(const int board[64], int from, int to) {
    int kind = piece_kind(board[from]), file = square_file(from), rank = square_rank(from);
    if (kind == PAWN)
        return abs(square_file(to) - file) == 1 && square_rank(to) - rank == (piece_colour(board[from]) == WHITE ? 1 : -1);
    for (int i = GAITS[kind].first; i < GAITS[kind].last; i++) {
        int f = file, r = rank;
        do {
            f += STEPS[i][0];
            r += STEPS[i][1];
            if (on_board(f, r) && square_make(f, r) == to)
                return true;
        } while (GAITS[kind].slides && on_board(f, r) && board[square_make(f, r)] == EMPTY);
    }
    return false;
}

static bool slow_attacked(const int board[64], int square, Colour by) {
    for (int from = 0; from < 64; from++)
        if (board[from] != EMPTY && piece_colour(board[from]) == by && slow_attacks(board, from, square))
            return true;
    return false;
}

static bool slow_king_safe(const int board[64], Colour us) {
    for (int square = 0; square < 64; square++)
        if (board[square] == piece_make(us, KING))
            return !slow_attacked(board, square, us == WHITE ? BLACK : WHITE);
    return false;
}

static void slow_board(const Position *position, int board[64]) {
    for (int square = 0; square < 64; square++)
        board[square] = position_piece_at(position, square);
}

static bool slow_castling(const Position *position, const int start[64], int king, int rook) {
    int board[64], king_to, rook_to, man = start[king], tower = start[rook];
    Colour us = position_turn(position), them = us == WHITE ? BLACK : WHITE;
    memcpy(board, start, sizeof board);
    if (!(position->castling >> rook & 1) || slow_attacked(board, king, them))
        return false;
    king_to = (king & 56) + (rook > king ? 6 : 2);
    rook_to = (king & 56) + (rook > king ? 5 : 3);
    board[king] = board[rook] = EMPTY;
    int least = king < king_to ? king : king_to, most = king < king_to ? king_to : king;
    for (int square = least; square <= most; square++) {
        if (board[square] != EMPTY)
            return false;
        board[rook] = tower;
        bool attacked = slow_attacked(board, square, them);
        board[rook] = EMPTY;
        if (attacked)
            return false;
    }
    least = rook < rook_to ? rook : rook_to, most = rook < rook_to ? rook_to : rook;
    for (int square = least; square <= most; square++)
        if (board[square] != EMPTY)
            return false;
    board[king_to] = man;
    board[rook_to] = tower;
    return slow_king_safe(board, us);
}

static bool slow_pawn_goes(const Position *position, const int board[64], int from, int to) {
    int way = position_turn(position) == WHITE ? 8 : -8, home = position_turn(position) == WHITE ? 1 : 6;
    if (slow_attacks(board, from, to))
        return board[to] != EMPTY || to == position_en_passant(position);
    if (board[to] != EMPTY)
        return false;
    return to == from + way || (to == from + 2 * way && square_rank(from) == home && board[from + way] == EMPTY);
}

/* Legal by the Laws, for any 16 bits. */
static bool slow_legal(const Position *position, const int before[64], Move move) {
    int board[64], from = move_from(move), to = move_to(move), promotion = move_promotion(move);
    Colour us = position_turn(position);
    if (before[from] == EMPTY || piece_colour(before[from]) != us)
        return false;
    memcpy(board, before, sizeof board);
    int kind = piece_kind(board[from]);
    if (board[to] != EMPTY && piece_colour(board[to]) == us)
        return kind == KING && promotion == 0 && slow_castling(position, board, from, to);
    bool promotes = kind == PAWN && (square_rank(to) == 0 || square_rank(to) == 7);
    if (promotes ? promotion < KNIGHT || promotion > QUEEN : promotion != 0)
        return false;
    if (kind == PAWN ? !slow_pawn_goes(position, board, from, to) : !slow_attacks(board, from, to))
        return false;
    if (kind == PAWN && square_file(from) != square_file(to) && board[to] == EMPTY)
        board[square_make(square_file(to), square_rank(from))] = EMPTY;
    board[to] = board[from];
    board[from] = EMPTY;
    return slow_king_safe(board, us);
}

/* ---- what must hold of every position ---- */

static void check_answers(const Position *position) {
    MoveList list;
    moves_legal(position, &list);
    if (moves_count(position) != list.count)
        fail_msg("%s: %d listed, %d counted", fen_of(position), list.count, moves_count(position));
    uint64_t replies = 0;
    Scene scene;
    scene_read(position, &scene);
    for (int i = 0; i < list.count; i++) {
        Move move = list.moves[i];
        Position after;
        position_move(&after, position, move);
        MoveList answers;
        moves_legal(&after, &answers);
        replies += (uint64_t)answers.count;
        if (move_gives_check(position, move) != position_in_check(&after))
            fail_msg("%s: check by %d-%d", fen_of(position), move_from(move), move_to(move));
        if (!scene_move_legal(&scene, move))
            fail_msg("%s: listed and not legal: %d-%d", fen_of(position), move_from(move), move_to(move));
        if (!position_is_castling(position, move) && !scene_legal(&scene, move_from(move), move_to(move)))
            fail_msg("%s: not legal in the scene: %d-%d", fen_of(position), move_from(move), move_to(move));
    }
    for (int way = 0; COUNT_WAYS[way] != NULL; way++) {
        if (!COUNT_WAYS[way]->usable())
            continue;
        uint64_t moves = COUNT_WAYS[way]->moves(position), counted = COUNT_WAYS[way]->replies(position, &list);
        if (moves != (uint64_t)list.count || counted != replies)
            fail_msg("%s: %s counts %d and %d, not %d and %d", fen_of(position), COUNT_WAYS[way]->name, (int)moves, (int)counted, list.count,
                     (int)replies);
    }
}

/* Every 16 bits; and the scene's sets, square by square. */
static void check_all_moves(const Position *position) {
    static bool listed[65536];
    MoveList list;
    moves_legal(position, &list);
    memset(listed, 0, sizeof listed);
    for (int i = 0; i < list.count; i++) {
        if (listed[list.moves[i]])
            fail_msg("%s: %d-%d twice", fen_of(position), move_from(list.moves[i]), move_to(list.moves[i]));
        listed[list.moves[i]] = true;
    }
    int board[64];
    slow_board(position, board);
    Scene scene;
    scene_read(position, &scene);
    for (int move = 0; move < 65536; move++) {
        if (move_is_legal(position, (Move)move) != listed[move] || scene_move_legal(&scene, (Move)move) != listed[move])
            fail_msg("%s: %d-%d of %d, listed: %d", fen_of(position), move & 63, move >> 6 & 63, move >> 12, listed[move]);
        if (move >> 12 <= KING && slow_legal(position, board, (Move)move) != listed[move])
            fail_msg("%s: %d-%d of %d by the Laws: %d", fen_of(position), move & 63, move >> 6 & 63, move >> 12, !listed[move]);
    }
    for (int to = 0; to < 64; to++)
        for (int kind = PAWN; kind < KIND_COUNT; kind++) {
            uint64_t movers = scene_movers(&scene, kind, to), reachers = scene_reachers(&scene, kind, to);
            for (int from = 0; from < 64; from++) {
                bool of_kind = board[from] == piece_make(position_turn(position), kind);
                bool castling = (scene.own >> to & 1) != 0;
                bool legal = listed[move_make(from, to, EMPTY)] || listed[move_make(from, to, QUEEN)];
                bool reaches = of_kind && !castling
                    && (kind == PAWN ? slow_pawn_goes(position, board, from, to) : slow_attacks(board, from, to));
                if ((movers >> from & 1) != (of_kind && legal && !castling) || (reachers >> from & 1) != reaches)
                    fail_msg("%s: movers of kind %d from %d to %d", fen_of(position), kind, from, to);
            }
        }
    uint64_t rooks = 0;
    for (int i = 0; i < list.count; i++)
        if (position_is_castling(position, list.moves[i]))
            rooks |= square_set(move_to(list.moves[i]));
    assert_true(rooks == scene_castling(&scene));
}

static Position position_of(const char *fen) {
    Position position;
    Error error = { 0 };
    if (!fen_read(fen, 0, &position, &error))
        fail_msg("%s: %s", fen, error.text);
    return position;
}

typedef void Each(const Position *position);

/* Plays a game at random, captures less often than else so that boards stay full. */
static void random_game(Position position, int plies, Each *each) {
    for (int ply = 0; ply < plies; ply++) {
        each(&position);
        MoveList list;
        moves_legal(&position, &list);
        if (list.count == 0)
            return;
        Move move = list.moves[chance((uint64_t)list.count)];
        if (position_is_capture(&position, move))
            move = list.moves[chance((uint64_t)list.count)];
        position_move(&position, &position, move);
    }
}

/* A board strewn with men; false if it is no position. */
static bool strewn(Position *ret, int men, const char *kinds) {
    char board[64], text[128];
    memset(board, 0, sizeof board);
    board[chance(64)] = 'K';
    int black = (int)chance(64);
    while (board[black] != 0)
        black = (int)chance(64);
    board[black] = 'k';
    for (int i = 0; i < men; i++) {
        int square = (int)chance(64);
        char kind = kinds[chance(strlen(kinds))];
        if (board[square] == 0 && !((kind == 'P' || kind == 'p') && (square < 8 || square > 55)))
            board[square] = kind;
    }
    char *at = text;
    for (int rank = 7; rank >= 0; rank--)
        for (int file = 0; file < 8; file++) {
            char man = board[square_make(file, rank)];
            *at++ = man == 0 ? '1' : man;
            if (file == 7 && rank > 0)
                *at++ = '/';
        }
    int length = snprintf(at, 16, " %c - - 0 1", chance(2) ? 'w' : 'b');
    assert_true(length > 0);
    if (!fen_read(text, 0, ret, NULL))
        return false;
    /* Castling where king and rooks stand for it, whatever the squares. */
    for (int colour = WHITE; colour <= BLACK; colour++) {
        int king = position_king(ret, (Colour)colour), rank = colour == WHITE ? 0 : 7;
        uint64_t rooks = position_men(ret, (Colour)colour, ROOK) & line_rank(king);
        if (square_rank(king) != rank || rooks == 0)
            continue;
        uint64_t left = rooks & (square_set(king) - 1), right = rooks & ~left;
        ret->castling |= (left & -left) | (right == 0 ? 0 : square_set(63 - __builtin_clzll(right)));
        ret->chess960 = true;
    }
    position_settle(ret);
    return true;
}

static const char *const STREWN[] = { "QQQQQqqqqq", "QRBNPqrbnp", "PPPPpppp", "RRRrrrqQ", "BBbbNnqQ", "PPPPPPPppppppppqrbQRB", "QQQQQQQQQQn" };

static void strewn_positions(int count, Each *each) {
    for (int i = 0; i < count; i++) {
        Position position;
        if (strewn(&position, 2 + (int)chance(28), STREWN[chance(sizeof STREWN / sizeof STREWN[0])]))
            each(&position);
    }
}

/* Positions with every kind of trouble, and what comes after each of their moves. */
static const char *const HARD[] = {
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1",          /* en passant opens the rank */
    "8/8/8/1k6/3Pp3/8/8/4KQ2 b - d3 0 1",          /* en passant ends a check */
    "4k3/8/8/q7/2pP4/8/5K2/8 b - d3 0 1",
    "7k/8/8/8/2pP4/8/1B3K2/8 b - d3 0 1",
    "8/5bk1/8/2Pp4/8/1K6/8/8 w - d6 0 1",          /* en passant opens the diagonal behind the captured pawn */
    "8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 1",
    "4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1",         /* the capturing pawn is pinned on the file */
    "6k1/8/8/3pPp2/8/8/7b/1K6 w - d6 0 1",
    "k7/8/8/3pP3/8/8/8/4K2B w - d6 0 1",           /* what is captured shielded from a check */
    "8/8/8/k2pP2R/8/8/8/4K3 w - d6 0 1",
    "8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1",           /* what is captured gives the check */
    "8/8/8/4B2b/6nN/8/5P2/2R1K2k w Q - 0 1",       /* the castling rook shields */
    "4r3/3k4/8/8/8/8/6PP/qR1K1R2 w KQ - 0 1",
    "1rqbkrbn/1ppppp1p/1n6/p1N3p1/8/2P4P/PP1PPPP1/1RQBKRBN w FBfb - 0 9",
    "r1k1r2q/p1ppp1pp/8/8/8/8/P1PPP1PP/R1K1R2Q w KQkq - 0 1",
    "qr1k1r2/8/8/8/8/8/8/QR1K1R2 b KQkq - 0 1",
    "4k3/8/3b4/8/8/4n3/8/r2K4 w - - 0 1",          /* double check */
    "3r1r2/2P1P1P1/3k4/8/8/3K4/2p1p1p1/3R1R2 w - - 0 1",
    "8/8/8/8/8/1k6/1p6/K7 w - - 0 1",              /* stalemate */
    "R3k3/8/4K3/8/8/8/8/8 b - - 0 1",              /* mate */
    "K1k5/8/P7/8/8/8/8/8 w - - 0 1",
};

static void hard_positions(Each *each) {
    for (size_t i = 0; i < sizeof HARD / sizeof HARD[0]; i++) {
        Position position = position_of(HARD[i]);
        each(&position);
        MoveList list;
        moves_legal(&position, &list);
        for (int j = 0; j < list.count; j++) {
            Position after;
            position_move(&after, &position, list.moves[j]);
            each(&after);
        }
    }
}

static void test_answers_games(void **state) {
    (void)state;
    seed = 1;
    for (int game = 0; game < 40 * ROUNDS; game++) {
        Position position;
        position_start960(game % 2 ? 518 : (int)chance(960), &position);
        position.chess960 = game % 2 == 0;
        random_game(position, 200, check_answers);
    }
}

static void test_answers_strewn(void **state) {
    (void)state;
    seed = 2;
    strewn_positions(4000 * ROUNDS, check_answers);
    hard_positions(check_answers);
}

static int visit;
static void check_some_slowly(const Position *position) {
    if (visit++ % 40 == 0)
        check_all_moves(position);
}

static void test_by_the_laws(void **state) {
    (void)state;
    seed = 3;
    visit = 0;
    for (int game = 0; game < 4 * ROUNDS; game++) {
        Position position;
        position_start960((int)chance(960), &position);
        random_game(position, 300, check_some_slowly);
    }
    strewn_positions(60 * ROUNDS, check_all_moves);
    for (size_t i = 0; i < sizeof HARD / sizeof HARD[0]; i++) {
        Position position = position_of(HARD[i]);
        check_all_moves(&position);
    }
}

/* The most moves a side of sixteen men can have fit the list. */
static void test_many_moves(void **state) {
    (void)state;
    Position position = position_of("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1");
    assert_int_equal(moves_count(&position), 218);
    check_all_moves(&position);
    /* Fifteen queens moved about as long as that makes no fewer moves. */
    seed = 4;
    int most = 0;
    uint64_t queens = UINT64_C(0x7fff) << 24, kings = square_set(0) | square_set(63);
    const uint64_t wall = square_set(62) | square_set(55) | square_set(54); /* round the black king */
    for (int i = 0; i < 20000; i++) {
        uint64_t tried = queens, gone = square_set((int)chance(64)), come = square_set((int)chance(64));
        if (!(gone & queens) || (come & (queens | kings | wall)))
            continue;
        tried = (queens & ~gone) | come;
        memset(&position, 0, sizeof position);
        position.fullmove = 1;
        position.en_passant = NO_SQUARE;
        position.sides[WHITE] = tried | square_set(0);
        position.kinds[KING] = kings;
        position.kinds[KNIGHT] = wall;
        position.sides[BLACK] = wall | square_set(63);
        position.kinds[QUEEN] = tried;
        position_settle(&position);
        if (position_attackers(&position, 63, WHITE, tried | kings | wall) != 0 || moves_count(&position) < most)
            continue;
        most = moves_count(&position);
        queens = tried;
        check_answers(&position);
    }
    assert_true(most > 218 && most <= MOVES_MAX);
}

/* The table of lines, and what is computed from it, against steps on the board. */
static void test_lines(void **state) {
    (void)state;
    for (int one = 0; one < 64; one++) {
        uint64_t line[4] = { 0 }, king = 0, knight = 0;
        for (int step = 0; step < 16; step++) {
            int file = square_file(one), rank = square_rank(one);
            for (int far = 1;; far++) {
                file += STEPS[step][0];
                rank += STEPS[step][1];
                if (!on_board(file, rank))
                    break;
                if (step < 8 && far == 1)
                    king |= square_set(square_make(file, rank));
                if (step >= 8) {
                    knight |= square_set(square_make(file, rank));
                    break;
                }
                line[step < 2 ? 0 : step < 4 ? 1 : step == 4 || step == 7 ? 2 : 3] |= square_set(square_make(file, rank));
            }
        }
        assert_true(LINES[one].rank == line[0] && LINES[one].file == line[1]);
        assert_true(LINES[one].diagonal == line[2] && LINES[one].antidiagonal == line[3]);
        assert_true(line_rank(one) == (line[0] | square_set(one)) && line_file(one) == (line[1] | square_set(one)));
        assert_true(attacks_king(one) == king && attacks_knights(square_set(one)) == knight);
        for (int other = 0; other < 64; other++) {
            uint64_t through = 0, between = 0;
            for (int i = 0; i < 4; i++)
                if (line[i] & square_set(other))
                    through = line[i];
            int files = square_file(other) - square_file(one), ranks = square_rank(other) - square_rank(one);
            int steps = abs(files) > abs(ranks) ? abs(files) : abs(ranks);
            for (int i = 1; through != 0 && i < steps; i++)
                between |= square_set(square_make(square_file(one) + files / steps * i, square_rank(one) + ranks / steps * i));
            assert_true(line_through(one, other) == through && line_between(one, other) == between);
        }
    }
    seed = 6;
    for (int i = 0; i < 1000; i++) {
        uint64_t set = chance(UINT64_C(1) << 31) << 33 | chance(UINT64_C(1) << 31) << 2 | chance(4);
        int members = 0;
        for (int square = 0; square < 64; square++)
            members += (int)(set >> square & 1);
        assert_int_equal(set_count(set), members);
    }
}

/* Values are kept for good: stores and other programs may hold them. */
static void test_keys(void **state) {
    (void)state;
    static const struct { const char *fen; uint64_t key; } cases[] = {
        { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", UINT64_C(0x8037d5c1d98fe233) },
        { "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b Kq - 0 1", UINT64_C(0x46f29d35485bf433) },
        { "8/5bk1/8/2Pp4/8/1K6/8/8 w - d6 0 1", UINT64_C(0x8cd061ec2a0a63e3) },
        { "rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3", UINT64_C(0xf96aa6c92fcec48a) }, /* en passant possible */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Position position = position_of(cases[i].fen);
        assert_true(position_key(&position) == cases[i].key);
    }
}

/* What a move leaves is a position: sets that agree, and nothing position_settle() would change. */
static void check_sets(const Position *position) {
    uint64_t all = 0;
    for (int kind = PAWN; kind < KIND_COUNT; kind++) {
        assert_true((all & position->kinds[kind]) == 0);
        all |= position->kinds[kind];
    }
    assert_true(position->kinds[EMPTY] == 0 && (position->sides[WHITE] & position->sides[BLACK]) == 0);
    assert_true((position->sides[WHITE] | position->sides[BLACK]) == all);
    assert_true((position->castling & ~position->kinds[ROOK]) == 0);
    for (int colour = WHITE; colour <= BLACK; colour++)
        if (position->castling & position->sides[colour])
            assert_int_equal(square_rank(position_king(position, (Colour)colour)), colour == WHITE ? 0 : 7);
    Position settled = *position;
    position_settle(&settled);
    assert_true(position_same(&settled, position) && position_key(&settled) == position_key(position));
    assert_true(fen_read(fen_of(position), 0, &settled, NULL) && position_same(&settled, position));
    assert_int_equal(settled.halfmove, position->halfmove);
    assert_int_equal(settled.fullmove, position->fullmove);
}

/* After a step of two squares: the square behind counts if one of the enemy's pawns could go there by the Laws. */
static void check_passing(const Position *after, int from, int to) {
    Position position = *after;
    position.en_passant = (int8_t)((from + to) / 2);
    int board[64];
    slow_board(&position, board);
    bool possible = false;
    for (int square = 0; square < 64; square++)
        possible = possible || (piece_kind(board[square]) == PAWN && slow_legal(&position, board, move_make(square, (from + to) / 2, EMPTY)));
    if (position_en_passant(after) != (possible ? (from + to) / 2 : NO_SQUARE))
        fail_msg("%s: en passant possible: %d", fen_of(after), possible);
}

/* Moving onto itself gives what moving elsewhere gives. */
static void check_move_in_place(const Position *position) {
    check_sets(position);
    MoveList list;
    moves_legal(position, &list);
    for (int i = 0; i < list.count; i++) {
        Position after, same = *position;
        position_move(&after, position, list.moves[i]);
        position_move(&same, &same, list.moves[i]);
        assert_true(position_same(&after, &same) && after.halfmove == same.halfmove && after.fullmove == same.fullmove);
        int from = move_from(list.moves[i]), to = move_to(list.moves[i]);
        if ((position->kinds[PAWN] & square_set(from)) && abs(from - to) == 16)
            check_passing(&after, from, to);
        else
            assert_int_equal(position_en_passant(&after), NO_SQUARE);
        bool rests = !position_is_capture(position, list.moves[i])
            && !(position->kinds[PAWN] & square_set(move_from(list.moves[i])));
        assert_int_equal(after.halfmove, rests ? position->halfmove + 1 : 0);
        assert_int_equal(after.fullmove, position->fullmove + (position->turn == BLACK));
        assert_int_equal(after.chess960, position->chess960);
    }
}

static void test_moves_made(void **state) {
    (void)state;
    seed = 5;
    for (int game = 0; game < 10 * ROUNDS; game++) {
        Position position;
        position_start960((int)chance(960), &position);
        random_game(position, 200, check_move_in_place);
    }
    hard_positions(check_sets);
    strewn_positions(1000 * ROUNDS, check_move_in_place);
    /* a pawn that gives check by two squares may be captured in passing; not one that uncovers a king */
    for (int i = 0; i < 2; i++) {
        Position before = position_of(i == 0 ? "8/8/8/2k5/4p3/8/3P4/4K3 w - - 0 1" : "8/8/8/8/k3p2Q/8/3P4/4K3 w - - 0 1");
        Position after;
        position_move(&after, &before, move_make(square_make(3, 1), square_make(3, 3), EMPTY));
        check_passing(&after, square_make(3, 1), square_make(3, 3));
        assert_int_equal(position_en_passant(&after), i == 0 ? square_make(3, 2) : NO_SQUARE);
    }
    Position position = position_of("4k3/8/8/8/8/8/8/R3K3 w - - 0 1");
    position.halfmove = UINT16_MAX;
    position_move(&position, &position, move_make(0, 1, EMPTY));
    assert_int_equal(position.halfmove, UINT16_MAX);
}

/* The plain way works everywhere; a machine that has wide registers is asked, not trusted. */
static void test_ways(void **state) {
    (void)state;
    int ways = 0;
    for (; COUNT_WAYS[ways] != NULL; ways++)
        print_message("count: %s%s\n", COUNT_WAYS[ways]->name, COUNT_WAYS[ways]->usable() ? "" : " (not on this machine)");
    assert_true(ways > 0);
    assert_string_equal(COUNT_WAYS[ways - 1]->name, "plain");
    assert_true(COUNT_WAYS[ways - 1]->usable());
    assert_true(count_way()->usable());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_moves_made),
        cmocka_unit_test(test_answers_games),
        cmocka_unit_test(test_answers_strewn),
        cmocka_unit_test(test_by_the_laws),
        cmocka_unit_test(test_many_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
