/* perft_suite: node counts of files against ours.
 *
 * usage: perft_suite [--nodes-max N | --all] FILE …
 *
 * Files: lines "FEN ;D1 20 ;D2 400", or lines "id NAME", "epd FEN", "perft 1 20"; blank lines and
 * lines with # before are passed over, any other line is an error. Of each position the depths are
 * counted whose expected counts, shallowest first, come to N (1,000,000) together at most; at least
 * one; with --all every depth. So the same is done on every machine, however fast.
 *
 * Besides, trees of at most WALK_NODES are walked without perft_count(). Each position there must come
 * back from its FEN, both ways of writing, with the key of a position set up anew; counting moves,
 * in every way this machine has, and asking whether a move gives check must say what listing and
 * making the moves says. Of each position of a file, every one of the 65,536 numbers a move could be
 * must be legal or not as the list has it.
 * Prints a line for each wrong answer, then the sums; exit 1 if any is wrong, 2 if a file cannot be read. */
#include "core/chess/count.h"
#include "core/chess/fen.h"
#include "core/chess/movegen.h"
#include "core/chess/perft.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WALK_NODES = 5000, LINE_BYTES = 1024 };

typedef struct Suite {
    const char *file;
    int line;
    uint64_t nodes_max;      /* of one position */
    Position position;       /* the one that counts belong to */
    char fen[LINE_BYTES];    /* as it stands in the file; empty: none yet */
    uint64_t budget;         /* what is left of nodes_max */
    bool counted;            /* something of this position */
    uint64_t positions, counts, nodes, walked, wrong;
} Suite;

static void __attribute__((noreturn)) fail(const Suite *suite, const char *what) {
    fprintf(stderr, "perft_suite: %s:%d: %s\n", suite->file, suite->line, what);
    exit(2);
}

static void found_wrong(Suite *suite, const char *what, int depth, uint64_t ours, uint64_t theirs) {
    suite->wrong++;
    printf("%s:%d: %s depth %d: %s %llu, not %llu\n", suite->file, suite->line, suite->fen, depth, what,
           (unsigned long long)ours, (unsigned long long)theirs);
}

/* A position must be the same when it is written and read, and its key not depend on the way there. */
static bool sound(const Position *position) {
    for (unsigned form = 0; form <= FEN_SHREDDER; form += FEN_SHREDDER) {
        char fen[FEN_MAX];
        Position read;
        fen_write(position, form, fen);
        if (!fen_read(fen, FEN_STRICT | (position->chess960 ? FEN_CHESS960 : 0), &read, NULL)
            || !position_same(&read, position) || position_key(&read) != position_key(position)
            || position_halfmove(&read) != position_halfmove(position)
            || position_fullmove(&read) != position_fullmove(position))
            return false;
    }
    return true;
}

static void found_unsound(Suite *suite, const Position *position, const char *what) {
    char fen[FEN_MAX];
    fen_write(position, FEN_SHREDDER, fen);
    suite->wrong++;
    printf("%s:%d: %s: %s\n", suite->file, suite->line, fen, what);
}

/* `replies`: the moves of all positions after the listed moves. */
static void check_ways(Suite *suite, const Position *position, const MoveList *list, uint64_t replies) {
    for (const CountWay *const *way = COUNT_WAYS; *way != NULL; way++)
        if ((*way)->usable() && ((*way)->moves(position) != (uint64_t)list->count || (*way)->replies(position, list) != replies))
            found_unsound(suite, position, (*way)->name);
    if (moves_count(position) != list->count)
        found_unsound(suite, position, "moves_count()");
}

static uint64_t walk(Suite *suite, const Position *position, int depth) {
    suite->walked++;
    if (!sound(position))
        found_unsound(suite, position, "not the same when read");
    if (depth == 0)
        return 1;
    MoveList list;
    uint64_t count = 0, replies = 0;
    moves_legal(position, &list);
    for (int i = 0; i < list.count; i++) {
        Position after;
        position_move(&after, position, list.moves[i]);
        if (position_in_check(&after) != move_gives_check(position, list.moves[i]))
            found_unsound(suite, position, "move_gives_check()");
        replies += perft_count(&after, 1);
        count += walk(suite, &after, depth - 1);
    }
    check_ways(suite, position, &list, replies);
    return count;
}

static void check_all_numbers(Suite *suite) {
    static bool legal[UINT16_MAX + 1];
    MoveList list;
    moves_legal(&suite->position, &list);
    memset(legal, 0, sizeof legal);
    for (int i = 0; i < list.count; i++)
        legal[list.moves[i]] = true;
    for (int move = 0; move <= UINT16_MAX; move++)
        if (move_is_legal(&suite->position, (Move)move) != legal[move])
            found_unsound(suite, &suite->position, "move_is_legal()");
}

static void check_count(Suite *suite, int depth, uint64_t expected) {
    if (suite->fen[0] == 0)
        fail(suite, "a count without a position");
    if (expected > suite->budget && suite->counted)
        return;
    suite->budget -= expected < suite->budget ? expected : suite->budget;
    suite->counted = true;
    suite->counts++;
    uint64_t ours = perft_count(&suite->position, depth);
    suite->nodes += ours;
    if (ours != expected)
        found_wrong(suite, "counted", depth, ours, expected);
    if (expected <= WALK_NODES) {
        uint64_t walked = walk(suite, &suite->position, depth);
        if (walked != expected)
            found_wrong(suite, "walked", depth, walked, expected);
    }
}

static void take_position(Suite *suite, const char *fen) {
    Error error;
    if (!fen_read(fen, 0, &suite->position, &error))
        fail(suite, error.text);
    snprintf(suite->fen, sizeof suite->fen, "%s", fen);
    suite->budget = suite->nodes_max;
    suite->counted = false;
    suite->positions++;
    check_all_numbers(suite);
}

/* "5 4865609", of which the depth begins at `text`; blanks may follow. */
static void take_count(Suite *suite, const char *text) {
    char *end;
    errno = 0;
    long depth = strtol(text, &end, 10);
    if (end == text || *end != ' ' || depth < 1 || depth > 99)
        fail(suite, "no depth");
    const char *number = end + 1;
    unsigned long long count = strtoull(number, &end, 10);
    if (end == number || errno != 0 || end[strspn(end, " ")] != 0)
        fail(suite, "no count");
    check_count(suite, (int)depth, count);
}

static void take_line(Suite *suite, char *line) {
    size_t length = strcspn(line, "\r\n");
    if (line[length] == 0 && length + 1 >= LINE_BYTES)
        fail(suite, "the line is too long");
    line[length] = 0;
    if (line[strspn(line, " \t")] == 0 || line[0] == '#' || strncmp(line, "id ", 3) == 0)
        return;
    if (strncmp(line, "epd ", 4) == 0) {
        take_position(suite, line + 4);
    } else if (strncmp(line, "perft ", 6) == 0) {
        take_count(suite, line + 6);
    } else {
        char *rest, *part = strtok_r(line, ";", &rest);
        take_position(suite, part);
        for (part = strtok_r(NULL, ";", &rest); part != NULL; part = strtok_r(NULL, ";", &rest)) {
            if (part[0] != 'D')
                fail(suite, "neither a count nor a position");
            take_count(suite, part + 1);
        }
    }
}

static void take_file(Suite *suite, const char *name) {
    suite->file = name;
    suite->line = 0;
    suite->fen[0] = 0;
    FILE *file = fopen(name, "r");
    if (file == NULL)
        fail(suite, "cannot be opened");
    char line[LINE_BYTES];
    uint64_t before = suite->counts;
    while (fgets(line, sizeof line, file) != NULL) {
        suite->line++;
        take_line(suite, line);
    }
    bool good = !ferror(file) && suite->counts > before;
    fclose(file);
    if (!good)
        fail(suite, "no counts");
}

int main(int argc, char **argv) {
    Suite suite = { .file = "", .nodes_max = 1000000 };
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--all") == 0)
            suite.nodes_max = UINT64_MAX;
        else if (strcmp(argv[i], "--nodes-max") == 0 && i + 1 < argc)
            suite.nodes_max = strtoull(argv[++i], NULL, 10);
        else
            take_file(&suite, argv[i]);
    }
    if (suite.positions == 0) {
        fputs("usage: perft_suite [--nodes-max N | --all] FILE …\n", stderr);
        return 2;
    }
    printf("positions %llu, counts %llu, nodes %llu, walked %llu, wrong %llu\n", (unsigned long long)suite.positions,
           (unsigned long long)suite.counts, (unsigned long long)suite.nodes, (unsigned long long)suite.walked,
           (unsigned long long)suite.wrong);
    return suite.wrong > 0;
}
