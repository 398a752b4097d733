#include "daemon/inbox/header.h"

#include "core/base/str.h"
#include "daemon/inbox/charset.h"
#include "daemon/inbox/decode.h"

#include <string.h>

typedef struct Line {
    const char *text;
    size_t length; /* without its end */
} Line;

static const char bom[] = "\xef\xbb\xbf";
enum { BOM_SIZE = sizeof bom - 1 };

/* Takes the line at *at (LF, CRLF or bare CR ends it); false at the end of the letter. A BOM before it is dropped: a mail
 * server's own fields may have come above a letter that began with one. */
static bool next_line(const char *raw, size_t size, size_t *at, Line *ret_line) {
    if (*at >= size)
        return false;
    size_t end = *at;
    while (end < size && raw[end] != '\n' && raw[end] != '\r')
        end++;
    *ret_line = (Line){ raw + *at, end - *at };
    if (ret_line->length >= BOM_SIZE && memcmp(ret_line->text, bom, BOM_SIZE) == 0)
        *ret_line = (Line){ ret_line->text + BOM_SIZE, ret_line->length - BOM_SIZE };
    if (end < size && raw[end] == '\r')
        end++;
    if (end < size && raw[end] == '\n')
        end++;
    *at = end;
    return true;
}

static bool blank(char byte) {
    return byte == ' ' || byte == '\t';
}

/* Length of a field's name if the line begins a field, else 0; *ret_value is where its value begins. RFC 5322 4.5.8
 * allows blanks before the colon. */
static size_t field_name(const Line *line, size_t *ret_value) {
    size_t length = 0;
    while (length < line->length && line->text[length] > ' ' && line->text[length] < 127 && line->text[length] != ':')
        length++;
    size_t colon = length;
    while (colon < line->length && blank(line->text[colon]))
        colon++;
    if (length == 0 || colon == line->length || line->text[colon] != ':')
        return 0;
    *ret_value = colon + 1;
    return length;
}

/* Behind an mbox "From " line. */
static size_t header_begin(const char *raw, size_t size) {
    size_t behind = 0;
    Line line;
    if (!next_line(raw, size, &behind, &line))
        return 0;
    size_t skip = line.length > 0 && line.text[0] == '>' ? 1 : 0;
    bool mbox = line.length >= skip + 5 && memcmp(line.text + skip, "From ", 5) == 0;
    size_t value;
    return mbox && field_name(&line, &value) == 0 ? behind : 0;
}

/* How many fields the header has at most, so that they are allocated at once. */
static size_t count_fields(const char *raw, size_t size, size_t at) {
    size_t count = 0, value;
    Line line;
    while (count < HEADER_FIELDS_MAX && next_line(raw, size, &at, &line) && line.length > 0)
        count += field_name(&line, &value) > 0;
    return count;
}

/* Copies one field, unfolded: the bytes from its value's begin to `end`, line ends and controls as blanks. */
static bool take_field(Arena *arena, const Line *line, size_t name, size_t value, const char *end, HeaderField *ret_field) {
    const char *from = line->text + value;
    while (from < end && (blank(*from) || *from == '\r' || *from == '\n'))
        from++;
    while (end > from && (blank(end[-1]) || end[-1] == '\r' || end[-1] == '\n'))
        end--;
    char *copy = arena_alloc(arena, (size_t)(end - from) + 1);
    ret_field->name = arena_copy(arena, line->text, name);
    ret_field->value = copy;
    if (copy == NULL || ret_field->name == NULL)
        return false;
    for (; from < end; from++) {
        if (*from == '\r' || *from == '\n')
            continue; /* the blank that follows it stands for the fold */
        *copy++ = ((unsigned char)*from < ' ' || *from == 127) ? ' ' : *from;
    }
    *copy = 0;
    return true;
}

bool header_scan(Arena *arena, const char *raw, size_t size, Header *ret_header) {
    size_t at = header_begin(raw, size);
    size_t room = count_fields(raw, size, at);
    Header header = { .fields = arena_alloc(arena, room * sizeof *header.fields), .body = size };
    if (header.fields == NULL)
        return false;
    Line line;
    while (next_line(raw, size, &at, &line)) {
        if (line.length == 0) {
            header.body = at;
            break;
        }
        size_t value = 0, name = field_name(&line, &value);
        const char *end = line.text + line.length;
        Line more;
        for (size_t peek = at; next_line(raw, size, &peek, &more) && more.length > 0 && blank(more.text[0]); at = peek)
            end = more.text + more.length;
        if (name == 0 || header.count == room)
            continue;
        if (!take_field(arena, &line, name, value, end, &header.fields[header.count++]))
            return false;
    }
    *ret_header = header;
    return true;
}

const char *header_field(const Header *header, const char *name, size_t nth) {
    for (size_t i = 0; i < header->count; i++)
        if (text_equal_nocase(header->fields[i].name, name) && nth-- == 0)
            return header->fields[i].value;
    return NULL;
}

size_t header_count(const Header *header, const char *name) {
    size_t count = 0;
    for (size_t i = 0; i < header->count; i++)
        count += text_equal_nocase(header->fields[i].name, name);
    return count;
}

/* An RFC 2047 word: =?charset?encoding?text?= */
typedef struct EncodedWord {
    const char *charset, *text, *end; /* end: behind "?=" */
    size_t charset_length, text_length;
    char encoding; /* 'b' or 'q' */
} EncodedWord;

enum { CHARSET_NAME_MAX = 60 };

static bool encoded_word_at(const char *at, EncodedWord *ret_word) {
    if (at[0] != '=' || at[1] != '?')
        return false;
    const char *charset = at + 2;
    size_t length = strcspn(charset, "? \t=<>\"");
    if (length == 0 || length >= CHARSET_NAME_MAX || charset[length] != '?')
        return false;
    const char *encoding = charset + length + 1;
    char kind = (char)(encoding[0] | 0x20);
    if ((kind != 'b' && kind != 'q') || encoding[1] != '?')
        return false;
    const char *text = encoding + 2;
    size_t size = strcspn(text, "?");
    while (text[size] == '?' && text[size + 1] != '=') /* a raw '?' in the text is forgiven */
        size += 1 + strcspn(text + size + 1, "?");
    if (text[size] != '?' || memchr(text, ' ', size) != NULL)
        return false;
    *ret_word = (EncodedWord){ charset, text, text + size + 2, length, size, kind };
    return true;
}

static bool same_coding(const EncodedWord *left, const EncodedWord *right) {
    return left->encoding == right->encoding && left->charset_length == right->charset_length &&
           memcmp(left->charset, right->charset, left->charset_length) == 0;
}

/* Decodes the word and those after it of the same coding as one piece: programs cut characters
 * in two. Returns behind the last of them. */
static const char *decode_words(EncodedWord word, Str *scratch, Str *ret_text) {
    char charset[CHARSET_NAME_MAX];
    memcpy(charset, word.charset, word.charset_length);
    charset[word.charset_length] = 0;
    str_clear(scratch);
    for (;;) {
        if (word.encoding == 'b')
            decode_base64(word.text, word.text_length, scratch);
        else
            decode_q_word(word.text, word.text_length, scratch);
        EncodedWord next;
        const char *behind = word.end + strspn(word.end, " \t");
        if (!encoded_word_at(behind, &next) || !same_coding(&word, &next))
            break;
        word = next;
    }
    charset_to_utf8(charset, scratch->data, scratch->length, ret_text);
    return word.end;
}

/* Line ends and tabs as blanks: a header value is one line. */
static const char *one_line(Arena *arena, const Str *text) {
    Str clean;
    str_init(&clean, text->length * 3 + 1);
    charset_clean(text->data, text->length, &clean);
    for (size_t i = 0; i < clean.length; i++)
        if (clean.data[i] == '\n' || clean.data[i] == '\t')
            clean.data[i] = ' ';
    const char *copy = arena_copy(arena, clean.data, clean.length);
    str_free(&clean);
    return copy;
}

const char *header_decode(Arena *arena, const char *value) {
    size_t size = strlen(value);
    Str text, scratch;
    str_init(&text, size * 4 + 16);
    str_init(&scratch, size + 16);
    for (const char *at = value; *at != 0;) {
        EncodedWord word, next;
        if (encoded_word_at(at, &word)) {
            at = decode_words(word, &scratch, &text);
            const char *behind = at + strspn(at, " \t");
            if (behind > at && encoded_word_at(behind, &next))
                at = behind; /* blanks between two words are not part of the text */
            continue;
        }
        const char *end = at + 1;
        while (*end != 0 && !(end[0] == '=' && end[1] == '?'))
            end++;
        charset_to_utf8(NULL, at, (size_t)(end - at), &text);
        at = end;
    }
    const char *decoded = one_line(arena, &text);
    str_free(&text);
    str_free(&scratch);
    return decoded;
}

/* RFC 5322 msg-id, kindly: anything printable with one '@' inside. */
static bool message_id_plausible(const char *id, size_t length) {
    if (length < 3 || length > 900) /* a line has 998 at most */
        return false;
    size_t ats = 0;
    for (size_t i = 0; i < length; i++) {
        if (id[i] <= ' ' || id[i] > '~' || id[i] == '<' || id[i] == ',')
            return false;
        ats += id[i] == '@';
    }
    return ats == 1 && id[0] != '@' && id[length - 1] != '@';
}

size_t header_message_ids(Arena *arena, const char *value, const char **ret_ids, size_t most) {
    size_t count = 0;
    for (const char *open = strchr(value, '<'); open != NULL; open = strchr(open, '<')) {
        const char *id = ++open;
        size_t length = strcspn(id, "<>");
        if (id[length] != '>' || !message_id_plausible(id, length))
            continue;
        if (count < most && (ret_ids[count] = arena_copy(arena, id, length)) == NULL)
            return count;
        count++;
    }
    return count;
}
