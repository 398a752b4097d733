#include "core/notation/notation.h"

#include <string.h>

/* --- move numbers --- */

static size_t blank_length(const char *text) {
    if (*text == ' ' || *text == '\t' || *text == '\r' || *text == '\n')
        return 1;
    return strncmp(text, "\xc2\xa0", 2) == 0 ? 2 : 0;
}

static const char *skip_blanks(const char *text) {
    for (size_t length; (length = blank_length(text)) > 0;)
        text += length;
    return text;
}

/* Dots with blanks between them; an ellipsis counts as three. */
static const char *skip_dots(const char *text, int *ret_dots) {
    const char *behind = text;
    for (;;) {
        const char *next = skip_blanks(behind);
        if (*next == '.')
            *ret_dots += 1;
        else if (strncmp(next, "\xe2\x80\xa6", 3) == 0)
            *ret_dots += 3;
        else
            return behind;
        behind = next + (*next == '.' ? 1 : 3);
    }
}

/* Whether a move stands at the beginning: the whole text, or its first word. */
static bool move_begins(const char *text) {
    char word[NOTATION_MAX];
    size_t length = 0;
    while (text[length] != 0 && blank_length(text + length) == 0)
        length++;
    if (length >= sizeof word)
        return false;
    memcpy(word, text, length);
    word[length] = 0;
    return notation_shaped(word) || notation_shaped(text);
}

bool notation_number(const char *text, const char **ret_rest, int *ret_number, bool *ret_black) {
    enum { DIGITS_MAX = 4 };
    const char *at = skip_blanks(text);
    int number = 0, digits = 0, dots = 0;
    if (*at == '0')
        return false;
    for (; *at >= '0' && *at <= '9' && digits <= DIGITS_MAX; digits++)
        number = number * 10 + *at++ - '0';
    if (digits > DIGITS_MAX)
        return false;
    const char *behind = skip_dots(at, &dots);
    if (digits == 0 && dots < 2)
        return false;
    bool bracket = dots == 0 && digits > 0 && *at == ')';
    behind += bracket;
    const char *rest = skip_blanks(behind);
    bool digit_follows = *rest >= '0' && *rest <= '9';
    /* Without dots it takes a move to make a number of digits; "12.12.2026" is a date. */
    if (((dots == 0 && !bracket) || digit_follows) && !move_begins(rest))
        return false;
    *ret_rest = rest;
    *ret_number = number;
    *ret_black = dots > 1;
    return true;
}

const char *notation_fault_name(MoveFault fault) {
    static const char *const names[FAULT_COUNT] = {
        [FAULT_NONE] = "none",
        [FAULT_UNSHAPED] = "unshaped",
        [FAULT_DESCRIPTIVE] = "descriptive",
        [FAULT_NOT_STRICT] = "not_strict",
        [FAULT_SEVERAL_MEN] = "several_men",
        [FAULT_BISHOP_OR_PAWN] = "bishop_or_pawn",
        [FAULT_TWO_LANGUAGES] = "two_languages",
        [FAULT_INCOMPLETE] = "incomplete",
        [FAULT_NO_SUCH_SQUARE] = "no_such_square",
        [FAULT_UNKNOWN_LETTER] = "unknown_letter",
        [FAULT_SQUARE_EMPTY] = "square_empty",
        [FAULT_OPPONENTS_PIECE] = "opponents_piece",
        [FAULT_OTHER_PIECE] = "other_piece",
        [FAULT_NO_PIECE_NAMED] = "no_piece_named",
        [FAULT_CANNOT_REACH] = "cannot_reach",
        [FAULT_OWN_PIECE] = "own_piece",
        [FAULT_PATH_BLOCKED] = "path_blocked",
        [FAULT_PAWN_BLOCKED] = "pawn_blocked",
        [FAULT_PAWN_TWO_SQUARES] = "pawn_two_squares",
        [FAULT_PAWN_BACKWARDS] = "pawn_backwards",
        [FAULT_PAWN_STRAIGHT] = "pawn_straight",
        [FAULT_NOTHING_TO_CAPTURE] = "nothing_to_capture",
        [FAULT_EN_PASSANT_LATE] = "en_passant_late",
        [FAULT_EN_PASSANT_EXPOSED] = "en_passant_exposed",
        [FAULT_KING_EXPOSED] = "king_exposed",
        [FAULT_STILL_IN_CHECK] = "still_in_check",
        [FAULT_KING_ATTACKED] = "king_attacked",
        [FAULT_CASTLING_KING_AWAY] = "castling_king_away",
        [FAULT_CASTLING_NO_ROOK] = "castling_no_rook",
        [FAULT_CASTLING_ROOK_MOVED] = "castling_rook_moved",
        [FAULT_CASTLING_NO_RIGHT] = "castling_no_right",
        [FAULT_CASTLING_IN_CHECK] = "castling_in_check",
        [FAULT_CASTLING_THROUGH] = "castling_through",
        [FAULT_CASTLING_INTO] = "castling_into",
        [FAULT_CASTLING_BLOCKED] = "castling_blocked",
        [FAULT_PROMOTION_MISSING] = "promotion_missing",
        [FAULT_PROMOTION_PIECE] = "promotion_piece",
        [FAULT_PROMOTION_RANK] = "promotion_rank",
        [FAULT_WRONG_TURN] = "wrong_turn",
    };
    return (unsigned)fault < FAULT_COUNT ? names[fault] : "none";
}
