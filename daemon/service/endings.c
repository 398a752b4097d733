/* Draw offers and their answers, resignation (Laws 5.1b, 5.2c, 9.1; RULINGS 2). */
#include "daemon/service/settling.h"

#include "daemon/service/views.h"

#include <string.h>

typedef struct Act {
    Settling *settling;
    const Command *command;
    Game *game;
    int64_t id;
    Colour me;
} Act;

static int refuse(const Act *act, const char *outcome, const char *code, Error *error) {
    return settling_outcome(act->settling, act->command->verb, outcome, code, json_pack("{s:s}", "line", act->command->line), error);
}

static const char *remark_once(Settling *settling) {
    return settling->passed_on == NULL && settling->reading.remark[0] != 0 ? settling->reading.remark : NULL;
}

/* Writes the entries, tells the opponent, adds the outcome. */
static int carry_out(const Act *act, Entry *entries, int count, const char *notice, const char *code, Error *error) {
    Settling *settling = act->settling;
    const char *remark = remark_once(settling);
    if (game_append(settling->store, act->id, act->game, entries, count, error) < 0 ||
        queue_notice(settling->service, notice, act->id, act->game, other_side(act->me), remark, settling->row.id, error) < 0)
        return -1;
    if (remark != NULL)
        settling->passed_on = view_lines(remark);
    return settling_outcome(settling, act->command->verb, OUTCOME_DONE, code,
                            json_pack("{s:I, s:b}", "game", (json_int_t)act->id, "passed_on", remark != NULL), error);
}

static int act_resign(const Act *act, Error *error) {
    Entry entries[2];
    int count = game_plan_resign(act->game, act->me, act->settling->row.arrival, act->settling->row.id, entries, error);
    return count < 0 ? -1 : carry_out(act, entries, count, "end", "resigned", error);
}

static int act_accept(const Act *act, Error *error) {
    if (!act->game->offer_standing || act->game->offer_by == act->me)
        return refuse(act, OUTCOME_REFUSED, "no-offer", error);
    Entry entries[2];
    int count = game_plan_accept(act->game, act->me, act->settling->row.arrival, act->settling->row.id, entries, error);
    return count < 0 ? -1 : carry_out(act, entries, count, "end", "draw-agreed", error);
}

static int act_decline(const Act *act, Error *error) {
    if (!act->game->offer_standing || act->game->offer_by == act->me)
        return refuse(act, OUTCOME_REFUSED, "no-offer", error);
    Entry entry;
    int count = game_plan_decline(act->game, act->me, act->settling->row.arrival, act->settling->row.id, &entry, error);
    return count < 0 ? -1 : carry_out(act, &entry, count, "declined", "draw-declined", error);
}

static int act_offer(const Act *act, Error *error) {
    if (act->game->offer_standing) {
        json_t *fields = json_pack("{s:s, s:b}", "line", act->command->line, "theirs", act->game->offer_by != act->me);
        return settling_outcome(act->settling, act->command->verb, OUTCOME_REFUSED, "offer-already", fields, error);
    }
    Entry entry;
    int count = game_plan_offer(act->game, act->me, act->settling->row.arrival, act->settling->row.id, &entry, error);
    return count < 0 ? -1 : carry_out(act, &entry, count, "offer", "draw-offered", error);
}

static int act_on_game(Settling *settling, const Command *command, int (*function)(const Act *act, Error *error), Error *error) {
    Act act = { .settling = settling, .command = command };
    int found = settling_game(settling, command, &act.game, &act.id, &act.me, error);
    if (found <= 0)
        return found;
    int result;
    if (game_over(act.game))
        result = refuse(&act, OUTCOME_REFUSED, "game-over", error);
    else if (settling->proof.class != PROOF_TOKEN)
        result = refuse(&act, OUTCOME_REFUSED, "needs-proof", error);
    else if (verb_needs_full_proof(command->verb) && !settling_token_current(settling, act.id, act.game))
        result = refuse(&act, OUTCOME_ASKED, "needs-current", error);
    else
        result = function(&act, error);
    game_free(act.game);
    return result;
}

int do_resign(Settling *settling, const Command *command, Error *error) {
    return act_on_game(settling, command, act_resign, error);
}

int do_draw_words(Settling *settling, const Command *command, Error *error) {
    const Proof *proof = &settling->proof;
    if (command->verb != VERB_OFFER_DRAW && command->game == 0 && proof->has_answered && strcmp(proof->answered.scope, "challenge") == 0)
        return do_challenge_reply(settling, command, error);
    if (command->verb == VERB_OFFER_DRAW)
        return act_on_game(settling, command, act_offer, error);
    return act_on_game(settling, command, command->verb == VERB_ACCEPT ? act_accept : act_decline, error);
}
