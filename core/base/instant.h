/* Instants: seconds since 1970-01-01T00:00:00Z as a signed 64-bit number, leap seconds not
 * counted (POSIX). Written and read as RFC 3339 with whole seconds. Pure arithmetic on the
 * proleptic Gregorian calendar; time zones come from the daemon (RULINGS 34). */
#ifndef EPISTLE_CORE_BASE_INSTANT_H
#define EPISTLE_CORE_BASE_INSTANT_H

#include <stdbool.h>
#include <stdint.h>

typedef int64_t Instant;

#define INSTANT_NONE INT64_MIN /* "not known", "never" */
enum { INSTANT_TEXT_SIZE = 32, SECONDS_PER_DAY = 86400 };

typedef struct CivilTime {
    int year, month, day; /* month 1–12, day 1–31 */
    int hour, minute, second;
    int weekday; /* 0 Sunday … 6 Saturday */
} CivilTime;

CivilTime instant_civil(Instant instant); /* in UTC; the year is meaningless where it does not fit an int */
Instant civil_instant(const CivilTime *civil); /* weekday is not looked at; 31 April is 1 May */

/* "2026-11-30T02:09:11Z"; years 0000–9999, others are written as year 0000 or 9999's ends. */
void instant_write(Instant instant, char ret_text[INSTANT_TEXT_SIZE]);
/* RFC 3339: date, 'T' or blank, time, optional fraction (dropped), 'Z' or ±HH:MM; nothing else. */
bool instant_read(const char *text, Instant *ret_instant);

/* RFC 5322 date-time with its obsolete forms (two-digit years, zone names, missing weekday),
 * as it stands behind the last ';' of a Received field. False if it cannot be read. */
bool instant_read_mail(const char *text, Instant *ret_instant);
/* "Mon, 30 Nov 2026 02:09:11 +0000" */
void instant_write_mail(Instant instant, char ret_text[INSTANT_TEXT_SIZE]);

#endif
