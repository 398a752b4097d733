/* A Maildir as mailbox: keys that never change, letters that move under the reader, things that are no letters. */
#include "daemon/inbox/source.h"
#include "daemon/maildir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/epistle-maildir-XXXXXX";
static char path[512];

static const char *in(const char *name) {
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *text) {
    FILE *file = fopen(in(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static bool there(const char *name) {
    struct stat status;
    return lstat(in(name), &status) == 0;
}

static void remove_tree(const char *top) {
    DIR *directory = opendir(top);
    if (directory == NULL) {
        unlink(top);
        return;
    }
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        char inner[1024];
        snprintf(inner, sizeof inner, "%s/%s", top, entry->d_name);
        struct stat status;
        if (lstat(inner, &status) == 0 && S_ISDIR(status.st_mode))
            remove_tree(inner);
        else
            unlink(inner);
    }
    closedir(directory);
    rmdir(top);
}

/* An empty Maildir. */
static int begin(void **state) {
    (void)state;
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
    return mkdtemp(folder) != NULL ? maildir_make(folder, NULL) : -1;
}

static int end(void **state) {
    (void)state;
    remove_tree(folder);
    return 0;
}

static MailSource *open_source(const char *also, AfterKind after, const char *move) {
    Error error = { 0 };
    const char *const folders[] = { also };
    MailSource *source = source_maildir_open(folder, folders, also != NULL, after, move, &error);
    if (source == NULL)
        print_message("%s\n", error.text);
    return source;
}

/* "mailbox name" of each letter, in order. */
static void expect_list(MailSource *source, const char *expected) {
    Arena arena;
    arena_init(&arena, 1024 * 1024);
    SourceList list = { 0 };
    Error error = { 0 };
    assert_int_equal(source->operations->list(source, &arena, &list, &error), 0);
    char joined[2000] = "";
    for (size_t i = 0; i < list.count; i++) {
        size_t used = strlen(joined);
        snprintf(joined + used, sizeof joined - used, "%s %s|", list.letters[i].mailbox, list.letters[i].name);
        assert_true(list.letters[i].received == INSTANT_NONE && list.letters[i].file_time == INSTANT_NONE);
    }
    assert_string_equal(joined, expected);
    arena_free(&arena);
}

static int fetch(MailSource *source, const char *mailbox, const char *name, size_t limit, const char *expected) {
    SourceLetter letter = { .mailbox = mailbox, .name = name };
    Str raw;
    str_init(&raw, 100000);
    Error error = { 0 };
    SourceFetch one = { &letter, limit, &raw };
    assert_int_equal(source->operations->fetch(source, &one, 1, &error), 0);
    if (letter.fault.grade == ERROR_NONE)
        assert_string_equal(raw.data, expected);
    str_free(&raw);
    return (int)letter.fault.grade;
}

static int file_in(MailSource *source, const char *mailbox, const char *name, Error *error) {
    SourceFile one = { mailbox, name, false };
    int result = source->operations->file(source, &one, 1, error);
    assert_int_equal(one.filed, result == 0);
    return result;
}

static int file(MailSource *source, const char *name) {
    return file_in(source, "maildir/INBOX", name, NULL);
}

static void test_list_and_fetch(void **state) {
    (void)state;
    MailSource *source = open_source(NULL, AFTER_SEEN, NULL);
    assert_non_null(source);
    expect_list(source, "");
    put("new/1.a", "one");
    put("cur/2.b:2,RS", "two");
    put("cur/3.c", "three");
    put("cur/.hidden", "x");
    put("tmp/4.d", "x");
    mkdir(in("new/5.dir"), 0700);
    mkfifo(in("new/6.fifo"), 0600);
    assert_int_equal(symlink("/etc/passwd", in("new/7.link")), 0);
    expect_list(source, "maildir/INBOX 1.a|maildir/INBOX 2.b|maildir/INBOX 3.c|");
    assert_int_equal(fetch(source, "maildir/INBOX", "1.a", 1000, "one"), 0);
    assert_int_equal(fetch(source, "maildir/INBOX", "2.b", 1000, "two"), 0);
    assert_int_equal(fetch(source, "maildir/INBOX", "3.c", 2, "th"), 0);
    assert_int_equal(fetch(source, "maildir/INBOX", "9.x", 1000, ""), ERROR_LETTER);
    assert_int_equal(fetch(source, "maildir/INBOX", "6.fifo", 1000, ""), ERROR_LETTER);
    assert_int_equal(fetch(source, "maildir/INBOX", "7.link", 1000, ""), ERROR_LETTER);
    assert_int_equal(fetch(source, "maildir/INBOX", "../new/1.a", 1000, ""), ERROR_LETTER);
    assert_int_equal(fetch(source, "maildir/Junk", "1.a", 1000, ""), ERROR_LETTER);
    source->operations->close(source);
}

/* The same letter in both folders (another program is moving it) is one letter, and its key stays. */
static void test_moving_letter(void **state) {
    (void)state;
    MailSource *source = open_source(NULL, AFTER_SEEN, NULL);
    put("new/1.a", "one");
    put("cur/1.a:2,", "one");
    expect_list(source, "maildir/INBOX 1.a|");
    unlink(in("new/1.a"));
    expect_list(source, "maildir/INBOX 1.a|");
    source->operations->close(source);
}

static void test_seen(void **state) {
    (void)state;
    MailSource *source = open_source(NULL, AFTER_SEEN, NULL);
    put("new/1.a", "one");
    put("cur/2.b:2,FT", "two");
    put("cur/3.c:2,S", "three");
    assert_int_equal(file(source, "1.a"), 0);
    assert_int_equal(file(source, "2.b"), 0);
    assert_int_equal(file(source, "3.c"), 0);
    assert_int_equal(file(source, "gone"), 0);
    assert_true(there("cur/1.a:2,S") && there("cur/2.b:2,FST") && there("cur/3.c:2,S"));
    assert_false(there("new/1.a"));
    assert_int_equal(file(source, "1.a"), 0);
    expect_list(source, "maildir/INBOX 1.a|maildir/INBOX 2.b|maildir/INBOX 3.c|");
    source->operations->close(source);
}

static void test_move(void **state) {
    (void)state;
    MailSource *source = open_source(NULL, AFTER_MOVE, "Done");
    put("new/1.a", "one");
    assert_int_equal(file(source, "1.a"), 0);
    assert_true(there(".Done/cur/1.a:2,S"));
    expect_list(source, "");
    source->operations->close(source);
    assert_null(open_source("Done", AFTER_MOVE, ".Done")); /* it would be read again */
    assert_null(open_source(NULL, AFTER_MOVE, "../x"));
}

static void test_delete(void **state) {
    (void)state;
    MailSource *source = open_source(NULL, AFTER_DELETE, NULL);
    put("cur/1.a:2,F", "one");
    assert_int_equal(file(source, "1.a"), 0);
    assert_false(there("cur/1.a:2,F"));
    assert_int_equal(file(source, "1.a"), 0);
    source->operations->close(source);
}

static void test_also(void **state) {
    (void)state;
    MailSource *source = open_source(".Junk", AFTER_SEEN, NULL);
    assert_false(there(".Junk"));
    expect_list(source, "");
    put("new/1.a", "one");
    put(".Junk/new/1.a", "other");
    expect_list(source, "maildir/INBOX 1.a|maildir/Junk 1.a|");
    assert_int_equal(fetch(source, "maildir/Junk", "1.a", 1000, "other"), 0);
    assert_int_equal(file_in(source, "maildir/Junk", "1.a", NULL), 0);
    assert_true(there(".Junk/cur/1.a:2,S") && there("new/1.a"));
    assert_int_equal(file_in(source, "maildir/Old", "1.a", NULL), 0);
    source->operations->close(source);
    assert_null(open_source("a/b", AFTER_SEEN, NULL));
}

/* What list() says, with "" for nothing wrong; the grade is ERROR_MAILBOX. */
static void expect_listing(MailSource *source, const char *expected) {
    Arena arena;
    arena_init(&arena, 1024 * 1024);
    SourceList list = { 0 };
    Error error = { 0 };
    int failed = source->operations->list(source, &arena, &list, &error);
    assert_int_equal(failed, expected[0] == 0 ? 0 : -1);
    if (failed != 0) {
        assert_int_equal(error.grade, ERROR_MAILBOX);
        if (strstr(error.text, expected) == NULL)
            fail_msg("%s", error.text);
    }
    arena_free(&arena);
}

/* Its volume may not be mounted: nothing is made, nothing is taken for gone, and it serves again when it is back. */
static void test_missing(void **state) {
    (void)state;
    char kept[] = "/tmp/epistle-maildir-kept-XXXXXX";
    put("cur/1.a", "one");
    MailSource *source = open_source("Junk", AFTER_MOVE, "Done");
    assert_non_null(mkdtemp(kept));
    assert_int_equal(rename(folder, kept), 0);
    expect_listing(source, "epistle check --init");
    assert_false(there(""));
    Error error = { 0 };
    assert_int_equal(file_in(source, "maildir/INBOX", "1.a", &error), -1);
    assert_int_equal(error.grade, ERROR_MAILBOX);
    assert_int_equal(mkdir(folder, 0700), 0); /* the mount point alone */
    expect_listing(source, "there is no Maildir at");
    assert_false(there("cur"));
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(rename(kept, folder), 0);
    assert_int_equal(file(source, "1.a"), 0);
    assert_true(there(".Done/cur/1.a:2,S") && there(".Junk/new"));
    expect_list(source, "");
    source->operations->close(source);

    source = source_maildir_open("/proc/nowhere/maildir", NULL, 0, AFTER_SEEN, NULL, &error);
    expect_listing(source, "there is no Maildir at /proc/nowhere/maildir");
    source->operations->close(source);
}

static void test_half_missing(void **state) {
    (void)state;
    MailSource *source = open_source(NULL, AFTER_SEEN, NULL);
    assert_int_equal(rmdir(in("cur")), 0);
    assert_int_equal(rmdir(in("tmp")), 0);
    put("new/1.a", "one");
    expect_list(source, "maildir/INBOX 1.a|");
    assert_true(there("cur") && there("tmp"));
    source->operations->close(source);
}

static void test_make(void **state) {
    (void)state;
    Error error = { 0 };
    struct stat status;
    put("new/1.a", "one");
    assert_int_equal(maildir_make(folder, &error), 0);
    assert_true(there("new/1.a"));
    assert_int_equal(maildir_make(in("deep/er/mail/"), &error), 0);
    assert_true(there("deep/er/mail/new") && there("deep/er/mail/cur") && there("deep/er/mail/tmp"));
    assert_int_equal(stat(in("deep/er"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(maildir_ready(in("deep/er/mail"), &error), 0);
    put("plain", "");
    assert_int_equal(maildir_make(in("plain/mail"), &error), -1);
    assert_int_equal(error.grade, ERROR_MAILBOX);
    assert_int_equal(maildir_base_ready(in("plain"), &error), -1);
    assert_int_equal(maildir_base_ready(in("deep"), &error), 0);
    char path_too_long[5000];
    memset(path_too_long, 'a', sizeof path_too_long - 1);
    path_too_long[sizeof path_too_long - 1] = 0;
    assert_int_equal(maildir_make(path_too_long, &error), -1);
    assert_int_equal(maildir_ready(path_too_long, &error), -1);
}

/* One letter that we may not read is that letter's trouble, and the sentence names it. */
static void test_unreadable(void **state) {
    (void)state;
    bool root = geteuid() == 0;
    put("new/1.a", "one");
    put("new/2.b", "two");
    assert_int_equal(chmod(in("new/1.a"), 0), 0);
    for (int i = 0; root && i < 4; i++)
        assert_int_equal(chown(in((const char *const[]){ "", "new", "cur", "tmp" }[i]), 65534, 65534), 0);
    assert_int_equal(!root || (chown(in("new/2.b"), 65534, 65534) == 0 && seteuid(65534) == 0), 1);
    MailSource *source = open_source(NULL, AFTER_SEEN, NULL);
    expect_list(source, "maildir/INBOX 1.a|maildir/INBOX 2.b|");
    SourceLetter letter = { .mailbox = "maildir/INBOX", .name = "1.a" };
    Str raw;
    str_init(&raw, 100);
    Error error = { 0 };
    SourceFetch one = { &letter, 10, &raw };
    assert_int_equal(source->operations->fetch(source, &one, 1, &error), 0);
    assert_int_equal(letter.fault.grade, ERROR_LETTER);
    assert_int_equal(letter.fault.code, EACCES);
    assert_non_null(strstr(letter.fault.text, "1.a"));
    str_free(&raw);
    assert_int_equal(fetch(source, "maildir/INBOX", "2.b", 1000, "two"), 0);
    source->operations->close(source);
    assert_int_equal(!root || seteuid(0) == 0, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_list_and_fetch), TEST(test_moving_letter), TEST(test_seen), TEST(test_move), TEST(test_delete), TEST(test_also), TEST(test_missing),
        TEST(test_half_missing), TEST(test_make), TEST(test_unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
