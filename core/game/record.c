#include "core/game/record.h"

#include "core/base/encode.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum {
    KEYS_MAX = 8,           /* of one kind, without prev, and a NULL behind the last */
    NUMBER_DIGITS_MAX = 18, /* every such number fits 64 bits */
};

static const char record_format[] = "epistle-record/1";
static const char absent[] = "-"; /* no FEN and no instant is spelled so */

typedef enum ValueType {
    VALUE_FORMAT,           /* the name of the format, stored nowhere */
    VALUE_COUNT,            /* int, from `least` */
    VALUE_LONG,             /* int64_t, from `least` */
    VALUE_TEXT,             /* not empty */
    VALUE_CONTROL,          /* a time control in its canonical spelling */
    VALUE_OPTIONAL_TEXT,    /* "" is written "-" */
    VALUE_INSTANT,
    VALUE_OPTIONAL_INSTANT, /* INSTANT_NONE is written "-" */
    VALUE_YES,              /* bool: yes, no */
    VALUE_AUTHOR,
    VALUE_RESULT,
    VALUE_REASON
} ValueType;

typedef struct Key {
    const char *name;
    ValueType type;
    size_t offset;
    size_t size; /* of texts, with NUL */
    int least;
} Key;

#define AT(member) offsetof(Entry, member)
#define SIZE(member) sizeof(((Entry *)0)->member)

static const Key key_at = { "at", VALUE_INSTANT, AT(at), 0, 0 };
static const Key key_by = { "by", VALUE_AUTHOR, AT(by), 0, 0 };
static const Key key_letter = { "letter", VALUE_LONG, AT(letter), 0, 0 };
static const Key key_format = { "format", VALUE_FORMAT, 0, 0, 0 };
static const Key key_rules = { "rules", VALUE_COUNT, AT(rules_version), 0, 1 };
static const Key key_white = { "white", VALUE_LONG, AT(white), 0, 1 };
static const Key key_black = { "black", VALUE_LONG, AT(black), 0, 1 };
static const Key key_control = { "control", VALUE_CONTROL, AT(control), SIZE(control), 0 };
static const Key key_fen = { "fen", VALUE_OPTIONAL_TEXT, AT(fen), SIZE(fen), 0 };
static const Key key_start = { "start", VALUE_OPTIONAL_INSTANT, AT(start), 0, 0 };
static const Key key_to = { "to", VALUE_AUTHOR, AT(to), 0, 0 };
static const Key key_epoch = { "epoch", VALUE_COUNT, AT(epoch), 0, 1 };
static const Key key_ply = { "ply", VALUE_COUNT, AT(ply), 0, 0 };
static const Key key_uci = { "uci", VALUE_TEXT, AT(uci), SIZE(uci), 0 };
static const Key key_san = { "san", VALUE_TEXT, AT(san), SIZE(san), 0 };
static const Key key_offer = { "offer", VALUE_YES, AT(offer), 0, 0 };
static const Key key_charged = { "charged", VALUE_LONG, AT(charged), 0, 0 };
static const Key key_late = { "late", VALUE_LONG, AT(late), 0, 0 };
static const Key key_result = { "result", VALUE_RESULT, AT(result), 0, 0 };
static const Key key_reason = { "reason", VALUE_REASON, AT(reason), 0, 0 };

/* The order of the keys is the order in the line; at, by and letter stand before them in every kind, prev behind. */
static const struct {
    const char *name;
    const Key *keys[KEYS_MAX];
} kinds[] = {
    [ENTRY_START] = { "start",
                      { &key_format, &key_rules, &key_white, &key_black, &key_control, &key_fen, &key_start } },
    [ENTRY_NOTICE] = { "notice", { &key_to, &key_epoch, &key_ply } },
    [ENTRY_MOVE] = { "move", { &key_epoch, &key_ply, &key_uci, &key_san, &key_offer, &key_charged, &key_late } },
    [ENTRY_OFFER] = { "offer", { NULL } },
    [ENTRY_DECLINE] = { "decline", { NULL } },
    [ENTRY_ACCEPT] = { "accept", { NULL } },
    [ENTRY_RESIGN] = { "resign", { NULL } },
    [ENTRY_RESULT] = { "result", { &key_result, &key_reason } },
    [ENTRY_RESTORE] = { "restore", { &key_epoch, &key_ply } },
};
enum { KIND_NAMES = sizeof kinds / sizeof kinds[0] };

static const char *const author_names[] = {
    [AUTHOR_SERVICE] = "service", [AUTHOR_WHITE] = "white", [AUTHOR_BLACK] = "black", [AUTHOR_ARBITER] = "arbiter"
};
static const char *const reason_names[] = {
    [REASON_NONE] = "none",           [REASON_CHECKMATE] = "checkmate", [REASON_RESIGNATION] = "resignation",
    [REASON_AGREEMENT] = "agreement", [REASON_STALEMATE] = "stalemate", [REASON_DEAD_POSITION] = "dead-position",
    [REASON_RULING] = "ruling",
};
/* As the record spells them; people see result_text(). */
static const char *const result_names[] = {
    [RESULT_NONE] = "none",        [RESULT_WHITE] = "1-0",      [RESULT_BLACK] = "0-1",
    [RESULT_DRAW] = "1/2-1/2",     [RESULT_BOTH_LOSE] = "0-0",  [RESULT_VOID] = "void",
};
static const char *const yes_names[] = { "no", "yes" };

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static const char *name_of(const char *const *names, int count, int value) {
    return value >= 0 && value < count ? names[value] : NULL;
}

static int value_of(const char *const *names, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

static bool plain(char byte) {
    return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') ||
           (byte != 0 && strchr("-._~/+:,=@", byte) != NULL);
}

static void write_encoded(Str *line, const char *value) {
    for (; *value != 0; value++) {
        if (plain(*value))
            str_append_char(line, *value);
        else
            str_printf(line, "%%%02X", (unsigned)(unsigned char)*value);
    }
}

static int hex_digit(char digit) {
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

/* Only what write_encoded() writes: no escape where none is needed, none of NUL, capitals. */
static bool read_encoded(const char *text, size_t length, char *ret_value, size_t size) {
    size_t filled = 0;
    for (size_t i = 0; i < length; i++) {
        char byte = text[i];
        if (byte == '%') {
            int high = i + 2 < length ? hex_digit(text[i + 1]) : -1;
            int low = high >= 0 ? hex_digit(text[i + 2]) : -1;
            if (low < 0)
                return false;
            byte = (char)(high * 16 + low);
            if (byte == 0 || plain(byte))
                return false;
            i += 2;
        } else if (!plain(byte)) {
            return false;
        }
        if (filled + 1 >= size)
            return false;
        ret_value[filled++] = byte;
    }
    ret_value[filled] = 0;
    return true;
}

static bool read_number(const char *text, int64_t least, int64_t most, int64_t *ret_number) {
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > NUMBER_DIGITS_MAX || text[digits] != 0 || (text[0] == '0' && digits > 1))
        return false;
    int64_t number = 0;
    for (; *text != 0; text++)
        number = number * 10 + (*text - '0');
    if (number < least || number > most)
        return false;
    *ret_number = number;
    return true;
}

static bool read_instant(const char *text, Instant *ret_instant) {
    Instant instant;
    char again[INSTANT_TEXT_SIZE];
    if (!instant_read(text, &instant))
        return false;
    instant_write(instant, again);
    if (strcmp(text, again) != 0)
        return false;
    *ret_instant = instant;
    return true;
}

static bool control_canonical(const char *text) {
    Control control;
    return control_read(text, &control, NULL) == 0 && strcmp(control.text, text) == 0;
}

static bool read_name(const char *const *names, int count, int first, const char *value, int *ret_value) {
    *ret_value = value_of(names, count, value);
    return *ret_value >= first;
}

/* The value, decoded already, into the entry's member. */
static bool read_value(const Key *key, const char *value, Entry *entry) {
    void *member = (char *)entry + key->offset;
    int64_t number = 0;
    int name = 0;
    switch (key->type) {
    case VALUE_FORMAT:
        return strcmp(value, record_format) == 0;
    case VALUE_COUNT:
        if (!read_number(value, key->least, INT_MAX, &number))
            return false;
        *(int *)member = (int)number;
        return true;
    case VALUE_LONG:
        return read_number(value, key->least, INT64_MAX, member);
    case VALUE_CONTROL:
        return control_canonical(value) && text_copy(member, key->size, value);
    case VALUE_OPTIONAL_TEXT:
        return value[0] != 0 && text_copy(member, key->size, strcmp(value, absent) == 0 ? "" : value);
    case VALUE_TEXT:
        return value[0] != 0 && text_copy(member, key->size, value);
    case VALUE_OPTIONAL_INSTANT:
        if (strcmp(value, absent) == 0) {
            *(Instant *)member = INSTANT_NONE;
            return true;
        }
        return read_instant(value, member);
    case VALUE_INSTANT:
        return read_instant(value, member);
    case VALUE_YES:
        if (!read_name(yes_names, COUNT(yes_names), 0, value, &name))
            return false;
        *(bool *)member = name == 1;
        return true;
    case VALUE_AUTHOR:
        if (!read_name(author_names, COUNT(author_names), 0, value, &name))
            return false;
        *(Author *)member = (Author)name;
        return true;
    case VALUE_RESULT:
        if (!read_name(result_names, COUNT(result_names), RESULT_NONE + 1, value, &name))
            return false;
        *(Result *)member = (Result)name;
        return true;
    case VALUE_REASON:
        if (!read_name(reason_names, COUNT(reason_names), REASON_NONE + 1, value, &name))
            return false;
        *(Reason *)member = (Reason)name;
        return true;
    }
    return false;
}

static void write_instant(Str *line, Instant instant) {
    char text[INSTANT_TEXT_SIZE];
    instant_write(instant, text);
    str_append(line, text);
}

static void write_name(Str *line, const char *name) {
    str_append(line, name != NULL ? name : "?"); /* entry_write() reads its line again and sees it */
}

static void write_value(const Key *key, const Entry *entry, Str *line) {
    const void *member = (const char *)entry + key->offset;
    str_printf(line, " %s=", key->name);
    switch (key->type) {
    case VALUE_FORMAT:
        str_append(line, record_format);
        break;
    case VALUE_COUNT:
        str_printf(line, "%d", *(const int *)member);
        break;
    case VALUE_LONG:
        str_printf(line, "%lld", (long long)*(const int64_t *)member);
        break;
    case VALUE_OPTIONAL_TEXT:
        write_encoded(line, *(const char *)member == 0 ? absent : member);
        break;
    case VALUE_TEXT:
    case VALUE_CONTROL:
        write_encoded(line, member);
        break;
    case VALUE_OPTIONAL_INSTANT:
        if (*(const Instant *)member == INSTANT_NONE)
            str_append(line, absent);
        else
            write_instant(line, *(const Instant *)member);
        break;
    case VALUE_INSTANT:
        write_instant(line, *(const Instant *)member);
        break;
    case VALUE_YES:
        str_append(line, yes_names[*(const bool *)member]);
        break;
    case VALUE_AUTHOR:
        write_name(line, name_of(author_names, COUNT(author_names), (int)*(const Author *)member));
        break;
    case VALUE_RESULT:
        write_name(line, name_of(result_names, COUNT(result_names), (int)*(const Result *)member));
        break;
    case VALUE_REASON:
        write_name(line, name_of(reason_names, COUNT(reason_names), (int)*(const Reason *)member));
        break;
    }
}

/* The next word of the line: up to a blank or the end. Words are parted by exactly one blank. */
typedef struct Words {
    const char *at;
    const char *end;
} Words;

static bool next_word(Words *words, const char **ret_word, size_t *ret_length) {
    if (words->at == NULL || words->at >= words->end)
        return false;
    const char *blank = memchr(words->at, ' ', (size_t)(words->end - words->at));
    *ret_word = words->at;
    *ret_length = (size_t)((blank != NULL ? blank : words->end) - words->at);
    words->at = blank != NULL ? blank + 1 : NULL;
    return *ret_length > 0;
}

/* The value of the next word, which must be KEY=VALUE with this key. */
static bool next_value(Words *words, const char *name, char ret_value[RECORD_LINE_MAX]) {
    const char *word;
    size_t length, name_length = strlen(name);
    return next_word(words, &word, &length) && length > name_length && memcmp(word, name, name_length) == 0 &&
           word[name_length] == '=' &&
           read_encoded(word + name_length + 1, length - name_length - 1, ret_value, RECORD_LINE_MAX);
}

static int next_key(Words *words, const Key *key, Entry *entry, Error *error) {
    char value[RECORD_LINE_MAX];
    if (!next_value(words, key->name, value))
        return error_set(error, ERROR_DAMAGED, 0, "Where a record's %s entry needs “%s=” and a value in its one spelling, "
                         "something else stands.", kinds[entry->kind].name, key->name);
    if (!read_value(key, value, entry))
        return error_set(error, ERROR_DAMAGED, 0, "“%.60s” is no value for “%s” of a record's %s entry.", value,
                         key->name, kinds[entry->kind].name);
    return 0;
}

static int next_head(Words *words, Entry *entry, Error *error) {
    const char *word;
    size_t length;
    char text[RECORD_WORD_MAX];
    int64_t number = 0;
    if (!next_word(words, &word, &length) || !read_encoded(word, length, text, sizeof text) ||
        !read_number(text, 1, INT_MAX, &number))
        return error_set(error, ERROR_DAMAGED, 0, "A record's line does not begin with the number of its entry.");
    entry->number = (int)number;
    if (!next_word(words, &word, &length) || !read_encoded(word, length, text, sizeof text))
        return error_set(error, ERROR_DAMAGED, 0, "Entry %d of the record names no kind.", entry->number);
    for (int kind = 0; kind < KIND_NAMES; kind++) {
        if (strcmp(kinds[kind].name, text) == 0) {
            entry->kind = (EntryKind)kind;
            return 0;
        }
    }
    return error_set(error, ERROR_DAMAGED, 0, "Entry %d of the record is of the unknown kind “%s”.", entry->number, text);
}

static bool lower_hex(const char *text) {
    return strspn(text, "0123456789abcdef") == SHA256_HEX_SIZE - 1 && text[SHA256_HEX_SIZE - 1] == 0;
}

static int read_words(Words *words, Entry *entry, Error *error) {
    if (next_head(words, entry, error) < 0)
        return -1;
    const Key *const common[] = { &key_at, &key_by, &key_letter };
    for (int i = 0; i < COUNT(common); i++)
        if (next_key(words, common[i], entry, error) < 0)
            goto bad;
    const Key *const *keys = kinds[entry->kind].keys;
    for (int i = 0; keys[i] != NULL; i++)
        if (next_key(words, keys[i], entry, error) < 0)
            goto bad;
    char value[RECORD_LINE_MAX];
    if (!next_value(words, "prev", value) || !lower_hex(value)) {
        error_set(error, ERROR_DAMAGED, 0, "The hash of the entry before (“prev=” and 64 digits) is missing.");
        goto bad;
    }
    if (words->at != NULL) {
        error_set(error, ERROR_DAMAGED, 0, "Something stands behind the hash of the entry before.");
        goto bad;
    }
    text_copy(entry->previous, sizeof entry->previous, value);
    return 0;
bad:
    error_prefix(error, "Entry %d", entry->number);
    return -1;
}

/* Without the hash. Members the kind does not use are zero; start is INSTANT_NONE. */
static int read_line(const char *line, size_t length, Entry *ret_entry, Error *error) {
    if (length >= RECORD_LINE_MAX)
        return error_set(error, ERROR_DAMAGED, 0, "A line of the record has %zu bytes; at most %d with its end are possible.",
                         length + 1, RECORD_LINE_MAX);
    Entry entry = { .start = INSTANT_NONE };
    Words words = { line, line + length };
    if (read_words(&words, &entry, error) < 0)
        return -1;
    *ret_entry = entry;
    return 0;
}

int entry_read(const char *line, Entry *ret_entry, Error *error) {
    size_t length = strlen(line);
    if (length > 0 && line[length - 1] == '\n')
        length--;
    Entry entry;
    if (read_line(line, length, &entry, error) < 0)
        return -1;
    Sha256 sha;
    uint8_t digest[SHA256_SIZE];
    sha256_start(&sha);
    sha256_add(&sha, line, length);
    sha256_add(&sha, "\n", 1);
    sha256_finish(&sha, digest);
    hex_write(digest, sizeof digest, entry.hash);
    *ret_entry = entry;
    return 0;
}

/* Members that would be written as another entry's: an instant outside the years 0 to 9999, a FEN of "-". */
static bool survives(const Entry *entry, const Entry *again) {
    return entry->at == again->at && (entry->kind != ENTRY_START ||
           (entry->start == again->start && strcmp(entry->fen, again->fen) == 0));
}

int entry_write(Entry *entry, Str *ret_line, Error *error) {
    if ((int)entry->kind < 0 || (int)entry->kind >= KIND_NAMES)
        return error_set(error, ERROR_INPUT, 0, "There is no kind %d of entries.", (int)entry->kind);
    Str line;
    Entry again;
    int status = -1;
    str_init(&line, RECORD_LINE_MAX);
    str_printf(&line, "%d %s", entry->number, kinds[entry->kind].name);
    const Key *const common[] = { &key_at, &key_by, &key_letter };
    for (int i = 0; i < COUNT(common); i++)
        write_value(common[i], entry, &line);
    const Key *const *keys = kinds[entry->kind].keys;
    for (int i = 0; keys[i] != NULL; i++)
        write_value(keys[i], entry, &line);
    str_printf(&line, " prev=%s\n", entry->previous);
    if (line.overflowed) {
        error_set(error, ERROR_LATER, 0, "No memory for a line of the record, or it is longer than %d bytes.", RECORD_LINE_MAX);
        goto end;
    }
    /* What cannot be read back must not get into a record. */
    if (entry_read(line.data, &again, error) < 0) {
        if (error != NULL)
            error->grade = ERROR_INPUT;
        goto end;
    }
    if (!survives(entry, &again)) {
        error_set(error, ERROR_INPUT, 0, "Entry %d holds a time or a position that a record cannot spell.", entry->number);
        goto end;
    }
    if (!str_append_bytes(ret_line, line.data, line.length)) {
        error_set(error, ERROR_LATER, 0, "No room for a line of the record.");
        goto end;
    }
    text_copy(entry->hash, sizeof entry->hash, again.hash);
    status = 0;
end:
    str_free(&line);
    return status;
}

const char *result_text(Result result) {
    if (result == RESULT_NONE || result == RESULT_VOID)
        return "*";
    const char *name = name_of(result_names, COUNT(result_names), (int)result);
    return name != NULL ? name : "*";
}

const char *reason_name(Reason reason) {
    const char *name = name_of(reason_names, COUNT(reason_names), (int)reason);
    return name != NULL ? name : "none";
}

const char *author_name(Author author) {
    const char *name = name_of(author_names, COUNT(author_names), (int)author);
    return name != NULL ? name : "nobody";
}

const char *entry_kind_name(EntryKind kind) {
    return (int)kind >= 0 && (int)kind < KIND_NAMES ? kinds[kind].name : "unknown";
}
