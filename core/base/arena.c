#include "core/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_SIZE = 16 * 1024, /* most letters fit in one */
    ALIGNMENT = 16,
};

typedef struct ArenaBlock {
    struct ArenaBlock *next;
    size_t size;
    size_t used;
    size_t reserved; /* keeps the bytes behind the head aligned */
} ArenaBlock;

void arena_init(Arena *arena, size_t maximum) {
    *arena = (Arena){ .maximum = maximum };
}

void arena_free(Arena *arena) {
    ArenaBlock *block = arena->blocks;
    while (block != NULL) {
        ArenaBlock *next = block->next;
        free(block);
        block = next;
    }
    arena_init(arena, arena->maximum);
}

void arena_reset(Arena *arena) {
    ArenaBlock *kept = NULL;
    for (ArenaBlock *block = arena->blocks; block != NULL;) {
        ArenaBlock *next = block->next;
        if (kept == NULL && block->size == BLOCK_SIZE)
            kept = block;
        else
            free(block);
        block = next;
    }
    arena_init(arena, arena->maximum);
    if (kept == NULL)
        return;
    memset(kept + 1, 0, kept->used);
    kept->used = 0;
    kept->next = NULL;
    arena->blocks = kept;
}

void *arena_alloc(Arena *arena, size_t size) {
    if (size > arena->maximum || size > SIZE_MAX / 2) {
        arena->exhausted = true;
        return NULL;
    }
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (size == 0)
        size = ALIGNMENT;
    if (arena->exhausted || size > arena->maximum - arena->used) {
        arena->exhausted = true;
        return NULL;
    }
    ArenaBlock *block = arena->blocks;
    if (block == NULL || block->size - block->used < size) {
        size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
        block = calloc(1, sizeof *block + room);
        if (block == NULL) {
            arena->exhausted = true;
            return NULL;
        }
        block->size = room;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    void *piece = (char *)(block + 1) + block->used;
    block->used += size;
    arena->used += size;
    return piece;
}

char *arena_copy(Arena *arena, const char *text, size_t length) {
    char *copy = length < SIZE_MAX ? arena_alloc(arena, length + 1) : NULL;
    if (copy != NULL && length > 0)
        memcpy(copy, text, length);
    return copy;
}

char *arena_printf(Arena *arena, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : arena_alloc(arena, (size_t)length + 1);
    if (text != NULL)
        vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}
