#include "daemon/inbox/command_near.h"

#include "core/notation/notation.h"

#include <string.h>

enum {
    COMPACT_MAX = 12,    /* letters and digits of a line that is nothing but a broken move, or two of them */
    NAMED_WORDS_MAX = 6, /* "my knight takes on f 3" */
    BOARD_WORDS = 8,     /* a board's rank has as many squares */
    TAIL_WORDS_MAX = 3,  /* "PS: d4"; longer lines that end in a move are sentences */
    COLON_WORDS_MAX = 6, /* "and in game one: d4" */
};

static bool is_digit(char byte) {
    return byte >= '0' && byte <= '9';
}

static bool is_letter(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool is_file(char byte) {
    return (byte >= 'a' && byte <= 'h') || (byte >= 'A' && byte <= 'H');
}

/* --- a line of chess characters only --- */

/* Its letters and digits; what stood between them. */
typedef struct Compact {
    char text[COMPACT_MAX + 1];
    size_t length;
    int groups[COMPACT_MAX]; /* lengths of the runs of letters and digits */
    int group_count;
    bool spaced;  /* a blank or a dash stood between them */
    bool pointed; /* a point, colon, comma or slash did, as in dates, times and prices */
} Compact;

/* A character of several bytes that may stand between the parts of a move, or is a piece: its length; 0 for any other. */
static size_t chess_sign(const char *at, char *ret_as) {
    *ret_as = '-';
    if (strncmp(at, "\xe2\x80", 2) == 0 && (unsigned char)at[2] >= 0x90 && (unsigned char)at[2] <= 0x95)
        return 3; /* dashes */
    if (strncmp(at, "\xe2\x80\xa6", 3) == 0 || strncmp(at, "\xe2\x88\x92", 3) == 0 || strncmp(at, "\xe2\x86\x92", 3) == 0)
        return 3; /* ellipsis, minus, arrow */
    if (strncmp(at, "\xc3\x97", 2) == 0)
        return 2; /* times sign */
    if (strncmp(at, "\xe2\x99", 2) == 0 && (unsigned char)at[2] >= 0x94 && (unsigned char)at[2] <= 0x9f) {
        *ret_as = 'N'; /* figurines */
        return 3;
    }
    return 0;
}

static bool compact_read(const char *line, Compact *ret_compact) {
    *ret_compact = (Compact){ 0 };
    Compact *compact = ret_compact;
    bool gap = true;
    for (const char *at = line; *at != 0;) {
        size_t size = 1;
        char byte = *at;
        if ((unsigned char)byte >= 0x80 && (size = chess_sign(at, &byte)) == 0)
            return false;
        at += size;
        if (!is_letter(byte) && !is_digit(byte)) {
            compact->spaced |= byte == ' ' || byte == '-';
            compact->pointed |= strchr(".:,/", byte) != NULL;
            gap = true;
            continue;
        }
        if (compact->length == COMPACT_MAX)
            return false;
        if (gap)
            compact->groups[compact->group_count++] = 0;
        compact->groups[compact->group_count - 1]++;
        gap = false;
        compact->text[compact->length++] = byte;
    }
    return compact->length > 0;
}

/* "10h30" */
static bool clock_time(const Compact *compact) {
    const char *text = compact->text;
    size_t hours = strspn(text, "0123456789");
    return hours >= 1 && hours <= 2 && (text[hours] == 'h' || text[hours] == 'H') && is_digit(text[hours + 1]) && is_digit(text[hours + 2]) &&
           text[hours + 3] == 0;
}

/* No run of letters that is a word, none of digits that is a year. */
static bool short_runs(const Compact *compact) {
    size_t at = 0;
    for (int group = 0; group < compact->group_count; group++) {
        size_t end = at + (size_t)compact->groups[group], letters = 0, digits = 0;
        bool takes = false;
        for (; at < end; at++) {
            char byte = compact->text[at];
            letters = is_letter(byte) ? letters + 1 : 0;
            digits = is_digit(byte) ? digits + 1 : 0;
            takes = letters > 0 && (takes || byte == 'x' || byte == 'X');
            bool piece = letters == 3 && at + 1 < end && is_digit(compact->text[at + 1]) && strchr("KQRBN", compact->text[at - 2]) != NULL; /* "Nbd77" */
            if (digits > 3 || (letters > 2 && !takes && !piece && !strchr("xX", compact->text[at + 1])))
                return false;
        }
    }
    return true;
}

/* "N f 9", "e-4", "Ke2/Nf3", "d44", "i4", "p-k4": a file before a digit, and no letter that moves are not written with. */
static bool broken_square(const Compact *compact) {
    static const char letters[] = "abcdefghABCDEFGHKQRBNPkqrnpOoxXSDTLJCV";
    const char *text = compact->text;
    if (is_letter(text[0]) && compact->length <= 3 && compact->length >= 2 && compact->group_count == 1 && strspn(text + 1, "0123456789") == compact->length - 1)
        return true;
    bool square = false;
    for (size_t i = 0; i < compact->length; i++) {
        if (is_letter(text[i]) && strchr(letters, text[i]) == NULL)
            return false;
        bool descriptive = i > 0 && is_letter(text[i - 1]) && strchr("KQRNkqrn", text[i]) != NULL;
        square |= is_digit(text[i + 1]) && (is_file(text[i]) || descriptive);
    }
    return square && short_runs(compact) && !clock_time(compact);
}

/* "e=Q", "e8 = = Q": a promotion in pieces is caught by its square, this one by its sign. */
static bool broken_promotion(const char *line) {
    return is_file(line[0]) && line[1] == '=' && is_letter(line[2]) && line[3] == 0;
}

/* "51 52", "52-54", "5 2 5 4" */
static bool broken_numeric(const Compact *compact) {
    if ((compact->length != 4 && compact->length != 5) || !compact->spaced || compact->pointed || strspn(compact->text, "12345678") != compact->length)
        return false;
    int first = compact->groups[0], second = compact->group_count > 1 ? compact->groups[1] : 0;
    return (first == 2 && second == 2) || (first == 4 && second == 1) || (first == 1 && second == 1 && compact->group_count >= 4);
}

/* "0-0-0-0", "o-oo", "oo" */
static bool broken_castling(const Compact *compact) {
    if (compact->length < 2 || compact->pointed || strspn(compact->text, "0oO") != compact->length)
        return false;
    bool same = true;
    for (size_t i = 1; i < compact->length; i++)
        same &= compact->text[i] == compact->text[0];
    return compact->spaced || (same && compact->length <= 3);
}

/* "1." "12 ..." "12…" */
static bool number_alone(const char *line) {
    size_t digits = strspn(line, "0123456789");
    if (digits == 0 || digits > 3)
        return false;
    const char *at = line + digits;
    for (bool dots = false;; dots = true) {
        at += strspn(at, " ");
        if (*at == 0)
            return dots;
        if (*at != '.' && strncmp(at, "\xe2\x80\xa6", 3) != 0)
            return false;
        at += *at == '.' ? 1 : 3;
    }
}

/* --- words --- */

static bool square_in(const char *bare) {
    for (const char *at = bare; *at != 0; at++)
        if (at[0] >= 'a' && at[0] <= 'h' && is_digit(at[1]) && !is_digit(at[2]) && (at == bare || !is_digit(at[-1])))
            return true;
    return false;
}

/* "King e2", "king to e2", "knight takes on f 3", "e5 takes d6": pieces, squares and what joins them. */
static bool named_move(const Words *words) {
    static const char pieces[] = " king queen rook bishop knight pawn castle horse kings queens rooks bishops knights pawns king's queen's "
                                 "k\xc3\xb6nig koenig dame turm l\xc3\xa4ufer laeufer springer bauer roi reine tour fou cavalier pion rey reina torre alfil caballo peon ";
    static const char joiners[] = " to takes take taking captures capture capturing on at from x by goes go moves move with check mate promotes = - then nach "
                                  "schl\xc3\xa4gt schlaegt auf prend en vers a toma come por captura pxp ";
    if (words->count > NAMED_WORDS_MAX)
        return false;
    bool piece = false, square = false, parts = false;
    for (size_t i = 0; i < words->count; i++) {
        const char *bare = words->bare[i];
        size_t length = strlen(bare);
        bool part = length == 1 && ((bare[0] >= 'a' && bare[0] <= 'h') || is_digit(bare[0]));
        bool named = words_in(pieces, bare);
        bool place = square_in(bare) && length <= 6;
        if (!part && !named && !place && !words_in(joiners, bare) && !words_filler(bare))
            return false;
        piece |= named;
        square |= place;
        parts |= part && i + 1 < words->count && !is_digit(bare[0]) && is_digit(words->bare[i + 1][0]) && words->bare[i + 1][1] == 0;
    }
    return square || (piece && parts);
}

/* "I castle", "short castling", "castle kingside" */
static bool named_castling(const Words *words) {
    static const char castles[] = " castle castles castled castling rochade rochiere roque enroque ";
    static const char sides[] = " king queen side kingside queenside king-side queen-side king's queen's short long left right kurze lange kurz lang now ";
    bool castling = false;
    for (size_t i = 0; i < words->count && words->count <= NAMED_WORDS_MAX; i++) {
        bool castle = words_in(castles, words->bare[i]);
        if (!castle && !words_in(sides, words->bare[i]) && !words_filler(words->bare[i]))
            return false;
        castling |= castle;
    }
    return castling;
}

/* Has the look of a whole move: shaped like one, with a digit or castling. */
static bool whole_move(const char *text, bool numbers) {
    const char *rest;
    int number;
    bool black;
    bool digits = strspn(text, "0123456789") == strlen(text), castling = strpbrk(text, "oO0") != NULL && strchr(text, '-') != NULL;
    if ((digits && !numbers) || (!castling && strpbrk(text, "123456789") == NULL))
        return false;
    return notation_shaped(text) || (!digits && notation_number(text, &rest, &number, &black) && notation_shaped(rest));
}

/* "#1: d4", "game one: d4", "PS: d4", "perhaps d4" */
static bool move_at_end(const char *line, const Words *words) {
    if (words->count == 0 || words->count > COLON_WORDS_MAX)
        return false;
    const char *last = line + words->offset[words->count - 1];
    last += strspn(last, "\"'([{<>-=#*~");
    for (const char *at = last; (at = strpbrk(at, ":;,/|>")) != NULL;)
        if (whole_move(++at, false))
            return true; /* "PS:d4" */
    const char *before = words->count > 1 ? words->word[words->count - 2] : "";
    bool colon = *before != 0 && strchr(":;", before[strlen(before) - 1]) != NULL;
    if (words->asking && !colon)
        return false; /* "Why not Nf3?" */
    return (colon || (words->count > 1 && words->count <= TAIL_WORDS_MAX)) && whole_move(last, colon);
}

bool near_move(const char *line, const Words *words) {
    Compact compact;
    if (number_alone(line) || broken_promotion(line))
        return true;
    bool rank = words->count >= BOARD_WORDS || strstr(line, ".....") != NULL; /* of a board */
    if (!rank && compact_read(line, &compact) && (broken_square(&compact) || broken_numeric(&compact) || broken_castling(&compact)))
        return true;
    return !words->more && (named_move(words) || named_castling(words) || move_at_end(line, words));
}
