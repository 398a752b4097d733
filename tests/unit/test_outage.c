/* Outages: beginnings, waits, ends, the operator's one letter; over restarts, a full disk, a clock set back. */
#include "daemon/serve.h"
#include "daemon/service/outage.h"
#include "daemon/store/letters_out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { START = 1800000000 };

static char folder[64], path[96], key_file[96];
static Instant present;
static int said;
static char last_said[1024];

static Instant now(void *data) {
    (void)data;
    return present;
}

static void fill(void *data, void *bytes, size_t length) {
    (void)data;
    memset(bytes, 7, length);
}

static void hear(const char *line) {
    said++;
    text_copy(last_said, sizeof last_said, line);
}

static char *texts(const char *text) {
    static char copies[6][40];
    static size_t next;
    char *copy = copies[next++ % 6];
    text_copy(copy, sizeof copies[0], text);
    return copy;
}

typedef struct Fixture {
    Config config;
    World world;
    Service service;
} Fixture;

/* As at the start of a process. */
static void begin(Fixture *fixture, bool create) {
    Error error;
    error_clear(&error);
    *fixture = (Fixture){ .config = { .name = texts("Anytown Chess"), .address = texts("chess@club.example"), .language = texts("en"),
                                      .timezone = texts("UTC"), .operator_ = texts("op@club.example"), .store = path } };
    fixture->world = (World){ .now = now, .random = fill };
    Store *store = store_open(path, key_file, STORE_SERVICE, create, fill, NULL, NULL, &error);
    assert_non_null(store);
    fixture->service = (Service){ .config = &fixture->config, .store = store, .world = &fixture->world, .fixed = INSTANT_NONE, .log = hear };
    assert_int_equal(outage_load(&fixture->service, &error), 0);
}

static void end(Fixture *fixture) {
    outage_unload(&fixture->service);
    store_close(fixture->service.store);
}

static int set_up(void **state) {
    static Fixture fixture;
    text_copy(folder, sizeof folder, "/tmp/epistle-outage-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/e.db", folder);
    snprintf(key_file, sizeof key_file, "%s/e.key", folder);
    present = START;
    said = 0;
    last_said[0] = 0;
    begin(&fixture, true);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state) {
    end(*state);
    static const char *const names[] = { "e.db", "e.db-wal", "e.db-shm", "e.db.lock", "e.key" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[160];
        snprintf(name, sizeof name, "%s/%s", folder, names[i]);
        unlink(name);
    }
    return rmdir(folder);
}

static int64_t ask(Fixture *fixture, const char *sql) {
    Error error;
    error_clear(&error);
    int64_t value = -1;
    assert_true(store_query_int(fixture->service.store, &error, &value, sql, "") >= 0);
    return value;
}

static int64_t letters(Fixture *fixture) {
    return ask(fixture, "SELECT count(*) FROM letter_out WHERE kind = 'outage' AND address = 'op@club.example' AND player IS NULL");
}

static void fail_for(Fixture *fixture, OutageSubject subject, int seconds) {
    for (Instant until = present + seconds; present <= until;) {
        outage_failed(&fixture->service, subject, "no answer");
        present = outage_next_try(&fixture->service, subject);
    }
}

static void test_waits_grow_to_an_hour(void **state) {
    Fixture *fixture = *state;
    static const int waits[] = { 30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600 };
    assert_true(outage_next_try(&fixture->service, OUTAGE_MAILBOX) == INSTANT_NONE);
    assert_false(outage_lasts(&fixture->service, OUTAGE_MAILBOX, NULL));
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        outage_failed(&fixture->service, OUTAGE_MAILBOX, "no answer");
        assert_true(outage_next_try(&fixture->service, OUTAGE_MAILBOX) - present == waits[i]);
        present += waits[i];
    }
    Outage outage;
    assert_true(outage_lasts(&fixture->service, OUTAGE_MAILBOX, &outage));
    assert_true(outage.began == START && outage.ended == INSTANT_NONE && outage.tries == 10);
    outage_over(&fixture->service, OUTAGE_MAILBOX);
    assert_false(outage_lasts(&fixture->service, OUTAGE_MAILBOX, NULL));
    outage_failed(&fixture->service, OUTAGE_MAILBOX, "no answer");
    assert_true(outage_next_try(&fixture->service, OUTAGE_MAILBOX) - present == 30);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM outage WHERE subject = 'mailbox'"), 2);
}

static void test_success_in_good_times_writes_nothing(void **state) {
    Fixture *fixture = *state;
    uint64_t commits = fixture->service.store->commits;
    for (int subject = 0; subject < OUTAGE_SUBJECTS; subject++)
        outage_over(&fixture->service, (OutageSubject)subject);
    assert_true(fixture->service.store->commits == commits && said == 0);
}

static void test_the_log_tells_beginning_other_reasons_and_end(void **state) {
    Fixture *fixture = *state;
    for (int i = 0; i < 5; i++) {
        outage_failed(&fixture->service, OUTAGE_MAILBOX, "no answer");
        present += 30;
    }
    assert_int_equal(said, 1);
    assert_non_null(strstr(last_said, "no answer"));
    outage_failed(&fixture->service, OUTAGE_MAILBOX, "log-in refused");
    outage_failed(&fixture->service, OUTAGE_MAILBOX, "log-in refused");
    assert_int_equal(said, 2);
    assert_non_null(strstr(last_said, "now for this reason: log-in refused"));
    outage_over(&fixture->service, OUTAGE_MAILBOX);
    outage_over(&fixture->service, OUTAGE_MAILBOX);
    assert_int_equal(said, 3);
    assert_non_null(strstr(last_said, "can be read again"));
    assert_non_null(strstr(last_said, "tried 7 times"));
}

static void test_a_short_one_is_told_to_nobody(void **state) {
    Fixture *fixture = *state;
    for (int subject = 0; subject < OUTAGE_SUBJECTS; subject++) {
        outage_failed(&fixture->service, (OutageSubject)subject, "no answer");
        present += OUTAGE_TOLD_SECONDS - 1;
        outage_over(&fixture->service, (OutageSubject)subject);
    }
    assert_int_equal(letters(fixture), 0);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM outage WHERE ended - began = 899"), OUTAGE_SUBJECTS);
}

static void test_one_letter_each(void **state) {
    Fixture *fixture = *state;
    outage_failed(&fixture->service, OUTAGE_MAILBOX, "no answer");
    present += OUTAGE_TOLD_SECONDS;
    assert_int_equal(letters(fixture), 0);
    outage_failed(&fixture->service, OUTAGE_MAILBOX, "no answer");
    assert_int_equal(letters(fixture), 1);
    fail_for(fixture, OUTAGE_MAILBOX, SECONDS_PER_DAY);
    fail_for(fixture, OUTAGE_DISK, SECONDS_PER_DAY);
    assert_int_equal(letters(fixture), 2);
    fail_for(fixture, OUTAGE_RELAY, SECONDS_PER_DAY);
    assert_int_equal(letters(fixture), 2); /* it could not go */
    for (int subject = 0; subject < OUTAGE_SUBJECTS; subject++)
        outage_over(&fixture->service, (OutageSubject)subject);
    assert_int_equal(letters(fixture), 3);
    outage_failed(&fixture->service, OUTAGE_MAILBOX, "no answer"); /* another one */
    present += OUTAGE_TOLD_SECONDS;
    outage_over(&fixture->service, OUTAGE_MAILBOX); /* nothing failed since it was long enough: told with the end */
    assert_int_equal(letters(fixture), 4);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM outage WHERE told AND ended IS NOT NULL"), 4);
}

static void test_nobody_to_tell(void **state) {
    Fixture *fixture = *state;
    fixture->config.operator_ = NULL;
    fail_for(fixture, OUTAGE_MAILBOX, SECONDS_PER_DAY);
    outage_over(&fixture->service, OUTAGE_MAILBOX);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM letter_out"), 0);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM outage WHERE ended IS NOT NULL"), 1);
}

/* A letter that could not leave before the end tells of the end; one that has left does not change. */
static void test_a_letter_that_waits_tells_the_end(void **state) {
    Fixture *fixture = *state;
    Error error;
    error_clear(&error);
    for (int sent = 0; sent <= 1; sent++) {
        fail_for(fixture, OUTAGE_MAILBOX, 3600);
        assert_int_equal(letters(fixture), sent + 1);
        if (sent == 1)
            assert_int_equal(store_execute(fixture->service.store, &error, "UPDATE letter_out SET state = 'trying', bytes = x'41'"
                             " WHERE id = (SELECT max(id) FROM letter_out)", ""), 0);
        outage_over(&fixture->service, OUTAGE_MAILBOX);
        assert_int_equal(letters(fixture), sent + 1);
        assert_int_equal(ask(fixture, "SELECT view LIKE '%\"until\":%' FROM letter_out ORDER BY id DESC LIMIT 1"), !sent);
    }
}

static void test_another_process_goes_on(void **state) {
    Fixture *fixture = *state;
    fail_for(fixture, OUTAGE_MAILBOX, 3600);
    outage_failed(&fixture->service, OUTAGE_RELAY, "refused");
    Outage before, after;
    assert_true(outage_lasts(&fixture->service, OUTAGE_MAILBOX, &before));
    end(fixture);
    begin(fixture, false);
    assert_true(outage_lasts(&fixture->service, OUTAGE_MAILBOX, &after));
    assert_true(after.began == START && after.tries == before.tries && after.told && after.next_try == before.next_try);
    assert_string_equal(after.why, "no answer");
    assert_true(outage_lasts(&fixture->service, OUTAGE_RELAY, &after));
    assert_false(after.told);
    assert_false(outage_lasts(&fixture->service, OUTAGE_DISK, NULL));
    said = 0;
    outage_failed(&fixture->service, OUTAGE_MAILBOX, "no answer"); /* this process's log has not heard of it */
    outage_failed(&fixture->service, OUTAGE_MAILBOX, "no answer");
    assert_int_equal(said, 1);
    assert_int_equal(letters(fixture), 1);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM outage"), 2);
    outage_over(&fixture->service, OUTAGE_MAILBOX);
    end(fixture);
    begin(fixture, false);
    assert_false(outage_lasts(&fixture->service, OUTAGE_MAILBOX, NULL));
    assert_int_equal(letters(fixture), 1);
}

/* PRAGMA max_page_count makes a disk that is full. */
static void fill_disk(Fixture *fixture, bool full) {
    sqlite3 *db = fixture->service.store->db;
    if (full) {
        assert_int_equal(sqlite3_exec(db, "CREATE TABLE filler(x); PRAGMA max_page_count = 1", NULL, NULL, NULL), SQLITE_OK);
        while (sqlite3_exec(db, "INSERT INTO filler VALUES(zeroblob(3000))", NULL, NULL, NULL) == SQLITE_OK)
            continue;
        while (sqlite3_exec(db, "INSERT INTO service VALUES(hex(randomblob(20)), 1)", NULL, NULL, NULL) == SQLITE_OK)
            continue;
        while (sqlite3_exec(db, "INSERT INTO outage(subject, began, ended, next_try, tries, told, why) VALUES('x', 1, 2, 1, 1, 1, hex(randomblob(20)))",
                            NULL, NULL, NULL) == SQLITE_OK)
            continue;
        assert_int_equal(sqlite3_errcode(db), SQLITE_FULL);
    } else {
        assert_int_equal(sqlite3_exec(db, "PRAGMA max_page_count = 1000000", NULL, NULL, NULL), SQLITE_OK);
    }
}

static void test_a_full_disk_is_kept_in_mind(void **state) {
    Fixture *fixture = *state;
    fill_disk(fixture, true);
    fail_for(fixture, OUTAGE_DISK, 7200);
    assert_true(outage_lasts(&fixture->service, OUTAGE_DISK, NULL));
    assert_int_equal(ask(fixture, "SELECT count(*) FROM outage WHERE subject = 'disk'"), 0);
    outage_over(&fixture->service, OUTAGE_DISK); /* its end is that it could be noted */
    assert_true(outage_lasts(&fixture->service, OUTAGE_DISK, NULL));
    outage_failed(&fixture->service, OUTAGE_MAILBOX, "no answer");
    outage_over(&fixture->service, OUTAGE_MAILBOX); /* that one is over all the same */
    assert_false(outage_lasts(&fixture->service, OUTAGE_MAILBOX, NULL));
    assert_false(store_in_transaction(fixture->service.store));
    fill_disk(fixture, false);
    outage_over(&fixture->service, OUTAGE_DISK);
    outage_over(&fixture->service, OUTAGE_MAILBOX);
    assert_false(outage_lasts(&fixture->service, OUTAGE_DISK, NULL));
    assert_int_equal(ask(fixture, "SELECT began FROM outage WHERE subject = 'disk' AND ended IS NOT NULL"), START);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM outage WHERE subject = 'mailbox' AND ended IS NOT NULL"), 1);
    assert_int_equal(letters(fixture), 1);
}

static void test_room_on_the_disk(void **state) {
    Fixture *fixture = *state;
    Error error;
    error_clear(&error);
    fixture->config.free_space = 0;
    assert_int_equal(outage_room(&fixture->service, &error), 0);
    fixture->config.free_space = INT32_MAX;
    assert_int_equal(outage_room(&fixture->service, &error), -1);
    assert_int_equal(error.grade, ERROR_LATER);
    assert_non_null(strstr(error.text, "free_space_mb"));
    assert_true(outage_lasts(&fixture->service, OUTAGE_DISK, NULL));
    assert_int_equal(outage_room(&fixture->service, &error), -1);
    assert_int_equal(said, 1);
}

static void test_a_clock_set_back(void **state) {
    Fixture *fixture = *state;
    fail_for(fixture, OUTAGE_MAILBOX, 4 * 3600);
    present -= 30 * (Instant)SECONDS_PER_DAY;
    for (int minute = 0; minute < 3; minute++, present += 60) /* due, however often it is asked, until it was tried */
        assert_true(outage_next_try(&fixture->service, OUTAGE_MAILBOX) <= present);
    outage_failed(&fixture->service, OUTAGE_MAILBOX, "no answer");
    assert_true(outage_next_try(&fixture->service, OUTAGE_MAILBOX) == present + OUTAGE_RETRY_MAX);
    outage_over(&fixture->service, OUTAGE_MAILBOX);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM outage WHERE ended >= began"), 1);
}

static void test_one_end_makes_the_others_be_tried(void **state) {
    Fixture *fixture = *state;
    fail_for(fixture, OUTAGE_MAILBOX, 4 * 3600);
    fail_for(fixture, OUTAGE_RELAY, 4 * 3600);
    outage_failed(&fixture->service, OUTAGE_MAILBOX, "no answer");
    assert_true(outage_next_try(&fixture->service, OUTAGE_MAILBOX) == present + OUTAGE_RETRY_MAX);
    outage_over(&fixture->service, OUTAGE_RELAY);
    assert_true(outage_next_try(&fixture->service, OUTAGE_MAILBOX) == present);
}

/* A store of the program's first version gets its table and keeps what it has. */
static void test_a_store_of_schema_1(void **state) {
    Fixture *fixture = *state;
    Error error;
    error_clear(&error);
    assert_int_equal(store_value_set(fixture->service.store, "kept", 42, &error), 0);
    assert_int_equal(sqlite3_exec(fixture->service.store->db, "DROP TABLE outage; DROP INDEX letter_in_copies; PRAGMA user_version = 1", NULL, NULL, NULL), SQLITE_OK);
    end(fixture);
    assert_null(store_open(path, key_file, STORE_READ, false, fill, NULL, NULL, &error));
    assert_int_equal(error.grade, ERROR_LATER); /* which writes nothing */
    begin(fixture, false);
    assert_int_equal(ask(fixture, "PRAGMA user_version"), STORE_SCHEMA);
    assert_int_equal(ask(fixture, "SELECT value FROM service WHERE name = 'kept'"), 42);
    outage_failed(&fixture->service, OUTAGE_MAILBOX, "no answer");
    assert_int_equal(ask(fixture, "SELECT count(*) FROM outage"), 1);
}

/* Told of by each reading, noted from time to time, and no outage of the mailbox. */
static void test_folders(void **state) {
    Fixture *fixture = *state;
    Service *service = &fixture->service;
    outage_folders(service);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM outage"), 0);
    error_set(&service->folder_fault_, ERROR_INPUT, 0, "there is no Junk");
    uint64_t commits = service->store->commits;
    for (int minute = 0; minute < 60; minute++, present += 60)
        outage_folders(service);
    assert_true(service->store->commits - commits <= 8);
    assert_int_equal(said, 1);
    assert_int_equal(letters(fixture), 1);
    assert_false(outage_lasts(service, OUTAGE_MAILBOX, NULL));
    error_set(&service->folder_fault_, ERROR_INPUT, 0, "Junk is full");
    outage_folders(service);
    assert_int_equal(said, 2);
    assert_non_null(strstr(last_said, "now for this reason: Junk is full"));
    error_clear(&service->folder_fault_);
    outage_folders(service);
    outage_folders(service);
    assert_int_equal(said, 3);
    assert_int_equal(letters(fixture), 1);
    assert_int_equal(ask(fixture, "SELECT count(*) FROM outage WHERE subject = 'folder' AND ended - began = 3600"), 1);
}

static void test_a_clock_that_cannot_be_right(void **state) {
    Fixture *fixture = *state;
    Store *store = fixture->service.store;
    Error error;
    error_clear(&error);
    assert_int_equal(serve_clock_good(store, START, &error), 0); /* it was never read */
    assert_int_equal(store_value_set(store, "mailbox_read", START, &error), 0);
    assert_int_equal(serve_clock_good(store, START - SECONDS_PER_DAY, &error), 0);
    assert_int_equal(serve_clock_good(store, START - SECONDS_PER_DAY - 1, &error), -1);
    assert_int_equal(error.grade, ERROR_LATER);
    assert_int_equal(serve_clock_good(NULL, START - SECONDS_PER_DAY - 1, &error), 0);
    error_clear(&error);
    assert_int_equal(serve_clock_good(NULL, 12345, &error), -1);
    assert_int_equal(error.grade, ERROR_LATER);
    assert_non_null(strstr(error.text, "1970-01-01"));
}

static void test_errors_of_the_disk(void **state) {
    (void)state;
    Error error;
    error_set(&error, ERROR_LATER, SQLITE_FULL, "full");
    assert_true(outage_of_disk(&error));
    error_set(&error, ERROR_LATER, SQLITE_IOERR_WRITE, "broken");
    assert_true(outage_of_disk(&error));
    error_set(&error, ERROR_LATER, SQLITE_BUSY, "busy");
    assert_false(outage_of_disk(&error));
    error_set(&error, ERROR_LATER, MIME_PROCESS_DIED, "died");
    assert_false(outage_of_disk(&error));
    error_set(&error, ERROR_DAMAGED, SQLITE_CORRUPT, "damaged");
    assert_false(outage_of_disk(&error));
}

#define OUTAGE_TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        OUTAGE_TEST(test_waits_grow_to_an_hour),
        OUTAGE_TEST(test_success_in_good_times_writes_nothing),
        OUTAGE_TEST(test_the_log_tells_beginning_other_reasons_and_end),
        OUTAGE_TEST(test_a_short_one_is_told_to_nobody),
        OUTAGE_TEST(test_one_letter_each),
        OUTAGE_TEST(test_nobody_to_tell),
        OUTAGE_TEST(test_a_letter_that_waits_tells_the_end),
        OUTAGE_TEST(test_another_process_goes_on),
        OUTAGE_TEST(test_a_full_disk_is_kept_in_mind),
        OUTAGE_TEST(test_room_on_the_disk),
        OUTAGE_TEST(test_a_clock_set_back),
        OUTAGE_TEST(test_one_end_makes_the_others_be_tried),
        OUTAGE_TEST(test_a_store_of_schema_1),
        OUTAGE_TEST(test_folders),
        OUTAGE_TEST(test_a_clock_that_cannot_be_right),
        OUTAGE_TEST(test_errors_of_the_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
