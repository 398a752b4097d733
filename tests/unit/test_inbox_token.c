/* Tokens: one spelling each, no forging, found where mail programs leave them. */
#include "daemon/inbox/token.h"

#include "core/base/encode.h"
#include "core/base/str.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <sodium.h>

static const TokenKey key = { .bytes = { 1, 2, 3, 4, 5, 6, 7, 8 }, .id = 5 };
static const char service[] = "chess@club.example";

/* Named and proven. */
static bool reads(const TokenKey *with, const char *token, int64_t *ret_id) {
    int64_t id = 0;
    if (!token_names(with, token, &id) || !token_proves(with, token, id, "bound"))
        return false;
    *ret_id = id;
    return true;
}

static void there_and_back(void **state) {
    (void)state;
    static const int64_t ids[] = { 0, 1, 42, 1000000, INT64_C(0xffffffffff) };
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        char token[TOKEN_SIZE];
        token_write(&key, ids[i], "bound", token);
        assert_int_equal(strlen(token), 26);
        int64_t id = -1;
        assert_true(reads(&key, token, &id));
        assert_int_equal(id, ids[i]);
        for (char *at = token; *at != 0; at++)
            *at = (char)toupper((unsigned char)*at);
        assert_true(reads(&key, token, &id));
    }
}

/* The layout of token.c, computed a second time: 4 bits version 1, 6 bits key id 5, 40 bits letter id, then HMAC. */
static void layout(void **state) {
    (void)state;
    char token[TOKEN_SIZE];
    token_write(&key, 42, "bound", token);
    /* 0001 000101 and 40 bits of 42 = 00010 00101 and eight digits */
    assert_memory_equal(token, "cfaaaaaabk", 10);
    const uint8_t claim[7] = { 0x11, 0x40, 0x00, 0x00, 0x00, 0x0a, 0x80 };
    uint8_t mac[crypto_auth_hmacsha256_BYTES];
    uint8_t vouched[sizeof claim + 5];
    memcpy(vouched, claim, sizeof claim);
    memcpy(vouched + sizeof claim, "bound", 5);
    crypto_auth_hmacsha256(mac, vouched, sizeof vouched, key.bytes);
    for (int digit = 0; digit < 16; digit++) {
        unsigned value = 0;
        for (int bit = 5 * digit; bit < 5 * digit + 5; bit++)
            value = value << 1 | (mac[bit / 8] >> (7 - bit % 8) & 1u);
        assert_int_equal(token[10 + digit], base32_digit(value));
    }
}

/* Every other spelling is refused: each digit changed to each other one, one digit less, one more. */
static void no_other_spelling(void **state) {
    (void)state;
    char token[TOKEN_SIZE + 1] = "";
    token_write(&key, 7, "bound", token);
    int64_t id = -1;
    for (int at = 0; at < TOKEN_SIZE - 1; at++) {
        char right = token[at];
        for (unsigned value = 0; value < 32; value++) {
            token[at] = base32_digit(value);
            if (token[at] != right)
                assert_false(reads(&key, token, &id));
        }
        token[at] = '1';
        assert_false(reads(&key, token, &id));
        token[at] = right;
    }
    token[26] = 'a';
    assert_false(reads(&key, token, &id));
    token[25] = 0;
    assert_false(reads(&key, token, &id));
    assert_false(reads(&key, "", &id));
    assert_int_equal(id, -1);
}

/* The same id of a store brought back from a copy: the old token is not the new letter's. */
static void other_bindings(void **state) {
    (void)state;
    char token[TOKEN_SIZE];
    token_write(&key, 7, "1 move game 3 1 12", token);
    assert_true(token_proves(&key, token, 7, "1 move game 3 1 12"));
    assert_false(token_proves(&key, token, 7, "2 move game 3 1 12"));
    assert_false(token_proves(&key, token, 7, ""));
    assert_false(token_proves(&key, token, 8, "1 move game 3 1 12"));
}

static void other_keys(void **state) {
    (void)state;
    char token[TOKEN_SIZE];
    int64_t id;
    TokenKey other = key;
    token_write(&key, 7, "bound", token);
    other.id = 6;
    assert_false(reads(&other, token, &id));
    other = key;
    other.bytes[31] ^= 1;
    assert_false(reads(&other, token, &id));
}

/* %1 … %4 stand for the tokens of the letters 1–4. */
static void fill(const char *pattern, Str *ret_raw) {
    for (const char *at = pattern; *at != 0; at++) {
        if (*at == '%' && at[1] >= '1' && at[1] <= '4') {
            char token[TOKEN_SIZE];
            token_write(&key, at[1] - '0', "bound", token);
            str_append(ret_raw, token);
            at++;
        } else {
            str_append_char(ret_raw, *at);
        }
    }
}

/* Found tokens as "address 1, address bounce 2, references 3". */
static void found_text(const char *pattern, size_t most, Str *ret_text) {
    static const char *const places[] = { "address", "in-reply-to", "references", "subject" };
    Str raw;
    str_init(&raw, 64 * 1024);
    fill(pattern, &raw);
    Arena arena;
    arena_init(&arena, 1024 * 1024);
    Header header;
    TokenFound found[TOKEN_FOUND_MAX];
    assert_true(header_scan(&arena, raw.data, raw.length, &header));
    size_t count = token_find(&arena, &header, &key, service, found, most);
    for (size_t i = 0; i < count; i++)
        str_printf(ret_text, "%s%s%s %d", i > 0 ? ", " : "", places[found[i].place], found[i].bounce ? " bounce" : "", (int)found[i].letter_id);
    arena_free(&arena);
    str_free(&raw);
}

static void where_they_stand(void **state) {
    (void)state;
    static const struct {
        const char *header, *found;
    } cases[] = {
        { "To: chess+%1@club.example\n\n", "address 1" },
        { "To: \"Chess\" <CHESS+%1@CLUB.Example>\n\n", "address 1" },
        { "Cc: Ann <ann@x.example>, chess+%1@club.example\n\n", "address 1" },
        { "Delivered-To: chess+%1@club.example\n\n", "address 1" },
        { "X-Original-To: chess+%1@club.example\n\n", "address 1" },
        { "Envelope-To: chess+%1@club.example\n\n", "address 1" },
        { "To: chess+b.%1@club.example\n\n", "address bounce 1" },
        { "To: chess+B.%1@club.example\n\n", "address bounce 1" },
        { "To: chess+%1@club.example\nDelivered-To: chess+b.%1@club.example\n\n", "address bounce 1" },
        { "To: chess+%1@club.example\nTo: chess+%2@club.example\n\n", "address 1, address 2" },
        { "In-Reply-To: <%1@club.example>\n\n", "in-reply-to 1" },
        { "In-Reply-To: <chess+%1@club.example>\n\n", "in-reply-to 1" },
        { "References: <%1@club.example> <x@y.example>\n <%2@club.example>\n\n", "references 2, references 1" },
        { "Subject: Re: [Club #1] your move [%1]\n\n", "subject 1" },
        { "Subject: %1\n\n", "subject 1" },
        { "Subject: =?utf-8?q?Re=3A_=5B%1=5D?=\n\n", "subject 1" },
        { "References: <%1@club.example>\nTo: chess+%1@club.example\n\n", "address 1" },
        { "Subject: [%4]\nReferences: <%3@club.example>\nIn-Reply-To: <%2@club.example>\nTo: chess+%1@club.example\n\n",
          "address 1, in-reply-to 2, references 3, subject 4" },
        { "To: chess@club.example\n\n", "" },
        { "To: chess+%1@evil.example\n\n", "" },
        { "To: chess+%1@club.example.evil.example\n\n", "" },
        { "To: chessy+%1@club.example\n\n", "" },
        { "To: chess-%1@club.example\n\n", "" },
        { "To: chess+%1x@club.example\n\n", "" },
        { "To: chess+c.%1@club.example\n\n", "" },
        { "To: %1@club.example\n\n", "" },
        { "In-Reply-To: <%1@other.example>\n\n", "" },
        { "In-Reply-To: %1\n\n", "" },
        { "Subject: x%1\n\n", "" },
        { "X-Other: chess+%1@club.example\n\n", "" },
        { "Subject: hello\n\nTo: chess+%1@club.example\n", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Str text;
        str_init(&text, 1000);
        found_text(cases[i].header, TOKEN_FOUND_MAX, &text);
        if (strcmp(text.data, cases[i].found) != 0)
            fail_msg("%s wanted \"%s\", got \"%s\"", cases[i].header, cases[i].found, text.data);
        str_free(&text);
    }
    Str few;
    str_init(&few, 1000);
    found_text("To: chess+%1@club.example, chess+%2@club.example\nSubject: %3\n\n", 1, &few);
    assert_string_equal(few.data, "address 1");
    str_free(&few);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back), cmocka_unit_test(layout), cmocka_unit_test(no_other_spelling),
        cmocka_unit_test(other_bindings), cmocka_unit_test(other_keys), cmocka_unit_test(where_they_stand),
    };
    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
