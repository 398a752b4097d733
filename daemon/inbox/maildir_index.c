#include "daemon/inbox/maildir_index.h"

#include "core/base/arena.h"
#include "core/base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    LETTERS_MAX = 1000 * 1000, /* more is a mistake, not mail */
    NAMES_MAX = 512 * 1024 * 1024,
};

/* new/ before cur/: a letter that another program moves between the two readings is seen twice rather than never. new/ again: it may
 * have been moved back. */
static const char *const parts[] = { "new", "cur", "new" };
enum { PARTS = 3 };

struct MaildirIndex {
    Arena names;
    MaildirEntry *entries;
    size_t count, room;
};

size_t maildir_name_length(const char *file) {
    const char *flags = strstr(file, ":2,");
    return flags != NULL ? (size_t)(flags - file) : strlen(file);
}

MaildirIndex *maildir_index_new(Error *error) {
    MaildirIndex *index = calloc(1, sizeof *index);
    if (index == NULL)
        error_set(error, ERROR_MAILBOX, ENOMEM, "no memory to list the Maildir");
    else
        arena_init(&index->names, NAMES_MAX);
    return index;
}

void maildir_index_free(MaildirIndex *index) {
    if (index == NULL)
        return;
    arena_free(&index->names);
    free(index->entries);
    free(index);
}

static bool add(MaildirIndex *index, const MaildirEntry *entry) {
    if (index->count == index->room) {
        size_t room = index->room == 0 ? 64 : index->room * 2;
        MaildirEntry *entries = index->count < LETTERS_MAX ? realloc(index->entries, room * sizeof *entries) : NULL;
        if (entries == NULL)
            return false;
        index->entries = entries;
        index->room = room;
    }
    index->entries[index->count] = *entry;
    index->entries[index->count].file = arena_copy(&index->names, entry->file, strlen(entry->file));
    return index->entries[index->count++].file != NULL;
}

/* Whether a file of new/ or cur/ is a letter: a regular file, no link to somewhere else. 1, 0 or -1. */
static int is_letter(int directory, const struct dirent *entry, const char *path, Error *error) {
    struct stat status;
    if (entry->d_name[0] == '.' || (entry->d_type != DT_REG && entry->d_type != DT_UNKNOWN))
        return 0;
    if (entry->d_type == DT_REG)
        return 1;
    if (fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : error_set(error, ERROR_MAILBOX, errno, "cannot look at the letters in %s: %s", path, strerror(errno));
    return S_ISREG(status.st_mode);
}

/* Hands each letter's file of one part to `found` until it says false. 0 or -1. */
static int read_part(const char *folder, const char *part, bool (*found)(void *data, const char *file), void *data, Error *error) {
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, part);
    errno = ENAMETOOLONG;
    DIR *directory = length < (int)sizeof path ? opendir(path) : NULL;
    if (directory == NULL)
        return error_set(error, ERROR_MAILBOX, errno, "cannot read %s: %s", path, strerror(errno));
    int result = 0;
    bool more = true;
    struct dirent *entry;
    errno = 0;
    while (result == 0 && more && (entry = readdir(directory)) != NULL) {
        result = is_letter(dirfd(directory), entry, folder, error);
        if (result > 0) {
            more = found(data, entry->d_name);
            result = 0;
        }
        errno = 0;
    }
    if (result == 0 && more && errno != 0)
        result = error_set(error, ERROR_MAILBOX, errno, "cannot read %s: %s", path, strerror(errno));
    closedir(directory);
    return result;
}

/* By name; where a letter was seen twice, what was read later comes first. */
static int by_name(const void *left, const void *right) {
    const MaildirEntry *one = left, *other = right;
    size_t shorter = one->name_length < other->name_length ? one->name_length : other->name_length;
    int order = memcmp(one->file, other->file, shorter);
    if (order == 0 && one->name_length != other->name_length)
        order = one->name_length < other->name_length ? -1 : 1;
    return order != 0 ? order : (int)one->in_new - (int)other->in_new;
}

typedef struct Reading {
    MaildirIndex *index;
    size_t folder;
    bool in_new, full;
} Reading;

static bool read_one(void *data, const char *file) {
    Reading *reading = data;
    MaildirEntry entry = { .file = file, .name_length = maildir_name_length(file), .folder = reading->folder, .in_new = reading->in_new };
    if (entry.name_length == 0)
        return true; /* flags of nothing */
    reading->full = !add(reading->index, &entry);
    return !reading->full;
}

int maildir_index_read(MaildirIndex *index, size_t folder, const char *path, Error *error) {
    size_t begin = index->count;
    for (int i = 0; i < PARTS; i++) {
        Reading reading = { .index = index, .folder = folder, .in_new = parts[i][0] == 'n' };
        int result = read_part(path, parts[i], read_one, &reading, error);
        if (result == 0 && reading.full)
            result = error_set(error, ERROR_MAILBOX, ENOMEM, "the Maildir %s holds more letters than can be listed", path);
        if (result == 0)
            continue;
        index->count = begin;
        return -1;
    }
    if (index->count - begin < 2)
        return 0;
    qsort(index->entries + begin, index->count - begin, sizeof *index->entries, by_name);
    size_t to = begin;
    for (size_t i = begin + 1; i < index->count; i++) {
        const MaildirEntry *kept = &index->entries[to], *next = &index->entries[i];
        if (kept->name_length != next->name_length || memcmp(kept->file, next->file, kept->name_length) != 0)
            index->entries[++to] = *next;
    }
    index->count = to + 1;
    return 0;
}

const MaildirEntry *maildir_index_entries(const MaildirIndex *index, size_t *ret_count) {
    *ret_count = index->count;
    return index->entries;
}

static int by_key(const void *left, const void *right) {
    const MaildirEntry *one = left, *other = right;
    if (one->folder != other->folder)
        return one->folder < other->folder ? -1 : 1;
    return by_name(left, right);
}

bool maildir_index_find(const MaildirIndex *index, size_t folder, const char *name, MaildirPlace *ret_place) {
    if (index->count == 0)
        return false;
    const MaildirEntry *found = NULL;
    for (int i = 0; i < 2 && found == NULL; i++) {
        MaildirEntry key = { .file = name, .name_length = strlen(name), .folder = folder, .in_new = i == 1 };
        found = bsearch(&key, index->entries, index->count, sizeof key, by_key);
    }
    if (found != NULL) {
        ret_place->part = found->in_new ? "new" : "cur";
        text_copy(ret_place->file, sizeof ret_place->file, found->file);
    }
    return found != NULL;
}

typedef struct Seeking {
    const char *name;
    MaildirPlace *place;
    bool found;
} Seeking;

static bool seek_one(void *data, const char *file) {
    Seeking *seeking = data;
    size_t length = maildir_name_length(file);
    seeking->found = length == strlen(seeking->name) && memcmp(file, seeking->name, length) == 0;
    if (seeking->found)
        text_copy(seeking->place->file, sizeof seeking->place->file, file);
    return !seeking->found;
}

int maildir_find(const char *path, const char *name, MaildirPlace *ret_place, Error *error) {
    Seeking seeking = { .name = name, .place = ret_place };
    for (int i = 0; i < PARTS && !seeking.found; i++) {
        ret_place->part = parts[i];
        if (read_part(path, parts[i], seek_one, &seeking, error) < 0)
            return -1;
    }
    return seeking.found;
}
