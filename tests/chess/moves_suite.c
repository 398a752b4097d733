/* moves_suite: positions with everything that another program says of them, against what we say.
 *
 * usage: moves_suite [--chess960] FILE …
 *
 * Lines of two columns (tab between): FEN; every legal move as uci=san=long, sorted by uci, blank between. Or of five: X-FEN;
 * Shredder-FEN; FEN with the en passant square after every pawn's double step; flags; moves. Flags are five letters or dashes:
 * C check, M mate or S stalemate, I neither side can mate by material, w White cannot, b Black cannot. Lines with # before are
 * passed over.
 *
 * Compared: every FEN read, strictly too, is the same position, and the first two are written as they stand there; the moves and
 * their three names, in their order; each name read, SAN strictly too, is that move; check, mate and the rest. Prints each
 * difference, then the sums; exit 1 if there is one, 2 if a file cannot be read. */
#include "core/chess/endings.h"
#include "core/chess/fen.h"
#include "core/chess/mating.h"
#include "core/chess/movegen.h"
#include "core/notation/notation.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 16384, COLUMNS = 5, FLAGS = 5 };

typedef struct Suite {
    const char *file;
    int line;
    unsigned flags; /* for fen_read() */
    Position position;
    unsigned long long positions, moves, differences;
} Suite;

static void __attribute__((noreturn)) fail(const Suite *suite, const char *what) {
    fprintf(stderr, "moves_suite: %s:%d: %s\n", suite->file, suite->line, what);
    exit(2);
}

static void __attribute__((format(printf, 2, 3))) differ(Suite *suite, const char *format, ...) {
    va_list arguments;
    char fen[FEN_MAX];
    fen_write(&suite->position, FEN_SHREDDER, fen);
    printf("%s:%d: %s: ", suite->file, suite->line, fen);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    suite->differences++;
}

static void check_written(Suite *suite, unsigned form, const char *expected) {
    char fen[FEN_MAX];
    fen_write(&suite->position, form, fen);
    if (strcmp(fen, expected) != 0)
        differ(suite, "written %s, not %s", fen, expected);
}

static void check_same(Suite *suite, const char *fen) {
    for (unsigned strict = 0; strict <= FEN_STRICT; strict += FEN_STRICT) {
        Position read;
        Error error = { .text = "another position" };
        if (!fen_read(fen, suite->flags | strict, &read, &error) || !position_same(&read, &suite->position)
            || position_key(&read) != position_key(&suite->position)
            || position_halfmove(&read) != position_halfmove(&suite->position)
            || position_fullmove(&read) != position_fullmove(&suite->position))
            differ(suite, "%s read%s: %s", fen, strict ? " strictly" : "", error.text);
    }
}

static void check_read(Suite *suite, const char *text, unsigned flags, Move move) {
    Reading reading;
    notation_read(&suite->position, text, flags, &reading);
    if (reading.kind != READING_MOVE || reading.move != move)
        differ(suite, "%s read%s: %s", text, flags & READ_STRICT ? " strictly" : "", notation_fault_name(reading.fault));
    else if (reading.check_mark_wrong || reading.capture_mark_wrong)
        differ(suite, "%s read: a mark is called wrong", text);
}

static void check_move(Suite *suite, Move move, const char *expected) {
    static const Notation notations[] = { NOTATION_UCI, NOTATION_SAN, NOTATION_LONG };
    char names[3][NOTATION_MAX], all[3 * NOTATION_MAX];
    for (int i = 0; i < 3; i++)
        notation_write(&suite->position, move, notations[i], names[i]);
    snprintf(all, sizeof all, "%s=%s=%s", names[0], names[1], names[2]);
    if (strcmp(all, expected) != 0)
        differ(suite, "written %s, not %s", all, expected);
    for (int i = 0; i < 3; i++)
        check_read(suite, names[i], 0, move);
    check_read(suite, names[1], READ_STRICT, move);
    suite->moves++;
}

static void check_moves(Suite *suite, char *moves) {
    MoveList list;
    int count = 0;
    moves_legal(&suite->position, &list);
    moves_sort(&suite->position, &list);
    for (char *rest, *word = strtok_r(moves, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        if (count++ < list.count)
            check_move(suite, list.moves[count - 1], word);
    if (count != list.count)
        differ(suite, "%d legal moves, not %d", list.count, count);
}

static bool cannot(const Position *position, Colour side) {
    return mating_quick(position, side) == MATING_CANNOT;
}

static void check_flags(Suite *suite, const char *flags) {
    const Position *position = &suite->position;
    if (strlen(flags) != FLAGS)
        fail(suite, "flags are five letters");
    MoveList list;
    moves_legal(position, &list);
    bool check = position_in_check(position), stuck = list.count == 0;
    const char ours[FLAGS + 1] = { check ? 'C' : '-', !stuck ? '-' : check ? 'M' : 'S', ending_insufficient(position) ? 'I' : '-', 0 };
    if (strncmp(ours, flags, 3) != 0)
        differ(suite, "check, mate, insufficient: %s, not %s", ours, flags);
    /* By material; we may know more reasons why a side cannot. */
    if (flags[3] == 'w' && !cannot(position, WHITE))
        differ(suite, "White cannot mate");
    if (flags[4] == 'b' && !cannot(position, BLACK))
        differ(suite, "Black cannot mate");
    Ending ending = ending_of(position), expected = flags[1] == 'M' ? ENDING_CHECKMATE : flags[1] == 'S' ? ENDING_STALEMATE
        : flags[2] == 'I' ? ENDING_INSUFFICIENT : ENDING_NONE;
    if (ending != expected && ending != ENDING_DEAD)
        differ(suite, "the end is %d, not %d", ending, expected);
}

static void take_line(Suite *suite, char *line) {
    char *columns[COLUMNS], *at = line;
    int count = 0;
    while (at != NULL && count < COLUMNS) {
        columns[count++] = at;
        at = strchr(at, '\t');
        if (at != NULL)
            *at++ = 0;
    }
    Error error;
    if ((count != 2 && count != COLUMNS) || at != NULL)
        fail(suite, "neither two nor five columns");
    if (!fen_read(columns[0], suite->flags, &suite->position, &error))
        fail(suite, error.text);
    suite->positions++;
    check_written(suite, 0, columns[0]);
    check_same(suite, columns[0]);
    if (count == COLUMNS) {
        check_written(suite, FEN_SHREDDER, columns[1]);
        check_same(suite, columns[1]);
        check_same(suite, columns[2]);
        check_flags(suite, columns[3]);
    }
    check_moves(suite, columns[count - 1]);
}

static void take_file(Suite *suite, const char *name) {
    static char line[LINE_BYTES];
    suite->file = name;
    suite->line = 0;
    FILE *file = fopen(name, "r");
    if (file == NULL)
        fail(suite, "cannot be opened");
    unsigned long long before = suite->positions;
    while (fgets(line, sizeof line, file) != NULL) {
        suite->line++;
        size_t length = strcspn(line, "\r\n");
        if (line[length] == 0 && length + 1 == sizeof line)
            fail(suite, "the line is too long");
        line[length] = 0;
        if (line[0] != '#')
            take_line(suite, line);
    }
    bool good = !ferror(file) && suite->positions > before;
    fclose(file);
    if (!good)
        fail(suite, "no positions");
}

int main(int argc, char **argv) {
    Suite suite = { .file = "" };
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--chess960") == 0)
            suite.flags = FEN_CHESS960;
        else
            take_file(&suite, argv[i]);
    }
    if (suite.positions == 0) {
        fputs("usage: moves_suite [--chess960] FILE …\n", stderr);
        return 2;
    }
    printf("positions %llu, moves %llu, differences %llu\n", suite.positions, suite.moves, suite.differences);
    return suite.differences > 0;
}
