#include "core/notation/explain.h"

#include "core/chess/movegen.h"

#include <string.h>

/* %P the piece, %F from, %T to, %C cause, %D the piece there, %S the side to move, %f the file
 * or rank named, %t " on" and to, where it is known, %M the man or men who cannot go. */
static const char *const sentences[FAULT_COUNT] = {
    [FAULT_UNSHAPED] = "is not written like a move",
    [FAULT_DESCRIPTIVE] = "is descriptive notation, which is not read here",
    [FAULT_NOT_STRICT] = "is not in the export form of PGN",
    [FAULT_SEVERAL_MEN] = "can be done by more than one %P",
    [FAULT_BISHOP_OR_PAWN] = "may be the %P or the pawn of that file",
    [FAULT_TWO_LANGUAGES] = "means different moves in two languages",
    [FAULT_INCOMPLETE] = "is not complete",
    [FAULT_NO_SUCH_SQUARE] = "names a square that is not on the board",
    [FAULT_UNKNOWN_LETTER] = "begins with a letter that is no piece in this language",
    [FAULT_SQUARE_EMPTY] = "is not possible: %F is empty",
    [FAULT_OPPONENTS_PIECE] = "is not possible: the %P on %F is the opponent's",
    [FAULT_OTHER_PIECE] = "is not possible: on %C stands a %D",
    [FAULT_NO_PIECE_NAMED] = "is not possible: %S has no %P%f",
    [FAULT_CANNOT_REACH] = "is not possible: %M %T",
    [FAULT_OWN_PIECE] = "is not possible: on %T stands %S's own %D",
    [FAULT_PATH_BLOCKED] = "is not possible: the way of the %P from %F is blocked by the %D on %C",
    [FAULT_PAWN_BLOCKED] = "is not possible: the pawn on %F is blocked by the %D on %C",
    [FAULT_PAWN_TWO_SQUARES] = "is not possible: the pawn on %F is no longer where it began, so it cannot go two squares",
    [FAULT_PAWN_BACKWARDS] = "is not possible: the pawn on %F cannot go back to %T",
    [FAULT_PAWN_STRAIGHT] = "is not possible: a pawn does not capture straight ahead, and %T is occupied",
    [FAULT_NOTHING_TO_CAPTURE] = "is not possible: there is nothing for the pawn to capture on %T",
    [FAULT_EN_PASSANT_LATE] = "is not possible: a pawn can be captured en passant only just after it went two squares, and the one on %C did not do that with the last move",
    [FAULT_EN_PASSANT_EXPOSED] = "is not legal: with both pawns gone from their squares the king would be in check from the %D on %C",
    [FAULT_KING_EXPOSED] = "is not legal: the king would be in check from the %D on %C",
    [FAULT_STILL_IN_CHECK] = "is not legal: the king is in check from the %D on %C, and this does not end it",
    [FAULT_KING_ATTACKED] = "is not legal: %T is attacked by the %D on %C",
    [FAULT_CASTLING_KING_AWAY] = "is not possible: the king has moved and stands on %F",
    [FAULT_CASTLING_NO_ROOK] = "is not possible: %S has no rook%t to castle with",
    [FAULT_CASTLING_ROOK_MOVED] = "is not legal: the rook on %C has moved before, or it is not the one to castle with",
    [FAULT_CASTLING_NO_RIGHT] = "is not legal: the king on %F or the rook on %C has moved before",
    [FAULT_CASTLING_IN_CHECK] = "is not legal: the king is in check from the %D on %C",
    [FAULT_CASTLING_THROUGH] = "is not legal: the king would cross %T, which the %D on %C attacks",
    [FAULT_CASTLING_INTO] = "is not legal: the king would be in check on %T from the %D on %C",
    [FAULT_CASTLING_BLOCKED] = "is not possible: the %D on %C stands in the way",
    [FAULT_PROMOTION_MISSING] = "does not say what the pawn becomes",
    [FAULT_PROMOTION_PIECE] = "is not legal: a pawn becomes a queen, rook, bishop or knight",
    [FAULT_PROMOTION_RANK] = "is not possible: nothing is promoted by this move",
    [FAULT_WRONG_TURN] = "is not possible: it is %S's turn, and the %P on %F is the opponent's",
};

static void put_square(Str *out, int square) {
    if (square == NO_SQUARE)
        str_append(out, "that square");
    else
        str_printf(out, "%c%c", 'a' + square_file(square), '1' + square_rank(square));
}

static void put_piece(Str *out, int piece) {
    static const char *const names[KIND_COUNT] = { "man", "pawn", "knight", "bishop", "rook", "queen", "king" };
    str_append(out, names[piece_kind(piece)]);
}

static void put_named(Str *out, const Reading *reading) {
    if (reading->from_file >= 0 && reading->from_rank >= 0)
        str_printf(out, " on %c%c", 'a' + reading->from_file, '1' + reading->from_rank);
    else if (reading->from_file >= 0)
        str_printf(out, " on the %c-file", 'a' + reading->from_file);
    else if (reading->from_rank >= 0)
        str_printf(out, " on rank %d", reading->from_rank + 1);
}

static void put_unable(Str *out, const Position *position, const Reading *reading) {
    str_append(out, reading->from == NO_SQUARE ? "no " : "the ");
    put_piece(out, reading->piece);
    if (reading->from == NO_SQUARE) {
        str_printf(out, " of %s can reach", position_turn(position) == WHITE ? "White" : "Black");
        return;
    }
    str_append(out, " on ");
    put_square(out, reading->from);
    str_append(out, " cannot go to");
}

void notation_explain(Str *out, const Position *position, const Reading *reading) {
    for (const char *at = sentences[reading->fault]; at != NULL && *at != 0; at++) {
        if (*at != '%') {
            str_append_char(out, *at);
            continue;
        }
        switch (*++at) {
        case 'P': put_piece(out, reading->piece); break;
        case 'D': put_piece(out, reading->cause_piece); break;
        case 'F': put_square(out, reading->from); break;
        case 'T': put_square(out, reading->to); break;
        case 'C': put_square(out, reading->cause); break;
        case 'M': put_unable(out, position, reading); break;
        case 't':
            if (reading->to != NO_SQUARE) {
                str_append(out, " on ");
                put_square(out, reading->to);
            }
            break;
        case 'f': put_named(out, reading); break;
        default: str_append(out, position_turn(position) == WHITE ? "White" : "Black");
        }
    }
}

void notation_alternatives(Str *out, const Position *position, const Reading *reading, const MoveLanguage *language) {
    MoveList list;
    moves_legal(position, &list);
    moves_sort(position, &list);
    Move moves[MOVES_MAX];
    int count = reading->candidate_count;
    memcpy(moves, reading->candidates, sizeof reading->candidates);
    for (int pass = 0; pass < 2 && count == 0; pass++)
        for (int i = 0; i < list.count; i++)
            if (pass == 1 || position_piece_at(position, move_from(list.moves[i])) == reading->piece)
                moves[count++] = list.moves[i];
    for (int i = 0; i < count; i++) {
        char san[NOTATION_MAX];
        notation_write_in(position, moves[i], NOTATION_SAN, language, san);
        str_printf(out, "%s%s", i > 0 ? " " : "", san);
    }
}
