/* What doctor makes of the unit and its drop-ins. */
#include "daemon/verbs/checks.h"

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

static char root[] = "/tmp/epistle-checks-XXXXXX";
static Str told; /* "warn unit text\n" of each finding */

static const char *const folders[] = { "usr", "usr/lib", "usr/lib/systemd", "usr/lib/systemd/system", "etc", "etc/systemd", "etc/systemd/system",
                                       "etc/systemd/system/epistle.service.d" };
enum { FOLDERS = sizeof folders / sizeof folders[0] };
static const char *const files[] = { "usr/lib/systemd/system/epistle.service", "etc/systemd/system/epistle.service.d/override.conf" };

static void path_of(const char *name, char ret_path[200]) {
    snprintf(ret_path, 200, "%s/%s", root, name);
}

static int make_root(void **state) {
    (void)state;
    char path[200];
    str_init(&told, 10000);
    if (mkdtemp(root) == NULL)
        return -1;
    for (size_t i = 0; i < FOLDERS; i++) {
        path_of(folders[i], path);
        if (mkdir(path, 0700) != 0)
            return -1;
    }
    return 0;
}

static int remove_root(void **state) {
    (void)state;
    char path[200];
    str_free(&told);
    for (size_t i = FOLDERS; i > 0; i--) {
        path_of(folders[i - 1], path);
        if (rmdir(path) != 0)
            return -1;
    }
    return rmdir(root);
}

static void write_file(const char *name, const char *text) {
    char path[200];
    path_of(name, path);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

static int remove_files(void **state) {
    (void)state;
    char path[200];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        path_of(files[i], path);
        unlink(path);
    }
    return 0;
}

static void note(Checks *checks, CheckGrade grade, const char *subject, const char *text) {
    (void)checks;
    assert_string_equal(subject, "unit");
    str_printf(&told, "%s %s\n", grade == CHECK_OK ? "ok" : grade == CHECK_WARN ? "warn" : "fail", text);
}

static void install_unit(void) {
    static char text[64 * 1024];
    FILE *stream = fopen("config/epistle.service", "r");
    assert_non_null(stream);
    text[fread(text, 1, sizeof text - 1, stream)] = 0;
    fclose(stream);
    write_file(files[0], text);
}

/* How many findings, and whether each holds one of the words given. */
static void expect(Config *config, int ok, int warn, const char *first, const char *second) {
    Checks checks = { .open = { .config = config }, .found = note };
    str_clear(&told);
    checks_unit(&checks, root);
    if (checks.counts[CHECK_OK] != ok || checks.counts[CHECK_WARN] != warn || checks.counts[CHECK_FAIL] != 0 || strstr(told.data, first) == NULL ||
        strstr(told.data, second) == NULL)
        fail_msg("wanted %d ok, %d warn, \"%s\", \"%s\"; got\n%s", ok, warn, first, second, told.data);
}

static char store[] = "/var/lib/epistle/epistle.db", elsewhere[] = "/srv/chess/epistle.db", imap[] = "imaps://imap.club.example", smtp[] = "smtps://smtp.club.example",
            in[] = "maildir:///var/mail/chess", out[] = "maildir:///var/spool/chess/%s", program[] = "/usr/sbin/sendmail";

static Config at_a_provider(void) {
    return (Config){ .store = store, .mailbox_kind = MAILBOX_IMAP, .mailbox_url = imap, .outgoing_kind = OUTGOING_SMTP, .outgoing_url = smtp };
}

static void there_is_none(void **state) {
    (void)state;
    Config config = at_a_provider();
    expect(&config, 0, 1, "no epistle.service is installed", "make install");
}

static void the_one_that_comes_with_it(void **state) {
    (void)state;
    Config config = at_a_provider();
    install_unit();
    expect(&config, 1, 0, "/usr/lib/systemd/system/epistle.service, with its sandbox", "");
}

static void one_without_walls(void **state) {
    (void)state;
    Config config = at_a_provider();
    write_file(files[0], "[Service]\nExecStart=/usr/bin/epistle serve\n");
    expect(&config, 0, 1, "has no sandbox", "systemctl edit epistle");
}

static void what_it_may_not_write(void **state) {
    (void)state;
    Config config = at_a_provider();
    install_unit();
    config.store = elsewhere;
    expect(&config, 0, 1, "the store /srv/chess/epistle.db", "ReadWritePaths=");
    write_file(files[1], "[Service]\nReadWritePaths=/srv/ches /tmp\n");
    expect(&config, 0, 1, "the store /srv/chess/epistle.db", "");
    write_file(files[1], "[Service]\nReadWritePaths=/tmp -/srv/chess/\n");
    expect(&config, 1, 0, "with its sandbox", "");
    config = (Config){ .store = store, .mailbox_kind = MAILBOX_MAILDIR, .mailbox_url = in, .outgoing_kind = OUTGOING_MAILDIR, .outgoing_url = out };
    expect(&config, 0, 2, "the mailbox /var/mail/chess lies outside", "the outgoing Maildir /var/spool/chess lies outside");
    write_file(files[1], "[Service]\nReadWritePaths=/var/mail\nReadWritePaths=+/var/spool/chess");
    expect(&config, 1, 0, "with its sandbox", "");
}

static void a_sendmail_that_gains_rights(void **state) {
    (void)state;
    Config config = at_a_provider();
    install_unit();
    config.outgoing_kind = OUTGOING_SENDMAIL;
    config.outgoing_url = program;
    expect(&config, 0, 1, "sendmail", "smtp://localhost");
    write_file(files[1], "[Service]\nNoNewPrivileges=no\n");
    expect(&config, 1, 0, "with its sandbox", "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(there_is_none, remove_files), cmocka_unit_test_teardown(the_one_that_comes_with_it, remove_files),
        cmocka_unit_test_teardown(one_without_walls, remove_files), cmocka_unit_test_teardown(what_it_may_not_write, remove_files),
        cmocka_unit_test_teardown(a_sendmail_that_gains_rights, remove_files),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
