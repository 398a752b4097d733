/* Registration by letter; internal to service/. */
#ifndef EPISTLE_DAEMON_SERVICE_REGISTRATION_H
#define EPISTLE_DAEMON_SERVICE_REGISTRATION_H

#include "daemon/service/settling.h"

enum { REGISTRATION_HOURS = 7 * 24 }; /* a week to answer our confirm letter */

/* `confirm` in answer to a registration's letter, proven by token and From. */
int confirm_registration(Settling *settling, const Command *command, Error *error);

#endif
