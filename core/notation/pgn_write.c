#include "core/notation/pgn.h"

#include "core/chess/fen.h"
#include "core/chess/movegen.h"
#include "core/notation/notation.h"
#include "core/notation/pgn_parse.h"

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
        str_append_char(out, (unsigned char)*value < ' ' || *value == 0x7f ? ' ' : *value);
    }
    str_append(out, "\"]\n");
}

static void write_roster(Str *out, const PgnTag *tags, size_t count, const char *result) {
    for (size_t i = 0; i < 7; i++) {
        const char *value = i == 6 ? result : find(tags, count, roster[i]);
        write_tag(out, roster[i], value != NULL ? value : i == 2 ? "????.??.??" : "?");
    }
}

/* What stands in the tags by the start position: NULL what does not. */
typedef struct Setting {
    const char *fen, *variant;
} Setting;

static bool set_by_us(const PgnTag *tag, const Setting *setting) {
    for (size_t i = 0; i < 7; i++)
        if (text_equal_nocase(tag->name, roster[i]))
            return true;
    if (text_equal_nocase(tag->name, "Variant"))
        return setting->variant != NULL || pgn_variant_is_chess960(tag->value);
    return text_equal_nocase(tag->name, "FEN") || text_equal_nocase(tag->name, "SetUp");
}

static void consider(const char *name, const char *value, const char *after, PgnTag *best) {
    if (value != NULL && strcmp(name, after) > 0 && (best->name == NULL || strcmp(name, best->name) < 0))
        *best = (PgnTag){ name, value };
}

/* The other tags in the order of ASCII (PGN 8.1.1), each name once. */
static void write_others(Str *out, const PgnTag *tags, size_t count, const Setting *setting) {
    const char *after = "";
    for (;;) {
        PgnTag best = { NULL, NULL };
        for (size_t i = 0; i < count; i++)
            if (!set_by_us(&tags[i], setting))
                consider(tags[i].name, tags[i].value, after, &best);
        consider("FEN", setting->fen, after, &best);
        consider("SetUp", setting->fen != NULL ? "1" : NULL, after, &best);
        consider("Variant", setting->variant, after, &best);
        if (best.name == NULL)
            return;
        write_tag(out, best.name, best.value);
        after = best.name;
    }
}

/* --- words on lines --- */

/* The last word waits for a bracket that may have to stick to it. */
typedef struct Lines {
    Str *out;
    Str word;
    size_t column;
} Lines;

static void flush_word(Lines *lines) {
    size_t length = lines->word.length;
    if (length == 0)
        return;
    if (lines->column > 0) {
        bool fits = lines->column + 1 + length <= LINE_MAX_LENGTH;
        str_append_char(lines->out, fits ? ' ' : '\n');
        lines->column = fits ? lines->column + 1 : 0;
    }
    /* A line that begins with % would not be read, one that begins with [ might be taken for a tag. */
    if (lines->column == 0 && (lines->word.data[0] == '%' || lines->word.data[0] == '[')) {
        str_append_char(lines->out, ' ');
        lines->column = 1;
    }
    str_append_bytes(lines->out, lines->word.data, length);
    lines->column += length;
    str_clear(&lines->word);
}

/* Begins a word behind the one before it; ( waits for the word it belongs to. */
static void begin_word(Lines *lines) {
    const Str *word = &lines->word;
    if (word->length > 0 && word->data[word->length - 1] != '(')
        flush_word(lines);
}

static void put_word(Lines *lines, const char *text) {
    begin_word(lines);
    str_append(&lines->word, text);
}

static bool blank(char byte) {
    return (unsigned char)byte <= ' ' || byte == 0x7f;
}

/* {the words of it}; braces stick to the first and the last word. False if there are none. */
static bool put_comment(Lines *lines, const char *text) {
    bool first = true;
    for (;;) {
        while (*text != 0 && blank(*text))
            text++;
        if (*text == 0)
            break;
        if (first)
            put_word(lines, "{");
        else
            flush_word(lines);
        first = false;
        for (; *text != 0 && !blank(*text); text++)
            str_append_char(&lines->word, *text == '}' ? ')' : *text);
    }
    if (!first)
        str_append_char(&lines->word, '}');
    return !first;
}

/* --- moves --- */

typedef struct Writing {
    Lines lines;
    const PgnGame *game;
    PgnFrame frames[PGN_NESTING_MAX];
    size_t depth;
    bool number_due; /* also of Black's moves */
} Writing;

static void put_number(Writing *writing, const Position *position) {
    char number[24];
    bool white = position_turn(position) == WHITE;
    if (white || writing->number_due) {
        snprintf(number, sizeof number, "%d%s", position_fullmove(position), white ? "." : "...");
        put_word(&writing->lines, number);
    }
    writing->number_due = false;
}

static bool put_move(Writing *writing, const Position *position, Move move) {
    char san[NOTATION_MAX];
    if (!move_is_legal(position, move))
        return false;
    put_number(writing, position);
    notation_write(position, move, NOTATION_SAN, san);
    put_word(&writing->lines, san);
    return true;
}

static bool put_variation_move(Writing *writing, Move move) {
    PgnFrame *frame = &writing->frames[writing->depth - 1];
    Position before = frame->now;
    if (move != MOVE_NONE) {
        if (!put_move(writing, &before, move))
            return false;
        position_move(&frame->now, &before, move);
    } else {
        if (position_in_check(&before))
            return false;
        put_number(writing, &before);
        put_word(&writing->lines, "--");
        pgn_pass_turn(&frame->now);
    }
    frame->before = before;
    return true;
}

/* `before`: of the main line, before its last move. */
static bool put_note(Writing *writing, const PgnNote *note, const Position *before) {
    char nag[8];
    switch (note->kind) {
    case PGN_NOTE_COMMENT: writing->number_due |= put_comment(&writing->lines, note->text == NULL ? "" : note->text); return true;
    case PGN_NOTE_NAG:
        snprintf(nag, sizeof nag, "$%d", note->number);
        put_word(&writing->lines, nag);
        return true;
    case PGN_NOTE_OPEN: {
        if (writing->depth == PGN_NESTING_MAX)
            return false;
        const Position *base = writing->depth > 0 ? &writing->frames[writing->depth - 1].before : before;
        writing->frames[writing->depth++] = (PgnFrame){ .before = *base, .now = *base };
        put_word(&writing->lines, "(");
        writing->number_due = true;
        return true;
    }
    case PGN_NOTE_MOVE: return writing->depth > 0 && put_variation_move(writing, note->move);
    case PGN_NOTE_CLOSE:
        if (writing->depth == 0)
            return false;
        writing->depth--;
        str_append_char(&writing->lines.word, ')');
        writing->number_due = true;
        return true;
    }
    return false;
}

static bool put_moves(Writing *writing) {
    const PgnGame *game = writing->game;
    Position before = game->start, now = game->start;
    writing->number_due = true;
    size_t at = 0;
    for (size_t i = 0; i <= game->move_count; i++) {
        for (; at < game->note_count && game->notes[at].ply == i; at++)
            if (!put_note(writing, &game->notes[at], &before))
                return false;
        if (writing->depth > 0)
            return false;
        if (i == game->move_count)
            break;
        if (!put_move(writing, &now, game->moves[i]))
            return false;
        before = now;
        position_move(&now, &now, game->moves[i]);
    }
    return at == game->note_count;
}

static const char *result_of(const PgnGame *game) {
    static const char *const results[] = { "1-0", "0-1", "1/2-1/2", "*" };
    if (game->result == NULL || game->result[0] == 0)
        return "*";
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        if (strcmp(game->result, results[i]) == 0)
            return results[i];
    return NULL;
}

bool pgn_write(Str *out, const PgnGame *game) {
    const char *result = result_of(game);
    if (result == NULL)
        return false;
    for (size_t i = 0; i < game->tag_count; i++)
        if (!name_good(game->tags[i].name))
            return false;
    Position standard;
    char fen[FEN_MAX];
    const Position *start = &game->start;
    position_start(&standard);
    fen_write(start, 0, fen);
    bool usual = position_same(start, &standard) && !start->chess960 && start->fullmove == 1 && start->halfmove == 0;
    const Setting setting = { usual ? NULL : fen, start->chess960 ? "Chess960" : NULL };
    write_roster(out, game->tags, game->tag_count, result);
    write_others(out, game->tags, game->tag_count, &setting);
    str_append_char(out, '\n');
    Writing writing = { .lines = { .out = out }, .game = game };
    str_init(&writing.lines.word, out->maximum);
    bool good = put_moves(&writing);
    put_word(&writing.lines, result);
    flush_word(&writing.lines);
    good &= !writing.lines.word.overflowed;
    str_free(&writing.lines.word);
    str_append(out, "\n\n");
    return good && !out->overflowed;
}
