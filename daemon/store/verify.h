/* Whether the rows that letters leave behind fit each other (`epistle verify`; records are games.h's). */
#ifndef EPISTLE_DAEMON_STORE_VERIFY_H
#define EPISTLE_DAEMON_STORE_VERIFY_H

#include "daemon/store/store.h"

/* Calls `complain` with a sentence for each kind of fault found, with how many there are and the first one's number. Returns how many
 * kinds, -1 if the store fails. */
int verify_letters(Store *store, void (*complain)(void *data, const char *sentence), void *data, Error *error);

#endif
