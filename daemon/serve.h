/* Serve: the one loop (RULINGS 47). What happens in a turn:
 *
 *     signals    SIGTERM, SIGINT: the letter in hand is finished, what is on its way out is finished within SERVE_END_SECONDS, then the end;
 *                a second one ends at once. SIGHUP: reload(), once no letter is on its way
 *     mailbox    read to its end where it has told of something, or the poll time is over, a timer is due, or an outage's next try; then timers
 *     queue      a batch of letters that are due, unless the relay's outage wants waiting
 *     waiting    for signals, the mailbox, the lines of letters on their way: a second at most, then another program's changes of the store
 *                are looked for (PRAGMA data_version), so that `game new` or `outbox retry` take effect at once */
#ifndef EPISTLE_DAEMON_SERVE_H
#define EPISTLE_DAEMON_SERVE_H

#include "daemon/service/service.h"

enum { SERVE_END_SECONDS = 60 };

/* Service.alive and Service.stopping while serve_run() lasts: the former also sends letters, batch after batch, while the mailbox is read:
 * it is called in no transaction, and with no statement of the store open. Harmless elsewhere. */
void serve_alive(void);
bool serve_stopping(void);

/* From here on the three signals wait for serve_run(), which takes the descriptor and closes it. -1 and *error on failure. */
int serve_signals(Error *error);

/* A machine without a clock of its own begins in 1970, or when its system was made, until somebody tells it the time; what is settled by then cannot be
 * taken out of the record again. 0 where the clock may be right: it is past the year in which this program was begun, and not more than a day behind the
 * last reading of the mailbox (store: NULL, then that is not asked). Else -1, *error ERROR_LATER. */
int serve_clock_good(Store *store, Instant now, Error *error);

/* Serves until a signal ends it: 0; or -1 with *error where only the operator can help (ERROR_DAMAGED).
 * The service's log, alive, stopping and outages are set by the caller. reload: brings in a new configuration, source, sender and templates, or keeps
 * the old ones and says why; no letter is on its way then, and nothing waits on the old source. */
int serve_run(Service *service, int signals, void (*reload)(void *data), void *data, Error *error);

#endif
