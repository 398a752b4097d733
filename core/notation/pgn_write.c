#include "core/notation/pgn.h"

#include "core/chess/fen.h"
#include "core/chess/movegen.h"
#include "core/notation/notation.h"

#include <stdio.h>
#include <string.h>

enum { LINE_MAX_LENGTH = 79 }; /* PGN 4.3: lines of fewer than 80 columns */

static const char *const roster[7] = { "Event", "Site", "Date", "Round", "White", "Black", "Result" };

static const char *find(const PgnTag *tags, size_t count, const char *name) {
    for (size_t i = 0; i < count; i++)
        if (text_equal_nocase(tags[i].name, name))
            return tags[i].value;
    return NULL;
}

static bool name_good(const char *name) {
    size_t good = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    return name[0] != 0 && name[good] == 0;
}

static void write_tag(Str *out, const char *name, const char *value) {
    str_append_char(out, '[');
    str_append(out, name);
    str_append(out, " \"");
    for (; *value != 0; value++) {
        if (*value == '"' || *value == '\\')
            str_append_char(out, '\\');
        str_append_char(out, (unsigned char)*value < ' ' ? ' ' : *value);
    }
    str_append(out, "\"]\n");
}

static void write_roster(Str *out, const PgnTag *tags, size_t count, const char *result) {
    for (size_t i = 0; i < 7; i++) {
        const char *value = i == 6 ? result : find(tags, count, roster[i]);
        write_tag(out, roster[i], value != NULL ? value : i == 2 ? "????.??.??" : "?");
    }
}

static bool set_by_us(const char *name) {
    for (size_t i = 0; i < 7; i++)
        if (text_equal_nocase(name, roster[i]))
            return true;
    return text_equal_nocase(name, "FEN") || text_equal_nocase(name, "SetUp");
}

static void consider(const char *name, const char *value, const char *after, PgnTag *best) {
    if (strcmp(name, after) > 0 && (best->name == NULL || strcmp(name, best->name) < 0))
        *best = (PgnTag){ name, value };
}

/* The other tags in the order of ASCII (PGN 8.1.1), each name once. */
static void write_others(Str *out, const PgnTag *tags, size_t count, const char *fen) {
    const char *after = "";
    for (;;) {
        PgnTag best = { NULL, NULL };
        for (size_t i = 0; i < count; i++)
            if (!set_by_us(tags[i].name))
                consider(tags[i].name, tags[i].value, after, &best);
        if (fen != NULL) {
            consider("FEN", fen, after, &best);
            consider("SetUp", "1", after, &best);
        }
        if (best.name == NULL)
            return;
        write_tag(out, best.name, best.value);
        after = best.name;
    }
}

/* Writes words with a blank between them, a new line where the next would not fit. */
typedef struct Lines {
    Str *out;
    size_t column;
} Lines;

static void put_word(Lines *lines, const char *word, size_t length) {
    if (lines->column > 0) {
        bool fits = lines->column + 1 + length <= LINE_MAX_LENGTH;
        str_append_char(lines->out, fits ? ' ' : '\n');
        lines->column = fits ? lines->column + 1 : 0;
    }
    /* A line that begins with % would not be read. */
    if (lines->column == 0 && word[0] == '%') {
        str_append_char(lines->out, ' ');
        lines->column = 1;
    }
    str_append_bytes(lines->out, word, length);
    lines->column += length;
}

static bool blank(char byte) {
    return (unsigned char)byte <= ' ';
}

/* {the words of it}; braces stick to the first and the last word. */
static void put_comment(Lines *lines, const char *text) {
    Str word;
    bool first = true;
    str_init(&word, lines->out->maximum);
    for (;;) {
        while (*text != 0 && blank(*text))
            text++;
        if (*text == 0)
            break;
        if (word.length > 0)
            put_word(lines, word.data, word.length);
        str_clear(&word);
        if (first)
            str_append_char(&word, '{');
        first = false;
        for (; *text != 0 && !blank(*text); text++)
            str_append_char(&word, *text == '}' ? ')' : *text);
    }
    if (!first) {
        str_append_char(&word, '}');
        put_word(lines, word.data, word.length);
    }
    lines->out->overflowed |= word.overflowed;
    str_free(&word);
}

static void put_number(Lines *lines, const Position *position) {
    char number[24];
    int length = snprintf(number, sizeof number, "%d%s", position_fullmove(position),
                          position_turn(position) == WHITE ? "." : "...");
    put_word(lines, number, (size_t)length);
}

static bool put_moves(Lines *lines, const Position *start, const Move *moves, size_t count,
                      const char *const *comments) {
    Position position = *start;
    bool number_due = true;
    for (size_t i = 0; i < count; i++) {
        if (!move_is_legal(&position, moves[i]))
            return false;
        if (number_due || position_turn(&position) == WHITE)
            put_number(lines, &position);
        char san[NOTATION_MAX];
        notation_write(&position, moves[i], NOTATION_SAN, san);
        put_word(lines, san, strlen(san));
        const char *comment = comments == NULL ? NULL : comments[i];
        number_due = comment != NULL && !text_blank(comment);
        if (number_due)
            put_comment(lines, comment);
        position_move(&position, &position, moves[i]);
    }
    return true;
}

bool pgn_write(Str *out, const PgnTag *tags, size_t tag_count, const Position *start, const Move *moves,
               size_t move_count, const char *const *comments, const char *result) {
    for (size_t i = 0; i < tag_count; i++)
        if (!name_good(tags[i].name))
            return false;
    Position standard;
    char fen[FEN_MAX];
    position_start(&standard);
    fen_write(start, 0, fen);
    bool usual = position_same(start, &standard) && !start->chess960 && start->fullmove == 1 && start->halfmove == 0;
    write_roster(out, tags, tag_count, result);
    write_others(out, tags, tag_count, usual ? NULL : fen);
    str_append_char(out, '\n');
    Lines lines = { out, 0 };
    if (!put_moves(&lines, start, moves, move_count, comments))
        return false;
    put_word(&lines, result, strlen(result));
    str_append(out, "\n\n");
    return !out->overflowed;
}
