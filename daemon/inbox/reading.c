#include "daemon/inbox/reading.h"

#include "core/base/utf8.h"
#include "daemon/inbox/trim.h"

#include <string.h>

static void read_sender(Arena *arena, ReadLetter *letter) {
    const char *addresses[2] = { NULL, NULL }, *names[2] = { "", "" };
    letter->from_name = "";
    if (header_count(&letter->header, "From") != 1)
        return;
    if (header_addresses(arena, header_field(&letter->header, "From", 0), addresses, names, 2) != 1)
        return;
    letter->from = addresses[0];
    letter->from_name = names[0] == NULL ? "" : names[0];
}

/* A header may hold any bytes; what is not UTF-8 becomes '?', so that the value can stand in a view. */
static const char *clean_utf8(Arena *arena, const char *value) {
    size_t length = strlen(value);
    if (utf8_valid(value, length))
        return value;
    char *clean = arena_copy(arena, value, length);
    for (size_t at = 0; clean != NULL && at < length;) {
        uint32_t point;
        int size = utf8_next(clean + at, length - at, &point);
        if (size == 0)
            clean[at] = '?';
        at += size == 0 ? 1 : (size_t)size;
    }
    return clean == NULL ? "" : clean;
}

static const char *read_field(Arena *arena, const Header *header, const char *name) {
    const char *value = header_field(header, name, 0);
    if (value == NULL)
        return "";
    value = header_decode(arena, value);
    return value == NULL ? "" : clean_utf8(arena, value);
}

int letter_read_head(Arena *arena, const char *raw, size_t size, const char *service_address, ReadLetter *ret_letter, Error *error) {
    *ret_letter = (ReadLetter){ .new_text = "", .mime = { .kind = MIME_EMPTY, .text = "", .report = "", .why = "" } };
    if (!header_scan(arena, raw, size, &ret_letter->header))
        return error_set(error, ERROR_LATER, 0, "no memory to read a letter's header");
    read_sender(arena, ret_letter);
    ret_letter->subject = read_field(arena, &ret_letter->header, "Subject");
    ret_letter->date = read_field(arena, &ret_letter->header, "Date");
    const char *id_field = header_field(&ret_letter->header, "Message-ID", 0);
    if (id_field != NULL && header_message_ids(arena, id_field, &ret_letter->message_id, 1) == 0)
        ret_letter->message_id = NULL;
    sha256_hex(raw + ret_letter->header.body, size - ret_letter->header.body, ret_letter->body_hash);
    ret_letter->kind = automatic_kind(&ret_letter->header, service_address, &ret_letter->kind_why);
    return 0;
}

int letter_read(Arena *arena, const char *raw, size_t size, const char *service_address, MimeFunction read_mime, void *mime_data,
                ReadLetter *ret_letter, Error *error) {
    if (letter_read_head(arena, raw, size, service_address, ret_letter, error) < 0)
        return -1;
    if (ret_letter->kind != LETTER_HUMAN && ret_letter->kind != LETTER_BOUNCE)
        return 0;
    if (read_mime(mime_data, arena, raw, size, &ret_letter->mime, error) < 0)
        return -1;
    if (ret_letter->kind == LETTER_HUMAN && ret_letter->mime.kind == MIME_REPORT) {
        ret_letter->kind = LETTER_BOUNCE;
        ret_letter->kind_why = "a delivery report";
    }
    if (ret_letter->kind == LETTER_HUMAN && ret_letter->mime.kind == MIME_UNREADABLE)
        ret_letter->kind = LETTER_UNREADABLE;
    if (ret_letter->kind == LETTER_HUMAN && ret_letter->mime.kind == MIME_TEXT)
        ret_letter->new_text = trim_new_text(arena, ret_letter->mime.text);
    if (ret_letter->new_text == NULL || arena->exhausted)
        return error_set(error, ERROR_LETTER, 0, "the letter needs more memory than a letter may");
    return 0;
}
