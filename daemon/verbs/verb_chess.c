#include "daemon/verbs/verb_chess.h"

#include "core/chess/endings.h"
#include "core/chess/fen.h"
#include "core/chess/movegen.h"
#include "core/chess/perft.h"
#include "core/notation/explain.h"
#include "core/notation/notation.h"
#include "core/notation/pgn.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { EXIT_ASKED_WRONG = 1, EXIT_USAGE = 2 };
enum { POSITIONALS_MAX = 2, PERFT_DEPTH_MAX = 20 };
enum { REPLAY_FILE_MAX = 1 << 30, REPLAY_GAME_MAX = 64 << 20, FEN_LINE_MAX = 1024 };

/* --- arguments --- */

typedef struct Verb {
    const char *usage; /* behind "epistle " */
    const char *help;
    int least, most; /* positional arguments */
    bool language, chess960, json;
} Verb;

typedef struct Arguments {
    const char *positional[POSITIONALS_MAX];
    int count;
    const char *language;
    bool chess960, json, help;
} Arguments;

static int usage_error(const Verb *verb, const char *what, const char *which) {
    fprintf(stderr, "epistle: %s%s; usage: epistle %s\n", what, which, verb->usage);
    return EXIT_USAGE;
}

/* 0 if the verb can go on; else *ret_status is its exit status. */
static bool arguments_read(const Verb *verb, int argc, char **argv, Arguments *ret, int *ret_status) {
    *ret = (Arguments){ 0 };
    bool options = true;
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i];
        if (!options || argument[0] != '-' || argument[1] == 0) {
            if (ret->count == verb->most) {
                *ret_status = usage_error(verb, "too many arguments from ", argument);
                return false;
            }
            ret->positional[ret->count++] = argument;
        } else if (strcmp(argument, "--") == 0) {
            options = false;
        } else if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
            printf("usage: epistle %s\n%s\n", verb->usage, verb->help);
            *ret_status = 0;
            return false;
        } else if (verb->chess960 && strcmp(argument, "--chess960") == 0) {
            ret->chess960 = true;
        } else if (verb->json && strcmp(argument, "--json") == 0) {
            ret->json = true;
        } else if (verb->language && strncmp(argument, "--language=", 11) == 0) {
            ret->language = argument + 11;
        } else if (verb->language && strcmp(argument, "--language") == 0 && i + 1 < argc) {
            ret->language = argv[++i];
        } else {
            *ret_status = usage_error(verb, "unknown or incomplete option ", argument);
            return false;
        }
    }
    if (ret->count < verb->least) {
        *ret_status = usage_error(verb, "too few arguments", "");
        return false;
    }
    return true;
}

static bool position_read(const char *fen, bool chess960, Position *ret) {
    Error error;
    if (fen_read(fen, chess960 ? FEN_CHESS960 : 0, ret, &error))
        return true;
    fprintf(stderr, "epistle: %s\n", error.text);
    return false;
}

/* --- perft --- */

static void print_uci(const Position *position, Move move) {
    char uci[NOTATION_MAX];
    notation_write(position, move, NOTATION_UCI, uci);
    fputs(uci, stdout);
}

int verb_perft(int argc, char **argv) {
    static const Verb verb = {
        .usage = "perft DEPTH [FEN] [--chess960]",
        .help = "Counts the sequences of DEPTH legal moves: for each first move, in total, and how fast.",
        .least = 1, .most = 2, .chess960 = true,
    };
    Arguments arguments;
    int status;
    if (!arguments_read(&verb, argc, argv, &arguments, &status))
        return status;
    char *end;
    errno = 0;
    long depth = strtol(arguments.positional[0], &end, 10);
    if (errno != 0 || *end != 0 || end == arguments.positional[0] || depth < 0 || depth > PERFT_DEPTH_MAX)
        return usage_error(&verb, "DEPTH must be a number from 0 to 20, not ", arguments.positional[0]);
    Position position;
    position_start(&position);
    if (arguments.count > 1 && !position_read(arguments.positional[1], arguments.chess960, &position))
        return EXIT_ASKED_WRONG;

    MoveList list;
    moves_legal(&position, &list);
    moves_sort(&position, &list);
    uint64_t total = depth == 0 ? 1 : 0;
    clock_t begin = clock();
    for (int i = 0; depth > 0 && i < list.count; i++) {
        Position after;
        position_move(&after, &position, list.moves[i]);
        uint64_t count = perft_count(&after, (int)depth - 1);
        print_uci(&position, list.moves[i]);
        printf(": %" PRIu64 "\n", count);
        total += count;
    }
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    printf("total: %" PRIu64 "\n", total);
    printf("nodes per second: %.0f\n", (double)total / (seconds > 1e-6 ? seconds : 1e-6));
    return 0;
}

/* --- moves --- */

static void print_moves(const Position *position) {
    MoveList list;
    moves_legal(position, &list);
    moves_sort(position, &list);
    for (int i = 0; i < list.count; i++) {
        static const Notation notations[] = { NOTATION_UCI, NOTATION_SAN, NOTATION_LONG };
        for (int j = 0; j < 3; j++) {
            char text[NOTATION_MAX];
            notation_write(position, list.moves[i], notations[j], text);
            printf("%s%s", j > 0 ? "=" : i > 0 ? " " : "", text);
        }
    }
    putchar('\n');
}

/* A line of stdin without its end; false at the end of input. Too long ones are cut: no FEN
 * is that long, so the reader refuses them. */
static bool line_read(char line[FEN_LINE_MAX]) {
    if (fgets(line, FEN_LINE_MAX, stdin) == NULL)
        return false;
    size_t length = strcspn(line, "\r\n");
    if (line[length] == 0)
        for (int byte = getchar(); byte != EOF && byte != '\n';)
            byte = getchar();
    line[length] = 0;
    return true;
}

int verb_moves(int argc, char **argv) {
    static const Verb verb = {
        .usage = "moves FEN|- [--chess960]",
        .help = "Every legal move as uci=san=long, sorted by uci, on one line; with - for each FEN of standard input.\n"
                "A bad FEN has an empty line, and its error on standard error.",
        .least = 1, .most = 1, .chess960 = true,
    };
    Arguments arguments;
    int status;
    if (!arguments_read(&verb, argc, argv, &arguments, &status))
        return status;
    Position position;
    if (strcmp(arguments.positional[0], "-") != 0) {
        if (!position_read(arguments.positional[0], arguments.chess960, &position))
            return EXIT_ASKED_WRONG;
        print_moves(&position);
        return 0;
    }
    char line[FEN_LINE_MAX];
    status = 0;
    while (line_read(line)) {
        if (position_read(line, arguments.chess960, &position)) {
            print_moves(&position);
        } else {
            putchar('\n');
            status = EXIT_ASKED_WRONG;
        }
    }
    return status;
}

/* --- notate --- */

static int explain(const Position *position, const char *text, const Reading *reading) {
    Str out;
    str_init(&out, 16384);
    for (const char *at = text; *at != 0; at++) /* no control characters on a terminal */
        str_append_char(&out, (unsigned char)*at < ' ' || *at == 0x7f ? '?' : *at);
    str_append_char(&out, ' ');
    notation_explain(&out, position, reading);
    str_append(&out, ".\npossible: ");
    notation_alternatives(&out, position, reading);
    printf("%s\n", out.data);
    str_free(&out);
    return EXIT_ASKED_WRONG;
}

static void print_move(const Position *position, Move move, const PieceLetters *letters) {
    static const struct { const char *label; Notation notation; } lines[] = {
        { "san", NOTATION_SAN }, { "long", NOTATION_LONG }, { "uci", NOTATION_UCI }, { "numeric", NOTATION_NUMERIC },
    };
    char text[NOTATION_MAX], fen[FEN_MAX];
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        notation_write(position, move, lines[i].notation, text);
        printf("%s: %s\n", lines[i].label, text);
    }
    if (letters != NULL) {
        notation_write_in(position, move, NOTATION_SAN, letters, text);
        printf("%s: %s\n", letters->language, text);
    }
    Position after;
    position_move(&after, position, move);
    fen_write(&after, 0, fen);
    printf("fen: %s\n", fen);
}

int verb_notate(int argc, char **argv) {
    static const Verb verb = {
        .usage = "notate FEN MOVE [--language L] [--chess960]",
        .help = "One move in every notation, and the FEN after it; or why it is none, and what would be.",
        .least = 2, .most = 2, .language = true, .chess960 = true,
    };
    Arguments arguments;
    int status;
    if (!arguments_read(&verb, argc, argv, &arguments, &status))
        return status;
    const PieceLetters *letters = NULL;
    if (arguments.language != NULL) {
        letters = notation_letters(arguments.language);
        if (letters == NULL)
            return usage_error(&verb, "no piece letters are known for the language ", arguments.language);
    }
    Position position;
    if (!position_read(arguments.positional[0], arguments.chess960, &position))
        return EXIT_ASKED_WRONG;
    const char *move = arguments.positional[1];
    int number;
    bool black;
    notation_number(move, &move, &number, &black);
    Reading reading;
    notation_read_in(&position, move, 0, letters, &reading);
    if (reading.kind != READING_MOVE)
        return explain(&position, arguments.positional[1], &reading);
    print_move(&position, reading.move, letters);
    return 0;
}

/* --- replay --- */

typedef struct Replay {
    const char *file;
    size_t games, moves, errors;
    json_t *faults; /* NULL: print lines */
} Replay;

static void report_fault(Replay *replay, const PgnFault *fault) {
    if (replay->faults == NULL) {
        printf("%s:%d: game %zu: %s\n", replay->file, fault->line, replay->games, fault->text);
        return;
    }
    json_t *object = json_pack("{s:i, s:i, s:s}", "game", (int)replay->games, "line", fault->line, "text", fault->text);
    if (fault->move > 0) {
        json_object_set_new(object, "move", json_integer(fault->move));
        json_object_set_new(object, "side", json_string(fault->black ? "black" : "white"));
    }
    json_array_append_new(replay->faults, object);
}

static void replay_games(Replay *replay, const Str *text) {
    PgnReader reader;
    PgnGame game;
    Arena arena;
    arena_init(&arena, REPLAY_GAME_MAX);
    pgn_begin(&reader, text->data, text->length);
    while (pgn_next(&reader, &arena, &game)) {
        replay->games++;
        replay->moves += game.move_count;
        replay->errors += game.fault_count;
        for (size_t i = 0; i < game.fault_count && i < PGN_FAULTS_MAX; i++)
            report_fault(replay, &game.faults[i]);
        arena_free(&arena);
    }
    arena_free(&arena);
}

static bool file_read(const char *name, Str *ret) {
    FILE *file = strcmp(name, "-") == 0 ? stdin : fopen(name, "rb");
    char buffer[65536];
    bool read = file != NULL;
    for (size_t length; read && (length = fread(buffer, 1, sizeof buffer, file)) > 0;)
        read = str_append_bytes(ret, buffer, length);
    if (!read || ferror(file))
        fprintf(stderr, "epistle: %s cannot be read: %s\n", name,
                ret->overflowed ? "it is larger than 1 GB; split it" : strerror(errno));
    read = read && !ferror(file);
    if (file != NULL && file != stdin)
        fclose(file);
    return read;
}

int verb_replay(int argc, char **argv) {
    static const Verb verb = {
        .usage = "replay FILE.pgn [--json]",
        .help = "Checks every game of a PGN file (- for standard input): one line for each error, then the sums.",
        .least = 1, .most = 1, .json = true,
    };
    Arguments arguments;
    int status;
    if (!arguments_read(&verb, argc, argv, &arguments, &status))
        return status;
    Str text;
    str_init(&text, REPLAY_FILE_MAX);
    Replay replay = { .file = arguments.positional[0] };
    if (!file_read(replay.file, &text)) {
        str_free(&text);
        return EXIT_ASKED_WRONG;
    }
    if (arguments.json)
        replay.faults = json_array();
    replay_games(&replay, &text);
    str_free(&text);
    if (arguments.json) {
        json_t *object = json_pack("{s:I, s:I, s:I, s:o}", "games", (json_int_t)replay.games, "moves",
                                   (json_int_t)replay.moves, "errors", (json_int_t)replay.errors, "faults",
                                   replay.faults);
        json_dumpf(object, stdout, JSON_INDENT(2));
        putchar('\n');
        json_decref(object);
    } else {
        printf("games %zu, moves %zu, errors %zu\n", replay.games, replay.moves, replay.errors);
    }
    return replay.errors > 0 ? EXIT_ASKED_WRONG : 0;
}
