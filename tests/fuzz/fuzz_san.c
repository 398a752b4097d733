/* Any bytes as a move: "FEN newline move", or a move alone in one of some positions. The first byte chooses position,
 * language and Chess960. */
#include "core/chess/fen.h"
#include "core/chess/movegen.h"
#include "core/notation/explain.h"
#include "core/notation/notation.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 300, READ_FLAGS = READ_LINE_START | READ_OWN_ONLY | READ_SPOKEN };

static const char *const fens[] = {
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "4k3/8/8/3pP3/8/2p5/1P1B4/R3K2R w KQ d6 0 1",
    "2r1n3/PPPP1PPP/8/2k5/5K2/8/pppp1ppp/2R1N3 w - - 0 1",
    "4r1k1/8/8/8/8/8/4N3/4K3 w - - 0 1",
    "8/8/8/K2pP2q/8/8/8/4k3 w - - 0 1",
    "1r2kr2/8/8/8/8/8/8/1RR1KR1R w BFbf - 0 1",
};

static void demand(bool right) {
    if (!right)
        abort();
}

/* No placeholder is left where a square or a man should be named. */
static void check_words(const Position *position, const Reading *reading) {
    Str words;
    str_init(&words, 1024);
    notation_explain(&words, position, reading);
    demand(words.length > 0 && !words.overflowed && strstr(words.data, "that square") == NULL && strstr(words.data, " man") == NULL);
    str_free(&words);
}

/* What was understood is written, in every notation, as something that is understood alike. */
static void check_written(const Position *position, Move move, const MoveLanguage *own) {
    for (int notation = 0; notation < NOTATION_COUNT; notation++) {
        char text[NOTATION_MAX];
        Reading again;
        notation_write_in(position, move, (Notation)notation, own, text);
        notation_read_in(position, text, READ_OWN_ONLY | READ_SPOKEN, own, &again);
        bool asked = notation == NOTATION_UCI && again.fault == FAULT_TWO_LANGUAGES;
        demand(asked || (again.kind == READING_MOVE && again.move == move));
    }
}

static void check_numbers(const Position *position, const Reading *reading) {
    demand(reading->candidate_count >= 0 && reading->candidate_count <= READING_CANDIDATES_MAX);
    for (int i = 0; i < reading->candidate_count; i++)
        demand(move_is_legal(position, reading->candidates[i]));
    demand(reading->from >= -1 && reading->from < 64 && reading->to >= -1 && reading->to < 64);
    demand(reading->cause >= -1 && reading->cause < 64);
    demand(reading->cause_piece == (reading->cause == NO_SQUARE ? EMPTY : position_piece_at(position, reading->cause)));
    demand((unsigned)reading->notation < NOTATION_COUNT && notation_fault_name(reading->fault) != NULL);
}

/* *written: a move that was written already. */
static void check_reading(const Position *position, const char *text, unsigned flags, const MoveLanguage *own, Move *written) {
    Reading reading;
    notation_read_in(position, text, flags, own, &reading);
    check_numbers(position, &reading);
    demand((reading.kind == READING_MOVE) == (reading.move != MOVE_NONE));
    demand((reading.kind == READING_MOVE) == (reading.fault == FAULT_NONE));
    demand(reading.kind != READING_AMBIGUOUS || reading.candidate_count > 0);
    bool shaped = reading.kind != READING_NOT_A_MOVE || reading.fault == FAULT_DESCRIPTIVE;
    demand(notation_shaped_in(text, flags, own) == shaped);
    if (reading.kind != READING_MOVE) {
        check_words(position, &reading);
        return;
    }
    demand(move_is_legal(position, reading.move));
    if (reading.move != *written)
        check_written(position, reading.move, own);
    *written = reading.move;
}

static void check_strict(const Position *position, const char *text) {
    Reading reading;
    char san[NOTATION_MAX];
    notation_read(position, text, READ_STRICT, &reading);
    check_numbers(position, &reading);
    if (reading.kind != READING_MOVE) {
        check_words(position, &reading);
        return;
    }
    notation_write(position, reading.move, NOTATION_SAN, san);
    demand(strcmp(text, san) == 0);
}

static void check_number(const char *text) {
    const char *rest;
    int number;
    bool black;
    if (!notation_number(text, &rest, &number, &black))
        return;
    demand(rest > text && rest <= text + strlen(text) && number >= 0 && number <= 9999);
    demand(number > 0 || black);
}

/* `text` has not one byte more than it says, so that reading on would be seen. */
static void check_text(const Position *position, const char *text, const MoveLanguage *own) {
    check_number(text);
    check_strict(position, text);
    Move written = MOVE_NONE;
    for (unsigned flags = 0; flags <= READ_FLAGS; flags++)
        check_reading(position, text, flags, own, &written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > INPUT_MAX)
        return 0;
    char *text = malloc(size);
    demand(text != NULL);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    char *move = strchr(text, '\n');
    const char *fen = text;
    if (move != NULL) {
        *move++ = 0;
    } else {
        move = text;
        fen = fens[data[0] % (sizeof fens / sizeof fens[0])];
    }
    size_t count;
    const MoveLanguage *languages = language_table(&count);
    Position position;
    if (fen_read(fen, data[0] & 0x80 ? FEN_CHESS960 : 0, &position, NULL))
        check_text(&position, move, &languages[data[0] / 6 % count]);
    free(text);
    return 0;
}
