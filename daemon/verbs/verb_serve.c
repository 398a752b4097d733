/* serve: the service itself, until a signal ends it. */
#include "daemon/log.h"
#include "daemon/serve.h"
#include "daemon/service/outage.h"
#include "daemon/verbs/open.h"
#include "daemon/verbs/verbs.h"
#include "daemon/version.h"

#include <string.h>

enum { CONFIG_ERRORS_MAX = 16 * 1024 };

typedef struct Serving {
    Open *open;
    const char *file; /* the configuration */
} Serving;

static void say_errors(const char *errors) {
    while (*errors != 0) {
        size_t length = strcspn(errors, "\n");
        print_line(stderr, "epistle: %.*s", (int)length, errors);
        errors += length + (errors[length] == '\n');
    }
}

/* What can only be taken in by a new process: the store is open and locked, its key is read. */
static bool needs_restart(const Config *old, const Config *new) {
    const char *key = strcmp(old->store, new->store) != 0 ? "store" : strcmp(old->key_file, new->key_file) != 0 ? "key_file" : NULL;
    if (key != NULL)
        print_line(stderr, "epistle: %s: %s has another value than at the start: end the service and start it again to change it", new->file, key);
    return key != NULL;
}

/* Configuration, templates, source and sender as the file has them now. False: said why; open_close() is due all the same. */
static bool open_fresh(const Serving *serving, Open *fresh) {
    Str errors;
    Error error;
    error_clear(&error);
    str_init(&errors, CONFIG_ERRORS_MAX);
    fresh->world = *serving->open->service.world;
    fresh->world.source = NULL;
    fresh->world.sender = NULL;
    fresh->service.alive = serving->open->service.alive;
    fresh->config = config_read(serving->file, &errors);
    say_errors(errors.data);
    str_free(&errors);
    if (fresh->config == NULL || needs_restart(serving->open->config, fresh->config))
        return false;
    if (open_templates(fresh, &error) == 0 && open_mail(fresh, &error) == 0)
        return true;
    print_line(stderr, "epistle: %s: %s", serving->file, error.text);
    return false;
}

static void swap(Open *open, Open *fresh) {
    Config *config = open->config;
    Templates *templates = open->templates;
    World world = open->world;
    open->config = fresh->config;
    open->templates = fresh->templates;
    open->world.source = fresh->world.source;
    open->world.sender = fresh->world.sender;
    fresh->config = config;
    fresh->templates = templates;
    fresh->world = world;
    open->service.config = open->config;
    open->service.templates = open->templates;
}

static void say_what(const Config *config, const char *doing) {
    print_line(stderr, "epistle: version " EPISTLE_VERSION " %s %s with %s: mailbox %s, outgoing %s", doing, config->address, config->file, config->mailbox_url,
               config->outgoing_url);
}

static void reload(void *data) {
    Serving *serving = data;
    Open fresh = { 0 };
    if (open_fresh(serving, &fresh)) {
        swap(serving->open, &fresh);
        say_what(serving->open->config, "goes on serving");
    } else {
        print_line(stderr, "epistle: the configuration stays what it was: mend %s, then send SIGHUP again", serving->file);
    }
    open_close(&fresh); /* the old ones, or the bad ones */
}

static int serve(Open *open, const VerbCall *call, int signals) {
    Serving serving = { .open = open, .file = call->config == NULL ? CONFIG_DEFAULT : call->config };
    Error error;
    error_clear(&error);
    open->service.alive = serve_alive;
    open->service.stopping = serve_stopping;
    open->service.log = log_line;
    if (serve_clock_good(open->store, world_now(&open->world), &error) < 0 || outage_load(&open->service, &error) < 0 || open_mail(open, &error) < 0)
        return verb_fail(&error);
    say_what(open->config, "serves");
    int result = serve_run(&open->service, signals, reload, &serving, &error);
    outage_unload(&open->service);
    if (result < 0)
        return verb_fail(&error);
    log_line("ended as it was asked to");
    return STATUS_DONE;
}

int verb_serve(const VerbCall *call) {
    const VerbOption options[] = { { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "serve",
                        "The service, in the foreground: reads the mailbox whenever letters come, settles them, sends the answers, until it is ended.\n"
                        "SIGTERM or SIGINT ends it once the letter in hand is done, a second one at once; SIGHUP reads the configuration anew.\n",
                        options, NULL, 0, 0, &count, &status))
        return status;
    Open open = { 0 };
    Error error;
    error_clear(&error);
    int signals = serve_signals(&error);
    if (signals < 0)
        return verb_fail(&error);
    status = open_service(&open, call, STORE_SERVICE, INSTANT_NONE);
    if (status == STATUS_DONE)
        status = serve(&open, call, signals);
    open_close(&open);
    return status;
}
