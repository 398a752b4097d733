#include "daemon/store/letters_in.h"

#include <string.h>

int letter_in_known(Store *store, const char *mailbox, const char *name, Error *error) {
    int64_t id = 0;
    return store_query_int(store, error, &id, "SELECT id FROM letter_in WHERE mailbox = ?1 AND name = ?2", "tt", mailbox, name);
}

int letter_in_add(Store *store, const char *mailbox, const char *name, Instant arrival, Instant now, const Str *raw,
                  const uint8_t nonce[24], int64_t *ret_id, Error *error) {
    if (store_execute(store, error,
                      "INSERT INTO letter_in(mailbox, name, arrival, stored, state, tries) VALUES(?1, ?2, ?3, ?4, 'stored', 1)",
                      "ttii", mailbox, name, arrival, now) < 0)
        return -1;
    *ret_id = store_last_id(store);
    Str box;
    str_init(&box, raw->length + 64);
    store_seal(store, raw->data, raw->length, nonce, &box);
    int result = box.overflowed ? error_set(error, ERROR_LATER, 0, "no memory")
                                : store_execute(store, error, "INSERT INTO raw_letter(letter, box) VALUES(?1, ?2)", "ib", *ret_id,
                                                (const void *)box.data, box.length);
    str_free(&box);
    return result;
}

int letter_in_raw(Store *store, int64_t id, Str *ret_raw, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = store_query(store, error, &row, "SELECT box FROM raw_letter WHERE letter = ?1", "i", id);
    if (found == 1 && !store_unseal(store, sqlite3_column_blob(row, 0), (size_t)sqlite3_column_bytes(row, 0), ret_raw))
        found = error_set(error, ERROR_DAMAGED, 0, "the stored bytes of letter %lld cannot be opened: key or store is damaged", (long long)id);
    store_done(row);
    return found;
}

int letter_in_get(Store *store, int64_t id, LetterIn *ret_letter, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = store_query(store, error, &row,
                            "SELECT arrival, stored, mailbox, name, state, filed, tries, kind, proof, outcome, why, player, game, same_as, answer"
                            " FROM letter_in WHERE id = ?1",
                            "i", id);
    if (found == 1) {
        *ret_letter = (LetterIn){ .id = id, .arrival = sqlite3_column_int64(row, 0), .stored = sqlite3_column_int64(row, 1) };
        column_text(row, 2, ret_letter->mailbox, sizeof ret_letter->mailbox);
        column_text(row, 3, ret_letter->name, sizeof ret_letter->name);
        column_text(row, 4, ret_letter->state, sizeof ret_letter->state);
        ret_letter->filed = sqlite3_column_int(row, 5) != 0;
        ret_letter->tries = sqlite3_column_int(row, 6);
        column_text(row, 7, ret_letter->kind, sizeof ret_letter->kind);
        column_text(row, 8, ret_letter->proof, sizeof ret_letter->proof);
        column_text(row, 9, ret_letter->outcome, sizeof ret_letter->outcome);
        column_text(row, 10, ret_letter->why, sizeof ret_letter->why);
        ret_letter->player = sqlite3_column_int64(row, 11);
        ret_letter->game = sqlite3_column_int64(row, 12);
        ret_letter->same_as = sqlite3_column_int64(row, 13);
        ret_letter->answer = sqlite3_column_int64(row, 14);
    }
    store_done(row);
    return found;
}

static int collect_ids(Store *store, sqlite3_stmt *row, int found, int64_t *ret_ids, int most, Error *error) {
    int count = 0;
    for (; found == 1 && count < most; found = count < most ? store_next(store, row, error) : 1)
        ret_ids[count++] = sqlite3_column_int64(row, 0);
    store_done(row);
    return found < 0 ? -1 : count;
}

int letters_in_stored(Store *store, int64_t *ret_ids, int most, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = store_query(store, error, &row, "SELECT id FROM letter_in WHERE state = 'stored' ORDER BY arrival, id LIMIT ?1", "i", (int64_t)most);
    return collect_ids(store, row, found, ret_ids, most, error);
}

int letter_in_count_try(Store *store, int64_t id, Error *error) {
    return store_execute(store, error, "UPDATE letter_in SET tries = tries + 1 WHERE id = ?1", "i", id);
}

int letter_in_take_back_try(Store *store, int64_t id, Error *error) {
    return store_execute(store, error, "UPDATE letter_in SET tries = tries - 1 WHERE id = ?1 AND state = 'stored' AND tries > 0", "i", id);
}

int letter_in_settle(Store *store, int64_t id, const Settlement *settlement, Error *error) {
    return store_execute(store, error,
                         "UPDATE letter_in SET state = ?2, kind = ?3, proof = ?4, outcome = ?5, why = ?6, player = nullif(?7, 0),"
                         " game = nullif(?8, 0), same_as = nullif(?9, 0), answer = nullif(?10, 0), message_id = ?11, body_hash = ?12 WHERE id = ?1",
                         "ittttt" "iiii" "tt", id, settlement->state, settlement->kind, settlement->proof, settlement->outcome, settlement->why,
                         settlement->player, settlement->game, settlement->same_as, settlement->answer, settlement->message_id,
                         settlement->body_hash);
}

int letter_in_set_state(Store *store, int64_t id, const char *state, const char *outcome, const char *why, Error *error) {
    return store_execute(store, error, "UPDATE letter_in SET state = ?2, outcome = ?3, why = ?4 WHERE id = ?1", "ittt", id, state, outcome, why);
}

int letter_in_same(Store *store, const char *proof, const char *message_id, const char *body_hash, int64_t *ret_id, Error *error) {
    return store_query_int(store, error, ret_id,
                           "SELECT id FROM letter_in WHERE proof = ?1 AND message_id = ?2 AND body_hash = ?3 AND same_as IS NULL AND state <> 'stored'",
                           "ttt", proof, message_id, body_hash);
}

int letter_in_answered_at(Store *store, int64_t first, Instant arrival, Error *error) {
    int64_t id = 0;
    return store_query_int(store, error, &id, "SELECT id FROM letter_in WHERE same_as = ?1 AND arrival = ?2 AND answer IS NOT NULL LIMIT 1", "ii", first,
                           arrival);
}

int letters_in_drop_raw(Store *store, Instant before, Error *error) {
    return store_execute(store, error,
                         "DELETE FROM raw_letter WHERE letter IN (SELECT letter FROM raw_letter ORDER BY letter LIMIT ?2)"
                         " AND letter IN (SELECT id FROM letter_in WHERE id = letter AND state = 'settled' AND stored < ?1)",
                         "ii", before, (int64_t)RAW_DROPPED_AT_ONCE);
}

int outcome_add(Store *store, int64_t letter, int number, const char *verb, const char *outcome, const char *detail, Error *error) {
    return store_execute(store, error, "INSERT INTO outcome(letter, number, verb, outcome, detail) VALUES(?1, ?2, ?3, ?4, ?5)", "iittt",
                         letter, (int64_t)number, verb, outcome, detail);
}

int letters_in_unfiled(Store *store, int64_t *ret_ids, int most, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = store_query(store, error, &row, "SELECT id FROM letter_in WHERE filed = 0 AND state <> 'stored' ORDER BY id LIMIT ?1", "i",
                            (int64_t)most);
    return collect_ids(store, row, found, ret_ids, most, error);
}

int letter_in_note_filed(Store *store, int64_t id, Error *error) {
    return store_execute(store, error, "UPDATE letter_in SET filed = 1 WHERE id = ?1", "i", id);
}
