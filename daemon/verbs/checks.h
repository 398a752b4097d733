/* Checks: what `check` and `doctor` look at, each finding told in one line. */
#ifndef EPISTLE_DAEMON_VERBS_CHECKS_H
#define EPISTLE_DAEMON_VERBS_CHECKS_H

#include "daemon/verbs/open.h"

typedef enum CheckGrade { CHECK_OK, CHECK_WARN, CHECK_FAIL } CheckGrade;

typedef struct Checks {
    Open open;
    bool init;    /* make what is missing: store, key, Maildirs, folders */
    bool unmade;  /* init was wanted and taken back */
    bool by_root; /* it is wanted of root, in a folder of the service's user: nothing is made, nor missed, on the disk */
    bool offline; /* leave mailbox and outgoing alone */
    int counts[CHECK_FAIL + 1];
    /* subject: "store", "mailbox" …; "configuration" for lines that begin with file and line by themselves. */
    void (*found)(struct Checks *checks, CheckGrade grade, const char *subject, const char *text);
    json_t *lines; /* for doctor's own use */
} Checks;

void checks_say(Checks *checks, CheckGrade grade, const char *subject, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Reads the configuration into open.config and tells of each error in it; false if the file itself cannot be read. With errors `init` is
 * taken back: nothing is made of a bad configuration. */
bool checks_configuration(Checks *checks, const char *file);
/* The store with its key, into open.store; then the key's mode, the templates, the files with passwords, and (unless offline) the mailbox and the
 * way out: folders and programs are looked at, servers logged in to; nothing is read or sent. */
void checks_store(Checks *checks);
void checks_key(Checks *checks);
void checks_templates(Checks *checks);
void checks_secrets(Checks *checks);
void checks_mailbox(Checks *checks);
void checks_outgoing(Checks *checks);

/* checks_machine.c, for doctor: the machine, the libraries. */
void checks_permissions(Checks *checks);
void checks_disk(Checks *checks);
void checks_clock(Checks *checks);
void checks_libraries(Checks *checks);
/* checks_unit.c, for doctor: whether a unit is installed, has its sandbox, and lets the service do what the configuration says. root: "" but in tests. */
void checks_unit(Checks *checks, const char *root);
/* checks_setup.c, for doctor: addresses, hosts, people, outages. */
void checks_setup(Checks *checks);
void checks_outages(Checks *checks);

/* The first configuration, config/epistle.conf.example as it was when the program was built. */
const char *checks_first_configuration(void);

#endif
