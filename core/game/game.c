#include "core/game/game.h"

#include "core/chess/endings.h"
#include "core/chess/movegen.h"
#include "core/notation/notation.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse(const Entry *entry, Error *error, const char *format, ...) __attribute__((format(printf, 3, 4)));

static int refuse(const Entry *entry, Error *error, const char *format, ...) {
    char text[ERROR_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(error, ERROR_DAMAGED, 0, "Entry %d of the record (%s): %s", entry->number,
                     entry_kind_name(entry->kind), text);
}

Game *game_new(void) {
    Game *game = calloc(1, sizeof *game);
    if (game == NULL)
        return NULL;
    memset(game->head, '0', SHA256_HEX_SIZE - 1);
    game->created = game->start = game->running_since = game->ended = game->due_at_ = INSTANT_NONE;
    position_start(&game->initial);
    game->position = game->initial;
    return game;
}

void game_free(Game *game) {
    if (game == NULL)
        return;
    free(game->plies);
    free(game->positions);
    free(game);
}

/* Room for `count` plies, at most one more than there were, and the position behind the last. */
static int reserve(Game *game, size_t count, Error *error) {
    if (game->positions != NULL && count <= game->room_)
        return 0;
    size_t room = game->room_ < 32 ? 32 : game->room_ * 2; /* grows from there: most games have fewer than 128 plies */
    GamePly *plies = realloc(game->plies, room * sizeof *plies);
    if (plies != NULL)
        game->plies = plies;
    Position *positions = realloc(game->positions, (room + 1) * sizeof *positions);
    if (positions != NULL)
        game->positions = positions;
    if (plies == NULL || positions == NULL)
        return error_set(error, ERROR_LATER, 0, "No memory for a game of %zu plies.", count);
    game->room_ = room;
    return 0;
}

static Instant later(Instant left, Instant right) {
    return left > right ? left : right; /* INSTANT_NONE is before all */
}

static bool player_of(Author author, Colour *ret_colour) {
    *ret_colour = author == AUTHOR_WHITE ? WHITE : BLACK;
    return author == AUTHOR_WHITE || author == AUTHOR_BLACK;
}

static void call_for_result(Game *game, Result result, Reason reason, const Entry *entry) {
    game->due_result_ = result;
    game->due_reason_ = reason;
    game->due_at_ = entry->at;
    game->due_letter_ = entry->letter;
}

/* A FEN in the record has one spelling: castling as files of the rooks for Chess960, as KQkq for standard chess. */
static bool read_initial(const char *fen, Position *ret_position, Error *error) {
    if (fen[0] == 0) {
        position_start(ret_position);
        return true;
    }
    const char *castling = strchr(fen, ' ');
    castling = castling != NULL ? strchr(castling + 1, ' ') : NULL;
    size_t length = castling != NULL ? strcspn(castling + 1, " ") : 0;
    bool chess960 = length > 0 && strcspn(castling + 1, "ABCDEFGHabcdefgh") < length;
    return fen_read(fen, FEN_STRICT | (chess960 ? FEN_CHESS960 : 0u), ret_position, error);
}

static bool initial_canonical(const char *fen, const Position *initial) {
    char again[FEN_MAX], array[FEN_MAX];
    Position standard;
    if (fen[0] == 0)
        return true;
    fen_write(initial, initial->chess960 ? FEN_SHREDDER : 0u, again);
    position_start(&standard);
    fen_write(&standard, 0, array);
    return strcmp(fen, again) == 0 && strcmp(fen, array) != 0;
}

static Result result_of(Ending ending, const Position *after, Reason *ret_reason) {
    *ret_reason = REASON_NONE;
    switch (ending) {
    case ENDING_NONE:
        break;
    case ENDING_CHECKMATE:
        *ret_reason = REASON_CHECKMATE;
        return position_turn(after) == WHITE ? RESULT_BLACK : RESULT_WHITE;
    case ENDING_STALEMATE:
        *ret_reason = REASON_STALEMATE;
        return RESULT_DRAW;
    case ENDING_INSUFFICIENT:
    case ENDING_DEAD:
        *ret_reason = REASON_DEAD_POSITION;
        return RESULT_DRAW;
    }
    return RESULT_NONE;
}

Result game_ending(const Position *after, Reason *ret_reason) {
    return result_of(ending_of(after), after, ret_reason);
}

Result game_forfeit(const Position *position, Colour loser, const MatingLimits *limits, MatingLine *ret_line) {
    Colour winner = game_opponent(loser);
    if (mating_full(position, winner, limits, ret_line, NULL) == MATING_CANNOT)
        return RESULT_DRAW;
    return winner == WHITE ? RESULT_WHITE : RESULT_BLACK;
}

static int apply_start(Game *game, const Entry *entry, Error *error) {
    Control control;
    Position initial;
    Error fault = { .grade = ERROR_NONE };
    if (entry->rules_version != RULES_VERSION)
        return refuse(entry, error, "it follows rules version %d, this program knows %d only.", entry->rules_version,
                      RULES_VERSION);
    if (entry->by != AUTHOR_SERVICE && entry->by != AUTHOR_ARBITER)
        return refuse(entry, error, "a game is begun by the service or the arbiter, not by a player.");
    if (entry->white == entry->black)
        return refuse(entry, error, "player %lld cannot play against himself.", (long long)entry->white);
    if (control_read(entry->control, &control, &fault) < 0)
        return refuse(entry, error, "%s", fault.text);
    if (!read_initial(entry->fen, &initial, &fault))
        return refuse(entry, error, "%s", fault.text);
    if (!initial_canonical(entry->fen, &initial))
        return refuse(entry, error, "the position is not spelled as the record spells it.");
    Reason reason;
    if (result_of(ending_plain(&initial), &initial, &reason) != RESULT_NONE)
        return refuse(entry, error, "in this position the game is over already.");
    if (reserve(game, 1, error) < 0)
        return -1;
    game->white = entry->white;
    game->black = entry->black;
    game->control = control;
    game->rules_version = entry->rules_version;
    game->created = entry->at;
    game->start = entry->start;
    game->initial = game->position = game->positions[0] = initial;
    game->epoch = 1;
    clock_start(&control, &game->clocks[WHITE]);
    clock_start(&control, &game->clocks[BLACK]);
    return 0;
}

static int apply_notice(Game *game, const Entry *entry, Error *error) {
    Colour to;
    if (entry->by != AUTHOR_SERVICE)
        return refuse(entry, error, "notices are the service's.");
    if (!player_of(entry->to, &to) || to != game_turn(game))
        return refuse(entry, error, "a notice to %s begins no time, %s is to move.", author_name(entry->to),
                      author_name(game_author(game_turn(game))));
    if (entry->epoch != game->epoch || entry->ply != game->ply_count)
        return refuse(entry, error, "it speaks of epoch %d, ply %d; the game stands at epoch %d, ply %d.", entry->epoch,
                      entry->ply, game->epoch, game->ply_count);
    if (game->running_since != INSTANT_NONE)
        return refuse(entry, error, "the time of %s runs already.", author_name(entry->to));
    game->running_since = later(entry->at, game->start);
    return 0;
}

/* The legal move that UCI text names; MOVE_NONE if there is none. */
static Move move_of_uci(const Position *position, const char *uci) {
    if (uci[0] < 'a' || uci[0] > 'h' || uci[1] < '1' || uci[1] > '8')
        return MOVE_NONE;
    int from = square_make(uci[0] - 'a', uci[1] - '1');
    MoveList list;
    moves_legal(position, &list);
    for (int i = 0; i < list.count; i++) {
        char text[NOTATION_MAX];
        if (move_from(list.moves[i]) != from)
            continue;
        notation_write(position, list.moves[i], NOTATION_UCI, text);
        if (strcmp(text, uci) == 0)
            return list.moves[i];
    }
    return MOVE_NONE;
}

static int check_move(const Game *game, const Entry *entry, Move *ret_move, Error *error) {
    Colour by;
    if (!player_of(entry->by, &by) || by != game_turn(game))
        return refuse(entry, error, "%s is to move, not %s.", author_name(game_author(game_turn(game))),
                      author_name(entry->by));
    if (entry->epoch != game->epoch || entry->ply != game->ply_count + 1)
        return refuse(entry, error, "it is ply %d of epoch %d; next is ply %d of epoch %d.", entry->ply, entry->epoch,
                      game->ply_count + 1, game->epoch);
    if (entry->ply > GAME_PLIES_MAX)
        return refuse(entry, error, "a game has at most %d plies.", GAME_PLIES_MAX);
    Move move = move_of_uci(&game->position, entry->uci);
    if (move == MOVE_NONE)
        return refuse(entry, error, "%s is no legal move.", entry->uci);
    char san[NOTATION_MAX];
    notation_write(&game->position, move, NOTATION_SAN, san);
    if (strcmp(san, entry->san) != 0)
        return refuse(entry, error, "%s is %s, not %s.", entry->uci, san, entry->san);
    Charge charge;
    clock_charge(&game->control, &game->clocks[by], game->running_since, entry->at, &charge);
    if (charge.charged != entry->charged || charge.late != entry->late)
        return refuse(entry, error, "it costs %lld s and is %lld s late, not %lld and %lld.", (long long)charge.charged,
                      (long long)charge.late, (long long)entry->charged, (long long)entry->late);
    *ret_move = move;
    return 0;
}

/* Law 9.1: an offer stands until the opponent moves; the offerer's own move leaves it. */
static void settle_offer(Game *game, Colour mover, bool offers) {
    if (offers) {
        game->offer_standing = true;
        game->offer_by = mover;
    } else if (game->offer_by != mover) {
        game->offer_standing = false;
    }
}

static int apply_move(Game *game, const Entry *entry, Error *error) {
    Move move = MOVE_NONE;
    if (check_move(game, entry, &move, error) < 0 || reserve(game, (size_t)game->ply_count + 1, error) < 0)
        return -1;
    Colour mover = game_turn(game);
    GamePly *ply = &game->plies[game->ply_count++];
    *ply = (GamePly){ .move = move, .at = entry->at, .charged = entry->charged, .late = entry->late,
                      .offer = entry->offer, .letter = entry->letter };
    text_copy(ply->san, sizeof ply->san, entry->san);
    Charge charge = { .charged = entry->charged };
    clock_move(&game->control, &game->clocks[mover], &charge, &game->clocks[mover]);
    position_move(&game->position, &game->position, move);
    game->positions[game->ply_count] = game->position;
    game->running_since = INSTANT_NONE;
    settle_offer(game, mover, entry->offer);
    Reason reason;
    Result result = result_of(ending_plain(&game->position), &game->position, &reason);
    call_for_result(game, result, reason, entry);
    return 0;
}

static int apply_offer(Game *game, const Entry *entry, Error *error) {
    Colour by;
    if (!player_of(entry->by, &by))
        return refuse(entry, error, "draws are offered by players.");
    if (game->offer_standing)
        return refuse(entry, error, "an offer by %s stands already.", author_name(game_author(game->offer_by)));
    game->offer_standing = true;
    game->offer_by = by;
    return 0;
}

/* Declines and accepts: there must be something to answer. */
static int check_answer(const Game *game, const Entry *entry, Error *error) {
    Colour by;
    if (!player_of(entry->by, &by))
        return refuse(entry, error, "offers are answered by players.");
    if (!game->offer_standing || game->offer_by == by)
        return refuse(entry, error, "no offer to %s stands.", author_name(entry->by));
    return 0;
}

static int apply_decline(Game *game, const Entry *entry, Error *error) {
    if (check_answer(game, entry, error) < 0)
        return -1;
    game->offer_standing = false;
    return 0;
}

static int apply_accept(Game *game, const Entry *entry, Error *error) {
    if (check_answer(game, entry, error) < 0)
        return -1;
    game->offer_standing = false;
    call_for_result(game, RESULT_DRAW, REASON_AGREEMENT, entry);
    return 0;
}

static int apply_resign(Game *game, const Entry *entry, Error *error) {
    Colour by;
    if (!player_of(entry->by, &by))
        return refuse(entry, error, "only players resign.");
    call_for_result(game, by == WHITE ? RESULT_BLACK : RESULT_WHITE, REASON_RESIGNATION, entry);
    return 0;
}

/* Of a record it is not demanded that it ends in a dead position, but for bare material: a later version may see more of them
 * than the one that wrote it. Where the result stands, it must be right. */
static bool ends_dead(const Game *game, const Entry *entry) {
    return entry->reason == REASON_DEAD_POSITION && game->last_kind_ == ENTRY_MOVE && mating_dead(&game->position);
}

static int apply_result(Game *game, const Entry *entry, Error *error) {
    Result due = game->due_result_;
    Reason reason = game->due_reason_;
    if (due == RESULT_NONE && ends_dead(game, entry)) {
        due = RESULT_DRAW;
        reason = REASON_DEAD_POSITION;
    }
    if (due != RESULT_NONE) {
        if (entry->result != due || entry->reason != reason || entry->by != AUTHOR_SERVICE)
            return refuse(entry, error, "the entry before ends the game %s (%s), by the service.", result_text(due), reason_name(reason));
        if (entry->at != game->due_at_ || entry->letter != game->due_letter_)
            return refuse(entry, error, "it must bear the time and the letter of the entry before.");
    } else if (entry->reason != REASON_RULING || entry->by != AUTHOR_ARBITER) {
        return refuse(entry, error, "nothing on the board or between the players ends the game here (%s).",
                      reason_name(entry->reason));
    }
    game->result = entry->result;
    game->reason = entry->reason;
    game->ended = entry->at;
    game->due_result_ = RESULT_NONE;
    game->due_reason_ = REASON_NONE;
    return 0;
}

static int apply_restore(Game *game, const Entry *entry, Error *error) {
    if (entry->by != AUTHOR_ARBITER)
        return refuse(entry, error, "only the arbiter sets a game back.");
    if (entry->epoch != game->epoch + 1 || entry->ply > game->ply_count)
        return refuse(entry, error, "it goes back to ply %d in epoch %d; the game stands at ply %d of epoch %d.",
                      entry->ply, entry->epoch, game->ply_count, game->epoch);
    game->epoch = entry->epoch;
    game->ply_count = entry->ply;
    game->position = game->positions[entry->ply];
    game->running_since = INSTANT_NONE;
    game->offer_standing = false;
    clock_start(&game->control, &game->clocks[WHITE]);
    clock_start(&game->control, &game->clocks[BLACK]);
    for (int i = 0; i < game->ply_count; i++) {
        Clock *clock = &game->clocks[position_turn(&game->positions[i])];
        Charge charge = { .charged = game->plies[i].charged };
        clock_move(&game->control, clock, &charge, clock);
    }
    return 0;
}

/* Each checks everything before it changes anything. */
static int (*const appliers[])(Game *game, const Entry *entry, Error *error) = {
    [ENTRY_START] = apply_start,   [ENTRY_NOTICE] = apply_notice,   [ENTRY_MOVE] = apply_move,
    [ENTRY_OFFER] = apply_offer,   [ENTRY_DECLINE] = apply_decline, [ENTRY_ACCEPT] = apply_accept,
    [ENTRY_RESIGN] = apply_resign, [ENTRY_RESULT] = apply_result,   [ENTRY_RESTORE] = apply_restore,
};

/* An entry of sound form with the right hash. */
static int apply(Game *game, const Entry *entry, Error *error) {
    if (entry->number != game->entry_count + 1)
        return refuse(entry, error, "entry %d should stand here.", game->entry_count + 1);
    if (strcmp(entry->previous, game->head) != 0)
        return refuse(entry, error, "its prev is not the hash of the entry before; one of the two was changed.");
    if ((entry->kind == ENTRY_START) != (game->entry_count == 0))
        return refuse(entry, error, "a record begins with its start entry and has no other.");
    if (game->result != RESULT_NONE)
        return refuse(entry, error, "the game is over, nothing follows its result.");
    if (game->due_result_ != RESULT_NONE && entry->kind != ENTRY_RESULT)
        return refuse(entry, error, "the game's result (%s, %s) must stand here.", result_text(game->due_result_),
                      reason_name(game->due_reason_));
    if (appliers[entry->kind](game, entry, error) < 0)
        return -1;
    game->entry_count++;
    game->last_kind_ = entry->kind;
    text_copy(game->head, sizeof game->head, entry->hash);
    return 0;
}

int game_apply(Game *game, const Entry *entry, Error *error) {
    Entry copy = *entry;
    Str line;
    str_init(&line, RECORD_LINE_MAX);
    int status = entry_write(&copy, &line, error);
    str_free(&line);
    if (status < 0) {
        if (error != NULL && error->grade == ERROR_INPUT)
            error->grade = ERROR_DAMAGED;
        return -1;
    }
    if (entry->hash[0] != 0 && strcmp(entry->hash, copy.hash) != 0)
        return refuse(entry, error, "its hash is not that of its line.");
    return apply(game, &copy, error);
}

int game_apply_line(Game *game, const char *line, Error *error) {
    Entry entry;
    if (entry_read(line, &entry, error) < 0)
        return -1;
    return apply(game, &entry, error);
}

Game *game_replay(const char *record, size_t length, Error *error) {
    Game *game = game_new();
    if (game == NULL) {
        error_set(error, ERROR_LATER, 0, "No memory for a game.");
        return NULL;
    }
    if (length == 0)
        error_set(error, ERROR_DAMAGED, 0, "The record is empty.");
    for (size_t at = 0; at < length;) {
        char line[RECORD_LINE_MAX + 1];
        const char *end = memchr(record + at, '\n', length - at);
        size_t size = end != NULL ? (size_t)(end - record) + 1 - at : 0;
        if (size == 0 || size > RECORD_LINE_MAX || memchr(record + at, 0, size) != NULL) {
            error_set(error, ERROR_DAMAGED, 0, "Line %d of the record is cut, too long, or no text.", game->entry_count + 1);
            goto bad;
        }
        memcpy(line, record + at, size);
        line[size] = 0;
        if (game_apply_line(game, line, error) < 0)
            goto bad;
        at += size;
    }
    if (length > 0 && game->due_result_ == RESULT_NONE)
        return game;
    if (length > 0)
        error_set(error, ERROR_DAMAGED, 0, "The record ends behind entry %d, where the game's result (%s, %s) must stand.",
                  game->entry_count, result_text(game->due_result_), reason_name(game->due_reason_));
bad:
    game_free(game);
    return NULL;
}

Instant game_deadline(const Game *game, Instant assumed) {
    Instant since = game->running_since;
    if (since == INSTANT_NONE && assumed != INSTANT_NONE)
        since = later(assumed, game->start);
    if (game_over(game) || game->due_result_ != RESULT_NONE)
        return INSTANT_NONE;
    return clock_deadline(&game->control, &game->clocks[game_turn(game)], since);
}

bool game_position_at(const Game *game, int epoch, int ply, const Position **ret_position) {
    if (epoch != game->epoch || game->positions == NULL || ply < 0 || ply > game->ply_count)
        return false;
    *ret_position = &game->positions[ply];
    return true;
}
