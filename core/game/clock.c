#include "core/game/clock.h"

#include "core/base/str.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum {
    SINGLE_DAYS = 20,        /* days of one move that count once (RULES.md) */
    COUNTED_DAYS = 10000000, /* more than lie between the years 0 and 9999: no instant of a record reaches it */
};

static int64_t add_saturated(int64_t left, int64_t right) {
    if (right > 0 && left > INT64_MAX - right)
        return INT64_MAX;
    if (right < 0 && left < INT64_MIN - right)
        return INT64_MIN;
    return left + right;
}

/* The seconds from `from` to a later `to`; 0 if it is not later. */
static int64_t seconds_between(Instant from, Instant to) {
    if (to <= from)
        return 0;
    if (from < 0 && to > INT64_MAX + from)
        return INT64_MAX;
    return to - from;
}

/* Digits worth 1 to `most`; NULL if there are none or they are worth something else. */
static const char *read_count(const char *text, int most, int *ret_count) {
    int count = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        count = count * 10 + (*at - '0');
        if (count > most)
            return NULL;
    }
    if (count == 0)
        return NULL;
    *ret_count = count;
    return at;
}

/* Nothing but blanks may stand behind `ending`. */
static bool ends_with(const char *text, const char *ending) {
    return text_starts_nocase(text, ending) && text_blank(text + strlen(ending));
}

int control_read(const char *text, Control *ret_control, Error *error) {
    const char *at = text;
    at += strspn(at, " \t\r\n");
    Control control = { .kind = CONTROL_NONE, .text = "none" };
    if (ends_with(at, "none")) {
        *ret_control = control;
        return 0;
    }
    int first = 0, days = 0;
    const char *behind = read_count(at, CLOCK_DAYS_MAX, &first);
    if (behind != NULL && ends_with(behind, "d/move")) {
        control.kind = CONTROL_DAYS_PER_MOVE;
        control.days = first;
        snprintf(control.text, sizeof control.text, "%dd/move", first);
        *ret_control = control;
        return 0;
    }
    if (behind != NULL && first <= CLOCK_MOVES_MAX && *behind == '/' &&
        (behind = read_count(behind + 1, CLOCK_DAYS_MAX, &days)) != NULL && ends_with(behind, "d")) {
        control.kind = CONTROL_MOVES_IN_DAYS;
        control.moves = first;
        control.days = days;
        snprintf(control.text, sizeof control.text, "%d/%dd", first, days);
        *ret_control = control;
        return 0;
    }
    return error_set(error, ERROR_INPUT, 0,
                     "“%.40s” is no time control; known are 10/50d (moves in days, at most %d in %d), "
                     "3d/move (days for each move) and none.",
                     text, CLOCK_MOVES_MAX, CLOCK_DAYS_MAX);
}

/* What a control period, or a move under "3d/move", brings. */
static int64_t allotment(const Control *control) {
    return control->kind == CONTROL_NONE ? 0 : (int64_t)control->days * SECONDS_PER_DAY;
}

void clock_start(const Control *control, Clock *ret_clock) {
    *ret_clock = (Clock){ .left = allotment(control) };
}

int clock_doubled(int days) {
    if (days <= SINGLE_DAYS)
        return days < 0 ? 0 : days;
    int double_days = days - SINGLE_DAYS;
    return double_days > (INT_MAX - SINGLE_DAYS) / 2 ? INT_MAX : SINGLE_DAYS + 2 * double_days;
}

/* The greatest number of days whose doubled charge is at most `days`. An overdrawn clock leaves the free first day. */
static int64_t affordable_days(int64_t days) {
    if (days <= SINGLE_DAYS)
        return days < 0 ? 0 : days;
    return SINGLE_DAYS + (days - SINGLE_DAYS) / 2;
}

Instant clock_deadline(const Control *control, const Clock *clock, Instant start) {
    if (control->kind == CONTROL_NONE || start == INSTANT_NONE)
        return INSTANT_NONE;
    if (control->kind == CONTROL_DAYS_PER_MOVE)
        return add_saturated(start, clock->left < 0 ? 0 : clock->left);
    int64_t days = affordable_days(clock->left / SECONDS_PER_DAY) + 1;
    return add_saturated(start, days * SECONDS_PER_DAY); /* about half of what was left, so it fits */
}

void clock_charge(const Control *control, const Clock *clock, Instant start, Instant arrival, Charge *ret_charge) {
    Charge charge = { .deadline = clock_deadline(control, clock, start) };
    if (start != INSTANT_NONE && arrival != INSTANT_NONE) {
        charge.elapsed = seconds_between(start, arrival);
        if (charge.deadline != INSTANT_NONE)
            charge.late = seconds_between(charge.deadline, arrival);
    }
    if (control->kind == CONTROL_DAYS_PER_MOVE)
        charge.charged = charge.elapsed;
    if (control->kind == CONTROL_MOVES_IN_DAYS) {
        /* ceil(e / d) - 1 is floor((e - 1) / d) for e > 0 */
        int64_t days = charge.elapsed > 0 ? (charge.elapsed - 1) / SECONDS_PER_DAY : 0;
        charge.days = days > COUNTED_DAYS ? COUNTED_DAYS : (int)days;
        charge.charged = (int64_t)clock_doubled(charge.days) * SECONDS_PER_DAY;
    }
    *ret_charge = charge;
}

void clock_move(const Control *control, const Clock *before, const Charge *charge, Clock *ret_after) {
    Clock after = *before;
    after.moves_made++;
    after.used = add_saturated(before->used, charge->charged);
    if (control->kind == CONTROL_DAYS_PER_MOVE)
        after.left = allotment(control);
    if (control->kind == CONTROL_MOVES_IN_DAYS) {
        after.left = add_saturated(before->left, -charge->charged);
        if (after.moves_made % control->moves == 0)
            after.left = add_saturated(after.left, allotment(control));
    }
    *ret_after = after;
}
