/* Secrets: where a password or an access token comes from. None of them ever stands in the configuration, in a log or in the store. */
#ifndef EPISTLE_DAEMON_LINE_SECRET_H
#define EPISTLE_DAEMON_LINE_SECRET_H

#include "core/base/error.h"
#include "core/base/str.h"

#include <stdbool.h>

typedef struct Secret { /* at most one is set, the others are NULL; texts belong to the configuration */
    const char *file;       /* its first line, without the line's end */
    const char *command;    /* the first line it prints */
    const char *credential; /* the name of a systemd credential: the first line of $CREDENTIALS_DIRECTORY/NAME */
    const char *token;      /* a command that prints an OAuth2 access token: XOAUTH2 or OAUTHBEARER instead of a password */
} Secret;

enum {
    SECRET_MAX = 16 * 1024,  /* access tokens of large providers have 2 to 4 kB */
    SECRET_SECONDS = 30,     /* for a command; then it is killed */
    SECRET_WORDS_MAX = 32,   /* of a command */
};

bool secret_is_set(const Secret *secret);

/* Reads it anew each time, so that a password that was changed and a token that has run out are found by the next log-in.
 * ret_secret: initialised by the caller with SECRET_MAX; emptied first. Commands are run by execve without a shell (RULINGS 50): words
 * are divided at blanks, "…" and '…' keep blanks, \ takes the next byte as it is; a program without a slash is looked for in
 * /usr/local/bin, /usr/bin and /bin. They get the surroundings of child.h, /dev/null as input, and our own standard
 * error. Their whole process group is killed when the time is over.
 * 0, or -1: ERROR_INPUT for what the operator must mend (no such file, a file that everybody may read, a command that cannot be
 * run, nothing or a control character printed), ERROR_MAILBOX for a command that failed or took too long. The sentence names the file or the
 * command's first word, and never the secret. alive: called at least once a second while a command is waited for; may be NULL. */
int secret_read(const Secret *secret, void (*alive)(void), Str *ret_secret, Error *error);

/* Overwrites the bytes before they are freed. */
void secret_free(Str *secret);

/* Whether a command's words can be divided (quotes closed, at most SECRET_WORDS_MAX, at least one): for the configuration. */
bool secret_command_good(const char *command);

#endif
