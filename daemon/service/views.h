/* Building views and queueing the letters made of them (daemon/outbox/view.h says what a view holds). */
#ifndef EPISTLE_DAEMON_SERVICE_VIEWS_H
#define EPISTLE_DAEMON_SERVICE_VIEWS_H

#include "core/game/game.h"
#include "core/notation/notation.h"
#include "daemon/service/service.h"
#include "daemon/store/letters_out.h"
#include "daemon/store/players.h"

#include <jansson.h>

/* kind, service, player. player NULL: a stranger, the service's own language. */
json_t *view_new(const Service *service, const char *kind, const Player *player);

/* Adds game, deadline, their_deadline as the viewer sees the game now; names come from the store. */
int view_add_game(Service *service, json_t *view, int64_t id, const Game *game, Colour viewer, Error *error);

/* Renews the deadlines of a view whose clock was not running when it was written; called at each rendering (RULINGS 32, 36). */
int view_renew_deadline(Service *service, json_t *view, int64_t game, int epoch, int ply, Instant now, Error *error);

json_t *view_lines(const char *text);                              /* ["line", …] */
json_t *view_ply(const Game *game, int ply);                       /* {number, black, san, long, from, to} of a played ply (from 1) */
json_t *view_move(const Position *position, Move move);            /* {san, long} */
json_t *view_fault(const Position *position, const Reading *reading);

typedef struct Draft {
    json_t *view;          /* stolen */
    const char *scope;
    int64_t game;
    int epoch, ply;
    int64_t ask;
    int64_t cause;
    bool notice;
    const char *brake;
    const char *in_reply_to; /* the sender's own Message-ID for an answer, NULL otherwise */
} Draft;

/* Queues a letter to a player's preferred address, or (player NULL) to `address`. In-Reply-To and References are made from the
 * thread of this player and game and the letter answered. */
int queue_letter(Service *service, const Player *player, const char *address, const Draft *draft, Error *error);

/* A notice about a game to one of its players: kind "move", "start", "offer", "declined", "end". remark may be NULL. */
int queue_notice(Service *service, const char *kind, int64_t id, const Game *game, Colour to, const char *remark, int64_t cause, Error *error);

#endif
