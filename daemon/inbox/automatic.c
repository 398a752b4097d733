#include "daemon/inbox/automatic.h"

#include "core/base/encode.h"
#include "core/base/str.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const char *skip_blanks(const char *text) {
    return text + strspn(text, " \t\"'");
}

/* Where `phrase` stands in `text`, any case; NULL if nowhere or `text` is NULL. */
static const char *find(const char *text, const char *phrase) {
    for (; text != NULL && *text != 0; text++)
        if (text_starts_nocase(text, phrase))
            return text;
    return NULL;
}

/* A letter may have two fields of a name, from its program and from a machine on the way: each is looked at, here and below. */

static bool field_starts(const Header *header, const char *name, const char *value) {
    const char *field;
    for (size_t i = 0; (field = header_field(header, name, i)) != NULL; i++)
        if (text_starts_nocase(skip_blanks(field), value))
            return true;
    return false;
}

/* A word at the begin of a value: "no", not "none". */
static bool value_is(const char *value, const char *word) {
    value = skip_blanks(value);
    return text_starts_nocase(value, word) && strchr(" \t;,(\"'", value[strlen(word)]) != NULL; /* NUL too */
}

static bool field_is(const Header *header, const char *name, const char *word) {
    const char *field;
    for (size_t i = 0; (field = header_field(header, name, i)) != NULL; i++)
        if (value_is(field, word))
            return true;
    return false;
}

static bool null_path(const char *path) {
    path += strspn(path, " \t");
    if (path[0] != '<')
        return path[0] == 0;
    return path[1 + strspn(path + 1, " \t")] == '>';
}

static bool null_return_path(const Header *header) {
    const char *path;
    for (size_t i = 0; (path = header_field(header, "Return-Path", i)) != NULL; i++)
        if (null_path(path))
            return true;
    return false;
}

/* The only, or first, address of the nth From field; NULL if there is no such field or it holds no address. */
static const char *from_address(const Header *header, size_t nth, Arena *arena) {
    const char *from = header_field(header, "From", nth);
    const char *address = NULL;
    if (from == NULL || header_addresses(arena, from, &address, NULL, 1) == 0)
        return NULL;
    return address;
}

static bool from_any(const Header *header, bool (*test)(const char *), Arena *arena) {
    for (size_t i = 0; header_field(header, "From", i) != NULL; i++)
        if (test(from_address(header, i, arena)))
            return true;
    return false;
}

static bool from_daemon(const char *address) {
    static const char *const daemons[] = { "mailer-daemon", "mailerdaemon", "mail-daemon", "postmaster", "mailer_daemon", "mdaemon", "maildaemon" };
    for (size_t i = 0; address != NULL && i < COUNT(daemons); i++)
        if (text_starts_nocase(address, daemons[i]) && strchr("@.+-_", address[strlen(daemons[i])]) != NULL)
            return true;
    return false;
}

static bool from_robot(const char *address) {
    static const char *const robots[] = { "noreply@", "no-reply@", "no_reply@", "donotreply@", "do-not-reply@", "nobody@", "autoresponder@", "auto-reply@" };
    for (size_t i = 0; address != NULL && i < COUNT(robots); i++)
        if (text_starts_nocase(address, robots[i]))
            return true;
    return false;
}

/* Any one of `phrases` at the begin of a subject? Decoded if an arena is given. */
static bool subject_begins(const Header *header, Arena *arena, const char *const *phrases, size_t count) {
    const char *subject;
    for (size_t nth = 0; (subject = header_field(header, "Subject", nth)) != NULL; nth++) {
        if (arena != NULL)
            subject = header_decode(arena, subject);
        for (size_t i = 0; subject != NULL && i < count; i++)
            if (text_starts_nocase(skip_blanks(subject), phrases[i]))
                return true;
    }
    return false;
}

static const char *const bounce_subjects[] = {
    "undelivered mail", "undeliverable", "delivery status notification", "mail delivery failed", "mail delivery failure", "delivery failure", "returned mail",
    "failure notice", "mail system error", "warning: could not send", "message delivery failure", "delivery notification", "non remis", "unzustellbar", "nicht zustellbar",
    "mail could not be delivered", "undelivered message", "delivery error", "mail delivery system", "delivery report", "mail delivery problem", "no se puede entregar", "non recapitabile", "onbestelbaar",
};

static const char *const automatic_subjects[] = {
    "automatic reply", "auto reply", "auto-reply", "autoreply", "auto response", "autoresponse", "auto:", "out of office", "out of the office", "out-of-office", "ooo:", "vacation",
    "on vacation", "away from", "automatische antwort", "automatische rückmeldung", "abwesenheit", "abwesend", "réponse automatique", "absence", "respuesta automática", "resposta automática",
    "risposta automatica", "automatisch antwoord", "afwezig", "autosvar", "automatiskt svar", "automatisk svar", "automaattinen vastaus", "odpowiedź automatyczna", "automatická odpověď", "automatikus válasz",
    "автоответ", "автоматический ответ", "自動応答", "自动回复", "自動回覆", "자동 회신", "otomatik yanıt", "please confirm your message", "challenge:", "delivery confirmation needed",
    "accepted:", "declined:", "tentative:", "tentatively accepted:", "zugesagt:", "abgelehnt:", "mit vorbehalt:", "invitation:", "updated invitation:", "canceled:", "cancelled:",
};

typedef struct Verdict {
    LetterKind kind;
    const char *why;
} Verdict;

static const Verdict human = { LETTER_HUMAN, "" };

static bool is_own(const Header *header, const char *loop_value) {
    const char *field;
    for (size_t i = 0; (field = header_field(header, "X-Epistle-Loop", i)) != NULL; i++)
        if (text_equal_nocase(field, loop_value))
            return true;
    return false;
}

enum { TOKEN_DIGITS = 26 /* RULINGS 1 */ };

/* Ours are TOKEN@domain, with the domain of the service's address. */
static bool own_message_id(const Header *header, const char *loop_value, Arena *arena) {
    const char *domain = strchr(loop_value, '@'), *field;
    for (size_t nth = 0; domain != NULL && (field = header_field(header, "Message-ID", nth)) != NULL; nth++) {
        const char *id = NULL;
        if (header_message_ids(arena, field, &id, 1) != 1)
            continue;
        int digits = 0;
        while (digits < TOKEN_DIGITS && base32_value(id[digits]) >= 0)
            digits++;
        if (digits == TOKEN_DIGITS && text_equal_nocase(id + TOKEN_DIGITS, domain))
            return true;
    }
    return false;
}

static Verdict by_type(const char *type) {
    type += strspn(type, " \t");
    bool report = text_starts_nocase(type, "multipart/report");
    if (text_starts_nocase(type, "message/disposition-notification") || (report && find(type, "disposition-notification") != NULL))
        return (Verdict){ LETTER_RECEIPT, "a disposition notification" };
    if (report && find(type, "feedback-report") != NULL)
        return (Verdict){ LETTER_BOUNCE, "a feedback report" };
    if (report)
        return (Verdict){ LETTER_BOUNCE, "multipart/report" };
    if (text_starts_nocase(type, "message/delivery-status"))
        return (Verdict){ LETTER_BOUNCE, "message/delivery-status" };
    if (text_starts_nocase(type, "text/calendar"))
        return (Verdict){ LETTER_AUTOMATIC, "a calendar reply" };
    return human;
}

static Verdict by_content_type(const Header *header) {
    const char *type;
    for (size_t i = 0; (type = header_field(header, "Content-Type", i)) != NULL; i++) {
        Verdict verdict = by_type(type);
        if (verdict.kind != LETTER_HUMAN)
            return verdict;
    }
    return human;
}

static bool empty_from(const Header *header) {
    const char *from;
    for (size_t i = 0; (from = header_field(header, "From", i)) != NULL; i++)
        if (text_blank(from))
            return true;
    return false;
}

static Verdict by_sender(const Header *header, Arena *arena) {
    if (from_any(header, from_daemon, arena))
        return (Verdict){ LETTER_BOUNCE, "From a mail system" };
    if (header_field(header, "X-Failed-Recipients", 0) != NULL)
        return (Verdict){ LETTER_BOUNCE, "X-Failed-Recipients" };
    bool no_sender = null_return_path(header);
    if (subject_begins(header, NULL, bounce_subjects, COUNT(bounce_subjects)) && (no_sender || from_address(header, 0, arena) == NULL))
        return (Verdict){ LETTER_BOUNCE, "the subject of a bounce, and no sender" };
    if (empty_from(header))
        return (Verdict){ LETTER_AUTOMATIC, "an empty From" };
    if (no_sender)
        return (Verdict){ LETTER_AUTOMATIC, "Return-Path <>" };
    if (from_any(header, from_robot, arena))
        return (Verdict){ LETTER_AUTOMATIC, "From an address that is not read" };
    return human;
}

static Verdict by_list(const Header *header) {
    static const char *const fields[] = { "List-Id", "List-Post", "List-Unsubscribe", "X-Mailman-Version", "Mailing-List", "X-Mailing-List" };
    for (size_t i = 0; i < COUNT(fields); i++)
        if (header_field(header, fields[i], 0) != NULL)
            return (Verdict){ LETTER_LIST, fields[i] };
    if (field_is(header, "Precedence", "list"))
        return (Verdict){ LETTER_LIST, "Precedence: list" };
    return human;
}

static bool says_automatic(const Header *header, const char *name) {
    const char *field;
    for (size_t i = 0; (field = header_field(header, name, i)) != NULL; i++)
        if (!value_is(field, "no") && !value_is(field, "false"))
            return true;
    return false;
}

static Verdict by_auto_fields(const Header *header) {
    const char *submitted;
    for (size_t i = 0; (submitted = header_field(header, "Auto-Submitted", i)) != NULL; i++)
        if (!text_blank(submitted) && !value_is(submitted, "no"))
            return (Verdict){ LETTER_AUTOMATIC, "Auto-Submitted" };
    static const char *const fields[] = { "X-Autoreply", "X-Autorespond", "X-Autoresponder", "X-Auto-Reply-From", "X-Autoreply-From", "X-Mail-Autoreply",
                                          "X-MS-Exchange-Inbox-Rules-Loop", "X-Amazon-Auto-Reply", "X-FC-MachineGenerated" };
    for (size_t i = 0; i < COUNT(fields); i++)
        if (says_automatic(header, fields[i]))
            return (Verdict){ LETTER_AUTOMATIC, fields[i] };
    static const char *const precedences[] = { "bulk", "junk", "auto_reply", "auto-reply" };
    for (size_t i = 0; i < COUNT(precedences); i++)
        if (field_is(header, "Precedence", precedences[i]) || field_is(header, "X-Precedence", precedences[i]))
            return (Verdict){ LETTER_AUTOMATIC, "Precedence" };
    if (field_starts(header, "X-POST-MessageClass", "9; Autoresponder") || field_starts(header, "Delivered-To", "autoresponder"))
        return (Verdict){ LETTER_AUTOMATIC, "an autoresponder's field" };
    return human;
}

static Verdict judge(const Header *header, const char *loop_value, Arena *arena) {
    if (is_own(header, loop_value))
        return (Verdict){ LETTER_OWN, "our own loop header" };
    if (own_message_id(header, loop_value, arena))
        return (Verdict){ LETTER_OWN, "our own Message-ID" };
    Verdict verdict = by_content_type(header);
    if (verdict.kind == LETTER_HUMAN)
        verdict = by_sender(header, arena);
    if (verdict.kind == LETTER_HUMAN || (verdict.kind == LETTER_AUTOMATIC && by_list(header).kind == LETTER_LIST))
        verdict = by_list(header).kind == LETTER_LIST ? by_list(header) : verdict;
    if (verdict.kind == LETTER_HUMAN)
        verdict = by_auto_fields(header);
    if (verdict.kind != LETTER_HUMAN)
        return verdict;
    if (subject_begins(header, arena, automatic_subjects, COUNT(automatic_subjects)))
        return (Verdict){ LETTER_AUTOMATIC, "the subject of an automatic answer" };
    return human;
}

enum { SCRATCH_MAX = 256 * 1024 }; /* for addresses and a decoded subject */

LetterKind automatic_kind(const Header *header, const char *loop_value, const char **ret_why) {
    Arena arena;
    arena_init(&arena, SCRATCH_MAX);
    Verdict verdict = judge(header, loop_value, &arena); /* its phrases are constants */
    arena_free(&arena);
    *ret_why = verdict.why;
    return verdict.kind;
}

const char *letter_kind_name(LetterKind kind) {
    static const char *const names[] = { "human", "automatic", "bounce", "receipt", "list", "own", "unreadable" };
    return (size_t)kind < COUNT(names) ? names[kind] : "unreadable";
}
