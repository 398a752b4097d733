/* MailSource: one mailbox to read, behind a table of functions.
 *
 * A letter in it is known by its mailbox and its name: for IMAP "imap/USER@HOST:PORT/FOLDER;UIDVALIDITY" and the UID,
 * for POP3 "pop3/USER@HOST:PORT" and the UIDL (another account's letters are other letters, whatever their numbers), for a
 * Maildir the folder and the file name without ":2,FLAGS" (RULINGS 7).
 * The two together are the first key of the store: they never change while the letter lies
 * there, whatever its flags say, and never name another letter. */
#ifndef EPISTLE_DAEMON_INBOX_SOURCE_H
#define EPISTLE_DAEMON_INBOX_SOURCE_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/instant.h"
#include "core/base/str.h"
#include "daemon/line/line.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct SourceLetter {
    const char *mailbox; /* in the arena given to list */
    const char *name;
    /* filled by look(): */
    Instant received;  /* when the mailbox says it arrived (INTERNALDATE); INSTANT_NONE: it does not say */
    Instant file_time; /* a Maildir file's own time, the last resort of RULINGS 29; INSTANT_NONE elsewhere */
    size_t size;       /* bytes on the server or disk */
    const char *head;  /* its first HEAD_TAKEN bytes or its whole header, whichever is shorter; in the arena given to look */
    size_t head_length;
    /* set by look() and fetch() where this one letter cannot be had, the others can: ERROR_LETTER and a sentence, its code ENOENT for one that has gone
     * in the meantime, another errno value for one that cannot be read. Else ERROR_NONE. */
    Error fault;
} SourceLetter;

enum {
    SOURCE_MAILBOX_MAX = 700, /* bytes of a mailbox's name with NUL: account, folder and UIDVALIDITY; a longer folder name is refused at opening */
    HEAD_TAKEN = 16 * 1024, /* enough for the Received fields of an honest letter */
};

typedef struct SourceList {
    SourceLetter *letters; /* in the arena */
    size_t count;
    /* Why one of the further folders (`also`) could not be read, ERROR_NONE if all were. The letters of the others are listed and are to be
     * taken in; then this is told as if list() had failed with it, and the mailbox does not count as read to its end (RULINGS 30). */
    Error fault;
} SourceList;

typedef struct SourceFetch { /* one letter to be fetched */
    SourceLetter *letter;
    size_t limit; /* the first so many bytes are wanted */
    Str *raw;     /* initialised and empty */
} SourceFetch;

typedef struct SourceFile { /* one letter to be marked */
    const char *mailbox, *name;
    bool filed; /* set where it was done, or the letter has gone, or its mailbox is not read any more */
    /* Set where this one could not be marked and the others could: ERROR_LETTER and a sentence. It is tried again later. Else ERROR_NONE. */
    Error fault;
} SourceFile;

typedef struct MailSource MailSource;
/* Errors of all of them are ERROR_MAILBOX (this mailbox is not to be had now) or ERROR_INPUT (the operator must mend something first: a
 * log-in refused, a folder that is not there); the next call begins with a new line to the server. */
typedef struct MailSourceOperations {
    /* Every letter that lies in the mailbox, handled or not, in the mailbox's own order: mailbox and name, the rest zero and INSTANT_NONE.
     * Which of them are new is for the store to say. */
    int (*list)(MailSource *source, Arena *arena, SourceList *ret_list, Error *error);
    /* Fills the rest of each letter. */
    int (*look)(MailSource *source, Arena *arena, SourceLetter *const *letters, size_t count, Error *error);
    /* Raw bytes of each. An empty result is no error here: the caller leaves such a letter waiting. */
    int (*fetch)(MailSource *source, SourceFetch *fetches, size_t count, Error *error);
    /* Marks letters as handled, as the configuration's `after` says. Called only after their outcomes were committed. A letter
     * that is refused has its fault, and the call is a success if any of the others could be marked; where none could be, it fails.
     * On failure too those that could be marked have `filed` set. */
    int (*file)(MailSource *source, SourceFile *files, size_t count, Error *error);
    /* Whether letters could be read and filed now: opens the line, logs in, looks at every folder, reads and changes nothing. make: folders
     * that are missing are made. */
    int (*probe)(MailSource *source, bool make, Error *error);
    /* Begins to wait for letters to come (IMAP's IDLE): *ret_descriptor is to be polled for reading, or -1 where the source cannot
     * tell and must be asked again after a while. It is a hint only: list() is called after every end of waiting, and IDLE
     * must not last longer than SOURCE_WAIT_SECONDS. 0 or -1. */
    int (*wait_begin)(MailSource *source, int *ret_descriptor, Error *error);
    /* The descriptor has become readable: true if what came may be a new letter or the line's end, so that the waiting is to be
     * ended; false for something idle ("* OK still here"). Never waits. To be asked once right after wait_begin() too: a letter may have come
     * between list() and it, and what was heard is then no longer in the descriptor. */
    bool (*wait_heard)(MailSource *source);
    /* Ends it. Harmless where none was begun. Failing, it has dropped the line, which is no error: the next call opens another. */
    void (*wait_end)(MailSource *source);
    void (*close)(MailSource *source); /* says good-bye where there is a line; frees it */
} MailSourceOperations;

enum { SOURCE_WAIT_SECONDS = 300 }; /* servers may hang up after 29 minutes (RFC 2177), some routers after five */

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

/* An IMAP mailbox (RFC 3501 with 2177, 4315, 6851 where the server has them). folder: NULL for INBOX; `also`: further ones. Names are UTF-8 and
 * go to the server in its own encoding (modified UTF-7). mailbox of a letter as above, name its UID.
 * Letters of a UIDVALIDITY that has gone are never filed. AFTER_SEEN stores \Seen; AFTER_MOVE uses MOVE, else COPY, \Deleted and UID
 * EXPUNGE; AFTER_DELETE \Deleted and UID EXPUNGE, where a server without UIDPLUS is an error of probe() and, there,
 * letters stay with \Deleted set: never a plain EXPUNGE (RULINGS 7). Opening looks at names only. account and texts are copied or outlive it as the
 * configuration does. */
MailSource *source_imap_open(const LineAccount *account, const char *folder, const char *const *also, size_t also_count, AfterKind after,
                             const char *after_folder, Error *error);

/* A POP3 mailbox (RFC 1939, 2449): mailbox "pop3/USER@HOST:PORT" (a hash in the place of a long one), so that another account's UIDLs are never taken for
 * this one's; name the UIDL, or for letters that share theirs "UIDL/" and 32 hex digits of their SHA-256: once only one is left, it is listed under its UIDL
 * and is for the store's second key to know. A server without UIDL is an error. AFTER_DELETE or AFTER_SEEN, which here leaves
 * letters where they are; AFTER_MOVE is ERROR_INPUT. file() with AFTER_DELETE looks each letter up in the UIDL list of this very line, sends DELE and QUIT, and
 * calls filed only what the server's answer to QUIT confirmed; a line that broke in between starts again at UIDL (RULINGS 45). A letter at which the line
 * breaks while others can be read has a fault of its own, as has one that the server refuses to delete. */
MailSource *source_pop3_open(const LineAccount *account, AfterKind after, Error *error);

#endif
