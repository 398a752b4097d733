/* Templates: Mustache (the public specification's interpolation, sections, inverted, comments, partials, set delimiters) in Markdown files,
 * templates/LANG/NAME.md, and each language's words file templates/LANG/words.ini with ICU MessageFormat patterns (RULINGS 40).
 * All files are read once at start; a name that comes from a letter is looked up in that list, never joined to a path (RULINGS 50). */
#ifndef EPISTLE_DAEMON_OUTBOX_TEMPLATE_H
#define EPISTLE_DAEMON_OUTBOX_TEMPLATE_H

#include "core/base/error.h"
#include "core/base/str.h"

#include <jansson.h>
#include <stdbool.h>

typedef struct Templates Templates;

/* Reads every language folder below `folder`. Syntax errors in a template or pattern are errors here (file and line), not at rendering. */
Templates *templates_open(const char *folder, Error *error);
void templates_close(Templates *templates); /* NULL is fine */

bool templates_have_language(const Templates *templates, const char *language);

typedef enum TemplateEscape { ESCAPE_NONE, ESCAPE_MARKDOWN } TemplateEscape;

/* Renders template `name` of `language` (else of "en") with `context`. Partials are templates of the same language. A section
 * {{#words.NAME}}…{{/words.NAME}} or {{words.NAME}} puts the words file's entry; entries with arguments are called from
 * the context by view.c. Depth and output are bounded. */
int template_render(const Templates *templates, const char *language, const char *name, const json_t *context, TemplateEscape escape, Str *out, Error *error);

/* The renderer alone, on a text (for the specification's cases). partials: an object of name → text, or NULL. escape_html: {{x}} escapes as HTML. */
int mustache_render(const char *text, const json_t *context, const json_t *partials, bool escape_html, Str *out, Error *error);

/* One entry of the words file; integer arguments {0} {1} … by plural rules. ERROR_INPUT if there is none of that name. */
int words_format(const Templates *templates, const char *language, const char *name, const int64_t *arguments, int argument_count, Str *out, Error *error);

#endif
