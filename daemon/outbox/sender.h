/* MailSender: hands finished letters to the world, behind a table of functions.
 *
 * A letter is bytes with CRLF lines, one recipient, and an envelope sender ("" is the null one).
 * What became of it is one of four things, and the queue's state table is built on just these. */
#ifndef EPISTLE_DAEMON_OUTBOX_SENDER_H
#define EPISTLE_DAEMON_OUTBOX_SENDER_H

#include "core/base/error.h"
#include "core/base/instant.h"

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
    Instant at;      /* when; the time of acceptance starts a player's clock */
    char words[256]; /* the server's words, or what went wrong; no control characters */
} SendReport;

typedef struct Envelope {
    const char *from; /* "" is the null sender */
    const char *to;
    const char *id; /* Message-ID without <>, stable over attempts: a Maildir uses it for the file's name, so
                     * that the same letter delivered twice is one file */
} Envelope;

typedef struct MailSender MailSender;
typedef struct MailSenderOperations {
    /* Sends one letter. Never fails but through the report. */
    void (*send)(MailSender *sender, const Envelope *envelope, const char *bytes, size_t length, Instant now, SendReport *ret_report);
    void (*close)(MailSender *sender); /* frees it */
} MailSenderOperations;

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

#endif
