/* Fuzzing of command_read(): any text, and what must hold of every reading. For libFuzzer. */
#include "daemon/inbox/command.h"

#include "core/base/str.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_MAX = 8 * 1024 * 1024 };

#define HOLDS(what) \
    do {            \
        if (!(what)) \
            abort(); \
    } while (0)

/* The letters of a line that is resign, accept or withdraw and nothing else. */
static bool says(const char *line, const char *word) {
    size_t length = strlen(word);
    const char *at = strrchr(line, ' '); /* behind "game 43:" */
    at = at == NULL ? line : at + 1;
    return text_starts_nocase(at, word) && strspn(at + length, ".!") == strlen(at + length);
}

static void check_command(const Command *command) {
    HOLDS(command->line != NULL && command->argument != NULL && command->game >= 0);
    HOLDS((command->verb == VERB_MOVE) == (command->item_count > 0));
    HOLDS(command->item_count <= COMMAND_ITEMS_MAX);
    for (size_t i = 0; i < command->item_count; i++) {
        HOLDS(command->items[i].text[0] != 0 && strlen(command->items[i].text) < 64);
        HOLDS(command->items[i].number >= 0 && command->items[i].number <= 9999);
    }
    if (verb_needs_full_proof(command->verb)) {
        const char *line = command->line; /* "resign !" is told from "resign" by a blank */
        bool said = says(line, verb_name(command->verb)) || strstr(line, " !") != NULL || strstr(line, " .") != NULL;
        HOLDS(said);
    }
    HOLDS(command->line[0] != '|' && command->line[0] != '>');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = { "Tom Smith", "Ann Berg" };
    const CommandContext context = { names, 2, "en" };
    char *text = malloc(size + 1);
    if (text == NULL)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    Arena arena;
    arena_init(&arena, ARENA_MAX);
    CommandReading reading;
    HOLDS(command_read(&arena, text, &context, &reading));
    HOLDS(reading.count <= COMMANDS_MAX && reading.problem_line_count <= 8 && reading.asked_count <= 8);
    for (size_t i = 0; i < reading.count; i++)
        check_command(&reading.commands[i]);
    HOLDS((reading.problem == PROBLEM_NONE) == (reading.problem_line_count == 0));
    HOLDS(reading.problem != PROBLEM_NEAR_MISS || reading.meant != NULL);
    HOLDS(strlen(reading.remark) <= strlen(text));
    if (reading.problem == PROBLEM_NONE) {
        size_t bare = 0; /* moves of the letter's own game: one at most */
        for (size_t i = 0; i < reading.count; i++)
            bare += reading.commands[i].verb == VERB_MOVE && reading.commands[i].game == 0;
        HOLDS(bare <= 1);
    }
    arena_free(&arena);
    free(text);
    return 0;
}
