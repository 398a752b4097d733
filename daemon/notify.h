/* Notify: what the service manager is told (sd_notify(3)). Where there is none, as in a terminal, nothing happens. */
#ifndef EPISTLE_DAEMON_NOTIFY_H
#define EPISTLE_DAEMON_NOTIFY_H

#include <stdint.h>

void notify_ready(void);              /* after the start, and after notify_reloading() */
void notify_reloading(void);
void notify_stopping(void);
void notify_alive(void);              /* the watchdog's WATCHDOG=1 */
void notify_status(const char *text); /* one line for `systemctl status` */

/* Milliseconds within which notify_alive() is wanted again and again (WatchdogSec=), 0 where nobody watches. */
int64_t notify_watchdog(void);

#endif
