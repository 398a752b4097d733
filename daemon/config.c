#include "daemon/config.h"

#include "core/base/utf8.h"
#include "core/game/clock.h"
#include "daemon/zone.h"

#include <errno.h>
#include <ini.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILE_MAX = 256 * 1024, /* bytes; the example with all its comments has 5 kB */
    LINE_MAX_BYTES = 1000,
    NAME_MAX_LETTERS = 60,  /* stands in every subject */
    LOCAL_MAX = 64 - 29,    /* RFC 5321's 64 without "+b." and a token */
    DOMAIN_MAX = 253,
    ERRORS_MAX_LISTED = 100,
};

/* --- what there is to set --- */

typedef struct Reader Reader;
struct Key;
typedef bool (*Setter)(Reader *reader, const struct Key *key, const char *value);

typedef struct Key {
    const char *section, *name;
    Setter set;
    size_t offset; /* in Config */
    int least, most; /* numbers */
    bool needed;
} Key;

static bool set_text(Reader *, const Key *, const char *);
static bool set_name(Reader *, const Key *, const char *);
static bool set_address(Reader *, const Key *, const char *);
static bool set_path(Reader *, const Key *, const char *);
static bool set_secret(Reader *, const Key *, const char *);
static bool set_language(Reader *, const Key *, const char *);
static bool set_zone(Reader *, const Key *, const char *);
static bool set_host(Reader *, const Key *, const char *);
static bool set_hosts(Reader *, const Key *, const char *);
static bool set_reply_tag(Reader *, const Key *, const char *);
static bool set_mailbox_url(Reader *, const Key *, const char *);
static bool set_outgoing_url(Reader *, const Key *, const char *);
static bool set_after(Reader *, const Key *, const char *);
static bool set_also(Reader *, const Key *, const char *);
static bool set_time(Reader *, const Key *, const char *);
static bool set_registration(Reader *, const Key *, const char *);
static bool set_number(Reader *, const Key *, const char *);

#define AT(field) offsetof(Config, field)
static const Key keys[] = {
    { "service", "name", set_name, AT(name), 0, 0, true },
    { "service", "address", set_address, AT(address), 0, 0, true },
    { "service", "store", set_path, AT(store), 0, 0, true },
    { "service", "language", set_language, AT(language), 0, 0, false },
    { "service", "timezone", set_zone, AT(timezone), 0, 0, false },
    { "service", "arbiter", set_address, AT(arbiter), 0, 0, false },
    { "service", "trusted_authserv", set_host, AT(trusted_authserv), 0, 0, false },
    { "service", "received_by", set_hosts, AT(received_by), 0, 0, false },
    { "service", "key_file", set_path, AT(key_file), 0, 0, false },
    { "service", "templates", set_path, AT(templates), 0, 0, false },
    { "service", "reply_tag", set_reply_tag, AT(reply_tag_plus), 0, 0, false },
    { "mailbox", "url", set_mailbox_url, AT(mailbox_url), 0, 0, true },
    { "mailbox", "user", set_text, AT(mailbox_user), 0, 0, false },
    { "mailbox", "password_file", set_secret, AT(mailbox_password_file), 0, 0, false },
    { "mailbox", "password_command", set_text, AT(mailbox_password_command), 0, 0, false },
    { "mailbox", "token_command", set_text, AT(mailbox_token_command), 0, 0, false },
    { "mailbox", "after", set_after, AT(after), 0, 0, false },
    { "mailbox", "also", set_also, AT(also), 0, 0, false },
    { "outgoing", "url", set_outgoing_url, AT(outgoing_url), 0, 0, true },
    { "outgoing", "user", set_text, AT(outgoing_user), 0, 0, false },
    { "outgoing", "password_file", set_secret, AT(outgoing_password_file), 0, 0, false },
    { "play", "time", set_time, AT(time), 0, 0, false },
    { "play", "registration", set_registration, AT(registration), 0, 0, false },
    { "limits", "strangers_per_day", set_number, AT(strangers_per_day), 0, 1000, false },
    { "limits", "strangers_per_hour", set_number, AT(strangers_per_hour), 0, 100000, false },
    { "limits", "strangers_per_domain", set_number, AT(strangers_per_domain), 0, 100000, false },
    { "limits", "player_per_day", set_number, AT(player_per_day), 1, 100000, false },
    { "limits", "unproven_per_day", set_number, AT(unproven_per_day), 1, 100000, false },
    { "limits", "confirm_hours", set_number, AT(confirm_hours), 1, 720, false },
};
enum { KEY_COUNT = sizeof keys / sizeof keys[0] };

static const char *const sections[] = { "service", "mailbox", "outgoing", "play", "limits" };
enum { SECTION_COUNT = sizeof sections / sizeof sections[0] };

struct Reader {
    Config *config;
    const char *file;
    const char *folder; /* of the file, absolute, "" for the root */
    Str *errors;
    size_t error_count;
    const char *text, *end; /* what is still to be read */
    int line;               /* of the line handed to inih last */
    int seen[KEY_COUNT];    /* line on which a key was set, 0: not yet */
    int section_line[SECTION_COUNT];
};

__attribute__((format(printf, 3, 4))) static bool fault(Reader *reader, int line, const char *format, ...) {
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

static char **text_field(Reader *reader, const Key *key) {
    return (char **)(void *)((char *)reader->config + key->offset);
}

static char *copy(Reader *reader, const char *text) {
    char *made = strdup(text);
    if (made == NULL)
        fault(reader, reader->line, "no memory left");
    return made;
}

static bool put_text(Reader *reader, const Key *key, const char *text) {
    char **field = text_field(reader, key);
    free(*field);
    *field = copy(reader, text);
    return *field != NULL;
}

/* --- kinds of values --- */

static bool set_text(Reader *reader, const Key *key, const char *value) {
    return put_text(reader, key, value);
}

/* Stands in "[Name #42]" of every subject. */
static bool set_name(Reader *reader, const Key *key, const char *value) {
    if (utf8_length(value) > NAME_MAX_LETTERS)
        return fault(reader, reader->line, "name is longer than %d letters", NAME_MAX_LETTERS);
    if (strpbrk(value, "[]<>\"\t") != NULL)
        return fault(reader, reader->line, "name must not hold [ ] < > or quotation marks: it stands in brackets in every subject");
    return put_text(reader, key, value);
}

static bool host_name(const char *host) {
    size_t length = strlen(host);
    if (length == 0 || length > DOMAIN_MAX || host[0] == '.' || host[length - 1] == '.' || strstr(host, "..") != NULL)
        return false;
    return strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") == length && host[0] != '-';
}

static bool set_address(Reader *reader, const Key *key, const char *value) {
    /* RFC 5322 atext without the characters that shells and relays trip over */
    static const char local[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.!#$&'*+-/=?^_{}~";
    const char *at = strrchr(value, '@');
    if (at == NULL || at == value || strspn(value, local) != (size_t)(at - value) || !host_name(at + 1) || value[0] == '.' ||
        at[-1] == '.' || strstr(value, "..") != NULL)
        return fault(reader, reader->line, "%s = %s is no mail address (only the address itself, like chess@club.example)", key->name, value);
    if (at - value > LOCAL_MAX)
        return fault(reader, reader->line, "%s = %s: before the @ there is room for %d characters (a token is put behind them)", key->name, value,
                     LOCAL_MAX);
    return put_text(reader, key, value);
}

/* path, taken from the configuration's folder if it is relative */
static char *whole_path(Reader *reader, const char *path) {
    Str whole;
    str_init(&whole, PATH_MAX - 1);
    if (path[0] != '/')
        str_printf(&whole, "%s/", reader->folder);
    str_append(&whole, path);
    char *taken = str_take(&whole);
    if (taken == NULL)
        fault(reader, reader->line, "the path is too long");
    return taken;
}

static bool put_path(Reader *reader, const Key *key, const char *path) {
    char *whole = whole_path(reader, path);
    if (whole == NULL)
        return false;
    char **field = text_field(reader, key);
    free(*field);
    *field = whole;
    return true;
}

static bool set_path(Reader *reader, const Key *key, const char *value) {
    return put_path(reader, key, value);
}

/* A file with a password in it: there, and not for everybody to read. */
static bool set_secret(Reader *reader, const Key *key, const char *value) {
    if (!put_path(reader, key, value))
        return false;
    const char *path = *text_field(reader, key);
    struct stat info;
    if (stat(path, &info) != 0)
        return fault(reader, reader->line, "%s %s: %s", key->name, path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return fault(reader, reader->line, "%s %s is no file", key->name, path);
    if (info.st_mode & S_IROTH)
        return fault(reader, reader->line, "%s %s can be read by everybody: chmod 600 it, and change the password", key->name, path);
    return true;
}

static bool set_language(Reader *reader, const Key *key, const char *value) {
    size_t letters = strspn(value, "abcdefghijklmnopqrstuvwxyz");
    size_t length = strlen(value);
    bool country = letters + 3 == length && value[letters] == '-' &&
                   strspn(value + letters + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 2;
    if (letters < 2 || letters > 3 || (letters != length && !country))
        return fault(reader, reader->line, "language = %s is no language code (like en, de or pt-BR)", value);
    return put_text(reader, key, value);
}

static bool set_zone(Reader *reader, const Key *key, const char *value) {
    if (!zone_known(value))
        return fault(reader, reader->line, "timezone = %s is not known here (like Europe/Vienna or UTC; the package tzdata has them)", value);
    return put_text(reader, key, value);
}

static bool set_host(Reader *reader, const Key *key, const char *value) {
    if (!host_name(value))
        return fault(reader, reader->line, "%s = %s is no host name", key->name, value);
    return put_text(reader, key, value);
}

/* The next item of a list; separators at its ends are not part of it. NULL at the end. */
static char *next_item(char **text, const char *separators) {
    char *at = *text + strspn(*text, separators);
    if (*at == 0)
        return NULL;
    char *end = at + strcspn(at, separators);
    *text = *end == 0 ? end : end + 1;
    *end = 0;
    return at;
}

static bool set_hosts(Reader *reader, const Key *key, const char *value) {
    Config *config = reader->config;
    char *held = copy(reader, value), *rest = held, *host;
    bool good = held != NULL;
    while (good && (host = next_item(&rest, ", \t")) != NULL) {
        if (!host_name(host))
            good = fault(reader, reader->line, "%s: %s is no host name", key->name, host);
        else if (config->received_by_count == CONFIG_LIST_MAX)
            good = fault(reader, reader->line, "%s: more than %d hosts", key->name, CONFIG_LIST_MAX);
        else if ((config->received_by[config->received_by_count] = copy(reader, host)) != NULL)
            config->received_by_count++;
    }
    free(held);
    return good;
}

static bool set_reply_tag(Reader *reader, const Key *key, const char *value) {
    (void)key;
    if (!text_equal_nocase(value, "plus") && !text_equal_nocase(value, "none"))
        return fault(reader, reader->line, "reply_tag = %s: it is plus or none", value);
    reader->config->reply_tag_plus = text_equal_nocase(value, "plus");
    return true;
}

/* Folder names go into paths; a Maildir++ folder is one path component. */
static bool folder_name(const char *name) {
    return *name != 0 && strchr(name, '/') == NULL && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static bool set_after(Reader *reader, const Key *key, const char *value) {
    (void)key;
    Config *config = reader->config;
    if (text_equal_nocase(value, "seen")) {
        config->after = AFTER_SEEN;
    } else if (text_equal_nocase(value, "delete")) {
        config->after = AFTER_DELETE;
    } else if (text_starts_nocase(value, "move:") && folder_name(value + strlen("move:") + strspn(value + strlen("move:"), " "))) {
        config->after = AFTER_MOVE;
        free(config->after_folder);
        config->after_folder = copy(reader, value + strlen("move:") + strspn(value + strlen("move:"), " "));
    } else {
        return fault(reader, reader->line, "after = %s: it is seen, delete or move:FOLDER", value);
    }
    return true;
}

static bool set_also(Reader *reader, const Key *key, const char *value) {
    Config *config = reader->config;
    char *held = copy(reader, value), *rest = held, *folder;
    bool good = held != NULL;
    while (good && (folder = next_item(&rest, ",")) != NULL) { /* "Junk Mail" is one folder */
        folder += strspn(folder, " \t");
        size_t length = strlen(folder);
        while (length > 0 && (folder[length - 1] == ' ' || folder[length - 1] == '\t'))
            folder[--length] = 0;
        if (length == 0)
            continue;
        if (!folder_name(folder))
            good = fault(reader, reader->line, "%s: %s is no folder name", key->name, folder);
        else if (config->also_count == CONFIG_LIST_MAX)
            good = fault(reader, reader->line, "%s: more than %d folders", key->name, CONFIG_LIST_MAX);
        else if ((config->also[config->also_count] = copy(reader, folder)) != NULL)
            config->also_count++;
    }
    free(held);
    return good;
}

static bool set_time(Reader *reader, const Key *key, const char *value) {
    Control control;
    Error error = { 0 };
    if (control_read(value, &control, &error) != 0)
        return fault(reader, reader->line, "time = %s: %s", value, error.text);
    return put_text(reader, key, control.text);
}

static bool set_registration(Reader *reader, const Key *key, const char *value) {
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
    return fault(reader, reader->line, "registration = %s: it is open, approve or closed", value);
}

static bool set_number(Reader *reader, const Key *key, const char *value) {
    size_t digits = strspn(value, "0123456789");
    long number = digits > 0 && digits < 10 && value[digits] == 0 ? strtol(value, NULL, 10) : -1;
    if (number < key->least || number > key->most)
        return fault(reader, reader->line, "%s = %s: it is a whole number from %d to %d", key->name, value, key->least, key->most);
    *(int *)(void *)((char *)reader->config + key->offset) = (int)number;
    return true;
}

/* Undoes %XX. False for %00 or what is no escape. recipient: "%s" stands for the recipient (sender.h) and stays. */
static bool percent_decode(const char *text, bool recipient, Str *ret_path) {
    for (; *text != 0; text++) {
        if (*text != '%' || (recipient && text[1] == 's')) {
            str_append_char(ret_path, *text);
            continue;
        }
        char hex[3] = { text[1], text[1] == 0 ? 0 : text[2], 0 }, *end;
        long byte = strspn(hex, "0123456789abcdefABCDEF") == 2 ? strtol(hex, &end, 16) : 0;
        if (byte == 0)
            return false;
        str_append_char(ret_path, (char)byte);
        text += 2;
    }
    return true;
}

/* Kept as "maildir://" and the whole path, nothing escaped. */
static bool set_maildir(Reader *reader, const Key *key, const char *value) {
    const char *at = value + strlen("maildir:");
    if (strncmp(at, "//", 2) == 0) {
        at += 2;
        if (*at != '/')
            return fault(reader, reader->line, "url = %s: three slashes for a path from the root (maildir:///path), none for one from this file's folder "
                                               "(maildir:path)", value);
    }
    Str path;
    str_init(&path, PATH_MAX - 1);
    bool good = *at != 0 && percent_decode(at, strcmp(key->section, "outgoing") == 0, &path) && !path.overflowed;
    char *whole = good ? whole_path(reader, path.data) : NULL;
    str_free(&path);
    if (!good)
        return fault(reader, reader->line, "url = %s names no folder", value);
    if (whole == NULL)
        return false;
    Str url;
    str_init(&url, PATH_MAX + 16);
    str_printf(&url, "maildir://%s", whole);
    good = put_text(reader, key, url.data);
    str_free(&url);
    free(whole);
    return good;
}

static bool set_url(Reader *reader, const Key *key, const char *value, const char *const *schemes, size_t count) {
    const char *colon = strchr(value, ':'), *host = strstr(value, "://"), *at = host == NULL ? NULL : strchr(host, '@');
    if (at != NULL && memchr(host + 3, ':', (size_t)(at - host - 3)) != NULL)
        return fault(reader, reader->line, "url in [%s] has a password in it: use user and password_file", key->section);
    if (text_starts_nocase(value, "maildir:"))
        return set_maildir(reader, key, value);
    for (size_t i = 0; i < count && colon != NULL; i++)
        if (text_starts_nocase(value, schemes[i]) && strlen(schemes[i]) == (size_t)(colon - value))
            return fault(reader, reader->line, "url = %s: this version serves Maildirs only (maildir:///path)", value);
    return fault(reader, reader->line, "url = %s is of no known kind (maildir:///path)", value);
}

static bool set_mailbox_url(Reader *reader, const Key *key, const char *value) {
    static const char *const schemes[] = { "imaps", "imap", "pop3s", "pop3" };
    return set_url(reader, key, value, schemes, sizeof schemes / sizeof schemes[0]);
}

static bool set_outgoing_url(Reader *reader, const Key *key, const char *value) {
    static const char *const schemes[] = { "smtps", "smtp", "sendmail" };
    return set_url(reader, key, value, schemes, sizeof schemes / sizeof schemes[0]);
}

/* --- reading --- */

static int section_index(const char *name) {
    for (int i = 0; i < SECTION_COUNT; i++)
        if (strcmp(sections[i], name) == 0)
            return i;
    return -1;
}

/* Section heads are looked at here: inih tells of none that is empty, and only of the first that is broken. */
static void look_at_head(Reader *reader, char *line) {
    char *end = strchr(line, ']');
    if (end == NULL) {
        fault(reader, reader->line, "%s has no ] at its end", line);
        line[0] = 0;
        return;
    }
    char name[LINE_MAX_BYTES + 1];
    size_t length = (size_t)(end - line) - 1;
    memcpy(name, line + 1, length);
    name[length] = 0;
    int section = section_index(name);
    if (section < 0)
        fault(reader, reader->line, "there is no section [%s]", name);
    else if (reader->section_line[section] == 0)
        reader->section_line[section] = reader->line;
}

static bool clean_line(Reader *reader, const char *line, size_t length) {
    if (length > LINE_MAX_BYTES)
        return fault(reader, reader->line, "the line is longer than %d bytes", LINE_MAX_BYTES);
    if (!utf8_valid(line, length))
        return fault(reader, reader->line, "the line is not UTF-8");
    for (size_t i = 0; i < length; i++)
        if (((unsigned char)line[i] < ' ' && line[i] != '\t') || line[i] == 0x7f)
            return fault(reader, reader->line, "there is a control character in the line");
    return true;
}

/* inih's reader: one line a call, counted. Indentation goes, which inih would take for a value's continuation. */
static char *read_line(char *buffer, int size, void *data) {
    Reader *reader = data;
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
    Reader *reader = data;
    if (section[0] == 0) {
        fault(reader, reader->line, "%s stands before any [section]", name);
        return 1;
    }
    if (section_index(section) < 0)
        return 1; /* said at its head */
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (strcmp(keys[i].section, section) != 0 || strcmp(keys[i].name, name) != 0)
            continue;
        if (reader->seen[i] != 0) {
            fault(reader, reader->line, "%s stands in [%s] a second time (first on line %d)", name, section, reader->seen[i]);
            return 1;
        }
        reader->seen[i] = reader->line;
        if (value == NULL || value[0] == 0)
            fault(reader, reader->line, "%s has no value", name);
        else
            keys[i].set(reader, &keys[i], value);
        return 1;
    }
    if (strcmp(name, "password") == 0)
        fault(reader, reader->line, "no password stands in here: put it into a file of its own and name that with password_file");
    else
        fault(reader, reader->line, "there is no %s in [%s]", name, section);
    return 1;
}

static void check_missing(Reader *reader) {
    for (size_t i = 0; i < KEY_COUNT; i++) {
        if (!keys[i].needed || reader->seen[i] != 0)
            continue;
        int line = reader->section_line[section_index(keys[i].section)];
        fault(reader, line == 0 ? 1 : line, "%s is missing in [%s]", keys[i].name, keys[i].section);
    }
}

/* --- what is not said --- */

static bool default_text(Reader *reader, char **field, const char *text) {
    if (*field == NULL)
        *field = copy(reader, text);
    return *field != NULL;
}

/* /var/lib/epistle/epistle.db → /var/lib/epistle/epistle.key */
static void default_key_file(Reader *reader) {
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
static void default_templates(Reader *reader) {
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

static void fill_defaults(Reader *reader) {
    Config *config = reader->config;
    default_text(reader, &config->language, "en");
    default_text(reader, &config->timezone, "UTC");
    default_text(reader, &config->time, "10/50d");
    if (config->received_by_count == 0 && config->trusted_authserv != NULL) {
        config->received_by[0] = copy(reader, config->trusted_authserv);
        config->received_by_count = config->received_by[0] != NULL;
    }
    default_key_file(reader);
    default_templates(reader);
    if (config->key_file != NULL && config->store != NULL && strcmp(config->key_file, config->store) == 0)
        fault(reader, reader->section_line[0] == 0 ? 1 : reader->section_line[0], "key_file and store are the same file");
}

/* The whole file, or NULL. */
static char *read_file(Reader *reader, size_t *ret_size) {
    FILE *stream = fopen(reader->file, "re");
    if (stream == NULL) {
        fault(reader, 0, "cannot be opened: %s", strerror(errno));
        return NULL;
    }
    char *text = malloc(FILE_MAX + 1);
    size_t size = text == NULL ? 0 : fread(text, 1, FILE_MAX + 1, stream);
    if (text == NULL || ferror(stream) || size > FILE_MAX) {
        fault(reader, 0, size > FILE_MAX ? "is larger than a configuration can be" : "cannot be read");
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
    Reader reader = { .config = config, .file = file, .errors = ret_errors };
    config->file = copy(&reader, file);
    size_t size = 0;
    bool whole = false;
    char *folder = NULL, *text = read_file(&reader, &size);
    if (text == NULL)
        goto out;
    folder = folder_of(file);
    if (folder == NULL) {
        fault(&reader, 0, "its folder cannot be found: %s", strerror(errno));
        goto out;
    }
    reader.folder = folder;
    reader.text = text;
    reader.end = text + size;
    ini_max_line = LINE_MAX_BYTES + 3; /* inih wants room for CR, LF and NUL */
    ini_allow_multiline = false;
    ini_allow_no_value = true; /* so that we hear of such lines and can say which they are */
    if (ini_parse_stream(read_line, &reader, handle, &reader) != 0)
        fault(&reader, reader.line, "the file cannot be understood");
    check_missing(&reader);
    fill_defaults(&reader);
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
    if (config == NULL)
        return;
    for (size_t i = 0; i < KEY_COUNT; i++) {
        Setter set = keys[i].set;
        bool text = set != set_hosts && set != set_also && set != set_reply_tag && set != set_after && set != set_registration && set != set_number;
        if (text)
            free(*(char **)(void *)((char *)config + keys[i].offset));
    }
    for (size_t i = 0; i < config->received_by_count; i++)
        free(config->received_by[i]);
    for (size_t i = 0; i < config->also_count; i++)
        free(config->also[i]);
    free(config->after_folder);
    free(config->file);
    free(config);
}
