/* Fuzzes the game record. The first byte chooses: a line, a whole record, or a game whose entries are made from the bytes
 * with the right number and hash, so that the chain does not keep the fuzzer from the rules. */
#include "core/game/game.h"

#include "core/base/str.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds) {
    if (!holds)
        abort();
}

/* Whatever is read is written again in the same bytes. */
static void fuzz_line(const char *text) {
    Entry entry;
    Error error = { .grade = ERROR_NONE };
    if (entry_read(text, &entry, &error) < 0) {
        demand(error.grade == ERROR_DAMAGED && error.text[0] != 0);
        return;
    }
    Str line;
    Entry again = entry;
    str_init(&line, RECORD_LINE_MAX);
    demand(entry_write(&again, &line, NULL) == 0);
    size_t length = strlen(text);
    length -= length > 0 && text[length - 1] == '\n';
    demand(line.length == length + 1 && memcmp(line.data, text, length) == 0);
    demand(strcmp(again.hash, entry.hash) == 0);
    str_free(&line);
}

static void fuzz_record(const char *text, size_t length) {
    Error error = { .grade = ERROR_NONE };
    Game *game = game_replay(text, length, &error);
    demand(game != NULL || error.grade == ERROR_DAMAGED);
    game_free(game);
}

typedef struct Bytes {
    const uint8_t *at;
    size_t left;
} Bytes;

static unsigned take(Bytes *bytes) {
    if (bytes->left == 0)
        return 0;
    bytes->left--;
    return *bytes->at++;
}

/* Up to size - 1 bytes, to the next zero. */
static void take_text(Bytes *bytes, char *target, size_t size) {
    size_t length = 0;
    for (unsigned byte; length + 1 < size && (byte = take(bytes)) != 0;)
        target[length++] = (char)byte;
    target[length] = 0;
}

static Instant take_instant(Bytes *bytes) {
    unsigned kind = take(bytes);
    if (kind == 255)
        return INSTANT_NONE;
    uint64_t value = 0;
    for (int i = 0; i < (kind < 250 ? 3 : 8); i++)
        value = value << 8 | take(bytes);
    return kind < 250 ? 1796004551 + (Instant)value : (Instant)value;
}

static void take_entry(Bytes *bytes, const Game *game, Entry *ret_entry) {
    unsigned kind = take(bytes), bits = take(bytes);
    Entry entry;
    game_next_entry(game, (EntryKind)(kind % 10), (Author)(bits & 3), take_instant(bytes), bits >> 6, &entry);
    entry.epoch = game->epoch + (bits >> 2 & 1) + (entry.kind == ENTRY_RESTORE);
    entry.ply = game->ply_count + (entry.kind == ENTRY_MOVE) - (bits >> 3 & 1);
    entry.to = (Author)(bits >> 4 & 3);
    if (entry.kind == ENTRY_START) {
        entry.rules_version = RULES_VERSION;
        entry.white = 1 + take(bytes);
        entry.black = 1 + take(bytes);
        entry.start = take_instant(bytes);
        take_text(bytes, entry.control, sizeof entry.control);
        take_text(bytes, entry.fen, sizeof entry.fen);
    }
    if (entry.kind == ENTRY_MOVE) {
        take_text(bytes, entry.uci, sizeof entry.uci);
        take_text(bytes, entry.san, sizeof entry.san);
        entry.charged = take_instant(bytes);
        entry.late = take(bytes);
        entry.offer = bits >> 7;
    }
    if (entry.kind == ENTRY_RESULT) {
        entry.result = (Result)(take(bytes) % 8);
        entry.reason = (Reason)(take(bytes) % 9);
    }
    *ret_entry = entry;
}

/* The entries an act would add; any number of them fits. */
static int plan(Bytes *bytes, const Game *game, Entry entries[2]) {
    unsigned act = take(bytes), value = take(bytes);
    Colour by = (Colour)(act & 1);
    Instant at = take_instant(bytes);
    bool offer = act & 2;
    switch (act >> 2 & 7) {
    case 0:
        return game_plan_move(game, (Move)(value << 8 | take(bytes)), at, 1, offer, entries, NULL);
    case 1:
        return game_plan_notice(game, by, game->epoch, game->ply_count, at, 2, entries, NULL);
    case 2:
        return game_plan_offer(game, by, at, 3, entries, NULL);
    case 3:
        return game_plan_accept(game, by, at, 4, entries, NULL);
    case 4:
        return game_plan_decline(game, by, at, 5, entries, NULL);
    case 5:
        return game_plan_resign(game, by, at, 6, entries, NULL);
    case 6:
        return game_plan_ruling(game, (Result)(value % 7), at, 0, entries, NULL);
    default:
        return game_plan_restore(game, (int)value - 1, at, 0, entries, NULL);
    }
}

static void apply(Game *game, Entry *entry, bool planned, Str *record) {
    int count = game->entry_count;
    bool done = game_apply(game, entry, NULL) == 0;
    demand(done || !planned);
    demand(game->entry_count == count + done);
    if (done)
        demand(entry_write(entry, record, NULL) == 0);
}

static void fuzz_game(Bytes bytes) {
    Game *game = game_new();
    Str record;
    str_init(&record, 1 << 20);
    Control control;
    Entry entries[2];
    if (game == NULL)
        return;
    if (bytes.left > 0 && (bytes.at[0] & 1) != 0) {
        demand(control_read(bytes.at[0] & 2 ? "10/50d" : "3d/move", &control, NULL) == 0);
        demand(game_plan_start(1, 2, &control, NULL, INSTANT_NONE, AUTHOR_SERVICE, 1796004551, 0, &entries[0], NULL) == 1);
        apply(game, &entries[0], true, &record);
    }
    while (bytes.left > 0 && game->entry_count < 500) {
        if (take(&bytes) & 1) {
            take_entry(&bytes, game, &entries[0]);
            apply(game, &entries[0], false, &record);
        } else {
            int count = plan(&bytes, game, entries);
            for (int i = 0; i < count; i++)
                apply(game, &entries[i], true, &record);
        }
    }
    if (game->entry_count > 0 && game->due_result_ == RESULT_NONE) {
        Game *again = game_replay(record.data, record.length, NULL);
        demand(again != NULL && strcmp(again->head, game->head) == 0);
        game_free(again);
    }
    str_free(&record);
    game_free(game);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    char *text = malloc(size);
    if (text == NULL)
        return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    if (data[0] % 3 == 0)
        fuzz_line(text);
    else if (data[0] % 3 == 1)
        fuzz_record(text, size - 1);
    else
        fuzz_game((Bytes){ data + 1, size - 1 });
    free(text);
    return 0;
}
