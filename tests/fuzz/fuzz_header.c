/* The header scanner and what reads its fields. */
#include "daemon/inbox/arrival.h"
#include "daemon/inbox/automatic.h"
#include "daemon/inbox/header.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena;
    arena_init(&arena, 16 * 1024 * 1024);
    Header header;
    if (header_scan(&arena, (const char *)data, size, &header)) {
        if (header.body > size || header.count > HEADER_FIELDS_MAX)
            abort();
        for (size_t i = 0; i < header.count; i++) {
            const char *ids[4], *value = header.fields[i].value;
            if (strpbrk(value, "\r\n\t") != NULL)
                abort();
            const char *decoded = header_decode(&arena, value);
            if (decoded != NULL && strpbrk(decoded, "\r\n") != NULL)
                abort();
            header_message_ids(&arena, value, ids, 4);
        }
        const char *why;
        static const char *const hosts[] = { "mx.club.example" };
        automatic_kind(&header, "chess@club.example", &why);
        if (arrival_of(&header, hosts, 1, INSTANT_NONE, INSTANT_NONE, INSTANT_NONE, 1000000) > 1000000)
            abort();
    }
    arena_free(&arena);
    return 0;
}
