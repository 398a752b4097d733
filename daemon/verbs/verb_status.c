/* status and verify: how the service is doing, and whether its store is whole. */
#include "daemon/log.h"
#include "daemon/store/games.h"
#include "daemon/store/letters_in.h"
#include "daemon/store/listing.h"
#include "daemon/store/outages.h"
#include "daemon/store/verify.h"
#include "daemon/verbs/open.h"
#include "daemon/verbs/verbs.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { RAW_MAX = 64 * 1024 * 1024, RAW_BATCH = 256, SET_ASIDE_DAYS = 30, OUTAGES_MAX = 8 };

/* ---- status ---- */

static int add_count(void *data, const CountLine *line) {
    json_object_set_new(data, line->state, json_integer(line->count));
    return 0;
}

static int add_trouble(void *data, const TroubleLine *line) {
    json_array_append_new(data, json_pack("{s:s, s:I, s:o}", "kind", line->kind, "id", (json_int_t)line->id, "text", json_text(line->text)));
    return 0;
}

static json_t *outages_json(Store *store, Error *error) {
    OutageRow rows[OUTAGES_MAX];
    int count = outages_lasting(store, rows, OUTAGES_MAX, error);
    json_t *outages = count < 0 ? NULL : json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(outages, json_pack("{s:s, s:o, s:o, s:i, s:b, s:o}", "subject", rows[i].subject, "since", json_instant(rows[i].began), "next_try",
                                                 json_instant(rows[i].next_try), "tries", rows[i].tries, "told", rows[i].told, "why",
                                                 json_text(rows[i].why)));
    return outages;
}

/* NULL on failure. */
static json_t *status_json(Store *store, Instant now, Error *error) {
    Figures figures = { 0 };
    SetAside set_aside = { 0 };
    Instant since = now - (Instant)SET_ASIDE_DAYS * SECONDS_PER_DAY;
    json_t *letters = json_object(), *queue = json_object(), *troubles = json_array(), *outages = NULL;
    if (listing_begin(store, error) < 0 || (outages = outages_json(store, error)) == NULL || listing_figures(store, &figures, error) < 0 ||
        listing_letter_states(store, add_count, letters, error) < 0 || listing_queue_states(store, add_count, queue, error) < 0 ||
        listing_set_aside(store, since, &set_aside, error) < 0 || listing_troubles(store, since, add_trouble, troubles, error) < 0) {
        json_decref(letters);
        json_decref(queue);
        json_decref(troubles);
        json_decref(outages);
        return NULL;
    }
    return json_pack("{s:I, s:{s:I, s:I}, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:o}", "players",
                     (json_int_t)figures.players, "games", "running", (json_int_t)figures.running, "over",
                     (json_int_t)figures.over, "letters_in", letters, "unfiled", (json_int_t)figures.unfiled,
                     "letters_out", queue, "next_due", json_instant(figures.due), "next_due_game", json_number(figures.due_game), "next_timer",
                     json_instant(figures.next_timer), "next_sending", json_instant(figures.next_sending), "mailbox_read",
                     json_instant(figures.mailbox_read), "outages", outages, "unreadable", (json_int_t)figures.unreadable, "set_aside",
                     (json_int_t)set_aside.recent, "set_aside_ever", (json_int_t)set_aside.ever, "troubles", troubles);
}

static void print_states(const char *what, json_t *states) {
    const char *state = NULL;
    json_t *count = NULL;
    Str line;
    str_init(&line, 2000);
    json_object_foreach(states, state, count)
        str_printf(&line, "%s%lld %s", line.length == 0 ? "" : ", ", (long long)json_integer_value(count), state);
    print_line(stdout, "%s %s", what, line.length == 0 ? "none" : line.data);
    str_free(&line);
}

static const char *member(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "-" : text;
}

static void print_outage(const json_t *outage) {
    static const struct { const char *subject, *heading, *state; } words[] = {
        { "mailbox", "mailbox       ", "cannot be read" },
        { "relay", "sending       ", "fails" },
        { "disk", "disk          ", "takes no letters" },
        { "folder", "folder        ", "cannot be used" },
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].subject, member(outage, "subject")) == 0)
            print_line(stdout, "%s%s since %s, tried %lld times, next at %s: %s", words[i].heading, words[i].state, member(outage, "since"),
                       (long long)json_integer_value(json_object_get(outage, "tries")), member(outage, "next_try"), member(outage, "why"));
}

static void print_status(const json_t *status) {
    const json_t *games = json_object_get(status, "games"), *troubles = json_object_get(status, "troubles");
    print_line(stdout, "players       %lld", (long long)json_integer_value(json_object_get(status, "players")));
    print_line(stdout, "games         %lld running, %lld over", (long long)json_integer_value(json_object_get(games, "running")),
               (long long)json_integer_value(json_object_get(games, "over")));
    print_states("letters in   ", json_object_get(status, "letters_in"));
    print_states("letters out  ", json_object_get(status, "letters_out"));
    print_line(stdout, "next due      %s", member(status, "next_due"));
    print_line(stdout, "next sending  %s", member(status, "next_sending"));
    print_line(stdout, "mailbox read  %s", member(status, "mailbox_read"));
    for (size_t i = 0; i < json_array_size(json_object_get(status, "outages")); i++)
        print_outage(json_array_get(json_object_get(status, "outages"), i));
    if (json_integer_value(json_object_get(status, "unreadable")) > 0)
        print_line(stdout, "unreadable    %lld in the mailbox that cannot be opened: see who owns these files and their mode",
                   (long long)json_integer_value(json_object_get(status, "unreadable")));
    if (json_integer_value(json_object_get(status, "set_aside_ever")) > 0)
        print_line(stdout, "set aside     %lld in the last %d days, %lld in all: `epistle letters --failed` shows them, `epistle letter ID` one",
                   (long long)json_integer_value(json_object_get(status, "set_aside")), SET_ASIDE_DAYS,
                   (long long)json_integer_value(json_object_get(status, "set_aside_ever")));
    for (size_t i = 0; i < json_array_size(troubles); i++) {
        const json_t *trouble = json_array_get(troubles, i);
        const char *kind = member(trouble, "kind");
        bool in = strcmp(kind, "set aside") == 0 || strcmp(kind, "tried") == 0;
        print_line(stdout, "trouble       %s, %s %lld: %s", kind, in ? "letter" : strcmp(kind, "address") == 0 ? "player" : "outgoing letter",
                   (long long)json_integer_value(json_object_get(trouble, "id")), member(trouble, "text"));
    }
}

int verb_status(const VerbCall *call) {
    bool as_json = false;
    const VerbOption options[] = { { "json", NULL, &as_json }, { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "status [--json]",
                        "Players, games, letters by state, the next deadline, when the mailbox was last read to its end, outages, and what wants your eye.\n",
                        options, NULL, 0, 0, &count, &status))
        return status;
    Open open = { 0 };
    Error error;
    error_clear(&error);
    status = open_store(&open, call, STORE_READ);
    if (status == STATUS_DONE) {
        json_t *figures = status_json(open.store, world_now(&open.world), &error);
        store_rollback(open.store);
        if (figures == NULL) {
            status = verb_fail(&error);
        } else if (as_json) {
            print_json(figures);
        } else {
            print_status(figures);
            json_decref(figures);
        }
    }
    open_close(&open);
    return status;
}

/* ---- verify ---- */

static void complain(void *data, const char *sentence) {
    (void)data;
    log_line(sentence);
}

/* Every raw letter must open under the key. The number that do not, or -1. */
static int64_t verify_raw(Store *store, Error *error) {
    int64_t ids[RAW_BATCH], after = 0, faults = 0;
    Str raw;
    int count = 0;
    str_init(&raw, RAW_MAX);
    while ((count = listing_raw(store, after, ids, RAW_BATCH, error)) > 0) {
        for (int i = 0; i < count; i++) {
            Error fault;
            error_clear(&fault);
            if (letter_in_raw(store, ids[i], &raw, &fault) < 0) {
                complain(NULL, fault.text);
                faults++;
            }
        }
        after = ids[count - 1];
    }
    str_free(&raw);
    return count < 0 ? -1 : faults;
}

static int verify_store(Store *store) {
    Error error;
    error_clear(&error);
    int64_t games = 0, entries = 0;
    int file = -1, records = -1, letters = -1;
    int64_t raw = -1;
    if (listing_begin(store, &error) == 0 && (file = store_check_file(store, complain, NULL, &error)) >= 0 &&
        (records = games_verify(store, complain, NULL, &games, &entries, &error)) >= 0 &&
        (letters = verify_letters(store, complain, NULL, &error)) >= 0)
        raw = verify_raw(store, &error);
    store_rollback(store);
    if (raw < 0)
        return verb_fail(&error);
    print_line(stdout, "games %lld, entries %lld, faults %lld", (long long)games, (long long)entries, (long long)raw + file + records + letters);
    return file + records + letters + raw == 0 ? STATUS_DONE : STATUS_WRONG;
}

/* Where a store's key lies if nobody says: as in the configuration's default. */
static bool key_beside(const char *store, char ret_path[PATH_MAX]) {
    size_t length = strlen(store);
    if (length > 3 && strcmp(store + length - 3, ".db") == 0)
        length -= 3;
    int written = snprintf(ret_path, PATH_MAX, "%.*s.key", (int)length, store);
    return written > 0 && written < PATH_MAX;
}

static int open_file(Open *open, const VerbCall *call, const char *file, Error *error) {
    char beside[PATH_MAX];
    const char *key = beside;
    if (call->config != NULL) {
        int status = open_config(open, call);
        if (status != STATUS_DONE)
            return status;
        key = open->config->key_file;
    } else if (!key_beside(file, beside)) {
        return verb_wrong("the path is too long");
    }
    open->world = world_real(INSTANT_NONE);
    open->store = store_open(file, key, STORE_READ, false, open->world.random, open->world.data, NULL, error);
    if (open->store != NULL)
        return STATUS_DONE;
    if (strstr(error->text, file) == NULL)
        error_prefix(error, "%s", file);
    return verb_fail(error);
}

int verb_verify(const VerbCall *call) {
    const char *words[1];
    const VerbOption options[] = { { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "verify [FILE]",
                        "Replays every game's record and compares what is derived from it, opens every stored letter, checks the file.\n"
                        "Any damage is told line by line and makes the exit status 1. FILE is a store in place of the configured one,\n"
                        "read with the key file of -c, or else the one beside it.\n",
                        options, words, 0, 1, &count, &status))
        return status;
    Open open = { 0 };
    Error error;
    error_clear(&error);
    status = count == 1 ? open_file(&open, call, words[0], &error) : open_store(&open, call, STORE_READ);
    if (status == STATUS_DONE)
        status = verify_store(open.store);
    open_close(&open);
    return status;
}
