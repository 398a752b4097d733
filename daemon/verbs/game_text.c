#include "daemon/verbs/game_text.h"

#include "core/chess/fen.h"
#include "daemon/log.h"
#include "daemon/outbox/board.h"
#include "daemon/outbox/score.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PGN_MAX = 256 * 1024 };

static const char *side_to_move(const Game *game) {
    if (game_over(game))
        return NULL;
    return game_turn(game) == WHITE ? "white" : "black";
}

static Instant due_of(const Game *game) {
    return game_over(game) || game->running_since == INSTANT_NONE ? INSTANT_NONE : game_deadline(game, INSTANT_NONE);
}

void game_fen(const Game *game, char ret_fen[FEN_MAX]) {
    fen_write(&game->position, game->position.chess960 ? FEN_SHREDDER : 0, ret_fen);
}

void game_print_board(const Game *game) {
    char squares[65], lines[BOARD_LINES][BOARD_LINE_SIZE];
    for (int i = 0; i < 64; i++) {
        int piece = position_piece_at(&game->position, square_make(i % 8, 7 - i / 8));
        char letter = "?pnbrqk"[piece_kind(piece)];
        squares[i] = (char)(piece == EMPTY ? '.' : piece_colour(piece) == WHITE ? letter - 'a' + 'A' : letter);
    }
    squares[64] = 0;
    if (!board_text(squares, false, lines))
        return;
    for (int i = 0; i < BOARD_LINES; i++)
        print_line(stdout, "%s", lines[i]);
}

static void print_left(const char *side, const Game *game, Colour colour) {
    const Clock *clock = &game->clocks[colour];
    int64_t left = clock->left < 0 ? -clock->left : clock->left;
    const char *sign = clock->left < 0 ? "-" : "";
    int64_t days = left / SECONDS_PER_DAY, rest = left % SECONDS_PER_DAY;
    if (game->control.kind == CONTROL_NONE)
        print_line(stdout, "%s  no clock, %d moves made", side, clock->moves_made);
    else if (rest == 0)
        print_line(stdout, "%s  %s%lld days left, %d moves made", side, sign, (long long)days, clock->moves_made);
    else
        print_line(stdout, "%s  %s%lld days %02lld:%02lld:%02lld left, %d moves made", side, sign, (long long)days, (long long)(rest / 3600),
                   (long long)(rest / 60 % 60), (long long)(rest % 60), clock->moves_made);
}

void game_print_clock(const GameSheet *sheet) {
    const Game *game = sheet->game;
    char text[INSTANT_TEXT_SIZE];
    print_line(stdout, "control  %s", game->control.text);
    print_left("white", game, WHITE);
    print_left("black", game, BLACK);
    if (game_over(game))
        return;
    if (game->running_since == INSTANT_NONE) {
        print_line(stdout, "%s's time has not begun: his notice is not yet accepted", side_to_move(game));
        return;
    }
    instant_write(game->running_since, text);
    print_line(stdout, "%s's time runs since %s", side_to_move(game), text);
    if (due_of(game) != INSTANT_NONE) {
        instant_write(due_of(game), text);
        print_line(stdout, "due  %s", text);
    }
}

void game_print_summary(const GameSheet *sheet) {
    const Game *game = sheet->game;
    print_line(stdout, "game %lld: %s – %s, %s", (long long)sheet->id, sheet->white, sheet->black, game->control.text);
    if (game_over(game))
        print_line(stdout, "over: %s, %s", result_text(game->result), reason_name(game->reason));
    else
        print_line(stdout, "move %d, %s to move%s", position_fullmove(&game->position), side_to_move(game),
                   game->offer_standing ? ", a draw offer stands" : "");
    game_print_board(game);
    if (!game_over(game))
        game_print_clock(sheet);
}

int game_print_pgn(const GameSheet *sheet, Error *error) {
    const Game *game = sheet->game;
    Move *moves = calloc((size_t)game->ply_count + 1, sizeof *moves);
    Str out;
    str_init(&out, PGN_MAX);
    for (int i = 0; moves != NULL && i < game->ply_count; i++)
        moves[i] = game->plies[i].move;
    bool over = game_over(game);
    const Score score = { .id = sheet->id, .service = sheet->service, .address = sheet->address, .white = sheet->white, .black = sheet->black,
                          .control = game->control.text, .result = over ? result_text(game->result) : NULL,
                          .reason = over ? reason_name(game->reason) : NULL, .began = game->start != INSTANT_NONE ? game->start : game->created,
                          .start = &game->initial, .moves = moves, .move_count = (size_t)game->ply_count };
    bool good = moves != NULL && score_write(&out, &score);
    if (good)
        print_text(stdout, out.data);
    str_free(&out);
    free(moves);
    return good ? 0 : error_set(error, ERROR_DAMAGED, 0, "game %lld cannot be written as PGN", (long long)sheet->id);
}

json_t *game_json_head(int64_t id, const char *white, const char *black, const char *to_move, Instant due, const char *result) {
    return json_pack("{s:I, s:o, s:o, s:s, s:o, s:o, s:s}", "id", (json_int_t)id, "white", json_text(white), "black", json_text(black), "status",
                     to_move != NULL ? "running" : "over", "to_move", to_move != NULL ? json_string(to_move) : json_null(), "due",
                     json_instant(due), "result", result);
}

static json_t *clock_json(const Clock *clock) {
    return json_pack("{s:i, s:I, s:I}", "moves_made", clock->moves_made, "used", (json_int_t)clock->used, "left", (json_int_t)clock->left);
}

json_t *game_json(const GameSheet *sheet) {
    const Game *game = sheet->game;
    char fen[FEN_MAX];
    game_fen(game, fen);
    json_t *moves = json_array();
    for (int i = 0; i < game->ply_count; i++)
        json_array_append_new(moves, json_string(game->plies[i].san));
    const char *result = game->result == RESULT_VOID ? "void" : result_text(game->result);
    json_t *value = game_json_head(sheet->id, sheet->white, sheet->black, side_to_move(game), due_of(game), result);
    json_t *more = json_pack("{s:s, s:s, s:i, s:i, s:o, s:s, s:o, s:o, s:o, s:s, s:i, s:s}", "control", game->control.text, "fen", fen, "epoch",
                             game->epoch, "ply", game->ply_count, "moves", moves, "reason", game_over(game) ? reason_name(game->reason) : "",
                             "running_since", json_instant(game->running_since), "white_clock", clock_json(&game->clocks[WHITE]), "black_clock",
                             clock_json(&game->clocks[BLACK]), "offer",
                             !game->offer_standing ? "none" : game->offer_by == WHITE ? "white" : "black", "entries", game->entry_count, "head",
                             game->head);
    json_object_update(value, more);
    json_decref(more);
    return value;
}
