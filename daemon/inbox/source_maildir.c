/* A Maildir as mailbox (https://cr.yp.to/proto/maildir.html, Maildir++ for subfolders), read directly:
 * libetpan's driver misses letters of the same second and writes a file of its own (FACTS.md). */
#include "daemon/inbox/maildir_index.h"
#include "daemon/inbox/source.h"
#include "daemon/maildir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FLAGS_MAX = 60, NO_WATCH = -1 };

static const char *const parts[] = { "new", "cur" };

typedef struct Folder {
    char *path;    /* of the directory that holds new/, cur/ and tmp/ */
    char *mailbox; /* the key's first half: "maildir/INBOX", "maildir/Junk"; not the path, which may change */
    int watches[2]; /* inotify's numbers of new/ and cur/ */
    Error fault;    /* why a further folder could not be read when the folders were last read */
} Folder;

typedef struct MaildirSource {
    MailSource source; /* first: this is a MailSource */
    char *path;
    Folder *folders;
    size_t folder_count;
    AfterKind after;
    char *move_path; /* AFTER_MOVE: the folder's directory */
    bool prepared;   /* it was there, with all its folders */
    MaildirIndex *index; /* where each letter lay when the folders were last read; NULL: not read yet */
    int watch;       /* inotify's descriptor, NO_WATCH: none */
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

/* The Maildir must be there; the folder of `after` in it is made. */
static int prepare(MaildirSource *maildir, Error *error) {
    maildir->prepared = false;
    if (maildir_ready(maildir->path, error) < 0)
        return -1;
    if (maildir->move_path != NULL && maildir_make(maildir->move_path, error) < 0)
        return -1;
    maildir->prepared = true;
    return 0;
}

/* ---- watching ---- */

/* Each part of each folder, by the name it has now: a volume mounted since the last time is another inode, and where it is the same
 * nothing changes. Without watches (the system's number of them is bounded) letters are found when the folders are read again. */
static void watch(MaildirSource *maildir) {
    const uint32_t events = IN_MOVED_TO | IN_CREATE | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
    if (maildir->watch == NO_WATCH)
        maildir->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    for (size_t i = 0; i < 2 * maildir->folder_count && maildir->watch != NO_WATCH; i++) {
        char path[PATH_MAX];
        Folder *folder = &maildir->folders[i / 2];
        folder->watches[i % 2] = join(path, folder->path, parts[i % 2], "") ? inotify_add_watch(maildir->watch, path, events) : -1;
        if (folder->watches[i % 2] >= 0 || (i >= 2 && errno != ENOSPC)) /* a further folder that is not there is read later */
            continue;
        close(maildir->watch);
        maildir->watch = NO_WATCH;
    }
}

/* A file that has just got its name: empty while it is only being made, whole if it was linked there from tmp/. */
static bool has_bytes(const MaildirSource *maildir, const struct inotify_event *event) {
    char path[PATH_MAX];
    struct stat status;
    for (size_t i = 0; i < 2 * maildir->folder_count; i++)
        if (maildir->folders[i / 2].watches[i % 2] == event->wd && join(path, maildir->folders[i / 2].path, parts[i % 2], event->name))
            return lstat(path, &status) == 0 && status.st_size > 0;
    return false;
}

/* What was moved and carries the flag S was seen by somebody already: mostly by us, when we filed it. */
static bool is_news(const MaildirSource *maildir, const struct inotify_event *event) {
    if (event->mask & (IN_Q_OVERFLOW | IN_IGNORED | IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT))
        return true;
    if (event->len == 0 || event->name[0] == '.')
        return false;
    if (event->mask & IN_CREATE)
        return has_bytes(maildir, event);
    return (event->mask & IN_CLOSE_WRITE) || strchr(event->name + maildir_name_length(event->name), 'S') == NULL;
}

static bool maildir_wait_heard(MailSource *source) {
    MaildirSource *maildir = (MaildirSource *)source;
    _Alignas(struct inotify_event) char buffer[16 * 1024];
    bool heard = false;
    ssize_t got;
    while (maildir->watch != NO_WATCH && (got = read(maildir->watch, buffer, sizeof buffer)) != 0) {
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            break;
        for (ssize_t at = 0; at < got;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)(buffer + at);
            heard = is_news(maildir, event) || heard;
            at += (ssize_t)(sizeof *event + event->len);
        }
    }
    return heard;
}

/* The watches stand since the folders were last read, so that nothing that came in between is missed. */
static int maildir_wait_begin(MailSource *source, int *ret_descriptor, Error *error) {
    (void)error;
    *ret_descriptor = ((MaildirSource *)source)->watch;
    return 0;
}

static void maildir_wait_end(MailSource *source) {
    (void)source;
}

/* ---- listing ---- */

/* Reads all folders anew; those of `also` are made, so that a filter may be pointed at them, and may fail alone. */
static int read_index(MaildirSource *maildir, Error *error) {
    maildir_index_free(maildir->index);
    maildir->index = maildir_index_new(error);
    if (maildir->index == NULL)
        return -1;
    for (size_t i = 0; i < maildir->folder_count; i++) {
        Folder *folder = &maildir->folders[i];
        error_clear(&folder->fault);
        if ((i == 0 || maildir_make(folder->path, &folder->fault) == 0) && maildir_index_read(maildir->index, i, folder->path, &folder->fault) == 0)
            continue;
        if (i > 0)
            continue;
        maildir_index_free(maildir->index);
        maildir->index = NULL;
        return error_set(error, folder->fault.grade, folder->fault.code, "%s", folder->fault.text);
    }
    return 0;
}

static int maildir_list(MailSource *source, Arena *arena, SourceList *ret_list, Error *error) {
    MaildirSource *maildir = (MaildirSource *)source;
    if (prepare(maildir, error) < 0)
        return -1;
    for (size_t i = 1; i < maildir->folder_count; i++)
        maildir_make(maildir->folders[i].path, NULL); /* so that it can be watched; why it cannot be made is told below */
    watch(maildir);
    maildir_wait_heard(source); /* what is told so far is read now */
    if (read_index(maildir, error) < 0)
        return -1;
    size_t count;
    const MaildirEntry *entries = maildir_index_entries(maildir->index, &count);
    SourceLetter *letters = arena_alloc(arena, (count + 1) * sizeof *letters);
    bool fits = letters != NULL;
    for (size_t i = 0; i < count && fits; i++) {
        letters[i] = (SourceLetter){ .mailbox = maildir->folders[entries[i].folder].mailbox, .received = INSTANT_NONE, .file_time = INSTANT_NONE };
        letters[i].name = arena_copy(arena, entries[i].file, entries[i].name_length);
        fits = letters[i].name != NULL;
        if (fits && (i == 0 || entries[i - 1].folder != entries[i].folder))
            letters[i].mailbox = arena_copy(arena, letters[i].mailbox, strlen(letters[i].mailbox));
        else if (fits)
            letters[i].mailbox = letters[i - 1].mailbox;
        fits = fits && letters[i].mailbox != NULL;
    }
    if (!fits)
        return error_set(error, ERROR_MAILBOX, ENOMEM, "the Maildir %s holds more letters than can be listed", maildir->path);
    *ret_list = (SourceList){ .letters = letters, .count = count };
    for (size_t i = maildir->folder_count - 1; i > 0; i--)
        if (maildir->folders[i].fault.grade != ERROR_NONE)
            ret_list->fault = maildir->folders[i].fault;
    return 0;
}

/* ---- finding ---- */

static bool folder_of(const MaildirSource *maildir, const char *mailbox, size_t *ret_folder) {
    for (*ret_folder = 0; *ret_folder < maildir->folder_count; ++*ret_folder)
        if (strcmp(maildir->folders[*ret_folder].mailbox, mailbox) == 0)
            return true;
    return false;
}

/* A name from the store that leads out of the folder is not ours. */
static bool name_plausible(const char *name) {
    return name[0] != 0 && name[0] != '.' && strchr(name, '/') == NULL && strlen(name) <= NAME_MAX;
}

/* Other programs rename letters while we read: what the index knows is tried first, then what one more reading of the folders finds, then a
 * search for this letter alone. */
enum { SEARCHES_MAX = 4 };
typedef struct Search {
    MaildirSource *maildir;
    bool reread; /* the index is of this very call */
} Search;

/* Where the letter lies: 1; 0 for one that has gone, or -1. turn: how often the place found was wrong. */
static int search(Search *search_, size_t folder, const char *name, int turn, MaildirPlace *ret_place, Error *error) {
    MaildirSource *maildir = search_->maildir;
    if (turn == 0 && maildir->index != NULL && maildir_index_find(maildir->index, folder, name, ret_place))
        return 1;
    if (!search_->reread) {
        if (read_index(maildir, error) < 0)
            return -1;
        search_->reread = true;
        if (maildir_index_find(maildir->index, folder, name, ret_place))
            return 1;
        turn = 0;
    }
    const Error *fault_ = &maildir->folders[folder].fault;
    if (fault_->grade != ERROR_NONE) /* nothing is known of its letters */
        return error_set(error, fault_->grade, fault_->code, "%s", fault_->text);
    return turn == 0 ? 0 : maildir_find(maildir->folders[folder].path, name, ret_place, error);
}

/* What is wrong with this letter's file only, so that the others can be read; the rest is wrong with the system or the volume. */
static ErrorGrade grade_of(int code) {
    bool of_one_letter = code == ENOENT || code == ELOOP || code == EACCES || code == EPERM || code == EIO || code == ENXIO || code == EISDIR;
    return of_one_letter ? ERROR_LETTER : ERROR_MAILBOX;
}

/* Opens without following a link and without waiting at a FIFO. */
static int open_place(const char *folder, const MaildirPlace *place, struct stat *ret_status, Error *error) {
    char path[PATH_MAX];
    if (!join(path, folder, place->part, place->file))
        return error_set(error, ERROR_LETTER, ENAMETOOLONG, "the name of letter %s is too long", place->file);
    int letter = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (letter < 0)
        return error_set(error, grade_of(errno), errno, "cannot open the letter %s: %s", path, strerror(errno));
    if (fstat(letter, ret_status) == 0 && S_ISREG(ret_status->st_mode))
        return letter;
    close(letter);
    return error_set(error, ERROR_LETTER, EINVAL, "%s is no regular file", path);
}

static int gone(const SourceLetter *letter, Error *error) {
    return error_set(error, ERROR_LETTER, ENOENT, "the letter %s has gone from %s", letter->name, letter->mailbox);
}

/* A descriptor, or -1 and the fault: of the letter, or of the whole mailbox. */
static int open_letter(Search *search_, const SourceLetter *letter, struct stat *ret_status, Error *error) {
    size_t folder;
    if (!folder_of(search_->maildir, letter->mailbox, &folder) || !name_plausible(letter->name))
        return error_set(error, ERROR_LETTER, EINVAL, "there is no letter %s in %s", letter->name, letter->mailbox);
    for (int turn = 0; turn < SEARCHES_MAX; turn++) { /* it may be renamed between finding and opening */
        MaildirPlace place;
        int found = search(search_, folder, letter->name, turn, &place, error);
        if (found <= 0)
            return found < 0 ? -1 : gone(letter, error);
        Error opening = { 0 };
        int descriptor = open_place(search_->maildir->folders[folder].path, &place, ret_status, &opening);
        if (descriptor >= 0)
            return descriptor;
        if (opening.code != ENOENT)
            return error_set(error, opening.grade, opening.code, "%s", opening.text);
    }
    return gone(letter, error);
}

/* ---- reading ---- */

/* At most `size` bytes; how many, or -1. */
static ssize_t read_some(int letter, char *buffer, size_t size, const char *name, Error *error) {
    size_t done = 0;
    while (done < size) {
        ssize_t got = read(letter, buffer + done, size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_set(error, grade_of(errno), errno, "cannot read the letter %s: %s", name, strerror(errno));
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

/* To the end of the empty line that ends it; `length` if there is none. */
static size_t header_length(const char *bytes, size_t length) {
    for (size_t at = 0; at < length;) {
        const char *end = memchr(bytes + at, '\n', length - at);
        if (end == NULL)
            return length;
        size_t line = (size_t)(end - bytes) - at;
        at += line + 1;
        if (line == 0 || (line == 1 && end[-1] == '\r'))
            return at;
    }
    return length;
}

static int look_at(Search *search_, Arena *arena, SourceLetter *letter, Error *error) {
    struct stat status;
    char head[HEAD_TAKEN];
    int descriptor = open_letter(search_, letter, &status, error);
    if (descriptor < 0)
        return -1;
    ssize_t got = read_some(descriptor, head, sizeof head, letter->name, error);
    close(descriptor);
    if (got < 0)
        return -1;
    letter->received = INSTANT_NONE;
    letter->file_time = (Instant)status.st_mtime;
    letter->size = (size_t)status.st_size;
    letter->head_length = header_length(head, (size_t)got);
    letter->head = arena_copy(arena, head, letter->head_length);
    return letter->head != NULL ? 0 : error_set(error, ERROR_MAILBOX, ENOMEM, "no memory to look at the letters in %s", search_->maildir->path);
}

static int fetch_one(Search *search_, const SourceFetch *fetch, Error *error) {
    struct stat status;
    char buffer[16 * 1024];
    const char *name = fetch->letter->name;
    int descriptor = open_letter(search_, fetch->letter, &status, error);
    if (descriptor < 0)
        return -1;
    int result = 0;
    ssize_t got = 1;
    for (size_t done = 0; result == 0 && got > 0 && done < fetch->limit; done += (size_t)got) {
        size_t want = fetch->limit - done;
        got = read_some(descriptor, buffer, want < sizeof buffer ? want : sizeof buffer, name, error);
        if (got < 0)
            result = -1;
        else if (!str_append_bytes(fetch->raw, buffer, (size_t)got))
            result = error_set(error, ERROR_LETTER, ENOMEM, "the letter %s is larger than the room for it", name);
    }
    close(descriptor);
    return result;
}

/* Whether the others can be had: the fault is this letter's, and is told with it. */
static bool keep_fault(SourceLetter *letter, const Error *fault, Error *error) {
    if (fault->grade == ERROR_LETTER) {
        letter->fault = *fault;
        return true;
    }
    error_set(error, fault->grade, fault->code, "%s", fault->text);
    return false;
}

/* A bad moment of the disk is tried once more: a letter that fell behind those that came after it would be settled after them (RULINGS 18). */
static bool bad_moment(Error *fault) {
    bool once_more = fault->grade == ERROR_LETTER && fault->code == EIO;
    if (once_more)
        error_clear(fault);
    return once_more;
}

static int maildir_look(MailSource *source, Arena *arena, SourceLetter *const *letters, size_t count, Error *error) {
    Search search_ = { .maildir = (MaildirSource *)source };
    for (size_t i = 0; i < count; i++) {
        Error fault = { 0 };
        error_clear(&letters[i]->fault);
        int result = look_at(&search_, arena, letters[i], &fault);
        if (result < 0 && bad_moment(&fault))
            result = look_at(&search_, arena, letters[i], &fault);
        if (result < 0 && !keep_fault(letters[i], &fault, error))
            return -1;
    }
    return 0;
}

static int maildir_fetch(MailSource *source, SourceFetch *fetches, size_t count, Error *error) {
    Search search_ = { .maildir = (MaildirSource *)source };
    for (size_t i = 0; i < count; i++) {
        Error fault = { 0 };
        error_clear(&fetches[i].letter->fault);
        int result = fetch_one(&search_, &fetches[i], &fault);
        if (result < 0 && bad_moment(&fault)) {
            str_clear(fetches[i].raw);
            result = fetch_one(&search_, &fetches[i], &fault);
        }
        if (result < 0 && !keep_fault(fetches[i].letter, &fault, error))
            return -1;
    }
    return 0;
}

/* ---- filing ---- */

/* The file's name with the flag S (seen) among its flags, in the order of ASCII as Maildir wants it. */
static bool seen_name(const char *file, char ret_name[NAME_MAX + 1]) {
    size_t length = maildir_name_length(file);
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
static int file_once(const MaildirSource *maildir, const char *folder, const MaildirPlace *place, Error *error) {
    char from[PATH_MAX], to[PATH_MAX], name[NAME_MAX + 1];
    const char *target = maildir->after == AFTER_MOVE ? maildir->move_path : folder;
    if (!seen_name(place->file, name))
        text_copy(name, sizeof name, place->file); /* no room for a flag: moved without one */
    if (!join(from, folder, place->part, place->file) || !join(to, target, "cur", name))
        return error_set(error, ERROR_MAILBOX, ENAMETOOLONG, "the name of letter %s is too long to be filed", place->file);
    if (maildir->after == AFTER_SEEN && strcmp(from, to) == 0)
        return 0;
    int failed = maildir->after == AFTER_DELETE ? unlink(from) : rename(from, to);
    if (failed < 0)
        return errno == ENOENT ? 1 : fault(error, "cannot file", from);
    return 0;
}

static int file_one(Search *search_, size_t folder, const char *name, Error *error) {
    for (int turn = 0; turn < SEARCHES_MAX; turn++) {
        MaildirPlace place;
        int found = search(search_, folder, name, turn, &place, error);
        if (found <= 0)
            return found;
        int failed = file_once(search_->maildir, search_->maildir->folders[folder].path, &place, error);
        if (failed <= 0)
            return failed;
    }
    return 0;
}

/* Where letters went before where they came from: a loss of power between the two shows a letter twice rather than never. */
static int sync_folder(const MaildirSource *maildir, const char *folder, Error *error) {
    if (maildir->after == AFTER_MOVE && sync_directory(maildir->move_path, "cur", error) < 0)
        return -1;
    return sync_directory(folder, "cur", error) < 0 || sync_directory(folder, "new", error) < 0 ? -1 : 0;
}

/* Renames all, then syncs each folder once, and only then calls them filed: also those found filed or gone, whose rename may
 * not have been synced by a process that died. */
static int file_folder(Search *search_, size_t folder, SourceFile *files, const size_t *folders, size_t count, Error *error) {
    size_t done = 0, touched = 0;
    int result = 0;
    for (; done < count && result == 0; done++)
        if (folders[done] == folder && name_plausible(files[done].name)) {
            result = file_one(search_, folder, files[done].name, error);
            touched += result == 0;
        }
    if (result < 0)
        done--;
    if (touched > 0 && sync_folder(search_->maildir, search_->maildir->folders[folder].path, result < 0 ? NULL : error) < 0)
        return -1;
    for (size_t i = 0; i < done; i++)
        files[i].filed = files[i].filed || folders[i] == folder;
    return result;
}

static int maildir_file(MailSource *source, SourceFile *files, size_t count, Error *error) {
    MaildirSource *maildir = (MaildirSource *)source;
    if (!maildir->prepared && prepare(maildir, error) < 0)
        return -1; /* else a letter of a volume that is not mounted would seem to be gone */
    size_t *folders = calloc(count + 1, sizeof *folders);
    if (folders == NULL)
        return error_set(error, ERROR_MAILBOX, ENOMEM, "no memory to file letters");
    for (size_t i = 0; i < count; i++)
        files[i].filed = !folder_of(maildir, files[i].mailbox, &folders[i]); /* a folder that is no longer read: nothing to mark */
    Search search_ = { .maildir = maildir };
    int result = 0;
    for (size_t i = 0; i < maildir->folder_count; i++)
        if (file_folder(&search_, i, files, folders, count, result == 0 ? error : NULL) < 0)
            result = -1; /* the other folders' letters can be filed all the same */
    free(folders);
    return result;
}

/* ---- the rest ---- */

/* Whether letters there can be read and renamed. */
static int probe_folder(const char *folder, bool missing_is_fine, Error *error) {
    for (int i = 0; i < 2; i++) {
        char path[PATH_MAX];
        if (!join(path, folder, parts[i], ""))
            return error_set(error, ERROR_INPUT, ENAMETOOLONG, "the Maildir path %s is too long", folder);
        if (access(path, R_OK | W_OK | X_OK) != 0 && !(errno == ENOENT && missing_is_fine))
            return error_set(error, ERROR_INPUT, errno, "letters in %s cannot be read and filed: %s; give it to the user that runs epistle", path,
                             strerror(errno));
    }
    return 0;
}

/* A folder of `also` or `after` that is missing is no fault: list() makes it. */
static int maildir_probe(MailSource *source, bool make, Error *error) {
    MaildirSource *maildir = (MaildirSource *)source;
    if ((make ? prepare(maildir, error) : maildir_ready(maildir->path, error)) < 0)
        return -1;
    for (size_t i = 1; i < maildir->folder_count && make; i++)
        if (maildir_make(maildir->folders[i].path, error) < 0)
            return -1;
    for (size_t i = 0; i < maildir->folder_count; i++)
        if (probe_folder(maildir->folders[i].path, i > 0, error) < 0)
            return -1;
    return maildir->move_path == NULL ? 0 : probe_folder(maildir->move_path, true, error);
}

static void maildir_close(MailSource *source) {
    if (source == NULL)
        return;
    MaildirSource *maildir = (MaildirSource *)source;
    for (size_t i = 0; i < maildir->folder_count; i++) {
        free(maildir->folders[i].path);
        free(maildir->folders[i].mailbox);
    }
    maildir_index_free(maildir->index);
    if (maildir->watch != NO_WATCH)
        close(maildir->watch);
    free(maildir->folders);
    free(maildir->move_path);
    free(maildir->path);
    free(maildir);
}

static const MailSourceOperations operations = {
    maildir_list, maildir_look, maildir_fetch, maildir_file, maildir_probe, maildir_wait_begin, maildir_wait_heard, maildir_wait_end, maildir_close,
};

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
    maildir->watch = NO_WATCH;
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
