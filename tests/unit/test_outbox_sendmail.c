/* The sendmail sender against small scripts in the program's place: what each is given, and what each way to end means.
 * This file takes sender_sendmail.c in itself, to shorten the program's time. */
#include "daemon/outbox/sender_sendmail.c" /* NOLINT */

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { NOON = 1000000, PATIENCE = 60 };

static char folder[] = "/tmp/epistle-sendmail-XXXXXX";
static char program[64], heard[64];
static const char letter[] = "Subject: x\r\n\r\n.\r\nEnde\rneu\r\n";

static Instant noon(void *data) {
    (void)data;
    return NOON;
}

static int make_folder(void **state) {
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(program, sizeof program, "%s/sendmail", folder);
    snprintf(heard, sizeof heard, "%s/heard", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(program);
    unlink(heard);
    return rmdir(folder);
}

static void write_program(const char *body) {
    unlink(heard);
    FILE *file = fopen(program, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", body);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(program, 0755), 0);
}

static void send_batch(Mailing *mailings, size_t count) {
    Error error = { 0 };
    struct timespec now;
    MailSender *sender = sender_sendmail_open(program, &error);
    assert_non_null(sender);
    sender->operations->begin(sender, mailings, count, noon, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (time_t until = now.tv_sec + PATIENCE; sender->operations->work(sender, NULL, 0, 1000) > 0;) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        assert_true(now.tv_sec < until);
    }
    for (size_t i = 0; i < count; i++) {
        assert_true(mailings[i].done);
        assert_int_equal(mailings[i].report.at, NOON);
    }
    sender->operations->close(sender);
}

static Mailing mailing_of(const char *from, const char *to) {
    return (Mailing){ .envelope = { from, to, "1@club.example" }, .bytes = letter, .length = sizeof letter - 1 };
}

static SendReport send_one(const char *from, const char *to) {
    Mailing mailing = mailing_of(from, to);
    send_batch(&mailing, 1);
    return mailing.report;
}

static void expect_heard(const char *wanted) {
    char text[4096];
    FILE *file = fopen(heard, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_string_equal(text, wanted);
}

static void test_statuses(void **state) {
    (void)state;
    static const struct { int status; SendResult result; bool relay, operators; } cases[] = {
        { 0, SEND_ACCEPTED, false, false }, { 1, SEND_LATER, false, false }, { 64, SEND_LATER, true, true }, { 65, SEND_REFUSED, false, false },
        { 67, SEND_REFUSED, false, false }, { 68, SEND_REFUSED, false, false }, { 69, SEND_LATER, true, false }, { 70, SEND_LATER, true, false },
        { 71, SEND_LATER, true, false }, { 72, SEND_LATER, true, true }, { 73, SEND_LATER, true, false }, { 74, SEND_LATER, true, false },
        { 75, SEND_LATER, false, false }, { 76, SEND_LATER, true, false }, { 77, SEND_LATER, true, true }, { 78, SEND_LATER, true, true },
        { 127, SEND_LATER, false, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[100];
        snprintf(body, sizeof body, "echo; printf 'why\\001not\\n'; exit %d", cases[i].status);
        write_program(body);
        SendReport report = send_one("a@club.example", "b@x.example");
        assert_int_equal(report.result, cases[i].result);
        assert_int_equal(report.relay, cases[i].relay);
        assert_int_equal(report.operators, cases[i].operators);
        assert_non_null(strstr(report.words, "why?not"));
    }
}

static void test_what_it_is_given(void **state) {
    (void)state;
    char body[300];
    snprintf(body, sizeof body, "{ printf '[%%s]' \"$@\"; cat; } >%s", heard);
    write_program(body);
    assert_int_equal(send_one("a@club.example", "b@x.example").result, SEND_ACCEPTED);
    expect_heard("[-i][-f][a@club.example][--][b@x.example]Subject: x\n\n.\nEnde\rneu\n");
    assert_int_equal(send_one("", "b@x.example").result, SEND_ACCEPTED);
    expect_heard("[-i][-f][<>][--][b@x.example]Subject: x\n\n.\nEnde\rneu\n");
}

static void test_nothing_of_ours_is_inherited(void **state) {
    (void)state;
    char body[300];
    int ours = dup2(1, 50); /* without CLOEXEC */
    assert_int_equal(ours, 50);
    setenv("EPISTLE_SECRET", "x", 1);
    snprintf(body, sizeof body, "[ -e /proc/$$/fd/50 ] && exit 75; env | grep -q EPISTLE && exit 75; [ -n \"$PATH\" ] && [ -n \"$HOME\" ] && exit 0; exit 75");
    write_program(body);
    assert_int_equal(send_one("a@club.example", "b@x.example").result, SEND_ACCEPTED);
    close(ours);
    unsetenv("EPISTLE_SECRET");
}

static void test_unknown_ends(void **state) {
    (void)state;
    write_program("kill -9 $$");
    assert_int_equal(send_one("a@club.example", "b@x.example").result, SEND_UNKNOWN);
    time_limit = 1;
    write_program("sleep 40");
    assert_int_equal(send_one("a@club.example", "b@x.example").result, SEND_UNKNOWN);
    time_limit = SECONDS;
}

static void test_bad_addresses_start_nothing(void **state) {
    (void)state;
    static const char *const bad[] = { "-oQ/tmp@x.example", "a b@x.example", "a\n@x.example", "\xc3\xa4@x.example", "nobody" };
    char body[100];
    snprintf(body, sizeof body, ": >%s", heard);
    write_program(body);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(send_one(bad[i], "b@x.example").result, SEND_REFUSED);
        assert_int_equal(send_one("a@club.example", bad[i]).result, SEND_REFUSED);
    }
    assert_int_equal(access(heard, F_OK), -1);
}

static void test_the_rest_is_not_begun(void **state) {
    (void)state;
    unlink(program);
    Mailing mailings[3];
    for (int i = 0; i < 3; i++)
        mailings[i] = mailing_of("a@club.example", "b@x.example");
    send_batch(mailings, 3);
    assert_true(mailings[0].report.relay && mailings[0].report.operators && !mailings[0].report.unbegun);
    assert_non_null(strstr(mailings[0].report.words, program));
    for (int i = 1; i < 3; i++)
        assert_true(mailings[i].report.result == SEND_LATER && mailings[i].report.unbegun);
}

static void test_much_output_and_nothing_read(void **state) {
    (void)state;
    write_program("exec 0<&-; echo first; yes | head -c 1000000; exit 0");
    SendReport report = send_one("a@club.example", "b@x.example");
    assert_int_equal(report.result, SEND_ACCEPTED);
    assert_string_equal(report.words, "first");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statuses), cmocka_unit_test(test_what_it_is_given), cmocka_unit_test(test_nothing_of_ours_is_inherited),
        cmocka_unit_test(test_unknown_ends), cmocka_unit_test(test_bad_addresses_start_nothing), cmocka_unit_test(test_the_rest_is_not_begun),
        cmocka_unit_test(test_much_output_and_nothing_read),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
