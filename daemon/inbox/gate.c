#include "daemon/inbox/gate.h"

#include "core/base/str.h"

#include <string.h>

/* A line with its continuations (lines that begin with a blank). Only LF ends it: where a bare CR is meant as a
 * line end, two lines are judged as one, which is the stricter way. */
typedef struct Logical {
    const char *text;
    size_t length;
} Logical;

static bool next_logical(const char *raw, size_t size, size_t *at, Logical *ret_line) {
    if (*at >= size)
        return false;
    size_t end = *at;
    do {
        const char *newline = memchr(raw + end, '\n', size - end);
        end = newline != NULL ? (size_t)(newline - raw) + 1 : size;
    } while (end < size && (raw[end] == ' ' || raw[end] == '\t'));
    *ret_line = (Logical){ raw + *at, end - *at };
    *at = end;
    return true;
}

static char lower(char byte) {
    return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

/* The first place at or behind `from` where `word` (lower case) stands, the line's length if nowhere. */
static size_t find_word(const Logical *line, size_t from, const char *word) {
    size_t length = strlen(word);
    for (; from + length <= line->length; from++) {
        size_t i = 0;
        while (i < length && lower(line->text[from + i]) == word[i])
            i++;
        if (i == length)
            return from;
    }
    return line->length;
}

static bool contains(const Logical *line, const char *word) {
    return find_word(line, 0, word) < line->length;
}

/* Is there a Content-Type field in this logical line? At its begin, or behind a bare CR inside. */
static bool is_content_type(const Logical *line) {
    static const char name[] = "content-type";
    for (size_t at = find_word(line, 0, name); at < line->length; at = find_word(line, at + 1, name)) {
        size_t colon = at + sizeof name - 1;
        while (colon < line->length && strchr(" \t\r\n", line->text[colon]) != NULL && line->text[colon] != 0)
            colon++;
        bool begins = at == 0 || line->text[at - 1] == '\r' || line->text[at - 1] == '\n';
        if (begins && colon < line->length && line->text[colon] == ':')
            return true;
    }
    return false;
}

static bool boundary_byte(char byte) {
    return byte >= ' ' && byte <= '~' && byte != '\\' && byte != '"';
}

/* The value of a boundary parameter whose name ends at `at`: quoted or bare, also RFC 2231's boundary*0= and boundary*=. */
static bool boundary_harmless(const Logical *line, size_t at) {
    while (at < line->length && line->text[at] != 0 && strchr("*0123456789 \t\r\n", line->text[at]) != NULL)
        at++;
    if (at == line->length || line->text[at] != '=')
        return true; /* the word stands for something else */
    at++;
    while (at < line->length && line->text[at] != 0 && strchr(" \t\r\n", line->text[at]) != NULL)
        at++;
    bool quoted = at < line->length && line->text[at] == '"';
    size_t begin = at += quoted;
    while (at < line->length && boundary_byte(line->text[at]) && (quoted || line->text[at] != ';'))
        at++;
    if (at - begin > GATE_BOUNDARY_MAX)
        return false;
    if (!quoted) /* bare: ends at ';' or with its line; a quote inside it is as bad as one at its begin */
        return at == line->length || strchr(";\r\n\t", line->text[at]) != NULL;
    return at < line->length && line->text[at] != '\\' && (line->text[at] == '"' || strchr("\r\n\t", line->text[at]) != NULL);
}

static const char *fault_of_content_type(const Logical *line, size_t *composites) {
    bool multipart = contains(line, "multipart");
    if (!multipart && !contains(line, "message"))
        return NULL;
    if (++*composites > GATE_COMPOSITES_MAX)
        return "parts nested or repeated beyond measure";
    if (!multipart)
        return NULL; /* a boundary elsewhere is not looked at */
    static const char word[] = "boundary";
    for (size_t at = find_word(line, 0, word); at < line->length; at = find_word(line, at + 1, word)) {
        if (!boundary_harmless(line, at + sizeof word - 1))
            return "a boundary with a quote or another character that no boundary has";
        /* libetpan's own tokenizer may see the value begin later (a comment): no quoted pair at all, then. */
        if (memchr(line->text, '\\', line->length) != NULL)
            return "a multipart field with a backslash in it";
    }
    return NULL;
}

static const char *fault_of_line(const Logical *line) {
    size_t parentheses = 0;
    for (const char *at = line->text, *end = at + line->length; (at = memchr(at, '(', (size_t)(end - at))) != NULL; at++)
        if (++parentheses > GATE_PARENTHESES_MAX)
            return "a line with too many brackets";
    return NULL;
}

/* Lines beginning with "--", those inside a logical line cannot: they begin with a blank. */
static bool is_dash_line(const Logical *line) {
    return line->length >= 2 && line->text[0] == '-' && line->text[1] == '-';
}

static bool is_empty(const Logical *line) {
    return line->text[0] == '\n' || (line->length >= 2 && line->text[0] == '\r' && line->text[1] == '\n');
}

bool gate_pass(const char *raw, size_t size, const char **ret_why) {
    const char *why = size > GATE_LETTER_MAX ? "a letter larger than is read" : NULL;
    size_t at = 0, composites = 0, dashes = 0, lines = 0;
    bool in_header = true;
    Logical line;
    while (why == NULL && next_logical(raw, size, &at, &line)) {
        in_header = in_header && !is_empty(&line);
        if (in_header && line.length > GATE_FIELD_MAX)
            why = "a header field without end";
        else if (in_header && ++lines > GATE_HEADER_LINES_MAX)
            why = "too many header fields";
        else if (is_dash_line(&line) && ++dashes > GATE_DASH_LINES_MAX)
            why = "too many parts";
        else if ((why = fault_of_line(&line)) == NULL && is_content_type(&line))
            why = fault_of_content_type(&line, &composites);
    }
    if (why == NULL)
        return true;
    *ret_why = why;
    return false;
}
