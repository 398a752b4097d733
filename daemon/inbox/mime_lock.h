/* The locks on the MIME zygote and on each of its children (RULINGS 43): rlimits, no new privileges, seccomp. */
#ifndef EPISTLE_DAEMON_INBOX_MIME_LOCK_H
#define EPISTLE_DAEMON_INBOX_MIME_LOCK_H

#include <stdbool.h>

enum {
    MIME_CHILD_FD = 3, /* the only descriptor a child may write to; it may read none */

    MIME_DATA_MAX = 128 * 1024 * 1024,    /* heap; 2 MB of letter take some 20 MB */
    MIME_SPACE_MAX = 1024 * 1024 * 1024, /* address space; ICU's data and the libraries are 60 MB of it */
    MIME_STACK_MAX = 8 * 1024 * 1024,    /* the gate's numbers are made for this */
};

/* In the zygote, once: no new privileges, no core, not dumpable; translates the filter. False: not possible here. */
bool mime_lock_zygote(void);

/* In a child, before it looks at its letter. Afterwards it can compute, take memory up to MIME_DATA_MAX and write to MIME_CHILD_FD.
 * Opening a file fails with EACCES (libetpan's iconv and ICU look for some and live without);
 * any other system call kills it. Under AddressSanitizer memory is not limited and other calls fail with EPERM. */
bool mime_lock_child(void);

#endif
