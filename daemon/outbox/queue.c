/* The queue: states O1–O8 of letters out (DESIGN, RULINGS 36, 37). */
#include "daemon/outbox/compose.h"
#include "daemon/outbox/view.h"
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
};

/* Waits after a failed attempt: from a minute to a day. */
static const int back_off[] = { 60, 300, 900, 3600, 4 * 3600, 8 * 3600, SECONDS_PER_DAY };

typedef struct Outgoing { /* one letter of a batch */
    LetterOut letter;
    bool skip;
    SendReport report;
} Outgoing;

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

static int note_attempt(Service *service, Arena *arena, int64_t id, Outgoing *outgoing, CycleReport *report, Error *error) {
    LetterOut *letter = &outgoing->letter;
    Instant now = world_now(service->world);
    int found = letter_out_get(service->store, arena, id, letter, error);
    if (found <= 0)
        return found < 0 ? -1 : error_set(error, ERROR_DAMAGED, 0, "letter %lld has gone from the queue", (long long)id);
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
    if ((!unclear || letter->bytes == NULL) && render(service, arena, letter, &fault) < 0) {
        if (fault.grade == ERROR_LATER)
            return error_set(error, fault.grade, fault.code, "%s", fault.text);
        /* A letter that cannot be made must not stop the queue: the operator sees it and why. */
        outgoing->skip = true;
        if (service->log != NULL)
            service->log(fault.text);
        return letter_out_note_result(service->store, id, "held", now, INSTANT_NONE, false, false, fault.text, error);
    }
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
    int result = game_plan_notice(game, to, letter->epoch, letter->ply, accepted, letter->id, &entry);
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
    if (letter_out_note_result(service->store, letter->id, "given up", now, INSTANT_NONE, false, false, report->words, error) < 0)
        return -1;
    return undelivered_tell(service, letter, report->words, true, error);
}

/* O4: the address is marked, opponent and arbiter are told, and the letter is tried again daily; strangers get no second attempt.
 * The arbiter is no player, but no stranger either: what he is told is no answer, so nothing brakes it. */
static int note_refused(Service *service, const LetterOut *letter, const SendReport *report, Instant now, Error *error) {
    if (letter->player != 0 && address_trouble(service->store, letter->player, letter->address, report->words, error) < 0)
        return -1;
    bool stranger = letter->player == 0 && letter->brake[0] != 0;
    if (stranger || now - letter->queued > GIVE_UP_SECONDS)
        return give_up(service, letter, report, now, error);
    if (letter_out_note_result(service->store, letter->id, "refused", now + SECONDS_PER_DAY, INSTANT_NONE, false, false, report->words, error) < 0)
        return -1;
    return undelivered_tell(service, letter, report->words, false, error);
}

static int note_result(Service *service, Outgoing *outgoing, CycleReport *cycle, Error *error) {
    const LetterOut *letter = &outgoing->letter;
    const SendReport *report = &outgoing->report;
    Instant now = world_now(service->world);
    switch (report->result) {
    case SEND_ACCEPTED:
        cycle->sent++;
        if (letter->player != 0 && address_trouble(service->store, letter->player, letter->address, NULL, error) < 0)
            return -1;
        if (letter_out_note_result(service->store, letter->id, "accepted", now, report->at, false, false, report->words, error) < 0)
            return -1;
        return start_notice(service, letter, report->at, error);
    case SEND_REFUSED:
        cycle->refused++;
        return note_refused(service, letter, report, now, error);
    case SEND_UNKNOWN: {
        cycle->unknown++;
        bool often = letter->unknowns + 1 >= UNKNOWNS_MAX;
        if (often && service->log != NULL)
            service->log("a letter's delivery was unknown three times: see `epistle outbox`");
        return letter_out_note_result(service->store, letter->id, "trying", now + (often ? SECONDS_PER_DAY : UNKNOWN_RETRY_SECONDS), INSTANT_NONE, true,
                                      false, report->words, error);
    }
    case SEND_LATER:
        break;
    }
    cycle->deferred++;
    if (now - letter->queued > GIVE_UP_SECONDS)
        return give_up(service, letter, report, now, error);
    /* Surely not delivered this time; bytes of an earlier unclear attempt stay what they are. */
    bool keep = letter->unknowns > 0;
    return letter_out_note_result(service->store, letter->id, keep ? "trying" : "queued", next_try(letter, now), INSTANT_NONE, keep, false, report->words,
                                  error);
}

static void send_one(Service *service, Arena *arena, Outgoing *outgoing) {
    const LetterOut *letter = &outgoing->letter;
    char token[TOKEN_SIZE];
    letter_out_token(service->store, letter, token);
    const char *from = letter->null_sender                ? ""
                       : service->config->reply_tag_plus ? tagged_address(arena, service->config->address, "b.", token)
                                                         : service->config->address;
    Envelope envelope = { .from = from, .to = letter->address, .id = letter->message_id };
    MailSender *sender = service->world->sender;
    outgoing->report = (SendReport){ .result = SEND_LATER };
    if (from == NULL || letter->bytes == NULL) {
        outgoing->report.at = world_now(service->world);
        text_copy(outgoing->report.words, sizeof outgoing->report.words, "no memory");
        return;
    }
    sender->operations->send(sender, &envelope, letter->bytes, letter->length, world_now(service->world), &outgoing->report);
}

static int send_batch(Service *service, Arena *arena, const int64_t *ids, int count, CycleReport *report, Error *error) {
    Outgoing outgoing[BATCH_SIZE];
    memset(outgoing, 0, sizeof outgoing);
    int result = service_begin(service, error);
    for (int i = 0; i < count && result == 0; i++)
        result = note_attempt(service, arena, ids[i], &outgoing[i], report, error);
    if (result == 0)
        result = service_commit(service, error);
    if (result < 0) {
        store_rollback(service->store);
        return -1;
    }
    for (int i = 0; i < count; i++)
        if (!outgoing[i].skip)
            send_one(service, arena, &outgoing[i]);
    result = service_begin(service, error);
    for (int i = 0; i < count && result == 0; i++)
        if (!outgoing[i].skip)
            result = note_result(service, &outgoing[i], report, error);
    if (result == 0)
        result = service_commit(service, error);
    if (result < 0)
        store_rollback(service->store);
    return result;
}

int queue_run(Service *service, CycleReport *report, Error *error) {
    int64_t ids[BATCH_SIZE];
    if (service->world->sender == NULL)
        return 0;
    for (;;) {
        /* After an unknown end one by one, so that a letter that kills us takes no other with it. */
        int unclear = letters_out_unclear(service->store, world_now(service->world), error);
        if (unclear < 0)
            return -1;
        int count = letters_out_due(service->store, world_now(service->world), ids, unclear ? 1 : BATCH_SIZE, error);
        if (count <= 0)
            return count;
        Arena arena;
        arena_init(&arena, BATCH_ARENA_MAX);
        int result = send_batch(service, &arena, ids, count, report, error);
        arena_free(&arena);
        if (result < 0)
            return -1;
    }
}
