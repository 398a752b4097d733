/* The configuration's [mailbox] and [outgoing] without the URLs: secrets, TLS, folders, and what of them goes together. */
#include "daemon/config_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CREDENTIAL_NAME_MAX = 255 };

/* ---- values ---- */

/* A file with a password in it: there, and not for everybody to read. */
bool config_set_secret_file(ConfigReader *reader, const ConfigKey *key, const char *value) {
    if (!config_put_path(reader, key, value))
        return false;
    const char *path = *config_text_field(reader, key);
    struct stat info;
    if (stat(path, &info) != 0)
        return config_fault(reader, reader->line, "%s %s: %s: put the password there, as its first line, with mode 640 and the service's group", key->name, path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return config_fault(reader, reader->line, "%s %s is no file: name one that holds the password as its first line", key->name, path);
    if (info.st_mode & S_IROTH)
        return config_fault(reader, reader->line, "%s %s can be read by everybody: chmod o= it, and change the password", key->name, path);
    return true;
}

/* Certificates: there, whoever reads them. */
bool config_set_ca_file(ConfigReader *reader, const ConfigKey *key, const char *value) {
    if (!config_put_path(reader, key, value))
        return false;
    const char *path = *config_text_field(reader, key);
    struct stat info;
    if (stat(path, &info) != 0)
        return config_fault(reader, reader->line, "%s %s: %s: put the certificates there (PEM), or take the line out to trust the system's", key->name, path,
                            strerror(errno));
    if (!S_ISREG(info.st_mode))
        return config_fault(reader, reader->line, "%s %s is no file: name one that holds certificates (PEM)", key->name, path);
    return true;
}

bool config_set_command(ConfigReader *reader, const ConfigKey *key, const char *value) {
    if (!secret_command_good(value))
        return config_fault(reader, reader->line, "%s cannot be divided into words: it is a program and at most %d words for it, each quotation mark has its second, "
                                                  "and no shell is asked", key->name, SECRET_WORDS_MAX - 1);
    return config_put_text(reader, key, value);
}

bool config_set_credential(ConfigReader *reader, const ConfigKey *key, const char *value) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    if (value[0] == '.' || value[strspn(value, letters)] != 0 || strlen(value) > CREDENTIAL_NAME_MAX)
        return config_fault(reader, reader->line, "%s = %s: it is the name that the unit's LoadCredential= gives, of letters, digits, . _ and -", key->name, value);
    return config_put_text(reader, key, value);
}

bool config_set_tls(ConfigReader *reader, const ConfigKey *key, const char *value) {
    bool none = text_equal_nocase(value, "none");
    if (!none && !text_equal_nocase(value, "required"))
        return config_fault(reader, reader->line, "tls = %s: it is required, or none for a server on this very machine", value);
    *(bool *)(void *)((char *)reader->config + key->offset) = none;
    return true;
}

bool config_set_after(ConfigReader *reader, const ConfigKey *key, const char *value) {
    (void)key;
    static const char move[] = "move:";
    Config *config = reader->config;
    if (text_equal_nocase(value, "seen")) {
        config->after = AFTER_SEEN;
    } else if (text_equal_nocase(value, "delete")) {
        config->after = AFTER_DELETE;
    } else if (text_starts_nocase(value, move) && !text_blank(value + strlen(move))) {
        config->after = AFTER_MOVE;
        free(config->after_folder);
        config->after_folder = config_copy(reader, value + strlen(move) + strspn(value + strlen(move), " "));
    } else {
        return config_fault(reader, reader->line, "after = %s: it is seen, delete or move:FOLDER", value);
    }
    return true;
}

bool config_set_also(ConfigReader *reader, const ConfigKey *key, const char *value) {
    Config *config = reader->config;
    char *held = config_copy(reader, value), *rest = held, *folder;
    bool good = held != NULL;
    while (good && (folder = config_next_item(&rest, ",")) != NULL) { /* "Junk Mail" is one folder */
        folder += strspn(folder, " \t");
        size_t length = strlen(folder);
        while (length > 0 && (folder[length - 1] == ' ' || folder[length - 1] == '\t'))
            folder[--length] = 0;
        if (length == 0)
            continue;
        if (config->also_count == CONFIG_LIST_MAX)
            good = config_fault(reader, reader->line, "%s: more than %d folders", key->name, CONFIG_LIST_MAX);
        else if ((config->also[config->also_count] = config_copy(reader, folder)) != NULL)
            config->also_count++;
    }
    free(held);
    return good;
}

/* ---- what goes together ---- */

typedef struct Server { /* one of the two sections */
    const char *section, *url, *kind; /* kind: for people */
    bool server;                      /* there is one to log in to */
    bool login;                       /* and one must */
    bool plain;
} Server;

/* Keys that mean something with some kinds of URL only. */
typedef struct Meaning {
    const char *section, *name;
    unsigned kinds; /* bits 1 << kind */
} Meaning;

enum {
    IMAP_POP3 = 1 << MAILBOX_IMAP | 1 << MAILBOX_POP3,
    SMTP = 1 << OUTGOING_SMTP,
};

static const Meaning meanings[] = {
    { "mailbox", "user", IMAP_POP3 }, { "mailbox", "password_file", IMAP_POP3 }, { "mailbox", "password_command", IMAP_POP3 },
    { "mailbox", "password_credential", IMAP_POP3 }, { "mailbox", "token_command", IMAP_POP3 }, { "mailbox", "ca_file", IMAP_POP3 },
    { "mailbox", "tls", IMAP_POP3 }, { "mailbox", "timeout", IMAP_POP3 }, { "mailbox", "also", 1 << MAILBOX_MAILDIR | 1 << MAILBOX_IMAP },
    { "outgoing", "user", SMTP }, { "outgoing", "password_file", SMTP }, { "outgoing", "password_command", SMTP },
    { "outgoing", "password_credential", SMTP }, { "outgoing", "token_command", SMTP }, { "outgoing", "ca_file", SMTP },
    { "outgoing", "tls", SMTP }, { "outgoing", "timeout", SMTP }, { "outgoing", "lines", SMTP },
};

static void check_meanings(ConfigReader *reader, const Server *server, int kind) {
    for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++) {
        const Meaning *meaning = &meanings[i];
        int line = strcmp(meaning->section, server->section) == 0 ? config_line(reader, server->section, meaning->name) : 0;
        if (line != 0 && (meaning->kinds & 1U << kind) == 0)
            config_fault(reader, line, "%s in [%s] means nothing with %s: take the line out", meaning->name, server->section, server->kind);
    }
}

/* One user and one secret, or neither. */
static void check_login(ConfigReader *reader, const Server *server) {
    static const char *const secrets[] = { "password_file", "password_command", "password_credential", "token_command" };
    enum { SECRETS = sizeof secrets / sizeof secrets[0] };
    int user = config_line(reader, server->section, "user"), first = -1;
    for (int i = 0; i < SECRETS; i++) {
        int line = config_line(reader, server->section, secrets[i]);
        if (line == 0)
            continue;
        if (first >= 0)
            config_fault(reader, line, "%s stands beside %s in [%s]: only one of them can say where the password is, take the other out", secrets[i], secrets[first],
                         server->section);
        else if (user == 0 && !server->login)
            config_fault(reader, line, "%s is of no use without a user in [%s]: add user = …", secrets[i], server->section);
        first = first < 0 ? i : first;
    }
    if (user == 0 && server->login)
        config_fault(reader, config_line(reader, server->section, "url"), "user is missing in [%s]: %s wants to know who logs in", server->section, server->kind);
    if (first < 0 && (user != 0 || server->login))
        config_fault(reader, user != 0 ? user : config_line(reader, server->section, "url"),
                     "the user's password is missing in [%s]: name a password_file, password_command, password_credential or token_command", server->section);
}

static void check_tls(ConfigReader *reader, const Server *server) {
    int line = config_line(reader, server->section, "tls");
    const char *colon = strchr(server->url, ':');
    if (!server->plain || colon == server->url)
        return;
    if (colon[-1] == 's')
        config_fault(reader, line, "tls = none and %s contradict each other: take one of them back", server->url);
    else if (!line_host_is_local(server->url))
        config_fault(reader, line, "tls = none is for a server on this very machine (localhost, 127.0.0.1, [::1]), and %s is elsewhere: take the line out, the log-in and "
                                   "the letters are then encrypted by STARTTLS", server->url);
}

static const char *const mailbox_kinds[] = { [MAILBOX_MAILDIR] = "a Maildir", [MAILBOX_IMAP] = "IMAP", [MAILBOX_POP3] = "POP3" };
static const char *const outgoing_kinds[] = { [OUTGOING_MAILDIR] = "a Maildir", [OUTGOING_SMTP] = "SMTP", [OUTGOING_SENDMAIL] = "sendmail" };

static void check_server(ConfigReader *reader, const Server *server, int kind) {
    check_meanings(reader, server, kind);
    if (!server->server)
        return;
    check_login(reader, server);
    check_tls(reader, server);
}

/* A Maildir++ folder is one path component; IMAP's have levels. */
static bool folder_good(const Config *config, const char *name) {
    if (config->mailbox_kind != MAILBOX_MAILDIR)
        return true;
    return strchr(name, '/') == NULL && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Whether two names are one folder: INBOX has no case, and ".Junk" and "Junk" are the same in a Maildir. */
static bool same_folder(const Config *config, const char *one, const char *other) {
    if (config->mailbox_kind == MAILBOX_MAILDIR)
        return strcmp(one + (one[0] == '.'), other + (other[0] == '.')) == 0;
    return strcmp(one, other) == 0 || (text_equal_nocase(one, "INBOX") && text_equal_nocase(other, "INBOX"));
}

/* Whether a folder is read, by the URL or by one of the first `count` of `also`. A Maildir's own folder has no name. */
static bool folder_read(const Config *config, const char *name, size_t count) {
    const char *main_folder = config->mailbox_folder == NULL ? "INBOX" : config->mailbox_folder;
    if (config->mailbox_kind == MAILBOX_IMAP && same_folder(config, name, main_folder))
        return true;
    for (size_t i = 0; i < count; i++)
        if (same_folder(config, name, config->also[i]))
            return true;
    return false;
}

/* Letters that are moved to where letters are read would be read again for ever. */
static void check_folders(ConfigReader *reader) {
    const Config *config = reader->config;
    int also = config_line(reader, "mailbox", "also"), after = config_line(reader, "mailbox", "after");
    for (size_t i = 0; i < config->also_count; i++) {
        if (!folder_good(config, config->also[i]))
            config_fault(reader, also, "also: %s is no folder name", config->also[i]);
        else if (folder_read(config, config->also[i], i))
            config_fault(reader, also, "also: %s is read already: take it out", config->also[i]);
    }
    if (config->after != AFTER_MOVE || config->after_folder == NULL)
        return;
    if (config->mailbox_kind == MAILBOX_POP3)
        config_fault(reader, after, "after = move:%s needs folders, which POP3 does not have: write after = seen (letters stay) or after = delete", config->after_folder);
    else if (!folder_good(config, config->after_folder))
        config_fault(reader, after, "after = move:%s: %s is no folder name", config->after_folder, config->after_folder);
    else if (folder_read(config, config->after_folder, config->also_count))
        config_fault(reader, after, "after = move:%s: letters are read from this folder; move them to another", config->after_folder);
}

static void check_mailbox(ConfigReader *reader) {
    const Config *config = reader->config;
    bool is_server = config->mailbox_kind != MAILBOX_MAILDIR;
    const Server mailbox = { .section = "mailbox", .url = config->mailbox_url, .kind = mailbox_kinds[config->mailbox_kind], .server = is_server,
                             .login = is_server, .plain = config->mailbox_plain };
    check_server(reader, &mailbox, (int)config->mailbox_kind);
    check_folders(reader);
}

static void check_outgoing(ConfigReader *reader) {
    const Config *config = reader->config;
    const Server outgoing = { .section = "outgoing", .url = config->outgoing_url, .kind = outgoing_kinds[config->outgoing_kind],
                              .server = config->outgoing_kind == OUTGOING_SMTP, .plain = config->outgoing_plain };
    check_server(reader, &outgoing, (int)config->outgoing_kind);
}

void config_check_mail(ConfigReader *reader) {
    Config *config = reader->config;
    size_t errors = reader->error_count;
    if (config->mailbox_url != NULL)
        check_mailbox(reader);
    config->mailbox_good = config->mailbox_url != NULL && !reader->mailbox_bad && reader->error_count == errors;
    errors = reader->error_count;
    if (config->outgoing_url != NULL)
        check_outgoing(reader);
    config->outgoing_good = config->outgoing_url != NULL && !reader->outgoing_bad && reader->error_count == errors;
}

/* ---- for the lines ---- */

LineAccount config_mailbox_account(const Config *config) {
    return (LineAccount){
        .url = config->mailbox_url,
        .user = config->mailbox_user,
        .secret = { .file = config->mailbox_password_file, .command = config->mailbox_password_command,
                    .credential = config->mailbox_password_credential, .token = config->mailbox_token_command },
        .ca_file = config->mailbox_ca_file,
        .plain = config->mailbox_plain,
        .seconds = config->mailbox_timeout,
    };
}

LineAccount config_outgoing_account(const Config *config) {
    return (LineAccount){
        .url = config->outgoing_url,
        .user = config->outgoing_user,
        .secret = { .file = config->outgoing_password_file, .command = config->outgoing_password_command,
                    .credential = config->outgoing_password_credential, .token = config->outgoing_token_command },
        .ca_file = config->outgoing_ca_file,
        .plain = config->outgoing_plain,
        .seconds = config->outgoing_timeout,
    };
}
