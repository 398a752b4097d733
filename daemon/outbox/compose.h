/* Composing: a rendered letter and its header data to the bytes that go on the wire (RFC 5322, 2045–2049, 2231, 3834).
 *
 * Pure 7-bit, CRLF, lines within 76 characters, no date, id or boundary of its own making: everything is given, so that the
 * same data give the same bytes. Subject and names as encoded words (RFC 2047) where needed; header lines folded. Structure:
 * multipart/mixed(multipart/alternative(text/plain; text/html); application/x-chess-pgn attachment) — without attachment
 * only the alternative, without html only the text. The text part is quoted-printable or 7bit UTF-8 without format=flowed. */
#ifndef EPISTLE_DAEMON_OUTBOX_COMPOSE_H
#define EPISTLE_DAEMON_OUTBOX_COMPOSE_H

#include "core/base/error.h"
#include "core/base/instant.h"
#include "core/base/str.h"
#include "daemon/outbox/view.h"

#include <stddef.h>

typedef struct ComposeHeader {
    const char *from_name;       /* UTF-8: the service's name */
    const char *from_address;
    const char *to_name;         /* UTF-8, may be "" */
    const char *to_address;
    const char *reply_to;        /* chess+TOKEN@…; NULL: none */
    const char *message_id;      /* without <> */
    const char *in_reply_to;     /* without <>, NULL if none */
    const char *const *references; /* without <>; ids that are not well-formed are left out (RULINGS 38) */
    size_t reference_count;
    const char *auto_submitted;  /* "auto-replied" or "auto-generated" */
    const char *loop_value;      /* X-Epistle-Loop: the service's address */
    Instant date;
    const char *pgn_name;        /* file name of the attachment, "game-42.pgn" */
} ComposeHeader;

/* Addresses are checked again here (no control characters, one @): ERROR_INPUT. Adds X-Auto-Response-Suppress: DR, RN, NRN, OOF, AutoReply. */
int compose_letter(const ComposeHeader *header, const RenderedLetter *letter, Str *out, Error *error);

#endif
