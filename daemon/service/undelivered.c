#include "daemon/service/undelivered.h"

#include "daemon/service/views.h"
#include "daemon/store/games.h"

#include <string.h>

static json_t *undelivered_view(Service *service, const Player *addressee, const Player *unreachable, const char *words, bool given_up) {
    json_t *view = view_new(service, "undelivered", addressee);
    json_object_set_new(view, "unreachable", json_pack("{s:s, s:b, s:b}", "name", unreachable->name, "given_up", given_up, "for_arbiter", addressee == NULL));
    if (addressee == NULL) {
        json_object_set_new(json_object_get(view, "unreachable"), "address", json_string(unreachable->address));
        json_object_set_new(json_object_get(view, "unreachable"), "words", json_string(words));
    }
    return view;
}

static int tell_opponent(Service *service, const LetterOut *letter, const Game *game, const Player *unreachable, bool given_up, Error *error) {
    Colour opponent = game->white == letter->player ? BLACK : WHITE;
    Player player;
    if (player_get(service->store, game_player(game, opponent), &player, error) <= 0)
        return -1;
    json_t *view = undelivered_view(service, &player, unreachable, "", given_up);
    if (view_add_game(service, view, letter->game, game, opponent, error) < 0) {
        json_decref(view);
        return -1;
    }
    Draft draft = { .view = view, .scope = "game", .game = letter->game, .epoch = game->epoch, .ply = game->ply_count, .brake = "" };
    return queue_letter(service, &player, NULL, &draft, error);
}

static int tell_arbiter(Service *service, const LetterOut *letter, const Player *unreachable, const char *words, bool given_up, Error *error) {
    if (service->config->arbiter == NULL)
        return 0;
    json_t *view = undelivered_view(service, NULL, unreachable, words, given_up);
    json_object_set_new(json_object_get(view, "unreachable"), "game", json_integer((json_int_t)letter->game));
    Draft draft = { .view = view, .scope = "none", .brake = "" };
    return queue_letter(service, NULL, service->config->arbiter, &draft, error);
}

int undelivered_tell(Service *service, const LetterOut *letter, const char *words, bool given_up, Error *error) {
    if (!letter->notice || letter->game == 0 || (strcmp(letter->state, "refused") == 0 && !given_up))
        return 0;
    Player unreachable;
    Game *game = NULL;
    int found = player_get(service->store, letter->player, &unreachable, error);
    if (found == 1)
        found = game_load(service->store, letter->game, &game, error);
    if (found <= 0)
        return found;
    int result = tell_opponent(service, letter, game, &unreachable, given_up, error);
    if (result == 0)
        result = tell_arbiter(service, letter, &unreachable, words, given_up, error);
    game_free(game);
    return result;
}
