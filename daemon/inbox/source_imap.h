/* The parts of the IMAP source; internal to source_imap*.c. What each operation does stands in source.h.
 *
 * Nothing that is read changes a mailbox: folders are opened by EXAMINE, letters fetched by BODY.PEEK. Only file() opens by SELECT. */
#ifndef EPISTLE_DAEMON_INBOX_SOURCE_IMAP_H
#define EPISTLE_DAEMON_INBOX_SOURCE_IMAP_H

#include "daemon/inbox/imap_session.h"
#include "daemon/inbox/source.h"

enum {
    IMAP_LETTERS_MAX = 1000 * 1000, /* in one folder; more is a mistake, not mail */
    IMAP_COMMAND_LETTERS = 64,      /* letters named in one command */
    IMAP_SUSPECTS_MAX = 16,
};

typedef struct ImapSuspect { /* a letter with which the line broke; it is asked for alone */
    const ImapFolder *folder; /* NULL: a free place */
    uint32_t validity, uid;
} ImapSuspect;

typedef struct ImapSource {
    MailSource source; /* first: this is a MailSource */
    ImapSession session;
    char account[SOURCE_MAILBOX_MAX]; /* "imap/USER@HOST:PORT/", with which the mailbox of each letter begins */
    ImapFolder *folders; /* [0]: the mailbox itself, then `also` */
    size_t folder_count;
    ImapFolder target; /* AFTER_MOVE */
    AfterKind after;
    /* The line broke while letters were looked at, or fetched: the next time each is asked for alone from the beginning. Only a help: within each call
     * one letter that a server cannot give does not keep the others from being read. */
    bool careful_look, careful_fetch;
    ImapSuspect suspects[IMAP_SUSPECTS_MAX];
    size_t suspect_next;
    /* The mailbox itself as list() saw it last, so that what came between is noticed by wait_begin(). */
    uint32_t listed_validity, listed_next;
    size_t listed_count;
    bool waiting, heard; /* IDLE is under way; something came that may be a letter */
    char wait_text[256]; /* the beginning of a line not yet whole */
    size_t wait_length;
} ImapSource;

/* The folder and UIDVALIDITY of a letter's mailbox, "imap/USER@HOST:PORT/FOLDER;UIDVALIDITY". NULL: none that is read, another account's say. */
ImapFolder *imap_source_folder(ImapSource *imap, const char *mailbox, uint32_t *ret_validity);
/* The line as it stands before an operation, and whether that failed only as the line had been lost since the last one (the server hangs up on
 * those who say nothing, or was started anew): then it is to be tried once more, on a new line. */
typedef struct ImapLineBefore {
    bool open;
    unsigned selections;
} ImapLineBefore;
ImapLineBefore imap_source_line(const ImapSource *imap);
bool imap_source_was_stale(const ImapSource *imap, ImapLineBefore before);
/* A UID as it stands in a letter's name. */
bool imap_source_uid(const char *name, uint32_t *ret_uid);

/* source_imap_fetch.c */
int imap_source_look(MailSource *source, Arena *arena, SourceLetter *const *letters, size_t count, Error *error);
int imap_source_fetch(MailSource *source, SourceFetch *fetches, size_t count, Error *error);
/* source_imap_file.c */
/* Those of the letters (up to IMAP_COMMAND_LETTERS, in order) that are still in the selected folder. 0 or -1; a refusal keeps the line. */
int imap_source_find(ImapSession *session, const uint32_t *uids, size_t count, bool undeleted_only, uint32_t *ret_uids, size_t *ret_count, Error *error);
int imap_source_file(MailSource *source, SourceFile *files, size_t count, Error *error);
/* source_imap_wait.c */
int imap_source_wait_begin(MailSource *source, int *ret_descriptor, Error *error);
bool imap_source_wait_heard(MailSource *source);
void imap_source_wait_end(MailSource *source);

#endif
