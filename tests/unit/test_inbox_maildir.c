/* A Maildir as mailbox: keys that never change, letters that move under the reader, things that are no letters. */
#include "daemon/inbox/source.h"

#include <dirent.h>
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

static int begin(void **state) {
    (void)state;
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
    return mkdtemp(folder) != NULL ? 0 : -1;
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
        assert_true(list.letters[i].received == INSTANT_NONE);
        assert_true(list.letters[i].file_time != INSTANT_NONE);
    }
    assert_string_equal(joined, expected);
    arena_free(&arena);
}

static int fetch(MailSource *source, const char *mailbox, const char *name, size_t limit, const char *expected) {
    SourceLetter letter = { .mailbox = mailbox, .name = name };
    Str raw;
    str_init(&raw, 100000);
    Error error = { 0 };
    int failed = source->operations->fetch(source, &letter, limit, &raw, &error);
    if (failed == 0)
        assert_string_equal(raw.data, expected);
    str_free(&raw);
    return failed == 0 ? 0 : (int)error.grade;
}

static int file(MailSource *source, const char *name) {
    return source->operations->file(source, "maildir/INBOX", name, NULL);
}

static void test_list_and_fetch(void **state) {
    (void)state;
    MailSource *source = open_source(NULL, AFTER_SEEN, NULL);
    assert_non_null(source);
    assert_true(there("new") && there("cur") && there("tmp"));
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
    put("new/1.a", "one");
    put(".Junk/new/1.a", "other");
    expect_list(source, "maildir/INBOX 1.a|maildir/Junk 1.a|");
    assert_int_equal(fetch(source, "maildir/Junk", "1.a", 1000, "other"), 0);
    assert_int_equal(source->operations->file(source, "maildir/Junk", "1.a", NULL), 0);
    assert_true(there(".Junk/cur/1.a:2,S") && there("new/1.a"));
    assert_int_equal(source->operations->file(source, "maildir/Old", "1.a", NULL), 0);
    source->operations->close(source);
    assert_null(open_source("a/b", AFTER_SEEN, NULL));
}

static void test_bad_path(void **state) {
    (void)state;
    Error error = { 0 };
    assert_null(source_maildir_open("/proc/nowhere/maildir", NULL, 0, AFTER_SEEN, NULL, &error));
    assert_int_equal(error.grade, ERROR_MAILBOX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_list_and_fetch), TEST(test_moving_letter), TEST(test_seen), TEST(test_move), TEST(test_delete), TEST(test_also), TEST(test_bad_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
