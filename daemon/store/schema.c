#include "daemon/store/store.h"

/* Schema 1. Names and texts live in player, address, raw_letter, view columns (erasable); entry holds numbers and hashes only
 * and is never changed or deleted. */
static const char *const schema_1[] = {
    "CREATE TABLE service(name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;",

    "CREATE TABLE player("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, name_folded TEXT NOT NULL UNIQUE,"
    " language TEXT NOT NULL, zone TEXT NOT NULL, blocked INTEGER NOT NULL DEFAULT 0, created INTEGER NOT NULL) STRICT;",
    "CREATE TABLE address("
    " player INTEGER NOT NULL REFERENCES player(id), address TEXT NOT NULL, preferred INTEGER NOT NULL,"
    " trouble TEXT, PRIMARY KEY(player, address)) STRICT, WITHOUT ROWID;",
    "CREATE INDEX address_player ON address(address);",

    "CREATE TABLE game("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, white INTEGER NOT NULL REFERENCES player(id),"
    " black INTEGER NOT NULL REFERENCES player(id), control TEXT NOT NULL, created INTEGER NOT NULL,"
    /* An index over the record, rebuilt by `verify`: */
    " epoch INTEGER NOT NULL, ply INTEGER NOT NULL, to_move INTEGER, due INTEGER, result TEXT NOT NULL, head TEXT NOT NULL) STRICT;",
    "CREATE INDEX game_white ON game(white, result); CREATE INDEX game_black ON game(black, result);",
    "CREATE INDEX game_due ON game(due) WHERE due IS NOT NULL;",
    "CREATE TABLE entry("
    " game INTEGER NOT NULL REFERENCES game(id), number INTEGER NOT NULL, kind TEXT NOT NULL, epoch INTEGER, ply INTEGER,"
    " line TEXT NOT NULL, PRIMARY KEY(game, number)) STRICT, WITHOUT ROWID;",
    "CREATE UNIQUE INDEX entry_move_once ON entry(game, epoch, ply) WHERE kind = 'move';",

    "CREATE TABLE letter_in("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, mailbox TEXT NOT NULL, name TEXT NOT NULL, arrival INTEGER NOT NULL,"
    " stored INTEGER NOT NULL, state TEXT NOT NULL, filed INTEGER NOT NULL DEFAULT 0, tries INTEGER NOT NULL DEFAULT 0,"
    " kind TEXT NOT NULL DEFAULT '', proof TEXT NOT NULL DEFAULT '', player INTEGER, game INTEGER, outcome TEXT NOT NULL DEFAULT '',"
    " why TEXT NOT NULL DEFAULT '', message_id TEXT, body_hash TEXT, same_as INTEGER, answer INTEGER,"
    " UNIQUE(mailbox, name)) STRICT;",
    "CREATE INDEX letter_in_state ON letter_in(arrival, id) WHERE state = 'stored';",
    "CREATE INDEX letter_in_unfiled ON letter_in(id) WHERE filed = 0;",
    "CREATE INDEX letter_in_trouble ON letter_in(id) WHERE outcome = 'set aside';",
    "CREATE UNIQUE INDEX letter_in_once ON letter_in(proof, message_id, body_hash)"
    " WHERE message_id IS NOT NULL AND same_as IS NULL AND state <> 'stored';",
    "CREATE TABLE raw_letter(letter INTEGER PRIMARY KEY REFERENCES letter_in(id), box BLOB NOT NULL) STRICT;",
    "CREATE TABLE outcome("
    " letter INTEGER NOT NULL REFERENCES letter_in(id), number INTEGER NOT NULL, verb TEXT NOT NULL, outcome TEXT NOT NULL,"
    " detail TEXT NOT NULL, PRIMARY KEY(letter, number)) STRICT, WITHOUT ROWID;",

    "CREATE TABLE letter_out("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, cause INTEGER, kind TEXT NOT NULL, player INTEGER REFERENCES player(id), address TEXT NOT NULL,"
    " scope TEXT NOT NULL, game INTEGER REFERENCES game(id), epoch INTEGER, ply INTEGER, ask INTEGER,"
    " notice INTEGER NOT NULL, brake TEXT NOT NULL, view TEXT NOT NULL, message_id TEXT NOT NULL, in_reply_to TEXT, refs TEXT NOT NULL,"
    " null_sender INTEGER NOT NULL, state TEXT NOT NULL, due INTEGER NOT NULL, queued INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,"
    " unknowns INTEGER NOT NULL DEFAULT 0, tried INTEGER, accepted INTEGER, words TEXT NOT NULL DEFAULT '', bytes BLOB) STRICT;",
    "CREATE INDEX letter_out_due ON letter_out(due, id) WHERE state IN ('queued', 'trying', 'refused');",
    "CREATE INDEX letter_out_open ON letter_out(state) WHERE state <> 'accepted';",
    "CREATE INDEX letter_out_game ON letter_out(game, player, id);",
    "CREATE INDEX letter_out_brake ON letter_out(address, queued) WHERE brake <> '';",
    "CREATE INDEX letter_out_strangers ON letter_out(queued) WHERE brake = 'stranger';",

    "CREATE TABLE registration("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, address TEXT NOT NULL, name TEXT NOT NULL, state TEXT NOT NULL, created INTEGER NOT NULL,"
    " player INTEGER) STRICT;",
    "CREATE INDEX registration_address ON registration(address, state);",
    "CREATE TABLE challenge("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, challenger INTEGER NOT NULL REFERENCES player(id), opponent INTEGER NOT NULL REFERENCES player(id),"
    " control TEXT NOT NULL, colour TEXT NOT NULL, state TEXT NOT NULL, created INTEGER NOT NULL, game INTEGER) STRICT;",
    "CREATE INDEX challenge_open ON challenge(opponent, challenger) WHERE state = 'open';",
    /* A question of ours that waits for `confirm` or `yes` (RULINGS 4, 13). */
    "CREATE TABLE question("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, letter INTEGER NOT NULL REFERENCES letter_in(id), kind TEXT NOT NULL, player INTEGER NOT NULL,"
    " game INTEGER NOT NULL, epoch INTEGER NOT NULL, ply INTEGER NOT NULL, move TEXT NOT NULL, offer INTEGER NOT NULL, remark TEXT NOT NULL,"
    " arrival INTEGER NOT NULL, state TEXT NOT NULL) STRICT;",
    "CREATE UNIQUE INDEX question_once ON question(game, epoch, ply, player) WHERE kind = 'confirm' AND state = 'open';",
    "CREATE INDEX question_letter ON question(letter);",
    "CREATE TABLE timer(subject TEXT NOT NULL, kind TEXT NOT NULL, instant INTEGER NOT NULL, PRIMARY KEY(subject, kind, instant)) STRICT, WITHOUT ROWID;",
    "CREATE INDEX timer_due ON timer(instant);",
};

/* Schema 2: when mailbox, relay or disk were not to be had (RULINGS 31). */
static const char *const schema_2[] = {
    "CREATE TABLE outage("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, subject TEXT NOT NULL, began INTEGER NOT NULL, ended INTEGER, next_try INTEGER NOT NULL,"
    " tries INTEGER NOT NULL, told INTEGER NOT NULL, why TEXT NOT NULL) STRICT;",
    "CREATE UNIQUE INDEX outage_lasting ON outage(subject) WHERE ended IS NULL;",
    "CREATE INDEX letter_in_copies ON letter_in(same_as) WHERE same_as IS NOT NULL;",
};

/* Each step and its number are one transaction; a store of a later program is refused, never guessed at. */
int store_migrate(Store *store, Error *error) {
    int64_t version = 0;
    if (store_query_int(store, error, &version, "PRAGMA user_version", "") < 0)
        return -1;
    if (version > STORE_SCHEMA)
        return error_set(error, ERROR_DAMAGED, 0,
                         "the store has schema %lld and this program knows %d: use the newer program",
                         (long long)version, STORE_SCHEMA);
    static const struct {
        const char *const *statements;
        size_t count;
        const char *number;
    } steps[STORE_SCHEMA] = {
        { schema_1, sizeof schema_1 / sizeof schema_1[0], "PRAGMA user_version = 1" },
        { schema_2, sizeof schema_2 / sizeof schema_2[0], "PRAGMA user_version = 2" },
    };
    for (; version < STORE_SCHEMA; version++) {
        for (size_t i = 0; i < steps[version].count; i++)
            if (sqlite3_exec(store->db, steps[version].statements[i], NULL, NULL, NULL) != SQLITE_OK)
                return store_fail(store, "bringing the store to the current schema", error);
        if (sqlite3_exec(store->db, steps[version].number, NULL, NULL, NULL) != SQLITE_OK)
            return store_fail(store, "bringing the store to the current schema", error);
    }
    return 0;
}
