/* letters, letter, outbox: what came and what was decided, what goes out. */
#include "daemon/inbox/header.h"
#include "daemon/log.h"
#include "daemon/store/letters_in.h"
#include "daemon/store/listing.h"
#include "daemon/verbs/open.h"
#include "daemon/verbs/verbs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LETTERS_SHOWN = 1000, RAW_MAX = 64 * 1024 * 1024, HEADER_ARENA_MAX = 8 * 1024 * 1024 };

static const char *date_of(Instant instant, char text[INSTANT_TEXT_SIZE]) {
    if (instant == INSTANT_NONE)
        return "-";
    instant_write(instant, text);
    return text;
}

/* ---- letters ---- */

static json_t *letter_json(const LetterLine *line) {
    return json_pack("{s:I, s:o, s:s, s:b, s:s, s:s, s:o, s:o, s:s, s:o, s:o}", "id", (json_int_t)line->id, "arrival", json_instant(line->arrival),
                     "state", line->state, "filed", (int)line->filed, "kind", line->kind, "proof", line->proof, "player",
                     json_number(line->player), "game", json_number(line->game), "outcome", line->outcome, "name",
                     line->name[0] == 0 ? json_null() : json_text(line->name), "why", json_text(line->why));
}

static int add_letter(void *data, const LetterLine *line) {
    json_array_append_new(data, letter_json(line));
    return 0;
}

static int print_letter(void *data, const LetterLine *line) {
    (void)data;
    char arrival[INSTANT_TEXT_SIZE];
    print_line(stdout, "%lld  %s  %s  %s%s%s%s%s", (long long)line->id, date_of(line->arrival, arrival),
               line->name[0] != 0 ? line->name : line->kind[0] != 0 ? line->kind : "?", line->state,
               line->outcome[0] == 0 ? "" : ", ", line->outcome, line->why[0] == 0 ? "" : ": ", line->why);
    return 0;
}

int verb_letters(const VerbCall *call) {
    bool failed = false, as_json = false;
    const VerbOption options[] = { { "failed", NULL, &failed }, { "json", NULL, &as_json }, { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "letters [--failed] [--json]",
                        "The letters that came, newest first, a thousand at most.\n"
                        "  --failed   only those that were set aside or could not be settled yet\n",
                        options, NULL, 0, 0, &count, &status))
        return status;
    Open open = { 0 };
    Error error;
    error_clear(&error);
    status = open_store(&open, call, STORE_READ);
    if (status == STATUS_DONE) {
        json_t *all = json_array();
        if (listing_letters(open.store, failed, LETTERS_SHOWN, as_json ? add_letter : print_letter, all, &error) < 0)
            status = verb_fail(&error);
        else if (as_json)
            print_json(json_incref(all));
        json_decref(all);
    }
    open_close(&open);
    return status;
}

/* ---- letter ---- */

/* `detail` is the outcome's object as the answer's template got it. */
static int add_outcome(void *data, const OutcomeLine *line) {
    json_t *detail = json_loads(line->detail, 0, NULL);
    json_array_append_new(data, json_pack("{s:i, s:s, s:s, s:o}", "number", line->number, "verb", line->verb, "outcome", line->outcome, "detail",
                                          detail != NULL ? detail : json_text(line->detail)));
    return 0;
}

static const char *text_member(const json_t *object, const char *name) {
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

static int print_outcome(void *data, const OutcomeLine *line) {
    (void)data;
    json_t *detail = json_loads(line->detail, 0, NULL);
    const char *code = text_member(detail, "code"), *as_read = text_member(detail, "line"), *san = text_member(detail, "san");
    print_line(stdout, "  %d. %s: %s%s%s%s%s%s%s", line->number, line->verb, line->outcome, strcmp(code, line->outcome) == 0 || code[0] == 0 ? "" : ", ",
               strcmp(code, line->outcome) == 0 ? "" : code, san[0] == 0 ? "" : ", ", san, as_read[0] == 0 ? "" : ", line: ", as_read);
    json_decref(detail);
    return 0;
}

static json_t *out_json(const OutLine *line) {
    return json_pack("{s:I, s:o, s:o, s:s, s:o, s:s, s:o, s:o, s:o, s:i, s:i, s:o}", "id", (json_int_t)line->id, "name",
                     line->name[0] == 0 ? json_null() : json_text(line->name), "address", json_text(line->address), "kind", line->kind, "game",
                     json_number(line->game), "state", line->state, "queued", json_instant(line->queued), "due", json_instant(line->due), "tried",
                     json_instant(line->tried), "attempts", line->attempts, "unknowns", line->unknowns, "words", json_text(line->words));
}

static int add_out(void *data, const OutLine *line) {
    json_array_append_new(data, out_json(line));
    return 0;
}

static int print_out(void *data, const OutLine *line) {
    (void)data;
    char due[INSTANT_TEXT_SIZE];
    bool waits = strcmp(line->state, "queued") == 0 || strcmp(line->state, "trying") == 0 || strcmp(line->state, "refused") == 0;
    print_line(stdout, "%lld  %s to %s  %s%s%s%s%s", (long long)line->id, line->kind, line->address, line->state, waits ? ", due " : "",
               waits ? date_of(line->due, due) : "", line->words[0] == 0 ? "" : ": ", line->words);
    return 0;
}

static const char *first_field(Arena *arena, const Header *header, const char *name) {
    const char *value = header_field(header, name, 0);
    return value == NULL ? "" : header_decode(arena, value);
}

static void print_what_came(const LetterIn *letter, const char *from, const char *subject) {
    char arrival[INSTANT_TEXT_SIZE], stored[INSTANT_TEXT_SIZE];
    print_line(stdout, "letter %lld: %s", (long long)letter->id, letter->state);
    print_line(stdout, "arrival  %s, stored %s", date_of(letter->arrival, arrival), date_of(letter->stored, stored));
    print_line(stdout, "mailbox  %s  %s%s", letter->mailbox, letter->name, letter->filed ? ", filed" : "");
    print_line(stdout, "from     %s", from);
    print_line(stdout, "subject  %s", subject);
    print_line(stdout, "kind     %s", letter->kind[0] == 0 ? "-" : letter->kind);
    print_line(stdout, "proof    %s", letter->proof[0] == 0 ? "-" : letter->proof);
    if (letter->player != 0)
        print_line(stdout, "player   %lld", (long long)letter->player);
    if (letter->game != 0)
        print_line(stdout, "game     %lld", (long long)letter->game);
    if (letter->same_as != 0)
        print_line(stdout, "the same letter as %lld", (long long)letter->same_as);
    print_line(stdout, "tries    %d", letter->tries);
    print_line(stdout, "outcome  %s%s%s", letter->outcome[0] == 0 ? "-" : letter->outcome, letter->why[0] == 0 ? "" : ": ", letter->why);
}

static int show_letter_json(Store *store, const LetterIn *letter, const char *from, const char *subject, Error *error) {
    json_t *outcomes = json_array(), *answers = json_array();
    json_t *value = json_pack("{s:I, s:s, s:o, s:o, s:o, s:o, s:b, s:i, s:o, s:o, s:s, s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:o}", "id",
                              (json_int_t)letter->id, "state", letter->state, "arrival", json_instant(letter->arrival), "stored",
                              json_instant(letter->stored), "mailbox", json_text(letter->mailbox), "name", json_text(letter->name), "filed",
                              (int)letter->filed, "tries", letter->tries, "from", json_text(from), "subject", json_text(subject), "kind",
                              letter->kind, "proof", letter->proof, "player", json_number(letter->player), "game", json_number(letter->game),
                              "same_as", json_number(letter->same_as), "outcome", letter->outcome, "why", json_text(letter->why), "outcomes",
                              outcomes, "letters_out", answers);
    if (listing_outcomes(store, letter->id, add_outcome, outcomes, error) < 0 || listing_outbox(store, letter->id, add_out, answers, error) < 0) {
        json_decref(value);
        return -1;
    }
    print_json(value);
    return 0;
}

static int show_letter_text(Store *store, const LetterIn *letter, const char *from, const char *subject, Error *error) {
    print_what_came(letter, from, subject);
    if (listing_outcomes(store, letter->id, print_outcome, NULL, error) < 0)
        return -1;
    print_line(stdout, "letters out that follow from it:");
    return listing_outbox(store, letter->id, print_out, NULL, error);
}

static int show_letter(Store *store, int64_t id, bool raw_wanted, bool as_json, Error *error) {
    LetterIn letter;
    Str raw;
    Arena arena;
    Header header = { 0 };
    int found = letter_in_get(store, id, &letter, error);
    if (found <= 0)
        return found;
    str_init(&raw, RAW_MAX);
    arena_init(&arena, HEADER_ARENA_MAX);
    found = letter_in_raw(store, id, &raw, error);
    if (found >= 0 && raw_wanted) {
        if (found == 1 && isatty(STDOUT_FILENO))
            print_text(stdout, raw.data);
        else if (found == 1)
            fwrite(raw.data, 1, raw.length, stdout);
        else
            found = error_set(error, ERROR_INPUT, 0, "the bytes of letter %lld are no longer kept", (long long)id);
    } else if (found >= 0) {
        const char *from = "", *subject = "";
        if (found == 1 && header_scan(&arena, raw.data, raw.length, &header)) {
            from = first_field(&arena, &header, "From");
            subject = first_field(&arena, &header, "Subject");
        }
        found = as_json ? show_letter_json(store, &letter, from, subject, error) : show_letter_text(store, &letter, from, subject, error);
    }
    arena_free(&arena);
    str_free(&raw);
    return found < 0 ? -1 : 1;
}

int verb_letter(const VerbCall *call) {
    const char *words[1];
    bool raw = false, as_json = false;
    const VerbOption options[] = { { "raw", NULL, &raw }, { "json", NULL, &as_json }, { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, "letter ID [--raw] [--json]",
                        "One letter that came: what was decided, why, and what was sent because of it.\n"
                        "  --raw   the stored bytes instead, exactly as they came (on a terminal without controls)\n",
                        options, words, 1, 1, &count, &status))
        return status;
    Open open = { 0 };
    Error error;
    int64_t id = 0;
    error_clear(&error);
    if (!verb_number(words[0], &id))
        return verb_wrong("%s is no letter's number: `epistle letters` shows them", words[0]);
    status = open_store(&open, call, STORE_READ);
    if (status == STATUS_DONE) {
        int found = show_letter(open.store, id, raw, as_json, &error);
        if (found < 0)
            status = verb_fail(&error);
        else if (found == 0)
            status = verb_wrong("there is no letter %lld: `epistle letters` names them", (long long)id);
    }
    open_close(&open);
    return status;
}

/* ---- outbox ---- */

static int change_outbox(const VerbCall *call, OutboxAct act, const char *id_text) {
    Open open = { 0 };
    Error error;
    int64_t id = 0;
    error_clear(&error);
    if (!verb_number(id_text, &id))
        return verb_wrong("%s is no letter's number: `epistle outbox` shows them", id_text);
    int status = open_store(&open, call, STORE_VERB);
    if (status == STATUS_DONE) {
        int done = store_begin(open.store, &error) < 0 ? -1 : outbox_act(open.store, id, act, world_now(&open.world), &error);
        if (done == 1 && store_commit(open.store, &error) < 0)
            done = -1;
        store_rollback(open.store);
        if (done < 0)
            status = verb_fail(&error);
        else if (done == 0)
            status = verb_wrong("there is no letter %lld in the outbox for which this can be done: `epistle outbox` shows states", (long long)id);
    }
    open_close(&open);
    return status;
}

int verb_outbox(const VerbCall *call) {
    static const struct { const char *name; OutboxAct act; } acts[] = {
        { "hold", OUTBOX_HOLD }, { "release", OUTBOX_RELEASE }, { "retry", OUTBOX_RETRY }, { "drop", OUTBOX_DROP },
    };
    static const char usage[] = "outbox [hold ID | release ID | retry ID | drop ID] [--json]";
    const char *words[2];
    bool as_json = false;
    const VerbOption options[] = { { "json", NULL, &as_json }, { 0 } };
    int count = 0, status = STATUS_DONE;
    if (!verb_arguments(call, usage,
                        "The letters that have not been accepted yet, oldest first.\n"
                        "  hold ID      keeps it back        release ID  lets it go\n"
                        "  retry ID     tries it at the next `once`, refused and given up ones too\n"
                        "  drop ID      it is never sent\n",
                        options, words, 0, 2, &count, &status))
        return status;
    for (size_t i = 0; count == 2 && i < sizeof acts / sizeof acts[0]; i++)
        if (strcmp(acts[i].name, words[0]) == 0)
            return change_outbox(call, acts[i].act, words[1]);
    if (count > 0) {
        print_line(stderr, "epistle: usage: epistle %s", usage);
        return STATUS_USAGE;
    }
    Open open = { 0 };
    Error error;
    error_clear(&error);
    status = open_store(&open, call, STORE_READ);
    if (status == STATUS_DONE) {
        json_t *all = json_array();
        if (listing_outbox(open.store, 0, as_json ? add_out : print_out, all, &error) < 0)
            status = verb_fail(&error);
        else if (as_json)
            print_json(json_incref(all));
        json_decref(all);
    }
    open_close(&open);
    return status;
}
