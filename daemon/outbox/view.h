/* View: what a letter says, as data; and the letter made of it.
 *
 * A view is a JSON object (jansson). Service code builds it and stores it with its cause (RULINGS 36); rendering looks up the template of its
 * kind and the player's language. No text for people is in a view but names, remarks and lines of the
 * player's own; everything else is codes and numbers that templates and words turn into language.
 *
 * Every view has
 *   kind      "answer" | "move" | "start" | "offer" | "declined" | "end" | "challenge" | "challenge-declined" |
 *             "register" | "confirm" | "entered" (a director entered your move) | "undelivered" | "set-aside" | "outage"     (templates/LANG/KIND.md)
 *   service   {name, address, arbiter}
 *   player    {name, zone, language}           the addressee; name "" for strangers
 * and where it concerns one game
 *   game      {id, white, black, opponent, you: "white"|"black", your_move: bool, move_number: int (of the ply to come),
 *              turn: "white"|"black", control: "10/50d", check: bool,
 *              last: {number, black: bool, san, long, from, to, mine: bool} | absent,
 *              squares: "rnbq…" 64 characters a8…h1 as in a FEN without numbers ('.' empty),
 *              moves: ["e4", "e5", …] English SAN from the first ply, first_black: bool, first_number: int,
 *              example_move: "Nf3" (SAN of some legal move, to show how one is written; absent: none is known),
 *              offer: "none"|"mine"|"theirs",
 *              over: bool, result: "1-0", reason: "checkmate"…,
 *              clocks: {white: {left_days, left_seconds, exact: bool, moves_left (to the next control, may be absent)}, black: {…}},
 *              late: seconds or 0 (of `last`),
 *              fen (the position the game began from, absent for the start array) and created (RFC 3339): for the PGN}
 *   deadline  {at: RFC 3339, running: bool, since: RFC 3339, left_days, exact: bool} the addressee's own deadline if he is on move, else absent.
 *              running false: assumed from this letter's own sending (a floor, RULINGS 32)
 *   their_deadline  {at}       the opponent's, if known
 *   remark    ["line", …]      the opponent's words in a notice; in an answer, what was passed on
 * In an answer
 *   letter    {subject, date}     the letter answered
 *   outcomes  [ {code: "…", line: "as read", … } ]   in order; codes and their fields are listed in view_codes below
 * Others: challenge {id, from, to, you: "white"|"black"|"random", control, options (a text, may be absent), days, expired: bool},
 *         confirm {command, hours}, register {name, hours}, set_aside {date, subject},
 * unreachable {name, given_up, for_arbiter, and for the arbiter address, words, game},
 * outage {code: "mailbox"|"relay"|"disk", since, until (absent while it lasts), why, tries}.
 * Instants are RFC 3339; letter.date and set_aside.date may also be as a Date field has them. Kind "remark" has a template too.
 *
 * Rendering works on a copy: every string is cleaned (names and lines are one line, bounded, without control and bidi characters), and
 * enrich.h lists what is added, first of all to each object with a "code" a member named like the code holding true, so that templates
 * can say {{#played}}…{{/played}}. A code without a section in outcome.md writes nothing.
 *
 * Lines of ours that hold moves or words of others (board, score, remarks) begin with '|', in the text and in the HTML's <pre>:
 * reply trimming takes them for quotations (RULINGS 10). No other line begins with a command's word, a digit or castling.
 */
#ifndef EPISTLE_DAEMON_OUTBOX_VIEW_H
#define EPISTLE_DAEMON_OUTBOX_VIEW_H

/* Outcome codes of an answer's commands (field `code`), with what else the object holds:
 *   played {san, long, number, black, passed_on: bool}       the move counts; late: seconds if late
 *   already-played {san, number, black}                      the same move for a ply that was played (RULINGS 8)
 *   conflict {line, san (the one that counts), number, black}
 *   illegal {line, fault: {code, piece, from, to, square, …}}
 *   ambiguous {line, readings: [{san, long}]}
 *   not-a-move {line, fault}      shaped like a move but unreadable: "Nf9"
 *   not-your-turn {line}          the opponent is on move
 *   game-over {line}
 *   wrong-number {line, given, number, black}                its move number is not the current one
 *   old-letter {line, san, number, black}                    an answer to an old letter without number: `yes` would count (RULINGS 13)
 *   number-needed {line}          no token and no move number
 *   which-game {line, games: [{id, opponent}]}
 *   no-such-game {line, id} · not-your-game {line, id} · no-games {line}
 *   several-moves {lines: []}     different moves stand in the letter
 *   move-beside {lines: []}       a move beside accept or resign (RULINGS 14)
 *   near-miss {line, meant}       one word off a command; meant: "resign"
 *   below-remark {line}           a lone command below the remark
 *   block-differs {line, number, black, given, recorded}     a score that differs from the record (RULINGS 12)
 *   block-repeats {line}          a score that adds no move
 *   later {line}                  a command that this service does not know yet
 *   draw-offered · offer-already {line} · draw-agreed · draw-declined · no-offer {line} · resigned
 *   needs-current {line}          resign, accept … want an answer to the current letter
 *   board · games {games: [{id, white, black, opponent, your_move, move_number, deadline, result, over}]} · pgn · help {topic}
 *   nothing                       no command at all in the letter; with `question` true if it seems to ask something
 *   remark-passed                 no command; the text went to the opponent
 *   empty · html-only · encrypted
 *   registered {name} · name-taken {name} · name-bad {name} · already-registered {name} · registration-closed
 *   challenged {name, control, you} · unknown-player {who} · several-players {who} · challenge-self · challenge-bad {line, option} · challenge-open {name}
 *   challenge-accepted {name, id} · challenge-declined {name} · challenge-gone
 *   which-player                  a shared address and no token: the players there cannot be told apart (RULINGS 5)
 *   awaiting-confirm {line, san, long, number, black, hours}  nothing is played until `confirm` (kind "confirm")
 *   needs-proof {line}            an unproven letter asked for something that needs an answer to a letter of ours
 *   registration-asked {name, hours} (kind "register") · registration-gone {name}
 *   too-many {lines} · ping
 *   confirm-nothing {line} · yes-nothing {line}              no question is open
 *   awaiting-other {line}         another unproven move awaits its confirmation already (RULINGS 4)
 * Fault codes are those of core/notation/notation.h (MoveFault), spelled in lower case with '-' (or '_'); beside them piece and cause_piece
 * ("knight"), from, to and cause ("f3"), from_file, from_rank, candidates [{san, long}], where the Reading has them. An outcome may hold
 * game: the game's number.
 */

#include "core/base/error.h"
#include "core/base/str.h"
#include "daemon/outbox/template.h"

#include <jansson.h>

/* One letter, finished but for its headers. */
typedef struct RenderedLetter {
    char *subject; /* UTF-8, one line */
    char *text;    /* UTF-8, LF lines, no blank at a line's end */
    char *html;    /* a whole document, from the same template escaped and through cmark; boards as <pre> */
    char *pgn;     /* an attachment, or NULL */
} RenderedLetter;

/* Renders a view in its player's language (English where that language or template is missing). Dates are written in the
 * player's zone. The view is not changed. */
int view_render(const Templates *templates, const json_t *view, RenderedLetter *ret_letter, Error *error);
void rendered_letter_free(RenderedLetter *letter);

#endif
