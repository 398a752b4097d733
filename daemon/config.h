/* The configuration (epistle.conf(5), CONTRACT.md): read whole, every error told at once with file and line. */
#ifndef EPISTLE_DAEMON_CONFIG_H
#define EPISTLE_DAEMON_CONFIG_H

#include "core/base/error.h"
#include "core/base/str.h"
#include "daemon/inbox/source.h"
#include "daemon/line/line.h"

#include <stdbool.h>
#include <stddef.h>

enum { CONFIG_LIST_MAX = 16 };

typedef enum Registration { REGISTRATION_OPEN, REGISTRATION_APPROVE, REGISTRATION_CLOSED } Registration;

typedef enum MailboxKind { MAILBOX_MAILDIR, MAILBOX_IMAP, MAILBOX_POP3 } MailboxKind;
typedef enum OutgoingKind { OUTGOING_MAILDIR, OUTGOING_SMTP, OUTGOING_SENDMAIL } OutgoingKind;

typedef struct Config {
    char *file;
    /* [service] */
    char *name, *address, *store, *language, *timezone, *arbiter, *trusted_authserv, *key_file, *templates;
    char *operator_; /* who is told of outages; default: arbiter; NULL: nobody but the log */
    char *received_by[CONFIG_LIST_MAX];
    size_t received_by_count;
    bool reply_tag_plus;
    /* [mailbox] */
    MailboxKind mailbox_kind;
    char *mailbox_url;    /* "maildir:///path", or SCHEME://HOST[:PORT] and nothing behind it */
    char *mailbox_folder; /* of imap://HOST/FOLDER, decoded, UTF-8; NULL: INBOX */
    char *mailbox_user, *mailbox_password_file, *mailbox_password_command, *mailbox_password_credential, *mailbox_token_command;
    char *mailbox_ca_file;
    bool mailbox_plain;   /* tls = none */
    int mailbox_poll;     /* seconds between two readings where the mailbox does not tell of letters by itself: 60 */
    int mailbox_timeout;  /* seconds of one operation: LINE_SECONDS */
    AfterKind after;
    char *after_folder;
    char *also[CONFIG_LIST_MAX];
    size_t also_count;
    /* [outgoing] */
    OutgoingKind outgoing_kind;
    char *outgoing_url;     /* likewise; for sendmail:/PROGRAM the program's absolute path alone */
    char *outgoing_user, *outgoing_password_file, *outgoing_password_command, *outgoing_password_credential, *outgoing_token_command;
    char *outgoing_ca_file;
    bool outgoing_plain;
    int outgoing_timeout;   /* likewise */
    int outgoing_lines;     /* connections at once: 2 */
    /* [play] */
    char *time; /* canonical time control */
    Registration registration;
    /* [limits] RULINGS 41 */
    int strangers_per_day;    /* answers to one stranger's address a day: 1 */
    int strangers_per_hour;   /* to all strangers: 100 */
    int strangers_per_domain; /* to one domain an hour: 20 */
    int player_per_day;       /* answers to one known player a day: 30 */
    int unproven_per_day;     /* to his address on letters that did not prove to be his: 10 */
    int confirm_hours;        /* 48 */
    int free_space;           /* MB on the store's disk below which no letter is taken in: 64 */
    /* After config_read_partly(): nothing that was said in the section is wrong, so that its server may be asked. */
    bool mailbox_good, outgoing_good;
} Config;

/* How the servers are reached; texts stay the configuration's. Only for kinds that have a server. `alive` is left NULL. */
LineAccount config_mailbox_account(const Config *config);
LineAccount config_outgoing_account(const Config *config);

/* Reads `file`. On failure one line per error is appended to *ret_errors (initialised by the caller), "file:line: message",
 * "file: message" where it is about no line, and the result is NULL. mailbox_url and outgoing_url come out as "maildir://" and an absolute
 * path, nothing escaped; "%s" stays in the latter (sender.h). Not safe to call from two threads (inih's settings are global). Relative
 * paths are taken from the configuration's own folder. key_file defaults to the store's path with ".key" for ".db"; templates to the
 * folder beside the program (../templates or ../share/epistle/templates of /proc/self/exe's folder). Checks: unknown sections and keys,
 * doubled keys, missing ones (service.name, address, store, mailbox.url, outgoing.url), addresses, time control, zone, URLs of known
 * schemes, numbers' ranges, passwords in world-readable files, more than one secret, a user without a secret, servers elsewhere without TLS, keys
 * that mean nothing with this kind of URL (also or after = move with POP3, user with a Maildir). */
Config *config_read(const char *file, Str *ret_errors);
/* The same, but what could be read is returned although there are errors, for a verb that wants to tell those of other things
 * too: *ret_good says whether there were none. Texts that were required may be NULL then. NULL if the file itself cannot be read. */
Config *config_read_partly(const char *file, Str *ret_errors, bool *ret_good);
void config_free(Config *config); /* NULL is fine */

#endif
