/* What the daemon, the zygote and its children say to each other, over pipes, in the machine's own byte order (all
 * three are one program).
 *
 *   daemon → zygote   MimeRequest, then `size` bytes of the raw letter
 *   child  → zygote   MimeAnswer, then text, report and why, without NULs; then it ends
 *   zygote → daemon   MimeFate, then `size` bytes: what the child wrote, unread
 *
 * The child's answer goes through the zygote, which knows where it ends: a child taken over by its letter cannot
 * write a second answer that the daemon would take for the next letter's. Only the daemon looks into it, trusting nothing. */
#ifndef EPISTLE_DAEMON_INBOX_MIME_WIRE_H
#define EPISTLE_DAEMON_INBOX_MIME_WIRE_H

#include "daemon/inbox/gate.h"
#include "daemon/inbox/mime.h"

#include <stdint.h>

typedef struct MimeRequest {
    uint32_t size; /* at most GATE_LETTER_MAX */
} MimeRequest;

typedef struct MimeAnswer {
    uint32_t kind; /* MimeKind */
    uint32_t cut;
    uint32_t text, report, why; /* lengths */
} MimeAnswer;

enum {
    MIME_WHY_MAX = 200,
    MIME_ANSWER_MAX = (int)sizeof(MimeAnswer) + MIME_TEXT_MAX + MIME_REPORT_MAX + MIME_WHY_MAX,
};

enum { /* MimeFate.kind */
    MIME_FATE_ANSWERED, /* it wrote something and ended; what, is for the daemon to judge */
    MIME_FATE_DIED,
    MIME_FATE_SLOW,
    MIME_FATE_NO_CHILD, /* fork or pipe failed */
};

typedef struct MimeFate {
    uint32_t kind;
    uint32_t signal; /* MIME_FATE_DIED: which one, 0 if it ended by itself */
    uint32_t size;   /* of what follows; 0 unless answered */
} MimeFate;

#define MIME_ZYGOTE_NAME "epistle-mime" /* argv[0] */

#endif
