/* Spoken: moves in words, "Springer Felix drei" (Law E, and any language with words in language.c).
 * Inside core/notation only. */
#ifndef EPISTLE_CORE_NOTATION_SPOKEN_H
#define EPISTLE_CORE_NOTATION_SPOKEN_H

#include "core/notation/language.h"
#include "core/notation/shape.h"
#include "core/notation/token.h"

/* What the words say: a man, perhaps where he stands, where he goes, and what is said of a capture,
 * promotion and check. Every word must be known, and at least one be more than letters and digits:
 * "knight f three", "e4 takes d5", "Eva vier", not "e 4". False otherwise, with *ret undefined. */
bool spoken_read(const Token *token, const SpokenWords *words, Shape *ret);

/* The first way of saying it, of an entry of SpokenWords; "" for NULL. Not NUL-terminated: *ret_length bytes. */
const char *spoken_first(const char *entry, size_t *ret_length);

#endif
