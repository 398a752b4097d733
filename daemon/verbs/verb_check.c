#include "daemon/log.h"
#include "daemon/verbs/open.h"
#include "daemon/verbs/verbs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONFIG_ERRORS_MAX = 64 * 1024 };

typedef struct Check {
    const VerbCall *call;
    Open open;
    bool init, offline;
    int errors;
} Check;

static void found_wrong(Check *check, const char *what, const char *why) {
    print_line(stderr, "%s: %s%s%s", check->open.config->file, what, what[0] == 0 ? "" : ": ", why);
    check->errors++;
}

/* The folders above a file, for its owner alone. */
static int make_folders(const char *path) {
    char folder[PATH_MAX];
    if (!text_copy(folder, sizeof folder, path))
        return ENAMETOOLONG;
    for (char *slash = folder + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = 0;
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            return errno;
        *slash = '/';
    }
    return 0;
}

static void check_store(Check *check) {
    Error error;
    Open *open = &check->open;
    error_clear(&error);
    if (check->init) {
        int code = make_folders(open->config->store);
        if (code == 0)
            code = make_folders(open->config->key_file);
        if (code != 0)
            found_wrong(check, open->config->store, strerror(code));
    }
    open->store = store_open(open->config->store, open->config->key_file, STORE_VERB, check->init, open->world.random, open->world.data, NULL, &error);
    if (open->store == NULL)
        found_wrong(check, "store", error.text);
}

static void check_templates(Check *check) {
    Error error;
    Open *open = &check->open;
    error_clear(&error);
    open->templates = templates_open(open->config->templates, &error);
    if (open->templates == NULL)
        found_wrong(check, "templates", error.text);
    else if (!templates_have_language(open->templates, open->config->language))
        found_wrong(check, "language", "there are no templates in the service's language");
}

static void check_folder(Check *check, const char *path, const char *name) {
    char folder[PATH_MAX];
    if (snprintf(folder, sizeof folder, "%s/%s", path, name) >= (int)sizeof folder)
        found_wrong(check, path, strerror(ENAMETOOLONG));
    else if (access(folder, R_OK | W_OK | X_OK) != 0)
        found_wrong(check, folder, errno == ENOENT ? "there is no such folder: `epistle check --init` makes the Maildir" : strerror(errno));
}

/* Looks without making anything, unless --init: opening a Maildir makes it. */
static void check_maildir(Check *check, const char *path) {
    static const char *const parts[] = { "new", "cur", "tmp" };
    if (path == NULL || strstr(path, "%s") != NULL) /* one Maildir for each recipient: made when the first letter goes there */
        return;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        check_folder(check, path, parts[i]);
}

static void check_mail(Check *check) {
    Error error;
    Open *open = &check->open;
    error_clear(&error);
    if (check->init) {
        const char *paths[] = { maildir_path(open->config->mailbox_url), maildir_path(open->config->outgoing_url) };
        for (size_t i = 0; i < 2; i++) {
            int code = paths[i] == NULL ? 0 : make_folders(paths[i]);
            if (code != 0)
                found_wrong(check, paths[i], strerror(code));
        }
        if (open_mail(open, &error) < 0)
            found_wrong(check, "mailbox", error.text);
    }
    check_maildir(check, maildir_path(open->config->mailbox_url));
    check_maildir(check, maildir_path(open->config->outgoing_url));
}

static int check_all(Check *check) {
    Str errors;
    str_init(&errors, CONFIG_ERRORS_MAX);
    check->open.config = config_read(check->call->config == NULL ? CONFIG_DEFAULT : check->call->config, &errors);
    if (check->open.config == NULL)
        print_text(stderr, errors.data);
    str_free(&errors);
    if (check->open.config == NULL)
        return STATUS_WRONG;
    check->open.world = world_real(INSTANT_NONE);
    check_store(check);
    check_templates(check);
    if (!check->offline)
        check_mail(check);
    if (check->errors > 0)
        return STATUS_WRONG;
    print_line(stdout, "%s: no errors", check->open.config->file);
    return STATUS_DONE;
}

int verb_check(const VerbCall *call) {
    Check check = { .call = call };
    const VerbOption options[] = { { "offline", NULL, &check.offline }, { "init", NULL, &check.init }, { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "check [--offline] [--init]",
                        "Reads the configuration, opens the store and the templates, looks at the mailboxes; every error is told at once.\n"
                        "  --offline   leaves the mailboxes alone\n"
                        "  --init      makes what is missing: the store with its key, the Maildirs\n",
                        options, NULL, 0, 0, &count, &status))
        return status;
    status = check_all(&check);
    open_close(&check.open);
    return status;
}
