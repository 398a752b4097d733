/* Secrets: read in four ways, never told. This file takes secret.c in itself, to shorten the time it allows a command. */
#include "daemon/line/secret.c" /* NOLINT */

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

enum { SHORT = 1, GENEROUS = 20 };

static int64_t milliseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static char folder[] = "/tmp/epistle-secret-XXXXXX";

static int make_folder(void **state) {
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return rmdir(folder); /* each test removes what it made */
}

static int restore(void **state) {
    (void)state;
    command_seconds = SECRET_SECONDS;
    unsetenv("CREDENTIALS_DIRECTORY");
    return 0;
}

static const char *path_of(const char *name) {
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *write_file(const char *name, const void *bytes, size_t length, mode_t mode) {
    const char *path = path_of(name);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(write(file, bytes, length), (ssize_t)length);
    assert_int_equal(fchmod(file, mode), 0);
    close(file);
    return path;
}

/* A program of the shell's: /bin/sh is only what the script's first line names. */
static const char *write_script(const char *name, const char *text) {
    Str whole;
    str_init(&whole, 3 * PATH_MAX);
    assert_true(str_printf(&whole, "#!/bin/sh\n%s\n", text));
    const char *path = write_file(name, whole.data, whole.length, 0700);
    str_free(&whole);
    return path;
}

static void expect_secret(const Secret *secret, const char *text) {
    Str read;
    str_init(&read, SECRET_MAX);
    str_append(&read, "what was there before");
    Error error = { 0 };
    int result = secret_read(secret, NULL, &read, &error);
    assert_string_equal(error.text, "");
    assert_int_equal(result, 0);
    assert_string_equal(read.data, text);
    assert_int_equal(read.length, strlen(text));
    secret_free(&read);
    assert_int_equal(read.length, 0);
}

/* `words` are in the sentence; "sesame", which every secret here has in it, is not. */
static void expect_none(const Secret *secret, ErrorGrade grade, const char *words) {
    Str read;
    str_init(&read, SECRET_MAX);
    str_append(&read, "what was there before");
    Error error = { 0 };
    assert_int_equal(secret_read(secret, NULL, &read, &error), -1);
    if (strstr(error.text, words) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", words, error.text);
    assert_null(strstr(error.text, "sesame"));
    assert_int_equal(error.grade, grade);
    assert_int_equal(read.length, 0);
    secret_free(&read);
}

/* ---- files ---- */

static void expect_file(const void *bytes, size_t length, const char *text) {
    const char *path = write_file("file", bytes, length, 0600);
    expect_secret(&(Secret){ .file = path }, text);
    unlink(path);
}

static void expect_bad_file(const void *bytes, size_t length, const char *words) {
    const char *path = write_file("file", bytes, length, 0600);
    expect_none(&(Secret){ .file = path }, ERROR_INPUT, words);
    expect_none(&(Secret){ .file = path }, ERROR_INPUT, path);
    unlink(path);
}

static void test_file(void **state) {
    (void)state;
    expect_file("sesame", 6, "sesame");
    expect_file("sesame\n", 7, "sesame");
    expect_file("sesame\r\nanother line\n", 21, "sesame");
    expect_file(" se \"sa\\me' \n", 13, " se \"sa\\me' ");
    expect_file("s\xc3\xa9same\n", 8, "s\xc3\xa9same");
    expect_bad_file("", 0, "empty first line");
    expect_bad_file("\nsesame\n", 8, "empty first line");
    expect_bad_file("\r\nsesame\n", 9, "empty first line");
    expect_bad_file("sesa\0me\n", 8, "control character");
    expect_bad_file("sesame\r\r\n", 9, "control character");
    expect_bad_file("sesame\tx\n", 9, "control character");
    expect_bad_file("sesame\x7f\n", 8, "control character");
}

static void test_file_length(void **state) {
    (void)state;
    static char bytes[SECRET_MAX + 10], text[SECRET_MAX + 10];
    memset(bytes, 's', sizeof bytes);
    memcpy(text, bytes, SECRET_MAX);
    bytes[SECRET_MAX] = '\r';
    bytes[SECRET_MAX + 1] = '\n';
    expect_file(bytes, sizeof bytes, text);
    bytes[SECRET_MAX] = 's';
    expect_bad_file(bytes, sizeof bytes, "more than 16384 bytes");
}

static void test_file_refused(void **state) {
    (void)state;
    static const mode_t modes[] = { 0604, 0644, 0602, 0666 };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        const char *path = write_file("open", "sesame\n", 7, modes[i]);
        expect_none(&(Secret){ .file = path }, ERROR_INPUT, "chmod o= ");
        unlink(path);
    }
    const char *path = write_file("group", "sesame\n", 7, 0640);
    expect_secret(&(Secret){ .file = path }, "sesame");
    unlink(path);
    expect_none(&(Secret){ .file = path_of("missing") }, ERROR_INPUT, "No such file");
    expect_none(&(Secret){ .file = folder }, ERROR_INPUT, "no ordinary file");
    path = path_of("pipe"); /* nobody writes to it, and nobody waits for that */
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_none(&(Secret){ .file = path }, ERROR_INPUT, "no ordinary file");
    unlink(path);
    expect_none(&(Secret){ .file = NULL }, ERROR_INPUT, "no secret");
}

static void test_credential(void **state) {
    (void)state;
    Secret secret = { .credential = "mailbox" };
    unsetenv("CREDENTIALS_DIRECTORY");
    expect_none(&secret, ERROR_INPUT, "LoadCredential=mailbox");
    setenv("CREDENTIALS_DIRECTORY", folder, 1);
    expect_none(&secret, ERROR_INPUT, "mailbox: No such file");
    char path[PATH_MAX];
    text_copy(path, sizeof path, write_file("mailbox", "sesame\n", 7, 0400));
    expect_secret(&secret, "sesame");
    static const char *const bad[] = { "", ".", "..", "../secret", "/etc/passwd", "sub/mailbox" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_none(&(Secret){ .credential = bad[i] }, ERROR_INPUT, "no name of a systemd credential");
    unlink(path);
}

/* ---- commands ---- */

static void test_words(void **state) {
    (void)state;
    static const char *const good[] = { "pass", "  pass  show\tmail ", "'a b' \"c d\" e\\ f", "pass \"it's\"", "pass ''", "a\\\"b" };
    static const char *const bad[] = { "", "   ", "pass 'open", "pass \"open", "pass end\\", "'' pass", "pass \"a' b" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!secret_command_good(good[i]))
            fail_msg("%s is a command", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (secret_command_good(bad[i]))
            fail_msg("%s is no command", bad[i]);
        expect_none(&(Secret){ .command = bad[i] }, ERROR_INPUT, "divided into words");
    }
    char many[200] = "p";
    for (int i = 1; i < SECRET_WORDS_MAX; i++)
        memcpy(many + strlen(many), " p", 3);
    assert_true(secret_command_good(many));
    memcpy(many + strlen(many), " p", 3);
    assert_false(secret_command_good(many));
    static char length[COMMAND_MAX + 1];
    memset(length, 'p', COMMAND_MAX - 1);
    assert_true(secret_command_good(length));
    length[COMMAND_MAX - 1] = 'p';
    assert_false(secret_command_good(length));
}

static void test_quoting(void **state) {
    (void)state;
    expect_secret(&(Secret){ .command = "echo sesame" }, "sesame");
    expect_secret(&(Secret){ .token = "  /bin/echo  sesame " }, "sesame");
    expect_secret(&(Secret){ .command = "printf '[%s]' 'a  b' \"c'd\" e\\ f '' g\"h i\"j \\'" }, "[a  b][c'd][e f][][gh ij][']");
    /* what a shell would do is not done */
    expect_secret(&(Secret){ .command = "echo $HOME `id` $(id) ; ls * > x | cat & ~" }, "$HOME `id` $(id) ; ls * > x | cat & ~");
    expect_secret(&(Secret){ .command = "printf 'sesame\\\\nsecond\\\\n'" }, "sesame");
}

static void test_command_surroundings(void **state) {
    (void)state;
    setenv("EPISTLE_SECRET_TEST", "leaks", 1);
    int descriptors[3]; /* not closed on exec: they must not come through */
    for (int i = 0; i < 3; i++)
        assert_true((descriptors[i] = open("/dev/null", O_RDONLY)) > 2);
    signal(SIGPIPE, SIG_IGN);
    /* The names of the environment, whether input is empty, the descriptors behind the script's own, SIGPIPE's handling. */
    const char *path = write_script("around", "printf '%s ' $(/usr/bin/env -u PWD -u SHLVL -u _ -u OLDPWD | sed 's/=.*//' | sort)\n"
                                              "printf '%s ' \"in:$(cat)\"\n"
                                              "for i in 3 4 5 6 7 8 9 11 12 13 14; do [ -e /proc/$$/fd/$i ] && printf 'open:%s ' $i; done\n"
                                              "echo ign:$((0x$(sed -n 's/^SigIgn:[[:blank:]]*//p' /proc/self/status) & 0x7fffffff))");
    /* The C library keeps signals 32 and 33 for itself: what became of those is not ours to change. */
    expect_secret(&(Secret){ .command = path }, "HOME LANG LOGNAME PATH USER in: ign:0");
    signal(SIGPIPE, SIG_DFL);
    for (int i = 0; i < 3; i++)
        close(descriptors[i]);
    unsetenv("EPISTLE_SECRET_TEST");
    unlink(path);
}

static void test_command_fails(void **state) {
    (void)state;
    expect_none(&(Secret){ .command = "no-such-program-here sesame" }, ERROR_INPUT, "no-such-program-here");
    expect_none(&(Secret){ .command = "/nonexistent/program sesame" }, ERROR_INPUT, "/nonexistent/program");
    expect_none(&(Secret){ .command = "false sesame" }, ERROR_MAILBOX, "false for the secret failed with status 1");
    expect_none(&(Secret){ .command = "true sesame" }, ERROR_INPUT, "the command true gave an empty first line");
    expect_none(&(Secret){ .command = "printf 'sesame\\\\tx'" }, ERROR_INPUT, "control character");
    const char *path = write_file("plain", "sesame", 6, 0600);
    expect_none(&(Secret){ .command = path }, ERROR_INPUT, path);
    unlink(path);
    path = write_file("strange", "#!/nonexistent/interpreter\n", 27, 0700);
    expect_none(&(Secret){ .command = path }, ERROR_INPUT, "cannot be run");
    unlink(path);
    path = write_script("both", "echo sesame; exit 3"); /* a line that came with a failure is no secret */
    expect_none(&(Secret){ .command = path }, ERROR_MAILBOX, "status 3");
    unlink(path);
    path = write_script("killed", "echo sesame; kill -TERM $$");
    expect_none(&(Secret){ .command = path }, ERROR_MAILBOX, "signal 15");
    unlink(path);
}

static void test_command_endless(void **state) {
    (void)state;
    int64_t began = milliseconds_now();
    expect_none(&(Secret){ .command = "yes sesame" }, ERROR_INPUT, "printed more than 16384 bytes");
    assert_true(milliseconds_now() - began < GENEROUS * 1000);
}

static int alive_calls;

static void count_alive(void) {
    alive_calls++;
}

/* A slow one must not keep the service from its watchdog. */
static void test_command_slow(void **state) {
    (void)state;
    Secret secret = { .token = write_script("slowly", "sleep 2; echo sesame") };
    Str read;
    str_init(&read, SECRET_MAX);
    Error error = { 0 };
    alive_calls = 0;
    assert_int_equal(secret_read(&secret, count_alive, &read, &error), 0);
    assert_string_equal(read.data, "sesame");
    assert_true(alive_calls >= 3);
    secret_free(&read);
    unlink(secret.token);
}

static bool alive(const char *file) {
    char text[32] = "";
    int descriptor = open(file, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0 || read(descriptor, text, sizeof text - 1) <= 0)
        fail_msg("%s was not written", file);
    close(descriptor);
    pid_t id = (pid_t)strtol(text, NULL, 10);
    assert_true(id > 1);
    /* What was killed may stay a zombie for a while: whoever inherits orphans here buries them when he likes. */
    char state_path[64], status[200] = "";
    snprintf(state_path, sizeof state_path, "/proc/%ld/stat", (long)id);
    descriptor = open(state_path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    bool found = read(descriptor, status, sizeof status - 1) > 0;
    close(descriptor);
    const char *end = strrchr(status, ')');
    return found && end != NULL && end[1] != 0 && end[2] != 'Z' && end[2] != 'X';
}

static void test_command_too_long(void **state) {
    (void)state;
    char child[PATH_MAX], script[PATH_MAX], text[2 * PATH_MAX];
    text_copy(child, sizeof child, path_of("grandchild"));
    snprintf(text, sizeof text, "sleep 100 & echo $! >%s; echo sesame; wait", child);
    text_copy(script, sizeof script, write_script("slow", text));
    command_seconds = SHORT;
    int64_t began = milliseconds_now();
    expect_none(&(Secret){ .token = script }, ERROR_MAILBOX, "not done after 1 s and was killed");
    assert_true(milliseconds_now() - began >= SHORT * 1000 && milliseconds_now() - began < GENEROUS * 1000);
    for (int i = 0; alive(child) && i < GENEROUS * 10; i++)
        usleep(100 * 1000);
    assert_false(alive(child));
    unlink(child);
    unlink(script);
}

/* A command may leave an agent behind that holds its output open: the secret is there when the command ends, and the agent lives. */
static void test_command_agent(void **state) {
    (void)state;
    char child[PATH_MAX], script[PATH_MAX], text[2 * PATH_MAX];
    text_copy(child, sizeof child, path_of("agent"));
    snprintf(text, sizeof text, "sleep 60 & echo $! >%s; echo sesame", child);
    text_copy(script, sizeof script, write_script("starts", text));
    int64_t began = milliseconds_now();
    expect_secret(&(Secret){ .command = script }, "sesame");
    assert_true(milliseconds_now() - began < GENEROUS * 1000);
    assert_true(alive(child));
    FILE *file = fopen(child, "re");
    assert_non_null(file);
    char number[32] = "";
    assert_non_null(fgets(number, sizeof number, file));
    fclose(file);
    kill((pid_t)strtol(number, NULL, 10), SIGKILL);
    unlink(child);
    unlink(script);
}

static void test_set(void **state) {
    (void)state;
    assert_false(secret_is_set(&(Secret){ 0 }));
    assert_true(secret_is_set(&(Secret){ .file = "f" }));
    assert_true(secret_is_set(&(Secret){ .command = "c" }));
    assert_true(secret_is_set(&(Secret){ .credential = "c" }));
    assert_true(secret_is_set(&(Secret){ .token = "t" }));
}

int main(void) {
    alarm(300); /* what hangs is killed */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_file, restore),
        cmocka_unit_test_teardown(test_file_length, restore),
        cmocka_unit_test_teardown(test_file_refused, restore),
        cmocka_unit_test_teardown(test_credential, restore),
        cmocka_unit_test_teardown(test_words, restore),
        cmocka_unit_test_teardown(test_quoting, restore),
        cmocka_unit_test_teardown(test_command_surroundings, restore),
        cmocka_unit_test_teardown(test_command_fails, restore),
        cmocka_unit_test_teardown(test_command_endless, restore),
    cmocka_unit_test_teardown(test_command_slow, restore),
        cmocka_unit_test_teardown(test_command_too_long, restore),
        cmocka_unit_test_teardown(test_command_agent, restore),
        cmocka_unit_test(test_set),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
