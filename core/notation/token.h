/* Token: the text of one move in plain characters. Inside core/notation only. */
#ifndef EPISTLE_CORE_NOTATION_TOKEN_H
#define EPISTLE_CORE_NOTATION_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

/* The longest move that is understood: a spoken one with every word said. */
enum { TOKEN_MAX = 120 };

/* A chess figure of either colour becomes FIGURINE + its kind, whatever the language. */
enum { FIGURINE = 0xe000 };

typedef struct Token {
    uint32_t points[TOKEN_MAX + 1]; /* 0 behind the last */
    int length;
} Token;

/* Reads UTF-8, untrusted. Dashes, crosses, blanks and full-width letters of all kinds become their ASCII
 * forms, invisible characters go; no blank stands at either end, and never two together. False if it is too
 * long or no UTF-8. */
bool token_read(const char *text, Token *ret);

void token_trim(Token *token); /* blanks at the end */

uint32_t token_plain(uint32_t point); /* as token_read() has it; 0: dropped */
uint32_t token_lower(uint32_t point);

static inline bool token_digit(uint32_t point) {
    return point >= '0' && point <= '9';
}

static inline bool token_letter(uint32_t point) {
    return (point >= 'a' && point <= 'z') || (point >= 'A' && point <= 'Z') || (point >= 0xc0 && point < 0x600);
}

/* A small letter of any script that has capitals. */
static inline bool token_small(uint32_t point) {
    return token_letter(point) && token_lower(point) == point;
}

#endif
