/* A line to a POP3 server (RFC 1939) and our own few commands on it; internal to source_pop3.c.
 *
 * A letter's number holds on one line alone, so numbers never leave this module but by way of the list that was read on the very same line.
 * Whatever is out of order ends the line without QUIT, which undoes every DELE. */
#ifndef EPISTLE_DAEMON_INBOX_POP3_SESSION_H
#define EPISTLE_DAEMON_INBOX_POP3_SESSION_H

#include "core/base/error.h"
#include "core/base/str.h"
#include "daemon/line/line.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    POP3_LETTERS_MAX = 1000 * 1000, /* in one mailbox; more is a mistake, not mail */
    POP3_UIDL_MAX = 200,            /* RFC 1939 says 70; some servers write more */
    POP3_REPLY_MAX = 256,           /* what is kept of a reply's line */
    POP3_BUFFER_SIZE = 16 * 1024,
};

typedef enum Pop3Name {
    POP3_NAME_GOOD,
    POP3_NAME_BAD,     /* it can be no UIDL */
    POP3_NAME_DOUBLED, /* another letter has the same: RFC 1939 7 lets servers do that for copies, and nobody can tell which is which */
} Pop3Name;

typedef struct Pop3Entry {
    size_t name;  /* where its UIDL stands in `names` */
    size_t bytes; /* as LIST says */
    Pop3Name kind;
    bool sized;   /* LIST has named it */
} Pop3Entry;

typedef struct Pop3Session {
    LineAccount account;
    Line *line;    /* NULL: none */
    bool fresh;    /* nothing was said on it yet */
    bool deleting; /* a DELE was sent: QUIT would make it true */
    bool bare;     /* its lines end in LF alone */
    char words[POP3_REPLY_MAX]; /* of the last reply */
    char buffer[POP3_BUFFER_SIZE];
    size_t at, length;
    /* The list as this line has it: letter N is entries[N - 1]. */
    bool listed;
    Str names;
    Pop3Entry *entries;
    size_t count;
    size_t *by_name; /* numbers less one of the good ones, by UIDL */
    size_t good;
} Pop3Session;

void pop3_init(Pop3Session *session, const LineAccount *account);
/* QUIT, unless that would delete something, and the line's end. Never fails. */
void pop3_leave(Pop3Session *session);
/* The end without a word. */
void pop3_drop(Pop3Session *session);

/* Whether the line is in order and its list read: nothing came unasked, and it is not closed. */
bool pop3_alive(Pop3Session *session);
/* Makes it so, with a new line where there is none. 0 or -1. */
int pop3_ready(Pop3Session *session, Error *error);
const char *pop3_name(const Pop3Session *session, size_t index);
/* The letter's number; 0: it does not lie there, or not alone under this name, and then *ret_doubled. */
size_t pop3_find(const Pop3Session *session, const char *name, bool *ret_doubled);

typedef struct Pop3Letter { /* one that is read */
    Str *raw;
    size_t keep; /* the first so many bytes go into raw */
    size_t stop; /* the reading ends, and the line with it, after so many; SIZE_MAX: at the letter's end */
    size_t total; /* bytes that came */
    bool whole;   /* to its end */
} Pop3Letter;

/* RETR, dot-unstuffed, line ends as they came. 0: letter->total and ->whole are set; 1: the server refuses it, with session->words; -1: the line broke,
 * with what came before in the letter. */
int pop3_retrieve(Pop3Session *session, size_t number, Pop3Letter *letter, Error *error);
/* 0; 1: refused, with session->words; -1. */
int pop3_delete(Pop3Session *session, size_t number, Error *error);
/* QUIT, and the line's end in any case. 0: the server confirmed it, and so each DELE; -1. */
int pop3_commit(Pop3Session *session, Error *error);

#endif
