#include "daemon/verbs/open.h"

#include "core/base/utf8.h"
#include "daemon/log.h"
#include "daemon/store/players.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { CONFIG_ERRORS_MAX = 16 * 1024 };

bool open_config_there(const char *file) {
    if (access(file, F_OK) == 0 || errno != ENOENT)
        return true;
    print_line(stderr, "epistle: there is no configuration %s: write one (epistle.conf(5) shows the least that works), or name another with -c FILE", file);
    return false;
}

int open_config(Open *open, const VerbCall *call) {
    Str errors;
    const char *file = call->config == NULL ? CONFIG_DEFAULT : call->config;
    if (!open_config_there(file))
        return STATUS_WRONG;
    str_init(&errors, CONFIG_ERRORS_MAX);
    open->config = config_read(file, &errors);
    if (open->config == NULL) {
        size_t first = strcspn(errors.data, "\n");
        const char *rest = errors.data[first] == '\n' ? errors.data + first + 1 : "";
        print_line(stderr, "epistle: %.*s%s", (int)first, errors.data, *rest == 0 ? "" : " (and more: `epistle check` tells all)");
    }
    str_free(&errors);
    return open->config == NULL ? STATUS_WRONG : STATUS_DONE;
}

int open_store(Open *open, const VerbCall *call, StoreUse use) {
    Error error;
    error_clear(&error);
    if (open_config(open, call) != STATUS_DONE)
        return STATUS_WRONG;
    if (open->world.now == NULL)
        open->world = world_real(INSTANT_NONE);
    open->store = store_open(open->config->store, open->config->key_file, use, false, open->world.random, open->world.data, NULL, &error);
    return open->store == NULL ? verb_fail(&error) : STATUS_DONE;
}

int open_templates(Open *open, Error *error) {
    const Config *config = open->config;
    open->templates = templates_open(config->templates, error);
    if (open->templates == NULL)
        return -1;
    if (templates_have_language(open->templates, config->language))
        return 0;
    return error_set(error, ERROR_INPUT, 0, "language: there are no templates for \"%s\" in %s: name a language of that folder, or add its templates",
                     config->language, config->templates);
}

static int read_by_zygote(void *data, Arena *arena, const char *raw, size_t size, MimeResult *ret_result, Error *error) {
    return mime_reader_read(data, arena, raw, size, ret_result, error);
}

int open_service(Open *open, const VerbCall *call, StoreUse use, Instant fixed) {
    Error error;
    error_clear(&error);
    open->world = world_real(fixed);
    int status = open_store(open, call, use);
    if (status != STATUS_DONE)
        return status;
    if (open_templates(open, &error) < 0)
        return verb_fail(&error);
    open->service = (Service){ .config = open->config, .store = open->store, .templates = open->templates, .world = &open->world,
                               .fixed = fixed, .read_mime = read_by_zygote, .mime_data = call->mime };
    return STATUS_DONE;
}

const char *maildir_path(const char *url) {
    static const char scheme[] = "maildir://";
    return url != NULL && strncmp(url, scheme, sizeof scheme - 1) == 0 ? url + sizeof scheme - 1 : NULL;
}

int open_outgoing_ready(const Open *open, Error *error) {
    const char *path = maildir_path(open->config->outgoing_url);
    return path == NULL ? 0 : sender_maildir_ready(path, error);
}

static MailSource *configured_source(const Open *open, Error *error) {
    const Config *config = open->config;
    const char *also[CONFIG_LIST_MAX];
    for (size_t i = 0; i < config->also_count; i++)
        also[i] = config->also[i];
    if (config->mailbox_kind == MAILBOX_MAILDIR)
        return source_maildir_open(maildir_path(config->mailbox_url), also, config->also_count, config->after, config->after_folder, error);
    LineAccount account = config_mailbox_account(config);
    account.alive = open->service.alive;
    if (config->mailbox_kind == MAILBOX_POP3)
        return source_pop3_open(&account, config->after, error);
    return source_imap_open(&account, config->mailbox_folder, also, config->also_count, config->after, config->after_folder, error);
}

static MailSender *configured_sender(const Open *open, Error *error) {
    const Config *config = open->config;
    if (config->outgoing_kind == OUTGOING_MAILDIR)
        return sender_maildir_open(maildir_path(config->outgoing_url), error);
    if (config->outgoing_kind == OUTGOING_SENDMAIL)
        return sender_sendmail_open(config->outgoing_url, error);
    LineAccount account = config_outgoing_account(config);
    account.alive = open->service.alive;
    return sender_smtp_open(&account, config->outgoing_lines, config->address, error);
}

int open_source(Open *open, Error *error) {
    open->world.source = configured_source(open, error);
    return open->world.source == NULL ? -1 : 0;
}

int open_sender(Open *open, Error *error) {
    open->world.sender = configured_sender(open, error);
    return open->world.sender == NULL ? -1 : 0;
}

int open_mail(Open *open, Error *error) {
    return open_source(open, error) < 0 || open_sender(open, error) < 0 ? -1 : 0;
}

void open_close(Open *open) {
    if (open->world.source != NULL)
        open->world.source->operations->close(open->world.source);
    if (open->world.sender != NULL)
        open->world.sender->operations->close(open->world.sender);
    templates_close(open->templates);
    store_close(open->store);
    config_free(open->config);
    *open = (Open){ 0 };
}

int open_player(Open *open, const char *who, int64_t *ret_id) {
    Error error;
    error_clear(&error);
    int64_t id = 0, ids[PLAYERS_AT_ADDRESS_MAX];
    int found = 0;
    if (verb_number(who, &id)) {
        Player player;
        found = player_get(open->store, id, &player, &error);
    } else if (strchr(who, '@') != NULL) {
        found = players_by_address(open->store, who, ids, &error);
        if (found > 1)
            return verb_wrong("%s belongs to %d players: say which by name or number (epistle player list)", who, found);
        id = ids[0];
    } else {
        char name[PLAYER_NAME_MAX]; /* with its blanks folded */
        found = player_name_clean(who, name) ? player_by_name(open->store, name, &id, &error) : 0;
    }
    if (found < 0)
        return verb_fail(&error);
    if (found == 0)
        return verb_wrong("there is no player %s: `epistle player list` names them, `epistle player add` adds one", who);
    *ret_id = id;
    return STATUS_DONE;
}

/* ---- JSON ---- */

json_t *json_text(const char *text) {
    json_t *value = json_string(text);
    if (value != NULL)
        return value;
    Str clean;
    size_t length = strlen(text);
    str_init(&clean, length);
    for (size_t at = 0; at < length;) {
        uint32_t point = 0;
        int size = utf8_next(text + at, length - at, &point);
        if (size > 0)
            str_append_bytes(&clean, text + at, (size_t)size);
        else
            str_append_char(&clean, '?');
        at += size > 0 ? (size_t)size : 1;
    }
    value = json_string(clean.data);
    str_free(&clean);
    return value;
}

json_t *json_instant(Instant instant) {
    char text[INSTANT_TEXT_SIZE];
    if (instant == INSTANT_NONE)
        return json_null();
    instant_write(instant, text);
    return json_string(text);
}

json_t *json_number(int64_t number) {
    return number == 0 ? json_null() : json_integer(number);
}

/* Everything beyond ASCII is escaped, so that names from letters put no control characters on a terminal. */
int print_json(json_t *value) {
    json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII);
    fputc('\n', stdout);
    json_decref(value);
    return STATUS_DONE;
}
