/* Reply trimming over any text: no line of the result is a quotation, and trimming it again takes nothing
 * that reads as new. */
#include "core/base/utf8.h"
#include "daemon/inbox/trim.h"
#include "daemon/inbox/trim_lines.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena;
    arena_init(&arena, 16 * 1024 * 1024);
    char *text = arena_copy(&arena, (const char *)data, size);
    const char *new_text = text != NULL ? trim_new_text(&arena, text) : NULL;
    for (const char *line = new_text; line != NULL && *line != 0;) {
        const char *end = strchr(line, '\n');
        size_t length = end != NULL ? (size_t)(end - line) : strlen(line);
        char *copy = arena_copy(&arena, line, length);
        if (copy != NULL && trim_is_quote(copy))
            abort();
        if (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t'))
            abort();
        line = end != NULL ? end + 1 : NULL;
    }
    arena_free(&arena);
    return 0;
}
