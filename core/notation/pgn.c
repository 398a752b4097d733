#include "core/notation/pgn_parse.h"

#include <string.h>

static void begin(PgnReader *reader, const char *text, size_t length, unsigned flags) {
    memset(reader, 0, sizeof *reader);
    reader->flags = flags;
    reader->line = 1;
    position_start(&reader->standard);
    reader->at = reader->mark = reader->line_start = text;
    reader->end = text + length;
    reader->safe = length > PGN_LOOKAHEAD ? reader->end - PGN_LOOKAHEAD : text;
}

void pgn_begin(PgnReader *reader, const char *text, size_t length, unsigned flags) {
    begin(reader, length == 0 ? "" : text, length, flags);
}

void pgn_open(PgnReader *reader, PgnSource source, void *context, char *buffer, size_t size, unsigned flags) {
    begin(reader, buffer, 0, flags);
    reader->source = source;
    reader->context = context;
    reader->buffer = buffer;
    reader->size = size;
}

void pgn_stop(PgnParse *parse) {
    pgn_abandon_variations(parse);
    pgn_fault(parse, PGN_FAULT_WORK, parse->reader->line, "The text takes more work to read than is allowed; the rest is left out.");
    parse->broken = parse->ended = parse->reader->stopped = true;
}

/* UTF-16 has a NUL in every other byte of a PGN text, and mostly a mark before it. */
static bool refuse_utf16(PgnParse *parse) {
    PgnReader *reader = parse->reader;
    if (reader->begun || !pgn_more(reader))
        return false;
    reader->begun = true;
    const unsigned char *at = (const unsigned char *)reader->at;
    if (!(at[0] == 0xff && at[1] == 0xfe) && !(at[0] == 0xfe && at[1] == 0xff))
        return false;
    pgn_fault(parse, PGN_FAULT_ENCODING, reader->line, "The text is UTF-16; it must be saved as UTF-8.");
    reader->stopped = true;
    return true;
}

static void count_work(PgnParse *parse) {
    PgnReader *reader = parse->reader;
    reader->work += (uint64_t)(reader->at - reader->mark);
    reader->mark = reader->at;
    if (reader->work_limit > 0 && reader->work > reader->work_limit && !reader->stopped)
        pgn_stop(parse);
}

static void clear(const PgnReader *reader, PgnGame *game) {
    game->line = reader->line;
    game->start = game->end = reader->standard;
    game->tags = NULL;
    game->moves = NULL;
    game->notes = NULL;
    game->tag_count = game->move_count = game->note_count = game->fault_count = 0;
    game->result = "";
    game->result_line = 0;
    game->unchecked = false;
}

bool pgn_next(PgnReader *reader, Arena *arena, PgnGame *ret) {
    while (!reader->stopped && pgn_more(reader)) {
        PgnParse parse = { .reader = reader, .arena = arena, .game = ret };
        clear(reader, ret);
        if (refuse_utf16(&parse))
            return true;
        bool own_moves = pgn_read_tags(&parse);
        pgn_set_start(&parse);
        if (own_moves)
            pgn_read_moves(&parse);
        count_work(&parse);
        if (ret->tag_count > 0 || ret->move_count > 0 || ret->fault_count > 0 || ret->result[0] != 0)
            return true;
    }
    return false;
}

const char *pgn_fault_name(PgnFaultKind kind) {
    static const char *const names[PGN_FAULT_COUNT] = {
        [PGN_FAULT_TAG] = "tag",           [PGN_FAULT_FEN] = "fen",   [PGN_FAULT_MOVE] = "move", [PGN_FAULT_COMMENT] = "comment",
        [PGN_FAULT_VARIATION] = "variation", [PGN_FAULT_SIZE] = "size", [PGN_FAULT_WORK] = "work", [PGN_FAULT_ENCODING] = "encoding",
        [PGN_FAULT_MORE] = "more",
    };
    return (unsigned)kind < PGN_FAULT_COUNT ? names[kind] : "none";
}
