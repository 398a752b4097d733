/* The sender for sendmail(1) and whatever is called so: one program a letter, one letter at a time. */
#include "daemon/child.h"
#include "daemon/outbox/encode_mail.h"
#include "daemon/outbox/sender.h"

#include "core/base/str.h"
#include "core/base/utf8.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

enum {
    SECONDS = 60,       /* a program that only queues takes one; one that speaks to a relay itself takes longer */
    PRINTED_MAX = 4096, /* of what it says */
};

typedef struct SendmailSender {
    MailSender base;
    char program[PATH_MAX];
    Instant (*clock)(void *data);
    void *clock_data;
    Mailing *mailings;
    size_t count, at; /* the one in hand */
    bool running;
    Child child;
    Str input;        /* the letter with LF lines */
    char printed[PRINTED_MAX];
    int seconds;
} SendmailSender;

static int time_limit = SECONDS; /* the unit test shortens it */

/* ---- what became of one ---- */

static void finish(SendmailSender *sender, SendReport report, const char *words) {
    Mailing *mailing = &sender->mailings[sender->at++];
    report.at = sender->clock(sender->clock_data);
    size_t length = 0;
    for (; words[length] != 0 && length + 1 < sizeof report.words; length++)
        report.words[length] = (unsigned char)words[length] < ' ' || words[length] == 0x7f ? '?' : words[length];
    report.words[length] = 0;
    while (length > 0 && !utf8_valid(report.words, length)) /* cut within a letter, or no UTF-8 at all */
        report.words[--length] = 0;
    mailing->report = report;
    mailing->done = true;
}

/* After a fault of the program no other letter goes either. */
static void relay_fault(SendmailSender *sender, bool operators, const char *words) {
    finish(sender, (SendReport){ .result = SEND_LATER, .relay = true, .operators = operators }, words);
    while (sender->at < sender->count)
        finish(sender, (SendReport){ .result = SEND_LATER, .relay = true, .unbegun = true, .operators = operators }, words);
}

/* The first line with something in it; without the program's name and the like it would say less. */
static const char *printed_line(SendmailSender *sender) {
    char *text = sender->printed;
    text[sender->child.length < PRINTED_MAX ? sender->child.length : PRINTED_MAX - 1] = 0;
    text += strspn(text, " \t\r\n");
    text[strcspn(text, "\r\n")] = 0;
    return text;
}

/* sysexits.h: whom a status blames. */
static void judge(SendmailSender *sender, int status) {
    char words[PRINTED_MAX + PATH_MAX + 64];
    const char *said = printed_line(sender);
    bool silent = *said == 0;
    snprintf(words, sizeof words, "%s%sstatus %d of %s%s", said, silent ? "" : " (", status, sender->program, silent ? "" : ")");
    switch (status) {
    case EX_OK:
        finish(sender, (SendReport){ .result = SEND_ACCEPTED }, silent ? "taken by the sendmail program" : said);
        return;
    case EX_NOUSER:
    case EX_NOHOST:
    case EX_DATAERR:
        finish(sender, (SendReport){ .result = SEND_REFUSED }, words);
        return;
    case EX_UNAVAILABLE:
    case EX_SOFTWARE:
    case EX_OSERR:
    case EX_CANTCREAT:
    case EX_IOERR:
    case EX_PROTOCOL:
        relay_fault(sender, false, words);
        return;
    case EX_USAGE:
    case EX_OSFILE:
    case EX_NOPERM:
    case EX_CONFIG:
        relay_fault(sender, true, words);
        return;
    default: /* 75 and whatever a program of another kind means by its numbers */
        finish(sender, (SendReport){ .result = SEND_LATER }, words);
    }
}

static void conclude(SendmailSender *sender) {
    int value = 0;
    char words[PATH_MAX + 200];
    sender->running = false;
    switch (child_finish(&sender->child, &value)) {
    case CHILD_EXITED:
        judge(sender, value);
        return;
    case CHILD_SIGNALLED:
        snprintf(words, sizeof words, "signal %d ended %s: whether it had taken the letter is not known", value, sender->program);
        break;
    case CHILD_TOO_SLOW:
        snprintf(words, sizeof words, "%s was not done after %d s and was ended: whether it had taken the letter is not known", sender->program, sender->seconds);
        break;
    case CHILD_NOT_RUN:
        snprintf(words, sizeof words, "%s cannot be run: %s", sender->program, strerror(value));
        relay_fault(sender, true, words);
        return;
    }
    finish(sender, (SendReport){ .result = SEND_UNKNOWN }, words);
}

/* ---- one letter ---- */

/* An address that a program could take for an option is none that we send to; `--` guards the recipient, nothing guards -f's argument. */
static bool address_good(const char *address) {
    return mail_address_good(address) && address[0] != '-';
}

/* CRLF → LF. */
static bool take_bytes(Str *input, const char *bytes, size_t length) {
    str_clear(input);
    for (size_t at = 0; at < length;) {
        const char *end = memchr(bytes + at, '\r', length - at);
        size_t piece = end == NULL ? length - at : (size_t)(end - bytes) - at;
        str_append_bytes(input, bytes + at, piece);
        at += piece;
        if (at < length && !(at + 1 < length && bytes[at + 1] == '\n'))
            str_append_char(input, '\r');
        at += at < length;
    }
    return !input->overflowed;
}

/* Starts the next letter; one that cannot be started is done. */
static void start_next(SendmailSender *sender) {
    const Mailing *mailing = &sender->mailings[sender->at];
    char option_i[] = "-i", option_f[] = "-f", end[] = "--", from[1024], to[1024], path[PATH_MAX], words[PATH_MAX + 200];
    if (!address_good(mailing->envelope.to) || (mailing->envelope.from[0] != 0 && !address_good(mailing->envelope.from))) {
        finish(sender, (SendReport){ .result = SEND_REFUSED }, "an address of the envelope is not well-formed");
        return;
    }
    if (!text_copy(from, sizeof from, mailing->envelope.from[0] == 0 ? "<>" : mailing->envelope.from) || !text_copy(to, sizeof to, mailing->envelope.to) ||
        !take_bytes(&sender->input, mailing->bytes, mailing->length)) {
        finish(sender, (SendReport){ .result = SEND_LATER }, "no memory for the letter");
        return;
    }
    if (!child_find(sender->program, path)) {
        snprintf(words, sizeof words, "%s cannot be run: %s", sender->program, strerror(errno));
        relay_fault(sender, true, words);
        return;
    }
    char *arguments[] = { sender->program, option_i, option_f, from, end, to, NULL };
    sender->seconds = time_limit;
    ChildPlan plan = { .path = path, .words = arguments, .input = sender->input.data, .input_length = sender->input.length, .taken = sender->printed,
                       .taken_size = PRINTED_MAX - 1, .errors_too = true, .seconds = sender->seconds };
    if (child_start(&plan, &sender->child) == 0) {
        sender->running = true;
        return;
    }
    snprintf(words, sizeof words, "%s could not be started: %s", sender->program, strerror(errno));
    relay_fault(sender, false, words);
}

/* ---- the operations ---- */

static void sendmail_begin(MailSender *base, Mailing *mailings, size_t count, Instant (*clock)(void *data), void *clock_data) {
    SendmailSender *sender = (SendmailSender *)base;
    sender->mailings = mailings;
    sender->count = count;
    sender->at = 0;
    sender->clock = clock;
    sender->clock_data = clock_data;
}

static size_t sendmail_work(MailSender *base, struct pollfd *extra, size_t extra_count, int milliseconds) {
    SendmailSender *sender = (SendmailSender *)base;
    while (!sender->running && sender->at < sender->count)
        start_next(sender);
    if (!sender->running) {
        poll(extra, extra_count, sender->count > 0 ? 0 : milliseconds); /* after a batch there is something to do */
        sender->count = sender->at = 0;
        return 0;
    }
    if (child_watch(&sender->child, extra, extra_count, milliseconds))
        conclude(sender);
    return sender->count - sender->at;
}

static void sendmail_stop(MailSender *base) {
    SendmailSender *sender = (SendmailSender *)base;
    size_t kept = sender->at;
    if (sender->running)
        sender->at++; /* the one in hand is finished */
    while (sender->at < sender->count)
        finish(sender, (SendReport){ .result = SEND_LATER, .unbegun = true }, "not begun");
    sender->count = kept + sender->running;
    sender->at = kept;
}

static int sendmail_probe(MailSender *base, Error *error) {
    SendmailSender *sender = (SendmailSender *)base;
    char path[PATH_MAX];
    if (child_find(sender->program, path))
        return 0;
    return error_set(error, ERROR_INPUT, errno, "the sendmail program %s cannot be run: %s: install a mail server that brings it, or name another in url",
                     sender->program, strerror(errno));
}

static void sendmail_close(MailSender *base) {
    SendmailSender *sender = (SendmailSender *)base;
    int ignored;
    if (sender == NULL)
        return;
    if (sender->running)
        child_finish(&sender->child, &ignored);
    str_free(&sender->input);
    free(sender);
}

static const MailSenderOperations operations = { .begin = sendmail_begin, .work = sendmail_work, .stop = sendmail_stop, .probe = sendmail_probe,
                                                 .close = sendmail_close };

MailSender *sender_sendmail_open(const char *program, Error *error) {
    SendmailSender *sender = calloc(1, sizeof *sender);
    if (sender == NULL || !text_copy(sender->program, sizeof sender->program, program)) {
        error_set(error, sender == NULL ? ERROR_LATER : ERROR_INPUT, 0, sender == NULL ? "no memory for the sender" : "the sendmail program's path is too long");
        free(sender);
        return NULL;
    }
    sender->base.operations = &operations;
    str_init(&sender->input, 16 * 1024 * 1024);
    return &sender->base;
}
