/* oracle: random games, each position of which another program must see as we do.
 *
 * usage: oracle [--engine PATH] [--plies N] [--seed N]
 *
 * The engine speaks UCI and has Stockfish's `d` (prints the position as FEN, and who gives check)
 * and `go perft 1` (prints every legal move). For each ply it is told the FEN before the move and
 * the move; from its answer are compared the FEN after it (so it checks position_move()), the men
 * that give check (position_checkers()), and the whole list of legal moves (moves_legal()). Its
 * en passant square needs a pawn beside it only, ours a legal capture; that is told apart by the
 * engine's own list of moves.
 *
 * Stockfish reads commands in one thread and counts in another, and once in some 100,000 plies it
 * contradicts itself: its list of moves is not as long as it says. So what differs is asked again,
 * alone; a difference is what the engine says TRIES times.
 *
 * The games begin in the start array, in all 960 arrays in turn, and in set-up positions of many
 * kinds; the rarer a kind of move, the more it is preferred. Every N and seed gives the same games
 * on every machine. Last line: what was compared. Exit 1 and the whole difference at the first one. */
#include "core/chess/fen.h"
#include "core/chess/movegen.h"
#include "core/notation/notation.h"
#include "tests/simulate/prng.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    BATCH = 128,          /* plies asked about at once: their commands fit a pipe (64 KB), so writing never waits */
    LEGAL_MAX = 200,      /* Stockfish has room for 256 moves, not all of them legal */
    ARRAYS = 960,
    UCI_BYTES = 6,
    TRIES = 4,
    PATIENCE = 300,       /* seconds for a batch, on a machine that has much else to do */
};

static void __attribute__((noreturn)) fail(const char *what, const char *more) {
    fprintf(stderr, "oracle: %s%s\n", what, more);
    exit(2);
}

/* ---- the engine ---- */

typedef struct Engine {
    const char *path;
    FILE *in, *out; /* its standard input and output */
    pid_t pid;
    bool chess960;
} Engine;

/* False if it has ended, or says nothing for so long that the alarm came. */
static bool engine_line(Engine *engine, char *line, size_t size) {
    if (fgets(line, (int)size, engine->out) == NULL)
        return false;
    line[strcspn(line, "\r\n")] = 0;
    return true;
}

static void engine_ready(Engine *engine) {
    char line[512] = "";
    fprintf(engine->in, "setoption name UCI_Chess960 value %s\nisready\n", engine->chess960 ? "true" : "false");
    fflush(engine->in);
    alarm(PATIENCE);
    while (strcmp(line, "readyok") != 0)
        if (!engine_line(engine, line, sizeof line))
            fail("the engine has ended", "");
    alarm(0);
}

static void engine_start(Engine *engine) {
    int in[2], out[2];
    if (pipe(in) != 0 || pipe(out) != 0)
        fail("no pipe", "");
    engine->pid = fork();
    if (engine->pid < 0)
        fail("no process", "");
    if (engine->pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        close(out[0]);
        execl(engine->path, engine->path, (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    engine->in = fdopen(in[1], "w");
    engine->out = fdopen(out[0], "r");
    if (engine->in == NULL || engine->out == NULL)
        fail("no stream", "");
    engine_ready(engine);
}

static void engine_stop(Engine *engine) {
    fclose(engine->in); /* the end of its commands is its end */
    fclose(engine->out);
    kill(engine->pid, SIGTERM);
    waitpid(engine->pid, NULL, 0);
}

/* What must be compared after one move, and what the engine says. */
typedef struct Ply {
    char before[FEN_MAX]; /* the set-up position itself where `move` is none */
    char move[UCI_BYTES];
    Position after;
    char fen[FEN_MAX];
    uint64_t checkers;
    uint64_t moves[256]; /* eight bytes of a move's UCI name as a number */
    int move_count;
    bool whole; /* the answer came, and its list is as long as it says itself */
} Ply;

static uint64_t packed(const char *uci) {
    uint64_t number = 0;
    for (int i = 0; i < UCI_BYTES - 1 && uci[i] != 0; i++)
        number |= (uint64_t)(unsigned char)uci[i] << (8 * (7 - i));
    return number;
}

static void unpacked(uint64_t number, char ret[UCI_BYTES]) {
    for (int i = 0; i < UCI_BYTES; i++)
        ret[i] = i < UCI_BYTES - 1 ? (char)(number >> (8 * (7 - i))) : 0;
}

static bool is_square(const char *text) {
    return text[0] >= 'a' && text[0] <= 'h' && text[1] >= '1' && text[1] <= '8';
}

static uint64_t read_squares(const char *text) {
    uint64_t set = 0;
    for (; is_square(text); text += text[2] == ' ' ? 3 : 2)
        set |= UINT64_C(1) << square_make(text[0] - 'a', text[1] - '1');
    return set;
}

/* The two kinds of answer come in order each, but `d` may overtake the counting before it. */
static bool engine_answers(Engine *engine, Ply *plies, int count) {
    int boards = 0, lists = 0;
    char line[512];
    while (boards < count || lists < count) {
        if (!engine_line(engine, line, sizeof line))
            return false;
        if (strncmp(line, "Fen: ", 5) == 0 && boards < count) {
            snprintf(plies[boards].fen, FEN_MAX, "%.*s", FEN_MAX - 1, line + 5);
        } else if (strncmp(line, "Checkers: ", 10) == 0 && boards < count) {
            plies[boards++].checkers = read_squares(line + 10);
        } else if (strncmp(line, "Nodes searched: ", 16) == 0 && lists < count) {
            plies[lists].whole = strtol(line + 16, NULL, 10) == plies[lists].move_count;
            lists++;
        } else if (is_square(line) && is_square(line + 2) && lists < count && plies[lists].move_count < 256) {
            line[strcspn(line, ":")] = 0;
            plies[lists].moves[plies[lists].move_count++] = packed(line);
        }
    }
    return true;
}

static void engine_ask(Engine *engine, Ply *plies, int count) {
    for (int i = 0; i < count; i++) {
        const Ply *ply = &plies[i];
        plies[i].move_count = 0;
        plies[i].whole = false;
        plies[i].fen[0] = 0;
        fprintf(engine->in, "position fen %s%s%s\nd\ngo perft 1\n", ply->before, ply->move[0] == 0 ? "" : " moves ", ply->move);
    }
    fflush(engine->in);
    alarm(PATIENCE);
    bool answered = engine_answers(engine, plies, count);
    alarm(0);
    if (answered)
        return;
    engine_stop(engine);
    engine_start(engine);
}

/* ---- positions to begin with ---- */

typedef struct Recipe {
    const char *name;
    int share;                /* of a hundred plies */
    bool standard, chess960;
    int length;               /* plies of a game */
    int men, pawns;           /* at most, a side; the king not counted */
    const char *kinds;        /* of the men, drawn from these letters */
    int pawn_low, pawn_high;  /* ranks of the pawns, from their own side, 1–8 */
    bool castling;            /* king and rooks at home, with rights */
    bool ends;                /* pawns on the lowest and the highest of these ranks only */
} Recipe;

static const Recipe recipes[] = {
    { .name = "start array", .share = 12, .standard = true, .length = 160 },
    { .name = "arrays", .share = 18, .chess960 = true, .length = 120 },
    { .name = "thinned arrays", .share = 18, .chess960 = true, .length = 12 },
    { "castling", 16, true, true, 10, 5, 4, "QRBN", 2, 7, true, false },
    { "en passant", 12, true, true, 12, 5, 7, "QRB", 2, 5, false, true },
    { "promotion", 8, true, true, 30, 4, 5, "QRBN", 5, 7, false, false },
    { "few men", 8, true, true, 40, 2, 1, "QRBN", 2, 7, false, false },
    { "crowds", 8, true, true, 24, 15, 8, "QQQRBN", 2, 7, false, false },
};
enum { RECIPES = sizeof recipes / sizeof recipes[0] };

typedef struct Game {
    Position position;
    int left; /* plies; 0: over */
} Game;

typedef struct Totals {
    uint64_t plies, setups, moves, checks, double_checks, mates, stalemates, castlings, castlings960, promotions;
    uint64_t en_passant, en_passant_barred; /* played; a pawn stands beside, but its king would be in check */
    uint64_t asked_again, shields;
    bool arrays[ARRAYS];
} Totals;

static uint64_t chance;
static Totals totals;

static int below(int number) {
    return (int)prng_below(&chance, (uint64_t)number);
}

/* Lays a man on an empty square of ranks low–high (0–7) and any file, if it finds one. */
static void scatter(char board[64], char letter, int low, int high) {
    for (int tries = 0; tries < 20; tries++) {
        int square = square_make(below(8), low + below(high - low + 1));
        if (board[square] == 0) {
            board[square] = letter;
            return;
        }
    }
}

static char of_side(char letter, Colour colour) {
    return (char)(colour == WHITE ? letter : letter + 32);
}

/* King, rooks and their rights on the first rank; sometimes a rook more, or an enemy man beyond them, whom only the rook keeps
 * from the king. */
static void lay_castling(char board[64], Colour colour, bool chess960, char *rights) {
    int first = colour == WHITE ? 0 : 56, king = chess960 ? 1 + below(6) : 4;
    int left = chess960 ? below(king) : 0, right = chess960 ? king + 1 + below(7 - king) : 7;
    board[first + king] = of_side('K', colour);
    size_t length = strlen(rights);
    if (below(4) > 0) {
        board[first + right] = of_side('R', colour);
        rights[length++] = of_side(chess960 ? (char)('A' + right) : 'K', colour);
    }
    if (below(4) > 0) {
        board[first + left] = of_side('R', colour);
        rights[length++] = of_side(chess960 ? (char)('A' + left) : 'Q', colour);
    }
    rights[length] = 0;
    if (left > 0 && below(3) == 0)
        board[first + below(left)] = of_side(below(2) ? 'R' : 'Q', colour == WHITE ? BLACK : WHITE);
    if (right < 7 && below(3) == 0)
        board[first + right + 1 + below(7 - right)] = of_side(below(2) ? 'R' : 'Q', colour == WHITE ? BLACK : WHITE);
    if (below(3) == 0)
        scatter(board, of_side('R', colour), colour == WHITE ? 0 : 7, colour == WHITE ? 0 : 7);
}

static void lay_side(const Recipe *recipe, char board[64], Colour colour) {
    int beside = colour == WHITE ? 4 : 3; /* the rank on which en passant may bare a king */
    if (!recipe->castling)
        scatter(board, of_side('K', colour), recipe->ends ? beside : 0, recipe->ends ? beside : 7);
    for (int pawns = below(recipe->pawns + 1); pawns > 0; pawns--) {
        int low = recipe->pawn_low - 1, high = recipe->pawn_high - 1;
        if (recipe->ends)
            low = high = below(2) ? low : high;
        scatter(board, of_side('P', colour), colour == WHITE ? low : 7 - high, colour == WHITE ? high : 7 - low);
    }
    for (int men = below(recipe->men + 1); men > 0; men--)
        scatter(board, of_side(recipe->kinds[below((int)strlen(recipe->kinds))], colour), 0, 7);
}

static void write_setup(const char board[64], const char *rights, char ret[FEN_MAX]) {
    char *at = ret;
    for (int rank = 7; rank >= 0; rank--) {
        for (int file = 0; file < 8; file++) {
            char letter = board[square_make(file, rank)];
            *at++ = letter == 0 ? '1' : letter;
        }
        *at++ = rank > 0 ? '/' : ' ';
    }
    snprintf(at, (size_t)(FEN_MAX - (at - ret)), "%c %s - %d %d", below(2) ? 'w' : 'b', rights[0] == 0 ? "-" : rights,
             below(60), 1 + below(200));
}

/* Until one is possible; most are. */
static void set_up(const Recipe *recipe, bool chess960, Position *ret) {
    MoveList list;
    Error error;
    do {
        char fen[FEN_MAX], board[64] = { 0 }, rights[5] = "";
        for (int colour = WHITE; colour <= BLACK; colour++) {
            if (recipe->castling)
                lay_castling(board, (Colour)colour, chess960, rights);
            lay_side(recipe, board, (Colour)colour);
        }
        write_setup(board, rights, fen);
        if (fen_read(fen, chess960 ? FEN_CHESS960 : 0, ret, &error))
            moves_legal(ret, &list);
        else
            list.count = LEGAL_MAX + 1;
    } while (list.count > LEGAL_MAX);
}

/* An array without some of its officers and pawns, so that castling is near. */
static bool thin(Position *position) {
    char fen[FEN_MAX], thinned[FEN_MAX * 2], *at = thinned;
    Error error;
    fen_write(position, FEN_SHREDDER, fen);
    const char *end = strchr(fen, ' ');
    for (const char *from = fen; from < end; from++) {
        if (*from >= '1' && *from <= '8') /* empty squares one by one: a FEN may say it so */
            for (int i = '0'; i < *from; i++)
                *at++ = '1';
        else
            *at++ = strchr("QBNqbn", *from) != NULL ? (below(4) ? '1' : *from)
                  : strchr("Pp", *from) != NULL && below(3) == 0 ? '1' : *from;
    }
    snprintf(at, sizeof thinned - (size_t)(at - thinned), "%s", end);
    return fen_read(thinned, FEN_CHESS960, position, &error);
}

static void game_begin(const Recipe *recipe, bool chess960, Game *ret) {
    static int array;
    ret->left = recipe->length;
    if (recipe->kinds != NULL) {
        set_up(recipe, chess960, &ret->position);
        return;
    }
    if (!chess960) {
        position_start(&ret->position);
        return;
    }
    int number = array++ % ARRAYS;
    totals.arrays[number] = true;
    bool whole = recipe->length > 100, good;
    do {
        good = position_start960(number, &ret->position) && (whole || thin(&ret->position));
    } while (!good);
}

/* ---- games ---- */

static bool gives_check(const Position *position, Move move) {
    Position after;
    position_move(&after, position, move);
    return position_in_check(&after);
}

static bool beside_pawn(const Position *position, Colour colour, int square) {
    uint64_t pawns = position_men(position, colour, PAWN);
    int file = square_file(square);
    return (file > 0 && (pawns >> (square - 1) & 1)) || (file < 7 && (pawns >> (square + 1) & 1));
}

static int weight(const Position *position, Move move, bool want_check) {
    int from = move_from(move), to = move_to(move), kind = piece_kind(position_piece_at(position, from));
    if (position_is_castling(position, move) || position_is_en_passant(position, move))
        return 150;
    if (want_check && gives_check(position, move))
        return 20;
    if (kind == PAWN && (to - from == 16 || from - to == 16))
        return beside_pawn(position, position_turn(position) == WHITE ? BLACK : WHITE, to) ? 150 : 6;
    return move_promotion(move) != EMPTY ? 4 : kind == KING || kind == ROOK ? 1 : 3; /* rights last longer so */
}

static int by_value(const void *left, const void *right) {
    Move a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    return a < b ? -1 : a > b;
}

/* The list comes in no promised order, but a seed means the same games for ever. */
static Move choose(const Position *position, MoveList *list) {
    int weights[MOVES_MAX], sum = 0;
    bool want_check = below(4) == 0;
    qsort(list->moves, (size_t)list->count, sizeof list->moves[0], by_value);
    for (int i = 0; i < list->count; i++)
        sum += weights[i] = weight(position, list->moves[i], want_check);
    int at = below(sum), chosen = 0;
    while (at >= weights[chosen])
        at -= weights[chosen++];
    return list->moves[chosen];
}

static void count_move(const Position *position, Move move) {
    totals.plies++;
    if (position_is_castling(position, move)) {
        totals.castlings++;
        totals.castlings960 += position->chess960;
    }
    totals.en_passant += position_is_en_passant(position, move);
    totals.promotions += move_promotion(move) != EMPTY;
}

static unsigned fen_form(const Position *position) {
    return position->chess960 ? FEN_SHREDDER : 0;
}

/* The next ply of the game, or a new game's first position. */
static void ply_make(const Recipe *recipe, bool chess960, Game *game, Ply *ret) {
    MoveList list = { .count = 0 };
    ret->move[0] = 0;
    if (game->left > 0)
        moves_legal(&game->position, &list);
    if (list.count == 0 || list.count > LEGAL_MAX) {
        game_begin(recipe, chess960, game);
        fen_write(&game->position, fen_form(&game->position), ret->before);
        totals.setups++;
    } else {
        char uci[NOTATION_MAX];
        Move move = choose(&game->position, &list);
        fen_write(&game->position, fen_form(&game->position), ret->before);
        notation_write(&game->position, move, NOTATION_UCI, uci);
        snprintf(ret->move, sizeof ret->move, "%.5s", uci);
        count_move(&game->position, move);
        position_move(&game->position, &game->position, move);
        game->left--;
    }
    ret->after = game->position;
}

/* ---- comparing ---- */

static void __attribute__((noreturn)) differ(const Ply *ply, const char *what) {
    char fen[FEN_MAX], uci[NOTATION_MAX];
    fen_write(&ply->after, fen_form(&ply->after), fen);
    printf("%s differs after %s in %s (chess960: %d)\nours:     %s\nengine's: %s\nours:    ", what,
           ply->move[0] == 0 ? "no move" : ply->move, ply->before, ply->after.chess960, fen, ply->fen);
    MoveList list;
    moves_legal(&ply->after, &list);
    moves_sort(&ply->after, &list);
    for (int i = 0; i < list.count; i++) {
        notation_write(&ply->after, list.moves[i], NOTATION_UCI, uci);
        printf(" %s", uci);
    }
    printf("\nengine's:");
    for (int i = 0; i < ply->move_count; i++) {
        unpacked(ply->moves[i], uci);
        printf(" %s", uci);
    }
    printf("\ncheckers: ours %llx, engine's %llx\n", (unsigned long long)position_checkers(&ply->after),
           (unsigned long long)ply->checkers);
    exit(1);
}

static int by_number(const void *left, const void *right) {
    uint64_t a, b;
    memcpy(&a, left, sizeof a);
    memcpy(&b, right, sizeof b);
    return a < b ? -1 : a > b;
}

/* Whether the engine has a pawn move from another file onto this empty square. */
static bool captures_en_passant(const Ply *ply, const char square[2]) {
    for (int i = 0; i < ply->move_count; i++) {
        char uci[UCI_BYTES];
        unpacked(ply->moves[i], uci);
        int from = square_make(uci[0] - 'a', uci[1] - '1');
        if (memcmp(uci + 2, square, 2) == 0 && uci[0] != square[0] && piece_kind(position_piece_at(&ply->after, from)) == PAWN)
            return true;
    }
    return false;
}

/* Field `number` of a FEN, from 0; blanks are single in what is compared. */
static const char *field(const char *fen, int number) {
    for (; number > 0 && fen != NULL; number--) {
        fen = strchr(fen, ' ');
        fen += fen != NULL;
    }
    return fen == NULL ? "" : fen;
}

static bool same_fen(const Ply *ply) {
    char ours[FEN_MAX];
    fen_write(&ply->after, fen_form(&ply->after), ours);
    if (strcmp(ours, ply->fen) == 0)
        return true;
    const char *our_square = field(ours, 3), *their_square = field(ply->fen, 3);
    if (our_square[0] != '-' || !is_square(their_square) || our_square - ours != their_square - ply->fen
        || memcmp(ours, ply->fen, (size_t)(our_square - ours)) != 0 || strcmp(field(ours, 4), field(ply->fen, 4)) != 0)
        return false;
    Colour turn = position_turn(&ply->after), other = turn == WHITE ? BLACK : WHITE;
    int behind = square_make(their_square[0] - 'a', their_square[1] - '1');
    bool barred = position_piece_at(&ply->after, behind ^ 8) == piece_make(other, PAWN) && beside_pawn(&ply->after, turn, behind ^ 8)
        && !captures_en_passant(ply, their_square);
    totals.en_passant_barred += barred;
    return barred;
}

/* What differs, NULL if nothing does. */
static const char *difference(Ply *ply) {
    MoveList list;
    uint64_t ours[MOVES_MAX];
    moves_legal(&ply->after, &list);
    for (int i = 0; i < list.count; i++) {
        char uci[NOTATION_MAX];
        notation_write(&ply->after, list.moves[i], NOTATION_UCI, uci);
        ours[i] = packed(uci);
    }
    qsort(ours, (size_t)list.count, sizeof ours[0], by_number);
    qsort(ply->moves, (size_t)ply->move_count, sizeof ply->moves[0], by_number);
    if (list.count != ply->move_count || memcmp(ours, ply->moves, sizeof ours[0] * (size_t)list.count) != 0)
        return "the list of legal moves";
    if (position_checkers(&ply->after) != ply->checkers || position_in_check(&ply->after) != (ply->checkers != 0))
        return "check";
    return same_fen(ply) ? NULL : "the position";
}

/* Whether a rook that has the right to castle stands between his king's side and an enemy rook or queen: he shields. */
static bool shields(const Position *position) {
    Colour turn = position_turn(position);
    for (uint64_t rooks = position->castling & position->sides[turn]; rooks != 0; rooks &= rooks - 1) {
        int rook = __builtin_ctzll(rooks), step = rook > position_king(position, turn) ? 1 : -1, file = square_file(rook) + step;
        for (; file >= 0 && file < 8; file += step) {
            int piece = position_piece_at(position, square_make(file, square_rank(rook))), kind = piece_kind(piece);
            if (piece != EMPTY && piece_colour(piece) != turn && (kind == ROOK || kind == QUEEN))
                return true;
            if (piece != EMPTY)
                break;
        }
    }
    return false;
}

static void ply_compare(Engine *engine, Ply *ply) {
    const char *what = difference(ply);
    for (int i = 1; i < TRIES && (what != NULL || !ply->whole); i++) {
        totals.asked_again++;
        engine_ask(engine, ply, 1);
        what = difference(ply);
    }
    if (!ply->whole)
        fail("the engine's list and its count differ in ", ply->before);
    if (what != NULL)
        differ(ply, what);
    totals.moves += (uint64_t)ply->move_count;
    totals.shields += shields(&ply->after);
    totals.checks += ply->checkers != 0;
    totals.double_checks += (ply->checkers & (ply->checkers - 1)) != 0;
    totals.mates += ply->move_count == 0 && ply->checkers != 0;
    totals.stalemates += ply->move_count == 0 && ply->checkers == 0;
}

static void play(Engine *engine, const Recipe *recipe, bool chess960, uint64_t plies) {
    static Ply batch[BATCH];
    Game game = { .left = 0 };
    engine->chess960 = chess960;
    engine_ready(engine);
    for (uint64_t until = totals.plies + plies; totals.plies < until;) {
        int count = 0;
        while (count < BATCH && totals.plies < until)
            ply_make(recipe, chess960, &game, &batch[count++]);
        engine_ask(engine, batch, count);
        for (int i = 0; i < count; i++)
            ply_compare(engine, &batch[i]);
    }
}

static void report(void) {
    uint64_t arrays = 0;
    for (int i = 0; i < ARRAYS; i++)
        arrays += totals.arrays[i];
    const struct { const char *name; uint64_t count; } counts[] = {
        { "plies", totals.plies }, { "first positions", totals.setups }, { "legal moves", totals.moves }, { "arrays", arrays },
        { "castlings", totals.castlings }, { "in chess960", totals.castlings960 }, { "shields", totals.shields }, { "en passant", totals.en_passant },
        { "barred", totals.en_passant_barred }, { "promotions", totals.promotions }, { "checks", totals.checks },
        { "double checks", totals.double_checks }, { "mates", totals.mates }, { "stalemates", totals.stalemates }, { "asked again", totals.asked_again },
    };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        printf("%s %llu, ", counts[i].name, (unsigned long long)counts[i].count);
    puts("differences 0");
}

static void too_late(int signal_number) {
    (void)signal_number; /* it interrupts the reading, that is all */
}

int main(int argc, char **argv) {
    const char *path = "/usr/games/stockfish";
    uint64_t plies = 20000;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--engine") == 0 && value[0] != 0)
            path = value;
        else if (strcmp(argv[i], "--plies") == 0 && value[0] != 0)
            plies = strtoull(value, NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0 && value[0] != 0)
            chance = strtoull(value, NULL, 10);
        else
            fail("usage: oracle [--engine PATH] [--plies N] [--seed N], not ", argv[i]);
    }
    signal(SIGPIPE, SIG_IGN);
    sigaction(SIGALRM, &(struct sigaction){ .sa_handler = too_late }, NULL);
    Engine engine = { .path = path };
    engine_start(&engine);
    for (int i = 0; i < RECIPES; i++) {
        const Recipe *recipe = &recipes[i];
        uint64_t share = plies * (uint64_t)recipe->share / 100, modes = (uint64_t)recipe->standard + recipe->chess960;
        if (recipe->standard)
            play(&engine, recipe, false, share / modes);
        if (recipe->chess960)
            play(&engine, recipe, true, share / modes);
    }
    engine_stop(&engine);
    report();
    return 0;
}
