#include "core/base/sha256.h"
#include "core/base/str.h"
#include "daemon/maildir.h"
#include "daemon/outbox/encode_mail.h"
#include "daemon/outbox/sender.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_SIZE = 64, FILE_PATH_MAX = PATH_MAX };

typedef struct MaildirSender {
    MailSender base;
    char path[PATH_MAX];
    bool per_recipient; /* "%s" stands in the path */
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

/* Writes, syncs and closes tmp/NAME; what an earlier attempt left there is written over. */
static int write_file(const char *target, const Str *text) {
    int file = open_again(target, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    if (file < 0)
        return -1;
    int result = write_all(file, text->data, text->length);
    if (result == 0)
        result = sync_again(file);
    int kept = errno;
    if (close(file) != 0 && errno != EINTR && result == 0) {
        result = -1;
        kept = errno;
    }
    errno = kept;
    return result;
}

static void report(SendReport *report_, SendResult result, Instant now, const char *what, int number) {
    report_->result = result;
    report_->at = now;
    if (number == 0)
        snprintf(report_->words, sizeof report_->words, "%s", what);
    else
        snprintf(report_->words, sizeof report_->words, "%s: %s", what, strerror(number));
    for (char *at = report_->words; *at != 0; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = '?';
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
 * name, or -1. */
static int find_maildir(const MaildirSender *sender, const char *recipient, char ret_path[PATH_MAX], Error *error) {
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
    return maildir_base_ready(base, error) < 0 ? -1 : maildir_make(ret_path, error);
}

static void deliver(const char *path, const Envelope *envelope, const char *bytes, size_t length, Instant now, SendReport *ret_report) {
    /* The name is the letter's, not the attempt's. */
    char hash[SHA256_HEX_SIZE], name[NAME_SIZE], temporary[FILE_PATH_MAX], final[FILE_PATH_MAX], folder[FILE_PATH_MAX];
    sha256_hex(envelope->id, strlen(envelope->id), hash);
    snprintf(name, sizeof name, "%.40s.epistle", hash);
    bool found;
    if (find_letter(path, name, &found) != 0 || join(temporary, path, "tmp", name) != 0 ||
        join(final, path, "new", name) != 0 || join(folder, path, "new", "") != 0) {
        report(ret_report, errno == ENAMETOOLONG ? SEND_REFUSED : SEND_LATER, now, "the Maildir cannot be used", errno);
        return;
    }
    if (found) {
        if (sync_folder(folder) != 0)
            report(ret_report, SEND_UNKNOWN, now, "the Maildir cannot be synced", errno);
        else
            report(ret_report, SEND_ACCEPTED, now, "was in the Maildir already", 0);
        return;
    }
    Str text;
    str_init(&text, length + 2 * MAIL_ADDRESS_MAX + 100);
    int result = build_file(&text, envelope, bytes, length);
    if (result == 0)
        result = write_file(temporary, &text);
    if (result == 0)
        result = rename(temporary, final);
    int kept = errno;
    str_free(&text);
    if (result != 0) {
        unlink(temporary);
        report(ret_report, SEND_LATER, now, "the letter cannot be written", kept);
        return;
    }
    if (sync_folder(folder) == 0) {
        report(ret_report, SEND_ACCEPTED, now, "written to the Maildir", 0);
        return;
    }
    /* In new/, but perhaps not for good: taken back where nobody has it yet. */
    kept = errno;
    report(ret_report, unlink(final) == 0 ? SEND_LATER : SEND_UNKNOWN, now, "the Maildir cannot be synced", kept);
}

static void maildir_send(MailSender *base, const Envelope *envelope, const char *bytes, size_t length, Instant now, SendReport *ret_report) {
    const MaildirSender *sender = (const MaildirSender *)base;
    char path[PATH_MAX];
    Error error;
    error_clear(&error);
    if (!mail_address_good(envelope->to) || (*envelope->from != 0 && !mail_address_good(envelope->from))) {
        report(ret_report, SEND_REFUSED, now, "an address of the envelope is not well-formed", 0);
        return;
    }
    int found = find_maildir(sender, envelope->to, path, &error);
    if (found > 0)
        report(ret_report, SEND_REFUSED, now, "the recipient's address can be no folder's name", 0);
    else if (found < 0)
        report(ret_report, error.code == ENAMETOOLONG ? SEND_REFUSED : SEND_LATER, now, error.text, 0);
    else
        deliver(path, envelope, bytes, length, now, ret_report);
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
    static const MailSenderOperations operations = { maildir_send, maildir_close };
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
