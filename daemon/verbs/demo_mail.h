/* The demo's two people: each reads the letters in his own Maildir and answers the newest, as a mail program would. */
#ifndef EPISTLE_DAEMON_VERBS_DEMO_MAIL_H
#define EPISTLE_DAEMON_VERBS_DEMO_MAIL_H

#include "daemon/inbox/token.h"
#include "daemon/verbs/open.h"

enum { DEMO_FIELD_MAX = 600, DEMO_TEXT_MAX = 32 * 1024 };

typedef struct DemoLetter {
    char from[DEMO_FIELD_MAX], to[DEMO_FIELD_MAX], subject[DEMO_FIELD_MAX], date[DEMO_FIELD_MAX];
    char reply_to[DEMO_FIELD_MAX], message_id[DEMO_FIELD_MAX];
    char text[DEMO_TEXT_MAX];
} DemoLetter;

typedef struct DemoPlayer {
    const char *name, *address;
    char folder[4096];   /* his Maildir */
    DemoLetter newest;   /* the letter he answers next */
    int written;
} DemoPlayer;

/* Reads what is new in his Maildir, oldest first by our own letter numbers, files it as read, and calls `show` with each.
 * Their number, or -1. */
int demo_receive(DemoPlayer *player, MimeReader *mime, const TokenKey *key, void (*show)(const DemoPlayer *player, const DemoLetter *letter),
                 Error *error);

/* Puts his answer to the newest letter into the service's Maildir: the words on top, that letter quoted below. 0 or -1. */
int demo_answer(DemoPlayer *player, const char *mailbox, const char *words, Instant now, Error *error);

#endif
