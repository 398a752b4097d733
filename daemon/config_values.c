/* Kinds of values in a configuration. */
#include "daemon/config_reader.h"

#include "core/base/utf8.h"
#include "core/game/clock.h"
#include "daemon/zone.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_MAX_LETTERS = 60, /* stands in every subject */
    LOCAL_MAX = 64 - 29,   /* RFC 5321's 64 without "+b." and a token */
    DOMAIN_MAX = 253,
};

char **config_text_field(ConfigReader *reader, const ConfigKey *key) {
    return (char **)(void *)((char *)reader->config + key->offset);
}

char *config_copy(ConfigReader *reader, const char *text) {
    char *made = strdup(text);
    if (made == NULL)
        config_fault(reader, reader->line, "no memory left");
    return made;
}

bool config_put_text(ConfigReader *reader, const ConfigKey *key, const char *text) {
    char **field = config_text_field(reader, key);
    free(*field);
    *field = config_copy(reader, text);
    return *field != NULL;
}

bool config_set_text(ConfigReader *reader, const ConfigKey *key, const char *value) {
    return config_put_text(reader, key, value);
}

/* Stands in "[Name #42]" of every subject. */
bool config_set_name(ConfigReader *reader, const ConfigKey *key, const char *value) {
    if (utf8_length(value) > NAME_MAX_LETTERS)
        return config_fault(reader, reader->line, "name is longer than %d letters", NAME_MAX_LETTERS);
    if (strpbrk(value, "[]<>\"\t") != NULL)
        return config_fault(reader, reader->line, "name must not hold [ ] < > or quotation marks: it stands in brackets in every subject");
    return config_put_text(reader, key, value);
}

bool config_host_name(const char *host) {
    size_t length = strlen(host);
    if (length == 0 || length > DOMAIN_MAX || host[0] == '.' || host[length - 1] == '.' || strstr(host, "..") != NULL)
        return false;
    return strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") == length && host[0] != '-';
}

bool config_set_address(ConfigReader *reader, const ConfigKey *key, const char *value) {
    /* RFC 5322 atext without the characters that shells and relays trip over */
    static const char local[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.!#$&'*+-/=?^_{}~";
    const char *at = strrchr(value, '@');
    if (at == NULL || at == value || strspn(value, local) != (size_t)(at - value) || !config_host_name(at + 1) || value[0] == '.' ||
        at[-1] == '.' || strstr(value, "..") != NULL)
        return config_fault(reader, reader->line, "%s = %s is no mail address (only the address itself, like chess@club.example)", key->name, value);
    if (at - value > LOCAL_MAX)
        return config_fault(reader, reader->line, "%s = %s: before the @ there is room for %d characters (a token is put behind them)", key->name, value,
                     LOCAL_MAX);
    return config_put_text(reader, key, value);
}

/* path, taken from the configuration's folder if it is relative */
char *config_whole_path(ConfigReader *reader, const char *path) {
    Str whole;
    str_init(&whole, PATH_MAX - 1);
    if (path[0] != '/')
        str_printf(&whole, "%s/", reader->folder);
    str_append(&whole, path);
    char *taken = str_take(&whole);
    if (taken == NULL)
        config_fault(reader, reader->line, "the path is too long");
    return taken;
}

bool config_put_path(ConfigReader *reader, const ConfigKey *key, const char *path) {
    char *whole = config_whole_path(reader, path);
    if (whole == NULL)
        return false;
    char **field = config_text_field(reader, key);
    free(*field);
    *field = whole;
    return true;
}

bool config_set_path(ConfigReader *reader, const ConfigKey *key, const char *value) {
    return config_put_path(reader, key, value);
}

bool config_set_language(ConfigReader *reader, const ConfigKey *key, const char *value) {
    size_t letters = strspn(value, "abcdefghijklmnopqrstuvwxyz");
    size_t length = strlen(value);
    bool country = letters + 3 == length && value[letters] == '-' &&
                   strspn(value + letters + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 2;
    if (letters < 2 || letters > 3 || (letters != length && !country))
        return config_fault(reader, reader->line, "language = %s is no language code (like en, de or pt-BR)", value);
    return config_put_text(reader, key, value);
}

bool config_set_zone(ConfigReader *reader, const ConfigKey *key, const char *value) {
    if (!zone_known(value))
        return config_fault(reader, reader->line, "timezone = %s is not known here (like Europe/Vienna or UTC; the package tzdata has them)", value);
    return config_put_text(reader, key, value);
}

bool config_set_host(ConfigReader *reader, const ConfigKey *key, const char *value) {
    if (!config_host_name(value))
        return config_fault(reader, reader->line, "%s = %s is no host name", key->name, value);
    return config_put_text(reader, key, value);
}

/* The next item of a list; separators at its ends are not part of it. NULL at the end. */
char *config_next_item(char **text, const char *separators) {
    char *at = *text + strspn(*text, separators);
    if (*at == 0)
        return NULL;
    char *end = at + strcspn(at, separators);
    *text = *end == 0 ? end : end + 1;
    *end = 0;
    return at;
}

bool config_set_hosts(ConfigReader *reader, const ConfigKey *key, const char *value) {
    Config *config = reader->config;
    char *held = config_copy(reader, value), *rest = held, *host;
    bool good = held != NULL;
    while (good && (host = config_next_item(&rest, ", \t")) != NULL) {
        if (!config_host_name(host))
            good = config_fault(reader, reader->line, "%s: %s is no host name", key->name, host);
        else if (config->received_by_count == CONFIG_LIST_MAX)
            good = config_fault(reader, reader->line, "%s: more than %d hosts", key->name, CONFIG_LIST_MAX);
        else if ((config->received_by[config->received_by_count] = config_copy(reader, host)) != NULL)
            config->received_by_count++;
    }
    free(held);
    return good;
}

bool config_set_reply_tag(ConfigReader *reader, const ConfigKey *key, const char *value) {
    (void)key;
    if (!text_equal_nocase(value, "plus") && !text_equal_nocase(value, "none"))
        return config_fault(reader, reader->line, "reply_tag = %s: it is plus or none", value);
    reader->config->reply_tag_plus = text_equal_nocase(value, "plus");
    return true;
}

bool config_set_time(ConfigReader *reader, const ConfigKey *key, const char *value) {
    Control control;
    Error error = { 0 };
    if (control_read(value, &control, &error) != 0)
        return config_fault(reader, reader->line, "time = %s: %s", value, error.text);
    return config_put_text(reader, key, control.text);
}

bool config_set_registration(ConfigReader *reader, const ConfigKey *key, const char *value) {
    (void)key;
    static const struct {
        const char *name;
        Registration registration;
    } known[] = { { "open", REGISTRATION_OPEN }, { "approve", REGISTRATION_APPROVE }, { "closed", REGISTRATION_CLOSED } };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (text_equal_nocase(value, known[i].name)) {
            reader->config->registration = known[i].registration;
            return true;
        }
    }
    return config_fault(reader, reader->line, "registration = %s: it is open, approve or closed", value);
}

bool config_set_number(ConfigReader *reader, const ConfigKey *key, const char *value) {
    size_t digits = strspn(value, "0123456789");
    long number = digits > 0 && digits < 10 && value[digits] == 0 ? strtol(value, NULL, 10) : -1;
    if (number < key->least || number > key->most)
        return config_fault(reader, reader->line, "%s = %s: it is a whole number from %d to %d", key->name, value, key->least, key->most);
    *(int *)(void *)((char *)reader->config + key->offset) = (int)number;
    return true;
}
