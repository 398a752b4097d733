#include "core/notation/pgn.h"

#include "core/base/utf8.h"
#include "core/chess/fen.h"
#include "core/notation/explain.h"
#include "core/notation/notation.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    COMMENT_MAX = 65536, /* of one move; nobody reads more */
    TOKEN_MAX = 64,      /* no move with its marks is longer */
};

/* A text that grows inside the arena, by doubling. */
typedef struct Growing {
    char *data;
    size_t length, capacity;
} Growing;

typedef struct Parse {
    PgnReader *reader;
    Arena *arena;
    PgnGame *game;
    Position position;
    size_t move_capacity, tag_capacity;
    Growing comment;       /* the one being collected */
    size_t comment_behind; /* it stands behind so many moves */
    bool broken;           /* moves are no longer read */
    bool full;             /* the arena is */
    bool line_start;       /* nothing but blanks since the last line end */
    bool ended;
} Parse;

__attribute__((format(printf, 3, 4))) static void add_fault(Parse *parse, int line, const char *format, ...) {
    PgnGame *game = parse->game;
    if (game->fault_count < PGN_FAULTS_MAX) {
        PgnFault *fault = &game->faults[game->fault_count];
        *fault = (PgnFault){ .line = line };
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(fault->text, sizeof fault->text, format, arguments);
        va_end(arguments);
        if (!utf8_valid(fault->text, strlen(fault->text))) /* a cut letter, or Latin-1 */
            for (char *byte = fault->text; *byte != 0; byte++)
                if ((unsigned char)*byte >= 0x80)
                    *byte = '?';
    }
    game->fault_count++;
}

static void out_of_memory(Parse *parse) {
    if (!parse->full)
        add_fault(parse, parse->reader->line, "The game is too large; the rest of it is left out.");
    parse->broken = true;
    parse->full = true;
}

/* --- characters --- */

static int peek(const PgnReader *reader) {
    return reader->at < reader->length ? (unsigned char)reader->text[reader->at] : -1;
}

static int take(PgnReader *reader) {
    int byte = peek(reader);
    if (byte >= 0)
        reader->at++;
    if (byte == '\n')
        reader->line++;
    return byte;
}

static bool blank(int byte) {
    return (byte >= 0 && byte <= ' ') || byte == 0x7f; /* NUL and 0x1A too */
}

static void skip_line(PgnReader *reader) {
    const char *end = memchr(reader->text + reader->at, '\n', reader->length - reader->at);
    reader->at = end == NULL ? reader->length : (size_t)(end - reader->text);
}

/* Blanks and lines with % before them; keeps line_start true to what was passed. */
static void skip_blanks(Parse *parse) {
    PgnReader *reader = parse->reader;
    for (;;) {
        int byte = peek(reader);
        if (blank(byte)) {
            take(reader);
            parse->line_start |= byte == '\n';
        } else if (byte == '%' && (reader->at == 0 || reader->text[reader->at - 1] == '\n')) {
            skip_line(reader);
        } else {
            return;
        }
    }
}

/* --- texts --- */

static bool grow(Parse *parse, Growing *text, size_t more) {
    if (text->length + more + 1 <= text->capacity)
        return true;
    size_t capacity = text->capacity < 64 ? 64 : 2 * text->capacity;
    while (capacity < text->length + more + 1)
        capacity *= 2;
    char *data = arena_alloc(parse->arena, capacity);
    if (data == NULL) {
        out_of_memory(parse);
        return false;
    }
    if (text->length > 0)
        memcpy(data, text->data, text->length);
    data[text->length] = 0;
    text->data = data;
    text->capacity = capacity;
    return true;
}

/* Appends a byte as Latin-1: what is no UTF-8 was written by an old program. */
static void append_latin1(Growing *text, unsigned char byte) {
    text->data[text->length++] = (char)(0xc0 | byte >> 6);
    text->data[text->length++] = (char)(0x80 | (byte & 0x3f));
}

/* One line of well-formed UTF-8 with single blanks; false if memory is out. */
static bool append_text(Parse *parse, Growing *text, const char *bytes, size_t length) {
    if (length > COMMENT_MAX)
        length = COMMENT_MAX;
    if (text->length > COMMENT_MAX)
        return true;
    if (!grow(parse, text, 2 * length))
        return false;
    for (size_t at = 0; at < length;) {
        uint32_t point;
        int size = utf8_next(bytes + at, length - at, &point);
        if (size == 0) {
            append_latin1(text, (unsigned char)bytes[at++]);
            continue;
        }
        if (blank((unsigned char)bytes[at])) {
            if (text->length > 0 && text->data[text->length - 1] != ' ')
                text->data[text->length++] = ' ';
        } else {
            memcpy(text->data + text->length, bytes + at, (size_t)size);
            text->length += (size_t)size;
        }
        at += (size_t)size;
    }
    text->data[text->length] = 0;
    return true;
}

static void trim_end(Growing *text) {
    while (text->length > 0 && text->data[text->length - 1] == ' ')
        text->data[--text->length] = 0;
}

/* --- comments --- */

static void add_comment(Parse *parse, const char *bytes, size_t length) {
    PgnGame *game = parse->game;
    Growing *text = &parse->comment;
    if (parse->comment_behind != game->move_count || text->data == NULL) {
        *text = (Growing){ 0 };
        parse->comment_behind = game->move_count;
    }
    if (text->length > 0 && !append_text(parse, text, " ", 1))
        return;
    if (!append_text(parse, text, bytes, length))
        return;
    trim_end(text);
    if (text->length == 0)
        return;
    if (game->move_count == 0)
        game->comment = text->data;
    else
        game->comments[game->move_count - 1] = text->data;
}

/* The reader stands at {. `keep` is false in variations. */
static void read_brace(Parse *parse, bool keep) {
    PgnReader *reader = parse->reader;
    int line = reader->line;
    size_t begin = reader->at + 1;
    const char *end = reader->no_brace_ahead ? NULL : memchr(reader->text + begin, '}', reader->length - begin);
    if (end == NULL) {
        reader->no_brace_ahead = true;
        add_fault(parse, line, "A comment opened here with { is never closed.");
        parse->broken = true;
        skip_line(reader);
        return;
    }
    size_t behind = (size_t)(end - reader->text) + 1;
    while (reader->at < behind)
        take(reader);
    if (keep && !parse->broken)
        add_comment(parse, reader->text + begin, behind - 1 - begin);
}

/* The reader stands at a semicolon. */
static void read_semicolon(Parse *parse, bool keep) {
    PgnReader *reader = parse->reader;
    size_t begin = reader->at + 1;
    skip_line(reader);
    if (keep && !parse->broken)
        add_comment(parse, reader->text + begin, reader->at - begin);
}

/* --- tags --- */

const char *pgn_tag(const PgnGame *game, const char *name) {
    for (size_t i = 0; i < game->tag_count; i++)
        if (text_equal_nocase(game->tags[i].name, name))
            return game->tags[i].value;
    return NULL;
}

static bool name_byte(int byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9')
        || byte == '_' || byte == '-' || byte == '+' || byte == '#' || byte == '=' || byte == ':';
}

static void add_tag(Parse *parse, const char *name, const char *value) {
    PgnGame *game = parse->game;
    if (game->tag_count == PGN_TAGS_MAX) {
        add_fault(parse, parse->reader->line, "The game has more than %d tags.", PGN_TAGS_MAX);
        return;
    }
    if (game->tag_count == parse->tag_capacity) {
        size_t capacity = parse->tag_capacity == 0 ? 16 : 2 * parse->tag_capacity;
        PgnTag *tags = arena_alloc(parse->arena, capacity * sizeof *tags);
        if (tags == NULL) {
            out_of_memory(parse);
            return;
        }
        if (game->tag_count > 0)
            memcpy(tags, game->tags, game->tag_count * sizeof *tags);
        game->tags = tags;
        parse->tag_capacity = capacity;
    }
    game->tags[game->tag_count++] = (PgnTag){ name, value };
}

static void skip_spaces(PgnReader *reader) {
    while (peek(reader) == ' ' || peek(reader) == '\t')
        reader->at++;
}

/* "value" with \" and \\; NULL if it is not closed on this line. */
static const char *read_value(Parse *parse) {
    PgnReader *reader = parse->reader;
    Growing raw = { 0 }, text = { 0 };
    if (!grow(parse, &text, 0) || peek(reader) != '"')
        return NULL;
    reader->at++;
    for (;;) {
        int byte = peek(reader);
        if (byte < 0 || byte == '\n')
            return NULL;
        reader->at++;
        if (byte == '"')
            break;
        int next = peek(reader);
        if (byte == '\\' && (next == '"' || next == '\\')) {
            byte = next;
            reader->at++;
        }
        if (raw.length > COMMENT_MAX || !grow(parse, &raw, 1))
            return NULL;
        raw.data[raw.length++] = (char)byte;
    }
    if (raw.length > 0 && !append_text(parse, &text, raw.data, raw.length))
        return NULL;
    trim_end(&text);
    return text.data;
}

/* The reader stands at [. False where the tag belongs to the next game; nothing is read then. */
static bool read_tag(Parse *parse, bool after_gap) {
    PgnReader *reader = parse->reader;
    size_t opening = reader->at;
    int line = reader->line;
    reader->at++;
    skip_spaces(reader);
    size_t begin = reader->at;
    while (name_byte(peek(reader)))
        reader->at++;
    char *name = arena_copy(parse->arena, reader->text + begin, reader->at - begin);
    if (name == NULL) {
        out_of_memory(parse);
        skip_line(reader);
        return true;
    }
    /* Tags without moves or result, then the tags of another game. */
    if (pgn_tag(parse->game, name) != NULL && (after_gap || text_equal_nocase(name, "Event"))) {
        reader->at = opening;
        return false;
    }
    skip_spaces(reader);
    const char *value = name[0] == 0 ? NULL : read_value(parse);
    skip_spaces(reader);
    if (parse->full) {
        skip_line(reader);
        return true;
    }
    if (value == NULL || peek(reader) != ']') {
        add_fault(parse, line, "The tag %.60s is not written as [Name \"value\"], with \\\" for a quotation mark in it.",
                  name);
        skip_line(reader);
        return true;
    }
    reader->at++;
    add_tag(parse, name, value);
    return true;
}

/* False if the next game's tags begin before any moves of this one. */
static bool read_tags(Parse *parse) {
    PgnReader *reader = parse->reader;
    int last_line = reader->line;
    while (!parse->ended) {
        parse->line_start = reader->at == 0 || reader->text[reader->at - 1] == '\n';
        skip_blanks(parse);
        int byte = peek(reader);
        if (byte == ';' && parse->game->tag_count > 0)
            return true; /* a comment before the first move */
        if (byte == ';') {
            read_semicolon(parse, true);
            continue;
        }
        if (byte != '[')
            return true;
        if (parse->game->tag_count == 0 && parse->game->fault_count == 0)
            parse->game->line = reader->line;
        if (!read_tag(parse, reader->line > last_line + 1))
            return false;
        last_line = reader->line;
    }
    return true;
}

static void set_start(Parse *parse) {
    PgnGame *game = parse->game;
    const char *fen = pgn_tag(game, "FEN"), *variant = pgn_tag(game, "Variant");
    bool chess960 = variant != NULL && (strstr(variant, "960") != NULL || text_starts_nocase(variant, "fischer"));
    position_start(&game->start);
    if (fen != NULL) {
        Error error;
        if (!fen_read(fen, chess960 ? FEN_CHESS960 : 0, &game->start, &error)) {
            add_fault(parse, game->line, "The FEN tag is no position: %.140s", error.text);
            parse->broken = true;
        }
    } else {
        game->start.chess960 = chess960;
    }
    parse->position = game->start;
}

/* --- moves --- */

static bool reserve_move(Parse *parse) {
    PgnGame *game = parse->game;
    if (game->move_count < parse->move_capacity)
        return true;
    size_t capacity = parse->move_capacity == 0 ? 128 : 2 * parse->move_capacity;
    Move *moves = arena_alloc(parse->arena, capacity * sizeof *moves);
    const char **comments = arena_alloc(parse->arena, capacity * sizeof *comments);
    if (moves == NULL || comments == NULL) {
        out_of_memory(parse);
        return false;
    }
    if (game->move_count > 0) {
        memcpy(moves, game->moves, game->move_count * sizeof *moves);
        memcpy(comments, game->comments, game->move_count * sizeof *comments);
    }
    game->moves = moves;
    game->comments = comments;
    parse->move_capacity = capacity;
    return true;
}

static void refuse_move(Parse *parse, const char *word, const Reading *reading) {
    Str why;
    str_init(&why, sizeof parse->game->faults[0].text);
    notation_explain(&why, &parse->position, reading);
    size_t index = parse->game->fault_count;
    int number = position_fullmove(&parse->position);
    bool black = position_turn(&parse->position) == BLACK;
    add_fault(parse, parse->reader->line, "Move %d of %s, %.64s, %s.", number, black ? "Black" : "White", word, why.data);
    str_free(&why);
    if (index < PGN_FAULTS_MAX) {
        parse->game->faults[index].move = number;
        parse->game->faults[index].black = black;
    }
    parse->broken = true;
}

static void read_move(Parse *parse, const char *word) {
    if (parse->broken)
        return;
    if (parse->game->move_count == PGN_PLIES_MAX) {
        add_fault(parse, parse->reader->line, "The game has more than %d plies.", PGN_PLIES_MAX);
        parse->broken = true;
        return;
    }
    Reading reading;
    notation_read(&parse->position, word, 0, &reading);
    if (reading.kind != READING_MOVE) {
        refuse_move(parse, word, &reading);
        return;
    }
    if (!reserve_move(parse))
        return;
    parse->game->moves[parse->game->move_count++] = reading.move;
    position_move(&parse->position, &parse->position, reading.move);
}

/* "12." "12..." off the front; a word of digits is a number without its dot. */
static const char *behind_number(const char *word) {
    size_t digits = strspn(word, "0123456789");
    if (digits > 0 && word[digits] != '.' && word[digits] != 0 && strncmp(word + digits, "\xe2\x80\xa6", 3) != 0)
        return word;
    word += digits;
    while (*word == '.' || strncmp(word, "\xe2\x80\xa6", 3) == 0)
        word += *word == '.' ? 1 : 3;
    return word;
}

static const char *result_of(const char *word) {
    static const char *const spellings[][2] = {
        { "1-0", "1-0" }, { "0-1", "0-1" }, { "1/2-1/2", "1/2-1/2" }, { "1/2", "1/2-1/2" }, { "*", "*" },
        { "\xc2\xbd-\xc2\xbd", "1/2-1/2" }, { "\xc2\xbd", "1/2-1/2" },
    };
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
        if (strcmp(word, spellings[i][0]) == 0)
            return spellings[i][1];
    return NULL;
}

static void read_word(Parse *parse, bool in_variation) {
    PgnReader *reader = parse->reader;
    char word[TOKEN_MAX + 1];
    size_t length = 0;
    while (peek(reader) >= 0 && !blank(peek(reader)) && strchr("{}()[];$", peek(reader)) == NULL) {
        int byte = take(reader);
        if (length < TOKEN_MAX)
            word[length++] = (char)byte;
        if (byte == '*' && length == 1)
            break;
    }
    word[length] = 0;
    if (in_variation)
        return;
    parse->game->result = result_of(word);
    if (parse->game->result != NULL) {
        parse->ended = true;
        return;
    }
    parse->game->result = "";
    const char *move = behind_number(word);
    /* Assessments without NAG (!?, +-, =, e.p.) say nothing about the moves. */
    bool null_move = strcmp(move, "--") == 0;
    if ((move[strspn(move, "!?+-=/#~.")] == 0 && !null_move) || text_equal_nocase(move, "e.p.") || text_equal_nocase(move, "ep"))
        return;
    read_move(parse, move);
}

static void read_nag(PgnReader *reader) {
    reader->at++;
    while (peek(reader) >= '0' && peek(reader) <= '9')
        reader->at++;
}

static void read_movetext(Parse *parse) {
    PgnReader *reader = parse->reader;
    size_t depth = 0;
    parse->line_start = reader->at == 0 || reader->text[reader->at - 1] == '\n';
    while (!parse->ended) {
        skip_blanks(parse);
        int byte = peek(reader);
        bool line_start = parse->line_start;
        parse->line_start = false;
        switch (byte) {
        case -1: parse->ended = true; break;
        case '{': read_brace(parse, depth == 0); break;
        case ';': read_semicolon(parse, depth == 0); break;
        case '$': read_nag(reader); break;
        case '(':
            depth++;
            reader->at++;
            break;
        case ')':
            if (depth == 0)
                add_fault(parse, reader->line, "A ) closes no variation.");
            depth -= depth > 0;
            reader->at++;
            break;
        case '[':
            parse->ended = line_start;
            reader->at += !line_start;
            break;
        case '}':
        case ']': reader->at++; break;
        default: read_word(parse, depth > 0);
        }
    }
    if (depth > 0)
        add_fault(parse, reader->line, "A variation opened with ( is never closed.");
}

void pgn_begin(PgnReader *reader, const char *text, size_t length) {
    bool mark = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    size_t skipped = mark ? 3 : 0;
    *reader = (PgnReader){ .text = text + skipped, .length = length - skipped, .line = 1 };
}

bool pgn_next(PgnReader *reader, Arena *arena, PgnGame *ret) {
    for (;;) {
        *ret = (PgnGame){ .line = reader->line, .result = "" };
        Parse parse = { .reader = reader, .arena = arena, .game = ret };
        size_t begin = reader->at;
        bool own_moves = read_tags(&parse);
        set_start(&parse);
        if (ret->tag_count == 0)
            ret->line = reader->line;
        if (own_moves)
            read_movetext(&parse);
        if (ret->tag_count > 0 || ret->move_count > 0 || ret->fault_count > 0 || ret->result[0] != 0)
            return true;
        if (reader->at >= reader->length || reader->at == begin)
            return false;
    }
}
