/* What doctor asks of the systemd unit, which it reads as text: the unit as it came, and drop-ins beside it. */
#include "daemon/verbs/checks.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { UNIT_MAX = 64 * 1024 };

static const char *const places[] = { "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system" };
enum { PLACES = sizeof places / sizeof places[0] };

/* Appends the file to text; a line feed before it, so that each line of it has one. */
static bool read_unit(const char *path, Str *text) {
    char buffer[4096];
    FILE *stream = fopen(path, "re");
    if (stream == NULL)
        return false;
    str_append_char(text, '\n');
    for (size_t size; (size = fread(buffer, 1, sizeof buffer, stream)) > 0;)
        str_append_bytes(text, buffer, size);
    fclose(stream);
    str_append_char(text, '\n');
    return !text->overflowed;
}

static void read_drop_ins(const char *folder, Str *text) {
    char path[PATH_MAX];
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (length > 5 && strcmp(entry->d_name + length - 5, ".conf") == 0 && snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) < (int)sizeof path)
            read_unit(path, text);
    }
    closedir(directory);
}

/* Whether `path` is `folder` or below it. */
static bool below(const char *path, const char *folder, size_t length) {
    while (length > 1 && folder[length - 1] == '/')
        length--;
    return length > 0 && strncmp(path, folder, length) == 0 && (path[length] == 0 || path[length] == '/');
}

/* Below the state folder, or named by some ReadWritePaths=. */
static bool may_write(const char *text, const char *path) {
    static const char state[] = "/var/lib/epistle", key[] = "\nReadWritePaths=";
    if (below(path, state, strlen(state)))
        return true;
    for (const char *at = text; (at = strstr(at, key)) != NULL;) {
        at += strlen(key);
        for (const char *end = at + strcspn(at, "\n"); at < end; at += strspn(at, " \t")) {
            at += strspn(at, "-+");
            size_t length = strcspn(at, " \t\n");
            if (below(path, at, length))
                return true;
            at += length;
        }
    }
    return false;
}

static bool check_path(Checks *checks, const char *text, const char *what, const char *path) {
    if (path == NULL || may_write(text, path))
        return true;
    checks_say(checks, CHECK_WARN, "unit", "%s %s lies outside /var/lib/epistle, where the unit may not write: `systemctl edit epistle`, and there, below [Service], ReadWritePaths= with "
                                           "its folder", what, path);
    return false;
}

/* What the configuration wants and the sandbox does not give. */
static bool check_wishes(Checks *checks, const char *text) {
    const Config *config = checks->open.config;
    const char *out = maildir_path(config->outgoing_kind == OUTGOING_MAILDIR ? config->outgoing_url : NULL);
    char base[PATH_MAX];
    if (out != NULL) {
        sender_maildir_base(out, base);
        out = base;
    }
    bool good = check_path(checks, text, "the store", config->store);
    good = check_path(checks, text, "the mailbox", maildir_path(config->mailbox_url)) && good;
    good = check_path(checks, text, "the outgoing Maildir", out) && good;
    if (config->outgoing_kind == OUTGOING_SENDMAIL && strstr(text, "\nNoNewPrivileges=no") == NULL) {
        checks_say(checks, CHECK_WARN, "unit", "a sendmail that is set-user-ID or set-group-ID, as Postfix's and Exim's, cannot work in the unit's sandbox: use smtp://localhost with "
                                               "tls = none, or see \"The sandbox\" in epistle(8)");
        good = false;
    }
    return good;
}

static bool walled(const char *text) {
    static const char *const walls[] = { "\nProtectSystem=strict", "\nNoNewPrivileges=yes", "\nSystemCallFilter=" };
    for (size_t i = 0; i < sizeof walls / sizeof walls[0]; i++)
        if (strstr(text, walls[i]) == NULL)
            return false;
    return true;
}

void checks_unit(Checks *checks, const char *root) {
    char path[PATH_MAX];
    Str text;
    bool found = false;
    str_init(&text, UNIT_MAX);
    for (size_t i = 0; i < PLACES && !found; i++)
        found = snprintf(path, sizeof path, "%s%s/epistle.service", root, places[i]) < (int)sizeof path && read_unit(path, &text);
    if (!found) {
        checks_say(checks, CHECK_WARN, "unit", "no epistle.service is installed: `make install` puts one into place; else something of yours must keep `epistle serve` running");
    } else if (!walled(text.data)) {
        checks_say(checks, CHECK_WARN, "unit", "%s has no sandbox like the one that comes with epistle: put changes into a drop-in (systemctl edit epistle) instead of the unit", path);
    } else {
        char folder[PATH_MAX];
        for (size_t i = 0; i < PLACES; i++)
            if (snprintf(folder, sizeof folder, "%s%s/epistle.service.d", root, places[i]) < (int)sizeof folder)
                read_drop_ins(folder, &text);
        if (check_wishes(checks, text.data))
            checks_say(checks, CHECK_OK, "unit", "%s, with its sandbox", path);
    }
    str_free(&text);
}
