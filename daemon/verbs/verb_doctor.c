/* doctor: one line for each thing that a service needs. */
#include "daemon/log.h"
#include "daemon/verbs/checks.h"
#include "daemon/verbs/verbs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { LETTER_ARENA_MAX = 4 * 1024 * 1024 };

static const char *const grades[] = { [CHECK_OK] = "ok", [CHECK_WARN] = "warn", [CHECK_FAIL] = "fail" };

static void print_finding(Checks *checks, CheckGrade grade, const char *subject, const char *text) {
    if (checks->lines == NULL)
        print_line(stdout, "%-4s %s: %s", grades[grade], subject, text);
    else
        json_array_append_new(checks->lines, json_pack("{s:s, s:s, s:o}", "grade", grades[grade], "subject", subject, "text", json_text(text)));
}

/* A letter is read as the service would read it: in a locked child of a process of its own. */
static void check_reader(Checks *checks, MimeReader *reader, const Error *start) {
    static const char letter[] = "From: a@club.example\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n1. e4\r\n";
    Arena arena;
    MimeResult result = { 0 };
    Error error;
    error_clear(&error);
    if (reader == NULL) {
        checks_say(checks, CHECK_FAIL, "reader", "letters cannot be read: %s", start->text);
        return;
    }
    arena_init(&arena, LETTER_ARENA_MAX);
    if (mime_reader_read(reader, &arena, letter, sizeof letter - 1, &result, &error) < 0)
        checks_say(checks, CHECK_FAIL, "reader", "letters cannot be read: %s", error.text);
    else if (result.kind == MIME_UNREADABLE)
        checks_say(checks, CHECK_FAIL, "reader", "a letter of one line could not be read: %s; the kernel may refuse the reader's own locks (seccomp, setrlimit)", result.why);
    else
        checks_say(checks, CHECK_OK, "reader", "letters are read in a locked child");
    arena_free(&arena);
}

static void examine(Checks *checks, const char *file) {
    if (access(file, F_OK) != 0) {
        checks_say(checks, CHECK_FAIL, "configuration", "%s: %s; `epistle check --init` writes a first one", file, strerror(errno));
        return;
    }
    if (!checks_configuration(checks, file))
        return;
    checks->open.world = world_real(INSTANT_NONE);
    checks_store(checks);
    checks_key(checks);
    checks_templates(checks);
    checks_secrets(checks);
    if (!checks->offline) {
        checks_mailbox(checks);
        checks_outgoing(checks);
    }
    checks_outages(checks);
    checks_permissions(checks);
    checks_disk(checks);
    checks_clock(checks);
    checks_libraries(checks);
    checks_setup(checks);
    checks_unit(checks, "");
}

static int print_report(Checks *checks) {
    if (checks->lines == NULL)
        return STATUS_DONE;
    return print_json(json_pack("{s:i, s:i, s:i, s:o}", "ok", checks->counts[CHECK_OK], "warn", checks->counts[CHECK_WARN], "fail", checks->counts[CHECK_FAIL],
                                "lines", checks->lines));
}

int verb_doctor(const VerbCall *call) {
    Checks checks = { .found = print_finding };
    bool as_json = false;
    const VerbOption options[] = { { "offline", NULL, &checks.offline }, { "json", NULL, &as_json }, { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "doctor [--offline] [--json]",
                        "All that `check` looks at, and permissions, free space, clock, library versions, how answers find their way back, who is told of trouble, and the\n"
                        "unit: a line each, which begins with ok, warn or fail and says what to do. Run it as the service's user.\n"
                        "  --offline   leaves mailbox and way out alone\n",
                        options, NULL, 0, 0, &count, &status))
        return status;
    checks.lines = as_json ? json_array() : NULL;
    Error error;
    error_clear(&error);
    MimeReader *reader = mime_reader_start(&error); /* before any secret is read (RULINGS 43) */
    examine(&checks, call->config == NULL ? CONFIG_DEFAULT : call->config);
    check_reader(&checks, reader, &error);
    mime_reader_stop(reader);
    print_report(&checks);
    open_close(&checks.open);
    return checks.counts[CHECK_FAIL] > 0 ? STATUS_WRONG : STATUS_DONE;
}
