/* Verbs: what the program can be asked to do. main.c finds the verb and the configuration's name; the verb reads its own
 * options, does its work and returns the exit status. */
#ifndef EPISTLE_DAEMON_VERBS_VERBS_H
#define EPISTLE_DAEMON_VERBS_VERBS_H

#include "core/base/error.h"
#include "core/base/instant.h"
#include "daemon/inbox/mime.h"

#include <stdbool.h>

enum { STATUS_DONE = 0, STATUS_WRONG = 1, STATUS_USAGE = 2, STATUS_LATER = 75 };

typedef struct VerbCall {
    const char *config; /* -c FILE, NULL if it was not given */
    int argc;           /* argv[0] is the verb, or "player add" in the parts of a verb */
    char **argv;
    MimeReader *mime;   /* a running zygote for the verbs that read letters, else NULL */
} VerbCall;

/* ---- options ---- */

typedef struct VerbOption {
    const char *name;   /* without "--" */
    const char **value; /* takes one: "--name VALUE" or "--name=VALUE" */
    bool *flag;         /* takes none */
} VerbOption;

/* Reads options and words (anything else; all of it behind "--"). options ends with a NULL name. usage is what stands behind
 * "epistle ", help further lines. True if the verb can go on; else *ret_status is its exit status: --help was asked for, or
 * something is wrong and was said. */
bool verb_arguments(const VerbCall *call, const char *usage, const char *help, const VerbOption *options, const char **ret_words,
                    int least, int most, int *ret_count, int *ret_status);

typedef struct VerbPart {
    const char *name;  /* "add" of "player add" */
    int (*run)(const VerbCall *call);
    const char *words; /* its arguments, for people */
    const char *does;
} VerbPart;

/* Runs the part named by the first word; --help lists them. parts ends with a NULL name. */
int verb_parts(const VerbCall *call, const VerbPart *parts, const char *verb);

/* A whole number from 1 on and nothing else. */
bool verb_number(const char *text, int64_t *ret_number);
/* --now, --start: RFC 3339, or a date alone (its midnight in UTC). NULL gives INSTANT_NONE. False: said on stderr. */
bool verb_time(const char *option, const char *text, Instant *ret_instant);

/* ---- errors ---- */

/* One line on stderr; the exit status that goes with the error's grade. */
int verb_fail(const Error *error);
int verb_wrong(const char *format, ...) __attribute__((format(printf, 1, 2))); /* STATUS_WRONG */

/* ---- the verbs ---- */

int verb_serve(const VerbCall *call);
int verb_once(const VerbCall *call);
int verb_demo(const VerbCall *call);
int verb_check(const VerbCall *call);
int verb_doctor(const VerbCall *call);
int verb_read(const VerbCall *call);
int verb_player(const VerbCall *call);
int verb_game(const VerbCall *call);
int verb_letters(const VerbCall *call);
int verb_letter(const VerbCall *call);
int verb_outbox(const VerbCall *call);
int verb_status(const VerbCall *call);
int verb_verify(const VerbCall *call);

#endif
