/* Enriching a view: the words, dates, boards and flags that templates need, computed from its codes and numbers.
 *
 * First every string is cleaned (one line, no control or bidi characters, bounded; names at most NAME_COLUMNS code points),
 * then members are added; none that the view has is changed, but that false-like numbers ("late": 0) go. Added:
 *   is-KIND                   true, in the view itself
 *   CODE, is-CODE             true, beside every "code" (CODE only where no member has that name); '_' becomes '-'
 *   has_NAME                  true, beside every list NAME that is not empty
 *   NAME_words, NAME_utc      beside an instant NAME of at, since, date, deadline: in the player's zone with its name, and in UTC
 *   is_white, is_black        beside "you"; turn_white, turn_black beside "turn"
 *   numbered                  beside san, number, black: "12. Nf3", "12... Nf6"; label: "12.", "12..." without the move
 *   long_form                 beside san and long where they differ
 *   piece_name …              beside piece, cause_piece, attacker_piece: the language's word
 *   control_words, control_rules   beside control: its name, and what the name does not say
 *   late_words, left_words    durations beside late; and in a clock
 *   days_words, hours_words   beside days and hours: "30 days"
 *   meant-WORD                true, beside "meant"
 *   lines_words, readings_words, candidates_words   lists in one line, each part quoted
 * in an outcome               game_id in the place of a number "game"; candidates from its fault; first_id of its games
 * in a fault                  cause, cause_piece from attacker, attacker_piece or square2 where those are what is there
 * in a game                   board [line …], score [line …], turn_name, winner, loser, you_won, you_lost, drawn, end-REASON,
 *                             waiting (the opponent is on move), offer_mine, offer_theirs, example (a move as it would be written now)
 * in a deadline               sum ("21 × 24 hours"), zone_utc: the player's zone is UTC itself
 * in the view                 remark_lines, each with "| " before it, wrapped */
#ifndef EPISTLE_DAEMON_OUTBOX_ENRICH_H
#define EPISTLE_DAEMON_OUTBOX_ENRICH_H

#include "core/base/error.h"
#include "daemon/outbox/template.h"

#include <jansson.h>

enum { NAME_COLUMNS = 60, LINE_COLUMNS = 70, VIEW_TEXT_COLUMNS = 300, REMARK_LINE_COLUMNS = 4000, OUR_LINE_WIDTH = 70 };

/* A new object with the view's members and these; the caller's to json_decref(). NULL with the error set. */
json_t *view_enrich(const Templates *templates, const json_t *view, Error *error);

#endif
