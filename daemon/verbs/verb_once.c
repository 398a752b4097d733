#include "daemon/log.h"
#include "daemon/serve.h"
#include "daemon/service/outage.h"
#include "daemon/verbs/open.h"
#include "daemon/verbs/verbs.h"

#include <stdio.h>

static void say_report(const CycleReport *report) {
    print_line(stdout, "letters in: %d fetched, %d settled, %d set aside, %d filed", report->fetched, report->settled, report->set_aside,
               report->filed);
    print_line(stdout, "timers: %d", report->timers);
    print_line(stdout, "letters out: %d sent, %d refused, %d put off, %d with unknown end", report->sent, report->refused, report->deferred,
               report->unknown);
}

int verb_once(const VerbCall *call) {
    const char *now_text = NULL;
    bool verbose = false;
    const VerbOption options[] = { { "now", &now_text, NULL }, { "verbose", NULL, &verbose }, { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "once [--now TIME] [-v]",
                        "One cycle: reads the mailbox to its end, settles every letter, runs due timers, sends the queue.\n"
                        "  --now TIME   replaces the clock (RFC 3339), for tests and replays\n"
                        "  -v           says what was done\n",
                        options, NULL, 0, 0, &count, &status))
        return status;
    Instant now = INSTANT_NONE;
    if (!verb_time("now", now_text, &now))
        return STATUS_USAGE;
    Open open = { 0 };
    Error error;
    error_clear(&error);
    status = open_service(&open, call, STORE_SERVICE, now);
    if (status == STATUS_DONE && now == INSTANT_NONE && serve_clock_good(NULL, world_now(&open.world), &error) < 0)
        status = verb_fail(&error);
    if (status == STATUS_DONE && (open_mail(&open, &error) < 0 || outage_load(&open.service, &error) < 0))
        status = verb_fail(&error);
    if (status == STATUS_DONE) {
        CycleReport report = { 0 };
        open.service.log = verbose ? log_line : NULL;
        if (service_cycle(&open.service, &report, &error) < 0)
            status = verb_fail(&error);
        else if (open_outgoing_ready(&open, &error) < 0)
            status = verb_fail(&error);
        if (verbose)
            say_report(&report);
    }
    outage_unload(&open.service);
    open_close(&open);
    return status;
}
