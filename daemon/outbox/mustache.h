/* Mustache: templates parsed once, rendered often (mustache(5); the public specification's interpolation, sections, inverted
 * sections, comments, partials and set delimiters; no lambdas, no inheritance).
 *
 * Values are jansson's. What counts as false: false, null, what is not there, the empty list and the empty string;
 * numbers (0 too) and the empty object are true. Numbers and true/false interpolate as JSON writes them, null, lists and
 * objects as nothing. A name with dots is looked up by its first part, the rest strictly inside; "." is the context itself.
 *
 * The parser checks all syntax, so that rendering fails only at a bound: depth, work, or the output's maximum. */
#ifndef EPISTLE_DAEMON_OUTBOX_MUSTACHE_H
#define EPISTLE_DAEMON_OUTBOX_MUSTACHE_H

#include "core/base/error.h"
#include "core/base/str.h"

#include <jansson.h>
#include <stddef.h>

enum {
    MUSTACHE_TEXT_MAX = 256 * 1024, /* of one template; ours are a few kB */
    MUSTACHE_DEPTH_MAX = 48,        /* sections and partials open at once */
    MUSTACHE_STEPS_MAX = 2000000,   /* nodes rendered: lists in lists in lists end here */
};

typedef struct Mustache Mustache;

/* `name` stands in the errors as "name:line: …" (ERROR_INPUT). The text is copied. */
Mustache *mustache_parse(const char *text, const char *name, Error *error);
void mustache_free(Mustache *mustache); /* NULL is fine */

/* The names of the partials it uses, one after another; NULL behind the last. */
const char *mustache_partial(const Mustache *mustache, size_t index);

typedef struct MustacheHost {
    void *data;
    /* The partial of that name, NULL for none (it renders as nothing). */
    const Mustache *(*partial)(void *data, const char *name);
    /* A text for a name whose first part no context has, NULL for none; valid until the next call. May itself be NULL. */
    const char *(*value)(void *data, const char *name);
    /* Appends {{value}} escaped; NULL: raw. {{{value}}} and {{&value}} are always raw. */
    void (*escape)(Str *out, const char *value);
} MustacheHost;

int mustache_run(const Mustache *mustache, const json_t *context, const MustacheHost *host, Str *out, Error *error);

#endif
