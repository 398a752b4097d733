/* Store: positions met by a search, each kept once, in memory the caller gave.
 *
 * A position is known again by all that the rules know of it: men, turn, castling and en
 * passant rights. It is compared whole, so no chance of a hash is in a proof. */
#ifndef EPISTLE_CORE_CHESS_MATING_STORE_H
#define EPISTLE_CORE_CHESS_MATING_STORE_H

#include "core/chess/mating.h"

/* A position in four planes. Three give the kind (7: a rook that may castle), the fourth is
 * Black's; a square of Black's without a man is the en passant square. */
typedef struct StoreNode {
    uint64_t planes[4];
    uint32_t parent;
    Move move;      /* from the parent here */
    uint16_t plies; /* from the root; its parity tells the turn */
} StoreNode;

/* For a search that keeps its nodes in buckets: a node's place there, and how many of its
 * moves have been made. */
typedef struct StoreLink {
    uint32_t next;
    uint16_t bucket, made;
} StoreLink;

enum { NO_NODE = 0, STORE_LEAST = 16 }; /* nodes count from 1; a store has room for so many at least */

typedef struct Store {
    const Position *root;
    StoreNode *nodes;
    StoreLink *links;
    uint32_t *slots;
    uint32_t capacity, count, slot_count, slots_max;
    bool overflowed; /* a new position found no room */
} Store;

/* Empty, in the memory of limits. False if that has no room for STORE_LEAST positions. root stays the caller's. */
bool mating_store_begin(Store *store, const Position *root, const MatingLimits *limits);

/* Keeps a position not met before: its number. NO_NODE if it was, or if there is no room. */
uint32_t mating_store_keep(Store *store, const Position *position, uint32_t parent, Move move);

/* The position again; of the counters only the root's. */
void mating_store_get(const Store *store, uint32_t node, Position *ret);

#endif
