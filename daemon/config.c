#include "daemon/config.h"

#include "core/base/utf8.h"
#include "daemon/config_reader.h"

#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FILE_MAX = 256 * 1024, /* bytes; the example with all its comments has 9 kB */
    LINE_MAX_BYTES = 1000,
    ERRORS_MAX_LISTED = 100,
};

/* --- what there is to set --- */

#define AT(field) offsetof(Config, field)
static const ConfigKey keys[] = {
    { "service", "name", config_set_name, AT(name), 0, 0, true },
    { "service", "address", config_set_address, AT(address), 0, 0, true },
    { "service", "store", config_set_path, AT(store), 0, 0, true },
    { "service", "language", config_set_language, AT(language), 0, 0, false },
    { "service", "timezone", config_set_zone, AT(timezone), 0, 0, false },
    { "service", "arbiter", config_set_address, AT(arbiter), 0, 0, false },
    { "service", "operator", config_set_address, AT(operator_), 0, 0, false },
    { "service", "trusted_authserv", config_set_host, AT(trusted_authserv), 0, 0, false },
    { "service", "received_by", config_set_hosts, AT(received_by), 0, 0, false },
    { "service", "key_file", config_set_path, AT(key_file), 0, 0, false },
    { "service", "templates", config_set_path, AT(templates), 0, 0, false },
    { "service", "reply_tag", config_set_reply_tag, AT(reply_tag_plus), 0, 0, false },
    { "mailbox", "url", config_set_mailbox_url, AT(mailbox_url), 0, 0, true },
    { "mailbox", "user", config_set_text, AT(mailbox_user), 0, 0, false },
    { "mailbox", "password_file", config_set_secret_file, AT(mailbox_password_file), 0, 0, false },
    { "mailbox", "password_command", config_set_command, AT(mailbox_password_command), 0, 0, false },
    { "mailbox", "password_credential", config_set_credential, AT(mailbox_password_credential), 0, 0, false },
    { "mailbox", "token_command", config_set_command, AT(mailbox_token_command), 0, 0, false },
    { "mailbox", "ca_file", config_set_ca_file, AT(mailbox_ca_file), 0, 0, false },
    { "mailbox", "tls", config_set_tls, AT(mailbox_plain), 0, 0, false },
    { "mailbox", "timeout", config_set_number, AT(mailbox_timeout), 2, 60, false },
    { "mailbox", "poll", config_set_number, AT(mailbox_poll), 10, 3600, false },
    { "mailbox", "after", config_set_after, AT(after), 0, 0, false },
    { "mailbox", "also", config_set_also, AT(also), 0, 0, false },
    { "outgoing", "url", config_set_outgoing_url, AT(outgoing_url), 0, 0, true },
    { "outgoing", "user", config_set_text, AT(outgoing_user), 0, 0, false },
    { "outgoing", "password_file", config_set_secret_file, AT(outgoing_password_file), 0, 0, false },
    { "outgoing", "password_command", config_set_command, AT(outgoing_password_command), 0, 0, false },
    { "outgoing", "password_credential", config_set_credential, AT(outgoing_password_credential), 0, 0, false },
    { "outgoing", "token_command", config_set_command, AT(outgoing_token_command), 0, 0, false },
    { "outgoing", "ca_file", config_set_ca_file, AT(outgoing_ca_file), 0, 0, false },
    { "outgoing", "tls", config_set_tls, AT(outgoing_plain), 0, 0, false },
    { "outgoing", "timeout", config_set_number, AT(outgoing_timeout), 2, 60, false },
    { "outgoing", "lines", config_set_number, AT(outgoing_lines), 1, 8, false },
    { "play", "time", config_set_time, AT(time), 0, 0, false },
    { "play", "registration", config_set_registration, AT(registration), 0, 0, false },
    { "limits", "strangers_per_day", config_set_number, AT(strangers_per_day), 0, 1000, false },
    { "limits", "strangers_per_hour", config_set_number, AT(strangers_per_hour), 0, 100000, false },
    { "limits", "strangers_per_domain", config_set_number, AT(strangers_per_domain), 0, 100000, false },
    { "limits", "player_per_day", config_set_number, AT(player_per_day), 1, 100000, false },
    { "limits", "unproven_per_day", config_set_number, AT(unproven_per_day), 1, 100000, false },
    { "limits", "confirm_hours", config_set_number, AT(confirm_hours), 1, 720, false },
    { "limits", "free_space_mb", config_set_number, AT(free_space), 0, 1000000, false },
};
enum { KEY_COUNT = sizeof keys / sizeof keys[0] };
_Static_assert(sizeof keys / sizeof keys[0] <= CONFIG_KEYS_MAX, "each key has its line");

static const char *const sections[] = { "service", "mailbox", "outgoing", "play", "limits" };
enum { SECTION_COUNT = sizeof sections / sizeof sections[0] };
_Static_assert(sizeof sections / sizeof sections[0] <= CONFIG_SECTIONS_MAX, "each section has its line");

bool config_fault(ConfigReader *reader, int line, const char *format, ...) {
    if (reader->error_count++ >= ERRORS_MAX_LISTED)
        return false;
    if (line > 0)
        str_printf(reader->errors, "%s:%d: ", reader->file, line);
    else
        str_printf(reader->errors, "%s: ", reader->file); /* of the file as a whole */
    va_list arguments;
    va_start(arguments, format);
    str_vprintf(reader->errors, format, arguments);
    va_end(arguments);
    str_append_char(reader->errors, '\n');
    return false;
}

int config_line(const ConfigReader *reader, const char *section, const char *name) {
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (strcmp(keys[i].section, section) == 0 && strcmp(keys[i].name, name) == 0)
            return reader->seen[i];
    return 0;
}

/* --- reading --- */

static int section_index(const char *name) {
    for (int i = 0; i < SECTION_COUNT; i++)
        if (strcmp(sections[i], name) == 0)
            return i;
    return -1;
}

/* What is wrong there must not be tried on a server. */
static void spoil(ConfigReader *reader, const char *section) {
    reader->mailbox_bad = reader->mailbox_bad || strcmp(section, "mailbox") == 0;
    reader->outgoing_bad = reader->outgoing_bad || strcmp(section, "outgoing") == 0;
}

/* Section heads are looked at here: inih tells of none that is empty, and only of the first that is broken. */
static void look_at_head(ConfigReader *reader, char *line) {
    char *end = strchr(line, ']');
    if (end == NULL) {
        config_fault(reader, reader->line, "%s has no ] at its end", line);
        line[0] = 0;
        return;
    }
    char name[LINE_MAX_BYTES + 1];
    size_t length = (size_t)(end - line) - 1;
    memcpy(name, line + 1, length);
    name[length] = 0;
    int section = section_index(name);
    if (section < 0)
        config_fault(reader, reader->line, "there is no section [%s]", name);
    else if (reader->section_line[section] == 0)
        reader->section_line[section] = reader->line;
}

static bool clean_line(ConfigReader *reader, const char *line, size_t length) {
    if (length > LINE_MAX_BYTES)
        return config_fault(reader, reader->line, "the line is longer than %d bytes", LINE_MAX_BYTES);
    if (!utf8_valid(line, length))
        return config_fault(reader, reader->line, "the line is not UTF-8");
    for (size_t i = 0; i < length; i++)
        if (((unsigned char)line[i] < ' ' && line[i] != '\t') || line[i] == 0x7f)
            return config_fault(reader, reader->line, "there is a control character in the line");
    return true;
}

/* inih's reader: one line a call, counted. Indentation goes, which inih would take for a value's continuation. */
static char *read_line(char *buffer, int size, void *data) {
    ConfigReader *reader = data;
    if (reader->text == reader->end)
        return NULL;
    reader->line++;
    const char *line = reader->text, *end = memchr(line, '\n', (size_t)(reader->end - line));
    size_t length = (size_t)((end == NULL ? reader->end : end) - line);
    reader->text = end == NULL ? reader->end : end + 1;
    if (reader->line == 1 && length >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) {
        line += 3;
        length -= 3;
    }
    while (length > 0 && (line[length - 1] == '\r' || line[length - 1] == ' ' || line[length - 1] == '\t'))
        length--;
    for (; length > 0 && (*line == ' ' || *line == '\t'); length--)
        line++;
    bool comment = length > 0 && (*line == ';' || *line == '#');
    if (comment || !clean_line(reader, line, length) || (int)length >= size)
        length = 0;
    memcpy(buffer, line, length);
    buffer[length] = 0;
    if (buffer[0] == '[')
        look_at_head(reader, buffer);
    return buffer;
}

static int handle(void *data, const char *section, const char *name, const char *value) {
    ConfigReader *reader = data;
    if (section[0] == 0) {
        config_fault(reader, reader->line, "%s stands before any [section]", name);
        return 1;
    }
    if (section_index(section) < 0)
        return 1; /* said at its head */
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].section, section) != 0 || strcmp(keys[i].name, name) != 0)
            continue;
        if (reader->seen[i] != 0) {
            config_fault(reader, reader->line, "%s stands in [%s] a second time (first on line %d)", name, section, reader->seen[i]);
            spoil(reader, section);
            return 1;
        }
        reader->seen[i] = reader->line;
        if (value == NULL || value[0] == 0)
            config_fault(reader, reader->line, "%s has no value", name);
        if (value == NULL || value[0] == 0 || !keys[i].set(reader, &keys[i], value))
            spoil(reader, section);
        return 1;
    }
    spoil(reader, section);
    if (strcmp(name, "password") == 0)
        config_fault(reader, reader->line, "no password stands in here: put it into a file of its own and name that with password_file");
    else
        config_fault(reader, reader->line, "there is no %s in [%s]", name, section);
    return 1;
}

static void check_missing(ConfigReader *reader) {
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (!keys[i].needed || reader->seen[i] != 0)
            continue;
        int line = reader->section_line[section_index(keys[i].section)];
        config_fault(reader, line == 0 ? 1 : line, "%s is missing in [%s]", keys[i].name, keys[i].section);
    }
}

/* --- what is not said --- */

static bool default_text(ConfigReader *reader, char **field, const char *text) {
    if (*field == NULL)
        *field = config_copy(reader, text);
    return *field != NULL;
}

/* /var/lib/epistle/epistle.db → /var/lib/epistle/epistle.key */
static void default_key_file(ConfigReader *reader) {
    Config *config = reader->config;
    if (config->key_file != NULL || config->store == NULL)
        return;
    Str path;
    str_init(&path, PATH_MAX + 4);
    str_append(&path, config->store);
    if (path.length > 3 && strcmp(path.data + path.length - 3, ".db") == 0)
        str_truncate(&path, path.length - 3);
    str_append(&path, ".key");
    config->key_file = str_take(&path);
}

/* Beside the program: ../templates in the source tree, ../share/epistle/templates where it is installed. */
static void default_templates(ConfigReader *reader) {
    Config *config = reader->config;
    char program[PATH_MAX];
    if (config->templates != NULL)
        return;
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length < 0 ? 0 : length] = 0;
    char *slash = strrchr(program, '/');
    if (slash != NULL)
        *slash = 0;
    static const char *const places[] = { "/../templates", "/../share/epistle/templates" };
    enum { PLACES = sizeof places / sizeof places[0] };
    for (size_t i = 0; i < PLACES; i++) {
        Str path;
        str_init(&path, PATH_MAX + 64);
        str_printf(&path, "%s%s", program, places[i]);
        if (access(path.data, X_OK) == 0 || i == PLACES - 1)
            config->templates = str_take(&path);
        str_free(&path);
        if (config->templates != NULL)
            return;
    }
}

static void fill_defaults(ConfigReader *reader) {
    Config *config = reader->config;
    default_text(reader, &config->language, "en");
    default_text(reader, &config->timezone, "UTC");
    default_text(reader, &config->time, "10/50d");
    if (config->arbiter != NULL)
        default_text(reader, &config->operator_, config->arbiter);
    if (config->received_by_count == 0 && config->trusted_authserv != NULL) {
        config->received_by[0] = config_copy(reader, config->trusted_authserv);
        config->received_by_count = config->received_by[0] != NULL;
    }
    default_key_file(reader);
    default_templates(reader);
    if (config->key_file != NULL && config->store != NULL && strcmp(config->key_file, config->store) == 0)
        config_fault(reader, reader->section_line[0] == 0 ? 1 : reader->section_line[0], "key_file and store are the same file");
}

/* The whole file, or NULL. */
static char *read_file(ConfigReader *reader, size_t *ret_size) {
    FILE *stream = fopen(reader->file, "re");
    if (stream == NULL) {
        config_fault(reader, 0, "cannot be opened: %s", strerror(errno));
        return NULL;
    }
    char *text = malloc(FILE_MAX + 1);
    size_t size = text == NULL ? 0 : fread(text, 1, FILE_MAX + 1, stream);
    if (text == NULL || ferror(stream) || size > FILE_MAX) {
        config_fault(reader, 0, size > FILE_MAX ? "is larger than a configuration can be" : "cannot be read");
        free(text);
        text = NULL;
    }
    fclose(stream);
    *ret_size = size;
    return text;
}

/* Absolute, "" for the root. The folder the file is named in: a link to a file elsewhere does not move it. */
static char *folder_of(const char *file) {
    const char *slash = strrchr(file, '/');
    char *named = slash == NULL ? strdup(".") : strndup(file, slash == file ? 1 : (size_t)(slash - file));
    char *whole = named == NULL ? NULL : realpath(named, NULL);
    free(named);
    if (whole != NULL && strcmp(whole, "/") == 0)
        whole[0] = 0;
    return whole;
}

Config *config_read_partly(const char *file, Str *ret_errors, bool *ret_good) {
    *ret_good = false;
    Config *config = calloc(1, sizeof *config);
    if (config == NULL) {
        str_printf(ret_errors, "%s: no memory left\n", file);
        return NULL;
    }
    config->reply_tag_plus = true;
    config->strangers_per_day = 1;
    config->strangers_per_hour = 100;
    config->strangers_per_domain = 20;
    config->player_per_day = 30;
    config->unproven_per_day = 10;
    config->confirm_hours = 48;
    config->free_space = 64;
    config->mailbox_poll = 60;
    config->mailbox_timeout = LINE_SECONDS;
    config->outgoing_timeout = LINE_SECONDS;
    config->outgoing_lines = 2;
    ConfigReader reader = { .config = config, .file = file, .errors = ret_errors };
    config->file = config_copy(&reader, file);
    size_t size = 0;
    bool whole = false;
    char *folder = NULL, *text = read_file(&reader, &size);
    if (text == NULL)
        goto out;
    folder = folder_of(file);
    if (folder == NULL) {
        config_fault(&reader, 0, "its folder cannot be found: %s", strerror(errno));
        goto out;
    }
    reader.folder = folder;
    reader.text = text;
    reader.end = text + size;
    ini_max_line = LINE_MAX_BYTES + 3; /* inih wants room for CR, LF and NUL */
    ini_allow_multiline = false;
    ini_allow_no_value = true; /* so that we hear of such lines and can say which they are */
    if (ini_parse_stream(read_line, &reader, handle, &reader) != 0)
        config_fault(&reader, reader.line, "the file cannot be understood");
    check_missing(&reader);
    fill_defaults(&reader);
    config_check_mail(&reader);
    whole = true;
out:
    free(folder);
    free(text);
    *ret_good = reader.error_count == 0;
    if (whole || reader.error_count == 0)
        return config;
    config_free(config);
    return NULL;
}

Config *config_read(const char *file, Str *ret_errors) {
    bool good = false;
    Config *config = config_read_partly(file, ret_errors, &good);
    if (good)
        return config;
    config_free(config);
    return NULL;
}

void config_free(Config *config) {
    static const ConfigSetter no_text[] = { config_set_hosts, config_set_also, config_set_reply_tag, config_set_after, config_set_registration,
                                            config_set_number, config_set_tls };
    if (config == NULL)
        return;
    for (size_t i = 0; i < KEY_COUNT; i++) {
        bool text = true;
        for (size_t j = 0; j < sizeof no_text / sizeof no_text[0]; j++)
            text = text && keys[i].set != no_text[j];
        if (text)
            free(*(char **)(void *)((char *)config + keys[i].offset));
    }
    for (size_t i = 0; i < config->received_by_count; i++)
        free(config->received_by[i]);
    for (size_t i = 0; i < config->also_count; i++)
        free(config->also[i]);
    free(config->after_folder);
    free(config->mailbox_folder);
    free(config->file);
    free(config);
}
