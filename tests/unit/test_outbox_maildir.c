/* The Maildir sender: one file a letter, however often it is delivered; nothing left behind where it cannot be written. */
#include "daemon/maildir.h"
#include "daemon/outbox/sender.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];

static int make_root(void **state) {
    (void)state;
    snprintf(root, sizeof root, "/tmp/epistle-maildir-XXXXXX");
    return mkdtemp(root) == NULL ? -1 : 0;
}

static int remove_root(void **state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static const char *below(const char *name) {
    static char path[4][400];
    static int at;
    at = (at + 1) % 4;
    snprintf(path[at], sizeof path[at], "%s/%s", root, name);
    return path[at];
}

/* How many files; the last one's path. */
static int count(const char *folder, char *ret_path, size_t size) {
    DIR *list = opendir(below(folder));
    if (list == NULL)
        return -1;
    int files = 0;
    for (struct dirent *entry; (entry = readdir(list)) != NULL;)
        if (entry->d_name[0] != '.') {
            files++;
            if (ret_path != NULL)
                snprintf(ret_path, size, "%s/%s/%s", root, folder, entry->d_name);
        }
    closedir(list);
    return files;
}

static const char letter[] = "Subject: x\r\n\r\nDear Anna,\r\nlone \r stays\r\n";

static Instant at_thousand(void *data) {
    (void)data;
    return 1000;
}

static SendReport send_one(MailSender *sender, const char *from, const char *to, const char *id) {
    Mailing mailing = { .envelope = { from, to, id }, .bytes = letter, .length = sizeof letter - 1, .report = { .result = SEND_UNKNOWN } };
    sender->operations->begin(sender, &mailing, 1, at_thousand, NULL);
    assert_int_equal(sender->operations->work(sender, NULL, 0, 0), 0);
    assert_true(mailing.done);
    return mailing.report;
}

static void test_delivery(void **state) {
    (void)state;
    Error error = { 0 };
    assert_int_equal(maildir_make(below("deep/er/out"), &error), 0);
    MailSender *sender = sender_maildir_open(below("deep/er/out"), &error);
    assert_non_null(sender);
    SendReport report = send_one(sender, "chess+b.x@club.example", "anna@example.org", "1@club.example");
    assert_int_equal(report.result, SEND_ACCEPTED);
    assert_int_equal(report.at, 1000);
    char path[700], text[400] = "";
    assert_int_equal(count("deep/er/out/new", path, sizeof path), 1);
    assert_int_equal(count("deep/er/out/tmp", NULL, 0), 0);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    fclose(file);
    assert_string_equal(text, "Return-Path: <chess+b.x@club.example>\nDelivered-To: anna@example.org\nSubject: x\n\nDear Anna,\nlone \r stays\n");
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_null(strchr(path + strlen(root), ':'));

    /* the same again, unread, read, and read with marks */
    assert_int_equal(send_one(sender, "chess+b.x@club.example", "anna@example.org", "1@club.example").result, SEND_ACCEPTED);
    assert_int_equal(count("deep/er/out/new", NULL, 0), 1);
    char moved[900];
    snprintf(moved, sizeof moved, "%s/deep/er/out/cur/%s:2,RS", root, strrchr(path, '/') + 1);
    assert_int_equal(rename(path, moved), 0);
    assert_int_equal(send_one(sender, "chess+b.x@club.example", "anna@example.org", "1@club.example").result, SEND_ACCEPTED);
    assert_int_equal(count("deep/er/out/new", NULL, 0), 0);
    assert_int_equal(send_one(sender, "", "anna@example.org", "2@club.example").result, SEND_ACCEPTED);
    assert_int_equal(count("deep/er/out/new", NULL, 0), 1);
    sender->operations->close(sender);
}

/* A crash between writing and renaming leaves a piece in tmp/. */
static void test_leftover(void **state) {
    (void)state;
    assert_int_equal(maildir_make(below("left"), NULL), 0);
    MailSender *sender = sender_maildir_open(below("left"), NULL);
    assert_int_equal(send_one(sender, "", "anna@example.org", "1@x").result, SEND_ACCEPTED);
    char path[700], piece[900];
    assert_int_equal(count("left/new", path, sizeof path), 1);
    snprintf(piece, sizeof piece, "%s/left/tmp/%s", root, strrchr(path, '/') + 1);
    assert_int_equal(rename(path, piece), 0);
    assert_int_equal(truncate(piece, 5), 0);
    assert_int_equal(send_one(sender, "", "anna@example.org", "1@x").result, SEND_ACCEPTED);
    assert_int_equal(count("left/tmp", NULL, 0), 0);
    assert_int_equal(count("left/new", path, sizeof path), 1);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_true(status.st_size > 50);
    sender->operations->close(sender);
}

static void test_per_recipient(void **state) {
    (void)state;
    MailSender *sender = sender_maildir_open(below("to/%s/Maildir"), NULL);
    assert_non_null(sender);
    assert_int_equal(send_one(sender, "", "anna+x@example.org", "1@x").result, SEND_LATER);
    assert_int_equal(count("to", NULL, 0), -1);
    assert_int_equal(sender_maildir_make(below("to/%s/Maildir"), NULL), 0);
    assert_int_equal(count("to", NULL, 0), 0);
    assert_int_equal(send_one(sender, "", "anna+x@example.org", "1@x").result, SEND_ACCEPTED);
    assert_int_equal(send_one(sender, "", "bob@example.org", "1@x").result, SEND_ACCEPTED);
    assert_int_equal(count("to/anna+x@example.org/Maildir/new", NULL, 0), 1);
    assert_int_equal(count("to/bob@example.org/Maildir/new", NULL, 0), 1);
    static const char *const bad[] = { "../bob@example.org", "a/b@example.org", ".hidden@example.org", "no address", "", "a@b\nc", "a@b@c", ".@b" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(send_one(sender, "", bad[i], "1@x").result, SEND_REFUSED);
    assert_int_equal(send_one(sender, "a\nb@x", "bob@example.org", "2@x").result, SEND_REFUSED);
    assert_int_equal(count("to", NULL, 0), 2);
    assert_int_equal(send_one(sender, "", "o'brien!#$%&*=?^_`{|}~s@example.org", "1@x").result, SEND_ACCEPTED);
    assert_int_equal(count("to/o'brien!#$%&*=?^_`{|}~s@example.org/Maildir/new", NULL, 0), 1);
    sender->operations->close(sender);
    assert_null(sender_maildir_open("", NULL));
    assert_null(sender_maildir_open("/tmp/%s/%s", NULL));
}

/* No room: a limit on the file's size stands for the full disk. */
static void test_no_room(void **state) {
    (void)state;
    assert_int_equal(maildir_make(below("full"), NULL), 0);
    MailSender *sender = sender_maildir_open(below("full"), NULL);
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    SendReport report = send_one(sender, "", "anna@example.org", "1@x");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(report.result, SEND_LATER);
    assert_true(strlen(report.words) > 20);
    assert_int_equal(count("full/tmp", NULL, 0), 0);
    assert_int_equal(count("full/new", NULL, 0), 0);
    assert_int_equal(send_one(sender, "", "anna@example.org", "1@x").result, SEND_ACCEPTED);
    sender->operations->close(sender);
}

/* Something that is no folder stands in its place. */
static void test_no_folder(void **state) {
    (void)state;
    FILE *file = fopen(below("plain"), "w");
    assert_non_null(file);
    fclose(file);
    static const char *const names[] = { "plain", "plain/%s" };
    for (int i = 0; i < 2; i++) {
        Error error = { 0 };
        MailSender *sender = sender_maildir_open(below(names[i]), &error);
        assert_non_null(sender);
        assert_int_equal(send_one(sender, "", "anna@example.org", "1@x").result, SEND_LATER);
        assert_int_equal(sender_maildir_make(below(names[i]), &error), -1);
        sender->operations->close(sender);
    }
}

/* Its volume may not be mounted: the letter waits, and nothing is made in the mount point. */
static void test_missing(void **state) {
    (void)state;
    Error error = { 0 };
    MailSender *sender = sender_maildir_open(below("away"), &error);
    SendReport report = send_one(sender, "", "anna@example.org", "1@x");
    assert_int_equal(report.result, SEND_LATER);
    assert_non_null(strstr(report.words, "check --init"));
    assert_int_equal(count("away", NULL, 0), -1);
    assert_int_equal(sender_maildir_ready(below("away"), &error), -1);
    assert_int_equal(error.grade, ERROR_MAILBOX);
    assert_int_equal(sender_maildir_make(below("away"), &error), 0);
    assert_int_equal(sender_maildir_ready(below("away"), &error), 0);
    assert_int_equal(send_one(sender, "", "anna@example.org", "1@x").result, SEND_ACCEPTED);
    sender->operations->close(sender);
}

static size_t count_done(const Mailing *mailings, size_t count) {
    size_t done = 0;
    for (size_t i = 0; i < count; i++)
        done += mailings[i].done;
    return done;
}

/* A few letters in one call, and what else is waited for is told in between. */
static void test_batch(void **state) {
    (void)state;
    enum { LETTERS = 30 };
    static char ids[LETTERS][20], to[LETTERS][40];
    static Mailing mailings[LETTERS];
    assert_int_equal(maildir_base_make(below("many"), NULL), 0);
    MailSender *sender = sender_maildir_open(below("many/%s"), NULL);
    for (int i = 0; i < LETTERS; i++) {
        snprintf(ids[i], sizeof ids[i], "%d@x", i);
        snprintf(to[i], sizeof to[i], i == 7 ? "no address" : "player%d@example.org", i % 3);
        mailings[i] = (Mailing){ .envelope = { "", to[i], ids[i] }, .bytes = letter, .length = sizeof letter - 1, .done = true };
    }
    sender->operations->begin(sender, mailings, LETTERS, at_thousand, NULL);
    assert_int_equal(count_done(mailings, LETTERS), 0);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    struct pollfd extra = { .fd = ends[0], .events = POLLIN };
    size_t left = LETTERS;
    for (int calls = 0; left > 0; calls++) {
        assert_true(calls < LETTERS);
        extra.revents = 0;
        size_t still = sender->operations->work(sender, &extra, 1, 60000);
        assert_true(still < left && left - still <= 16);
        assert_int_equal(extra.revents, POLLIN);
        assert_int_equal(count_done(mailings, LETTERS), LETTERS - still);
        left = still;
    }
    for (int i = 0; i < LETTERS; i++)
        assert_int_equal(mailings[i].report.result, i == 7 ? SEND_REFUSED : SEND_ACCEPTED);
    assert_int_equal(count("many/player0@example.org/new", NULL, 0), 10);
    assert_int_equal(count("many/player1@example.org/new", NULL, 0), 9);
    assert_int_equal(count("many/player0@example.org/tmp", NULL, 0), 0);
    assert_int_equal(sender->operations->work(sender, &extra, 1, 60000), 0); /* only waits */
    assert_int_equal(extra.revents, POLLIN);
    close(ends[0]);
    close(ends[1]);

    sender->operations->begin(sender, mailings, LETTERS, at_thousand, NULL);
    left = sender->operations->work(sender, NULL, 0, 0);
    assert_true(left > 0);
    sender->operations->stop(sender);
    assert_int_equal(sender->operations->work(sender, NULL, 0, 0), 0);
    assert_int_equal(count_done(mailings, LETTERS), LETTERS);
    for (int i = 0; i < LETTERS; i++)
        assert_int_equal(mailings[i].report.unbegun, i >= LETTERS - (int)left);
    assert_int_equal(mailings[LETTERS - 1].report.result, SEND_LATER);
    sender->operations->close(sender);
}

/* Where there is no Maildir for anybody, the others are not begun. */
static void test_relay_fault(void **state) {
    (void)state;
    Mailing mailings[3];
    MailSender *sender = sender_maildir_open(below("unmounted"), NULL);
    for (int i = 0; i < 3; i++)
        mailings[i] = (Mailing){ .envelope = { "", "anna@example.org", i == 0 ? "1@x" : i == 1 ? "2@x" : "3@x" }, .bytes = letter,
                                 .length = sizeof letter - 1 };
    sender->operations->begin(sender, mailings, 3, at_thousand, NULL);
    assert_int_equal(sender->operations->work(sender, NULL, 0, 0), 0);
    for (int i = 0; i < 3; i++) {
        assert_true(mailings[i].done);
        assert_int_equal(mailings[i].report.result, SEND_LATER);
        assert_int_equal(mailings[i].report.relay, i == 0);
        assert_int_equal(mailings[i].report.unbegun, i > 0);
    }
    Error error = { 0 };
    assert_int_equal(sender->operations->probe(sender, &error), -1);
    assert_int_equal(maildir_make(below("unmounted"), &error), 0);
    assert_int_equal(sender->operations->probe(sender, &error), 0);
    sender->operations->close(sender);
}

static void test_base(void **state) {
    (void)state;
    static const struct { const char *path, *base; bool many; } cases[] = {
        { "/a/b", "/a/b", false }, { "/a/%s", "/a", true }, { "/a/to-%s/x", "/a", true }, { "/%s", "/", true }, { "/a//%s", "/a", true }, { "%s", ".", true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char base[PATH_MAX];
        assert_int_equal(sender_maildir_base(cases[i].path, base), cases[i].many);
        assert_string_equal(base, cases[i].base);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delivery), cmocka_unit_test(test_leftover), cmocka_unit_test(test_per_recipient),
        cmocka_unit_test(test_no_room),  cmocka_unit_test(test_no_folder),
        cmocka_unit_test(test_missing),  cmocka_unit_test(test_batch), cmocka_unit_test(test_relay_fault),
        cmocka_unit_test(test_base),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
