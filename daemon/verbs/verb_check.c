#include "daemon/log.h"
#include "daemon/maildir.h"
#include "daemon/verbs/open.h"
#include "daemon/verbs/verbs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONFIG_ERRORS_MAX = 64 * 1024, LIST_ARENA_MAX = 256 * 1024 * 1024 };

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

/* Whoever reads the key can read all letters and write as any player. */
static void check_key(Check *check) {
    struct stat status;
    const char *path = check->open.config->key_file;
    char why[PATH_MAX + 100];
    if (path == NULL || stat(path, &status) != 0 || (status.st_mode & (S_IRWXG | S_IRWXO)) == 0)
        return;
    snprintf(why, sizeof why, "its mode is %04o, others than its owner may use it: chmod 600 %s", (unsigned)status.st_mode & 07777, path);
    found_wrong(check, "key file", why);
}

static void check_store(Check *check) {
    Error error;
    Open *open = &check->open;
    error_clear(&error);
    if (open->config->store == NULL || open->config->key_file == NULL)
        return;
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
    check_key(check);
}

static void check_templates(Check *check) {
    Error error;
    error_clear(&error);
    if (open_templates(&check->open, &error) < 0)
        found_wrong(check, check->open.templates == NULL ? "templates" : "", error.text);
}

static void check_folder(Check *check, const char *path, const char *name) {
    char folder[PATH_MAX];
    if (snprintf(folder, sizeof folder, "%s%s%s", path, name[0] == 0 ? "" : "/", name) >= (int)sizeof folder)
        found_wrong(check, path, strerror(ENAMETOOLONG));
    else if (access(folder, R_OK | W_OK | X_OK) != 0)
        found_wrong(check, folder, errno == ENOENT ? "there is no such folder: `epistle check --init` makes the Maildir" : strerror(errno));
}

/* Opening looks at the names of folders; with --init the mailbox is listed once, which makes the folders in it. */
static void check_opening(Check *check) {
    Error error;
    Arena arena;
    SourceList list;
    error_clear(&error);
    arena_init(&arena, LIST_ARENA_MAX);
    int done = open_mail(&check->open, &error);
    if (done == 0 && check->init)
        done = check->open.world.source->operations->list(check->open.world.source, &arena, &list, &error);
    if (done < 0)
        found_wrong(check, "mailbox", error.text);
    arena_free(&arena);
}

/* Looks without making anything. */
static void check_maildir(Check *check, const char *path) {
    static const char *const parts[] = { "new", "cur", "tmp" };
    char base[PATH_MAX];
    if (sender_maildir_base(path, base)) { /* each recipient's is made with his first letter */
        check_folder(check, base, "");
        return;
    }
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        check_folder(check, path, parts[i]);
}

static void check_mail(Check *check) {
    const Config *config = check->open.config;
    const char *from = maildir_path(config->mailbox_url), *to = maildir_path(config->outgoing_url);
    Error error;
    error_clear(&error);
    if (check->init && from != NULL && maildir_make(from, &error) < 0)
        found_wrong(check, "mailbox", error.text);
    if (check->init && to != NULL && sender_maildir_make(to, &error) < 0)
        found_wrong(check, "outgoing", error.text);
    if (from != NULL && to != NULL)
        check_opening(check);
    if (from != NULL)
        check_maildir(check, from);
    if (to != NULL)
        check_maildir(check, to);
}

/* The store, the templates and the mailboxes are looked at although the configuration has errors; nothing is made then. */
static int check_all(Check *check) {
    Str errors;
    bool good = false;
    const char *file = check->call->config == NULL ? CONFIG_DEFAULT : check->call->config;
    if (!open_config_there(file))
        return STATUS_WRONG;
    str_init(&errors, CONFIG_ERRORS_MAX);
    check->open.config = config_read_partly(file, &errors, &good);
    print_text(stderr, errors.data);
    str_free(&errors);
    if (check->open.config == NULL)
        return STATUS_WRONG;
    check->errors = !good;
    check->init = check->init && good;
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
