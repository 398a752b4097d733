/* Address lists (RFC 5322 3.4 and 4.4): one pass, comments counted by depth, never recursion. */
#include "daemon/inbox/header.h"

#include "core/base/str.h"
#include "core/base/utf8.h"

#include <string.h>

enum {
    LOCAL_MAX = 128,    /* RFC 5321 says 64; the plus-addressed tokens of others may be longer */
    ADDRESS_MAX = 320,  /* 64 @ 255 */
    DISPLAY_MAX = 1000, /* of a name, a header line's length */
};

/* What one mailbox of the list is made of, gathered up to its ',' or ';'. */
typedef struct Mailbox {
    Str words;   /* the words before '<', or the bare address: as written, comments out, "…" kept */
    Str comment; /* of the first comment, the old place for names */
    Str angle;   /* between < and > */
    bool in_angle, spoiled, commented;
    size_t angles; /* pairs seen */
} Mailbox;

typedef struct Results {
    Arena *arena;
    const char **addresses, **names;
    size_t most, count;
} Results;

static bool atom_byte(char byte) {
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           (unsigned char)byte >= 0x80 || (byte != 0 && strchr("!#$%&'*+-/=?^_`{|}~", byte) != NULL);
}

static bool blank(char byte) {
    return byte == ' ' || byte == '\t';
}

static const char *skip_blanks(const char *text) {
    return text + strspn(text, " \t");
}

/* Takes "…" at *text, unescaped, into *ret_word; false if it is not closed. */
static bool take_quoted(const char **text, Str *ret_word) {
    const char *at = *text + 1;
    for (; *at != '"'; at++) {
        if (*at == '\\' && at[1] != 0)
            at++;
        if (*at == 0)
            return false;
        str_append_char(ret_word, *at);
    }
    *text = at + 1;
    return true;
}

/* A local part into *ret_local: atoms and quoted words joined by dots, blanks around them forgiven
 * (RFC 5322 4.4), stray dots too (`a..b@docomo`). Stops behind it. */
static bool take_local(const char **text, Str *ret_local) {
    const char *at = skip_blanks(*text);
    bool word_last = false;
    for (;; at = skip_blanks(at)) {
        if (*at == '.') {
            str_append_char(ret_local, *at++);
            word_last = false;
        } else if (word_last) {
            break; /* two words without a dot between them are no local part */
        } else if (*at == '"') {
            if (!take_quoted(&at, ret_local))
                return false;
            word_last = true;
        } else if (atom_byte(*at)) {
            while (atom_byte(*at))
                str_append_char(ret_local, *at++);
            word_last = true;
        } else {
            break;
        }
    }
    *text = at;
    return ret_local->length > 0 && !ret_local->overflowed;
}

/* A domain, in lower case: labels of letters, digits, '-', '_' or beyond ASCII; or a literal in []. */
static bool take_domain(const char **text, Str *ret_domain) {
    const char *at = skip_blanks(*text);
    if (*at == '[') {
        size_t length = strcspn(at, "] \t\\\"<>");
        if (at[length] != ']' || length < 2)
            return false;
        for (size_t i = 0; i <= length; i++)
            str_append_char(ret_domain, at[i] >= 'A' && at[i] <= 'Z' ? (char)(at[i] + 32) : at[i]);
        *text = at + length + 1;
        return !ret_domain->overflowed;
    }
    bool label = false;
    for (;; at++) {
        bool byte = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (*at >= '0' && *at <= '9') || *at == '-' ||
                    *at == '_' || (unsigned char)*at >= 0x80;
        const char *next = skip_blanks(at);
        if (byte) {
            str_append_char(ret_domain, *at >= 'A' && *at <= 'Z' ? (char)(*at + 32) : *at);
            label = true;
        } else if (label && *next == '.' && skip_blanks(next + 1)[0] != 0) {
            str_append_char(ret_domain, '.');
            at = skip_blanks(next + 1) - 1;
            label = false;
        } else {
            break;
        }
    }
    *text = at;
    return label && !ret_domain->overflowed;
}

static bool local_needs_quotes(const Str *local) {
    for (size_t i = 0; i < local->length; i++)
        if (!atom_byte(local->data[i]) && local->data[i] != '.')
            return true;
    return false;
}

/* One whole addr-spec, nothing before or behind it; NULL if it is none. An obsolete route (@a,@b:) is dropped. */
static const char *address_read(Arena *arena, const char *text) {
    text = skip_blanks(text);
    if (*text == '@') {
        const char *colon = strchr(text, ':');
        if (colon == NULL)
            return NULL;
        text = colon + 1;
    }
    Str local, domain;
    str_init(&local, LOCAL_MAX);
    str_init(&domain, ADDRESS_MAX);
    const char *address = NULL;
    if (take_local(&text, &local) && *text++ == '@' && take_domain(&text, &domain) && *skip_blanks(text) == 0 &&
        local.length + domain.length < ADDRESS_MAX && utf8_valid(local.data, local.length) &&
        utf8_valid(domain.data, domain.length)) {
        Str whole;
        str_init(&whole, 2 * LOCAL_MAX + ADDRESS_MAX);
        bool quotes = local_needs_quotes(&local);
        if (quotes)
            str_append_char(&whole, '"');
        for (size_t i = 0; i < local.length; i++) {
            if (local.data[i] == '"' || local.data[i] == '\\')
                str_append_char(&whole, '\\');
            str_append_char(&whole, local.data[i]);
        }
        str_append(&whole, quotes ? "\"@" : "@");
        str_append(&whole, domain.data);
        address = arena_copy(arena, whole.data, whole.length);
        str_free(&whole);
    }
    str_free(&local);
    str_free(&domain);
    return address;
}

/* The display name: quotes resolved, runs of blanks as one, RFC 2047 decoded. */
static const char *name_read(Arena *arena, const char *text) {
    Str name;
    str_init(&name, DISPLAY_MAX);
    for (const char *at = skip_blanks(text); *at != 0;) {
        if (*at == '"' && take_quoted(&at, &name))
            continue;
        if (blank(*at)) {
            at = skip_blanks(at);
            if (*at != 0)
                str_append_char(&name, ' ');
            continue;
        }
        str_append_char(&name, *at++);
    }
    const char *decoded = header_decode(arena, name.data);
    str_free(&name);
    return decoded != NULL ? decoded : "";
}

static void results_add(Results *results, const char *address, const char *name) {
    if (address == NULL)
        return;
    if (results->count < results->most) {
        results->addresses[results->count] = address;
        if (results->names != NULL)
            results->names[results->count] = name;
    }
    results->count++;
}

static void mailbox_clear(Mailbox *mailbox) {
    str_clear(&mailbox->words);
    str_clear(&mailbox->comment);
    str_clear(&mailbox->angle);
    mailbox->in_angle = mailbox->spoiled = mailbox->commented = false;
    mailbox->angles = 0;
}

/* At '>': the address between the brackets. */
static void mailbox_close_angle(Mailbox *mailbox, Results *results) {
    mailbox->in_angle = false;
    mailbox->angles++;
    bool named = results->names != NULL && results->count < results->most;
    const char *name = !named ? "" : text_blank(mailbox->words.data) ? name_read(results->arena, mailbox->comment.data)
                                                                     : name_read(results->arena, mailbox->words.data);
    if (!mailbox->angle.overflowed)
        results_add(results, address_read(results->arena, mailbox->angle.data), name);
    str_clear(&mailbox->angle);
    str_clear(&mailbox->words);
}

/* At ',' or ';' or the end: a bare address counts only if it is all there is. */
static void mailbox_end(Mailbox *mailbox, Results *results) {
    bool bare = mailbox->angles == 0 && !mailbox->in_angle && !mailbox->spoiled && !mailbox->words.overflowed;
    if (bare && !text_blank(mailbox->words.data)) {
        bool named = results->names != NULL && results->count < results->most;
        const char *address = address_read(results->arena, mailbox->words.data);
        if (address != NULL)
            results_add(results, address, named ? name_read(results->arena, mailbox->comment.data) : "");
    }
    mailbox_clear(mailbox);
}

/* A comment at *text into the mailbox (the first one); nested ones by counting. Unclosed: to the end. */
static void take_comment(const char **text, Mailbox *mailbox) {
    size_t depth = 0;
    const char *at = *text;
    bool keep = !mailbox->commented;
    for (; *at != 0; at++) {
        bool escaped = *at == '\\' && at[1] != 0;
        if (escaped)
            at++;
        else if (*at == '(' && depth++ == 0)
            continue;
        else if (*at == ')' && --depth == 0)
            break;
        if (keep)
            str_append_char(&mailbox->comment, *at);
    }
    mailbox->commented = true;
    *text = *at == ')' ? at + 1 : at;
}

/* A quoted string as it stands, into `target`; an unclosed one spoils the mailbox. */
static void keep_quoted(const char **text, Mailbox *mailbox, Str *target) {
    const char *at = *text + 1;
    while (*at != 0 && *at != '"')
        at += *at == '\\' && at[1] != 0 ? 2 : 1;
    mailbox->spoiled |= *at == 0;
    at += *at == '"';
    str_append_bytes(target, *text, (size_t)(at - *text));
    *text = at;
}

/* Inside [IPv6:…]? */
static bool in_literal(const Str *words) {
    const char *open = strrchr(words->data, '[');
    return open != NULL && strchr(open, ']') == NULL;
}

/* One step: one byte, quoted string or comment. */
static void step(const char **text, Mailbox *mailbox, Results *results) {
    Str *target = mailbox->in_angle ? &mailbox->angle : &mailbox->words;
    char byte = **text;
    if (byte == '(') {
        take_comment(text, mailbox);
        str_append_char(target, ' ');
        return;
    }
    if (byte == '"') {
        keep_quoted(text, mailbox, target);
        return;
    }
    (*text)++;
    bool route = mailbox->in_angle && skip_blanks(mailbox->angle.data)[0] == '@'; /* <@a,@b:local@domain> */
    if ((byte == ',' && !route) || byte == ';') {
        mailbox_end(mailbox, results);
    } else if (byte == ':' && !mailbox->in_angle && !in_literal(&mailbox->words)) {
        str_clear(&mailbox->words); /* a group's name; its members follow as in any list */
    } else if (byte == '<') {
        str_clear(&mailbox->angle); /* "<<john@x>>" is the inner pair */
        mailbox->in_angle = true;
    } else if (byte == '>' && mailbox->in_angle) {
        mailbox_close_angle(mailbox, results);
    } else {
        str_append_char(target, byte);
    }
}

size_t header_addresses(Arena *arena, const char *value, const char **ret_addresses, const char **ret_names, size_t most) {
    Results results = { .arena = arena, .addresses = ret_addresses, .names = ret_names, .most = most };
    Mailbox mailbox = { 0 };
    str_init(&mailbox.words, DISPLAY_MAX);
    str_init(&mailbox.comment, DISPLAY_MAX);
    str_init(&mailbox.angle, DISPLAY_MAX);
    while (*value != 0)
        step(&value, &mailbox, &results);
    mailbox_end(&mailbox, &results);
    str_free(&mailbox.words);
    str_free(&mailbox.comment);
    str_free(&mailbox.angle);
    return results.count;
}
