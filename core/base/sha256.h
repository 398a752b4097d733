/* SHA-256 (FIPS 180-4), our own so that core needs libc alone (RULINGS 49). */
#ifndef EPISTLE_CORE_BASE_SHA256_H
#define EPISTLE_CORE_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_SIZE = 32, SHA256_HEX_SIZE = 65 };

typedef struct Sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes taken so far */
    uint8_t block[64];
} Sha256;

void sha256_start(Sha256 *sha);
void sha256_add(Sha256 *sha, const void *bytes, size_t length);
void sha256_finish(Sha256 *sha, uint8_t ret_digest[SHA256_SIZE]); /* *sha is spent */

void sha256(const void *bytes, size_t length, uint8_t ret_digest[SHA256_SIZE]);
/* Lower-case hex with NUL. */
void sha256_hex(const void *bytes, size_t length, char ret_hex[SHA256_HEX_SIZE]);

#endif
