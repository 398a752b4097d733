#include "daemon/store/store.h"

#include "core/base/encode.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BUSY_MILLISECONDS = 10000, /* a verb waits this long for a batch of the service to end */
    KEY_TEXT_MAX = 128,
};

/* ---- errors ---- */

int store_fail(Store *store, const char *doing, Error *error) {
    int code = sqlite3_extended_errcode(store->db);
    ErrorGrade grade = ERROR_LATER;
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_SCHEMA:
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
    case SQLITE_ERROR:
    case SQLITE_MISUSE:
        grade = ERROR_DAMAGED;
        break;
    default: /* full, busy, I/O error, no memory: nothing was done, it may work later */
        break;
    }
    return error_set(error, grade, code, "the store failed at %s: %s", doing, sqlite3_errmsg(store->db));
}

/* ---- statements ---- */

static sqlite3_stmt *statement_for(Store *store, const char *sql, Error *error) {
    for (int i = 0; i < STORE_STATEMENTS_MAX; i++) {
        if (store->statements_[i].sql == NULL) {
            if (sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &store->statements_[i].statement, NULL) != SQLITE_OK) {
                store_fail(store, sql, error);
                return NULL;
            }
            store->statements_[i].sql = sql;
        }
        if (store->statements_[i].sql == sql || strcmp(store->statements_[i].sql, sql) == 0)
            return store->statements_[i].statement;
    }
    error_set(error, ERROR_DAMAGED, 0, "more than %d SQL statements: raise STORE_STATEMENTS_MAX", STORE_STATEMENTS_MAX);
    return NULL;
}

static int bind_all(sqlite3_stmt *statement, const char *types, va_list arguments) {
    int result = SQLITE_OK;
    for (int i = 1; *types != 0 && result == SQLITE_OK; types++, i++) {
        if (*types == 'i') {
            result = sqlite3_bind_int64(statement, i, va_arg(arguments, int64_t));
        } else if (*types == 't') {
            result = sqlite3_bind_text(statement, i, va_arg(arguments, const char *), -1, SQLITE_TRANSIENT);
        } else {
            const void *bytes = va_arg(arguments, const void *);
            size_t length = va_arg(arguments, size_t);
            result = length > INT_MAX ? SQLITE_TOOBIG : sqlite3_bind_blob(statement, i, bytes, (int)length, SQLITE_TRANSIENT);
        }
    }
    return result;
}

static int step(Store *store, sqlite3_stmt *statement, Error *error) {
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW)
        return 1;
    if (result != SQLITE_DONE)
        store_fail(store, sqlite3_sql(statement), error);
    sqlite3_reset(statement);
    return result == SQLITE_DONE ? 0 : -1;
}

static int query(Store *store, Error *error, sqlite3_stmt **ret_statement, const char *sql, const char *types, va_list arguments) {
    sqlite3_stmt *statement = statement_for(store, sql, error);
    *ret_statement = NULL;
    if (statement == NULL)
        return -1;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    if (bind_all(statement, types, arguments) != SQLITE_OK)
        return store_fail(store, sql, error);
    int found = step(store, statement, error);
    if (found == 1)
        *ret_statement = statement;
    return found;
}

int store_query(Store *store, Error *error, sqlite3_stmt **ret_statement, const char *sql, const char *types, ...) {
    va_list arguments;
    va_start(arguments, types);
    int found = query(store, error, ret_statement, sql, types, arguments);
    va_end(arguments);
    return found;
}

int store_execute(Store *store, Error *error, const char *sql, const char *types, ...) {
    sqlite3_stmt *statement = NULL;
    va_list arguments;
    va_start(arguments, types);
    int found = query(store, error, &statement, sql, types, arguments);
    va_end(arguments);
    store_done(statement);
    return found < 0 ? -1 : 0;
}

int store_query_int(Store *store, Error *error, int64_t *ret_value, const char *sql, const char *types, ...) {
    sqlite3_stmt *statement = NULL;
    va_list arguments;
    va_start(arguments, types);
    int found = query(store, error, &statement, sql, types, arguments);
    va_end(arguments);
    if (found == 1) {
        found = sqlite3_column_type(statement, 0) != SQLITE_NULL;
        if (found)
            *ret_value = sqlite3_column_int64(statement, 0);
    }
    store_done(statement);
    return found;
}

int store_next(Store *store, sqlite3_stmt *statement, Error *error) {
    return step(store, statement, error);
}

void store_done(sqlite3_stmt *statement) {
    if (statement != NULL)
        sqlite3_reset(statement);
}

void column_text(sqlite3_stmt *statement, int column, char *ret_text, size_t size) {
    const char *text = (const char *)sqlite3_column_text(statement, column);
    text_copy(ret_text, size, text == NULL ? "" : text);
}

int64_t store_last_id(const Store *store) {
    return sqlite3_last_insert_rowid(store->db);
}

int store_changes(const Store *store) {
    return sqlite3_changes(store->db);
}

/* ---- transactions ---- */

int store_begin(Store *store, Error *error) {
    return store_execute(store, error, "BEGIN IMMEDIATE", "");
}

int store_commit(Store *store, Error *error) {
    if (store_execute(store, error, "COMMIT", "") < 0)
        return -1;
    store->commits++;
    return 0;
}

bool store_in_transaction(const Store *store) {
    return sqlite3_get_autocommit(store->db) == 0;
}

void store_rollback(Store *store) {
    if (store_in_transaction(store))
        store_execute(store, NULL, "ROLLBACK", "");
}

int store_savepoint(Store *store, Error *error) {
    return store_execute(store, error, "SAVEPOINT letter", "");
}

int store_release(Store *store, Error *error) {
    return store_execute(store, error, "RELEASE letter", "");
}

int store_rollback_to(Store *store, Error *error) {
    if (store_execute(store, error, "ROLLBACK TO letter", "") < 0)
        return -1;
    return store_release(store, error);
}

/* ---- the key ---- */

static int64_t key_check(const TokenKey *key) {
    uint8_t mac[crypto_auth_hmacsha256_BYTES];
    static const char label[] = "epistle store check";
    crypto_auth_hmacsha256(mac, (const uint8_t *)label, sizeof label - 1, key->bytes);
    int64_t check = 0;
    for (int i = 0; i < 7; i++)
        check = check << 8 | mac[i];
    return check;
}

static bool key_read(const char *path, TokenKey *ret_key) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (descriptor < 0)
        return false;
    char text[KEY_TEXT_MAX];
    ssize_t length = read(descriptor, text, sizeof text - 1);
    close(descriptor);
    static const char head[] = "epistle-key/1 0 ";
    bool good = length == (ssize_t)(sizeof head - 1 + 2 * TOKEN_KEY_SIZE + 1) && memcmp(text, head, sizeof head - 1) == 0;
    if (good) {
        text[length - 1] = 0;
        good = hex_read(text + sizeof head - 1, ret_key->bytes, TOKEN_KEY_SIZE);
        ret_key->id = 0;
    }
    sodium_memzero(text, sizeof text);
    return good;
}

static int sync_folder_of(const char *path) {
    char folder[PATH_MAX];
    if (!text_copy(folder, sizeof folder, path))
        return -1;
    char *slash = strrchr(folder, '/');
    if (slash == NULL)
        text_copy(folder, sizeof folder, ".");
    else
        slash[slash == folder] = 0;
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return -1;
    int result = fsync(descriptor);
    close(descriptor);
    return result;
}

static int key_write(const char *path, const TokenKey *key, Error *error) {
    char text[KEY_TEXT_MAX], hex[2 * TOKEN_KEY_SIZE + 1];
    hex_write(key->bytes, TOKEN_KEY_SIZE, hex);
    int length = snprintf(text, sizeof text, "epistle-key/1 %u %s\n", key->id, hex);
    unlink(path);
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = descriptor >= 0 && write(descriptor, text, (size_t)length) == length && fsync(descriptor) == 0;
    int code = errno;
    if (descriptor >= 0 && close(descriptor) != 0)
        good = false;
    sodium_memzero(text, sizeof text);
    sodium_memzero(hex, sizeof hex);
    if (good && sync_folder_of(path) != 0) {
        good = false;
        code = errno;
    }
    if (!good)
        return error_set(error, ERROR_LATER, code, "cannot write the key file %s: %s", path, strerror(code));
    return 0;
}

/* The key of a store being made waits under this name until the store is committed, so that a key without a
 * store or a store without a key never comes from a crash in between. */
static bool new_key_path(const char *key_file, char ret_path[PATH_MAX]) {
    int length = snprintf(ret_path, PATH_MAX, "%s.new", key_file);
    return length > 0 && length < PATH_MAX;
}

static int key_finish(const char *new_path, const char *key_file, Error *error) {
    if (rename(new_path, key_file) != 0 || sync_folder_of(key_file) != 0)
        return error_set(error, ERROR_LATER, errno, "cannot put the key file %s in its place: %s", key_file, strerror(errno));
    return 0;
}

static int key_load(Store *store, const char *key_file, bool may_finish, Error *error) {
    int64_t check = 0;
    if (store_value_get(store, "key_check", &check, error) < 0)
        return -1;
    char new_path[PATH_MAX];
    if (key_read(key_file, &store->key) && key_check(&store->key) == check)
        return 0;
    if (may_finish && new_key_path(key_file, new_path) && key_read(new_path, &store->key) && key_check(&store->key) == check)
        return key_finish(new_path, key_file, error);
    if (access(key_file, R_OK) != 0)
        return error_set(error, ERROR_DAMAGED, 0, "the key file %s cannot be read (%s): the store is of no use without its key, bring it back from its backup",
                         key_file, strerror(errno));
    return error_set(error, ERROR_DAMAGED, 0, "the key in %s is not the key of this store: bring back the right one from its backup", key_file);
}

/* ---- opening ---- */

static int take_lock(Store *store, const char *path, Error *error) {
    char lock[PATH_MAX];
    int length = snprintf(lock, sizeof lock, "%s.lock", path);
    if (length < 0 || (size_t)length >= sizeof lock)
        return error_set(error, ERROR_INPUT, 0, "the store's path is too long");
    store->lock_descriptor = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (store->lock_descriptor < 0)
        return error_set(error, ERROR_LATER, errno, "cannot open %s: %s", lock, strerror(errno));
    if (flock(store->lock_descriptor, LOCK_EX | LOCK_NB) != 0)
        return error_set(error, ERROR_LATER, errno, "another epistle is at work on %s: end it first or wait for it", path);
    return 0;
}

static int set_pragmas(Store *store, bool read_only, Error *error) {
    const char *pragmas = read_only ? "PRAGMA foreign_keys=ON; PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY;"
                                    : "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
                                      "PRAGMA secure_delete=ON; PRAGMA trusted_schema=OFF; PRAGMA temp_store=MEMORY;";
    sqlite3_busy_timeout(store->db, BUSY_MILLISECONDS);
    if (sqlite3_exec(store->db, pragmas, NULL, NULL, NULL) != SQLITE_OK)
        return store_fail(store, "opening", error);
    return 0;
}

/* An old key beside a new store would make every token of the old one worthless, silently. */
static int refuse_lone_key(const char *key_file, Error *error) {
    if (access(key_file, F_OK) != 0)
        return 0;
    return error_set(error, ERROR_DAMAGED, 0, "the key file %s is there but its store is not: bring the store back, or move the key away to begin anew",
                     key_file);
}

static int make_new(Store *store, const char *key_file, void (*random)(void *, void *, size_t), void *random_data, Error *error) {
    char new_path[PATH_MAX];
    if (!new_key_path(key_file, new_path))
        return error_set(error, ERROR_INPUT, 0, "the key file's path is too long");
    if (refuse_lone_key(key_file, error) < 0)
        return -1;
    store->key.id = 0;
    random(random_data, store->key.bytes, TOKEN_KEY_SIZE);
    if (key_write(new_path, &store->key, error) < 0 || store_begin(store, error) < 0)
        return -1;
    if (store_migrate(store, error) < 0 || store_value_set(store, "key_check", key_check(&store->key), error) < 0 ||
        store_commit(store, error) < 0) {
        store_rollback(store);
        return -1;
    }
    return key_finish(new_path, key_file, error);
}

static int open_existing(Store *store, const char *key_file, StoreUse use, int64_t version, Error *error) {
    if (version != STORE_SCHEMA) {
        if (use == STORE_READ && version < STORE_SCHEMA)
            return error_set(error, ERROR_LATER, 0, "the store has an older schema: run `epistle once` or the service first");
        if (store_begin(store, error) < 0)
            return -1;
        if (store_migrate(store, error) < 0 || store_commit(store, error) < 0) {
            store_rollback(store);
            return -1;
        }
    }
    return key_load(store, key_file, use != STORE_READ, error);
}

Store *store_open(const char *path, const char *key_file, StoreUse use, bool create,
                  void (*random)(void *data, void *bytes, size_t length), void *random_data, const char *vfs, Error *error) {
    Store *store = calloc(1, sizeof *store);
    if (store == NULL || sodium_init() < 0) {
        free(store);
        error_set(error, ERROR_LATER, 0, "no memory");
        return NULL;
    }
    store->lock_descriptor = -1;
    int flags = use == STORE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
    int64_t version = 0;
    if (access(path, F_OK) != 0 && !create) {
        error_set(error, ERROR_INPUT, 0, "there is no store at %s yet: `epistle check --init` makes one", path);
        goto fail;
    }
    /* Before SQLite makes the file: an empty one would look as if the store had been brought back. */
    if (access(path, F_OK) != 0 && refuse_lone_key(key_file, error) < 0)
        goto fail;
    if (use == STORE_SERVICE && take_lock(store, path, error) < 0)
        goto fail;
    if (sqlite3_open_v2(path, &store->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs) != SQLITE_OK) {
        if (store->db != NULL)
            store_fail(store, "opening", error);
        error_prefix(error, "%s", path);
        goto fail;
    }
    if (set_pragmas(store, use == STORE_READ, error) < 0 || store_query_int(store, error, &version, "PRAGMA user_version", "") < 0)
        goto fail;
    if (version == 0 && !create) {
        error_set(error, ERROR_DAMAGED, 0, "%s is not a finished store: `epistle check --init` makes one", path);
        goto fail;
    }
    if ((version == 0 ? make_new(store, key_file, random, random_data, error)
                      : open_existing(store, key_file, use, version, error)) < 0)
        goto fail;
    return store;
fail:
    store_close(store);
    return NULL;
}

void store_close(Store *store) {
    if (store == NULL)
        return;
    for (int i = 0; i < STORE_STATEMENTS_MAX; i++)
        sqlite3_finalize(store->statements_[i].statement);
    sqlite3_close(store->db);
    if (store->lock_descriptor >= 0)
        close(store->lock_descriptor);
    sodium_memzero(&store->key, sizeof store->key);
    free(store);
}

/* ---- sealing of raw letters ---- */

static void sealing_key(const Store *store, uint8_t ret_key[crypto_secretbox_KEYBYTES]) {
    static const char label[] = "epistle raw letters";
    crypto_auth_hmacsha256(ret_key, (const uint8_t *)label, sizeof label - 1, store->key.bytes);
}

void store_seal(const Store *store, const void *bytes, size_t length, const uint8_t nonce[24], Str *ret_box) {
    uint8_t key[crypto_secretbox_KEYBYTES];
    sealing_key(store, key);
    str_clear(ret_box);
    if (str_append_bytes(ret_box, nonce, crypto_secretbox_NONCEBYTES) &&
        str_append_repeated(ret_box, 0, length + crypto_secretbox_MACBYTES))
        crypto_secretbox_easy((uint8_t *)ret_box->data + crypto_secretbox_NONCEBYTES, bytes, length, nonce, key);
    sodium_memzero(key, sizeof key);
}

bool store_unseal(const Store *store, const void *box, size_t length, Str *ret_bytes) {
    str_clear(ret_bytes);
    if (length < crypto_secretbox_NONCEBYTES + crypto_secretbox_MACBYTES)
        return false;
    uint8_t key[crypto_secretbox_KEYBYTES];
    sealing_key(store, key);
    const uint8_t *from = box;
    bool good = str_append_repeated(ret_bytes, 0, length - crypto_secretbox_NONCEBYTES - crypto_secretbox_MACBYTES) &&
                crypto_secretbox_open_easy((uint8_t *)ret_bytes->data, from + crypto_secretbox_NONCEBYTES,
                                           length - crypto_secretbox_NONCEBYTES, from, key) == 0;
    sodium_memzero(key, sizeof key);
    return good;
}

/* ---- small values and draws ---- */

uint32_t store_draw(const Store *store, const char *label, uint32_t below) {
    uint8_t mac[crypto_auth_hmacsha256_BYTES];
    crypto_auth_hmacsha256(mac, (const uint8_t *)label, strlen(label), store->key.bytes);
    uint64_t number = 0;
    for (int i = 0; i < 8; i++)
        number = number << 8 | mac[i];
    return below == 0 ? 0 : (uint32_t)(number % below);
}

int store_value_get(Store *store, const char *name, int64_t *ret_value, Error *error) {
    return store_query_int(store, error, ret_value, "SELECT value FROM service WHERE name = ?1", "t", name);
}

int store_value_set(Store *store, const char *name, int64_t value, Error *error) {
    return store_execute(store, error, "INSERT INTO service(name, value) VALUES(?1, ?2) ON CONFLICT DO UPDATE SET value = ?2",
                         "ti", name, value);
}
