#include "daemon/outbox/layout.h"

#include "core/base/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Columns are code points: good for the scripts we write in so far; wide East Asian letters will want two. */
static size_t columns(const char *text, size_t length) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

enum { GUARDED_MAX = 24 };

static size_t edits(const char *left, size_t left_length, const char *right, size_t right_length) {
    size_t row[GUARDED_MAX + 1];
    for (size_t i = 0; i <= right_length; i++)
        row[i] = i;
    for (size_t i = 1; i <= left_length; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= right_length; j++) {
            size_t best = corner + (left[i - 1] != right[j - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            corner = row[j];
            row[j] = best;
        }
    }
    return row[right_length];
}

bool layout_guarded(const char *word, size_t length, const char *commands) {
    while (length > 0 && !isalnum((unsigned char)*word) && (unsigned char)*word < 0x80)
        word++, length--;
    while (length > 0 && !isalnum((unsigned char)word[length - 1]) && (unsigned char)word[length - 1] < 0x80)
        length--;
    for (size_t i = 0; i < length; i++)
        if (isdigit((unsigned char)word[i]))
            return true;
    if (length >= 3 && (strncasecmp(word, "o-o", 3) == 0 || strncasecmp(word, "\342\200\246", 3) == 0))
        return true;
    char lower[GUARDED_MAX];
    if (length == 0 || length >= sizeof lower)
        return false;
    for (size_t i = 0; i < length; i++)
        lower[i] = (char)tolower((unsigned char)word[i]);
    for (const char *command = commands; *command != 0;) {
        size_t size = strcspn(command, " ");
        size_t allowed = size < 4 ? 0 : size < 6 ? 1 : 2;
        size_t apart = size < length ? length - size : size - length;
        if (size > 0 && size < GUARDED_MAX && apart <= allowed && edits(lower, length, command, size) <= allowed)
            return true;
        command += size;
        command += strspn(command, " ");
    }
    return false;
}

typedef struct Piece {
    const char *text;
    size_t length, width;
} Piece;

typedef struct Paragraph {
    Piece *words;
    size_t count, room;
    bool item;   /* a list's: "- " before it, its further lines two blanks in */
    bool failed;
} Paragraph;

static void add_words(Paragraph *paragraph, const char *text, size_t length) {
    while (length > 0) {
        if (*text == ' ' || *text == '\t' || *text == '\r') {
            text++, length--;
            continue;
        }
        size_t size = 0;
        while (size < length && text[size] != ' ' && text[size] != '\t' && text[size] != '\r')
            size++;
        if (paragraph->count == paragraph->room) {
            size_t room = paragraph->room == 0 ? 64 : paragraph->room * 2;
            Piece *words = realloc(paragraph->words, room * sizeof *words);
            if (words == NULL) {
                paragraph->failed = true;
                return;
            }
            paragraph->words = words;
            paragraph->room = room;
        }
        paragraph->words[paragraph->count++] = (Piece){ text, size, columns(text, size) };
        text += size;
        length -= size;
    }
}

static bool guarded_at(const Paragraph *paragraph, size_t at, const char *commands) {
    return layout_guarded(paragraph->words[at].text, paragraph->words[at].length, commands);
}

/* Whether a break here leaves a last line of a few words with a command's among them: "you resigned." */
static bool short_end(const Paragraph *paragraph, size_t at, const char *commands) {
    enum { FEW_WORDS = 3 };
    if (paragraph->count - at > FEW_WORDS)
        return false;
    for (; at < paragraph->count; at++)
        if (guarded_at(paragraph, at, commands))
            return true;
    return false;
}

/* Where the line that begins with word `from` ends. */
static size_t line_end(const Paragraph *paragraph, size_t from, size_t width, const char *commands) {
    const Piece *words = paragraph->words;
    size_t used = words[from].width;
    size_t most = from + 1;
    while (most < paragraph->count && used + 1 + words[most].width <= width)
        used += 1 + words[most++].width;
    if (most == paragraph->count)
        return most;
    for (size_t end = most; end > from + 1; end--)
        if (!guarded_at(paragraph, end, commands) && !short_end(paragraph, end, commands))
            return end;
    for (size_t end = most; end > from + 1; end--)
        if (!guarded_at(paragraph, end, commands))
            return end;
    while (most < paragraph->count && guarded_at(paragraph, most, commands))
        most++;
    return most;
}

static void flush(Paragraph *paragraph, const char *commands, Str *out) {
    size_t indent = paragraph->item ? 2 : 0;
    for (size_t from = 0; from < paragraph->count;) {
        size_t end = line_end(paragraph, from, LAYOUT_WIDTH - indent, commands);
        str_append(out, indent == 0 ? "" : from == 0 ? "- " : "  ");
        for (size_t i = from; i < end; i++) {
            if (i > from)
                str_append_char(out, ' ');
            str_append_bytes(out, paragraph->words[i].text, paragraph->words[i].length);
        }
        str_append_char(out, '\n');
        from = end;
    }
    paragraph->count = 0;
    paragraph->item = false;
}

bool layout_text(const char *markdown, const char *commands, Str *out) {
    Paragraph paragraph = { 0 };
    bool gap = false;
    for (const char *line = markdown; *line != 0;) {
        size_t length = strcspn(line, "\n");
        const char *next = line + length + (line[length] == '\n');
        bool literal = strncmp(line, "    ", 4) == 0;
        while (length > 0 && strchr(" \t\r", line[length - 1]) != NULL)
            length--;
        bool item = length > 2 && strncmp(line, "- ", 2) == 0;
        if (length == 0 || literal || item)
            flush(&paragraph, commands, out);
        if (length == 0) {
            gap = out->length > 0;
        } else {
            if (gap)
                str_append_char(out, '\n');
            gap = false;
            if (literal) {
                str_append_bytes(out, line + 4, length - 4);
                str_append_char(out, '\n');
            } else {
                paragraph.item = paragraph.item || item;
                add_words(&paragraph, line + (item ? 2 : 0), length - (item ? 2 : 0));
            }
        }
        line = next;
    }
    flush(&paragraph, commands, out);
    free(paragraph.words);
    return !paragraph.failed && !out->overflowed;
}

/* Bytes of the first `width` code points. */
static size_t cut(const char *text, size_t length, size_t width) {
    size_t at = 0;
    for (; at < length && (width > 0 || ((unsigned char)text[at] & 0xc0) == 0x80); at++)
        width -= ((unsigned char)text[at] & 0xc0) != 0x80;
    return at;
}

bool layout_prefixed(const char *text, const char *prefix, size_t width, Str *out) {
    size_t length = strlen(text);
    do {
        size_t size = cut(text, length, width);
        if (size < length && text[size] != ' ') {
            size_t at = size;
            while (at > 0 && text[at - 1] != ' ')
                at--;
            if (at > 0)
                size = at;
        }
        str_append(out, prefix);
        str_append_bytes(out, text, size);
        str_trim_end(out);
        str_append_char(out, '\n');
        text += size;
        length -= size;
        while (length > 0 && *text == ' ')
            text++, length--;
    } while (length > 0);
    return !out->overflowed;
}
