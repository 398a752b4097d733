/* Pop3Session: a line to a POP3 server with the list of its letters (RFC 1939, RULINGS 45). For source_pop3.c alone.
 *
 * A letter's number holds for one line only, so number and list go when the line goes. Before each command the server must be silent: bytes that nobody
 * asked for would be taken for the next answer, and so each answer for the one of the next command. */
#ifndef EPISTLE_DAEMON_INBOX_POP3_SESSION_H
#define EPISTLE_DAEMON_INBOX_POP3_SESSION_H

#include "core/base/error.h"
#include "core/base/sha256.h"
#include "core/base/str.h"
#include "daemon/line/line.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    POP3_UIDL_MAX = 200,  /* RFC 1939 says 70; some servers are longer */
    POP3_WORDS_MAX = 512, /* of a status line */
};

typedef struct Pop3Entry { /* a letter as this line numbers it */
    char *uidl;
    uint32_t number; /* may be beyond the mailbox's count, where the server lies: then it refuses the commands, which is this letter's fault alone */
    bool doubled;    /* another one has the same UIDL */
    size_t size;     /* as LIST says, which is a hint; 0: it says nothing */
} Pop3Entry;

typedef struct Pop3Session {
    LineAccount account;
    Line *line; /* NULL: none */
    bool idle;  /* others have worked since its last answer: it may have died unnoticed */
    unsigned serial, answers; /* lines that were opened, answers that came */
    Pop3Entry *entries; /* by UIDL, then number */
    size_t count;
    size_t nameless; /* letters whose UIDL is none */
    char words[POP3_WORDS_MAX + 1]; /* the server's, of its last status line */
    size_t begin, end; /* what lies in the buffer */
    char buffer[16 * 1024];
} Pop3Session;

/* Opens a line and reads UIDL and LIST, if there is none that can be used: one that has gone, or that has something to say, is given up.
 * Errors as in source.h. */
int pop3_ready(Pop3Session *session, Error *error);
/* Gives the line up without a word: what DELE has marked is not deleted then (RFC 1939, 6). */
void pop3_drop(Pop3Session *session);
/* Says QUIT, by which deletions count, and closes the line. 1: they do; 0: the server refused, see words; -1: no answer came. Without a line 1. */
int pop3_quit(Pop3Session *session, int seconds, Error *error);

/* The one letter of that UIDL, or the first of several; NULL. */
Pop3Entry *pop3_find(Pop3Session *session, const char *uidl);

typedef struct Pop3Body {
    Str *raw;     /* the first `keep` bytes; may be NULL */
    size_t keep;
    size_t stop;  /* no more is read than about so many; a letter that goes on has cost the line */
    Sha256 *hash; /* of what was read; may be NULL */
    size_t length; /* returned: bytes that were read */
    bool cut;      /* returned: there is more */
} Pop3Body;

/* RETR. 1; 0: refused, see words; -1: the line broke and is dropped. */
int pop3_retrieve(Pop3Session *session, const Pop3Entry *entry, Pop3Body *body, Error *error);
/* DELE, likewise. */
int pop3_delete(Pop3Session *session, const Pop3Entry *entry, Error *error);

int pop3_seconds(const Pop3Session *session); /* that one operation may take */

#endif
