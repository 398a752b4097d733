/* Why a text is no move here, in English words for operators; players are told by the letters' templates. */
#ifndef EPISTLE_CORE_NOTATION_EXPLAIN_H
#define EPISTLE_CORE_NOTATION_EXPLAIN_H

#include "core/base/str.h"
#include "core/notation/notation.h"

/* Appends the rest of a sentence that begins with the text as written, without its full stop: "is not possible: no pawn of
 * White can reach e4". The reading must be of `position` and not READING_MOVE. */
void notation_explain(Str *out, const Position *position, const Reading *reading);

/* Appends what could be played, in SAN with the letters of a language (NULL: English), blank between: what the reading itself
 * holds, else the moves of the man it names, else every legal move. */
void notation_alternatives(Str *out, const Position *position, const Reading *reading, const MoveLanguage *language);

#endif
