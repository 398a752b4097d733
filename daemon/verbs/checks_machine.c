/* What doctor asks of the machine: who may read what, room, clock, libraries. */
#include "daemon/verbs/checks.h"

#include "daemon/log.h"

#include <curl/curl.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libetpan/libetpan_version.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

enum {
    MEGABYTE = 1024 * 1024,
    ROOM_FACTOR = 4,            /* so many times free_space_mb is little */
    CLOCK_SLACK = 120,          /* seconds that a clock may have been set back */
};

static const Instant year_2024 = 1704067200;

/* The folder a file is in. */
static bool folder_of(const char *path, char ret_folder[PATH_MAX]) {
    if (path == NULL || !text_copy(ret_folder, PATH_MAX, path))
        return false;
    char *slash = strrchr(ret_folder, '/');
    if (slash == NULL)
        return false;
    slash[slash == ret_folder ? 1 : 0] = 0;
    return true;
}

/* ---- who may read what ---- */

static bool is_store_copy(int folder, const char *name) {
    static const char magic[16] = "SQLite format 3";
    char begin[sizeof magic];
    int file = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool copy = file >= 0 && read(file, begin, sizeof begin) == (ssize_t)sizeof begin && memcmp(begin, magic, sizeof magic) == 0;
    if (file >= 0)
        close(file);
    return copy;
}

/* A copy of the store that everybody may read, beside the key that opens its letters. */
static bool check_copies(Checks *checks, const char *folder) {
    bool good = true;
    DIR *directory = opendir(folder);
    if (directory == NULL)
        return true;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        struct stat info;
        if (fstatat(dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(info.st_mode) || (info.st_mode & S_IROTH) == 0 ||
            !is_store_copy(dirfd(directory), entry->d_name))
            continue;
        checks_say(checks, CHECK_FAIL, "permissions", "%s/%s is a store that everybody may read: chmod 600 it, and keep copies apart from the key", folder, entry->d_name);
        good = false;
    }
    closedir(directory);
    return good;
}

/* Whoever runs doctor should be whom the service runs as: else what it sees is not what the service sees. */
static bool check_user(Checks *checks, const struct stat *store) {
    if (store->st_uid == geteuid())
        return true;
    const struct passwd *owner = getpwuid(store->st_uid);
    checks_say(checks, CHECK_WARN, "permissions", "the store belongs to another user than you are, so this tells what you may do and not what the service may: as root, run "
                                                  "`runuser -u %s -- epistle doctor`", owner == NULL ? "USER" : owner->pw_name);
    return false;
}

void checks_permissions(Checks *checks) {
    const Config *config = checks->open.config;
    char folder[PATH_MAX], key_folder[PATH_MAX];
    struct stat info;
    bool good = true;
    if (!folder_of(config->store, folder) || stat(folder, &info) != 0)
        return; /* said of the store */
    if (access(folder, R_OK | W_OK | X_OK) != 0) {
        checks_say(checks, CHECK_FAIL, "permissions", "%s, the store's folder, cannot be written to: %s; it must belong to the service's user", folder, strerror(errno));
        good = false;
    }
    if ((info.st_mode & S_IWOTH) != 0) {
        checks_say(checks, CHECK_FAIL, "permissions", "everybody may write in %s, the store's folder: chmod 700 it", folder);
        good = false;
    }
    if (stat(config->store, &info) == 0)
        good = check_user(checks, &info) && good;
    good = check_copies(checks, folder) && good;
    if (folder_of(config->key_file, key_folder) && strcmp(key_folder, folder) != 0)
        good = check_copies(checks, key_folder) && good;
    if (good)
        checks_say(checks, CHECK_OK, "permissions", "%s can be written to, and nobody else reads a store there", folder);
}

/* ---- room ---- */

void checks_disk(Checks *checks) {
    char folder[PATH_MAX];
    struct statvfs disk;
    if (!folder_of(checks->open.config->store, folder) || statvfs(folder, &disk) != 0)
        return;
    long long free_mb = (long long)((unsigned long long)disk.f_bavail * disk.f_frsize / MEGABYTE), floor_mb = checks->open.config->free_space;
    if (free_mb < floor_mb)
        checks_say(checks, CHECK_FAIL, "disk", "%lld MB are free below %s, less than free_space_mb = %lld: no letter is taken in until there is more", free_mb, folder, floor_mb);
    else if (free_mb < ROOM_FACTOR * floor_mb)
        checks_say(checks, CHECK_WARN, "disk", "%lld MB are free below %s, and at free_space_mb = %lld no letter is taken in any more: make room", free_mb, folder, floor_mb);
    else
        checks_say(checks, CHECK_OK, "disk", "%lld MB are free below %s", free_mb, folder);
}

/* ---- the clock ---- */

/* The newest time at which something was stored or queued; INSTANT_NONE without a store or anything in it. */
static Instant newest(Checks *checks) {
    int64_t in = 0, out = 0;
    Store *store = checks->open.store;
    if (store == NULL)
        return INSTANT_NONE;
    bool any = store_query_int(store, NULL, &in, "SELECT stored FROM letter_in ORDER BY id DESC LIMIT 1", "") > 0;
    any = store_query_int(store, NULL, &out, "SELECT queued FROM letter_out ORDER BY id DESC LIMIT 1", "") > 0 || any;
    return !any ? INSTANT_NONE : in > out ? in : out;
}

void checks_clock(Checks *checks) {
    Instant now = world_now(&checks->open.world), last = newest(checks);
    char text[INSTANT_TEXT_SIZE], stored[INSTANT_TEXT_SIZE];
    instant_write(now, text);
    if (now < year_2024) {
        checks_say(checks, CHECK_FAIL, "clock", "it says %s, which has gone by long ago: set it, deadlines go by it", text);
        return;
    }
    if (last != INSTANT_NONE && now < last - CLOCK_SLACK) {
        instant_write(last, stored);
        checks_say(checks, CHECK_FAIL, "clock", "it says %s, and the store holds something of %s: one of them was wrong; set the clock, deadlines go by it", text, stored);
        return;
    }
    struct timex state = { .modes = 0 };
    int kept = ntp_adjtime(&state);
    if (kept == TIME_ERROR)
        checks_say(checks, CHECK_WARN, "clock", "%s, but nothing keeps it right: install a time service such as systemd-timesyncd or chrony, deadlines go by it", text);
    else if (kept < 0)
        checks_say(checks, CHECK_WARN, "clock", "%s; whether something keeps it right cannot be asked here: %s", text, strerror(errno));
    else
        checks_say(checks, CHECK_OK, "clock", "%s, kept by a time service", text);
}

/* ---- libraries ---- */

/* https://sqlite.org/wal.html#walresetbug: 3.7.0 to 3.51.2 but for 3.44.6 and 3.50.7 with the mend. */
static bool sqlite_wal_reset(int version) {
    bool mended = (version >= 3044006 && version < 3045000) || (version >= 3050007 && version < 3051000) || version >= 3051003;
    return version >= 3007000 && !mended;
}

static void check_sqlite(Checks *checks) {
    if (sqlite_wal_reset(sqlite3_libversion_number()))
        checks_say(checks, CHECK_WARN, "SQLite", "%s has, unless your system's package was mended, the WAL-reset fault of 3.7.0 to 3.51.2 (sqlite.org/wal.html#walresetbug): two programs "
                                                 "that tidy up a store at the same instant can, very rarely, damage it; keep daily copies, look at them with `epistle verify`, and take the "
                                                 "update when it comes", sqlite3_libversion());
    else
        checks_say(checks, CHECK_OK, "SQLite", "%s", sqlite3_libversion());
}

static bool has_protocol(const curl_version_info_data *curl, const char *name) {
    for (const char *const *protocol = curl->protocols; *protocol != NULL; protocol++)
        if (strcmp(*protocol, name) == 0)
            return true;
    return false;
}

static void check_curl(Checks *checks) {
    static const char *const needed[] = { "imap", "imaps", "pop3", "pop3s", "smtp", "smtps" };
    const curl_version_info_data *curl = curl_version_info(CURLVERSION_NOW);
    const char *tls = curl->ssl_version == NULL ? "" : curl->ssl_version;
    if ((curl->features & CURL_VERSION_SSL) == 0) {
        checks_say(checks, CHECK_FAIL, "libcurl", "%s can do no TLS, so that no server can be reached safely: install a libcurl that can", curl->version);
        return;
    }
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        if (!has_protocol(curl, needed[i])) {
            checks_say(checks, CHECK_FAIL, "libcurl", "%s cannot do %s: install a libcurl that can", curl->version, needed[i]);
            return;
        }
    }
    if (strcmp(curl->version, "8.8.0") == 0)
        checks_say(checks, CHECK_WARN, "libcurl", "8.8.0 can fail to begin STARTTLS (github.com/curl/curl/issues/14166): use smtps:// and imaps://, or another version");
    else
        checks_say(checks, CHECK_OK, "libcurl", "%s with %s", curl->version, tls);
}

void checks_libraries(Checks *checks) {
    check_sqlite(checks);
    check_curl(checks);
    /* of 1.9.4 it was measured that one small letter can crash its MIME reader or write beyond its memory (inbox/gate.h, inbox/mime.h) */
    int major = libetpan_get_version_major(), minor = libetpan_get_version_minor();
    checks_say(checks, CHECK_OK, "libetpan", "%d.%d; letters that break its reader are held off by the gate and the locked child, and its own TLS is not used", major, minor);
}
