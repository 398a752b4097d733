/* epistle VERB [options]: correspondence chess by mail. See docs/epistle.1. */
#include "daemon/log.h"
#include "daemon/verbs/open.h"
#include "daemon/verbs/verb_chess.h"
#include "daemon/verbs/verbs.h"
#include "daemon/version.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct VerbEntry {
    const char *name;
    int (*run)(const VerbCall *call);
    bool reads_letters; /* the zygote is started first, before any secret is read */
    const char *does;
} VerbEntry;

static const VerbEntry verbs[] = {
    { "serve", verb_serve, true, "the service: reads, settles and answers letters until it is ended" },
    { "once", verb_once, true, "one cycle: read the mailbox, settle every letter, send the answers" },
    { "check", verb_check, false, "check configuration, store, templates, mailbox and way out; --init makes what is missing" },
    { "doctor", verb_doctor, false, "a line for each thing a service needs: ok, warn or fail, with what to do" },
    { "demo", verb_demo, true, "a short game between two Maildirs, every letter shown" },
    { "player", verb_player, false, "add, list, show, block players" },
    { "game", verb_game, false, "begin, show and list games, enter a move" },
    { "letters", verb_letters, false, "the letters that came" },
    { "letter", verb_letter, false, "one letter that came: what was decided and why" },
    { "outbox", verb_outbox, false, "the letters that wait to go out; hold, release, retry, drop one" },
    { "status", verb_status, false, "how the service is doing" },
    { "verify", verb_verify, false, "replay every record, open every letter, fail on any damage" },
    { "read", verb_read, true, "how the service would understand a letter; changes nothing" },
    { "perft", verb_perft, false, "count the move tree of a position" },
    { "notate", verb_notate, false, "a move in every notation, or why it is none" },
    { "moves", verb_moves, false, "every legal move of a position" },
    { "replay", verb_replay, false, "check every game of a PGN file" },
    { "mating", verb_mating, false, "who can still mate; whether a position is dead" },
};
enum { VERB_COUNT = sizeof verbs / sizeof verbs[0] };

static void print_help(FILE *stream) {
    fputs("usage: epistle [-c FILE] VERB [options]\n"
          "Correspondence chess by mail. FILE is the configuration, " CONFIG_DEFAULT " if not given.\n\n", stream);
    for (size_t i = 0; i < VERB_COUNT; i++)
        fprintf(stream, "  %-8s %s\n", verbs[i].name, verbs[i].does);
    fputs("\n`epistle VERB --help` says more; epistle(1), epistle(8) and epistle-letters(7) say all.\n", stream);
}

/* Takes -c FILE out of the words, wherever it stands before "--". False if FILE is missing. */
static bool take_config(int *argc, char **argv, const char **ret_config) {
    int kept = 1;
    bool options_end = false;
    for (int i = 1; i < *argc; i++) {
        options_end = options_end || strcmp(argv[i], "--") == 0;
        if (options_end || strcmp(argv[i], "-c") != 0)
            argv[kept++] = argv[i];
        else if (i + 1 < *argc)
            *ret_config = argv[++i];
        else
            return false;
    }
    argv[kept] = NULL;
    *argc = kept;
    return true;
}

static int run_verb(const VerbEntry *verb, VerbCall *call) {
    Error error;
    error_clear(&error);
    if (verb->reads_letters && (call->mime = mime_reader_start(&error)) == NULL)
        return verb_fail(&error);
    int status = verb->run(call);
    mime_reader_stop(call->mime);
    return status;
}

int main(int argc, char **argv) {
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    if (argc > 0 && strcmp(slash == NULL ? argv[0] : slash + 1, "epistle-mime") == 0)
        return mime_zygote_main();
    signal(SIGPIPE, SIG_IGN);
    umask(077);
    VerbCall call = { 0 };
    if (!take_config(&argc, argv, &call.config)) {
        log_line("-c wants the name of a configuration file");
        return STATUS_USAGE;
    }
    if (argc < 2) {
        print_help(stderr);
        return STATUS_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
        return STATUS_DONE;
    }
    if (strcmp(name, "--version") == 0) {
        puts("epistle " EPISTLE_VERSION);
        return STATUS_DONE;
    }
    call.argc = argc - 1;
    call.argv = argv + 1;
    for (size_t i = 0; i < VERB_COUNT; i++) {
        if (strcmp(verbs[i].name, name) != 0)
            continue;
        int status = run_verb(&verbs[i], &call);
        if (fflush(stdout) != 0 && status == STATUS_DONE) /* a reader that has gone (| head) needs no words */
            status = errno == EPIPE ? STATUS_WRONG : verb_wrong("standard output could not be written");
        return status;
    }
    print_line(stderr, "epistle: there is no verb %s: `epistle --help` lists them", name);
    return STATUS_USAGE;
}
