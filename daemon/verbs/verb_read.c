/* read: how the service would understand a letter. Reads only; what a letter would do is service/settle.c's business. */
#include "core/chess/fen.h"
#include "core/notation/notation.h"
#include "daemon/inbox/command.h"
#include "daemon/inbox/gate.h"
#include "daemon/inbox/reading.h"
#include "daemon/log.h"
#include "daemon/service/proof.h"
#include "daemon/store/games.h"
#include "daemon/verbs/open.h"
#include "daemon/verbs/verbs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { LETTER_ARENA_MAX = 64 * 1024 * 1024 };

typedef struct ReadJob {
    const VerbCall *call;
    const char *file, *fen, *language;
    Open open;          /* store NULL: none was named */
    Arena arena;
    Str raw;
    ReadLetter letter;
    Proof proof;
    CommandReading reading;
    Game *game;         /* the game the letter answers or names, NULL if none is known */
    int64_t game_id;
    Position position;  /* of --fen, of the game, or the start array */
} ReadJob;

/* The letter as the service takes it: a large one without its tail (RULINGS 7). */
static int read_file(ReadJob *job) {
    FILE *file = strcmp(job->file, "-") == 0 ? stdin : fopen(job->file, "rb");
    if (file == NULL)
        return verb_wrong("%s: %s; name a file that holds one raw letter, or - for standard input", job->file, strerror(errno));
    char piece[65536];
    size_t taken = 0;
    while (job->raw.length <= GATE_LETTER_MAX && (taken = fread(piece, 1, sizeof piece, file)) > 0)
        str_append_bytes(&job->raw, piece, taken);
    bool failed = ferror(file) != 0;
    if (file != stdin)
        fclose(file);
    if (failed)
        return verb_wrong("%s could not be read", job->file);
    if (job->raw.length > GATE_LETTER_MAX)
        str_truncate(&job->raw, GATE_LARGE_TAKEN);
    return STATUS_DONE;
}

static int read_by_zygote(void *data, Arena *arena, const char *raw, size_t size, MimeResult *ret_result, Error *error) {
    return mime_reader_read(data, arena, raw, size, ret_result, error);
}

static const char *language_of(const ReadJob *job) {
    if (job->language != NULL)
        return job->language;
    if (job->proof.known)
        return job->proof.player.language;
    return job->open.config != NULL ? job->open.config->language : "en";
}

/* The names that are exempt from near-misses: the sender's and his opponent's. */
static int read_commands(ReadJob *job, Error *error) {
    Player white = { .name = "" }, black = { .name = "" };
    const char *names[3] = { job->letter.from_name };
    size_t count = 1;
    if (job->game != NULL) {
        if (player_get(job->open.store, job->game->white, &white, error) < 0 || player_get(job->open.store, job->game->black, &black, error) < 0)
            return -1;
        names[count++] = arena_copy(&job->arena, white.name, strlen(white.name));
        names[count++] = arena_copy(&job->arena, black.name, strlen(black.name));
    } else if (job->proof.known) {
        names[count++] = job->proof.player.name;
    }
    CommandContext context = { .names = names, .name_count = count, .language = language_of(job) };
    if (!command_read(&job->arena, job->letter.new_text, &context, &job->reading))
        return error_set(error, ERROR_LETTER, 0, "the letter needs more memory than a letter may");
    return 0;
}

static int load_game(ReadJob *job, int64_t id, Error *error) {
    game_free(job->game);
    job->game = NULL;
    job->game_id = 0;
    int found = id == 0 || job->open.store == NULL ? 0 : game_load(job->open.store, id, &job->game, error);
    if (found == 1)
        job->game_id = id;
    return found < 0 ? -1 : 0;
}

static int find_game(ReadJob *job, Error *error) {
    if (job->open.store == NULL)
        return 0;
    if (proof_of(job->open.store, job->open.config, &job->arena, &job->letter, &job->proof, error) < 0)
        return -1;
    return load_game(job, job->proof.has_answered ? job->proof.answered.game : 0, error);
}

/* ---- moves ---- */

static unsigned flags_of(const Command *command, size_t item) {
    return command->line_start && item == 0 ? READ_LINE_START : 0;
}

/* The position in front of a move command's own move: a score is walked as far as it fits. NULL if it does not fit. */
static const Position *walk_score(const ReadJob *job, const Command *command, Position *work) {
    const MoveLanguage *own = language_find(language_of(job));
    bool walk_back = job->fen == NULL && job->game != NULL && command->items[0].number != 0;
    int ply = job->game == NULL ? 0 : job->game->ply_count - (int)(command->item_count - 1);
    if (walk_back) {
        const Position *first = &job->game->positions[0];
        ply = (command->items[0].number - position_fullmove(first)) * 2 + command->items[0].black - (position_turn(first) == BLACK);
    }
    *work = job->position;
    if (command->item_count > 1 && job->fen == NULL && job->game != NULL) {
        if (ply < 0 || ply > job->game->ply_count)
            return NULL;
        *work = job->game->positions[ply];
    }
    for (size_t i = 0; i + 1 < command->item_count; i++) {
        Reading reading;
        notation_read_in(work, command->items[i].text, flags_of(command, i), own, &reading);
        if (reading.kind != READING_MOVE)
            return NULL;
        position_move(work, work, reading.move);
    }
    return work;
}

static const char *const kind_names[] = {
    [READING_MOVE] = "move", [READING_AMBIGUOUS] = "ambiguous", [READING_ILLEGAL] = "illegal", [READING_NOT_A_MOVE] = "not a move",
};

static void add_reading(const ReadJob *job, const Command *command, json_t *object) {
    Position work;
    Reading reading;
    char text[NOTATION_MAX];
    const Position *position = walk_score(job, command, &work);
    if (position == NULL) {
        json_object_set_new(object, "reading", json_string("the score does not fit the game"));
        return;
    }
    size_t last = command->item_count - 1;
    notation_read_in(position, command->items[last].text, flags_of(command, last), language_find(language_of(job)), &reading);
    json_object_set_new(object, "reading", json_string(kind_names[reading.kind]));
    if (reading.kind == READING_MOVE) {
        notation_write(position, reading.move, NOTATION_UCI, text);
        json_object_set_new(object, "move", json_string(text));
        notation_write(position, reading.move, NOTATION_SAN, text);
        json_object_set_new(object, "san", json_string(text));
        return;
    }
    json_object_set_new(object, "fault", json_string(notation_fault_name(reading.fault)));
    json_t *candidates = json_array();
    for (int i = 0; i < reading.candidate_count; i++) {
        notation_write(position, reading.candidates[i], NOTATION_SAN, text);
        json_array_append_new(candidates, json_string(text));
    }
    json_object_set_new(object, "candidates", candidates);
}

/* ---- what is told ---- */

static const char *const problem_names[] = {
    [PROBLEM_NONE] = "",
    [PROBLEM_NEAR_MISS] = "a line is one word off a command",
    [PROBLEM_SEVERAL_MOVES] = "several different moves",
    [PROBLEM_BELOW_REMARK] = "a command stands below a remark",
    [PROBLEM_MOVE_BESIDE] = "a move beside accept, resign or withdraw",
    [PROBLEM_TOO_MANY] = "too many commands",
};

static const char *why_of(const ReadJob *job) {
    if (job->letter.kind != LETTER_HUMAN)
        return job->letter.kind == LETTER_UNREADABLE ? job->letter.mime.why : job->letter.kind_why;
    switch (job->letter.mime.kind) {
    case MIME_HTML_ONLY: return "its text is HTML only";
    case MIME_EMPTY: return "there is no text in it";
    case MIME_ENCRYPTED: return "it is encrypted";
    default: break;
    }
    if (job->reading.problem != PROBLEM_NONE)
        return problem_names[job->reading.problem];
    return job->proof.why == NULL ? "" : job->proof.why;
}

static json_t *lines_json(const char *const *lines, size_t count) {
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_text(lines[i]));
    return array;
}

static json_t *commands_json(const ReadJob *job) {
    json_t *array = json_array();
    for (size_t i = 0; i < job->reading.count; i++) {
        const Command *command = &job->reading.commands[i];
        json_t *object = json_pack("{s:s, s:o, s:n, s:n}", "verb", verb_name(command->verb), "text", json_text(command->line), "move", "san");
        if (command->game != 0)
            json_object_set_new(object, "game", json_integer(command->game));
        if (command->argument != NULL && command->argument[0] != 0)
            json_object_set_new(object, "argument", json_text(command->argument));
        if (command->verb == VERB_MOVE && command->item_count > 0) {
            json_object_set_new(object, "offer", json_boolean(command->offer));
            add_reading(job, command, object);
        }
        json_array_append_new(array, object);
    }
    return array;
}

static json_t *letter_json(const ReadJob *job) {
    const CommandReading *reading = &job->reading;
    return json_pack("{s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:o, s:o}", "kind", letter_kind_name(job->letter.kind), "from",
                     job->letter.from == NULL ? json_null() : json_text(job->letter.from), "proof", proof_name(job->proof.class), "player",
                     job->proof.known ? json_text(job->proof.player.name) : json_null(), "game", json_number(job->game_id), "new_text",
                     json_text(job->letter.new_text), "commands", commands_json(job), "remark", json_text(reading->remark == NULL ? "" : reading->remark),
                     "problem", problem_names[reading->problem], "lines", lines_json(reading->problem_lines, reading->problem_line_count), "why",
                     json_text(why_of(job)));
}

static const char *member(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

static void print_commands(const json_t *commands) {
    for (size_t i = 0; i < json_array_size(commands); i++) {
        const json_t *command = json_array_get(commands, i);
        const char *san = member(command, "san"), *reading = member(command, "reading"), *fault = member(command, "fault");
        print_line(stdout, "command  %s: %s%s%s%s%s", member(command, "verb"), member(command, "text"), reading[0] == 0 ? "" : "  → ",
                   san[0] == 0 ? reading : san, fault[0] == 0 ? "" : ", ", fault);
    }
}

static void print_letter(const json_t *letter) {
    json_t *game = json_object_get(letter, "game");
    const json_t *lines = json_object_get(letter, "lines");
    print_line(stdout, "kind     %s", member(letter, "kind"));
    print_line(stdout, "from     %s", member(letter, "from"));
    print_line(stdout, "proof    %s", member(letter, "proof"));
    if (json_is_integer(game))
        print_line(stdout, "game     %lld", (long long)json_integer_value(game));
    print_commands(json_object_get(letter, "commands"));
    for (size_t i = 0; i < json_array_size(lines); i++)
        print_line(stdout, "asked    %s", json_string_value(json_array_get(lines, i)));
    if (member(letter, "why")[0] != 0)
        print_line(stdout, "why      %s", member(letter, "why"));
    if (member(letter, "remark")[0] != 0) {
        print_line(stdout, "remark");
        print_text(stdout, member(letter, "remark"));
    }
}

static int read_letter(ReadJob *job, Error *error) {
    const char *address = job->open.config != NULL ? job->open.config->address : "nobody@invalid";
    if (letter_read(&job->arena, job->raw.data, job->raw.length, address, read_by_zygote, job->call->mime, &job->letter, error) < 0 ||
        find_game(job, error) < 0)
        return -1;
    if (job->letter.kind != LETTER_HUMAN)
        return 0;
    if (read_commands(job, error) < 0)
        return -1;
    for (size_t i = 0; i < job->reading.count; i++) /* `game 43:` outranks the token's game (RULINGS 14) */
        if (job->reading.commands[i].verb == VERB_MOVE && job->reading.commands[i].game != 0)
            return load_game(job, job->reading.commands[i].game, error);
    return 0;
}

static int read_job(ReadJob *job, bool as_json) {
    Error error;
    error_clear(&error);
    int status = job->call->config == NULL ? STATUS_DONE : open_store(&job->open, job->call, STORE_READ);
    if (status == STATUS_DONE)
        status = read_file(job);
    if (status != STATUS_DONE)
        return status;
    position_start(&job->position);
    if (job->fen != NULL && !fen_read(job->fen, 0, &job->position, &error))
        return verb_fail(&error);
    if (read_letter(job, &error) < 0)
        return verb_fail(&error);
    if (job->fen == NULL && job->game != NULL)
        job->position = job->game->position;
    json_t *letter = letter_json(job);
    if (as_json)
        return print_json(letter);
    print_letter(letter);
    json_decref(letter);
    return STATUS_DONE;
}

int verb_read(const VerbCall *call) {
    const char *words[1];
    bool as_json = false;
    ReadJob job = { .call = call };
    const VerbOption options[] = { { "fen", &job.fen, NULL }, { "language", &job.language, NULL }, { "json", NULL, &as_json }, { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "read FILE [--fen FEN] [--language L] [--json]",
                        "How the service would understand this raw letter (- is standard input). Changes nothing.\n"
                        "With -c the store says who wrote it and which game it answers; else moves are read in the start position.\n"
                        "  --fen FEN      reads moves in this position\n"
                        "  --language L   reads in this language\n",
                        options, words, 1, 1, &count, &status))
        return status;
    job.file = words[0];
    arena_init(&job.arena, LETTER_ARENA_MAX);
    str_init(&job.raw, GATE_LETTER_MAX + 65536);
    status = read_job(&job, as_json);
    game_free(job.game);
    str_free(&job.raw);
    arena_free(&job.arena);
    open_close(&job.open);
    return status;
}
