/* notations: moves of random games written in every notation and language, and read back.
 *
 * usage: notations [--positions N] [--seed N] [--languages] [--all]
 *
 * The games begin in the start array, in a Chess960 array and in composed positions in turn, each a third of
 * the positions; they are made of legal moves drawn at random, and the same for one N and seed on every machine.
 * Of each position one move is tried, in every notation and in the words and letters of a language drawn anew;
 * with --languages in every language, with --all every legal move in every language.
 *
 * Demanded of each text: it is read back as exactly this move, in its own language alone (READ_OWN_ONLY); with
 * English beside it as this move, or as FAULT_TWO_LANGUAGES with it among the candidates; no other legal move of the
 * position is written the same. English SAN is also read strictly, and at the start of a line, where the phone's capital
 * may make it FAULT_BISHOP_OR_PAWN. Last line: what was compared. Exit 1 and the text at the first difference. */
#include "core/chess/fen.h"
#include "core/chess/movegen.h"
#include "core/notation/notation.h"
#include "tests/simulate/prng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLIES_MAX = 120, ARRAYS = 960 };
enum { EVERY_LANGUAGE = 1, EVERY_MOVE = 2 }; /* what is tried of a position: a set */

/* Many men of a kind, pawns before their last rank, castling of all sorts. */
static const char *const composed[] = {
    "k7/8/3N1N2/8/1N1N1N2/8/1N1N4/4K3 w - - 0 1",
    "1k6/8/Q2Q2Q1/8/Q2Q2Q1/8/8/K2Q3Q b - - 0 1",
    "R3R2R/8/8/R6R/8/8/2k5/R3R1KR w - - 0 1",
    "B1B3B1/1k6/4B1B1/8/8/B1B5/8/4K3 b - - 0 1",
    "1n1n1n1n/P1P1P1P1/8/2k5/5K2/8/p1p1p1p1/1N1N1N1N w - - 0 1",
    "r1r1r1r1/1P1P1P1P/8/k7/7K/8/1p1p1p1p/R1R1R1R1 b - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "4k3/1p1p1p1p/8/P1P1P1P1/p1p1p1p1/8/1P1P1P1P/4K3 w - - 0 1",
    "rr2k1rr/8/8/8/8/8/8/RR2K1RR w KQkq - 0 1",
    "1r2kr2/8/8/8/8/8/8/1RR1KR1R w BFbf - 0 1",
    "rk5r/8/8/8/8/8/8/RK5R w KQkq - 0 1",
    "r5kr/8/8/8/8/8/8/R5KR b KQkq - 0 1",
    "2b3b1/1P1P1P1P/2q1q3/8/k6K/2B1B3/1p1p1p1p/2Q3Q1 w - - 0 1",
    "4k3/2ppp3/8/1b1b1b2/3P1P2/1B1B1B2/2PPP3/4K3 b - - 0 1",
};

typedef struct Counts {
    long positions, moves, texts, two_languages, bishop_or_pawn;
} Counts;

static void __attribute__((noreturn)) fail(const Position *position, Move move, const char *text, const char *how, const Reading *reading) {
    char fen[FEN_MAX], uci[NOTATION_MAX];
    fen_write(position, FEN_SHREDDER, fen);
    notation_write(position, move, NOTATION_UCI, uci);
    printf("%s%s: %s is written \"%s\", %s", fen, position->chess960 ? " (Chess960)" : "", uci, text, how);
    if (reading != NULL)
        printf(": kind %d, %s", reading->kind, notation_fault_name(reading->fault));
    printf("\n");
    exit(1);
}

static bool among_candidates(const Reading *reading, Move move) {
    for (int i = 0; i < reading->candidate_count; i++)
        if (reading->candidates[i] == move)
            return true;
    return false;
}

/* As a move of its own, or with one kind of doubt. True if it is in doubt. */
static bool must_read(const Position *position, Move move, const char *text, unsigned flags, const MoveLanguage *language, MoveFault doubt) {
    Reading reading;
    notation_read_in(position, text, flags, language, &reading);
    if (reading.kind == READING_MOVE && reading.move == move)
        return false;
    bool doubtful = doubt != FAULT_NONE && reading.kind == READING_AMBIGUOUS && reading.fault == doubt && among_candidates(&reading, move);
    if (!doubtful)
        fail(position, move, text, language == NULL ? "read in English" : language->code, &reading);
    return true;
}

static void must_be_unique(const Position *position, const MoveList *list, Move move, Notation notation, const MoveLanguage *language, const char *text) {
    char other[NOTATION_MAX];
    for (int i = 0; i < list->count; i++) {
        if (list->moves[i] == move)
            continue;
        notation_write_in(position, list->moves[i], notation, language, other);
        if (strcmp(other, text) == 0)
            fail(position, move, text, "and so is another move", NULL);
    }
}

static void try_text(const Position *position, Move move, Notation notation, const MoveLanguage *language, Counts *counts, char ret[NOTATION_MAX]) {
    unsigned spoken = notation == NOTATION_SPOKEN ? READ_SPOKEN : 0;
    notation_write_in(position, move, notation, language, ret);
    must_read(position, move, ret, READ_OWN_ONLY | spoken, language, FAULT_NONE);
    counts->two_languages += must_read(position, move, ret, READ_SPOKEN, language, FAULT_TWO_LANGUAGES);
    counts->texts++;
}

/* A figure may be of either colour, with a selector for text or picture behind it. */
static void try_figurine(const Position *position, Move move, Counts *counts, char ret[NOTATION_MAX]) {
    try_text(position, move, NOTATION_FIGURINE, NULL, counts, ret);
    char other[2 * NOTATION_MAX];
    size_t length = 0;
    for (const char *at = ret; *at != 0; at++) {
        other[length++] = *at;
        if (strncmp(at, "\xe2\x99", 2) != 0)
            continue;
        unsigned char figure = (unsigned char)at[2];
        const char selector = figure & 1 ? '\x8e' : '\x8f';
        char whole[] = { '\x99', (char)(figure >= 0x9a ? figure - 6 : figure + 6), '\xef', '\xb8', selector };
        memcpy(other + length, whole, sizeof whole);
        length += sizeof whole;
        at += 2;
    }
    other[length] = 0;
    must_read(position, move, other, 0, NULL, FAULT_NONE);
}

static void try_san(const Position *position, Move move, Counts *counts) {
    char text[NOTATION_MAX], loose[NOTATION_MAX + 1];
    try_text(position, move, NOTATION_SAN, NULL, counts, text);
    must_read(position, move, text, READ_STRICT, NULL, FAULT_NONE);
    counts->bishop_or_pawn += must_read(position, move, text, READ_LINE_START, NULL, FAULT_BISHOP_OR_PAWN);
    snprintf(loose, sizeof loose, "%s!", text);
    Reading reading;
    notation_read(position, loose, READ_STRICT, &reading);
    if (reading.kind != READING_NOT_A_MOVE || reading.fault != FAULT_NOT_STRICT || !among_candidates(&reading, move))
        fail(position, move, loose, "read strictly", &reading);
}

/* The notations that are of a language. */
static void try_language(const Position *position, const MoveList *list, Move move, const MoveLanguage *language, Counts *counts) {
    static const Notation own[] = { NOTATION_SAN, NOTATION_LONG, NOTATION_SPOKEN };
    char text[NOTATION_MAX];
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        try_text(position, move, own[i], language, counts, text);
        must_be_unique(position, list, move, own[i], language, text);
    }
}

static void try_move(const Position *position, const MoveList *list, Move move, uint64_t *chance, unsigned every, Counts *counts) {
    char text[NOTATION_MAX];
    size_t count;
    const MoveLanguage *languages = language_table(&count);
    try_san(position, move, counts);
    try_text(position, move, NOTATION_UCI, NULL, counts, text);
    must_be_unique(position, list, move, NOTATION_UCI, NULL, text);
    try_text(position, move, NOTATION_NUMERIC, NULL, counts, text);
    must_be_unique(position, list, move, NOTATION_NUMERIC, NULL, text);
    try_figurine(position, move, counts, text);
    must_be_unique(position, list, move, NOTATION_FIGURINE, NULL, text);
    size_t drawn = prng_below(chance, count);
    for (size_t i = 0; i < count; i++)
        if ((every & EVERY_LANGUAGE) || i == drawn)
            try_language(position, list, move, &languages[i], counts);
    counts->moves++;
}

static void begin_composed(const char *fen, Position *ret) {
    Error error;
    if (fen_read(fen, 0, ret, &error))
        return;
    fprintf(stderr, "notations: %s: %s\n", fen, error.text);
    exit(2);
}

static void begin(int game, uint64_t *chance, Position *ret) {
    if (game % 3 == 0)
        position_start(ret);
    else if (game % 3 == 1)
        position_start960((int)prng_below(chance, ARRAYS), ret);
    else
        begin_composed(composed[prng_below(chance, sizeof composed / sizeof composed[0])], ret);
}

static void play(int game, long positions, uint64_t *chance, unsigned every, Counts *counts) {
    Position position;
    begin(game, chance, &position);
    for (int ply = 0; ply < PLIES_MAX && counts->positions < positions; ply++) {
        MoveList list;
        moves_legal(&position, &list);
        if (list.count == 0)
            return;
        moves_sort(&position, &list);
        Move move = list.moves[prng_below(chance, (uint64_t)list.count)];
        for (int i = 0; i < list.count; i++)
            if ((every & EVERY_MOVE) || list.moves[i] == move)
                try_move(&position, &list, list.moves[i], chance, every, counts);
        counts->positions++;
        position_move(&position, &position, move);
    }
}

int main(int argc, char **argv) {
    long positions = 100000;
    uint64_t chance = 960;
    unsigned every = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--all") == 0)
            every = EVERY_LANGUAGE | EVERY_MOVE;
        else if (strcmp(argv[i], "--languages") == 0)
            every |= EVERY_LANGUAGE;
        else if (strcmp(argv[i], "--positions") == 0 && i + 1 < argc)
            positions = strtol(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            chance = strtoull(argv[++i], NULL, 10);
        else {
            fprintf(stderr, "usage: notations [--positions N] [--seed N] [--languages] [--all]\n");
            return 2;
        }
    }
    Counts counts = { 0 };
    for (int game = 0; counts.positions < positions; game++)
        play(game, positions, &chance, every, &counts);
    printf("positions %ld, moves %ld, texts %ld, in two languages %ld, bishop or pawn %ld\n", counts.positions, counts.moves, counts.texts,
           counts.two_languages, counts.bishop_or_pawn);
    return 0;
}
