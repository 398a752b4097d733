/* Lines against small servers of our own that do one thing wrong each; no TLS here, which test_line_tls.c has.
 * This file takes line.c in itself, to shorten the time it allows for connecting. */
#include "daemon/line/line.c" /* NOLINT */

#include "daemon/line/stream.h"
#include "tests/unit/line_server.h"

#include <setjmp.h>

#include <cmocka.h>

enum { SHORT = 2, GENEROUS = 20, CAP = 1000 * 1000 }; /* seconds; a noisy machine is slow, but not ten times */

static int lives;
static void count_life(void) {
    lives++;
}

static Server server;

static int stop(void **state) {
    (void)state;
    server_stop(&server);
    connect_seconds = LINE_CONNECT_SECONDS;
    return 0;
}

static char secret_file[] = "/tmp/epistle-line-XXXXXX";

static int make_secret(void **state) {
    (void)state;
    int file = mkstemp(secret_file); /* mode 0600 */
    return file >= 0 && write(file, "p\"w\n", 4) == 4 && close(file) == 0 ? 0 : -1;
}

static int remove_secret(void **state) {
    (void)state;
    return unlink(secret_file);
}

static LineAccount account_of(const Server *where) {
    return (LineAccount){ .url = where->url, .user = "chess", .secret = { .file = secret_file }, .plain = true, .alive = count_life };
}

/* Begins and ends a measurement of seconds. */
static double seconds_since(int64_t began) {
    return (double)(machine_milliseconds() - began) / 1000;
}

static Line *open_to(const char *scheme, void (*serve)(int client)) {
    server = server_start(scheme, serve);
    LineAccount account = account_of(&server);
    Error error = { 0 };
    Line *line = line_open(&account, &error);
    assert_string_equal(error.text, "");
    assert_non_null(line);
    return line;
}

static void expect_refused(const char *scheme, void (*serve)(int client), ErrorGrade grade, const char *words) {
    server = server_start(scheme, serve);
    LineAccount account = account_of(&server);
    Error error = { 0 };
    assert_null(line_open(&account, &error));
    if (strstr(error.text, words) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", words, error.text);
    assert_int_equal(error.grade, grade);
    assert_non_null(strstr(error.text, strchr(server.url, '/') + 2)); /* it names host and port */
    assert_null(strstr(error.text, "p\"w"));
    server_stop(&server);
}

/* ---- logging in ---- */

static const char login_good[] = "AGNoZXNzAHAidw=="; /* NUL chess NUL p"w */

/* A server's part of IMAP until the log-in: `capability` is what it offers, `answer` what it says to the log-in. */
static bool serve_imap_login(int client, const char *capability, const char *answer) {
    char line[SERVER_LINE_MAX], tag[SERVER_LINE_MAX] = "*", reply[2 * SERVER_LINE_MAX];
    say(client, "* OK here\r\n");
    while (hear(client, line)) {
        const char *command = without_command_tag(line, tag, sizeof tag);
        if (strcasecmp(command, "CAPABILITY") == 0) {
            snprintf(reply, sizeof reply, "* CAPABILITY IMAP4rev1 %s\r\n%s OK told\r\n", capability, tag);
            say(client, reply);
            continue;
        }
        bool good = strcmp(command, "LOGIN chess \"p\\\"w\"") == 0 && strstr(capability, "AUTH=") == NULL;
        if (strcmp(command, "AUTHENTICATE PLAIN") == 0) {
            say(client, "+ \r\n");
            good = hear(client, line) && strcmp(line, login_good) == 0;
        }
        snprintf(reply, sizeof reply, "%s %s\r\n", tag, good ? answer : "BAD not what was to be said");
        say(client, reply);
        return good && strncmp(answer, "OK", 2) == 0;
    }
    return false;
}

static bool serve_pop3_login(int client) {
    char line[SERVER_LINE_MAX];
    say(client, "+OK here\r\n");
    while (hear(client, line)) {
        if (strcmp(line, "CAPA") == 0) {
            say(client, "+OK\r\nUIDL\r\nSASL CRAM-MD5 PLAIN\r\n.\r\n");
        } else if (strcmp(line, "AUTH PLAIN") == 0) {
            say(client, "+ \r\n");
            bool good = hear(client, line) && strcmp(line, login_good) == 0;
            say(client, good ? "+OK in\r\n" : "-ERR who\r\n");
            return good;
        } else {
            say(client, "-ERR what\r\n");
        }
    }
    return false;
}

static void echo(int client) {
    char line[SERVER_LINE_MAX];
    while (hear(client, line)) {
        say(client, line);
        say(client, "\r\n");
    }
}

static void serve_imap_echo(int client) {
    if (serve_imap_login(client, "AUTH=CRAM-MD5 AUTH=PLAIN AUTH=GSSAPI", "OK in"))
        echo(client);
}
static void serve_login_echo(int client) {
    if (serve_imap_login(client, "NAMESPACE", "OK in"))
        echo(client);
}
static void serve_pop3_echo(int client) {
    if (serve_pop3_login(client))
        echo(client);
}

/* Reads until `text` is whole. */
static void expect_read(Line *line, const char *text) {
    Error error = { 0 };
    char bytes[64];
    for (size_t at = 0, length = strlen(text); at < length;) {
        ssize_t count = line_read(line, bytes, length - at < sizeof bytes ? length - at : sizeof bytes, &error);
        assert_string_equal(error.text, "");
        assert_true(count > 0);
        assert_memory_equal(bytes, text + at, (size_t)count);
        at += (size_t)count;
    }
}

static void expect_echo(Line *line) {
    Error error = { 0 };
    assert_string_equal(line_host(line), strchr(server.url, '/') + 2);
    assert_int_equal(line_write(line, "x NOOP\r\n", 8, &error), 0);
    expect_read(line, "x NOOP\r\n");
    assert_string_equal(line_fault(line), "");
    line_close(line);
}

static void test_imap(void **state) {
    (void)state;
    /* A proxy of the environment is not for us. */
    setenv("all_proxy", "http://127.0.0.1:9", 1);
    expect_echo(open_to("imap", serve_imap_echo));
    unsetenv("all_proxy");
}
static void test_imap_login_command(void **state) {
    (void)state;
    expect_echo(open_to("imap", serve_login_echo));
}
static void test_pop3(void **state) {
    (void)state;
    expect_echo(open_to("pop3", serve_pop3_echo));
}

static void serve_token(int client) {
    char line[SERVER_LINE_MAX], tag[SERVER_LINE_MAX] = "*", reply[2 * SERVER_LINE_MAX];
    say(client, "* OK here\r\n");
    bool in = false;
    while (hear(client, line)) {
        const char *command = without_command_tag(line, tag, sizeof tag);
        if (strcmp(command, "AUTHENTICATE XOAUTH2") == 0) {
            say(client, "+ \r\n");
            in = hear(client, line) && strcmp(line, "dXNlcj1jaGVzcwFhdXRoPUJlYXJlciB0MGtlbi5uAQE=") == 0; /* user=chess ^A auth=Bearer t0ken.n ^A ^A */
        }
        bool list = strcmp(command, "CAPABILITY") == 0;
        snprintf(reply, sizeof reply, "%s%s %s\r\n", list ? "* CAPABILITY IMAP4rev1 AUTH=PLAIN AUTH=XOAUTH2\r\n" : "", tag, list || in ? "OK" : "NO token");
        say(client, reply);
        if (!list)
            break;
    }
    if (in)
        echo(client);
}

static void test_token(void **state) {
    (void)state;
    server = server_start("imap", serve_token);
    LineAccount account = account_of(&server);
    Error error = { 0 };
    account.secret = (Secret){ .token = "echo t0ken.n" };
    Line *line = line_open(&account, &error);
    assert_string_equal(error.text, "");
    expect_echo(line);
    account.secret.token = "echo another";
    assert_null(line_open(&account, &error));
    assert_non_null(strstr(error.text, "is the token fresh"));
    assert_int_equal(error.grade, ERROR_INPUT);
}

static void serve_no(int client) {
    static int times;
    /* A log-in that was refused is not tried again in another way: that would lock accounts. */
    times++;
    serve_imap_login(client, times == 1 ? "AUTH=PLAIN" : "NAMESPACE", times == 1 ? "NO [AUTHENTICATIONFAILED] wrong" : "OK after all");
}
static void serve_no_app(int client) {
    serve_imap_login(client, "AUTH=PLAIN", "NO [ALERT] Application-specific password required");
}
static void serve_no_now(int client) {
    serve_imap_login(client, "AUTH=PLAIN", "NO [UNAVAILABLE] try later");
}
static void serve_no_way(int client) {
    serve_imap_login(client, "LOGINDISABLED AUTH=GSSAPI", "OK never");
}
static void serve_bye(int client) {
    say(client, "* BYE full\r\n");
}
static void serve_bye_at_login(int client) {
    char line[SERVER_LINE_MAX];
    say(client, "* OK here\r\n");
    hear(client, line);
    say(client, "* BYE closing for today\r\n");
}
static void serve_ssh(int client) {
    say(client, "SSH-2.0-Other\r\n");
    char line[SERVER_LINE_MAX];
    while (hear(client, line))
        continue;
}
static void serve_pop3_err(int client) {
    say(client, "-ERR [SYS/TEMP] full\r\n");
}
static void serve_nothing(int client) {
    (void)client;
}
static void serve_flood(int client) {
    for (;;)
        say(client, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
}

static void test_refused(void **state) {
    (void)state;
    expect_refused("imap", serve_no, ERROR_INPUT, "refused the log-in of chess, saying \"NO [AUTHENTICATIONFAILED] wrong\"; check the user name");
    expect_refused("imap", serve_no_app, ERROR_INPUT, "app password");
    expect_refused("imap", serve_no_now, ERROR_MAILBOX, "for now, saying \"NO [UNAVAILABLE] try later\"");
    expect_refused("imap", serve_no_way, ERROR_INPUT, "offers no way of logging in with a password");
    expect_refused("imap", serve_bye, ERROR_MAILBOX, "does not serve us now, saying \"* BYE full\"");
    expect_refused("imap", serve_bye_at_login, ERROR_MAILBOX, "saying \"* BYE closing for today\"");
    expect_refused("imap", serve_nothing, ERROR_MAILBOX, "closed before a greeting");
    expect_refused("imap", serve_flood, ERROR_MAILBOX, "sends without end");
    expect_refused("pop3", serve_pop3_err, ERROR_MAILBOX, "saying \"-ERR [SYS/TEMP] full\"");
    expect_refused("pop3", serve_bye, ERROR_INPUT, "no POP3 server answers there");
    connect_seconds = SHORT; /* curl waits for more lines */
    expect_refused("imap", serve_ssh, ERROR_INPUT, "no IMAP server answers there, but one that says \"SSH-2.0-Other\"");
}

/* STARTTLS is not offered: not a word of the log-in goes over the line. */
static void serve_watching(int client) {
    char line[SERVER_LINE_MAX], tag[SERVER_LINE_MAX] = "*", reply[2 * SERVER_LINE_MAX];
    say(client, "* OK here\r\n");
    while (hear(client, line)) {
        const char *command = without_command_tag(line, tag, sizeof tag);
        if (strcmp(command, "CAPABILITY") != 0)
            _exit(7);
        snprintf(reply, sizeof reply, "* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n%s OK done\r\n", tag);
        say(client, reply);
    }
    _exit(0);
}

static void test_no_starttls(void **state) {
    (void)state;
    server = server_start("imap", serve_watching);
    LineAccount account = account_of(&server);
    account.plain = false;
    Error error = { 0 };
    assert_null(line_open(&account, &error));
    assert_non_null(strstr(error.text, "does not offer STARTTLS"));
    assert_int_equal(error.grade, ERROR_INPUT);
    int status = -1;
    assert_int_equal(waitpid(server.id, &status, 0), server.id);
    server.id = -1;
    assert_int_equal(status, 0);
}

static void serve_silence(int client) {
    char line[SERVER_LINE_MAX];
    while (hear(client, line))
        continue;
}
static void drip(int client) {
    for (;;) {
        say(client, "x");
        usleep(100 * 1000);
    }
}
static void serve_dripping_greeting(int client) {
    say(client, "* OK ");
    drip(client);
}

static void test_slow_greeting(void **state) {
    (void)state;
    connect_seconds = SHORT;
    lives = 0;
    int64_t began = machine_milliseconds();
    expect_refused("imap", serve_silence, ERROR_MAILBOX, "no greeting came in time");
    assert_true(seconds_since(began) >= SHORT - 0.1 && seconds_since(began) < GENEROUS);
    assert_true(lives >= SHORT);
    lives = 0;
    began = machine_milliseconds();
    expect_refused("pop3", serve_dripping_greeting, ERROR_MAILBOX, "no greeting came in time");
    assert_true(seconds_since(began) >= SHORT - 0.1 && seconds_since(began) < GENEROUS);
    assert_true(lives >= SHORT);
}

static void test_nobody_there(void **state) {
    (void)state;
    server = server_start("imap", serve_silence);
    server_stop(&server);
    LineAccount account = account_of(&server);
    Error error = { 0 };
    assert_null(line_open(&account, &error));
    assert_non_null(strstr(error.text, "connection refused"));
    assert_int_equal(error.grade, ERROR_MAILBOX);
    connect_seconds = SHORT;
    account.url = "imaps://imap.club.invalid";
    assert_null(line_open(&account, &error));
    assert_non_null(strstr(error.text, "imap.club.invalid:993: "));
    assert_non_null(strstr(error.text, "name"));
    assert_int_equal(error.grade, ERROR_MAILBOX);
}

/* Nothing of these goes anywhere near a server. */
static void test_bad_accounts(void **state) {
    (void)state;
    server = server_start("imap", serve_imap_echo);
    LineAccount account = account_of(&server);
    Error error = { 0 };
    account.user = "chess\r\nA9 DELETE INBOX";
    assert_null(line_open(&account, &error));
    assert_non_null(strstr(error.text, "control character"));
    assert_int_equal(error.grade, ERROR_INPUT);
    account.user = "chess";
    account.secret.file = "/nonexistent/password";
    assert_null(line_open(&account, &error));
    assert_non_null(strstr(error.text, "/nonexistent/password"));
    account = account_of(&server);
    account.url = "http://127.0.0.1/";
    assert_null(line_open(&account, &error));
    assert_int_equal(error.grade, ERROR_INPUT);
    account.url = "imap://a b";
    assert_null(line_open(&account, &error));
    assert_int_equal(error.grade, ERROR_INPUT);
}

/* ---- speaking ---- */

static void serve_drip(int client) {
    if (serve_pop3_login(client))
        drip(client);
}

static ssize_t read_to_failure(Line *line, Error *error) {
    char bytes[5000];
    ssize_t count, sum = 0;
    while ((count = line_read(line, bytes, sizeof bytes, error)) > 0)
        sum += count;
    assert_int_equal(count, -1);
    return sum;
}

static void expect_dead(Line *line, const char *words) {
    Error error = { 0 };
    char byte;
    line_begin(line, SHORT, CAP);
    assert_true(line_pending(line));
    assert_int_equal(line_read(line, &byte, 1, &error), -1);
    assert_non_null(strstr(error.text, words));
    assert_int_equal(error.grade, ERROR_MAILBOX);
    assert_int_equal(line_write(line, "x", 1, &error), -1);
    assert_string_equal(line_fault(line), error.text);
    line_close(line);
}

static void test_drip(void **state) {
    (void)state;
    Line *line = open_to("pop3", serve_drip);
    Error error = { 0 };
    lives = 0;
    int64_t began = machine_milliseconds();
    line_begin(line, SHORT, CAP);
    ssize_t count = read_to_failure(line, &error);
    assert_true(count > 0 && count < 10 * GENEROUS);
    assert_true(seconds_since(began) >= SHORT - 0.1 && seconds_since(began) < GENEROUS);
    assert_true(lives >= SHORT);
    expect_dead(line, "not done after 2 s");
}

static void serve_endless(int client) {
    if (serve_pop3_login(client))
        serve_flood(client);
}

static void test_endless(void **state) {
    (void)state;
    Line *line = open_to("pop3", serve_endless);
    Error error = { 0 };
    line_begin(line, GENEROUS, CAP);
    assert_int_equal(read_to_failure(line, &error), CAP);
    expect_dead(line, "sent more than was to be expected");
    server_stop(&server);
    /* However fast it comes: time is over when it is over. */
    line = open_to("pop3", serve_endless);
    int64_t began = machine_milliseconds();
    char byte; /* one by one, so that there is always more to be had and nothing is waited for */
    line_begin(line, 1, (size_t)-1);
    while (line_read(line, &byte, 1, &error) > 0)
        assert_true(seconds_since(began) < GENEROUS);
    assert_true(seconds_since(began) >= 0.9);
    expect_dead(line, "not done after 1 s");
}

static void serve_end_at_once(int client) {
    serve_pop3_login(client);
}
static void serve_end_in_the_middle(int client) {
    char line[SERVER_LINE_MAX];
    if (serve_pop3_login(client) && hear(client, line))
        say(client, "+OK 10 oct");
}

static void test_end(void **state) {
    (void)state;
    Error error = { 0 };
    Line *line = open_to("pop3", serve_end_at_once);
    line_begin(line, GENEROUS, CAP);
    assert_int_equal(read_to_failure(line, &error), 0);
    expect_dead(line, "closed the connection");
    server_stop(&server);
    line = open_to("pop3", serve_end_in_the_middle);
    assert_int_equal(line_write(line, "RETR 1\r\n", 8, &error), 0);
    assert_int_equal(read_to_failure(line, &error), 10);
    expect_dead(line, "closed the connection");
}

/* The end is something that a waiting caller must be told. */
static void test_end_is_pending(void **state) {
    (void)state;
    Line *line = open_to("pop3", serve_end_at_once);
    struct pollfd ready = { .fd = line_descriptor(line), .events = POLLIN };
    assert_int_equal(poll(&ready, 1, GENEROUS * 1000), 1);
    assert_true(line_pending(line));
    expect_dead(line, "closed the connection");
}

static void serve_long_answer(int client) {
    char line[SERVER_LINE_MAX];
    if (!serve_pop3_login(client))
        return;
    while (hear(client, line))
        for (int i = 0; i < 2000; i++) {
            snprintf(line, sizeof line, "%04d\n", i);
            say(client, line);
        }
}

static void test_pending(void **state) {
    (void)state;
    Error error = { 0 };
    Line *line = open_to("pop3", serve_long_answer);
    assert_false(line_pending(line));
    assert_int_equal(line_write(line, "x\r\n", 3, &error), 0);
    struct pollfd ready = { .fd = line_descriptor(line), .events = POLLIN };
    assert_int_equal(poll(&ready, 1, GENEROUS * 1000), 1);
    assert_true(line_pending(line));
    assert_true(line_pending(line));
    char number[16];
    for (int i = 0; i < 2000; i++) { /* in order and whole, through what line_pending() had taken out and behind it */
        snprintf(number, sizeof number, "%04d\n", i);
        expect_read(line, number);
    }
    assert_false(line_pending(line));
    line_close(line);
}

static void serve_deaf(int client) {
    if (serve_pop3_login(client))
        pause();
    (void)client;
}

static void test_deaf(void **state) {
    (void)state;
    enum { MUCH = 32 * 1024 * 1024 };
    char *bytes = calloc(1, MUCH);
    Error error = { 0 };
    Line *line = open_to("pop3", serve_deaf);
    lives = 0;
    int64_t began = machine_milliseconds();
    line_begin(line, SHORT, CAP);
    assert_int_equal(line_write(line, bytes, MUCH, &error), -1);
    assert_true(seconds_since(began) >= SHORT - 0.1 && seconds_since(began) < GENEROUS);
    assert_true(lives >= SHORT);
    free(bytes);
    began = machine_milliseconds(); /* and it is closed without waiting for a good-bye */
    expect_dead(line, "not done after 2 s");
    assert_true(seconds_since(began) < GENEROUS);
}

/* SIGPIPE is at its default here, and would end the test. */
static void test_write_to_nobody(void **state) {
    (void)state;
    Error error = { 0 };
    Line *line = open_to("pop3", serve_end_at_once);
    server_stop(&server);
    line_begin(line, GENEROUS, CAP);
    int result = 0;
    for (int i = 0; i < 1000 && result == 0; i++) {
        result = line_write(line, "x\r\n", 3, &error);
        usleep(1000);
    }
    assert_int_equal(result, -1);
    expect_dead(line, "broke while writing");
}

/* ---- libetpan on it ---- */

static void serve_mailbox(int client, const char *answer) {
    char line[SERVER_LINE_MAX], tag[SERVER_LINE_MAX] = "*", reply[2 * SERVER_LINE_MAX];
    if (!serve_imap_login(client, "AUTH=PLAIN", "OK in"))
        return;
    while (hear(client, line)) {
        const char *command = without_command_tag(line, tag, sizeof tag);
        if (strncmp(command, "SELECT", 6) == 0) {
            snprintf(reply, sizeof reply, "* 3 EXISTS\r\n* 0 RECENT\r\n* FLAGS (\\Seen)\r\n* OK [UIDVALIDITY 99] of\r\n%s OK [READ-WRITE] done\r\n", tag);
        } else if (strncmp(command, "LOGOUT", 6) == 0) {
            snprintf(reply, sizeof reply, "* BYE then\r\n%s OK done\r\n", tag);
        } else if (strncmp(command, "UID FETCH", 9) == 0) {
            say(client, answer);
            return;
        } else {
            snprintf(reply, sizeof reply, "%s OK done\r\n", tag);
        }
        say(client, reply);
    }
}
static void serve_broken_literal(int client) {
    serve_mailbox(client, "* 1 FETCH (UID 7 BODY[] {1000}\r\nFrom: anna@club.example\r\n");
}
static void serve_endless_fetch(int client) {
    serve_mailbox(client, "* 1 FETCH ");
    serve_flood(client);
}

static mailimap *imap_on(Line *line) {
    mailimap *imap = mailimap_new(0, NULL);
    mailstream *stream = stream_open(line);
    assert_non_null(imap);
    assert_non_null(stream);
    assert_int_equal(mailimap_connect(imap, stream), MAILIMAP_NO_ERROR_AUTHENTICATED);
    assert_int_equal(mailimap_noop(imap), MAILIMAP_NO_ERROR);
    assert_int_equal(mailimap_select(imap, "INBOX"), MAILIMAP_NO_ERROR);
    assert_int_equal(imap->imap_selection_info->sel_exists, 3);
    assert_int_equal(imap->imap_selection_info->sel_uidvalidity, 99);
    return imap;
}

static int fetch_7(mailimap *imap) {
    clist *result = NULL;
    struct mailimap_section *section = mailimap_section_new(NULL);
    struct mailimap_fetch_type *type = mailimap_fetch_type_new_fetch_att_list_empty();
    mailimap_fetch_type_new_fetch_att_list_add(type, mailimap_fetch_att_new_body_peek_section(section));
    struct mailimap_set *set = mailimap_set_new_single(7);
    int code = mailimap_uid_fetch(imap, set, type, &result);
    if (code == MAILIMAP_NO_ERROR)
        mailimap_fetch_list_free(result);
    mailimap_set_free(set);
    mailimap_fetch_type_free(type);
    return code;
}

static void test_stream(void **state) {
    (void)state;
    Line *line = open_to("imap", serve_broken_literal);
    mailimap *imap = imap_on(line);
    assert_int_equal(mailimap_logout(imap), MAILIMAP_NO_ERROR);
    mailimap_free(imap);
    assert_string_equal(line_fault(line), "");
    line_close(line); /* the stream's end is not the line's */
}

static void test_stream_broken_literal(void **state) {
    (void)state;
    Line *line = open_to("imap", serve_broken_literal);
    mailimap *imap = imap_on(line);
    assert_int_not_equal(fetch_7(imap), MAILIMAP_NO_ERROR);
    assert_non_null(strstr(line_fault(line), "closed the connection"));
    mailimap_free(imap);
    line_close(line);
}

static void test_stream_endless(void **state) {
    (void)state;
    Line *line = open_to("imap", serve_endless_fetch);
    mailimap *imap = imap_on(line);
    line_begin(line, GENEROUS, CAP);
    assert_int_not_equal(fetch_7(imap), MAILIMAP_NO_ERROR);
    assert_non_null(strstr(line_fault(line), "more than was to be expected"));
    mailimap_free(imap);
    line_close(line);
}

/* A line that is dead before libetpan begins: the greeting is ours and says nothing about it. */
static void serve_imap_end(int client) {
    serve_imap_login(client, "AUTH=PLAIN", "OK in");
}
static void test_stream_dead(void **state) {
    (void)state;
    Line *line = open_to("imap", serve_imap_end);
    mailimap *imap = mailimap_new(0, NULL);
    assert_int_equal(mailimap_connect(imap, stream_open(line)), MAILIMAP_NO_ERROR_AUTHENTICATED);
    assert_int_not_equal(mailimap_noop(imap), MAILIMAP_NO_ERROR);
    assert_string_not_equal(line_fault(line), "");
    mailimap_free(imap);
    line_close(line);
}

/* ---- hosts ---- */

static void test_local(void **state) {
    (void)state;
    static const char *const local[] = { "imap://localhost", "imaps://LOCALHOST:993", "smtp://localhost.:25", "smtp://mail.localhost", "pop3://127.0.0.1:110",
                                         "pop3://127.255.3.4", "imap://127.1", "imap://[::1]", "imap://[::1]:143", "imap://[0:0:0:0:0:0:0:1]" };
    static const char *const remote[] = { "imap://mail.club.example", "imap://127.0.0.1.club.example", "imap://notlocalhost", "imap://localhost.club.example", "imap://128.0.0.1",
                                          "imap://[::2]", "imap://[2001:db8::1]", "imap://localhost@mail.club.example", "imap://127.0.0.1@mail.club.example:143", "", "nonsense", "imap://" };
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if (!line_host_is_local(local[i]))
            fail_msg("%s is this machine", local[i]);
    for (size_t i = 0; i < sizeof remote / sizeof *remote; i++)
        if (line_host_is_local(remote[i]))
            fail_msg("%s is not this machine", remote[i]);
}

int main(void) {
    alarm(2 * SERVER_SECONDS); /* what hangs is killed */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_imap, stop),
        cmocka_unit_test_teardown(test_imap_login_command, stop),
        cmocka_unit_test_teardown(test_pop3, stop),
        cmocka_unit_test_teardown(test_token, stop),
        cmocka_unit_test_teardown(test_refused, stop),
        cmocka_unit_test_teardown(test_no_starttls, stop),
        cmocka_unit_test_teardown(test_slow_greeting, stop),
        cmocka_unit_test_teardown(test_nobody_there, stop),
        cmocka_unit_test_teardown(test_bad_accounts, stop),
        cmocka_unit_test_teardown(test_drip, stop),
        cmocka_unit_test_teardown(test_endless, stop),
        cmocka_unit_test_teardown(test_end, stop),
        cmocka_unit_test_teardown(test_end_is_pending, stop),
        cmocka_unit_test_teardown(test_pending, stop),
        cmocka_unit_test_teardown(test_deaf, stop),
        cmocka_unit_test_teardown(test_write_to_nobody, stop),
        cmocka_unit_test_teardown(test_stream, stop),
        cmocka_unit_test_teardown(test_stream_broken_literal, stop),
        cmocka_unit_test_teardown(test_stream_endless, stop),
        cmocka_unit_test_teardown(test_stream_dead, stop),
        cmocka_unit_test(test_local),
    };
    return cmocka_run_group_tests(tests, make_secret, remove_secret);
}
