/* Ways people write moves, each with its right reading or the right reason against it. */
#include "core/chess/fen.h"
#include "core/notation/notation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define START "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
#define UNDER "2r1n3/PPPP1PPP/8/2k5/5K2/8/pppp1ppp/2R1N3 w - - 0 1"
#define CASTLE "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
#define CASTLE_BLACK "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1"
#define PROMOTE "3r2k1/4P3/8/8/8/8/6p1/4K3 w - - 0 1"
#define PROMOTE_BLACK "4k3/8/8/8/8/8/6p1/4K2R b - - 0 1"
#define BISHOP_PAWN "4k3/8/8/8/8/2p5/1P2B3/B3K3 w - - 0 1"     /* b2 and, blocked, Ba1 */
#define BOTH_TAKE "4k3/8/8/8/8/2p5/1P1B4/4K3 w - - 0 1"         /* bxc3 and Bxc3 */
#define PAWN_ONLY "4k3/8/8/8/8/2p5/1P6/4K3 w - - 0 1"
#define EN_PASSANT "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1"
#define TOO_LATE "4k3/8/8/3pP3/8/8/8/4K3 w - - 0 1"
#define EP_PINNED "8/8/8/K2pP2q/8/8/8/4k3 w - d6 0 1"
#define TWO_KNIGHTS "4k3/8/8/8/8/8/8/1N2KN2 w - - 0 1"           /* both to d2 */
#define PINNED "4r1k1/8/8/8/8/8/4N3/4K3 w - - 0 1"
#define CHECKED "4r1k1/8/8/8/8/8/8/3QK2R w K - 0 1"
#define MIDDLE "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"

typedef struct Case {
    const char *fen, *text;
    const char *expected; /* the move in UCI, or the name of the fault */
    ReadingKind kind;
    const char *candidates; /* SAN, blank between; NULL: not looked at */
} Case;

static Position position_of(const char *fen) {
    Position position;
    Error error = { 0 };
    if (!fen_read(fen, 0, &position, &error))
        fail_msg("%s: %s", fen, error.text);
    return position;
}

static void list_candidates(const Position *position, const Reading *reading, char text[512]) {
    size_t length = 0;
    text[0] = 0;
    for (int i = 0; i < reading->candidate_count; i++) {
        char san[NOTATION_MAX];
        notation_write(position, reading->candidates[i], NOTATION_SAN, san);
        length += (size_t)snprintf(text + length, 512 - length, "%s%s", i > 0 ? " " : "", san);
    }
}

static void check(const Case *wanted, unsigned flags, const MoveLanguage *own) {
    Position position = position_of(wanted->fen);
    Reading reading;
    char got[NOTATION_MAX], candidates[512];
    notation_read_in(&position, wanted->text, flags, own, &reading);
    snprintf(got, sizeof got, "%s", notation_fault_name(reading.fault));
    if (reading.kind == READING_MOVE)
        notation_write(&position, reading.move, NOTATION_UCI, got);
    list_candidates(&position, &reading, candidates);
    if (reading.kind != wanted->kind || strcmp(got, wanted->expected) != 0
        || (wanted->candidates != NULL && strcmp(candidates, wanted->candidates) != 0))
        fail_msg("%s \"%s\": kind %d %s [%s]", wanted->fen, wanted->text, reading.kind, got, candidates);
    bool shaped = reading.kind != READING_NOT_A_MOVE || reading.fault == FAULT_DESCRIPTIVE;
    assert_int_equal(notation_shaped_in(wanted->text, flags, own), shaped);
}

static void test_moves(void **state) {
    (void)state;
    static const struct { const char *fen, *text, *uci; } cases[] = {
        { START, "e4", "e2e4" }, { START, " e4 ", "e2e4" }, { START, "e4.", "e2e4" }, { START, "e4!", "e2e4" },
        { START, "e4!?", "e2e4" }, { START, "e4 ?!", "e2e4" }, { START, "e4\xe2\x81\x89", "e2e4" },
        { START, "e4 $1", "e2e4" }, { START, "E4", "e2e4" }, { START, "Pe4", "e2e4" }, { START, "e2e4", "e2e4" },
        { START, "e2-e4", "e2e4" }, { START, "e2 e4", "e2e4" }, { START, "E2-E4", "e2e4" },
        { START, "e2 - e4", "e2e4" }, { START, "e2\xe2\x80\x93" "e4", "e2e4" }, { START, "e2\xe2\x80\x94" "e4", "e2e4" },
        { START, "e2\xe2\x88\x92" "e4", "e2e4" }, { START, "e2\xe2\x80\x91" "e4", "e2e4" }, { START, "5254", "e2e4" },
        { START, "\xe2\x99\x99" "e4", "e2e4" }, { START, "Nf3", "g1f3" }, { START, "nf3", "g1f3" },
        { START, "NF3", "g1f3" }, { START, "N f3", "g1f3" }, { START, "Ng1f3", "g1f3" }, { START, "Ng1-f3", "g1f3" },
        { START, "Ngf3", "g1f3" }, { START, "N1f3", "g1f3" }, { START, "N-f3", "g1f3" }, { START, "g1f3", "g1f3" },
        { START, "7163", "g1f3" }, { START, "\xe2\x99\x98" "f3", "g1f3" }, { START, "\xe2\x99\x9e" "f3", "g1f3" },
        { START, "\xe2\x99\x98\xef\xb8\x8e" "f3", "g1f3" }, { START, "\xef\xbc\xae\xef\xbd\x86\xef\xbc\x93", "g1f3" },
        { START, "Nxf3", "g1f3" }, { START, "Nf3+", "g1f3" }, { START, "Nf3#", "g1f3" }, { START, "Nf3 mate", "g1f3" },
        { START, "Nf3 ch.", "g1f3" },
        { CASTLE, "O-O", "e1g1" }, { CASTLE, "0-0", "e1g1" }, { CASTLE, "o-o", "e1g1" }, { CASTLE, "OO", "e1g1" },
        { CASTLE, "00", "e1g1" }, { CASTLE, "O - O", "e1g1" }, { CASTLE, "0\xe2\x80\x93" "0+", "e1g1" },
        { CASTLE, "e1g1", "e1g1" }, { CASTLE, "Ke1-g1", "e1g1" }, { CASTLE, "5171", "e1g1" },
        { CASTLE, "O-O-O", "e1c1" }, { CASTLE, "0-0-0+", "e1c1" }, { CASTLE, "000", "e1c1" },
        { CASTLE, "O\xe2\x80\x91O\xe2\x80\x91O", "e1c1" }, { CASTLE, "5131", "e1c1" },
        { CASTLE, "\xd0\x9e-\xd0\x9e", "e1g1" }, { CASTLE_BLACK, "5878", "e8g8" }, { CASTLE_BLACK, "5838", "e8c8" },
        { CASTLE, "Rxh8+", "h1h8" }, { CASTLE, "Rh1:h8", "h1h8" }, { CASTLE, "Rh1\xc3\x97h8", "h1h8" },
        { PROMOTE, "e8=Q", "e7e8q" }, { PROMOTE, "e8Q", "e7e8q" }, { PROMOTE, "e8(Q)", "e7e8q" },
        { PROMOTE, "e8/Q", "e7e8q" }, { PROMOTE, "e8=q", "e7e8q" }, { PROMOTE, "e8q", "e7e8q" },
        { PROMOTE, "e8 = Q", "e7e8q" }, { PROMOTE, "e7e8q", "e7e8q" }, { PROMOTE, "e7-e8=N", "e7e8n" },
        { PROMOTE, "e7e8b", "e7e8b" }, { PROMOTE, "57581", "e7e8q" }, { PROMOTE, "57584", "e7e8n" },
        { PROMOTE, "57482", "e7d8r" }, { PROMOTE, "exd8=Q+", "e7d8q" }, { PROMOTE, "ed8Q", "e7d8q" },
        { PROMOTE, "xd8R", "e7d8r" }, { PROMOTE, "e8\xe2\x99\x95", "e7e8q" }, { PROMOTE_BLACK, "g2g1q", "g2g1q" },
        { PROMOTE_BLACK, "gxh1=N", "g2h1n" }, { PROMOTE_BLACK, "gh1b", "g2h1b" },
        { BISHOP_PAWN, "bxc3", "b2c3" }, { BISHOP_PAWN, "bc3", "b2c3" },         { BISHOP_PAWN, "bf3", "e2f3" }, { BOTH_TAKE, "bxc3", "b2c3" }, { BOTH_TAKE, "Bxc3", "d2c3" },
        { BOTH_TAKE, "b2c3", "b2c3" }, { BOTH_TAKE, "bxc", "b2c3" }, { BOTH_TAKE, "B4", "b2b4" },
        { EN_PASSANT, "exd6", "e5d6" }, { EN_PASSANT, "exd6 e.p.", "e5d6" }, { EN_PASSANT, "exd6ep", "e5d6" },
        { EN_PASSANT, "ed6", "e5d6" }, { EN_PASSANT, "5546", "e5d6" },
        { TWO_KNIGHTS, "Nbd2", "b1d2" }, { TWO_KNIGHTS, "Nfd2", "f1d2" }, { TWO_KNIGHTS, "nbd2", "b1d2" },
        { MIDDLE, "Nf6", "g8f6" }, { EN_PASSANT, "EXD6", "e5d6" }, { MIDDLE, "bb4", "f8b4" }, { MIDDLE, "BB4", "f8b4" },
        { START, "e4\r\n", "e2e4" }, { START, "\n\te4", "e2e4" }, { START, "e2\r\ne4", "e2e4" }, { PROMOTE, "e8 (=Q)", "e7e8q" },
        { PROMOTE, "e7e8=Q!", "e7e8q" }, { PROMOTE, "e8=\xe2\x99\x9b", "e7e8q" }, { START, "N g1 - f3", "g1f3" }, { CASTLE, "O-O-O++", "e1c1" },
        { "1k6/8/8/8/4Q2Q/8/8/K6Q w - - 0 1", "Qh4e1", "h4e1" },
        { "1r5k/6p1/3p3p/8/8/4bQ2/2R3PP/2KRq3 w - - 0 1", "Rcd2", "c2d2" },
        { "4k3/8/8/8/8/2R5/8/2R1K3 w - - 0 1", "Rc1c2", "c1c2" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Case wanted = { cases[i].fen, cases[i].text, cases[i].uci, READING_MOVE, NULL };
        check(&wanted, 0, NULL);
    }
}

static void test_faults(void **state) {
    (void)state;
    static const Case cases[] = {
        { START, "Nf9", "no_such_square", READING_ILLEGAL, "" },
        { START, "Ki4", "no_such_square", READING_ILLEGAL, "" },
        { START, "Qz3", "no_such_square", READING_ILLEGAL, "" },
        { START, "e9", "no_such_square", READING_ILLEGAL, "" },
        { START, "e2e9", "no_such_square", READING_ILLEGAL, "" },
        { START, "Nf", "incomplete", READING_ILLEGAL, "" },
        { START, "N3", "incomplete", READING_ILLEGAL, "" },
        { START, "Ng1-", "incomplete", READING_ILLEGAL, "" },
        { START, "Sf3", "unknown_letter", READING_ILLEGAL, "Nf3" },
        { START, "e3e4", "square_empty", READING_ILLEGAL, NULL },
        { START, "e7e5", "wrong_turn", READING_ILLEGAL, NULL },
        { START, "e5", "wrong_turn", READING_ILLEGAL, NULL },
        { START, "Nf6", "wrong_turn", READING_ILLEGAL, NULL },
        { START, "a8a7", "opponents_piece", READING_ILLEGAL, NULL },
        { START, "Ng8-e2", "opponents_piece", READING_ILLEGAL, NULL },
        { START, "Bg1-f3", "other_piece", READING_ILLEGAL, NULL },
        { START, "Nd4", "cannot_reach", READING_ILLEGAL, "" },
        { START, "Nef3", "no_piece_named", READING_ILLEGAL, "Nf3" },
        { START, "Ke2", "own_piece", READING_ILLEGAL, NULL },
        { START, "Bc4", "path_blocked", READING_ILLEGAL, NULL },
        { START, "Qh5", "path_blocked", READING_ILLEGAL, NULL },
        { START, "O-O", "castling_blocked", READING_ILLEGAL, NULL },
        { START, "exd3", "nothing_to_capture", READING_ILLEGAL, NULL },
        { START, "e2d3", "nothing_to_capture", READING_ILLEGAL, NULL },
        { START, "e4=Q", "promotion_rank", READING_ILLEGAL, "e4" },
        { MIDDLE, "e4", "pawn_blocked", READING_ILLEGAL, "" },
        { MIDDLE, "e5xe4", "pawn_straight", READING_ILLEGAL, NULL },
        { MIDDLE, "O-O", "castling_blocked", READING_ILLEGAL, NULL },
        { MIDDLE, "Kg8", "cannot_reach", READING_ILLEGAL, NULL },
        { "4k3/8/8/8/4p3/8/4P3/4K3 w - - 0 1", "e4", "pawn_blocked", READING_ILLEGAL, NULL },
        { "4k3/8/8/8/8/4p3/4P3/4K3 w - - 0 1", "e4", "pawn_blocked", READING_ILLEGAL, NULL },
        { TOO_LATE, "exd6", "en_passant_late", READING_ILLEGAL, NULL },
        { TOO_LATE, "exf6", "nothing_to_capture", READING_ILLEGAL, NULL },
        { EP_PINNED, "exd6", "en_passant_exposed", READING_ILLEGAL, NULL },
        { PINNED, "Nf4", "king_exposed", READING_ILLEGAL, NULL },
        { PINNED, "e2f4", "king_exposed", READING_ILLEGAL, NULL },
        { CHECKED, "Qd4", "still_in_check", READING_ILLEGAL, NULL },
        { CHECKED, "Ke2", "king_attacked", READING_ILLEGAL, NULL },
        { CHECKED, "O-O", "castling_in_check", READING_ILLEGAL, NULL },
        { CASTLE, "Kd8", "wrong_turn", READING_ILLEGAL, NULL },
        { "4k3/8/8/8/8/8/8/R3K2R w - - 0 1", "O-O", "castling_no_right", READING_ILLEGAL, NULL },
        { "4k3/8/8/8/8/8/8/R3K2R w - - 0 1", "e1g1", "castling_no_right", READING_ILLEGAL, NULL },
        { "4kr2/8/8/8/8/8/8/R3K2R w KQ - 0 1", "0-0", "castling_through", READING_ILLEGAL, NULL },
        { "4k1r1/8/8/8/8/8/8/R3K2R w KQ - 0 1", "O-O", "castling_into", READING_ILLEGAL, NULL },
        { "4k3/8/8/8/8/8/8/RN2K2R w KQ - 0 1", "O-O-O", "castling_blocked", READING_ILLEGAL, NULL },
        { PROMOTE, "e8", "promotion_missing", READING_ILLEGAL, "e8=B e8=N e8=Q+ e8=R+" },
        { PROMOTE, "e7e8", "promotion_missing", READING_ILLEGAL, NULL },
        { PROMOTE, "e8=", "promotion_missing", READING_ILLEGAL, NULL },
        { PROMOTE, "5758", "promotion_missing", READING_ILLEGAL, NULL },
        { PROMOTE, "e8=K", "promotion_piece", READING_ILLEGAL, NULL },
        { PROMOTE, "e8=P", "promotion_piece", READING_ILLEGAL, NULL },
        { PROMOTE, "e8D", "promotion_piece", READING_ILLEGAL, NULL },
        { PROMOTE, "57588", "promotion_piece", READING_ILLEGAL, NULL },
        { TWO_KNIGHTS, "Nd2", "several_men", READING_AMBIGUOUS, "Nbd2 Nfd2" },
        { TWO_KNIGHTS, "Ncd2", "no_piece_named", READING_ILLEGAL, "Nbd2 Nfd2" },
        { "rnbqkbnr/pp1p2pp/5p2/2p1p3/2PPP3/5P2/PP4PP/RNBQKBNR b KQkq - 0 4", "xd4", "several_men", READING_AMBIGUOUS,
          "cxd4 exd4" },
        { "rnbqkbnr/pppp1ppp/8/4p3/5P2/6P1/PPPPP2P/RNBQKBNR w KQkq - 0 3", "Nfe3", "no_piece_named", READING_ILLEGAL, NULL },
        { START, "xd3", "nothing_to_capture", READING_ILLEGAL, "d3" },
        { PAWN_ONLY, "xb3", "cannot_reach", READING_ILLEGAL, "b3" },
        { START, "d8", "cannot_reach", READING_ILLEGAL, NULL },
        { BISHOP_PAWN, "Bxc3", "path_blocked", READING_ILLEGAL, "bxc3" },
        { START, "P-K4", "descriptive", READING_NOT_A_MOVE, NULL },
        { START, "N-KB3", "descriptive", READING_NOT_A_MOVE, NULL },
        { START, "PxP", "descriptive", READING_NOT_A_MOVE, NULL },
        { START, "QxRch", "descriptive", READING_NOT_A_MOVE, NULL },
        { START, "Kt-KB3", "descriptive", READING_NOT_A_MOVE, NULL },
        { START, "", "unshaped", READING_NOT_A_MOVE, "" },
        { START, "hello", "unshaped", READING_NOT_A_MOVE, "" },
        { START, "e4 is good", "unshaped", READING_NOT_A_MOVE, "" },
        { START, "e4 e5 Nf3", "unshaped", READING_NOT_A_MOVE, "" },
        { START, "e\xff", "unshaped", READING_NOT_A_MOVE, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(&cases[i], 0, NULL);
}

static void test_line_start(void **state) {
    (void)state;
    static const Case cases[] = {
        { BOTH_TAKE, "Bxc3", "bishop_or_pawn", READING_AMBIGUOUS, "Bxc3 bxc3" },
        { BOTH_TAKE, "bxc3", "b2c3", READING_MOVE, "" },
        { BOTH_TAKE, "Bc3", "d2c3", READING_MOVE, NULL },
        { BISHOP_PAWN, "Bxc3", "b2c3", READING_MOVE, "" }, /* the bishop cannot */
        { PAWN_ONLY, "Bxc3", "b2c3", READING_MOVE, "" },
        { START, "B4", "b2b4", READING_MOVE, "" }, { START, "Bxc3", "cannot_reach", READING_ILLEGAL, NULL },
        { START, "B2-b4", "b2b4", READING_MOVE, "" },
        { "4k3/4r3/8/8/8/2p5/1P2B3/4K3 w - - 0 1", "Bxc3", "b2c3", READING_MOVE, NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(&cases[i], READ_LINE_START, NULL);
}

static void test_languages(void **state) {
    (void)state;
    static const struct { const char *language; unsigned flags; Case wanted; } cases[] = {
        { "de", 0, { START, "Sf3", "g1f3", READING_MOVE, NULL } },
        { "de-AT", 0, { START, "sf3", "g1f3", READING_MOVE, NULL } },
        { "de", 0, { START, "Nf3", "g1f3", READING_MOVE, NULL } },
        { "de", 0, { START, "hello", "unshaped", READING_NOT_A_MOVE, "" } }, { "de", READ_OWN_ONLY, { START, "hello", "unshaped", READING_NOT_A_MOVE, "" } },
        { "de", READ_OWN_ONLY, { START, "Nf3", "unknown_letter", READING_ILLEGAL, "Nf3" } },
        { "sv", READ_OWN_ONLY, { UNDER, "b7c8q", "b7c8q", READING_MOVE, NULL } }, /* UCI is no language's */
        { "sv", READ_OWN_ONLY, { UNDER, "b7c8d", "b7c8q", READING_MOVE, NULL } },
        { "fi", READ_OWN_ONLY, { UNDER, "b7c8r", "two_languages", READING_AMBIGUOUS, "bxc8=N bxc8=R" } }, /* ratsu or rook */
        { "hu", READ_OWN_ONLY, { UNDER, "b7c8b", "two_languages", READING_AMBIGUOUS, "bxc8=R bxc8=B" } },
        { "fi", READ_OWN_ONLY, { UNDER, "bxc8=R", "b7c8n", READING_MOVE, NULL } },
        { "en", 0, { "4k3/8/8/8/8/8/8/RK5R w HA - 0 1", "Kxh1", "b1h1", READING_MOVE, NULL } },
        { "en", 0, { "4k3/8/8/8/8/8/8/RK5R w HA - 0 1", "Kg1", "b1h1", READING_MOVE, NULL } },
        { "de", 0, { "4k3/8/8/8/8/8/8/RK5R w HA - 0 1", "Kxa1", "b1a1", READING_MOVE, NULL } },
        { "en", 0, { "4k3/8/8/8/8/8/8/RK5R w HA - 0 1", "Kc1", "b1c1", READING_MOVE, NULL } },
        { "en", 0, { "4k3/8/8/8/8/8/8/RK4NR w HA - 0 1", "Kxh1", "castling_blocked", READING_ILLEGAL, NULL } },
        { "en", 0, { CASTLE, "Kxh1", "cannot_reach", READING_ILLEGAL, NULL } },
        { "en", 0, { CASTLE, "Ie1-g1", "unknown_letter", READING_ILLEGAL, NULL } }, { "en", 0, { CASTLE, "Ke1-g1", "e1g1", READING_MOVE, NULL } },
        { "de", 0, { PROMOTE, "e8D", "e7e8q", READING_MOVE, NULL } },
        { "de", 0, { PROMOTE, "e8=S", "e7e8n", READING_MOVE, NULL } },
        { "de", 0, { START, "d4", "d2d4", READING_MOVE, NULL } },
        { "de", 0, { START, "D4", "d2d4", READING_MOVE, NULL } },
        { "fr", 0, { START, "Cf3", "g1f3", READING_MOVE, NULL } },
        { "es", 0, { START, "Cf3", "g1f3", READING_MOVE, NULL } },
        /* R is the king in Spanish, the rook in English */
        { "es", 0, { CASTLE, "Rd1", "two_languages", READING_AMBIGUOUS, "Kd1 Rd1" } },
        { "es", READ_OWN_ONLY, { CASTLE, "Rd1", "e1d1", READING_MOVE, NULL } },
        { "es", 0, { CASTLE, "Rb1", "a1b1", READING_MOVE, NULL } },
        { "es", 0, { "3rk3/8/8/8/8/8/8/R3K3 w - - 0 1", "Rd1", "two_languages", READING_AMBIGUOUS, "Rd1" } },
        { "es", 0, { CASTLE, "Td1", "a1d1", READING_MOVE, NULL } },
        { "es", 0, { CASTLE, "Kd1", "e1d1", READING_MOVE, NULL } },
        { "de", 0, { CASTLE, "\xe2\x99\x96" "d1", "a1d1", READING_MOVE, NULL } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(&cases[i].wanted, cases[i].flags, language_find(cases[i].language));
    assert_null(language_find("xx"));
    assert_null(language_find("den"));
    char text[NOTATION_MAX];
    Position position = position_of(PROMOTE);
    notation_write_in(&position, move_make(52, 59, KNIGHT), NOTATION_SAN, language_find("de"), text);
    assert_string_equal(text, "exd8=S");
}

static void test_details(void **state) {
    (void)state;
    Position position = position_of(START);
    Reading reading;
    notation_read(&position, "Bc4", 0, &reading);
    assert_int_equal(reading.from, 5);
    assert_int_equal(reading.to, 26);
    assert_int_equal(reading.cause, 12);
    assert_int_equal(reading.piece, BISHOP);
    assert_int_equal(reading.cause_piece, PAWN);
    notation_read(&position, "Nxf3#", 0, &reading);
    assert_true(reading.kind == READING_MOVE && reading.capture_mark_wrong && reading.check_mark_wrong);
    notation_read(&position, "Nf3", 0, &reading);
    assert_false(reading.capture_mark_wrong || reading.check_mark_wrong);
    notation_read(&position, "Nef3", 0, &reading);
    assert_int_equal(reading.from_file, 4);
    position = position_of(PINNED);
    notation_read(&position, "Nf4", 0, &reading);
    assert_int_equal(reading.cause, 60);
    assert_int_equal(reading.cause_piece, ROOK | BLACK << 3);
    position = position_of(CASTLE);
    notation_read(&position, "e1h1", 0, &reading); /* king takes rook is of Chess960 only */
    assert_int_equal(reading.fault, FAULT_CANNOT_REACH);
    position = position_of("4kr2/8/8/8/8/8/8/R3K2R w KQ - 0 1");
    notation_read(&position, "0-0", 0, &reading);
    assert_int_equal(reading.to, 5);
    assert_int_equal(reading.cause, 61);
    for (int fault = 0; fault < FAULT_COUNT; fault++)
        assert_true(strlen(notation_fault_name((MoveFault)fault)) > 3);
    assert_string_equal(notation_fault_name(FAULT_COUNT), "none");
}

static void test_chess960(void **state) {
    (void)state;
    static const struct { const char *fen, *moves; } games[] = {
        { "bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq - 0 1", "b3 c5 Nf3 d5 d4 b6 O-O" },
        { "brnbqkrn/pppppppp/8/8/8/8/PPPPPPPP/BRNBQKRN w KQkq - 0 1", "f1g1" },
        { "4k3/8/8/8/8/8/8/QR1K4 w Q - 0 1", "d1b1" },
    };
    for (size_t i = 0; i < sizeof games / sizeof games[0]; i++) {
        Position position;
        assert_true(fen_read(games[i].fen, FEN_CHESS960, &position, NULL));
        char moves[128], *rest;
        snprintf(moves, sizeof moves, "%s", games[i].moves);
        for (char *word = strtok_r(moves, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
            Reading reading;
            notation_read(&position, word, 0, &reading);
            if (reading.kind != READING_MOVE)
                fail_msg("%s: %s", word, notation_fault_name(reading.fault));
            if (*rest == 0)
                assert_true(position_is_castling(&position, reading.move));
            position_move(&position, &position, reading.move);
        }
    }
}

static void test_shaped(void **state) {
    (void)state;
    static const char *const words[] = {
        "", " ", "no", "be", "a", "Good", "hi", "Beth", "e4 is good", "Tom", "b", "12", "2026", "ok", "oo", "ooo", "B", "N",
        "12.11.2026", "2026-11-30", "1-0", "0-1", "1/2-1/2", "draw?", "(=)", "=", "resign", "Bad", "Dad", "Ed", "Abe",
        "Keep", "Nach", "Bach", "axe", "exe", "Hello", "e", "ee4", "a b4", "b e4", "no1", "ki4", "12345678", "90125",
        "0000", "+43 1 5254", "Re: e4", "Rex", "Fabec", "yes", "i4", "A b4", "x", "xd", "X", "-", "e-4", "e 4", "Nf3 Nc6",
        "Kind regards", "Best", "Cheers", "e4e5e6", "\xf0\x9f\x91\x8d", "\xe2\x99\x98", "h2o", "mp3", "C3PO",
        "e4Q", "e8(Q", "e8(Q)5", "e8=Qx", "e8=5", "e4(x", "exd5e6", "e4-d", "e4x", "P-", "P-K", "QQQQ-K4", "N9", "N9f3",
        "Nb5b", "Nbx", "Nxx", "N-", "e2e4e", "exg", "exdd", "0-0-", "-0-0", "o0", "0--0", "99999", "12349", "1234a", "Sf", "Sxf3x", "f3S", "♘9",
        "\xc3\xa0g8q", "P-K4(", "P-K4(Q", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa4", "e4 or d4", "0-0-0-0", "O", "--",
    };
    static const char *const moves[] = {
        "e4", "Nf9", "O-O", "0-0-0", "OO", "00", "5254", "57581", "e8=Q", "P-K4", "P-Q8(Q)", "P-Q8=Q", "Nf", "Zf3", "Sf3", "e2 e4", "Bxc3", "e9",
        "bc4", "xd4", "exd", "Nf3!?", "e4,", "Be",
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (notation_shaped(words[i]))
            fail_msg("\"%s\" is taken for a move", words[i]);
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++)
        if (!notation_shaped(moves[i]))
            fail_msg("\"%s\" is not taken for a move", moves[i]);
}

static void test_number(void **state) {
    (void)state;
    static const struct { const char *text, *rest; int number; bool black; } cases[] = {
        { "12.Nf3", "Nf3", 12, false }, { "12. Nf3", "Nf3", 12, false }, { "12 Nf3", "Nf3", 12, false },
        { "12Nf3", "Nf3", 12, false }, { "12) Nf3", "Nf3", 12, false }, { "12...Bb4", "Bb4", 12, true },
        { "12... Bb4", "Bb4", 12, true }, { "12. ... Bb4", "Bb4", 12, true }, { "12\xe2\x80\xa6" "Bb4", "Bb4", 12, true },
        { "12.\xe2\x80\xa6 Bb4", "Bb4", 12, true }, { "...Bb4", "Bb4", 0, true }, { "\xe2\x80\xa6 Bb4", "Bb4", 0, true },
        { "10....Qd4", "Qd4", 10, true }, { "12.", "", 12, false }, { "12.5254", "5254", 12, false },
        { "12 5254", "5254", 12, false }, { "12. 0-0", "0-0", 12, false }, { "1 e2 e4", "e2 e4", 1, false },
        { "12. Nf3 (=)", "Nf3 (=)", 12, false }, { " 12\xc2\xa0. Nf3", "Nf3", 12, false },
        { "12.\tNf3", "Nf3", 12, false }, { "12.\r\nNf3", "Nf3", 12, false }, { "12 O - O", "O - O", 12, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *rest;
        int number;
        bool black;
        if (!notation_number(cases[i].text, &rest, &number, &black))
            fail_msg("%s: no number", cases[i].text);
        assert_string_equal(rest, cases[i].rest);
        assert_int_equal(number, cases[i].number);
        assert_int_equal(black, cases[i].black);
    }
    static const char *const none[] = { "5254", "57581", "12", "12 men", "12.12.2026", "Nf3", "", "0.e4", "0-0", "123456. e4", ".e4", "1-0", "12 )",
        "12 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    };
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        const char *rest = "untouched";
        int number = -7;
        bool black;
        if (notation_number(none[i], &rest, &number, &black))
            fail_msg("%s has a number", none[i]);
        assert_string_equal(rest, "untouched");
        assert_int_equal(number, -7);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves),     cmocka_unit_test(test_faults),  cmocka_unit_test(test_line_start),
        cmocka_unit_test(test_languages), cmocka_unit_test(test_details), cmocka_unit_test(test_chess960),
        cmocka_unit_test(test_shaped),    cmocka_unit_test(test_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
