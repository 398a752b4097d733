#include "daemon/outbox/words.h"

#include "core/base/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/umsg.h>
#include <unicode/ustring.h>

typedef struct Word {
    char *name;
    char *pattern; /* of an entry without arguments: the finished text */
    UMessageFormat *format; /* NULL without arguments */
    int arguments; /* the highest number used, plus one */
    int line;
} Word;

struct Words {
    Word *entries;
    size_t count, room;
};

/* The grammar of patterns, narrower than ICU's: what passes here takes doubles only, at most WORDS_ARGUMENTS_MAX of them,
 * which is what words_write() hands to umsg's variable arguments. */
typedef struct Pattern {
    const char *at;
    int depth, arguments;
} Pattern;

static bool pattern_message(Pattern *pattern, bool in_plural);

static void skip_blanks(Pattern *pattern) {
    pattern->at += strspn(pattern->at, " \t\n");
}

static bool skip_word(Pattern *pattern, const char *word) {
    size_t length = strlen(word);
    if (strncmp(pattern->at, word, length) != 0 || isalnum((unsigned char)pattern->at[length]))
        return false;
    pattern->at += length;
    skip_blanks(pattern);
    return true;
}

static bool skip_char(Pattern *pattern, char byte) {
    if (*pattern->at != byte)
        return false;
    pattern->at++;
    skip_blanks(pattern);
    return true;
}

static bool pattern_choices(Pattern *pattern) {
    bool other = false;
    while (*pattern->at != 0 && *pattern->at != '}') {
        size_t length = strcspn(pattern->at, " \t\n{}");
        if (length == 0 || *pattern->at == 'o' /* offset: */) {
            if (length == 0 || strncmp(pattern->at, "offset", 6) == 0)
                return false;
        }
        other = other || (length == 5 && strncmp(pattern->at, "other", 5) == 0);
        pattern->at += length;
        skip_blanks(pattern);
        if (*pattern->at++ != '{' || !pattern_message(pattern, true) || *pattern->at++ != '}')
            return false;
        skip_blanks(pattern);
    }
    return other;
}

/* Behind the '{' of an argument. */
static bool pattern_argument(Pattern *pattern) {
    skip_blanks(pattern);
    if (*pattern->at < '0' || *pattern->at >= '0' + WORDS_ARGUMENTS_MAX)
        return false;
    int number = *pattern->at++ - '0';
    if (number >= pattern->arguments)
        pattern->arguments = number + 1;
    skip_blanks(pattern);
    if (!skip_char(pattern, ','))
        return false;
    if (skip_word(pattern, "number"))
        return *pattern->at++ == '}';
    if (!skip_word(pattern, "plural") && !skip_word(pattern, "selectordinal"))
        return false;
    return skip_char(pattern, ',') && pattern_choices(pattern) && *pattern->at++ == '}';
}

/* Up to the closing '}' of a choice, or the end. */
static bool pattern_message(Pattern *pattern, bool in_plural) {
    if (++pattern->depth > 8)
        return false;
    for (; *pattern->at != 0; ) {
        char byte = *pattern->at;
        if (byte == '\'' && pattern->at[1] == '\'') {
            pattern->at += 2;
        } else if (byte == '\'' && (strchr("{}|", pattern->at[1]) != NULL || (in_plural && pattern->at[1] == '#'))) {
            if (pattern->at[1] == 0)
                return false;
            const char *end = strchr(pattern->at + 1, '\'');
            if (end == NULL)
                return false;
            pattern->at = end + 1;
        } else if (byte == '{') {
            pattern->at++;
            if (!pattern_argument(pattern))
                return false;
        } else if (byte == '}') {
            pattern->depth--;
            return in_plural;
        } else {
            pattern->at++;
        }
    }
    pattern->depth--;
    return !in_plural;
}

static UChar *to_utf16(const char *text) {
    size_t length = strlen(text);
    UChar *wide = calloc(length + 1, sizeof *wide);
    UErrorCode status = U_ZERO_ERROR;
    if (wide != NULL)
        u_strFromUTF8(wide, (int32_t)length + 1, NULL, text, (int32_t)length, &status);
    if (U_FAILURE(status)) {
        free(wide);
        return NULL;
    }
    return wide;
}

/* Formats with as many doubles as any pattern may take. */
static bool format_wide(const UMessageFormat *format, const double *numbers, Str *out) {
    enum { ROOM = 2 * WORDS_PATTERN_MAX };
    UChar *wide = calloc(ROOM, sizeof *wide);
    char *text = malloc(3 * ROOM + 1);
    UErrorCode status = U_ZERO_ERROR;
    bool done = false;
    if (wide != NULL && text != NULL) {
        umsg_format(format, wide, ROOM, &status, numbers[0], numbers[1], numbers[2], numbers[3]);
        if (U_SUCCESS(status))
            u_strToUTF8(text, 3 * ROOM + 1, NULL, wide, -1, &status);
        done = U_SUCCESS(status) && str_append(out, text);
    }
    free(wide);
    free(text);
    return done;
}

static int finish_word(Word *word, const char *file, const char *language, Error *error) {
    Pattern pattern = { .at = word->pattern };
    if (!utf8_valid(word->pattern, strlen(word->pattern)))
        return error_set(error, ERROR_INPUT, 0, "%s:%d: \"%s\" is not UTF-8.", file, word->line, word->name);
    if (!pattern_message(&pattern, false)) {
        return error_set(error, ERROR_INPUT, 0, "%s:%d: \"%s\" is no pattern: {0, number} and {0, plural, one {…} other {…}} are known, up to {%d}.",
                         file, word->line, word->name, WORDS_ARGUMENTS_MAX - 1);
    }
    word->arguments = pattern.arguments;
    UChar *wide = to_utf16(word->pattern);
    if (wide == NULL)
        return error_set(error, ERROR_LATER, 0, "There is no memory for %s.", file);
    UErrorCode status = U_ZERO_ERROR;
    UParseError where;
    word->format = umsg_open(wide, -1, language, &where, &status);
    free(wide);
    if (U_FAILURE(status))
        return error_set(error, ERROR_INPUT, 0, "%s:%d: \"%s\" is no pattern (%s).", file, word->line, word->name, u_errorName(status));
    double numbers[WORDS_ARGUMENTS_MAX] = { 0 };
    Str out;
    str_init(&out, 8 * WORDS_PATTERN_MAX);
    bool done = format_wide(word->format, numbers, &out);
    if (done && word->arguments == 0) {
        free(word->pattern);
        word->pattern = strdup(out.data);
        umsg_close(word->format);
        word->format = NULL;
    }
    str_free(&out);
    if (!done || word->pattern == NULL)
        return error_set(error, ERROR_INPUT, 0, "%s:%d: \"%s\" cannot be written.", file, word->line, word->name);
    return 0;
}

static Word *find(const Words *words, const char *name) {
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->entries[i].name, name) == 0)
            return &words->entries[i];
    return NULL;
}

static Word *add(Words *words, const char *name, size_t name_length, int line) {
    if (words->count == words->room) {
        size_t room = words->room == 0 ? 64 : words->room * 2;
        Word *entries = realloc(words->entries, room * sizeof *entries);
        if (entries == NULL)
            return NULL;
        words->entries = entries;
        words->room = room;
    }
    Word *word = &words->entries[words->count];
    *word = (Word){ .name = strndup(name, name_length), .pattern = strdup(""), .line = line };
    words->count++;
    return word->name == NULL || word->pattern == NULL ? NULL : word;
}

/* Appends a line's text to an entry's pattern, joined by one blank. */
static bool extend(Word *word, const char *text, size_t length) {
    Str joined;
    str_init(&joined, WORDS_PATTERN_MAX);
    str_append(&joined, word->pattern);
    if (joined.length > 0)
        str_append_char(&joined, ' ');
    str_append_bytes(&joined, text, length);
    str_trim_end(&joined);
    char *pattern = str_take(&joined);
    str_free(&joined);
    if (pattern == NULL)
        return false;
    free(word->pattern);
    word->pattern = pattern;
    return true;
}

static int read_line(Words *words, const char *line, size_t length, int number, const char *file, Error *error) {
    size_t blanks = 0;
    while (blanks < length && (line[blanks] == ' ' || line[blanks] == '\t'))
        blanks++;
    if (blanks == length || line[blanks] == ';' || line[blanks] == '#')
        return 0;
    Word *word;
    if (blanks > 0) {
        if (words->count == 0)
            return error_set(error, ERROR_INPUT, 0, "%s:%d: no entry stands above that this line could go on with.", file, number);
        word = &words->entries[words->count - 1];
        line += blanks;
        length -= blanks;
    } else {
        const char *sign = memchr(line, '=', length);
        size_t name_length = sign == NULL ? 0 : (size_t)(sign - line);
        while (name_length > 0 && isblank((unsigned char)line[name_length - 1]))
            name_length--;
        if (name_length == 0)
            return error_set(error, ERROR_INPUT, 0, "%s:%d: a line is NAME = TEXT.", file, number);
        if (words->count == WORDS_ENTRIES_MAX || (word = add(words, line, name_length, number)) == NULL)
            return error_set(error, ERROR_LATER, 0, "%s:%d: there is no room for more entries.", file, number);
        if (find(words, word->name) != word)
            return error_set(error, ERROR_INPUT, 0, "%s:%d: \"%s\" stands there twice.", file, number, word->name);
        size_t skip = (size_t)(sign - line) + 1;
        while (skip < length && isblank((unsigned char)line[skip]))
            skip++;
        line += skip;
        length -= skip;
    }
    if (!extend(word, line, length))
        return error_set(error, ERROR_INPUT, 0, "%s:%d: \"%s\" is longer than %d bytes.", file, number, word->name, WORDS_PATTERN_MAX);
    return 0;
}

Words *words_open(const char *text, const char *file, const char *language, Error *error) {
    Words *words = calloc(1, sizeof *words);
    if (words == NULL) {
        error_set(error, ERROR_LATER, 0, "There is no memory for %s.", file);
        return NULL;
    }
    int number = 1;
    for (const char *line = text; *line != 0; number++) {
        size_t length = strcspn(line, "\n");
        if (read_line(words, line, length, number, file, error) != 0)
            goto failed;
        line += length + (line[length] == '\n');
    }
    for (size_t i = 0; i < words->count; i++)
        if (finish_word(&words->entries[i], file, language, error) != 0)
            goto failed;
    return words;
failed:
    words_close(words);
    return NULL;
}

void words_close(Words *words) {
    if (words == NULL)
        return;
    for (size_t i = 0; i < words->count; i++) {
        free(words->entries[i].name);
        free(words->entries[i].pattern);
        if (words->entries[i].format != NULL)
            umsg_close(words->entries[i].format);
    }
    free(words->entries);
    free(words);
}

const char *words_text(const Words *words, const char *name) {
    const Word *word = find(words, name);
    return word == NULL || word->arguments > 0 ? NULL : word->pattern;
}

bool words_write(const Words *words, const char *name, const int64_t *arguments, int argument_count, Str *out) {
    const Word *word = find(words, name);
    if (word == NULL || argument_count < word->arguments)
        return false;
    if (word->format == NULL)
        return str_append(out, word->pattern);
    double numbers[WORDS_ARGUMENTS_MAX] = { 0 };
    for (int i = 0; i < argument_count && i < WORDS_ARGUMENTS_MAX; i++)
        numbers[i] = (double)arguments[i];
    return format_wide(word->format, numbers, out);
}
