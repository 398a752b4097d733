#include "daemon/service/views.h"

#include "core/chess/movegen.h"
#include "daemon/store/games.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *side_name(Colour colour) {
    return colour == WHITE ? "white" : "black";
}

json_t *view_new(const Service *service, const char *kind, const Player *player) {
    const Config *config = service->config;
    return json_pack("{s:s, s:{s:s, s:s, s:s}, s:{s:s, s:s, s:s}}", "kind", kind, "service", "name", config->name, "address", config->address,
                     "arbiter", config->arbiter == NULL ? "" : config->arbiter, "player", "name", player == NULL ? "" : player->name, "zone",
                     player == NULL ? config->timezone : player->zone, "language", player == NULL ? config->language : player->language);
}

static void square_text(int square, char ret_text[3]) {
    ret_text[0] = (char)('a' + square % 8);
    ret_text[1] = (char)('1' + square / 8);
    ret_text[2] = 0;
}

/* Number and side of a ply: games from a set-up position begin with its own number and side. */
static void ply_number(const Position *before, int *ret_number, bool *ret_black) {
    *ret_number = position_fullmove(before);
    *ret_black = position_turn(before) == BLACK;
}

json_t *view_move(const Position *position, Move move) {
    char san[NOTATION_MAX], extended[NOTATION_MAX];
    notation_write(position, move, NOTATION_SAN, san);
    notation_write(position, move, NOTATION_LONG, extended);
    return json_pack("{s:s, s:s}", "san", san, "long", extended);
}

json_t *view_ply(const Game *game, int ply) {
    const Position *before = &game->positions[ply - 1];
    Move move = game->plies[ply - 1].move;
    int number = 0;
    bool black = false;
    ply_number(before, &number, &black);
    char uci[NOTATION_MAX], from[3] = "", to[3] = "";
    notation_write(before, move, NOTATION_UCI, uci);
    memcpy(from, uci, 2);
    memcpy(to, uci + 2, 2);
    json_t *object = view_move(before, move);
    json_object_set_new(object, "number", json_integer(number));
    json_object_set_new(object, "black", json_boolean(black));
    json_object_set_new(object, "from", json_string(from));
    json_object_set_new(object, "to", json_string(to));
    return object;
}

static const char *piece_name(int piece) {
    static const char *const names[KIND_COUNT] = { [PAWN] = "pawn", [KNIGHT] = "knight", [BISHOP] = "bishop",
                                                   [ROOK] = "rook", [QUEEN] = "queen",   [KING] = "king" };
    return piece == EMPTY ? NULL : names[piece_kind(piece)];
}

static void set_square(json_t *object, const char *name, int square) {
    if (square < 0 || square > 63)
        return;
    char text[3];
    square_text(square, text);
    json_object_set_new(object, name, json_string(text));
}

json_t *view_fault(const Position *position, const Reading *reading) {
    char code[48];
    text_copy(code, sizeof code, notation_fault_name(reading->fault));
    for (char *byte = code; *byte != 0; byte++)
        if (*byte == '_')
            *byte = '-';
    json_t *fault = json_pack("{s:s}", "code", code);
    if (piece_name(reading->piece) != NULL)
        json_object_set_new(fault, "piece", json_string(piece_name(reading->piece)));
    if (piece_name(reading->cause_piece) != NULL) {
        json_object_set_new(fault, "attacker_piece", json_string(piece_name(reading->cause_piece)));
        json_object_set_new(fault, "cause_piece", json_string(piece_name(reading->cause_piece)));
    }
    set_square(fault, "from", reading->from);
    set_square(fault, "to", reading->to);
    set_square(fault, "square", reading->to);
    set_square(fault, "attacker", reading->cause);
    set_square(fault, "cause", reading->cause);
    char one[2] = "";
    if (reading->from_file >= 0) {
        one[0] = (char)('a' + reading->from_file);
        json_object_set_new(fault, "from_file", json_string(one));
    }
    if (reading->from_rank >= 0) {
        one[0] = (char)('1' + reading->from_rank);
        json_object_set_new(fault, "from_rank", json_string(one));
    }
    json_t *candidates = json_array();
    static const int order[] = { EMPTY, QUEEN, ROOK, BISHOP, KNIGHT }; /* what most pawns become comes first */
    for (size_t kind = 0; kind < sizeof order / sizeof order[0]; kind++)
        for (int i = 0; i < reading->candidate_count; i++)
            if (move_promotion(reading->candidates[i]) == order[kind])
                json_array_append_new(candidates, view_move(position, reading->candidates[i]));
    json_object_set_new(fault, "candidates", candidates);
    return fault;
}

json_t *view_lines(const char *text) {
    json_t *lines = json_array();
    while (*text != 0) {
        const char *end = strchr(text, '\n');
        size_t length = end == NULL ? strlen(text) : (size_t)(end - text);
        json_array_append_new(lines, json_stringn(text, length));
        text += length + (end != NULL);
    }
    return lines;
}

static json_t *instant_json(Instant instant) {
    char text[INSTANT_TEXT_SIZE];
    instant_write(instant, text);
    return json_string(text);
}

static json_t *clock_json(const Game *game, Colour colour) {
    int64_t left = game->clocks[colour].left;
    json_t *clock = json_pack("{s:I, s:I, s:b}", "left_days", (json_int_t)(left / SECONDS_PER_DAY), "left_seconds", (json_int_t)left, "exact",
                     game->control.kind == CONTROL_DAYS_PER_MOVE);
    if (game->control.kind == CONTROL_MOVES_IN_DAYS)
        json_object_set_new(clock, "moves_left", json_integer(game->control.moves - game->clocks[colour].moves_made % game->control.moves));
    return clock;
}

static json_t *deadline_json(const Game *game, Instant now) {
    Instant since = game->running_since != INSTANT_NONE ? game->running_since : now;
    if (game->running_since == INSTANT_NONE && game->start != INSTANT_NONE && game->start > since)
        since = game->start;
    Instant at = game_deadline(game, since);
    if (at == INSTANT_NONE)
        return NULL;
    const Clock *clock = &game->clocks[game_turn(game)];
    return json_pack("{s:o, s:b, s:o, s:I, s:I, s:b}", "at", instant_json(at), "running", game->running_since != INSTANT_NONE, "since",
                     instant_json(since), "left_days", (json_int_t)(clock->left / SECONDS_PER_DAY), "hours",
                     (json_int_t)((at - since) / 3600), "exact", game->control.kind == CONTROL_DAYS_PER_MOVE);
}

static void set_deadlines(json_t *view, const Game *game, Colour viewer, Instant now) {
    json_object_del(view, "deadline");
    json_object_del(view, "their_deadline");
    if (game_over(game))
        return;
    json_t *deadline = deadline_json(game, now);
    if (deadline != NULL)
        json_object_set_new(view, game_turn(game) == viewer ? "deadline" : "their_deadline", deadline);
}

static json_t *squares_json(const Position *position) {
    static const char letters[] = ".PNBRQK";
    char squares[65];
    for (int row = 0; row < 8; row++)
        for (int file = 0; file < 8; file++) {
            int piece = position_piece_at(position, (7 - row) * 8 + file);
            char letter = '.';
            if (piece != EMPTY) {
                letter = letters[piece_kind(piece)]; /* PAWN is 1 */
                if (piece_colour(piece) == BLACK)
                    letter = (char)(letter - 'A' + 'a');
            }
            squares[row * 8 + file] = letter;
        }
    squares[64] = 0;
    return json_string(squares);
}

static json_t *moves_json(const Game *game) {
    json_t *moves = json_array();
    for (int i = 0; i < game->ply_count; i++)
        json_array_append_new(moves, json_string(game->plies[i].san));
    return moves;
}

/* A move that may be played, to show how one is written: a common one where there is one, so that it is no advice. */
static void set_example(json_t *object, const Game *game) {
    static const char *const common[] = { "Nf3", "Nc3", "e4", "d4", "Nf6", "Nc6", "e5", "d5", "O-O", "a3", "a6", "h3", "h6" };
    MoveList moves;
    char san[NOTATION_MAX];
    moves_legal(&game->position, &moves);
    if (game_over(game) || moves.count == 0)
        return;
    for (size_t c = 0; c < sizeof common / sizeof common[0]; c++)
        for (int i = 0; i < moves.count; i++) {
            notation_write(&game->position, moves.moves[i], NOTATION_SAN, san);
            if (strcmp(san, common[c]) == 0) {
                json_object_set_new(object, "example_move", json_string(san));
                return;
            }
        }
    moves_sort(&game->position, &moves);
    notation_write(&game->position, moves.moves[0], NOTATION_SAN, san);
    json_object_set_new(object, "example_move", json_string(san));
}

static json_t *game_json(int64_t id, const Game *game, Colour viewer, const Player players[2]) {
    int number = 0, first_number = 0;
    bool black = false, first_black = false;
    ply_number(&game->position, &number, &black);
    ply_number(&game->initial, &first_number, &first_black);
    Colour turn = game_turn(game);
    const char *offer = !game->offer_standing ? "none" : game->offer_by == viewer ? "mine" : "theirs";
    json_t *object = json_pack(
        "{s:I, s:s, s:s, s:s, s:s, s:b, s:i, s:s, s:s, s:b, s:o, s:o, s:b, s:i, s:s, s:b, s:s, s:s, s:{s:o, s:o}}", "id", (json_int_t)id, "white",
        players[WHITE].name, "black", players[BLACK].name, "opponent", players[viewer == WHITE ? BLACK : WHITE].name, "you", side_name(viewer),
        "your_move", !game_over(game) && turn == viewer, "move_number", number, "turn", side_name(turn), "control", game->control.text, "check",
        position_in_check(&game->position), "squares", squares_json(&game->position), "moves", moves_json(game), "first_black", first_black,
        "first_number", first_number, "offer", offer, "over", game_over(game), "result", result_text(game->result), "reason",
        reason_name(game->reason), "clocks", "white", clock_json(game, WHITE), "black", clock_json(game, BLACK));
    char fen[FEN_MAX];
    Position start;
    fen_write(&game->initial, 0, fen);
    position_start(&start);
    if (!position_same(&start, &game->initial) || game->initial.chess960)
        json_object_set_new(object, "fen", json_string(fen));
    if (!game->initial.chess960 && !position_same(&start, &game->initial))
        json_object_set_new(object, "set_up", json_true());
    if (game->initial.chess960)
        json_object_set_new(object, "chess960", json_object());
    int array = game->initial.chess960 ? position_number960(&game->initial) : -1;
    if (array >= 0)
        json_object_set_new(json_object_get(object, "chess960"), "array", json_integer(array));
    set_example(object, game);
    if (game->created != INSTANT_NONE)
        json_object_set_new(object, "created", instant_json(game->created));
    if (game->ply_count > 0) {
        json_t *last = view_ply(game, game->ply_count);
        json_object_set_new(last, "mine", json_boolean(turn != viewer));
        json_object_set_new(object, "last", last);
        json_object_set_new(object, "late", json_integer((json_int_t)game->plies[game->ply_count - 1].late));
    } else {
        json_object_set_new(object, "late", json_integer(0));
    }
    return object;
}

int view_add_game(Service *service, json_t *view, int64_t id, const Game *game, Colour viewer, Error *error) {
    Player players[2];
    for (int colour = WHITE; colour <= BLACK; colour++) {
        int found = player_get(service->store, game_player(game, (Colour)colour), &players[colour], error);
        if (found < 0)
            return -1;
        if (found == 0)
            players[colour] = (Player){ 0 };
    }
    json_object_set_new(view, "game", game_json(id, game, viewer, players));
    set_deadlines(view, game, viewer, world_now(service->world));
    return 0;
}

int view_renew_deadline(Service *service, json_t *view, int64_t id, int epoch, int ply, Instant now, Error *error) {
    json_t *deadline = json_object_get(view, "deadline");
    if (deadline == NULL)
        deadline = json_object_get(view, "their_deadline");
    if (deadline == NULL || id == 0)
        return 0;
    Game *game = NULL;
    if (game_load(service->store, id, &game, error) < 0)
        return -1;
    if (game == NULL)
        return 0;
    const char *you = json_string_value(json_object_get(json_object_get(view, "game"), "you"));
    if (you != NULL && game->epoch == epoch && game->ply_count == ply)
        set_deadlines(view, game, strcmp(you, "white") == 0 ? WHITE : BLACK, now);
    game_free(game);
    return 0;
}

/* ---- queueing ---- */

static const char *domain_of(const Config *config) {
    const char *at = strrchr(config->address, '@');
    return at == NULL ? config->address : at + 1;
}

/* References: the thread's root, the last letter to this player in it, the letter answered; no id twice. */
static void make_references(const char *first, const char *last, const char *answered, Str *ret_references) {
    const char *ids[] = { first, last, answered };
    for (int i = 0; i < 3; i++) {
        if (ids[i] == NULL || ids[i][0] == 0 || (i > 0 && strcmp(ids[i], ids[i - 1]) == 0) || (i == 2 && strcmp(ids[2], ids[0]) == 0))
            continue;
        if (ret_references->length > 0)
            str_append_char(ret_references, ' ');
        str_append(ret_references, ids[i]);
    }
}

int queue_letter(Service *service, const Player *player, const char *address, const Draft *draft, Error *error) {
    char first[MESSAGE_ID_MAX] = "", last[MESSAGE_ID_MAX] = "";
    int result = 0;
    if (draft->game != 0 && player != NULL)
        result = letter_out_thread(service->store, draft->game, player->id, first, last, error);
    char *view = json_dumps(draft->view, JSON_COMPACT);
    Str references;
    str_init(&references, 3 * MESSAGE_ID_MAX);
    make_references(first, last, draft->in_reply_to, &references);
    if (result == 0 && view == NULL)
        result = error_set(error, ERROR_LATER, 0, "no memory for a letter's view");
    if (result == 0) {
        Instant now = world_now(service->world);
        const char *answered = draft->in_reply_to != NULL ? draft->in_reply_to : last[0] != 0 ? last : NULL;
        LetterOut letter = {
            .cause = draft->cause, .kind = json_string_value(json_object_get(draft->view, "kind")), .player = player == NULL ? 0 : player->id,
            .address = player == NULL ? address : player->address, .scope = draft->scope, .game = draft->game, .epoch = draft->epoch,
            .ply = draft->ply, .ask = draft->ask, .notice = draft->notice, .brake = draft->brake, .view = view, .in_reply_to = answered,
            .references = references.data, .null_sender = player == NULL, .due = 0, /* at once, wherever the clock may jump */ .queued = now,
        };
        int64_t id = 0;
        result = letter_out_queue(service->store, &letter, domain_of(service->config), &id, error);
    }
    free(view);
    str_free(&references);
    json_decref(draft->view);
    return result;
}

int queue_notice(Service *service, const char *kind, int64_t id, const Game *game, Colour to, const char *remark, int64_t cause, Error *error) {
    Player player;
    int found = player_get(service->store, game_player(game, to), &player, error);
    if (found <= 0)
        return found < 0 ? -1 : error_set(error, ERROR_DAMAGED, 0, "game %lld names a player who is not in the store", (long long)id);
    json_t *view = view_new(service, kind, &player);
    if (view_add_game(service, view, id, game, to, error) < 0) {
        json_decref(view);
        return -1;
    }
    if (remark != NULL && remark[0] != 0)
        json_object_set_new(view, "remark", view_lines(remark));
    Draft draft = {
        .view = view, .scope = "game", .game = id, .epoch = game->epoch, .ply = game->ply_count, .cause = cause,
        .notice = !game_over(game) && game_turn(game) == to, .brake = "",
    };
    return queue_letter(service, &player, NULL, &draft, error);
}
