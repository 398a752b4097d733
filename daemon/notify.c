#include "daemon/notify.h"
#include "daemon/machine_clock.h"

#include <inttypes.h>
#include <systemd/sd-daemon.h>

void notify_ready(void) {
    sd_notify(0, "READY=1");
}

/* With the time of its beginning, as Type=notify-reload wants. */
void notify_reloading(void) {
    sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" PRId64, machine_microseconds());
}

void notify_stopping(void) {
    sd_notify(0, "STOPPING=1");
}

void notify_alive(void) {
    sd_notify(0, "WATCHDOG=1");
}

void notify_status(const char *text) {
    sd_notifyf(0, "STATUS=%s", text);
}

int64_t notify_watchdog(void) {
    uint64_t microseconds = 0;
    if (sd_watchdog_enabled(0, &microseconds) <= 0)
        return 0;
    return microseconds < 2000 ? 1 : (int64_t)(microseconds / 1000);
}
