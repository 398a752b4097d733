#include "daemon/store/letters_out.h"

#include <stdio.h>
#include <string.h>

enum { BOUND_MAX = ADDRESS_MAX + 200 };

static void bound_of(const LetterOut *letter, char ret_bound[BOUND_MAX]) {
    snprintf(ret_bound, BOUND_MAX, "%lld %s %s %lld %d %d %lld %lld %lld %s", (long long)letter->player, letter->kind, letter->scope,
             (long long)letter->game, letter->epoch, letter->ply, (long long)letter->ask, (long long)letter->cause, (long long)letter->queued,
             letter->address);
}

void letter_out_token(const Store *store, const LetterOut *letter, char ret_token[TOKEN_SIZE]) {
    char bound[BOUND_MAX];
    bound_of(letter, bound);
    token_write(&store->key, letter->id, bound, ret_token);
}

int letter_out_by_token(Store *store, Arena *arena, const char *token, LetterOut *ret_letter, Error *error) {
    int64_t id = 0;
    char bound[BOUND_MAX];
    if (!token_names(&store->key, token, &id))
        return 0;
    int found = letter_out_get(store, arena, id, ret_letter, error);
    if (found <= 0)
        return found;
    bound_of(ret_letter, bound);
    return token_proves(&store->key, token, id, bound);
}

int letter_out_queue(Store *store, const LetterOut *draft, const char *domain, int64_t *ret_id, Error *error) {
    if (store_execute(store, error,
                      "INSERT INTO letter_out(cause, kind, player, address, scope, game, epoch, ply, ask, notice, brake, view, message_id,"
                      " in_reply_to, refs, null_sender, state, due, queued)"
                      " VALUES(nullif(?1, 0), ?2, nullif(?3, 0), ?4, ?5, nullif(?6, 0), ?7, ?8, nullif(?9, 0), ?10, ?11, ?12, '', ?13, ?14, ?15,"
                      " 'queued', ?16, ?17)",
                      "itittiiiiittttiii", draft->cause, draft->kind, draft->player, draft->address, draft->scope, draft->game,
                      (int64_t)draft->epoch, (int64_t)draft->ply, draft->ask, (int64_t)draft->notice, draft->brake, draft->view,
                      draft->in_reply_to, draft->references, (int64_t)draft->null_sender, draft->due, draft->queued) < 0)
        return -1;
    *ret_id = store_last_id(store);
    char token[TOKEN_SIZE], message_id[MESSAGE_ID_MAX];
    LetterOut queued = *draft;
    queued.id = *ret_id;
    letter_out_token(store, &queued, token);
    snprintf(message_id, sizeof message_id, "%s@%s", token, domain);
    return store_execute(store, error, "UPDATE letter_out SET message_id = ?2 WHERE id = ?1", "it", *ret_id, message_id);
}

static const char *keep_text(Arena *arena, sqlite3_stmt *row, int column) {
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text == NULL ? NULL : arena_copy(arena, text, strlen(text));
}

static Instant column_instant(sqlite3_stmt *row, int column) {
    return sqlite3_column_type(row, column) == SQLITE_NULL ? INSTANT_NONE : sqlite3_column_int64(row, column);
}

int letter_out_get(Store *store, Arena *arena, int64_t id, LetterOut *ret_letter, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = store_query(store, error, &row,
                            "SELECT cause, kind, player, address, scope, game, epoch, ply, ask, notice, brake, view, message_id, in_reply_to, refs,"
                            " null_sender, state, due, queued, tried, accepted, attempts, unknowns, words, bytes FROM letter_out WHERE id = ?1",
                            "i", id);
    if (found == 1) {
        *ret_letter = (LetterOut){
            .id = id,
            .cause = sqlite3_column_int64(row, 0),
            .kind = keep_text(arena, row, 1),
            .player = sqlite3_column_int64(row, 2),
            .address = keep_text(arena, row, 3),
            .scope = keep_text(arena, row, 4),
            .game = sqlite3_column_int64(row, 5),
            .epoch = sqlite3_column_int(row, 6),
            .ply = sqlite3_column_int(row, 7),
            .ask = sqlite3_column_int64(row, 8),
            .notice = sqlite3_column_int(row, 9) != 0,
            .brake = keep_text(arena, row, 10),
            .view = keep_text(arena, row, 11),
            .message_id = keep_text(arena, row, 12),
            .in_reply_to = keep_text(arena, row, 13),
            .references = keep_text(arena, row, 14),
            .null_sender = sqlite3_column_int(row, 15) != 0,
            .state = keep_text(arena, row, 16),
            .due = column_instant(row, 17),
            .queued = column_instant(row, 18),
            .tried = column_instant(row, 19),
            .accepted = column_instant(row, 20),
            .attempts = sqlite3_column_int(row, 21),
            .unknowns = sqlite3_column_int(row, 22),
            .words = keep_text(arena, row, 23),
        };
        if (sqlite3_column_type(row, 24) != SQLITE_NULL) {
            ret_letter->length = (size_t)sqlite3_column_bytes(row, 24);
            ret_letter->bytes = arena_copy(arena, sqlite3_column_blob(row, 24), ret_letter->length);
        }
        if (arena->exhausted)
            found = error_set(error, ERROR_LATER, 0, "no memory for letter %lld", (long long)id);
    }
    store_done(row);
    return found;
}

int letters_out_due(Store *store, Instant now, int64_t *ret_ids, int most, Error *error) {
    sqlite3_stmt *row = NULL;
    int count = 0;
    int found = store_query(store, error, &row,
                            "SELECT id FROM letter_out WHERE state IN ('queued', 'trying', 'refused') AND (due <= ?1 OR due > ?2) ORDER BY due, id LIMIT ?3",
                            "iii", now, now + LETTER_PUT_OFF_MAX, (int64_t)most);
    for (; found == 1 && count < most; found = count < most ? store_next(store, row, error) : 1)
        ret_ids[count++] = sqlite3_column_int64(row, 0);
    store_done(row);
    return found < 0 ? -1 : count;
}

int letters_out_unclear(Store *store, Instant now, Error *error) {
    int64_t id = 0;
    return store_query_int(store, error, &id, "SELECT id FROM letter_out WHERE state = 'trying' AND (due <= ?1 OR due > ?2) LIMIT 1", "ii", now,
                           now + LETTER_PUT_OFF_MAX);
}

int letter_out_note_attempt(Store *store, int64_t id, Instant now, const void *bytes, size_t length, Error *error) {
    return store_execute(store, error,
                         "UPDATE letter_out SET state = 'trying', attempts = attempts + 1, tried = ?2, bytes = ?3 WHERE id = ?1", "iib", id, now,
                         bytes, length);
}

int letter_out_note_result(Store *store, int64_t id, const char *state, Instant due, Instant accepted, bool keep_bytes, bool unknown,
                           const char *words, Error *error) {
    return store_execute(store, error,
                         "UPDATE letter_out SET state = ?2, due = ?3, accepted = coalesce(accepted, nullif(?4, ?8)), words = ?5,"
                         " bytes = CASE WHEN ?6 THEN bytes END, unknowns = unknowns + ?7 WHERE id = ?1",
                         "itiitiii", id, state, due, accepted, words, (int64_t)keep_bytes, (int64_t)unknown, (int64_t)INSTANT_NONE);
}

int letter_out_take_back_attempt(Store *store, int64_t id, Error *error) {
    return store_execute(store, error, "UPDATE letter_out SET attempts = attempts - 1 WHERE id = ?1 AND attempts > 0", "i", id);
}

int letter_out_note_accepted(Store *store, int64_t id, Instant accepted, Error *error) {
    return store_execute(store, error, "UPDATE letter_out SET accepted = coalesce(accepted, ?2) WHERE id = ?1", "ii", id, accepted);
}

int letter_out_is(Store *store, int64_t id, const char *state, Error *error) {
    int64_t found = 0;
    return store_query_int(store, error, &found, "SELECT id FROM letter_out WHERE id = ?1 AND state = ?2", "it", id, state);
}

int letter_out_thread(Store *store, int64_t game, int64_t player, char ret_first[MESSAGE_ID_MAX], char ret_last[MESSAGE_ID_MAX], Error *error) {
    sqlite3_stmt *row = NULL;
    ret_first[0] = ret_last[0] = 0;
    int found = store_query(store, error, &row,
                            "SELECT (SELECT message_id FROM letter_out WHERE game = ?1 AND player = ?2 ORDER BY id LIMIT 1),"
                            " (SELECT message_id FROM letter_out WHERE game = ?1 AND player = ?2 ORDER BY id DESC LIMIT 1)",
                            "ii", game, player);
    if (found == 1) {
        column_text(row, 0, ret_first, MESSAGE_ID_MAX);
        column_text(row, 1, ret_last, MESSAGE_ID_MAX);
    }
    store_done(row);
    return found < 0 ? -1 : 0;
}

int letters_out_answered(Store *store, const char *brake, const char *address, Instant since, int64_t *ret_count, Error *error) {
    return store_query_int(store, error, ret_count,
                           "SELECT count(*) FROM letter_out WHERE brake <> '' AND brake = ?3 AND address = lower(?1) AND queued > ?2", "tit", address,
                           since, brake);
}

int letters_out_strangers(Store *store, const char *domain, Instant since, int64_t *ret_count, Error *error) {
    return store_query_int(store, error, ret_count,
                           "SELECT count(*) FROM letter_out WHERE brake = 'stranger' AND queued > ?2"
                           " AND (?1 IS NULL OR substr(address, instr(address, '@') + 1) = lower(?1))",
                           "ti", domain, since);
}
