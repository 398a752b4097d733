/* Line: one connection to a mail server, opened and secured by libcurl, spoken on by us (DESIGN decision 4, RULINGS 45–47, FACTS).
 *
 * line_open() lets a curl handle with CONNECT_ONLY do DNS, TCP, TLS with certificate and host name, STARTTLS where the scheme has no
 * TLS of its own, and the log-in (RFC 3501, 1939, 4616, 7628). What then goes over the line is the caller's: the POP3 source's own commands,
 * or libetpan's IMAP by way of stream.h.
 *
 * Every operation is bounded: line_begin() sets how long and how many bytes the operation may take in all, however slowly
 * or fast the server sends. A line that failed once (its end came, time over, cap passed) fails for ever: close it, open another. */
#ifndef EPISTLE_DAEMON_LINE_LINE_H
#define EPISTLE_DAEMON_LINE_LINE_H

#include "core/base/error.h"
#include "daemon/line/secret.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct LineAccount { /* how a server is reached; texts belong to the configuration */
    const char *url;     /* SCHEME://HOST[:PORT], nothing behind it; imap imaps pop3 pop3s smtp smtps */
    const char *user;    /* NULL: no log-in (smtp only) */
    Secret secret;
    const char *ca_file; /* PEM certificates to trust instead of the system's; NULL: the system's */
    bool plain;          /* tls = none: no TLS at all; config.c allows it for this very machine only */
    int seconds;         /* of connecting, and of one operation, for line_begin(); 0: LINE_CONNECT_SECONDS and LINE_SECONDS */
    void (*alive)(void); /* called at least once a second while a server, or a command that prints the secret, is waited for; NULL: not called */
} LineAccount;

enum {
    LINE_CONNECT_SECONDS = 30, /* name, connection, TLS and log-in together */
    LINE_SECONDS = 30,         /* one operation (RULINGS 47) */
    LINE_BYTES_MAX = 64 * 1024 * 1024, /* the largest cap: lists of a mailbox that was never emptied */
};

/* Whether the host is this very machine: localhost, *.localhost, 127.0.0.0/8, ::1. Takes a URL. */
bool line_host_is_local(const char *url);

typedef struct Line Line;

/* The result, or NULL with *error: ERROR_MAILBOX, or ERROR_INPUT for what only the operator can mend (log-in refused, certificate not
 * trusted or not of this host or run out, STARTTLS not offered, another kind of server). A name that is not found is
 * ERROR_MAILBOX: curl does not tell a name that is wrong from a name server that is away. One sentence that names the host and port, says
 * in plain words what is wrong (each of those causes is told from the others), gives the server's own words where there are some, and what to do. */
Line *line_open(const LineAccount *account, Error *error);
void line_close(Line *line); /* without a word to the server; NULL is fine */

/* A new operation: everything until the next line_begin() ends within `seconds`, and reads `bytes` bytes at most. */
void line_begin(Line *line, int seconds, size_t bytes);
/* At least one byte, at most `size`; or -1 with *error (ERROR_MAILBOX), at the line's end too, which is an error everywhere here: never 0. */
ssize_t line_read(Line *line, void *ret_bytes, size_t size, Error *error);
/* All of them. 0, or -1 with *error. */
int line_write(Line *line, const void *bytes, size_t length, Error *error);

/* For poll(): readable when the server has sent something, be it only TLS's own; so ask line_pending() before and after each poll(). line_pending(): bytes,
 * or the end of the line, can be read at once; poll() would not tell of what lies in the TLS layer or our buffer. It never waits. */
int line_descriptor(const Line *line);
bool line_pending(Line *line);
/* What the first failed operation failed of; "" if none has. For callers whose own path of errors leads through a library. */
const char *line_fault(const Line *line);
const char *line_host(const Line *line); /* "imap.club.example:993" */

/* ---- shared with the SMTP sender, which lets curl speak ---- */

/* Puts URL, TLS, certificate checks, user and secret (read here), time-outs for connecting, protocols and NOSIGNAL into a curl easy
 * handle (void *, so that this header needs no curl). 0, or -1 and *error as secret_read(). */
int line_prepare_curl(const LineAccount *account, void *easy, Error *error);
/* What curl's result says, as a sentence for people, as in line_open(). words: curl's error buffer; reply: the server's last line or "". */
void line_explain_curl(const LineAccount *account, int curl_code, void *easy, const char *words, const char *reply, Error *error);

#endif
