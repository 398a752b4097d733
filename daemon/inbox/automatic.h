/* What kind of letter is it, by its header signs (FACTS.md "Signs of automatic mail")? */
#ifndef EPISTLE_DAEMON_INBOX_AUTOMATIC_H
#define EPISTLE_DAEMON_INBOX_AUTOMATIC_H

#include "daemon/inbox/header.h"

typedef enum LetterKind {
    LETTER_HUMAN,
    LETTER_AUTOMATIC, /* vacation, auto-reply, challenge-response, calendar replies, filters' refusals */
    LETTER_BOUNCE,    /* delivery reports and their home-made kin, feedback reports */
    LETTER_RECEIPT,   /* disposition notifications */
    LETTER_LIST,
    LETTER_OWN,       /* a letter of ours coming back: our loop header, or our own Message-ID on it */
    LETTER_UNREADABLE /* set by the caller when gate or child condemned it */
} LetterKind;

/* loop_value: what our own X-Epistle-Loop header field carries (the service's address). *ret_why: a phrase that names the
 * sign found, "" for LETTER_HUMAN. Never reads the body. */
LetterKind automatic_kind(const Header *header, const char *loop_value, const char **ret_why);

const char *letter_kind_name(LetterKind kind); /* "human", "automatic", … as in `read --json` */

#endif
