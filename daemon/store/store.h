/* The store: one SQLite file, one writer (DESIGN decision 2, RULINGS 42, 48).
 *
 * WAL, synchronous=FULL, STRICT tables, foreign keys, secure_delete. A store is made together with its key file (0600), and
 * only so: a store without its key, a key that is not the store's, or a schema newer than this program are ERROR_DAMAGED.
 * Functions of the nouns (players.h, games.h, letters_in.h, letters_out.h, asks.h) work inside the transaction their caller
 * opened; they return -1 with *error on failure; a look-up returns 1 if there is such a thing, 0 if not. After any SQLite error the caller must look at
 * store_in_transaction(): SQLITE_FULL inside a savepoint may have rolled back everything. */
#ifndef EPISTLE_DAEMON_STORE_STORE_H
#define EPISTLE_DAEMON_STORE_STORE_H

#include "core/base/error.h"
#include "core/base/str.h"
#include "daemon/inbox/token.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

enum { STORE_SCHEMA = 2, STORE_STATEMENTS_MAX = 128 };

typedef struct Store {
    sqlite3 *db;
    TokenKey key;         /* read from key_file */
    int lock_descriptor;  /* of the state lock, -1 if not held */
    uint64_t commits;     /* COMMITs done by this process, for tests and status */
    struct { const char *sql; sqlite3_stmt *statement; } statements_[STORE_STATEMENTS_MAX];
} Store;

typedef enum StoreUse {
    STORE_SERVICE, /* takes the state lock (serve, once, restore): a second one is ERROR_LATER */
    STORE_VERB,    /* other verbs: no lock, a busy timeout */
    STORE_READ     /* read-only */
} StoreUse;

/* Opens, or with `create` makes, the store; random fills a new key. vfs: NULL but in tests. NULL and *error on failure. */
Store *store_open(const char *path, const char *key_file, StoreUse use, bool create,
                  void (*random)(void *data, void *bytes, size_t length), void *random_data, const char *vfs, Error *error);
void store_close(Store *store);

int store_begin(Store *store, Error *error); /* BEGIN IMMEDIATE */
int store_commit(Store *store, Error *error);
void store_rollback(Store *store);           /* no harm without a transaction */
int store_savepoint(Store *store, Error *error);
int store_release(Store *store, Error *error);
int store_rollback_to(Store *store, Error *error); /* back to the savepoint and forget it */
bool store_in_transaction(const Store *store);

/* Statements. sql must be a string literal: it is prepared once and kept. `types` names the parameters' kinds, one letter each:
 * 'i' int64_t, 't' const char * (NULL binds NULL), 'b' const void * and size_t. */

/* Runs a statement that returns no row. 0 or -1. */
int store_execute(Store *store, Error *error, const char *sql, const char *types, ...);
/* Binds and takes the first step: 1 a row is there, 0 none, -1 error. Further rows by store_next(); a statement left
 * before its end must be given back by store_done(). */
int store_query(Store *store, Error *error, sqlite3_stmt **ret_statement, const char *sql, const char *types, ...);
int store_next(Store *store, sqlite3_stmt *statement, Error *error);
void store_done(sqlite3_stmt *statement); /* NULL is fine */
/* One int64_t: 1 found, 0 no row (or NULL), -1 error. */
int store_query_int(Store *store, Error *error, int64_t *ret_value, const char *sql, const char *types, ...);
/* A text column copied into a buffer ("" for NULL). */
void column_text(sqlite3_stmt *statement, int column, char *ret_text, size_t size);
int64_t store_last_id(const Store *store);
int store_changes(const Store *store);
int store_fail(Store *store, const char *doing, Error *error); /* turns SQLite's last error into *error; returns -1 */

/* crypto_secretbox under a key derived from the store's key; nonce from `random`. */
void store_seal(const Store *store, const void *bytes, size_t length, const uint8_t nonce[24], Str *ret_box);
bool store_unseal(const Store *store, const void *box, size_t length, Str *ret_bytes);

int store_migrate(Store *store, Error *error); /* in schema.c */

/* A stable random-looking number below `below`, from the store's key and a label: draws that a replay repeats. */
uint32_t store_draw(const Store *store, const char *label, uint32_t below);

/* Small named values (table service). */
int store_value_get(Store *store, const char *name, int64_t *ret_value, Error *error); /* 1 found, 0 none */
int store_value_set(Store *store, const char *name, int64_t value, Error *error);

#endif
