/* Who wrote a letter, and how surely (RULINGS 1, 2, 5; the ladder's DKIM rung comes with the reading issue). */
#ifndef EPISTLE_DAEMON_SERVICE_PROOF_H
#define EPISTLE_DAEMON_SERVICE_PROOF_H

#include "daemon/config.h"
#include "daemon/inbox/reading.h"
#include "daemon/store/letters_out.h"
#include "daemon/store/players.h"

typedef enum ProofClass { PROOF_NONE, PROOF_TOKEN } ProofClass;

typedef struct Proof {
    ProofClass class;
    bool known;         /* `player` is filled: the proven one, or (PROOF_NONE) the one the From address names */
    Player player;
    bool several;       /* the From address belongs to several players and no token says which */
    bool has_answered;  /* `answered` is the letter of ours that a valid token names, whoever it was for */
    LetterOut answered;
    bool two_games;     /* it is addressed to tokens of two games: which is meant is not said */
    bool own;           /* answered was sent to this player, or (strangers) to this From address */
    const char *why;    /* a phrase for the operator: what was missing for the proof, "" if nothing */
} Proof;

/* Looks at header, tokens, store. 0 or -1. */
int proof_of(Store *store, const Config *config, Arena *arena, const ReadLetter *letter, Proof *ret_proof, Error *error);

const char *proof_name(ProofClass class); /* "token", "none" */

#endif
