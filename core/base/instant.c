#include "core/base/instant.h"

#include "core/base/str.h"

#include <stdio.h>
#include <string.h>

/* Days since 1970-01-01 of a civil date, after Howard Hinnant's "chrono-compatible
 * low-level date algorithms": years begin in March, so that the leap day comes last. */
static int64_t civil_days(int64_t year, int month, int day) {
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static int64_t floor_divide(int64_t value, int64_t by) {
    return value / by - (value % by < 0);
}

CivilTime instant_civil(Instant instant) {
    int64_t days = floor_divide(instant, SECONDS_PER_DAY);
    int64_t second = instant % SECONDS_PER_DAY;
    if (second < 0)
        second += SECONDS_PER_DAY; /* not instant - days * SECONDS_PER_DAY: INSTANT_NONE would overflow */
    int64_t shifted = days + 719468;
    int64_t era = floor_divide(shifted, 146097);
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted_month = (5 * day_of_year + 2) / 153;
    CivilTime civil = {
        .day = (int)(day_of_year - (153 * shifted_month + 2) / 5 + 1),
        .month = (int)(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9),
        .hour = (int)(second / 3600),
        .minute = (int)(second / 60 % 60),
        .second = (int)(second % 60),
        .weekday = (int)(((days + 4) % 7 + 7) % 7),
    };
    civil.year = (int)(year_of_era + era * 400 + (civil.month <= 2));
    return civil;
}

Instant civil_instant(const CivilTime *civil) {
    return civil_days(civil->year, civil->month, civil->day) * SECONDS_PER_DAY +
           (int64_t)civil->hour * 3600 + (int64_t)civil->minute * 60 + civil->second;
}

static const Instant first_writable = -62167219200; /* 0000-01-01T00:00:00Z */
static const Instant last_writable = 253402300799;  /* 9999-12-31T23:59:59Z */

static CivilTime writable_civil(Instant instant) {
    if (instant < first_writable)
        instant = first_writable;
    if (instant > last_writable)
        instant = last_writable;
    return instant_civil(instant);
}

void instant_write(Instant instant, char ret_text[INSTANT_TEXT_SIZE]) {
    CivilTime civil = writable_civil(instant);
    snprintf(ret_text, INSTANT_TEXT_SIZE, "%04d-%02d-%02dT%02d:%02d:%02dZ", civil.year % 10000,
             civil.month % 100, civil.day % 100, civil.hour % 100, civil.minute % 100,
             civil.second % 100);
}

/* Reads exactly `digits` decimal digits; NULL if they are not there. */
static const char *read_number(const char *text, int digits, int *ret_number) {
    int number = 0;
    for (int i = 0; i < digits; i++, text++) {
        if (*text < '0' || *text > '9')
            return NULL;
        number = number * 10 + (*text - '0');
    }
    *ret_number = number;
    return text;
}

static bool civil_possible(const CivilTime *civil) {
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    if (civil->month < 1 || civil->month > 12 || civil->day < 1 || civil->hour > 23 ||
        civil->minute > 59 || civil->second > 60)
        return false;
    bool leap = civil->year % 4 == 0 && (civil->year % 100 != 0 || civil->year % 400 == 0);
    return civil->day <= days[civil->month - 1] + (civil->month == 2 && leap);
}

static const char *expect(const char *text, char byte) {
    return text != NULL && *text == byte ? text + 1 : NULL;
}

bool instant_read(const char *text, Instant *ret_instant) {
    CivilTime civil = { 0 };
    const char *at = read_number(text, 4, &civil.year);
    if ((at = expect(at, '-')) == NULL || (at = read_number(at, 2, &civil.month)) == NULL)
        return false;
    if ((at = expect(at, '-')) == NULL || (at = read_number(at, 2, &civil.day)) == NULL)
        return false;
    if (*at != 'T' && *at != 't' && *at != ' ')
        return false;
    if ((at = read_number(at + 1, 2, &civil.hour)) == NULL || (at = expect(at, ':')) == NULL)
        return false;
    if ((at = read_number(at, 2, &civil.minute)) == NULL || (at = expect(at, ':')) == NULL)
        return false;
    if ((at = read_number(at, 2, &civil.second)) == NULL || !civil_possible(&civil))
        return false;
    if (*at == '.') {
        at++;
        if (*at < '0' || *at > '9')
            return false;
        while (*at >= '0' && *at <= '9')
            at++;
    }
    int offset = 0;
    if (*at == 'Z' || *at == 'z') {
        at++;
    } else {
        int sign = *at == '+' ? 1 : *at == '-' ? -1 : 0;
        int hours = 0, minutes = 0;
        if (sign == 0 || (at = read_number(at + 1, 2, &hours)) == NULL ||
            (at = expect(at, ':')) == NULL || (at = read_number(at, 2, &minutes)) == NULL ||
            hours > 23 || minutes > 59)
            return false;
        offset = sign * (hours * 3600 + minutes * 60);
    }
    if (*at != 0)
        return false;
    *ret_instant = civil_instant(&civil) - offset;
    return true;
}

static const char *const month_names[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                           "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
static const char *const weekday_names[] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };

void instant_write_mail(Instant instant, char ret_text[INSTANT_TEXT_SIZE]) {
    CivilTime civil = writable_civil(instant);
    snprintf(ret_text, INSTANT_TEXT_SIZE, "%s, %d %s %04d %02d:%02d:%02d +0000",
             weekday_names[civil.weekday], civil.day % 100, month_names[civil.month - 1],
             civil.year % 10000, civil.hour % 100, civil.minute % 100, civil.second % 100);
}

/* Blanks and comments (RFC 5322 CFWS), nesting bounded by the text's own length. */
static const char *skip_blanks(const char *text) {
    int depth = 0;
    for (; *text != 0; text++) {
        if (*text == '(')
            depth++;
        else if (*text == ')' && depth > 0)
            depth--;
        else if (depth == 0 && *text != ' ' && *text != '\t' && *text != '\r' && *text != '\n')
            break;
    }
    return text;
}

/* One to `most` digits. Returns how many there were. */
static int read_digits(const char **text, int most, int *ret_number) {
    int count = 0, number = 0;
    while (count < most && **text >= '0' && **text <= '9') {
        number = number * 10 + (**text - '0');
        (*text)++;
        count++;
    }
    *ret_number = number;
    return count;
}

static bool read_zone(const char *text, int *ret_offset) {
    static const struct { const char *name; int hours; } zones[] = {
        { "EST", -5 }, { "EDT", -4 }, { "CST", -6 }, { "CDT", -5 }, { "MST", -7 },
        { "MDT", -6 }, { "PST", -8 }, { "PDT", -7 },
    };
    *ret_offset = 0; /* RFC 5322 4.3: GMT, UT, Z and every unknown name are +0000 */
    if (*text == '+' || *text == '-') {
        int sign = *text++ == '-' ? -1 : 1;
        int number = 0;
        if (read_digits(&text, 4, &number) != 4 || number % 100 > 59)
            return false;
        *ret_offset = sign * (number / 100 * 3600 + number % 100 * 60);
        return true;
    }
    for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++)
        if (text_starts_nocase(text, zones[i].name))
            *ret_offset = zones[i].hours * 3600;
    return true;
}

bool instant_read_mail(const char *text, Instant *ret_instant) {
    CivilTime civil = { 0 };
    text = skip_blanks(text);
    if ((*text >= 'A' && *text <= 'Z') || (*text >= 'a' && *text <= 'z')) {
        while ((*text >= 'A' && *text <= 'Z') || (*text >= 'a' && *text <= 'z'))
            text++;
        text = skip_blanks(text);
        if (*text == ',')
            text = skip_blanks(text + 1);
    }
    if (read_digits(&text, 2, &civil.day) == 0)
        return false;
    text = skip_blanks(text);
    for (int i = 0; i < 12 && civil.month == 0; i++)
        if (text_starts_nocase(text, month_names[i]))
            civil.month = i + 1;
    if (civil.month == 0)
        return false;
    text = skip_blanks(text + 3);
    int year_digits = read_digits(&text, 4, &civil.year);
    if (year_digits < 2)
        return false;
    if (year_digits == 2)
        civil.year += civil.year < 50 ? 2000 : 1900;
    else if (year_digits == 3)
        civil.year += 1900;
    text = skip_blanks(text);
    if (read_digits(&text, 2, &civil.hour) == 0 || *(text = skip_blanks(text)) != ':')
        return false;
    text = skip_blanks(text + 1);
    if (read_digits(&text, 2, &civil.minute) == 0)
        return false;
    text = skip_blanks(text);
    if (*text == ':') {
        text = skip_blanks(text + 1);
        if (read_digits(&text, 2, &civil.second) == 0)
            return false;
        text = skip_blanks(text);
    }
    int offset = 0;
    if (!civil_possible(&civil) || !read_zone(text, &offset))
        return false;
    *ret_instant = civil_instant(&civil) - offset;
    return true;
}
