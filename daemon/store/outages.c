#include "daemon/store/outages.h"

int outage_put(Store *store, OutageRow *row, Error *error) {
    if (row->id == 0) {
        if (store_execute(store, error, "INSERT INTO outage(subject, began, ended, next_try, tries, told, why) VALUES(?1, ?2, nullif(?3, ?4), ?5, ?6, ?7, ?8)",
                          "tiiiiiit", row->subject, row->began, row->ended, INSTANT_NONE, row->next_try, (int64_t)row->tries, (int64_t)row->told,
                          row->why) < 0)
            return -1;
        row->id = store_last_id(store);
        return 0;
    }
    return store_execute(store, error, "UPDATE outage SET ended = nullif(?2, ?3), next_try = ?4, tries = ?5, told = ?6, why = ?7 WHERE id = ?1", "iiiiiit",
                         row->id, row->ended, INSTANT_NONE, row->next_try, (int64_t)row->tries, (int64_t)row->told, row->why);
}

int outages_lasting(Store *store, OutageRow *ret_rows, int most, Error *error) {
    sqlite3_stmt *statement = NULL;
    int count = 0;
    int found = store_query(store, error, &statement,
                            "SELECT id, subject, began, next_try, tries, told, why FROM outage WHERE ended IS NULL ORDER BY subject", "");
    for (; found == 1 && count < most; found = store_next(store, statement, error)) {
        OutageRow *row = &ret_rows[count++];
        *row = (OutageRow){ .id = sqlite3_column_int64(statement, 0), .began = sqlite3_column_int64(statement, 2), .ended = INSTANT_NONE,
                            .next_try = sqlite3_column_int64(statement, 3), .tries = sqlite3_column_int(statement, 4),
                            .told = sqlite3_column_int(statement, 5) != 0 };
        column_text(statement, 1, row->subject, sizeof row->subject);
        column_text(statement, 6, row->why, sizeof row->why);
    }
    store_done(statement);
    return found < 0 ? -1 : count;
}

/* "state <> 'accepted'" is for the index of what is not delivered yet. */
int outage_letter_renew(Store *store, int64_t id, const char *view, Error *error) {
    return store_execute(store, error,
                         "UPDATE letter_out SET view = ?2 WHERE state <> 'accepted' AND state = 'queued' AND kind = 'outage' AND ask = ?1 AND bytes IS NULL",
                         "it", id, view);
}
