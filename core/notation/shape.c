#include "core/notation/shape.h"

#include "core/base/utf8.h"
#include "core/notation/spoken.h"
#include "core/notation/token.h"

#include <string.h>

const Shape shape_blank = { .from_file = -1, .from_rank = -1, .to_file = -1, .to_rank = -1, .castling_rook = NO_SQUARE };

/* --- marks behind a move --- */

static bool ends_with(const Token *token, const char *word) {
    int length = (int)strlen(word);
    if (length >= token->length)
        return false;
    for (int i = 0; i < length; i++)
        if (token_lower(token->points[token->length - length + i]) != (uint32_t)word[i])
            return false;
    return true;
}

/* Takes a numeric annotation glyph ($1) off. */
static bool strip_nag(Token *token) {
    int at = token->length;
    while (at > 0 && token_digit(token->points[at - 1]))
        at--;
    if (at == token->length || at == 0 || token->points[at - 1] != '$')
        return false;
    token->length = at - 1;
    token_trim(token);
    return true;
}

/* Words end in these letters too (Keep, Nach): a mark stands behind a digit, a blank or a capital. */
static bool mark_possible(const Token *token, int length) {
    uint32_t before = token->points[length - 1];
    if (before == ' ' || (before >= 'A' && before <= 'Z'))
        return true;
    for (int i = 0; i < length; i++)
        if (token_digit(token->points[i]))
            return true;
    return false;
}

static bool strip_word(Token *token, bool *ret_check) {
    static const struct { const char *word; bool check; } words[] = {
        { "checkmate", true }, { "check", true }, { "ch", true },   { "mate", true },       { "matt", true },
        { "schach", true },    { "(ep)", false }, { "(e.p", false }, { "en passant", false }, { "e.p", false },
        { "ep", false },       { "(e.p.)", false },
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        int length = token->length - (int)strlen(words[i].word);
        if (!ends_with(token, words[i].word) || !mark_possible(token, length))
            continue;
        token->length = length;
        *ret_check |= words[i].check;
        token_trim(token);
        return true;
    }
    return false;
}

static bool strip_sign(Token *token, bool *ret_check) {
    uint32_t last = token->length > 0 ? token->points[token->length - 1] : 0;
    if (last == 0 || last > 0x7f || strchr("+#!?.,;", (int)last) == NULL)
        return false;
    *ret_check |= last == '+' || last == '#';
    token->length--;
    token_trim(token);
    return true;
}

static void strip_marks(Token *token, bool *ret_check) {
    while (strip_sign(token, ret_check) || strip_nag(token) || strip_word(token, ret_check))
        continue;
}

/* --- parts of a move --- */

typedef struct Cursor {
    const uint32_t *at;
    const MoveLanguage *language;
} Cursor;

static void skip_blank(Cursor *cursor) {
    if (*cursor->at == ' ')
        cursor->at++;
}

/* Length of `name` (a piece letter or several, UTF-8) if the text begins with it, else 0. Case counts in the first letter
 * alone, and not there if `any_case`. */
static int begins_with(const uint32_t *at, const char *name, bool any_case) {
    int count = 0;
    for (size_t i = 0, length = strlen(name); i < length;) {
        uint32_t point;
        int size = utf8_next(name + i, length - i, &point);
        bool fits = size > 0 && (at[count] == point || ((any_case || count > 0) && token_lower(at[count]) == token_lower(point)));
        if (!fits)
            return 0;
        i += (size_t)size;
        count++;
    }
    return count;
}

/* The piece named here, the longest name that fits; EMPTY if none. */
static int take_piece(Cursor *cursor, bool any_case) {
    if (*cursor->at > FIGURINE && *cursor->at < FIGURINE + KIND_COUNT)
        return (int)(*cursor->at++ - FIGURINE);
    int best = 0, found = EMPTY;
    for (int kind = PAWN; kind < KIND_COUNT; kind++) {
        const char *name = cursor->language->letters[kind];
        int length = name == NULL ? 0 : begins_with(cursor->at, name, any_case);
        if (length > best) {
            best = length;
            found = kind;
        }
    }
    cursor->at += best;
    return found;
}

static int file_of(uint32_t point) {
    uint32_t small = token_lower(point);
    return small >= 'a' && small <= 'h' ? (int)(small - 'a') : -1;
}

/* A file, a rank, or both together. Off the board: i–z where `any_file`, rank 0 or 9. */
typedef struct Part {
    int file, rank; /* -1 not given */
    bool bad;
} Part;

static Part take_part(Cursor *cursor, bool any_file) {
    Part part = { -1, -1, false };
    uint32_t first = token_lower(cursor->at[0]);
    bool off_board = any_file && first >= 'i' && first <= 'z' && first != 'x' && token_digit(cursor->at[1]);
    if (file_of(first) >= 0 || off_board) {
        part.file = off_board ? 0 : file_of(first);
        part.bad = off_board;
        cursor->at++;
    }
    if (token_digit(*cursor->at)) {
        part.rank = (int)*cursor->at++ - '1';
        if (part.rank < 0 || part.rank > 7) {
            part.bad = true;
            part.rank = 0;
        }
    }
    return part;
}

static bool whole(Part part) {
    return part.file >= 0 && part.rank >= 0;
}

static bool none(Part part) {
    return part.file < 0 && part.rank < 0;
}

/* A dash or a capture sign; 0 if there is neither. */
static uint32_t take_separator(Cursor *cursor) {
    skip_blank(cursor);
    uint32_t separator = *cursor->at;
    if (separator != '-' && separator != 'x')
        return 0;
    cursor->at++;
    skip_blank(cursor);
    return separator;
}

/* "=Q" "(Q)" "(=Q)" "/Q" "Q" and nothing behind. True if there is none, or a well-formed one. */
static bool take_promotion(Cursor *cursor, Shape *shape) {
    skip_blank(cursor);
    if (*cursor->at == 0)
        return true;
    bool last_rank = shape->to_rank == 0 || shape->to_rank == 7;
    bool bracket = *cursor->at == '(';
    cursor->at += bracket;
    bool sign = *cursor->at == '=' || (!bracket && *cursor->at == '/');
    cursor->at += sign;
    skip_blank(cursor);
    shape->promoting = true;
    if (*cursor->at == 0 && sign) /* "e8=" */
        return true;
    bool small = *cursor->at >= 'a' && *cursor->at <= 'z';
    shape->promotion = take_piece(cursor, true);
    if (shape->promotion == EMPTY) {
        /* A small letter alone is rather a word than a piece. */
        if (!token_letter(*cursor->at) || (!sign && !bracket && (small || !last_rank)))
            return false;
        shape->promotion = PROMOTION_UNKNOWN;
        cursor->at++;
    }
    if (bracket && *cursor->at++ != ')')
        return false;
    return *cursor->at == 0 && (last_rank || sign || bracket || shape->from_rank >= 0);
}

/* --- the ways of writing --- */

static bool read_castling(const Token *token, Shape *ret) {
    int count = 0;
    bool dash = true, small = false, dashes = true;
    for (int i = 0; i < token->length; i++) {
        uint32_t point = token->points[i];
        if (point == ' ')
            continue;
        if (point == '-') {
            if (dash)
                return false;
            dash = true;
            continue;
        }
        if (point != '0' && point != 'O' && point != 'o')
            return false;
        dashes &= dash;
        small |= point == 'o';
        dash = false;
        count++;
    }
    if (dash || (count != 2 && count != 3) || (small && !dashes))
        return false;
    ret->kind = SHAPE_CASTLING;
    ret->king_side = count == 2;
    return true;
}

static bool read_numeric(const Token *token, Shape *ret) {
    static const int promotions[] = { QUEEN, ROOK, BISHOP, KNIGHT };
    if (token->length != 4 && token->length != 5)
        return false;
    int digits[5];
    for (int i = 0; i < token->length; i++) {
        if (token->points[i] < '1' || token->points[i] > '8')
            return false;
        digits[i] = (int)token->points[i] - '1';
    }
    ret->kind = SHAPE_MAN;
    ret->notation = NOTATION_NUMERIC;
    ret->from_file = digits[0];
    ret->from_rank = digits[1];
    ret->to_file = digits[2];
    ret->to_rank = digits[3];
    ret->promoting = token->length == 5;
    if (ret->promoting)
        ret->promotion = digits[4] < 4 ? promotions[digits[4]] : PROMOTION_UNKNOWN;
    return true;
}

/* One to three descriptive names (Q, KB, QKtP …). */
static int take_descriptive(const uint32_t **at, const char *names) {
    int count = 0;
    while (count < 3 && **at != 0 && **at < 0x80 && strchr(names, (int)**at) != NULL) {
        *at += **at == 'K' && (*at)[1] == 't' ? 2 : 1;
        count++;
    }
    return count;
}

/* Descriptive notation as books in English had it: P-K4, N-KB3, QPxP, R-K8ch, P-Q8(Q). */
static bool read_descriptive(const Token *token) {
    const uint32_t *at = token->points;
    if (take_descriptive(&at, "KQRBNP") == 0)
        return false;
    uint32_t separator = *at++;
    if (separator == 'x')
        return take_descriptive(&at, "KQRBNP") > 0 && *at == 0;
    if (separator != '-' || take_descriptive(&at, "KQRBN") == 0 || *at < '1' || *at > '8')
        return false;
    at++;
    if (*at == '=' && at[1] != 0)
        at += 2;
    else if (*at == '(' && at[1] != 0 && at[2] == ')')
        at += 3;
    return *at == 0;
}

static void set_target(Shape *shape, Part part) {
    shape->to_file = part.file;
    shape->to_rank = part.rank;
}

/* Behind a piece letter: f3, bd2, 1f3, g1-f3, xf3, and what is cut short. */
static bool read_piece_rest(Cursor *cursor, bool capital, Shape *shape) {
    skip_blank(cursor);
    Part first = take_part(cursor, capital);
    const uint32_t *behind_first = cursor->at;
    uint32_t separator = take_separator(cursor);
    bool small_letter = *cursor->at >= 'a';
    Part second = take_part(cursor, capital);
    if (none(second) && separator == 0)
        cursor->at = behind_first;
    if (first.bad && !whole(first))
        return false;
    shape->capture = separator == 'x';
    shape->bad_square = first.bad || second.bad;
    if (whole(second)) {
        shape->from_file = first.file;
        shape->from_rank = first.rank;
        set_target(shape, second);
        return true;
    }
    if (whole(first) && none(second) && separator == 0) {
        set_target(shape, first);
        return true;
    }
    /* Cut short: Nf, Nxf, N3, Ng1-. Other pieces of words ("Bad", "Rex") are not. */
    bool ended = *cursor->at == 0 && capital && !shape->bad_square;
    bool lone_file = none(first) && second.file >= 0 && small_letter;
    bool lone_first = !none(first) && !whole(first) && none(second) && separator == 0
        && !(first.file >= 0 && behind_first[-1] < 'a');
    bool no_target = whole(first) && none(second) && separator == '-';
    shape->incomplete = ended && (lone_file || lone_first || no_target);
    return shape->incomplete;
}

/* Without a piece letter: e4, exd5, ed5, xd5, exd, e2e4, e2-e4. */
static bool read_pawn_rest(Cursor *cursor, Shape *shape) {
    Part first = take_part(cursor, false);
    const uint32_t *behind_first = cursor->at;
    uint32_t separator = take_separator(cursor);
    if (separator == 0 && *behind_first == ' ' && !whole(first))
        return false; /* "a b4" is no capture */
    Part second = take_part(cursor, whole(first));
    /* The letter behind a last square is a promotion, not a file: e8b, e7e8b go on below. */
    if (separator == 0 && !whole(second)) {
        cursor->at = behind_first;
        second = (Part){ -1, -1, false };
    }
    shape->man = PAWN;
    shape->capture = separator == 'x';
    shape->bad_square = first.bad || second.bad;
    if (first.file < 0 && (first.rank >= 0 || separator != 'x'))
        return false;
    if (whole(second)) {
        shape->from_file = first.file;
        shape->from_rank = first.rank;
        set_target(shape, second);
        if (whole(first))
            shape->man = EMPTY;
        int apart = first.file < 0 ? 1 : first.file - second.file;
        return whole(first) || separator == 'x' || (separator == 0 && (apart == 1 || apart == -1));
    }
    if (whole(first) && none(second)) {
        shape->incomplete = separator == '-' && *cursor->at == 0;
        set_target(shape, first);
        return separator == 0 || shape->incomplete;
    }
    shape->from_file = first.file;
    set_target(shape, second);
    int apart = first.file - second.file;
    return separator == 'x' && first.file >= 0 && first.rank < 0 && second.file >= 0 && second.rank < 0
        && (apart == 1 || apart == -1) && *cursor->at == 0; /* exd, but "axe" is a word */
}

static bool read_man(Cursor cursor, int man, bool capital, Shape *ret) {
    *ret = shape_blank;
    ret->kind = SHAPE_MAN;
    if (man == EMPTY && !read_pawn_rest(&cursor, ret))
        return false;
    if (man != EMPTY && !read_piece_rest(&cursor, capital, ret))
        return false;
    if (man != EMPTY)
        ret->man = man;
    if (!take_promotion(&cursor, ret))
        return false;
    if (ret->from_file >= 0 && ret->from_rank >= 0)
        ret->notation = man == EMPTY ? NOTATION_UCI : NOTATION_LONG;
    return true;
}

/* A small letter that is also a file (b; d in German) names a piece only where no pawn of that file could be meant: bb5, but
 * not bc5. */
static bool small_names_piece(uint32_t first, const Shape *shape) {
    if (file_of(first) < 0)
        return true;
    int apart = shape->to_file - file_of(first);
    return apart != 1 && apart != -1;
}

static bool figurine(uint32_t point) {
    return point > FIGURINE && point < FIGURINE + KIND_COUNT;
}

/* Some other language's letter, perhaps, of which no language here has a longer one: Sf3, Крe2. */
static bool read_foreign(const Token *token, Shape *ret) {
    Cursor cursor = { token->points + 1, language_english() };
    size_t count;
    const MoveLanguage *languages = language_table(&count);
    for (size_t i = 0; i < count; i++) {
        Cursor other = { token->points, &languages[i] };
        if (take_piece(&other, false) != EMPTY && other.at > cursor.at)
            cursor.at = other.at;
    }
    if (!read_man(cursor, KING, false, ret) || ret->bad_square || ret->incomplete)
        return false;
    ret->man = EMPTY;
    ret->unknown_letter = true;
    return true;
}

static bool read_men(const Token *token, const MoveLanguage *language, unsigned flags, Shape *ret) {
    Cursor cursor = { token->points, language };
    uint32_t first = token->points[0];
    bool may_be_file = file_of(first) >= 0;
    bool small = token_small(first);
    bool file_only = may_be_file && ((flags & SHAPE_LOWER_FIRST) || (small && token_digit(token->points[1])));
    if (!file_only && first != 'x') {
        int man = take_piece(&cursor, small);
        /* "b e4" is no move: a small letter needs its square right behind it. */
        bool apart = small && *cursor.at == ' ';
        if (man != EMPTY && !apart && read_man(cursor, man, !small, ret)
            && (!small || (!ret->bad_square && small_names_piece(first, ret)))) {
            Shape pawn; /* "B4" is rather a pawn's move than half a bishop's */
            cursor.at = token->points;
            if (ret->incomplete && may_be_file && read_man(cursor, EMPTY, false, &pawn))
                *ret = pawn;
            else if (figurine(first) && ret->notation == NOTATION_SAN)
                ret->notation = NOTATION_FIGURINE;
            return true;
        }
    }
    cursor.at = token->points;
    if ((may_be_file || first == 'x') && read_man(cursor, EMPTY, false, ret))
        return true;
    bool capital = token_letter(first) && !small;
    if (!capital || token->points[1] == ' ' || (may_be_file && token_digit(token->points[1])))
        return false;
    return read_foreign(token, ret);
}

/* Letters and digits, their marks taken off. */
static bool read_written(const Token *token, const MoveLanguage *language, unsigned flags, Shape *ret) {
    if (read_castling(token, ret) || read_numeric(token, ret))
        return true;
    if (read_descriptive(token)) {
        ret->kind = SHAPE_DESCRIPTIVE;
        return true;
    }
    if (read_men(token, language, flags, ret))
        return true;
    *ret = shape_blank;
    return false;
}

static bool read_spoken(const Token *token, const MoveLanguage *language, Shape *ret) {
    const SpokenWords *law_e = language_law_e(), *own = language->spoken;
    if ((own != NULL && own != law_e && spoken_read(token, own, ret)) || spoken_read(token, law_e, ret))
        return true;
    *ret = shape_blank;
    return false;
}

void shape_read(const char *text, const MoveLanguage *language, unsigned flags, Shape *ret) {
    *ret = shape_blank;
    Token whole, token;
    bool check = false;
    if (!token_read(text, &whole))
        return;
    token = whole;
    strip_marks(&token, &check);
    if (token.length == 0)
        return;
    if (read_written(&token, language, flags, ret))
        ret->check = check;
    else if (flags & SHAPE_SPOKEN)
        read_spoken(&whole, language, ret);
}
