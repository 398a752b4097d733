/* Any bytes as a FEN: what is accepted must survive writing, moving and notation. */
#include "core/chess/endings.h"
#include "core/chess/fen.h"
#include "core/chess/movegen.h"
#include "core/notation/notation.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool right) {
    if (!right)
        abort();
}

static void check_round(const Position *position, unsigned shredder) {
    char fen[FEN_MAX];
    Position again;
    fen_write(position, shredder, fen);
    demand(strlen(fen) < FEN_MAX - 1);
    demand(fen_read(fen, FEN_STRICT | (position->chess960 ? FEN_CHESS960 : 0), &again, NULL));
    demand(position_same(position, &again) && position_key(position) == position_key(&again));
    demand(position_fullmove(position) == position_fullmove(&again));
    demand(position_halfmove(position) == position_halfmove(&again));
}

static void check_move(const Position *position, Move move) {
    for (int notation = NOTATION_SAN; notation <= NOTATION_NUMERIC; notation++) {
        char text[NOTATION_MAX];
        Reading reading;
        notation_write(position, move, (Notation)notation, text);
        notation_read(position, text, 0, &reading);
        demand(reading.kind == READING_MOVE && reading.move == move);
    }
    Position after, settled;
    position_move(&after, position, move);
    settled = after;
    position_settle(&settled);
    demand(position_same(&settled, &after));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1 || size > 400)
        return 0;
    char text[401];
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    Position position;
    Error error = { 0 };
    if (!fen_read(text, data[0] & (FEN_CHESS960 | FEN_STRICT), &position, &error)) {
        demand(error.grade == ERROR_INPUT && error.code > FEN_OK && error.text[0] != 0);
        return 0;
    }
    check_round(&position, 0);
    check_round(&position, FEN_SHREDDER);
    MoveList list;
    moves_legal(&position, &list);
    demand(list.count <= MOVES_MAX);
    demand((ending_of(&position) == ENDING_CHECKMATE) == (list.count == 0 && position_in_check(&position)));
    for (int i = 0; i < list.count; i++)
        check_move(&position, list.moves[i]);
    return 0;
}
