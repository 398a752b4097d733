#include "daemon/log.h"
#include "daemon/store/games.h"
#include "daemon/store/listing.h"
#include "daemon/store/players.h"
#include "daemon/verbs/open.h"
#include "daemon/verbs/verbs.h"

#include <stdio.h>
#include <string.h>

static int add_checked(Open *open, const char *name, const char *address, const char *language, const char *zone) {
    Error error;
    error_clear(&error);
    int64_t id = 0;
    if (store_begin(open->store, &error) < 0)
        return verb_fail(&error);
    int added = player_add(open->store, name, address, language, zone, world_now(&open->world), &id, &error);
    if (added == 1 && store_commit(open->store, &error) == 0) {
        print_line(stdout, "player %lld: %s <%s>", (long long)id, name, address);
        return STATUS_DONE;
    }
    store_rollback(open->store);
    if (added == 0)
        return verb_wrong("there is a player named %s already: choose another name", name);
    return verb_fail(&error);
}

static int player_part_add(const VerbCall *call) {
    const char *words[2], *language = NULL, *zone = NULL;
    const VerbOption options[] = { { "language", &language, NULL }, { "timezone", &zone, NULL }, { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "player add NAME ADDRESS [--language L] [--timezone Z]",
                        "Enters a player as if his registration were confirmed. Language and time zone are the service's if not given.\n",
                        options, words, 2, 2, &count, &status))
        return status;
    Open open = { 0 };
    char name[PLAYER_NAME_MAX], address[ADDRESS_MAX];
    status = open_service(&open, call, STORE_VERB, INSTANT_NONE);
    if (status != STATUS_DONE) {
        open_close(&open);
        return status;
    }
    language = language == NULL ? open.config->language : language;
    zone = zone == NULL ? open.config->timezone : zone;
    if (!player_name_clean(words[0], name))
        status = verb_wrong("%s is no name for a player: 1 to 60 characters, no @, not only digits", words[0]);
    else if (!address_clean(words[1], address))
        status = verb_wrong("%s is no mail address: one looks like anna@berg.example", words[1]);
    else if (text_equal_nocase(address, open.config->address))
        status = verb_wrong("%s is the service's own address: a player needs another", address);
    else if (!templates_have_language(open.templates, language))
        status = verb_wrong("there are no templates in the language %s: see the folders in %s", language, open.config->templates);
    else if (!zone_known(zone))
        status = verb_wrong("%s is no time zone of this system: names are like Europe/Vienna or UTC", zone);
    else
        status = add_checked(&open, name, address, language, zone);
    open_close(&open);
    return status;
}

static json_t *player_json(const PlayerLine *line) {
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:b, s:I, s:o, s:o}", "id", (json_int_t)line->id, "name", json_text(line->name), "address",
                     json_text(line->address), "language", json_text(line->language), "timezone", json_text(line->zone), "blocked",
                     (int)line->blocked, "running", (json_int_t)line->running, "trouble",
                     line->trouble[0] == 0 ? json_null() : json_text(line->trouble), "since", json_instant(line->created));
}

static int add_json(void *data, const PlayerLine *line) {
    json_array_append_new(data, player_json(line));
    return 0;
}

static int print_one(void *data, const PlayerLine *line) {
    (void)data;
    print_line(stdout, "%lld  %s <%s>  %s, %s, %lld running%s%s%s", (long long)line->id, line->name, line->address, line->language, line->zone,
               (long long)line->running, line->blocked ? ", blocked" : "", line->trouble[0] == 0 ? "" : ", address in trouble: ", line->trouble);
    return 0;
}

static int player_part_list(const VerbCall *call) {
    bool as_json = false;
    const VerbOption options[] = { { "json", NULL, &as_json }, { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "player list [--json]", "Every player, by number.\n", options, NULL, 0, 0, &count, &status))
        return status;
    Open open = { 0 };
    Error error;
    error_clear(&error);
    status = open_store(&open, call, STORE_READ);
    if (status == STATUS_DONE) {
        json_t *all = json_array();
        if (listing_players(open.store, 0, as_json ? add_json : print_one, all, &error) < 0)
            status = verb_fail(&error);
        else if (as_json)
            print_json(json_incref(all));
        json_decref(all);
    }
    open_close(&open);
    return status;
}

static int print_game(void *data, const GameRow *row) {
    int64_t player = *(const int64_t *)data;
    char due[INSTANT_TEXT_SIZE] = "";
    if (row->due != INSTANT_NONE)
        instant_write(row->due, due);
    print_line(stdout, "  game %lld as %s, %s%s%s", (long long)row->id, row->white == player ? "White" : "Black",
               row->to_move == 0 ? row->result : row->to_move == player ? "to move" : "waiting for the opponent",
               row->to_move == player && due[0] != 0 ? ", due " : "", row->to_move == player ? due : "");
    return 0;
}

static int collect_game(void *data, const GameRow *row) {
    json_array_append_new(data, json_integer(row->id));
    return 0;
}

static int player_part_show(const VerbCall *call) {
    const char *words[1];
    bool as_json = false;
    const VerbOption options[] = { { "json", NULL, &as_json }, { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "player show WHO [--json]", "One player and his games. WHO is a number, a name or an address.\n", options, words, 1, 1,
                        &count, &status))
        return status;
    Open open = { 0 };
    Error error;
    int64_t id = 0;
    error_clear(&error);
    status = open_store(&open, call, STORE_READ);
    if (status == STATUS_DONE)
        status = open_player(&open, words[0], &id);
    if (status == STATUS_DONE) {
        json_t *all = json_array(), *games = json_array();
        if (listing_players(open.store, id, as_json ? add_json : print_one, all, &error) < 0 ||
            games_each(open.store, id, false, as_json ? collect_game : print_game, as_json ? (void *)games : (void *)&id, &error) < 0) {
            status = verb_fail(&error);
        } else if (as_json) {
            json_t *one = json_array_get(all, 0);
            json_object_set(one, "games", games);
            print_json(json_incref(one));
        }
        json_decref(games);
        json_decref(all);
    }
    open_close(&open);
    return status;
}

static int player_part_block(const VerbCall *call) {
    const char *words[1];
    bool off = false;
    const VerbOption options[] = { { "off", NULL, &off }, { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "player block WHO [--off]", "From now on his letters are stored, not acted on and not answered. --off ends this; what he wrote in between is not made up for.\n", options, words, 1, 1, &count,
                        &status))
        return status;
    Open open = { 0 };
    Error error;
    int64_t id = 0;
    error_clear(&error);
    status = open_store(&open, call, STORE_VERB);
    if (status == STATUS_DONE)
        status = open_player(&open, words[0], &id);
    if (status == STATUS_DONE &&
        (store_begin(open.store, &error) < 0 || player_block(open.store, id, !off, &error) < 0 || store_commit(open.store, &error) < 0)) {
        store_rollback(open.store);
        status = verb_fail(&error);
    }
    open_close(&open);
    return status;
}

int verb_player(const VerbCall *call) {
    static const VerbPart parts[] = {
        { "add", player_part_add, "NAME ADDRESS [--language L] [--timezone Z]", "enters a player as if his registration were confirmed" },
        { "list", player_part_list, "[--json]", "every player, by number" },
        { "show", player_part_show, "WHO [--json]", "one player and his games; WHO is a number, a name or an address" },
        { "block", player_part_block, "WHO [--off]", "his letters are no longer acted on; --off ends this" },
        { 0 },
    };
    return verb_parts(call, parts, "player");
}
