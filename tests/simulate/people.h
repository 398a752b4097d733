/* People: the simulated players. They know what stands in the letters they got, choose legal moves, answer late, twice or not at all,
 * and remember what they sent. They have no access to the store. */
#ifndef EPISTLE_TESTS_SIMULATE_PEOPLE_H
#define EPISTLE_TESTS_SIMULATE_PEOPLE_H

#include "tests/simulate/outside.h"

#include <stdbool.h>

enum { PEOPLE = 10, NEWCOMERS = 2, EVERYBODY = PEOPLE + NEWCOMERS, GAMES = 10, PLIES_SEEN_MAX = 400, COMPLAINT_SIZE = 400 };

typedef struct Side {
    int seen;        /* plies in the longest score this player has read */
    bool over;       /* he was told that the game is over */
    int asked;       /* the sending (index) in which it is his turn with `seen` plies, -1 */
    int sent_for;    /* the ply he has sent a move for, -1: none yet */
    bool resigned;
    bool offered;    /* a draw, in the letter that asked him */
    bool agreed;     /* he accepted it */
    bool unproven;   /* his move went without a token: a letter will ask whether it was he */
} Side;

/* Somebody who registers himself and then invites a player. */
typedef struct Newcomer {
    enum { NEW_OUTSIDE, NEW_WRITTEN, NEW_CONFIRMED, NEW_INVITING, NEW_DECLINED, NEW_ACCEPTED } step;
} Newcomer;

typedef struct SimulatedGame {
    int64_t id;
    int players[2]; /* by Colour */
    Side sides[2];
    char score[PLIES_SEEN_MAX][16]; /* as the letters told it, to whomever */
    char sent[PLIES_SEEN_MAX][16];  /* as the players sent it; "" not yet */
} SimulatedGame;

typedef struct People {
    Outside *outside;
    char names[EVERYBODY][32], addresses[EVERYBODY][ADDRESS_SIZE];
    Newcomer newcomers[NEWCOMERS];
    SimulatedGame games[GAMES];
    bool *seen; /* by sending: the addressee has read it */
    int letters_sent;
    char complaint[COMPLAINT_SIZE]; /* the first thing that was wrong in a letter; "" none */
} People;

void people_begin(People *people, Outside *outside);
void people_end(People *people);
/* Everyone reads what is in his folder by now. */
void people_read(People *people);
/* Everyone may write: moves where it is his turn, now and then a question, an offer, a resignation, a copy, a forgery, a move from another address
 * book, without our token; newcomers register and invite. */
void people_write(People *people);
/* True if there is a letter on its way to somebody. */
bool people_waiting(const People *people);

/* The value of a header field of a raw letter, unfolded, "" if there is none. */
void letter_field(const char *raw, const char *end, const char *name, char *ret, size_t size);

#endif
