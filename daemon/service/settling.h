/* Settling: one letter in hand, between its raw bytes and its committed outcomes. Internal to service/. */
#ifndef EPISTLE_DAEMON_SERVICE_SETTLING_H
#define EPISTLE_DAEMON_SERVICE_SETTLING_H

#include "daemon/inbox/command.h"
#include "daemon/inbox/reading.h"
#include "daemon/service/proof.h"
#include "daemon/service/service.h"
#include "daemon/store/asks.h"
#include "daemon/store/games.h"
#include "daemon/store/letters_in.h"
#include "daemon/store/letters_out.h"

#include <jansson.h>

typedef struct Settling {
    Service *service;
    Store *store;
    Arena *arena;
    Instant now;
    LetterIn row;       /* its id and arrival are what counts */
    ReadLetter *read;
    Proof proof;
    CommandReading reading;

    /* What the answer will say. */
    json_t *outcomes;       /* one object each, with `code` */
    int outcome_count;
    json_t *passed_on;      /* lines of the remark that went to the opponent, NULL if none did */
    int64_t shown_game;     /* the game whose board the answer shows, 0: none */
    const char *scope;      /* of the answer's token: "game" if shown_game, unless a confirmation or such */
    int64_t ask;
    bool played;            /* a move was played: the answer is no answer in the budget's sense */
    bool silenced;          /* the budget allowed no answer (RULINGS 41) */
    bool awaiting;          /* a question of the confirm rung was opened: state I2c */
    const char *strongest;  /* the letter's outcome as a whole: the strongest of its commands' */
} Settling;

/* The outcomes of the store (DESIGN): one of these words for each command. */
#define OUTCOME_PLAYED "played"
#define OUTCOME_DONE "done"
#define OUTCOME_REFUSED "refused"
#define OUTCOME_ASKED "asked"
#define OUTCOME_AWAITING "awaiting proof"
#define OUTCOME_IGNORED "ignored"
#define OUTCOME_SET_ASIDE "set aside"

/* Adds an outcome object {code: …} to the answer and to the store; `fields` (stolen, may be NULL) are merged into it. */
int settling_outcome(Settling *settling, Verb verb, const char *outcome, const char *code, json_t *fields, Error *error);

/* One raw letter, read before the transaction begins; then settled within it. */
int settle_read(Service *service, Arena *arena, const Str *raw, ReadLetter *ret_read, Error *error);
int settle_read_head(Service *service, Arena *arena, const Str *raw, ReadLetter *ret_read, Error *error);
int settle_letter(Service *service, Arena *arena, int64_t id, ReadLetter *read, Error *error);
/* Sets a letter aside; its known sender is told. read may be NULL if not even that could be done. */
int settle_aside(Service *service, Arena *arena, int64_t id, const ReadLetter *read, const char *why, Error *error);

/* moves.c, and so on: one function per subject; each adds its outcomes. */
int do_move(Settling *settling, const Command *command, bool offer_beside, Error *error);
int do_draw_words(Settling *settling, const Command *command, Error *error); /* offer draw, accept, decline */
int do_resign(Settling *settling, const Command *command, Error *error);
int do_question(Settling *settling, const Command *command, Error *error);   /* board games game pgn help ping */
int do_register(Settling *settling, const Command *command, Error *error);
int do_challenge(Settling *settling, const Command *command, Error *error);
int do_challenge_reply(Settling *settling, const Command *command, Error *error); /* accept, decline of a challenge */
int do_confirm(Settling *settling, const Command *command, Error *error);    /* confirm, yes */

/* The game a command is about (RULINGS 14): 1 and the loaded game (caller frees) with the player's colour, 0 if the answer
 * was given (which-game, no-such-game, …), -1. */
int settling_game(Settling *settling, const Command *command, Game **ret_game, int64_t *ret_id, Colour *ret_colour, Error *error);
/* Does the answered letter's token stand for this very position of this game? */
bool settling_token_current(const Settling *settling, int64_t id, const Game *game);

/* Plays a legal move in the current position: entries, result, letters to the opponent, outcome "played". remark may be NULL.
 * cause: the letter that holds the move, arrival: what counts. */
int play_move(Settling *settling, Verb verb, Game *game, int64_t id, Move move, Instant arrival, int64_t cause, bool offer, const char *remark, Error *error);

static inline const char *author_side(Colour colour) { return colour == WHITE ? "white" : "black"; }
static inline Colour other_side(Colour colour) { return colour == WHITE ? BLACK : WHITE; }

#endif
