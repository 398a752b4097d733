/* The configuration: the example is good, every error is told with its line, all of them at once. */
#include "daemon/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/epistle-config-XXXXXX";
static char path[64];

static int make_folder(void **state) {
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/c", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

static void write_file(const char *file, const void *text, size_t size) {
    FILE *stream = fopen(file, "w");
    assert_non_null(stream);
    assert_int_equal(fwrite(text, 1, size, stream), size);
    fclose(stream);
}

#define GOOD "[service]\nname = Club\naddress = chess@club.example\nstore = s.db\n[mailbox]\nurl = maildir:in\n[outgoing]\nurl = maildir:///out\n"

static Config *read_text(const char *text, Str *ret_errors) {
    write_file(path, text, strlen(text));
    str_init(ret_errors, 64 * 1024);
    return config_read(path, ret_errors);
}

/* The errors with the file's name taken out: "2: there is no …". */
static void expect_errors(const char *text, const char *expected) {
    Str errors, found;
    Config *config = read_text(text, &errors);
    str_init(&found, 64 * 1024);
    size_t name = strlen(path) + 1;
    for (const char *at = errors.data; *at != 0; at = strchr(at, '\n') + 1) {
        assert_memory_equal(at, path, strlen(path));
        str_append_bytes(&found, at + name, (size_t)(strchr(at, '\n') + 1 - (at + name)));
    }
    if (strcmp(found.data, expected) != 0)
        fail_msg("\n%s wanted\n%s got\n%s", text, expected, found.data);
    assert_true((config == NULL) == (expected[0] != 0));
    config_free(config);
    str_free(&errors);
    str_free(&found);
}

static void example(void **state) {
    (void)state;
    Str errors;
    str_init(&errors, 10000);
    Config *config = config_read("config/epistle.conf.example", &errors);
    assert_string_equal(errors.data, "");
    assert_non_null(config);
    assert_string_equal(config->name, "Anytown Chess by Mail");
    assert_string_equal(config->address, "chess@club.example");
    assert_string_equal(config->store, "/var/lib/epistle/epistle.db");
    assert_string_equal(config->key_file, "/var/lib/epistle/epistle.key");
    assert_string_equal(config->language, "en");
    assert_string_equal(config->timezone, "Europe/Vienna");
    assert_string_equal(config->arbiter, "td@club.example");
    assert_null(config->trusted_authserv);
    assert_int_equal(config->received_by_count, 0);
    assert_true(config->reply_tag_plus);
    assert_string_equal(config->mailbox_url, "maildir:///var/mail/chess");
    assert_int_equal(config->after, AFTER_SEEN);
    assert_string_equal(config->outgoing_url, "maildir:///var/spool/epistle/outgoing");
    assert_string_equal(config->time, "10/50d");
    assert_int_equal(config->registration, REGISTRATION_OPEN);
    assert_int_equal(config->strangers_per_day, 1);
    assert_int_equal(config->strangers_per_hour, 100);
    assert_int_equal(config->strangers_per_domain, 20);
    assert_int_equal(config->player_per_day, 30);
    assert_int_equal(config->unproven_per_day, 10);
    assert_int_equal(config->confirm_hours, 48);
    config_free(config);
    str_free(&errors);
}

/* The defaults are those of the example, and paths come from the file's folder. */
static void least(void **state) {
    (void)state;
    Str errors, expected;
    Config *config = read_text(GOOD, &errors);
    assert_string_equal(errors.data, "");
    assert_non_null(config);
    str_init(&expected, 1000);
    str_printf(&expected, "%s/s.db", folder);
    assert_string_equal(config->store, expected.data);
    str_clear(&expected);
    str_printf(&expected, "%s/s.key", folder);
    assert_string_equal(config->key_file, expected.data);
    str_clear(&expected);
    str_printf(&expected, "maildir://%s/in", folder);
    assert_string_equal(config->mailbox_url, expected.data);
    assert_string_equal(config->outgoing_url, "maildir:///out");
    assert_string_equal(config->language, "en");
    assert_string_equal(config->timezone, "UTC");
    assert_string_equal(config->time, "10/50d");
    assert_string_equal(config->file, path);
    assert_non_null(strstr(config->templates, "templates"));
    assert_null(config->arbiter);
    assert_true(config->reply_tag_plus);
    assert_int_equal(config->confirm_hours, 48);
    str_free(&expected);
    str_free(&errors);
    config_free(config);
}

static void everything(void **state) {
    (void)state;
    Str errors;
    Config *config = read_text("\xef\xbb\xbf# all keys\r\n"
                               "  [service]   ; indented\r\n"
                               "  name = Sch\xc3\xa4" "chklub ; comment\r\n"
                               "  address=chess@club.example\r\n"
                               "\tstore = /s/games\r\n"
                               "key_file = /k\r\ntemplates = /t\r\nlanguage = pt-BR\r\ntimezone = Asia/Tokyo\r\narbiter = td@club.example\r\n"
                               "trusted_authserv = mx.club.example\r\nreceived_by = a.example, b.example c.example\r\nreply_tag = none\r\n"
                               "[mailbox]\r\nurl = maildir:/in%20box\r\nuser = u\r\npassword_command = pass show chess;x\r\ntoken_command = t\r\n"
                               "after = move:Done\r\nalso = Junk Mail, Spam\r\n"
                               "[outgoing]\r\nurl = maildir:///out/%s/box\r\nuser = v\r\n"
                               "[play]\r\ntime = 3d/move\r\nregistration = approve\r\n"
                               "[limits]\r\nstrangers_per_day = 0\r\nconfirm_hours = 24",
                               &errors);
    assert_string_equal(errors.data, "");
    assert_non_null(config);
    assert_string_equal(config->name, "Sch\xc3\xa4" "chklub");
    assert_string_equal(config->store, "/s/games");
    assert_string_equal(config->key_file, "/k");
    assert_string_equal(config->templates, "/t");
    assert_string_equal(config->language, "pt-BR");
    assert_string_equal(config->trusted_authserv, "mx.club.example");
    assert_int_equal(config->received_by_count, 3);
    assert_string_equal(config->received_by[2], "c.example");
    assert_false(config->reply_tag_plus);
    assert_string_equal(config->mailbox_url, "maildir:///in box");
    assert_string_equal(config->mailbox_password_command, "pass show chess;x");
    assert_int_equal(config->after, AFTER_MOVE);
    assert_string_equal(config->after_folder, "Done");
    assert_int_equal(config->also_count, 2);
    assert_string_equal(config->also[0], "Junk Mail");
    assert_string_equal(config->also[1], "Spam");
    assert_string_equal(config->outgoing_url, "maildir:///out/%s/box");
    assert_string_equal(config->outgoing_user, "v");
    assert_string_equal(config->time, "3d/move");
    assert_int_equal(config->registration, REGISTRATION_APPROVE);
    assert_int_equal(config->strangers_per_day, 0);
    assert_int_equal(config->confirm_hours, 24);
    config_free(config);
    str_free(&errors);
}

static void received_by_follows(void **state) {
    (void)state;
    Str errors;
    Config *config = read_text(GOOD "[service]\ntrusted_authserv = mx.club.example\n", &errors);
    assert_non_null(config);
    assert_int_equal(config->received_by_count, 1);
    assert_string_equal(config->received_by[0], "mx.club.example");
    config_free(config);
    str_free(&errors);
}

static void all_at_once(void **state) {
    (void)state;
    expect_errors("", "1: name is missing in [service]\n1: address is missing in [service]\n1: store is missing in [service]\n"
                      "1: url is missing in [mailbox]\n1: url is missing in [outgoing]\n");
    expect_errors("[service]\nname = Club\naddress = chess club\nstore = s.db\ncolour = red\nname = Klub\n[mailbx]\nurl = maildir:in\n"
                  "[outgoing\nurl = maildir:out\n[mailbox]\nafter\n",
                  "3: address = chess club is no mail address (only the address itself, like chess@club.example)\n"
                  "5: there is no colour in [service]\n"
                  "6: name stands in [service] a second time (first on line 2)\n"
                  "7: there is no section [mailbx]\n"
                  "9: [outgoing has no ] at its end\n"
                  "12: after has no value\n"
                  "11: url is missing in [mailbox]\n"
                  "1: url is missing in [outgoing]\n");
}

static void each_error(void **state) {
    (void)state;
    static const struct {
        const char *line, *error;
    } cases[] = {
        { "[service]\narbiter = Tom <tom@x.example>", "arbiter = Tom <tom@x.example> is no mail address (only the address itself, like chess@club.example)" },
        { "[service]\narbiter = tom@", "arbiter = tom@ is no mail address (only the address itself, like chess@club.example)" },
        { "[service]\narbiter = a234567890123456789012345678901234567890@x.example",
          "arbiter = a234567890123456789012345678901234567890@x.example: before the @ there is room for 35 characters (a token is put behind them)" },
        { "[service]\nlanguage = ../de", "language = ../de is no language code (like en, de or pt-BR)" },
        { "[service]\nlanguage = english", "language = english is no language code (like en, de or pt-BR)" },
        { "[service]\ntimezone = Mars/Olympus", "timezone = Mars/Olympus is not known here (like Europe/Vienna or UTC; the package tzdata has them)" },
        { "[service]\ntimezone = ../../etc/passwd", "timezone = ../../etc/passwd is not known here (like Europe/Vienna or UTC; the package tzdata has them)" },
        { "[service]\nreceived_by = mx.club.example, two_words", "received_by: two_words is no host name" },
        { "[service]\nreply_tag = minus", "reply_tag = minus: it is plus or none" },
        { "[mailbox]\npassword = secret", "no password stands in here: put it into a file of its own and name that with password_file" },
        { "[mailbox]\npassword_file = /nowhere/at/all", "password_file /nowhere/at/all: No such file or directory" },
        { "[mailbox]\npassword_file = /", "password_file / is no file" },
        { "[mailbox]\nafter = burn", "after = burn: it is seen, delete or move:FOLDER" },
        { "[mailbox]\nafter = move:", "after = move:: it is seen, delete or move:FOLDER" },
        { "[mailbox]\nafter = move:../x", "after = move:../x: it is seen, delete or move:FOLDER" },
        { "[mailbox]\nalso = Junk, a/b", "also: a/b is no folder name" },
        { "[play]\nregistration = perhaps", "registration = perhaps: it is open, approve or closed" },
        { "[limits]\nconfirm_hours = 0", "confirm_hours = 0: it is a whole number from 1 to 720" },
        { "[limits]\nconfirm_hours = 48h", "confirm_hours = 48h: it is a whole number from 1 to 720" },
        { "[limits]\nconfirm_hours = 99999999999999999999", "confirm_hours = 99999999999999999999: it is a whole number from 1 to 720" },
        { "[limits]\nstrangers_per_day = -1", "strangers_per_day = -1: it is a whole number from 0 to 1000" },
        { "[play]\ntim\x01" "e = 1", "there is a control character in the line" },
        { "[play]\ntime = \xff", "the line is not UTF-8" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Str text, error;
        str_init(&text, 10000);
        str_init(&error, 10000);
        str_printf(&text, GOOD "%s\n", cases[i].line);
        str_printf(&error, "10: %s\n", cases[i].error);
        expect_errors(text.data, error.data);
        str_free(&text);
        str_free(&error);
    }
}

static void urls(void **state) {
    (void)state;
    static const struct {
        const char *mailbox, *error;
    } cases[] = {
        { "imaps://imap.club.example/INBOX", "6: url = imaps://imap.club.example/INBOX: this version serves Maildirs only (maildir:///path)\n" },
        { "pop3://pop.club.example", "6: url = pop3://pop.club.example: this version serves Maildirs only (maildir:///path)\n" },
        { "imaps://me:secret@imap.club.example", "6: url in [mailbox] has a password in it: use user and password_file\n" },
        { "smtp://club.example", "6: url = smtp://club.example is of no known kind (maildir:///path)\n" },
        { "/var/mail", "6: url = /var/mail is of no known kind (maildir:///path)\n" },
        { "maildir://relative", "6: url = maildir://relative: three slashes for a path from the root (maildir:///path), none for one from this file's folder "
                                "(maildir:path)\n" },
        { "maildir:", "6: url = maildir: names no folder\n" },
        { "maildir:/a%00b", "6: url = maildir:/a%00b names no folder\n" },
        { "maildir:/a/%s", "6: url = maildir:/a/%s names no folder\n" },
        { "maildir:/a%zz", "6: url = maildir:/a%zz names no folder\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Str text;
        str_init(&text, 10000);
        str_printf(&text, "[service]\nname = C\naddress = c@x.example\nstore = s\n[mailbox]\nurl = %s\n[outgoing]\nurl = maildir:out\n", cases[i].mailbox);
        expect_errors(text.data, cases[i].error);
        str_free(&text);
    }
}

static void secrets(void **state) {
    (void)state;
    char secret[80];
    snprintf(secret, sizeof secret, "%s/secret", folder);
    write_file(secret, "x\n", 2);
    Str error;
    str_init(&error, 1000);
    str_printf(&error, "10: password_file %s can be read by everybody: chmod 600 it, and change the password\n", secret);
    chmod(secret, 0644);
    expect_errors(GOOD "[outgoing]\npassword_file = secret\n", error.data);
    chmod(secret, 0640);
    expect_errors(GOOD "[outgoing]\npassword_file = secret\n", "");
    unlink(secret);
    str_free(&error);
}

static void long_lines(void **state) {
    (void)state;
    Str text;
    str_init(&text, 10000);
    str_append(&text, GOOD "[mailbox]\nuser = ");
    str_append_repeated(&text, 'u', 1000 - strlen("user = "));
    str_append(&text, "\n");
    Str errors;
    Config *config = read_text(text.data, &errors);
    assert_string_equal(errors.data, "");
    assert_int_equal(strlen(config->mailbox_user), 993);
    config_free(config);
    str_free(&errors);
    str_truncate(&text, text.length - 1);
    str_append(&text, "u\n[limits]\nx = 1\n");
    expect_errors(text.data, "10: the line is longer than 1000 bytes\n12: there is no x in [limits]\n");
    str_free(&text);
    char zero[] = GOOD "[play]\ntime = 1\0d\n";
    write_file(path, zero, sizeof zero - 1);
    str_init(&errors, 1000);
    assert_null(config_read(path, &errors));
    assert_non_null(strstr(errors.data, ":10: there is a control character in the line\n"));
    str_free(&errors);
}

static void no_file(void **state) {
    (void)state;
    Str errors;
    str_init(&errors, 1000);
    assert_null(config_read("/nowhere/epistle.conf", &errors));
    assert_string_equal(errors.data, "/nowhere/epistle.conf: cannot be opened: No such file or directory\n");
    str_clear(&errors);
    assert_null(config_read("/tmp", &errors));
    assert_int_equal(strncmp(errors.data, "/tmp: ", 6), 0);
    str_clear(&errors);
    assert_null(config_read("/dev/zero", &errors));
    assert_string_equal(errors.data, "/dev/zero: is larger than a configuration can be\n");
    str_free(&errors);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example), cmocka_unit_test(least), cmocka_unit_test(everything), cmocka_unit_test(received_by_follows),
        cmocka_unit_test(all_at_once), cmocka_unit_test(each_error), cmocka_unit_test(urls), cmocka_unit_test(secrets),
        cmocka_unit_test(long_lines), cmocka_unit_test(no_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
