/* The game record, `epistle-record/1`: an append-only list of entries, one line of text each (docs/epistle-record.5 is
 * the specification, byte for byte).
 *
 *     N KIND at=INSTANT by=AUTHOR letter=NUMBER KEY=VALUE … prev=HASH LF
 *
 * The hash of an entry is SHA-256 over its line with the LF; prev is the hash of the entry before, 64 zeros for the
 * first. Keys stand in the order the specification gives for the kind; an unknown kind, a missing, doubled or unknown key, or another
 * order is an error, so that one entry has one spelling. Values are percent-encoded (RFC 3986 unreserved characters and
 * "/+:,=-@" stand for themselves). Entries hold player numbers and letter numbers, never names or texts (RULINGS 19). */
#ifndef EPISTLE_CORE_GAME_RECORD_H
#define EPISTLE_CORE_GAME_RECORD_H

#include "core/base/error.h"
#include "core/base/instant.h"
#include "core/base/sha256.h"
#include "core/base/str.h"
#include "core/chess/fen.h"
#include "core/game/clock.h"

#include <stdint.h>

enum {
    RULES_VERSION = 1,
    RECORD_LINE_MAX = 1024, /* bytes with LF; the longest entry, a start with a FEN, has about 400 */
    RECORD_WORD_MAX = 32,   /* of a kind's name, with NUL */
};

typedef enum EntryKind {
    ENTRY_START,   /* who plays, from which position, under which control and rules_version; announced start */
    ENTRY_NOTICE,  /* a letter that lets a player move was accepted by our relay (at): his time may begin */
    ENTRY_MOVE,    /* a ply: epoch, ply, move, what it cost, how late it was, with a draw offer or not */
    ENTRY_OFFER,   /* a draw offer without a move */
    ENTRY_DECLINE, /* declined in words (a move declines too, without an entry) */
    ENTRY_ACCEPT,  /* agreed draw */
    ENTRY_RESIGN,
    ENTRY_RESULT,  /* the end: result and reason; under rules 1 nothing follows */
    ENTRY_RESTORE  /* an arbiter sets the game back to a ply: a new epoch */
} EntryKind;

typedef enum Author { AUTHOR_SERVICE, AUTHOR_WHITE, AUTHOR_BLACK, AUTHOR_ARBITER } Author;

typedef enum Result { RESULT_NONE, RESULT_WHITE, RESULT_BLACK, RESULT_DRAW, RESULT_BOTH_LOSE, RESULT_VOID } Result;

typedef enum Reason {
    REASON_NONE, REASON_CHECKMATE, REASON_RESIGNATION, REASON_AGREEMENT, REASON_STALEMATE, REASON_DEAD_POSITION, REASON_RULING
} Reason;

typedef struct Entry {
    int number; /* from 1 */
    EntryKind kind;
    Instant at; /* for a player's entry the arrival of his letter; for a notice its acceptance */
    Author by;
    int64_t letter; /* the letter in (moves, offers, …) or out (notices) that caused it; 0 none: by the operator's hand */

    int64_t white, black;           /* ENTRY_START: player numbers */
    int rules_version;              /* ENTRY_START */
    char control[CONTROL_TEXT_MAX]; /* ENTRY_START */
    char fen[FEN_MAX];              /* ENTRY_START: "" for the start array; castling as files (HAha) says Chess960 */
    Instant start;                  /* ENTRY_START: announced start, INSTANT_NONE for at once */

    int epoch;  /* ENTRY_MOVE, ENTRY_NOTICE, ENTRY_RESTORE (the new one); the first is 1 */
    int ply;    /* ENTRY_MOVE: 1 for the first half-move; ENTRY_NOTICE: plies played when the letter was written; ENTRY_RESTORE: plies that stay */
    Author to;  /* ENTRY_NOTICE: whose notice */
    char uci[8];             /* ENTRY_MOVE: king-takes-rook for castling in Chess960 only */
    char san[16];            /* ENTRY_MOVE: English SAN, must be the one that belongs to the move */
    bool offer;              /* ENTRY_MOVE: with a draw offer */
    int64_t charged, late;   /* ENTRY_MOVE: seconds, see clock.h */

    Result result;  /* ENTRY_RESULT */
    Reason reason;

    char previous[SHA256_HEX_SIZE];
    char hash[SHA256_HEX_SIZE];
} Entry;

/* Appends the line (with LF) and fills entry->hash. number and previous must be set. ERROR_INPUT and nothing done if an entry
 * like this cannot be read back (negative numbers, an instant outside the years 0 to 9999, no SAN …). */
int entry_write(Entry *entry, Str *ret_line, Error *error);
/* Reads one line (with or without its LF), strictly: entry_write() gives the same bytes again. Fills hash; members the kind
 * does not have are zero, start INSTANT_NONE. ERROR_DAMAGED. The form only; what fits the game, game_apply() knows. */
int entry_read(const char *line, Entry *ret_entry, Error *error);

const char *result_text(Result result); /* "1-0" "0-1" "1/2-1/2" "0-0" "*" ; RESULT_NONE and VOID are "*" (in the record "void") */
const char *reason_name(Reason reason); /* "checkmate" … as in the record and in views */
const char *author_name(Author author);
const char *entry_kind_name(EntryKind kind);

#endif
