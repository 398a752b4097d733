#include "daemon/store/listing.h"

#include "daemon/store/letters_out.h"

#include <stdio.h>
#include <string.h>

static const char *text_of(sqlite3_stmt *row, int column) {
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text == NULL ? "" : text;
}

static Instant instant_of(sqlite3_stmt *row, int column) {
    return sqlite3_column_type(row, column) == SQLITE_NULL ? INSTANT_NONE : sqlite3_column_int64(row, column);
}

int listing_begin(Store *store, Error *error) {
    return store_execute(store, error, "BEGIN", "");
}

int listing_players(Store *store, int64_t player, int (*each)(void *data, const PlayerLine *line), void *data, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = store_query(store, error, &row,
                            "SELECT p.id, p.name, a.address, p.language, p.zone, a.trouble, p.blocked, p.created,"
                            " (SELECT count(*) FROM game WHERE white = p.id AND result = '*')"
                            " + (SELECT count(*) FROM game WHERE black = p.id AND result = '*')"
                            " FROM player p LEFT JOIN address a ON a.player = p.id AND a.preferred = 1"
                            " WHERE ?1 = 0 OR p.id = ?1 ORDER BY p.id",
                            "i", player);
    for (; found == 1; found = store_next(store, row, error)) {
        PlayerLine line = { .id = sqlite3_column_int64(row, 0), .name = text_of(row, 1), .address = text_of(row, 2),
                            .language = text_of(row, 3), .zone = text_of(row, 4), .trouble = text_of(row, 5),
                            .blocked = sqlite3_column_int(row, 6) != 0, .created = sqlite3_column_int64(row, 7),
                            .running = sqlite3_column_int64(row, 8) };
        if (each(data, &line) != 0)
            break;
    }
    store_done(row);
    return found < 0 ? -1 : 0;
}

#define LETTER_COLUMNS                                                                                                       \
    "SELECT l.id, l.player, l.game, l.arrival, p.name, l.state, l.kind, l.proof, l.outcome, l.why, l.filed"                  \
    " FROM letter_in l LEFT JOIN player p ON p.id = l.player "

int listing_letters(Store *store, bool failed, int64_t most, int (*each)(void *data, const LetterLine *line), void *data, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = failed ? store_query(store, error, &row,
                                     LETTER_COLUMNS "WHERE l.outcome = 'set aside' OR (l.state = 'stored' AND l.tries > 1)"
                                                    " ORDER BY l.id DESC LIMIT ?1",
                                     "i", most)
                       : store_query(store, error, &row, LETTER_COLUMNS "ORDER BY l.id DESC LIMIT ?1", "i", most);
    for (; found == 1; found = store_next(store, row, error)) {
        LetterLine line = { .id = sqlite3_column_int64(row, 0), .player = sqlite3_column_int64(row, 1),
                            .game = sqlite3_column_int64(row, 2), .arrival = sqlite3_column_int64(row, 3),
                            .name = text_of(row, 4), .state = text_of(row, 5), .kind = text_of(row, 6), .proof = text_of(row, 7),
                            .outcome = text_of(row, 8), .why = text_of(row, 9), .filed = sqlite3_column_int(row, 10) != 0 };
        if (each(data, &line) != 0)
            break;
    }
    store_done(row);
    return found < 0 ? -1 : 0;
}

int listing_outcomes(Store *store, int64_t letter, int (*each)(void *data, const OutcomeLine *line), void *data, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = store_query(store, error, &row, "SELECT number, verb, outcome, detail FROM outcome WHERE letter = ?1 ORDER BY number", "i", letter);
    for (; found == 1; found = store_next(store, row, error)) {
        OutcomeLine line = { .number = sqlite3_column_int(row, 0), .verb = text_of(row, 1), .outcome = text_of(row, 2), .detail = text_of(row, 3) };
        if (each(data, &line) != 0)
            break;
    }
    store_done(row);
    return found < 0 ? -1 : 0;
}

#define OUT_COLUMNS                                                                                                          \
    "SELECT o.id, o.cause, o.player, o.game, p.name, o.address, o.kind, o.state, o.words, o.queued, max(o.due, o.queued), o.tried,"         \
    " o.attempts, o.unknowns FROM letter_out o LEFT JOIN player p ON p.id = o.player "

int listing_outbox(Store *store, int64_t caused_by, int (*each)(void *data, const OutLine *line), void *data, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = caused_by != 0
                    ? store_query(store, error, &row, OUT_COLUMNS "WHERE o.cause = ?1 ORDER BY o.id", "i", caused_by)
                    : store_query(store, error, &row,
                                  OUT_COLUMNS "WHERE o.state <> 'accepted' AND o.state <> 'overtaken' ORDER BY o.id", "");
    for (; found == 1; found = store_next(store, row, error)) {
        OutLine line = { .id = sqlite3_column_int64(row, 0), .cause = sqlite3_column_int64(row, 1), .player = sqlite3_column_int64(row, 2),
                         .game = sqlite3_column_int64(row, 3), .name = text_of(row, 4), .address = text_of(row, 5),
                         .kind = text_of(row, 6), .state = text_of(row, 7), .words = text_of(row, 8), .queued = instant_of(row, 9),
                         .due = instant_of(row, 10), .tried = instant_of(row, 11), .attempts = sqlite3_column_int(row, 12),
                         .unknowns = sqlite3_column_int(row, 13) };
        if (each(data, &line) != 0)
            break;
    }
    store_done(row);
    return found < 0 ? -1 : 0;
}

int outbox_act(Store *store, int64_t id, OutboxAct act, Instant now, Error *error) {
    int result = 0;
    switch (act) {
    case OUTBOX_HOLD:
        result = store_execute(store, error, "UPDATE letter_out SET state = 'held' WHERE id = ?1 AND state IN ('queued', 'refused')", "i", id);
        break;
    case OUTBOX_RELEASE:
        result = store_execute(store, error, "UPDATE letter_out SET state = 'queued' WHERE id = ?1 AND state = 'held'", "i", id);
        break;
    case OUTBOX_RETRY:
        result = store_execute(store, error,
                               "UPDATE letter_out SET state = 'queued', due = ?2 WHERE id = ?1"
                               " AND state IN ('queued', 'trying', 'refused', 'given up', 'bounced')",
                               "ii", id, now);
        break;
    case OUTBOX_DROP:
        result = store_execute(store, error,
                               "UPDATE letter_out SET state = 'overtaken', words = 'dropped by the operator' WHERE id = ?1"
                               " AND state IN ('queued', 'trying', 'refused', 'held', 'given up', 'bounced')",
                               "i", id);
        break;
    }
    return result < 0 ? -1 : store_changes(store) > 0;
}

static int count_states(Store *store, sqlite3_stmt *row, int found, int (*each)(void *data, const CountLine *line), void *data, Error *error) {
    for (; found == 1; found = store_next(store, row, error)) {
        CountLine line = { .state = text_of(row, 0), .count = sqlite3_column_int64(row, 1) };
        if (each(data, &line) != 0)
            break;
    }
    store_done(row);
    return found < 0 ? -1 : 0;
}

int listing_letter_states(Store *store, int (*each)(void *data, const CountLine *line), void *data, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = store_query(store, error, &row, "SELECT state, count(*) FROM letter_in GROUP BY state ORDER BY state", "");
    return count_states(store, row, found, each, data, error);
}

int listing_queue_states(Store *store, int (*each)(void *data, const CountLine *line), void *data, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = store_query(store, error, &row, "SELECT state, count(*) FROM letter_out GROUP BY state ORDER BY state", "");
    return count_states(store, row, found, each, data, error);
}

int listing_running(Store *store, int64_t *ret_games, Error *error) {
    return store_query_int(store, error, ret_games, "SELECT count(*) FROM game WHERE result = '*'", "") < 0 ? -1 : 0;
}

int listing_ahead(Store *store, Instant now, Ahead *ret_ahead, Error *error) {
    Ahead ahead = { .timer = INSTANT_NONE, .sending = INSTANT_NONE };
    Instant latest = now == INSTANT_NONE ? INT64_MAX : now + LETTER_PUT_OFF_MAX;
    if (store_query_int(store, error, &ahead.timer, "SELECT min(instant) FROM timer", "") < 0 ||
        store_query_int(store, error, &ahead.sending,
                        "SELECT min(CASE WHEN due > ?1 THEN ?2 ELSE due END) FROM letter_out WHERE state IN ('queued', 'trying', 'refused')", "ii", latest,
                        now) < 0 ||
        store_query_int(store, error, &ahead.letters, "SELECT count(*) FROM letter_out WHERE state IN ('queued', 'trying', 'refused')", "") < 0)
        return -1;
    *ret_ahead = ahead;
    return 0;
}

int listing_figures(Store *store, Figures *ret_figures, Error *error) {
    Figures figures = { .due = INSTANT_NONE, .next_timer = INSTANT_NONE, .next_sending = INSTANT_NONE, .mailbox_read = INSTANT_NONE };
    Ahead ahead;
    sqlite3_stmt *row = NULL;
    if (store_query_int(store, error, &figures.players, "SELECT count(*) FROM player", "") < 0 ||
        listing_running(store, &figures.running, error) < 0 ||
        store_query_int(store, error, &figures.over, "SELECT count(*) FROM game WHERE result <> '*'", "") < 0 ||
        store_query_int(store, error, &figures.unfiled, "SELECT count(*) FROM letter_in WHERE filed = 0 AND state <> 'stored'", "") < 0 ||
        listing_ahead(store, INSTANT_NONE, &ahead, error) < 0 ||
        store_value_get(store, "mailbox_unreadable", &figures.unreadable, error) < 0 ||
        store_value_get(store, "mailbox_read", &figures.mailbox_read, error) < 0)
        return -1;
    figures.next_timer = ahead.timer;
    /* Due at once is an instant of long ago in the queue; for people it is when the letter was queued. */
    int64_t sending = 0;
    int waits = store_query_int(store, error, &sending, "SELECT min(max(due, queued)) FROM letter_out WHERE state IN ('queued', 'trying', 'refused')", "");
    if (waits < 0)
        return -1;
    if (waits == 1)
        figures.next_sending = sending;
    int found = store_query(store, error, &row, "SELECT id, due FROM game WHERE due IS NOT NULL ORDER BY due, id LIMIT 1", "");
    if (found == 1) {
        figures.due_game = sqlite3_column_int64(row, 0);
        figures.due = sqlite3_column_int64(row, 1);
    }
    store_done(row);
    if (found < 0)
        return -1;
    *ret_figures = figures;
    return 0;
}

int listing_set_aside(Store *store, Instant since, SetAside *ret_counts, Error *error) {
    SetAside counts = { 0 };
    if (store_query_int(store, error, &counts.ever, "SELECT count(*) FROM letter_in WHERE outcome = 'set aside'", "") < 0 ||
        store_query_int(store, error, &counts.recent, "SELECT count(*) FROM letter_in WHERE outcome = 'set aside' AND stored >= ?1", "i", since) < 0)
        return -1;
    *ret_counts = counts;
    return 0;
}

int listing_troubles(Store *store, Instant since, int (*each)(void *data, const TroubleLine *line), void *data, Error *error) {
    sqlite3_stmt *row = NULL;
    int found = store_query(store, error, &row,
                            "SELECT 'set aside', id, why FROM letter_in WHERE outcome = 'set aside' AND stored >= ?1"
                            " UNION ALL SELECT 'tried', id, 'stored and not settled after ' || tries || ' tries' FROM letter_in"
                            " WHERE state = 'stored' AND tries > 1"
                            " UNION ALL SELECT 'unknown', id, 'to ' || address || ': the end of ' || unknowns || ' sendings is not known' FROM letter_out"
                            " WHERE state <> 'accepted' AND unknowns >= 3 AND state <> 'given up' AND state <> 'overtaken'"
                            " UNION ALL SELECT state, id, 'to ' || address || ': ' || words FROM letter_out WHERE state IN ('given up', 'refused', 'bounced')"
                            " UNION ALL SELECT 'address', player, address || ': ' || trouble FROM address WHERE trouble IS NOT NULL",
                            "i", since);
    for (; found == 1; found = store_next(store, row, error)) {
        TroubleLine line = { .kind = text_of(row, 0), .id = sqlite3_column_int64(row, 1), .text = text_of(row, 2) };
        if (each(data, &line) != 0)
            break;
    }
    store_done(row);
    return found < 0 ? -1 : 0;
}

int listing_raw(Store *store, int64_t after, int64_t *ret_ids, int most, Error *error) {
    sqlite3_stmt *row = NULL;
    int count = 0;
    int found = store_query(store, error, &row, "SELECT letter FROM raw_letter WHERE letter > ?1 ORDER BY letter LIMIT ?2", "ii", after, (int64_t)most);
    for (; found == 1 && count < most; found = store_next(store, row, error))
        ret_ids[count++] = sqlite3_column_int64(row, 0);
    store_done(row);
    return found < 0 ? -1 : count;
}

int store_check_file(Store *store, void (*complain)(void *data, const char *sentence), void *data, Error *error) {
    sqlite3_stmt *row = NULL;
    int faults = 0;
    int found = store_query(store, error, &row, "PRAGMA integrity_check(20)", "");
    for (; found == 1; found = store_next(store, row, error)) {
        if (strcmp(text_of(row, 0), "ok") != 0) {
            complain(data, text_of(row, 0));
            faults++;
        }
    }
    store_done(row);
    if (found < 0)
        return -1;
    found = store_query(store, error, &row, "PRAGMA foreign_key_check", "");
    for (; found == 1; found = store_next(store, row, error)) {
        char sentence[200];
        snprintf(sentence, sizeof sentence, "a row of table %s points at nothing in %s", text_of(row, 0), text_of(row, 2));
        complain(data, sentence);
        faults++;
    }
    store_done(row);
    return found < 0 ? -1 : faults;
}
