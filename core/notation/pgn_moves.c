#include "core/notation/explain.h"
#include "core/notation/notation.h"
#include "core/notation/pgn_parse.h"
#include "core/notation/san.h"

#include <string.h>

enum { TOKEN_MAX = 64 }; /* no move with its marks is longer */

static Position *position_now(PgnParse *parse) {
    return parse->depth > 0 ? &parse->frames[parse->depth - 1].now : &parse->game->end;
}

/* --- moves taken --- */

static bool more_moves(PgnParse *parse) {
    PgnGame *game = parse->game;
    void *moves = parse->moves;
    if (game->move_count == PGN_PLIES_MAX) {
        pgn_fault(parse, PGN_FAULT_SIZE, parse->reader->line, "The game has more than %d plies.", PGN_PLIES_MAX);
        parse->broken = true;
        return false;
    }
    if (!pgn_reserve(parse, &moves, sizeof *parse->moves, game->move_count, &parse->move_capacity))
        return false;
    parse->moves = moves;
    game->moves = parse->moves;
    if (parse->move_capacity > PGN_PLIES_MAX)
        parse->move_capacity = PGN_PLIES_MAX;
    return true;
}

static inline bool take_main(PgnParse *parse, Move move) {
    PgnGame *game = parse->game;
    if (game->move_count == parse->move_capacity && !more_moves(parse))
        return false;
    if (parse->reader->flags & PGN_KEEP_VARIATIONS)
        parse->before = game->end;
    parse->moves[game->move_count++] = move;
    position_move(&game->end, &game->end, move);
    return true;
}

/* The turn passes to the other side, who was not in check. */
void pgn_pass_turn(Position *position) {
    position->fullmove += position->turn == BLACK;
    position->halfmove = (uint16_t)(position->halfmove < UINT16_MAX ? position->halfmove + 1 : UINT16_MAX);
    position->turn = position->turn == BLACK ? WHITE : BLACK;
    position->en_passant = NO_SQUARE;
    position_settle(position);
}

/* Passes the turn (MOVE_NONE) or moves, in a variation. */
static void take_in_variation(PgnParse *parse, Move move) {
    PgnFrame *frame = &parse->frames[parse->depth - 1];
    frame->before = frame->now;
    pgn_add_note(parse, PGN_NOTE_MOVE, 0, move, NULL);
    if (move == MOVE_NONE)
        pgn_pass_turn(&frame->now);
    else
        position_move(&frame->now, &frame->now, move);
}

static void refuse(PgnParse *parse, const char *word, const char *why) {
    PgnGame *game = parse->game;
    const Position *position = position_now(parse);
    bool black = position_turn(position) == BLACK, aside = parse->depth > 0;
    size_t index = game->fault_count;
    pgn_fault(parse, aside ? PGN_FAULT_VARIATION : PGN_FAULT_MOVE, parse->reader->line, "%s %d of %s, %.40s, %s.",
              aside ? "In a variation, move" : "Move", position_fullmove(position), black ? "Black" : "White", word, why);
    if (game->fault_count > index && game->faults[index].kind != PGN_FAULT_MORE) {
        game->faults[index].move = position_fullmove(position);
        game->faults[index].black = black;
    }
    if (aside)
        parse->frames[parse->depth - 1].broken = true;
    else
        parse->broken = true;
}

/* --- words --- */

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
        { "1-0", "1-0" },         { "0-1", "0-1" },         { "1/2-1/2", "1/2-1/2" },
        { "1/2", "1/2-1/2" },     { "*", "*" },             { "1:0", "1-0" },
        { "0:1", "0-1" },         { "1/2:1/2", "1/2-1/2" }, { "\xc2\xbd-\xc2\xbd", "1/2-1/2" },
        { "\xc2\xbd", "1/2-1/2" }, { "1\xe2\x80\x93" "0", "1-0" }, { "0\xe2\x80\x93" "1", "0-1" },
    };
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
        if (strcmp(word, spellings[i][0]) == 0)
            return spellings[i][1];
    return NULL;
}

static bool null_move(const char *word) {
    return strcmp(word, "--") == 0 || strcmp(word, "Z0") == 0 || strcmp(word, "@@@@") == 0;
}

/* A word up to TOKEN_MAX bytes of it; its whole length. */
static size_t read_bytes(PgnReader *reader, char word[TOKEN_MAX + 1]) {
    size_t length = 0;
    while (pgn_more(reader)) {
        unsigned char byte = (unsigned char)*reader->at;
        uint8_t kind = pgn_bytes[byte];
        if (kind == PGN_BYTE_LINE || kind == PGN_BYTE_OTHER || (kind == PGN_BYTE_BLANK && byte != '.')
            || (byte >= 0x80 && pgn_wide_blank(reader->at) > 0))
            break;
        if (length < TOKEN_MAX)
            word[length] = (char)byte;
        length++;
        reader->at++;
        if (byte == '*' && length == 1)
            break;
    }
    word[length < TOKEN_MAX ? length : TOKEN_MAX] = 0;
    return length;
}

static bool out_of_work(PgnParse *parse) {
    PgnReader *reader = parse->reader;
    uint64_t work = reader->work + (uint64_t)(reader->at - reader->mark);
    if (reader->work_limit == 0 || work <= reader->work_limit)
        return false;
    pgn_stop(parse);
    return true;
}

static void read_move(PgnParse *parse, const char *word, size_t length) {
    char move[TOKEN_MAX + 1];
    Reading reading;
    bool in_variation = parse->depth > 0;
    if (null_move(word)) {
        if (in_variation && !position_in_check(position_now(parse)))
            take_in_variation(parse, MOVE_NONE);
        else
            refuse(parse, word, "passes the turn, which the rules do not allow");
        return;
    }
    size_t bare = pgn_bare_length(word, length);
    memcpy(move, word, bare);
    move[bare] = 0;
    parse->reader->work += PGN_WORK_READING;
    notation_read(position_now(parse), move, 0, &reading);
    if (reading.kind != READING_MOVE) {
        Str why;
        str_init(&why, sizeof parse->game->faults[0].text);
        if (reading.fault == FAULT_UNKNOWN_LETTER)
            str_append(&why, "begins with a letter that is no piece in English, whose K Q R B N PGN uses");
        else
            notation_explain(&why, position_now(parse), &reading);
        refuse(parse, word, why.data);
        str_free(&why);
        return;
    }
    if (in_variation)
        take_in_variation(parse, reading.move);
    else if (!take_main(parse, reading.move))
        return;
    pgn_add_marks(parse, word + bare, length - bare);
}

static void read_word(PgnParse *parse) {
    PgnReader *reader = parse->reader;
    char word[TOKEN_MAX + 1];
    size_t whole = read_bytes(reader, word);
    const char *result = result_of(word);
    reader->work += whole < TOKEN_MAX ? whole : TOKEN_MAX;
    if (result != NULL) {
        if (parse->depth > 0)
            return;
        parse->game->result = result;
        parse->game->result_line = reader->line;
        parse->ended = true;
        return;
    }
    bool broken = parse->depth > 0 ? parse->frames[parse->depth - 1].broken : parse->broken;
    const char *move = behind_number(word);
    size_t length = strlen(move);
    if (broken || length == 0 || out_of_work(parse) || text_equal_nocase(move, "e.p.") || text_equal_nocase(move, "ep"))
        return;
    if (whole > TOKEN_MAX)
        refuse(parse, move, "is too long for a move");
    else if (pgn_bare_length(move, length) == 0)
        pgn_add_marks(parse, move, length);
    else
        read_move(parse, move, length);
}

/* --- the main line --- */

/* What may stand directly behind a move. */
static inline bool ends_move(char byte) {
    uint8_t kind = pgn_bytes[(unsigned char)byte];
    return (kind == PGN_BYTE_BLANK && byte != '.') || kind == PGN_BYTE_LINE || kind == PGN_BYTE_OTHER || kind == PGN_BYTE_MARK;
}

/* "12." is a token by itself, so that what is glued behind it is what it would be anywhere else. Its length, 0 if none begins here. */
static inline size_t number_length(const char *at) {
    size_t length = 1;
    while (pgn_bytes[(unsigned char)at[length]] == PGN_BYTE_DIGIT && length < 8)
        length++;
    return at[length] == '.' ? length + 1 : 0;
}

/* Moves in export format, their numbers and single line ends: nearly all of nearly all files. Stops before anything else. */
static void read_plain(PgnParse *parse) {
    PgnReader *reader = parse->reader;
    PgnGame *game = parse->game;
    const char *at = reader->at;
    while (at < reader->safe) {
        switch (pgn_bytes[(unsigned char)*at]) {
        case PGN_BYTE_BLANK: at++; break;
        case PGN_BYTE_DIGIT: {
            size_t length = number_length(at);
            if (length == 0)
                goto other;
            at += length;
            break;
        }
        case PGN_BYTE_LINE: {
            uint8_t next = pgn_bytes[(unsigned char)at[1]];
            if (*at != '\n' || (next != PGN_BYTE_DIGIT && next != PGN_BYTE_SAN))
                goto other;
            reader->line_start = ++at;
            reader->line++;
            break;
        }
        case PGN_BYTE_SAN: {
            Move move;
            size_t length = san_read(&game->end, at, &move);
            if (length == 0 || !ends_move(at[length]) || !take_main(parse, move))
                goto other;
            at += length;
            break;
        }
        default: goto other;
        }
    }
other:
    reader->at = at;
}

bool pgn_pass_line(PgnReader *reader) {
    pgn_newline(reader);
    if (!pgn_more(reader))
        return false;
    if (*reader->at == '%') {
        pgn_skip_line(reader);
        return false;
    }
    while (pgn_more(reader) && (*reader->at == ' ' || *reader->at == '\t'))
        reader->at++;
    return pgn_more(reader) && *reader->at == '[' && pgn_tag_begins(reader->at);
}

static void read_other(PgnParse *parse) {
    PgnReader *reader = parse->reader;
    switch (*reader->at) {
    case '{':
    case ';': pgn_read_comment(parse, parse->depth == 0 || !parse->frames[parse->depth - 1].broken); return;
    case '$': pgn_read_nag(parse); return;
    case '(':
        if (reader->at[1] == '=' && reader->at[2] == ')') {
            pgn_add_note(parse, PGN_NOTE_COMMENT, 0, MOVE_NONE, "(=)");
            reader->at += 3;
        } else {
            pgn_open_variation(parse);
        }
        return;
    case ')':
        if (parse->depth > 0) {
            pgn_close_variation(parse);
            return;
        }
        if (!parse->broken) /* else it is a consequence */
            pgn_fault(parse, PGN_FAULT_VARIATION, reader->line, "A ) closes no variation.");
        break;
    case '}':
        if (!parse->broken)
            pgn_fault(parse, PGN_FAULT_COMMENT, reader->line, "A } closes no comment.");
        break;
    default: break; /* brackets in the midst of a line */
    }
    reader->at++;
}

void pgn_read_moves(PgnParse *parse) {
    PgnReader *reader = parse->reader;
    while (!parse->ended && pgn_more(reader)) {
        if (parse->depth == 0 && !parse->broken)
            read_plain(parse);
        if (parse->broken && parse->depth > 0) { /* the arena is full */
            size_t depth = parse->depth;
            pgn_abandon_variations(parse);
            pgn_skip_variations(parse, depth, parse->open_line);
        }
        if (parse->ended || !pgn_more(reader))
            break;
        unsigned char byte = (unsigned char)*reader->at;
        size_t wide = byte >= 0x80 ? pgn_wide_blank(reader->at) : 0;
        switch (pgn_bytes[byte]) {
        case PGN_BYTE_BLANK: reader->at++; break;
        case PGN_BYTE_LINE: parse->ended = pgn_pass_line(reader); break;
        case PGN_BYTE_OTHER: read_other(parse); break;
        case PGN_BYTE_DIGIT: {
            size_t number = number_length(reader->at);
            reader->at += number;
            if (number == 0)
                read_word(parse);
            break;
        }
        default:
            if (wide > 0)
                pgn_pass_wide_blank(reader, wide);
            else
                read_word(parse);
        }
    }
    if (parse->depth > 0) {
        pgn_abandon_variations(parse);
        pgn_fault(parse, PGN_FAULT_VARIATION, parse->open_line, "A variation opened here with ( is never closed.");
    }
}
