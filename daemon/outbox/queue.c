/* The queue: states O1–O8 of letters out (DESIGN, RULINGS 36, 37). */
#include "daemon/outbox/compose.h"
#include "daemon/outbox/view.h"
#include "daemon/service/outage.h"
#include "daemon/service/service.h"
#include "daemon/service/undelivered.h"
#include "daemon/service/views.h"
#include "daemon/store/games.h"
#include "daemon/store/letters_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LETTER_BYTES_MAX = 4 * 1024 * 1024,
    BATCH_ARENA_MAX = 512 * 1024 * 1024,
    UNKNOWNS_MAX = 3,             /* then daily, and the operator is told */
    UNKNOWN_RETRY_SECONDS = 600,  /* before that: the same bytes again after ten minutes */
    GIVE_UP_SECONDS = 5 * SECONDS_PER_DAY,
    GIVE_UP_ATTEMPTS = 9,  /* of its own, before the last: time in which no letter could go at all is held against none */
    GIVE_UP_REFUSALS = 4,
};

/* Waits after a failed attempt: from a minute to a day. */
static const int back_off[] = { 60, 300, 900, 3600, 4 * 3600, 8 * 3600, SECONDS_PER_DAY };

typedef struct Outgoing { /* one letter of a batch */
    LetterOut letter;
    const char *from; /* the envelope sender */
    bool skip;        /* it is not sent after all */
    Mailing *mailing; /* else: on its way */
} Outgoing;

typedef struct QueueBatch {
    Arena arena;
    int count;
    Outgoing outgoing[BATCH_SIZE];
    size_t mailing_count;
    Mailing mailings[BATCH_SIZE];
} QueueBatch;

/* ---- rendering ---- */

static size_t split_references(Arena *arena, const char *text, const char **ret_ids, size_t most) {
    size_t count = 0;
    while (*text != 0 && count < most) {
        const char *end = strchr(text, ' ');
        size_t length = end == NULL ? strlen(text) : (size_t)(end - text);
        if (length > 0)
            ret_ids[count++] = arena_copy(arena, text, length);
        text += length + (end != NULL);
    }
    return count;
}

/* chess@club.example → chess+TOKEN@club.example, or chess+b.TOKEN@… */
static const char *tagged_address(Arena *arena, const char *address, const char *prefix, const char *token) {
    const char *at = strrchr(address, '@');
    return arena_printf(arena, "%.*s+%s%s%s", (int)(at - address), address, prefix, token, at);
}

static int compose(Service *service, Arena *arena, const LetterOut *letter, json_t *view, const RenderedLetter *rendered, Str *out, Error *error) {
    const Config *config = service->config;
    char token[TOKEN_SIZE], pgn_name[40];
    letter_out_token(service->store, letter, token);
    snprintf(pgn_name, sizeof pgn_name, "game-%lld.pgn", (long long)letter->game);
    const char *references[4];
    const char *name = json_string_value(json_object_get(json_object_get(view, "player"), "name"));
    RenderedLetter tagged = *rendered;
    if (!config->reply_tag_plus)
        tagged.subject = arena_printf(arena, "%s [%s]", rendered->subject, token);
    ComposeHeader header = {
        .from_name = config->name,
        .from_address = config->address,
        .to_name = name == NULL ? "" : name,
        .to_address = letter->address,
        .reply_to = config->reply_tag_plus ? tagged_address(arena, config->address, "", token) : NULL,
        .message_id = letter->message_id,
        .in_reply_to = letter->in_reply_to,
        .references = references,
        .reference_count = split_references(arena, letter->references, references, 4),
        .auto_submitted = letter->cause != 0 && letter->in_reply_to != NULL && !letter->notice ? "auto-replied" : "auto-generated",
        .loop_value = config->address,
        .date = world_now(service->world),
        .pgn_name = pgn_name,
    };
    return compose_letter(&header, &tagged, out, error);
}

static int render(Service *service, Arena *arena, LetterOut *letter, Error *error) {
    json_t *view = json_loads(letter->view, 0, NULL);
    RenderedLetter rendered = { .subject = NULL };
    Str out;
    str_init(&out, LETTER_BYTES_MAX);
    int result = view == NULL ? error_set(error, ERROR_DAMAGED, 0, "the data of letter %lld are damaged", (long long)letter->id) : 0;
    if (result == 0)
        result = view_renew_deadline(service, view, letter->game, letter->epoch, letter->ply, world_now(service->world), error);
    if (result == 0)
        result = view_render(service->templates, view, &rendered, error);
    if (result == 0)
        result = compose(service, arena, letter, view, &rendered, &out, error);
    if (result == 0) {
        letter->length = out.length;
        letter->bytes = arena_copy(arena, out.data, out.length);
        if (letter->bytes == NULL)
            result = error_set(error, ERROR_LATER, 0, "no memory for a letter");
    }
    rendered_letter_free(&rendered);
    json_decref(view);
    str_free(&out);
    return result;
}

/* O8: a notice whose ply is gone before it left, and which carries nobody's words. */
static int is_overtaken(Service *service, const LetterOut *letter, bool *ret_overtaken, Error *error) {
    *ret_overtaken = false;
    if (!letter->notice || letter->game == 0 || strcmp(letter->state, "queued") != 0 || strcmp(letter->kind, "answer") == 0 ||
        strstr(letter->view, "\"remark\":") != NULL)
        return 0;
    GameRow row;
    int found = game_row(service->store, letter->game, &row, error);
    if (found == 1)
        *ret_overtaken = row.epoch != letter->epoch || row.ply > letter->ply;
    return found < 0 ? -1 : 0;
}

/* ---- the two commits ---- */

static const char *envelope_sender(Service *service, Arena *arena, const LetterOut *letter) {
    char token[TOKEN_SIZE];
    if (letter->null_sender)
        return "";
    if (!service->config->reply_tag_plus)
        return service->config->address;
    letter_out_token(service->store, letter, token);
    return tagged_address(arena, service->config->address, "b.", token);
}

static int note_attempt(Service *service, Arena *arena, int64_t id, Outgoing *outgoing, CycleReport *report, Error *error) {
    LetterOut *letter = &outgoing->letter;
    Instant now = world_now(service->world);
    int found = letter_out_get(service->store, arena, id, letter, error);
    if (found <= 0)
        return found < 0 ? -1 : error_set(error, ERROR_DAMAGED, 0, "letter %lld has gone from the queue", (long long)id);
    bool waits = strcmp(letter->state, "queued") == 0 || strcmp(letter->state, "trying") == 0 || strcmp(letter->state, "refused") == 0;
    if (!waits) { /* the operator was quicker */
        outgoing->skip = true;
        return 0;
    }
    bool overtaken = false;
    if (is_overtaken(service, letter, &overtaken, error) < 0)
        return -1;
    if (overtaken) {
        outgoing->skip = true;
        return letter_out_note_result(service->store, id, "overtaken", now, INSTANT_NONE, false, false, "its move was made before it left", error);
    }
    bool unclear = strcmp(letter->state, "trying") == 0; /* the attempt before ended unknown, or we died in it */
    if (unclear) {
        letter->unknowns++;
        report->unknown++;
        /* Died in the attempt itself, no result was noted: perhaps of this very letter. At the third time it waits for a day. */
        bool put_off = letter->due <= letter->tried && letter->unknowns >= UNKNOWNS_MAX && now < letter->tried + SECONDS_PER_DAY;
        Instant due = put_off ? letter->tried + SECONDS_PER_DAY : letter->due;
        if (letter_out_note_result(service->store, id, "trying", due, INSTANT_NONE, true, true, letter->words, error) < 0)
            return -1;
        if (put_off) {
            outgoing->skip = true;
            if (service->log != NULL)
                service->log("the service died three times while it sent a letter; it is tried daily: see `epistle outbox`");
            return 0;
        }
    }
    Error fault;
    error_clear(&fault);
    if (letter->bytes == NULL && render(service, arena, letter, &fault) < 0) {
        if (fault.grade == ERROR_LATER)
            return error_set(error, fault.grade, fault.code, "%s", fault.text);
        /* A letter that cannot be made must not stop the queue: the operator sees it and why. */
        outgoing->skip = true;
        if (service->log != NULL)
            service->log(fault.text);
        return letter_out_note_result(service->store, id, "held", now, INSTANT_NONE, false, false, fault.text, error);
    }
    outgoing->from = envelope_sender(service, arena, letter);
    if (outgoing->from == NULL)
        return error_set(error, ERROR_LATER, 0, "no memory for a letter");
    return letter_out_note_attempt(service->store, id, now, letter->bytes, letter->length, error);
}

static int start_notice(Service *service, const LetterOut *letter, Instant accepted, Error *error) {
    if (!letter->notice || letter->game == 0)
        return 0;
    Game *game = NULL;
    if (game_load(service->store, letter->game, &game, error) < 0)
        return -1;
    if (game == NULL)
        return 0;
    Entry entry;
    Colour to = game->white == letter->player ? WHITE : BLACK;
    int result = game_plan_notice(game, to, letter->epoch, letter->ply, accepted, letter->id, &entry, error);
    if (result == 1)
        result = game_append(service->store, letter->game, game, &entry, 1, error);
    game_free(game);
    return result;
}

static Instant next_try(const LetterOut *letter, Instant now) {
    int count = (int)(sizeof back_off / sizeof back_off[0]);
    int step = letter->attempts < count ? letter->attempts : count - 1;
    return now + back_off[step];
}

static int give_up(Service *service, const LetterOut *letter, const SendReport *report, Instant now, Error *error) {
    if (letter_out_note_result(service->store, letter->id, "given up", now, INSTANT_NONE, letter->unknowns > 0, false, report->words, error) < 0)
        return -1;
    return undelivered_tell(service, letter, report->words, true, error);
}

/* O4: the address is marked, opponent and arbiter are told, and the letter is tried again daily; strangers get no second attempt.
 * The arbiter is no player, but no stranger either: what he is told is no answer, so nothing brakes it. */
static int note_refused(Service *service, const LetterOut *letter, const SendReport *report, Instant now, Error *error) {
    if (letter->player != 0 && address_trouble(service->store, letter->player, letter->address, report->words, error) < 0)
        return -1;
    bool stranger = letter->player == 0 && letter->brake[0] != 0;
    if (stranger || (now - letter->queued > GIVE_UP_SECONDS && letter->attempts >= GIVE_UP_REFUSALS))
        return give_up(service, letter, report, now, error);
    /* Bytes of an earlier unclear attempt stay what they are (RULINGS 36). */
    if (letter_out_note_result(service->store, letter->id, "refused", now + SECONDS_PER_DAY, INSTANT_NONE, letter->unknowns > 0, false, report->words,
                               error) < 0)
        return -1;
    return undelivered_tell(service, letter, report->words, false, error);
}

/* A relay that takes no letter at all: nothing is held against this one. It stays due; when it is tried again is for the relay's outage to say. */
static int note_relay_fault(Service *service, const LetterOut *letter, const SendReport *report, Instant now, Error *error) {
    if (letter_out_take_back_attempt(service->store, letter->id, error) < 0)
        return -1;
    return letter_out_note_result(service->store, letter->id, "queued", now, INSTANT_NONE, letter->unknowns > 0, false, report->words, error);
}

static int note_later(Service *service, const LetterOut *letter, const SendReport *report, Instant now, Error *error) {
    if (report->relay || report->unbegun)
        return note_relay_fault(service, letter, report, now, error);
    if (now - letter->queued > GIVE_UP_SECONDS && letter->attempts >= GIVE_UP_ATTEMPTS)
        return give_up(service, letter, report, now, error);
    /* Surely not delivered this time; bytes of an earlier unclear attempt stay what they are. */
    return letter_out_note_result(service->store, letter->id, "queued", next_try(letter, now), INSTANT_NONE, letter->unknowns > 0, false, report->words,
                                  error);
}

static int note_unknown(Service *service, const LetterOut *letter, const SendReport *report, Instant now, Error *error) {
    bool often = letter->unknowns + 1 >= UNKNOWNS_MAX;
    if (often && service->log != NULL)
        service->log("a letter's delivery was unknown three times: see `epistle outbox`");
    return letter_out_note_result(service->store, letter->id, "trying", now + (often ? SECONDS_PER_DAY : UNKNOWN_RETRY_SECONDS), INSTANT_NONE, true,
                                  false, report->words, error);
}

static int note_accepted(Service *service, const LetterOut *letter, const SendReport *report, Instant now, Error *error) {
    if (letter->player != 0 && address_trouble(service->store, letter->player, letter->address, NULL, error) < 0)
        return -1;
    if (letter_out_note_result(service->store, letter->id, "accepted", now, report->at, false, false, report->words, error) < 0)
        return -1;
    return start_notice(service, letter, report->at, error);
}

/* While it was on its way the mailbox was read, and the operator may have acted: its answer, a report on it, or `outbox` may have told more than the relay
 * does. 1: its state stands, and only when it was accepted is noted. */
static int told_meanwhile(Service *service, const LetterOut *letter, const SendReport *report, Error *error) {
    bool taken = report->result == SEND_ACCEPTED || report->result == SEND_UNKNOWN;
    int found = letter_out_is(service->store, letter->id, "trying", error);
    if (found == 0 && taken) /* `outbox retry` wants it tried again */
        found = letter_out_is(service->store, letter->id, "queued", error);
    if (found != 0)
        return found < 0 ? -1 : 0;
    if (report->result != SEND_ACCEPTED)
        return 1;
    if (letter_out_note_accepted(service->store, letter->id, report->at, error) < 0)
        return -1;
    int delayed = letter_out_is(service->store, letter->id, "delayed", error);
    if (delayed < 0 || (delayed == 1 && start_notice(service, letter, report->at, error) < 0))
        return -1;
    return 1;
}

static int note_result(Service *service, const Outgoing *outgoing, CycleReport *cycle, Error *error) {
    const LetterOut *letter = &outgoing->letter;
    const SendReport *report = &outgoing->mailing->report;
    Instant now = world_now(service->world);
    int told = told_meanwhile(service, letter, report, error);
    if (told != 0)
        return told < 0 ? -1 : 0;
    switch (report->result) {
    case SEND_ACCEPTED:
        cycle->sent++;
        return note_accepted(service, letter, report, now, error);
    case SEND_REFUSED:
        cycle->refused++;
        return note_refused(service, letter, report, now, error);
    case SEND_UNKNOWN:
        cycle->unknown++;
        return note_unknown(service, letter, report, now, error);
    case SEND_LATER:
        break;
    }
    cycle->deferred++;
    return note_later(service, letter, report, now, error);
}

/* ---- a batch ---- */

/* Commit 1: what is tried, and its bytes. */
static int note_attempts(Service *service, QueueBatch *batch, const int64_t *ids, CycleReport *report, Error *error) {
    int result = service_begin(service, error);
    for (int i = 0; i < batch->count && result == 0; i++)
        result = note_attempt(service, &batch->arena, ids[i], &batch->outgoing[i], report, error);
    if (result == 0)
        result = service_commit(service, error);
    if (result < 0)
        store_rollback(service->store);
    return result;
}

static void hand_over(QueueBatch *batch) {
    for (int i = 0; i < batch->count; i++) {
        Outgoing *outgoing = &batch->outgoing[i];
        const LetterOut *letter = &outgoing->letter;
        if (outgoing->skip)
            continue;
        Mailing *mailing = outgoing->mailing = &batch->mailings[batch->mailing_count++];
        *mailing = (Mailing){ .envelope = { outgoing->from, letter->address, letter->message_id },
                              .bytes = letter->bytes, .length = letter->length };
    }
}

/* Commit 2. A fault of the relay is told to the operator as one of its outages, and stops the queue. */
static int note_results(Service *service, QueueBatch *batch, CycleReport *report, bool *ret_noted, Error *error) {
    const char *fault = NULL;
    bool well = false;
    CycleReport before = *report;
    int result = service_begin(service, error);
    for (int i = 0; i < batch->count && result == 0; i++) {
        const Outgoing *outgoing = &batch->outgoing[i];
        if (outgoing->skip)
            continue;
        const SendReport *sent = &outgoing->mailing->report;
        well = well || sent->result == SEND_ACCEPTED || sent->result == SEND_REFUSED;
        if (sent->relay && (fault == NULL || !sent->unbegun))
            fault = sent->words;
        result = note_result(service, outgoing, report, error);
    }
    if (result == 0)
        result = service_commit(service, error);
    if (result < 0) {
        store_rollback(service->store);
        *report = before;
        return -1;
    }
    *ret_noted = true;
    if (fault != NULL) {
        outage_failed(service, OUTAGE_RELAY, fault);
        return error_set(error, ERROR_MAILBOX, 0, "letters cannot be sent now: %s", fault);
    }
    if (well)
        outage_over(service, OUTAGE_RELAY);
    return 0;
}

static void batch_free(QueueBatch *batch) {
    if (batch == NULL)
        return;
    arena_free(&batch->arena);
    free(batch);
}

void queue_drop(Service *service) {
    batch_free(service->batch_);
    service->batch_ = NULL;
}

int queue_begin(Service *service, CycleReport *report, Error *error) {
    int64_t ids[BATCH_SIZE];
    if (service->world->sender == NULL || service->batch_ != NULL)
        return 0;
    /* After an unknown end one by one, so that a letter that kills us takes no other with it. */
    int unclear = letters_out_unclear(service->store, world_now(service->world), error);
    if (unclear < 0)
        return -1;
    int count = letters_out_due(service->store, world_now(service->world), ids, unclear ? 1 : BATCH_SIZE, error);
    if (count <= 0)
        return count;
    QueueBatch *batch = calloc(1, sizeof *batch);
    if (batch == NULL)
        return error_set(error, ERROR_LATER, 0, "no memory for the letters that go out");
    arena_init(&batch->arena, BATCH_ARENA_MAX);
    batch->count = count;
    if (note_attempts(service, batch, ids, report, error) < 0) {
        batch_free(batch);
        return -1;
    }
    hand_over(batch);
    service->batch_ = batch;
    service->world->sender->operations->begin(service->world->sender, batch->mailings, batch->mailing_count, service->world->now, service->world->data);
    return count;
}

int queue_step(Service *service, struct pollfd *extra, size_t extra_count, int milliseconds, CycleReport *report, Error *error) {
    MailSender *sender = service->world->sender;
    QueueBatch *batch = service->batch_;
    bool idle = batch == NULL || batch->mailing_count == 0; /* the sender has nothing to wait for */
    size_t left = sender == NULL ? 0 : sender->operations->work(sender, extra, extra_count, batch != NULL && idle ? 0 : milliseconds);
    if (batch == NULL || left > 0)
        return (int)left;
    Error fault;
    error_clear(&fault);
    bool noted = false;
    int result = note_results(service, batch, report, &noted, &fault);
    if (noted || fault.grade != ERROR_LATER) /* else they are noted by a later step: what the relay said is not thrown away for a full disk */
        queue_drop(service);
    return result < 0 ? error_set(error, fault.grade, fault.code, "%s", fault.text) : result;
}

void queue_stop(Service *service) {
    if (service->batch_ != NULL)
        service->world->sender->operations->stop(service->world->sender);
}

int queue_run(Service *service, CycleReport *report, Error *error) {
    for (;;) {
        int count = queue_begin(service, report, error);
        if (count <= 0)
            return count;
        while (service->batch_ != NULL)
            if (queue_step(service, NULL, 0, 1000, report, error) < 0) {
                queue_drop(service);
                return -1;
            }
    }
}
