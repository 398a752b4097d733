#include "core/chess/mating_store.h"

#include "core/chess/attacks.h"

#include <string.h>

enum { FIRST_SLOTS = 64 };

static void pack(const Position *position, StoreNode *ret) {
    const uint64_t *kinds = position->kinds;
    uint64_t castling = position->castling;
    ret->planes[0] = kinds[PAWN] | kinds[BISHOP] | kinds[QUEEN] | castling;
    ret->planes[1] = kinds[KNIGHT] | kinds[BISHOP] | kinds[KING] | castling;
    ret->planes[2] = kinds[ROOK] | kinds[QUEEN] | kinds[KING];
    ret->planes[3] = position->sides[BLACK];
    if (position->en_passant != NO_SQUARE)
        ret->planes[3] |= square_set(position->en_passant);
}

void mating_store_get(const Store *store, uint32_t number, Position *ret) {
    const StoreNode *node = &store->nodes[number];
    uint64_t one = node->planes[0], two = node->planes[1], four = node->planes[2];
    uint64_t men = one | two | four, black = node->planes[3];
    *ret = *store->root;
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
    ret->turn = (uint8_t)(store->root->turn ^ (node->plies & 1));
}

static uint64_t hash_of(const StoreNode *node) {
    uint64_t hash = node->plies & 1;
    for (int i = 0; i < 4; i++) {
        hash = (hash ^ node->planes[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static bool same(const StoreNode *left, const StoreNode *right) {
    return memcmp(left->planes, right->planes, sizeof left->planes) == 0 && ((left->plies ^ right->plies) & 1) == 0;
}

/* The slot of this position: its own or a free one. */
static uint32_t *slot_of(const Store *store, const StoreNode *node) {
    uint32_t mask = store->slot_count - 1;
    uint32_t at = (uint32_t)hash_of(node) & mask;
    while (store->slots[at] != NO_NODE && !same(&store->nodes[store->slots[at]], node))
        at = (at + 1) & mask;
    return &store->slots[at];
}

/* The table grows with the nodes, so that short searches need not clear a long one. */
static void resize(Store *store, uint32_t count) {
    store->slot_count = count;
    memset(store->slots, 0, count * sizeof *store->slots);
    for (uint32_t node = 1; node <= store->count; node++)
        *slot_of(store, &store->nodes[node]) = node;
}

uint32_t mating_store_keep(Store *store, const Position *position, uint32_t parent, Move move) {
    StoreNode node = { .parent = parent, .move = move };
    if (parent != NO_NODE) /* far from the root only the parity matters */
        node.plies = (uint16_t)(store->nodes[parent].plies == UINT16_MAX ? UINT16_MAX - 1
                                                                         : store->nodes[parent].plies + 1);
    pack(position, &node);
    uint32_t *slot = slot_of(store, &node);
    if (*slot != NO_NODE)
        return NO_NODE;
    if (store->count == store->capacity) {
        store->overflowed = true;
        return NO_NODE;
    }
    uint32_t number = ++store->count;
    store->nodes[number] = node;
    *slot = number;
    if (2 * store->count > store->slot_count && store->slot_count < store->slots_max)
        resize(store, 2 * store->slot_count);
    return number;
}

/* Nodes first, then links, then slots: 40 + 8 + at most 8 bytes a node. The slots outnumber the nodes,
 * so a free one is always found. */
bool mating_store_begin(Store *store, const Position *root, const MatingLimits *limits) {
    uint64_t most = limits->size / MATING_NODE_BYTES;
    if (most > limits->nodes)
        most = limits->nodes;
    if (most > UINT32_MAX / 4)
        most = UINT32_MAX / 4;
    if (limits->memory == NULL || most <= STORE_LEAST)
        return false;
    *store = (Store){ .root = root, .capacity = (uint32_t)most - 1, .slots_max = STORE_LEAST };
    while (store->slots_max <= store->capacity)
        store->slots_max *= 2;
    store->nodes = limits->memory;
    store->links = (StoreLink *)(store->nodes + most);
    store->slots = (uint32_t *)(store->links + most);
    resize(store, store->slots_max < FIRST_SLOTS ? store->slots_max : FIRST_SLOTS);
    return true;
}
