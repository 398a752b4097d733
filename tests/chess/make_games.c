/* Writes random legal games as PGN to standard output, for benches and tests: the same seed, the same bytes.
 *
 *     make_games COUNT [SEED] [chess960] [rich] [bad N]
 *
 * Games have 20 to 150 plies, fewer where mate or stalemate comes first. `chess960`: each from a start array drawn by lot.
 * `rich`: comments of both kinds, NAGs, nested variations and clock commands between the moves. `bad N`: every Nth game has
 * one move replaced by one that no rules allow; such a game's Event is "Bad". White is called "Game N", N its number from 1. */
#include "core/chess/fen.h"
#include "core/chess/movegen.h"
#include "core/notation/notation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLIES_LEAST = 20, PLIES_MOST = 150, COLUMNS = 79 };

typedef struct Options {
    unsigned long count, seed, bad;
    bool chess960, rich;
} Options;

typedef struct Sheet {
    size_t column;
    uint64_t state; /* of the chance */
} Sheet;

/* SplitMix64. */
static uint64_t draw(Sheet *sheet, uint64_t below) {
    uint64_t x = sheet->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (x ^ x >> 31) % below;
}

static void word(Sheet *sheet, const char *text) {
    size_t length = strlen(text);
    if (sheet->column > 0 && sheet->column + 1 + length > COLUMNS) {
        putchar('\n');
        sheet->column = 0;
    } else if (sheet->column > 0) {
        putchar(' ');
        sheet->column++;
    }
    fputs(text, stdout);
    sheet->column += length;
}

static void number(Sheet *sheet, const Position *position) {
    char text[32];
    snprintf(text, sizeof text, "%d%s", position_fullmove(position), position_turn(position) == WHITE ? "." : "...");
    word(sheet, text);
}

/* Captures in one of two draws where there are any; anything else by lot. */
static Move choose(Sheet *sheet, const Position *position, const MoveList *list) {
    Move captures[MOVES_MAX];
    size_t count = 0;
    for (int i = 0; i < list->count; i++)
        if (position_is_capture(position, list->moves[i]))
            captures[count++] = list->moves[i];
    if (count > 0 && draw(sheet, 2) == 0)
        return captures[draw(sheet, count)];
    return list->moves[draw(sheet, (uint64_t)list->count)];
}

static void write_move(Sheet *sheet, const Position *position, Move move) {
    char san[NOTATION_MAX];
    notation_write(position, move, NOTATION_SAN, san);
    word(sheet, san);
}

/* A piece and a square by lot where no such move is legal: nobody there, blocked, pinned, in check. Not a king onto a rook:
 * pgn-extract takes Kh1 for castling. */
static void write_illegal(Sheet *sheet, const Position *position) {
    for (;;) {
        char text[4] = { "NBRQK"[draw(sheet, 5)], (char)('a' + draw(sheet, 8)), (char)('1' + draw(sheet, 8)), 0 };
        Reading reading;
        notation_read(position, text, 0, &reading);
        bool castling = text[0] == 'K' && piece_kind(position_piece_at(position, square_make(text[1] - 'a', text[2] - '1'))) == ROOK;
        if (reading.kind == READING_ILLEGAL && !castling) {
            word(sheet, text);
            return;
        }
    }
}

/* Some moves other than the one played, in brackets that may hold others. */
static void variation(Sheet *sheet, Position position, int depth) {
    bool first = true;
    word(sheet, "(");
    for (uint64_t left = 1 + draw(sheet, 4); left > 0; left--) {
        MoveList list;
        moves_legal(&position, &list);
        if (list.count == 0)
            break;
        if (first || position_turn(&position) == WHITE)
            number(sheet, &position);
        Move move = choose(sheet, &position, &list);
        write_move(sheet, &position, move);
        first = draw(sheet, 6) == 0;
        if (first)
            word(sheet, "{better} $14");
        if (depth < 3 && draw(sheet, 5) == 0) {
            variation(sheet, position, depth + 1);
            first = true;
        }
        position_move(&position, &position, move);
    }
    word(sheet, ")");
}

/* What annotators put behind a move; true if the next one needs its number again. */
static bool decorate(Sheet *sheet, const Position *before) {
    static const char *const marks[] = { "$1", "$2", "$6", "$146", "$16 $22" };
    static const char *const comments[] = { "{A novelty.}", "{[%clk 1:23:45] [%eval 0.17]}", "{See (the book) $5 ; 1-0 in 24}",
                                            "{[%cal Gd2d4,Re7e5]}", "{both\nsides\nare happy}" };
    bool again = false;
    if (draw(sheet, 8) == 0)
        word(sheet, marks[draw(sheet, 5)]);
    if (draw(sheet, 6) == 0) {
        word(sheet, comments[draw(sheet, 5)]);
        again = true;
    }
    if (draw(sheet, 16) == 0) {
        word(sheet, "; to the end of the line {");
        putchar('\n');
        sheet->column = 0;
        again = true;
    }
    if (draw(sheet, 8) == 0) {
        variation(sheet, *before, 1);
        again = true;
    }
    return again;
}

static void write_tags(Sheet *sheet, unsigned long index, bool bad, bool chess960, const Position *start, const char *result) {
    static const char *const towns[] = { "Anytown", "Middletown", "Zürich", "The \\\"Old\\\" Mill" };
    printf("[Event \"%s\"]\n[Site \"%s\"]\n[Date \"%d.%02d.%02d\"]\n[Round \"%lu\"]\n[White \"Game %lu\"]\n[Black \"Player %d\"]\n"
           "[Result \"%s\"]\n",
           bad ? "Bad" : "Random", towns[draw(sheet, 4)], 1990 + (int)draw(sheet, 36), 1 + (int)draw(sheet, 12), 1 + (int)draw(sheet, 28),
           index / 5 + 1, index + 1, 1 + (int)draw(sheet, 1000), result);
    if (chess960) {
        char fen[FEN_MAX];
        fen_write(start, 0, fen);
        printf("[FEN \"%s\"]\n[SetUp \"1\"]\n[Variant \"Chess960\"]\n", fen);
    }
    putchar('\n');
}

/* The moves by lot, and what they end in. */
static size_t play(Sheet *sheet, const Position *start, Move moves[PLIES_MOST], const char **ret_result) {
    static const char *const results[] = { "1-0", "0-1", "1/2-1/2", "*" };
    Position position = *start;
    size_t plies = PLIES_LEAST + (size_t)draw(sheet, PLIES_MOST - PLIES_LEAST + 1), count = 0;
    *ret_result = results[draw(sheet, 4)];
    for (;;) {
        MoveList list;
        moves_legal(&position, &list);
        if (list.count == 0) { /* also where that comes with the last one */
            bool mated = position_in_check(&position);
            *ret_result = !mated ? "1/2-1/2" : position_turn(&position) == WHITE ? "0-1" : "1-0";
            break;
        }
        if (count == plies)
            break;
        moves[count] = choose(sheet, &position, &list);
        position_move(&position, &position, moves[count++]);
    }
    return count;
}

static void write_game(Sheet *sheet, const Options *options, unsigned long index) {
    Position position;
    Move moves[PLIES_MOST];
    const char *result;
    if (options->chess960)
        position_start960((int)draw(sheet, 960), &position);
    else
        position_start(&position);
    size_t count = play(sheet, &position, moves, &result);
    bool bad = options->bad > 0 && (index + 1) % options->bad == 0;
    size_t spoilt = bad ? (size_t)draw(sheet, count) : count;
    write_tags(sheet, index, bad, options->chess960, &position, result);
    bool numbered = true;
    for (size_t i = 0; i < count; i++) {
        if (numbered || position_turn(&position) == WHITE)
            number(sheet, &position);
        if (i == spoilt)
            write_illegal(sheet, &position);
        else
            write_move(sheet, &position, moves[i]);
        numbered = options->rich && decorate(sheet, &position);
        position_move(&position, &position, moves[i]);
    }
    word(sheet, result);
    fputs("\n\n", stdout);
    sheet->column = 0;
}

static bool read_options(int argc, char **argv, Options *ret) {
    int at = 1;
    for (unsigned long *value = &ret->count; value != NULL && at < argc; value = value == &ret->count ? &ret->seed : NULL) {
        char *end;
        unsigned long given = strtoul(argv[at], &end, 10);
        if (*end != 0 || end == argv[at])
            break;
        *value = given;
        at++;
    }
    for (; at < argc; at++) {
        if (strcmp(argv[at], "chess960") == 0)
            ret->chess960 = true;
        else if (strcmp(argv[at], "rich") == 0)
            ret->rich = true;
        else if (strcmp(argv[at], "bad") == 0 && at + 1 < argc)
            ret->bad = strtoul(argv[++at], NULL, 10);
        else
            return false;
    }
    return ret->count > 0;
}

int main(int argc, char **argv) {
    Options options = { .seed = 1 };
    if (!read_options(argc, argv, &options)) {
        fputs("usage: make_games COUNT [SEED] [chess960] [rich] [bad N]\n", stderr);
        return 2;
    }
    Sheet sheet = { .state = options.seed };
    for (unsigned long i = 0; i < options.count; i++)
        write_game(&sheet, &options, i);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
