/* ImapSession: one line to an IMAP server with libetpan's low-level IMAP on it, logged in; opened when it is wanted, dropped at the first
 * thing that cannot be trusted any more (RULINGS 46). Internal to source_imap*.c.
 *
 * Errors are ERROR_MAILBOX, or ERROR_INPUT where only the operator can mend it, each a sentence that names the server and what was being done. */
#ifndef EPISTLE_DAEMON_INBOX_IMAP_SESSION_H
#define EPISTLE_DAEMON_INBOX_IMAP_SESSION_H

#include "core/base/error.h"
#include "daemon/line/line.h"

#include <libetpan/libetpan.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    IMAP_ANSWER_MAX = 256 * 1024, /* bytes of an answer that is no list and no letter */
    IMAP_FOLDER_MISSING = 1,      /* code of the ERROR_INPUT for a folder that is not there */
};

typedef struct ImapFolder {
    char *name;  /* UTF-8, as configured; "INBOX" in capitals */
    char *wire;  /* the same in modified UTF-7 */
    char *found; /* what this server calls it; looked up once a line */
    bool there;  /* it was found under that name */
    unsigned found_on; /* number of the line it was looked up on */
} ImapFolder;

typedef struct ImapSession {
    LineAccount account;
    Line *line; /* NULL: none */
    unsigned number; /* of the line: it grows with each */
    unsigned selections; /* how often a folder could be opened, on all lines */
    mailstream *stream;
    mailimap *imap;
    bool can_move, can_uidplus, can_idle, can_namespace; /* capabilities of this line */
    bool namespace_known;
    char *prefix;   /* of one's own folders: "INBOX." on some servers; NULL: none */
    char delimiter; /* between a folder and those below it; 0: not known */
    /* What was selected by imap_select(): */
    const ImapFolder *selected; /* NULL: nothing */
    bool writable;              /* it was SELECT, not EXAMINE */
    uint32_t validity, next, exists; /* UIDVALIDITY, UIDNEXT (0: not told), letters */
} ImapSession;

/* A line, logged in, and its capabilities; nothing is done where there is one. 0 or -1. */
int imap_open(ImapSession *session, Error *error);
/* Closes the line without a word; harmless where there is none. */
void imap_drop(ImapSession *session);
/* LOGOUT, for a few seconds at most, then the same. */
void imap_leave(ImapSession *session);

/* Before each command: it has the account's time and may answer with so many bytes. */
void imap_begin(ImapSession *session, size_t bytes);

/* Whether libetpan's result only says that the server refused (NO), and the line is as good as before. */
bool imap_refused(int result);
/* What libetpan has put into its result parameters counts only with MAILIMAP_NO_ERROR. After a refused FETCH it is freed already, after a refused
 * SEARCH or LIST it is the caller's to free. */
/* Turns libetpan's result into a sentence, and drops the line if it was more than a refusal. `doing`: "opening the folder X". Returns -1. */
int imap_fail(ImapSession *session, int result, Error *error, const char *doing, ...) __attribute__((format(printf, 4, 5)));
/* The server's own words with its last tagged answer; "" if there were none. */
const char *imap_words(const ImapSession *session);

/* A line of the server's without its end, cut at size - 1; for the few commands that libetpan is not trusted with. 0 or -1: the line is
 * broken (and not dropped here). */
int imap_read_line(ImapSession *session, char *ret_text, size_t size, Error *error);
/* Whether at least one byte can be read without waiting; true at the line's end as well. */
bool imap_readable(ImapSession *session);
int imap_read_byte(ImapSession *session, char *ret_byte, Error *error);

/* `name` is copied. False: no memory, or a name that cannot be one (then *ret_folder has no name). */
bool imap_folder_init(ImapFolder *ret_folder, const char *name);
void imap_folder_free(ImapFolder *folder);

/* Finds out what the server calls the folder: as it is named; with the server's own delimiter for "/"; below the prefix of one's
 * own folders. Sets found and there. 0 or -1. */
int imap_folder_find(ImapSession *session, ImapFolder *folder, Error *error);
/* CREATE and SUBSCRIBE; a folder that somebody else has just made is fine too. 0 or -1. */
int imap_folder_make(ImapSession *session, ImapFolder *folder, Error *error);
/* SELECT (writable) or EXAMINE, anew each time. 0 or -1; a folder that is not there: ERROR_INPUT with code IMAP_FOLDER_MISSING. */
int imap_select(ImapSession *session, ImapFolder *folder, bool writable, Error *error);

/* A set of UIDs for a command, sorted by the caller; neighbours become a range. NULL: no memory. */
struct mailimap_set *imap_set(const uint32_t *uids, size_t count);
/* The UID in an answer to FETCH; 0: it has none. */
uint32_t imap_uid_of(const struct mailimap_msg_att *answer);

#endif
