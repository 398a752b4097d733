/* Any bytes as a move: "FEN newline move", or a move alone in one of some positions. */
#include "core/chess/fen.h"
#include "core/chess/movegen.h"
#include "core/notation/notation.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const fens[] = {
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "4k3/8/8/3pP3/8/2p5/1P1B4/R3K2R w KQ d6 0 1",
    "2r1n3/PPPP1PPP/8/2k5/5K2/8/pppp1ppp/2R1N3 w - - 0 1",
    "4r1k1/8/8/8/8/8/4N3/4K3 w - - 0 1",
    "8/8/8/K2pP2q/8/8/8/4k3 w - - 0 1",
};

static void demand(bool right) {
    if (!right)
        abort();
}

static void check_reading(const Position *position, const char *text, unsigned flags, const MoveLanguage *own) {
    Reading reading;
    notation_read_in(position, text, flags, own, &reading);
    demand((reading.kind == READING_MOVE) == (reading.move != MOVE_NONE));
    demand((reading.kind == READING_MOVE) == (reading.fault == FAULT_NONE));
    demand(reading.candidate_count >= 0 && reading.candidate_count <= READING_CANDIDATES_MAX);
    demand(reading.kind != READING_AMBIGUOUS || reading.candidate_count > 0);
    if (reading.kind == READING_MOVE)
        demand(move_is_legal(position, reading.move));
    for (int i = 0; i < reading.candidate_count; i++)
        demand(move_is_legal(position, reading.candidates[i]));
    demand(reading.from >= -1 && reading.from < 64 && reading.to >= -1 && reading.to < 64);
    demand(reading.cause >= -1 && reading.cause < 64);
    demand(notation_fault_name(reading.fault) != NULL);
    bool shaped = reading.kind != READING_NOT_A_MOVE || reading.fault == FAULT_DESCRIPTIVE;
    demand(notation_shaped_in(text, flags, own) == shaped);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > 300)
        return 0;
    char text[300];
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
    Position position;
    if (!fen_read(fen, data[0] & 0x80 ? FEN_CHESS960 : 0, &position, NULL))
        return 0;
    static const char *const languages[] = { "en", "de", "fr", "es" };
    check_number(move);
    for (unsigned flags = 0; flags < 4; flags++)
        check_reading(&position, move, flags, language_find(languages[data[0] / 8 % 4]));
    return 0;
}
