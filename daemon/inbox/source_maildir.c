/* A Maildir as mailbox (https://cr.yp.to/proto/maildir.html, Maildir++ for subfolders), read directly:
 * libetpan's driver misses letters of the same second and writes a file of its own (FACTS.md). */
#include "daemon/inbox/source.h"
#include "daemon/maildir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LETTERS_MAX = 1000 * 1000, /* in one folder; more is a mistake, not mail */
    FLAGS_MAX = 60,
};

typedef struct Folder {
    char *path;    /* of the directory that holds new/, cur/ and tmp/ */
    char *mailbox; /* the key's first half: "maildir/INBOX", "maildir/Junk"; not the path, which may change */
} Folder;

typedef struct MaildirSource {
    MailSource source; /* first: this is a MailSource */
    char *path;
    Folder *folders;
    size_t folder_count;
    AfterKind after;
    char *move_path; /* AFTER_MOVE: the folder's directory */
    bool prepared;   /* it was there, with all its folders */
} MaildirSource;

static int fault(Error *error, const char *doing, const char *path) {
    return error_set(error, ERROR_MAILBOX, errno, "%s %s: %s", doing, path, strerror(errno));
}

static bool join(char ret_path[PATH_MAX], const char *folder, const char *part, const char *name) {
    int length = snprintf(ret_path, PATH_MAX, "%s/%s%s%s", folder, part, name[0] != 0 ? "/" : "", name);
    return length > 0 && length < PATH_MAX;
}

static int sync_directory(const char *folder, const char *part, Error *error) {
    char path[PATH_MAX];
    if (!join(path, folder, part, ""))
        return error_set(error, ERROR_MAILBOX, ENAMETOOLONG, "the Maildir path %s is too long", folder);
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return fault(error, "cannot open", path);
    int failed = fsync(directory) < 0 ? fault(error, "cannot sync", path) : 0;
    close(directory);
    return failed;
}

/* The letter's own name: without ":2,FLAGS". */
static size_t name_length(const char *file) {
    const char *flags = strstr(file, ":2,");
    return flags != NULL ? (size_t)(flags - file) : strlen(file);
}

/* While listing: an array that grows, in the heap, so that the arena holds only what is given back. */
typedef struct Gathered {
    SourceLetter *letters;
    size_t count, room;
} Gathered;

static int by_name(const void *left, const void *right) {
    const SourceLetter *first = left, *second = right;
    return strcmp(first->name, second->name);
}

static bool gather(Gathered *gathered, const SourceLetter *letter) {
    if (gathered->count == gathered->room) {
        size_t room = gathered->room == 0 ? 64 : gathered->room * 2;
        SourceLetter *letters = realloc(gathered->letters, room * sizeof *letters);
        if (letters == NULL)
            return false;
        gathered->letters = letters;
        gathered->room = room;
    }
    gathered->letters[gathered->count++] = *letter;
    return true;
}

/* One file of new/ or cur/, if it is a letter: a regular file, no link to somewhere else. 0 also where it is none. */
static int gather_file(const Folder *folder, int directory, const char *file, Arena *arena, Gathered *gathered, Error *error) {
    struct stat status;
    if (file[0] == '.')
        return 0;
    if (fstatat(directory, file, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : fault(error, "cannot look at the letters in", folder->path);
    if (!S_ISREG(status.st_mode))
        return 0;
    SourceLetter letter = {
        .mailbox = arena_copy(arena, folder->mailbox, strlen(folder->mailbox)),
        .name = arena_copy(arena, file, name_length(file)),
        .received = INSTANT_NONE,
        .file_time = (Instant)status.st_mtime,
        .size = (size_t)status.st_size,
    };
    if (letter.mailbox == NULL || letter.name == NULL || gathered->count >= LETTERS_MAX || !gather(gathered, &letter))
        return error_set(error, ERROR_MAILBOX, ENOMEM, "the Maildir %s holds more letters than can be listed", folder->path);
    return 0;
}

static int gather_part(const Folder *folder, const char *part, Arena *arena, Gathered *gathered, Error *error) {
    char path[PATH_MAX];
    if (!join(path, folder->path, part, ""))
        return error_set(error, ERROR_MAILBOX, ENAMETOOLONG, "the Maildir path %s is too long", folder->path);
    DIR *directory = opendir(path);
    if (directory == NULL)
        return fault(error, "cannot read", path);
    int failed = 0;
    struct dirent *entry;
    errno = 0;
    while (failed == 0 && (entry = readdir(directory)) != NULL) {
        failed = gather_file(folder, dirfd(directory), entry->d_name, arena, gathered, error);
        errno = 0;
    }
    if (failed == 0 && errno != 0)
        failed = fault(error, "cannot read", path);
    closedir(directory);
    return failed;
}

/* By name, each once: the later of two is cur/'s, since new/ was read first. */
static void drop_doubles(Gathered *gathered, size_t begin) {
    if (gathered->count - begin < 2)
        return;
    qsort(gathered->letters + begin, gathered->count - begin, sizeof *gathered->letters, by_name);
    size_t to = begin;
    for (size_t i = begin + 1; i < gathered->count; i++)
        if (strcmp(gathered->letters[i].name, gathered->letters[to].name) != 0)
            gathered->letters[++to] = gathered->letters[i];
    gathered->count = to + 1;
}

/* new/ before cur/: a letter that another program moves between the two readings is seen twice rather than never. */
static int gather_folder(const Folder *folder, Arena *arena, Gathered *gathered, Error *error) {
    size_t begin = gathered->count;
    if (gather_part(folder, "new", arena, gathered, error) < 0 || gather_part(folder, "cur", arena, gathered, error) < 0)
        return -1;
    drop_doubles(gathered, begin);
    return 0;
}

/* The Maildir must be there; folders in it (of `also`, so that a filter may be pointed at them, and of `after`) are made. */
static int prepare(MaildirSource *maildir, Error *error) {
    maildir->prepared = false;
    if (maildir_ready(maildir->path, error) < 0)
        return -1;
    for (size_t i = 1; i < maildir->folder_count; i++)
        if (maildir_make(maildir->folders[i].path, error) < 0)
            return -1;
    if (maildir->move_path != NULL && maildir_make(maildir->move_path, error) < 0)
        return -1;
    maildir->prepared = true;
    return 0;
}

static int maildir_list(MailSource *source, Arena *arena, SourceList *ret_list, Error *error) {
    MaildirSource *maildir = (MaildirSource *)source;
    Gathered gathered = { 0 };
    int failed = prepare(maildir, error);
    for (size_t i = 0; failed == 0 && i < maildir->folder_count; i++)
        failed = gather_folder(&maildir->folders[i], arena, &gathered, error);
    if (failed == 0) {
        size_t bytes = gathered.count * sizeof *gathered.letters;
        SourceLetter *letters = arena_alloc(arena, bytes);
        if (letters == NULL)
            failed = error_set(error, ERROR_MAILBOX, ENOMEM, "the Maildir %s holds more letters than can be listed", maildir->path);
        else if (bytes > 0)
            memcpy(letters, gathered.letters, bytes);
        if (letters != NULL)
            *ret_list = (SourceList){ letters, gathered.count };
    }
    free(gathered.letters);
    return failed;
}

static const Folder *folder_of(const MaildirSource *maildir, const char *mailbox) {
    for (size_t i = 0; i < maildir->folder_count; i++)
        if (strcmp(maildir->folders[i].mailbox, mailbox) == 0)
            return &maildir->folders[i];
    return NULL;
}

/* A name from the store that leads out of the folder is not ours. */
static bool name_plausible(const char *name) {
    return name[0] != 0 && name[0] != '.' && strchr(name, '/') == NULL && strlen(name) <= NAME_MAX;
}

/* Where a letter lies now, under whatever flags: "new" or "cur", and its file name. False: it is gone. */
static bool find_letter(const Folder *folder, const char *name, const char **ret_part, char ret_file[NAME_MAX + 1]) {
    static const char *const parts[] = { "new", "cur", "new" }; /* new/ again: a program may have moved it back */
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char path[PATH_MAX];
        DIR *directory = join(path, folder->path, parts[i], "") ? opendir(path) : NULL;
        bool found = false;
        struct dirent *entry;
        while (directory != NULL && !found && (entry = readdir(directory)) != NULL) {
            found = name_length(entry->d_name) == strlen(name) && strncmp(entry->d_name, name, strlen(name)) == 0;
            if (found)
                snprintf(ret_file, NAME_MAX + 1, "%s", entry->d_name);
        }
        if (directory != NULL)
            closedir(directory);
        *ret_part = parts[i];
        if (found)
            return true;
    }
    return false;
}

/* What is wrong with this letter's file only, so that the others can be read; the rest is wrong with the system or the volume. */
static ErrorGrade grade_of(int code) {
    bool of_one_letter = code == ENOENT || code == ELOOP || code == EACCES || code == EPERM || code == EIO || code == ENXIO || code == EISDIR;
    return of_one_letter ? ERROR_LETTER : ERROR_MAILBOX;
}

/* Opens without following a link and without waiting at a FIFO. */
static int open_letter(const Folder *folder, const char *part, const char *file, Error *error) {
    char path[PATH_MAX];
    if (!join(path, folder->path, part, file))
        return error_set(error, ERROR_LETTER, ENAMETOOLONG, "the name of letter %s is too long", file);
    int letter = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (letter < 0)
        return error_set(error, grade_of(errno), errno, "cannot open the letter %s: %s", path, strerror(errno));
    struct stat status;
    if (fstat(letter, &status) == 0 && S_ISREG(status.st_mode))
        return letter;
    close(letter);
    return error_set(error, ERROR_LETTER, 0, "%s is no regular file", path);
}

static int read_letter(int letter, const char *file, size_t limit, Str *ret_raw, Error *error) {
    char buffer[16 * 1024];
    for (size_t done = 0; done < limit;) {
        size_t want = limit - done < sizeof buffer ? limit - done : sizeof buffer;
        ssize_t got = read(letter, buffer, want);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set(error, grade_of(errno), errno, "cannot read the letter %s: %s", file, strerror(errno));
        if (got == 0)
            return 0;
        if (!str_append_bytes(ret_raw, buffer, (size_t)got))
            return error_set(error, ERROR_LETTER, ENOMEM, "the letter %s is larger than the room for it", file);
        done += (size_t)got;
    }
    return 0;
}

static int maildir_fetch(MailSource *source, const SourceLetter *letter, size_t limit, Str *ret_raw, Error *error) {
    MaildirSource *maildir = (MaildirSource *)source;
    const Folder *folder = folder_of(maildir, letter->mailbox);
    const char *part;
    char file[NAME_MAX + 1];
    if (folder == NULL || !name_plausible(letter->name))
        return error_set(error, ERROR_LETTER, 0, "there is no letter %s in %s", letter->name, letter->mailbox);
    for (int tries = 0; tries < 3; tries++) { /* it may be renamed between finding and opening */
        if (!find_letter(folder, letter->name, &part, file))
            return error_set(error, ERROR_LETTER, ENOENT, "the letter %s has gone from %s", letter->name, letter->mailbox);
        Error opening = { 0 };
        int descriptor = open_letter(folder, part, file, &opening);
        if (descriptor < 0 && opening.code == ENOENT)
            continue;
        if (descriptor < 0)
            return error_set(error, opening.grade, opening.code, "%s", opening.text);
        int failed = read_letter(descriptor, file, limit, ret_raw, error);
        close(descriptor);
        return failed;
    }
    return error_set(error, ERROR_LETTER, ENOENT, "the letter %s has gone from %s", letter->name, letter->mailbox);
}

/* The file's name with the flag S (seen) among its flags, in the order of ASCII as Maildir wants it. */
static bool seen_name(const char *file, char ret_name[NAME_MAX + 1]) {
    size_t length = name_length(file);
    const char *flags = file[length] != 0 ? file + length + 3 : "";
    char sorted[FLAGS_MAX + 2];
    size_t count = 0;
    bool put = false;
    for (; *flags != 0 && count < FLAGS_MAX; flags++) {
        if (!put && *flags >= 'S') {
            put = true;
            if (*flags != 'S')
                sorted[count++] = 'S';
        }
        sorted[count++] = *flags;
    }
    if (!put)
        sorted[count++] = 'S';
    sorted[count] = 0;
    int written = snprintf(ret_name, NAME_MAX + 1, "%.*s:2,%s", (int)length, file, sorted);
    return written > 0 && written <= NAME_MAX;
}

/* Renames or unlinks; 1: it was not there any more. */
static int file_once(const MaildirSource *maildir, const Folder *folder, const char *part, const char *file, Error *error) {
    char from[PATH_MAX], to[PATH_MAX], name[NAME_MAX + 1];
    const char *target = maildir->after == AFTER_MOVE ? maildir->move_path : folder->path;
    bool fits = seen_name(file, name) && join(from, folder->path, part, file) && join(to, target, "cur", name);
    if (!fits)
        return error_set(error, ERROR_LETTER, ENAMETOOLONG, "the name of letter %s is too long to be filed", file);
    if (maildir->after == AFTER_SEEN && strcmp(from, to) == 0)
        return 0;
    int failed = maildir->after == AFTER_DELETE ? unlink(from) : rename(from, to);
    if (failed < 0)
        return errno == ENOENT ? 1 : fault(error, "cannot file", from);
    if (maildir->after != AFTER_DELETE && sync_directory(target, "cur", error) < 0)
        return -1;
    return sync_directory(folder->path, part, error);
}

static int maildir_file(MailSource *source, const char *mailbox, const char *name, Error *error) {
    MaildirSource *maildir = (MaildirSource *)source;
    const Folder *folder = folder_of(maildir, mailbox);
    if (folder == NULL || !name_plausible(name))
        return 0; /* a folder that is no longer read: nothing to mark */
    if (!maildir->prepared && prepare(maildir, error) < 0)
        return -1; /* else a letter of a volume that is not mounted would seem to be gone */
    const char *part;
    char file[NAME_MAX + 1];
    for (int tries = 0; tries < 3; tries++) {
        if (!find_letter(folder, name, &part, file))
            return 0;
        int failed = file_once(maildir, folder, part, file, error);
        if (failed <= 0)
            return failed;
    }
    return 0;
}

static void maildir_close(MailSource *source) {
    if (source == NULL)
        return;
    MaildirSource *maildir = (MaildirSource *)source;
    for (size_t i = 0; i < maildir->folder_count; i++) {
        free(maildir->folders[i].path);
        free(maildir->folders[i].mailbox);
    }
    free(maildir->folders);
    free(maildir->move_path);
    free(maildir->path);
    free(maildir);
}

static const MailSourceOperations operations = { maildir_list, maildir_fetch, maildir_file, maildir_close };

/* A Maildir++ folder's plain name: without its leading dot; no slash, nothing empty. */
static const char *folder_name(const char *name) {
    if (name[0] == '.')
        name++;
    return name[0] != 0 && name[0] != '.' && strchr(name, '/') == NULL ? name : NULL;
}

static char *text_join(const char *first, const char *second, const char *third) {
    Str text;
    str_init(&text, PATH_MAX);
    str_append(&text, first);
    str_append(&text, second);
    str_append(&text, third);
    return str_take(&text);
}

/* Adds one folder; `name` NULL is the Maildir itself. */
static int add_folder(MaildirSource *maildir, const char *name, Error *error) {
    const char *plain = name != NULL ? folder_name(name) : "INBOX";
    if (plain == NULL)
        return error_set(error, ERROR_INPUT, 0, "\"%s\" is no name of a Maildir folder", name);
    Folder folder = {
        .path = text_join(maildir->path, name != NULL ? "/." : "", name != NULL ? plain : ""),
        .mailbox = text_join("maildir/", plain, ""),
    };
    if (folder.path == NULL || folder.mailbox == NULL) {
        free(folder.path);
        free(folder.mailbox);
        return error_set(error, ERROR_INPUT, ENAMETOOLONG, "the Maildir path %s is too long", maildir->path);
    }
    maildir->folders[maildir->folder_count++] = folder;
    return 0;
}

static int open_folders(MaildirSource *maildir, const char *const *also, size_t also_count, const char *folder, Error *error) {
    if (add_folder(maildir, NULL, error) < 0)
        return -1;
    for (size_t i = 0; i < also_count; i++)
        if (add_folder(maildir, also[i], error) < 0)
            return -1;
    if (maildir->after != AFTER_MOVE)
        return 0;
    const char *plain = folder != NULL ? folder_name(folder) : NULL;
    if (plain == NULL)
        return error_set(error, ERROR_INPUT, 0, "\"%s\" is no name of a Maildir folder to move letters to", folder != NULL ? folder : "");
    maildir->move_path = text_join(maildir->path, "/.", plain);
    if (maildir->move_path == NULL)
        return error_set(error, ERROR_INPUT, ENAMETOOLONG, "the Maildir path %s is too long", maildir->path);
    for (size_t i = 0; i < maildir->folder_count; i++)
        if (strcmp(maildir->folders[i].path, maildir->move_path) == 0)
            return error_set(error, ERROR_INPUT, 0, "letters cannot be moved to %s, which is read itself", plain);
    return 0;
}

MailSource *source_maildir_open(const char *path, const char *const *also, size_t also_count, AfterKind after, const char *folder,
                                Error *error) {
    MaildirSource *maildir = calloc(1, sizeof *maildir);
    if (maildir == NULL) {
        error_set(error, ERROR_LATER, ENOMEM, "no memory for the mailbox");
        return NULL;
    }
    maildir->source.operations = &operations;
    maildir->after = after;
    maildir->path = text_join(path, "", "");
    maildir->folders = calloc(also_count + 1, sizeof *maildir->folders);
    if (maildir->path == NULL || maildir->folders == NULL)
        error_set(error, ERROR_INPUT, ENAMETOOLONG, "the Maildir path %s is too long", path);
    else if (open_folders(maildir, also, also_count, folder, error) == 0)
        return &maildir->source;
    maildir_close(&maildir->source);
    return NULL;
}
