/* Inside the reading of a configuration: shared by config.c (the file), config_values.c (kinds of values) and config_mail.c (servers and
 * secrets); nobody else includes it. */
#ifndef EPISTLE_DAEMON_CONFIG_READER_H
#define EPISTLE_DAEMON_CONFIG_READER_H

#include "daemon/config.h"

enum {
    CONFIG_KEYS_MAX = 64,
    CONFIG_SECTIONS_MAX = 8,
};

typedef struct ConfigReader {
    Config *config;
    const char *file;
    const char *folder; /* of the file, absolute, "" for the root */
    Str *errors;
    size_t error_count;
    const char *text, *end; /* what is still to be read */
    int line;               /* of the line handed to inih last */
    int seen[CONFIG_KEYS_MAX];            /* line on which a key was set, 0: not yet */
    int section_line[CONFIG_SECTIONS_MAX];
    bool mailbox_bad, outgoing_bad;       /* a value there was refused */
} ConfigReader;

/* Sets one value; false: an error was noted. */
typedef struct ConfigKey ConfigKey;
typedef bool (*ConfigSetter)(ConfigReader *reader, const ConfigKey *key, const char *value);

struct ConfigKey {
    const char *section, *name;
    ConfigSetter set;
    size_t offset;   /* in Config */
    int least, most; /* numbers */
    bool needed;
};

/* Notes an error of a line, or (0) of the file as a whole; returns false. */
bool config_fault(ConfigReader *reader, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The line a key stands on, 0: on none. */
int config_line(const ConfigReader *reader, const char *section, const char *name);

/* ---- config_values.c ---- */

char *config_copy(ConfigReader *reader, const char *text);
char **config_text_field(ConfigReader *reader, const ConfigKey *key);
bool config_put_text(ConfigReader *reader, const ConfigKey *key, const char *text);
/* path, taken from the configuration's folder if it is relative; NULL: an error was noted */
char *config_whole_path(ConfigReader *reader, const char *path);
bool config_put_path(ConfigReader *reader, const ConfigKey *key, const char *path);
bool config_host_name(const char *host);
/* The next item of a list; separators at its ends are not part of it. NULL at the end. */
char *config_next_item(char **text, const char *separators);

bool config_set_text(ConfigReader *, const ConfigKey *, const char *);
bool config_set_name(ConfigReader *, const ConfigKey *, const char *);
bool config_set_address(ConfigReader *, const ConfigKey *, const char *);
bool config_set_path(ConfigReader *, const ConfigKey *, const char *);
bool config_set_language(ConfigReader *, const ConfigKey *, const char *);
bool config_set_zone(ConfigReader *, const ConfigKey *, const char *);
bool config_set_host(ConfigReader *, const ConfigKey *, const char *);
bool config_set_hosts(ConfigReader *, const ConfigKey *, const char *);
bool config_set_reply_tag(ConfigReader *, const ConfigKey *, const char *);
bool config_set_time(ConfigReader *, const ConfigKey *, const char *);
bool config_set_registration(ConfigReader *, const ConfigKey *, const char *);
bool config_set_number(ConfigReader *, const ConfigKey *, const char *);

/* ---- config_mail.c ---- */

bool config_set_mailbox_url(ConfigReader *, const ConfigKey *, const char *);
bool config_set_outgoing_url(ConfigReader *, const ConfigKey *, const char *);
bool config_set_secret_file(ConfigReader *, const ConfigKey *, const char *);
bool config_set_ca_file(ConfigReader *, const ConfigKey *, const char *);
bool config_set_command(ConfigReader *, const ConfigKey *, const char *);
bool config_set_credential(ConfigReader *, const ConfigKey *, const char *);
bool config_set_tls(ConfigReader *, const ConfigKey *, const char *);
bool config_set_after(ConfigReader *, const ConfigKey *, const char *);
bool config_set_also(ConfigReader *, const ConfigKey *, const char *);

/* What only the keys of [mailbox] and [outgoing] together can show. After the whole file was read; sets mailbox_good and outgoing_good. */
void config_check_mail(ConfigReader *reader);

#endif
