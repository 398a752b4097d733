/* MailSource: one mailbox to read, behind a table of functions.
 *
 * A letter in it is known by its mailbox and its name: for IMAP "folder;UIDVALIDITY" and the UID,
 * for POP3 the UIDL, for a Maildir the folder and the file name without ":2,FLAGS" (RULINGS 7).
 * The two together are the first key of the store: they never change while the letter lies
 * there, whatever its flags say, and never name another letter. */
#ifndef EPISTLE_DAEMON_INBOX_SOURCE_H
#define EPISTLE_DAEMON_INBOX_SOURCE_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/instant.h"
#include "core/base/str.h"

#include <stddef.h>

typedef struct SourceLetter {
    const char *mailbox; /* in the arena given to list */
    const char *name;
    Instant received;  /* when the mailbox says it arrived (INTERNALDATE); INSTANT_NONE: it does not say */
    Instant file_time; /* a Maildir file's own time, the last resort of RULINGS 29; INSTANT_NONE elsewhere */
    size_t size;       /* bytes on the server or disk */
} SourceLetter;

typedef struct SourceList {
    SourceLetter *letters; /* in the arena */
    size_t count;
} SourceList;

typedef struct MailSource MailSource;
typedef struct MailSourceOperations {
    /* Every letter that lies in the mailbox, handled or not, in the mailbox's own order.
     * Which of them are new is for the store to say. Errors are ERROR_MAILBOX. */
    int (*list)(MailSource *source, Arena *arena, SourceList *ret_list, Error *error);
    /* The first `limit` bytes of a letter, raw. 0; a letter that has gone in the meantime is
     * ERROR_LETTER with ENOENT as its code, one that cannot be read ERROR_LETTER with another errno
     * value. An empty result is no error here: the caller leaves such a letter waiting. */
    int (*fetch)(MailSource *source, const SourceLetter *letter, size_t limit, Str *ret_raw, Error *error);
    /* Marks one letter as handled, as the configuration's `after` says. Called only after the
     * letter's outcome was committed. A letter that has gone is no error. */
    int (*file)(MailSource *source, const char *mailbox, const char *name, Error *error);
    void (*close)(MailSource *source); /* frees it */
} MailSourceOperations;

struct MailSource {
    const MailSourceOperations *operations; /* a kind of source embeds MailSource as its first member */
};

typedef enum AfterKind { AFTER_SEEN, AFTER_MOVE, AFTER_DELETE } AfterKind;

/* A Maildir at `path`, with further folders `also` (Maildir++ names below it: ".Junk" or "Junk"; may be NULL/0).
 * AFTER_SEEN renames to cur/NAME:2,…S, keeping other flags; AFTER_MOVE renames into the Maildir++ folder `.FOLDER`;
 * AFTER_DELETE unlinks; each then syncs the directories.
 * Opening looks at names only: NULL and *error if one cannot be used. list(), and file() before the first list(), want
 * `path`/new to be there, or fail with ERROR_MAILBOX, as the volume may not be mounted; cur/, tmp/ and the folders are
 * made beside it where they are missing. maildir_make() of daemon/maildir.h makes a new one. */
MailSource *source_maildir_open(const char *path, const char *const *also, size_t also_count, AfterKind after, const char *folder, Error *error);

#endif
