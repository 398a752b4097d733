/* The zygote and its children: what kills a child condemns one letter, and the next is read as if nothing had been.
 * This file takes mime_child.c in itself, with its test hooks. */
#define EPISTLE_TEST_HOOKS
#include "daemon/inbox/mime_child.c" /* NOLINT: the hooks are compiled only here */

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

static MimeReader *reader;

static int start(void **state) {
    (void)state;
    Error error = { 0 };
    reader = mime_reader_start(&error);
    return reader != NULL ? 0 : -1;
}

static int stop(void **state) {
    (void)state;
    mime_reader_stop(reader);
    return 0;
}

static void read_letter(Arena *arena, const char *letter, MimeResult *ret_result) {
    Error error = { 0 };
    assert_int_equal(mime_reader_read(reader, arena, letter, strlen(letter), ret_result, &error), 0);
}

static void expect_text(const char *letter, const char *text) {
    Arena arena;
    arena_init(&arena, 4 * 1024 * 1024);
    MimeResult result;
    read_letter(&arena, letter, &result);
    assert_string_equal(result.why, "");
    assert_int_equal(result.kind, MIME_TEXT);
    assert_string_equal(result.text, text);
    arena_free(&arena);
}

static const char good[] = "From: anna@example.org\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n12. Nf3 \xe2\x99\x98\r\n";
static const char good_text[] = "12. Nf3 \xe2\x99\x98\n";

static void expect_unreadable(const char *word, const char *why_part) {
    char letter[200];
    snprintf(letter, sizeof letter, "From: anna@example.org\r\nX-Epistle-Test-Crash: %s\r\n\r\ne4\r\n", word);
    Arena arena;
    arena_init(&arena, 4 * 1024 * 1024);
    MimeResult result;
    read_letter(&arena, letter, &result);
    assert_int_equal(result.kind, MIME_UNREADABLE);
    assert_non_null(strstr(result.why, why_part));
    assert_string_equal(result.text, "");
    arena_free(&arena);
    expect_text(good, good_text);
}

static void test_reads(void **state) {
    (void)state;
    expect_text(good, good_text);
    expect_text(good, good_text);
}

static void test_crash(void **state) {
    (void)state;
    expect_unreadable("segv", SANITIZED ? "died" : "SIGSEGV");
}

static void test_silent_end(void **state) {
    (void)state;
    expect_unreadable("exit", "died");
}

static void test_forged_answer(void **state) {
    (void)state;
    expect_unreadable("junk", "no sensible answer");
}

static void test_new_process(void **state) {
    (void)state;
    if (!SANITIZED)
        expect_unreadable("fork", "SIGSYS");
}

static void test_memory(void **state) {
    (void)state;
    if (!SANITIZED) /* there memory cannot be limited */
        expect_unreadable("memory", "SIGABRT");
}

static void test_loop(void **state) {
    (void)state;
    int64_t before = machine_milliseconds();
    Arena arena;
    arena_init(&arena, 1024 * 1024);
    MimeResult result;
    read_letter(&arena, "X-Epistle-Test-Crash: loop\r\n\r\ne4\r\n", &result);
    assert_int_equal(result.kind, MIME_UNREADABLE);
    assert_true(machine_milliseconds() - before < 3 * MIME_SECONDS * 1000);
    arena_free(&arena);
    expect_text(good, good_text);
}

/* A child may look for a file; it finds none and lives. */
static void test_no_files(void **state) {
    (void)state;
    expect_text("X-Epistle-Test-Crash: open\r\n\r\ne4\r\n", "e4\n");
}

/* Converters that were not warmed up work under the lock too. */
static void test_rare_charsets(void **state) {
    (void)state;
    expect_text("Content-Type: text/plain; charset=ibm037\r\n\r\n\x85\xf4", "e4");
    expect_text("Content-Type: text/plain; charset=x-mac-cyrillic\r\n\r\n\x8a\xf0", "К\xd1\x80");
    expect_text("Content-Type: text/plain; charset=iso-2022-kr\r\n\r\ne4", "e4");
    expect_text("Content-Type: text/plain; charset=no-such-set\r\n\r\ne4", "e4");
}

/* What a zygote has: three descriptors, and an empty environment. */
static void test_zygote_has_nothing(void **state) {
    (void)state;
    expect_text(good, good_text);
    pid_t zygote = *(pid_t *)(void *)reader; /* MimeReader's first member */
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)zygote);
    DIR *directory = opendir(path);
    if (directory == NULL)
        skip(); /* not dumpable: only root may look */
    int count = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(directory);
    assert_int_equal(count, 3);
    snprintf(path, sizeof path, "/proc/%d/environ", (int)zygote);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
}

static void test_dead_zygote(void **state) {
    (void)state;
    expect_text(good, good_text);
    kill(*(pid_t *)(void *)reader, SIGKILL);
    expect_text(good, good_text);
}

/* A daemon that is killed leaves no zygote behind. */
static void test_dead_daemon(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t daemon_process = fork();
    if (daemon_process == 0) {
        MimeReader *own = mime_reader_start(NULL);
        pid_t zygote = own != NULL ? *(pid_t *)(void *)own : 0;
        (void)!write(ends[1], &zygote, sizeof zygote);
        pause();
        _exit(0);
    }
    pid_t zygote = 0;
    assert_int_equal(read(ends[0], &zygote, sizeof zygote), sizeof zygote);
    assert_true(zygote > 0);
    kill(daemon_process, SIGKILL);
    waitpid(daemon_process, NULL, 0);
    bool gone = false;
    for (int i = 0; i < 500 && !gone; i++) {
        char path[64], status[512] = "";
        snprintf(path, sizeof path, "/proc/%d/stat", (int)zygote);
        FILE *file = fopen(path, "r");
        gone = file == NULL || fgets(status, sizeof status, file) == NULL || strstr(status, ") Z ") != NULL;
        if (file != NULL)
            fclose(file);
        poll(NULL, 0, 10);
    }
    assert_true(gone);
    close(ends[0]);
    close(ends[1]);
}

static long resident_kb(pid_t process) {
    char path[64], line[200];
    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    FILE *file = fopen(path, "r");
    long kb = -1;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmRSS:", 6) == 0)
            kb = strtol(line + 6, NULL, 10);
    if (file != NULL)
        fclose(file);
    return kb;
}

/* 2,000 letters: what one costs, and that neither side grows. */
static void test_many(void **state) {
    (void)state;
    static const char letter[] = "From: Anna <anna@example.org>\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=\"b1\"\r\n\r\n"
                                 "--b1\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
                                 "12. Nf3 sch=F6n\r\n--b1\r\nContent-Type: text/html\r\n\r\n<p>12. Nf3</p>\r\n--b1--\r\n";
    int letters = SANITIZED ? 200 : 2000;
    for (int i = 0; i < 100; i++)
        expect_text(letter, "12. Nf3 sch\xc3\xb6n");
    pid_t zygote = *(pid_t *)(void *)reader;
    long own_before = resident_kb(getpid()), before = resident_kb(zygote);
    int64_t begin = machine_milliseconds();
    for (int i = 0; i < letters; i++)
        expect_text(letter, "12. Nf3 sch\xc3\xb6n");
    printf("    %.2f ms a letter through the child; memory +%ld kB here, +%ld kB in the zygote over %d letters\n",
           (double)(machine_milliseconds() - begin) / letters, resident_kb(getpid()) - own_before, resident_kb(zygote) - before, letters);
    assert_int_equal(zygote, *(pid_t *)(void *)reader);
    if (!SANITIZED) {
        assert_true(resident_kb(getpid()) - own_before < 1024);
        assert_true(resident_kb(zygote) - before < 1024);
    }
}

int main(int argc, char **argv) {
    if (argc > 0 && strcmp(argv[0], MIME_ZYGOTE_NAME) == 0)
        return mime_zygote_main();
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads), cmocka_unit_test(test_crash), cmocka_unit_test(test_silent_end),
        cmocka_unit_test(test_forged_answer), cmocka_unit_test(test_new_process), cmocka_unit_test(test_memory),
        cmocka_unit_test(test_loop), cmocka_unit_test(test_no_files), cmocka_unit_test(test_rare_charsets),
        cmocka_unit_test(test_zygote_has_nothing), cmocka_unit_test(test_dead_zygote), cmocka_unit_test(test_dead_daemon),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
