#include "core/notation/pgn_parse.h"

void pgn_abandon_variations(PgnParse *parse) {
    if (parse->depth > 0)
        parse->game->note_count = parse->outermost;
    parse->depth = 0;
}

static void never_closed(PgnParse *parse, int64_t line) {
    pgn_fault(parse, PGN_FAULT_VARIATION, line, "A variation opened here with ( is never closed.");
    parse->ended = true;
}

static void too_deep(PgnParse *parse) {
    pgn_fault(parse, PGN_FAULT_VARIATION, parse->reader->line, "Variations are nested more than %d deep.", PGN_NESTING_MAX);
}

void pgn_skip_variations(PgnParse *parse, size_t depth, int64_t line) {
    PgnReader *reader = parse->reader;
    while (depth > 0 && !parse->ended) {
        if (!pgn_more(reader)) {
            never_closed(parse, line);
            return;
        }
        uint8_t kind = pgn_bytes[(unsigned char)*reader->at];
        if (kind == PGN_BYTE_LINE) {
            if (pgn_pass_line(reader))
                never_closed(parse, line);
            continue;
        }
        if (kind == PGN_BYTE_OTHER && (*reader->at == '{' || *reader->at == ';')) {
            pgn_read_comment(parse, false);
            continue;
        }
        if (*reader->at == '(' && ++depth == PGN_NESTING_MAX + 1)
            too_deep(parse);
        depth -= *reader->at == ')';
        reader->at++;
    }
}

void pgn_open_variation(PgnParse *parse) {
    PgnReader *reader = parse->reader;
    PgnGame *game = parse->game;
    int64_t line = reader->line;
    PgnFrame *outer = parse->depth > 0 ? &parse->frames[parse->depth - 1] : NULL;
    reader->at++;
    if (parse->depth == PGN_NESTING_MAX)
        too_deep(parse);
    if (parse->broken || !(reader->flags & PGN_KEEP_VARIATIONS) || parse->depth == PGN_NESTING_MAX || (outer != NULL && outer->broken)) {
        pgn_skip_variations(parse, 1, line);
        return;
    }
    if (parse->frames == NULL) {
        parse->frames = arena_alloc(parse->arena, PGN_NESTING_MAX * sizeof *parse->frames);
        if (parse->frames == NULL) {
            pgn_out_of_memory(parse);
            pgn_skip_variations(parse, 1, line);
            return;
        }
    }
    if (outer == NULL) {
        parse->outermost = game->note_count;
        parse->open_line = line;
    }
    pgn_add_note(parse, PGN_NOTE_OPEN, 0, MOVE_NONE, NULL);
    const Position *base = outer != NULL ? &outer->before : game->move_count > 0 ? &parse->before : &game->start;
    parse->frames[parse->depth++] = (PgnFrame){ .before = *base, .now = *base };
}

void pgn_close_variation(PgnParse *parse) {
    parse->reader->at++;
    pgn_add_note(parse, PGN_NOTE_CLOSE, 0, MOVE_NONE, NULL);
    parse->depth--;
}
