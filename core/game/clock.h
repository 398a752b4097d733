/* Time controls of long games and what they charge.
 *
 * Two controls so far, "10/50d" (N moves in D days, repeating; whole days, first 24 h free, days past the 20th of one
 * move double) and "3d/move" (exact seconds for each move); the type has room for the rest of the language.
 * All functions are pure; instants are UTC seconds, durations seconds unless the name says days. Rules: RULES.md
 * "What long games by mail add", RULINGS 28. */
#ifndef EPISTLE_CORE_GAME_CLOCK_H
#define EPISTLE_CORE_GAME_CLOCK_H

#include "core/base/error.h"
#include "core/base/instant.h"

#include <stdbool.h>
#include <stdint.h>

enum { CONTROL_TEXT_MAX = 64, CLOCK_MOVES_MAX = 1000, CLOCK_DAYS_MAX = 3650 };

typedef enum ControlKind { CONTROL_NONE, CONTROL_MOVES_IN_DAYS, CONTROL_DAYS_PER_MOVE } ControlKind;

typedef struct Control {
    ControlKind kind;
    int moves;                   /* CONTROL_MOVES_IN_DAYS */
    int days;
    char text[CONTROL_TEXT_MAX]; /* the canonical spelling: "10/50d", "3d/move", "none" */
} Control;

/* Reads "10/50d", "3d/move", "none"; blanks around and any case allowed, leading zeros too. Moves 1 to CLOCK_MOVES_MAX, days 1 to
 * CLOCK_DAYS_MAX. ERROR_INPUT with a sentence that says which are known. */
int control_read(const char *text, Control *ret_control, Error *error);

/* One player's clock. left and used are seconds for CONTROL_DAYS_PER_MOVE and whole days times 86400 for CONTROL_MOVES_IN_DAYS. */
typedef struct Clock {
    int moves_made;
    int64_t used; /* charged so far in all */
    int64_t left; /* for the moves up to the next control; below zero after a late move that counted */
} Clock;

void clock_start(const Control *control, Clock *ret_clock);

typedef struct Charge {
    int64_t elapsed;      /* seconds between start and arrival, never below 0 */
    int days;             /* n of RULINGS 28: max(0, ceil(elapsed / 24 h) - 1); whole-day controls only */
    int64_t charged;      /* seconds taken from the clock: doubled days times 86400, or elapsed; 0 under "none" */
    int64_t late;         /* seconds past the deadline, 0 if in time; the exact instant is in time */
    Instant deadline;     /* the last instant in time; INSTANT_NONE under "none" and where the time has not begun */
} Charge;

/* What a move that arrived at `arrival`, the player's time having run since `start` (INSTANT_NONE: it has not begun, the charge is 0), costs.
 * An arrival before the start costs nothing. Any pair of instants is safe: sums that would overflow stay at the end of the range. */
void clock_charge(const Control *control, const Clock *clock, Instant start, Instant arrival, Charge *ret_charge);

/* The clock after that move: takes the charge (of *charge only `charged` is looked at) and adds what the next control period brings.
 * A late move takes its whole charge: left may fall below zero, and the next period's days are added to that. Under "3d/move"
 * left is three days again, whatever was used. */
void clock_move(const Control *control, const Clock *before, const Charge *charge, Clock *ret_after);

/* The last instant in time for a move whose time began at start: start + (n+1) * 24 h for the greatest n whose doubled charge is
 * at most left (so left 0, 20, 21 days give start + 24 h, + 21 * 24 h, + 21 * 24 h). A clock below zero leaves the free first day:
 * start + 24 h. INSTANT_NONE under "none" and for a start of INSTANT_NONE. */
Instant clock_deadline(const Control *control, const Clock *clock, Instant start);

/* RULES.md: min(n,20) + 2 * max(0, n-20); 0 for n < 0, INT_MAX where it would not fit. */
int clock_doubled(int days);

#endif
