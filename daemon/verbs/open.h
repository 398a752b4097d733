/* What most verbs open: configuration, store, templates, the world. All functions say on stderr what is wrong and return the
 * exit status then, STATUS_DONE otherwise. open_close() takes an Open in any state of opening, from { 0 } on. */
#ifndef EPISTLE_DAEMON_VERBS_OPEN_H
#define EPISTLE_DAEMON_VERBS_OPEN_H

#include "daemon/config.h"
#include "daemon/service/service.h"
#include "daemon/verbs/verbs.h"

#include <jansson.h>

#define CONFIG_DEFAULT "/etc/epistle/epistle.conf"

typedef struct Open {
    Config *config;
    Store *store;
    Templates *templates;
    World world;
    Service service;
} Open;

/* False if there is no file of this name, and says what to do. */
bool open_config_there(const char *file);
int open_config(Open *open, const VerbCall *call);
/* The configuration and its store. */
int open_store(Open *open, const VerbCall *call, StoreUse use);
/* open_store() and what a Service needs, but for a mailbox; fixed: INSTANT_NONE or the time that replaces the clock. */
int open_service(Open *open, const VerbCall *call, StoreUse use, Instant fixed);
/* The configured templates, which must have the service's language. 0 or -1. */
int open_templates(Open *open, Error *error);
/* Source and sender as configured, into open->world. Looks into neither and opens no line: a mailbox that is not there fails when it is listed,
 * and letters to a relay that is not there are put off. service.alive, where it is set before, is called while a line is waited for. */
int open_mail(Open *open, Error *error);
int open_source(Open *open, Error *error); /* each alone */
int open_sender(Open *open, Error *error);
/* Whether the outgoing Maildir is there; other ways out are there until they are tried. 0, or -1 and ERROR_MAILBOX. */
int open_outgoing_ready(const Open *open, Error *error);
void open_close(Open *open);

/* The folder of a "maildir:///path" URL, NULL for other schemes. */
const char *maildir_path(const char *url);

/* WHO of the command line: a number, a name or an address. Says it and returns STATUS_WRONG if there is no such player. */
int open_player(Open *open, const char *who, int64_t *ret_id);

/* ---- JSON ---- */

json_t *json_text(const char *text);         /* broken UTF-8 becomes '?' */
json_t *json_instant(Instant instant);       /* RFC 3339; null for INSTANT_NONE */
json_t *json_number(int64_t number);         /* null for 0 */
int print_json(json_t *value);               /* takes the reference; STATUS_DONE */

#endif
