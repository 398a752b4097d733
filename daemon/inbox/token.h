/* Tokens: the proof in a letter's own address (RULINGS 1).
 *
 * 26 base32 characters = 130 bits: 4 bits version, 6 bits key id, 40 bits letter id, 80 bits of HMAC-SHA-256 over the
 * first 50 bits (as 7 bytes, as token.c documents) and the letter's binding under the service's key.
 * The token says only which letter of ours is answered; its row in the store says player, game, epoch, ply. */
#ifndef EPISTLE_DAEMON_INBOX_TOKEN_H
#define EPISTLE_DAEMON_INBOX_TOKEN_H

#include "daemon/inbox/header.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOKEN_SIZE = 27, TOKEN_KEY_SIZE = 32, TOKEN_FOUND_MAX = 40 };

typedef struct TokenKey {
    uint8_t bytes[TOKEN_KEY_SIZE];
    unsigned id; /* 0–63 */
} TokenKey;

/* bound: what else the HMAC vouches for, a text made of the letter's row (whose it is, what it may do). A store that was brought
 * back from a copy gives out letter ids a second time; with `bound` an old token never fits the new letter of that id. */
void token_write(const TokenKey *key, int64_t letter_id, const char *bound, char ret_token[TOKEN_SIZE]);

/* Which letter a token names; any case. False if it is not 26 base32 characters, or of another version or key. Proves nothing. */
bool token_names(const TokenKey *key, const char *token, int64_t *ret_letter_id);
/* Whether it is the very token of that letter with that `bound` (constant time). */
bool token_proves(const TokenKey *key, const char *token, int64_t letter_id, const char *bound);

typedef enum TokenPlace { TOKEN_ADDRESS, TOKEN_IN_REPLY_TO, TOKEN_REFERENCES, TOKEN_SUBJECT } TokenPlace;

typedef struct TokenFound {
    char token[TOKEN_SIZE]; /* to be proven against its letter's row */
    int64_t letter_id;
    TokenPlace place;
    bool bounce; /* stood behind "chess+b." */
} TokenFound;

/* All tokens, proven or not, of a letter's header, in order of trust: recipients' addresses (To, Cc, Delivered-To, X-Original-To,
 * Envelope-To) of the service's address `user+TOKEN@domain` or `user+b.TOKEN@domain`, then In-Reply-To, then References from the last to the first,
 * then Subject. The first of them is the letter that is answered; the others serve to see whether two players' tokens meet. Returns how many. */
size_t token_find(Arena *arena, const Header *header, const TokenKey *key, const char *service_address, TokenFound *ret_found, size_t most);

#endif
