#include "daemon/inbox/token.h"

#include "core/base/encode.h"
#include "core/base/str.h"

#include <assert.h>
#include <sodium.h>
#include <string.h>

/* The 130 bits, most significant first, five to a digit:
 *
 *     4 version | 6 key id | 40 letter id | 80 HMAC
 *
 * The HMAC is the first ten bytes of HMAC-SHA-256 over the first 50 bits, which stand left-aligned in seven bytes with
 * six zero bits behind them, and the bytes of `bound`. 26 digits hold exactly 130 bits: a token has one spelling but for its case. */
enum {
    VERSION = 1,
    DIGITS = TOKEN_SIZE - 1,
    CLAIM_BITS = 50,
    CLAIM_BYTES = 7,
    MAC_BYTES = 10,
    FIELD_ITEMS = 64, /* addresses of one field looked at; a letter to a whole club has fewer */
};

static const uint64_t letter_id_mask = (UINT64_C(1) << 40) - 1;

static void claim_write(const TokenKey *key, int64_t letter_id, uint8_t ret_claim[CLAIM_BYTES]) {
    uint64_t bits = (uint64_t)VERSION << 46 | (uint64_t)(key->id & 63) << 40 | ((uint64_t)letter_id & letter_id_mask);
    bits <<= 8 * CLAIM_BYTES - CLAIM_BITS;
    for (int i = CLAIM_BYTES - 1; i >= 0; i--, bits >>= 8)
        ret_claim[i] = (uint8_t)bits;
}

static void claim_mac(const TokenKey *key, const uint8_t claim[CLAIM_BYTES], const char *bound, uint8_t ret_mac[MAC_BYTES]) {
    uint8_t whole[crypto_auth_hmacsha256_BYTES];
    crypto_auth_hmacsha256_state state;
    static_assert(sizeof key->bytes == crypto_auth_hmacsha256_KEYBYTES, "the key is libsodium's size");
    crypto_auth_hmacsha256_init(&state, key->bytes, sizeof key->bytes);
    crypto_auth_hmacsha256_update(&state, claim, CLAIM_BYTES);
    crypto_auth_hmacsha256_update(&state, (const uint8_t *)bound, strlen(bound));
    crypto_auth_hmacsha256_final(&state, whole);
    memcpy(ret_mac, whole, MAC_BYTES);
}

void token_write(const TokenKey *key, int64_t letter_id, const char *bound, char ret_token[TOKEN_SIZE]) {
    uint8_t claim[CLAIM_BYTES], mac[MAC_BYTES];
    claim_write(key, letter_id, claim);
    claim_mac(key, claim, bound, mac);
    for (int digit = 0; digit < DIGITS; digit++) {
        unsigned value = 0;
        for (int bit = 5 * digit; bit < 5 * digit + 5; bit++) {
            const uint8_t *from = bit < CLAIM_BITS ? claim : mac;
            int at = bit < CLAIM_BITS ? bit : bit - CLAIM_BITS;
            value = value << 1 | (from[at / 8] >> (7 - at % 8) & 1u);
        }
        ret_token[digit] = base32_digit(value);
    }
    ret_token[DIGITS] = 0;
}

/* Takes a token apart; false if it is not 26 digits. */
static bool token_split(const char *token, uint64_t *ret_claim, uint8_t ret_mac[MAC_BYTES]) {
    uint64_t bits = 0;
    uint8_t mac[MAC_BYTES] = { 0 };
    for (int digit = 0; digit < DIGITS; digit++) {
        int value = base32_value(token[digit]);
        if (value < 0)
            return false;
        if (5 * digit < CLAIM_BITS) {
            bits = bits << 5 | (unsigned)value;
            continue;
        }
        for (int i = 0; i < 5; i++) {
            int at = 5 * digit + i - CLAIM_BITS;
            mac[at / 8] |= (uint8_t)(((unsigned)value >> (4 - i) & 1u) << (7 - at % 8));
        }
    }
    *ret_claim = bits;
    memcpy(ret_mac, mac, sizeof mac);
    return token[DIGITS] == 0;
}

bool token_names(const TokenKey *key, const char *token, int64_t *ret_letter_id) {
    uint64_t bits;
    uint8_t mac[MAC_BYTES];
    if (!token_split(token, &bits, mac) || bits >> 46 != VERSION || (bits >> 40 & 63) != (key->id & 63))
        return false;
    *ret_letter_id = (int64_t)(bits & letter_id_mask);
    return true;
}

bool token_proves(const TokenKey *key, const char *token, int64_t letter_id, const char *bound) {
    uint64_t bits;
    int64_t named;
    uint8_t mac[MAC_BYTES], claim[CLAIM_BYTES], right[MAC_BYTES];
    if (!token_names(key, token, &named) || named != letter_id || !token_split(token, &bits, mac))
        return false;
    claim_write(key, letter_id, claim);
    claim_mac(key, claim, bound, right);
    return sodium_memcmp(mac, right, MAC_BYTES) == 0;
}

typedef struct Finder {
    Arena *arena;
    const TokenKey *key;
    const char *user; /* of the service's address */
    size_t user_length;
    const char *domain;
    TokenFound *found;
    size_t count, most;
} Finder;

static void found_add(Finder *finder, const char *text, size_t length, TokenPlace place, bool bounce) {
    char token[TOKEN_SIZE];
    int64_t letter_id;
    if (length != DIGITS)
        return;
    memcpy(token, text, DIGITS);
    token[DIGITS] = 0;
    if (!token_names(finder->key, token, &letter_id))
        return;
    for (size_t i = 0; i < finder->count; i++) {
        if (!text_equal_nocase(finder->found[i].token, token))
            continue;
        /* A bounce may name the plain form in one field and the envelope's in another. */
        if (place == TOKEN_ADDRESS && finder->found[i].place == TOKEN_ADDRESS)
            finder->found[i].bounce |= bounce;
        return;
    }
    if (finder->count == finder->most)
        return;
    finder->found[finder->count] = (TokenFound){ .letter_id = letter_id, .place = place, .bounce = bounce };
    memcpy(finder->found[finder->count++].token, token, sizeof token);
}

/* user+TOKEN@domain or user+b.TOKEN@domain; for Message-IDs (bare_too) also TOKEN@domain. */
static void look_in_address(Finder *finder, const char *address, TokenPlace place, bool bare_too) {
    const char *at = strrchr(address, '@');
    if (at == NULL || !text_equal_nocase(at + 1, finder->domain))
        return;
    size_t length = (size_t)(at - address);
    if (length >= 2 && address[0] == '"' && address[length - 1] == '"') {
        address++;
        length -= 2;
    }
    if (bare_too && length == DIGITS)
        found_add(finder, address, length, place, false);
    size_t user = finder->user_length;
    if (length <= user + 1 || address[user] != '+')
        return;
    for (size_t i = 0; i < user; i++) {
        const char own[2] = { finder->user[i], 0 }, given[2] = { address[i], 0 };
        if (!text_equal_nocase(own, given))
            return;
    }
    const char *tag = address + user + 1;
    size_t tag_length = length - user - 1;
    bool bounce = tag_length == 2 + DIGITS && text_starts_nocase(tag, "b.");
    found_add(finder, bounce ? tag + 2 : tag, bounce ? tag_length - 2 : tag_length, place, bounce);
}

static void look_in_recipients(Finder *finder, const Header *header) {
    static const char *const fields[] = { "To", "Cc", "Delivered-To", "X-Original-To", "Envelope-To" };
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
        const char *value;
        for (size_t nth = 0; (value = header_field(header, fields[f], nth)) != NULL; nth++) {
            const char *addresses[FIELD_ITEMS];
            size_t count = header_addresses(finder->arena, value, addresses, NULL, FIELD_ITEMS);
            for (size_t i = 0; i < count && i < FIELD_ITEMS; i++)
                look_in_address(finder, addresses[i], TOKEN_ADDRESS, false);
        }
    }
}

/* From the last to the first: in References the letter that is answered stands last. */
static void look_in_ids(Finder *finder, const Header *header, const char *field, TokenPlace place) {
    for (size_t nth = header_count(header, field); nth-- > 0;) {
        const char *value = header_field(header, field, nth);
        size_t most = strlen(value) / 4 + 1; /* "<@>" and a blank is the least an id takes */
        const char **ids = arena_alloc(finder->arena, most * sizeof *ids);
        if (ids == NULL)
            return;
        size_t count = header_message_ids(finder->arena, value, ids, most);
        for (size_t i = count < most ? count : most; i-- > 0;)
            look_in_address(finder, ids[i], place, true);
    }
}

static bool word_byte(char byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static void look_in_subject(Finder *finder, const Header *header) {
    const char *value;
    for (size_t nth = 0; (value = header_field(header, "Subject", nth)) != NULL; nth++) {
        const char *at = header_decode(finder->arena, value);
        while (at != NULL && *at != 0) {
            size_t length = 0;
            while (word_byte(at[length]))
                length++;
            found_add(finder, at, length, TOKEN_SUBJECT, false);
            at += length > 0 ? length : 1;
        }
    }
}

size_t token_find(Arena *arena, const Header *header, const TokenKey *key, const char *service_address,
                  TokenFound *ret_found, size_t most) {
    const char *at = strrchr(service_address, '@');
    if (at == NULL)
        return 0;
    Finder finder = { .arena = arena, .key = key, .user = service_address, .user_length = (size_t)(at - service_address),
                      .domain = at + 1, .found = ret_found, .most = most };
    look_in_recipients(&finder, header);
    look_in_ids(&finder, header, "In-Reply-To", TOKEN_IN_REPLY_TO);
    look_in_ids(&finder, header, "References", TOKEN_REFERENCES);
    look_in_subject(&finder, header);
    return finder.count;
}
