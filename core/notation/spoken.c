#include "core/notation/spoken.h"

#include "core/base/utf8.h"

#include <string.h>

/* One thing said. */
typedef enum Saying {
    SAY_NOTHING, /* "the", "from" */
    SAY_FILE, SAY_RANK, SAY_MAN, SAY_CASTLING, SAY_TO, SAY_TAKES, SAY_BECOMES, SAY_CHECK,
} Saying;

typedef struct Said {
    Saying saying;
    int value;  /* file or rank 0–7, kind, 1 for castling with the king's rook */
    bool word;  /* more than a letter or a digit */
} Said;

enum { SAID_MAX = 24 }; /* things said in one move; the most talkative says a dozen */

/* --- folding: what does not count is taken away --- */

/* Base letters of U+00C0 to U+00FF. */
static const char latin[] = "aaaaaaaceeeeiiiidnooooo*ouuuuypsaaaaaaaceeeeiiiidnooooo*ouuuuypy";

static uint32_t base(uint32_t point) {
    point = token_lower(token_plain(point));
    if (point >= 0xc0 && point <= 0xff)
        return (uint32_t)latin[point - 0xc0];
    if (point == 0x451) /* ё */
        return 0x435;
    bool counts = token_letter(point) || token_digit(point) || point > FIGURINE;
    return counts ? point : point == 0 ? 0 : ' ';
}

/* Whether `point` behind `before` counts: not the second of two, nor the e of "ae", "oe", "ue". */
static bool counts(uint32_t before, uint32_t point) {
    if (point == 0 || (point == before && !token_digit(point)))
        return false;
    return point != 'e' || (before != 'a' && before != 'o' && before != 'u');
}

static void fold(const Token *token, Token *ret) {
    uint32_t before = ' ';
    ret->length = 0;
    for (int i = 0; i < token->length; i++) {
        uint32_t point = base(token->points[i]);
        if (counts(before, point))
            ret->points[ret->length++] = before = point;
    }
    token_trim(ret);
}

/* --- finding words --- */

static bool word_ends(uint32_t point) {
    return point == 0 || point == ' ' || token_digit(point);
}

/* The length in folded points of one way of saying it (`length` bytes) if the text begins with it, else 0. */
static int begins_with(const uint32_t *at, const char *way, size_t length) {
    uint32_t before = ' ';
    int count = 0;
    for (size_t i = 0; i < length;) {
        uint32_t point;
        int size = utf8_next(way + i, length - i, &point);
        if (size == 0)
            return 0;
        i += (size_t)size;
        point = base(point);
        if (!counts(before, point))
            continue;
        if (at[count] != point)
            return 0;
        before = point;
        count++;
    }
    return word_ends(at[count]) ? count : 0;
}

static int longest_way(const uint32_t *at, const char *entry) {
    int longest = 0;
    while (entry != NULL && *entry != 0) {
        size_t length = strcspn(entry, "|");
        int found = begins_with(at, entry, length);
        longest = found > longest ? found : longest;
        entry += length + (entry[length] == '|');
    }
    return longest;
}

/* Takes an entry that fits better than what was found before. */
static void try_entry(const uint32_t *at, const char *entry, Said said, int *length, Said *ret) {
    int found = longest_way(at, entry);
    if (found <= *length)
        return;
    *length = found;
    *ret = said;
}

/* The longest words that the text begins with; their length, 0 if none. */
static int find_words(const uint32_t *at, const SpokenWords *words, Said *ret) {
    const struct { const char *entry; Said said; } single[] = {
        { words->castling[0], { SAY_CASTLING, 0, true } }, { words->castling[1], { SAY_CASTLING, 1, true } },
        { words->from, { SAY_NOTHING, 0, false } },        { words->to, { SAY_TO, 0, true } },
        { words->takes, { SAY_TAKES, 0, true } },          { words->becomes, { SAY_BECOMES, 0, true } },
        { words->en_passant, { SAY_NOTHING, 0, false } },  { words->check, { SAY_CHECK, 0, false } },
        { words->mate, { SAY_CHECK, 0, false } },          { words->idle, { SAY_NOTHING, 0, false } },
        { "x", { SAY_TAKES, 0, false } },
    };
    int length = 0;
    for (int i = 0; i < 8; i++) {
        try_entry(at, words->files[i], (Said){ SAY_FILE, i, true }, &length, ret);
        try_entry(at, words->ranks[i], (Said){ SAY_RANK, i, true }, &length, ret);
    }
    for (int kind = PAWN; kind < KIND_COUNT; kind++)
        try_entry(at, words->men[kind], (Said){ SAY_MAN, kind, true }, &length, ret);
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++)
        try_entry(at, single[i].entry, single[i].said, &length, ret);
    return length;
}

static bool rank_digit(uint32_t point) {
    return point >= '1' && point <= '8';
}

static bool file_letter(uint32_t point) {
    return point >= 'a' && point <= 'h';
}

/* Whether the text begins with a file's letter: a word of its own, or with its digit behind it. */
static bool letter_stands(const uint32_t *at) {
    return file_letter(*at) && (at[1] == 0 || at[1] == ' ' || rank_digit(at[1]));
}

static bool rank_follows(const uint32_t *at, const SpokenWords *words) {
    at += *at == ' ';
    Said next;
    return rank_digit(*at) || (find_words(at, words, &next) > 0 && next.saying == SAY_RANK);
}

/* One thing said at *at, which moves behind it. False if it is no word that is known. */
static bool take(const uint32_t **at, const SpokenWords *words, Said *ret) {
    while (**at == ' ')
        ++*at;
    uint32_t point = **at;
    if (rank_digit(point)) {
        *ret = (Said){ SAY_RANK, (int)(point - '1'), false };
        return !token_digit(*++*at);
    }
    if (point > FIGURINE && point < FIGURINE + KIND_COUNT) {
        *ret = (Said){ SAY_MAN, (int)(point - FIGURINE), false };
        ++*at;
        return true;
    }
    /* "a" is a word in some languages: before a rank it is the file. */
    bool letter = letter_stands(*at);
    int length = letter && rank_follows(*at + 1, words) ? 0 : find_words(*at, words, ret);
    if (length == 0 && letter) {
        *ret = (Said){ SAY_FILE, (int)(point - 'a'), false };
        length = 1;
    }
    *at += length;
    return length > 0;
}

/* All that is said; -1 if a word is not known or there are too many. */
static int take_all(const Token *folded, const SpokenWords *words, Said said[SAID_MAX]) {
    const uint32_t *at = folded->points;
    int count = 0;
    while (*at != 0) {
        bool crossed = *at == 'x' && file_letter(at[1]) && rank_digit(at[2]); /* e4xd5 */
        if (count == SAID_MAX || (!crossed && !take(&at, words, &said[count])))
            return -1;
        if (crossed) {
            said[count] = (Said){ SAY_TAKES, 0, false };
            at++;
        }
        count++;
    }
    return count;
}

/* --- what was said together --- */

typedef struct Sentence {
    int files[2], ranks[2]; /* of the first and the second square, -1 not said */
    int square;             /* which of them is being said */
    bool becomes, wrong;
} Sentence;

static bool begun(const Sentence *sentence, int square) {
    return sentence->files[square] >= 0 || sentence->ranks[square] >= 0;
}

static void next_square(Sentence *sentence) {
    if (sentence->square == 1)
        sentence->wrong = true;
    else
        sentence->square = 1;
}

static void hear_square(Sentence *sentence, const Said *said) {
    bool file = said->saying == SAY_FILE;
    if (begun(sentence, sentence->square) && (file || sentence->ranks[sentence->square] >= 0))
        next_square(sentence);
    int *part = file ? &sentence->files[sentence->square] : &sentence->ranks[sentence->square];
    *part = said->value;
}

/* A man before all squares moves, one behind "takes" is taken, one behind the last square is what the pawn becomes. */
static void hear_man(Sentence *sentence, int kind, Shape *shape) {
    bool square_said = begun(sentence, sentence->square);
    if (sentence->becomes || (square_said && sentence->ranks[sentence->square] >= 0)) {
        sentence->wrong |= shape->promotion != EMPTY || !square_said;
        shape->promoting = true;
        shape->promotion = kind;
    } else if (shape->capture && !square_said) {
        sentence->wrong |= shape->captured != EMPTY;
        shape->captured = kind;
    } else {
        sentence->wrong |= shape->man != EMPTY || begun(sentence, 0);
        shape->man = kind;
    }
}

static void hear(Sentence *sentence, const Said *said, Shape *shape) {
    switch (said->saying) {
    case SAY_FILE:
    case SAY_RANK:
        sentence->wrong |= sentence->becomes || shape->promotion != EMPTY;
        hear_square(sentence, said);
        break;
    case SAY_MAN: hear_man(sentence, said->value, shape); break;
    case SAY_TAKES:
        sentence->wrong |= shape->capture;
        shape->capture = true;
        if (begun(sentence, 0))
            next_square(sentence);
        break;
    case SAY_TO:
        if (begun(sentence, 0) && sentence->square == 0)
            next_square(sentence);
        break;
    case SAY_BECOMES:
        sentence->wrong |= sentence->becomes;
        sentence->becomes = shape->promoting = true;
        break;
    case SAY_CHECK: shape->check = true; break;
    case SAY_CASTLING: sentence->wrong = true; break;
    case SAY_NOTHING: break;
    }
}

static bool spoken_castling(const Said said[], int count, Shape *ret) {
    if (said[0].saying != SAY_CASTLING)
        return false;
    for (int i = 1; i < count; i++)
        if (said[i].saying != SAY_CHECK && said[i].saying != SAY_NOTHING)
            return false;
    ret->kind = SHAPE_CASTLING;
    ret->king_side = said[0].value != 0;
    ret->check = count > 1 && said[count - 1].saying == SAY_CHECK;
    return true;
}

/* A square in full as the last one; before it nothing, a part or another one. */
static bool spoken_man(const Sentence *sentence, Shape *ret) {
    int last = sentence->square;
    bool last_rank = sentence->ranks[last] == 0 || sentence->ranks[last] == 7;
    bool odd = ret->promoting && (ret->man > PAWN || (!last_rank && !sentence->becomes)); /* "king e4 knight", "f three knight" */
    if (sentence->files[last] < 0 || sentence->ranks[last] < 0 || sentence->wrong || odd)
        return false;
    ret->kind = SHAPE_MAN;
    ret->to_file = sentence->files[last];
    ret->to_rank = sentence->ranks[last];
    if (last == 1) {
        ret->from_file = sentence->files[0];
        ret->from_rank = sentence->ranks[0];
    }
    if (ret->man != EMPTY)
        return true;
    bool both = ret->from_file >= 0 && ret->from_rank >= 0;
    int apart = ret->from_file - ret->to_file;
    ret->man = both ? EMPTY : PAWN;
    return both || last == 0 || (ret->from_file >= 0 && (ret->capture || apart == 1 || apart == -1));
}

bool spoken_read(const Token *token, const SpokenWords *words, Shape *ret) {
    Token folded;
    Said said[SAID_MAX];
    fold(token, &folded);
    int count = take_all(&folded, words, said);
    bool worded = false;
    for (int i = 0; i < count; i++)
        worded |= said[i].word;
    if (!worded)
        return false;
    *ret = shape_blank;
    ret->notation = NOTATION_SPOKEN;
    if (spoken_castling(said, count, ret))
        return true;
    Sentence sentence = { .files = { -1, -1 }, .ranks = { -1, -1 } };
    for (int i = 0; i < count; i++)
        hear(&sentence, &said[i], ret);
    return spoken_man(&sentence, ret);
}

const char *spoken_first(const char *entry, size_t *ret_length) {
    *ret_length = entry == NULL ? 0 : strcspn(entry, "|");
    return entry == NULL ? "" : entry;
}
