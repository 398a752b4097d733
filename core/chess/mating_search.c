#include "core/chess/mating_search.h"

#include "core/chess/attacks.h"
#include "core/chess/mating_ghosts.h"
#include "core/chess/mating_material.h"
#include "core/chess/mating_store.h"
#include "core/chess/mating_walls.h"
#include "core/chess/movegen.h"

enum {
    BUCKETS = 1024,
    PATIENCE = 48,    /* positions looked at before proofs are tried at each: most mates come sooner */
    SMALL_ROOM = 512, /* for those proofs */
};

typedef struct Search {
    Store store;
    Colour side;
    uint32_t buckets[BUCKETS];
    int lowest;
    uint32_t mate; /* the node that is mate */
    uint64_t expanded;
    uint64_t spent; /* positions looked at for proofs: never many more than for the search itself */
} Search;

/* Weights of the guess, found by trying on positions from games: taking men away is the surest
 * way to a mate, as what is left can neither take nor block. */
enum { PER_FLIGHT = 2, PER_KING_STEP = 2, PER_EDGE_STEP = 1, NO_HEAVY_PIECE = 24, PER_PAWN_STEP = 3, PER_ENEMY = 16, GREED = 2 };

static int distance(int from, int to) {
    int across = square_file(from) - square_file(to), up = square_rank(from) - square_rank(to);
    across = across < 0 ? -across : across;
    up = up < 0 ? -up : up;
    return across > up ? across : up;
}

/* How far from mate a position seems: it only decides what is looked at first. */
static int cost_of(const Position *position, Colour side) {
    const uint64_t *kinds = position->kinds;
    Colour loser = side == WHITE ? BLACK : WHITE;
    uint64_t own = position->sides[side], enemy = position->sides[loser];
    int king = position_king(position, loser), own_king = position_king(position, side);
    uint64_t occupied = (own | enemy) & ~square_set(king);
    uint64_t attacked = attacks_pawns(side, own & kinds[PAWN]) | attacks_knights(own & kinds[KNIGHT])
        | attacks_king(own_king);
    for (uint64_t men = own & (kinds[BISHOP] | kinds[QUEEN]); men != 0; men &= men - 1)
        attacked |= attacks_bishop(set_first(men), occupied);
    for (uint64_t men = own & (kinds[ROOK] | kinds[QUEEN]); men != 0; men &= men - 1)
        attacked |= attacks_rook(set_first(men), occupied);
    int flights = set_count(attacks_king(king) & ~enemy & ~attacked);
    int file = square_file(king), rank = square_rank(king);
    int edge = (file < 4 ? file : 7 - file) + (rank < 4 ? rank : 7 - rank);
    int cost = PER_FLIGHT * flights + PER_KING_STEP * distance(king, own_king) + PER_EDGE_STEP * edge + PER_ENEMY * set_count(enemy);
    if ((own & (kinds[QUEEN] | kinds[ROOK])) == 0) {
        cost += NO_HEAVY_PIECE;
        for (int step = 1; step < 6; step++)
            if (own & kinds[PAWN] & (side == WHITE ? RANK_8 >> 8 * step : RANK_1 << 8 * step)) {
                cost -= PER_PAWN_STEP * (6 - step);
                break;
            }
    }
    return cost;
}

static void wait(Search *search, uint32_t node) {
    int bucket = search->store.links[node].bucket;
    search->store.links[node].next = search->buckets[bucket];
    search->buckets[bucket] = node;
    if (bucket < search->lowest)
        search->lowest = bucket;
}

static int bucket_of(const Position *position, Colour side, unsigned plies) {
    int bucket = GREED * cost_of(position, side) + (int)plies;
    return bucket < BUCKETS ? bucket : BUCKETS - 1;
}

static uint32_t pop(Search *search) {
    for (; search->lowest < BUCKETS; search->lowest++) {
        uint32_t node = search->buckets[search->lowest];
        if (node != NO_NODE) {
            search->buckets[search->lowest] = search->store.links[node].next;
            return node;
        }
    }
    return NO_NODE;
}

static bool is_mate(const Position *position) {
    if (!position_in_check(position))
        return false;
    MoveList list;
    moves_legal(position, &list);
    return list.count == 0;
}

/* Whether the men on the board or the pawns' places are not its parent's: only then is it worth asking anew. */
static bool irreversible(const Store *store, uint32_t at) {
    const StoreNode *node = &store->nodes[at], *before = &store->nodes[node->parent];
    if (node->parent == NO_NODE)
        return false;
    uint64_t pawns = node->planes[0] & ~node->planes[1] & ~node->planes[2];
    uint64_t pawns_before = before->planes[0] & ~before->planes[1] & ~before->planes[2];
    return pawns != pawns_before || set_count(node->planes[0] | node->planes[1] | node->planes[2])
        != set_count(before->planes[0] | before->planes[1] | before->planes[2]);
}

static bool pawns_can_advance(const Position *position) {
    uint64_t empty = ~(position->sides[WHITE] | position->sides[BLACK]);
    uint64_t white = position_men(position, WHITE, PAWN), black = position_men(position, BLACK, PAWN);
    return ((white << 8 | black >> 8) & empty) != 0;
}

/* Walls, and ghosts where something has changed for good. */
static bool hopeless(Search *search, const Position *position, uint32_t at) {
    if (walls_hold(position, search->side))
        return true;
    if (search->spent > search->store.count || pawns_can_advance(position) || !irreversible(&search->store, at))
        return false;
    uint64_t room[SMALL_ROOM * MATING_NODE_BYTES / sizeof(uint64_t)];
    MatingLimits limits = { .memory = room, .size = sizeof room, .nodes = SMALL_ROOM };
    Walls walls;
    walls_find(position, &walls);
    return ghosts_prevent_mate(position, &walls, search->side, &limits, &search->spent);
}

/* True when the mate is found. */
static bool expand(Search *search, uint32_t at) {
    Store *store = &search->store;
    unsigned plies = store->nodes[at].plies + 1u;
    Position position, after;
    MoveList list;
    mating_store_get(store, at, &position);
    StoreLink *link = &search->store.links[at];
    if (link->made == 0 && ++search->expanded > PATIENCE && hopeless(search, &position, at))
        return false;
    moves_legal(&position, &list);
    for (int i = link->made; i < list.count; i++) {
        Move move = list.moves[i];
        position_move(&after, &position, move);
        bool lost = position_is_capture(&position, move) || move_promotion(move) != EMPTY;
        if (lost && mating_material_lacks(&after, search->side) && !is_mate(&after))
            continue;
        uint32_t number = mating_store_keep(store, &after, at, move);
        if (number == NO_NODE)
            continue;
        if (position_turn(&after) != search->side && is_mate(&after)) {
            search->mate = number;
            return true;
        }
        int bucket = bucket_of(&after, search->side, plies);
        search->store.links[number] = (StoreLink){ .bucket = (uint16_t)bucket };
        if (bucket < link->bucket) { /* nearer to mate: on from there, the other moves of this one later */
            link->made = (uint16_t)(i + 1);
            wait(search, at);
            wait(search, number);
            return false;
        }
        wait(search, number);
    }
    return false;
}

static bool line_of(const Search *search, MatingLine *ret) {
    int plies = search->store.nodes[search->mate].plies;
    if (plies > MATING_LINE_MAX)
        return false;
    ret->count = plies;
    for (uint32_t at = search->mate; plies > 0; at = search->store.nodes[at].parent)
        ret->moves[--plies] = search->store.nodes[at].move;
    return true;
}

MatingAnswer search_mate(const Position *position, Colour side, const MatingLimits *limits, MatingLine *ret_line,
                         uint64_t *ret_nodes) {
    Search search = { .side = side, .lowest = BUCKETS };
    Store *store = &search.store;
    if (!mating_store_begin(store, position, limits))
        return MATING_UNKNOWN;
    uint32_t first = mating_store_keep(store, position, NO_NODE, MOVE_NONE);
    store->links[first] = (StoreLink){ .bucket = (uint16_t)bucket_of(position, side, 0) };
    wait(&search, first);
    bool mate = false;
    for (uint32_t at; !mate && !store->overflowed && (at = pop(&search)) != NO_NODE;)
        mate = expand(&search, at);
    *ret_nodes += store->count;
    if (mate)
        return line_of(&search, ret_line) ? MATING_CAN : MATING_UNKNOWN;
    return store->overflowed ? MATING_UNKNOWN : MATING_CANNOT;
}
