/* Language: the words in which moves are written and spoken, as data. A new language is one entry
 * of the table in language.c; no code knows any of them by name but English and Law E's. */
#ifndef EPISTLE_CORE_NOTATION_LANGUAGE_H
#define EPISTLE_CORE_NOTATION_LANGUAGE_H

#include "core/chess/position.h"

#include <stddef.h>

/* What is said in a spoken move. Each entry holds the ways to say one thing, parted by '|'; the
 * first is the one written. A way may be of several words. UTF-8; case, accents and doubled
 * letters do not count when they are read, nor whether "ä" is spelled "ae" or "a" (the same of o
 * and u). Single letters for files, digits for ranks and squares like "f3" are understood in
 * every language and need no entry. NULL: the language has no such word. */
typedef struct SpokenWords {
    const char *files[8];        /* names of the files a to h (Law E: Anna … Hector) */
    const char *ranks[8];        /* one … eight */
    const char *men[KIND_COUNT]; /* [PAWN] … [KING] */
    const char *castling[2];     /* [0] with the queen's rook, [1] with the king's */
    const char *from, *to, *takes;
    const char *becomes;         /* before the man a pawn is promoted to */
    const char *en_passant, *check, *mate;
    const char *idle;            /* words that say nothing: "the" */
} SpokenWords;

typedef struct MoveLanguage {
    const char *code;                 /* ISO 639-1, "de" */
    const char *letters[KIND_COUNT];  /* piece letters, UTF-8, perhaps several ("Кр"); NULL or "": none */
    const SpokenWords *spoken;        /* NULL: moves are spoken in the words of Law E */
} MoveLanguage;

/* By language code, any case, with a region or without ("de", "de-AT", "pt_BR"); NULL if not known. */
const MoveLanguage *language_find(const char *code);

/* All of them, English first, the others by code. */
const MoveLanguage *language_table(size_t *ret_count);

const MoveLanguage *language_english(void);

/* The words that Law E (play with the blind) suggests to players of all languages: Anna … Hector,
 * eins … acht, Koenig … Bauer. */
const SpokenWords *language_law_e(void);

#endif
