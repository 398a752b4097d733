#include "daemon/inbox/command_words.h"

#include "core/base/str.h"
#include "core/notation/notation.h"

#include <string.h>

enum {
    NEAR_WORDS_MAX = 7,  /* longer lines are sentences */
    NEAR_WORD_MAX = 24,  /* bytes; longer words are near to nothing */
    FINAL_WORDS_MAX = 4, /* a line that begins or ends with resign, accept or withdraw and has more is a sentence */
};

typedef enum Rest {
    REST_NONE, REST_NUMBER, REST_NUMBERS /* none or more */, REST_TOPIC, REST_NAME, REST_WHO, REST_SETTING, REST_TEXT, REST_LINE,
    REST_OPTIONS, REST_EVENT, REST_LEVEL, REST_CLAIM, REST_UNTIL, REST_SEAL, REST_OPEN, REST_LEAVE, REST_BANK, REST_THINK, REST_MOVE
} Rest;

static const Phrase phrases[] = {
    { "offer draw", VERB_OFFER_DRAW, REST_NONE, 0 },
    { "(=)", VERB_OFFER_DRAW, REST_NONE, PHRASE_NEVER_NEAR },
    { "accept", VERB_ACCEPT, REST_NONE, 0 },
    { "decline", VERB_DECLINE, REST_NONE, 0 },
    { "resign", VERB_RESIGN, REST_NONE, 0 },
    { "board", VERB_BOARD, REST_NUMBERS, PHRASE_QUESTION },
    { "games", VERB_GAMES, REST_NONE, PHRASE_QUESTION },
    { "game", VERB_GAME, REST_NUMBER, PHRASE_QUESTION },
    { "pgn", VERB_PGN, REST_NUMBERS, PHRASE_QUESTION },
    { "help", VERB_HELP, REST_TOPIC, PHRASE_QUESTION },
    { "register", VERB_REGISTER, REST_NAME, PHRASE_FREE | PHRASE_BARE_NEAR },
    { "challenge", VERB_CHALLENGE, REST_WHO, PHRASE_FREE | PHRASE_BARE_NEAR },
    { "confirm", VERB_CONFIRM, REST_NONE, 0 },
    { "yes", VERB_YES, REST_NONE, 0 },
    { "withdraw", VERB_WITHDRAW, REST_NONE, 0 },
    { "ping", VERB_PING, REST_NONE, 0 },
    /* Known, served by later issues: recognised so that nothing of them ever reaches the opponent. */
    { "record", VERB_LATER, REST_NUMBERS, PHRASE_QUESTION },
    { "settings", VERB_LATER, REST_NONE, PHRASE_QUESTION },
    { "set", VERB_LATER, REST_SETTING, 0 },
    { "note", VERB_LATER, REST_TEXT, PHRASE_FREE | PHRASE_NEVER_NEAR },
    { "show", VERB_LATER, REST_LINE, 0 },
    { "mute", VERB_LATER, REST_NONE, 0 },
    { "seek", VERB_LATER, REST_OPTIONS, 0 },
    { "join", VERB_LATER, REST_EVENT, PHRASE_FREE | PHRASE_NEVER_NEAR },
    { "play computer", VERB_LATER, REST_LEVEL, 0 },
    { "follow", VERB_LATER, REST_NUMBER, PHRASE_BARE_NEAR },
    { "forget me", VERB_LATER, REST_NONE, 0 },
    { "lobby", VERB_LATER, REST_NONE, PHRASE_QUESTION },
    { "table", VERB_LATER, REST_EVENT, PHRASE_FREE | PHRASE_NEVER_NEAR },
    { "claim", VERB_LATER, REST_CLAIM, PHRASE_BARE_NEAR },
    { "cancel conditionals", VERB_LATER, REST_NONE, 0 },
    { "go", VERB_LATER, REST_NONE, 0 },
    { "adjourn", VERB_LATER, REST_UNTIL, PHRASE_BARE_NEAR },
    { "seal", VERB_LATER, REST_SEAL, PHRASE_BARE_NEAR },
    { "open", VERB_LATER, REST_OPEN, 0 },
    { "present", VERB_LATER, REST_NONE, 0 },
    { "leave", VERB_LATER, REST_LEAVE, 0 },
    { "bank", VERB_LATER, REST_BANK, 0 },
    { "long think", VERB_LATER, REST_THINK, 0 },
    { "appeal", VERB_LATER, REST_TEXT, PHRASE_FREE | PHRASE_NEVER_NEAR | PHRASE_TO_END },
    /* Served by command_lines.c, here for what is nearly one. */
    { "move", VERB_MOVE, REST_MOVE, PHRASE_BARE_NEAR },
};

/* Ways to say it that are not the command: asked about, never done. Fillers are left out of both sides. */
static const struct {
    const char *words, *meant;
} sayings[] = {
    { "resign", "resign" }, { "resigned", "resign" }, { "resigning", "resign" }, { "resignation", "resign" }, { "resigns", "resign" },
    { "give up", "resign" }, { "forfeit", "resign" }, { "concede", "resign" }, { "forfeit game", "resign" }, { "concede game", "resign" }, { "resign game", "resign" },
    { "accept", "accept" }, { "accepted", "accept" }, { "accept draw", "accept" }, { "draw accepted", "accept" },
    { "accept offer", "accept" }, { "offer accepted", "accept" }, { "accept draw offer", "accept" },
    { "accept offer draw", "accept" }, { "accept challenge", "accept" }, { "challenge accepted", "accept" },
    { "agree draw", "accept" }, { "draw agreed", "accept" }, { "agree to draw", "accept" }, { "agreed", "accept" }, { "agree", "accept" }, { "deal", "accept" },
    { "decline", "decline" }, { "declined", "decline" }, { "decline draw", "decline" }, { "draw declined", "decline" },
    { "decline offer", "decline" }, { "offer declined", "decline" }, { "decline draw offer", "decline" },
    { "decline challenge", "decline" }, { "challenge declined", "decline" },
    { "draw", "offer draw" }, { "offer draw", "offer draw" }, { "draw offer", "offer draw" }, { "draw offered", "offer draw" },
    { "propose draw", "offer draw" },
    { "withdraw", "withdraw" }, { "withdrawn", "withdraw" }, { "withdrawing", "withdraw" }, { "withdraw game", "withdraw" },
    { "withdraw event", "withdraw" }, { "withdraw from event", "withdraw" }, { "withdraw tournament", "withdraw" },
    { "withdraw from tournament", "withdraw" }, { "withdraw from game", "withdraw" },
    { "confirm", "confirm" }, { "confirmed", "confirm" }, { "confirm move", "confirm" },
    { "cancel conditional", "cancel conditionals" }, { "cancel conditional moves", "cancel conditionals" },
    { "forget me", "forget me" },
};

static const char fillers[] = " i we hereby please the a an your my this his her it that's thanks now will must have to of in on "
                              "i'll i'd i'm am like would shall do so ok okay thank you then well dear sorry and yes ";

static const char greeting_words[] =
    " hi hello hey dear hallo moin servus hola salut bonjour greetings greeting good morning afternoon evening day night regards best "
    "kind kindest warm warmest cheers thanks thank thx ty you very much many so yours sincerely faithfully truly respectfully cordially "
    "ciao bye goodbye adieu take care sir madam mr mrs ms miss dr prof all everyone folks friend friends my chess wishes wish from "
    "with and the luck to lg mfg vg gruss gruß grüsse grüße viele liebe lieber herzliche freundliche guten tag mit danke "
    "ok okay welcome "
    /* first names that are one edit off a command */
    "james gomes gamez bobby robby nobby dobby hobby ling ming king jing bing ding ";

/* Words of the dictionary that are one edit off a command and make a remark by themselves ("Cute!"). Not "except" or
 * "reign": those are also how accept and resign get written. */
static const char ordinary_words[] =
    " cute mate seen seem week weak meek peek pink king sing wing ring thing hell held gone gains gates names same fame came name lame "
    "love hobby none bored beard hoard join joined ";

/* Words of the dictionary within two edits of resign, accept or withdraw: beside other words they mean themselves. */
static const char like_final[] = " design designs deign reign reigns feign resin resins rein reins sign signs rising risen region resize assign resist reside benign "
                                 "redesign resting rosin ensign except accent ascent adept accepting aspect access accost assent withdrew excerpt ";

/* Directly behind these words accept and resign are no commands. */
static const char negations[] = " not never don't dont won't wont can't cannot couldn't wouldn't shouldn't didn't ";

/* "Please accept my apologies" */
static const char courtesies[] = " apology apologies congratulations condolences sympathy thanks wishes regards greetings gratitude ";

/* A short line that begins so is a greeting, whoever it greets. */
static const char greeting_first[] = " hi hello hey dear hallo moin servus hola salut bonjour greetings lieber liebe guten ";
enum { GREETING_WORDS_MAX = 6 };

static const char not_topics[] = " me us please out him her them you needed wanted yourself is it wanted! and the ";
static const char not_whos[] = " accepted declined me us is was yourself for of and to the in on him them it you ";
static const char not_events[] = " us me in the him her them up you hands of it to my with and for is was at ";
static const char setting_keys[] = " language timezone zone letters notation board style digest address name remarks reminders mail "
                                   "html format time leave email moves picture ";
static const char seek_words[] = " time rated unrated white black chess960 variant colour color any none random triple window local max announce ";
static const char claims[] = " repetition fifty time tablebase no-progress cannot-win ";

bool words_in(const char *list, const char *word) {
    size_t length = strlen(word);
    if (length == 0 || strchr(word, ' ') != NULL)
        return false;
    for (const char *at = list; (at = strstr(at, word)) != NULL; at++)
        if (at > list && at[-1] == ' ' && at[length] == ' ')
            return true;
    return false;
}

static char lower(char byte) {
    return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

static bool letter_or_digit(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= '0' && byte <= '9') || (unsigned char)byte >= 0x80;
}

/* Typographic quotes, dots and dashes count as punctuation like the plain ones. */
static size_t punctuation_at_start(const char *text) {
    if (*text == 0)
        return 0;
    if ((unsigned char)*text < 0x80)
        return !letter_or_digit(*text);
    return strncmp(text, "\xe2\x80", 2) == 0 && text[2] != 0 ? 3 : 0;
}

static size_t punctuation_at_end(const char *text, size_t length) {
    if (length == 0)
        return 0;
    if ((unsigned char)text[length - 1] < 0x80)
        return !letter_or_digit(text[length - 1]);
    return length >= 3 && strncmp(text + length - 3, "\xe2\x80", 2) == 0 ? 3 : 0;
}

void words_split(const char *line, Words *ret_words) {
    *ret_words = (Words){ 0 };
    Words *words = ret_words;
    size_t end = strlen(line);
    if (end > COMMAND_LINE_MAX) {
        words->more = true;
        return;
    }
    if (end > 1 && line[end - 1] == '?') {
        words->asking = true;
        end--;
    } else if (end > 1 && line[end - 1] == '!') {
        while (end > 1 && line[end - 1] == '!')
            end--;
    } else if (end > 1 && line[end - 1] == '.') {
        end--;
    }
    while (end > 0 && line[end - 1] == ' ')
        end--;
    char *held = words->held;
    for (size_t at = 0; at < end;) {
        if (line[at] == ' ') {
            at++;
            continue;
        }
        if (words->count == WORDS_MAX) {
            words->more = true;
            break;
        }
        size_t length = 0;
        while (at + length < end && line[at + length] != ' ')
            length++;
        char *word = held;
        for (size_t i = 0; i < length; i++)
            *held++ = lower(line[at + i]);
        *held++ = 0;
        size_t from = 0, until = length, step;
        while ((step = punctuation_at_start(word + from)) > 0)
            from += step;
        while (until > from && (step = punctuation_at_end(word + from, until - from)) > 0)
            until -= step;
        char *bare = held;
        if (until > from) {
            memcpy(bare, word + from, until - from);
            held += until - from;
        }
        *held++ = 0;
        words->word[words->count] = word;
        words->bare[words->count] = bare;
        words->offset[words->count++] = at;
        at += length;
    }
}

int words_distance(const char *left, const char *right, int most) {
    int rows = (int)strlen(left), columns = (int)strlen(right);
    if (rows > NEAR_WORD_MAX || columns > NEAR_WORD_MAX || rows - columns > most || columns - rows > most)
        return most + 1;
    int cost[NEAR_WORD_MAX + 1][NEAR_WORD_MAX + 1];
    for (int j = 0; j <= columns; j++)
        cost[0][j] = j;
    for (int i = 1; i <= rows; i++) {
        cost[i][0] = i;
        for (int j = 1; j <= columns; j++) {
            int least = cost[i - 1][j - 1] + (left[i - 1] != right[j - 1]);
            if (cost[i - 1][j] + 1 < least)
                least = cost[i - 1][j] + 1;
            if (cost[i][j - 1] + 1 < least)
                least = cost[i][j - 1] + 1;
            if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] && cost[i - 2][j - 2] + 1 < least)
                least = cost[i - 2][j - 2] + 1;
            cost[i][j] = least;
        }
    }
    return cost[rows][columns] <= most ? cost[rows][columns] : most + 1;
}

static bool number_word(const char *word) {
    if (*word == '#')
        word++;
    size_t digits = strspn(word, "0123456789");
    return digits > 0 && digits <= 18 && (word[digits] == 0 || (word[digits] == ',' && word[digits + 1] == 0));
}

static bool has_digit(const char *word) {
    return strpbrk(word, "0123456789") != NULL;
}

static bool plain_word(const char *word) {
    for (; *word != 0; word++)
        if (!letter_or_digit(*word) && *word != '-')
            return false;
    return true;
}

static bool move_word(const char *word) {
    const char *rest = word;
    int number;
    bool black;
    if (notation_shaped(word))
        return true;
    return notation_number(word, &rest, &number, &black) && notation_shaped(rest);
}

static bool any_word(const Words *words, size_t from, bool (*test)(const char *)) {
    for (size_t i = from; i < words->count; i++)
        if (test(words->word[i]))
            return true;
    return false;
}

static bool all_words(const Words *words, size_t from, bool (*test)(const char *)) {
    for (size_t i = from; i < words->count; i++)
        if (!test(words->word[i]))
            return false;
    return true;
}

static bool range_fits(const Words *words, size_t from) {
    for (size_t i = from; i < words->count; i++)
        if (strcmp(words->word[i], "to") == 0 || strcmp(words->word[i], "until") == 0 || strcmp(words->word[i], "till") == 0)
            return any_word(words, from, has_digit);
    return false;
}

static bool rest_fits(Rest rest, const Words *words, size_t from) {
    size_t count = words->count - from;
    const char *first = count > 0 ? words->word[from] : "";
    const char *bare = count > 0 ? words->bare[from] : "";
    switch (rest) {
    case REST_NONE: return count == 0;
    case REST_NUMBER: return count == 1 && number_word(first);
    case REST_NUMBERS: return all_words(words, from, number_word);
    case REST_TOPIC: return count == 0 || (count == 1 && plain_word(first) && !words_in(not_topics, first));
    case REST_NAME: return count >= 1 && count <= 6 && bare[0] != 0;
    case REST_WHO: return count >= 1 && count <= 12 && bare[0] != 0 && !words_in(not_whos, bare);
    case REST_SETTING: return count >= 2 && words_in(setting_keys, bare);
    case REST_TEXT: return count >= 1;
    case REST_LINE: return count >= 1 && (number_word(first) || move_word(first) || (strchr(first, '.') != NULL && has_digit(first)));
    case REST_OPTIONS: return count == 0 || (count <= 12 && (strchr("0123456789", *first) != NULL || words_in(seek_words, bare)));
    case REST_EVENT: return count >= 1 && count <= 4 && bare[0] != 0 && !words_in(not_events, bare);
    case REST_LEVEL: return count <= 1;
    case REST_CLAIM: return count >= 1 && words_in(claims, bare);
    case REST_UNTIL: return count >= 2 && strcmp(first, "until") == 0;
    case REST_SEAL: return count >= 1 && (text_starts_nocase(first, "sha256") || any_word(words, from, move_word));
    case REST_OPEN: return count >= 1 && strlen(first) >= 8 && strspn(first, "0123456789abcdef") == strlen(first);
    case REST_LEAVE: return (count >= 2 && strcmp(first, "end") == 0) || range_fits(words, from);
    case REST_BANK: return count >= 1 && count <= 2 && number_word(first) && (count == 1 || words_in(" day days ", words->bare[from + 1]));
    case REST_THINK: return count == 0 || (count <= 5 && any_word(words, from, has_digit));
    case REST_MOVE: return count == 1 && notation_shaped(first);
    }
    return false;
}

/* The nth fixed word of a phrase, or NULL. */
static const char *phrase_word(const Phrase *phrase, size_t nth, char word[NEAR_WORD_MAX + 1]) {
    const char *at = phrase->words;
    for (; nth > 0; nth--) {
        at = strchr(at, ' ');
        if (at == NULL)
            return NULL;
        at++;
    }
    size_t length = strcspn(at, " ");
    memcpy(word, at, length);
    word[length] = 0;
    return word;
}

/* "register: Tom" is written as often as "register Tom". */
static bool word_is(const char *given, const char *fixed, bool colon) {
    size_t length = strlen(fixed);
    return strncmp(given, fixed, length) == 0 && (given[length] == 0 || (colon && strcmp(given + length, ":") == 0));
}

static bool phrase_is(const Phrase *phrase, const Words *words, size_t *ret_fixed) {
    char fixed[NEAR_WORD_MAX + 1];
    size_t nth = 0;
    for (; phrase_word(phrase, nth, fixed) != NULL; nth++)
        if (nth >= words->count || !word_is(words->word[nth], fixed, nth == 0 && words->count > 1))
            return false;
    *ret_fixed = nth;
    return rest_fits((Rest)phrase->rest, words, nth);
}

const Phrase *words_command(const Words *words, size_t *ret_fixed) {
    static const Phrase draw = { "draw", VERB_OFFER_DRAW, REST_NONE, 0 };
    if (words->count == 0)
        return NULL;
    if (words->asking && words->count == 1 && strcmp(words->word[0], "draw") == 0) {
        *ret_fixed = 1;
        return &draw;
    }
    for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++) {
        const Phrase *phrase = &phrases[i];
        if (phrase->verb == VERB_MOVE || (words->more && !(phrase->flags & PHRASE_FREE)))
            continue;
        if (words->asking && !(phrase->flags & (PHRASE_QUESTION | PHRASE_FREE)))
            continue;
        if (phrase_is(phrase, words, ret_fixed))
            return phrase;
    }
    return NULL;
}

/* RULINGS 9 */
static int allowed_edits(const char *fixed) {
    size_t length = strlen(fixed);
    return length >= 6 ? 2 : length >= 4 ? 1 : 0;
}

/* Exactly one fixed word is off (or only its punctuation), and what stands behind has the command's own shape. */
static bool phrase_near(const Phrase *phrase, const Words *words) {
    char fixed[NEAR_WORD_MAX + 1];
    size_t nth = 0, off = 0;
    for (; phrase_word(phrase, nth, fixed) != NULL; nth++) {
        if (nth >= words->count)
            return false;
        int most = allowed_edits(fixed), edits = words_distance(words->bare[nth], fixed, most);
        if (edits > most)
            return false;
        off += edits > 0;
    }
    if (off > 1)
        return false;
    if (nth == words->count && (phrase->flags & PHRASE_BARE_NEAR))
        return true;
    if ((phrase->flags & PHRASE_FREE) && (off == 0 || words->count - nth > 3))
        return false; /* right word and wrong shape, or a sentence */
    if (phrase->rest == REST_TOPIC && words->count > nth)
        return false;
    return rest_fits((Rest)phrase->rest, words, nth);
}

static const char *saying_near(const Words *words) {
    char said[COMMAND_LINE_MAX + 1];
    size_t length = 0;
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->bare[i];
        if (word[0] == 0 || words_in(fillers, word))
            continue;
        if (length > 0)
            said[length++] = ' ';
        size_t more = strlen(word);
        memcpy(said + length, word, more);
        length += more;
    }
    said[length] = 0;
    if (length == 0 && strcmp(words->bare[0], "yes") == 0)
        return "yes";
    for (size_t i = 0; i < sizeof sayings / sizeof sayings[0]; i++)
        if (strcmp(said, sayings[i].words) == 0)
            return sayings[i].meant;
    return NULL;
}

/* "board please", "yes please", "please help": the command itself and one polite word. */
static const char *polite_near(const Words *words) {
    if (words->count != 2)
        return NULL;
    bool behind = strcmp(words->bare[1], "please") == 0;
    if (!behind && strcmp(words->bare[0], "please") != 0)
        return NULL;
    for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++)
        if (!(phrases[i].flags & PHRASE_NEVER_NEAR) && strcmp(words->bare[behind ? 0 : 1], phrases[i].words) == 0)
            return phrases[i].words;
    return NULL;
}

/* One edit off a word of the list. */
static bool near_in(const char *list, const char *word) {
    char listed[NEAR_WORD_MAX + 1];
    for (const char *at = list + 1; *at != 0; at += strcspn(at, " ") + 1) {
        size_t length = strcspn(at, " ");
        memcpy(listed, at, length);
        listed[length] = 0;
        if (words_distance(word, listed, 1) <= 1)
            return true;
    }
    return false;
}

/* Right first word, wrong rest, and too much at stake (or to be kept from the opponent) for a remark. */
static const char *misshapen_near(const Words *words) {
    const char *first = words->bare[0];
    if (strcmp(first, "claim") == 0 && words->count <= 3)
        return "claim";
    if (strcmp(first, "withdraw") == 0 && words->count <= 4)
        return "withdraw";
    if (strcmp(first, "adjourn") == 0 && words->count <= 4)
        return "adjourn";
    if (strcmp(first, "set") == 0 && (words->count == 3 || words->count == 2) && near_in(setting_keys, words->bare[1]))
        return "set";
    if (strcmp(first, "leave") == 0 && any_word(words, 1, has_digit))
        return "leave";
    if (words_in(" sealed sealing seal ", words->bare[0]) || (words->count > 1 && strcmp(words->bare[1], "seal") == 0))
        return any_word(words, 1, move_word) ? "seal" : NULL;
    return NULL;
}

static bool courtesy(const Words *words) {
    bool accepting = false;
    for (size_t i = 0; i + 2 < words->count; i++)
        accepting |= strcmp(words->word[i], "accept") == 0 && words_in(" my our ", words->word[i + 1]);
    return accepting && words_in(courtesies, words->bare[words->count - 1]);
}

const char *words_near(const Words *words) {
    if (words->count == 0 || words->more || words->count > NEAR_WORDS_MAX || courtesy(words))
        return NULL;
    if (words->count == 1 && words_in(ordinary_words, words->bare[0]))
        return NULL;
    const char *meant = saying_near(words);
    if (meant == NULL)
        meant = polite_near(words);
    if (meant == NULL)
        meant = misshapen_near(words);
    if (meant != NULL)
        return meant;
    for (size_t i = 0; i < sizeof phrases / sizeof phrases[0]; i++)
        if (!(phrases[i].flags & PHRASE_NEVER_NEAR) && phrase_near(&phrases[i], words))
            return phrases[i].words;
    return NULL;
}

static bool word_of_name(const char *word, const CommandContext *context) {
    for (size_t i = 0; i < context->name_count; i++) {
        const char *at = context->names[i];
        while (*at != 0) {
            size_t length = strcspn(at, " ");
            size_t same = 0;
            while (same < length && lower(at[same]) == word[same])
                same++;
            if (length > 0 && same == length && word[same] == 0)
                return true;
            at += length + (at[length] == ' ');
        }
    }
    return false;
}

bool words_filler(const char *bare) {
    return bare[0] == 0 || words_in(fillers, bare);
}

/* What resign, accept or withdraw a word is, or nearly is; NULL if none. */
static const char *final_of(const char *word, bool *ret_exact) {
    static const char *const finals[] = { "resign", "accept", "withdraw" };
    for (size_t i = 0; i < sizeof finals / sizeof finals[0]; i++) {
        int most = allowed_edits(finals[i]), edits = words_distance(word, finals[i], most);
        *ret_exact = edits == 0;
        if (edits <= most)
            return finals[i];
    }
    return NULL;
}

static bool name_at(const Words *words, size_t at, const CommandContext *context) {
    return word_of_name(words->bare[at], context) || word_of_name(words->word[at], context);
}

/* Whether the words from `from` on are one name as it is registered, with no comma within ("Emil, accept" is none). */
static bool whole_name(const Words *words, size_t from, const CommandContext *context) {
    for (size_t i = 0; i < context->name_count && words->count - from >= 2; i++) {
        const char *at = context->names[i];
        size_t nth = from;
        for (; nth < words->count; nth++) {
            const char *word = nth + 1 < words->count ? words->word[nth] : words->bare[nth];
            if (!text_starts_nocase(at, word))
                break;
            at += strlen(word);
            at += *at == ' ' && nth + 1 < words->count;
        }
        if (nth == words->count && *at == 0)
            return true;
    }
    return false;
}

/* A name that is, or nearly is, resign, accept or withdraw does not excuse a line: but "Anna Resing" under her letter does,
 * "Dear Resing," over one to her, and "Dear Emil Accept," as all our letters to him begin. */
static bool name_excuses(const Words *words, size_t at, const CommandContext *context) {
    bool exact;
    if (!name_at(words, at, context))
        return false;
    if (final_of(words->bare[at], &exact) == NULL)
        return true;
    bool greeting = words->count >= 2 && words_in(greeting_first, words->word[0]);
    if (exact)
        return greeting && whole_name(words, 1, context);
    return greeting || whole_name(words, 0, context);
}

/* A saying with names, greetings and courtesies left out: "Hi Anna, I resign". */
static const char *saying_among(const Words *words, const CommandContext *context) {
    char said[COMMAND_LINE_MAX + 1];
    size_t length = 0;
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->bare[i];
        if (word[0] == 0 || words_in(fillers, word) || words_in(greeting_words, word) || name_excuses(words, i, context))
            continue;
        size_t more = strlen(word);
        if (length > 0)
            said[length++] = ' ';
        memcpy(said + length, word, more);
        length += more;
    }
    said[length] = 0;
    for (size_t i = 0; i < sizeof sayings / sizeof sayings[0]; i++)
        if (strcmp(said, sayings[i].words) == 0)
            return sayings[i].meant;
    return NULL;
}

const char *words_final_near(const Words *words, const CommandContext *context, bool *ret_sure) {
    *ret_sure = true;
    if (words->count == 0 || words->more || words->count > NEAR_WORDS_MAX || courtesy(words))
        return NULL;
    const char *meant = saying_among(words, context);
    if (meant != NULL || words->count > FINAL_WORDS_MAX)
        return meant;
    *ret_sure = words->count == 1;
    for (size_t end = 0; end < 2; end++) {
        size_t at = end == 0 ? 0 : words->count - 1;
        const char *word = words->bare[at];
        bool exact;
        meant = final_of(word, &exact);
        if (meant == NULL || (!exact && (words->count == FINAL_WORDS_MAX || (words->count > 1 && words_in(like_final, word)))))
            continue;
        bool negated = at > 0 && words_in(negations, words->word[at - 1]);
        if (!negated && !name_excuses(words, at, context))
            return meant;
    }
    return NULL;
}

const char *words_apart(const char *line) {
    enum { LETTERS_MAX = 20 };
    char letters[LETTERS_MAX + 1], together[COMMAND_LINE_MAX];
    size_t length = 0, pieces = 0;
    bool gap = true;
    for (; *line != 0; line++) {
        char byte = lower(*line);
        bool letter = byte >= 'a' && byte <= 'z';
        if ((!letter && letter_or_digit(byte)) || (letter && length == LETTERS_MAX))
            return NULL;
        pieces += letter && gap;
        gap = !letter;
        if (letter)
            letters[length++] = byte;
    }
    letters[length] = 0;
    for (size_t i = 0; i < sizeof phrases / sizeof phrases[0] && length >= 4; i++) {
        size_t to = 0, words = 1;
        for (const char *at = phrases[i].words; *at != 0; at++) {
            words += *at == ' ';
            if (*at != ' ')
                together[to++] = *at;
        }
        together[to] = 0;
        if ((pieces > 1 || words > 1) && strcmp(letters, together) == 0)
            return phrases[i].words;
    }
    bool exact;
    const char *final = pieces > 1 ? final_of(letters, &exact) : NULL;
    return final != NULL && words_distance(letters, final, 1) <= 1 ? final : NULL;
}

const char *words_unfinished(const Words *words) {
    for (size_t i = 0; words->count == 1 && i < sizeof phrases / sizeof phrases[0]; i++) {
        Rest rest = (Rest)phrases[i].rest;
        if (rest != REST_NONE && !rest_fits(rest, words, 1) && strcmp(words->bare[0], phrases[i].words) == 0)
            return phrases[i].words;
    }
    return NULL;
}

bool words_greeting(const Words *words, const CommandContext *context) {
    if (words->count == 0 || words->more)
        return false;
    if (words->count <= GREETING_WORDS_MAX && words_in(greeting_first, words->bare[0]))
        return true;
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->bare[i];
        if (word[0] != 0 && !words_in(greeting_words, word) && !name_excuses(words, i, context))
            return false;
    }
    return true;
}
