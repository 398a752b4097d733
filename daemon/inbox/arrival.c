#include "daemon/inbox/arrival.h"

#include "core/base/str.h"

#include <string.h>

static const char *skip_blanks(const char *text) {
    return text + strspn(text, " \t");
}

/* Behind a comment that begins at `text`, by depth; its end if it is not closed. */
static const char *skip_comment(const char *text) {
    size_t depth = 0;
    for (; *text != 0; text++) {
        if (*text == '\\' && text[1] != 0)
            text++;
        else if (*text == '(')
            depth++;
        else if (*text == ')' && --depth == 0)
            return text + 1;
    }
    return text;
}

/* The host behind the word "by" of a Received field (RFC 5321 4.4), outside comments; NULL if there is none. */
static const char *received_host(const char *value, size_t *ret_length) {
    for (const char *at = skip_blanks(value); *at != 0 && *at != ';'; at = skip_blanks(at)) {
        if (*at == '(') {
            at = skip_comment(at);
            continue;
        }
        size_t length = strcspn(at, " \t(;");
        if (length == 2 && text_starts_nocase(at, "by")) {
            at = skip_blanks(at + 2);
            *ret_length = strcspn(at, " \t(;");
            return *ret_length > 0 ? at : NULL;
        }
        at += length;
    }
    return NULL;
}

static bool host_is_ours(const char *host, size_t length, const char *const *ours, size_t count) {
    if (length > 0 && host[length - 1] == '.')
        length--; /* a fully qualified name may be written with its dot */
    for (size_t i = 0; i < count; i++)
        if (strlen(ours[i]) == length && text_starts_nocase(host, ours[i]))
            return true;
    return false;
}

static Instant earlier(Instant left, Instant right) {
    if (left == INSTANT_NONE || right == INSTANT_NONE)
        return left == INSTANT_NONE ? right : left;
    return left < right ? left : right;
}

/* The earliest date of the unbroken run of our own hosts' Received fields from the top. A host of ours that wrote no readable
 * date does not break the run. */
static Instant received_run(const Header *header, const char *const *ours, size_t count) {
    Instant earliest = INSTANT_NONE;
    const char *value;
    for (size_t i = 0; (value = header_field(header, "Received", i)) != NULL; i++) {
        size_t length = 0;
        const char *host = received_host(value, &length);
        if (host == NULL || !host_is_ours(host, length, ours, count))
            break;
        const char *date = strrchr(value, ';');
        Instant instant;
        if (date != NULL && instant_read_mail(date + 1, &instant))
            earliest = earlier(earliest, instant);
    }
    return earliest;
}

Instant arrival_of(const Header *header, const char *const *received_by, size_t received_by_count, Instant received,
                   Instant file_time, Instant fixed, Instant now) {
    Instant arrival = earlier(received, received_run(header, received_by, received_by_count));
    if (arrival == INSTANT_NONE)
        arrival = fixed != INSTANT_NONE ? fixed : file_time;
    return arrival == INSTANT_NONE || arrival > now ? now : arrival;
}
