/* Any bytes as a FEN: what is accepted must survive writing, moving and notation. */
#include "core/chess/attacks.h"
#include "core/chess/doubt.h"
#include "core/chess/endings.h"
#include "core/chess/fen.h"
#include "core/chess/mating.h"
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

/* Written in either form, read strictly and kindly: always the same position, and the same FEN again. */
static void check_round(const Position *position, unsigned form) {
    char fen[FEN_MAX], fen_again[FEN_MAX];
    fen_write(position, form, fen);
    demand(strlen(fen) < FEN_MAX - 1);
    for (unsigned strict = 0; strict <= FEN_STRICT; strict += FEN_STRICT) {
        Position again;
        demand(fen_read(fen, strict | (position->chess960 ? FEN_CHESS960 : 0), &again, NULL));
        demand(position_same(position, &again) && position_key(position) == position_key(&again));
        demand(position_fullmove(position) == position_fullmove(&again));
        demand(position_halfmove(position) == position_halfmove(&again));
        demand(position->chess960 == again.chess960);
        fen_write(&again, form, fen_again);
        demand(strcmp(fen, fen_again) == 0);
    }
}

/* What position.h promises of every position. */
static void check_kings(const Position *position) {
    Colour us = position_turn(position), them = us == WHITE ? BLACK : WHITE;
    demand(set_count(position_men(position, WHITE, KING)) == 1 && set_count(position_men(position, BLACK, KING)) == 1);
    demand((position->sides[WHITE] & position->sides[BLACK]) == 0);
    demand(position_attackers(position, position_king(position, them), us, position->sides[WHITE] | position->sides[BLACK]) == 0);
}

/* A proof that neither side can mate is none if one has; a line of mate is one. */
static void check_mating(const Position *position, Ending ending) {
    static uint64_t memory[2000 * MATING_NODE_BYTES / 8];
    const MatingLimits limits = { .memory = memory, .size = sizeof memory, .nodes = 300 };
    Error error = { 0 };
    demand((position_doubt(position, &error) == DOUBT_NONE) == (error.text[0] == 0));
    for (int side = WHITE; side <= BLACK; side++) {
        MatingAnswer quick = mating_quick(position, (Colour)side);
        MatingLine line = { .count = 0 };
        MatingAnswer full = mating_full(position, (Colour)side, &limits, &line, NULL);
        demand(quick == MATING_UNKNOWN || full == quick);
        demand(ending != ENDING_DEAD || quick == MATING_CANNOT);
        if (full != MATING_CAN)
            continue;
        Position last = *position;
        for (int ply = 0; ply < line.count; ply++) {
            demand(move_is_legal(&last, line.moves[ply]));
            position_move(&last, &last, line.moves[ply]);
        }
        demand(ending_plain(&last) == ENDING_CHECKMATE && position_turn(&last) != (Colour)side);
    }
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
    check_kings(&after);
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
    Position position, kind;
    Error error = { 0 };
    unsigned flags = data[0] & (FEN_CHESS960 | FEN_STRICT);
    if (!fen_read(text, flags, &position, &error)) {
        demand(error.grade == ERROR_INPUT && error.code > FEN_OK && error.code <= FEN_CHECK && error.text[0] != 0);
        return 0;
    }
    if (flags & FEN_STRICT) /* what strict reading takes, kind reading takes for the same */
        demand(fen_read(text, flags & ~(unsigned)FEN_STRICT, &kind, NULL) && position_same(&position, &kind));
    check_round(&position, 0);
    check_round(&position, FEN_SHREDDER);
    check_kings(&position);
    MoveList list;
    moves_legal(&position, &list);
    demand(list.count <= MOVES_MAX);
    Ending ending = ending_of(&position);
    demand((ending == ENDING_CHECKMATE) == (list.count == 0 && position_in_check(&position)));
    check_mating(&position, ending);
    for (int i = 0; i < list.count; i++)
        check_move(&position, list.moves[i]);
    return 0;
}
