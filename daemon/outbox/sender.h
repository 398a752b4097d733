/* MailSender: hands finished letters to the world, behind a table of functions.
 *
 * A letter is bytes with CRLF lines, one recipient, and an envelope sender ("" is the null one).
 * What became of it is one of four things, and the queue's state table is built on just these. */
#ifndef EPISTLE_DAEMON_OUTBOX_SENDER_H
#define EPISTLE_DAEMON_OUTBOX_SENDER_H

#include "core/base/error.h"
#include "core/base/instant.h"

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

/* Delivers into a Maildir at `path` (made if missing): written to tmp/, synced, renamed into new/, directory
 * synced. Return-Path, Delivered-To and nothing else is put before the letter; lines end in LF there.
 * All letters go into this one folder, as an outgoing spool that a mail server or a demo picks up. If `path` holds
 * "%s", the recipient's address stands there instead (one Maildir per recipient), made of the characters
 * A–Z a–z 0–9 @ . _ - + only: other addresses are SEND_REFUSED. */
MailSender *sender_maildir_open(const char *path, Error *error);

#endif
