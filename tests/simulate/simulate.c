/* simulate: ten players, five days, one seed (DESIGN decision 5, RULINGS 52).
 *
 *     simulate SEED               one seed, with its story on standard error
 *     simulate --seeds A-B        all of them; the last line is "N passed, M failed"
 *
 * The service runs as a row of lives, each a forked process over the same store and the same outside; many die at a random
 * step: an operation of the store's files or a call of the world, by a crash or a loss of power. A life is one cycle, as of `once`, or
 * some hours of serve's own loop, in which the clock goes on wherever it would wait. The same seed is the same story. Each seed
 * ends with some quiet days without faults; then everything must be as if nothing had ever failed. */
#include "daemon/config.h"
#include "daemon/inbox/mime.h"
#include "daemon/outbox/template.h"
#include "daemon/serve.h"
#include "daemon/service/outage.h"
#include "daemon/service/service.h"
#include "daemon/service/starting.h"
#include "daemon/store/games.h"
#include "daemon/store/players.h"
#include "daemon/store/store.h"
#include "tests/simulate/outside.h"
#include "tests/simulate/people.h"
#include "tests/simulate/prng.h"
#include "tests/simulate/vfs_power.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    DAYS = 5,
    QUIET_DAYS = 6, /* a letter refused or thrice unknown on the last day is tried daily */
    LIFE_SECONDS = 60, /* a life longer than this hangs */
    DEATHS_IN_ROW_MAX = 2,
    STEPS_GUESS = 400, /* of a first life, to choose its death in */
    SERVED_HOURS_MAX = 6, /* by one life */
    PATH_LENGTH = 300,
};

typedef struct Seed {
    uint64_t number;
    char folder[PATH_LENGTH], store[PATH_LENGTH + 32], key[PATH_LENGTH + 32];
    Config *config;
    const Templates *templates;
    Outside *outside;
    People people;
    int lives, crashes, losses, deaths_in_row, served;
    bool serves;  /* the present life does */
    int complaints;
    bool tell;
} Seed;

static __attribute__((format(printf, 2, 3))) void complain(Seed *seed, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (seed->complaints++ < 10) {
        printf("  seed %llu: ", (unsigned long long)seed->number);
        vprintf(format, arguments);
        putchar('\n');
    }
    va_end(arguments);
}

/* --- one life --- */

static int read_mime(void *data, Arena *arena, const char *raw, size_t size, MimeResult *ret_result, Error *error) {
    (void)data, (void)error;
    mime_read(arena, raw, size, ret_result);
    return 0;
}

static int power_step(void *data, PowerOperation operation, const char *path, uint64_t number) {
    return outside_power_step(data, (int)operation, path, number);
}

static void log_line(const char *line) {
    fprintf(stderr, "    %s\n", line);
}

static Store *life_store(Seed *seed, bool create, World *world, Error *error) {
    return store_open(seed->store, seed->key, STORE_SERVICE, create, world->random, world->data, "power", error);
}

/* The first life enters players and games; it does not die. */
static void setup(Seed *seed, Service *service) {
    Error error = {0};
    People *people = &seed->people;
    int64_t ids[PEOPLE];
    bool well = store_begin(service->store, &error) == 0;
    for (int p = 0; well && p < PEOPLE; p++)
        well = player_add(service->store, people->names[p], people->addresses[p], "en", "Europe/Vienna", seed->outside->now, &ids[p], &error) == 1;
    for (int g = 0; well && g < GAMES; g++) {
        SimulatedGame *game = &people->games[g];
        well = service_start_game(service, ids[game->players[WHITE]], ids[game->players[BLACK]], g % 2 ? "3d/move" : "10/50d", NULL, INSTANT_NONE, 0,
                                  &game->id, &error) == 0;
        if (well && game->id != g + 1) {
            fprintf(stderr, "simulate: game %d got the number %lld\n", g + 1, (long long)game->id);
            _exit(STATUS_SAID_ERROR);
        }
    }
    if (!well || store_commit(service->store, &error) < 0) {
        fprintf(stderr, "simulate: set-up: %s\n", error.text);
        _exit(STATUS_SAID_ERROR);
    }
}

static int once(Seed *seed, Service *service, Error *error) {
    CycleReport report = {0};
    int result = service_cycle(service, &report, error);
    if (seed->tell)
        fprintf(stderr, "    fetched %d settled %d aside %d filed %d sent %d refused %d deferred %d unknown %d\n", report.fetched, report.settled,
                report.set_aside, report.filed, report.sent, report.refused, report.deferred, report.unknown);
    return result;
}

static void reload(void *data) {
    (void)data;
}

static int serve(Service *service, Error *error) {
    service->alive = serve_alive;
    service->stopping = serve_stopping;
    int signals = serve_signals(error);
    return signals < 0 ? -1 : serve_run(service, signals, reload, NULL, error);
}

static _Noreturn void life(Seed *seed, bool first) {
    Error error = {0};
    alarm(LIFE_SECONDS);
    power_register("power");
    power_hook(power_step, seed->outside);
    World world = outside_world(seed->outside);
    Store *store = life_store(seed, first, &world, &error);
    if (!store && error.grade == ERROR_LATER && seed->outside->now < seed->outside->disk_back)
        power_crash(STATUS_WELL); /* nothing can be begun on a full disk */
    if (!store) {
        fprintf(stderr, "simulate: seed %llu: the store: %s\n", (unsigned long long)seed->number, error.text);
        power_crash(STATUS_SAID_ERROR);
    }
    Service service = {.config = seed->config, .store = store, .templates = seed->templates, .world = &world, .fixed = INSTANT_NONE,
                       .read_mime = read_mime, .log = seed->tell ? log_line : NULL};
    if (outage_load(&service, &error) < 0) {
        fprintf(stderr, "simulate: seed %llu: outages: %s\n", (unsigned long long)seed->number, error.text);
        power_crash(STATUS_SAID_ERROR);
    }
    if (first)
        setup(seed, &service);
    int status = STATUS_WELL;
    if ((seed->serves ? serve(&service, &error) : once(seed, &service, &error)) < 0) {
        if (seed->tell || error.grade == ERROR_DAMAGED)
            fprintf(stderr, "    %s: %s\n", seed->serves ? "serve" : "cycle", error.text);
        status = error.grade == ERROR_DAMAGED ? STATUS_SAID_ERROR : STATUS_WELL; /* the others mend by themselves, or the end will show */
    }
    outage_unload(&service);
    store_close(store);
    world.source->operations->close(world.source);
    if (world.sender)
        world.sender->operations->close(world.sender);
    power_crash(status);
}

static void live(Seed *seed, bool first, bool may_die) {
    Outside *outside = seed->outside;
    uint64_t steps = outside->steps ? outside->steps : STEPS_GUESS;
    outside->die_at = 0;
    outside->die_seed = prng_next(&outside->random);
    outside->service_random = prng_next(&outside->random);
    /* three unclean ends with the same letter in hand set it aside, rightly (RULINGS 44): not more than two in a row here */
    if (may_die && seed->deaths_in_row < DEATHS_IN_ROW_MAX && prng_below(&outside->random, 3) == 0) {
        outside->die_at = 1 + prng_below(&outside->random, steps + steps / 4);
        outside->die_by_loss = prng_below(&outside->random, 2);
    }
    outside->steps = 0;
    outside->asked_to_end = false;
    seed->serves = !first && prng_below(&outside->random, 2);
    outside->end_at = seed->serves ? outside->now + (Instant)prng_below(&outside->random, SERVED_HOURS_MAX * 3600) : INSTANT_NONE;
    outside->signal_at = seed->serves && prng_below(&outside->random, 4) == 0 ? prng_below(&outside->random, steps) : 0;
    outside->signal = prng_below(&outside->random, 2) ? SIGTERM : SIGHUP;
    seed->served += seed->serves;
    fflush(stdout);
    pid_t pid = fork();
    if (!pid)
        life(seed, first);
    int status = 0;
    waitpid(pid, &status, 0);
    seed->lives++;
    int ended = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (seed->tell) {
        char now[INSTANT_TEXT_SIZE];
        instant_write(outside->now, now);
        fprintf(stderr, "%s life %d%s: %s after %llu steps\n", now, seed->lives, seed->serves ? " of serve" : "",
                ended == STATUS_POWER_LOSS ? "power lost" : ended == STATUS_CRASHED ? "crashed" : ended == STATUS_WELL ? "done" : "ERROR",
                (unsigned long long)outside->steps);
    }
    seed->losses += ended == STATUS_POWER_LOSS;
    seed->crashes += ended == STATUS_CRASHED;
    /* A life that ended well without a disk to write to has settled nothing: the letter in hand before it is the same after it. */
    if (ended != STATUS_WELL)
        seed->deaths_in_row++;
    else if (outside->now >= outside->disk_back)
        seed->deaths_in_row = 0;
    if (ended != STATUS_WELL && ended != STATUS_POWER_LOSS && ended != STATUS_CRASHED)
        complain(seed, "life %d ended with %s %d", seed->lives, WIFSIGNALED(status) ? "signal" : "status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : ended);
}

/* --- the end: invariants --- */

static int64_t ask(Seed *seed, Store *store, const char *sql, const char *text) {
    sqlite3_stmt *statement;
    int64_t answer = -1;
    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) != SQLITE_OK) {
        complain(seed, "%s: %s", sql, sqlite3_errmsg(store->db));
        return -1;
    }
    if (text)
        sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
    if (sqlite3_step(statement) == SQLITE_ROW)
        answer = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return answer;
}

typedef struct Rows { /* of the store, about one letter: under each of its names at most one */
    int64_t all, settled, first; /* first: not known as the copy of another */
} Rows;

static void rows_add(Seed *seed, Store *store, const Naming *naming, Rows *rows) {
    char mailbox[MAILBOX_SIZE], name[NAME_SIZE];
    sqlite3_stmt *statement;
    naming_write(seed->outside, naming, mailbox, name);
    if (sqlite3_prepare_v2(store->db, "SELECT count(*), total(state IN ('settled', 'awaiting') AND (same_as IS NOT NULL OR outcome <> '' OR"
                           " EXISTS (SELECT 1 FROM outcome WHERE letter = letter_in.id))), total(same_as IS NULL)"
                           " FROM letter_in WHERE mailbox = ?1 AND name = ?2", -1, &statement, NULL) != SQLITE_OK) {
        complain(seed, "rows of a letter: %s", sqlite3_errmsg(store->db));
        return;
    }
    sqlite3_bind_text(statement, 1, mailbox, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 2, name, -1, SQLITE_STATIC);
    if (sqlite3_step(statement) == SQLITE_ROW) {
        rows->all += sqlite3_column_int64(statement, 0);
        rows->settled += sqlite3_column_int64(statement, 1);
        rows->first += sqlite3_column_int64(statement, 2);
    }
    sqlite3_finalize(statement);
}

/* Every letter sent was settled under one of its names at least, and was filed; whatever was settled has its outcomes or is known as the copy of
 * one that has; and of a letter, its copies and its names, one alone is no copy. */
static void check_letters_in(Seed *seed, Store *store) {
    Outside *outside = seed->outside;
    Rows *rows = calloc(outside->arrival_count + 1, sizeof *rows);
    if (!rows)
        abort();
    for (size_t i = 0; i < outside->naming_count; i++)
        rows_add(seed, store, &outside->namings[i], &rows[outside->namings[i].arrival]);
    for (size_t i = 0; i < outside->arrival_count; i++) {
        const Arrival *arrival = &outside->arrivals[i];
        if (rows[i].all == 0)
            complain(seed, "letter %s was never taken in", arrival->message_id);
        if (rows[i].settled != rows[i].all)
            complain(seed, "letter %s was taken in under %lld names and settled under %lld", arrival->message_id, (long long)rows[i].all,
                     (long long)rows[i].settled);
        if (!arrival->filed)
            complain(seed, "letter %s was not filed", arrival->message_id);
        if (arrival->copy_of >= 0)
            rows[arrival->copy_of].first += rows[i].first;
    }
    for (size_t i = 0; i < outside->arrival_count; i++)
        if (outside->arrivals[i].copy_of < 0 && rows[i].first != 1)
            complain(seed, "letter %s was taken for %lld letters", outside->arrivals[i].message_id, (long long)rows[i].first);
    free(rows);
    if (ask(seed, store, "SELECT count(*) FROM letter_in WHERE filed = 0", NULL) != 0)
        complain(seed, "some letters are not noted as filed");
    if (ask(seed, store, "SELECT count(*) FROM letter_in WHERE outcome = 'set aside'", NULL) != 0)
        complain(seed, "a good letter was set aside");
}

/* Each outage has ended, was told once if it was long enough, and is one for all that failed in a row. */
static void check_outages(Seed *seed, Store *store) {
    const Outside *outside = seed->outside;
    if (ask(seed, store, "SELECT count(*) FROM outage WHERE ended IS NULL", NULL) != 0)
        complain(seed, "an outage has not ended");
    if (ask(seed, store, "SELECT count(*) FROM outage WHERE told <> (ended - began >= 900)", NULL) != 0)
        complain(seed, "an outage was told and was short, or was long and not told");
    if (ask(seed, store, "SELECT count(*) FROM outage WHERE told <> (SELECT count(*) FROM letter_out WHERE kind = 'outage' AND ask = outage.id)", NULL) != 0)
        complain(seed, "an outage was not told just once");
    int64_t mailbox = ask(seed, store, "SELECT count(*) FROM outage WHERE subject = 'mailbox'", NULL);
    int64_t relay = ask(seed, store, "SELECT count(*) FROM outage WHERE subject = 'relay'", NULL);
    int64_t disk = ask(seed, store, "SELECT count(*) FROM outage WHERE subject = 'disk'", NULL);
    if (mailbox > outside->mailbox_failures)
        complain(seed, "%lld outages of the mailbox are noted, there were %u", (long long)mailbox, outside->mailbox_failures);
    if (relay > outside->relay_failures)
        complain(seed, "%lld outages of the relay are noted, there were %u", (long long)relay, outside->relay_failures);
    if (disk > outside->disk_outages)
        complain(seed, "%lld outages of the disk are noted, there were %u", (long long)disk, outside->disk_outages);
}

/* Each letter of a known player was answered; a repeated sending is the same letter, with the same bytes after an unknown end. */
static void check_answers(Seed *seed) {
    Outside *outside = seed->outside;
    char (*replies)[MESSAGE_ID_SIZE + 2] = calloc(outside->sending_count + 1, sizeof *replies); /* whom each answers, without <> */
    if (!replies)
        abort();
    for (size_t s = 0; s < outside->sending_count; s++) {
        const char *raw = outside->pool + outside->sendings[s].offset;
        letter_field(raw, raw + outside->sendings[s].length, "In-Reply-To", replies[s], sizeof replies[s]);
        if (replies[s][0] == '<') {
            size_t length = strcspn(replies[s] + 1, ">");
            memmove(replies[s], replies[s] + 1, length);
            replies[s][length] = 0;
        }
    }
    for (size_t a = 0; a < outside->arrival_count; a++) {
        const Arrival *arrival = &outside->arrivals[a];
        if (arrival->copy_of >= 0 || arrival->forged)
            continue;
        int copies = 1, different = 0;
        for (size_t b = 0; b < outside->arrival_count; b++)
            copies += outside->arrivals[b].copy_of == (int)a;
        const char *ids[16] = {0};
        for (size_t s = 0; s < outside->sending_count; s++) {
            const Sending *sending = &outside->sendings[s];
            if (sending->visible == INSTANT_NONE || strcmp(replies[s], arrival->message_id))
                continue;
            bool known = false;
            for (int i = 0; i < different; i++)
                known = known || !strcmp(ids[i], sending->id);
            if (!known && different < 16)
                ids[different++] = sending->id;
        }
        if (different == 0)
            complain(seed, "letter %s got no answer", arrival->message_id);
        if (different > copies)
            complain(seed, "letter %s, delivered %d times, got %d different answers", arrival->message_id, copies, different);
    }
    for (size_t s = 0; s < outside->sending_count; s++) {
        const Sending *sending = &outside->sendings[s];
        if (sending->heard && sending->reported != SEND_UNKNOWN)
            continue;
        for (size_t t = s + 1; t < outside->sending_count; t++) {
            const Sending *again = &outside->sendings[t];
            if (strcmp(again->id, sending->id))
                continue;
            if (again->length != sending->length || memcmp(outside->pool + again->offset, outside->pool + sending->offset, again->length))
                complain(seed, "letter out %s was sent again with other bytes after an unknown end", sending->id);
            break;
        }
    }
    int64_t accepted = 0;
    for (size_t s = 0; s < outside->sending_count; s++)
        for (size_t t = s + 1; t < outside->sending_count; t++)
            accepted += outside->sendings[s].heard && outside->sendings[s].reported == SEND_ACCEPTED &&
                        !strcmp(outside->sendings[s].id, outside->sendings[t].id) && seed->losses == 0 && seed->crashes == 0;
    if (accepted)
        complain(seed, "%lld letters were sent again though they were accepted", (long long)accepted);
    free(replies);
}

/* No move lost, none doubled, and both players know what the store knows. */
static void check_games(Seed *seed, Store *store) {
    for (int g = 0; g < GAMES; g++) {
        const SimulatedGame *simulated = &seed->people.games[g];
        Error error = {0};
        Game *game = NULL;
        if (game_load(store, simulated->id, &game, &error) != 1) {
            complain(seed, "game %lld does not replay: %s", (long long)simulated->id, error.text);
            continue;
        }
        int sent = 0;
        while (sent < PLIES_SEEN_MAX && simulated->sent[sent][0])
            sent++;
        if (game->ply_count != sent)
            complain(seed, "game %lld has %d plies, its players sent %d", (long long)simulated->id, game->ply_count, sent);
        for (int i = 0; i < game->ply_count && i < sent; i++)
            if (strcmp(game->plies[i].san, simulated->sent[i]))
                complain(seed, "game %lld ply %d is %s, sent was %s", (long long)simulated->id, i + 1, game->plies[i].san, simulated->sent[i]);
        bool resigned = simulated->sides[WHITE].resigned || simulated->sides[BLACK].resigned;
        if (resigned && !game_over(game))
            complain(seed, "game %lld goes on though a player resigned", (long long)simulated->id);
        bool agreed = simulated->sides[WHITE].agreed || simulated->sides[BLACK].agreed;
        if (agreed != (game->reason == REASON_AGREEMENT) && !resigned)
            complain(seed, "game %lld: a draw was %s", (long long)simulated->id, agreed ? "accepted and not given" : "given and not accepted");
        if (game->reason == REASON_RESIGNATION && !resigned)
            complain(seed, "game %lld was resigned by nobody", (long long)simulated->id);
        for (int c = 0; c < 2; c++) {
            const Side *side = &simulated->sides[c];
            if (side->seen != game->ply_count || side->over != game_over(game))
                complain(seed, "%s knows %d plies of game %lld (over: %d), the store has %d (over: %d)",
                         seed->people.names[simulated->players[c]], side->seen, (long long)simulated->id, side->over, game->ply_count, game_over(game));
        }
        game_free(game);
    }
}

/* Whoever registered is a player once; his invitation was one, and came to one game or none. */
static void check_newcomers(Seed *seed, Store *store) {
    for (int n = 0; n < NEWCOMERS; n++) {
        const char *name = seed->people.names[PEOPLE + n];
        int step = (int)seed->people.newcomers[n].step;
        if (step < NEW_DECLINED)
            complain(seed, "%s has come no further than step %d", name, step);
        else if (ask(seed, store, "SELECT count(*) FROM player JOIN address ON player = id WHERE name = ?", name) != 1)
            complain(seed, "%s is not a player just once", name);
        else if (ask(seed, store, "SELECT count(*) FROM challenge JOIN player ON challenger = player.id WHERE name = ?", name) != 1)
            complain(seed, "%s has not invited just once", name);
        else if (ask(seed, store, "SELECT count(*) FROM game JOIN player ON white = player.id OR black = player.id WHERE name = ?", name) !=
                 (step == NEW_ACCEPTED))
            complain(seed, "%s has not the games that were agreed upon", name);
    }
}

/* RULINGS 29: a clock starts when the notice was accepted, and never before. */
static void check_notices(Seed *seed, Store *store) {
    int64_t early = ask(seed, store, "SELECT count(*) FROM entry WHERE kind = 'notice' AND NOT EXISTS (SELECT 1 FROM letter_out WHERE"
                        " instr(line, ' letter=' || id || ' ') AND instr(line, ' at=' || strftime('%Y-%m-%dT%H:%M:%SZ', accepted, 'unixepoch') || ' '))", NULL);
    if (early)
        complain(seed, "%lld notices stand in the records with another time than that of their acceptance", (long long)early);
}

static void verify_complaint(void *data, const char *sentence) {
    complain(data, "verify: %s", sentence);
}

static void check(Seed *seed) {
    Error error = {0};
    if (seed->people.complaint[0])
        complain(seed, "%s", seed->people.complaint);
    Store *store = store_open(seed->store, seed->key, STORE_READ, false, NULL, NULL, NULL, &error);
    if (!store) {
        complain(seed, "the store at the end: %s", error.text);
        return;
    }
    if (ask(seed, store, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'", NULL) != 1)
        complain(seed, "the store's file is damaged");
    int64_t games, entries;
    if (games_verify(store, verify_complaint, seed, &games, &entries, &error) < 0)
        complain(seed, "verify: %s", error.text);
    check_letters_in(seed, store);
    check_outages(seed, store);
    check_answers(seed);
    check_games(seed, store);
    check_newcomers(seed, store);
    check_notices(seed, store);
    if (ask(seed, store, "SELECT count(*) FROM letter_out WHERE state NOT IN ('accepted', 'overtaken')", NULL) != 0)
        complain(seed, "letters are left in the queue");
    if (seed->tell)
        fprintf(stderr, "%zu letters in, %zu sendings, %lld entries\n", seed->outside->arrival_count, seed->outside->sending_count, (long long)entries);
    store_close(store);
}

/* --- one seed --- */

static bool configure(Seed *seed) {
    char path[PATH_LENGTH + 32];
    snprintf(path, sizeof path, "%s/epistle.conf", seed->folder);
    FILE *file = fopen(path, "we");
    if (!file)
        return false;
    fprintf(file, "[service]\nname = Anytown Chess\naddress = chess@club.example\nstore = %s\nkey_file = %s\nlanguage = en\ntimezone = UTC\n"
            "arbiter = td@club.example\n[mailbox]\nurl = maildir://%s/inbox\npoll = 600\n[outgoing]\nurl = maildir://%s/out\n[play]\ntime = 10/50d\n"
            "[limits]\nplayer_per_day = 1000\nunproven_per_day = 1000\nfree_space_mb = 0\n", seed->store, seed->key, seed->folder, seed->folder);
    fclose(file);
    Str errors;
    str_init(&errors, 4096);
    seed->config = config_read(path, &errors);
    if (!seed->config)
        fprintf(stderr, "simulate: %s\n", errors.data);
    str_free(&errors);
    return seed->config != NULL;
}

static void folder_remove(Seed *seed) {
    static const char *const names[] = {"db", "db-wal", "db-shm", "db-journal", "db.lock", "key", "epistle.conf"};
    char path[PATH_LENGTH + 32];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", seed->folder, names[i]);
        unlink(path);
    }
    if (rmdir(seed->folder))
        fprintf(stderr, "simulate: %s is not empty\n", seed->folder);
}

static void story(Seed *seed) {
    Outside *outside = seed->outside;
    CivilTime start = {.year = 2026, .month = 11, .day = 2, .hour = 9};
    outside_begin(outside, seed->number, civil_instant(&start));
    people_begin(&seed->people, outside);
    for (int g = 0; g < GAMES; g++)
        seed->people.games[g].id = g + 1; /* the first life demands it */
    live(seed, true, false);
    Instant end = outside->now + DAYS * SECONDS_PER_DAY;
    while (outside->now < end && !seed->complaints) {
        outside->now += 600 + (Instant)prng_below(&outside->random, 4 * 3600);
        people_read(&seed->people);
        people_write(&seed->people);
        outside_weather(outside);
        live(seed, false, true);
    }
    outside_calm(outside);
    for (int half = 0; half < QUIET_DAYS * 2 && !seed->complaints; half++) {
        outside->now += SECONDS_PER_DAY / 2;
        live(seed, false, false);
        people_read(&seed->people);
    }
    outside->now += SECONDS_PER_DAY;
    people_read(&seed->people);
    if (!seed->complaints)
        check(seed);
    people_end(&seed->people);
}

static bool run_seed(uint64_t number, Outside *outside, const Templates *templates, bool tell) {
    Seed seed = {.number = number, .outside = outside, .templates = templates, .tell = tell};
    const char *temporary = getenv("TMPDIR");
    snprintf(seed.folder, sizeof seed.folder, "%.200s/epistle-simulate.XXXXXX", temporary ? temporary : "/tmp");
    if (!mkdtemp(seed.folder)) {
        perror("simulate: mkdtemp");
        return false;
    }
    snprintf(seed.store, sizeof seed.store, "%s/db", seed.folder);
    snprintf(seed.key, sizeof seed.key, "%s/key", seed.folder);
    if (!configure(&seed))
        seed.complaints++;
    else
        story(&seed);
    config_free(seed.config);
    printf("seed %llu: %s, %d lives (%d of serve), %d crashes, %d losses of power, outages %u+%u+%u, %u changes of names, %zu letters in, %zu sendings\n",
           (unsigned long long)number, seed.complaints ? "FAILED" : "ok", seed.lives, seed.served, seed.crashes, seed.losses, outside->mailbox_outages,
           outside->relay_outages, outside->disk_outages, outside->validities, outside->arrival_count, outside->sending_count);
    if (!seed.complaints || !tell)
        folder_remove(&seed);
    else
        printf("  kept: %s\n", seed.folder);
    return !seed.complaints;
}

int main(int count, char **words) {
    uint64_t from = 0, to = 0;
    char *end = NULL;
    bool many = count == 3 && !strcmp(words[1], "--seeds");
    if (many) {
        from = strtoull(words[2], &end, 10);
        to = *end == '-' ? strtoull(end + 1, &end, 10) : from;
    } else if (count == 2) {
        from = to = strtoull(words[1], &end, 10);
    }
    if (!end || *end || to < from) {
        fprintf(stderr, "usage: simulate SEED | simulate --seeds A-B\n");
        return 2;
    }
    Error error = {0};
    const char *folder = getenv("EPISTLE_TEMPLATES");
    Templates *templates = templates_open(folder ? folder : "templates", &error);
    Outside *outside = outside_new();
    if (!templates || !outside) {
        fprintf(stderr, "simulate: %s\n", templates ? "no memory" : error.text);
        return 1;
    }
    sqlite3_initialize(); /* once, not in every life */
    int passed = 0, failed = 0;
    for (uint64_t seed = from; seed <= to; seed++)
        *(run_seed(seed, outside, templates, !many) ? &passed : &failed) += 1;
    templates_close(templates);
    printf("%d passed, %d failed\n", passed, failed);
    return failed ? 1 : 0;
}
