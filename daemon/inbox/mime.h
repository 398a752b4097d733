/* MIME: from a raw letter to one small flat text.
 *
 * mime_read() does the work and is only ever called inside a locked child (mime_child.c) or, in
 * simulation and unit tests, directly. The zygote is this same program executed again (`argv[0]` "epistle-mime")
 * before any secret was read: an empty environment, two pipes, no other descriptor; it forks one child per letter
 * with rlimits and seccomp (RULINGS 43). A dead or slow child condemns that letter alone. */
#ifndef EPISTLE_DAEMON_INBOX_MIME_H
#define EPISTLE_DAEMON_INBOX_MIME_H

#include "core/base/arena.h"
#include "core/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    MIME_TEXT_MAX = 256 * 1024, /* of flat text; a letter with moves has a few kB, with a long quoted history some 100 kB */
    MIME_REPORT_MAX = 64 * 1024, /* of a delivery report's fields; the longest in the corpus has 9 kB */
    MIME_SECONDS = 5,           /* a child's life at most; an honest letter takes 1 ms */
};

typedef enum MimeKind {
    MIME_TEXT,      /* there is a readable text part */
    MIME_HTML_ONLY, /* text only as HTML (until the reading issue: answered with a request for plain text) */
    MIME_EMPTY,     /* no text at all */
    MIME_ENCRYPTED, /* S/MIME or PGP encrypted */
    MIME_REPORT,    /* multipart/report: a delivery report */
    MIME_UNREADABLE /* the gate refused it, or the child died or took too long */
} MimeKind;

typedef struct MimeResult {
    MimeKind kind;
    const char *text;    /* UTF-8, lines end in LF, "" if none; in the arena */
    const char *report;  /* MIME_REPORT: the message/delivery-status part's fields, then the returned header; else "" */
    bool cut;            /* text was longer than MIME_TEXT_MAX */
    const char *why;     /* MIME_UNREADABLE: for the operator, one phrase; else "" */
} MimeResult;

/* Parses in this very process. Never returns an error: what cannot be read is MIME_UNREADABLE. */
void mime_read(Arena *arena, const char *raw, size_t size, MimeResult *ret_result);

typedef struct MimeReader MimeReader; /* a running zygote */

/* Starts the zygote from the program's own file (/proc/self/exe). Call it first thing, before configuration and key are
 * read. The caller ignores SIGPIPE (a zygote that died makes the next write raise it) and leaves waitpid(-1) alone. */
MimeReader *mime_reader_start(Error *error);
/* Reads one letter in a child of the zygote. A child that died is tried once more by itself; then the
 * result is MIME_UNREADABLE with why. A dead zygote is started anew. Returns -1 only if no zygote can be had (ERROR_LATER);
 * its code is MIME_PROCESS_DIED if the zygote died twice with this very letter. */
enum { MIME_PROCESS_DIED = -1 };
int mime_reader_read(MimeReader *reader, Arena *arena, const char *raw, size_t size, MimeResult *ret_result, Error *error);
void mime_reader_stop(MimeReader *reader); /* NULL is fine */

/* The zygote's own main, called by main() when argv[0] says so. Does not return to main's work. */
int mime_zygote_main(void);

#endif
