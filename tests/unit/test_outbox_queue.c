/* The queue's states O1–O8 as results, outages and other hands change them. The sender is one that answers as it is told. */
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

enum { START = 2000000000, DAY = SECONDS_PER_DAY };

static char folder[64], path[128], key_file[128];
static char name[] = "Anytown Chess", address[] = "chess@club.example", language[] = "en", zone[] = "UTC";
static Instant present;

typedef struct Relay { /* its answer to every letter */
    MailSender base;
    SendReport report;
    Mailing *mailings;
    size_t count;
    int sent; /* letters handed over, in all */
} Relay;

typedef struct Fixture {
    Config config;
    World world;
    Relay relay;
    Service service;
    sqlite3 *other; /* another program's hand on the store */
} Fixture;

static Instant now(void *data) {
    (void)data;
    return present;
}

static void fill(void *data, void *bytes, size_t length) {
    (void)data;
    memset(bytes, 7, length);
}

static void relay_begin(MailSender *base, Mailing *mailings, size_t count, Instant (*clock)(void *data), void *clock_data) {
    Relay *relay = (Relay *)base;
    (void)clock, (void)clock_data;
    relay->mailings = mailings;
    relay->count = count;
    relay->sent += (int)count;
}

static size_t relay_work(MailSender *base, struct pollfd *extra, size_t extra_count, int milliseconds) {
    Relay *relay = (Relay *)base;
    (void)extra, (void)extra_count, (void)milliseconds;
    for (size_t i = 0; i < relay->count; i++) {
        relay->mailings[i].done = true;
        relay->mailings[i].report = relay->report;
        relay->mailings[i].report.at = present;
    }
    return 0;
}

static const MailSenderOperations operations = { .begin = relay_begin, .work = relay_work };

static int set_up(void **state) {
    static Fixture fixture;
    Error error;
    error_clear(&error);
    text_copy(folder, sizeof folder, "/tmp/epistle-queue-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/e.db", folder);
    snprintf(key_file, sizeof key_file, "%s/e.key", folder);
    present = START;
    fixture = (Fixture){ .config = { .name = name, .address = address, .language = language, .timezone = zone, .store = path, .reply_tag_plus = true } };
    fixture.relay.base.operations = &operations;
    fixture.world = (World){ .now = now, .random = fill, .sender = &fixture.relay.base };
    Store *store = store_open(path, key_file, STORE_SERVICE, true, fill, NULL, NULL, &error);
    assert_non_null(store);
    fixture.service = (Service){ .config = &fixture.config, .store = store, .world = &fixture.world, .fixed = INSTANT_NONE };
    assert_int_equal(outage_load(&fixture.service, &error), 0);
    assert_int_equal(sqlite3_open(path, &fixture.other), SQLITE_OK);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state) {
    Fixture *fixture = *state;
    queue_drop(&fixture->service);
    outage_unload(&fixture->service);
    sqlite3_close(fixture->other);
    store_close(fixture->service.store);
    static const char *const ends[] = { ".db", ".db-wal", ".db-shm", ".key", ".lock", ".db.lock" };
    char file[200];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(file, sizeof file, "%s/e%s", folder, ends[i]);
        unlink(file);
    }
    assert_int_equal(rmdir(folder), 0);
    return 0;
}

/* A letter with its bytes, so that nothing has to be rendered. */
static int64_t queue(Fixture *fixture) {
    Error error;
    int64_t id = 0;
    error_clear(&error);
    const LetterOut draft = { .kind = "answer", .address = "ann@ann.example", .scope = "none", .brake = "", .view = "{}", .references = "", .due = present,
                              .queued = present };
    assert_int_equal(store_begin(fixture->service.store, &error), 0);
    assert_int_equal(letter_out_queue(fixture->service.store, &draft, "club.example", &id, &error), 0);
    assert_int_equal(store_execute(fixture->service.store, &error, "UPDATE letter_out SET bytes = x'0d0a' WHERE id = ?1", "i", id), 0);
    assert_int_equal(store_commit(fixture->service.store, &error), 0);
    return id;
}

static void keep_bytes(Fixture *fixture) {
    Error error;
    error_clear(&error);
    assert_int_equal(store_execute(fixture->service.store, &error, "UPDATE letter_out SET bytes = x'0d0a'", ""), 0);
}

static LetterOut row(Fixture *fixture, int64_t id) {
    static Arena arena;
    LetterOut letter;
    Error error;
    error_clear(&error);
    arena_free(&arena);
    arena_init(&arena, 1024 * 1024);
    assert_int_equal(letter_out_get(fixture->service.store, &arena, id, &letter, &error), 1);
    return letter;
}

static void expect_state(Fixture *fixture, int64_t id, const char *state) {
    assert_string_equal(row(fixture, id).state, state);
}

/* One cycle of the queue; what it returns. */
static int cycle(Fixture *fixture, CycleReport *report) {
    Error error;
    error_clear(&error);
    *report = (CycleReport){ 0 };
    keep_bytes(fixture);
    return queue_run(&fixture->service, report, &error);
}

static void test_accepted(void **state) {
    Fixture *fixture = *state;
    CycleReport report;
    int64_t id = queue(fixture);
    fixture->relay.report = (SendReport){ .result = SEND_ACCEPTED };
    present += 5;
    assert_int_equal(cycle(fixture, &report), 0);
    LetterOut letter = row(fixture, id);
    assert_string_equal(letter.state, "accepted");
    assert_true(letter.accepted == START + 5);
    assert_int_equal(report.sent, 1);
    assert_int_equal(cycle(fixture, &report), 0);
    assert_int_equal(fixture->relay.sent, 1);
}

/* Six days in which no letter goes at all, tried hourly; then the relay wants it a little later, as relays do with strangers. */
static void test_our_own_outage_is_held_against_no_letter(void **state) {
    Fixture *fixture = *state;
    CycleReport report;
    int64_t id = queue(fixture);
    fixture->relay.report = (SendReport){ .result = SEND_LATER, .relay = true };
    for (int hour = 0; hour < 6 * 24; hour++) {
        assert_int_equal(cycle(fixture, &report), -1);
        present += 3600;
    }
    LetterOut letter = row(fixture, id);
    assert_string_equal(letter.state, "queued");
    assert_int_equal(letter.attempts, 0);
    fixture->relay.report = (SendReport){ .result = SEND_LATER };
    assert_int_equal(cycle(fixture, &report), 0);
    letter = row(fixture, id);
    assert_string_equal(letter.state, "queued");
    assert_true(letter.due > present && letter.due <= present + 300);
    present = letter.due;
    fixture->relay.report = (SendReport){ .result = SEND_ACCEPTED };
    assert_int_equal(cycle(fixture, &report), 0);
    expect_state(fixture, id, "accepted");
}

/* What is put off again and again is given up in the end, and not before its five days. */
static void test_a_letter_put_off_for_its_own_sake_is_given_up(void **state) {
    Fixture *fixture = *state;
    CycleReport report;
    int64_t id = queue(fixture);
    fixture->relay.report = (SendReport){ .result = SEND_LATER };
    while (strcmp(row(fixture, id).state, "queued") == 0 && present < START + 30 * DAY) {
        present = row(fixture, id).due > present ? row(fixture, id).due : present;
        assert_int_equal(cycle(fixture, &report), 0);
    }
    expect_state(fixture, id, "given up");
    assert_true(present > START + 5 * DAY && present < START + 8 * DAY);
}

static int other_hand(Fixture *fixture, const char *sql) {
    return sqlite3_exec(fixture->other, sql, NULL, NULL, NULL);
}

static int hold_at_begin(unsigned event, void *data, void *statement, void *text) {
    (void)event, (void)statement;
    if (strncmp(text, "BEGIN", 5) == 0)
        assert_int_equal(other_hand(data, "UPDATE letter_out SET state = 'held' WHERE state = 'queued'"), SQLITE_OK);
    return 0;
}

/* The operator is quicker by a moment: between the look at what is due and the transaction that notes the attempt. */
static void test_a_letter_held_at_the_last_moment_does_not_go(void **state) {
    Fixture *fixture = *state;
    CycleReport report;
    Error error;
    error_clear(&error);
    int64_t id = queue(fixture);
    fixture->relay.report = (SendReport){ .result = SEND_ACCEPTED };
    sqlite3_trace_v2(fixture->service.store->db, SQLITE_TRACE_STMT, hold_at_begin, fixture);
    assert_int_equal(queue_begin(&fixture->service, &report, &error), 1);
    sqlite3_trace_v2(fixture->service.store->db, 0, NULL, NULL);
    assert_int_equal(queue_step(&fixture->service, NULL, 0, 0, &report, &error), 0);
    assert_int_equal(fixture->relay.sent, 0);
    expect_state(fixture, id, "held");
}

/* The relay has taken it, and the store cannot be written to at that moment. */
static void test_what_the_relay_said_is_noted_when_the_store_can_be_written_again(void **state) {
    Fixture *fixture = *state;
    CycleReport report = { 0 };
    Error error;
    error_clear(&error);
    int64_t id = queue(fixture);
    fixture->relay.report = (SendReport){ .result = SEND_ACCEPTED };
    assert_int_equal(queue_begin(&fixture->service, &report, &error), 1);
    assert_int_equal(other_hand(fixture, "BEGIN IMMEDIATE"), SQLITE_OK);
    sqlite3_busy_timeout(fixture->service.store->db, 1);
    assert_int_equal(queue_step(&fixture->service, NULL, 0, 0, &report, &error), -1);
    assert_int_equal(error.grade, ERROR_LATER);
    assert_int_equal(report.sent, 0);
    assert_int_equal(queue_begin(&fixture->service, &report, &error), 0); /* no other batch meanwhile */
    assert_int_equal(other_hand(fixture, "COMMIT"), SQLITE_OK);
    present += 100;
    assert_int_equal(queue_step(&fixture->service, NULL, 0, 0, &report, &error), 0);
    expect_state(fixture, id, "accepted");
    assert_int_equal(report.sent, 1);
    assert_int_equal(fixture->relay.sent, 1);
}

/* While it is on its way a report on it is read. */
static void test_a_report_that_overtakes_the_relays_answer(void **state) {
    static const char *const told[] = { "delayed", "bounced" };
    Fixture *fixture = *state;
    for (size_t i = 0; i < 2; i++) {
        CycleReport report = { 0 };
        Error error;
        char sql[100];
        error_clear(&error);
        int64_t id = queue(fixture);
        fixture->relay.report = (SendReport){ .result = SEND_ACCEPTED };
        assert_int_equal(queue_begin(&fixture->service, &report, &error), 1);
        snprintf(sql, sizeof sql, "UPDATE letter_out SET state = '%s' WHERE id = %d", told[i], (int)id);
        assert_int_equal(other_hand(fixture, sql), SQLITE_OK);
        present += 3;
        assert_int_equal(queue_step(&fixture->service, NULL, 0, 0, &report, &error), 0);
        LetterOut letter = row(fixture, id);
        assert_string_equal(letter.state, told[i]);
        assert_true(letter.accepted == present);
    }
}

/* After an unknown end the same bytes go, whatever the relay says in between; put off, it is unknown no more often than it was. */
static void test_put_off_after_an_unknown_end(void **state) {
    Fixture *fixture = *state;
    CycleReport report;
    int64_t id = queue(fixture);
    fixture->relay.report = (SendReport){ .result = SEND_UNKNOWN };
    assert_int_equal(cycle(fixture, &report), 0);
    expect_state(fixture, id, "trying");
    fixture->relay.report = (SendReport){ .result = SEND_LATER };
    for (int i = 0; i < 4; i++) {
        present = row(fixture, id).due;
        assert_int_equal(cycle(fixture, &report), 0);
        LetterOut letter = row(fixture, id);
        assert_string_equal(letter.state, "queued");
        assert_int_equal(letter.unknowns, 1);
        assert_int_equal(letter.length, 2);
    }
    fixture->relay.report = (SendReport){ .result = SEND_REFUSED };
    present = row(fixture, id).due;
    assert_int_equal(cycle(fixture, &report), 0);
    assert_string_equal(row(fixture, id).state, "refused");
    assert_int_equal(row(fixture, id).length, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_accepted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_our_own_outage_is_held_against_no_letter, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_letter_put_off_for_its_own_sake_is_given_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_letter_held_at_the_last_moment_does_not_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_the_relay_said_is_noted_when_the_store_can_be_written_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_report_that_overtakes_the_relays_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_put_off_after_an_unknown_end, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
