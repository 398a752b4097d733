#include "core/base/utf8.h"
#include "core/notation/pgn_parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define BLANKS(from, to) [from ... to] = PGN_BYTE_BLANK

/* NUL, 0x1A and DEL are blanks too. */
__extension__ const uint8_t pgn_bytes[256] = {
    BLANKS(0, 9), ['\n'] = PGN_BYTE_LINE, BLANKS(11, 12), ['\r'] = PGN_BYTE_LINE, BLANKS(14, ' '), [0x7f] = PGN_BYTE_BLANK,
    ['.'] = PGN_BYTE_BLANK,
    ['0' ... '9'] = PGN_BYTE_DIGIT,
    ['a' ... 'h'] = PGN_BYTE_SAN, ['N'] = PGN_BYTE_SAN, ['B'] = PGN_BYTE_SAN, ['R'] = PGN_BYTE_SAN, ['Q'] = PGN_BYTE_SAN,
    ['K'] = PGN_BYTE_SAN, ['O'] = PGN_BYTE_SAN,
    ['!'] = PGN_BYTE_MARK, ['?'] = PGN_BYTE_MARK,
    ['{'] = PGN_BYTE_OTHER, ['}'] = PGN_BYTE_OTHER, ['('] = PGN_BYTE_OTHER, [')'] = PGN_BYTE_OTHER, ['['] = PGN_BYTE_OTHER,
    [']'] = PGN_BYTE_OTHER, [';'] = PGN_BYTE_OTHER, ['$'] = PGN_BYTE_OTHER,
};

/* --- bytes --- */

/* Puts what is left in front of `to`, which keeps the places right. */
static void move_rest(PgnReader *reader, char *to) {
    size_t left = (size_t)(reader->end - reader->at);
    reader->work += (size_t)(reader->at - reader->mark) + left;
    reader->line_start = reader->line_start == reader->at ? to : NULL;
    if (left > 0)
        memmove(to, reader->at, left);
    reader->at = reader->mark = to;
    reader->end = to + left;
}

static void drain(PgnReader *reader, char *behind, size_t room) {
    memset(behind, 0, room);
    reader->drained = true;
    reader->safe = reader->end;
}

bool pgn_refill(PgnReader *reader) {
    if (reader->drained)
        return reader->at < reader->end;
    if (reader->source == NULL) {
        move_rest(reader, reader->tail);
        size_t left = (size_t)(reader->end - reader->tail);
        drain(reader, reader->tail + left, sizeof reader->tail - left);
        return left > 0;
    }
    /* The last PGN_LOOKAHEAD bytes of the buffer are for the zeros. */
    char *limit = reader->buffer + reader->size - PGN_LOOKAHEAD;
    if (limit - reader->end < PGN_LOOKAHEAD)
        move_rest(reader, reader->buffer);
    while (reader->end - reader->at <= PGN_LOOKAHEAD) {
        char *behind = reader->buffer + (reader->end - reader->buffer);
        size_t got = reader->source(reader->context, behind, (size_t)(limit - behind));
        if (got == 0) {
            drain(reader, behind, PGN_LOOKAHEAD);
            return reader->at < reader->end;
        }
        reader->end += got;
    }
    reader->safe = reader->end - PGN_LOOKAHEAD;
    return true;
}

void pgn_newline(PgnReader *reader) {
    reader->at += reader->at[0] == '\r' && reader->at[1] == '\n' ? 2 : 1;
    reader->line++;
    reader->line_start = reader->at;
}

void pgn_skip_line(PgnReader *reader) {
    while (pgn_more(reader) && pgn_bytes[(unsigned char)*reader->at] != PGN_BYTE_LINE)
        reader->at++;
}

size_t pgn_wide_blank(const char *at) {
    if (memcmp(at, "\xef\xbb\xbf", 3) == 0)
        return 3;
    return memcmp(at, "\xc2\xa0", 2) == 0 ? 2 : 0;
}

void pgn_pass_wide_blank(PgnReader *reader, size_t length) {
    if (reader->line_start == reader->at)
        reader->line_start += length;
    reader->at += length;
}

void pgn_skip_blanks(PgnReader *reader) {
    while (pgn_more(reader)) {
        unsigned char byte = (unsigned char)*reader->at;
        size_t wide = byte >= 0x80 ? pgn_wide_blank(reader->at) : 0;
        if (pgn_bytes[byte] == PGN_BYTE_LINE)
            pgn_newline(reader);
        else if (pgn_bytes[byte] == PGN_BYTE_BLANK && byte != '.')
            reader->at++;
        else if (wide > 0)
            pgn_pass_wide_blank(reader, wide);
        else if (byte == '%' && reader->at == reader->line_start)
            pgn_skip_line(reader);
        else
            return;
    }
}

/* --- where tags begin --- */

enum { BLANKS_MAX = 16, NAME_MAX = 64 }; /* together less than PGN_LOOKAHEAD */

static const char *behind_blanks(const char *at) {
    for (int i = 0; i < BLANKS_MAX && (*at == ' ' || *at == '\t'); i++)
        at++;
    return at;
}

static bool is_letter(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

bool pgn_tag_begins(const char *at) {
    return is_letter(*behind_blanks(at + 1));
}

bool pgn_tag_certain(const char *at, bool *ret_event) {
    if (!pgn_tag_begins(at))
        return false;
    const char *name = behind_blanks(at + 1), *behind = name;
    while (behind - name < NAME_MAX && (is_letter(*behind) || (*behind >= '0' && *behind <= '9') || *behind == '_'))
        behind++;
    *ret_event = behind - name == 5 && text_starts_nocase(name, "Event");
    return *behind_blanks(behind) == '"' && behind_blanks(behind) > behind;
}

/* --- faults --- */

void pgn_fault(PgnParse *parse, PgnFaultKind kind, int64_t line, const char *format, ...) {
    PgnGame *game = parse->game;
    if (game->fault_count == PGN_FAULTS_MAX)
        return;
    PgnFault *fault = &game->faults[game->fault_count++];
    *fault = (PgnFault){ .kind = kind, .line = line };
    if (game->fault_count == PGN_FAULTS_MAX) {
        fault->kind = PGN_FAULT_MORE;
        snprintf(fault->text, sizeof fault->text, "There are more faults in this game; they are not listed.");
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->text, sizeof fault->text, format, arguments);
    va_end(arguments);
    bool mend = !utf8_valid(fault->text, strlen(fault->text)); /* a cut letter, or Latin-1 */
    for (char *byte = fault->text; *byte != 0; byte++)
        if ((unsigned char)*byte < ' ' || *byte == 0x7f || (mend && (unsigned char)*byte >= 0x80))
            *byte = '?';
}

void pgn_out_of_memory(PgnParse *parse) {
    if (!parse->full)
        pgn_fault(parse, PGN_FAULT_SIZE, parse->reader->line, "The game is too large; the rest of it is left out.");
    parse->broken = true;
    parse->full = true;
}

/* --- texts --- */

static bool grow(PgnParse *parse, PgnGrowing *text, size_t more) {
    if (text->length + more + 1 <= text->capacity)
        return true;
    size_t capacity = text->capacity < 256 ? 256 : 2 * text->capacity;
    while (capacity < text->length + more + 1)
        capacity *= 2;
    char *data = arena_alloc(parse->arena, capacity);
    if (data == NULL) {
        pgn_out_of_memory(parse);
        return false;
    }
    if (text->length > 0)
        memcpy(data, text->data, text->length);
    parse->reader->work += text->length;
    text->data = data;
    text->capacity = capacity;
    return true;
}

void pgn_collect(PgnParse *parse, const char *bytes, size_t length) {
    PgnGrowing *raw = &parse->raw;
    if (length > PGN_COMMENT_MAX - raw->length)
        length = PGN_COMMENT_MAX - raw->length;
    if (length == 0 || !grow(parse, raw, length))
        return;
    memcpy(raw->data + raw->length, bytes, length);
    raw->length += length;
}

/* Appends a byte as Latin-1: what is no UTF-8 was written by an old program. */
static void append_latin1(PgnGrowing *text, unsigned char byte) {
    text->data[text->length++] = (char)(0xc0 | byte >> 6);
    text->data[text->length++] = (char)(0x80 | (byte & 0x3f));
}

const char *pgn_collected(PgnParse *parse, bool line) {
    const PgnGrowing *raw = &parse->raw;
    PgnGrowing text = { 0 };
    parse->reader->work += raw->length;
    if (!grow(parse, &text, 2 * raw->length))
        return NULL;
    for (size_t at = 0; at < raw->length;) {
        uint32_t point;
        unsigned char byte = (unsigned char)raw->data[at];
        int size = utf8_next(raw->data + at, raw->length - at, &point);
        if (size == 0) {
            append_latin1(&text, byte);
            at++;
            continue;
        }
        if (byte <= ' ' || byte == 0x7f) {
            if (!line || (text.length > 0 && text.data[text.length - 1] != ' '))
                text.data[text.length++] = ' ';
        } else {
            memcpy(text.data + text.length, raw->data + at, (size_t)size);
            text.length += (size_t)size;
        }
        at += (size_t)size;
    }
    while (line && text.length > 0 && text.data[text.length - 1] == ' ')
        text.length--;
    text.data[text.length] = 0;
    return text.data;
}

bool pgn_reserve(PgnParse *parse, void **things, size_t size, size_t count, size_t *capacity) {
    if (count < *capacity)
        return true;
    size_t larger = *capacity == 0 ? 256 / size : 2 * *capacity;
    void *copy = arena_alloc(parse->arena, larger * size);
    if (copy == NULL) {
        pgn_out_of_memory(parse);
        return false;
    }
    if (count > 0)
        memcpy(copy, *things, count * size);
    parse->reader->work += count * size;
    *things = copy;
    *capacity = larger;
    return true;
}
