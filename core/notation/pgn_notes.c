#include "core/notation/pgn_parse.h"

#include <string.h>

void pgn_add_note(PgnParse *parse, PgnNoteKind kind, int number, Move move, const char *text) {
    PgnGame *game = parse->game;
    void *notes = parse->notes;
    if (parse->broken || !(parse->reader->flags & (PGN_KEEP_NOTES | PGN_KEEP_VARIATIONS)))
        return;
    if (parse->depth > 0 && parse->frames[parse->depth - 1].broken && kind != PGN_NOTE_CLOSE)
        return;
    if (!pgn_reserve(parse, &notes, sizeof *parse->notes, game->note_count, &parse->note_capacity))
        return;
    parse->notes = notes;
    game->notes = parse->notes;
    parse->notes[game->note_count++] =
        (PgnNote){ .kind = kind, .ply = (uint32_t)game->move_count, .number = (uint8_t)number, .move = move, .text = text };
}

/* --- comments --- */

/* Whether a comment cannot go on here, at the beginning of a line. */
static bool tags_begin(const PgnReader *reader, bool after_empty_line) {
    bool event;
    return *reader->at == '[' && pgn_tag_certain(reader->at, &event) && (event || after_empty_line);
}

static void never_closed(PgnParse *parse, int64_t line) {
    pgn_abandon_variations(parse);
    pgn_fault(parse, PGN_FAULT_COMMENT, line, "A comment opened here with { is never closed.");
    parse->broken = true;
    parse->ended = true;
}

/* Collects up to the closing }; false if there is none. */
static bool collect_brace(PgnParse *parse, bool keep) {
    PgnReader *reader = parse->reader;
    const char *from = reader->at;
    bool line_begins = false, empty = false, last_empty = false;
    for (;;) {
        if (reader->at >= reader->safe) {
            if (keep)
                pgn_collect(parse, from, (size_t)(reader->at - from));
            if (!pgn_refill(reader))
                return false;
            from = reader->at;
        }
        uint8_t kind = pgn_bytes[(unsigned char)*reader->at];
        if (*reader->at == '}')
            break;
        if (line_begins && tags_begin(reader, last_empty))
            return false;
        line_begins = kind == PGN_BYTE_LINE;
        if (line_begins) {
            pgn_newline(reader);
            last_empty = empty;
            empty = true;
            continue;
        }
        empty &= kind == PGN_BYTE_BLANK;
        reader->at++;
    }
    if (keep)
        pgn_collect(parse, from, (size_t)(reader->at - from));
    return true;
}

static void collect_rest_of_line(PgnParse *parse, bool keep) {
    PgnReader *reader = parse->reader;
    const char *from = reader->at;
    for (;; reader->at++) {
        if (reader->at >= reader->safe) {
            if (keep)
                pgn_collect(parse, from, (size_t)(reader->at - from));
            bool more = pgn_refill(reader);
            from = reader->at;
            if (!more)
                return;
        }
        if (pgn_bytes[(unsigned char)*reader->at] == PGN_BYTE_LINE)
            break;
    }
    if (keep)
        pgn_collect(parse, from, (size_t)(reader->at - from));
}

void pgn_read_comment(PgnParse *parse, bool keep) {
    PgnReader *reader = parse->reader;
    int64_t line = reader->line;
    bool brace = *reader->at == '{';
    keep = keep && !parse->broken && (reader->flags & (PGN_KEEP_NOTES | PGN_KEEP_VARIATIONS));
    parse->raw.length = 0;
    reader->at++;
    if (!brace) {
        collect_rest_of_line(parse, keep);
    } else if (!collect_brace(parse, keep)) {
        never_closed(parse, line);
        return;
    } else {
        reader->at++;
    }
    const char *text = keep ? pgn_collected(parse, true) : NULL;
    if (text != NULL && *text != 0)
        pgn_add_note(parse, PGN_NOTE_COMMENT, 0, MOVE_NONE, text);
}

const char *pgn_comment(const PgnGame *game, size_t ply) {
    size_t depth = 0;
    for (size_t i = 0; i < game->note_count; i++) {
        const PgnNote *note = &game->notes[i];
        if (note->kind == PGN_NOTE_COMMENT && depth == 0 && note->ply == ply)
            return note->text;
        depth += note->kind == PGN_NOTE_OPEN;
        depth -= note->kind == PGN_NOTE_CLOSE;
    }
    return NULL;
}

static bool name_byte(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_';
}

bool pgn_command(const char **at, PgnCommand *ret) {
    for (const char *text = *at; (text = strstr(text, "[%")) != NULL; text++) {
        const char *name = text + 2, *behind = name;
        while (name_byte(*behind))
            behind++;
        const char *end = strchr(behind, ']');
        if (end == NULL)
            return false;
        if (behind == name || (*behind != ' ' && *behind != ']'))
            continue;
        const char *value = behind;
        while (*value == ' ')
            value++;
        size_t length = (size_t)(end - value);
        while (length > 0 && value[length - 1] == ' ')
            length--;
        *ret = (PgnCommand){ name, value, (size_t)(behind - name), length };
        *at = end + 1;
        return true;
    }
    return false;
}

/* --- NAGs and what stands for them --- */

void pgn_read_nag(PgnParse *parse) {
    PgnReader *reader = parse->reader;
    int number = 0;
    bool digits = false;
    reader->at++;
    while (pgn_more(reader) && pgn_bytes[(unsigned char)*reader->at] == PGN_BYTE_DIGIT) {
        number = number > 255 ? number : number * 10 + (*reader->at - '0');
        digits = true;
        reader->at++;
    }
    if (digits && number <= 255)
        pgn_add_note(parse, PGN_NOTE_NAG, number, MOVE_NONE, NULL);
}

typedef struct Mark {
    char text[5];
    uint8_t length, nag;
} Mark;

/* PGN standard 10, and what Informator prints; a longer one before its beginning. + and # alone say nothing more than the move. */
static const Mark marks[] = {
    { "!!", 2, 3 },    { "!?", 2, 5 },    { "!", 1, 1 },           { "??", 2, 4 },           { "?!", 2, 6 },
    { "?", 1, 2 },     { "+/-", 3, 16 },  { "+/=", 3, 14 },        { "+--", 3, 20 },         { "+-", 2, 18 },
    { "+=", 2, 14 },   { "-/+", 3, 17 },  { "--+", 3, 21 },        { "-+", 2, 19 },          { "=/+", 3, 15 },
    { "=+", 2, 15 },   { "=", 1, 10 },    { "~", 1, 13 },          { "+", 1, 0 },            { "#", 1, 0 },
    { "\xc2\xb1", 2, 16 }, { "\xe2\x88\x93", 3, 17 }, { "\xe2\xa9\xb2", 3, 14 }, { "\xe2\xa9\xb1", 3, 15 }, { "\xe2\x88\x9e", 3, 13 },
};

static const Mark *mark_at(const char *text, size_t length) {
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (marks[i].length <= length && memcmp(marks[i].text, text, marks[i].length) == 0)
            return &marks[i];
    return NULL;
}

static bool all_marks(const char *text, size_t length) {
    while (length > 0) {
        const Mark *mark = mark_at(text, length);
        if (mark == NULL)
            return false;
        text += mark->length;
        length -= mark->length;
    }
    return true;
}

size_t pgn_bare_length(const char *word, size_t length) {
    enum { MARKS_MAX = 16 }; /* bytes of them behind one move */
    for (size_t bare = length > MARKS_MAX ? length - MARKS_MAX : 0; bare < length; bare++)
        if (all_marks(word + bare, length - bare))
            return bare;
    return length;
}

void pgn_add_marks(PgnParse *parse, const char *text, size_t length) {
    while (length > 0) {
        const Mark *mark = mark_at(text, length);
        if (mark == NULL)
            return;
        if (mark->nag != 0)
            pgn_add_note(parse, PGN_NOTE_NAG, mark->nag, MOVE_NONE, NULL);
        text += mark->length;
        length -= mark->length;
    }
}
