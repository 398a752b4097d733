#include "core/chess/fen.h"

#include "core/chess/attacks.h"

#include <stdio.h>
#include <string.h>

enum { FIELDS_MAX = 6, HALFMOVE_MAX = 9999, FULLMOVE_MAX = 99999 };

/* A piece of the text; not terminated. */
typedef struct Field {
    const char *text;
    int length;
} Field;

static const char letters[] = " PNBRQK";

static bool refuse(Error *error, FenError code, const char *sentence) {
    error_set(error, ERROR_INPUT, code, "%s", sentence);
    return false;
}

static bool blank(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

static int split(const char *text, Field fields[FIELDS_MAX]) {
    int count = 0;
    for (;;) {
        while (blank(*text))
            text++;
        if (*text == 0)
            return count;
        if (count == FIELDS_MAX)
            return FIELDS_MAX + 1;
        const char *begin = text;
        while (*text != 0 && !blank(*text))
            text++;
        if (text - begin > FEN_MAX)
            return FIELDS_MAX + 1;
        fields[count++] = (Field){ begin, (int)(text - begin) };
    }
}

static int piece_of_letter(char letter) {
    bool black = letter >= 'a' && letter <= 'z';
    const char *found = letter == 0 || letter == ' ' ? NULL : strchr(letters, black ? letter - 32 : letter);
    return found == NULL ? EMPTY : piece_make(black ? BLACK : WHITE, (int)(found - letters));
}

static bool read_board(Position *position, Field field, Error *error) {
    int file = 0, rank = 7;
    for (int i = 0; i < field.length; i++) {
        char letter = field.text[i];
        if (letter == '/') {
            if (file != 8 || rank == 0)
                return refuse(error, FEN_BOARD, "The FEN's board must have eight ranks of eight squares each.");
            file = 0;
            rank--;
        } else if (letter >= '1' && letter <= '8') {
            file += letter - '0';
        } else {
            int piece = piece_of_letter(letter);
            if (piece == EMPTY) {
                error_set(error, ERROR_INPUT, FEN_PIECE, "The FEN's board has '%c', which is no piece.", letter);
                return false;
            }
            if (file < 8)
                position_put(position, square_make(file, rank), piece);
            file++;
        }
        if (file > 8)
            break;
    }
    if (file != 8 || rank != 0)
        return refuse(error, FEN_BOARD, "The FEN's board must have eight ranks of eight squares each.");
    return true;
}

static bool check_men(const Position *position, Error *error) {
    static const char *const names[] = { "White", "Black" };
    for (int colour = WHITE; colour <= BLACK; colour++) {
        int kings = set_count(position_men(position, (Colour)colour, KING));
        if (kings != 1) {
            error_set(error, ERROR_INPUT, kings == 0 ? FEN_NO_KING : FEN_TWO_KINGS, "%s has %s in this FEN.",
                      names[colour], kings == 0 ? "no king" : "more than one king");
            return false;
        }
        /* Composed positions may have promoted men beyond what pawns could become. */
        if (set_count(position->sides[colour]) > 16 || set_count(position_men(position, (Colour)colour, PAWN)) > 8) {
            error_set(error, ERROR_INPUT, FEN_TOO_MANY, "%s has more than 16 men or 8 pawns in this FEN.",
                      names[colour]);
            return false;
        }
    }
    if (position->kinds[PAWN] & (RANK_1 | RANK_8))
        return refuse(error, FEN_PAWN_RANK, "A pawn stands on the first or last rank in this FEN.");
    return true;
}

static bool king_side(int king, int rook) {
    return rook > king;
}

/* The rook a letter names: the outermost on that side for K and Q (X-FEN), else on that file. */
static int castling_rook(const Position *position, char letter, Colour colour, int king) {
    uint64_t rooks = position_men(position, colour, ROOK) & line_rank(king);
    if (letter == 'K')
        rooks &= ~(square_set(king) - 1);
    else if (letter == 'Q')
        rooks &= square_set(king) - 1;
    else
        rooks &= line_file(letter - 'A');
    if (rooks == 0)
        return NO_SQUARE;
    return letter == 'K' ? 63 - __builtin_clzll(rooks) : set_first(rooks);
}

/* Adds the right one letter stands for; false if it is impossible. */
static bool add_right(Position *position, char letter, Colour colour) {
    int king = position_king(position, colour);
    if (square_rank(king) != (colour == WHITE ? 0 : 7))
        return false;
    int rook = castling_rook(position, letter, colour, king);
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

static bool read_castling(Position *position, Field field, unsigned flags, Error *error) {
    if (field.length == 1 && field.text[0] == '-')
        return true;
    for (int i = 0; i < field.length; i++) {
        char letter = field.text[i];
        bool black = letter >= 'a';
        char upper = black ? (char)(letter - 32) : letter;
        bool file_letter = upper >= 'A' && upper <= 'H';
        if ((!file_letter && upper != 'K' && upper != 'Q') || field.length > 4)
            return refuse(error, FEN_CASTLING, "The FEN's castling field must be - or letters of KQkq or of rook files.");
        if (!add_right(position, upper, black ? BLACK : WHITE) && (file_letter || (flags & FEN_STRICT))) {
            error_set(error, ERROR_INPUT, FEN_CASTLING,
                      "The FEN gives the castling right '%c', but king and rook do not stand for it.", letter);
            return false;
        }
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

static bool read_en_passant(Position *position, Field field, unsigned flags, Error *error) {
    const char *text = field.text;
    if (field.length == 1 && text[0] == '-')
        return true;
    if (field.length != 2 || text[0] < 'a' || text[0] > 'h' || text[1] < '1' || text[1] > '8')
        return refuse(error, FEN_EN_PASSANT, "The FEN's en passant field must be - or a square.");
    int square = square_make(text[0] - 'a', text[1] - '1');
    if (just_went_two(position, square))
        position->en_passant = (int8_t)square;
    else if (flags & FEN_STRICT)
        return refuse(error, FEN_EN_PASSANT, "The FEN's en passant square is not behind a pawn that just went two squares.");
    return true;
}

static bool read_counter(Field field, int largest, int *ret) {
    int value = 0;
    for (int i = 0; i < field.length; i++) {
        if (field.text[i] < '0' || field.text[i] > '9')
            return false;
        value = value * 10 + field.text[i] - '0';
        if (value > largest)
            return false;
    }
    *ret = value;
    return true;
}

static bool read_counters(Position *position, const Field *fields, int count, Error *error) {
    int halfmove = 0, fullmove = 1;
    if ((count > 4 && !read_counter(fields[4], HALFMOVE_MAX, &halfmove))
        || (count > 5 && !read_counter(fields[5], FULLMOVE_MAX, &fullmove)))
        return refuse(error, FEN_COUNTER, "The FEN's last fields must be the halfmove clock and the move number.");
    position->halfmove = (uint16_t)halfmove;
    position->fullmove = fullmove == 0 ? 1 : fullmove;
    return true;
}

static bool other_side_in_check(const Position *position) {
    Colour us = position_turn(position), them = us == WHITE ? BLACK : WHITE;
    return position_attackers(position, position_king(position, them), us,
                              position->sides[WHITE] | position->sides[BLACK]) != 0;
}

bool fen_read(const char *text, unsigned flags, Position *ret, Error *error) {
    Field fields[FIELDS_MAX];
    int count = split(text, fields);
    if (count > FIELDS_MAX)
        return refuse(error, FEN_FIELDS, "A FEN has six fields; this one has more.");
    if (count < 2 || ((flags & FEN_STRICT) && count < FIELDS_MAX))
        return refuse(error, FEN_FIELDS, "A FEN has six fields; this one has too few.");

    Position position = { .en_passant = NO_SQUARE, .chess960 = (flags & FEN_CHESS960) != 0 };
    if (!read_board(&position, fields[0], error) || !check_men(&position, error))
        return false;
    if (fields[1].length != 1 || (fields[1].text[0] != 'w' && fields[1].text[0] != 'b'))
        return refuse(error, FEN_TURN, "The FEN's second field must be w or b, who is to move.");
    position.turn = fields[1].text[0] == 'w' ? WHITE : BLACK;
    if ((count > 2 && !read_castling(&position, fields[2], flags, error))
        || (count > 3 && !read_en_passant(&position, fields[3], flags, error))
        || !read_counters(&position, fields, count, error))
        return false;
    if (other_side_in_check(&position))
        return refuse(error, FEN_CHECK, "In this FEN the side that is not to move is in check.");
    position_settle(&position);
    *ret = position;
    return true;
}

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
            char letter = pass == 0 ? 'K' : 'Q';
            uint64_t side = pass == 0 ? ~(square_set(king) - 1) : square_set(king) - 1;
            if ((rights & side) == 0)
                continue;
            int rook = set_first(rights & side);
            if ((flags & FEN_SHREDDER) || castling_rook(position, letter, (Colour)colour, king) != rook)
                letter = (char)('A' + square_file(rook));
            *at++ = (char)(letter + (colour == BLACK ? 32 : 0));
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
    snprintf(at, (size_t)(FEN_MAX - (at - ret)), " %d %d", position->halfmove, position->fullmove);
}
