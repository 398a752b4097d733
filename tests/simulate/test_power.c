/* test_power: shows that vfs_power's losses are survived by a store that syncs, and that they bite one that does not.
 *
 *     test_power [SEEDS]
 *
 * Each seed is one file and several lives; each life writes numbered pairs of rows in transactions and dies at a random operation, by a loss of
 * power or a crash. What a life was told is committed stands in shared memory. After each life the file must be whole
 * and, where the mode promises it, hold every committed transaction, and no half of one. */
#include "tests/simulate/prng.h"
#include "tests/simulate/vfs_power.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIVES = 6, STATUS_LOSS = 10, STATUS_CRASH = 11, STATUS_DONE = 12, TRANSACTIONS = 40 };

typedef struct Mode {
    const char *name, *pragmas;
    bool losses;  /* of power; else crashes of the process alone */
    bool whole;   /* the file must stay whole */
    bool durable; /* committed is committed */
} Mode;

static const Mode modes[] = {
    {"WAL, synchronous=FULL", "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA wal_autocheckpoint=8;", true, true, true},
    {"WAL, synchronous=NORMAL", "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=8;", true, true, false},
    {"WAL, synchronous=OFF", "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=8;", true, false, false},
    {"DELETE, synchronous=EXTRA", "PRAGMA journal_mode=DELETE; PRAGMA synchronous=EXTRA;", true, true, true},
    {"DELETE, synchronous=OFF", "PRAGMA journal_mode=DELETE; PRAGMA synchronous=OFF;", true, false, false},
    {"WAL, synchronous=OFF, crashes only", "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=8;", false, true, true},
};

typedef struct Shared {
    int64_t committed; /* the last transaction a life was told is committed */
    int64_t begun;     /* the last one begun */
    uint64_t at;       /* the operation to die at */
    uint64_t seed;
    bool loss;
} Shared;

static Shared *shared;

static int die(void *data, PowerOperation operation, const char *path, uint64_t number) {
    (void)data, (void)operation, (void)path;
    if (number < shared->at)
        return SQLITE_OK;
    if (shared->loss)
        power_loss(shared->seed, STATUS_LOSS);
    power_crash(STATUS_CRASH);
}

static void must(sqlite3 *db, const char *sql) {
    char *why = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) {
        fprintf(stderr, "test_power: %s: %s\n", sql, why);
        _exit(1);
    }
}

static _Noreturn void life(const char *path, const Mode *mode) {
    sqlite3 *db;
    if (!power_register("power"))
        _exit(1);
    power_hook(die, NULL);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "power") != SQLITE_OK) {
        fprintf(stderr, "test_power: %s\n", sqlite3_errmsg(db));
        _exit(2);
    }
    must(db, mode->pragmas);
    must(db, "CREATE TABLE IF NOT EXISTS pairs (number INTEGER, half INTEGER, filling TEXT, PRIMARY KEY (number, half)) STRICT");
    uint64_t random = shared->seed;
    for (int i = 0; i < TRANSACTIONS; i++) {
        char sql[256];
        int64_t number = ++shared->begun;
        must(db, "BEGIN IMMEDIATE");
        for (int half = 0; half < 2; half++) {
            snprintf(sql, sizeof sql, "INSERT INTO pairs VALUES (%lld, %d, hex(zeroblob(%d)))", (long long)number, half,
                     (int)prng_below(&random, 3000));
            must(db, sql);
        }
        snprintf(sql, sizeof sql, "DELETE FROM pairs WHERE number = %lld AND number > 0", (long long)number - 50);
        must(db, sql);
        must(db, "COMMIT");
        shared->committed = number;
    }
    sqlite3_close(db);
    power_crash(STATUS_DONE);
}

static int64_t ask(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement;
    int64_t answer = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        return -1;
    if (sqlite3_step(statement) == SQLITE_ROW)
        answer = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return answer;
}

static bool whole(sqlite3 *db) {
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &statement, NULL) != SQLITE_OK)
        return false;
    bool well = sqlite3_step(statement) == SQLITE_ROW && !strcmp((const char *)sqlite3_column_text(statement, 0), "ok");
    sqlite3_finalize(statement);
    return well;
}

typedef struct Found {
    bool broken, lost;
} Found;

/* Looks at the real file through the default VFS, as the next life would find it. */
static Found look(const char *path) {
    Found found = {0};
    sqlite3 *db;
    sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    ask(db, "PRAGMA synchronous=OFF");
    bool table = ask(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'pairs'") == 1;
    int64_t newest = table ? ask(db, "SELECT coalesce(max(number), 0) FROM pairs") : 0;
    int64_t halves = table ? ask(db, "SELECT count(*) FROM (SELECT number FROM pairs GROUP BY number HAVING count(*) <> 2)") : 0;
    int64_t rows = table ? ask(db, "SELECT count(DISTINCT number) FROM pairs") : 0;
    found.broken = !whole(db) || halves != 0;
    int64_t kept = shared->committed < 50 ? shared->committed : 50;
    found.lost = newest < shared->committed || rows < kept;
    if (newest > shared->begun)
        found.broken = true;
    shared->begun = shared->committed = newest; /* the next life goes on from here */
    sqlite3_close(db);
    return found;
}

static void files_remove(const char *path) {
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < 4; i++) {
        char name[256];
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        unlink(name);
    }
}

int main(int count, char **words) {
    uint64_t seeds = count > 1 ? strtoull(words[1], NULL, 10) : 60;
    char folder[] = "/tmp/test_power.XXXXXX", path[64];
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || !mkdtemp(folder))
        return 2;
    snprintf(path, sizeof path, "%s/db", folder);
    int failed = 0;
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        const Mode *mode = &modes[m];
        int lives = 0, deaths = 0, broken = 0, lost = 0, trouble = 0;
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            files_remove(path);
            *shared = (Shared){0};
            uint64_t random = seed * 77 + m;
            for (int l = 0; l < LIVES; l++) {
                shared->at = 1 + prng_below(&random, 300);
                shared->seed = prng_next(&random);
                shared->loss = mode->losses && prng_below(&random, 4) > 0;
                pid_t pid = fork();
                if (!pid)
                    life(path, mode);
                int status;
                waitpid(pid, &status, 0);
                lives++;
                int ended = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
                deaths += ended == STATUS_LOSS || ended == STATUS_CRASH;
                trouble += ended != STATUS_LOSS && ended != STATUS_CRASH && ended != STATUS_DONE;
                Found found = look(path);
                broken += found.broken;
                lost += found.lost;
                if ((found.broken && mode->whole) || (found.lost && mode->durable))
                    printf("  seed %llu life %d: %s%s (%s at operation %llu)\n", (unsigned long long)seed, l,
                           found.broken ? "broken " : "", found.lost ? "lost " : "", shared->loss ? "power loss" : "crash",
                           (unsigned long long)shared->at);
                if (found.broken)
                    break;
            }
        }
        /* a mode that promises nothing must be seen losing, or the check would not bite */
        bool well = !trouble && (!mode->whole || !broken) && (mode->durable ? !lost : lost + broken > 0) && deaths > lives / 4;
        if (trouble && !mode->whole)
            well = lost + broken > 0; /* a broken file may stop a life too */
        printf("%s %-36s lives %d, died %d, broken %d, lost %d\n", well ? "ok  " : "FAIL", mode->name, lives, deaths, broken, lost);
        failed += !well;
    }
    files_remove(path);
    rmdir(folder);
    printf("%d passed, %d failed\n", (int)(sizeof modes / sizeof *modes) - failed, failed);
    return failed ? 1 : 0;
}
