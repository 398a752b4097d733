/* Arena: memory for one letter (or one request), given back all at once.
 *
 * Hands out zeroed, 16-byte aligned pieces until `maximum` bytes are out; then NULL, and
 * `exhausted` stays true until the arena is freed. Nothing handed out is freed singly. */
#ifndef EPISTLE_CORE_BASE_ARENA_H
#define EPISTLE_CORE_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct ArenaBlock;

typedef struct Arena {
    struct ArenaBlock *blocks;
    size_t used;
    size_t maximum;
    bool exhausted;
} Arena;

void arena_init(Arena *arena, size_t maximum);
void arena_free(Arena *arena); /* the arena can be used again afterwards */

/* As arena_free(), but keeps a small block for the next use: for a loop that wants an arena for each of many things. */
void arena_reset(Arena *arena);

void *arena_alloc(Arena *arena, size_t size);
char *arena_copy(Arena *arena, const char *text, size_t length); /* adds a NUL */
char *arena_printf(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
