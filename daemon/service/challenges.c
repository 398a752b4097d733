/* Challenges: `challenge WHO [white|black] [TIME]`, the letter to the other, his accept or decline. */
#include "daemon/service/settling.h"

#include "daemon/service/challenges.h"
#include "daemon/service/starting.h"
#include "daemon/service/views.h"

#include <stdio.h>
#include <string.h>

enum { WHO_MAX = 400 };

/* Options stand behind the name; the longest tail of known options is cut off. */
static void read_options(char who[WHO_MAX], ChallengeRow *challenge) {
    static const char *const colours[] = { "white", "black", "random" };
    for (;;) {
        char *blank = strrchr(who, ' ');
        if (blank == NULL)
            return;
        const char *word = blank + 1;
        Control control;
        bool known = false;
        for (int i = 0; i < 3; i++)
            if (text_equal_nocase(word, colours[i])) {
                text_copy(challenge->colour, sizeof challenge->colour, colours[i]);
                known = true;
            }
        if (!known && control_read(word, &control, NULL) == 0) {
            text_copy(challenge->control, sizeof challenge->control, control.text);
            known = true;
        }
        if (!known)
            return;
        *blank = 0;
    }
}

static json_t *who_field(const char *who) {
    return json_pack("{s:s, s:s}", "who", who, "name", who);
}

static int refuse(Settling *settling, const Command *command, const char *code, json_t *fields, Error *error) {
    return settling_outcome(settling, command->verb, OUTCOME_REFUSED, code, fields, error);
}

/* By address or by name; 1 found, 0 not (or several), -1. */
static int find_opponent(Settling *settling, const char *who, int64_t *ret_id, bool *ret_several, Error *error) {
    int64_t ids[PLAYERS_AT_ADDRESS_MAX];
    *ret_several = false;
    if (strchr(who, '@') == NULL)
        return player_by_name(settling->store, who, ret_id, error);
    int count = players_by_address(settling->store, who, ids, error);
    *ret_several = count > 1;
    *ret_id = ids[0];
    return count < 0 ? -1 : count == 1;
}

static const char *opponents_colour(const char *challengers) {
    return strcmp(challengers, "white") == 0 ? "black" : strcmp(challengers, "black") == 0 ? "white" : "random";
}

static json_t *challenge_view(Service *service, const char *kind, const Player *addressee, const ChallengeRow *challenge, const char *from, const char *to,
                              const char *colour) {
    json_t *view = view_new(service, kind, addressee);
    json_object_set_new(view, "challenge", json_pack("{s:I, s:s, s:s, s:s, s:s, s:b}", "id", (json_int_t)challenge->id, "from", from, "to", to, "you",
                                                     colour, "control", challenge->control, "random", strcmp(colour, "random") == 0));
    return view;
}

static int send_challenge(Settling *settling, const ChallengeRow *challenge, const Player *opponent, Error *error) {
    json_t *view = challenge_view(settling->service, "challenge", opponent, challenge, settling->proof.player.name, opponent->name,
                                  opponents_colour(challenge->colour));
    json_object_set_new(json_object_get(view, "challenge"), "days", json_integer(CHALLENGE_DAYS));
    if (settling->reading.remark[0] != 0 && settling->passed_on == NULL) {
        settling->passed_on = view_lines(settling->reading.remark);
        json_object_set(view, "remark", settling->passed_on);
    }
    Draft draft = { .view = view, .scope = "challenge", .ask = challenge->id, .cause = settling->row.id, .brake = "" };
    return queue_letter(settling->service, opponent, NULL, &draft, error);
}

static int make_challenge(Settling *settling, const Command *command, ChallengeRow *challenge, const Player *opponent, Error *error) {
    int64_t open = 0;
    int found = challenge_open_between(settling->store, settling->proof.player.id, opponent->id, &open, error);
    if (found != 0)
        return found < 0 ? -1 : refuse(settling, command, "challenge-open", who_field(opponent->name), error);
    challenge->challenger = settling->proof.player.id;
    challenge->opponent = opponent->id;
    if (challenge_add(settling->store, challenge, settling->now, &challenge->id, error) < 0)
        return -1;
    char subject[48];
    snprintf(subject, sizeof subject, "challenge %lld", (long long)challenge->id);
    if (timer_set(settling->store, subject, "expiry", settling->now + (Instant)CHALLENGE_DAYS * SECONDS_PER_DAY, error) < 0 ||
        send_challenge(settling, challenge, opponent, error) < 0)
        return -1;
    json_t *fields = json_pack("{s:s, s:s, s:s, s:i}", "name", opponent->name, "control", challenge->control, "you", challenge->colour, "days",
                               CHALLENGE_DAYS);
    return settling_outcome(settling, command->verb, OUTCOME_DONE, "challenged", fields, error);
}

int do_challenge(Settling *settling, const Command *command, Error *error) {
    char who[WHO_MAX];
    ChallengeRow challenge = { .colour = "random" };
    text_copy(challenge.control, sizeof challenge.control, settling->service->config->time);
    text_copy(who, sizeof who, command->argument);
    read_options(who, &challenge);
    if (settling->proof.class != PROOF_TOKEN)
        return refuse(settling, command, "needs-proof", json_pack("{s:s}", "line", command->line), error);
    int64_t id = 0;
    bool several = false;
    int found = find_opponent(settling, who, &id, &several, error);
    if (found < 0)
        return -1;
    if (found == 0) {
        const char *last = strrchr(who, ' ');
        if (last != NULL && strpbrk(last, "0123456789/") != NULL) /* "3d/mvoe": a time, not a name */
            return refuse(settling, command, "challenge-bad", json_pack("{s:s, s:s}", "line", command->line, "option", last + 1), error);
        return refuse(settling, command, several ? "several-players" : "unknown-player", who_field(who), error);
    }
    if (id == settling->proof.player.id)
        return refuse(settling, command, "challenge-self", who_field(who), error);
    Player opponent;
    if (player_get(settling->store, id, &opponent, error) < 0)
        return -1;
    if (opponent.blocked)
        return refuse(settling, command, "unknown-player", who_field(who), error);
    return make_challenge(settling, command, &challenge, &opponent, error);
}

static int accept_challenge(Settling *settling, const Command *command, const ChallengeRow *challenge, const Player *challenger, Error *error) {
    char label[48];
    snprintf(label, sizeof label, "challenge %lld", (long long)challenge->id);
    bool white = strcmp(challenge->colour, "white") == 0 || (strcmp(challenge->colour, "random") == 0 && store_draw(settling->store, label, 2) == 0);
    int64_t one = challenge->challenger, two = challenge->opponent, game = 0;
    Beginning beginning = { .white = white ? one : two, .black = white ? two : one, .control = challenge->control, .start = INSTANT_NONE,
                            .letter = settling->row.id, .told = two, .remark = settling->reading.remark };
    if (begin_game(settling->service, &beginning, &game, error) < 0 ||
        challenge_finish(settling->store, challenge->id, "accepted", game, error) < 0 || timer_clear(settling->store, label, "expiry", error) < 0)
        return -1;
    if (settling->reading.remark[0] != 0 && settling->passed_on == NULL)
        settling->passed_on = view_lines(settling->reading.remark);
    settling->shown_game = game;
    return settling_outcome(settling, command->verb, OUTCOME_DONE, "challenge-accepted",
                            json_pack("{s:s, s:I}", "name", challenger->name, "id", (json_int_t)game), error);
}

static int decline_challenge(Settling *settling, const Command *command, const ChallengeRow *challenge, const Player *challenger, Error *error) {
    char label[48];
    snprintf(label, sizeof label, "challenge %lld", (long long)challenge->id);
    if (challenge_finish(settling->store, challenge->id, "declined", 0, error) < 0 || timer_clear(settling->store, label, "expiry", error) < 0)
        return -1;
    json_t *view = challenge_view(settling->service, "challenge-declined", challenger, challenge, challenger->name, settling->proof.player.name,
                                  challenge->colour);
    if (settling->reading.remark[0] != 0 && settling->passed_on == NULL) {
        settling->passed_on = view_lines(settling->reading.remark);
        json_object_set(view, "remark", settling->passed_on);
    }
    Draft draft = { .view = view, .scope = "none", .cause = settling->row.id, .brake = "" };
    if (queue_letter(settling->service, challenger, NULL, &draft, error) < 0)
        return -1;
    return settling_outcome(settling, command->verb, OUTCOME_DONE, "challenge-declined", who_field(challenger->name), error);
}

int do_challenge_reply(Settling *settling, const Command *command, Error *error) {
    ChallengeRow challenge;
    Player challenger;
    if (settling->proof.class != PROOF_TOKEN)
        return refuse(settling, command, "needs-proof", json_pack("{s:s}", "line", command->line), error);
    int found = challenge_get(settling->store, settling->proof.answered.ask, &challenge, error);
    if (found == 1)
        found = player_get(settling->store, challenge.challenger, &challenger, error);
    if (found < 0)
        return -1;
    if (found == 0 || challenge.opponent != settling->proof.player.id || strcmp(challenge.state, "open") != 0)
        return refuse(settling, command, "challenge-gone", json_pack("{s:s}", "line", command->line), error);
    return (command->verb == VERB_ACCEPT ? accept_challenge : decline_challenge)(settling, command, &challenge, &challenger, error);
}

int challenge_expire(Service *service, int64_t id, Error *error) {
    ChallengeRow challenge;
    Player challenger, opponent;
    int found = challenge_get(service->store, id, &challenge, error);
    if (found <= 0 || strcmp(challenge.state, "open") != 0)
        return found < 0 ? -1 : 0;
    if (challenge_finish(service->store, id, "expired", 0, error) < 0)
        return -1;
    if (player_get(service->store, challenge.challenger, &challenger, error) != 1 || player_get(service->store, challenge.opponent, &opponent, error) != 1)
        return 0;
    json_t *view = challenge_view(service, "challenge-declined", &challenger, &challenge, challenger.name, opponent.name, challenge.colour);
    json_object_set_new(json_object_get(view, "challenge"), "expired", json_true());
    json_object_set_new(json_object_get(view, "challenge"), "days", json_integer(CHALLENGE_DAYS));
    Draft draft = { .view = view, .scope = "none", .brake = "" };
    return queue_letter(service, &challenger, NULL, &draft, error);
}
