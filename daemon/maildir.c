#include "daemon/maildir.h"

#include "core/base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fault(Error *error, const char *doing, const char *path) {
    int code = errno;
    return error_set(error, ERROR_MAILBOX, code, "cannot %s %s: %s", doing, path, strerror(code));
}

static int sync_folder(const char *path) {
    int folder;
    do
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (folder < 0 && errno == EINTR);
    if (folder < 0)
        return -1;
    int result, code;
    do
        result = fsync(folder);
    while (result != 0 && errno == EINTR);
    code = errno;
    close(folder);
    errno = code;
    return result;
}

/* The name of a new folder stands in the one above, so that one is synced. */
static int sync_above(const char *path) {
    char above[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return sync_folder(".");
    if (slash == path)
        return sync_folder("/");
    snprintf(above, sizeof above, "%.*s", (int)(slash - path), path);
    return sync_folder(above);
}

static int make_one(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0)
        return mkdir(path, 0700) == 0 ? sync_above(path) : errno == EEXIST ? 0 : -1;
    errno = ENOTDIR;
    return S_ISDIR(status.st_mode) ? 0 : -1;
}

int maildir_base_make(const char *path, Error *error) {
    char part[PATH_MAX];
    if (!text_copy(part, sizeof part, path)) {
        errno = ENAMETOOLONG;
        return fault(error, "make", path);
    }
    for (size_t length = strlen(part); length > 1 && part[length - 1] == '/'; length--)
        part[length - 1] = 0;
    for (char *slash = part + 1; *part != 0 && (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = 0;
        if (make_one(part) != 0)
            return fault(error, "make", part);
        *slash = '/';
    }
    return make_one(part) == 0 ? 0 : fault(error, "make", part);
}

static int make_parts(const char *path, const char *const *parts, size_t count, Error *error) {
    char folder[PATH_MAX];
    for (size_t i = 0; i < count; i++) {
        errno = ENAMETOOLONG;
        int length = snprintf(folder, sizeof folder, "%s/%s", path, parts[i]);
        if (length >= (int)sizeof folder || make_one(folder) != 0)
            return fault(error, "make the Maildir", path);
    }
    return 0;
}

int maildir_make(const char *path, Error *error) {
    /* new/ last: it is what a Maildir is known by. */
    static const char *const parts[] = { "tmp", "cur", "new" };
    return maildir_base_make(path, error) < 0 ? -1 : make_parts(path, parts, 3, error);
}

/* Whether PATH/PART is a folder; errno says why not. */
static bool folder_there(const char *path, const char *part) {
    char folder[PATH_MAX];
    struct stat status;
    errno = ENAMETOOLONG;
    if (snprintf(folder, sizeof folder, "%s%s%s", path, *part == 0 ? "" : "/", part) >= (int)sizeof folder || stat(folder, &status) != 0)
        return false;
    errno = ENOTDIR;
    return S_ISDIR(status.st_mode);
}

int maildir_ready(const char *path, Error *error) {
    static const char *const parts[] = { "tmp", "cur" };
    if (folder_there(path, "new"))
        return make_parts(path, parts, 2, error);
    int code = errno;
    if (code == ENOENT)
        return error_set(error, ERROR_MAILBOX, code, "there is no Maildir at %s: is its volume mounted? `epistle check --init` makes a new one", path);
    return error_set(error, ERROR_MAILBOX, code, "there is no Maildir to use at %s: %s", path, strerror(code));
}

int maildir_base_ready(const char *path, Error *error) {
    if (folder_there(path, ""))
        return 0;
    int code = errno;
    if (code == ENOENT)
        return error_set(error, ERROR_MAILBOX, code, "there is no folder %s for Maildirs: is its volume mounted? `epistle check --init` makes it", path);
    return error_set(error, ERROR_MAILBOX, code, "%s is no folder for Maildirs: %s", path, strerror(code));
}
