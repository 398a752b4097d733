#include "daemon/inbox/mime_type.h"

#include "core/base/encode.h"
#include "core/base/str.h"

#include <string.h>

enum { PIECES_MAX = 20, PARAMETER_MAX = 8000 /* the gate's longest boundary */ };

static const char *skip_blanks(const char *text) {
    return text + strspn(text, " \t\r\n");
}

bool mime_type_is(const char *value, const char *name) {
    value = value != NULL ? skip_blanks(value) : "";
    size_t slash = strcspn(value, "/;, \t(");
    if (slash == 0 || value[slash] != '/')
        value = "text/plain";
    size_t length = strlen(name);
    if (!text_starts_nocase(value, name))
        return false;
    return name[length - 1] == '/' || strchr(";, \t(\"", value[length]) != NULL; /* NUL too */
}

/* One "name=value" of a value's parameter list. */
typedef struct Parameter {
    const char *name;
    size_t name_length;
    Str value;
} Parameter;

/* Takes the next parameter; false at the end. *at stands behind the type or the parameter before. */
static bool next_parameter(const char **at, Parameter *ret) {
    const char *text = *at;
    while (*text != 0) {
        text += strspn(text, "; \t\r\n,");
        ret->name = text;
        ret->name_length = strcspn(text, "=;\" \t");
        text = skip_blanks(text + ret->name_length);
        if (*text == '=' && ret->name_length > 0)
            break;
        text += strcspn(text, ";"); /* a word without a value, a comment: not for us */
    }
    if (*text == 0)
        return false;
    text = skip_blanks(text + 1);
    str_clear(&ret->value);
    if (*text == '"') {
        for (text++; *text != 0 && *text != '"'; text++) {
            if (*text == '\\' && text[1] != 0)
                text++;
            str_append_char(&ret->value, *text);
        }
        text += *text == '"';
    } else {
        size_t length = strcspn(text, "; \t\r\n");
        str_append_bytes(&ret->value, text, length);
        text += length;
    }
    *at = text;
    return true;
}

/* RFC 2231's %XX; the first piece begins with charset'language'. */
static void append_extended(Str *target, const char *text, bool first) {
    if (first && strchr(text, '\'') != NULL && strchr(strchr(text, '\'') + 1, '\'') != NULL)
        text = strchr(strchr(text, '\'') + 1, '\'') + 1;
    for (; *text != 0; text++) {
        int high = text[0] == '%' ? hex_value(text[1]) : -1;
        int low = high >= 0 ? hex_value(text[2]) : -1;
        str_append_char(target, low >= 0 ? (char)(high << 4 | low) : *text);
        text += low >= 0 ? 2 : 0;
    }
}

/* Is the parameter `name`, or piece `piece` of it (name*N, name*N*), or name*? */
static bool names_piece(const Parameter *parameter, const char *name, int piece, bool *ret_extended) {
    size_t length = strlen(name);
    if (parameter->name_length < length || !text_starts_nocase(parameter->name, name))
        return false;
    const char *rest = parameter->name + length, *end = parameter->name + parameter->name_length;
    *ret_extended = false;
    if (rest == end)
        return piece == 0;
    if (*rest++ != '*')
        return false;
    bool numbered = rest < end && *rest >= '0' && *rest <= '9';
    int number = 0;
    while (rest < end && *rest >= '0' && *rest <= '9' && number < PIECES_MAX)
        number = number * 10 + (*rest++ - '0');
    *ret_extended = !numbered || (rest < end && *rest == '*');
    return number == piece;
}

const char *mime_parameter(Arena *arena, const char *value, const char *name) {
    if (value == NULL)
        return NULL;
    const char *list = value + strcspn(value, ";");
    Str whole;
    Parameter parameter = { 0 };
    str_init(&whole, PARAMETER_MAX);
    str_init(&parameter.value, PARAMETER_MAX);
    bool found = true;
    int piece = 0;
    for (; found && piece < PIECES_MAX; piece++) {
        const char *at = list;
        found = false;
        bool extended = false;
        while (!found && next_parameter(&at, &parameter))
            found = names_piece(&parameter, name, piece, &extended);
        if (found && extended)
            append_extended(&whole, parameter.value.data, piece == 0);
        else if (found)
            str_append(&whole, parameter.value.data);
    }
    bool some = piece > 1 || found;
    const char *copy = some && !whole.overflowed ? arena_copy(arena, whole.data, strlen(whole.data)) : NULL;
    str_free(&whole);
    str_free(&parameter.value);
    return copy;
}
