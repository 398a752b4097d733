/* Beginning a game and the operator's own hand in one: for acceptance of a challenge, `game new` and `game move`.
 * Each works inside the caller's transaction. */
#ifndef EPISTLE_DAEMON_SERVICE_STARTING_H
#define EPISTLE_DAEMON_SERVICE_STARTING_H

#include "core/chess/position.h"
#include "daemon/service/service.h"

/* Makes the game and queues both players' first letters. control: as control_read() takes it, NULL the configuration's. initial: NULL
 * for the start array. start: the announced start, INSTANT_NONE for at once. letter: the acceptance that caused it, 0 the operator.
 * ERROR_INPUT for unknown players, one player on both sides, a bad control, a position that is the end already. */
int service_start_game(Service *service, int64_t white, int64_t black, const char *control, const Position *initial, Instant start, int64_t letter,
                       int64_t *ret_id, Error *error);

/* Plays a move for the side to move as if his letter had arrived now, and tells both. ERROR_INPUT says why it is none. */
int service_enter_move(Service *service, int64_t game, const char *text, Error *error);

#endif
