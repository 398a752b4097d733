/* The configuration's URLs: which kind of mailbox or way out, which server, which folder. */
#include "daemon/config_reader.h"

#include "core/base/utf8.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PORT_MAX = 65535,
    URL_MAX = 400,    /* scheme, host and port; a host name has 253 bytes at most */
    FOLDER_MAX = 500, /* bytes; servers take a few hundred */
};

typedef struct Scheme {
    const char *name;
    int kind;    /* MailboxKind or OutgoingKind */
    bool folder; /* the path is one */
} Scheme;

static const Scheme mailbox_schemes[] = {
    { "imaps", MAILBOX_IMAP, true }, { "imap", MAILBOX_IMAP, true }, { "pop3s", MAILBOX_POP3, false }, { "pop3", MAILBOX_POP3, false }, { 0 },
};
static const Scheme outgoing_schemes[] = { { "smtps", OUTGOING_SMTP, false }, { "smtp", OUTGOING_SMTP, false }, { 0 } };

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
    return !ret_path->overflowed;
}

/* Kept as "maildir://" and the whole path, nothing escaped. */
static bool set_maildir(ConfigReader *reader, const ConfigKey *key, const char *value) {
    const char *at = value + strlen("maildir:");
    if (strncmp(at, "//", 2) == 0) {
        at += 2;
        if (*at != '/')
            return config_fault(reader, reader->line, "url = %s: three slashes for a path from the root (maildir:///path), none for one from this "
                                                      "file's folder (maildir:path)", value);
    }
    Str path;
    str_init(&path, PATH_MAX - 1);
    bool good = *at != 0 && percent_decode(at, strcmp(key->section, "outgoing") == 0, &path);
    char *whole = good ? config_whole_path(reader, path.data) : NULL;
    str_free(&path);
    if (!good)
        return config_fault(reader, reader->line, "url = %s names no folder", value);
    if (whole == NULL)
        return false;
    Str url;
    str_init(&url, PATH_MAX + 16);
    str_printf(&url, "maildir://%s", whole);
    good = config_put_text(reader, key, url.data);
    str_free(&url);
    free(whole);
    return good;
}

/* sendmail:/path or sendmail:///path; kept as the path alone. */
static bool set_program(ConfigReader *reader, const ConfigKey *key, const char *value) {
    const char *at = value + strlen("sendmail:");
    if (strncmp(at, "///", 3) == 0)
        at += 2;
    Str path;
    str_init(&path, PATH_MAX - 1);
    bool good = at[0] == '/' && at[1] != '/' && percent_decode(at, false, &path) && path.length > 1;
    good = good ? config_put_text(reader, key, path.data)
                : config_fault(reader, reader->line, "url = %s: sendmail wants the whole path of its program, like sendmail:/usr/sbin/sendmail", value);
    str_free(&path);
    return good;
}

/* "host", "host:993", "[::1]:993" */
static bool host_and_port(const char *text) {
    char host[URL_MAX];
    const char *end = text[0] == '[' ? strchr(text, ']') : text + strcspn(text, ":");
    if (end == NULL)
        return false;
    if (text[0] == '[') {
        size_t inside = (size_t)(end - text) - 1;
        if (inside < 2 || strspn(text + 1, "0123456789abcdefABCDEF:.") != inside || memchr(text, ':', inside + 1) == NULL)
            return false;
        end++;
    } else if (snprintf(host, sizeof host, "%.*s", (int)(end - text), text) >= (int)sizeof host || !config_host_name(host)) {
        return false;
    }
    if (*end == 0)
        return true;
    size_t digits = strspn(end + 1, "0123456789");
    long port = *end == ':' && digits > 0 && digits <= 5 && end[1 + digits] == 0 ? strtol(end + 1, NULL, 10) : 0;
    return port >= 1 && port <= PORT_MAX;
}

/* The folder behind imap://host/, NULL for the inbox by whatever letters: its name is part of letters' keys. */
static bool set_folder(ConfigReader *reader, const char *value, const char *path) {
    Config *config = reader->config;
    Str folder;
    str_init(&folder, FOLDER_MAX);
    bool good = strpbrk(path, "?#;") == NULL && percent_decode(path, false, &folder) && utf8_valid(folder.data, folder.length);
    for (size_t i = 0; i < folder.length; i++)
        good = good && (unsigned char)folder.data[i] >= ' ' && folder.data[i] != 0x7f;
    if (!good)
        config_fault(reader, reader->line, "url = %s: behind the host stands one folder's name in UTF-8, in which ? # ; and %% are written %%3F %%23 %%3B %%25", value);
    else if (folder.length > 0 && !text_equal_nocase(folder.data, "INBOX"))
        good = (config->mailbox_folder = config_copy(reader, folder.data)) != NULL;
    str_free(&folder);
    return good;
}

/* What is behind "SCHEME://" of a server's URL; kept without the folder. */
static bool set_server(ConfigReader *reader, const ConfigKey *key, const char *value, const Scheme *scheme, int *ret_kind) {
    const char *at = value + strlen(scheme->name) + strlen("://");
    size_t length = strcspn(at, "/?#");
    Str url;
    str_init(&url, URL_MAX);
    str_printf(&url, "%s://%.*s", scheme->name, (int)length, at);
    bool good = !url.overflowed && host_and_port(url.data + strlen(scheme->name) + strlen("://"));
    if (!good)
        config_fault(reader, reader->line, "url = %s: behind %s:// stands a host's name or address, and then perhaps a colon and a port's number", value,
                     scheme->name);
    const char *rest = at[length] == '/' ? at + length + 1 : at + length;
    if (good && !scheme->folder && *rest != 0)
        good = config_fault(reader, reader->line, "url = %s: with %s nothing stands behind the host and its port", value, scheme->name);
    good = good && (!scheme->folder || set_folder(reader, value, rest)) && config_put_text(reader, key, url.data);
    if (good)
        *ret_kind = scheme->kind;
    str_free(&url);
    return good;
}

/* user:password@host: never told back. A password may hold slashes. */
static bool has_password(const char *value) {
    const char *begin = strstr(value, "://"), *at = begin == NULL ? NULL : strrchr(begin, '@');
    const char *colon = at == NULL ? NULL : memchr(begin + 3, ':', (size_t)(at - begin - 3));
    if (colon == NULL)
        return false;
    size_t digits = strspn(colon + 1, "0123456789");
    return digits == 0 || colon[1 + digits] != '/'; /* imap://host:143/folder@… */
}

static bool set_url(ConfigReader *reader, const ConfigKey *key, const char *value, const Scheme *schemes, const char *kinds, int *ret_kind) {
    const char *authority = strstr(value, "://");
    if (text_starts_nocase(value, "maildir:"))
        return set_maildir(reader, key, value);
    if (has_password(value))
        return config_fault(reader, reader->line, "url in [%s] has a password in it: use user and password_file", key->section);
    if (authority != NULL && memchr(authority + 3, '@', strcspn(authority + 3, "/?#")) != NULL)
        return config_fault(reader, reader->line, "url = %s has a user in it: write him as user = …", value);
    for (const Scheme *scheme = schemes; scheme->name != NULL; scheme++)
        if (text_starts_nocase(value, scheme->name) && strncmp(value + strlen(scheme->name), "://", 3) == 0)
            return set_server(reader, key, value, scheme, ret_kind);
    return config_fault(reader, reader->line, "url = %s is of no known kind (%s)", value, kinds);
}

bool config_set_mailbox_url(ConfigReader *reader, const ConfigKey *key, const char *value) {
    int kind = MAILBOX_MAILDIR;
    bool good = set_url(reader, key, value, mailbox_schemes, "imaps://host/folder, imap://, pop3s://host, pop3:// or maildir:///path", &kind);
    reader->config->mailbox_kind = (MailboxKind)kind;
    return good;
}

bool config_set_outgoing_url(ConfigReader *reader, const ConfigKey *key, const char *value) {
    int kind = OUTGOING_MAILDIR;
    bool good;
    if (text_starts_nocase(value, "sendmail:")) {
        kind = OUTGOING_SENDMAIL;
        good = set_program(reader, key, value);
    } else {
        good = set_url(reader, key, value, outgoing_schemes, "smtps://host, smtp://, sendmail:/path or maildir:///path", &kind);
    }
    reader->config->outgoing_kind = (OutgoingKind)kind;
    return good;
}
