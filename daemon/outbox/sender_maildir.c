#include "core/base/sha256.h"
#include "core/base/str.h"
#include "daemon/maildir.h"
#include "daemon/outbox/encode_mail.h"
#include "daemon/outbox/sender.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    NAME_SIZE = 64,
    FILE_PATH_MAX = PATH_MAX,
    GROUP_MAX = 8, /* letters written in one call of work(), whose folders are synced together */
};

typedef struct Writing { /* one letter of a group */
    Mailing *mailing;
    char folder[FILE_PATH_MAX]; /* the Maildir's new/, to be synced */
    char temporary[FILE_PATH_MAX], final[FILE_PATH_MAX];
    int file;     /* tmp/NAME, written and not synced; -1: none */
    bool arrived; /* in new/, from now or from before */
    bool before;  /* it was there already */
} Writing;

typedef struct MaildirSender {
    MailSender base;
    char path[PATH_MAX];
    bool per_recipient; /* "%s" stands in the path */
    Mailing *mailings;  /* the batch under way; those before `next` are done */
    size_t count, next;
    Instant (*clock)(void *data);
    void *clock_data;
    Writing writings[GROUP_MAX];
} MaildirSender;

static int open_again(const char *path, int flags, mode_t mode) {
    int file;
    do
        file = open(path, flags | O_CLOEXEC, mode);
    while (file < 0 && errno == EINTR);
    return file;
}

static int sync_again(int file) {
    int result;
    do
        result = fsync(file);
    while (result != 0 && errno == EINTR);
    return result;
}

static int sync_folder(const char *path) {
    int folder = open_again(path, O_RDONLY | O_DIRECTORY, 0);
    if (folder < 0)
        return -1;
    int result = sync_again(folder);
    int kept = errno;
    close(folder);
    errno = kept;
    return result;
}

static int join(char target[FILE_PATH_MAX], const char *path, const char *folder, const char *name) {
    int length = snprintf(target, FILE_PATH_MAX, "%s/%s%s%s", path, folder, *name == 0 ? "" : "/", name);
    if (length >= 0 && length < FILE_PATH_MAX)
        return 0;
    errno = ENAMETOOLONG;
    return -1;
}

/* Whether the letter lies there already: an attempt whose end we did not see. A reader may have moved it to cur. */
static int find_letter(const char *path, const char *name, bool *ret_found) {
    char file[FILE_PATH_MAX], folder[FILE_PATH_MAX];
    size_t length = strlen(name);
    *ret_found = false;
    if (join(file, path, "new", name) != 0 || join(folder, path, "cur", "") != 0)
        return -1;
    if (access(file, F_OK) == 0) {
        *ret_found = true;
        return 0;
    }
    if (errno != ENOENT)
        return -1;
    DIR *list = opendir(folder);
    if (list == NULL)
        return -1;
    errno = 0;
    for (struct dirent *entry; !*ret_found && (entry = readdir(list)) != NULL;)
        *ret_found = strncmp(entry->d_name, name, length) == 0 && (entry->d_name[length] == 0 || entry->d_name[length] == ':');
    int kept = errno;
    closedir(list);
    errno = kept;
    return *ret_found || kept == 0 ? 0 : -1;
}

static int write_all(int file, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t count = write(file, bytes, length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return -1;
        bytes += count;
        length -= (size_t)count;
    }
    return 0;
}

/* CRLF becomes LF; a lone CR stays what it is. */
static int build_file(Str *out, const Envelope *envelope, const char *bytes, size_t length) {
    str_printf(out, "Return-Path: <%s>\nDelivered-To: %s\n", envelope->from, envelope->to);
    for (size_t at = 0; at < length; at++)
        if (bytes[at] != '\r' || at + 1 == length || bytes[at + 1] != '\n')
            str_append_char(out, bytes[at]);
    if (!out->overflowed)
        return 0;
    errno = ENOMEM;
    return -1;
}

/* Writes tmp/NAME, over what an earlier attempt left there. The descriptor, or -1. */
static int write_file(const char *target, const Str *text) {
    int file = open_again(target, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    if (file < 0 || write_all(file, text->data, text->length) == 0)
        return file;
    int kept = errno;
    close(file);
    errno = kept;
    return -1;
}

static int sync_and_close(int file) {
    int result = sync_again(file);
    int kept = errno;
    if (close(file) != 0 && errno != EINTR && result == 0) {
        result = -1;
        kept = errno;
    }
    errno = kept;
    return result;
}

static void finish(MaildirSender *sender, Mailing *mailing, SendResult result, const char *what, int number) {
    SendReport *report = &mailing->report;
    *report = (SendReport){ .result = result, .at = sender->clock(sender->clock_data) };
    if (number == 0)
        snprintf(report->words, sizeof report->words, "%s", what);
    else
        snprintf(report->words, sizeof report->words, "%s: %s", what, strerror(number));
    for (char *at = report->words; *at != 0; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = '?';
    mailing->done = true;
}

/* What no letter would fare better with. */
static bool is_of_the_volume(int number) {
    return number == ENOSPC || number == EDQUOT || number == EROFS || number == EIO || number == EMFILE || number == ENFILE || number == ENOMEM;
}

/* Not taken for now; if it is no fault of this letter or its folder, no other is begun. */
static void put_off(MaildirSender *sender, Mailing *mailing, const char *what, int number, bool relay) {
    finish(sender, mailing, SEND_LATER, what, number);
    mailing->report.relay = relay || is_of_the_volume(number);
}

bool sender_maildir_base(const char *path, char *ret_base) {
    const char *mark = strstr(path, "%s");
    if (mark == NULL) {
        text_copy(ret_base, PATH_MAX, path);
        return false;
    }
    while (mark > path && mark[-1] != '/') /* "to-%s" is a folder of its own in what stands before it */
        mark--;
    while (mark > path + 1 && mark[-1] == '/')
        mark--;
    int length = mark == path ? snprintf(ret_base, PATH_MAX, ".") : snprintf(ret_base, PATH_MAX, "%.*s", (int)(mark - path), path);
    return length < PATH_MAX;
}

/* An address may hold any character but a slash here; a leading dot would hide the folder or lead out of it. */
static bool names_folder(const char *recipient) {
    for (const unsigned char *byte = (const unsigned char *)recipient; *byte != 0; byte++)
        if (*byte < 0x20 || *byte == 0x7f || *byte == '/')
            return false;
    return recipient[0] != 0 && recipient[0] != '.';
}

/* The recipient's Maildir, made if it is missing, or the one for all, which must be there. 0, 1 if the address can be no folder's
 * name, or -1, with *ret_all if there is a Maildir for nobody. */
static int find_maildir(const MaildirSender *sender, const char *recipient, char ret_path[PATH_MAX], bool *ret_all, Error *error) {
    *ret_all = true;
    if (!sender->per_recipient) {
        text_copy(ret_path, PATH_MAX, sender->path);
        return maildir_ready(ret_path, error);
    }
    const char *mark = strstr(sender->path, "%s");
    int length = snprintf(ret_path, PATH_MAX, "%.*s%s%s", (int)(mark - sender->path), sender->path, recipient, mark + 2);
    if (!names_folder(recipient) || length < 0 || length >= PATH_MAX)
        return 1;
    char base[PATH_MAX];
    sender_maildir_base(sender->path, base);
    if (maildir_base_ready(base, error) < 0)
        return -1;
    *ret_all = false;
    return maildir_make(ret_path, error);
}

/* The first step of a letter: its paths, and tmp/NAME unless it lies in the Maildir already. False: it is done. */
static bool writing_begin(MaildirSender *sender, Writing *writing, const char *path) {
    Mailing *mailing = writing->mailing;
    /* The name is the letter's, not the attempt's. */
    char hash[SHA256_HEX_SIZE], name[NAME_SIZE];
    sha256_hex(mailing->envelope.id, strlen(mailing->envelope.id), hash);
    snprintf(name, sizeof name, "%.40s.epistle", hash);
    if (find_letter(path, name, &writing->before) != 0 || join(writing->temporary, path, "tmp", name) != 0 ||
        join(writing->final, path, "new", name) != 0 || join(writing->folder, path, "new", "") != 0) {
        if (errno == ENAMETOOLONG)
            finish(sender, mailing, SEND_REFUSED, "the Maildir cannot be used", errno);
        else
            put_off(sender, mailing, "the Maildir cannot be used", errno, false);
        return false;
    }
    writing->arrived = writing->before;
    if (writing->before)
        return true;
    Str text;
    str_init(&text, mailing->length + 2 * MAIL_ADDRESS_MAX + 100);
    if (build_file(&text, &mailing->envelope, mailing->bytes, mailing->length) == 0)
        writing->file = write_file(writing->temporary, &text);
    int kept = errno;
    str_free(&text);
    if (writing->file >= 0)
        return true;
    unlink(writing->temporary);
    put_off(sender, mailing, "the letter cannot be written", kept, false);
    return false;
}

/* The letter's folder, and its first step. False: it is done. */
static bool writing_open(MaildirSender *sender, Writing *writing) {
    const Envelope *envelope = &writing->mailing->envelope;
    char path[PATH_MAX];
    bool all;
    Error error;
    error_clear(&error);
    if (!mail_address_good(envelope->to) || (*envelope->from != 0 && !mail_address_good(envelope->from))) {
        finish(sender, writing->mailing, SEND_REFUSED, "an address of the envelope is not well-formed", 0);
        return false;
    }
    int found = find_maildir(sender, envelope->to, path, &all, &error);
    if (found == 0)
        return writing_begin(sender, writing, path);
    if (found > 0)
        finish(sender, writing->mailing, SEND_REFUSED, "the recipient's address can be no folder's name", 0);
    else if (error.code == ENAMETOOLONG)
        finish(sender, writing->mailing, SEND_REFUSED, error.text, 0);
    else
        put_off(sender, writing->mailing, error.text, 0, all || is_of_the_volume(error.code));
    return false;
}

/* The second: the bytes are on the disk, then the name is in new/. */
static void writing_arrive(MaildirSender *sender, Writing *writing) {
    if (writing->arrived)
        return;
    if (sync_and_close(writing->file) == 0 && rename(writing->temporary, writing->final) == 0) {
        writing->arrived = true;
        return;
    }
    int kept = errno;
    unlink(writing->temporary);
    put_off(sender, writing->mailing, "the letter cannot be written", kept, false);
}

/* The third: the folder is synced, for all letters of the group that went there. */
static void sync_arrived(MaildirSender *sender, Writing *writings, size_t count, size_t first) {
    int failed = sync_folder(writings[first].folder) == 0 ? 0 : errno;
    for (size_t i = first; i < count; i++) {
        Writing *writing = &writings[i];
        if (writing->mailing->done || strcmp(writing->folder, writings[first].folder) != 0)
            continue;
        if (failed == 0)
            finish(sender, writing->mailing, SEND_ACCEPTED, writing->before ? "was in the Maildir already" : "written to the Maildir", 0);
        else if (!writing->before && unlink(writing->final) == 0) /* in new/, but perhaps not for good: taken back where nobody has it yet */
            put_off(sender, writing->mailing, "the Maildir cannot be synced", failed, false);
        else
            finish(sender, writing->mailing, SEND_UNKNOWN, "the Maildir cannot be synced", failed);
    }
}

/* Some letters at once, each step for all of them: the disk does them together. */
static void deliver_group(MaildirSender *sender) {
    Writing *writings = sender->writings;
    size_t count = 0;
    bool stopped = false;
    while (count < GROUP_MAX && sender->next < sender->count && !stopped) {
        Writing *writing = &writings[count];
        *writing = (Writing){ .mailing = &sender->mailings[sender->next++], .file = -1 };
        if (writing_open(sender, writing))
            count++;
        else
            stopped = writing->mailing->report.relay;
    }
    for (size_t i = 0; i < count; i++)
        writing_arrive(sender, &writings[i]);
    for (size_t i = 0; i < count; i++)
        if (!writings[i].mailing->done)
            sync_arrived(sender, writings, count, i);
    for (size_t i = 0; i < count; i++)
        stopped = stopped || writings[i].mailing->report.relay;
    if (stopped)
        sender->base.operations->stop(&sender->base);
}

static void maildir_begin(MailSender *base, Mailing *mailings, size_t count, Instant (*clock)(void *data), void *clock_data) {
    MaildirSender *sender = (MaildirSender *)base;
    for (size_t i = 0; i < count; i++)
        mailings[i].done = false;
    sender->mailings = mailings;
    sender->count = count;
    sender->next = 0;
    sender->clock = clock;
    sender->clock_data = clock_data;
}

static size_t maildir_work(MailSender *base, struct pollfd *extra, size_t extra_count, int milliseconds) {
    MaildirSender *sender = (MaildirSender *)base;
    bool busy = sender->next < sender->count;
    if (busy)
        deliver_group(sender);
    for (size_t i = 0; i < extra_count; i++)
        extra[i].revents = 0;
    poll(extra, extra_count, busy ? 0 : milliseconds);
    return sender->count - sender->next;
}

static void maildir_stop(MailSender *base) {
    MaildirSender *sender = (MaildirSender *)base;
    for (; sender->next < sender->count; sender->next++) {
        put_off(sender, &sender->mailings[sender->next], "not begun", 0, false);
        sender->mailings[sender->next].report.unbegun = true;
    }
}

static int maildir_probe(MailSender *base, Error *error) {
    const MaildirSender *sender = (const MaildirSender *)base;
    char path[PATH_MAX];
    if (sender_maildir_ready(sender->path, error) < 0)
        return -1;
    sender_maildir_base(sender->path, path);
    size_t length = strlen(path);
    if (!sender->per_recipient && !text_copy(path + length, sizeof path - length, "/new"))
        return error_set(error, ERROR_INPUT, ENAMETOOLONG, "the outgoing Maildir's path %s is too long", path);
    if (access(path, W_OK | X_OK) == 0)
        return 0;
    return error_set(error, ERROR_INPUT, errno, "no letter can be written to %s: %s; give it to the user that runs epistle", path, strerror(errno));
}

static void maildir_close(MailSender *base) {
    free(base);
}

int sender_maildir_ready(const char *path, Error *error) {
    char base[PATH_MAX];
    return sender_maildir_base(path, base) ? maildir_base_ready(base, error) : maildir_ready(base, error);
}

int sender_maildir_make(const char *path, Error *error) {
    char base[PATH_MAX];
    return sender_maildir_base(path, base) ? maildir_base_make(base, error) : maildir_make(base, error);
}

MailSender *sender_maildir_open(const char *path, Error *error) {
    static const MailSenderOperations operations = { maildir_begin, maildir_work, maildir_stop, maildir_probe, maildir_close };
    MaildirSender *sender = calloc(1, sizeof *sender);
    if (sender == NULL) {
        error_set(error, ERROR_LATER, 0, "There is no memory for the outgoing Maildir.");
        return NULL;
    }
    sender->base.operations = &operations;
    const char *mark = strstr(path, "%s");
    sender->per_recipient = mark != NULL;
    if (*path == 0 || !text_copy(sender->path, sizeof sender->path, path) || (mark != NULL && strchr(mark + 2, '%') != NULL)) {
        error_set(error, ERROR_INPUT, 0, "The outgoing Maildir's path \"%s\" is empty, too long, or holds more than one %%s.", path);
        free(sender);
        return NULL;
    }
    return &sender->base;
}
