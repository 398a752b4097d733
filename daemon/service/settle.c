#include "daemon/service/settling.h"

#include "daemon/service/answer.h"
#include "daemon/service/undelivered.h"
#include "daemon/service/views.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    DUPLICATE_QUIET_SECONDS = 3600, /* RULINGS 8: a copy that comes later gets the old answer again */
    REPORT_WORDS_MAX = 200,
};

/* ---- outcomes ---- */

static int strength(const char *outcome) {
    static const char *const order[] = { "", OUTCOME_IGNORED, OUTCOME_REFUSED, OUTCOME_ASKED, OUTCOME_DONE, OUTCOME_AWAITING, OUTCOME_PLAYED };
    for (int i = 0; i < (int)(sizeof order / sizeof order[0]); i++)
        if (strcmp(order[i], outcome) == 0)
            return i;
    return 0;
}

int settling_outcome(Settling *settling, Verb verb, const char *outcome, const char *code, json_t *fields, Error *error) {
    json_t *object = json_pack("{s:s}", "code", code);
    if (fields != NULL) {
        json_object_update(object, fields);
        json_decref(fields);
    }
    char *detail = json_dumps(object, JSON_COMPACT);
    json_array_append_new(settling->outcomes, object);
    settling->outcome_count++;
    if (strength(outcome) > strength(settling->strongest))
        settling->strongest = outcome;
    int result = detail == NULL ? error_set(error, ERROR_LATER, 0, "no memory for an outcome")
                                : outcome_add(settling->store, settling->row.id, settling->outcome_count, verb_name(verb), outcome, detail, error);
    free(detail);
    return result;
}

static json_t *line_field(const char *line) {
    return json_pack("{s:s}", "line", line);
}

static json_t *lines_field(const char *const *lines, size_t count) {
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_string(lines[i]));
    return json_pack("{s:o, s:s}", "lines", array, "line", count > 0 ? lines[0] : "");
}

/* ---- the games a letter speaks of ---- */

bool settling_token_current(const Settling *settling, int64_t id, const Game *game) {
    const LetterOut *answered = &settling->proof.answered;
    return settling->proof.class == PROOF_TOKEN && answered->game == id && answered->epoch == game->epoch && answered->ply == game->ply_count;
}

typedef struct GameChoice {
    int count;
    int64_t only;
    int64_t player;
    Store *store;
    json_t *games;
} GameChoice;

static int choose_game(void *data, const GameRow *row) {
    GameChoice *choice = data;
    choice->count++;
    choice->only = row->id;
    Player opponent = { .name = "" };
    player_get(choice->store, row->white == choice->player ? row->black : row->white, &opponent, NULL);
    json_array_append_new(choice->games, json_pack("{s:I, s:s}", "id", (json_int_t)row->id, "opponent", opponent.name));
    return 0;
}

static int load_players_game(Settling *settling, const Command *command, int64_t id, Game **ret_game, Colour *ret_colour, Error *error) {
    int found = game_load(settling->store, id, ret_game, error);
    if (found < 0)
        return -1;
    if (found == 0) {
        json_t *fields = line_field(command->line);
        json_object_set_new(fields, "id", json_integer((json_int_t)id));
        return settling_outcome(settling, command->verb, OUTCOME_REFUSED, "no-such-game", fields, error);
    }
    int64_t player = settling->proof.player.id;
    if ((*ret_game)->white != player && (*ret_game)->black != player) {
        game_free(*ret_game);
        *ret_game = NULL;
        json_t *fields = line_field(command->line);
        json_object_set_new(fields, "id", json_integer((json_int_t)id));
        return settling_outcome(settling, command->verb, OUTCOME_REFUSED, "not-your-game", fields, error);
    }
    *ret_colour = (*ret_game)->white == player ? WHITE : BLACK;
    return 1;
}

/* The token's game, if this player plays in it: the token itself may be the opponent's (a copy by Cc). */
static int64_t tokens_game(Settling *settling, Error *error) {
    if (!settling->proof.has_answered || settling->proof.answered.game == 0)
        return 0;
    GameRow row;
    int found = game_row(settling->store, settling->proof.answered.game, &row, error);
    if (found < 0)
        return -1;
    int64_t player = settling->proof.player.id;
    return found == 1 && (row.white == player || row.black == player) ? row.id : 0;
}

int settling_game(Settling *settling, const Command *command, Game **ret_game, int64_t *ret_id, Colour *ret_colour, Error *error) {
    *ret_game = NULL;
    int64_t id = command->game;
    if (id == 0 && !settling->proof.two_games && (id = tokens_game(settling, error)) < 0)
        return -1;
    if (id == 0) {
        GameChoice choice = { .player = settling->proof.player.id, .store = settling->store, .games = json_array() };
        if (games_each(settling->store, choice.player, true, choose_game, &choice, error) < 0) {
            json_decref(choice.games);
            return -1;
        }
        json_t *fields = line_field(command->line);
        json_object_set_new(fields, "games", choice.games);
        if (choice.count != 1)
            return settling_outcome(settling, command->verb, OUTCOME_ASKED, choice.count == 0 ? "no-games" : "which-game", fields, error);
        json_decref(fields);
        id = choice.only;
    }
    *ret_id = id;
    int found = load_players_game(settling, command, id, ret_game, ret_colour, error);
    if (found == 1)
        settling->shown_game = id;
    return found;
}

/* ---- reading ---- */

int settle_read(Service *service, Arena *arena, const Str *raw, ReadLetter *ret_read, Error *error) {
    return letter_read(arena, raw->data, raw->length, service->config->address, service->read_mime, service->mime_data, ret_read, error);
}

int settle_read_head(Service *service, Arena *arena, const Str *raw, ReadLetter *ret_read, Error *error) {
    return letter_read_head(arena, raw->data, raw->length, service->config->address, ret_read, error);
}

static int read_commands(Settling *settling, Error *error) {
    const char *names[3];
    size_t count = 0;
    if (settling->proof.known)
        names[count++] = settling->proof.player.name;
    int64_t game = settling->proof.known ? tokens_game(settling, error) : 0;
    if (game < 0)
        return -1;
    GameRow row;
    Player opponent;
    if (game != 0 && game_row(settling->store, game, &row, error) == 1 &&
        player_get(settling->store, row.white == settling->proof.player.id ? row.black : row.white, &opponent, error) == 1)
        names[count++] = arena_copy(settling->arena, opponent.name, strlen(opponent.name));
    CommandContext context = { .names = names, .name_count = count,
                               .language = settling->proof.known ? settling->proof.player.language : settling->service->config->language };
    if (!command_read(settling->arena, settling->read->new_text, &context, &settling->reading))
        return error_set(error, ERROR_LETTER, 0, "the letter needs more memory than a letter may");
    return 0;
}

/* ---- settling ---- */

static int finish(Settling *settling, const char *outcome, const char *why, int64_t answer, int64_t same_as, Error *error) {
    Settlement settlement = {
        .state = settling->awaiting ? "awaiting" : "settled",
        .kind = letter_kind_name(settling->read->kind),
        .proof = proof_name(settling->proof.class),
        .outcome = outcome,
        .why = why,
        .player = settling->proof.known ? settling->proof.player.id : 0,
        .game = settling->shown_game,
        .same_as = same_as,
        .answer = answer,
        /* The second key is for people's letters; machines repeat theirs as they like. */
        .message_id = settling->read->kind == LETTER_HUMAN ? settling->read->message_id : NULL,
        .body_hash = settling->read->body_hash,
    };
    return letter_in_settle(settling->store, settling->row.id, &settlement, error);
}

/* RULINGS 8: the same letter again. Silent within the hour; later its old answer goes out again. */
static int settle_duplicate(Settling *settling, int64_t first, Error *error) {
    LetterIn original;
    if (letter_in_get(settling->store, first, &original, error) < 0)
        return -1;
    int64_t answer = 0;
    bool within = false;
    LetterOut old;
    bool late = settling->row.arrival > original.arrival + DUPLICATE_QUIET_SECONDS;
    /* The very copy that was answered, under another name: UIDVALIDITY has changed. */
    int again = late ? letter_in_answered_at(settling->store, first, settling->row.arrival, error) : 0;
    if (again < 0)
        return -1;
    if (late && again == 0 && original.answer != 0 && settling->proof.known &&
        letter_out_get(settling->store, settling->arena, original.answer, &old, error) == 1) {
        if (answer_allowed(settling, answer_brake(settling), settling->proof.player.address, &within, error) < 0)
            return -1;
        json_t *view = within ? json_loads(old.view, 0, NULL) : NULL;
        Draft draft = { .view = view, .scope = old.scope, .game = old.game, .epoch = old.epoch, .ply = old.ply, .ask = old.ask,
                        .cause = settling->row.id, .brake = answer_brake(settling), .in_reply_to = settling->read->message_id };
        if (view != NULL && answer_queue(settling, &draft, settling->proof.player.address, &answer, error) < 0)
            return -1;
    }
    char why[64];
    snprintf(why, sizeof why, "the same letter as %lld", (long long)first);
    return finish(settling, OUTCOME_IGNORED, why, answer, first, error);
}

/* The token in the Message-ID of the header that a delivery report returns; false if there is none: without tags in
 * addresses (reply_tag = none) this is the only mark of a bounce (RULINGS 1). */
static bool returned_token(const Settling *settling, char ret_token[TOKEN_SIZE]) {
    static const char name[] = "Message-ID:";
    const char *line = settling->read->mime.report;
    for (;;) {
        if (text_starts_nocase(line, name)) {
            const char *value = line + sizeof name - 1;
            int64_t id = 0;
            value += strspn(value, " \t\r\n<"); /* an identity may stand on a line of its own */
            snprintf(ret_token, TOKEN_SIZE, "%.*s", TOKEN_SIZE - 1, value);
            if (token_names(&settling->store->key, ret_token, &id))
                return true;
        }
        const char *end = strchr(line, '\n');
        if (end == NULL)
            return false;
        line = end + 1;
    }
}

/* Tokens of the letters a delivery report may be about, most certain first. */
static size_t bounced_tokens(Settling *settling, char ret_tokens[TOKEN_FOUND_MAX][TOKEN_SIZE]) {
    TokenFound found[TOKEN_FOUND_MAX];
    size_t count = token_find(settling->arena, &settling->read->header, &settling->store->key, settling->service->config->address, found,
                              TOKEN_FOUND_MAX);
    size_t bounced = 0;
    for (size_t i = 0; i < count; i++)
        if (found[i].bounce)
            memcpy(ret_tokens[bounced++], found[i].token, TOKEN_SIZE);
    if (bounced == 0 && returned_token(settling, ret_tokens[0]))
        bounced = 1;
    return bounced;
}

/* The value of a delivery report's field (RFC 3464) at *at or behind it; *at is moved behind it. NULL if there is none. */
static const char *report_field(const char **at, const char *name, size_t *ret_length) {
    size_t length = strlen(name);
    for (const char *line = *at; line != NULL && *line != 0; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!text_starts_nocase(line, name) || line[length] != ':')
            continue;
        const char *value = line + length + 1;
        value += strspn(value, " \t");
        *ret_length = strcspn(value, "\r\n");
        *at = value + *ret_length;
        return value;
    }
    return NULL;
}

/* Whether one of its Action fields says so. */
static bool report_says(const char *report, const char *action) {
    size_t length;
    const char *value;
    while ((value = report_field(&report, "Action", &length)) != NULL)
        if (text_starts_nocase(value, action))
            return true;
    return false;
}

/* Why, in the words of the server that could not deliver it: "550 5.1.1 no such user", else its status code; "" if it says nothing. */
static void report_words(const char *report, char *ret_words, size_t size) {
    size_t length = 0;
    const char *at = report, *value = report_field(&at, "Diagnostic-Code", &length);
    if (value != NULL && text_starts_nocase(value, "smtp;")) {
        value += strlen("smtp;");
        length -= strlen("smtp;");
    }
    at = report;
    if (value == NULL)
        value = report_field(&at, "Status", &length);
    size_t count = 0;
    for (size_t i = 0; value != NULL && i < length && count + 1 < size; i++)
        if (count > 0 || value[i] != ' ')
            ret_words[count++] = value[i] < ' ' || value[i] > '~' ? '?' : value[i];
    ret_words[count] = 0;
}

/* O3 → O7. Whoever reports on it had it, so a letter whose end was unknown was taken. */
static int note_report(Settling *settling, const LetterOut *out, const char **ret_why, Error *error) {
    const char *report = settling->read->mime.report;
    bool failed = report_says(report, "failed");
    bool delayed = !failed && report_says(report, "delayed");
    bool unclear = strcmp(out->state, "trying") == 0 || (strcmp(out->state, "queued") == 0 && out->unknowns > 0);
    bool sent = strcmp(out->state, "accepted") == 0 || strcmp(out->state, "delayed") == 0;
    if (!sent && !unclear)
        return 0;
    if (!failed && (report_says(report, "delivered") || report_says(report, "relayed") || report_says(report, "expanded"))) {
        *ret_why = "a report of delivery of a letter of ours";
        return 0;
    }
    if (delayed) {
        *ret_why = "a delay report for a letter of ours";
        return letter_out_note_result(settling->store, out->id, "delayed", out->due, INSTANT_NONE, false, false, "a relay on its way tells of a delay", error);
    }
    char said[REPORT_WORDS_MAX], words[REPORT_WORDS_MAX + 40];
    report_words(report, said, sizeof said);
    snprintf(words, sizeof words, "came back undelivered%s%s", said[0] == 0 ? "" : ": ", said);
    *ret_why = "a delivery report for a letter of ours";
    if (letter_out_note_result(settling->store, out->id, "bounced", out->due, INSTANT_NONE, false, false, words, error) < 0)
        return -1;
    if (out->player != 0 && address_trouble(settling->store, out->player, out->address, words, error) < 0)
        return -1;
    return undelivered_tell(settling->service, out, said[0] == 0 ? words : said, true, error);
}

/* A delivery report on a letter of ours marks that letter, and its address if it failed; opponent and arbiter are told of a notice (state O7). */
static int settle_bounce(Settling *settling, Error *error) {
    char tokens[TOKEN_FOUND_MAX][TOKEN_SIZE];
    size_t count = bounced_tokens(settling, tokens);
    const char *why = settling->read->kind_why;
    LetterOut out;
    for (size_t i = 0; i < count; i++) {
        int there = letter_out_by_token(settling->store, settling->arena, tokens[i], &out, error);
        if (there < 0 || (there == 1 && note_report(settling, &out, &why, error) < 0))
            return -1;
        if (there == 1)
            break;
    }
    return finish(settling, OUTCOME_IGNORED, why, 0, 0, error);
}

/* RULINGS 36: a proven answer to a letter whose delivery was unclear shows that it arrived; the clock starts no earlier than it was known to. */
static int note_delivery(Settling *settling, Error *error) {
    LetterOut *answered = &settling->proof.answered;
    if (settling->proof.class != PROOF_TOKEN)
        return 0;
    bool unclear = strcmp(answered->state, "trying") == 0 || (strcmp(answered->state, "queued") == 0 && answered->unknowns > 0);
    bool reported = strcmp(answered->state, "delayed") == 0 || strcmp(answered->state, "bounced") == 0; /* wrongly, or by a forger */
    if (!unclear && !reported)
        return 0;
    if (letter_out_note_result(settling->store, answered->id, "accepted", answered->due, settling->row.arrival, false, false,
                               "proven by its answer", error) < 0)
        return -1;
    if (!answered->notice || answered->game == 0)
        return 0;
    Game *game = NULL;
    if (game_load(settling->store, answered->game, &game, error) < 0)
        return -1;
    if (game == NULL)
        return 0;
    Entry entry;
    Colour to = game->white == answered->player ? WHITE : BLACK;
    int result = game_plan_notice(game, to, answered->epoch, answered->ply, settling->row.arrival, answered->id, &entry, error);
    if (result == 1)
        result = game_append(settling->store, answered->game, game, &entry, 1, error);
    game_free(game);
    return result;
}

static int answer_problem(Settling *settling, Error *error) {
    const CommandReading *reading = &settling->reading;
    json_t *fields = lines_field(reading->problem_lines, reading->problem_line_count);
    json_object_set_new(fields, "stopped", json_true());
    for (size_t i = 0; i < reading->count; i++)
        if (reading->commands[i].verb == VERB_MOVE && json_object_get(fields, "not_made") == NULL)
            json_object_set_new(fields, "not_made", json_string(reading->commands[i].line));
    Verb verb = reading->count > 0 ? reading->commands[0].verb : VERB_LATER;
    if ((settling->shown_game = tokens_game(settling, error)) < 0)
        return -1;
    switch (reading->problem) {
    case PROBLEM_NEAR_MISS:
        if (reading->meant != NULL && reading->problem_line_count > 0 && text_equal_nocase(reading->problem_lines[0], reading->meant))
            json_object_set_new(fields, "incomplete", json_true()); /* "challenge", and nobody's name */
        json_object_set_new(fields, "meant", json_string(reading->meant == NULL ? "" : reading->meant));
        return settling_outcome(settling, verb, OUTCOME_ASKED, "near-miss", fields, error);
    case PROBLEM_SEVERAL_MOVES:
        return settling_outcome(settling, verb, OUTCOME_ASKED, "several-moves", fields, error);
    case PROBLEM_BELOW_REMARK:
        return settling_outcome(settling, verb, OUTCOME_ASKED, "below-remark", fields, error);
    case PROBLEM_MOVE_BESIDE:
        return settling_outcome(settling, verb, OUTCOME_ASKED, "move-beside", fields, error);
    default:
        return settling_outcome(settling, verb, OUTCOME_REFUSED, "too-many", fields, error);
    }
}

typedef int (*CommandFunction)(Settling *settling, const Command *command, Error *error);

/* The answer shows the game that the letter was about, as any other refusal does. */
static int do_later(Settling *settling, const Command *command, Error *error) {
    if (settling->shown_game == 0 && (settling->shown_game = tokens_game(settling, error)) < 0)
        return -1;
    return settling_outcome(settling, command->verb, OUTCOME_REFUSED, "later", line_field(command->line), error);
}

static const CommandFunction functions[] = {
    [VERB_OFFER_DRAW] = do_draw_words, [VERB_ACCEPT] = do_draw_words, [VERB_DECLINE] = do_draw_words, [VERB_RESIGN] = do_resign,
    [VERB_BOARD] = do_question,        [VERB_GAMES] = do_question,    [VERB_GAME] = do_question,      [VERB_PGN] = do_question,
    [VERB_HELP] = do_question,         [VERB_PING] = do_question,     [VERB_REGISTER] = do_register,  [VERB_CHALLENGE] = do_challenge,
    [VERB_CONFIRM] = do_confirm,       [VERB_YES] = do_confirm,       [VERB_WITHDRAW] = do_later,     [VERB_LATER] = do_later,
};

/* An offer on a line of its own beside a move of the same game goes with that move. */
static bool belongs_to_move(const CommandReading *reading, const Command *offer) {
    for (size_t i = 0; i < reading->count; i++)
        if (reading->commands[i].verb == VERB_MOVE && reading->commands[i].game == offer->game)
            return offer->verb == VERB_OFFER_DRAW;
    return false;
}

static bool offer_beside(const CommandReading *reading, const Command *move) {
    for (size_t i = 0; i < reading->count; i++)
        if (reading->commands[i].verb == VERB_OFFER_DRAW && reading->commands[i].game == move->game)
            return true;
    return false;
}

/* Without asking: the game a command names, the token's, or the only one that runs; 0 if that is not one. */
static int64_t named_game(Settling *settling, const Command *command, Error *error) {
    int64_t game = command->game != 0 ? command->game : tokens_game(settling, error);
    if (game != 0)
        return game;
    GameChoice choice = { .player = settling->proof.player.id, .store = settling->store, .games = json_array() };
    int result = games_each(settling->store, choice.player, true, choose_game, &choice, error);
    json_decref(choice.games);
    return result < 0 ? -1 : choice.count == 1 ? choice.only : 0;
}

/* "game 2" and then a bare move, in an answer to a letter about game 1: which of the two is meant? 1: asked. */
static int ask_heading(Settling *settling, Error *error) {
    const CommandReading *reading = &settling->reading;
    int64_t heading = 0;
    for (size_t i = 0; i < reading->count; i++) {
        const Command *command = &reading->commands[i];
        if (command->verb == VERB_GAME)
            heading = command->game;
        if (command->verb != VERB_MOVE || command->game != 0 || heading == 0)
            continue;
        int64_t game = named_game(settling, command, error);
        if (game < 0)
            return -1;
        if (game == heading)
            continue;
        GameChoice choice = { .player = settling->proof.player.id, .store = settling->store, .games = json_array() };
        const int64_t both[] = { heading, game };
        for (int k = 0; k < 2; k++) {
            GameRow row;
            if (both[k] != 0 && game_row(settling->store, both[k], &row, error) == 1 && (row.white == choice.player || row.black == choice.player))
                choose_game(&choice, &row);
        }
        json_t *fields = line_field(command->line);
        json_object_set_new(fields, "games", choice.games);
        return settling_outcome(settling, VERB_MOVE, OUTCOME_ASKED, "which-game", fields, error) < 0 ? -1 : 1;
    }
    return 0;
}

/* Two moves in one game, one of them by its number: which is meant is not for us to say. 1: asked, nothing is done. */
static int ask_two_moves(Settling *settling, Error *error) {
    const CommandReading *reading = &settling->reading;
    for (size_t i = 0; i < reading->count; i++) {
        const Command *command = &reading->commands[i];
        if (command->verb != VERB_MOVE)
            continue;
        for (size_t k = 0; k < i; k++) {
            const Command *first = &reading->commands[k];
            if (first->verb != VERB_MOVE)
                continue;
            int64_t one = named_game(settling, first, error), other = named_game(settling, command, error);
            if (one < 0 || other < 0)
                return -1;
            if (one != other)
                continue;
            const char *lines[] = { first->line, command->line };
            settling->shown_game = one;
            return settling_outcome(settling, VERB_MOVE, OUTCOME_ASKED, "several-moves", lines_field(lines, 2), error) < 0 ? -1 : 1;
        }
    }
    return 0;
}

static int run_commands(Settling *settling, Error *error) {
    const CommandReading *reading = &settling->reading;
    int asked = ask_two_moves(settling, error);
    if (asked == 0)
        asked = ask_heading(settling, error);
    if (asked != 0)
        return asked < 0 ? -1 : 0;
    for (size_t i = 0; i < reading->count; i++) {
        const Command *command = &reading->commands[i];
        int result = 0;
        if (command->verb == VERB_MOVE)
            result = do_move(settling, command, offer_beside(reading, command), error);
        else if (!belongs_to_move(reading, command))
            result = functions[command->verb](settling, command, error);
        if (result < 0)
            return -1;
    }
    for (size_t i = 0; i < reading->asked_count; i++)
        if (settling_outcome(settling, VERB_LATER, OUTCOME_ASKED, "below-remark", line_field(reading->asked[i]), error) < 0)
            return -1;
    return 0;
}

static int answer_no_command(Settling *settling, Error *error) {
    settling->shown_game = tokens_game(settling, error);
    if (settling->shown_game < 0)
        return -1;
    switch (settling->read->mime.kind) {
    case MIME_HTML_ONLY:
        return settling_outcome(settling, VERB_LATER, OUTCOME_REFUSED, "html-only", NULL, error);
    case MIME_ENCRYPTED:
        return settling_outcome(settling, VERB_LATER, OUTCOME_REFUSED, "encrypted", NULL, error);
    default:
        break;
    }
    if (settling->read->new_text[0] == 0)
        return settling_outcome(settling, VERB_LATER, OUTCOME_REFUSED, "empty", NULL, error);
    return settling_outcome(settling, VERB_LATER, OUTCOME_ASKED, "nothing", json_pack("{s:b}", "question", settling->reading.question), error);
}

/* RULINGS 41: of a stranger's letters only a well-formed `register` or `help`, or the answer to our confirm letter. */
static bool stranger_may(const Settling *settling) {
    const CommandReading *reading = &settling->reading;
    char address[ADDRESS_MAX];
    if (!address_clean(settling->read->from, address)) /* nothing could be sent there */
        return false;
    if (reading->problem != PROBLEM_NONE || reading->count != 1)
        return false;
    Verb verb = reading->commands[0].verb;
    if (verb == VERB_CONFIRM || verb == VERB_YES)
        return settling->proof.class == PROOF_TOKEN && strcmp(settling->proof.answered.scope, "registration") == 0;
    return (verb == VERB_REGISTER && reading->commands[0].argument[0] != 0) || verb == VERB_HELP;
}

/* The service's own address, with or without a tag: nobody to answer. */
static bool from_ourselves(const Settling *settling) {
    const char *own = settling->service->config->address, *from = settling->read->from;
    const char *own_at = strrchr(own, '@'), *at = strrchr(from, '@');
    if (own_at == NULL || at == NULL || !text_equal_nocase(own_at, at))
        return false;
    size_t user = (size_t)(own_at - own);
    return strncasecmp(own, from, user) == 0 && (from[user] == '@' || from[user] == '+');
}

static int settle_human(Settling *settling, Error *error) {
    int64_t first = 0, answer = 0;
    if (note_delivery(settling, error) < 0)
        return -1;
    if (settling->read->message_id != NULL) {
        int found = letter_in_same(settling->store, proof_name(settling->proof.class), settling->read->message_id, settling->read->body_hash, &first, error);
        if (found != 0)
            return found < 0 ? -1 : settle_duplicate(settling, first, error);
    }
    if (settling->read->from != NULL && from_ourselves(settling))
        return finish(settling, OUTCOME_IGNORED, "it says it comes from the service itself", 0, 0, error);
    if (settling->read->from == NULL)
        return finish(settling, OUTCOME_IGNORED, settling->proof.why, 0, 0, error);
    if (settling->proof.known && settling->proof.player.blocked)
        return finish(settling, OUTCOME_IGNORED, "the player is blocked", 0, 0, error);
    if (settling->read->mime.kind == MIME_TEXT && read_commands(settling, error) < 0)
        return -1;
    if (!settling->proof.known && !settling->proof.several && !stranger_may(settling))
        return finish(settling, OUTCOME_IGNORED,
                      settling->proof.has_answered ? "a valid token, but From is no address of its player"
                                                   : "a stranger's letter that asks for nothing a stranger may",
                      0, 0, error);
    int result;
    if (settling->proof.several)
        result = settling_outcome(settling, VERB_LATER, OUTCOME_ASKED, "which-player", NULL, error);
    else if (settling->reading.problem != PROBLEM_NONE)
        result = answer_problem(settling, error);
    else if (settling->reading.count == 0)
        result = answer_no_command(settling, error);
    else
        result = run_commands(settling, error);
    if (result < 0 || answer_send(settling, &answer, error) < 0)
        return -1;
    const char *why = settling->silenced ? "no answer: as many as a day allows were sent already" : settling->proof.why;
    return finish(settling, settling->strongest, why, answer, 0, error);
}

static int settling_start(Settling *settling, Service *service, Arena *arena, int64_t id, ReadLetter *read, Error *error) {
    *settling = (Settling){ .service = service, .store = service->store, .arena = arena, .now = world_now(service->world), .read = read, .strongest = "" };
    int found = letter_in_get(service->store, id, &settling->row, error);
    if (found <= 0)
        return found < 0 ? -1 : error_set(error, ERROR_DAMAGED, 0, "letter %lld has gone from the store", (long long)id);
    settling->outcomes = json_array();
    return 0;
}

static void settling_end(Settling *settling) {
    json_decref(settling->outcomes);
    json_decref(settling->passed_on);
}

int settle_letter(Service *service, Arena *arena, int64_t id, ReadLetter *read, Error *error) {
    if (read->kind == LETTER_UNREADABLE)
        return settle_aside(service, arena, id, read, read->mime.why, error);
    Settling settling;
    int result = settling_start(&settling, service, arena, id, read, error);
    if (result == 0 && read->kind == LETTER_BOUNCE)
        result = settle_bounce(&settling, error);
    else if (result == 0 && read->kind != LETTER_HUMAN)
        result = finish(&settling, OUTCOME_IGNORED, read->kind_why, 0, 0, error);
    else if (result == 0)
        result = proof_of(service->store, service->config, arena, read, &settling.proof, error) < 0 ? -1 : settle_human(&settling, error);
    settling_end(&settling);
    return result;
}

/* The known sender of a letter that cannot be read is told once, within his budget. */
static int tell_set_aside(Settling *settling, int64_t *ret_answer, Error *error) {
    *ret_answer = 0;
    if (!settling->proof.known || settling->proof.player.blocked || settling->read->kind != LETTER_UNREADABLE)
        return 0; /* machines are told nothing */
    bool within = false;
    if (answer_allowed(settling, answer_brake(settling), settling->proof.player.address, &within, error) < 0)
        return -1;
    if (!within)
        return 0;
    json_t *view = view_new(settling->service, "set-aside", &settling->proof.player);
    json_object_set_new(view, "set_aside", json_pack("{s:s, s:s}", "date", settling->read->date, "subject", settling->read->subject));
    Draft draft = { .view = view, .scope = "none", .cause = settling->row.id, .brake = answer_brake(settling), .in_reply_to = settling->read->message_id };
    int64_t game = tokens_game(settling, error);
    settling->shown_game = game > 0 ? game : 0;
    if (settling->shown_game != 0) {
        draft.scope = NULL;
        if (answer_show_game(settling, &draft, error) < 0) {
            json_decref(view);
            return -1;
        }
    }
    return answer_queue(settling, &draft, settling->proof.player.address, ret_answer, error);
}

int settle_aside(Service *service, Arena *arena, int64_t id, const ReadLetter *read, const char *why, Error *error) {
    static const ReadLetter nothing = { .kind = LETTER_UNREADABLE, .subject = "", .date = "", .new_text = "", .from_name = "" };
    ReadLetter copy = read == NULL ? nothing : *read;
    if (copy.kind == LETTER_HUMAN)
        copy.kind = LETTER_UNREADABLE;
    Settling settling;
    int64_t answer = 0;
    int result = settling_start(&settling, service, arena, id, &copy, error);
    if (result == 0 && read != NULL && read->from != NULL)
        result = proof_of(service->store, service->config, arena, read, &settling.proof, error);
    if (result == 0)
        result = tell_set_aside(&settling, &answer, error);
    if (result == 0) {
        copy.message_id = NULL; /* the second key is for letters that were understood */
        result = finish(&settling, OUTCOME_SET_ASIDE, why, answer, 0, error);
    }
    settling_end(&settling);
    if (result == 0 && service->log != NULL) {
        char line[ERROR_TEXT_MAX];
        snprintf(line, sizeof line, "letter %lld set aside: %s", (long long)id, why);
        service->log(line);
    }
    return result;
}
