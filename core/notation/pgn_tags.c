#include "core/chess/fen.h"
#include "core/notation/pgn_parse.h"

#include <string.h>

enum { BLANKS_MAX = 16, NAME_MAX = 64 };

const char *pgn_tag(const PgnGame *game, const char *name) {
    for (size_t i = 0; i < game->tag_count; i++)
        if (text_equal_nocase(game->tags[i].name, name))
            return game->tags[i].value;
    return NULL;
}

static bool name_byte(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') || byte == '_' || byte == '-'
        || byte == '+' || byte == '#' || byte == '=' || byte == ':';
}

static void add_tag(PgnParse *parse, const char *name, const char *value) {
    PgnGame *game = parse->game;
    if (game->tag_count == PGN_TAGS_MAX) {
        pgn_fault(parse, PGN_FAULT_TAG, parse->reader->line, "The game has more than %d tags.", PGN_TAGS_MAX);
        return;
    }
    void *tags = parse->tags;
    if (!pgn_reserve(parse, &tags, sizeof *parse->tags, game->tag_count, &parse->tag_capacity))
        return;
    parse->tags = tags;
    game->tags = parse->tags;
    parse->tags[game->tag_count++] = (PgnTag){ name, value };
}

/* Nearly all tags: [Name "value"] of plain bytes, one blank, all of it in sight. Behind it, or NULL: nothing was done then. */
static const char *plain_tag(PgnParse *parse, const char *name, size_t name_length) {
    const PgnReader *reader = parse->reader;
    const char *value = name + name_length, *behind;
    if (name_length == 0 || value[0] != ' ' || value[1] != '"')
        return NULL;
    value += 2;
    for (behind = value; behind < reader->end && *behind >= ' ' && *behind != '"' && *behind != '\\' && *behind != 0x7f;)
        behind++;
    size_t value_length = (size_t)(behind - value);
    if (behind + 1 >= reader->end || behind[0] != '"' || behind[1] != ']' || value_length > PGN_COMMENT_MAX)
        return NULL;
    char *copy = arena_alloc(parse->arena, name_length + value_length + 2); /* zeroed */
    if (copy == NULL)
        return NULL;
    memcpy(copy, name, name_length);
    memcpy(copy + name_length + 1, value, value_length);
    add_tag(parse, copy, copy + name_length + 1);
    return behind + 2;
}

static void skip_spaces(PgnReader *reader) {
    while (pgn_more(reader) && (*reader->at == ' ' || *reader->at == '\t'))
        reader->at++;
}

/* "value" with \" and \\ into parse->raw; false if it is not closed on this line. */
static bool collect_value(PgnParse *parse) {
    PgnReader *reader = parse->reader;
    parse->raw.length = 0;
    if (!pgn_more(reader) || *reader->at != '"')
        return false;
    for (reader->at++; pgn_more(reader) && pgn_bytes[(unsigned char)*reader->at] != PGN_BYTE_LINE; reader->at++) {
        if (*reader->at == '"') {
            reader->at++;
            return true;
        }
        reader->at += reader->at[0] == '\\' && (reader->at[1] == '"' || reader->at[1] == '\\');
        pgn_collect(parse, reader->at, 1);
    }
    return false;
}

static void read_tag_slowly(PgnParse *parse, const char *name_at, size_t name_length) {
    PgnReader *reader = parse->reader;
    int64_t line = reader->line;
    const char *name = arena_copy(parse->arena, name_at, name_length);
    reader->at = name_at + name_length;
    skip_spaces(reader);
    bool good = name_length > 0 && collect_value(parse);
    const char *value = good && name != NULL ? pgn_collected(parse, false) : NULL;
    if (name == NULL)
        pgn_out_of_memory(parse);
    skip_spaces(reader);
    if (good && pgn_more(reader) && *reader->at == ']') {
        reader->at++;
        if (value != NULL)
            add_tag(parse, name, value);
        return;
    }
    if (!parse->full)
        pgn_fault(parse, PGN_FAULT_TAG, line, "The tag %.60s is not written as [Name \"value\"], with \\\" for a quotation mark in it.", name);
    pgn_skip_line(reader);
}

/* The reader stands at [. False where the tag belongs to the next game; nothing is read then. */
static bool read_tag(PgnParse *parse, bool after_gap) {
    PgnReader *reader = parse->reader;
    const char *name = reader->at + 1;
    for (int i = 0; i < BLANKS_MAX && (*name == ' ' || *name == '\t'); i++)
        name++;
    size_t length = 0;
    while (length < NAME_MAX && name_byte(name[length]))
        length++;
    bool event = length == 5 && text_starts_nocase(name, "Event");
    /* Tags without moves or result, then the tags of another game. */
    if (parse->game->tag_count > 0 && (after_gap || event)) {
        char copy[NAME_MAX + 1];
        memcpy(copy, name, length);
        copy[length] = 0;
        reader->work += parse->game->tag_count;
        if (pgn_tag(parse->game, copy) != NULL)
            return false;
    }
    const char *behind = plain_tag(parse, name, length);
    if (behind != NULL)
        reader->at = behind;
    else
        read_tag_slowly(parse, name, length);
    return true;
}

bool pgn_read_tags(PgnParse *parse) {
    PgnReader *reader = parse->reader;
    PgnGame *game = parse->game;
    int64_t last_line = INT64_MAX - 1;
    for (;;) {
        pgn_skip_blanks(reader);
        if (game->tag_count == 0 && game->fault_count == 0)
            game->line = reader->line;
        if (!pgn_more(reader) || *reader->at != '[')
            return true;
        if (!read_tag(parse, reader->line > last_line + 1))
            return false;
        last_line = reader->line;
    }
}

/* --- what the tags say of the start --- */

typedef enum Rules { RULES_STANDARD, RULES_CHESS960, RULES_UNKNOWN } Rules;

bool pgn_variant_is_chess960(const char *variant) {
    return strstr(variant, "960") != NULL || text_starts_nocase(variant, "fischer") || text_equal_nocase(variant, "frc")
        || text_starts_nocase(variant, "freestyle");
}

static Rules rules_of(const char *variant) {
    static const char *const standard[] = { "", "?", "-", "chess", "standard", "normal", "regular", "classical", "orthodox",
                                            "standard chess", "from position" };
    if (variant == NULL)
        return RULES_STANDARD;
    if (pgn_variant_is_chess960(variant))
        return RULES_CHESS960;
    for (size_t i = 0; i < sizeof standard / sizeof standard[0]; i++)
        if (text_equal_nocase(variant, standard[i]))
            return RULES_STANDARD;
    return RULES_UNKNOWN;
}

void pgn_set_start(PgnParse *parse) {
    PgnGame *game = parse->game;
    const char *fen = pgn_tag(game, "FEN");
    Rules rules = rules_of(pgn_tag(game, "Variant"));
    Error error;
    game->start = parse->reader->standard;
    game->start.chess960 = rules == RULES_CHESS960;
    game->unchecked = rules == RULES_UNKNOWN;
    if (game->unchecked) {
        parse->broken = true;
    } else if (fen != NULL && !fen_read(fen, rules == RULES_CHESS960 ? FEN_CHESS960 : 0, &game->start, &error)) {
        pgn_fault(parse, PGN_FAULT_FEN, game->line, "The FEN tag is no position: %.140s", error.text);
        parse->broken = true;
    }
    game->end = game->start;
}
