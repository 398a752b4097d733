/* Looking at letters and fetching them: UID FETCH of several at a time, by BODY.PEEK, each answer bounded by what was asked for. */
#include "daemon/inbox/source_imap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUND_BYTES_MAX = 4 * 1024 * 1024, /* expected with one command; a single letter may be larger */
    LETTER_SLACK = 4 * 1024,           /* of an answer around a letter's bytes: flags, other items */
    FAULTS_IN_A_ROW = 2,               /* then it is not the letters */
};

typedef struct Asked { /* one letter, looked at or fetched */
    SourceLetter *letter;
    size_t limit;
    Str *raw;    /* NULL: looked at */
    ImapFolder *folder; /* NULL: it is of no folder that is read */
    uint32_t validity, uid;
    bool answered, has_size, has_body;
} Asked;

typedef struct Round { /* the letters of one command, all of one folder and in the order of their UIDs */
    Asked *asked[IMAP_COMMAND_LETTERS];
    size_t count, bytes;
    bool partial; /* only the first `limit` bytes of each are wanted */
} Round;

/* ---- answers ---- */

/* "30-Nov-2026 02:09:11 +0100", as libetpan has read it. */
static Instant instant_of(const struct mailimap_date_time *date) {
    int zone = date->dt_zone < 0 ? -date->dt_zone : date->dt_zone;
    bool good = date->dt_month >= 1 && date->dt_month <= 12 && date->dt_day >= 1 && date->dt_day <= 31 && date->dt_hour <= 23 && date->dt_min <= 59 &&
                date->dt_sec <= 60 && date->dt_year >= 1970 && date->dt_year <= 9999 && zone / 100 <= 14 && zone % 100 <= 59;
    if (!good)
        return INSTANT_NONE;
    CivilTime civil = { .year = date->dt_year, .month = date->dt_month, .day = date->dt_day,
                        .hour = date->dt_hour, .minute = date->dt_min, .second = date->dt_sec };
    Instant east = (Instant)(zone / 100) * 3600 + (Instant)(zone % 100) * 60;
    return civil_instant(&civil) - (date->dt_zone < 0 ? -east : east);
}

static Asked *find_asked(const Round *round, uint32_t uid) {
    for (size_t i = 0; i < round->count; i++)
        if (round->asked[i]->uid == uid)
            return round->asked[i];
    return NULL;
}

static int take_body(Asked *asked, const struct mailimap_msg_att_body_section *body, Arena *arena, Error *error) {
    if (asked->has_body || body->sec_body_part == NULL || body->sec_length == 0) /* a second answer for the same letter says nothing new */
        return 0;
    bool good = true;
    asked->has_body = true;
    if (asked->raw != NULL) {
        good = str_append_bytes(asked->raw, body->sec_body_part, body->sec_length < asked->limit ? body->sec_length : asked->limit);
    } else {
        asked->letter->head_length = body->sec_length < HEAD_TAKEN ? body->sec_length : HEAD_TAKEN;
        asked->letter->head = arena_copy(arena, body->sec_body_part, asked->letter->head_length);
        good = asked->letter->head != NULL;
    }
    return good ? 0 : error_set(error, ERROR_MAILBOX, ENOMEM, "no memory for the letter %s in %s", asked->letter->name, asked->letter->mailbox);
}

static int take_item(Asked *asked, const struct mailimap_msg_att_static *item, Arena *arena, Error *error) {
    switch (item->att_type) {
    case MAILIMAP_MSG_ATT_INTERNALDATE:
        if (asked->raw == NULL && item->att_data.att_internal_date != NULL)
            asked->letter->received = instant_of(item->att_data.att_internal_date);
        return 0;
    case MAILIMAP_MSG_ATT_RFC822_SIZE:
        if (asked->raw == NULL)
            asked->letter->size = item->att_data.att_rfc822_size;
        asked->has_size = true;
        return 0;
    case MAILIMAP_MSG_ATT_BODY_SECTION:
        asked->answered = true;
        return item->att_data.att_body_section != NULL ? take_body(asked, item->att_data.att_body_section, arena, error) : 0;
    default:
        return 0;
    }
}

/* Answers for letters that were not asked for, and such with flags alone, may stand in between. */
static int take_answers(const Round *round, clist *answers, Arena *arena, Error *error) {
    for (clistiter *at = answers != NULL ? clist_begin(answers) : NULL; at != NULL; at = clist_next(at)) {
        const struct mailimap_msg_att *answer = clist_content(at);
        Asked *asked = find_asked(round, imap_uid_of(answer));
        for (clistiter *in = asked != NULL ? clist_begin(answer->att_list) : NULL; in != NULL; in = clist_next(in)) {
            const struct mailimap_msg_att_item *item = clist_content(in);
            if (item->att_type == MAILIMAP_MSG_ATT_ITEM_STATIC && take_item(asked, item->att_data.att_static, arena, error) < 0)
                return -1;
        }
    }
    return 0;
}

/* ---- one command ---- */

static bool add(struct mailimap_fetch_type *what, struct mailimap_fetch_att *item) {
    if (item != NULL && mailimap_fetch_type_new_fetch_att_list_add(what, item) == MAILIMAP_NO_ERROR)
        return true;
    if (item != NULL)
        mailimap_fetch_att_free(item);
    return false;
}

/* (UID RFC822.SIZE INTERNALDATE BODY.PEEK[HEADER]<0.n>), or (UID BODY.PEEK[]), or (UID BODY.PEEK[]<0.n>). NULL: no memory. */
static struct mailimap_fetch_type *what_to_ask(const Round *round) {
    bool look = round->asked[0]->raw == NULL;
    struct mailimap_fetch_type *what = mailimap_fetch_type_new_fetch_att_list_empty();
    struct mailimap_section *section = look ? mailimap_section_new_header() : mailimap_section_new(NULL);
    if (what == NULL || section == NULL)
        return NULL;
    bool good = add(what, mailimap_fetch_att_new_uid());
    if (look)
        good = good && add(what, mailimap_fetch_att_new_rfc822_size()) && add(what, mailimap_fetch_att_new_internaldate());
    if (look || round->partial)
        good = good && add(what, mailimap_fetch_att_new_body_peek_section_partial(section, 0, look ? HEAD_TAKEN : (uint32_t)round->asked[0]->limit));
    else
        good = good && add(what, mailimap_fetch_att_new_body_peek_section(section));
    if (good)
        return what;
    mailimap_fetch_type_free(what);
    return NULL;
}

static int ask(ImapSource *imap, const Round *round, Arena *arena, Error *error) {
    ImapSession *session = &imap->session;
    uint32_t uids[IMAP_COMMAND_LETTERS];
    clist *answers = NULL;
    for (size_t i = 0; i < round->count; i++)
        uids[i] = round->asked[i]->uid;
    struct mailimap_set *set = imap_set(uids, round->count);
    struct mailimap_fetch_type *what = what_to_ask(round);
    imap_begin(session, IMAP_ANSWER_MAX + round->bytes + round->bytes / 2);
    int result = set != NULL && what != NULL ? mailimap_uid_fetch(session->imap, set, what, &answers) : MAILIMAP_ERROR_MEMORY;
    if (set != NULL)
        mailimap_set_free(set);
    if (what != NULL)
        mailimap_fetch_type_free(what);
    if (result != MAILIMAP_NO_ERROR)
        return imap_fail(session, result, error, "fetching from the folder %s", round->asked[0]->folder->name);
    int failed = take_answers(round, answers, arena, error);
    if (answers != NULL)
        mailimap_fetch_list_free(answers);
    return failed;
}

/* ---- letters that a server cannot give ---- */

static bool is_suspect(const ImapSource *imap, const Asked *asked) {
    for (size_t i = 0; i < IMAP_SUSPECTS_MAX; i++) {
        const ImapSuspect *suspect = &imap->suspects[i];
        if (suspect->folder != NULL && suspect->folder == asked->folder && suspect->validity == asked->validity && suspect->uid == asked->uid)
            return true;
    }
    return false;
}

static void suspect(ImapSource *imap, const Asked *asked) {
    if (is_suspect(imap, asked))
        return;
    imap->suspects[imap->suspect_next++ % IMAP_SUSPECTS_MAX] = (ImapSuspect){ asked->folder, asked->validity, asked->uid };
}

static void forget(Asked *asked) {
    if (asked->raw != NULL)
        str_clear(asked->raw);
    asked->answered = asked->has_size = asked->has_body = false;
    asked->letter->head = NULL;
    asked->letter->head_length = 0;
}

static void gone(Asked *asked) {
    error_set(&asked->letter->fault, ERROR_LETTER, ENOENT, "the letter %s has gone from %s", asked->letter->name, asked->letter->mailbox);
}

/* The folder as it is now; its letters are gone if it is another one than when they were listed. 1: it is the same. */
static int open_folder(ImapSource *imap, Asked *asked, Error *error) {
    ImapSession *session = &imap->session;
    if (imap_open(session, error) < 0)
        return -1;
    if (session->selected != asked->folder && imap_select(session, asked->folder, false, error) < 0) {
        if (error->code != IMAP_FOLDER_MISSING)
            return -1;
        error_clear(error);
        return 0;
    }
    return session->validity == asked->validity;
}

/* Letters that the server had no answer for have gone, unless it lists them still: such a one is there, and we do not get it. */
static int settle_unanswered(ImapSource *imap, const Round *round, Error *error) {
    ImapSession *session = &imap->session;
    Asked *silent[IMAP_COMMAND_LETTERS];
    uint32_t uids[IMAP_COMMAND_LETTERS], there[IMAP_COMMAND_LETTERS];
    size_t count = 0, there_count = 0;
    for (size_t i = 0; i < round->count; i++)
        if (!round->asked[i]->answered) {
            silent[count] = round->asked[i];
            uids[count++] = round->asked[i]->uid;
        }
    if (count == 0)
        return 0;
    bool known = imap_source_find(session, uids, count, false, there, &there_count, error) == 0;
    if (!known && session->line == NULL)
        return -1;
    error_clear(error);
    for (size_t i = 0, at = 0; i < count; i++) {
        bool listed = !known || (at < there_count && there[at] == uids[i]);
        at += known && listed;
        if (listed)
            error_set(&silent[i]->letter->fault, ERROR_LETTER, EIO, "the letter %s in %s cannot be had: the server lists it and does not give it",
                      silent[i]->letter->name, silent[i]->letter->mailbox);
        else
            gone(silent[i]);
    }
    return 0;
}

static int ask_round(ImapSource *imap, Round *round, Arena *arena, Error *error);

/* After a refusal, each letter by itself. */
static int ask_singly(ImapSource *imap, const Round *round, Arena *arena, Error *error) {
    for (size_t i = 0; i < round->count; i++) {
        Round single = *round;
        single.asked[0] = round->asked[i];
        single.count = 1;
        forget(round->asked[i]);
        if (ask_round(imap, &single, arena, error) < 0)
            return -1;
    }
    return 0;
}

/* 0: every letter of the round has its answer or its fault; -1: the line is lost. */
static int ask_round(ImapSource *imap, Round *round, Arena *arena, Error *error) {
    Error fault = { 0 };
    int same = open_folder(imap, round->asked[0], &fault);
    bool failed = same < 0 || (same == 1 && (ask(imap, round, arena, &fault) < 0 || settle_unanswered(imap, round, &fault) < 0));
    if (failed && same == 1 && imap->session.line != NULL && round->count > 1)
        return ask_singly(imap, round, arena, error);
    if (failed && same == 1 && imap->session.line != NULL) {
        error_set(&round->asked[0]->letter->fault, ERROR_LETTER, EIO, "the letter %s in %s cannot be had: %s", round->asked[0]->letter->name,
                  round->asked[0]->letter->mailbox, fault.text);
        return 0;
    }
    if (failed)
        return error_set(error, fault.grade, fault.code, "%s", fault.text);
    for (size_t i = 0; i < round->count; i++) {
        Asked *asked = round->asked[i];
        if (same == 0)
            gone(asked);
        else if (asked->answered && asked->raw == NULL && !asked->has_size)
            error_set(&asked->letter->fault, ERROR_LETTER, EPROTO, "the server does not tell the size of the letter %s in %s", asked->letter->name,
                      asked->letter->mailbox);
    }
    return 0;
}

/* ---- rounds ---- */

static bool belongs(const ImapSource *imap, const Round *round, const Asked *asked, size_t bytes, bool partial) {
    const Asked *first = round->count > 0 ? round->asked[0] : asked;
    bool alone = imap->careful || is_suspect(imap, asked) || is_suspect(imap, first);
    return round->count == 0 || (!alone && round->count < IMAP_COMMAND_LETTERS && first->folder == asked->folder && first->validity == asked->validity &&
                                 round->partial == partial && (!partial || first->limit == asked->limit) && round->bytes + bytes <= ROUND_BYTES_MAX);
}

static size_t bytes_of(const Asked *asked, bool partial) {
    if (asked->raw == NULL)
        return HEAD_TAKEN + LETTER_SLACK;
    return (partial ? asked->limit : asked->letter->size) + LETTER_SLACK;
}

/* As many letters from `at` on as belong into one command. */
static size_t gather_round(const ImapSource *imap, Asked *asked, size_t count, size_t at, Round *ret_round) {
    *ret_round = (Round){ .count = 0 };
    for (; at < count; at++) {
        if (asked[at].folder == NULL) {
            gone(&asked[at]);
            continue;
        }
        bool partial = asked[at].raw != NULL && (asked[at].letter->size > asked[at].limit || is_suspect(imap, &asked[at]));
        size_t bytes = bytes_of(&asked[at], partial);
        if (!belongs(imap, ret_round, &asked[at], bytes, partial))
            break;
        ret_round->partial = partial;
        ret_round->bytes += bytes;
        ret_round->asked[ret_round->count++] = &asked[at];
    }
    return at;
}

/* A letter asked for alone with which the line breaks is taken for the cause, unless the same happens with the next one. */
static int ask_all(ImapSource *imap, Asked *asked, size_t count, Arena *arena, Error *error) {
    int in_a_row = 0;
    imap_source_wait_end(&imap->source);
    for (size_t at = 0; at < count;) {
        Round round;
        Error fault = { 0 };
        at = gather_round(imap, asked, count, at, &round);
        if (round.count == 0)
            break;
        if (imap->session.line == NULL && imap_open(&imap->session, error) < 0)
            return -1;
        bool alone = round.count == 1 && (imap->careful || is_suspect(imap, round.asked[0]));
        if (ask_round(imap, &round, arena, &fault) == 0) {
            in_a_row = 0;
            continue;
        }
        in_a_row++;
        if (!alone || in_a_row >= FAULTS_IN_A_ROW) {
            imap->careful = true;
            return error_set(error, fault.grade, fault.code, "%s", fault.text);
        }
        suspect(imap, round.asked[0]);
        forget(round.asked[0]);
        error_set(&round.asked[0]->letter->fault, ERROR_LETTER, EIO, "the letter %s in %s cannot be had: %s", round.asked[0]->letter->name,
                  round.asked[0]->letter->mailbox, fault.text);
    }
    imap->careful = false;
    return 0;
}

static int by_place(const void *left, const void *right) {
    const Asked *one = left, *other = right;
    if (one->folder != other->folder)
        return one->folder < other->folder ? -1 : 1;
    if (one->validity != other->validity)
        return one->validity < other->validity ? -1 : 1;
    return (one->uid > other->uid) - (one->uid < other->uid);
}

static void place(ImapSource *imap, Asked *asked) {
    error_clear(&asked->letter->fault);
    asked->folder = imap_source_folder(imap, asked->letter->mailbox, &asked->validity);
    if (!imap_source_uid(asked->letter->name, &asked->uid))
        asked->folder = NULL;
}

int imap_source_look(MailSource *source, Arena *arena, SourceLetter *const *letters, size_t count, Error *error) {
    ImapSource *imap = (ImapSource *)source;
    Asked *asked = calloc(count + 1, sizeof *asked);
    if (asked == NULL)
        return error_set(error, ERROR_LATER, ENOMEM, "no memory for looking at letters");
    for (size_t i = 0; i < count; i++) {
        asked[i].letter = letters[i];
        place(imap, &asked[i]);
    }
    qsort(asked, count, sizeof *asked, by_place);
    int result = ask_all(imap, asked, count, arena, error);
    free(asked);
    return result;
}

int imap_source_fetch(MailSource *source, SourceFetch *fetches, size_t count, Error *error) {
    ImapSource *imap = (ImapSource *)source;
    Asked *asked = calloc(count + 1, sizeof *asked);
    if (asked == NULL)
        return error_set(error, ERROR_LATER, ENOMEM, "no memory for fetching letters");
    for (size_t i = 0; i < count; i++) {
        asked[i] = (Asked){ .letter = fetches[i].letter, .limit = fetches[i].limit, .raw = fetches[i].raw };
        place(imap, &asked[i]);
    }
    qsort(asked, count, sizeof *asked, by_place);
    int result = ask_all(imap, asked, count, NULL, error);
    free(asked);
    return result;
}
