/* A Maildir as a folder (https://cr.yp.to/proto/maildir.html): whether it is there, and making one. Mailboxes are read by
 * inbox/source_maildir.c, letters laid into one by outbox/sender_maildir.c.
 *
 * A missing Maildir is never made on the way: behind it may stand a volume that is not mounted, and what is laid into the mount
 * point is lost. It is made where somebody asked for it. Error codes are errno values. */
#ifndef EPISTLE_DAEMON_MAILDIR_H
#define EPISTLE_DAEMON_MAILDIR_H

#include "core/base/error.h"

/* Makes `path` with new/, cur/ and tmp/ and the folders above it, each where it is missing, mode 0700, and syncs what it made.
 * Harms nothing that is there. 0, or -1 and ERROR_MAILBOX. */
int maildir_make(const char *path, Error *error);

/* 0 if there is a Maildir at `path`, that is, `path`/new; cur/ and tmp/ are made beside it where they are missing.
 * Else -1 and ERROR_MAILBOX with a sentence that says what to do. */
int maildir_ready(const char *path, Error *error);

/* 0 if `path` is a folder, for a path with one Maildir for each recipient below it; else as maildir_ready(). */
int maildir_base_ready(const char *path, Error *error);

/* Makes the folder and those above it. 0, or -1 and ERROR_MAILBOX. */
int maildir_base_make(const char *path, Error *error);

#endif
