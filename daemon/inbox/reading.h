/* One raw letter, read: header, kind, body, new text. No store, no key: who wrote it is decided in service/proof.h. */
#ifndef EPISTLE_DAEMON_INBOX_READING_H
#define EPISTLE_DAEMON_INBOX_READING_H

#include "core/base/sha256.h"
#include "daemon/inbox/automatic.h"
#include "daemon/inbox/header.h"
#include "daemon/inbox/mime.h"

typedef struct ReadLetter {
    Header header;
    LetterKind kind;
    const char *kind_why;    /* the sign it was known by, "" for a human letter */
    const char *from;        /* the one address in the one From field; NULL if there are none or several */
    const char *from_name;   /* decoded, "" if none */
    const char *message_id;  /* without <>, NULL if there is none that is well-formed */
    const char *subject;     /* decoded, "" if none */
    const char *date;        /* as written, "" if none */
    char body_hash[SHA256_HEX_SIZE]; /* of the raw body bytes */
    MimeResult mime;         /* of automatic mail: MIME_EMPTY, it is never parsed; of bounces the report */
    const char *new_text;    /* "" where mime is not MIME_TEXT */
} ReadLetter;

typedef int (*MimeFunction)(void *data, Arena *arena, const char *raw, size_t size, MimeResult *ret_result, Error *error);

/* Header, kind and sender alone, by our own scanner; the body is left alone (MIME_EMPTY). -1 only for want of memory. */
int letter_read_head(Arena *arena, const char *raw, size_t size, const char *service_address, ReadLetter *ret_letter, Error *error);

/* Everything lies in the arena; raw must stay. -1 only for want of memory or of a MIME zygote (ERROR_LATER). */
int letter_read(Arena *arena, const char *raw, size_t size, const char *service_address, MimeFunction read_mime, void *mime_data,
                ReadLetter *ret_letter, Error *error);

#endif
