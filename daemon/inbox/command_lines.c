#include "daemon/inbox/command_lines.h"

#include "core/base/str.h"
#include "core/base/utf8.h"
#include "core/notation/notation.h"
#include "daemon/inbox/command_near.h"
#include "daemon/inbox/command_words.h"

#include <string.h>

enum {
    MOVE_TEXT_MAX = 32,   /* bytes of one move with its marks; the longest real one is "Ng1 - f3 !? e. p." */
    NUMBER_WINDOW = 64,   /* bytes that notation_number() is shown, so that a line costs no more than its length */
    GAME_DIGITS_MAX = 18, /* fits an int64_t */
};

/* --- cleaning --- */

static bool blank_point(uint32_t point) {
    return point == ' ' || point == '\t' || point == '\r' || point == 0xa0 || point == 0x1680 || (point >= 0x2000 && point <= 0x200a) ||
           point == 0x202f || point == 0x205f || point == 0x3000 || point == 0x2028 || point == 0x2029;
}

static bool invisible_point(uint32_t point) {
    return point < 0x20 || point == 0x7f || (point >= 0x80 && point < 0xa0) || point == 0xad || (point >= 0x200b && point <= 0x200f) ||
           (point >= 0x202a && point <= 0x202e) || (point >= 0x2060 && point <= 0x2069) || point == 0xfeff ||
           (point >= 0xfe00 && point <= 0xfe0f);
}

static char plain_point(uint32_t point) {
    if (point >= 0xff01 && point <= 0xff5e)
        return (char)(point - 0xff01 + '!'); /* full-width forms */
    if (point == 0x2018 || point == 0x2019 || point == 0x2bc)
        return '\'';
    return 0;
}

/* Takes off one pair of marks around the line; false if there is none. */
static bool unwrap(char *line, size_t *length) {
    static const char *const marks[] = { "***", "**", "*", "___", "__", "_", "```", "``", "`" };
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        size_t mark = strlen(marks[i]);
        if (*length <= 2 * mark || strncmp(line, marks[i], mark) != 0 || strcmp(line + *length - mark, marks[i]) != 0)
            continue;
        if (line[mark] == ' ' || line[*length - mark - 1] == ' ')
            return false; /* "* Nf3 *" is no emphasis */
        *length -= 2 * mark;
        memmove(line, line + mark, *length);
        line[*length] = 0;
        return true;
    }
    return false;
}

bool line_next(const char **text, char *ret_line) {
    enum { WRAPS_MAX = 3 }; /* bold italic code is three */
    if (**text == 0)
        return false;
    const char *at = *text;
    size_t left = strcspn(at, "\n"), length = 0;
    *text = at + left + (at[left] == '\n');
    bool gap = false;
    while (left > 0) {
        uint32_t point;
        int size = utf8_next(at, left, &point);
        if (size == 0) {
            size = 1;
            point = '?'; /* not UTF-8: never part of a command */
        }
        if (blank_point(point)) {
            gap = length > 0;
        } else if (!invisible_point(point)) {
            if (gap)
                ret_line[length++] = ' ';
            gap = false;
            if (plain_point(point) != 0) {
                ret_line[length++] = plain_point(point);
            } else {
                memcpy(ret_line + length, size == 1 ? (const char[]){ (char)point } : at, (size_t)size);
                length += (size_t)size;
            }
        }
        at += size;
        left -= (size_t)size;
    }
    ret_line[length] = 0;
    for (int i = 0; i < WRAPS_MAX && unwrap(ret_line, &length); i++)
        continue;
    return true;
}

/* --- moves --- */

bool score_step(ScorePlace *place, const MoveItem *item) {
    ScorePlace next = *place;
    if (item->number > 0) {
        if (next.known && (item->number != next.number || item->black != next.black))
            return false;
        next = (ScorePlace){ true, item->number, item->black };
    } else if (item->black && next.known && !next.black) {
        return false;
    }
    if (next.known) {
        next.number += next.black;
        next.black = !next.black;
    }
    *place = next;
    return true;
}

typedef enum MovesFit {
    MOVES_NONE,
    MOVES_FIT,
    MOVES_NEAR,       /* moves all right, but not a score: numbers that do not go on, … */
    MOVES_NEAR_OFFER, /* a move and something like a draw offer */
    MOVES_AND_WORDS,  /* begins with a move, goes on as something else */
    MOVES_TOO_MANY
} MovesFit;

typedef struct Moves {
    MoveItem *items;
    size_t count;
    ScorePlace place;
    bool offer;
} Moves;

/* A dash, plain or typographic: its length. */
static size_t dash_length(const char *text) {
    if (*text == '-')
        return 1;
    if (strncmp(text, "\xe2\x80", 2) == 0 && (unsigned char)text[2] >= 0x90 && (unsigned char)text[2] <= 0x95)
        return 3;
    return strncmp(text, "\xe2\x88\x92", 3) == 0 ? 3 : 0;
}

static size_t word_length(const char *text) {
    return strcspn(text, " {");
}

/* A word that only joins two squares: "-", "–", "x". */
static bool joining_word(const char *text, size_t length) {
    return length > 0 && (dash_length(text) == length || (length == 1 && (*text == 'x' || *text == ':')));
}

static bool dash_at_end(const char *text, size_t length) {
    return length > 1 && (text[length - 1] == '-' || (length > 3 && dash_length(text + length - 3) == 3));
}

static bool mark_word(const char *text, size_t length) {
    static const char marks[] = " ! ? !? ?! !! ?? + ++ # e.p. ep ep. mate check ch ch. checkmate +- -+ = ";
    char word[16];
    if (length == 0 || length >= sizeof word)
        return false;
    memcpy(word, text, length);
    word[length] = 0;
    return words_in(marks, word) || (*word == '$' && strspn(word + 1, "0123456789") == length - 1);
}

static bool shaped(const char *text, size_t length) {
    char move[MOVE_TEXT_MAX + 1];
    if (length == 0 || length > MOVE_TEXT_MAX)
        return false;
    memcpy(move, text, length);
    move[length] = 0;
    return notation_shaped(move);
}

/* A bare square "e4", as a pawn's move or half of a coordinate move. */
static bool square_word(const char *text, size_t length) {
    return length == 2 && text[0] >= 'a' && text[0] <= 'h' && text[1] >= '1' && text[1] <= '8';
}

/* "e2 e4", "e7 e8 Q", "O - O", "Nf3 !": whether all that is left is one move with blanks in it. Behind a number two bare
 * squares are two moves ("1. e4 e5"), unless no pawn can ever move to the first of them ("1. e2 e4"). */
static bool one_move(const char *text, size_t length, const MoveItem *item) {
    if (length > MOVE_TEXT_MAX || !shaped(text, length))
        return false;
    size_t first = word_length(text);
    if (first == length)
        return true;
    const char *second = text + first + 1;
    if (item->number == 0 || !square_word(text, first) || !square_word(second, length - first - 1))
        return !(item->number > 0 && shaped(text, first) && shaped(second, length - first - 1));
    return item->black ? text[1] > '6' : text[1] < '3';
}

/* The length of the move that begins at text: joined by dashes, with its marks; 0 if none does. */
static size_t move_length(const char *text) {
    size_t length = word_length(text);
    while (text[length] == ' ') {
        const char *next = text + length + 1;
        size_t more = word_length(next);
        if (!joining_word(next, more) && !dash_at_end(text, length) && !(dash_length(next) > 0 && more > dash_length(next)))
            break;
        length += 1 + more;
        if (joining_word(next, more) && text[length] == ' ')
            length += 1 + word_length(text + length + 1);
        if (length > MOVE_TEXT_MAX)
            return 0;
    }
    if (length > 1 && (text[length - 1] == ',' || text[length - 1] == ';'))
        return shaped(text, length - 1) ? length - 1 : 0;
    while (text[length] == ' ') {
        size_t more = word_length(text + length + 1);
        if (!mark_word(text + length + 1, more) || !shaped(text, length + 1 + more))
            break;
        length += 1 + more;
    }
    return shaped(text, length) ? length : 0;
}

static bool result_word(const char *text, size_t length) {
    static const char *const results[] = { "1-0", "0-1", "1/2-1/2", "1/2", "\xc2\xbd-\xc2\xbd", "*" };
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++)
        if (strlen(results[i]) == length && strncmp(text, results[i], length) == 0)
            return true;
    return false;
}

/* "12." "12..." "12. …" at *text. "5254" is a move, whatever follows it. */
static void number_read(char **text, MoveItem *item) {
    for (int i = 0; i < 2; i++) {
        char window[NUMBER_WINDOW + 1];
        size_t length = strnlen(*text, NUMBER_WINDOW), digits = strspn(*text, "0123456789");
        memcpy(window, *text, length);
        window[length] = 0;
        const char *rest;
        int number;
        bool black;
        if ((digits >= 4 && shaped(*text, digits)) || (i > 0 && digits > 0) || !notation_number(window, &rest, &number, &black))
            return;
        if (number > 0)
            item->number = number;
        item->black |= black;
        *text += rest - window;
    }
}

static char *skip_blanks_and_comments(char *text) {
    for (;;) {
        while (*text == ' ')
            text++;
        if (*text != '{')
            return text;
        char *end = strchr(text, '}');
        if (end == NULL)
            return text;
        text = end + 1;
    }
}

/* What a text is that began with `count` moves and then had something else. */
static MovesFit words_behind(const char *whole, const Moves *moves, size_t length) {
    if (moves->count == 0)
        return MOVES_NONE;
    if (moves->items[0].number > 0)
        return MOVES_AND_WORDS;
    size_t words = 1;
    const char *last = whole;
    for (const char *at = whole; (at = strchr(at, ' ')) != NULL; last = ++at)
        words++;
    if (words <= 2 || (words <= 4 && shaped(last, length - (size_t)(last - whole))))
        return MOVES_AND_WORDS;
    return MOVES_NONE;
}

/* Reads text, which has no draw offer any more; whole is the same text untouched. Cuts the items' ends into text. */
static MovesFit moves_read_plain(const char *whole, char *text, Moves *moves) {
    moves->count = 0;
    moves->place = (ScorePlace){ 0 };
    char *at = text;
    size_t length = strlen(text);
    bool broken = false;
    for (;;) {
        at = skip_blanks_and_comments(at);
        if (*at == 0)
            break;
        size_t word = word_length(at);
        if (result_word(at, word) && moves->count > 0) {
            /* One move and "1/2-1/2": a claim that it is drawn, perhaps an offer, not a score. */
            bool claim = moves->count == 1 && *at != '*';
            if (*skip_blanks_and_comments(at + word) != 0)
                return words_behind(whole, moves, length);
            broken |= claim;
            break;
        }
        MoveItem item = { 0 };
        number_read(&at, &item);
        at = skip_blanks_and_comments(at);
        size_t left = length - (size_t)(at - text);
        size_t move = moves->count == 0 && one_move(at, left, &item) ? left : move_length(at);
        if (move == 0)
            return words_behind(whole, moves, length);
        if (moves->count == COMMAND_ITEMS_MAX)
            return MOVES_TOO_MANY;
        item.text = at;
        at += move;
        if (*at == ',' || *at == ';')
            *at++ = 0;
        broken |= !score_step(&moves->place, &item);
        moves->items[moves->count++] = item;
        if (*at == '{') {
            char *end = strchr(at, '}');
            if (end == NULL)
                return words_behind(whole, moves, length);
            *at = 0;
            at = end + 1;
        } else if (*at != 0) {
            *at++ = 0;
        }
    }
    if (moves->count == 0)
        return MOVES_NONE;
    return broken ? MOVES_NEAR : MOVES_FIT;
}

/* Ends in `suffix`, which stands by itself or begins with a bracket: the length without it and what joined it; 0 if not. */
static size_t length_without(const char *text, const char *suffix) {
    size_t length = strlen(text), more = strlen(suffix);
    if (length <= more || !text_equal_nocase(text + length - more, suffix))
        return 0;
    length -= more;
    if (*suffix != '(' && text[length - 1] != ' ' && text[length - 1] != ',')
        return 0;
    for (;;) {
        if (length > 0 && strchr(" ,;", text[length - 1]) != NULL)
            length--;
        else if (length > 1 && text[length - 1] == '-' && text[length - 2] == ' ')
            length--;
        else if (length > 4 && strncmp(text + length - 4, " and", 4) == 0)
            length -= 4;
        else
            return length;
    }
}

static MovesFit moves_read(const char *whole, char *cut, Moves *moves) {
    static const char *const offers[] = { "(=)", "draw?", "draw ?", "(draw?)", "offer draw", "offer draw.", "offer draw!", "(offer draw)" };
    static const char *const like_offers[] = { "draw", "draw.", "draw!", "(draw)", "offer a draw", "offer a draw.", "offer a draw?", "draw offer",
                                               "draw offer.", "(draw offer)", "draw offered", "draw offered.", "I offer draw", "offer draw?",
                                               "with draw offer", "remis?", "=" };
    for (size_t i = 0; i < sizeof offers / sizeof offers[0]; i++) {
        size_t length = length_without(whole, offers[i]);
        if (length == 0)
            continue;
        memcpy(cut, whole, length);
        cut[length] = 0;
        MovesFit fit = moves_read_plain(whole, cut, moves);
        moves->offer = fit == MOVES_FIT;
        if (fit != MOVES_NONE && fit != MOVES_AND_WORDS)
            return fit;
    }
    size_t size = strlen(whole) + 1;
    memcpy(cut, whole, size);
    MovesFit fit = moves_read_plain(whole, cut, moves);
    if (fit != MOVES_NONE && fit != MOVES_AND_WORDS)
        return fit;
    for (size_t i = 0; i < sizeof like_offers / sizeof like_offers[0]; i++) {
        size_t length = length_without(whole, like_offers[i]);
        if (length == 0)
            continue;
        memcpy(cut, whole, length);
        cut[length] = 0;
        if (moves_read_plain(whole, cut, moves) == MOVES_FIT)
            return MOVES_NEAR_OFFER;
    }
    return fit;
}

/* --- lines --- */

static void set_command(LineReading *reading, Verb verb) {
    reading->class = LINE_COMMAND;
    reading->command.verb = verb;
}

static void set_near(LineReading *reading, LineClass class, const char *meant) {
    reading->class = class;
    reading->meant = meant;
}

/* Behind "game 43", "game #43", "game 43:"; NULL if the line does not begin so. */
static const char *behind_game(const char *line, int64_t *ret_game, bool *ret_colon) {
    if (!text_starts_nocase(line, "game "))
        return NULL;
    const char *at = line + strlen("game ");
    at += *at == '#';
    size_t digits = strspn(at, "0123456789");
    if (digits == 0 || digits > GAME_DIGITS_MAX)
        return NULL;
    int64_t game = 0;
    for (size_t i = 0; i < digits; i++)
        game = game * 10 + (at[i] - '0');
    at += digits;
    if (game == 0 || (*at != 0 && strchr(" :,.!?", *at) == NULL))
        return NULL;
    at += *at == ' ' && at[1] == ':';
    *ret_colon = *at == ':';
    at += *at != 0 && *at != ' ';
    at += *at == ' ';
    *ret_game = game;
    return at;
}

/* Behind "move", "Move:", "my move is"; NULL if the line does not begin so. */
static const char *behind_said(const char *line) {
    static const char *const said[] = { "my move is: ", "my move is ", "my move: ", "my move ", "move: ", "move " };
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        if (text_starts_nocase(line, said[i]))
            return line + strlen(said[i]);
    return NULL;
}

/* The same in ways that are asked about. */
static const char *behind_said_nearly(const char *line) {
    static const char *const said[] = { "i play ", "i'll play ", "i move ", "i will play ", "play ", "mvoe ", "mov ", "moves ", "i choose ",
                                        "my reply is ", "my next move is " };
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        if (text_starts_nocase(line, said[i]))
            return line + strlen(said[i]);
    return NULL;
}

static void moves_to_reading(const char *line, const char *text, char *cut, MoveItem *items, LineReading *reading) {
    Moves moves = { .items = items };
    const char *said = behind_said(text);
    const char *move = said == NULL ? text : said;
    MovesFit fit = moves_read(move, cut, &moves);
    switch (fit) {
    case MOVES_NONE:
        break;
    case MOVES_FIT:
        set_command(reading, VERB_MOVE);
        reading->command.items = items;
        reading->command.item_count = moves.count;
        reading->command.offer = moves.offer;
        reading->command.said_move = said != NULL;
        reading->command.line_start = text == line && said == NULL && items[0].text == cut;
        reading->place = moves.place;
        return;
    case MOVES_NEAR: set_near(reading, LINE_NEAR, "move"); return;
    case MOVES_NEAR_OFFER: set_near(reading, LINE_NEAR, "offer draw"); return;
    case MOVES_AND_WORDS: set_near(reading, LINE_NEAR_OPENING, "move"); return;
    case MOVES_TOO_MANY: set_near(reading, LINE_TOO_MANY, "move"); return;
    }
    const char *nearly = behind_said_nearly(text);
    if (nearly != NULL && moves_read(nearly, cut, &moves) == MOVES_FIT)
        set_near(reading, LINE_NEAR, "move");
    else if (said != NULL && strchr(said, ' ') == NULL && strpbrk(said, "12345678") != NULL)
        set_near(reading, LINE_NEAR, "move"); /* "move 12:", "move Nf3/Ng3" */
}

/* The move, or "any", that a conditional says after "if" or "then", at `first` of words; its number may stand apart. */
static bool condition_at(const Words *words, size_t first) {
    if (first >= words->count)
        return false;
    const char *word = words->word[first];
    if (strcmp(words->bare[first], "any") == 0 || strcmp(words->bare[first], "then") == 0)
        return true;
    size_t digits = strspn(word, "0123456789");
    size_t dots = strspn(word + digits, ".");
    if (digits > 0 && word[digits + dots] == 0)
        return digits >= 4 || first + 1 == words->count || condition_at(words, first + 1);
    const char *move = word + (digits > 0 && dots > 0 ? digits + dots : 0);
    return shaped(move, strcspn(move, ","));
}

/* "if 13. Bxc6 then bxc6, if 14. O-O then Bg4", and lines that go on with one. Hidden from the opponent, so what only
 * looks like one is asked about. */
static void conditional_to_reading(const char *line, const Words *words, LineReading *reading) {
    bool begins_if = strcmp(words->bare[0], "if") == 0;
    if (words->count < 2 || (!begins_if && strcmp(words->bare[0], "then") != 0))
        return;
    size_t strange = 0, thens = 0, moves = 0;
    for (size_t i = 0; i < words->count; i++) {
        const char *bare = words->bare[i];
        if (strcmp(bare, "then") == 0)
            thens++;
        else if (words_in(" if any ", bare) || bare[0] == 0)
            continue;
        else if (condition_at(words, i))
            moves++;
        else
            strange++;
    }
    bool starts = condition_at(words, 1);
    if (strange == 0 && thens > 0 && (moves > 0 || starts)) {
        set_command(reading, VERB_LATER);
        reading->command.argument = "if";
        reading->goes_on = line_goes_on(line);
    } else if (starts && strange <= 1) {
        set_near(reading, LINE_NEAR, "if");
    }
}

bool line_goes_on(const char *line) {
    const char *last = line;
    for (const char *at = line; (at = strchr(at, ' ')) != NULL;)
        last = ++at;
    if (text_equal_nocase(last, "then") || text_equal_nocase(last, "if") || text_equal_nocase(last, "any"))
        return true;
    size_t digits = strspn(last, "0123456789");
    return digits > 0 && digits < 4 && strspn(last + digits, ".") == strlen(last + digits); /* "…, if 14." */
}

/* "arbiter: …" reaches nobody but the arbiter. */
static bool arbiter_to_reading(const char *line, LineReading *reading) {
    if (!text_starts_nocase(line, "arbiter"))
        return false;
    const char *at = line + strlen("arbiter");
    at += *at == ' ';
    if (*at == ':') {
        set_command(reading, VERB_LATER);
        reading->command.argument = "arbiter";
        reading->to_end = true;
        return true;
    }
    return false;
}

static bool arbiter_near(const Words *words) {
    const char *bare = words->bare[0], *word = words->word[0];
    size_t length = strlen(word);
    if (words->count == 1 || strcmp(bare, "arbiter") == 0)
        return words_distance(bare, "arbiter", 2) <= 2;
    if (length > 0 && word[length - 1] == ':' && words_distance(bare, "arbiter", 2) <= 2)
        return true;
    return words->count >= 3 && strcmp(words->bare[2], "arbiter") == 0 && strcmp(bare, "to") == 0 && strcmp(words->bare[1], "the") == 0;
}

static void phrase_to_reading(const char *text, const Words *words, const Phrase *phrase, size_t fixed, char *cut, LineReading *reading) {
    set_command(reading, phrase->verb);
    Command *command = &reading->command;
    reading->free_text = phrase->flags & PHRASE_FREE;
    /* "Note: …" and "Note that …" begin a paragraph of prose as well. */
    reading->opening_only = reading->free_text && fixed < words->count &&
                            (strchr(words->word[0], ':') != NULL || strcmp(words->bare[fixed], "that") == 0) && strcmp(phrase->words, "note") == 0;
    reading->to_end = phrase->flags & PHRASE_TO_END;
    if (phrase->verb == VERB_LATER) {
        command->argument = phrase->words;
    } else if (fixed < words->count) {
        size_t length = strlen(text);
        memcpy(cut, text, length + 1);
        /* A sentence's full stop is no part of a name, that of "Jr." is. */
        if (strlen(words->word[words->count - 1]) > 3 || words->count == fixed + 1)
            while (length > words->offset[fixed] + 1 && strchr(".!?", cut[length - 1]) != NULL)
                cut[--length] = 0;
        command->argument = cut + words->offset[fixed];
    }
    bool number = phrase->verb == VERB_BOARD || phrase->verb == VERB_PGN || phrase->verb == VERB_GAME;
    if (number && words->count == fixed + 1 && command->game == 0)
        for (const char *digit = command->argument; *digit != 0; digit++)
            if (*digit >= '0' && *digit <= '9')
                command->game = command->game * 10 + (*digit - '0');
}

/* "Yes, Nf3", "well, 12. Nf3": nothing before the move that means anything. */
static void filled_to_reading(const char *text, const Words *words, char *cut, MoveItem *items, LineReading *reading) {
    enum { FILLERS_MAX = 4 };
    Moves moves = { .items = items };
    for (size_t i = 0; i + 1 < words->count && i < FILLERS_MAX && words_filler(words->bare[i]); i++)
        if (moves_read(text + words->offset[i + 1], cut, &moves) == MOVES_FIT)
            set_near(reading, LINE_NEAR_OPENING, "move");
}

/* "My move:" over the move it speaks of says nothing. */
static bool move_heading(const char *line) {
    static const char *const headings[] = { "move:", "my move", "my move:", "my move is", "my move is:" };
    for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++)
        if (text_equal_nocase(line, headings[i]))
            return true;
    return false;
}

static void read_text(const char *line, const char *text, char *cut, MoveItem *items, const CommandContext *context, LineReading *reading);

/* "(resign)", "“Nf3”": a command in brackets or quotes is nearly one. */
static void quoted_to_reading(const char *text, char *cut, MoveItem *items, const CommandContext *context, LineReading *reading) {
    static const char *const pairs[][2] = { { "\"", "\"" }, { "'", "'" }, { "(", ")" }, { "[", "]" }, { "<", ">" },
                                            { "\xe2\x80\x9c", "\xe2\x80\x9d" }, { "\xe2\x80\x9e", "\xe2\x80\x9c" }, { "\xc2\xab", "\xc2\xbb" } };
    char inner[COMMAND_LINE_MAX + 1];
    size_t length = strlen(text);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        size_t left = strlen(pairs[i][0]), right = strlen(pairs[i][1]);
        if (length <= left + right || strncmp(text, pairs[i][0], left) != 0 || strcmp(text + length - right, pairs[i][1]) != 0)
            continue;
        memcpy(inner, text + left, length - left - right);
        inner[length - left - right] = 0;
        if (strpbrk(inner, "\"()[]<>\xc2\xe2") != NULL)
            return; /* one layer is enough */
        LineReading found = { .class = LINE_OTHER, .command = { .line = text, .argument = "" } };
        read_text(inner, inner, cut, items, context, &found);
        if (found.class == LINE_COMMAND)
            set_near(reading, LINE_NEAR, found.command.verb == VERB_LATER ? found.command.argument : verb_name(found.command.verb));
        else if (found.class == LINE_NEAR)
            set_near(reading, LINE_NEAR, found.meant);
        return;
    }
}

static void read_text(const char *line, const char *text, char *cut, MoveItem *items, const CommandContext *context, LineReading *reading) {
    if (strlen(text) > COMMAND_LINE_MAX) {
        moves_to_reading(line, text, cut, items, reading);
        if (reading->class == LINE_NEAR_OPENING)
            reading->class = LINE_OTHER; /* a paragraph on one line */
        return;
    }
    Words words;
    words_split(text, &words);
    if (words.count == 0)
        return;
    size_t fixed;
    const Phrase *phrase = words_command(&words, &fixed);
    if (phrase != NULL) {
        phrase_to_reading(text, &words, phrase, fixed, cut, reading);
        return;
    }
    conditional_to_reading(text, &words, reading);
    if (reading->class == LINE_OTHER)
        moves_to_reading(line, text, cut, items, reading);
    if (reading->class != LINE_OTHER)
        return;
    bool sure, looks_like_move = near_move(text, &words);
    const char *final = words_final_near(&words, context, &sure), *apart = words_apart(text);
    if (apart != NULL || final != NULL) {
        set_near(reading, apart != NULL || sure ? LINE_NEAR : LINE_NEAR_OPENING, apart != NULL ? apart : final);
        return;
    }
    if (!looks_like_move && words_greeting(&words, context)) {
        reading->class = LINE_GREETING;
        return;
    }
    const char *meant = arbiter_near(&words) ? "arbiter" : words_near(&words);
    if (meant != NULL)
        set_near(reading, LINE_NEAR, meant);
    else
        quoted_to_reading(text, cut, items, context, reading);
    if (reading->class == LINE_OTHER)
        filled_to_reading(text, &words, cut, items, reading);
    if (reading->class != LINE_OTHER)
        return;
    meant = looks_like_move ? "move" : words_unfinished(&words);
    if (meant != NULL)
        set_near(reading, LINE_NEAR_OPENING, meant);
}

void command_line_read(const char *line, char *cut, MoveItem *items, const CommandContext *context, LineReading *ret_reading) {
    LineReading *reading = ret_reading;
    *reading = (LineReading){ .class = LINE_OTHER, .command = { .line = line, .argument = "" } };
    if (*line == 0 || move_heading(line)) {
        reading->class = LINE_EMPTY;
        return;
    }
    if (*line == '|' || *line == '>' || arbiter_to_reading(line, reading))
        return; /* quotations are never commands (RULINGS 10) */
    int64_t game;
    bool colon;
    const char *rest = behind_game(line, &game, &colon);
    if (rest == NULL) {
        read_text(line, line, cut, items, context, reading);
        return;
    }
    reading->command.game = game;
    if (*rest == 0) {
        set_command(reading, VERB_GAME);
        if (colon)
            reading->class = LINE_HEADING;
        return;
    }
    if (!arbiter_to_reading(rest, reading))
        read_text(line, rest, cut, items, context, reading);
    if (reading->class == LINE_GREETING)
        reading->class = LINE_OTHER; /* "game 43: thanks" */
}
