#include "daemon/service/answer.h"

#include <string.h>

enum { BUDGET_DAY = 24 * 3600, BUDGET_HOUR = 3600 };

const char *answer_brake(const Settling *settling) {
    if (settling->played || settling->awaiting)
        return "";
    /* Who answers a letter of ours from the address that it went to is nobody whose name a forger took: RULINGS 41 guards those. */
    if (!settling->proof.known && !settling->proof.several)
        return settling->proof.class == PROOF_TOKEN ? "unproven" : "stranger";
    return settling->proof.class == PROOF_TOKEN ? "answer" : "unproven";
}

static int strangers_allowed(Settling *settling, const char *address, bool *ret_allowed, Error *error) {
    const Config *config = settling->service->config;
    const char *at = strrchr(address, '@');
    int64_t all = 0, domain = 0;
    if (letters_out_strangers(settling->store, NULL, settling->now - BUDGET_HOUR, &all, error) < 0 ||
        letters_out_strangers(settling->store, at == NULL ? address : at + 1, settling->now - BUDGET_HOUR, &domain, error) < 0)
        return -1;
    *ret_allowed = all < config->strangers_per_hour && domain < config->strangers_per_domain;
    return 0;
}

int answer_allowed(Settling *settling, const char *brake, const char *address, bool *ret_allowed, Error *error) {
    const Config *config = settling->service->config;
    const struct { const char *brake; int a_day; } budgets[] = {
        { "answer", config->player_per_day }, { "unproven", config->unproven_per_day }, { "stranger", config->strangers_per_day },
    };
    *ret_allowed = true;
    for (size_t i = 0; i < sizeof budgets / sizeof budgets[0]; i++) {
        int64_t count = 0;
        if (strcmp(budgets[i].brake, brake) != 0)
            continue;
        if (letters_out_answered(settling->store, brake, address, settling->now - BUDGET_DAY, &count, error) < 0)
            return -1;
        *ret_allowed = count < budgets[i].a_day;
    }
    if (*ret_allowed && strcmp(brake, "stranger") == 0)
        return strangers_allowed(settling, address, ret_allowed, error);
    return 0;
}

int answer_show_game(Settling *settling, Draft *draft, Error *error) {
    Game *game = NULL;
    int found = game_load(settling->store, settling->shown_game, &game, error);
    if (found <= 0)
        return found;
    Colour viewer = game->white == settling->proof.player.id ? WHITE : BLACK;
    int result = view_add_game(settling->service, draft->view, settling->shown_game, game, viewer, error);
    draft->game = settling->shown_game;
    draft->epoch = game->epoch;
    draft->ply = game->ply_count;
    draft->notice = !game_over(game) && game_turn(game) == viewer && game->running_since == INSTANT_NONE;
    if (draft->scope == NULL)
        draft->scope = "game";
    game_free(game);
    return result;
}

int answer_queue(Settling *settling, const Draft *draft, const char *address, int64_t *ret_answer, Error *error) {
    const Player *player = settling->proof.known ? &settling->proof.player : NULL;
    if (queue_letter(settling->service, player, address, draft, error) < 0)
        return -1;
    return store_query_int(settling->store, error, ret_answer, "SELECT max(id) FROM letter_out", "") < 0 ? -1 : 0;
}

/* Where one answer speaks of several games, each outcome must name its own. */
static void mark_several_games(json_t *outcomes) {
    json_int_t first = 0;
    bool several = false;
    size_t index;
    json_t *outcome;
    json_array_foreach(outcomes, index, outcome) {
        json_int_t game = json_integer_value(json_object_get(outcome, "game"));
        several = several || (game != 0 && first != 0 && game != first);
        first = game != 0 ? game : first;
    }
    json_array_foreach(outcomes, index, outcome)
        if (several && json_object_get(outcome, "game") != NULL)
            json_object_set_new(outcome, "several_games", json_true());
}

static json_t *answer_view(Settling *settling) {
    bool registering = settling->scope != NULL && strcmp(settling->scope, "registration") == 0;
    const char *kind = settling->awaiting ? "confirm" : registering ? "register" : "answer";
    json_t *view = view_new(settling->service, kind, settling->proof.known ? &settling->proof.player : NULL);
    json_object_set_new(view, "letter", json_pack("{s:s, s:s}", "subject", settling->read->subject, "date", settling->read->date));
    json_object_set_new(view, "unproven", json_boolean(settling->proof.known && settling->proof.class != PROOF_TOKEN));
    mark_several_games(settling->outcomes);
    json_object_set(view, "outcomes", settling->outcomes);
    if (registering)
        json_object_set(view, "register", json_array_get(settling->outcomes, 0));
    if (settling->passed_on != NULL)
        json_object_set(view, "remark", settling->passed_on);
    json_t *line = json_object_get(json_array_get(settling->outcomes, 0), "line");
    if (settling->awaiting && line != NULL)
        json_object_set_new(view, "confirm", json_pack("{s:O, s:i}", "command", line, "hours", settling->service->config->confirm_hours));
    return view;
}

int answer_send(Settling *settling, int64_t *ret_answer, Error *error) {
    *ret_answer = 0;
    if (json_array_size(settling->outcomes) == 0)
        return 0;
    const char *address = settling->proof.known ? settling->proof.player.address : settling->read->from;
    const char *brake = answer_brake(settling);
    bool allowed = false;
    if (answer_allowed(settling, brake, address, &allowed, error) < 0)
        return -1;
    settling->silenced = !allowed;
    if (!allowed)
        return 0;
    Draft draft = { .view = answer_view(settling), .scope = settling->scope, .ask = settling->ask, .cause = settling->row.id, .brake = brake,
                    .in_reply_to = settling->read->message_id };
    if (settling->shown_game != 0 && answer_show_game(settling, &draft, error) < 0) {
        json_decref(draft.view);
        return -1;
    }
    if (draft.scope == NULL)
        draft.scope = "none";
    return answer_queue(settling, &draft, address, ret_answer, error);
}
