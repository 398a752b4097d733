/* One connection to a relay for the SMTP sender: opened, secured and logged in to by curl (CONNECT_ONLY in the sender's multi handle), spoken on
 * without ever waiting.
 *
 * Why curl does not hold the conversation too: libcurl 7.88 waits for the reply to the final dot, and for the one to QUIT, inside curl_multi_perform().
 * Several lines would be served one after the other, and the service's one loop (RULINGS 47) would stand still as long as a relay looks at a letter. */
#ifndef EPISTLE_DAEMON_OUTBOX_SENDER_SMTP_LINE_H
#define EPISTLE_DAEMON_OUTBOX_SENDER_SMTP_LINE_H

#include "daemon/line/line.h"
#include "daemon/outbox/sender_smtp_wire.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

enum { SMTP_IN_SIZE = 2048 };

typedef struct SmtpLine {
    CURLM *multi;     /* the sender's */
    CURL *easy;       /* NULL: closed. Stays in multi: curl finds the connection by way of it */
    bool connected;   /* it can be spoken on */
    int socket;       /* for poll(), once connected */
    bool logged_in;   /* the server said 235 */
    bool takes_size;  /* EHLO's answer named SIZE (RFC 1870) */
    SmtpReply reply;  /* to what was said last; while connecting, the last one curl saw */
    bool untimely;    /* it began before the first byte was said, so it answers something else, and nothing was said */
    char fault[SMTP_WORDS_SIZE]; /* what SMTP_BROKEN means */
    const char *saying_;
    size_t saying_length_, said_, in_at_, in_length_, heard_;
    char words_[CURL_ERROR_SIZE], in_[SMTP_IN_SIZE];
} SmtpLine;

/* Begins to connect; curl_multi_perform() goes on with it, and CURLINFO_PRIVATE is `owner`. name: for EHLO. seconds: for all of connecting.
 * 0, or -1 with *error. */
int smtp_line_open(SmtpLine *line, CURLM *multi, const LineAccount *account, const char *name, int seconds, void *owner, Error *error);
/* Curl is done with connecting. 0: connected; -1: *error says why not, and *ret_operators whether only the operator can mend it. */
int smtp_line_opened(SmtpLine *line, CURLcode code, const LineAccount *account, bool *ret_operators, Error *error);
void smtp_line_close(SmtpLine *line); /* without a word to the server */

/* Says a command (or a letter) and expects one reply. The bytes stay where they are until all is said. */
void smtp_line_say(SmtpLine *line, const char *bytes, size_t length);
bool smtp_line_said(const SmtpLine *line); /* whether the last byte has been handed to the system */

typedef enum SmtpProgress {
    SMTP_WAITS,   /* for the socket */
    SMTP_REPLIED, /* `reply` is whole. It may have come before all was said */
    SMTP_BROKEN,  /* no further word can be had or trusted; `fault` says why */
} SmtpProgress;
SmtpProgress smtp_line_work(SmtpLine *line);

/* With nothing to be answered: false if the server said something or closed. */
bool smtp_line_quiet(SmtpLine *line);

#endif
