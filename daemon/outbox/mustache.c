#include "daemon/outbox/mustache.h"

#include "daemon/outbox/template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum NodeKind {
    NODE_TEXT,
    NODE_LINE, /* a line of the template begins: a partial's indentation goes here */
    NODE_VALUE,
    NODE_RAW,
    NODE_SECTION,
    NODE_INVERTED,
    NODE_END,
    NODE_PARTIAL,
} NodeKind;

typedef struct Node {
    NodeKind kind;
    const char *text; /* literal text, or the name; both in Mustache.words */
    size_t length;    /* of a literal */
    const char *indent; /* NODE_PARTIAL alone on its line: the blanks before it, "" otherwise */
    size_t end;       /* sections: index of their NODE_END */
    int line;
} Node;

struct Mustache {
    char *words; /* the template's text; names and literals point into it or into copies */
    char **copies;
    size_t copy_count;
    Node *nodes;
    size_t count, room;
};

enum { DELIMITER_MAX = 16 };

typedef struct Parser {
    Mustache *mustache;
    const char *name;
    const char *text;
    size_t at, length;
    char open[DELIMITER_MAX], close[DELIMITER_MAX];
    size_t sections[MUSTACHE_DEPTH_MAX];
    size_t depth;
    bool line_start;
    Error *error;
} Parser;

static int line_at(const Parser *parser, size_t at) {
    int line = 1;
    for (size_t i = 0; i < at && i < parser->length; i++)
        line += parser->text[i] == '\n';
    return line;
}

static int fail(Parser *parser, size_t at, const char *what) {
    return error_set(parser->error, ERROR_INPUT, 0, "%s:%d: %s.", parser->name, line_at(parser, at), what);
}

static Node *add_node(Parser *parser, NodeKind kind) {
    Mustache *mustache = parser->mustache;
    if (mustache->count == mustache->room) {
        size_t room = mustache->room == 0 ? 64 : mustache->room * 2;
        Node *nodes = realloc(mustache->nodes, room * sizeof *nodes);
        if (nodes == NULL) {
            error_set(parser->error, ERROR_LATER, 0, "There is no memory for the template %s.", parser->name);
            return NULL;
        }
        mustache->nodes = nodes;
        mustache->room = room;
    }
    Node *node = &mustache->nodes[mustache->count++];
    *node = (Node){ .kind = kind, .indent = "" };
    return node;
}

static const char *keep(Parser *parser, const char *text, size_t length) {
    Mustache *mustache = parser->mustache;
    char **copies = realloc(mustache->copies, (mustache->copy_count + 1) * sizeof *copies);
    if (copies != NULL)
        mustache->copies = copies;
    char *copy = copies == NULL ? NULL : strndup(text, length);
    if (copy == NULL) {
        error_set(parser->error, ERROR_LATER, 0, "There is no memory for the template %s.", parser->name);
        return NULL;
    }
    return mustache->copies[mustache->copy_count++] = copy;
}

/* A literal, cut into lines, so that a partial's indentation can stand before each that is not empty. */
static int add_text(Parser *parser, size_t from, size_t to) {
    while (from < to) {
        const char *start = parser->text + from;
        const char *end = memchr(start, '\n', to - from);
        size_t length = end == NULL ? to - from : (size_t)(end - start) + 1;
        bool empty = start[0] == '\n' || (start[0] == '\r' && length == 2);
        if (parser->line_start && !empty && add_node(parser, NODE_LINE) == NULL)
            return -1;
        Node *node = add_node(parser, NODE_TEXT);
        if (node == NULL)
            return -1;
        node->text = parser->mustache->words + from;
        node->length = length;
        parser->line_start = end != NULL;
        from += length;
    }
    return 0;
}

static bool blank(char byte) {
    return byte == ' ' || byte == '\t';
}

/* Whether only blanks stand between the line's start and its end around [from, to); *ret_from is the line's start, *ret_to
 * the start of the next. */
static bool stands_alone(const Parser *parser, size_t from, size_t to, size_t *ret_from, size_t *ret_to) {
    while (from > 0 && blank(parser->text[from - 1]))
        from--;
    if (from > 0 && parser->text[from - 1] != '\n')
        return false;
    while (to < parser->length && blank(parser->text[to]))
        to++;
    if (to < parser->length && parser->text[to] == '\r')
        to++;
    if (to < parser->length && parser->text[to] != '\n')
        return false;
    *ret_from = from;
    *ret_to = to < parser->length ? to + 1 : to;
    return true;
}

static int set_delimiters(Parser *parser, size_t at, const char *inside, size_t length) {
    char text[2 * DELIMITER_MAX + 8];
    if (length < 2 || inside[length - 1] != '=' || length - 1 >= sizeof text)
        return fail(parser, at, "delimiters are set as {{=<% %>=}}");
    memcpy(text, inside, length - 1);
    text[length - 1] = 0;
    char left[DELIMITER_MAX], right[DELIMITER_MAX];
    size_t used[2] = { 0, 0 };
    char *targets[2] = { left, right };
    const char *scan = text;
    for (int i = 0; i < 2; i++) {
        scan += strspn(scan, " \t\r\n");
        size_t size = strcspn(scan, " \t\r\n");
        if (size == 0 || size >= DELIMITER_MAX || memchr(scan, '=', size) != NULL)
            return fail(parser, at, "delimiters are set as {{=<% %>=}}");
        memcpy(targets[i], scan, size);
        targets[i][size] = 0;
        used[i] = size;
        scan += size;
    }
    scan += strspn(scan, " \t\r\n");
    if (*scan != 0)
        return fail(parser, at, "delimiters are set as {{=<% %>=}}");
    memcpy(parser->open, left, used[0] + 1);
    memcpy(parser->close, right, used[1] + 1);
    return 0;
}

static int close_section(Parser *parser, size_t at, const char *name) {
    Mustache *mustache = parser->mustache;
    if (parser->depth == 0)
        return fail(parser, at, "a section is closed here that is not open");
    size_t open = parser->sections[--parser->depth];
    if (strcmp(mustache->nodes[open].text, name) != 0) {
        return error_set(parser->error, ERROR_INPUT, 0, "%s:%d: the section \"%s\" of line %d is closed as \"%s\".", parser->name,
                         line_at(parser, at), mustache->nodes[open].text, mustache->nodes[open].line, name);
    }
    if (add_node(parser, NODE_END) == NULL)
        return -1;
    mustache->nodes[open].end = mustache->count - 1;
    return 0;
}

/* One tag; parser->at stands at its opening delimiter, `start` where the text before it that is not yet added begins. */
static int read_tag(Parser *parser, size_t *start) {
    size_t at = parser->at;
    const char *text = parser->text;
    size_t inside = at + strlen(parser->open);
    bool triple = strcmp(parser->open, "{{") == 0 && text[inside] == '{';
    char close[DELIMITER_MAX + 1];
    snprintf(close, sizeof close, "%s%s", triple ? "}" : "", parser->close);
    const char *end = strstr(text + inside + (triple ? 1 : 0), close);
    if (end == NULL)
        return fail(parser, at, "a tag is not closed");
    size_t stop = (size_t)(end - text);
    size_t next = stop + strlen(close);

    char sigil = triple ? '{' : text[inside];
    bool has_sigil = sigil != 0 && strchr("{&#^/>!=", sigil) != NULL;
    size_t from = inside + (has_sigil ? 1 : 0);
    size_t to = stop;
    if (from > to)
        return fail(parser, at, "a tag is empty");
    while (from < to && strchr(" \t\r\n", text[from]) != NULL)
        from++;
    while (to > from && strchr(" \t\r\n", text[to - 1]) != NULL)
        to--;

    size_t line_from, line_to;
    bool alone = has_sigil && sigil != '{' && sigil != '&' && stands_alone(parser, at, next, &line_from, &line_to);
    if (add_text(parser, *start, alone ? line_from : at) != 0)
        return -1;
    const char *indent = "";
    if (alone && sigil == '>' && (indent = keep(parser, text + line_from, at - line_from)) == NULL)
        return -1;
    *start = parser->at = alone ? line_to : next;
    if (sigil == '!' || sigil == '=') {
        if (!alone && parser->line_start) {
            if (add_node(parser, NODE_LINE) == NULL)
                return -1;
            parser->line_start = false;
        }
        return sigil == '!' ? 0 : set_delimiters(parser, at, text + from, to - from);
    }
    if (from == to)
        return fail(parser, at, "a tag is empty");
    for (size_t i = from; i < to; i++)
        if (strchr(" \t\r\n{}", text[i]) != NULL)
            return fail(parser, at, "a name holds blanks or braces");
    const char *name = keep(parser, text + from, to - from);
    if (name == NULL)
        return -1;
    if (!alone && parser->line_start) {
        if (add_node(parser, NODE_LINE) == NULL)
            return -1;
        parser->line_start = false;
    }
    if (sigil == '/')
        return close_section(parser, at, name);
    static const struct { char sigil; NodeKind kind; } kinds[] = {
        { '{', NODE_RAW }, { '&', NODE_RAW }, { '#', NODE_SECTION }, { '^', NODE_INVERTED }, { '>', NODE_PARTIAL },
    };
    NodeKind kind = NODE_VALUE;
    for (size_t i = 0; has_sigil && i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i].sigil == sigil)
            kind = kinds[i].kind;
    Node *node = add_node(parser, kind);
    if (node == NULL)
        return -1;
    node->text = name;
    node->indent = indent;
    node->line = line_at(parser, at);
    if (kind == NODE_SECTION || kind == NODE_INVERTED) {
        if (parser->depth == MUSTACHE_DEPTH_MAX)
            return fail(parser, at, "sections are nested too deeply");
        parser->sections[parser->depth++] = parser->mustache->count - 1;
    }
    return 0;
}

Mustache *mustache_parse(const char *text, const char *name, Error *error) {
    size_t length = strlen(text);
    if (length > MUSTACHE_TEXT_MAX) {
        error_set(error, ERROR_INPUT, 0, "The template %s is longer than %d bytes.", name, MUSTACHE_TEXT_MAX);
        return NULL;
    }
    Mustache *mustache = calloc(1, sizeof *mustache);
    if (mustache == NULL || (mustache->words = strdup(text)) == NULL) {
        free(mustache);
        error_set(error, ERROR_LATER, 0, "There is no memory for the template %s.", name);
        return NULL;
    }
    Parser parser = { .mustache = mustache, .name = name, .text = mustache->words, .length = length,
                      .open = "{{", .close = "}}", .line_start = true, .error = error };
    size_t start = 0;
    for (;;) {
        const char *tag = strstr(parser.text + parser.at, parser.open);
        if (tag == NULL)
            break;
        parser.at = (size_t)(tag - parser.text);
        if (read_tag(&parser, &start) != 0)
            goto failed;
    }
    if (add_text(&parser, start, length) != 0)
        goto failed;
    if (parser.depth > 0) {
        const Node *node = &mustache->nodes[parser.sections[parser.depth - 1]];
        error_set(error, ERROR_INPUT, 0, "%s:%d: the section \"%s\" is not closed.", name, node->line, node->text);
        goto failed;
    }
    return mustache;
failed:
    mustache_free(mustache);
    return NULL;
}

void mustache_free(Mustache *mustache) {
    if (mustache == NULL)
        return;
    for (size_t i = 0; i < mustache->copy_count; i++)
        free(mustache->copies[i]);
    free(mustache->copies);
    free(mustache->nodes);
    free(mustache->words);
    free(mustache);
}

const char *mustache_partial(const Mustache *mustache, size_t index) {
    for (size_t i = 0; i < mustache->count; i++)
        if (mustache->nodes[i].kind == NODE_PARTIAL && index-- == 0)
            return mustache->nodes[i].text;
    return NULL;
}

/* Rendering. */

typedef struct Run {
    const MustacheHost *host;
    const json_t *stack[2 * MUSTACHE_DEPTH_MAX + 2];
    size_t depth;  /* of the stack */
    int partials;  /* open now */
    long steps;
    Str indent;
    Str *out;
    Error *error;
} Run;

/* The value of a name: *ret_text for one of the host's, else JSON or NULL. */
static const json_t *look_up(const Run *run, const char *name, const char **ret_text) {
    *ret_text = NULL;
    if (strcmp(name, ".") == 0)
        return run->stack[run->depth - 1];
    size_t size = strcspn(name, ".");
    const json_t *value = NULL;
    for (size_t i = run->depth; i-- > 0 && value == NULL;)
        value = json_object_getn(run->stack[i], name, size);
    if (value == NULL) {
        if (run->host->value != NULL)
            *ret_text = run->host->value(run->host->data, name);
        return NULL;
    }
    while (name[size] == '.' && value != NULL) {
        name += size + 1;
        size = strcspn(name, ".");
        value = json_object_getn(value, name, size);
    }
    return value;
}

static bool truthy(const json_t *value, const char *text) {
    if (text != NULL)
        return *text != 0;
    if (value == NULL || json_is_null(value) || json_is_false(value))
        return false;
    if (json_is_array(value))
        return json_array_size(value) > 0;
    return !json_is_string(value) || json_string_length(value) > 0;
}

/* The shortest decimal that reads back as the same number. */
static void write_real(double number, char *text, size_t size) {
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            return;
    }
}

static void write_value(Run *run, const Node *node) {
    const char *text;
    const json_t *value = look_up(run, node->text, &text);
    char number[64];
    if (text == NULL && json_is_string(value)) {
        text = json_string_value(value);
    } else if (json_is_integer(value)) {
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        text = number;
    } else if (json_is_real(value)) {
        write_real(json_real_value(value), number, sizeof number);
        text = number;
    } else if (json_is_boolean(value)) {
        text = json_is_true(value) ? "true" : "false";
    }
    if (text == NULL)
        return;
    if (node->kind == NODE_RAW || run->host->escape == NULL)
        str_append(run->out, text);
    else
        run->host->escape(run->out, text);
}

static int run_nodes(Run *run, const Mustache *mustache, size_t from, size_t to);

static int run_inside(Run *run, const Mustache *mustache, size_t from, size_t to, const json_t *context) {
    if (run->depth == sizeof run->stack / sizeof run->stack[0])
        return error_set(run->error, ERROR_INPUT, 0, "Sections of a template are nested too deeply.");
    run->stack[run->depth++] = context;
    int result = run_nodes(run, mustache, from, to);
    run->depth--;
    return result;
}

static int run_section(Run *run, const Mustache *mustache, size_t at) {
    const Node *node = &mustache->nodes[at];
    const char *text;
    const json_t *value = look_up(run, node->text, &text);
    bool yes = truthy(value, text);
    if (node->kind == NODE_INVERTED)
        return yes ? 0 : run_nodes(run, mustache, at + 1, node->end);
    if (!yes)
        return 0;
    if (text != NULL)
        return run_nodes(run, mustache, at + 1, node->end);
    if (!json_is_array(value))
        return run_inside(run, mustache, at + 1, node->end, value);
    for (size_t i = 0; i < json_array_size(value); i++)
        if (run_inside(run, mustache, at + 1, node->end, json_array_get(value, i)) != 0)
            return -1;
    return 0;
}

static int run_partial(Run *run, const Node *node) {
    const Mustache *partial = run->host->partial == NULL ? NULL : run->host->partial(run->host->data, node->text);
    if (partial == NULL)
        return 0;
    if (run->partials == MUSTACHE_DEPTH_MAX)
        return error_set(run->error, ERROR_INPUT, 0, "The partial \"%s\" calls itself without an end.", node->text);
    size_t before = run->indent.length;
    str_append(&run->indent, node->indent);
    run->partials++;
    int result = run_nodes(run, partial, 0, partial->count);
    run->partials--;
    str_truncate(&run->indent, before);
    return result;
}

static int run_nodes(Run *run, const Mustache *mustache, size_t from, size_t to) {
    for (size_t at = from; at < to; at++) {
        const Node *node = &mustache->nodes[at];
        if (++run->steps > MUSTACHE_STEPS_MAX)
            return error_set(run->error, ERROR_INPUT, 0, "A template takes too much work to render.");
        switch (node->kind) {
        case NODE_TEXT:
            str_append_bytes(run->out, node->text, node->length);
            break;
        case NODE_LINE:
            str_append_bytes(run->out, run->indent.data, run->indent.length);
            break;
        case NODE_VALUE:
        case NODE_RAW:
            write_value(run, node);
            break;
        case NODE_SECTION:
        case NODE_INVERTED:
            if (run_section(run, mustache, at) != 0)
                return -1;
            at = node->end;
            break;
        case NODE_PARTIAL:
            if (run_partial(run, node) != 0)
                return -1;
            break;
        case NODE_END:
            break;
        }
        if (run->out->overflowed)
            return error_set(run->error, ERROR_INPUT, 0, "A rendered template is longer than %zu bytes.", run->out->maximum);
    }
    return 0;
}

int mustache_run(const Mustache *mustache, const json_t *context, const MustacheHost *host, Str *out, Error *error) {
    Run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return error_set(error, ERROR_LATER, 0, "There is no memory to render a template.");
    run->host = host;
    run->stack[run->depth++] = context;
    run->out = out;
    run->error = error;
    str_init(&run->indent, 4096);
    int result = run_nodes(run, mustache, 0, mustache->count);
    str_free(&run->indent);
    free(run);
    return result;
}

/* mustache_render(): partials are parsed as they are called and kept till the end. */

enum { CACHE_MAX = 64 };

typedef struct Cache {
    const json_t *texts;
    const char *names[CACHE_MAX];
    Mustache *parsed[CACHE_MAX];
    size_t count;
    Error error; /* of the first partial that could not be parsed */
} Cache;

static const Mustache *cache_partial(void *data, const char *name) {
    Cache *cache = data;
    for (size_t i = 0; i < cache->count; i++)
        if (strcmp(cache->names[i], name) == 0)
            return cache->parsed[i];
    const char *text = json_string_value(json_object_get(cache->texts, name));
    if (text == NULL || cache->count == CACHE_MAX)
        return NULL;
    cache->names[cache->count] = name; /* belongs to a parsed template that lives as long as the cache */
    Mustache *parsed = mustache_parse(text, name, cache->error.grade == ERROR_NONE ? &cache->error : NULL);
    cache->parsed[cache->count++] = parsed;
    return parsed;
}

static void escape_as_html(Str *out, const char *value) {
    for (; *value != 0; value++) {
        switch (*value) {
        case '&': str_append(out, "&amp;"); break;
        case '<': str_append(out, "&lt;"); break;
        case '>': str_append(out, "&gt;"); break;
        case '"': str_append(out, "&quot;"); break;
        default: str_append_char(out, *value);
        }
    }
}

int mustache_render(const char *text, const json_t *context, const json_t *partials, bool escape_html, Str *out, Error *error) {
    Mustache *mustache = mustache_parse(text, "template", error);
    if (mustache == NULL)
        return -1;
    Cache cache = { .texts = partials };
    MustacheHost host = { .data = &cache, .partial = cache_partial, .escape = escape_html ? escape_as_html : NULL };
    int result = mustache_run(mustache, context, &host, out, error);
    if (result == 0 && cache.error.grade != ERROR_NONE) {
        if (error != NULL)
            *error = cache.error;
        result = -1;
    }
    for (size_t i = 0; i < cache.count; i++)
        mustache_free(cache.parsed[i]);
    mustache_free(mustache);
    return result;
}
