/* Moves: which game, which ply, fresh or not, and what the letter gets for an answer (RULINGS 8, 9, 11–14, 17). */
#include "daemon/service/settling.h"

#include "daemon/service/views.h"

#include <stdio.h>
#include <string.h>

typedef struct Aim {
    Settling *settling;
    const Command *command;
    const Game *game;
    int64_t id;
    Colour me;
    bool fresh;   /* the letter shows that its writer knew the current position: token, number or a score up to it */
    bool numbered; /* by a number or a score: needed without a token */
} Aim;

static int number_of(const Game *game, int ply, bool *ret_black) {
    const Position *position = &game->positions[ply];
    *ret_black = position_turn(position) == BLACK;
    return position_fullmove(position);
}

/* The ply (from 0) of a move number and side; may lie outside the game. */
static int ply_of(const Game *game, int number, bool black) {
    bool first_black = false;
    int first = number_of(game, 0, &first_black);
    return (number - first) * 2 + black - first_black;
}

static void read_at(const Aim *aim, int ply, const MoveItem *item, Reading *ret_reading) {
    unsigned flags = aim->command->line_start && item == &aim->command->items[0] ? READ_LINE_START : 0;
    const MoveLanguage *own = language_find(aim->settling->proof.player.language);
    notation_read_in(&aim->game->positions[ply], item->text, flags, own, ret_reading);
}

static bool is_played_move(const Aim *aim, int ply, const MoveItem *item) {
    if (ply < 0 || ply >= aim->game->ply_count)
        return false;
    Reading reading;
    read_at(aim, ply, item, &reading);
    Move played = aim->game->plies[ply].move;
    if (reading.kind == READING_MOVE)
        return reading.move == played;
    for (int i = 0; reading.kind == READING_AMBIGUOUS && i < reading.candidate_count; i++)
        if (reading.candidates[i] == played)
            return true;
    return false;
}

static json_t *line_object(const Aim *aim) {
    return json_pack("{s:s}", "line", aim->command->line);
}

/* Of a ply from 0 to two beyond the last one made. */
static void set_number(json_t *object, const Game *game, int ply) {
    bool black = false;
    int known = ply > game->ply_count ? game->ply_count : ply;
    int number = number_of(game, known, &black);
    for (; known < ply; known++) {
        number += black;
        black = !black;
    }
    json_object_set_new(object, "number", json_integer(number));
    json_object_set_new(object, "black", json_boolean(black));
}

static int outcome(const Aim *aim, const char *word, const char *code, json_t *fields, Error *error) {
    json_object_set_new(fields, "game", json_integer((json_int_t)aim->id));
    return settling_outcome(aim->settling, VERB_MOVE, word, code, fields, error);
}

static int already_played(const Aim *aim, int ply, Error *error) {
    json_t *fields = view_ply(aim->game, ply + 1);
    json_object_set_new(fields, "line", json_string(aim->command->line));
    return outcome(aim, OUTCOME_IGNORED, "already-played", fields, error);
}

static int conflict(const Aim *aim, int ply, Error *error) {
    json_t *fields = view_ply(aim->game, ply + 1);
    json_object_set_new(fields, "line", json_string(aim->command->line));
    return outcome(aim, OUTCOME_REFUSED, "conflict", fields, error);
}

/* ---- playing ---- */

int play_move(Settling *settling, Verb verb, Game *game, int64_t id, Move move, Instant arrival, int64_t cause, bool offer, const char *remark, Error *error) {
    Entry entries[2];
    Colour me = game_turn(game);
    int count = game_plan_move(game, move, arrival, cause, offer, entries, error);
    if (count < 0 || game_append(settling->store, id, game, entries, count, error) < 0)
        return -1;
    bool pass = remark != NULL && remark[0] != 0;
    if (queue_notice(settling->service, game_over(game) ? "end" : "move", id, game, other_side(me), pass ? remark : NULL, settling->row.id, error) < 0)
        return -1;
    settling->played = true;
    settling->shown_game = id;
    if (pass && settling->passed_on == NULL)
        settling->passed_on = view_lines(remark);
    json_t *fields = view_ply(game, game->ply_count);
    json_object_set_new(fields, "passed_on", json_boolean(pass));
    json_object_set_new(fields, "offer", json_boolean(offer && !game_over(game)));
    json_object_set_new(fields, "late", json_integer((json_int_t)game->plies[game->ply_count - 1].late));
    json_object_set_new(fields, "game", json_integer((json_int_t)id));
    return settling_outcome(settling, verb, OUTCOME_PLAYED, "played", fields, error);
}

/* ---- asking ---- */

static int ask(const Aim *aim, const char *kind, Move move, bool offer, int64_t *ret_id, Error *error) {
    Settling *settling = aim->settling;
    QuestionRow question = { .letter = settling->row.id, .player = settling->proof.player.id, .game = aim->id, .epoch = aim->game->epoch,
                             .ply = aim->game->ply_count, .offer = offer, .arrival = settling->row.arrival };
    text_copy(question.kind, sizeof question.kind, kind);
    text_copy(question.remark, sizeof question.remark, settling->reading.remark);
    char uci[NOTATION_MAX];
    notation_write(&aim->game->position, move, NOTATION_UCI, uci);
    text_copy(question.move, sizeof question.move, uci);
    return question_add(settling->store, &question, ret_id, error);
}

static json_t *move_object(const Aim *aim, Move move) {
    json_t *fields = view_move(&aim->game->position, move);
    set_number(fields, aim->game, aim->game->ply_count);
    json_object_set_new(fields, "line", json_string(aim->command->line));
    return fields;
}

/* RULINGS 4: nobody has proven to have written this; the registered address is asked. */
static int ask_to_confirm(const Aim *aim, Move move, bool offer, Error *error) {
    Settling *settling = aim->settling;
    int64_t id = 0;
    int open = question_open(settling->store, "confirm", settling->proof.player.id, aim->id, aim->game->epoch, aim->game->ply_count, &id, error);
    if (open < 0)
        return -1;
    if (open == 1)
        return outcome(aim, OUTCOME_REFUSED, "awaiting-other", line_object(aim), error);
    if (ask(aim, "confirm", move, offer, &id, error) < 0)
        return -1;
    char subject[48];
    snprintf(subject, sizeof subject, "question %lld", (long long)id);
    Instant expiry = settling->row.arrival + (Instant)settling->service->config->confirm_hours * 3600;
    if (timer_set(settling->store, subject, "expiry", expiry, error) < 0)
        return -1;
    settling->scope = "confirm";
    settling->ask = id;
    settling->awaiting = true;
    json_t *fields = move_object(aim, move);
    json_object_set_new(fields, "hours", json_integer(settling->service->config->confirm_hours));
    return outcome(aim, OUTCOME_AWAITING, "awaiting-confirm", fields, error);
}

/* RULINGS 13: his letter answers an older position, but the move could be meant for this one. */
static int ask_old(const Aim *aim, Move move, bool offer, Error *error) {
    Settling *settling = aim->settling;
    if (settling->scope != NULL) /* one question a letter */
        return outcome(aim, OUTCOME_ASKED, "number-needed", line_object(aim), error);
    int64_t id = 0;
    if (ask(aim, "old", move, offer, &id, error) < 0)
        return -1;
    settling->scope = "confirm";
    settling->ask = id;
    return outcome(aim, OUTCOME_ASKED, "old-letter", move_object(aim, move), error);
}

/* ---- judging ---- */

static int refuse_reading(const Aim *aim, const Reading *reading, Error *error) {
    json_t *fields = line_object(aim);
    const Position *position = &aim->game->position;
    json_t *fault = view_fault(position, reading);
    if (reading->kind == READING_AMBIGUOUS) {
        json_object_set(fields, "readings", json_object_get(fault, "candidates"));
        json_object_set_new(fields, "fault", fault);
        return outcome(aim, OUTCOME_ASKED, "ambiguous", fields, error);
    }
    json_object_set_new(fields, "fault", fault);
    return outcome(aim, OUTCOME_REFUSED, reading->kind == READING_ILLEGAL ? "illegal" : "not-a-move", fields, error);
}

/* A move for the current ply by the player whose turn it is. */
static int judge_current(const Aim *aim, Game *game, const MoveItem *item, bool offer, Error *error) {
    Settling *settling = aim->settling;
    Reading reading;
    read_at(aim, game->ply_count, item, &reading);
    if (reading.kind != READING_MOVE) {
        if (aim->command->item_count == 1 && is_played_move(aim, game->ply_count - 1, item))
            return outcome(aim, OUTCOME_ASKED, "block-repeats", line_object(aim), error);
        return refuse_reading(aim, &reading, error);
    }
    if (settling->proof.class != PROOF_TOKEN)
        return aim->numbered ? ask_to_confirm(aim, reading.move, offer, error)
                             : outcome(aim, OUTCOME_ASKED, "number-needed", line_object(aim), error);
    if (!aim->fresh)
        return ask_old(aim, reading.move, offer, error);
    return play_move(settling, VERB_MOVE, game, aim->id, reading.move, settling->row.arrival, settling->row.id, offer,
                     settling->passed_on == NULL ? settling->reading.remark : NULL, error);
}

/* Not his turn, or the game is over: the same move again, another one for a ply gone by, or a move out of turn. */
static int judge_out_of_turn(const Aim *aim, const MoveItem *item, int ply, Error *error) {
    const Game *game = aim->game;
    int last = game->ply_count - 1;
    int mine = last >= 0 && position_turn(&game->positions[last]) == aim->me ? last : last - 1;
    if (ply < 0)
        ply = mine;
    if (is_played_move(aim, ply, item))
        return already_played(aim, ply, error);
    if (game_over(game))
        return outcome(aim, OUTCOME_REFUSED, "game-over", line_object(aim), error);
    const LetterOut *answered = &aim->settling->proof.answered;
    bool old_token = aim->settling->proof.class == PROOF_TOKEN && answered->game == aim->id && answered->epoch == game->epoch && answered->ply == ply;
    if (ply >= 0 && ply < game->ply_count && position_turn(&game->positions[ply]) == aim->me && (item->number != 0 || old_token))
        return conflict(aim, ply, error);
    return outcome(aim, OUTCOME_REFUSED, "not-your-turn", line_object(aim), error);
}

/* The ply a number names for this player; dots may say it is the other side's. */
static int named_ply(const Aim *aim, const MoveItem *item) {
    bool black = item->black || aim->me == BLACK;
    return ply_of(aim->game, item->number, black);
}

static int judge_single(Aim *aim, Game *game, bool offer, Error *error) {
    const MoveItem *item = &aim->command->items[0];
    bool my_turn = !game_over(game) && game_turn(game) == aim->me;
    if (item->black && aim->me == WHITE) /* "11…Bb4" from White: a repetition of the opponent's move, nothing of his own */
        return outcome(aim, OUTCOME_ASKED, "block-repeats", line_object(aim), error);
    int ply = item->number == 0 ? -1 : named_ply(aim, item);
    aim->numbered = item->number != 0;
    if (!my_turn)
        return judge_out_of_turn(aim, item, ply, error);
    aim->fresh = item->number != 0 ? ply == game->ply_count : settling_token_current(aim->settling, aim->id, game);
    if (item->number == 0) {
        const LetterOut *answered = &aim->settling->proof.answered;
        bool old = !aim->fresh && aim->settling->proof.class == PROOF_TOKEN && answered->game == aim->id && answered->epoch == game->epoch;
        if (old && is_played_move(aim, answered->ply, item) && position_turn(&game->positions[answered->ply]) == aim->me)
            return already_played(aim, answered->ply, error);
        return judge_current(aim, game, item, offer, error);
    }
    if (aim->fresh)
        return judge_current(aim, game, item, offer, error);
    if (ply >= 0 && ply < game->ply_count && is_played_move(aim, ply, item))
        return already_played(aim, ply, error);
    Reading reading;
    read_at(aim, game->ply_count, item, &reading);
    if (reading.kind == READING_MOVE && aim->settling->proof.class == PROOF_TOKEN && ply < game->ply_count)
        return ask_old(aim, reading.move, offer, error);
    json_t *fields = line_object(aim);
    set_number(fields, game, game->ply_count);
    json_object_set_new(fields, "given", json_integer(item->number));
    return outcome(aim, OUTCOME_ASKED, "wrong-number", fields, error);
}

/* ---- blocks of a score (RULINGS 12) ---- */

static int block_start(const Aim *aim) {
    const Command *command = aim->command;
    const MoveItem *first = &command->items[0];
    if (first->number != 0)
        return ply_of(aim->game, first->number, first->black);
    int tail = aim->game->ply_count - ((int)command->item_count - 1);
    return tail >= 0 && is_played_move(aim, tail, first) ? tail : 0;
}

static int block_differs(const Aim *aim, int ply, const char *given, Error *error) {
    json_t *fields = line_object(aim);
    int shown = ply < 0 ? 0 : ply > aim->game->ply_count + 1 ? aim->game->ply_count + 1 : ply;
    set_number(fields, aim->game, shown);
    json_object_set_new(fields, "given", json_string(given));
    json_object_set_new(fields, "recorded", json_string(shown < aim->game->ply_count ? aim->game->plies[shown].san : ""));
    return outcome(aim, OUTCOME_REFUSED, "block-differs", fields, error);
}

static bool number_fits(const Game *game, int ply, const MoveItem *item) {
    if (item->number == 0)
        return true;
    bool black = false;
    return number_of(game, ply, &black) == item->number && (!item->black || black);
}

static int judge_block(Aim *aim, Game *game, bool offer, Error *error) {
    const Command *command = aim->command;
    int start = block_start(aim);
    aim->numbered = true;
    for (size_t i = 0; i < command->item_count; i++) {
        const MoveItem *item = &command->items[i];
        int ply = start + (int)i;
        if (ply < 0 || ply > game->ply_count || !number_fits(game, ply, item))
            return block_differs(aim, ply, item->text, error);
        if (ply < game->ply_count) {
            if (!is_played_move(aim, ply, item))
                return block_differs(aim, ply, item->text, error);
            continue;
        }
        if (i + 1 < command->item_count)
            return block_differs(aim, ply + 1, command->items[i + 1].text, error);
        if (game_over(game) || game_turn(game) != aim->me)
            return judge_out_of_turn(aim, item, ply, error);
        aim->fresh = true;
        return judge_current(aim, game, item, offer, error);
    }
    return outcome(aim, OUTCOME_ASKED, "block-repeats", line_object(aim), error);
}

int do_move(Settling *settling, const Command *command, bool offer_beside, Error *error) {
    Game *game = NULL;
    Aim aim = { .settling = settling, .command = command };
    int found = settling_game(settling, command, &game, &aim.id, &aim.me, error);
    if (found <= 0)
        return found;
    aim.game = game;
    bool offer = command->offer || offer_beside;
    int result = command->item_count == 1 ? judge_single(&aim, game, offer, error) : judge_block(&aim, game, offer, error);
    game_free(game);
    return result;
}
