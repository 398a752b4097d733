#include "daemon/store/games.h"

#include <stdio.h>
#include <string.h>

static Instant index_due(const Game *game) {
    if (game_over(game) || game->running_since == INSTANT_NONE)
        return INSTANT_NONE;
    return game_deadline(game, INSTANT_NONE);
}

static void index_of(int64_t id, const Game *game, GameRow *ret_row) {
    *ret_row = (GameRow){ .id = id, .white = game->white, .black = game->black, .epoch = game->epoch, .ply = game->ply_count };
    ret_row->to_move = game_over(game) ? 0 : game_player(game, game_turn(game));
    ret_row->due = index_due(game);
    text_copy(ret_row->control, sizeof ret_row->control, game->control.text);
    text_copy(ret_row->result, sizeof ret_row->result, result_text(game->result));
    if (game->result == RESULT_VOID)
        text_copy(ret_row->result, sizeof ret_row->result, "void");
}

static int write_index(Store *store, int64_t id, const Game *game, Error *error) {
    GameRow row;
    index_of(id, game, &row);
    if (store_execute(store, error,
                      "UPDATE game SET epoch = ?2, ply = ?3, to_move = ?4, result = ?5, head = ?6, due = NULL WHERE id = ?1",
                      "iiiitt", id, (int64_t)row.epoch, (int64_t)row.ply, row.to_move, row.result, game->head) < 0)
        return -1;
    if (row.due != INSTANT_NONE)
        return store_execute(store, error, "UPDATE game SET due = ?2 WHERE id = ?1", "ii", id, row.due);
    return 0;
}

static int write_entry(Store *store, int64_t id, Entry *entry, Error *error) {
    Str line;
    str_init(&line, RECORD_LINE_MAX);
    int result = entry_write(entry, &line, error);
    bool positioned = entry->kind == ENTRY_MOVE || entry->kind == ENTRY_NOTICE || entry->kind == ENTRY_RESTORE;
    if (result == 0)
        result = store_execute(store, error,
                               "INSERT INTO entry(game, number, kind, epoch, ply, line) VALUES(?1, ?2, ?3, nullif(?4, -1), nullif(?5, -1), ?6)",
                               "iitiit", id, (int64_t)entry->number, entry_kind_name(entry->kind),
                               (int64_t)(positioned ? entry->epoch : -1), (int64_t)(positioned ? entry->ply : -1), line.data);
    str_free(&line);
    return result;
}

int game_append(Store *store, int64_t id, Game *game, Entry *entries, int count, Error *error) {
    for (int i = 0; i < count; i++)
        if (write_entry(store, id, &entries[i], error) < 0 || game_apply(game, &entries[i], error) < 0)
            return -1;
    return write_index(store, id, game, error);
}

static int plan_first(const char *control, const Position *initial, int64_t white, int64_t black, Instant start, Instant now, int64_t letter,
                      Entry *ret_first, Error *error) {
    Control parsed;
    if (control_read(control, &parsed, error) < 0)
        return -1;
    return game_plan_start(white, black, &parsed, initial, start, AUTHOR_SERVICE, now, letter, ret_first, error);
}

int game_create(Store *store, int64_t white, int64_t black, const char *control, const Position *initial, Instant start, Instant now,
                int64_t letter, int64_t *ret_id, Error *error) {
    Entry first;
    if (plan_first(control, initial, white, black, start, now, letter, &first, error) < 0)
        return -1;
    Game *game = game_new();
    if (game == NULL)
        return error_set(error, ERROR_LATER, 0, "no memory");
    int result = store_execute(store, error,
                               "INSERT INTO game(white, black, control, created, epoch, ply, result, head) VALUES(?1, ?2, ?3, ?4, 1, 0, '*', '')",
                               "iiti", white, black, first.control, now);
    if (result == 0) {
        *ret_id = store_last_id(store);
        result = game_append(store, *ret_id, game, &first, 1, error);
    }
    game_free(game);
    return result;
}

static int each_line(Store *store, int64_t id, int (*each)(void *data, const char *line, Error *error), void *data, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = store_query(store, error, &row, "SELECT line FROM entry WHERE game = ?1 ORDER BY number", "i", id);
    int count = 0;
    for (; found == 1; found = store_next(store, row, error), count++) {
        const char *line = (const char *)sqlite3_column_text(row, 0);
        if (line == NULL || each(data, line, error) < 0) {
            store_done(row);
            error_prefix(error, "game %lld", (long long)id);
            return -1;
        }
    }
    return found < 0 ? -1 : count;
}

static int apply_line(void *data, const char *line, Error *error) {
    return game_apply_line(data, line, error);
}

int game_load(Store *store, int64_t id, Game **ret_game, Error *error) {
    Game *game = game_new();
    if (game == NULL)
        return error_set(error, ERROR_LATER, 0, "no memory");
    int count = each_line(store, id, apply_line, game, error);
    if (count <= 0) {
        game_free(game);
        return count;
    }
    *ret_game = game;
    return 1;
}

static int append_line(void *data, const char *line, Error *error) {
    if (!str_append(data, line))
        return error_set(error, ERROR_LATER, 0, "the record is too long");
    return 0;
}

int game_record(Store *store, int64_t id, Str *ret_text, Error *error) {
    int count = each_line(store, id, append_line, ret_text, error);
    return count < 0 ? -1 : count > 0;
}

#define ROW_COLUMNS "SELECT id, white, black, epoch, ply, to_move, due, control, result FROM game "

static void read_row(sqlite3_stmt *statement, GameRow *ret_row) {
    *ret_row = (GameRow){
        .id = sqlite3_column_int64(statement, 0),
        .white = sqlite3_column_int64(statement, 1),
        .black = sqlite3_column_int64(statement, 2),
        .epoch = sqlite3_column_int(statement, 3),
        .ply = sqlite3_column_int(statement, 4),
        .to_move = sqlite3_column_int64(statement, 5),
        .due = sqlite3_column_type(statement, 6) == SQLITE_NULL ? INSTANT_NONE : sqlite3_column_int64(statement, 6),
    };
    column_text(statement, 7, ret_row->control, sizeof ret_row->control);
    column_text(statement, 8, ret_row->result, sizeof ret_row->result);
}

int game_row(Store *store, int64_t id, GameRow *ret_row, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = store_query(store, error, &row, ROW_COLUMNS "WHERE id = ?1", "i", id);
    if (found == 1)
        read_row(row, ret_row);
    store_done(row);
    return found;
}

int games_each(Store *store, int64_t player, bool running, int (*each)(void *data, const GameRow *row), void *data, Error *error) {
    sqlite3_stmt *row = NULL;
    int found;
    if (player == 0)
        found = store_query(store, error, &row, ROW_COLUMNS "WHERE ?1 = 0 OR result = '*' ORDER BY result <> '*', id", "i", (int64_t)running);
    else
        found = store_query(store, error, &row,
                            ROW_COLUMNS "WHERE id IN (SELECT id FROM game WHERE white = ?1 UNION SELECT id FROM game WHERE black = ?1)"
                                        " AND (?2 = 0 OR result = '*') ORDER BY result <> '*', id",
                            "ii", player, (int64_t)running);
    for (; found == 1; found = store_next(store, row, error)) {
        GameRow one;
        read_row(row, &one);
        if (each(data, &one) != 0) {
            store_done(row);
            return 0;
        }
    }
    return found < 0 ? -1 : 0;
}

/* ---- verify ---- */

typedef struct Verify {
    Store *store;
    void (*complain)(void *data, const char *sentence);
    void *data;
    int64_t games, entries, faults;
} Verify;

static void complain(Verify *verify, int64_t id, const char *what) {
    char sentence[ERROR_TEXT_MAX + 64];
    snprintf(sentence, sizeof sentence, "game %lld: %s", (long long)id, what);
    verify->faults++;
    verify->complain(verify->data, sentence);
}

static void compare_index(Verify *verify, const GameRow *row, const Game *game, const char *head) {
    GameRow right;
    index_of(row->id, game, &right);
    if (right.white != row->white || right.black != row->black || strcmp(right.control, row->control) != 0)
        complain(verify, row->id, "the index names other players or another time control than the record");
    if (right.epoch != row->epoch || right.ply != row->ply || right.to_move != row->to_move)
        complain(verify, row->id, "the index differs from the record in ply or side to move");
    if (right.due != row->due)
        complain(verify, row->id, "the index differs from the record in the due time");
    if (strcmp(right.result, row->result) != 0)
        complain(verify, row->id, "the index differs from the record in the result");
    if (strcmp(game->head, head) != 0)
        complain(verify, row->id, "the last hash in the index is not that of the record");
}

static int verify_one(Verify *verify, const GameRow *row, Error *error) {
    Game *game = NULL;
    Error fault;
    error_clear(&fault);
    verify->games++;
    int found = game_load(verify->store, row->id, &game, &fault);
    if (found < 0 && fault.grade != ERROR_DAMAGED)
        return error_set(error, fault.grade, fault.code, "%s", fault.text);
    if (found <= 0) {
        complain(verify, row->id, found == 0 ? "it has no record" : fault.text);
        return 0;
    }
    verify->entries += game->entry_count;
    char head[SHA256_HEX_SIZE];
    sqlite3_stmt *statement = NULL;
    found = store_query(verify->store, error, &statement, "SELECT head FROM game WHERE id = ?1", "i", row->id);
    if (found == 1) {
        column_text(statement, 0, head, sizeof head);
        store_done(statement);
        compare_index(verify, row, game, head);
    }
    game_free(game);
    return found < 0 ? -1 : 0;
}

int games_verify(Store *store, void (*say)(void *data, const char *sentence), void *data, int64_t *ret_games, int64_t *ret_entries, Error *error) {
    Verify verify = { .store = store, .complain = say, .data = data };
    int64_t id = 0;
    GameRow row;
    for (;;) {
        int found = store_query_int(store, error, &id, "SELECT min(id) FROM game WHERE id > ?1", "i", id);
        if (found < 0)
            return -1;
        if (found == 0)
            break;
        if (game_row(store, id, &row, error) < 0 || verify_one(&verify, &row, error) < 0)
            return -1;
    }
    *ret_games = verify.games;
    *ret_entries = verify.entries;
    return (int)verify.faults;
}
