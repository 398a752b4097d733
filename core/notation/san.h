/* San: the short way to read moves in export format (PGN standard 8.2.3), for files of millions of them.
 *
 * Where it finds a move, notation_read() finds the same one; what it does not find is for notation_read() to read or to explain.
 * It copies nothing, lists no moves and asks the board only about the man that is named. */
#ifndef EPISTLE_CORE_NOTATION_SAN_H
#define EPISTLE_CORE_NOTATION_SAN_H

#include "core/chess/position.h"

#include <stddef.h>

enum { SAN_MAX = 8 }; /* bytes looked at: the longest tokens, Qa1xb2# and exd8=Q+, and one more that tells their end */

/* Reads Nf3 Nbd2 N1xd2 Qh4xe1+ e4 exd6 e8=Q# O-O-O+ at `text`, of which SAN_MAX bytes must be readable (a NUL among them ends it).
 * Returns the length read, with one + or # behind, if exactly one legal move is meant; then *ret is it. Otherwise 0, and *ret is
 * untouched. What follows (a blank, !, or more letters that make it another token) is for the caller to look at. */
size_t san_read(const Position *position, const char *text, Move *ret);

#endif
