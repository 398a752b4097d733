#include "core/chess/fen.h"

#include "core/base/str.h"
#include "core/base/utf8.h"
#include "core/chess/attacks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIELDS_MAX = 6, HALFMOVE_MAX = 9999, FULLMOVE_MAX = 99999, SIGN_MAX = 5 };

/* The words of the text, each terminated. */
typedef struct Fields {
    char words[FIELDS_MAX][FEN_MAX];
    int count;
} Fields;

static const char letters[] = "?PNBRQK";
static const char *const side_names[] = { "White", "Black" };

static bool refuse(Error *error, FenError code, const char *format, ...) __attribute__((format(printf, 3, 4)));

static bool refuse(Error *error, FenError code, const char *format, ...) {
    char text[ERROR_TEXT_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    error_set(error, ERROR_INPUT, (int)code, "%s", text);
    return false;
}

/* ---- the text as words ---- */

/* What mail, web pages and word processors put in place of a blank or a hyphen. */
static bool blank_point(uint32_t point) {
    static const uint32_t others[] = { ' ', '_', 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x2060, 0x3000, 0xfeff };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (point == others[i])
            return true;
    return (point >= '\t' && point <= '\r') || (point >= 0x2000 && point <= 0x200b);
}

/* What a FEN is wrapped in: [FEN "…"], quotation marks of any kind. */
static bool wrapping_point(uint32_t point) {
    return point == '"' || point == '\'' || point == '[' || point == ']' || point == 0xab || point == 0xbb || (point >= 0x2018 && point <= 0x201f);
}

static bool hyphen_point(uint32_t point) {
    return (point >= 0x2010 && point <= 0x2015) || point == 0x2212;
}

/* One sign of the text (which is not at its end), a blank and a hyphen in their plain form and, read kindly, a wrapping as a blank;
 * returns the bytes it takes there. */
static int next_sign(const char *text, unsigned flags, char ret_sign[SIGN_MAX]) {
    uint32_t point = 0;
    int size = utf8_next(text, strnlen(text, SIGN_MAX - 1), &point);
    if (size == 0) { /* not UTF-8: Latin-1's hard blank, or what is no piece anyway */
        point = (unsigned char)*text;
        size = 1;
    }
    memcpy(ret_sign, text, (size_t)size);
    ret_sign[size] = 0;
    bool blank = blank_point(point) || ((flags & FEN_STRICT) == 0 && wrapping_point(point));
    if (blank || hyphen_point(point))
        text_copy(ret_sign, SIGN_MAX, blank ? " " : "-");
    return size;
}

static bool letter(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

/* Whether nothing of the FEN stands from here on: its end, or the operations of an EPD line ("bm Qd1; id \"x\";"). */
static bool ends(const char *text, int count, unsigned flags) {
    if (*text == 0)
        return true;
    return (flags & FEN_STRICT) == 0 && (*text == ';' || (count == 4 && letter(*text) && strchr(text, ';') != NULL));
}

static bool split(const char *text, unsigned flags, Fields *ret, Error *error) {
    char sign[SIGN_MAX];
    ret->count = 0;
    for (bool inside = false; !ends(text, inside ? 0 : ret->count, flags);) {
        text += next_sign(text, flags, sign);
        if (sign[0] == ' ') {
            inside = false;
            if (ret->count == 1 && (flags & FEN_STRICT) == 0 && text_equal_nocase(ret->words[0], "FEN"))
                ret->count = 0; /* the name of the tag */
            continue;
        }
        if (!inside && ret->count == FIELDS_MAX)
            return refuse(error, FEN_FIELDS, "A FEN has six fields; this one has more.");
        if (!inside)
            ret->words[ret->count++][0] = 0;
        inside = true;
        char *word = ret->words[ret->count - 1];
        size_t length = strlen(word);
        if (!text_copy(word + length, FEN_MAX - length, sign))
            return refuse(error, FEN_FIELDS, "Field %d of this FEN has more than %d signs.", ret->count, FEN_MAX - 1);
    }
    if (ret->count < 2 || ((flags & FEN_STRICT) && ret->count < FIELDS_MAX))
        return refuse(error, FEN_FIELDS, ret->count < 2 ? "A FEN has six fields, of which the board and who is to move must be there; this one has %d."
                                                        : "A FEN has six fields; this one has %d.", ret->count);
    return true;
}

/* ---- the board ---- */

static int piece_of_letter(char sign) {
    bool black = sign >= 'a' && sign <= 'z';
    const char *found = strchr(letters + PAWN, black ? sign - 32 : sign);
    return found == NULL ? EMPTY : piece_make(black ? BLACK : WHITE, (int)(found - letters));
}

static bool refuse_rank(Error *error, int rank, bool more) {
    return refuse(error, FEN_BOARD, "Rank %d of the FEN's board has %s than eight squares.", rank + 1, more ? "more" : "fewer");
}

static bool read_board(Position *position, const char *text, Error *error) {
    int file = 0, rank = 7;
    for (char sign[SIGN_MAX]; *text != 0; text += next_sign(text, FEN_STRICT, sign)) {
        if (*text == '/') {
            if (file < 8)
                return refuse_rank(error, rank, false);
            if (--rank < 0)
                return refuse(error, FEN_BOARD, "The FEN's board has more than eight ranks.");
            file = 0;
            continue;
        }
        int piece = EMPTY, squares = *text >= '1' && *text <= '8' ? *text - '0' : 1;
        if (*text < '1' || *text > '8') {
            piece = piece_of_letter(*text);
            next_sign(text, FEN_STRICT, sign);
            if (piece == EMPTY)
                return refuse(error, FEN_PIECE, "The FEN's board has “%s”, which is no piece.", sign);
        }
        if (file + squares > 8)
            return refuse_rank(error, rank, true);
        if (piece != EMPTY)
            position_put(position, square_make(file, rank), piece);
        file += squares;
    }
    if (file < 8)
        return refuse_rank(error, rank, false);
    if (rank > 0)
        return refuse(error, FEN_BOARD, "The FEN's board has %d ranks, not eight.", 8 - rank);
    return true;
}

/* Composed positions may have promoted men beyond what pawns could become. */
static bool check_men(const Position *position, Error *error) {
    for (int colour = WHITE; colour <= BLACK; colour++) {
        int kings = set_count(position_men(position, (Colour)colour, KING)), men = set_count(position->sides[colour]);
        int pawns = set_count(position_men(position, (Colour)colour, PAWN));
        if (kings == 0)
            return refuse(error, FEN_NO_KING, "%s has no king in this FEN.", side_names[colour]);
        if (kings > 1)
            return refuse(error, FEN_TWO_KINGS, "%s has %d kings in this FEN.", side_names[colour], kings);
        if (men > 16 || pawns > 8)
            return refuse(error, FEN_TOO_MANY, "%s has %d %s in this FEN; at most %d are possible.", side_names[colour], men > 16 ? men : pawns,
                          men > 16 ? "men" : "pawns", men > 16 ? 16 : 8);
    }
    uint64_t pawns = position->kinds[PAWN] & (RANK_1 | RANK_8);
    if (pawns != 0)
        return refuse(error, FEN_PAWN_RANK, "A pawn stands on %c%d in this FEN; on the first and last rank there are none.",
                      'a' + square_file(set_first(pawns)), 1 + square_rank(set_first(pawns)));
    return true;
}

/* ---- castling, en passant, counters ---- */

static bool king_side(int king, int rook) {
    return rook > king;
}

/* The rook a letter names: the outermost on that side for K and Q (X-FEN), else on that file. */
static int castling_rook(const Position *position, char upper, Colour colour, int king) {
    uint64_t rooks = position_men(position, colour, ROOK) & line_rank(king);
    if (upper == 'K')
        rooks &= ~(square_set(king) - 1);
    else if (upper == 'Q')
        rooks &= square_set(king) - 1;
    else
        rooks &= line_file(upper - 'A');
    if (rooks == 0)
        return NO_SQUARE;
    return upper == 'K' ? 63 - __builtin_clzll(rooks) : set_first(rooks);
}

/* Adds the right one letter stands for; false if it is impossible. */
static bool add_right(Position *position, char upper, Colour colour) {
    int king = position_king(position, colour);
    if (square_rank(king) != (colour == WHITE ? 0 : 7))
        return false;
    int rook = castling_rook(position, upper, colour, king);
    if (rook == NO_SQUARE)
        return false;
    uint64_t side = king_side(king, rook) ? ~(square_set(king) - 1) : square_set(king) - 1;
    if (position->castling & position->sides[colour] & side & ~square_set(rook))
        return false; /* one rook a side */
    position->castling |= square_set(rook);
    if (square_file(king) != 4 || (square_file(rook) != 0 && square_file(rook) != 7))
        position->chess960 = true;
    return true;
}

static bool read_castling(Position *position, const char *text, unsigned flags, Error *error) {
    if (strcmp(text, "-") == 0)
        return true;
    for (int i = 0; text[i] != 0; i++) {
        bool black = text[i] >= 'a';
        char upper = black ? (char)(text[i] - 32) : text[i];
        bool file_letter = upper >= 'A' && upper <= 'H';
        if ((!file_letter && upper != 'K' && upper != 'Q') || i == 4)
            return refuse(error, FEN_CASTLING, "The FEN's castling field must be “-” or up to four letters of KQkq or of rook files, not “%.20s”.",
                          text);
        if (!add_right(position, upper, black ? BLACK : WHITE) && (file_letter || (flags & FEN_STRICT)))
            return refuse(error, FEN_CASTLING, "The FEN gives the castling right “%c”, but king and rook do not stand for it.", text[i]);
    }
    return true;
}

static bool just_went_two(const Position *position, int square) {
    bool white = position->turn == WHITE; /* who may capture now */
    if (square_rank(square) != (white ? 5 : 2))
        return false;
    int pawn = square ^ 8, origin = white ? square + 8 : square - 8;
    uint64_t occupied = position->sides[WHITE] | position->sides[BLACK];
    return (position_men(position, white ? BLACK : WHITE, PAWN) & square_set(pawn)) != 0
        && (occupied & (square_set(square) | square_set(origin))) == 0;
}

static bool read_en_passant(Position *position, const char *text, unsigned flags, Error *error) {
    if (strcmp(text, "-") == 0)
        return true;
    if (text[0] < 'a' || text[0] > 'h' || text[1] < '1' || text[1] > '8' || text[2] != 0)
        return refuse(error, FEN_EN_PASSANT, "The FEN's en passant field must be “-” or a square like e3, not “%.20s”.", text);
    int square = square_make(text[0] - 'a', text[1] - '1');
    if (just_went_two(position, square))
        position->en_passant = (int8_t)square;
    else if (flags & FEN_STRICT)
        return refuse(error, FEN_EN_PASSANT, "The FEN's en passant square %s is not behind a pawn that just went two squares.", text);
    return true;
}

static bool read_counter(const char *text, int largest, int *ret) {
    int value = 0;
    for (; *text != 0; text++) {
        if (*text < '0' || *text > '9')
            return false;
        value = value * 10 + *text - '0';
        if (value > largest)
            return false;
    }
    *ret = value;
    return true;
}

static bool read_counters(Position *position, const Fields *fields, Error *error) {
    int halfmove = 0, fullmove = 1;
    if (fields->count > 4 && !read_counter(fields->words[4], HALFMOVE_MAX, &halfmove))
        return refuse(error, FEN_COUNTER, "The FEN's fifth field must be the number of plies since a capture or pawn move, 0 to %d, not “%.20s”.",
                      HALFMOVE_MAX, fields->words[4]);
    if (fields->count > 5 && !read_counter(fields->words[5], FULLMOVE_MAX, &fullmove))
        return refuse(error, FEN_COUNTER, "The FEN's sixth field must be the number of the move, 1 to %d, not “%.20s”.", FULLMOVE_MAX,
                      fields->words[5]);
    position->halfmove = (uint16_t)halfmove;
    position->fullmove = fullmove == 0 ? 1 : fullmove;
    return true;
}

static bool check_turn(const Position *position, Error *error) {
    Colour us = position_turn(position), them = us == WHITE ? BLACK : WHITE;
    if (position_attackers(position, position_king(position, them), us, position->sides[WHITE] | position->sides[BLACK]) == 0)
        return true;
    if (attacks_king(position_king(position, us)) & position_men(position, them, KING))
        return refuse(error, FEN_CHECK, "In this FEN the two kings stand next to each other: the side not to move is in check.");
    return refuse(error, FEN_CHECK, "In this FEN %s is to move, but could capture %s's king: the side not to move is in check.", side_names[us],
                  side_names[them]);
}

bool fen_read(const char *text, unsigned flags, Position *ret, Error *error) {
    Fields fields;
    Position position = { .en_passant = NO_SQUARE, .chess960 = (flags & FEN_CHESS960) != 0 };
    if (!split(text, flags, &fields, error) || !read_board(&position, fields.words[0], error) || !check_men(&position, error))
        return false;
    if (strcmp(fields.words[1], "w") != 0 && strcmp(fields.words[1], "b") != 0)
        return refuse(error, FEN_TURN, "The FEN's second field must be w or b, who is to move, not “%.20s”.", fields.words[1]);
    position.turn = fields.words[1][0] == 'w' ? WHITE : BLACK;
    if ((fields.count > 2 && !read_castling(&position, fields.words[2], flags, error))
        || (fields.count > 3 && !read_en_passant(&position, fields.words[3], flags, error))
        || !read_counters(&position, &fields, error) || !check_turn(&position, error))
        return false;
    position_settle(&position);
    *ret = position;
    return true;
}

/* ---- writing ---- */

static char *write_board(const Position *position, char *at) {
    for (int rank = 7; rank >= 0; rank--) {
        int empty = 0;
        for (int file = 0; file < 8; file++) {
            int piece = position_piece_at(position, square_make(file, rank));
            if (piece == EMPTY) {
                empty++;
                continue;
            }
            if (empty > 0)
                *at++ = (char)('0' + empty);
            empty = 0;
            *at++ = (char)(letters[piece_kind(piece)] + (piece_colour(piece) == BLACK ? 32 : 0));
        }
        if (empty > 0)
            *at++ = (char)('0' + empty);
        if (rank > 0)
            *at++ = '/';
    }
    return at;
}

static char *write_castling(const Position *position, unsigned flags, char *at) {
    if (position->castling == 0)
        *at++ = '-';
    for (int colour = WHITE; colour <= BLACK; colour++) {
        int king = position_king(position, (Colour)colour);
        uint64_t rights = position->castling & position->sides[colour];
        for (int pass = 0; pass < 2; pass++) {
            char right = pass == 0 ? 'K' : 'Q';
            uint64_t side = pass == 0 ? ~(square_set(king) - 1) : square_set(king) - 1;
            if ((rights & side) == 0)
                continue;
            int rook = set_first(rights & side);
            if ((flags & FEN_SHREDDER) || castling_rook(position, right, (Colour)colour, king) != rook)
                right = (char)('A' + square_file(rook));
            *at++ = (char)(right + (colour == BLACK ? 32 : 0));
        }
    }
    return at;
}

void fen_write(const Position *position, unsigned flags, char ret[FEN_MAX]) {
    char *at = write_board(position, ret);
    *at++ = ' ';
    *at++ = position->turn == WHITE ? 'w' : 'b';
    *at++ = ' ';
    at = write_castling(position, flags, at);
    *at++ = ' ';
    if (position->en_passant == NO_SQUARE) {
        *at++ = '-';
    } else {
        *at++ = (char)('a' + square_file(position->en_passant));
        *at++ = (char)('1' + square_rank(position->en_passant));
    }
    /* what fen_read() takes: longer counts say nothing more */
    int halfmove = position->halfmove < HALFMOVE_MAX ? position->halfmove : HALFMOVE_MAX;
    int fullmove = position->fullmove < FULLMOVE_MAX ? position->fullmove : FULLMOVE_MAX;
    snprintf(at, (size_t)(FEN_MAX - (at - ret)), " %d %d", halfmove, fullmove);
}
