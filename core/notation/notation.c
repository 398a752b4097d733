#include "core/notation/notation.h"

#include "core/base/str.h"
#include "core/chess/movegen.h"
#include "core/notation/shape.h"

#include <stdio.h>
#include <string.h>

/* FIDE handbook, appendix C2. No pawn letter where it is also another piece's or never written. */
static const PieceLetters tables[] = {
    { "en", { [PAWN] = "P", [KNIGHT] = "N", [BISHOP] = "B", [ROOK] = "R", [QUEEN] = "Q", [KING] = "K" } },
    { "de", { [PAWN] = "", [KNIGHT] = "S", [BISHOP] = "L", [ROOK] = "T", [QUEEN] = "D", [KING] = "K" } },
    { "fr", { [PAWN] = "P", [KNIGHT] = "C", [BISHOP] = "F", [ROOK] = "T", [QUEEN] = "D", [KING] = "R" } },
    { "es", { [PAWN] = "P", [KNIGHT] = "C", [BISHOP] = "A", [ROOK] = "T", [QUEEN] = "D", [KING] = "R" } },
};

const PieceLetters *shape_english(void) {
    return &tables[0];
}

const PieceLetters *shape_tables(size_t *ret_count) {
    *ret_count = sizeof tables / sizeof tables[0];
    return tables;
}

const PieceLetters *notation_letters(const char *language) {
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        size_t length = strlen(tables[i].language);
        bool ends = text_starts_nocase(language, tables[i].language)
            && (language[length] == 0 || language[length] == '-' || language[length] == '_');
        if (ends)
            return &tables[i];
    }
    return NULL;
}

/* --- writing --- */

typedef struct Writer {
    char *at;
    char *end; /* where the NUL must stand at the latest */
} Writer;

static void put(Writer *writer, char byte) {
    if (writer->at < writer->end)
        *writer->at++ = byte;
    *writer->at = 0;
}

static void put_text(Writer *writer, const char *text) {
    while (*text != 0)
        put(writer, *text++);
}

static void put_square(Writer *writer, int square) {
    put(writer, (char)('a' + square_file(square)));
    put(writer, (char)('1' + square_rank(square)));
}

static int kind_moved(const Position *position, Move move) {
    return piece_kind(position_piece_at(position, move_from(move)));
}

/* File, rank, or both, as far as other men of the kind could go there too (PGN 8.2.3.4). */
static void put_disambiguation(Writer *writer, const Position *position, Move move) {
    MoveList list;
    moves_legal(position, &list);
    int from = move_from(move), kind = kind_moved(position, move);
    bool others = false, same_file = false, same_rank = false;
    for (int i = 0; i < list.count; i++) {
        int rival = move_from(list.moves[i]);
        if (rival == from || move_to(list.moves[i]) != move_to(move) || kind_moved(position, list.moves[i]) != kind)
            continue;
        others = true;
        same_file |= square_file(rival) == square_file(from);
        same_rank |= square_rank(rival) == square_rank(from);
    }
    if (others && (!same_file || same_rank))
        put(writer, (char)('a' + square_file(from)));
    if (others && same_file)
        put(writer, (char)('1' + square_rank(from)));
}

static void put_check(Writer *writer, const Position *position, Move move) {
    Position after;
    MoveList list;
    position_move(&after, position, move);
    if (!position_in_check(&after))
        return;
    moves_legal(&after, &list);
    put(writer, list.count == 0 ? '#' : '+');
}

static void write_algebraic(Writer *writer, const Position *position, Move move, bool with_from,
                            const PieceLetters *letters) {
    int kind = kind_moved(position, move), from = move_from(move);
    bool capture = position_is_capture(position, move);
    if (position_is_castling(position, move)) {
        put_text(writer, move_to(move) > from ? "O-O" : "O-O-O");
        put_check(writer, position, move);
        return;
    }
    if (kind != PAWN)
        put_text(writer, letters->letters[kind]);
    if (with_from)
        put_square(writer, from);
    else if (kind == PAWN && capture)
        put(writer, (char)('a' + square_file(from)));
    else if (kind != PAWN && kind != KING)
        put_disambiguation(writer, position, move);
    if (capture || with_from)
        put(writer, capture ? 'x' : '-');
    put_square(writer, move_to(move));
    if (move_promotion(move) != EMPTY) {
        put(writer, '=');
        put_text(writer, letters->letters[move_promotion(move)]);
    }
    put_check(writer, position, move);
}

static int coordinate_target(const Position *position, Move move) {
    int king, rook;
    if (position->chess960 || !position_is_castling(position, move))
        return move_to(move);
    castling_targets(position, move, &king, &rook);
    return king;
}

static void write_numeric(Writer *writer, const Position *position, Move move) {
    static const char promotions[KIND_COUNT] = { [QUEEN] = '1', [ROOK] = '2', [BISHOP] = '3', [KNIGHT] = '4' };
    int squares[2] = { move_from(move), coordinate_target(position, move) };
    for (int i = 0; i < 2; i++) {
        put(writer, (char)('1' + square_file(squares[i])));
        put(writer, (char)('1' + square_rank(squares[i])));
    }
    if (move_promotion(move) != EMPTY)
        put(writer, promotions[move_promotion(move)]);
}

void notation_write_in(const Position *position, Move move, Notation notation, const PieceLetters *letters,
                       char ret[NOTATION_MAX]) {
    Writer writer = { ret, ret + NOTATION_MAX - 1 };
    if (letters == NULL)
        letters = &tables[0];
    ret[0] = 0;
    switch (notation) {
    case NOTATION_SAN: write_algebraic(&writer, position, move, false, letters); break;
    case NOTATION_LONG: write_algebraic(&writer, position, move, true, letters); break;
    case NOTATION_NUMERIC: write_numeric(&writer, position, move); break;
    case NOTATION_UCI:
        put_square(&writer, move_from(move));
        put_square(&writer, coordinate_target(position, move));
        if (move_promotion(move) != EMPTY)
            put(&writer, " pnbrqk"[move_promotion(move)]);
        break;
    }
}

void notation_write(const Position *position, Move move, Notation notation, char ret[NOTATION_MAX]) {
    notation_write_in(position, move, notation, NULL, ret);
}

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
        [FAULT_PAWN_STRAIGHT] = "pawn_straight",
        [FAULT_NOTHING_TO_CAPTURE] = "nothing_to_capture",
        [FAULT_EN_PASSANT_LATE] = "en_passant_late",
        [FAULT_KING_EXPOSED] = "king_exposed",
        [FAULT_STILL_IN_CHECK] = "still_in_check",
        [FAULT_KING_ATTACKED] = "king_attacked",
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
