/* Score: a game of this service as PGN, for letters and for `game show --pgn`. */
#ifndef EPISTLE_DAEMON_OUTBOX_SCORE_H
#define EPISTLE_DAEMON_OUTBOX_SCORE_H

#include "core/base/instant.h"
#include "core/base/str.h"
#include "core/chess/position.h"

#include <stddef.h>
#include <stdint.h>

typedef struct Score {
    int64_t id;
    const char *service, *address; /* its name and address */
    const char *white, *black;     /* names */
    const char *control;           /* "10/50d", as core/game/clock.h spells it */
    const char *result, *reason;   /* of a game that is over, as core/game/record.h spells them; NULL while it runs */
    Instant began;                 /* INSTANT_NONE: not known */
    const Position *start;
    const Move *moves;
    size_t move_count;
} Score;

/* Appends it in export format, with these tags besides the seven:
 *   Mode "EM"            (PGN standard 9.9.2)
 *   TimeControl          moves/seconds, "-" without a clock (9.6.1); "?" if it cannot be said that way
 *   Termination          normal, adjudication, unterminated (9.8.1); left out for a reason that has no word there
 *   WhiteNA, BlackNA     the service's address for both: no player's own (RULINGS 27)
 *   CmailGameName        by which cmail and Scid know a game of correspondence again: "chess-42" for chess@…
 *   FEN, SetUp, Variant  where pgn_write() wants them
 * Results that PGN does not know (0-0, void) are "*". False as pgn_write(). */
bool score_write(Str *out, const Score *score);

#endif
