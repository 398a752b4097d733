#include "core/chess/mating_search.h"

#include "core/chess/attacks.h"
#include "core/chess/mating_material.h"
#include "core/chess/mating_walls.h"
#include "core/chess/movegen.h"

#include <string.h>

/* A position in four planes. Three give the kind (7 a rook that may castle), the fourth is
 * Black's; a square of Black's without a man is the en passant square. */
typedef struct Node {
    uint64_t planes[4];
    uint32_t parent;
    Move move;       /* from the parent here */
    uint16_t plies;  /* from the root; its parity tells the turn */
} Node;

/* A node's place in its bucket, and how many of its moves have been made. */
typedef struct Link {
    uint32_t next;
    uint16_t bucket, made;
} Link;

enum {
    NO_NODE = 0,        /* indices count from 1 */
    BUCKETS = 1024,
    PLIES_MAX = 60000,
    FIRST_SLOTS = 64,
    PATIENCE = 48,      /* positions looked at before walls are asked about each: most mates come sooner */
};

typedef struct Search {
    const Position *root;
    Colour side;
    Node *nodes;          /* [1 … count] */
    Link *links;          /* of each node */
    uint32_t *slots;      /* open addressing, always a power of two of them */
    uint32_t capacity, count, slot_count, slots_max;
    uint32_t buckets[BUCKETS];
    int lowest;
    bool overflowed;
    uint32_t mate;        /* the node that is mate */
    uint64_t expanded;
} Search;

static void pack(const Position *position, Node *ret) {
    const uint64_t *kinds = position->kinds;
    uint64_t castling = position->castling;
    ret->planes[0] = kinds[PAWN] | kinds[BISHOP] | kinds[QUEEN] | castling;
    ret->planes[1] = kinds[KNIGHT] | kinds[BISHOP] | kinds[KING] | castling;
    ret->planes[2] = kinds[ROOK] | kinds[QUEEN] | kinds[KING];
    ret->planes[3] = position->sides[BLACK];
    if (position->en_passant != NO_SQUARE)
        ret->planes[3] |= square_set(position->en_passant);
}

static void unpack(const Search *search, const Node *node, Position *ret) {
    uint64_t one = node->planes[0], two = node->planes[1], four = node->planes[2];
    uint64_t men = one | two | four, black = node->planes[3];
    *ret = *search->root;
    ret->castling = one & two & four;
    one &= ~ret->castling;
    two &= ~ret->castling;
    ret->kinds[PAWN] = one & ~two & ~four;
    ret->kinds[KNIGHT] = two & ~one & ~four;
    ret->kinds[BISHOP] = one & two;
    ret->kinds[ROOK] = four & ~one & ~two;
    ret->kinds[QUEEN] = one & four;
    ret->kinds[KING] = two & four;
    ret->sides[WHITE] = men & ~black;
    ret->sides[BLACK] = men & black;
    ret->en_passant = (int8_t)(black & ~men ? set_first(black & ~men) : NO_SQUARE);
    ret->turn = (uint8_t)(search->root->turn ^ (node->plies & 1));
}

static uint64_t hash_of(const Node *node) {
    uint64_t hash = node->plies & 1;
    for (int i = 0; i < 4; i++) {
        hash = (hash ^ node->planes[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static bool same(const Node *left, const Node *right) {
    return memcmp(left->planes, right->planes, sizeof left->planes) == 0 && ((left->plies ^ right->plies) & 1) == 0;
}

/* The slot of this position: its own or a free one. */
static uint32_t *slot_of(Search *search, const Node *node) {
    uint32_t mask = search->slot_count - 1;
    uint32_t at = (uint32_t)hash_of(node) & mask;
    while (search->slots[at] != NO_NODE && !same(&search->nodes[search->slots[at]], node))
        at = (at + 1) & mask;
    return &search->slots[at];
}

/* The table grows with the nodes, so that short searches need not clear a long one. */
static void slots_resize(Search *search, uint32_t count) {
    search->slot_count = count;
    memset(search->slots, 0, count * sizeof *search->slots);
    for (uint32_t node = 1; node <= search->count; node++)
        *slot_of(search, &search->nodes[node]) = node;
}

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
    int bucket = search->links[node].bucket;
    search->links[node].next = search->buckets[bucket];
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
            search->buckets[search->lowest] = search->links[node].next;
            return node;
        }
    }
    return NO_NODE;
}

/* Keeps a position not seen before; its number, NO_NODE if known or no room. */
static uint32_t keep(Search *search, const Position *position, uint32_t parent, Move move, unsigned plies) {
    Node node = { .parent = parent, .move = move, .plies = (uint16_t)plies };
    pack(position, &node);
    uint32_t *slot = slot_of(search, &node);
    if (*slot != NO_NODE)
        return NO_NODE;
    if (search->count == search->capacity) {
        search->overflowed = true;
        return NO_NODE;
    }
    uint32_t number = ++search->count;
    search->nodes[number] = node;
    *slot = number;
    if (2 * search->count > search->slot_count && search->slot_count < search->slots_max)
        slots_resize(search, 2 * search->slot_count);
    return number;
}

static bool is_mate(const Position *position) {
    if (!position_in_check(position))
        return false;
    MoveList list;
    moves_legal(position, &list);
    return list.count == 0;
}

/* True when the mate is found. */
static bool expand(Search *search, uint32_t at) {
    const Node *node = &search->nodes[at];
    unsigned plies = node->plies + 1u;
    Position position, after;
    MoveList list;
    unpack(search, node, &position);
    Link *link = &search->links[at];
    if (link->made == 0 && ++search->expanded > PATIENCE) {
        Walls walls;
        walls_find(&position, &walls);
        if (walls_prevent_mate(&position, &walls, search->side))
            return false;
    }
    moves_legal(&position, &list);
    for (int i = link->made; i < list.count; i++) {
        Move move = list.moves[i];
        position_move(&after, &position, move);
        bool lost = position_is_capture(&position, move) || move_promotion(move) != EMPTY;
        if (lost && mating_material_lacks(&after, search->side) && !is_mate(&after))
            continue;
        uint32_t number = keep(search, &after, at, move, plies);
        if (number == NO_NODE)
            continue;
        if (position_turn(&after) != search->side && is_mate(&after)) {
            search->mate = number;
            return true;
        }
        int bucket = bucket_of(&after, search->side, plies);
        search->links[number] = (Link){ .bucket = (uint16_t)bucket };
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
    int plies = search->nodes[search->mate].plies;
    if (plies > MATING_LINE_MAX)
        return false;
    ret->count = plies;
    for (uint32_t at = search->mate; plies > 0; at = search->nodes[at].parent)
        ret->moves[--plies] = search->nodes[at].move;
    return true;
}

/* Nodes first, then the buckets' links, then the slots: 40 + 8 + at most 8 bytes a node. */
static bool lay_out(Search *search, const MatingLimits *limits) {
    uint64_t most = limits->size / MATING_NODE_BYTES;
    if (most > limits->nodes)
        most = limits->nodes;
    if (most > UINT32_MAX / 4)
        most = UINT32_MAX / 4;
    if (most < FIRST_SLOTS)
        return false;
    search->capacity = (uint32_t)most - 1;
    search->slots_max = FIRST_SLOTS;
    while (search->slots_max <= most)
        search->slots_max *= 2;
    search->nodes = limits->memory;
    search->links = (Link *)(search->nodes + most);
    search->slots = (uint32_t *)(search->links + most);
    return true;
}

MatingAnswer search_mate(const Position *position, Colour side, const MatingLimits *limits, MatingLine *ret_line,
                         uint64_t *ret_nodes) {
    Search search = { .root = position, .side = side };
    *ret_nodes = 0;
    if (!lay_out(&search, limits))
        return MATING_UNKNOWN;
    slots_resize(&search, FIRST_SLOTS);
    search.lowest = BUCKETS;
    uint32_t first = keep(&search, position, NO_NODE, MOVE_NONE, 0);
    search.links[first] = (Link){ .bucket = (uint16_t)bucket_of(position, side, 0) };
    wait(&search, first);
    bool mate = false;
    for (uint32_t at; !mate && !search.overflowed && (at = pop(&search)) != NO_NODE;) {
        if (search.nodes[at].plies >= PLIES_MAX)
            search.overflowed = true;
        else
            mate = expand(&search, at);
    }
    *ret_nodes = search.count;
    if (mate)
        return line_of(&search, ret_line) ? MATING_CAN : MATING_UNKNOWN;
    return search.overflowed ? MATING_UNKNOWN : MATING_CANNOT;
}
