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

/* The word "by" of a Received field (RFC 5321 4.4), outside comments and not a host's own name; NULL if there is none. */
static const char *received_by_word(const char *value) {
    for (const char *at = skip_blanks(value); *at != 0 && *at != ';'; at = skip_blanks(at)) {
        if (*at == '(') {
            at = skip_comment(at);
            continue;
        }
        size_t length = strcspn(at, " \t(;");
        if (length == 2 && text_starts_nocase(at, "by"))
            return at;
        bool from = length == 4 && text_starts_nocase(at, "from");
        at += length;
        if (from) { /* what the client called itself may be any word */
            at = skip_blanks(at);
            at += strcspn(at, " \t(;");
        }
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

/* Loopback and the private networks: nobody connects from there but machines of our own. */
static bool address_is_inside(const char *address, size_t length) {
    static const char *const inside[] = { "127.", "10.", "192.168.", "IPv6:::1", "::1", "IPv6:fe80:", "IPv6:fd", "fe80:", "fd" };
    for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++)
        if (text_starts_nocase(address, inside[i]))
            return true;
    bool block = length > 7 && text_starts_nocase(address, "172.") && address[6] == '.'; /* 172.16.0.0/12 */
    int second = block ? (address[4] - '0') * 10 + (address[5] - '0') : 0;
    return block && second >= 16 && second <= 31;
}

/* Does the field show that the letter came in from outside here? Then the fields below it are the sender's, whatever host they
 * name: without this a player could write one of ours with an early date below the true one. Real servers write
 * "(name [address])"; where no address stands, nothing is shown. */
static bool came_from_outside(const char *value, const char *by, const char *const *ours, size_t count) {
    const char *open = memchr(value, '[', (size_t)(by - value));
    if (open == NULL)
        return false;
    size_t length = strcspn(open + 1, "]");
    if (address_is_inside(open + 1, length))
        return false;
    const char *end = open, *name = open;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    for (name = end; name > value && name[-1] != '(' && name[-1] != ' ' && name[-1] != '\t';)
        name--;
    return !host_is_ours(name, (size_t)(end - name), ours, count);
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
        const char *by = received_by_word(value);
        const char *host = by != NULL ? skip_blanks(by + 2) : "";
        if (!host_is_ours(host, strcspn(host, " \t(;"), ours, count))
            break;
        const char *date = strrchr(value, ';');
        Instant instant;
        if (date != NULL && instant_read_mail(date + 1, &instant))
            earliest = earlier(earliest, instant);
        if (came_from_outside(value, by, ours, count))
            break;
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
