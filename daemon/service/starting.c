#include "daemon/service/starting.h"

#include "core/notation/explain.h"
#include "daemon/service/challenges.h"
#include "daemon/service/settling.h"
#include "daemon/service/views.h"

#include <string.h>

static int check_beginning(Service *service, const Beginning *beginning, Control *ret_control, Error *error) {
    Player player;
    if (beginning->white == beginning->black)
        return error_set(error, ERROR_INPUT, 0, "a game needs two different players");
    for (int i = 0; i < 2; i++) {
        int64_t id = i == 0 ? beginning->white : beginning->black;
        int found = player_get(service->store, id, &player, error);
        if (found < 0)
            return -1;
        if (found == 0)
            return error_set(error, ERROR_INPUT, 0, "there is no player %lld", (long long)id);
    }
    return control_read(beginning->control == NULL ? service->config->time : beginning->control, ret_control, error);
}

int begin_game(Service *service, const Beginning *beginning, int64_t *ret_id, Error *error) {
    Control control;
    if (check_beginning(service, beginning, &control, error) < 0)
        return -1;
    Instant now = world_now(service->world);
    if (game_create(service->store, beginning->white, beginning->black, control.text, beginning->initial, beginning->start, now, beginning->letter, ret_id,
                    error) < 0)
        return -1;
    Game *game = NULL;
    int result = game_load(service->store, *ret_id, &game, error) == 1 ? 0 : -1;
    for (int colour = WHITE; colour <= BLACK && result == 0; colour++)
        if (game_player(game, (Colour)colour) != beginning->told)
            result = queue_notice(service, "start", *ret_id, game, (Colour)colour, beginning->remark, beginning->letter, error);
    game_free(game);
    return result;
}

int service_start_game(Service *service, int64_t white, int64_t black, const char *control, const Position *initial, Instant start, int64_t letter,
                       int64_t *ret_id, Error *error) {
    Beginning beginning = { .white = white, .black = black, .control = control, .initial = initial, .start = start, .letter = letter };
    return begin_game(service, &beginning, ret_id, error);
}

static int play_entered(Service *service, int64_t id, Game *game, const char *text, Error *error) {
    Reading reading;
    const char *rest = text;
    int number = 0;
    bool black = false;
    if (!notation_number(text, &rest, &number, &black))
        rest = text;
    notation_read(&game->position, rest, 0, &reading);
    if (game_over(game))
        return error_set(error, ERROR_INPUT, 0, "game %lld is over", (long long)id);
    if (number != 0 && number != position_fullmove(&game->position))
        return error_set(error, ERROR_INPUT, 0, "move %d is not the current one, that is %d", number, position_fullmove(&game->position));
    if (reading.kind != READING_MOVE) {
        Str why;
        str_init(&why, ERROR_TEXT_MAX);
        notation_explain(&why, &game->position, &reading);
        error_set(error, ERROR_INPUT, 0, "%s %s", text, why.data);
        str_free(&why);
        return -1;
    }
    Entry entries[2];
    Colour me = game_turn(game);
    int count = game_plan_move(game, reading.move, world_now(service->world), 0, false, entries, error);
    if (count < 0 || game_append(service->store, id, game, entries, count, error) < 0)
        return -1;
    const char *kind = game_over(game) ? "end" : "move";
    if (queue_notice(service, kind, id, game, other_side(me), NULL, 0, error) < 0)
        return -1;
    return queue_notice(service, game_over(game) ? "end" : "entered", id, game, me, NULL, 0, error);
}

int service_enter_move(Service *service, int64_t id, const char *text, Error *error) {
    Game *game = NULL;
    int found = game_load(service->store, id, &game, error);
    if (found <= 0)
        return found < 0 ? -1 : error_set(error, ERROR_INPUT, 0, "there is no game %lld", (long long)id);
    int result = play_entered(service, id, game, text, error);
    game_free(game);
    return result;
}
