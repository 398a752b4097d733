/* Address lists: whatever comes out is one address on one line, with one '@' that counts. */
#include "core/base/utf8.h"
#include "daemon/inbox/header.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { MOST = 8 };
    Arena arena;
    arena_init(&arena, 16 * 1024 * 1024);
    char *value = arena_copy(&arena, (const char *)data, size);
    const char *addresses[MOST], *names[MOST];
    size_t count = value != NULL ? header_addresses(&arena, value, addresses, names, MOST) : 0;
    for (size_t i = 0; i < count && i < MOST; i++) {
        const char *address = addresses[i], *at = strrchr(address, '@'), *again[2];
        if (at == NULL || at == address || at[1] == 0 || !utf8_valid(address, strlen(address)))
            abort();
        if (strpbrk(at, " \t\r\n<>,;\"\\") != NULL)
            abort();
        /* What we read as an address reads as the same address alone. */
        if (header_addresses(&arena, address, again, NULL, 2) != 1 || strcmp(again[0], address) != 0)
            abort();
    }
    arena_free(&arena);
    return 0;
}
