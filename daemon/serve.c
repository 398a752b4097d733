#include "daemon/serve.h"

#include "daemon/notify.h"
#include "daemon/service/outage.h"
#include "daemon/store/listing.h"
#include "daemon/zone.h"
#include "daemon/machine_clock.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
    TICK_MS = 1000,           /* the longest wait; a turn in which nothing is due costs one look at the store's file */
    REST_FIRST = 30,          /* after what failed for no reason that is an outage (the store was busy): to an hour, as there */
    NOTE_SECONDS = 300,       /* that the mailbox was read is noted at least so often; each time would wear out a Pi's card */
    GAMES_COUNTED_SECONDS = 60,
    IDLE_SHORT_SECONDS = 60,  /* waiting that ends sooner, for nothing, does not happen again at once */
    VAIN_MAX = 16,
    STATUS_MAX = 500,
};

static const Instant year_2026 = 1767225600;

typedef struct Rest { /* something failed, and is left alone for a while */
    Instant next;     /* INSTANT_NONE: all is well */
    int times;
    char why[ERROR_TEXT_MAX];
} Rest;

typedef struct Serve {
    Service *service;
    void (*reload)(void *data);
    void *data;
    int signals; /* descriptor */
    bool ending, reloading;
    bool sending_; /* where the sender must be left alone: inside it, which may call serve_alive() itself, and while it is exchanged */
    bool unnoted;  /* a batch is done, and the store could not note it: its results wait */
    Instant looked; /* for letters that are due, while the mailbox is read */
    Error damage;  /* found meanwhile */

    Instant tried, read; /* the mailbox: last try, last time it was read to its end; INSTANT_NONE: never */
    int idle;            /* what tells of letters, -1: nothing does */
    bool whole;          /* the last reading went to the end of every folder: timers may run */
    bool told;           /* it has */
    Instant idled;       /* since when it is waited for */
    bool soon;           /* it told within IDLE_SHORT_SECONDS */
    int vain;            /* how often in a row it told soon, and of no letter */
    Instant noted;       /* the newest `read` in the store */
    Rest mailbox_rest, queue_rest;

    Ahead ahead;
    int64_t changes;     /* PRAGMA data_version */
    CycleReport out;     /* of the batch under way */

    int64_t watchdog;    /* milliseconds, 0: nobody watches */
    int64_t fed;         /* then, by machine_milliseconds() */
    int64_t games;
    Instant games_counted;
    char status[STATUS_MAX];
} Serve;

static Serve *running; /* for the two functions that carry no data */

static Instant now_of(const Serve *serve) {
    return world_now(serve->service->world);
}

/* Whether so many seconds are over since then. The clock may have been set back: then they are, too. */
static bool is_over(Instant since, int64_t seconds, Instant now) {
    return since == INSTANT_NONE || now < since || now - since >= seconds;
}

static void say(const Serve *serve, const char *line) {
    if (serve->service->log != NULL)
        serve->service->log(line);
}

/* ---- signals and signs of life ---- */

static _Noreturn void end_at_once(int number) {
    sigset_t set;
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    _exit(128 + number);
}

static void take_signals(Serve *serve) {
    struct signalfd_siginfo signal;
    while (read(serve->signals, &signal, sizeof signal) == (ssize_t)sizeof signal) {
        int number = (int)signal.ssi_signo;
        if (number == SIGHUP)
            serve->reloading = true;
        else if (serve->ending)
            end_at_once(number);
        else
            serve->ending = true;
    }
}

static void feed_watchdog(Serve *serve) {
    int64_t now = machine_milliseconds();
    if (serve->watchdog == 0 || (serve->fed != 0 && now - serve->fed < serve->watchdog / 4))
        return;
    notify_alive();
    serve->fed = now;
}

static void send_meanwhile(Serve *serve);

void serve_alive(void) {
    Serve *serve = running;
    if (serve == NULL)
        return;
    take_signals(serve);
    feed_watchdog(serve);
    send_meanwhile(serve);
}

bool serve_stopping(void) {
    if (running == NULL)
        return false;
    take_signals(running);
    return running->ending;
}

/* ---- failures that are no outage ---- */

static void rest_end(Rest *rest) {
    *rest = (Rest){ .next = INSTANT_NONE };
}

static void rest_more(Serve *serve, Rest *rest, const char *why) {
    int64_t seconds = (int64_t)REST_FIRST << (rest->times < 7 ? rest->times : 7);
    if (strcmp(rest->why, why) != 0)
        say(serve, why);
    text_copy(rest->why, sizeof rest->why, why);
    rest->times++;
    rest->next = now_of(serve) + (seconds < OUTAGE_RETRY_MAX ? seconds : OUTAGE_RETRY_MAX);
}

static bool is_resting(const Rest *rest, Instant now) {
    return rest->next != INSTANT_NONE && now < rest->next && rest->next - now <= OUTAGE_RETRY_MAX;
}

/* 0: it is tried again later. -1 and *error: nothing that waiting mends. Outages of mailbox and relay were noted where they were found. */
static int fail(Serve *serve, Rest *rest, const Error *fault, Error *error) {
    if (fault->grade == ERROR_DAMAGED)
        return error_set(error, fault->grade, fault->code, "%s", fault->text);
    if (outage_of_disk(fault))
        outage_failed(serve->service, OUTAGE_DISK, fault->text);
    rest_more(serve, rest, fault->text);
    return 0;
}

static bool outage_waits(const Serve *serve, OutageSubject subject, Instant now) {
    Instant next = outage_next_try(serve->service, subject);
    return next != INSTANT_NONE && now < next;
}

/* ---- the mailbox ---- */

/* A Maildir that tells of letters is read as often all the same: of what other machines put on a volume of the network it hears nothing. */
static int64_t seconds_between(const Serve *serve) {
    const Config *config = serve->service->config;
    return serve->idle >= 0 && config->mailbox_kind != MAILBOX_MAILDIR ? SOURCE_WAIT_SECONDS : config->mailbox_poll;
}

/* A server that closes each line on which it is waited for, or says EXISTS each time, is not asked more often than one that cannot tell. */
static bool told_counts(const Serve *serve, Instant now) {
    int poll = serve->service->config->mailbox_poll, seconds = serve->vain == 0 ? 0 : 1 << serve->vain;
    return serve->told && is_over(serve->tried, seconds < poll ? seconds : poll, now);
}

/* What the waiting was worth, once the mailbox was read. */
static void judge_idling(Serve *serve, bool was_told, const CycleReport *report) {
    if (serve->service->config->mailbox_kind == MAILBOX_MAILDIR) /* our own filing may tell, and no line is opened */
        return;
    if (!was_told || !serve->soon || report->fetched > 0)
        serve->vain = 0;
    else if (serve->vain < VAIN_MAX)
        serve->vain++;
}

static bool mailbox_due(const Serve *serve, Instant now) {
    const Service *service = serve->service;
    if (serve->tried == INSTANT_NONE) /* the first time, and after a reload: whatever was waited for */
        return true;
    if (outage_waits(serve, OUTAGE_MAILBOX, now) || outage_waits(serve, OUTAGE_DISK, now) || is_resting(&serve->mailbox_rest, now))
        return false;
    if (outage_lasts(service, OUTAGE_MAILBOX, NULL) || outage_lasts(service, OUTAGE_DISK, NULL) || serve->mailbox_rest.next != INSTANT_NONE)
        return true;
    bool timer = serve->whole && serve->ahead.timer != INSTANT_NONE && serve->ahead.timer <= now;
    return told_counts(serve, now) || timer || is_over(serve->tried, seconds_between(serve), now);
}

static void say_taken_in(const Serve *serve, const CycleReport *report) {
    char line[200];
    if (report->settled == 0 && report->set_aside == 0 && report->timers == 0)
        return;
    snprintf(line, sizeof line, "letters in: %d settled, %d of them set aside; timers: %d", report->settled, report->set_aside, report->timers);
    say(serve, line);
}

static void stop_idling(Serve *serve) {
    MailSource *source = serve->service->world->source;
    if (serve->idle >= 0)
        source->operations->wait_end(source);
    serve->idle = -1;
}

static void note_told(Serve *serve) {
    serve->told = true;
    serve->soon = !is_over(serve->idled, IDLE_SHORT_SECONDS, now_of(serve));
}

static void begin_idling(Serve *serve) {
    MailSource *source = serve->service->world->source;
    Error ignored;
    error_clear(&ignored);
    serve->idled = now_of(serve);
    if (source->operations->wait_begin(source, &serve->idle, &ignored) < 0)
        serve->idle = -1; /* the next reading finds out what is wrong */
    else if (serve->idle >= 0 && source->operations->wait_heard(source)) /* what came since the mailbox was read */
        note_told(serve);
}

/* Whether it was read to its end is what this reading says, not one before whose time is not noted yet. */
static int take_letters(Serve *serve, CycleReport *report, Error *error) {
    Service *service = serve->service;
    Instant before = service->read_at_;
    service->read_at_ = 0;
    int result = intake_run(service, report, error);
    serve->whole = service->read_at_ != 0;
    if (!serve->whole)
        service->read_at_ = before;
    return result;
}

static int take_in(Serve *serve, CycleReport *report, Error *error) {
    Service *service = serve->service;
    serve->whole = false;
    if (outage_room(service, error) < 0 || take_letters(serve, report, error) < 0)
        return -1;
    if (serve->ending)
        return 0;
    outage_folders(service);
    if (serve->whole) { /* else deadlines wait for the folder (RULINGS 30) */
        serve->read = now_of(serve);
        if (timers_run(service, report, error) < 0)
            return -1;
    }
    bool unnoted = serve->whole && is_over(serve->noted, NOTE_SECONDS, serve->read);
    if (service->unnoted_count_ == 0 && !outage_lasts(service, OUTAGE_DISK, NULL) && !unnoted)
        return 0;
    if (service_note(service, error) < 0)
        return -1;
    if (serve->whole)
        serve->noted = serve->read;
    return 0;
}

static int read_mailbox(Serve *serve, Error *error) {
    Service *service = serve->service;
    CycleReport report = { 0 };
    Error fault;
    error_clear(&fault);
    bool was_told = serve->told;
    stop_idling(serve);
    serve->told = false;
    int result = take_in(serve, &report, &fault);
    serve->tried = now_of(serve);
    judge_idling(serve, was_told, &report);
    say_taken_in(serve, &report);
    if (result == 0) {
        outage_over(service, OUTAGE_DISK);
        rest_end(&serve->mailbox_rest);
        if (!serve->ending)
            begin_idling(serve);
        return 0;
    }
    if (outage_lasts(service, OUTAGE_MAILBOX, NULL) && (fault.grade == ERROR_MAILBOX || fault.grade == ERROR_INPUT))
        return 0;
    return fail(serve, &serve->mailbox_rest, &fault, error);
}

/* While the mailbox fails no reading can tell whether the disk takes letters again: then by a commit of its own. */
static void try_disk(Serve *serve) {
    Service *service = serve->service;
    Outage outage;
    Error ignored;
    error_clear(&ignored);
    if (!outage_lasts(service, OUTAGE_DISK, &outage) || outage_waits(serve, OUTAGE_DISK, now_of(serve)) || !outage_lasts(service, OUTAGE_MAILBOX, NULL) ||
        outage_room(service, &ignored) < 0)
        return;
    outage_over(service, OUTAGE_DISK);
    if (outage_lasts(service, OUTAGE_DISK, NULL)) /* it could not be noted */
        outage_failed(service, OUTAGE_DISK, outage.why);
}

/* ---- the queue ---- */

static bool queue_due(const Serve *serve, Instant now) {
    if (serve->service->batch_ != NULL || serve->ending || serve->reloading || is_resting(&serve->queue_rest, now))
        return false;
    return !outage_waits(serve, OUTAGE_RELAY, now) && serve->ahead.sending != INSTANT_NONE && serve->ahead.sending <= now;
}

static int begin_batch(Serve *serve, Error *error) {
    Error fault;
    error_clear(&fault);
    serve->out = (CycleReport){ 0 };
    if (queue_begin(serve->service, &serve->out, &fault) < 0)
        return fail(serve, &serve->queue_rest, &fault, error);
    return 0;
}

/* No letter is due that would show it, but the relay is still thought to be out of reach. */
static bool probe_due(const Serve *serve, Instant now) {
    const Service *service = serve->service;
    if (service->batch_ != NULL || serve->ending || serve->reloading || !outage_lasts(service, OUTAGE_RELAY, NULL) ||
        outage_waits(serve, OUTAGE_RELAY, now))
        return false;
    return serve->ahead.sending == INSTANT_NONE || serve->ahead.sending > now;
}

static void probe_relay(Serve *serve) {
    MailSender *sender = serve->service->world->sender;
    Error fault;
    error_clear(&fault);
    serve->sending_ = true;
    int result = sender->operations->probe(sender, &fault);
    serve->sending_ = false;
    if (result == 0)
        outage_over(serve->service, OUTAGE_RELAY);
    else
        outage_failed(serve->service, OUTAGE_RELAY, fault.text);
}

static void say_sent(const Serve *serve) {
    char line[200];
    const CycleReport *report = &serve->out;
    if (report->sent == 0 && report->refused == 0 && report->unknown == 0 && (report->deferred == 0 || outage_lasts(serve->service, OUTAGE_RELAY, NULL)))
        return;
    snprintf(line, sizeof line, "letters out: %d sent, %d refused, %d put off, %d with unknown end", report->sent, report->refused, report->deferred,
             report->unknown);
    say(serve, line);
}

static int look_ahead(Serve *serve, Error *error) {
    Service *service = serve->service;
    Error fault;
    error_clear(&fault);
    Instant now = now_of(serve);
    int result = listing_ahead(service->store, now, &serve->ahead, &fault);
    if (result == 0 && is_over(serve->games_counted, GAMES_COUNTED_SECONDS, now)) {
        result = listing_running(service->store, &serve->games, &fault);
        serve->games_counted = now;
    }
    return result < 0 ? fail(serve, &serve->queue_rest, &fault, error) : 0;
}

/* After a step of the queue. */
static int note_step(Serve *serve, bool under_way, int left, const Error *fault, bool *ret_sent, Error *error) {
    Service *service = serve->service;
    serve->unnoted = left < 0 && service->batch_ != NULL;
    *ret_sent = under_way && service->batch_ == NULL;
    if (*ret_sent)
        say_sent(serve);
    if (left < 0 && !(fault->grade == ERROR_MAILBOX && outage_lasts(service, OUTAGE_RELAY, NULL)))
        return fail(serve, &serve->queue_rest, fault, error);
    if (*ret_sent && left >= 0)
        rest_end(&serve->queue_rest);
    return 0;
}

/* Results that wait for a store that can note them are tried as seldom as all else there. */
static bool results_rest(const Serve *serve) {
    return serve->unnoted && !serve->ending && is_resting(&serve->queue_rest, now_of(serve));
}

/* A reading may take long: letters go out all the same, those too that it is the cause of. Whoever waits for a server, or is between two letters, is in
 * no transaction. */
static void send_meanwhile(Serve *serve) {
    Service *service = serve->service;
    Error fault;
    error_clear(&fault);
    if (serve->sending_ || store_in_transaction(service->store) || serve->damage.grade != ERROR_NONE || results_rest(serve))
        return;
    int result = 0;
    bool sent = false;
    serve->sending_ = true;
    if (service->batch_ != NULL) {
        int left = queue_step(service, NULL, 0, 0, &serve->out, &fault);
        result = note_step(serve, true, left, &fault, &sent, &serve->damage);
    } else if (is_over(serve->looked, 1, now_of(serve))) {
        serve->looked = now_of(serve);
        result = look_ahead(serve, &serve->damage);
        if (result == 0 && queue_due(serve, serve->looked))
            result = begin_batch(serve, &serve->damage);
    }
    serve->sending_ = false;
    if (result < 0)
        say(serve, serve->damage.text);
}

/* Waits for whatever may happen, while letters are sent. */
static int wait_turn(Serve *serve, bool *ret_sent, Error *error) {
    Service *service = serve->service;
    MailSource *source = service->world->source;
    struct pollfd extra[2] = { { .fd = serve->signals, .events = POLLIN }, { .fd = serve->idle, .events = POLLIN } };
    size_t count = serve->idle >= 0 && !serve->told ? 2 : 1; /* what has told goes on telling, and may have to wait */
    bool under_way = service->batch_ != NULL;
    int milliseconds = serve->watchdog > 0 && serve->watchdog < 4 * TICK_MS ? (int)(serve->watchdog / 4) : TICK_MS;
    Error fault;
    error_clear(&fault);
    serve->sending_ = true;
    bool rests = results_rest(serve);
    int left = rests ? (int)service->world->sender->operations->work(service->world->sender, extra, count, milliseconds)
                     : queue_step(service, extra, count, milliseconds, &serve->out, &fault);
    serve->sending_ = false;
    feed_watchdog(serve);
    take_signals(serve);
    if (count > 1 && extra[1].revents != 0 && (source->operations->wait_heard(source) || (extra[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0))
        note_told(serve);
    *ret_sent = false;
    return rests ? 0 : note_step(serve, under_way, left, &fault, ret_sent, error);
}

/* ---- what lies ahead, and the status ---- */

/* Another program's commit: 1; 0, -1. */
static int store_changed(Serve *serve, Error *error) {
    int64_t changes = 0;
    Error fault;
    error_clear(&fault);
    if (store_query_int(serve->service->store, &fault, &changes, "PRAGMA data_version", "") < 0)
        return fail(serve, &serve->queue_rest, &fault, error);
    bool changed = changes != serve->changes;
    serve->changes = changes;
    return changed;
}

static void add_time(const Serve *serve, Str *text, Instant instant) {
    int offset = 0;
    zone_offset(serve->service->config->timezone, instant, &offset);
    CivilTime civil = instant_civil(instant + offset), today = instant_civil(now_of(serve) + offset);
    if (civil.day != today.day || civil.month != today.month || civil.year != today.year)
        str_printf(text, " %04d-%02d-%02d", civil.year, civil.month, civil.day);
    str_printf(text, " %02d:%02d", civil.hour, civil.minute);
}

static void tell_status(Serve *serve) {
    static const char *const what[OUTAGE_SUBJECTS] = {
        [OUTAGE_MAILBOX] = "mailbox unreachable", [OUTAGE_RELAY] = "relay unreachable", [OUTAGE_DISK] = "no room on the disk",
        [OUTAGE_FOLDER] = "a folder cannot be used",
    };
    Str text;
    str_init(&text, STATUS_MAX - 1);
    str_printf(&text, "%lld games; mailbox", (long long)serve->games);
    if (serve->read == INSTANT_NONE) {
        str_append(&text, " not read yet");
    } else {
        str_append(&text, " read");
        add_time(serve, &text, serve->read);
    }
    str_printf(&text, "; %lld letters wait", (long long)serve->ahead.letters);
    for (int i = 0; i < OUTAGE_SUBJECTS; i++) {
        Outage outage;
        if (!outage_lasts(serve->service, (OutageSubject)i, &outage))
            continue;
        str_printf(&text, "; %s since", what[i]);
        add_time(serve, &text, outage.began);
    }
    if (strcmp(text.data, serve->status) != 0) {
        notify_status(text.data);
        text_copy(serve->status, sizeof serve->status, text.data);
    }
    str_free(&text);
}

/* ---- the loop ---- */

static void do_reload(Serve *serve) {
    serve->reloading = false;
    notify_reloading();
    serve->sending_ = true;
    stop_idling(serve);
    serve->reload(serve->data);
    serve->sending_ = false;
    outage_try_now(serve->service);
    serve->tried = INSTANT_NONE;
    serve->vain = 0;
    rest_end(&serve->mailbox_rest);
    rest_end(&serve->queue_rest);
    notify_ready();
}

static int turn(Serve *serve, Error *error) {
    bool changed = false, sent = false;
    if (serve->reloading && serve->service->batch_ == NULL) {
        do_reload(serve);
        changed = true;
    } else if (serve->reloading) {
        queue_stop(serve->service);
    }
    if (serve->damage.grade != ERROR_NONE)
        return error_set(error, serve->damage.grade, serve->damage.code, "%s", serve->damage.text);
    try_disk(serve);
    if (mailbox_due(serve, now_of(serve))) {
        if (read_mailbox(serve, error) < 0)
            return -1;
        changed = true;
    }
    int others = store_changed(serve, error);
    if (others == 1) /* a verb's doing: a new game, mostly */
        serve->games_counted = INSTANT_NONE;
    if (others < 0 || ((changed || others == 1) && look_ahead(serve, error) < 0))
        return -1;
    Instant now = now_of(serve);
    if (queue_due(serve, now)) {
        if (begin_batch(serve, error) < 0)
            return -1;
    } else if (probe_due(serve, now)) {
        probe_relay(serve);
    }
    tell_status(serve);
    if (serve->ending)
        return 0;
    if (wait_turn(serve, &sent, error) < 0)
        return -1;
    return sent ? look_ahead(serve, error) : 0;
}

/* What is on its way is finished, what is not begun waits for the next start. */
static void finish(Serve *serve) {
    Service *service = serve->service;
    MailSender *sender = service->world->sender;
    Error ignored;
    error_clear(&ignored);
    notify_stopping();
    stop_idling(serve);
    queue_stop(service);
    bool sent = false;
    for (int64_t until = machine_milliseconds() + (int64_t)SERVE_END_SECONDS * 1000; service->batch_ != NULL && machine_milliseconds() < until;)
        if (wait_turn(serve, &sent, &ignored) < 0)
            break;
    if (service->batch_ != NULL) {
        say(serve, "letters on their way did not end in time: they are tried again with the next start, as letters whose end is unknown");
        sender->operations->close(sender); /* first, as it works on the batch */
        service->world->sender = NULL;
        queue_drop(service);
    }
    if (service_note(service, &ignored) < 0)
        say(serve, ignored.text);
}

int serve_clock_good(Store *store, Instant now, Error *error) {
    char present[INSTANT_TEXT_SIZE], last[INSTANT_TEXT_SIZE];
    int64_t read = 0;
    int found = store == NULL ? 0 : store_value_get(store, "mailbox_read", &read, error);
    if (found < 0)
        return -1;
    instant_write(now, present);
    instant_write(read, last);
    if (now < year_2026)
        return error_set(error, ERROR_LATER, 0, "the clock says %s, which has gone by long ago: set it, then start again, for deadlines go by it", present);
    if (found == 1 && now < read - SECONDS_PER_DAY)
        return error_set(error, ERROR_LATER, 0,
                         "the clock says %s, and the mailbox was read at %s: set the clock, then start again; if it is right now and was not then, run "
                         "`epistle once --now %s` first",
                         present, last, present);
    return 0;
}

int serve_signals(Error *error) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    int descriptor = sigprocmask(SIG_BLOCK, &set, NULL) == 0 ? signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC) : -1;
    return descriptor >= 0 ? descriptor : error_set(error, ERROR_LATER, 0, "no descriptor for signals: the system has none left");
}

int serve_run(Service *service, int signals, void (*reload)(void *data), void *data, Error *error) {
    Serve serve = { .service = service, .signals = signals, .reload = reload, .data = data, .tried = INSTANT_NONE, .read = INSTANT_NONE, .idle = -1,
                    .idled = INSTANT_NONE, .looked = INSTANT_NONE, .noted = INSTANT_NONE, .games_counted = INSTANT_NONE, .watchdog = notify_watchdog() };
    rest_end(&serve.mailbox_rest);
    rest_end(&serve.queue_rest);
    running = &serve;
    outage_try_now(service);
    notify_ready();
    feed_watchdog(&serve);
    int result = 0;
    while (result == 0 && !serve.ending)
        result = turn(&serve, error);
    finish(&serve);
    running = NULL;
    close(serve.signals);
    return result;
}
