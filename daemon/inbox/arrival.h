/* When did a letter arrive at our mailbox (RULINGS 29)? */
#ifndef EPISTLE_DAEMON_INBOX_ARRIVAL_H
#define EPISTLE_DAEMON_INBOX_ARRIVAL_H

#include "core/base/instant.h"
#include "daemon/inbox/header.h"

/* The earliest of `received` (INTERNALDATE, INSTANT_NONE if the mailbox does not say) and the dates of the unbroken run of
 * Received fields from the top whose "by" host is one of received_by (the run ends
 * with the field in which one of them shows a client of a foreign name and address: what stands below is the
 * sender's); never later than `now`. Without either: `fixed`
 * (the time of --now) if it is not INSTANT_NONE, else file_time, else now. received_by: host names, without case. */
Instant arrival_of(const Header *header, const char *const *received_by, size_t received_by_count,
                   Instant received, Instant file_time, Instant fixed, Instant now);

#endif
