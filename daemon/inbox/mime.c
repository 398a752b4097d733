/* libetpan finds the parts of a multipart and nothing else. It never sees the letter's own header: it gets one
 * clean Content-Type line with the boundary, then the body. Types, encodings and character sets of the parts are read by our
 * own scanner from the raw bytes of each part, since its reading is wrong in several ways (FACTS.md). */
#include "daemon/inbox/mime.h"

#include "core/base/utf8.h"
#include "daemon/inbox/charset.h"
#include "daemon/inbox/decode.h"
#include "daemon/inbox/gate.h"
#include "daemon/inbox/header.h"
#include "daemon/inbox/mime_flowed.h"
#include "daemon/inbox/mime_type.h"

#include <libetpan/libetpan.h>
#include <string.h>

enum {
    DECODED_MAX = 8 * 1024 * 1024, /* a letter of 2 MB in a legacy charset grows threefold at most */
};

typedef struct Walk {
    Arena *arena;
    Str text, report;
    bool named_too; /* second round: a text part with a file name may be the letter */
    bool html, encrypted, is_report;
} Walk;

/* A part as our own scanner sees it. */
typedef struct Part {
    Header header;
    const char *type, *disposition, *encoding;
    const char *body;
    size_t size;
} Part;

static bool part_read(Arena *arena, const char *raw, size_t size, Part *ret_part) {
    Part part = { 0 };
    if (!header_scan(arena, raw, size, &part.header))
        return false;
    part.type = header_field(&part.header, "Content-Type", 0);
    part.disposition = header_field(&part.header, "Content-Disposition", 0);
    part.encoding = header_field(&part.header, "Content-Transfer-Encoding", 0);
    part.body = raw + part.header.body;
    part.size = size - part.header.body;
    *ret_part = part;
    return true;
}

static bool has_content_field(const Header *header) {
    for (size_t i = 0; i < header->count; i++)
        if (text_starts_nocase(header->fields[i].name, "content-"))
            return true;
    return false;
}

/* A part that libetpan found. Of one without any header it leaves out the empty line, so that our scanner would take
 * the body for the header; but it says the same of one whose header it cannot read. */
static bool part_of(Arena *arena, const struct mailmime *mime, Part *ret_part) {
    const char *raw = mime->mm_mime_start;
    const struct mailmime_data *data = mime->mm_body;
    if (raw == NULL || !part_read(arena, raw, mime->mm_length, ret_part))
        return false;
    bool headless = data != NULL && data->dt_type == MAILMIME_DATA_TEXT && data->dt_data.dt_text.dt_data == raw;
    if (headless && !has_content_field(&ret_part->header))
        *ret_part = (Part){ .body = raw, .size = mime->mm_length };
    return true;
}

static bool is_attachment(Walk *walk, const Part *part) {
    const char *disposition = part->disposition;
    if (disposition != NULL && text_starts_nocase(disposition, "attachment"))
        return true;
    if (walk->named_too)
        return false;
    return mime_parameter(walk->arena, disposition, "filename") != NULL || mime_parameter(walk->arena, part->type, "name") != NULL;
}

/* Cuts at a character's border. */
static void cut_text(Str *text, size_t most) {
    if (text->length <= most)
        return;
    while (most > 0 && ((unsigned char)text->data[most] & 0xc0) == 0x80)
        most--;
    str_truncate(text, most);
}

/* Decodes a part's body to clean UTF-8 lines and appends it. */
static void append_decoded(Walk *walk, const Part *part, Str *target) {
    Str bytes, utf8, clean;
    str_init(&bytes, DECODED_MAX);
    str_init(&utf8, DECODED_MAX);
    str_init(&clean, DECODED_MAX);
    decode_transfer(part->encoding, part->body, part->size, &bytes);
    charset_to_utf8(mime_parameter(walk->arena, part->type, "charset"), bytes.data, bytes.length, &utf8);
    charset_clean(utf8.data, utf8.length, &clean);
    const char *format = mime_parameter(walk->arena, part->type, "format");
    if (format != NULL && text_equal_nocase(format, "flowed")) {
        const char *delsp = mime_parameter(walk->arena, part->type, "delsp");
        mime_unflow(&clean, delsp != NULL && text_equal_nocase(delsp, "yes"));
    }
    if (target->length > 0 && target->data[target->length - 1] != '\n')
        str_append_char(target, '\n');
    size_t room = target->maximum - target->length;
    cut_text(&clean, room);
    str_append_bytes(target, clean.data, clean.length);
    str_free(&bytes);
    str_free(&utf8);
    str_free(&clean);
}

/* True if it gave text that is not blank. */
static bool walk_single(Walk *walk, const Part *part) {
    if (mime_type_is(part->type, "text/html"))
        walk->html |= part->disposition == NULL || !text_starts_nocase(part->disposition, "attachment");
    if (mime_type_is(part->type, "application/pkcs7-mime") || mime_type_is(part->type, "application/x-pkcs7-mime"))
        walk->encrypted = true;
    if (!mime_type_is(part->type, "text/plain") || is_attachment(walk, part))
        return false;
    size_t before = walk->text.length;
    append_decoded(walk, part, &walk->text);
    if (!text_blank(walk->text.data + before))
        return true;
    str_truncate(&walk->text, before);
    return false;
}

static bool walk_part(Walk *walk, struct mailmime *mime, const Part *known);

/* The header of a returned letter: the part up to its first empty line. */
static void append_report(Walk *walk, struct mailmime *mime) {
    Part part;
    if (!part_of(walk->arena, mime, &part))
        return;
    bool headers = mime_type_is(part.type, "message/rfc822") || mime_type_is(part.type, "text/rfc822-headers") ||
                   mime_type_is(part.type, "message/global") || mime_type_is(part.type, "message/rfc822-headers");
    bool fields = mime_type_is(part.type, "message/") && !headers;
    if (!headers && !fields)
        return;
    Str whole;
    str_init(&whole, MIME_REPORT_MAX);
    append_decoded(walk, &part, &whole);
    const char *end = headers ? strstr(whole.data, "\n\n") : NULL;
    if (end != NULL)
        str_truncate(&whole, (size_t)(end - whole.data) + 1);
    if (walk->report.length > 0)
        str_append_char(&walk->report, '\n');
    cut_text(&whole, walk->report.maximum - walk->report.length);
    str_append_bytes(&walk->report, whole.data, whole.length);
    str_free(&whole);
}

/* Which children of a multipart hold the letter's text. */
static bool walk_multipart(Walk *walk, struct mailmime *mime, const char *type) {
    bool alternative = mime_type_is(type, "multipart/alternative");
    bool report = mime_type_is(type, "multipart/report");
    bool first_only = mime_type_is(type, "multipart/signed") || mime_type_is(type, "multipart/related") || report;
    if (mime_type_is(type, "multipart/digest"))
        return false; /* its parts are messages, whatever they say */
    if (mime_type_is(type, "multipart/encrypted")) {
        walk->encrypted = true;
        return false;
    }
    walk->is_report |= report;
    bool taken = false;
    clist *children = mime->mm_data.mm_multipart.mm_mp_list;
    for (clistiter *at = clist_begin(children); at != NULL; at = clist_next(at)) {
        struct mailmime *child = clist_content(at);
        if (report)
            append_report(walk, child);
        if ((first_only && at != clist_begin(children)) || (alternative && taken))
            continue;
        taken |= walk_part(walk, child, NULL);
    }
    return taken;
}

/* `known`: the part as read already, NULL to read it from its raw bytes. Recursion is bounded by the gate. */
static bool walk_part(Walk *walk, struct mailmime *mime, const Part *known) {
    Part part;
    if (known == NULL) {
        if (!part_of(walk->arena, mime, &part))
            return false;
        known = &part;
    }
    if (mime->mm_type == MAILMIME_MULTIPLE && mime_type_is(known->type, "multipart/")) {
        if (known->encoding != NULL && text_starts_nocase(known->encoding, "base64"))
            return false; /* RFC 2045 forbids it; what libetpan finds in it is not a part */
        if (is_attachment(walk, known))
            return false;
        return walk_multipart(walk, mime, known->type);
    }
    if (mime->mm_type == MAILMIME_SINGLE)
        return walk_single(walk, known);
    return false; /* a message inside is never entered */
}

/* Where a boundary was forgotten or is not the real one: the first line that begins with "--" and has a
 * Content- field or an empty line behind it. */
static const char *sniff_boundary(Arena *arena, const char *body, size_t size) {
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(body + at, '\n', size - at);
        size_t end = newline != NULL ? (size_t)(newline - body) : size;
        size_t length = end - at;
        if (length > 0 && body[end - 1] == '\r')
            length--;
        bool content = size - end > 9 && strncasecmp(body + end + 1, "content-", 8) == 0;
        if (length > 2 && length <= 72 && body[at] == '-' && body[at + 1] == '-' && content) {
            const char *boundary = arena_copy(arena, body + at + 2, length - 2);
            return boundary != NULL && strpbrk(boundary, "\"\\") == NULL ? boundary : NULL;
        }
        at = end + 1;
    }
    return NULL;
}

/* Is there the last boundary? A letter cut short (RULINGS 7) has none. */
static bool boundary_closed(const Part *letter, const char *boundary) {
    size_t length = strlen(boundary);
    const char *at = letter->body, *end = at + letter->size;
    while ((at = memmem(at, (size_t)(end - at), boundary, length)) != NULL) {
        if (at - letter->body >= 2 && at[-1] == '-' && at[-2] == '-' && end - at >= (ptrdiff_t)length + 2 && at[length] == '-' && at[length + 1] == '-')
            return true;
        at++;
    }
    return false;
}

/* The body's size without line ends at its end, and without an opening boundary there, which begins nothing. */
static size_t size_without_end(const Part *letter, const char *boundary) {
    size_t size = letter->size, length = strlen(boundary);
    for (int round = 0; round < 2; round++) {
        while (size > 0 && (letter->body[size - 1] == '\n' || letter->body[size - 1] == '\r'))
            size--;
        if (size < length + 3 || memcmp(letter->body + size - length, boundary, length) != 0 ||
            memcmp(letter->body + size - length - 3, "\n--", 3) != 0)
            break;
        size -= length + 2;
    }
    return size;
}

/* Gives libetpan one Content-Type line, the body and, where it is missing, a last boundary, without which it finds
 * no parts at all. NULL if it finds no parts. Caller frees with mailmime_free(); the tree points into *input. */
static struct mailmime *find_parts(const Part *letter, const char *boundary, Str *input) {
    str_clear(input);
    str_append(input, "Content-Type: multipart/mixed; boundary=\"");
    str_append(input, boundary);
    str_append(input, "\"\r\n\r\n");
    bool closed = boundary_closed(letter, boundary);
    str_append_bytes(input, letter->body, closed ? letter->size : size_without_end(letter, boundary));
    if (!closed) {
        str_append(input, "\r\n--");
        str_append(input, boundary);
        str_append(input, "--\r\n");
    }
    if (input->overflowed)
        return NULL;
    size_t at = 0;
    struct mailmime *root = NULL;
    if (mailmime_parse(input->data, input->length, &at, &root) != MAILIMF_NO_ERROR || root == NULL)
        return NULL;
    struct mailmime *body = root->mm_type == MAILMIME_MESSAGE ? root->mm_data.mm_message.mm_msg_mime : root;
    if (body != NULL && body->mm_type == MAILMIME_MULTIPLE && !clist_isempty(body->mm_data.mm_multipart.mm_mp_list))
        return root;
    mailmime_free(root);
    return NULL;
}

static bool boundary_plausible(const char *boundary) {
    if (boundary == NULL || boundary[0] == 0 || strlen(boundary) > GATE_BOUNDARY_MAX)
        return false;
    for (; *boundary != 0; boundary++)
        if (*boundary < ' ' || *boundary > '~' || *boundary == '"' || *boundary == '\\')
            return false;
    return true;
}

/* Does a line of the body begin with it? A boundary that nobody wrote is as good as none. */
static bool boundary_used(const Part *letter, const char *boundary) {
    size_t length = strlen(boundary);
    const char *at = letter->body, *end = at + letter->size;
    while ((at = memmem(at, (size_t)(end - at), boundary, length)) != NULL) {
        size_t before = (size_t)(at - letter->body);
        if (before >= 2 && at[-1] == '-' && at[-2] == '-' && (before == 2 || at[-3] == '\n'))
            return true;
        at++;
    }
    return false;
}

static void read_multipart(Walk *walk, const Part *letter) {
    Str input;
    str_init(&input, GATE_LETTER_MAX + 3 * GATE_BOUNDARY_MAX);
    const char *boundary = mime_parameter(walk->arena, letter->type, "boundary");
    struct mailmime *root = boundary_plausible(boundary) && boundary_used(letter, boundary) ? find_parts(letter, boundary, &input) : NULL;
    if (root == NULL) {
        boundary = sniff_boundary(walk->arena, letter->body, letter->size);
        root = boundary_plausible(boundary) ? find_parts(letter, boundary, &input) : NULL;
    }
    if (root == NULL) { /* no part to be found: what is there is the text */
        Part plain = *letter;
        plain.type = NULL;
        walk_single(walk, &plain);
        str_free(&input);
        return;
    }
    struct mailmime *body = root->mm_type == MAILMIME_MESSAGE ? root->mm_data.mm_message.mm_msg_mime : root;
    Part known = *letter;
    known.disposition = NULL; /* of the whole letter: means nothing */
    walk_part(walk, body, &known);
    if (walk->text.length == 0) {
        walk->named_too = true;
        str_clear(&walk->report);
        walk_part(walk, body, &known);
    }
    mailmime_free(root);
    str_free(&input);
}

static void read_letter(Walk *walk, const char *raw, size_t size) {
    Part letter;
    if (!part_read(walk->arena, raw, size, &letter))
        return;
    if (mime_type_is(letter.type, "multipart/") && (letter.encoding == NULL || !text_starts_nocase(letter.encoding, "base64"))) {
        read_multipart(walk, &letter);
        return;
    }
    if (mime_type_is(letter.type, "multipart/"))
        letter.type = NULL; /* base64 over a multipart: its text, as the corpus wants it */
    walk->named_too = true; /* a letter of one part is the letter, whatever it is called */
    if (letter.disposition != NULL && mime_type_is(letter.type, "text/"))
        letter.disposition = NULL;
    walk_single(walk, &letter);
}

static const char *keep(Arena *arena, const Str *text) {
    const char *copy = arena_copy(arena, text->data, text->length);
    return copy != NULL ? copy : "";
}

static bool pgp_encrypted(const char *text) {
    static const char begin[] = "-----BEGIN PGP MESSAGE-----";
    return strncmp(text + strspn(text, " \n\t"), begin, sizeof begin - 1) == 0;
}

static MimeKind kind_of(const Walk *walk) {
    if (walk->is_report)
        return MIME_REPORT;
    if (walk->text.length > 0)
        return pgp_encrypted(walk->text.data) ? MIME_ENCRYPTED : MIME_TEXT;
    if (walk->encrypted)
        return MIME_ENCRYPTED;
    return walk->html ? MIME_HTML_ONLY : MIME_EMPTY;
}

void mime_read(Arena *arena, const char *raw, size_t size, MimeResult *ret_result) {
    *ret_result = (MimeResult){ .kind = MIME_UNREADABLE, .text = "", .report = "", .why = "" };
    if (!gate_pass(raw, size, &ret_result->why))
        return;
    Walk walk = { .arena = arena };
    str_init(&walk.text, DECODED_MAX);
    str_init(&walk.report, MIME_REPORT_MAX);
    read_letter(&walk, raw, size);
    MimeResult result = { .kind = kind_of(&walk), .why = "" };
    result.cut = walk.text.length > MIME_TEXT_MAX;
    cut_text(&walk.text, MIME_TEXT_MAX);
    if (result.kind == MIME_ENCRYPTED)
        str_clear(&walk.text);
    result.text = keep(arena, &walk.text);
    result.report = keep(arena, &walk.report);
    str_free(&walk.text);
    str_free(&walk.report);
    if (arena->exhausted)
        ret_result->why = "a letter that needs more memory than letters get";
    else
        *ret_result = result;
}
