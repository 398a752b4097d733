/* MailSender: hands finished letters to the world, behind a table of functions.
 *
 * A letter is bytes with CRLF lines, one recipient, and an envelope sender ("" is the null one).
 * What became of it is one of four things, and the queue's state table is built on just these. */
#ifndef EPISTLE_DAEMON_OUTBOX_SENDER_H
#define EPISTLE_DAEMON_OUTBOX_SENDER_H

#include "core/base/error.h"
#include "core/base/instant.h"
#include "daemon/line/line.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum SendResult {
    SEND_ACCEPTED, /* the relay took responsibility (Maildir: the file is in new/ and synced) */
    SEND_LATER,    /* not taken for now, surely not delivered: 4xx, no line, disk full */
    SEND_REFUSED,  /* 5xx for this letter */
    SEND_UNKNOWN,  /* the line broke when it might have been taken: the same bytes again */
} SendResult;

typedef struct SendReport {
    SendResult result;
    bool relay;      /* SEND_LATER only: not this letter's fault, but the relay's or the line's: no letter goes now (FACTS: greeting, EHLO, AUTH,
                      * certificate, no connection) */
    bool unbegun;    /* SEND_LATER only: this letter was not even begun, because of `relay` or because of stop() */
    bool operators;  /* with relay: only the operator can mend it (log-in refused, certificate, the sendmail program missing) */
    Instant at;      /* when; the time of acceptance starts a player's clock */
    char words[256]; /* the server's words with its enhanced code, or what went wrong; no control characters */
} SendReport;

typedef struct Envelope {
    const char *from; /* "" is the null sender */
    const char *to;
    const char *id; /* Message-ID without <>, stable over attempts: a Maildir uses it for the file's name, so
                     * that the same letter delivered twice is one file */
} Envelope;

typedef struct Mailing { /* one letter on its way; stays where it is until it is done */
    Envelope envelope;
    const char *bytes;
    size_t length;
    bool done;         /* set by the sender when `report` is final */
    SendReport report;
} Mailing;

struct pollfd;
typedef struct MailSender MailSender;
typedef struct MailSenderOperations {
    /* Takes up a batch; none other may be under way. clock: the world's time, asked whenever a letter is done. */
    void (*begin)(MailSender *sender, Mailing *mailings, size_t count, Instant (*clock)(void *data), void *clock_data);
    /* Works on the batch and returns how many of its letters are not done yet. Waits at most `milliseconds` for something to happen, or
     * until one of the `extra` descriptors (their revents are filled) has something to tell. With nothing under way it only
     * waits. Never fails but through the reports; a letter is done in SENDER_LETTER_SECONDS at the latest. */
    size_t (*work)(MailSender *sender, struct pollfd *extra, size_t extra_count, int milliseconds);
    /* Letters that are not begun are done now (unbegun); those under way are finished by further work(). */
    void (*stop)(MailSender *sender);
    /* Whether letters could be sent now, without sending one: connects, logs in and says good-bye; looks for the folder or the program. 0 or -1. */
    int (*probe)(MailSender *sender, Error *error);
    void (*close)(MailSender *sender); /* frees it; letters under way are dropped, their end unknown */
} MailSenderOperations;

enum { SENDER_LETTER_SECONDS = 300 }; /* RFC 5321 4.5.3.2 gives single steps up to ten minutes; a relay that slow is tried again later */

struct MailSender {
    const MailSenderOperations *operations;
};

/* Delivers into a Maildir at `path`: written to tmp/, synced, renamed into new/, directory synced. Return-Path,
 * Delivered-To and nothing else is put before the letter; lines end in LF there.
 * All letters go into this one folder, as an outgoing spool that a mail server or a demo picks up. If `path` holds
 * "%s", the recipient's address stands there instead (one Maildir per recipient, made with its first letter); an address
 * with a slash, a control character or a leading dot is SEND_REFUSED.
 * Opening looks at the path's text only. A Maildir that is not there (its volume may not be mounted), or with "%s" the
 * folder before it, is SEND_LATER. */
MailSender *sender_maildir_open(const char *path, Error *error);

/* The folder before "%s", which holds the recipients' Maildirs; false, and the path itself, where one Maildir serves all.
 * ret_base has room for PATH_MAX bytes; the path is one that sender_maildir_open() takes. */
bool sender_maildir_base(const char *path, char *ret_base);
/* Whether letters could go there now: 0, or -1 and ERROR_MAILBOX with a sentence that says what to do. */
int sender_maildir_ready(const char *path, Error *error);
/* Makes what must be there: the Maildir, or the folder before "%s". 0, or -1 and ERROR_MAILBOX. */
int sender_maildir_make(const char *path, Error *error);

/* Over SMTP (RFC 5321, 3463, 2034): up to `lines` connections at once, each kept for the letters that follow and closed after some idle
 * seconds; one recipient a transaction. account: its texts must outlive the sender; `seconds` bounds connecting, four times that one answer, ten
 * times that a letter (at most SENDER_LETTER_SECONDS). fallback: the service's own address, which takes the null sender's place with a relay that
 * refused MAIL FROM:<> for good (RULINGS 37), remembered while the sender lives; its domain is our name in EHLO. ERROR_INPUT if it is no address, or
 * for a number of lines that is not 1 to 16.
 * A letter is condemned (SEND_REFUSED) by the server's 5xx at RCPT and after the final dot (FACTS), at DATA by 55x, and anywhere by 552 or 5.3.4, too
 * large. Any other 5xx at MAIL, 50x at DATA, 530, 534, 535 and 538 speak of us: relay and operators, as every failure before MAIL is relay, and
 * operators if the code was 5xx, the log-in refused or the certificate bad.
 * A line lost before the last byte was handed over is SEND_LATER, from then on SEND_UNKNOWN. 421 or a loss on a reused line, before that byte: again at
 * once on a new one, once. On a new line: at MAIL the relay's fault; later the letter's own, so that one that kills its relay's filter does not keep
 * the others waiting, but at the second in a row the relay's. Fewer lines than asked for, where the relay bears no more, are no fault.
 * An address with control characters, blanks or non-ASCII is SEND_REFUSED and never goes to the wire; bytes with a bare LF or CR, a NUL or 8-bit
 * likewise. After a fault of the relay the rest of the batch is done as unbegun; the next batch tries anew. */
MailSender *sender_smtp_open(const LineAccount *account, int lines, const char *fallback, Error *error);

/* Through a program as sendmail(1): PROGRAM -i -f FROM -- TO, by execve, the letter with LF lines on its standard input; FROM is "<>" for the null
 * sender. Exit statuses of sysexits.h: 0 accepted; 65 data refused, 67 no such user, 68 no such host: SEND_REFUSED; 64, 69 to 74, 76 to 78 and a program
 * that cannot be run: the relay's fault, the operator's to mend for 64, 72, 77, 78 and the missing program; 75 and whatever else: later. Killed by a
 * signal or by our time limit: unknown. The words are the first line it printed. Addresses as with SMTP, and none that begins with "-". */
MailSender *sender_sendmail_open(const char *program, Error *error);

#endif
