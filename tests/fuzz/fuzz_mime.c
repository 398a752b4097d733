/* The whole reading of a letter, in this process. */
#include "core/base/utf8.h"
#include "daemon/inbox/mime.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena;
    arena_init(&arena, 32 * 1024 * 1024);
    MimeResult result;
    mime_read(&arena, (const char *)data, size, &result);
    size_t length = strlen(result.text);
    if (length > MIME_TEXT_MAX || !utf8_valid(result.text, length) || strchr(result.text, '\r') != NULL)
        abort();
    if (strlen(result.report) > MIME_REPORT_MAX || result.kind > MIME_UNREADABLE)
        abort();
    arena_free(&arena);
    return 0;
}
