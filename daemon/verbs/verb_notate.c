#include "daemon/verbs/verb_chess.h"

#include "core/chess/fen.h"
#include "core/notation/explain.h"
#include "core/notation/notation.h"

#include <stdio.h>

#define USAGE "notate FEN MOVE [--language L] [--chess960]"
#define HELP "One move in every notation, and the FEN after it; or why it is none, and what would be.\n"

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
    return STATUS_WRONG;
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

int verb_notate(const VerbCall *call) {
    const char *words[2];
    const char *language = NULL;
    bool chess960 = false;
    const VerbOption options[] = { { .name = "language", .value = &language }, { .name = "chess960", .flag = &chess960 }, { .name = NULL } };
    int count, status;
    if (!verb_arguments(call, USAGE, HELP, options, words, 2, 2, &count, &status))
        return status;
    const PieceLetters *letters = NULL;
    if (language != NULL) {
        letters = notation_letters(language);
        if (letters == NULL)
            return chess_usage_error(USAGE, "no piece letters are known for the language ", language);
    }
    Position position;
    if (!chess_position(words[0], chess960, &position))
        return STATUS_WRONG;
    const char *move = words[1];
    int number;
    bool black;
    notation_number(move, &move, &number, &black);
    Reading reading;
    notation_read_in(&position, move, 0, letters, &reading);
    if (reading.kind != READING_MOVE)
        return explain(&position, words[1], &reading);
    print_move(&position, reading.move, letters);
    return 0;
}
