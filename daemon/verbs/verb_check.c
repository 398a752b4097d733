#include "daemon/log.h"
#include "daemon/verbs/checks.h"
#include "daemon/verbs/verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void print_fault(Checks *checks, CheckGrade grade, const char *subject, const char *text) {
    if (grade != CHECK_FAIL)
        return;
    if (strcmp(subject, "configuration") == 0) /* begins with file and line */
        print_line(stderr, "%s", text);
    else
        print_line(stderr, "%s: %s: %s", checks->open.config->file, subject, text);
}

/* Beside passwords' files, and with no secret of its own: for the service's group, not for everybody. */
static int write_first(int descriptor, const char *text) {
    size_t length = strlen(text);
    const struct group *group = geteuid() == 0 ? getgrnam("epistle") : NULL;
    if (group != NULL && fchown(descriptor, (uid_t)-1, group->gr_gid) != 0)
        return -1;
    while (length > 0) {
        ssize_t written = write(descriptor, text, length);
        if (written < 0)
            return -1;
        text += written;
        length -= (size_t)written;
    }
    return fchmod(descriptor, 0640) != 0 || fsync(descriptor) != 0 ? -1 : 0;
}

static void make_folder_of(const char *file) {
    char folder[PATH_MAX];
    if (!text_copy(folder, sizeof folder, file))
        return;
    char *slash = strrchr(folder, '/');
    if (slash == NULL || slash == folder)
        return;
    *slash = 0;
    if (mkdir(folder, 0755) == 0)
        chmod(folder, 0755); /* the umask keeps everybody out, and this is read by the service's user */
}

/* There is none: a first one to be filled in. Never over one that is there. */
static int make_first(const char *file) {
    make_folder_of(file);
    int descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0)
        return verb_wrong("%s: a first configuration cannot be written there: %s", file, strerror(errno));
    int failed = write_first(descriptor, checks_first_configuration()), code = errno;
    close(descriptor);
    if (failed != 0) {
        unlink(file);
        return verb_wrong("%s: a first configuration cannot be written there: %s", file, strerror(code));
    }
    print_line(stderr, "%s: there was none, so a first one was written: put your own in place of everything that says club.example, the password into the file that "
                       "password_file names (mode 640, for the service's group), and run `epistle check --init` again", file);
    return STATUS_WRONG;
}

/* The store, the templates and the mailboxes are looked at although the configuration has errors; nothing is made then. */
static int check_all(Checks *checks, const char *file) {
    if (checks->init && access(file, F_OK) != 0 && errno == ENOENT)
        return make_first(file);
    if (!open_config_there(file) || !checks_configuration(checks, file))
        return STATUS_WRONG;
    checks->open.world = world_real(INSTANT_NONE);
    checks_store(checks);
    checks_key(checks);
    checks_templates(checks);
    checks_secrets(checks);
    if (!checks->offline) {
        checks_mailbox(checks);
        checks_outgoing(checks);
    }
    if (checks->counts[CHECK_FAIL] > 0)
        return STATUS_WRONG;
    print_line(stdout, "%s: no errors", checks->open.config->file);
    return STATUS_DONE;
}

int verb_check(const VerbCall *call) {
    Checks checks = { .found = print_fault };
    const VerbOption options[] = { { "offline", NULL, &checks.offline }, { "init", NULL, &checks.init }, { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "check [--offline] [--init]",
                        "Reads the configuration, opens the store and the templates, logs in to the mailbox and to the server letters go out by, without\n"
                        "reading or sending any; every error is told at once.\n"
                        "  --offline   leaves mailbox and way out alone\n"
                        "  --init      makes what is missing: the store with its key, Maildirs, the mailbox's folders; where there is no configuration,\n"
                        "              a first one to be filled in\n",
                        options, NULL, 0, 0, &count, &status))
        return status;
    status = check_all(&checks, call->config == NULL ? CONFIG_DEFAULT : call->config);
    open_close(&checks.open);
    return status;
}
