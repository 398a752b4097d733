#include "core/notation/notation.h"

#include "core/chess/attacks.h"
#include "core/chess/movegen.h"
#include "core/chess/scene.h"
#include "core/notation/spoken.h"

#include <string.h>

typedef struct Writer {
    char *at;
    char *end; /* where the NUL must stand at the latest */
    const Position *position;
    Move move;
    int kind; /* of the man who moves */
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

/* Other men of the kind that could go there too. */
static uint64_t rivals(const Writer *writer) {
    if (writer->kind == PAWN || writer->kind == KING)
        return 0;
    Scene scene;
    scene_read(writer->position, &scene);
    return scene_movers(&scene, writer->kind, move_to(writer->move)) & ~square_set(move_from(writer->move));
}

/* File, rank, or both, as far as there are rivals (PGN 8.2.3.4). */
static void put_disambiguation(Writer *writer) {
    int from = move_from(writer->move);
    uint64_t others = rivals(writer);
    bool same_file = (others & line_file(from)) != 0, same_rank = (others & line_rank(from)) != 0;
    if (others != 0 && (!same_file || same_rank))
        put(writer, (char)('a' + square_file(from)));
    if (same_file)
        put(writer, (char)('1' + square_rank(from)));
}

typedef enum Threat { THREAT_NONE, THREAT_CHECK, THREAT_MATE } Threat;

static Threat threat(const Writer *writer) {
    Position after;
    position_move(&after, writer->position, writer->move);
    if (!position_in_check(&after))
        return THREAT_NONE;
    return moves_count(&after) == 0 ? THREAT_MATE : THREAT_CHECK;
}

static void put_check(Writer *writer) {
    static const char *const marks[] = { [THREAT_NONE] = "", [THREAT_CHECK] = "+", [THREAT_MATE] = "#" };
    put_text(writer, marks[threat(writer)]);
}

static void write_algebraic(Writer *writer, bool with_from, const char *const letters[KIND_COUNT]) {
    Move move = writer->move;
    int from = move_from(move);
    bool capture = position_is_capture(writer->position, move);
    if (position_is_castling(writer->position, move)) {
        put_text(writer, move_to(move) > from ? "O-O" : "O-O-O");
        put_check(writer);
        return;
    }
    if (writer->kind != PAWN)
        put_text(writer, letters[writer->kind]);
    if (with_from)
        put_square(writer, from);
    else if (writer->kind == PAWN && capture)
        put(writer, (char)('a' + square_file(from)));
    else
        put_disambiguation(writer);
    if (capture || with_from)
        put(writer, capture ? 'x' : '-');
    put_square(writer, move_to(move));
    if (move_promotion(move) != EMPTY) {
        put(writer, '=');
        put_text(writer, letters[move_promotion(move)]);
    }
    put_check(writer);
}

/* U+2654 to U+265F. */
static void write_figurine(Writer *writer) {
    static const char *const figures[2][KIND_COUNT] = {
        [WHITE] = { NULL, "\xe2\x99\x99", "\xe2\x99\x98", "\xe2\x99\x97", "\xe2\x99\x96", "\xe2\x99\x95", "\xe2\x99\x94" },
        [BLACK] = { NULL, "\xe2\x99\x9f", "\xe2\x99\x9e", "\xe2\x99\x9d", "\xe2\x99\x9c", "\xe2\x99\x9b", "\xe2\x99\x9a" },
    };
    write_algebraic(writer, false, figures[position_turn(writer->position)]);
}

static int coordinate_target(const Position *position, Move move) {
    int king, rook;
    if (position->chess960 || !position_is_castling(position, move))
        return move_to(move);
    castling_targets(position, move, &king, &rook);
    return king;
}

static void write_numeric(Writer *writer) {
    static const char promotions[KIND_COUNT] = { [QUEEN] = '1', [ROOK] = '2', [BISHOP] = '3', [KNIGHT] = '4' };
    int squares[2] = { move_from(writer->move), coordinate_target(writer->position, writer->move) };
    for (int i = 0; i < 2; i++) {
        put(writer, (char)('1' + square_file(squares[i])));
        put(writer, (char)('1' + square_rank(squares[i])));
    }
    if (move_promotion(writer->move) != EMPTY)
        put(writer, promotions[move_promotion(writer->move)]);
}

static void write_uci(Writer *writer) {
    put_square(writer, move_from(writer->move));
    put_square(writer, coordinate_target(writer->position, writer->move));
    if (move_promotion(writer->move) != EMPTY)
        put(writer, " pnbrqk"[move_promotion(writer->move)]);
}

/* --- spoken --- */

/* The word and, but for the first of all, a blank before it; nothing where the language has none. */
static void say(Writer *writer, const char *before, const char *entry) {
    size_t length;
    const char *word = spoken_first(entry, &length);
    if (length > 0)
        put_text(writer, before);
    for (size_t i = 0; i < length; i++)
        put(writer, word[i]);
}

static void say_square(Writer *writer, const SpokenWords *words, int square) {
    say(writer, " ", words->files[square_file(square)]);
    say(writer, " ", words->ranks[square_rank(square)]);
}

static void say_man(Writer *writer, const SpokenWords *words) {
    Move move = writer->move;
    bool capture = position_is_capture(writer->position, move);
    bool from_needed = writer->kind == PAWN ? capture : rivals(writer) != 0;
    say(writer, "", words->men[writer->kind]);
    if (from_needed)
        say_square(writer, words, move_from(move));
    if (capture || from_needed)
        say(writer, " ", capture ? words->takes : words->to);
    say_square(writer, words, move_to(move));
    if (position_is_en_passant(writer->position, move))
        say(writer, " ", words->en_passant);
    if (move_promotion(move) != EMPTY) {
        say(writer, " ", words->becomes);
        say(writer, " ", words->men[move_promotion(move)]);
    }
}

static void write_spoken(Writer *writer, const SpokenWords *words) {
    if (position_is_castling(writer->position, writer->move))
        say(writer, "", words->castling[move_to(writer->move) > move_from(writer->move)]);
    else
        say_man(writer, words);
    Threat given = threat(writer);
    if (given != THREAT_NONE)
        say(writer, ", ", given == THREAT_MATE ? words->mate : words->check);
}

void notation_write_in(const Position *position, Move move, Notation notation, const MoveLanguage *language,
                       char ret[NOTATION_MAX]) {
    Writer writer = { ret, ret + NOTATION_MAX - 1, position, move, piece_kind(position_piece_at(position, move_from(move))) };
    if (language == NULL)
        language = language_english();
    ret[0] = 0;
    switch (notation) {
    case NOTATION_SAN: write_algebraic(&writer, false, language->letters); break;
    case NOTATION_LONG: write_algebraic(&writer, true, language->letters); break;
    case NOTATION_UCI: write_uci(&writer); break;
    case NOTATION_NUMERIC: write_numeric(&writer); break;
    case NOTATION_FIGURINE: write_figurine(&writer); break;
    case NOTATION_SPOKEN: write_spoken(&writer, language->spoken != NULL ? language->spoken : language_law_e()); break;
    case NOTATION_COUNT: break;
    }
}

void notation_write(const Position *position, Move move, Notation notation, char ret[NOTATION_MAX]) {
    notation_write_in(position, move, notation, NULL, ret);
}

const char *notation_name(Notation notation) {
    static const char *const names[NOTATION_COUNT] = {
        [NOTATION_SAN] = "san",         [NOTATION_LONG] = "long",         [NOTATION_UCI] = "uci",
        [NOTATION_NUMERIC] = "numeric", [NOTATION_FIGURINE] = "figurine", [NOTATION_SPOKEN] = "spoken",
    };
    return (unsigned)notation < NOTATION_COUNT ? names[notation] : "";
}
