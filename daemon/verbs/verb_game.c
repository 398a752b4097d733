#include "core/chess/doubt.h"
#include "core/chess/fen.h"
#include "core/notation/explain.h"
#include "daemon/log.h"
#include "daemon/service/starting.h"
#include "daemon/store/games.h"
#include "daemon/store/players.h"
#include "daemon/verbs/game_text.h"
#include "daemon/verbs/open.h"
#include "daemon/verbs/verbs.h"

#include <stdio.h>
#include <string.h>

enum { RECORD_TEXT_MAX = 8 * 1024 * 1024, MOVE_SENTENCE_MAX = 3000 };

static int read_game_id(const char *word, int64_t *ret_id) {
    return verb_number(word, ret_id) ? STATUS_DONE : verb_wrong("%s is no game's number: `epistle game list` shows them", word);
}

enum { ARRAYS = 960 };

/* A Chess960 array drawn at random, each as likely as any other. */
static int draw_array(const Open *open) {
    enum { FAIR = 65536 / ARRAYS * ARRAYS };
    uint16_t drawn;
    do
        world_random(&open->world, &drawn, sizeof drawn);
    while (drawn >= FAIR);
    return drawn % ARRAYS;
}

/* What --variant says: `standard`, `chess960`, `chess960:N`. *ret_array: N, -1 where none is named. */
static bool read_variant(const char *text, bool *ret_chess960, int *ret_array) {
    static const char name[] = "chess960";
    *ret_array = -1;
    *ret_chess960 = text != NULL && strncmp(text, name, sizeof name - 1) == 0;
    if (!*ret_chess960)
        return text == NULL || strcmp(text, "standard") == 0;
    const char *rest = text + sizeof name - 1;
    if (*rest == 0)
        return true;
    int digits = (int)strspn(rest + 1, "0123456789"), array = 0;
    if (*rest != ':' || digits < 1 || digits > 3 || rest[1 + digits] != 0)
        return false;
    for (int i = 1; i <= digits; i++)
        array = 10 * array + rest[i] - '0';
    *ret_array = array;
    return array < ARRAYS;
}

typedef struct NewOptions {
    const char *control, *fen, *start, *variant;
    bool chess960;
    int array;        /* -1: none named */
    Position initial; /* of --fen */
} NewOptions;

/* Everything that can be wrong before the store is opened. */
static int check_new(NewOptions *options) {
    Error error;
    if (!read_variant(options->variant, &options->chess960, &options->array))
        return verb_wrong("%s is no variant known here: standard, chess960 (an array is drawn) or chess960:N with N from 0 to 959", options->variant);
    if (options->fen != NULL && options->array >= 0)
        return verb_wrong("--fen and --variant chess960:%d both name a start array: leave one out", options->array);
    if (options->fen != NULL && !fen_read(options->fen, options->chess960 ? FEN_CHESS960 : 0u, &options->initial, &error))
        return verb_fail(&error);
    return STATUS_DONE;
}

/* A director's typing errors: what of the FEN was dropped, or that no game can have led there. */
static void tell_doubts(const NewOptions *options) {
    Error error;
    Position strict;
    error_clear(&error);
    unsigned flags = FEN_STRICT | (options->chess960 ? FEN_CHESS960 : 0u);
    if (!fen_read(options->fen, flags, &strict, &error) && (error.code == FEN_CASTLING || error.code == FEN_EN_PASSANT))
        print_line(stderr, "epistle: the game begins without it, is the FEN what you meant? %s", error.text);
    else if (position_doubt(&options->initial, &error) != DOUBT_NONE)
        print_line(stderr, "epistle: no game can have led to this position, is the FEN what you meant? %s", error.text);
}

static int new_in_transaction(Open *open, int64_t white, int64_t black, const char *control, const Position *initial, Instant start) {
    Error error;
    error_clear(&error);
    int64_t id = 0;
    if (store_begin(open->store, &error) < 0)
        return verb_fail(&error);
    if (service_start_game(&open->service, white, black, control, initial, start, 0, &id, &error) < 0 || store_commit(open->store, &error) < 0) {
        store_rollback(open->store);
        return verb_fail(&error);
    }
    print_line(stdout, "game %lld", (long long)id);
    return STATUS_DONE;
}

static int game_part_new(const VerbCall *call) {
    const char *words[2];
    NewOptions new = { 0 };
    const VerbOption options[] = { { "time", &new.control, NULL }, { "fen", &new.fen, NULL }, { "start", &new.start, NULL },
                                   { "variant", &new.variant, NULL }, { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "game new WHITE BLACK [--time T] [--start TIME] [--variant V] [--fen FEN]",
                        "Begins a game and queues both players' first letters; the next `once` sends them. WHITE and BLACK are numbers,\n"
                        "names or addresses.\n"
                        "  --time T      10/50d, 3d/move or none; the configuration's if not given\n"
                        "  --start TIME  announced start: no time runs before it\n"
                        "  --variant V   standard, chess960 (an array is drawn) or chess960:N, N from 0 to 959\n"
                        "  --fen FEN     another position than the start array\n",
                        options, words, 2, 2, &count, &status))
        return status;
    Instant start = INSTANT_NONE;
    if (!verb_time("start", new.start, &start))
        return STATUS_USAGE;
    status = check_new(&new);
    if (status != STATUS_DONE)
        return status;
    Open open = { 0 };
    int64_t white = 0, black = 0;
    status = open_service(&open, call, STORE_VERB, INSTANT_NONE);
    if (status == STATUS_DONE)
        status = open_player(&open, words[0], &white);
    if (status == STATUS_DONE)
        status = open_player(&open, words[1], &black);
    if (status == STATUS_DONE && white == black)
        status = verb_wrong("%s and %s are the same player: a game needs two (epistle player list)", words[0], words[1]);
    if (status == STATUS_DONE && new.chess960 && new.fen == NULL)
        position_start960(new.array >= 0 ? new.array : draw_array(&open), &new.initial);
    if (status == STATUS_DONE)
        status = new_in_transaction(&open, white, black, new.control, new.chess960 || new.fen != NULL ? &new.initial : NULL, start);
    if (status == STATUS_DONE && new.fen != NULL)
        tell_doubts(&new);
    open_close(&open);
    return status;
}

/* Says why the text is no move in the game's position. Everything else that may be wrong is service_enter_move()'s to say. */
static int check_move(Store *store, int64_t id, const char *text, Error *error) {
    Game *game = NULL;
    int found = game_load(store, id, &game, error);
    if (found <= 0)
        return found < 0 ? verb_fail(error) : verb_wrong("there is no game %lld: `epistle game list` names them", (long long)id);
    const char *rest = text;
    int number = 0, status = STATUS_DONE;
    bool black = false;
    if (!notation_number(text, &rest, &number, &black))
        rest = text;
    Reading reading;
    notation_read(&game->position, rest, 0, &reading);
    if (!game_over(game) && (number == 0 || number == position_fullmove(&game->position)) && reading.kind != READING_MOVE) {
        Str why, possible;
        str_init(&why, MOVE_SENTENCE_MAX);
        str_init(&possible, MOVE_SENTENCE_MAX);
        notation_explain(&why, &game->position, &reading);
        notation_alternatives(&possible, &game->position, &reading, NULL);
        status = verb_wrong("%s %s; possible: %s", text, why.data, possible.data);
        str_free(&why);
        str_free(&possible);
    }
    game_free(game);
    return status;
}

static int game_part_move(const VerbCall *call) {
    const char *words[2];
    const VerbOption options[] = { { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "game move ID MOVE",
                        "Enters a move for the side to move, as if his letter had come now; both are told by the next `once`.\n", options, words, 2, 2,
                        &count, &status))
        return status;
    Open open = { 0 };
    Error error;
    int64_t id = 0;
    error_clear(&error);
    status = read_game_id(words[0], &id);
    if (status == STATUS_DONE)
        status = open_service(&open, call, STORE_VERB, INSTANT_NONE);
    if (status == STATUS_DONE)
        status = check_move(open.store, id, words[1], &error);
    if (status == STATUS_DONE &&
        (store_begin(open.store, &error) < 0 || service_enter_move(&open.service, id, words[1], &error) < 0 || store_commit(open.store, &error) < 0)) {
        store_rollback(open.store);
        status = verb_fail(&error);
    }
    open_close(&open);
    return status;
}

/* ---- show ---- */

typedef struct ShowOptions {
    bool fen, pgn, record, board, clock, json;
} ShowOptions;

static int show_record(Open *open, int64_t id, Error *error) {
    Str record;
    str_init(&record, RECORD_TEXT_MAX);
    int found = game_record(open->store, id, &record, error);
    if (found == 1)
        print_text(stdout, record.data);
    str_free(&record);
    return found < 0 ? -1 : 0;
}

static int show_sheet(Open *open, const GameSheet *sheet, const ShowOptions *options, Error *error) {
    char fen[FEN_MAX];
    if (options->json)
        print_json(game_json(sheet));
    if (options->fen) {
        game_fen(sheet->game, fen);
        print_line(stdout, "%s", fen);
    }
    if (options->board)
        game_print_board(sheet->game);
    if (options->clock)
        game_print_clock(sheet);
    if (options->pgn && game_print_pgn(sheet, error) < 0)
        return -1;
    if (options->record && show_record(open, sheet->id, error) < 0)
        return -1;
    if (!options->json && !options->fen && !options->board && !options->clock && !options->pgn && !options->record)
        game_print_summary(sheet);
    return 0;
}

static int show_game(Open *open, int64_t id, const ShowOptions *options) {
    Error error;
    error_clear(&error);
    Game *game = NULL;
    Player white, black;
    int found = game_load(open->store, id, &game, &error);
    if (found == 0)
        return verb_wrong("there is no game %lld: `epistle game list` names them", (long long)id);
    if (found > 0)
        found = player_get(open->store, game->white, &white, &error) < 0 || player_get(open->store, game->black, &black, &error) < 0 ? -1 : 1;
    if (found > 0) {
        GameSheet sheet = { .id = id, .game = game, .white = white.name, .black = black.name, .service = open->config->name,
                            .address = open->config->address };
        found = show_sheet(open, &sheet, options, &error) < 0 ? -1 : 1;
    }
    game_free(game);
    return found < 0 ? verb_fail(&error) : STATUS_DONE;
}

static int game_part_show(const VerbCall *call) {
    const char *words[1];
    ShowOptions show = { 0 };
    const VerbOption options[] = { { "fen", NULL, &show.fen },     { "pgn", NULL, &show.pgn },     { "record", NULL, &show.record },
                                   { "board", NULL, &show.board }, { "clock", NULL, &show.clock }, { "json", NULL, &show.json }, { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "game show ID [--fen] [--pgn] [--record] [--board] [--clock] [--json]",
                        "One game: what is asked for, or a summary.\n", options, words, 1, 1, &count, &status))
        return status;
    Open open = { 0 };
    int64_t id = 0;
    status = read_game_id(words[0], &id);
    if (status == STATUS_DONE)
        status = open_store(&open, call, STORE_READ);
    if (status == STATUS_DONE)
        status = show_game(&open, id, &show);
    open_close(&open);
    return status;
}

/* ---- list ---- */

typedef struct List {
    Open *open;
    json_t *all; /* NULL: print lines */
    int64_t mover; /* only games where this player is to move, 0: any */
    Error error;
    bool failed;
} List;

static int list_one(void *data, const GameRow *row) {
    List *list = data;
    Player white, black;
    if (list->mover != 0 && row->to_move != list->mover)
        return 0;
    if (player_get(list->open->store, row->white, &white, &list->error) < 0 || player_get(list->open->store, row->black, &black, &list->error) < 0) {
        list->failed = true;
        return 1;
    }
    const char *to_move = row->to_move == 0 ? NULL : row->to_move == row->white ? "white" : "black";
    if (list->all != NULL) {
        json_array_append_new(list->all, game_json_head(row->id, white.name, black.name, to_move, row->due, row->result));
        return 0;
    }
    char due[INSTANT_TEXT_SIZE] = "";
    if (row->due != INSTANT_NONE)
        instant_write(row->due, due);
    print_line(stdout, "%lld  %s – %s  %s%s%s%s", (long long)row->id, white.name, black.name, to_move == NULL ? row->result : to_move,
               to_move == NULL ? "" : " to move", due[0] == 0 ? "" : ", due ", due);
    return 0;
}

static int game_part_list(const VerbCall *call) {
    const char *who = NULL;
    bool waiting = false, as_json = false;
    const VerbOption options[] = { { "player", &who, NULL }, { "waiting", NULL, &waiting }, { "json", NULL, &as_json }, { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "game list [--waiting] [--player WHO] [--json]",
                        "Games, running ones first.\n"
                        "  --waiting     only those that wait for a move (with --player: for his)\n"
                        "  --player WHO  only his\n",
                        options, NULL, 0, 0, &count, &status))
        return status;
    Open open = { 0 };
    int64_t player = 0;
    status = open_store(&open, call, STORE_READ);
    if (status == STATUS_DONE && who != NULL)
        status = open_player(&open, who, &player);
    if (status == STATUS_DONE) {
        List list = { .open = &open, .all = as_json ? json_array() : NULL, .mover = waiting ? player : 0 };
        if (games_each(open.store, player, waiting, list_one, &list, &list.error) < 0 || list.failed)
            status = verb_fail(&list.error);
        else if (as_json)
            print_json(json_incref(list.all));
        json_decref(list.all);
    }
    open_close(&open);
    return status;
}

int verb_game(const VerbCall *call) {
    static const VerbPart parts[] = {
        { "new", game_part_new, "WHITE BLACK [--time T] [--start TIME] [--variant V] [--fen FEN]", "begins a game and queues both players' first letters" },
        { "show", game_part_show, "ID [--fen] [--pgn] [--record] [--board] [--clock] [--json]", "one game: what is asked for, or a summary" },
        { "list", game_part_list, "[--waiting] [--player WHO] [--json]", "games, running ones first; --waiting: those that wait for a move" },
        { "move", game_part_move, "ID MOVE", "enters a move for the side to move" },
        { 0 },
    };
    return verb_parts(call, parts, "game");
}
