#include "core/notation/token.h"

#include "core/base/utf8.h"
#include "core/chess/position.h"

#include <string.h>

/* Spellings of one character; 0 drops it. */
static const struct { uint32_t first, last, as; } spellings[] = {
    { 0x0009, 0x0009, ' ' }, { 0x00a0, 0x00a0, ' ' }, { 0x2000, 0x200a, ' ' }, { 0x202f, 0x202f, ' ' },
    { 0x3000, 0x3000, ' ' }, { 0x00ad, 0x00ad, 0 },   { 0x200b, 0x200f, 0 },   { 0x2060, 0x2060, 0 },
    { 0xfe0e, 0xfe0f, 0 },   { 0xfeff, 0xfeff, 0 },   { 0x2010, 0x2015, '-' }, { 0x2192, 0x2192, '-' },
    { 0x2212, 0x2212, '-' }, { 0xfe63, 0xfe63, '-' }, { 0x00d7, 0x00d7, 'x' }, { 0x2715, 0x2716, 'x' },
    { ':', ':', 'x' },       { 'X', 'X', 'x' },       { 0x2020, 0x2021, '+' }, { 0x2260, 0x2260, '#' },
    { 0x203c, 0x203c, '!' }, { 0x2047, 0x2049, '!' }, { 0x041e, 0x041e, 'O' }, { 0x039f, 0x039f, 'O' },
    { 0x043e, 0x043e, 'o' },
};

static const uint8_t figurines[6] = { KING, QUEEN, ROOK, BISHOP, KNIGHT, PAWN }; /* U+2654 …, U+265A … */

uint32_t token_plain(uint32_t point) {
    if (point >= 0xff01 && point <= 0xff5e) /* full-width forms */
        point -= 0xfee0;
    if (point >= 0x2654 && point <= 0x265f)
        return FIGURINE + figurines[(point - 0x2654) % 6];
    for (size_t i = 0; i < sizeof spellings / sizeof spellings[0]; i++)
        if (point >= spellings[i].first && point <= spellings[i].last)
            return spellings[i].as;
    return point == '\r' || point == '\n' ? ' ' : point;
}

uint32_t token_lower(uint32_t point) {
    if ((point >= 'A' && point <= 'Z') || (point >= 0xc0 && point <= 0xde) || (point >= 0x410 && point <= 0x42f))
        return point + 32;
    if (point >= 0x400 && point <= 0x40f)
        return point + 80;
    return point;
}

void token_trim(Token *token) {
    while (token->length > 0 && token->points[token->length - 1] == ' ')
        token->length--;
    token->points[token->length] = 0;
}

bool token_read(const char *text, Token *ret) {
    size_t length = strlen(text);
    ret->length = 0;
    for (size_t at = 0; at < length;) {
        uint32_t point;
        int size = utf8_next(text + at, length - at, &point);
        if (size == 0)
            return false;
        at += (size_t)size;
        bool of_prose = point == ':' && text[at] == ' '; /* "Re: e4" captures nothing */
        point = of_prose ? point : token_plain(point);
        bool dropped = point == 0 || (point == ' ' && (ret->length == 0 || ret->points[ret->length - 1] == ' '));
        if (dropped)
            continue;
        if (ret->length == TOKEN_MAX)
            return false;
        ret->points[ret->length++] = point;
    }
    token_trim(ret);
    return true;
}
