/* `confirm` and `yes`: answers to questions of ours (RULINGS 4, 13). */
#include "daemon/service/settling.h"

#include "daemon/service/registration.h"
#include "daemon/service/views.h"

#include <string.h>

static int nothing_open(Settling *settling, const Command *command, Error *error) {
    const char *code = command->verb == VERB_CONFIRM ? "confirm-nothing" : "yes-nothing";
    return settling_outcome(settling, command->verb, OUTCOME_REFUSED, code, json_pack("{s:s}", "line", command->line), error);
}

/* The move asked about as the record knows it. */
static bool find_move(const Game *game, const QuestionRow *question, Move *ret_move) {
    Reading reading;
    notation_read(&game->position, question->move, 0, &reading);
    *ret_move = reading.move;
    return reading.kind == READING_MOVE;
}

/* The letter asked about has its outcome now: it was played, through this one. */
static int close_letter(Settling *settling, const QuestionRow *question, const char *outcome, const char *why, Error *error) {
    if (strcmp(question->kind, "confirm") != 0)
        return 0;
    return letter_in_set_state(settling->store, question->letter, "settled", outcome, why, error);
}

static int play_question(Settling *settling, const Command *command, const QuestionRow *question, Game *game, Error *error) {
    Move move = MOVE_NONE;
    bool same_position = !game_over(game) && game->epoch == question->epoch && game->ply_count == question->ply;
    bool played = game->epoch == question->epoch && game->ply_count > question->ply;
    bool in_time = strcmp(question->state, "open") == 0 &&
                   (strcmp(question->kind, "confirm") != 0 ||
                    settling->row.arrival <= question->arrival + (Instant)settling->service->config->confirm_hours * 3600);
    settling->shown_game = question->game;
    if (played) {
        char uci[NOTATION_MAX];
        notation_write(&game->positions[question->ply], game->plies[question->ply].move, NOTATION_UCI, uci);
        bool same = strcmp(uci, question->move) == 0;
        json_t *fields = view_ply(game, question->ply + 1);
        json_object_set_new(fields, "line", json_string(command->line));
        return settling_outcome(settling, command->verb, same ? OUTCOME_IGNORED : OUTCOME_REFUSED, same ? "already-played" : "conflict", fields, error);
    }
    if (!same_position || !find_move(game, question, &move))
        return nothing_open(settling, command, error);
    /* Within its time a confirmation counts from the arrival of the move; later from its own (RULINGS 4). */
    Instant arrival = in_time ? question->arrival : settling->row.arrival;
    if (question_finish(settling->store, question->id, "answered", error) < 0 || close_letter(settling, question, OUTCOME_PLAYED, "confirmed", error) < 0)
        return -1;
    const char *remark = question->remark[0] != 0 ? question->remark : NULL;
    return play_move(settling, command->verb, game, question->game, move, arrival, question->letter, question->offer, remark, error);
}

int do_confirm(Settling *settling, const Command *command, Error *error) {
    const Proof *proof = &settling->proof;
    if (proof->class != PROOF_TOKEN || !proof->has_answered)
        return nothing_open(settling, command, error);
    if (strcmp(proof->answered.scope, "registration") == 0)
        return confirm_registration(settling, command, error);
    if (strcmp(proof->answered.scope, "confirm") != 0 || !proof->known)
        return nothing_open(settling, command, error);
    QuestionRow question;
    int found = question_get(settling->store, proof->answered.ask, &question, error);
    if (found < 0)
        return -1;
    if (found == 0 || question.player != proof->player.id || strcmp(question.state, "answered") == 0)
        return nothing_open(settling, command, error);
    Game *game = NULL;
    found = game_load(settling->store, question.game, &game, error);
    if (found <= 0)
        return found < 0 ? -1 : nothing_open(settling, command, error);
    int result = play_question(settling, command, &question, game, error);
    game_free(game);
    return result;
}
