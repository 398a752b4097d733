/* A game in the forms in which `game show` gives it. */
#ifndef EPISTLE_DAEMON_VERBS_GAME_TEXT_H
#define EPISTLE_DAEMON_VERBS_GAME_TEXT_H

#include "core/game/game.h"
#include "daemon/verbs/open.h"

typedef struct GameSheet {
    int64_t id;
    const Game *game;
    const char *white, *black; /* names */
    const char *service;       /* its name and address: Event and Site of the PGN */
    const char *address;
} GameSheet;

void game_print_board(const Game *game); /* from White's side */
void game_print_clock(const GameSheet *sheet);
void game_print_summary(const GameSheet *sheet);
void game_fen(const Game *game, char ret_fen[FEN_MAX]);
int game_print_pgn(const GameSheet *sheet, Error *error);
json_t *game_json(const GameSheet *sheet); /* what `game list` gives, and the moves, position and clocks */

/* The members that `game list --json` promises. */
json_t *game_json_head(int64_t id, const char *white, const char *black, const char *to_move, Instant due, const char *result);

#endif
