/* Letters out: the queue's rows. States (DESIGN): "queued" O1, "trying" O2, "accepted" O3, "refused" O4, "given up" O5, "held" O6,
 * "bounced" or "delayed" O7, "overtaken" O8. */
#ifndef EPISTLE_DAEMON_STORE_LETTERS_OUT_H
#define EPISTLE_DAEMON_STORE_LETTERS_OUT_H

#include "core/base/arena.h"
#include "core/base/instant.h"
#include "daemon/store/players.h"
#include "daemon/store/store.h"

enum { MESSAGE_ID_MAX = 300, LETTER_KIND_MAX = 24 };

typedef struct LetterOut {
    int64_t id;
    int64_t cause;              /* the letter in that it answers or follows from; 0: a timer or the operator */
    const char *kind;           /* the view's kind */
    int64_t player;             /* 0: a stranger */
    const char *address;
    const char *scope;          /* what its token may do: "game", "challenge", "registration", "confirm", "none" */
    int64_t game;               /* 0: none */
    int epoch, ply;             /* scope "game": the position it was written at */
    int64_t ask;                /* the challenge's, registration's or question's id, 0: none */
    bool notice;                /* its acceptance may start the player's clock */
    const char *brake;          /* "": unlimited; "answer", "unproven", "stranger": counted by its budget (RULINGS 41) */
    const char *view;           /* JSON */
    const char *message_id;     /* TOKEN@domain */
    const char *in_reply_to;    /* NULL: none */
    const char *references;     /* ids with blanks between, oldest first */
    bool null_sender;
    const char *state;
    Instant due, queued, tried, accepted; /* INSTANT_NONE where it has not happened */
    int attempts, unknowns;
    const char *words;          /* the server's */
    const void *bytes;          /* rendered, kept for ever after an unknown end, in whatever state; NULL: to be rendered */
    size_t length;
} LetterOut;

/* Queues a draft (id, message_id, state, attempts, bytes are not looked at) and fixes its Message-ID at `domain`. */
int letter_out_queue(Store *store, const LetterOut *draft, const char *domain, int64_t *ret_id, Error *error);
int letter_out_get(Store *store, Arena *arena, int64_t id, LetterOut *ret_letter, Error *error); /* 1, 0, -1; texts in the arena */

/* 1 if one of the due letters was tried before, with an unknown end; 0, -1. */
int letters_out_unclear(Store *store, Instant now, Error *error);
/* The token of a letter: bound to whose it is, where it went, what it may do and when it was made. */
void letter_out_token(const Store *store, const LetterOut *letter, char ret_token[TOKEN_SIZE]);
/* The letter that a token names and proves. 1, 0 (there is none, or the token is not its own), -1. */
int letter_out_by_token(Store *store, Arena *arena, const char *token, LetterOut *ret_letter, Error *error);

/* Nothing is put off for so long: what is due later still was put off under a clock that was ahead, and is due now. */
enum { LETTER_PUT_OFF_MAX = 2 * SECONDS_PER_DAY };

/* Ids of letters due for an attempt, oldest due first. Their number or -1. */
int letters_out_due(Store *store, Instant now, int64_t *ret_ids, int most, Error *error);

/* O1/O4 → O2: bytes and attempt noted, committed by the caller before the line opens. */
int letter_out_note_attempt(Store *store, int64_t id, Instant now, const void *bytes, size_t length, Error *error);
/* O2 → whatever became of it. keep_bytes: after an unknown end. */
int letter_out_note_result(Store *store, int64_t id, const char *state, Instant due, Instant accepted, bool keep_bytes, bool unknown,
                           const char *words, Error *error);
/* An attempt in which no letter could go at all (the relay's outage) does not count for its back-off. */
int letter_out_take_back_attempt(Store *store, int64_t id, Error *error);
/* When the relay took it, whatever is known of it besides. */
int letter_out_note_accepted(Store *store, int64_t id, Instant accepted, Error *error);
/* 1 if it is in that state, 0, -1. */
int letter_out_is(Store *store, int64_t id, const char *state, Error *error);

/* The first and the last letter to this player in this game (their Message-IDs, for References); "" if none. */
int letter_out_thread(Store *store, int64_t game, int64_t player, char ret_first[MESSAGE_ID_MAX], char ret_last[MESSAGE_ID_MAX], Error *error);

/* How many letters under a brake were queued: to an address since then; to strangers since then, in all or to one domain. */
int letters_out_answered(Store *store, const char *brake, const char *address, Instant since, int64_t *ret_count, Error *error);
int letters_out_strangers(Store *store, const char *domain, Instant since, int64_t *ret_count, Error *error); /* domain NULL: all */

#endif
