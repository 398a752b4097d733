#include "daemon/verbs/verb_chess.h"

#include "core/chess/fen.h"
#include "core/notation/explain.h"
#include "core/notation/notation.h"
#include "daemon/log.h"

#include <stdio.h>
#include <string.h>

#define USAGE "notate FEN MOVE [--language L] [--chess960]"
#define HELP "One move in every notation, and the FEN after it; or why it is none, and what would be.\n"

enum { SHOWN_MAX = 200 }; /* bytes of what was asked; no move is longer */

/* Where a letter begins at or before this byte. */
static int letter_start(const char *text, int at) {
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return at;
}

static int explain(const Position *position, const char *text, const Reading *reading, const MoveLanguage *language) {
    bool cut = strlen(text) > SHOWN_MAX;
    int shown = cut ? letter_start(text, SHOWN_MAX) : (int)strlen(text);
    Str why, moves;
    str_init(&why, 4096);
    str_init(&moves, 16384);
    notation_explain(&why, position, reading);
    notation_alternatives(&moves, position, reading, language);
    if (moves.length == 0)
        str_printf(&moves, "nothing, %s is %s", position_turn(position) == WHITE ? "White" : "Black",
                   position_in_check(position) ? "checkmated" : "stalemated");
    print_line(stdout, "%.*s%s %s.", shown, text, cut ? "..." : "", why.data);
    print_line(stdout, "possible: %s", moves.data);
    str_free(&why);
    str_free(&moves);
    return STATUS_WRONG;
}

static void print_written(const Position *position, Move move, Notation notation, const MoveLanguage *language, const char *label) {
    char text[NOTATION_MAX];
    notation_write_in(position, move, notation, language, text);
    printf("%s: %s\n", label, text);
}

static void print_move(const Position *position, Move move, const MoveLanguage *language) {
    for (int notation = 0; notation < NOTATION_COUNT; notation++)
        print_written(position, move, (Notation)notation, NULL, notation_name((Notation)notation));
    static const Notation own[] = { NOTATION_SAN, NOTATION_LONG, NOTATION_SPOKEN };
    for (size_t i = 0; language != NULL && i < sizeof own / sizeof own[0]; i++) {
        if (own[i] == NOTATION_SPOKEN && language->spoken == NULL) /* it speaks Law E's words, which are German */
            continue;
        char label[32];
        snprintf(label, sizeof label, "%s%s%s", language->code, own[i] == NOTATION_SAN ? "" : " ", own[i] == NOTATION_SAN ? "" : notation_name(own[i]));
        print_written(position, move, own[i], language, label);
    }
    char fen[FEN_MAX];
    Position after;
    position_move(&after, position, move);
    fen_write(&after, 0, fen);
    printf("fen: %s\n", fen);
}

/* A usage error that names the languages there are. */
static int unknown_language(const char *code) {
    Str what;
    str_init(&what, 512);
    str_append(&what, "--language knows");
    size_t count;
    const MoveLanguage *languages = language_table(&count);
    for (size_t i = 0; i < count; i++)
        str_printf(&what, " %s", languages[i].code);
    str_append(&what, ", not ");
    int status = chess_usage_error(USAGE, what.data, code);
    str_free(&what);
    return status;
}

int verb_notate(const VerbCall *call) {
    const char *words[2];
    const char *language = NULL;
    bool chess960 = false;
    const VerbOption options[] = { { .name = "language", .value = &language }, { .name = "chess960", .flag = &chess960 }, { .name = NULL } };
    int count, status;
    if (!verb_arguments(call, USAGE, HELP, options, words, 2, 2, &count, &status))
        return status;
    const MoveLanguage *own = language == NULL ? NULL : language_find(language);
    if (language != NULL && own == NULL)
        return unknown_language(language);
    Position position;
    if (!chess_position(words[0], chess960, &position))
        return STATUS_WRONG;
    const char *move = words[1];
    int number;
    bool black;
    notation_number(move, &move, &number, &black);
    Reading reading;
    notation_read_in(&position, move, READ_SPOKEN, own, &reading);
    if (reading.kind != READING_MOVE)
        return explain(&position, words[1], &reading, own);
    print_move(&position, reading.move, own);
    return 0;
}
