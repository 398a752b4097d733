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

static void copy_file(const char *from, const char *to) {
    static char text[64 * 1024];
    FILE *stream = fopen(from, "r");
    assert_non_null(stream);
    write_file(to, text, fread(text, 1, sizeof text, stream));
    fclose(stream);
}

/* As it lies in /etc/epistle, with the password beside it. */
static void example(void **state) {
    (void)state;
    Str errors;
    char password[80];
    snprintf(password, sizeof password, "%s/password", folder);
    copy_file("config/epistle.conf.example", path);
    str_init(&errors, 10000);
    assert_null(config_read(path, &errors)); /* which is missing: nothing else is wrong with it */
    assert_non_null(strstr(errors.data, "password: No such file or directory"));
    str_clear(&errors);
    write_file(password, "x\n", 2);
    chmod(password, 0640);
    Config *config = config_read(path, &errors);
    assert_string_equal(errors.data, "");
    assert_non_null(config);
    assert_string_equal(config->name, "Anytown Chess by Mail");
    assert_string_equal(config->address, "chess@club.example");
    assert_string_equal(config->store, "/var/lib/epistle/epistle.db");
    assert_string_equal(config->key_file, "/var/lib/epistle/epistle.key");
    assert_string_equal(config->language, "en");
    assert_string_equal(config->timezone, "Europe/Vienna");
    assert_string_equal(config->arbiter, "td@club.example");
    assert_string_equal(config->operator_, "td@club.example");
    assert_null(config->trusted_authserv);
    assert_int_equal(config->received_by_count, 0);
    assert_true(config->reply_tag_plus);
    assert_int_equal(config->mailbox_kind, MAILBOX_IMAP);
    assert_string_equal(config->mailbox_url, "imaps://imap.club.example");
    assert_string_equal(config->mailbox_password_file, password);
    assert_int_equal(config->after, AFTER_SEEN);
    assert_int_equal(config->also_count, 1);
    assert_string_equal(config->also[0], "Junk");
    assert_int_equal(config->outgoing_kind, OUTGOING_SMTP);
    assert_string_equal(config->outgoing_url, "smtps://smtp.club.example");
    assert_string_equal(config->time, "10/50d");
    assert_int_equal(config->registration, REGISTRATION_OPEN);
    config_free(config);
    str_free(&errors);
    unlink(password);
}

/* Every key stands in the example, and one that is commented out there shows its default. */
static void example_whole(void **state) {
    (void)state;
    static const char *const keys[] = {
        "name", "address", "store", "language", "timezone", "arbiter", ";operator", ";trusted_authserv", ";received_by", ";key_file", ";templates",
        "reply_tag", "url", "user", "password_file", ";password_command", ";password_credential", ";token_command", ";ca_file", ";tls", ";timeout",
        ";poll", "after", "also", ";lines", "time", "registration", ";strangers_per_day", ";strangers_per_hour", ";strangers_per_domain",
        ";player_per_day", ";unproven_per_day", ";confirm_hours", ";free_space_mb",
    };
    static char text[64 * 1024];
    FILE *stream = fopen("config/epistle.conf.example", "r");
    assert_non_null(stream);
    size_t size = fread(text, 1, sizeof text - 1, stream);
    text[size] = 0;
    fclose(stream);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        char line[60];
        snprintf(line, sizeof line, "\n%s = ", keys[i]);
        if (strstr(text, line) == NULL)
            fail_msg("%s is not in the example", keys[i]);
    }
    Str errors;
    Config *config = read_text(GOOD, &errors);
    static const struct {
        const char *key;
        size_t offset;
    } numbers[] = {
        { "strangers_per_day", offsetof(Config, strangers_per_day) }, { "strangers_per_hour", offsetof(Config, strangers_per_hour) },
        { "strangers_per_domain", offsetof(Config, strangers_per_domain) }, { "player_per_day", offsetof(Config, player_per_day) },
        { "unproven_per_day", offsetof(Config, unproven_per_day) }, { "confirm_hours", offsetof(Config, confirm_hours) },
        { "free_space_mb", offsetof(Config, free_space) }, { "poll", offsetof(Config, mailbox_poll) }, { "timeout", offsetof(Config, mailbox_timeout) },
        { "timeout", offsetof(Config, outgoing_timeout) }, { "lines", offsetof(Config, outgoing_lines) },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char line[60];
        snprintf(line, sizeof line, "\n;%s = %d\n", numbers[i].key, *(const int *)(const void *)((const char *)config + numbers[i].offset));
        if (strstr(text, line) == NULL)
            fail_msg("the example does not show%s", line);
    }
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
    char secret[80];
    snprintf(secret, sizeof secret, "%s/secret", folder);
    write_file(secret, "x\n", 2);
    chmod(secret, 0600);
    char certificates[80];
    snprintf(certificates, sizeof certificates, "%s/ca.pem", folder);
    write_file(certificates, "", 0);
    Config *config = read_text("\xef\xbb\xbf# all keys\r\n"
                               "  [service]   ; indented\r\n"
                               "  name = Sch\xc3\xa4" "chklub ; comment\r\n"
                               "  address=chess@club.example\r\n"
                               "\tstore = /s/games\r\n"
                               "key_file = /k\r\ntemplates = /t\r\nlanguage = pt-BR\r\ntimezone = Asia/Tokyo\r\narbiter = td@club.example\r\n"
                               "operator = op@club.example\r\n"
                               "trusted_authserv = mx.club.example\r\nreceived_by = a.example, b.example c.example\r\nreply_tag = none\r\n"
                               "[mailbox]\r\nurl = IMAPS://imap.club.example:9993/Chess/Letters%20%C3%A4\r\nuser = u\r\npassword_command = pass show chess;x\r\n"
                               "ca_file = ca.pem\r\ntls = required\r\npoll = 10\r\ntimeout = 60\r\n"
                               "after = move:Done/2026\r\nalso = Junk Mail, Spam\r\n"
                               "[outgoing]\r\nurl = smtp://[::1]:587\r\nuser = v\r\npassword_file = secret\r\nca_file = /etc/hosts\r\ntls = none\r\ntimeout = 2\r\nlines = 8\r\n"
                               "[play]\r\ntime = 3d/move\r\nregistration = approve\r\n"
                               "[limits]\r\nstrangers_per_day = 0\r\nconfirm_hours = 24\r\nfree_space_mb = 500",
                               &errors);
    assert_string_equal(errors.data, "");
    assert_non_null(config);
    assert_string_equal(config->name, "Sch\xc3\xa4" "chklub");
    assert_string_equal(config->store, "/s/games");
    assert_string_equal(config->key_file, "/k");
    assert_string_equal(config->templates, "/t");
    assert_string_equal(config->language, "pt-BR");
    assert_string_equal(config->operator_, "op@club.example");
    assert_string_equal(config->trusted_authserv, "mx.club.example");
    assert_int_equal(config->received_by_count, 3);
    assert_string_equal(config->received_by[2], "c.example");
    assert_false(config->reply_tag_plus);
    assert_int_equal(config->mailbox_kind, MAILBOX_IMAP);
    assert_string_equal(config->mailbox_url, "imaps://imap.club.example:9993");
    assert_string_equal(config->mailbox_folder, "Chess/Letters \xc3\xa4");
    assert_int_equal(config->mailbox_poll, 10);
    LineAccount account = config_mailbox_account(config);
    assert_ptr_equal(account.url, config->mailbox_url);
    assert_string_equal(account.user, "u");
    assert_string_equal(account.secret.command, "pass show chess;x");
    assert_true(account.secret.file == NULL && account.secret.token == NULL && account.secret.credential == NULL);
    assert_string_equal(account.ca_file, certificates);
    assert_false(account.plain);
    assert_int_equal(account.seconds, 60);
    assert_int_equal(config->after, AFTER_MOVE);
    assert_string_equal(config->after_folder, "Done/2026");
    assert_int_equal(config->also_count, 2);
    assert_string_equal(config->also[0], "Junk Mail");
    assert_string_equal(config->also[1], "Spam");
    assert_int_equal(config->outgoing_kind, OUTGOING_SMTP);
    assert_int_equal(config->outgoing_lines, 8);
    account = config_outgoing_account(config);
    assert_string_equal(account.url, "smtp://[::1]:587");
    assert_string_equal(account.user, "v");
    assert_string_equal(account.secret.file, secret);
    assert_string_equal(account.ca_file, "/etc/hosts");
    assert_true(account.plain);
    assert_int_equal(account.seconds, 2);
    assert_string_equal(config->time, "3d/move");
    assert_int_equal(config->registration, REGISTRATION_APPROVE);
    assert_int_equal(config->strangers_per_day, 0);
    assert_int_equal(config->confirm_hours, 24);
    assert_int_equal(config->free_space, 500);
    config_free(config);
    str_free(&errors);
    unlink(secret);
    unlink(certificates);
}

/* The other secrets, and what is not said. */
static void servers(void **state) {
    (void)state;
    Str errors;
    Config *config = read_text("[service]\nname = C\naddress = c@x.example\nstore = s\narbiter = td@x.example\n"
                               "[mailbox]\nurl = pop3s://pop.x.example\nuser = u\npassword_credential = mail.password\nafter = delete\n"
                               "[outgoing]\nurl = smtps://smtp.x.example\nuser = u\ntoken_command = oauth 'a b' token\n", &errors);
    assert_string_equal(errors.data, "");
    assert_non_null(config);
    assert_string_equal(config->operator_, "td@x.example");
    assert_int_equal(config->mailbox_kind, MAILBOX_POP3);
    assert_null(config->mailbox_folder);
    assert_int_equal(config->mailbox_poll, 60);
    assert_string_equal(config_mailbox_account(config).secret.credential, "mail.password");
    assert_int_equal(config_mailbox_account(config).seconds, 30);
    assert_string_equal(config_outgoing_account(config).secret.token, "oauth 'a b' token");
    assert_int_equal(config->outgoing_lines, 2);
    assert_int_equal(config->free_space, 64);
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
        { "[service]\noperator = tom@", "operator = tom@ is no mail address (only the address itself, like chess@club.example)" },
        { "[mailbox]\nafter = burn", "after = burn: it is seen, delete or move:FOLDER" },
        { "[mailbox]\nafter = move:", "after = move:: it is seen, delete or move:FOLDER" },
        { "[mailbox]\nafter = move: ", "after = move:: it is seen, delete or move:FOLDER" },
        { "[mailbox]\nafter = move:../x", "after = move:../x: ../x is no folder name" },
        { "[mailbox]\nalso = Junk, .Junk", "also: .Junk is read already: take it out" },
        { "[mailbox]\nuser = u", "user in [mailbox] means nothing with a Maildir: take the line out" },
        { "[mailbox]\npoll = 9", "poll = 9: it is a whole number from 10 to 3600" },
        { "[outgoing]\nlines = 2", "lines in [outgoing] means nothing with a Maildir: take the line out" },
        { "[limits]\nfree_space_mb = -1", "free_space_mb = -1: it is a whole number from 0 to 1000000" },
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

static void expect_with(const char *mailbox, const char *outgoing, const char *expected) {
    Str text;
    str_init(&text, 10000);
    str_printf(&text, "[service]\nname = C\naddress = c@x.example\nstore = s\n[mailbox]\n%s\n[outgoing]\n%s\n", mailbox, outgoing);
    expect_errors(text.data, expected);
    str_free(&text);
}

static void urls(void **state) {
    (void)state;
    static const struct {
        const char *mailbox, *error;
    } cases[] = {
        { "imaps://me:secret@imap.club.example", "6: url in [mailbox] has a password in it: use user and password_file\n" },
        { "imaps://me:se/cr?et@imap.club.example", "6: url in [mailbox] has a password in it: use user and password_file\n" },
        { "imaps://me@imap.club.example", "6: url = imaps://me@imap.club.example has a user in it: write him as user = …\n" },
        { "smtp://club.example", "6: url = smtp://club.example is of no known kind (imaps://host/folder, imap://, pop3s://host, pop3:// or maildir:///path)\n" },
        { "imaps:/x", "6: url = imaps:/x is of no known kind (imaps://host/folder, imap://, pop3s://host, pop3:// or maildir:///path)\n" },
        { "/var/mail", "6: url = /var/mail is of no known kind (imaps://host/folder, imap://, pop3s://host, pop3:// or maildir:///path)\n" },
        { "imaps://", "6: url = imaps://: behind imaps:// stands a host's name or address, and then perhaps a colon and a port's number\n" },
        { "imaps://a_b", "6: url = imaps://a_b: behind imaps:// stands a host's name or address, and then perhaps a colon and a port's number\n" },
        { "imap://a:0", "6: url = imap://a:0: behind imap:// stands a host's name or address, and then perhaps a colon and a port's number\n" },
        { "imap://a:65536", "6: url = imap://a:65536: behind imap:// stands a host's name or address, and then perhaps a colon and a port's number\n" },
        { "imap://[::1", "6: url = imap://[::1: behind imap:// stands a host's name or address, and then perhaps a colon and a port's number\n" },
        { "imap://[1]", "6: url = imap://[1]: behind imap:// stands a host's name or address, and then perhaps a colon and a port's number\n" },
        { "imaps://a/b%zz", "6: url = imaps://a/b%zz: behind the host stands one folder's name in UTF-8, in which ? # ; and % are written %3F %23 %3B %25\n" },
        { "imaps://a/b;UID=1", "6: url = imaps://a/b;UID=1: behind the host stands one folder's name in UTF-8, in which ? # ; and % are written %3F %23 %3B %25\n" },
        { "imaps://a/%0D%0A", "6: url = imaps://a/%0D%0A: behind the host stands one folder's name in UTF-8, in which ? # ; and % are written %3F %23 %3B %25\n" },
        { "imaps://a/%FF", "6: url = imaps://a/%FF: behind the host stands one folder's name in UTF-8, in which ? # ; and % are written %3F %23 %3B %25\n" },
        { "pop3://a/INBOX", "6: url = pop3://a/INBOX: with pop3 nothing stands behind the host and its port\n" },
        { "maildir://relative", "6: url = maildir://relative: three slashes for a path from the root (maildir:///path), none for one from this file's folder "
                                "(maildir:path)\n" },
        { "maildir:", "6: url = maildir: names no folder\n" },
        { "maildir:/a%00b", "6: url = maildir:/a%00b names no folder\n" },
        { "maildir:/a/%s", "6: url = maildir:/a/%s names no folder\n" },
        { "maildir:/a%zz", "6: url = maildir:/a%zz names no folder\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char line[200];
        snprintf(line, sizeof line, "url = %s", cases[i].mailbox);
        expect_with(line, "url = maildir:out", cases[i].error);
    }
    expect_with("url = maildir:in", "url = smtps://a/b", "8: url = smtps://a/b: with smtps nothing stands behind the host and its port\n");
    expect_with("url = maildir:in", "url = sendmail:bin/sendmail",
                "8: url = sendmail:bin/sendmail: sendmail wants the whole path of its program, like sendmail:/usr/sbin/sendmail\n");
    expect_with("url = maildir:in", "url = imap://a", "8: url = imap://a is of no known kind (smtps://host, smtp://, sendmail:/path or maildir:///path)\n");
}

/* What each URL comes out as. */
static void urls_kept(void **state) {
    (void)state;
    static const struct {
        const char *url, *kept, *folder;
    } cases[] = {
        { "imaps://imap.club.example", "imaps://imap.club.example", NULL },
        { "imaps://imap.club.example/", "imaps://imap.club.example", NULL },
        { "imaps://imap.club.example/inbox", "imaps://imap.club.example", NULL },
        { "Imap://192.0.2.1:1143/a%2Fb@c", "imap://192.0.2.1:1143", "a/b@c" },
        { "imap://host:143/x@y", "imap://host:143", "x@y" },
        { "pop3s://[2001:db8::1]:995", "pop3s://[2001:db8::1]:995", NULL },
        { "pop3://host/", "pop3://host", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Str text, errors;
        str_init(&text, 10000);
        str_printf(&text, "[service]\nname = C\naddress = c@x.example\nstore = s\n[mailbox]\nurl = %s\nuser = u\ntoken_command = t\n"
                          "[outgoing]\nurl = sendmail:///usr/lib/send%%20mail\n", cases[i].url);
        Config *config = read_text(text.data, &errors);
        assert_string_equal(errors.data, "");
        assert_string_equal(config->mailbox_url, cases[i].kept);
        assert_string_equal(config->mailbox_folder == NULL ? "INBOX" : config->mailbox_folder, cases[i].folder == NULL ? "INBOX" : cases[i].folder);
        assert_int_equal(config->outgoing_kind, OUTGOING_SENDMAIL);
        assert_string_equal(config->outgoing_url, "/usr/lib/send mail");
        config_free(config);
        str_free(&errors);
        str_free(&text);
    }
}

/* What two keys say together: each at the line that can be mended. */
static void together(void **state) {
    (void)state;
    static const char imap[] = "url = imaps://i.example\nuser = u\ntoken_command = t\n";
    static const struct {
        const char *mailbox, *outgoing, *errors;
    } cases[] = {
        { "url = imaps://i.example", "url = smtp://s.example",
          "6: user is missing in [mailbox]: IMAP wants to know who logs in\n"
          "6: the user's password is missing in [mailbox]: name a password_file, password_command, password_credential or token_command\n" },
        { "url = pop3s://i.example\ntoken_command = t", "url = smtp://s.example", "6: user is missing in [mailbox]: POP3 wants to know who logs in\n" },
        { imap, "url = smtp://s.example\nuser = u",
          "12: the user's password is missing in [outgoing]: name a password_file, password_command, password_credential or token_command\n" },
        { imap, "url = smtp://s.example\npassword_command = p", "12: password_command is of no use without a user in [outgoing]: add user = …\n" },
        { "url = imaps://i.example\nuser = u\ntoken_command = t\npassword_credential = c\npassword_command = p", "url = smtp://s.example",
          "9: password_credential stands beside password_command in [mailbox]: only one of them can say where the password is, take the other out\n"
          "8: token_command stands beside password_command in [mailbox]: only one of them can say where the password is, take the other out\n" },
        { "url = imap://i.example\nuser = u\ntoken_command = t\ntls = none", "url = smtp://s.example\ntls = none",
          "9: tls = none is for a server on this very machine (localhost, 127.0.0.1, [::1]), and imap://i.example is elsewhere: take the line out, the log-in "
          "and the letters are then encrypted by STARTTLS\n"
          "12: tls = none is for a server on this very machine (localhost, 127.0.0.1, [::1]), and smtp://s.example is elsewhere: take the line out, the log-in "
          "and the letters are then encrypted by STARTTLS\n" },
        { "url = imap://127.0.0.1:143\nuser = u\ntoken_command = t\ntls = none", "url = smtp://localhost\ntls = none", "" },
        { "url = imaps://localhost\nuser = u\ntoken_command = t\ntls = none", "url = smtp://localhost",
          "9: tls = none and imaps://localhost contradict each other: take one of them back\n" },
        { "url = pop3s://i.example\nuser = u\ntoken_command = t\nalso = Junk\nafter = move:Done", "url = smtp://s.example",
          "9: also in [mailbox] means nothing with POP3: take the line out\n"
          "10: after = move:Done needs folders, which POP3 does not have: write after = seen (letters stay) or after = delete\n" },
        { "url = imaps://i.example/Chess\nuser = u\ntoken_command = t\nalso = Inbox, Chess\nafter = move:INBOX", "url = smtp://s.example",
          "9: also: Chess is read already: take it out\n"
          "10: after = move:INBOX: letters are read from this folder; move them to another\n" },
        { "url = maildir:in\nca_file = /etc/hosts\ntls = none\ntimeout = 5", "url = sendmail:/s\ntls = required\ntimeout = 5\nlines = 1\nuser = u",
          "7: ca_file in [mailbox] means nothing with a Maildir: take the line out\n"
          "8: tls in [mailbox] means nothing with a Maildir: take the line out\n"
          "9: timeout in [mailbox] means nothing with a Maildir: take the line out\n"
          "15: user in [outgoing] means nothing with sendmail: take the line out\n"
          "12: tls in [outgoing] means nothing with sendmail: take the line out\n"
          "13: timeout in [outgoing] means nothing with sendmail: take the line out\n"
          "14: lines in [outgoing] means nothing with sendmail: take the line out\n" },
        { "url = imaps://i.example\nuser = u\ntoken_command = t\nca_file = /nowhere/ca.pem", "url = smtp://s.example\nca_file = /etc",
          "9: ca_file /nowhere/ca.pem: No such file or directory: put the certificates there (PEM), or take the line out to trust the system's\n"
          "12: ca_file /etc is no file: name one that holds certificates (PEM)\n" },
        { "url = imaps://i.example\nuser = u\ntoken_command = t\ntls = perhaps", "url = smtp://s.example",
          "9: tls = perhaps: it is required, or none for a server on this very machine\n" },
        { "url = imaps://i.example\nuser = u\npassword_command = 'open", "url = smtp://s.example",
          "8: password_command cannot be divided into words: it is a program and at most 31 words for it, each quotation mark has its second, and no "
          "shell is asked\n" },
        { "url = imaps://i.example\nuser = u\npassword_credential = ../x", "url = smtp://s.example",
          "8: password_credential = ../x: it is the name that the unit's LoadCredential= gives, of letters, digits, . _ and -\n" },
        { "url = imaps://i.example\nuser = u\ntoken_command = t\ntimeout = 61", "url = smtp://s.example\nlines = 9",
          "9: timeout = 61: it is a whole number from 2 to 60\n12: lines = 9: it is a whole number from 1 to 8\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_with(cases[i].mailbox, cases[i].outgoing, cases[i].errors);
}

static void secrets(void **state) {
    (void)state;
    static const char outgoing[] = "url = smtp://s.example\nuser = u\npassword_file = secret";
    char secret[80];
    snprintf(secret, sizeof secret, "%s/secret", folder);
    write_file(secret, "x\n", 2);
    Str error;
    str_init(&error, 1000);
    str_printf(&error, "10: password_file %s can be read by everybody: chmod o= it, and change the password\n", secret);
    chmod(secret, 0644);
    expect_with("url = maildir:in", outgoing, error.data);
    chmod(secret, 0640);
    expect_with("url = maildir:in", outgoing, "");
    unlink(secret);
    str_clear(&error);
    str_printf(&error, "10: password_file %s: No such file or directory: put the password there, as its first line, with mode 640 and the service's group\n", secret);
    expect_with("url = maildir:in", outgoing, error.data);
    expect_with("url = maildir:in", "url = smtp://s.example\nuser = u\npassword_file = /",
                "10: password_file / is no file: name one that holds the password as its first line\n");
    str_free(&error);
}

static void long_lines(void **state) {
    (void)state;
    Str text;
    str_init(&text, 10000);
    str_append(&text, GOOD "[mailbox]\nalso = ");
    str_append_repeated(&text, 'u', 1000 - strlen("also = "));
    str_append(&text, "\n");
    Str errors;
    Config *config = read_text(text.data, &errors);
    assert_string_equal(errors.data, "");
    assert_int_equal(strlen(config->also[0]), 993);
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
        cmocka_unit_test(example), cmocka_unit_test(example_whole), cmocka_unit_test(least), cmocka_unit_test(everything),
        cmocka_unit_test(received_by_follows),
        cmocka_unit_test(all_at_once), cmocka_unit_test(each_error), cmocka_unit_test(urls), cmocka_unit_test(urls_kept), cmocka_unit_test(servers),
        cmocka_unit_test(together), cmocka_unit_test(secrets),
        cmocka_unit_test(long_lines), cmocka_unit_test(no_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
