/* Moves in words and figures, and in many languages: how people say them, and how they are written. */
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
#define CASTLE "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
#define PROMOTE "3r2k1/4P3/8/8/8/8/6p1/4K3 w - - 0 1"
#define EN_PASSANT "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1"
#define KNIGHTS "4k3/8/8/8/8/8/8/1N2KN2 w - - 0 1"
#define ROOKS "4k3/8/2r5/8/6R1/8/8/2R1K3 w - - 0 1"
#define PAWNS "4k3/8/8/3p4/2P1P3/8/8/4K3 w - - 0 1"
#define BLACK_PROMOTES "8/4k3/8/8/8/8/6p1/4K2R b - - 0 1"

typedef struct Case {
    const char *language, *fen, *text, *expected; /* the move in UCI, or the name of the fault */
} Case;

static Position position_of(const char *fen) {
    Position position;
    Error error = { 0 };
    if (!fen_read(fen, 0, &position, &error))
        fail_msg("%s: %s", fen, error.text);
    return position;
}

static void check(const Case *wanted, unsigned flags) {
    Position position = position_of(wanted->fen);
    Reading reading;
    char got[NOTATION_MAX];
    notation_read_in(&position, wanted->text, flags, language_find(wanted->language), &reading);
    snprintf(got, sizeof got, "%s", notation_fault_name(reading.fault));
    if (reading.kind == READING_MOVE)
        notation_write(&position, reading.move, NOTATION_UCI, got);
    if (strcmp(got, wanted->expected) != 0)
        fail_msg("%s %s \"%s\": %s", wanted->language, wanted->fen, wanted->text, got);
}

static void test_spoken(void **state) {
    (void)state;
    static const Case cases[] = {
        /* Law E's words, and how Germans spell and say them */
        { "de", START, "Springer Felix drei", "g1f3" }, { "de", START, "Springer f3", "g1f3" }, { "de", START, "springer nach F 3", "g1f3" },
        { "de", START, "Springer von Gustav eins nach Felix drei", "g1f3" }, { "de", START, "Bauer Eva vier", "e2e4" },
        { "de", START, "Eva vier", "e2e4" }, { "de", START, "Eva zwei Eva vier", "e2e4" }, { "de", START, "Eva 4.", "e2e4" },
        { "de", START, "e2 nach e4", "e2e4" }, { "de", START, "Der Springer zieht nach Cäsar drei", "b1c3" },
        { "de", START, "Bauer Hektor drei!", "h2h3" }, { "de", START, "Eva zwo", "own_piece" }, { "de", CASTLE, "kurze Rochade", "e1g1" },
        { "de", CASTLE, "Große Rochade", "e1c1" }, { "de", CASTLE, "lange rochade schach", "e1c1" }, { "de", CASTLE, "Rochade kurz", "e1g1" },
        { "de", CASTLE, "Turm schlägt Hector acht, Schach", "h1h8" }, { "de", CASTLE, "Turm schlaegt Turm a acht", "a1a8" },
        { "de", CASTLE, "Koenig Eva zwei", "e1e2" }, { "de", CASTLE, "König e2", "e1e2" }, { "de", CASTLE, "Konig Eva zwei", "e1e2" },
        { "de", CASTLE, "kurze Rochade en passant", "e1g1" }, { "de", START, "Bella Cesar drei", "nothing_to_capture" }, { "de", START, "Dame David zwei wird", "unshaped" },
        { "de", PROMOTE, "Bauer Eva acht wird Dame", "e7e8q" }, { "de", PROMOTE, "Eva acht Umwandlung in einen Springer", "e7e8n" },
        { "de", PROMOTE, "e7 schlägt d8 Turm", "e7d8r" }, { "de", PROMOTE, "e7 nach e8 Läufer", "e7e8b" },
        { "de", PROMOTE, "Eva schlägt den Turm auf David acht, wird Dame, Schach und matt", "e7d8q" },
        { "de", PROMOTE, "Bauer Eva acht", "promotion_missing" }, { "de", PROMOTE, "Eva acht wird Bauer", "promotion_piece" },
        { "de", EN_PASSANT, "Bauer Eva fünf schlägt David sechs en passant", "e5d6" },
        { "de", EN_PASSANT, "Eva schlägt Bauer David sechs im Vorbeigehen", "e5d6" }, { "de", EN_PASSANT, "Eva fuenf David sechs", "e5d6" },
        { "de", KNIGHTS, "Springer David zwei", "several_men" }, { "de", KNIGHTS, "Springer Bella nach David zwei", "b1d2" },
        { "de", KNIGHTS, "Springer Felix eins David zwei", "f1d2" }, { "de", KNIGHTS, "Rössl auf b d2", "b1d2" },
        { "de", ROOKS, "Turm vier Cesar vier", "g4c4" }, { "de", ROOKS, "Turm eins nach Cesar vier", "c1c4" },
        { "de", ROOKS, "Turm schlägt Springer Cesar sechs", "other_piece" }, { "de", ROOKS, "Turm schlägt Turm Cesar sechs", "c1c6" },
        { "de", PAWNS, "Bauer schlägt David fünf", "several_men" }, { "de", PAWNS, "Cesar schlägt David fünf", "c4d5" },
        { "de", BLACK_PROMOTES, "Bauer g2 schlägt h1 wird Dame", "g2h1q" },
        /* English, with letters or Law E's names */
        { "en", START, "knight f three", "g1f3" }, { "en", START, "Knight to f3", "g1f3" }, { "en", START, "knight Felix three", "g1f3" },
        { "en", START, "the knight from g one to f three", "g1f3" }, { "en", START, "pawn to a four", "a2a4" }, { "en", START, "e two to e four", "e2e4" },
        { "en", START, "knight on b1 to c3", "b1c3" }, { "en", START, "Springer Felix drei", "g1f3" }, { "en", START, "horse f3", "g1f3" },
        { "en", CASTLE, "castles king side", "e1g1" }, { "en", CASTLE, "Castle queenside!", "e1c1" }, { "en", CASTLE, "short castling", "e1g1" },
        { "en", CASTLE, "rook takes rook h8 check", "h1h8" }, { "en", CASTLE, "kurze Rochade", "e1g1" }, { "en", CASTLE, "castle takes a8", "a1a8" },
        { "en", PROMOTE, "e eight becomes a queen", "e7e8q" }, { "en", PROMOTE, "pawn e8 promotes to a knight", "e7e8n" },
        { "en", PROMOTE, "pawn takes rook on d8 equals queen, checkmate", "e7d8q" }, { "en", PROMOTE, "e7 takes d8 queen", "e7d8q" },
        { "en", PAWNS, "c takes d five", "c4d5" }, { "en", PAWNS, "e4xd5 pawn takes", "unshaped" }, { "en", PAWNS, "pawn e4xd5", "e4d5" },
        { "en", EN_PASSANT, "pawn takes d6 in passing", "e5d6" }, { "en", START, "bishop takes c4", "path_blocked" },
        /* other languages; "a" is a word in Spanish and a file everywhere */
        { "fr", START, "cavalier f trois", "g1f3" }, { "fr", START, "cavalier en f3", "g1f3" }, { "fr", CASTLE, "petit roque", "e1g1" },
        { "fr", CASTLE, "tour prend en a huit, échec", "a1a8" }, { "fr", PROMOTE, "pion e huit devient reine", "e7e8q" },
        { "fr", CASTLE, "TOUR PREND TOUR H8 ECHEC", "h1h8" }, { "es", CASTLE, "torre a a siete", "a1a7" }, { "es", CASTLE, "torre a siete", "a1a7" },
        { "es", CASTLE, "torre a d uno", "a1d1" }, { "es", CASTLE, "enroque largo", "e1c1" }, { "es", START, "peón e cuatro", "e2e4" },
        { "es", PROMOTE, "peon por d8 corona dama, jaque", "e7d8q" }, { "it", START, "cavallo f tre", "g1f3" },
        { "it", START, "alfiere in c quattro", "path_blocked" }, { "it", CASTLE, "arrocco corto e scacco", "e1g1" },
        { "nl", START, "paard naar f drie", "g1f3" }, { "nl", CASTLE, "korte rokade", "e1g1" }, { "nl", CASTLE, "toren d één", "a1d1" },
        { "pt", START, "peão e quatro", "e2e4" }, { "sv", START, "häst f tre", "g1f3" }, { "sv", CASTLE, "lång rockad", "e1c1" },
        { "da", START, "springer til f tre", "g1f3" }, { "da", START, "bonde e fire", "e2e4" }, { "no", CASTLE, "tårn d en", "a1d1" },
        { "nb", START, "løper c fire", "path_blocked" }, { "ru", START, "конь Феликс три", "g1f3" }, { "ru", START, "КОНЬ f3", "g1f3" }, { "ru", CASTLE, "ЛАДЬЯ БЬЁТ НА a8", "a1a8" },
        { "ru", CASTLE, "короткая рокировка", "e1g1" }, { "ru", CASTLE, "ладья бьет на h восемь, шах", "h1h8" },
        { "pl", START, "Springer Felix drei", "g1f3" }, /* no words of its own: Law E's */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(&cases[i], READ_SPOKEN);
}

static void test_no_spoken_moves(void **state) {
    (void)state;
    static const char *const texts[] = {
        "e 4", "b e4", "a b4", "e4 or d4", "Nf3 Nc6", "knight", "Felix", "three", "Felix drei Springer", "king e4 knight", "knight knight f3",
        "Springer Felix", "Eva Felix Gustav", "Eva eins zwei drei", "knight takes", "knight f nine", "knight f three please", "Dear Anna",
        "Anna, David and Eva", "queen to king", "castles", "Rochade", "kurze Rochade Eva vier", "lange kurze", "takes d5 takes", "becomes queen",
        "e8 becomes queen becomes rook", "Eva acht Dame Turm", "knight f 33", "12 men", "to", "x", "check", "Schach!", "matt", "Bella schlägt",
        "h a 4 4", "Eva Eva Eva Eva Eva Eva Eva Eva Eva Eva Eva Eva Eva Eva Eva Eva Eva Eva",
        "Springer Springer Springer Springer Springer Springer Springer Springer Springer Springer Springer Springer Springer f3",
        "knight \xf0\x9f\x99\x82 f3", "take\xff", "short castling knight", "knight f3 x", "xd9 knight", "e4xx knight", "knight 9",
        "knight f x", "becomes", "e8 becomes queen e7", "Bella Felix drei", "Eva wird Dame", "to knight f", "h8 h9 knight", "rook 1 h", "a1b2c3 knight", "knight a1b2c3", "Eva vier Dame fünf",
    };
    Position position = position_of(START);
    Reading reading;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        notation_read(&position, texts[i], READ_SPOKEN, &reading);
        if (reading.kind != READING_NOT_A_MOVE)
            fail_msg("\"%s\": %d %s", texts[i], reading.kind, notation_fault_name(reading.fault));
        assert_false(notation_shaped_in(texts[i], READ_SPOKEN, NULL));
    }
    assert_true(notation_shaped_in("Springer f3", READ_SPOKEN, NULL));
    assert_false(notation_shaped("Springer f3")); /* only where it was asked for */
    notation_read(&position, "Springer f3", 0, &reading);
    assert_int_equal(reading.kind, READING_NOT_A_MOVE);
}

static Move move_of(const Position *position, const char *uci) {
    Reading reading;
    notation_read(position, uci, 0, &reading);
    if (reading.kind != READING_MOVE)
        fail_msg("%s: %s", uci, notation_fault_name(reading.fault));
    return reading.move;
}

static void test_written(void **state) {
    (void)state;
    static const struct { const char *fen, *uci, *language; Notation notation; const char *text; } cases[] = {
        { START, "g1f3", "en", NOTATION_FIGURINE, "♘f3" },
        { "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1", "g8f6", "en", NOTATION_FIGURINE, "♞f6" },
        { PROMOTE, "e7d8q", "de", NOTATION_FIGURINE, "exd8=♕+" }, { BLACK_PROMOTES, "g2h1r", "en", NOTATION_FIGURINE, "gxh1=♜+" },
        { KNIGHTS, "b1d2", "ru", NOTATION_SAN, "Кbd2" }, { CASTLE, "e1e2", "ru", NOTATION_LONG, "Крe1-e2" }, { PROMOTE, "e7e8q", "ru", NOTATION_SAN, "e8=Ф+" },
        { CASTLE, "a1a8", "hu", NOTATION_SAN, "Bxa8+" }, { CASTLE, "a1a8", "is", NOTATION_LONG, "Ha1xa8+" }, { START, "g1f3", "cs", NOTATION_SAN, "Jf3" },
        { START, "g1f3", "nl", NOTATION_SAN, "Pf3" }, { START, "g1f3", "et", NOTATION_SAN, "Rf3" }, { PROMOTE, "e7e8b", "et", NOTATION_SAN, "e8=O" },
        { PROMOTE, "e7e8q", "pl", NOTATION_SAN, "e8=H+" }, { PROMOTE, "e7e8b", "ro", NOTATION_LONG, "e7-e8=N" }, { PROMOTE, "e7e8b", "pt", NOTATION_SAN, "e8=B" },
        { START, "g1f3", "en", NOTATION_SPOKEN, "knight Felix three" }, { START, "g1f3", "de", NOTATION_SPOKEN, "Springer Felix drei" },
        { START, "e2e4", "de", NOTATION_SPOKEN, "Bauer Eva vier" }, { CASTLE, "e1g1", "de", NOTATION_SPOKEN, "kurze Rochade" },
        { CASTLE, "e1c1", "de", NOTATION_SPOKEN, "lange Rochade" }, { CASTLE, "h1h8", "de", NOTATION_SPOKEN, "Turm schlaegt Hector acht, Schach" },
        { KNIGHTS, "b1d2", "de", NOTATION_SPOKEN, "Springer Bella eins nach David zwei" },
        { KNIGHTS, "f1d2", "en", NOTATION_SPOKEN, "knight Felix one to David two" },
        { EN_PASSANT, "e5d6", "de", NOTATION_SPOKEN, "Bauer Eva fuenf schlaegt David sechs en passant" },
        { PROMOTE, "e7d8q", "en", NOTATION_SPOKEN, "pawn Eva seven takes David eight becomes queen, check" },
        { "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "a1a8", "de", NOTATION_SPOKEN, "Turm Anna acht, matt" },
        { "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "a1a8", "fi", NOTATION_SPOKEN, "Turm Anna acht, matt" },
        { "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "a1a8", "sv", NOTATION_SPOKEN, "torn Anna åtta, matt" },
        { CASTLE, "e1e2", "de", NOTATION_SPOKEN, "Koenig Eva zwei" },
        /* in standard chess the king's squares; PGN 8.2.3.4: the file, else the rank, else both */
        { CASTLE, "e1c1", "en", NOTATION_NUMERIC, "5131" }, { CASTLE, "e1c1", "de", NOTATION_UCI, "e1c1" },
        { "4k3/8/8/8/6R1/8/8/2R1K3 w - - 0 1", "c1c4", "en", NOTATION_SAN, "Rcc4" }, { ROOKS, "c1c4", "en", NOTATION_SAN, "Rcc4" },
        { "4k3/8/8/8/8/2R5/8/2R1K3 w - - 0 1", "c1c2", "en", NOTATION_SAN, "R1c2" },
        { "1k6/8/8/8/4Q2Q/8/8/K6Q w - - 0 1", "h4e1", "en", NOTATION_SAN, "Qh4e1" },
        { "1k6/8/8/8/4Q2Q/8/8/K6Q w - - 0 1", "h4e1", "de", NOTATION_SPOKEN, "Dame Hector vier nach Eva eins" },
        /* the other man is pinned, so none is named */
        { "1r5k/6p1/3p3p/8/8/4bQ2/2R3PP/2KRq3 w - - 0 1", "c2d2", "en", NOTATION_SAN, "Rd2" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Position position = position_of(cases[i].fen);
        char text[NOTATION_MAX];
        notation_write_in(&position, move_of(&position, cases[i].uci), cases[i].notation, language_find(cases[i].language), text);
        if (strcmp(text, cases[i].text) != 0)
            fail_msg("%s, %s in %s: \"%s\", not \"%s\"", cases[i].fen, cases[i].uci, cases[i].language, text, cases[i].text);
    }
}

/* How the move was written, so that one may answer alike. */
static void test_recognized(void **state) {
    (void)state;
    static const struct { const char *text; Notation notation; } cases[] = {
        { "Nf3", NOTATION_SAN }, { "Ng1-f3", NOTATION_LONG }, { "g1f3", NOTATION_UCI }, { "7163", NOTATION_NUMERIC },
        { "♘f3", NOTATION_FIGURINE }, { "♞️f3", NOTATION_FIGURINE }, { "knight f3", NOTATION_SPOKEN }, { "♘ Felix drei", NOTATION_SPOKEN },
    };
    Position position = position_of(START);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Reading reading;
        notation_read(&position, cases[i].text, READ_SPOKEN, &reading);
        assert_int_equal(reading.kind, READING_MOVE);
        if (reading.notation != cases[i].notation)
            fail_msg("%s: %s", cases[i].text, notation_name(reading.notation));
    }
    for (int notation = 0; notation < NOTATION_COUNT; notation++)
        assert_true(strlen(notation_name((Notation)notation)) > 2);
    assert_string_equal(notation_name(NOTATION_COUNT), "");
}

static void test_languages(void **state) {
    (void)state;
    static const Case cases[] = {
        { "ru", START, "Кf3", "g1f3" }, { "ru", START, "кf3", "g1f3" }, { "ru", CASTLE, "Крe2", "e1e2" }, { "ru", CASTLE, "КРe2", "e1e2" },
        { "ru", CASTLE, "крe2", "e1e2" }, { "ru", CASTLE, "Лa1-a7", "a1a7" }, { "ru", CASTLE, "О-О-О", "e1c1" }, { "ru", PROMOTE, "e8Ф", "e7e8q" },
        { "ru", PROMOTE, "e7:d8К", "e7d8n" }, { "ru", CASTLE, "Kf3", "cannot_reach" }, /* Latin K is English */
        { "hu", START, "Hf3", "g1f3" }, { "hu", START, "hf3", "g1f3" }, { "hu", START, "h4", "h2h4" }, { "hu", PROMOTE, "e8=V", "e7e8q" },
        { "pl", PROMOTE, "e8G", "e7e8b" }, { "cs", START, "Jf3", "g1f3" }, { "nl", START, "Pf3", "g1f3" }, { "et", PROMOTE, "e8O", "e7e8b" },
        { "sv", START, "Sf3", "g1f3" }, { "da", START, "Sf3", "g1f3" }, { "nn", START, "Sf3", "g1f3" }, { "fi", START, "Rf3", "g1f3" },
        { "is", START, "Rf3", "g1f3" }, { "it", START, "Cf3", "g1f3" }, { "pt", START, "Cf3", "g1f3" }, { "ro", START, "Cf3", "g1f3" },
        /* a capital that is one's own piece is no pawn in English */
        { "de", "4k3/8/8/4p3/3P4/8/7Q/4K3 w - - 0 1", "Dxe5", "h2e5" }, { "fr", "4k3/8/8/8/8/3p4/2P2N2/4K3 w - - 0 1", "Cxd3", "f2d3" },
        { "de", "4k3/8/8/4p3/3P4/8/8/4K3 w - - 0 1", "Dxe5", "d4e5" }, { "en", START, "Крe2", "unknown_letter" }, { "ja", START, "Nf3", "g1f3" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(&cases[i], 0);
    size_t count;
    const MoveLanguage *languages = language_table(&count);
    assert_ptr_equal(&languages[0], language_english());
    assert_true(count >= 20);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(language_find(languages[i].code), &languages[i]);
        for (int kind = KNIGHT; kind < KIND_COUNT; kind++)
            for (int other = KNIGHT; other < kind; other++)
                assert_string_not_equal(languages[i].letters[kind], languages[i].letters[other]);
        assert_true(i < 2 || strcmp(languages[i - 1].code, languages[i].code) < 0);
    }
    assert_ptr_equal(language_find("PT_br"), language_find("pt"));
    assert_null(language_find("tlh"));
    assert_null(language_find("e"));
    assert_null(language_find(""));
}

/* Reported of other programs, with positions of our own where the report has none. */
static void test_reported(void **state) {
    (void)state;
    static const Case cases[] = {
        { "en", "4k3/8/8/8/6R1/8/8/2R1K3 w - - 0 1", "Rc1c4", "c1c4" },
        { "en", "1r5k/6p1/3p3p/8/8/4bQ2/2R3PP/2KRq3 w - - 0 1", "Rcd2", "c2d2" },
        { "en", "4Q1Q1/8/4Q3/8/7k/8/8/2K5 w - - 0 1", "Qe8f7", "e8f7" },
        { "en", "4Q1Q1/8/4Q3/8/7k/8/8/2K5 w - - 0 1", "Qg8f7", "g8f7" }, { "en", "4Q1Q1/8/4Q3/8/7k/8/8/2K5 w - - 0 1", "Qef7", "several_men" },
        { "en", "6k1/3P4/8/8/8/8/8/4K3 w - - 0 1", "d8", "promotion_missing" },
        { "en", BLACK_PROMOTES, "g2g1q", "g2g1q" }, { "en", CASTLE, "0-0-0+", "e1c1" }, { "en", CASTLE, "0-0", "e1g1" },
        { "en", "4k3/8/8/8/8/8/8/QR1K4 w Q - 0 1", "d1b1", "d1b1" }, { "en", "4k3/8/8/8/8/8/8/QR1K4 w Q - 0 1", "Kxb1", "d1b1" },
        { "en", "7k/4K2p/6p1/8/8/8/8/8 b - - 0 1", "h5", "h7h5" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check(&cases[i], 0);
    /* many rooks of a kind */
    Position position = position_of("8/7Q/2r1p3/2rkr3/2rrr2Q/7K/8/8 b - - 0 1");
    static const char *const moves[] = { "Rd4d1", "R6c7", "Rcd6" };
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        Reading reading;
        notation_read(&position, moves[i], 0, &reading);
        if (reading.kind != READING_MOVE)
            fail_msg("%s: %s", moves[i], notation_fault_name(reading.fault));
    }
    position = position_of("R7/8/8/8/3N4/1BB5/pr6/kb2K2R w K - 0 1");
    const char *line[] = { "Bxa2", "Bxa2", "O-O#" };
    for (int i = 0; i < 3; i++) {
        Reading reading;
        notation_read(&position, line[i], READ_STRICT, &reading);
        assert_int_equal(reading.kind, READING_MOVE);
        position_move(&position, &position, reading.move);
    }
}

/* Castling in Chess960, however it is said. */
static void test_chess960_castling(void **state) {
    (void)state;
    static const struct { const char *fen, *text, *expected; } cases[] = {
        { "4k3/8/8/8/8/8/8/1R2K1R1 w GB - 0 1", "e1g1", "e1g1" }, { "4k3/8/8/8/8/8/8/1R2K2R w HB - 0 1", "e1g1", "e1h1" },
        { "4k3/8/8/8/8/8/8/1R2K2R w HB - 0 1", "e1h1", "e1h1" }, { "4k3/8/8/8/8/8/8/1R2K2R w HB - 0 1", "5171", "e1h1" },
        { "4k3/8/8/8/8/8/8/1R2K2R w HB - 0 1", "5181", "e1h1" }, { "4k3/8/8/8/8/8/8/1R2K2R w HB - 0 1", "Ke1xb1", "e1b1" },
        { "4k3/8/8/8/8/8/8/1R2K2R w HB - 0 1", "e1c1", "e1b1" }, { "4k3/8/8/8/8/8/8/1R2K2R w HB - 0 1", "e1f1", "e1f1" },
        { "4k3/8/8/8/8/8/8/1R2K2R w HB - 0 1", "O-O-O", "e1b1" }, { "4k3/8/8/8/8/8/8/1R2K2R w HB - 0 1", "kurze Rochade", "e1h1" },
        { "4k3/8/8/8/8/8/8/RK5R w HA - 0 1", "b1c1", "b1c1" }, { "4k3/8/8/8/8/8/8/RK5R w HA - 0 1", "b1a1", "b1a1" },
        { "4k3/8/8/8/8/8/8/RK5R w HA - 0 1", "b1g1", "b1h1" }, { "4k3/8/8/8/8/8/8/RK5R w HA - 0 1", "Kc1", "b1c1" },
        { "4k3/8/8/8/8/8/8/R3KR1R w FA - 0 1", "e1f1", "e1f1" }, { "4k3/8/8/8/8/8/8/R3KR1R w FA - 0 1", "O-O", "e1f1" },
        { "4k3/8/8/8/8/8/8/R3KR1R w FA - 0 1", "e1h1", "castling_rook_moved" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Position position;
        Reading reading;
        char got[NOTATION_MAX];
        assert_true(fen_read(cases[i].fen, FEN_CHESS960, &position, NULL));
        notation_read(&position, cases[i].text, READ_SPOKEN, &reading);
        snprintf(got, sizeof got, "%s", notation_fault_name(reading.fault));
        if (reading.kind == READING_MOVE)
            notation_write(&position, reading.move, NOTATION_UCI, got);
        if (strcmp(got, cases[i].expected) != 0)
            fail_msg("%s \"%s\": %s", cases[i].fen, cases[i].text, got);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spoken),     cmocka_unit_test(test_no_spoken_moves), cmocka_unit_test(test_written),
        cmocka_unit_test(test_recognized), cmocka_unit_test(test_languages),       cmocka_unit_test(test_reported),
        cmocka_unit_test(test_chess960_castling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
