/* A Maildir as mailbox: keys that never change, letters that move under the reader, things that are no letters. */
#include "daemon/inbox/source.h"
#include "daemon/maildir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
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
    SourceFile one = { .mailbox = mailbox, .name = name };
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
    assert_true(there(".Done/cur/1.a:2,S"));
    expect_list(source, "");
    source->operations->close(source);

    source = source_maildir_open("/proc/nowhere/maildir", NULL, 0, AFTER_SEEN, NULL, &error);
    expect_listing(source, "there is no Maildir at /proc/nowhere/maildir");
    source->operations->close(source);
}

/* A further folder that cannot be read keeps no other's letters from being read and filed; of its own nothing is taken for gone. */
static void test_folder_broken(void **state) {
    (void)state;
    MailSource *source = open_source("Junk", AFTER_SEEN, NULL);
    put("new/1.a", "one");
    expect_list(source, "maildir/INBOX 1.a|");
    put(".Junk/new/2.b", "two");
    char kept[600];
    snprintf(kept, sizeof kept, "%s/kept", folder);
    assert_int_equal(rename(in(".Junk/new"), kept), 0);
    put(".Junk/new", "no folder");
    Arena arena;
    arena_init(&arena, 1024 * 1024);
    SourceList list = { 0 };
    Error error = { 0 };
    assert_int_equal(source->operations->list(source, &arena, &list, &error), 0);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.fault.grade, ERROR_MAILBOX);
    assert_non_null(strstr(list.fault.text, ".Junk"));
    arena_free(&arena);
    SourceFile files[] = { { .mailbox = "maildir/Junk", .name = "2.b", .filed = true }, { .mailbox = "maildir/INBOX", .name = "1.a" } };
    assert_int_equal(source->operations->file(source, files, 2, &error), -1);
    assert_non_null(strstr(error.text, ".Junk"));
    assert_true(!files[0].filed && files[1].filed && there("cur/1.a:2,S"));
    assert_int_equal(unlink(in(".Junk/new")), 0);
    assert_int_equal(rename(kept, in(".Junk/new")), 0);
    assert_int_equal(source->operations->file(source, files, 2, &error), 0);
    assert_true(files[0].filed && there(".Junk/cur/2.b:2,S"));
    source->operations->close(source);
}

static void test_look(void **state) {
    (void)state;
    static char large[3 * HEAD_TAKEN];
    memset(large, 'x', sizeof large - 1);
    MailSource *source = open_source(NULL, AFTER_SEEN, NULL);
    put("new/1.a", "From: a\r\nTo: b\r\n\r\nbody\r\n\r\nmore");
    put("cur/2.b:2,S", "From: a\n\nbody");
    put("new/3.c", large);
    put("new/4.d", "");
    struct timespec times[2] = { { .tv_sec = 1000 }, { .tv_sec = 1700000000 } };
    assert_int_equal(utimensat(AT_FDCWD, in("new/1.a"), times, 0), 0);
    SourceLetter letters[] = { { .name = "1.a" }, { .name = "2.b" }, { .name = "3.c" }, { .name = "4.d" }, { .name = "gone" } };
    SourceLetter *all[5];
    for (int i = 0; i < 5; i++) {
        letters[i].mailbox = "maildir/INBOX";
        all[i] = &letters[i];
    }
    Arena arena;
    arena_init(&arena, 1024 * 1024);
    Error error = { 0 };
    assert_int_equal(source->operations->look(source, &arena, all, 5, &error), 0);
    assert_string_equal(letters[0].head, "From: a\r\nTo: b\r\n\r\n");
    assert_int_equal(letters[0].file_time, 1700000000);
    assert_true(letters[0].received == INSTANT_NONE);
    assert_int_equal(letters[0].size, 30);
    assert_string_equal(letters[1].head, "From: a\n\n");
    assert_int_equal(letters[1].head_length, 9);
    assert_int_equal(letters[2].head_length, HEAD_TAKEN);
    assert_int_equal(letters[2].size, sizeof large - 1);
    assert_int_equal(letters[3].head_length, 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(letters[i].fault.grade, ERROR_NONE);
    assert_int_equal(letters[4].fault.grade, ERROR_LETTER);
    assert_int_equal(letters[4].fault.code, ENOENT);
    arena_free(&arena);
    source->operations->close(source);
}

/* Many at once, some of which another program renames or takes away after they were listed. */
static void test_batch(void **state) {
    (void)state;
    enum { COUNT = 200 };
    static char names[COUNT][16];
    static SourceFile files[COUNT];
    MailSource *source = open_source(NULL, AFTER_SEEN, NULL);
    char name[40], other[40], old[512];
    for (int i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "%03d.x", i);
        snprintf(name, sizeof name, "new/%03d.x", i);
        put(name, names[i]);
        files[i] = (SourceFile){ .mailbox = "maildir/INBOX", .name = names[i] };
    }
    Arena arena;
    arena_init(&arena, 1024 * 1024);
    SourceList list = { 0 };
    assert_int_equal(source->operations->list(source, &arena, &list, NULL), 0);
    assert_int_equal(list.count, COUNT);
    arena_free(&arena);
    for (int i = 0; i < COUNT; i += 3) {
        snprintf(name, sizeof name, "new/%03d.x", i);
        snprintf(other, sizeof other, "cur/%03d.x:2,F", i);
        snprintf(old, sizeof old, "%s", in(name));
        assert_int_equal(i % 2 == 0 ? rename(old, in(other)) : unlink(old), 0);
    }
    assert_int_equal(fetch(source, "maildir/INBOX", "000.x", 100, "000.x"), 0);
    assert_int_equal(fetch(source, "maildir/INBOX", "003.x", 100, ""), ERROR_LETTER);
    assert_int_equal(source->operations->file(source, files, COUNT, NULL), 0);
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "cur/%03d.x:2,%s", i, i % 6 == 0 ? "FS" : "S");
        assert_true(files[i].filed);
        assert_int_equal(there(name), i % 6 != 3);
    }
    source->operations->close(source);
}

/* The longest name a file may have leaves no room for a flag. */
static void test_long_name(void **state) {
    (void)state;
    char name[NAME_MAX + 1], whole[NAME_MAX + 10];
    memset(name, 'n', NAME_MAX);
    name[NAME_MAX] = 0;
    MailSource *source = open_source(NULL, AFTER_SEEN, NULL);
    snprintf(whole, sizeof whole, "new/%s", name);
    put(whole, "one");
    assert_int_equal(file(source, name), 0);
    snprintf(whole, sizeof whole, "cur/%s", name);
    assert_true(there(whole));
    assert_int_equal(file(source, name), 0);
    source->operations->close(source);
}

static bool readable(int descriptor) {
    struct pollfd one = { .fd = descriptor, .events = POLLIN };
    return poll(&one, 1, 0) == 1;
}

static void move(const char *from, const char *to) {
    char old[512];
    snprintf(old, sizeof old, "%s", in(from));
    assert_int_equal(rename(old, in(to)), 0);
}

/* A letter is heard the moment it is delivered, by whatever way; filing is no news. */
static void test_wait(void **state) {
    (void)state;
    MailSource *source = open_source("Junk", AFTER_SEEN, NULL);
    int descriptor = -1;
    expect_list(source, "");
    put("tmp/1.a", "one");
    move("tmp/1.a", "new/1.a"); /* between listing and waiting */
    assert_int_equal(source->operations->wait_begin(source, &descriptor, NULL), 0);
    assert_true(descriptor >= 0);
    assert_true(readable(descriptor) && source->operations->wait_heard(source));
    assert_false(readable(descriptor) || source->operations->wait_heard(source));
    source->operations->wait_end(source);
    expect_list(source, "maildir/INBOX 1.a|");
    assert_int_equal(file(source, "1.a"), 0);
    assert_int_equal(source->operations->wait_begin(source, &descriptor, NULL), 0);
    assert_false(source->operations->wait_heard(source));

    char old[512];
    put(".Junk/tmp/2.b", "two");
    snprintf(old, sizeof old, "%s", in(".Junk/tmp/2.b"));
    assert_int_equal(link(old, in(".Junk/new/2.b")), 0); /* as qmail and Postfix deliver */
    assert_true(readable(descriptor) && source->operations->wait_heard(source));

    int slow = open(in("new/3.c"), O_WRONLY | O_CREAT, 0600); /* written in place, against the rules */
    assert_true(slow >= 0);
    assert_false(source->operations->wait_heard(source));
    assert_int_equal(write(slow, "three", 5), 5);
    close(slow);
    assert_true(source->operations->wait_heard(source));
    move("new/3.c", "cur/3.c:2,S"); /* read in a mail program */
    assert_true(readable(descriptor));
    assert_false(source->operations->wait_heard(source));
    move("cur/3.c:2,S", "cur/3.c:2,");
    assert_true(source->operations->wait_heard(source));
    source->operations->wait_end(source);
    expect_list(source, "maildir/INBOX 1.a|maildir/INBOX 3.c|maildir/Junk 2.b|");
    source->operations->close(source);
}

static void test_probe(void **state) {
    (void)state;
    MailSource *source = open_source("Junk", AFTER_MOVE, "Done");
    Error error = { 0 };
    assert_int_equal(source->operations->probe(source, false, &error), 0);
    assert_false(there(".Junk") || there(".Done"));
    assert_int_equal(source->operations->probe(source, true, &error), 0);
    assert_true(there(".Junk/new") && there(".Done/cur"));
    remove_tree(in("new"));
    assert_int_equal(source->operations->probe(source, true, &error), -1);
    assert_non_null(strstr(error.text, "there is no Maildir"));
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
        TEST(test_folder_broken), TEST(test_look), TEST(test_batch), TEST(test_long_name), TEST(test_wait), TEST(test_probe),
        TEST(test_half_missing), TEST(test_make), TEST(test_unreadable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
