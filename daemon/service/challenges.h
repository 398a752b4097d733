/* Challenges and the beginning of a game; internal to service/. */
#ifndef EPISTLE_DAEMON_SERVICE_CHALLENGES_H
#define EPISTLE_DAEMON_SERVICE_CHALLENGES_H

#include "core/chess/position.h"
#include "daemon/service/service.h"

enum { CHALLENGE_DAYS = 14 }; /* then it lapses and the challenger is told */

typedef struct Beginning {
    int64_t white, black;
    const char *control; /* NULL: the configuration's */
    const Position *initial; /* NULL: the start array */
    Instant start;       /* INSTANT_NONE: at once */
    int64_t letter;      /* the letter that caused it, 0: the operator */
    int64_t told;        /* a player who gets no first letter of his own, his answer shows the game; 0: none */
    const char *remark;  /* goes with the other's first letter; NULL or "" for none */
} Beginning;

int begin_game(Service *service, const Beginning *beginning, int64_t *ret_id, Error *error);

int challenge_expire(Service *service, int64_t id, Error *error);

#endif
