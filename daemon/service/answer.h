/* The one answer to a letter's sender, and the budgets that bound answers, never the settling (RULINGS 41). Internal to service/. */
#ifndef EPISTLE_DAEMON_SERVICE_ANSWER_H
#define EPISTLE_DAEMON_SERVICE_ANSWER_H

#include "daemon/service/settling.h"
#include "daemon/service/views.h"

/* Which budget an answer counts in: "answer" to a proven player, "unproven" to the registered address of one whom an unproven letter
 * names (so that a forger's letters cannot use up what the player himself is answered), "stranger"; "" for receipts of moves and for
 * the confirm letter, which are bounded by the plies of his games. */
const char *answer_brake(const Settling *settling);
int answer_allowed(Settling *settling, const char *brake, const char *address, bool *ret_allowed, Error *error);

/* The whole answer from the outcomes; *ret_answer is the letter's id, 0 if none is sent. */
int answer_send(Settling *settling, int64_t *ret_answer, Error *error);

/* Its parts, for letters that are no list of outcomes. */
int answer_show_game(Settling *settling, Draft *draft, Error *error);
int answer_queue(Settling *settling, const Draft *draft, const char *address, int64_t *ret_answer, Error *error);

#endif
