#include "daemon/store/asks.h"

#include <string.h>

int registration_add(Store *store, const char *address, const char *name, Instant now, int64_t *ret_id, Error *error) {
    if (store_execute(store, error, "INSERT INTO registration(address, name, state, created) VALUES(lower(?1), ?2, 'open', ?3)", "tti", address,
                      name, now) < 0)
        return -1;
    *ret_id = store_last_id(store);
    return 0;
}

int registration_get(Store *store, int64_t id, RegistrationRow *ret_row, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = store_query(store, error, &row, "SELECT address, name, state, created FROM registration WHERE id = ?1", "i", id);
    if (found == 1) {
        ret_row->id = id;
        column_text(row, 0, ret_row->address, sizeof ret_row->address);
        column_text(row, 1, ret_row->name, sizeof ret_row->name);
        column_text(row, 2, ret_row->state, sizeof ret_row->state);
        ret_row->created = sqlite3_column_int64(row, 3);
    }
    store_done(row);
    return found;
}

int registration_finish(Store *store, int64_t id, const char *state, int64_t player, Error *error) {
    return store_execute(store, error, "UPDATE registration SET state = ?2, player = nullif(?3, 0) WHERE id = ?1", "iti", id, state, player);
}

int challenge_add(Store *store, const ChallengeRow *draft, Instant now, int64_t *ret_id, Error *error) {
    if (store_execute(store, error,
                      "INSERT INTO challenge(challenger, opponent, control, colour, state, created) VALUES(?1, ?2, ?3, ?4, 'open', ?5)", "iitti",
                      draft->challenger, draft->opponent, draft->control, draft->colour, now) < 0)
        return -1;
    *ret_id = store_last_id(store);
    return 0;
}

int challenge_get(Store *store, int64_t id, ChallengeRow *ret_row, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = store_query(store, error, &row, "SELECT challenger, opponent, control, colour, state, created FROM challenge WHERE id = ?1", "i", id);
    if (found == 1) {
        *ret_row = (ChallengeRow){ .id = id,
                                   .challenger = sqlite3_column_int64(row, 0),
                                   .opponent = sqlite3_column_int64(row, 1),
                                   .created = sqlite3_column_int64(row, 5) };
        column_text(row, 2, ret_row->control, sizeof ret_row->control);
        column_text(row, 3, ret_row->colour, sizeof ret_row->colour);
        column_text(row, 4, ret_row->state, sizeof ret_row->state);
    }
    store_done(row);
    return found;
}

int challenge_open_between(Store *store, int64_t one, int64_t other, int64_t *ret_id, Error *error) {
    return store_query_int(store, error, ret_id,
                           "SELECT id FROM challenge WHERE state = 'open' AND ((challenger = ?1 AND opponent = ?2) OR (challenger = ?2 AND opponent = ?1))",
                           "ii", one, other);
}

int challenge_finish(Store *store, int64_t id, const char *state, int64_t game, Error *error) {
    return store_execute(store, error, "UPDATE challenge SET state = ?2, game = nullif(?3, 0) WHERE id = ?1", "iti", id, state, game);
}

int question_add(Store *store, const QuestionRow *draft, int64_t *ret_id, Error *error) {
    if (store_execute(store, error,
                      "INSERT INTO question(letter, kind, player, game, epoch, ply, move, offer, remark, arrival, state)"
                      " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'open')",
                      "itiiiititi", draft->letter, draft->kind, draft->player, draft->game, (int64_t)draft->epoch, (int64_t)draft->ply,
                      draft->move, (int64_t)draft->offer, draft->remark, draft->arrival) < 0)
        return -1;
    *ret_id = store_last_id(store);
    return 0;
}

int question_get(Store *store, int64_t id, QuestionRow *ret_row, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = store_query(store, error, &row,
                            "SELECT letter, kind, player, game, epoch, ply, move, offer, remark, arrival, state FROM question WHERE id = ?1", "i", id);
    if (found == 1) {
        *ret_row = (QuestionRow){ .id = id,
                                  .letter = sqlite3_column_int64(row, 0),
                                  .player = sqlite3_column_int64(row, 2),
                                  .game = sqlite3_column_int64(row, 3),
                                  .epoch = sqlite3_column_int(row, 4),
                                  .ply = sqlite3_column_int(row, 5),
                                  .offer = sqlite3_column_int(row, 7) != 0,
                                  .arrival = sqlite3_column_int64(row, 9) };
        column_text(row, 1, ret_row->kind, sizeof ret_row->kind);
        column_text(row, 6, ret_row->move, sizeof ret_row->move);
        column_text(row, 8, ret_row->remark, sizeof ret_row->remark);
        column_text(row, 10, ret_row->state, sizeof ret_row->state);
    }
    store_done(row);
    return found;
}

int question_finish(Store *store, int64_t id, const char *state, Error *error) {
    return store_execute(store, error, "UPDATE question SET state = ?2 WHERE id = ?1", "it", id, state);
}

int question_open(Store *store, const char *kind, int64_t player, int64_t game, int epoch, int ply, int64_t *ret_id, Error *error) {
    return store_query_int(store, error, ret_id,
                           "SELECT id FROM question WHERE kind = ?1 AND player = ?2 AND game = ?3 AND epoch = ?4 AND ply = ?5 AND state = 'open'",
                           "tiiii", kind, player, game, (int64_t)epoch, (int64_t)ply);
}

int timer_set(Store *store, const char *subject, const char *kind, Instant instant, Error *error) {
    return store_execute(store, error, "INSERT OR IGNORE INTO timer(subject, kind, instant) VALUES(?1, ?2, ?3)", "tti", subject, kind, instant);
}

int timer_clear(Store *store, const char *subject, const char *kind, Error *error) {
    return store_execute(store, error, "DELETE FROM timer WHERE subject = ?1 AND kind = ?2", "tt", subject, kind);
}

int timer_due(Store *store, Instant now, TimerRow *ret_row, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = store_query(store, error, &row, "SELECT subject, kind, instant FROM timer WHERE instant <= ?1 ORDER BY instant, subject LIMIT 1", "i", now);
    if (found == 1) {
        column_text(row, 0, ret_row->subject, sizeof ret_row->subject);
        column_text(row, 1, ret_row->kind, sizeof ret_row->kind);
        ret_row->instant = sqlite3_column_int64(row, 2);
    }
    store_done(row);
    return found;
}

int timer_done(Store *store, const TimerRow *row, Error *error) {
    return store_execute(store, error, "DELETE FROM timer WHERE subject = ?1 AND kind = ?2 AND instant = ?3", "tti", row->subject, row->kind,
                         row->instant);
}
