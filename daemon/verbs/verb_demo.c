/* demo: a short game between two Maildirs, every letter shown. No network; the clock is stepped, so it takes a second. */
#include "daemon/log.h"
#include "daemon/maildir.h"
#include "daemon/service/starting.h"
#include "daemon/store/games.h"
#include "daemon/store/players.h"
#include "daemon/verbs/demo_mail.h"
#include "daemon/verbs/open.h"
#include "daemon/verbs/verbs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { ANNA, BORIS, HOUR = 3600 };

#define SERVICE_ADDRESS "chess@club.example"
#define DEMO_BEGIN "2026-06-01T09:00:00Z"

typedef struct DemoStep {
    int who;
    int hours;         /* later than the step before */
    const char *note;  /* for the reader of the demo, or NULL */
    const char *words; /* what he writes */
} DemoStep;

static const DemoStep steps[] = {
    { ANNA, 5, NULL, "1. e4\n\nHello Boris, good luck to you!\n" },
    { BORIS, 26, NULL, "e5\n\nThank you, Anna. Regards from the coast.\n" },
    { ANNA, 9, NULL, "Nf3\n" },
    { BORIS, 30, NULL, "Nc6\n" },
    { ANNA, 12, NULL, "3. Bc4\n" },
    { BORIS, 7, "Two knights can go to e7: the service asks.", "Ne7\n" },
    { BORIS, 2, NULL, "Nd4\n" },
    { ANNA, 20, "A capture.", "Nxe5\n" },
    { BORIS, 11, NULL, "4... Qg5\n" },
    { ANNA, 49, NULL, "Nxf7\n" },
    { BORIS, 8, NULL, "Qxg2\n" },
    { ANNA, 31, NULL, "6. Rf1\n" },
    { BORIS, 5, "A check.", "Qxe4+\n" },
    { ANNA, 16, "An illegal move: the king would still be in check.", "7. d3\n" },
    { ANNA, 1, NULL, "Be2\n" },
    { BORIS, 13, "Mate.", "Nf3#\n\nThank you for the game!\n" },
};
enum { STEP_COUNT = sizeof steps / sizeof steps[0] };

typedef struct Demo {
    const VerbCall *call;
    char folder[PATH_MAX], mailbox[PATH_MAX + 16], config[PATH_MAX + 16];
    Open open;
    Instant now;
    DemoPlayer players[2];
    int64_t game;
} Demo;

static int shown; /* letters of the service so far */

static Instant demo_now(void *data) {
    return ((const Demo *)data)->now;
}

static void demo_random(void *data, void *ret_bytes, size_t length) {
    World real = world_real(INSTANT_NONE);
    (void)data;
    world_random(&real, ret_bytes, length);
}

static int read_by_zygote(void *data, Arena *arena, const char *raw, size_t size, MimeResult *ret_result, Error *error) {
    return mime_reader_read(data, arena, raw, size, ret_result, error);
}

/* ---- the folder ---- */

static int make_folder(Demo *demo, const char *wanted, Error *error) {
    const char *temporary = getenv("TMPDIR");
    char made[PATH_MAX];
    if (wanted != NULL) {
        if (mkdir(wanted, 0700) != 0)
            return error_set(error, ERROR_INPUT, errno, "%s: %s; the demo wants a folder that is not there yet", wanted, strerror(errno));
        text_copy(made, sizeof made, wanted);
    } else {
        snprintf(made, sizeof made, "%s/epistle-demo-XXXXXX", temporary == NULL || *temporary == 0 ? "/tmp" : temporary);
        if (mkdtemp(made) == NULL)
            return error_set(error, ERROR_LATER, errno, "%s: %s", made, strerror(errno));
    }
    if (realpath(made, demo->folder) == NULL)
        return error_set(error, ERROR_LATER, errno, "%s: %s", made, strerror(errno));
    snprintf(demo->mailbox, sizeof demo->mailbox, "%s/mailbox", demo->folder);
    snprintf(demo->config, sizeof demo->config, "%s/epistle.conf", demo->folder);
    return 0;
}

static int write_config(const Demo *demo, Error *error) {
    FILE *file = fopen(demo->config, "w");
    if (file == NULL)
        return error_set(error, ERROR_LATER, errno, "%s: %s", demo->config, strerror(errno));
    fprintf(file,
            "[service]\nname = Anytown Chess by Mail\naddress = " SERVICE_ADDRESS "\nstore = %s/epistle.db\nlanguage = en\ntimezone = Europe/Vienna\n"
            "arbiter = td@club.example\n\n[mailbox]\nurl = maildir://%s\n\n[outgoing]\nurl = maildir://%s/players/%%s\n\n[play]\ntime = 10/50d\n",
            demo->folder, demo->mailbox, demo->folder);
    if (fclose(file) != 0)
        return error_set(error, ERROR_LATER, errno, "%s: %s", demo->config, strerror(errno));
    return 0;
}

static int make_maildirs(const Demo *demo, Error *error) {
    char players[PATH_MAX + 16];
    snprintf(players, sizeof players, "%s/players/%%s", demo->folder);
    return maildir_make(demo->mailbox, error) < 0 ? -1 : sender_maildir_make(players, error);
}

static int open_all(Demo *demo, Error *error) {
    Open *open = &demo->open;
    VerbCall call = *demo->call;
    call.config = demo->config;
    if (open_config(open, &call) != STATUS_DONE)
        return error_set(error, ERROR_INPUT, 0, "the demo's own configuration is refused");
    open->world = (World){ .data = demo, .now = demo_now, .random = demo_random };
    open->store = store_open(open->config->store, open->config->key_file, STORE_SERVICE, true, demo_random, NULL, NULL, error);
    if (open->store == NULL)
        return -1;
    open->templates = templates_open(open->config->templates, error);
    if (open->templates == NULL || open_mail(open, error) < 0)
        return -1;
    open->service = (Service){ .config = open->config, .store = open->store, .templates = open->templates, .world = &open->world,
                               .read_mime = read_by_zygote, .mime_data = demo->call->mime };
    return 0;
}

/* ---- the game ---- */

static int add_player(Demo *demo, int which, const char *name, const char *address, const char *zone, int64_t *ret_id, Error *error) {
    DemoPlayer *player = &demo->players[which];
    player->name = name;
    player->address = address;
    if (snprintf(player->folder, sizeof player->folder, "%s/players/%s", demo->folder, address) >= (int)sizeof player->folder)
        return error_set(error, ERROR_INPUT, 0, "the folder's name is too long");
    return player_add(demo->open.store, name, address, "en", zone, demo->now, ret_id, error) == 1 ? 0 : -1;
}

static int begin_game(Demo *demo, Error *error) {
    int64_t anna = 0, boris = 0;
    if (store_begin(demo->open.store, error) < 0)
        return -1;
    if (add_player(demo, ANNA, "Anna Berg", "anna@berg.example", "Europe/Vienna", &anna, error) < 0 ||
        add_player(demo, BORIS, "Boris Klein", "boris@klein.example", "Europe/Lisbon", &boris, error) < 0 ||
        service_start_game(&demo->open.service, anna, boris, NULL, NULL, INSTANT_NONE, 0, &demo->game, error) < 0 ||
        store_commit(demo->open.store, error) < 0) {
        store_rollback(demo->open.store);
        return -1;
    }
    return 0;
}

static void show_letter(const DemoPlayer *player, const DemoLetter *letter) {
    print_line(stdout, "════ Letter %d, as %s sees it ════", ++shown, player->name);
    print_line(stdout, "From:    %s", letter->from);
    print_line(stdout, "To:      %s", letter->to);
    print_line(stdout, "Subject: %s", letter->subject);
    print_line(stdout, "Date:    %s", letter->date);
    putchar('\n');
    print_text(stdout, letter->text);
    putchar('\n');
}

/* One cycle of the service, then both read their letters: first the one who wrote. */
static int one_cycle(Demo *demo, int first, Error *error) {
    CycleReport report;
    demo->open.service.fixed = demo->now;
    if (service_cycle(&demo->open.service, &report, error) < 0)
        return -1;
    for (int i = 0; i < 2; i++)
        if (demo_receive(&demo->players[i == 0 ? first : !first], demo->call->mime, &demo->open.store->key, show_letter, error) < 0)
            return -1;
    return 0;
}

static int play_step(Demo *demo, const DemoStep *step, Error *error) {
    char date[INSTANT_TEXT_SIZE];
    DemoPlayer *player = &demo->players[step->who];
    demo->now += (Instant)step->hours * HOUR;
    instant_write_mail(demo->now, date);
    print_line(stdout, "──── %s answers, %s ────", player->name, date);
    if (step->note != NULL)
        print_line(stdout, "(%s)", step->note);
    print_text(stdout, step->words);
    putchar('\n');
    if (demo_answer(player, demo->mailbox, step->words, demo->now, error) < 0)
        return -1;
    demo->now += 60; /* the service looks into its mailbox a minute later */
    return one_cycle(demo, step->who, error);
}

static int play_demo(Demo *demo, Error *error) {
    GameRow row;
    instant_read(DEMO_BEGIN, &demo->now);
    if (write_config(demo, error) < 0 || make_maildirs(demo, error) < 0 || open_all(demo, error) < 0 || begin_game(demo, error) < 0)
        return -1;
    print_line(stdout, "A short game by letters in %s: the service's mailbox is mailbox/, the players' are in players/.", demo->folder);
    putchar('\n');
    if (one_cycle(demo, ANNA, error) < 0)
        return -1;
    for (size_t i = 0; i < STEP_COUNT; i++)
        if (play_step(demo, &steps[i], error) < 0)
            return -1;
    if (game_row(demo->open.store, demo->game, &row, error) != 1)
        return -1;
    if (strcmp(row.result, "0-1") != 0)
        return error_set(error, ERROR_INPUT, 0, "the game did not end as it should have: %s", row.result);
    print_line(stdout, "The game is over, %s. %d letters were sent. Everything lies in %s:", row.result, shown, demo->folder);
    print_line(stdout, "  mailbox/            what the players wrote        players/*/cur/     what they got");
    print_line(stdout, "  epistle -c %s game show %lld --pgn", demo->config, (long long)demo->game);
    print_line(stdout, "  epistle -c %s letters", demo->config);
    return 0;
}

int verb_demo(const VerbCall *call) {
    const char *words[1];
    const VerbOption options[] = { { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "demo [DIR]",
                        "A short game between two Maildirs with a capture, a check, an illegal and an ambiguous move, and mate; prints every\n"
                        "letter as the player sees it. The files stay in DIR, which must not exist yet, or in a new temporary folder.\n",
                        options, words, 0, 1, &count, &status))
        return status;
    Error error;
    error_clear(&error);
    Demo *demo = calloc(1, sizeof *demo);
    if (demo == NULL)
        return verb_wrong("no memory");
    demo->call = call;
    if (make_folder(demo, count == 1 ? words[0] : NULL, &error) < 0 || play_demo(demo, &error) < 0)
        status = verb_fail(&error);
    open_close(&demo->open);
    free(demo);
    return status;
}
