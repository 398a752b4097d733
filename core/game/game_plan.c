/* The entries an action adds: game.h's game_plan_… functions. Each finishes its entries (number, previous, hash) and
 * changes nothing; what is wrong is the asker's fault (ERROR_INPUT), as game_apply()'s refusals are a damaged record. */
#include "core/game/game.h"

#include "core/chess/movegen.h"
#include "core/notation/notation.h"

#include <string.h>

static int refuse(Error *error, const char *sentence) {
    return error_set(error, ERROR_INPUT, 0, "%s", sentence);
}

static int check_running(const Game *game, Error *error) {
    if (game->entry_count == 0)
        return refuse(error, "The game has not been begun.");
    if (game_over(game) || game->due_result_ != RESULT_NONE)
        return error_set(error, ERROR_INPUT, 0, "The game is over: %s (%s).",
                         result_text(game_over(game) ? game->result : game->due_result_),
                         reason_name(game_over(game) ? game->reason : game->due_reason_));
    return 0;
}

void game_next_entry(const Game *game, EntryKind kind, Author by, Instant at, int64_t letter, Entry *ret_entry) {
    *ret_entry = (Entry){ .number = game->entry_count + 1, .kind = kind, .by = by, .at = at, .letter = letter,
                          .start = INSTANT_NONE };
    text_copy(ret_entry->previous, sizeof ret_entry->previous, game->head);
}

/* Fills the hash. */
static int finish(Entry *entry, Error *error) {
    Str line;
    str_init(&line, RECORD_LINE_MAX);
    int status = entry_write(entry, &line, error);
    str_free(&line);
    return status;
}

/* The result entry behind the act. */
static int finish_result(const Entry *act, Result result, Reason reason, Entry *ret_entry, Error *error) {
    *ret_entry = (Entry){ .number = act->number + 1, .kind = ENTRY_RESULT, .by = AUTHOR_SERVICE, .at = act->at,
                          .letter = act->letter, .start = INSTANT_NONE, .result = result, .reason = reason };
    text_copy(ret_entry->previous, sizeof ret_entry->previous, act->hash);
    return finish(ret_entry, error);
}

static const char *over_already(Reason reason) {
    switch (reason) {
    case REASON_CHECKMATE: return "In this position the game is over already: the side to move is checkmated.";
    case REASON_STALEMATE: return "In this position the game is over already: the side to move is stalemated.";
    default: return "In this position the game is over already: neither side can ever checkmate the other.";
    }
}

int game_plan_start(int64_t white, int64_t black, const Control *control, const Position *initial, Instant start,
                    Author by, Instant at, int64_t letter, Entry *ret_entry, Error *error) {
    Reason reason;
    if (initial != NULL && game_ending(initial, &reason) != RESULT_NONE)
        return refuse(error, over_already(reason));
    Game *game = game_new();
    if (game == NULL)
        return error_set(error, ERROR_LATER, 0, "No memory for a game.");
    Entry entry;
    game_next_entry(game, ENTRY_START, by, at, letter, &entry);
    entry.rules_version = RULES_VERSION;
    entry.white = white;
    entry.black = black;
    entry.start = start;
    text_copy(entry.control, sizeof entry.control, control->text);
    if (initial != NULL) {
        char array[FEN_MAX];
        Position standard;
        position_start(&standard);
        fen_write(&standard, 0, array);
        /* without a right to castle Chess960 is standard chess, and its FEN says so */
        fen_write(initial, initial->chess960 ? FEN_SHREDDER : 0u, entry.fen);
        if (strcmp(entry.fen, array) == 0)
            entry.fen[0] = 0;
    }
    int status = finish(&entry, error);
    if (status == 0)
        status = game_apply(game, &entry, error);
    if (status < 0 && error != NULL && error->grade == ERROR_DAMAGED)
        error->grade = ERROR_INPUT;
    game_free(game);
    if (status < 0)
        return -1;
    *ret_entry = entry;
    return 1;
}

int game_plan_move(const Game *game, Move move, Instant arrival, int64_t letter, bool offer, Entry ret_entries[2],
                   Error *error) {
    if (check_running(game, error) < 0)
        return -1;
    if (!move_is_legal(&game->position, move))
        return refuse(error, "The move is not legal in this position.");
    if (game->ply_count >= GAME_PLIES_MAX)
        return error_set(error, ERROR_INPUT, 0, "A game has at most %d plies; the arbiter must end this one.", GAME_PLIES_MAX);
    Colour mover = game_turn(game);
    Entry entries[2];
    game_next_entry(game, ENTRY_MOVE, game_author(mover), arrival, letter, &entries[0]);
    entries[0].epoch = game->epoch;
    entries[0].ply = game->ply_count + 1;
    entries[0].offer = offer;
    char text[NOTATION_MAX];
    notation_write(&game->position, move, NOTATION_UCI, text);
    text_copy(entries[0].uci, sizeof entries[0].uci, text);
    notation_write(&game->position, move, NOTATION_SAN, text);
    text_copy(entries[0].san, sizeof entries[0].san, text);
    Charge charge;
    clock_charge(&game->control, &game->clocks[mover], game->running_since, arrival, &charge);
    entries[0].charged = charge.charged;
    entries[0].late = charge.late;
    if (finish(&entries[0], error) < 0)
        return -1;
    Position after;
    position_move(&after, &game->position, move);
    Reason reason;
    Result result = game_ending(&after, &reason);
    if (result != RESULT_NONE && finish_result(&entries[0], result, reason, &entries[1], error) < 0)
        return -1;
    ret_entries[0] = entries[0];
    if (result == RESULT_NONE)
        return 1;
    ret_entries[1] = entries[1];
    return 2;
}

int game_plan_notice(const Game *game, Colour to, int epoch, int ply, Instant at, int64_t letter, Entry *ret_entry, Error *error) {
    if (at == INSTANT_NONE || check_running(game, NULL) < 0 || to != game_turn(game) || epoch != game->epoch || ply != game->ply_count ||
        game->running_since != INSTANT_NONE)
        return 0;
    Entry entry;
    game_next_entry(game, ENTRY_NOTICE, AUTHOR_SERVICE, at, letter, &entry);
    entry.to = game_author(to);
    entry.epoch = epoch;
    entry.ply = ply;
    if (finish(&entry, error) < 0)
        return -1;
    *ret_entry = entry;
    return 1;
}

/* An act of one entry without keys of its own. */
static int plan_act(const Game *game, EntryKind kind, Colour by, Instant at, int64_t letter, Entry *ret_entry, Error *error) {
    Entry entry;
    game_next_entry(game, kind, game_author(by), at, letter, &entry);
    if (finish(&entry, error) < 0)
        return -1;
    *ret_entry = entry;
    return 1;
}

static int plan_end(const Game *game, EntryKind kind, Colour by, Instant at, int64_t letter, Result result,
                    Reason reason, Entry ret_entries[2], Error *error) {
    Entry act, end;
    if (plan_act(game, kind, by, at, letter, &act, error) < 0 || finish_result(&act, result, reason, &end, error) < 0)
        return -1;
    ret_entries[0] = act;
    ret_entries[1] = end;
    return 2;
}

int game_plan_resign(const Game *game, Colour by, Instant at, int64_t letter, Entry ret_entries[2], Error *error) {
    if (check_running(game, error) < 0)
        return -1;
    return plan_end(game, ENTRY_RESIGN, by, at, letter, by == WHITE ? RESULT_BLACK : RESULT_WHITE, REASON_RESIGNATION,
                    ret_entries, error);
}

static int check_offered(const Game *game, Colour by, Error *error) {
    if (check_running(game, error) < 0)
        return -1;
    if (!game->offer_standing || game->offer_by == by)
        return refuse(error, "No draw offer of the opponent stands.");
    return 0;
}

int game_plan_accept(const Game *game, Colour by, Instant at, int64_t letter, Entry ret_entries[2], Error *error) {
    if (check_offered(game, by, error) < 0)
        return -1;
    return plan_end(game, ENTRY_ACCEPT, by, at, letter, RESULT_DRAW, REASON_AGREEMENT, ret_entries, error);
}

int game_plan_decline(const Game *game, Colour by, Instant at, int64_t letter, Entry *ret_entry, Error *error) {
    if (check_offered(game, by, error) < 0)
        return -1;
    return plan_act(game, ENTRY_DECLINE, by, at, letter, ret_entry, error);
}

int game_plan_offer(const Game *game, Colour by, Instant at, int64_t letter, Entry *ret_entry, Error *error) {
    if (check_running(game, error) < 0)
        return -1;
    if (game->offer_standing)
        return refuse(error, game->offer_by == by ? "His draw offer stands already."
                                                  : "A draw offer of the opponent stands; it is to be accepted or declined.");
    return plan_act(game, ENTRY_OFFER, by, at, letter, ret_entry, error);
}

int game_plan_ruling(const Game *game, Result result, Instant at, int64_t letter, Entry *ret_entry, Error *error) {
    if (check_running(game, error) < 0)
        return -1;
    Entry entry;
    game_next_entry(game, ENTRY_RESULT, AUTHOR_ARBITER, at, letter, &entry);
    entry.result = result;
    entry.reason = REASON_RULING;
    if (finish(&entry, error) < 0)
        return -1;
    *ret_entry = entry;
    return 1;
}

int game_plan_restore(const Game *game, int ply, Instant at, int64_t letter, Entry *ret_entry, Error *error) {
    if (check_running(game, error) < 0)
        return -1;
    if (ply < 0 || ply > game->ply_count)
        return error_set(error, ERROR_INPUT, 0, "The game has %d plies; it cannot be set back to ply %d.", game->ply_count, ply);
    Entry entry;
    game_next_entry(game, ENTRY_RESTORE, AUTHOR_ARBITER, at, letter, &entry);
    entry.epoch = game->epoch + 1;
    entry.ply = ply;
    if (finish(&entry, error) < 0)
        return -1;
    *ret_entry = entry;
    return 1;
}
