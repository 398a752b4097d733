/* FEN: what is read, kindly and strictly, what is refused and why, what is written; Chess960 arrays; doubts. */
#include "core/chess/attacks.h"
#include "core/chess/doubt.h"
#include "core/chess/fen.h"
#include "core/chess/movegen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#define ARRAY "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
#define KINGS "4k3/8/8/8/8/8/8/4K3"
enum { BOTH = 64 }; /* refused kindly and strictly */

static uint64_t seed = 4;

static unsigned chance(unsigned below) {
    seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = (seed ^ seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (unsigned)((x ^ x >> 31) % below);
}

static Position position_of(const char *fen, unsigned flags) {
    Position position;
    Error error = { 0 };
    if (!fen_read(fen, flags, &position, &error))
        fail_msg("%s: %s", fen, error.text);
    return position;
}

static const struct { const char *fen; unsigned flags; FenError code; const char *says; } refused[] = {
    { "", BOTH, FEN_FIELDS, "this one has 0" },
    { "   \t\n ", BOTH, FEN_FIELDS, "this one has 0" },
    { "8/8/8/8/8/8/8/8", BOTH, FEN_FIELDS, "who is to move" },
    { ARRAY, BOTH, FEN_FIELDS, "who is to move" },
    { ARRAY "; w", 0, FEN_FIELDS, "who is to move" },
    { START " x", BOTH, FEN_FIELDS, "has more" },
    { START " 2 3", BOTH, FEN_FIELDS, "has more" },
    { KINGS " w", FEN_STRICT, FEN_FIELDS, "this one has 2" },
    { KINGS " w - -", FEN_STRICT, FEN_FIELDS, "this one has 4" },
    { KINGS " w - - 0", FEN_STRICT, FEN_FIELDS, "this one has 5" },
    { "4k3/8/8/8/8/8/8/4K3/11111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111"
      " w - - 0 1", BOTH, FEN_FIELDS, "more than 127" },
    { KINGS " w - - 0 1;", FEN_STRICT, FEN_COUNTER, "1;" },
    { KINGS " w - - bm Kd2; id \"1\";", FEN_STRICT, FEN_FIELDS, "has more" },

    { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP w KQkq - 0 1", BOTH, FEN_BOARD, "7 ranks" },
    { "4k3 w - - 0 1", BOTH, FEN_BOARD, "1 ranks" },
    { "rnbqkbnr/pppppppp/7/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", BOTH, FEN_BOARD, "Rank 6" },
    { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN w KQkq - 0 1", BOTH, FEN_BOARD, "Rank 1" },
    { "rnbqkbnrr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", BOTH, FEN_BOARD, "Rank 8" },
    { "rnbqkbnr/pppppppp/54/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", BOTH, FEN_BOARD, "Rank 6 of the FEN's board has more" },
    { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR/8 w KQkq - 0 1", BOTH, FEN_BOARD, "more than eight ranks" },
    { "/rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1", BOTH, FEN_BOARD, "Rank 8 of the FEN's board has fewer" },
    { "rnbqkbnr//pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1", BOTH, FEN_BOARD, "Rank 7 of the FEN's board has fewer" },
    { "rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", BOTH, FEN_PIECE, "“9”" },
    { "rnbqkbnr/pppppppp/0/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", BOTH, FEN_PIECE, "“0”" },
    { "rnbqkbnr/ppppxppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", BOTH, FEN_PIECE, "“x”" },
    { "rnbqkbnr/ppppSppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", BOTH, FEN_PIECE, "“S”" },
    { "rnbqkbnr/ppppp♙pp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", BOTH, FEN_PIECE, "“♙”" },
    { "rnbqkbnr/ppp\xe9pppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", BOTH, FEN_PIECE, "“?”" },
    { "[FEN \"" START "\"]", FEN_STRICT, FEN_FIELDS, "has more" },
    { "\"" START "\"", FEN_STRICT, FEN_PIECE, "“\"”" },
    { "FEN: " START, BOTH, FEN_FIELDS, "has more" },
    { "FEN", 0, FEN_FIELDS, "this one has 1" },
    { "[FEN \"\"]", 0, FEN_FIELDS, "this one has 0" },
    { "rnbqkbnr/pppp[ppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0", 0, FEN_BOARD, "Rank 7" },
    { "rnbqkbnr/pppp{ppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", BOTH, FEN_PIECE, "“{”" },
    { "rnbqkbnr/pppp?ppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", BOTH, FEN_PIECE, "“?”" },
    { "rnbqkbnr/pppp\x01ppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", BOTH, FEN_PIECE, "“?”" },
    { "rnbqkbnr/pppp\x0eppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", BOTH, FEN_PIECE, "“?”" },

    { "8/8/8/8/8/8/8/4K3 w - - 0 1", BOTH, FEN_NO_KING, "Black has no king" },
    { "4k3/8/8/8/8/8/8/8 w - - 0 1", BOTH, FEN_NO_KING, "White has no king" },
    { "8/8/8/8/8/8/8/8 w - - 0 1", BOTH, FEN_NO_KING, "White has no king" },
    { "4k3/8/8/8/8/8/8/K3K3 w - - 0 1", BOTH, FEN_TWO_KINGS, "White has 2 kings" },
    { "k1k1k3/8/8/8/8/8/8/4K3 w - - 0 1", BOTH, FEN_TWO_KINGS, "Black has 3 kings" },
    { "P3k3/8/8/8/8/8/8/4K3 w - - 0 1", BOTH, FEN_PAWN_RANK, "a8" },
    { "4k3/8/8/8/8/8/8/p3K3 w - - 0 1", BOTH, FEN_PAWN_RANK, "a1" },
    { "4k2p/8/8/8/8/8/8/4K3 w - - 0 1", BOTH, FEN_PAWN_RANK, "h8" },
    { "4k3/8/8/8/8/8/8/4K2P w - - 0 1", BOTH, FEN_PAWN_RANK, "h1" },
    { "4k3/8/8/8/8/P7/PPPPPPPP/4K3 w - - 0 1", BOTH, FEN_TOO_MANY, "White has 9 pawns" },
    { "4k3/pppppppp/p7/8/8/8/8/4K3 w - - 0 1", BOTH, FEN_TOO_MANY, "Black has 9 pawns" },
    { "4k3/8/8/8/8/QQQQQQQQ/QQQQQQQQ/4K3 b - - 0 1", BOTH, FEN_TOO_MANY, "White has 17 men" },
    { "rnbqkbnr/pppppppp/n7/8/8/8/8/4K3 w - - 0 1", BOTH, FEN_TOO_MANY, "Black has 17 men" },
    { KINGS " x - - 0 1", BOTH, FEN_TURN, "“x”" },
    { KINGS " W - - 0 1", BOTH, FEN_TURN, "“W”" },
    { KINGS " white - - 0 1", BOTH, FEN_TURN, "“white”" },
    { KINGS " - w - 0 1", BOTH, FEN_TURN, "“-”" },

    { KINGS " w X - 0 1", BOTH, FEN_CASTLING, "“X”" },
    { KINGS " w KQkqK - 0 1", 0, FEN_CASTLING, "“KQkqK”" },
    { KINGS " w K- - 0 1", 0, FEN_CASTLING, "“K-”" },
    { KINGS " w 0 - 0 1", BOTH, FEN_CASTLING, "“0”" },
    { KINGS " w \xc3\xa9 - 0 1", BOTH, FEN_CASTLING, "“é”" },
    { "rkrnnbbq/pppppppp/8/8/8/8/PPPPPPPP/RKRNNBBQ w HEhe - 0 1", BOTH, FEN_CASTLING, "“H”" },
    { KINGS " w KQ - 0 1", FEN_STRICT, FEN_CASTLING, "“K”" },
    { "4k2r/8/8/8/8/8/8/4K2R w KQk - 0 1", FEN_STRICT, FEN_CASTLING, "“Q”" },
    { "8/4k2r/8/8/8/8/8/4K2R w Kk - 0 1", FEN_STRICT, FEN_CASTLING, "“k”" },     /* not on his first rank */
    { "4k2r/8/8/8/8/8/4K2R/8 w H - 0 1", BOTH, FEN_CASTLING, "“H”" },
    { "4k1nR/8/8/8/8/8/8/4K1Nr b Kk - 0 1", FEN_STRICT, FEN_CASTLING, "“K”" },     /* the other side's rook */
    { "4k3/8/8/8/8/8/8/4K1RR w GH - 0 1", BOTH, FEN_CASTLING, "“H”" },             /* one a side */
    { "4k3/8/8/8/8/8/8/4K1RR w KG - 0 1", BOTH, FEN_CASTLING, "“G”" },
    { "4k3/8/8/8/8/8/8/4K1RR w E - 0 1", BOTH, FEN_CASTLING, "“E”" },              /* the king's own file */

    { KINGS " w - e9 0 1", BOTH, FEN_EN_PASSANT, "“e9”" },
    { KINGS " w - e 0 1", BOTH, FEN_EN_PASSANT, "“e”" },
    { KINGS " w - e66 0 1", BOTH, FEN_EN_PASSANT, "“e66”" },
    { KINGS " w - E6 0 1", BOTH, FEN_EN_PASSANT, "“E6”" },
    { KINGS " w - i6 0 1", BOTH, FEN_EN_PASSANT, "“i6”" },
    { KINGS " w - e6 0 1", FEN_STRICT, FEN_EN_PASSANT, "e6" },                       /* no pawn */
    { "4k3/8/8/3pP3/8/8/8/4K3 b - d6 0 1", FEN_STRICT, FEN_EN_PASSANT, "d6" },     /* whose turn it is not */
    { "4k3/8/8/3pP3/8/8/8/4K3 w - e6 0 1", FEN_STRICT, FEN_EN_PASSANT, "e6" },     /* behind the own pawn */
    { "4k3/3p4/8/3pP3/8/8/8/4K3 w - d6 0 1", FEN_STRICT, FEN_EN_PASSANT, "d6" },   /* its origin is not empty */
    { "4k3/8/3n4/3pP3/8/8/8/4K3 w - d6 0 1", FEN_STRICT, FEN_EN_PASSANT, "d6" },   /* nor what it passed */
    { "4k3/8/8/3pP3/8/8/8/4K3 w - d5 0 1", FEN_STRICT, FEN_EN_PASSANT, "d5" },     /* its own square */

    { KINGS " w - - x 1", BOTH, FEN_COUNTER, "fifth field" },
    { KINGS " w - - -1 1", BOTH, FEN_COUNTER, "“-1”" },
    { KINGS " w - - (bm Kd2;", 0, FEN_COUNTER, "“(bm”" },
    { KINGS " w - - ~ 1;", 0, FEN_COUNTER, "“~”" },
    { KINGS " w - - bm Kd2", 0, FEN_COUNTER, "“bm”" }, /* no operation of EPD without its semicolon */
    { KINGS " w - - 10000 1", BOTH, FEN_COUNTER, "“10000”" },
    { KINGS " w - - 0 -1", BOTH, FEN_COUNTER, "sixth field" },
    { KINGS " w - - 0 1.", BOTH, FEN_COUNTER, "“1.”" },
    { KINGS " w - - 0 100000", BOTH, FEN_COUNTER, "“100000”" },
    { KINGS " w - - 0 99999999999999999999", BOTH, FEN_COUNTER, "“99999999999999999999”" },
    { "1n6/8/2Q5/1rK5/8/8/8/5k2 b - - 0 1", BOTH, FEN_CHECK, "Black is to move, but could capture White's king" },
    { "8/8/8/8/8/8/5kK1/8 w - - 0 1", BOTH, FEN_CHECK, "the two kings stand next to each other" },
    { "4k3/3P4/8/8/8/8/8/4K3 w - - 0 1", BOTH, FEN_CHECK, "White is to move" },
    { "4k3/8/8/1B6/8/8/8/4K3 w - - 0 1", BOTH, FEN_CHECK, "White is to move" },
    { "4k3/8/8/8/8/3n4/8/4K3 b - - 0 1", BOTH, FEN_CHECK, "Black is to move" },
};

static void check_refused(const char *fen, unsigned flags, FenError code, const char *says) {
    Position position, untouched;
    memset(&position, 0x55, sizeof position);
    untouched = position;
    Error error = { 0 };
    if (fen_read(fen, flags, &position, &error) || error.code != (int)code || error.grade != ERROR_INPUT)
        fail_msg("%s (%u): code %d, not %d (%s)", fen, flags, error.code, (int)code, error.text);
    if (strstr(error.text, says) == NULL)
        fail_msg("%s: “%s” does not say “%s”", fen, error.text, says);
    assert_int_equal(error.text[strlen(error.text) - 1], '.');
    assert_memory_equal(&position, &untouched, sizeof position);
    assert_false(fen_read(fen, flags, &position, NULL));
}

static void test_refused(void **state) {
    (void)state;
    bool seen[FEN_CHECK + 1] = { false };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        seen[refused[i].code] = true;
        check_refused(refused[i].fen, refused[i].flags & ~(unsigned)BOTH, refused[i].code, refused[i].says);
        Position position;
        if (refused[i].flags == FEN_STRICT)
            assert_true(fen_read(refused[i].fen, 0, &position, NULL)); /* kindly, that is */
        else if (refused[i].flags == BOTH)
            check_refused(refused[i].fen, FEN_STRICT | FEN_CHESS960, refused[i].code, refused[i].says);
    }
    for (int code = FEN_FIELDS; code <= FEN_CHECK; code++)
        assert_true(seen[code]);
}

static void test_read(void **state) {
    (void)state;
    static const struct { const char *fen, *written, *shredder; } cases[] = {
        { START, START, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1" },
        { ARRAY " w qkQK - 0 1", START, NULL },
        { ARRAY " w KKQq - 0 1", ARRAY " w KQq - 0 1", ARRAY " w HAa - 0 1" },
        { ARRAY " w AHah - 0 1", START, NULL },
        { ARRAY " w HQkh - 0 1", ARRAY " w KQk - 0 1", NULL },
        /* text as it is pasted */
        { "  4k3/8/8/8/8/8/8/4K3   w ", KINGS " w - - 0 1", NULL },
        { KINGS " b", KINGS " b - - 0 1", NULL },
        { KINGS " b -", KINGS " b - - 0 1", NULL },
        { KINGS " b - - 7", KINGS " b - - 7 1", NULL },
        { "\t" KINGS "\r\n b\n-\n-\n0\n1\r\n", KINGS " b - - 0 1", NULL },
        { KINGS "\v\fb - - 0 1", KINGS " b - - 0 1", NULL },
        { "\xef\xbb\xbf" KINGS "\xc2\xa0" "b\xe2\x80\xaf\xe2\x80\x93\xc2\xa0\xe2\x88\x92\xe3\x80\x80" "3\xe2\x80\x8b 9", KINGS " b - - 3 9", NULL },
        { "[FEN \"" START "\"]", START, NULL },
        { "\"" START "\"", START, NULL },
        { "“" START "”", START, NULL },
        { "«" START "»", START, NULL },
        { "'" START "'\n", START, NULL },
        { "fen " START, START, NULL },
        { KINGS "\xa0" "b - - 3 9", KINGS " b - - 3 9", NULL }, /* Latin-1's hard blank */
        { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR_w_KQkq_-_0_1", START, NULL },
        { "4k3/44/11p5/8/8/8/2P5/112K111 w", "4k3/8/2p5/8/8/8/2P5/4K3 w - - 0 1", NULL },
        { KINGS " w - - bm Kd2; id \"no; 1\";", KINGS " w - - 0 1", NULL },
        { KINGS " w - - hmvc 3;", KINGS " w - - 0 1", NULL },
        { KINGS " w - - D1 5; D2 25;", KINGS " w - - 0 1", NULL },
        { KINGS " w - - ;D1 5 ;D2 25", KINGS " w - - 0 1", NULL },
        { KINGS " w - -; from a problem", KINGS " w - - 0 1", NULL },
        { KINGS " w - - 5 40;", KINGS " w - - 5 40", NULL },
        /* counters */
        { KINGS " b - - 3 0", KINGS " b - - 3 1", NULL },
        { KINGS " b - - 003 00012", KINGS " b - - 3 12", NULL },
        { KINGS " b - - 9999 99999", KINGS " b - - 9999 99999", NULL },
        /* en passant */
        { "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1", NULL },
        { "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", NULL },
        { "4k3/8/8/8/3pP3/8/8/4K3 b - e4 0 1", "4k3/8/8/8/3pP3/8/8/4K3 b - - 0 1", NULL },
        { "4k3/8/8/8/3pP3/8/4N3/4K3 b - e3 0 1", "4k3/8/8/8/3pP3/8/4N3/4K3 b - - 0 1", NULL },
        { "4k3/8/8/8/3pP3/8/8/4K3 w - e3 0 1", "4k3/8/8/8/3pP3/8/8/4K3 w - - 0 1", NULL },
        { "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1", "8/8/8/8/k2Pp2Q/8/8/3K4 b - - 0 1", NULL },   /* it would open the rank */
        { "4k3/8/8/4pP2/8/8/4R3/K7 w - e6 0 1", "4k3/8/8/4pP2/8/8/4R3/K7 w - e6 0 1", NULL }, /* the checked side's rank is open */
        { "4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "4r1k1/8/8/3pP3/8/8/8/4K3 w - - 0 1", NULL }, /* pinned */
        { "4r1k1/8/8/3pPP2/8/8/8/4K3 w - d6 0 1", "4r1k1/8/8/3pPP2/8/8/8/4K3 w - - 0 1", NULL },
        { "6k1/8/8/2PpP3/8/8/8/4K2r w - d6 0 1", "6k1/8/8/2PpP3/8/8/8/4K2r w - - 0 1", NULL }, /* in check otherwise */
        { "6k1/8/8/3pP3/4K3/8/8/8 w - d6 0 1", "6k1/8/8/3pP3/4K3/8/8/8 w - d6 0 1", NULL },    /* the pawn gives it */
        /* castling */
        { "4k3/8/8/8/8/8/8/4K1RR w K - 0 1", "4k3/8/8/8/8/8/8/4K1RR w K - 0 1", "4k3/8/8/8/8/8/8/4K1RR w H - 0 1" },
        { "4k3/8/8/8/8/8/8/4K1RR w H - 0 1", "4k3/8/8/8/8/8/8/4K1RR w K - 0 1", "4k3/8/8/8/8/8/8/4K1RR w H - 0 1" },
        { "4k3/8/8/8/8/8/8/4K1RR w G - 0 1", "4k3/8/8/8/8/8/8/4K1RR w G - 0 1", "4k3/8/8/8/8/8/8/4K1RR w G - 0 1" },
        { "rr2k3/8/8/8/8/8/8/RR2K3 w Bb - 0 1", "rr2k3/8/8/8/8/8/8/RR2K3 w Bb - 0 1", NULL },
        { "rr2k3/8/8/8/8/8/8/RR2K3 w Qq - 0 1", "rr2k3/8/8/8/8/8/8/RR2K3 w Qq - 0 1", "rr2k3/8/8/8/8/8/8/RR2K3 w Aa - 0 1" },
        { "4k3/pppppppp/8/8/8/8/PPPPPPPP/rR2K3 w Q - 0 1", "4k3/pppppppp/8/8/8/8/PPPPPPPP/rR2K3 w Q - 0 1",
          "4k3/pppppppp/8/8/8/8/PPPPPPPP/rR2K3 w B - 0 1" },
        { "3qk1nb/1p3p2/p1r1p1p1/3p4/3P4/2N1BP2/PPPQ1P2/R3K3 w Qk - 0 1", "3qk1nb/1p3p2/p1r1p1p1/3p4/3P4/2N1BP2/PPPQ1P2/R3K3 w Q - 0 1", NULL },
        { "k7/1R1RN3/p3p3/P3P2p/1PP4P/3K1PP1/8/8 b KQkq h3 0 1", "k7/1R1RN3/p3p3/P3P2p/1PP4P/3K1PP1/8/8 b - - 0 1", NULL },
        { "4k2r/8/8/8/8/8/4K2R/8 w Kk - 0 1", "4k2r/8/8/8/8/8/4K2R/8 w k - 0 1", NULL },
        { "4k1nR/8/8/8/8/8/8/4K1Nr b Kk - 0 1", "4k1nR/8/8/8/8/8/8/4K1Nr b - - 0 1", NULL },
        { "1k3r2/8/8/8/8/8/8/1K3R2 w Kk - 0 1", "1k3r2/8/8/8/8/8/8/1K3R2 w Kk - 0 1", "1k3r2/8/8/8/8/8/8/1K3R2 w Ff - 0 1" },
        { "r5kr/8/8/8/8/8/8/R5KR w KQkq - 0 1", "r5kr/8/8/8/8/8/8/R5KR w KQkq - 0 1", "r5kr/8/8/8/8/8/8/R5KR w HAha - 0 1" },
        /* composed: many promoted men, three men that check */
        { "8/7Q/2r1p3/2rkr3/2rrr2Q/7K/8/8 w", "8/7Q/2r1p3/2rkr3/2rrr2Q/7K/8/8 w - - 0 1", NULL },
        { "4k3/8/5N2/1B6/8/8/8/4RK2 b - - 0 1", "4k3/8/5N2/1B6/8/8/8/4RK2 b - - 0 1", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Position position = position_of(cases[i].fen, 0);
        char fen[FEN_MAX];
        fen_write(&position, 0, fen);
        assert_string_equal(fen, cases[i].written);
        Position strict = position_of(fen, FEN_STRICT), again;
        assert_true(position_same(&strict, &position));
        fen_write(&position, FEN_SHREDDER, fen);
        if (cases[i].shredder != NULL)
            assert_string_equal(fen, cases[i].shredder);
        again = position_of(fen, FEN_STRICT);
        assert_true(position_same(&again, &position));
    }
}

/* A right that only Chess960 has says that it is Chess960; what both have is what the caller says. */
static void test_variant(void **state) {
    (void)state;
    static const struct { const char *fen; unsigned flags; bool chess960; } cases[] = {
        { START, 0, false },
        { START, FEN_CHESS960, true },
        { ARRAY " w HAha - 0 1", 0, false },
        { "4k3/8/8/8/8/8/8/4K1RR w K - 0 1", 0, false },
        { "4k3/8/8/8/8/8/8/4K1RR w G - 0 1", 0, true },
        { "r4k1r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", 0, true },
        { "r4k1r/8/8/8/8/8/8/R3K2R w KQ - 0 1", 0, false },
        { "r4k1r/8/8/8/8/8/8/R4K1R w - - 0 1", 0, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (position_of(cases[i].fen, cases[i].flags).chess960 != cases[i].chess960)
            fail_msg("%s", cases[i].fen);
}

static void test_arrays(void **state) {
    (void)state;
    static const struct { int number; const char *array; } known[] = {
        { 0, "BBQNNRKR" }, { 1, "BQNBNRKR" }, { 518, "RNBQKBNR" }, { 959, "RKRNNQBB" }, { 534, "RNBKQBNR" },
    };
    char fen[FEN_MAX], expected[FEN_MAX];
    Position position, again;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        assert_true(position_start960(known[i].number, &position));
        fen_write(&position, 0, fen);
        assert_memory_equal(strstr(fen, "PPPPPPPP/") + 9, known[i].array, 8);
    }
    assert_false(position_start960(-1, &position));
    assert_false(position_start960(960, &position));
    static char boards[960][9];
    for (int number = 0; number < 960; number++) {
        assert_true(position_start960(number, &position));
        assert_int_equal(position_number960(&position), number);
        assert_true(position.chess960);
        fen_write(&position, 0, fen);
        memcpy(boards[number], fen, 8);
        const char *board = boards[number], *king = strchr(board, 'k'), *left = strchr(board, 'r'), *right = strrchr(board, 'r');
        assert_true(left < king && king < right);
        assert_int_equal((strchr(board, 'b') - board) % 2, 1 - (strrchr(board, 'b') - board) % 2);
        for (int other = 0; other < number; other++)
            assert_string_not_equal(boards[other], board);
        char white[9] = "";
        for (int i = 0; i < 8; i++)
            white[i] = (char)(board[i] - 32);
        snprintf(expected, sizeof expected, "%.8s/pppppppp/8/8/8/8/PPPPPPPP/%.8s w KQkq - 0 1", board, white);
        assert_string_equal(fen, expected);
        again = position_of(fen, FEN_STRICT | FEN_CHESS960);
        assert_true(position_same(&again, &position) && again.chess960);
        fen_write(&position, FEN_SHREDDER, fen);
        snprintf(expected, sizeof expected, "%.8s/pppppppp/8/8/8/8/PPPPPPPP/%.8s w %c%c%c%c - 0 1", board, white, (int)('A' + (right - board)),
                 (int)('A' + (left - board)), (int)('a' + (right - board)), (int)('a' + (left - board)));
        assert_string_equal(fen, expected);
        again = position_of(fen, FEN_STRICT | FEN_CHESS960);
        assert_true(position_same(&again, &position) && again.chess960);
        assert_int_equal(position_doubt(&position, NULL), DOUBT_NONE);
    }
    position_start(&position);
    assert_int_equal(position_number960(&position), 518);
    position = position_of("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1", 0);
    assert_int_equal(position_number960(&position), 0);
    static const char *const none[] = { ARRAY " b KQkq - 0 1", ARRAY " w KQk - 0 1", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBKQBNR w kq - 0 1", KINGS " w" };
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        position = position_of(none[i], 0);
        assert_int_equal(position_number960(&position), -1);
    }
}

/* Every form of a position's FEN gives it back, and no position of a game is doubted. */
static void check_forms(const Position *position) {
    char fen[FEN_MAX], again_fen[FEN_MAX];
    for (unsigned form = 0; form <= FEN_SHREDDER; form += FEN_SHREDDER) {
        fen_write(position, form, fen);
        for (unsigned strict = 0; strict <= FEN_STRICT; strict += FEN_STRICT) {
            Position again = position_of(fen, strict | (position->chess960 ? FEN_CHESS960 : 0u));
            assert_true(position_same(&again, position));
            assert_true(position_key(&again) == position_key(position));
            assert_int_equal(again.chess960, position->chess960);
            assert_int_equal(position_halfmove(&again), position_halfmove(position));
            assert_int_equal(position_fullmove(&again), position_fullmove(position));
            fen_write(&again, form, again_fen);
            assert_string_equal(fen, again_fen);
        }
    }
    Error error = { 0 };
    if (position_doubt(position, &error) != DOUBT_NONE)
        fail_msg("%s: %s", fen, error.text);
}

static void test_random_games(void **state) {
    (void)state;
    for (int game = 0; game < 400; game++) {
        Position position;
        if (game % 2 == 0)
            position_start(&position);
        else
            assert_true(position_start960((int)chance(960), &position));
        for (int ply = 0; ply < 250; ply++) {
            check_forms(&position);
            MoveList list;
            moves_legal(&position, &list);
            if (list.count == 0)
                break;
            position_move(&position, &position, list.moves[chance((unsigned)list.count)]);
        }
    }
}

static void test_doubts(void **state) {
    (void)state;
    static const struct { const char *fen; Doubt doubt; } cases[] = {
        { START, DOUBT_NONE },
        { KINGS " w - - 0 1", DOUBT_NONE },
        /* men */
        { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPP1/RNBQKBNR w Qkq - 0 1", DOUBT_NONE },
        { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPQ/RNBQKBNR w KQkq - 0 9", DOUBT_NONE },
        { "rnbqkbnr/pppppppp/8/8/8/7Q/PPPPPPPP/RNBQKBN1 w Qkq - 0 9", DOUBT_PROMOTED },
        { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBBN w Qkq - 0 9", DOUBT_PROMOTED }, /* two bishops on dark squares */
        { "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBBKQBN w Qkq - 0 9", DOUBT_PROMOTED }, /* two on light ones too */
        { "4k3/8/8/8/8/8/8/2B1KB2 w - - 0 9", DOUBT_NONE },
        { "rrr1k3/pppppppp/8/8/8/8/8/4K3 w - - 0 9", DOUBT_PROMOTED },
        { "rrr1k3/ppppppp1/8/8/8/8/8/4K3 w - - 0 9", DOUBT_NONE },
        { "nnn1k3/pppppppp/8/8/8/8/8/4K3 w - - 0 9", DOUBT_PROMOTED },
        { "8/7Q/2r1p3/2rkr3/2rrr2Q/7K/8/8 w", DOUBT_NONE },
        /* checks */
        { "4k3/8/5N2/1B6/8/8/8/4RK2 b - - 0 9", DOUBT_CHECK }, /* three men */
        { "4k3/8/5N2/8/8/8/8/4RK2 b - - 0 9", DOUBT_NONE },    /* the knight came from e4 */
        { "4k3/8/8/1B6/8/8/8/4RK2 b - - 0 9", DOUBT_NONE },    /* the bishop from e2 */
        { "4k3/8/8/1B5B/8/8/8/5K2 b - - 0 9", DOUBT_CHECK },   /* neither opened the other's line */
        { "4k3/8/3N1N2/8/8/8/8/5K2 b - - 0 9", DOUBT_CHECK },
        { "4k2R/8/8/8/8/8/8/4RK2 b - - 0 9", DOUBT_CHECK },
        { "4kQ2/8/8/8/8/8/8/4R1K1 b - - 0 9", DOUBT_NONE },    /* e7xf8=Q */
        { "rnbqkQnr/pppppp1p/8/8/8/8/8/4RK2 b - - 0 9", DOUBT_NONE }, /* g7xf8=Q, and e7 shuts the file */
        { "8/8/3Pk3/8/8/1B6/8/4RK2 b - - 0 9", DOUBT_NONE },   /* e5xd6 en passant opens both lines */
        { "8/3P4/4k3/8/8/1B6/8/4RK2 b - - 0 9", DOUBT_CHECK },
        { "8/3n4/3Pk3/8/8/1B6/8/4RK2 b - - 0 9", DOUBT_CHECK }, /* the pawn on d5 did not come from d7 */
        { "4rk2/8/1b6/8/8/3pK3/8/8 w - - 0 9", DOUBT_NONE },   /* e4xd3 en passant */
        { "8/8/8/8/8/1k6/P7/5K2 b - - 0 9", DOUBT_CHECK },     /* a pawn that never moved */
        { "8/8/8/8/1k6/P7/8/5K2 b - - 0 9", DOUBT_NONE },
        { "8/8/8/1k6/P7/8/8/5K2 b - - 0 9", DOUBT_NONE },
        { "8/p7/1K6/8/8/8/8/5k2 w - - 0 9", DOUBT_CHECK },
        { "8/8/1p6/2K5/8/8/8/5k2 w - - 0 9", DOUBT_NONE },
        { "8/8/8/1p6/2K5/8/8/5k2 w - - 0 9", DOUBT_NONE },     /* b7-b5 */
        { "8/8/8/8/8/8/5P2/k4RK1 b - - 0 9", DOUBT_NONE },     /* castled: neither rook nor king came there otherwise */
        { "8/8/8/8/8/8/5P2/k4RKN b - - 0 9", DOUBT_NONE },     /* king f1 and rook g1 before */
        { "8/8/8/8/8/8/5P2/k4R1K b - - 0 9", DOUBT_NONE },      /* Rg1xf1 */
        { "8/8/8/8/8/8/5PR1/k4RRK b - - 0 9", DOUBT_CHECK },   /* from nowhere */
        { "8/8/8/8/8/8/5P2/k5KR b - - 0 9", DOUBT_NONE },      /* no check at all */
        { "8/6B1/8/8/8/8/5P2/k4RK1 b - - 0 9", DOUBT_CHECK },  /* the bishop checked before */
        { "8/8/8/8/8/8/3P4/2KR3k b - - 0 9", DOUBT_NONE },
        { "8/8/8/8/8/8/3P4/2K1R2k b - - 0 9", DOUBT_NONE },    /* the rook from the e-file */
        { "2kr3K/3p4/8/8/8/8/8/8 w - - 0 9", DOUBT_NONE },
        { "5rk1/5p2/8/8/8/8/8/K4r2 w - - 0 9", DOUBT_NONE },
        { "K4rk1/5p2/8/8/8/8/8/8 w - - 0 9", DOUBT_NONE },
        { "K4rk1/5p2/8/8/8/8/8/7b w - - 0 9", DOUBT_CHECK },
        { "5k2/8/8/8/8/8/8/K3RRR1 b - - 0 9", DOUBT_CHECK },   /* the rook came from nowhere */
        { "3k4/8/8/8/8/8/8/2KRR3 b - - 0 9", DOUBT_NONE },
        { "5rk1/8/8/8/8/8/8/4RK2 w - - 0 9", DOUBT_NONE },
        { "r4rkr/6pp/8/8/8/8/8/4RK2 w - - 0 9", DOUBT_NONE },  /* the rook along the rank */
        /* en passant */
        { "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 9", DOUBT_NONE },
        { "4k3/8/8/8/3pP3/8/8/4K3 b - e3 1 9", DOUBT_EN_PASSANT },
        { "8/8/8/1k6/3Pp3/8/8/4KQ2 b - d3 0 9", DOUBT_EN_PASSANT },                      /* in check from f1 before */
        { "8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 9", DOUBT_NONE },
        /* castling */
        { "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 9", DOUBT_NONE },
        { "r2k3r/8/8/8/8/8/8/R3K2R w KQkq - 0 9", DOUBT_CASTLING },
        { "r3k1r1/8/8/8/8/8/8/R3K2R w KQkq - 0 9", DOUBT_CASTLING },
        { "1r2k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 9", DOUBT_CASTLING },
        { "1r2k2r/8/8/8/8/8/8/R3K2R w Qk - 0 9", DOUBT_NONE },
        { "r2k3r/8/8/8/8/8/8/R3K2R w KQ - 0 9", DOUBT_NONE },
        /* counters */
        { KINGS " w - - 1 1", DOUBT_COUNTERS },
        { KINGS " b - - 1 1", DOUBT_NONE },
        { KINGS " w - - 16 9", DOUBT_NONE },
        { KINGS " w - - 17 9", DOUBT_COUNTERS },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Position position = position_of(cases[i].fen, 0);
        Error error = { 0 };
        Doubt doubt = position_doubt(&position, &error);
        if (doubt != cases[i].doubt)
            fail_msg("%s: %d, not %d (%s)", cases[i].fen, (int)doubt, (int)cases[i].doubt, error.text);
        assert_int_equal(error.code, doubt);
        assert_true((strlen(error.text) > 20) == (doubt != DOUBT_NONE));
    }
}

/* Beside the project: three spellings of each position, X-FEN, Shredder-FEN, and with the en passant square always. */
static void check_columns(const char *path, unsigned variant) {
    FILE *file = fopen(path, "r");
    if (file == NULL)
        skip();
    static char line[32768];
    int lines = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#')
            continue;
        char *rest = line, *columns[3];
        for (int i = 0; i < 3; i++)
            columns[i] = strsep(&rest, "\t");
        assert_non_null(rest);
        for (int i = 0; i < 3; i++) {
            char fen[FEN_MAX];
            Position position = position_of(columns[i], FEN_STRICT | variant);
            fen_write(&position, 0, fen);
            assert_string_equal(fen, columns[0]);
            fen_write(&position, FEN_SHREDDER, fen);
            assert_string_equal(fen, columns[1]);
        }
        lines++;
    }
    fclose(file);
    assert_true(lines > 1000);
}

static void test_columns_standard(void **state) {
    (void)state;
    check_columns("../shared/chess-data/moves-standard.tsv", 0);
}

static void test_columns_chess960(void **state) {
    (void)state;
    check_columns("../shared/chess-data/moves-chess960.tsv", FEN_CHESS960);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),          cmocka_unit_test(test_read),
        cmocka_unit_test(test_variant),          cmocka_unit_test(test_arrays),
        cmocka_unit_test(test_random_games),     cmocka_unit_test(test_doubts),
        cmocka_unit_test(test_columns_standard), cmocka_unit_test(test_columns_chess960),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
