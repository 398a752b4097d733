/* Questions: board, games, game N, pgn, help, ping. They change nothing, and their answers go to the registered address only. */
#include "daemon/service/settling.h"

#include "daemon/service/views.h"

#include <stdlib.h>
#include <string.h>

typedef struct Listing {
    Settling *settling;
    json_t *games;
} Listing;

enum { LISTED_GAMES_MAX = 200 }; /* a letter, not a book; running games come first */

static int list_game(void *data, const GameRow *row) {
    Listing *listing = data;
    int64_t me = listing->settling->proof.player.id;
    Player white = { .name = "" }, black = { .name = "" };
    player_get(listing->settling->store, row->white, &white, NULL);
    player_get(listing->settling->store, row->black, &black, NULL);
    bool over = strcmp(row->result, "*") != 0;
    json_t *object = json_pack("{s:I, s:s, s:s, s:s, s:b, s:i, s:b, s:s}", "id", (json_int_t)row->id, "white", white.name, "black", black.name,
                               "opponent", row->white == me ? black.name : white.name, "your_move", row->to_move == me, "move_number",
                               row->ply / 2 + 1, "over", over, "result", row->result);
    if (row->due != INSTANT_NONE && !over) {
        char due[INSTANT_TEXT_SIZE];
        instant_write(row->due, due);
        json_object_set_new(object, "deadline", json_string(due));
    }
    json_array_append_new(listing->games, object);
    return json_array_size(listing->games) >= LISTED_GAMES_MAX;
}

static int answer_games(Settling *settling, const Command *command, Error *error) {
    Listing listing = { .settling = settling, .games = json_array() };
    if (games_each(settling->store, settling->proof.player.id, false, list_game, &listing, error) < 0) {
        json_decref(listing.games);
        return -1;
    }
    return settling_outcome(settling, command->verb, OUTCOME_DONE, "games", json_pack("{s:o}", "games", listing.games), error);
}

static int answer_about_game(Settling *settling, const Command *command, Error *error) {
    Command about = *command;
    if (about.game == 0 && about.argument[0] != 0)
        about.game = strtoll(about.argument, NULL, 10);
    Game *game = NULL;
    int64_t id = 0;
    Colour me = WHITE;
    int found = settling_game(settling, &about, &game, &id, &me, error);
    if (found <= 0)
        return found;
    game_free(game);
    return settling_outcome(settling, command->verb, OUTCOME_DONE, command->verb == VERB_PGN ? "pgn" : "board",
                            json_pack("{s:I}", "game", (json_int_t)id), error);
}

int do_question(Settling *settling, const Command *command, Error *error) {
    if (command->verb == VERB_HELP)
        return settling_outcome(settling, command->verb, OUTCOME_DONE, "help", json_pack("{s:s}", "topic", command->argument), error);
    if (command->verb == VERB_PING)
        return settling_outcome(settling, command->verb, OUTCOME_DONE, "ping", NULL, error);
    if (command->verb == VERB_GAMES)
        return answer_games(settling, command, error);
    return answer_about_game(settling, command, error);
}
