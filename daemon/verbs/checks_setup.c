/* What doctor asks of the set-up: whether answers find their way back, whom to believe, whom to tell. */
#include "daemon/verbs/checks.h"

#include "daemon/service/outage.h"
#include "daemon/store/outages.h"

#include <string.h>

static const char *domain_of(const char *address) {
    const char *at = strrchr(address, '@');
    return at == NULL ? "" : at + 1;
}

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Whether an answer to one of our letters has come: its token was found, so it is delivered to us. */
static bool answers_came(Checks *checks) {
    int64_t one = 0;
    return checks->open.store != NULL &&
           store_query_int(checks->open.store, NULL, &one, "SELECT 1 FROM letter_in WHERE proof = 'token' LIMIT 1", "") > 0;
}

static void check_address(Checks *checks) {
    const Config *config = checks->open.config;
    const char *at = strrchr(config->address, '@');
    int local = (int)(at - config->address);
    if (ends_with(domain_of(config->address), ".example"))
        checks_say(checks, CHECK_WARN, "address", "%s is the example's: put your own into [service]", config->address);
    else if (!config->reply_tag_plus)
        checks_say(checks, CHECK_OK, "address", "%s; tokens stand in Message-ID and subject (reply_tag = none)", config->address);
    else if (answers_came(checks))
        checks_say(checks, CHECK_OK, "address", "answers to %.*s+TOKEN@%s arrive", local, config->address, at + 1);
    else
        checks_say(checks, CHECK_WARN, "address", "no answer has come yet: write a letter to %.*s+test@%s and see that it arrives in this mailbox; if it does not, set reply_tag = none", local,
                   config->address, at + 1);
}

/* Most providers send only what bears the address of the user who logged in. */
static void check_sender(Checks *checks) {
    const Config *config = checks->open.config;
    if (config->outgoing_user == NULL || strchr(config->outgoing_user, '@') == NULL || text_equal_nocase(config->outgoing_user, config->address))
        return;
    checks_say(checks, CHECK_WARN, "sender", "letters are written by %s and handed over by the user %s: see that the provider lets this user write as that address", config->address,
               config->outgoing_user);
}

static void check_trust(Checks *checks) {
    const Config *config = checks->open.config;
    if (config->trusted_authserv == NULL)
        checks_say(checks, CHECK_WARN, "trust", "trusted_authserv is not set, so forged senders that your mail server found out are not known here: look at a received letter's "
                                                "Authentication-Results line and set it to the host that stands first there");
    else
        checks_say(checks, CHECK_OK, "trust", "Authentication-Results of %s count", config->trusted_authserv);
    if (config->received_by_count > 0)
        checks_say(checks, CHECK_OK, "arrival", "Received lines of %s%s say when a letter came", config->received_by[0], config->received_by_count > 1 ? " and others" : "");
    else if (config->mailbox_kind == MAILBOX_IMAP)
        checks_say(checks, CHECK_OK, "arrival", "the mailbox says when a letter came");
    else
        checks_say(checks, CHECK_WARN, "arrival", "received_by is not set, and this kind of mailbox does not say when a letter came: set it to the host that stands behind `by` in the "
                                                  "topmost Received line of a received letter, or a letter that lay there counts as having come late");
}

static bool own_address(const Config *config, const char *address) {
    return config->address != NULL && text_equal_nocase(address, config->address);
}

static void check_people(Checks *checks) {
    const Config *config = checks->open.config;
    if (config->arbiter == NULL)
        checks_say(checks, CHECK_WARN, "arbiter", "nobody is named who rules where the service must not: set arbiter to his address");
    else if (own_address(config, config->arbiter))
        checks_say(checks, CHECK_FAIL, "arbiter", "%s is the service's own address: set it to that of a person", config->arbiter);
    else
        checks_say(checks, CHECK_OK, "arbiter", "%s", config->arbiter);
    if (config->operator_ == NULL)
        checks_say(checks, CHECK_WARN, "operator", "nobody is told when mailbox or relay fail for long: set operator to your own address");
    else if (own_address(config, config->operator_))
        checks_say(checks, CHECK_FAIL, "operator", "%s is the service's own address: set it to that of a person", config->operator_);
    else
        checks_say(checks, CHECK_OK, "operator", "%s is told of outages", config->operator_);
}

void checks_setup(Checks *checks) {
    if (checks->open.config->address != NULL)
        check_address(checks);
    if (checks->open.config->address != NULL)
        check_sender(checks);
    check_trust(checks);
    check_people(checks);
    if (checks->open.config->after == AFTER_DELETE)
        checks_say(checks, CHECK_WARN, "after", "handled letters are deleted: a store brought back from a copy cannot read them again; after = seen or move:FOLDER keeps them");
}

void checks_outages(Checks *checks) {
    OutageRow rows[OUTAGE_SUBJECTS];
    Error error;
    error_clear(&error);
    if (checks->open.store == NULL)
        return;
    int count = outages_lasting(checks->open.store, rows, OUTAGE_SUBJECTS, &error);
    for (int i = 0; i < count; i++) {
        char since[INSTANT_TEXT_SIZE];
        instant_write(rows[i].began, since);
        checks_say(checks, CHECK_FAIL, "outages", "%s, since %s, tried %d times: %s", rows[i].subject, since, rows[i].tries, rows[i].why);
    }
    if (count < 0)
        checks_say(checks, CHECK_FAIL, "outages", "%s", error.text);
    else if (count == 0)
        checks_say(checks, CHECK_OK, "outages", "none lasts");
}
