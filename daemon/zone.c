#include "daemon/zone.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ZONE_FOLDER "/usr/share/zoneinfo/"

/* Only names that stay below the folder; "right/…" counts leap seconds and is not POSIX time. */
static bool name_allowed(const char *name) {
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-/");
    return length > 0 && length < ZONE_NAME_MAX && name[length] == 0 && name[0] != '/' && name[length - 1] != '/' &&
           strstr(name, "//") == NULL && strncmp(name, "right/", 6) != 0 && strncmp(name, "posix/", 6) != 0;
}

bool zone_known(const char *name) {
    if (!name_allowed(name))
        return false;
    char path[sizeof ZONE_FOLDER + ZONE_NAME_MAX];
    snprintf(path, sizeof path, ZONE_FOLDER "%s", name);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return false;
    struct stat status;
    char magic[4] = "";
    bool known = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && read(file, magic, sizeof magic) == (ssize_t)sizeof magic &&
                 memcmp(magic, "TZif", sizeof magic) == 0;
    close(file);
    return known;
}

/* glibc knows one zone at a time, the environment's: it is lent and given back. One thread only. */
bool zone_offset(const char *name, Instant instant, int *ret_seconds) {
    if (!zone_known(name))
        return false;
    const char *before = getenv("TZ");
    char *kept = before == NULL ? NULL : strdup(before);
    if (before != NULL && kept == NULL)
        return false;
    char zone[ZONE_NAME_MAX + 1];
    snprintf(zone, sizeof zone, ":%s", name);
    time_t time = (time_t)instant;
    struct tm local;
    bool done = false;
    if (setenv("TZ", zone, 1) == 0) {
        tzset();
        done = localtime_r(&time, &local) != NULL;
    }
    if (kept == NULL)
        unsetenv("TZ");
    else
        setenv("TZ", kept, 1);
    tzset();
    free(kept);
    if (done)
        *ret_seconds = (int)local.tm_gmtoff;
    return done;
}
