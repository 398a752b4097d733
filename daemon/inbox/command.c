#include "daemon/inbox/command.h"

#include "core/base/encode.h"
#include "core/base/str.h"
#include "daemon/inbox/command_lines.h"
#include "daemon/inbox/trim.h"

#include <string.h>

enum {
    LISTED_MAX = 8,    /* of problem_lines and asked: a letter about more says enough with eight */
    TOKEN_DIGITS = 26, /* token.h */
};

typedef enum State {
    STATE_OPENING, /* every line so far was a command or nearly one */
    STATE_BELOW,   /* in the remark below commands */
    STATE_SEARCH   /* the letter opened with something else: lines that are a command alone are looked for */
} State;

typedef struct Slot {
    ScorePlace place;      /* behind its last item */
    size_t capacity;       /* of its items */
} Slot;

typedef struct Reader {
    Arena *arena;
    const CommandContext *context;
    CommandReading *reading;
    Slot slots[COMMANDS_MAX]; /* beside reading->commands */
    State state;
    char *line, *cut;    /* scratch as long as the text */
    MoveItem *items;     /* scratch, COMMAND_ITEMS_MAX */
    char *remark;        /* room for the whole text */
    size_t remark_length;
    bool paragraph;      /* the next line begins one */
    bool near;           /* a near-miss that stops the letter */
    bool below;          /* something in the remark that must be asked about */
    bool too_many;
    bool heading;        /* "game 43:" waits for the line it is about */
    Command heading_command;
    int64_t game;        /* of the last heading, for the commands below it */
    struct {
        const char *lines[LISTED_MAX];
        size_t count;
        const char *meant;
        bool final;      /* one of them is nearly resign, accept or withdraw */
    } maybe;             /* near-misses of the searched text, for when no command is found */
} Reader;

static const struct {
    Verb verb;
    const char *name;
} verb_names[] = {
    { VERB_MOVE, "move" }, { VERB_OFFER_DRAW, "offer draw" }, { VERB_ACCEPT, "accept" }, { VERB_DECLINE, "decline" },
    { VERB_RESIGN, "resign" }, { VERB_BOARD, "board" }, { VERB_GAMES, "games" }, { VERB_GAME, "game" }, { VERB_PGN, "pgn" },
    { VERB_HELP, "help" }, { VERB_REGISTER, "register" }, { VERB_CHALLENGE, "challenge" }, { VERB_CONFIRM, "confirm" },
    { VERB_YES, "yes" }, { VERB_WITHDRAW, "withdraw" }, { VERB_PING, "ping" }, { VERB_LATER, "later" },
};

const char *verb_name(Verb verb) {
    for (size_t i = 0; i < sizeof verb_names / sizeof verb_names[0]; i++)
        if (verb_names[i].verb == verb)
            return verb_names[i].name;
    return "unknown";
}

/* Ends something for good: in the opening lines only, and beside no move (RULINGS 9, 14). */
static bool final_verb(Verb verb) {
    return verb == VERB_RESIGN || verb == VERB_ACCEPT || verb == VERB_WITHDRAW;
}

bool verb_needs_full_proof(Verb verb) {
    return final_verb(verb);
}

static bool final_name(const char *meant) {
    for (size_t i = 0; i < sizeof verb_names / sizeof verb_names[0]; i++)
        if (final_verb(verb_names[i].verb) && strcmp(verb_names[i].name, meant) == 0)
            return true;
    return false;
}

/* What is nearly one of these is not for the opponent's eyes. */
static bool secret_name(const char *meant) {
    return strcmp(meant, "if") == 0 || strcmp(meant, "seal") == 0 || strcmp(meant, "arbiter") == 0;
}

static const char *keep(Reader *reader, const char *text) {
    const char *copy = arena_copy(reader->arena, text, strlen(text));
    return copy == NULL ? "" : copy; /* the arena says itself that it is exhausted */
}

/* Lists a copy of the line, once, however many rules it breaks. */
static void list_line(Reader *reader, const char **list, size_t *count, const char *line) {
    for (size_t i = 0; i < *count; i++)
        if (strcmp(list[i], line) == 0)
            return;
    if (*count < LISTED_MAX)
        list[(*count)++] = keep(reader, line);
}

static void problem_line(Reader *reader, const char *line) {
    list_line(reader, reader->reading->problem_lines, &reader->reading->problem_line_count, line);
}

/* --- moves of one letter --- */

/* The same move written the same way, but for its number and for check and annotation marks. */
static bool same_item(const MoveItem *left, const MoveItem *right) {
    static const char marks[] = "+#!?=. ()-x:";
    if (left->number > 0 && right->number > 0 && (left->number != right->number || left->black != right->black))
        return false;
    const char *a = left->text, *b = right->text;
    for (;;) {
        a += strspn(a, marks);
        b += strspn(b, marks);
        char x = *a == '0' ? 'O' : *a, y = *b == '0' ? 'O' : *b;
        if (x != y)
            return false;
        if (x == 0)
            return true;
        a++;
        b++;
    }
}

/* A move said again: the last move of both is the same, and one of them is a move alone, or they are the same block. */
static bool same_move(const Command *left, const Command *right) {
    size_t count = left->item_count < right->item_count ? left->item_count : right->item_count;
    if (count > 1 && left->item_count != right->item_count)
        return false;
    for (size_t i = 1; i <= count; i++)
        if (!same_item(&left->items[left->item_count - i], &right->items[right->item_count - i]))
            return false;
    return true;
}

/* The items of `more` behind those of a command; texts and items copied into the arena. False if there are too many. */
static bool append_items(Reader *reader, size_t at, const Command *more) {
    Command *command = &reader->reading->commands[at];
    Slot *slot = &reader->slots[at];
    size_t count = command->item_count + more->item_count;
    if (count > COMMAND_ITEMS_MAX)
        return false;
    MoveItem *items;
    if (count > slot->capacity) {
        size_t capacity = slot->capacity * 2 < count ? count : slot->capacity * 2;
        items = arena_alloc(reader->arena, capacity * sizeof *items);
        if (items == NULL)
            return true;
        if (command->item_count > 0)
            memcpy(items, command->items, command->item_count * sizeof *items);
        slot->capacity = capacity;
        command->items = items;
    } else {
        items = (MoveItem *)(uintptr_t)command->items; /* ours: allocated above */
    }
    for (size_t i = 0; i < more->item_count; i++) {
        items[command->item_count + i] = more->items[i];
        items[command->item_count + i].text = keep(reader, more->items[i].text);
    }
    command->item_count = count;
    return true;
}

/* Whether a move line goes on where the block before it ended ("11...Bb4", then "12.Nf3"). */
static bool continues(const Reader *reader, const Command *next, ScorePlace *ret_place) {
    const CommandReading *reading = reader->reading;
    if (reading->count == 0)
        return false;
    const Command *last = &reading->commands[reading->count - 1];
    ScorePlace place = reader->slots[reading->count - 1].place;
    if (last->verb != VERB_MOVE || last->game != next->game || last->offer || !place.known)
        return false;
    if (next->items[0].number == 0 && last->item_count < 2)
        return false;
    for (size_t i = 0; i < next->item_count; i++)
        if (!score_step(&place, &next->items[i]))
            return false;
    *ret_place = place;
    return true;
}

static void add_move(Reader *reader, const LineReading *found);

static void add_command(Reader *reader, const LineReading *found) {
    CommandReading *reading = reader->reading;
    if (found->command.verb == VERB_MOVE) {
        add_move(reader, found);
        return;
    }
    if (reading->count == COMMANDS_MAX) {
        reader->too_many = true;
        problem_line(reader, found->command.line);
        return;
    }
    Command *command = &reading->commands[reading->count++];
    *command = found->command;
    command->line = keep(reader, command->line);
    command->argument = keep(reader, command->argument);
}

static void add_move(Reader *reader, const LineReading *found) {
    CommandReading *reading = reader->reading;
    for (size_t i = 0; i < reading->count; i++) {
        Command *before = &reading->commands[i];
        if (before->verb != VERB_MOVE || before->game != found->command.game || !same_move(before, &found->command))
            continue;
        before->offer |= found->command.offer;
        before->said_move |= found->command.said_move;
        bool numbered = before->items[0].number == 0 && found->command.items[0].number > 0;
        if (found->command.item_count < before->item_count || (found->command.item_count == before->item_count && !numbered))
            return;
        /* The fuller one counts: the block, or the move with its number. */
        bool offer = before->offer, said = before->said_move;
        *before = found->command;
        before->offer = offer;
        before->said_move = said;
        before->line = keep(reader, found->command.line);
        before->argument = "";
        before->items = NULL;
        before->item_count = 0;
        reader->slots[i] = (Slot){ .place = found->place };
        append_items(reader, i, &found->command);
        return;
    }
    ScorePlace place;
    if (continues(reader, &found->command, &place)) {
        size_t last = reading->count - 1;
        if (!append_items(reader, last, &found->command)) {
            reader->too_many = true;
            problem_line(reader, found->command.line);
            return;
        }
        reader->slots[last].place = place;
        reading->commands[last].line = keep(reader, found->command.line); /* the line with the newest move */
        reading->commands[last].offer = found->command.offer;
        reading->commands[last].line_start = false;
        return;
    }
    if (reading->count == COMMANDS_MAX) {
        reader->too_many = true;
        problem_line(reader, found->command.line);
        return;
    }
    Command *command = &reading->commands[reading->count];
    *command = found->command;
    command->line = keep(reader, command->line);
    command->argument = "";
    command->items = NULL;
    command->item_count = 0;
    reader->slots[reading->count] = (Slot){ .place = found->place };
    append_items(reader, reading->count++, &found->command);
}

/* --- the remark --- */

static bool alphanumeric(char byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* Looks like a token of ours: 26 base32 digits, of which the first holds the version and so is always the same two. No
 * key is asked: what merely looks like one is no loss to a remark. */
static bool like_token(const char *word, size_t length) {
    if (length != TOKEN_DIGITS || strchr("cCdD", *word) == NULL)
        return false;
    for (size_t i = 0; i < length; i++)
        if (base32_value(word[i]) < 0)
            return false;
    return true;
}

/* The raw line, so that the opponent reads what was written, but without tokens (RULINGS 16). */
static void remark_line(Reader *reader, const char *raw, size_t length) {
    static const char in_its_place[] = "[...]";
    while (length > 0 && strchr(" \t\r", raw[length - 1]) != NULL)
        length--;
    if (length == 0 && reader->remark_length == 0)
        return;
    char *at = reader->remark + reader->remark_length;
    for (size_t i = 0; i < length;) {
        size_t word = 0;
        while (i + word < length && alphanumeric(raw[i + word]))
            word++;
        if (like_token(raw + i, word)) {
            memcpy(at, in_its_place, sizeof in_its_place - 1);
            at += sizeof in_its_place - 1;
        } else {
            memcpy(at, raw + i, word > 0 ? word : 1);
            at += word > 0 ? word : 1;
        }
        i += word > 0 ? word : 1;
    }
    *at++ = '\n';
    reader->remark_length = (size_t)(at - reader->remark);
}

static void remark_finish(Reader *reader) {
    while (reader->remark_length > 0 && reader->remark[reader->remark_length - 1] == '\n')
        reader->remark_length--;
    reader->remark[reader->remark_length] = 0;
    reader->reading->remark = reader->remark;
    /* A '?' inside a word is an address's or a link's. */
    for (const char *at = reader->remark; (at = strchr(at, '?')) != NULL; at++)
        if (at[1] == 0 || !alphanumeric(at[1]))
            reader->reading->question = true;
    reader->reading->question |= strstr(reader->remark, "\xef\xbc\x9f") != NULL; /* full-width ? */
}

/* --- line by line --- */

static void flush_heading(Reader *reader) {
    if (!reader->heading)
        return;
    reader->heading = false;
    LineReading asked = { .command = reader->heading_command };
    asked.command.line = reader->heading_command.line;
    add_command(reader, &asked);
}

static bool game_verb(Verb verb) {
    return verb == VERB_MOVE || verb == VERB_OFFER_DRAW || verb == VERB_ACCEPT || verb == VERB_DECLINE || verb == VERB_RESIGN ||
           verb == VERB_BOARD || verb == VERB_PGN || verb == VERB_LATER;
}

/* A command that is to be done, if nothing else in the letter forbids it. */
static void take(Reader *reader, LineReading *found) {
    if (found->command.game == 0 && game_verb(found->command.verb)) {
        found->command.game = reader->game;
        reader->heading = reader->heading && found->command.game == 0;
    } else {
        flush_heading(reader);
        reader->game = 0;
    }
    add_command(reader, found);
}

static void near_miss(Reader *reader, const LineReading *found) {
    reader->near = true;
    if (reader->reading->meant == NULL)
        reader->reading->meant = found->meant;
    problem_line(reader, found->command.line);
}

/* Whether a line is a command where sentences are to be expected. */
static bool counts_below(const Reader *reader, const LineReading *found) {
    return found->class == LINE_COMMAND && !found->opening_only && (!found->free_text || reader->paragraph);
}

/* In the remark below commands: true if the line is no part of the remark. */
static bool line_below(Reader *reader, const LineReading *found) {
    CommandReading *reading = reader->reading;
    if (found->class == LINE_NEAR && secret_name(found->meant)) {
        list_line(reader, reading->asked, &reading->asked_count, found->command.line);
        return true;
    }
    if (!counts_below(reader, found))
        return false;
    if (found->command.verb == VERB_MOVE) {
        for (size_t i = 0; i < reading->count; i++)
            if (reading->commands[i].verb == VERB_MOVE && same_move(&reading->commands[i], &found->command))
                return true;
    }
    if (found->command.verb == VERB_MOVE || final_verb(found->command.verb)) {
        reader->below = true;
        problem_line(reader, found->command.line);
    } else {
        list_line(reader, reading->asked, &reading->asked_count, found->command.line);
    }
    return true;
}

/* In a letter that opened with something else: true if the line is no part of the remark. */
static bool line_searched(Reader *reader, LineReading *found) {
    if (found->class == LINE_NEAR && reader->reading->count > 0 && secret_name(found->meant)) {
        list_line(reader, reader->reading->asked, &reader->reading->asked_count, found->command.line);
        return true;
    }
    if (found->class == LINE_NEAR) {
        list_line(reader, reader->maybe.lines, &reader->maybe.count, found->command.line);
        if (reader->maybe.meant == NULL)
            reader->maybe.meant = found->meant;
        reader->maybe.final |= final_name(found->meant);
    }
    if (found->class == LINE_HEADING) {
        flush_heading(reader);
        reader->heading = true;
        reader->game = found->command.game;
        reader->heading_command = found->command;
        reader->heading_command.line = keep(reader, found->command.line);
        return true;
    }
    if (!counts_below(reader, found)) {
        if (found->class != LINE_EMPTY) {
            flush_heading(reader);
            reader->game = 0;
        }
        return false;
    }
    if (final_verb(found->command.verb)) {
        reader->below = true;
        problem_line(reader, found->command.line);
    } else {
        take(reader, found);
    }
    return true;
}

/* Among the opening lines: false if this line ends them. */
static bool line_opening(Reader *reader, LineReading *found) {
    switch (found->class) {
    case LINE_EMPTY:
        return true;
    case LINE_COMMAND:
        take(reader, found);
        return true;
    case LINE_NEAR:
    case LINE_NEAR_OPENING:
        near_miss(reader, found);
        return true;
    case LINE_HEADING:
        flush_heading(reader);
        reader->heading = true;
        reader->game = found->command.game;
        reader->heading_command = found->command;
        reader->heading_command.line = keep(reader, found->command.line);
        return true;
    case LINE_TOO_MANY:
    case LINE_OTHER:
    case LINE_GREETING:
        break;
    }
    flush_heading(reader);
    reader->game = 0;
    reader->state = reader->reading->count > 0 || reader->near ? STATE_BELOW : STATE_SEARCH;
    return false;
}

/* --- the letter as a whole --- */

static bool same_game(const Command *left, const Command *right) {
    return left->game == right->game;
}

/* 0 is the game of the letter that is answered, which may be any. */
static bool perhaps_same_game(const Command *left, const Command *right) {
    return left->game == right->game || left->game == 0 || right->game == 0;
}

static bool claims(const Command *command) {
    return command->verb == VERB_LATER && strcmp(command->argument, "claim") == 0;
}

/* A move beside something that ends the game, an acceptance beside its opposite. A claim beside a move is one with an
 * intended move (RULINGS 14): until claims are served it must not be played, which would spoil the claim. */
static bool clash(const Command *left, const Command *right) {
    if (!perhaps_same_game(left, right))
        return false;
    if (left->verb == VERB_MOVE)
        return final_verb(right->verb) || claims(right);
    return left->verb == VERB_ACCEPT && (right->verb == VERB_RESIGN || right->verb == VERB_DECLINE);
}

static bool find_pairs(Reader *reader, bool (*wrong)(const Command *, const Command *)) {
    CommandReading *reading = reader->reading;
    bool found = false;
    for (size_t i = 0; i < reading->count; i++) {
        for (size_t j = 0; j < reading->count; j++) {
            if (i == j || !wrong(&reading->commands[i], &reading->commands[j]))
                continue;
            found = true;
            problem_line(reader, reading->commands[i < j ? i : j].line);
            problem_line(reader, reading->commands[i < j ? j : i].line);
        }
    }
    return found;
}

static bool two_moves(const Command *left, const Command *right) {
    return left->verb == VERB_MOVE && right->verb == VERB_MOVE && same_game(left, right);
}

/* The lines listed so far belong to near-misses, to the remark or to what was too much; each problem lists its own. */
static Problem judge(Reader *reader) {
    CommandReading *reading = reader->reading;
    if (reader->too_many)
        return PROBLEM_TOO_MANY;
    if (reader->near)
        return PROBLEM_NEAR_MISS;
    if (reader->maybe.count > 0 && (reading->count == 0 || reader->maybe.final) && !reader->below) {
        for (size_t i = 0; i < reader->maybe.count; i++)
            problem_line(reader, reader->maybe.lines[i]);
        reading->meant = reader->maybe.meant;
        return PROBLEM_NEAR_MISS;
    }
    if (find_pairs(reader, two_moves))
        return PROBLEM_SEVERAL_MOVES;
    if (find_pairs(reader, clash))
        return PROBLEM_MOVE_BESIDE;
    return reader->below ? PROBLEM_BELOW_REMARK : PROBLEM_NONE;
}

/* What a line is for the letter: true if it belongs to the remark. */
static bool line_judged(Reader *reader, LineReading *found) {
    if (found->class == LINE_TOO_MANY) {
        reader->too_many = true;
        problem_line(reader, "…");
        return true;
    }
    if (reader->state == STATE_OPENING && line_opening(reader, found))
        return false;
    if (reader->state == STATE_BELOW)
        return !line_below(reader, found);
    return !line_searched(reader, found);
}

/* What stands between quotations is remark whatever it says, but for what is not for the opponent's eyes. */
static void read_between(Reader *reader, const char *text) {
    CommandReading *reading = reader->reading;
    for (const char *raw = text; !reader->arena->exhausted && line_next(&text, reader->line); raw = text) {
        LineReading found;
        command_line_read(reader->line, reader->cut, reader->items, reader->context, &found);
        bool later = found.class == LINE_COMMAND && found.command.verb == VERB_LATER;
        const char *name = later ? found.command.argument : found.class == LINE_NEAR ? found.meant : "";
        if (!secret_name(name)) {
            remark_line(reader, raw, strcspn(raw, "\n"));
            continue;
        }
        list_line(reader, reading->asked, &reading->asked_count, found.command.line);
        if (found.to_end)
            return;
    }
}

static void read_lines(Reader *reader, const char *text) {
    bool goes_on = false;
    while (!reader->arena->exhausted) {
        const char *raw = text;
        if (!line_next(&text, reader->line))
            break;
        size_t length = strcspn(raw, "\n");
        if (strcmp(reader->line, TRIM_BETWEEN_MARK) == 0) {
            read_between(reader, raw);
            return;
        }
        LineReading found;
        command_line_read(reader->line, reader->cut, reader->items, reader->context, &found);
        bool begins = reader->paragraph || reader->state == STATE_OPENING;
        if (goes_on && found.class != LINE_EMPTY && (found.class != LINE_COMMAND || found.command.verb == VERB_MOVE || found.goes_on)) {
            /* The rest of "if 13. Bxc6 then" must be neither played nor passed on. */
            goes_on = found.goes_on || line_goes_on(reader->line);
            continue;
        }
        goes_on = found.goes_on;
        if (found.to_end && (!found.free_text || begins)) {
            found.free_text = false;
            line_judged(reader, &found);
            return;
        }
        if (line_judged(reader, &found))
            remark_line(reader, raw, length);
        reader->paragraph = found.class == LINE_EMPTY || found.class == LINE_GREETING || found.class == LINE_COMMAND || found.class == LINE_HEADING;
    }
}

bool command_read(Arena *arena, const char *new_text, const CommandContext *context, CommandReading *ret_reading) {
    size_t size = strlen(new_text) + 2; /* a LF and a NUL more */
    CommandReading reading = { .remark = "" };
    Reader reader = { .arena = arena, .context = context, .reading = &reading, .paragraph = true };
    reading.commands = arena_alloc(arena, COMMANDS_MAX * sizeof *reading.commands);
    reader.line = arena_alloc(arena, size);
    reader.cut = arena_alloc(arena, size);
    reader.items = arena_alloc(arena, COMMAND_ITEMS_MAX * sizeof *reader.items);
    reader.remark = arena_alloc(arena, size);
    if (arena->exhausted)
        return false;
    read_lines(&reader, new_text);
    flush_heading(&reader);
    remark_finish(&reader);
    reading.problem = judge(&reader);
    if (arena->exhausted)
        return false;
    *ret_reading = reading;
    return true;
}
