#include "daemon/verbs/checks.h"

#include "daemon/log.h"
#include "daemon/maildir.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONFIG_ERRORS_MAX = 64 * 1024, TEXT_MAX = 2 * PATH_MAX };

void checks_say(Checks *checks, CheckGrade grade, const char *subject, const char *format, ...) {
    char text[TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    checks->counts[grade]++;
    checks->found(checks, grade, subject, text);
}

bool checks_configuration(Checks *checks, const char *file) {
    Str errors;
    bool good = false;
    str_init(&errors, CONFIG_ERRORS_MAX);
    checks->open.config = config_read_partly(file, &errors, &good);
    for (const char *at = errors.data; *at != 0; at += strcspn(at, "\n"), at += *at == '\n')
        checks_say(checks, CHECK_FAIL, "configuration", "%.*s", (int)strcspn(at, "\n"), at);
    str_free(&errors);
    if (good)
        checks_say(checks, CHECK_OK, "configuration", "%s", file);
    checks->unmade = checks->init && !good;
    checks->init = checks->init && good;
    return checks->open.config != NULL;
}

/* ---- the store ---- */

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

/* What root makes in a folder of the service's user, the service could not open. */
static bool wrong_user(Checks *checks, const char *path) {
    char folder[PATH_MAX];
    struct stat info;
    if (geteuid() != 0 || access(path, F_OK) == 0 || !text_copy(folder, sizeof folder, path))
        return false;
    char *slash = strrchr(folder, '/');
    while (slash != NULL && slash != folder) {
        *slash = 0;
        if (stat(folder, &info) == 0)
            break;
        slash = strrchr(folder, '/');
    }
    if (slash == NULL || slash == folder || info.st_uid == 0)
        return false;
    const struct passwd *owner = getpwuid(info.st_uid);
    checks_say(checks, CHECK_FAIL, "store", "%s belongs to another user, and what root makes there that one could not open: run `runuser -u %s -- epistle check --init`",
               folder, owner == NULL ? "USER" : owner->pw_name);
    return true;
}

void checks_store(Checks *checks) {
    Open *open = &checks->open;
    const Config *config = open->config;
    Error error;
    error_clear(&error);
    if (config->store == NULL || config->key_file == NULL)
        return;
    if (checks->unmade && access(config->store, F_OK) != 0 && errno == ENOENT)
        return; /* what hinders its making was said */
    if (checks->init && wrong_user(checks, config->store)) {
        checks->by_root = true; /* Maildirs that root made would be as useless */
        return;
    }
    if (checks->init) {
        int code = make_folders(config->store);
        if (code == 0)
            code = make_folders(config->key_file);
        if (code != 0)
            checks_say(checks, CHECK_FAIL, config->store, "%s", strerror(code));
    }
    open->store = store_open(config->store, config->key_file, STORE_VERB, checks->init, open->world.random, open->world.data, NULL, &error);
    if (open->store == NULL)
        checks_say(checks, CHECK_FAIL, "store", "%s", error.text);
    else
        checks_say(checks, CHECK_OK, "store", "%s", config->store);
}

/* Whoever reads the key can read all letters and write as any player. */
void checks_key(Checks *checks) {
    struct stat info;
    const char *path = checks->open.config->key_file;
    if (path == NULL || stat(path, &info) != 0)
        return;
    if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        checks_say(checks, CHECK_FAIL, "key file", "its mode is %04o, others than its owner may use it: chmod 600 %s", (unsigned)info.st_mode & 07777, path);
    else
        checks_say(checks, CHECK_OK, "key file", "%s; keep a copy of it apart from the copies of the store", path);
}

void checks_templates(Checks *checks) {
    Error error;
    error_clear(&error);
    if (open_templates(&checks->open, &error) < 0)
        checks_say(checks, CHECK_FAIL, "templates", "%s", error.text);
    else
        checks_say(checks, CHECK_OK, "templates", "%s", checks->open.config->templates);
}

/* ---- mail ---- */

static void check_secret(Checks *checks, const char *subject, const char *file) {
    Str secret;
    Error error;
    if (file == NULL)
        return;
    error_clear(&error);
    str_init(&secret, SECRET_MAX);
    const Secret from = { .file = file };
    if (secret_read(&from, NULL, &secret, &error) < 0)
        checks_say(checks, CHECK_FAIL, subject, "%s", error.text);
    else
        checks_say(checks, CHECK_OK, subject, "the password's file can be read");
    secret_free(&secret);
}

/* Servers are asked with it below; without them the files at least can be read. */
void checks_secrets(Checks *checks) {
    const Config *config = checks->open.config;
    if (config->mailbox_good && checks->offline)
        check_secret(checks, "mailbox", config->mailbox_password_file);
    if (config->outgoing_good && checks->offline)
        check_secret(checks, "outgoing", config->outgoing_password_file);
}

static bool check_folder(Checks *checks, const char *subject, const char *path, const char *name) {
    char folder[PATH_MAX];
    bool missing = false;
    if (snprintf(folder, sizeof folder, "%s%s%s", path, name[0] == 0 ? "" : "/", name) >= (int)sizeof folder)
        errno = ENAMETOOLONG;
    else if (access(folder, R_OK | W_OK | X_OK) == 0)
        return true;
    else
        missing = errno == ENOENT;
    checks_say(checks, CHECK_FAIL, subject, "%s: %s", folder, missing ? "there is no such folder: `epistle check --init` makes the Maildir" : strerror(errno));
    return false;
}

/* Looks without making anything. */
static bool check_maildir(Checks *checks, const char *subject, const char *path) {
    static const char *const parts[] = { "new", "cur", "tmp" };
    bool good = true;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        good = check_folder(checks, subject, path, parts[i]) && good;
    return good;
}

void checks_mailbox(Checks *checks) {
    Open *open = &checks->open;
    const Config *config = open->config;
    const char *path = config->mailbox_kind == MAILBOX_MAILDIR ? maildir_path(config->mailbox_url) : NULL;
    Error error;
    error_clear(&error);
    if (path == NULL && !config->mailbox_good) /* what is wrong there was said, and must not be tried on a server */
        return;
    if (path != NULL && checks->by_root)
        return;
    bool good = !checks->init || path == NULL || maildir_make(path, &error) == 0;
    good = good && open_source(open, &error) == 0;
    if (good && (checks->init || path == NULL))
        good = open->world.source->operations->probe(open->world.source, checks->init, &error) == 0;
    if (!good)
        checks_say(checks, CHECK_FAIL, "mailbox", "%s", error.text);
    if (path != NULL)
        good = check_maildir(checks, "mailbox", path) && good;
    if (good)
        checks_say(checks, CHECK_OK, "mailbox", path == NULL ? "logged in at %s" : "%s", path == NULL ? config->mailbox_url : path);
}

void checks_outgoing(Checks *checks) {
    Open *open = &checks->open;
    const Config *config = open->config;
    const char *path = config->outgoing_kind == OUTGOING_MAILDIR ? maildir_path(config->outgoing_url) : NULL;
    char base[PATH_MAX];
    Error error;
    error_clear(&error);
    if ((path == NULL && !config->outgoing_good) || (path != NULL && checks->by_root))
        return;
    bool good = !checks->init || path == NULL || sender_maildir_make(path, &error) == 0;
    good = good && open_sender(open, &error) == 0;
    if (good && (checks->init || path == NULL))
        good = open->world.sender->operations->probe(open->world.sender, &error) == 0;
    if (!good)
        checks_say(checks, CHECK_FAIL, "outgoing", "%s", error.text);
    if (path != NULL && sender_maildir_base(path, base)) /* each recipient's is made with his first letter */
        good = check_folder(checks, "outgoing", base, "") && good;
    else if (path != NULL)
        good = check_maildir(checks, "outgoing", path) && good;
    if (good)
        checks_say(checks, CHECK_OK, "outgoing", config->outgoing_kind != OUTGOING_SMTP ? "%s" : config->outgoing_user == NULL ? "reached %s" : "logged in at %s",
                   path == NULL ? config->outgoing_url : path);
}
