/* What goes over an SMTP line: the server's replies read (RFC 5321 4.2, 2034, 3463), a letter made fit for DATA (RFC 5321 4.5.2). Pure functions of
 * bytes; all of a reply is untrusted. */
#ifndef EPISTLE_DAEMON_OUTBOX_SENDER_SMTP_WIRE_H
#define EPISTLE_DAEMON_OUTBOX_SENDER_SMTP_WIRE_H

#include "core/base/str.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    SMTP_REPLY_MAX = 64 * 1024, /* of all lines of one reply: EHLO's are the longest, some hundred bytes */
    SMTP_LINE_MAX = 512,        /* RFC 5321 4.5.3.1.5; what a line has beyond is dropped */
    SMTP_WORDS_SIZE = 256,      /* SendReport.words */
};

typedef struct SmtpReply {
    bool whole;  /* its last line was read: `code` and `words` hold */
    bool broken; /* no reply: not three digits, lines of different codes, more than SMTP_REPLY_MAX; nothing is read any more */
    int code;    /* 200–599 */
    char words[SMTP_WORDS_SIZE]; /* "550 5.1.1 no such user": all lines joined, codes once; UTF-8 without control characters */
    size_t words_length_, line_length_, total_;
    char line_[SMTP_LINE_MAX];
} SmtpReply;

void smtp_reply_begin(SmtpReply *reply);
/* Returns how many of the bytes belong to the reply: all, or up to the end of its last line. */
size_t smtp_reply_feed(SmtpReply *reply, const char *bytes, size_t length);
/* Whether its enhanced code (RFC 3463) is the one given, "5.3.4". */
bool smtp_reply_enhanced(const SmtpReply *reply, const char *code);

typedef enum SmtpBody { SMTP_BODY_GOOD, SMTP_BODY_BAD, SMTP_BODY_NO_MEMORY } SmtpBody;
/* Appends the letter with its dots doubled, and the final dot. BAD: a CR or LF alone (a server could see another letter's end in it), a NUL,
 * or a byte that is not 7-bit. out: initialised with room for 2 × length + 8 bytes. */
SmtpBody smtp_body_write(const char *bytes, size_t length, Str *out);

#endif
