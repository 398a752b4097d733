/* Looking at letters and fetching them: UID FETCH of several at a time, by BODY.PEEK, each answer bounded by what was asked for. */
#include "daemon/inbox/source_imap.h"
#include "daemon/machine_clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUND_BYTES_MAX = 512 * 1024, /* expected with one command, so that a slow line is done in time; a larger letter comes in pieces */
    PIECE_BYTES = 128 * 1024,
    PIECES_MAX = 200,        /* of one letter: a server that gives a few bytes at a time is not asked for ever */
    LETTER_SLACK = 4 * 1024, /* of an answer around a letter's bytes: flags, other items */
    BREAKS_MAX = 12,         /* of the line in one call */
    BREAKS_SECONDS = 120,    /* how long a call goes on after the first of them, as each may cost its whole time */
    UNPROVEN_MAX = 3,        /* letters with which the line broke while nothing at all could be fetched: then it is not the letters */
};

typedef struct Asked { /* one letter, looked at or fetched */
    SourceLetter *letter;
    size_t limit;
    Str *raw;    /* NULL: looked at */
    ImapFolder *folder; /* NULL: it is of no folder that is read */
    uint32_t validity, uid;
    bool answered, has_size, has_body;
    bool torn; /* its pieces do not fit together */
    bool late; /* a suspect: asked for after all others */
} Asked;

typedef struct Round { /* the letters of one command, all of one folder and in the order of their UIDs */
    Asked *asked[IMAP_COMMAND_LETTERS];
    size_t count, bytes;
    bool partial; /* only the first `length` bytes of each are wanted */
    bool pieces;  /* one letter, fetched in several commands */
    size_t offset, length; /* where partial: which bytes */
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

static int take_body(const Round *round, Asked *asked, const struct mailimap_msg_att_body_section *body, Arena *arena, Error *error) {
    if (asked->has_body || body->sec_body_part == NULL || body->sec_length == 0) /* a second answer for the same letter says nothing new */
        return 0;
    bool good = true;
    asked->has_body = true;
    if (asked->raw != NULL) {
        size_t most = round->partial && round->length < asked->limit ? round->length : asked->limit;
        asked->torn = body->sec_origin_octet != round->offset;
        good = str_append_bytes(asked->raw, body->sec_body_part, body->sec_length < most ? body->sec_length : most);
    } else {
        asked->letter->head_length = body->sec_length < HEAD_TAKEN ? body->sec_length : HEAD_TAKEN;
        asked->letter->head = arena_copy(arena, body->sec_body_part, asked->letter->head_length);
        good = asked->letter->head != NULL;
    }
    return good ? 0 : error_set(error, ERROR_MAILBOX, ENOMEM, "no memory for the letter %s in %s", asked->letter->name, asked->letter->mailbox);
}

static int take_item(const Round *round, Asked *asked, const struct mailimap_msg_att_static *item, Arena *arena, Error *error) {
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
        return item->att_data.att_body_section != NULL ? take_body(round, asked, item->att_data.att_body_section, arena, error) : 0;
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
            if (item->att_type == MAILIMAP_MSG_ATT_ITEM_STATIC && take_item(round, asked, item->att_data.att_static, arena, error) < 0)
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

/* (UID RFC822.SIZE INTERNALDATE BODY.PEEK[HEADER]<0.n>), or (UID BODY.PEEK[]), or (UID BODY.PEEK[]<offset.n>). NULL: no memory. */
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
        good = good && add(what, mailimap_fetch_att_new_body_peek_section_partial(section, (uint32_t)round->offset, (uint32_t)round->length));
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

/* A letter by itself in pieces, each its own operation with its own time and bounds, whatever size the server has told: a slow line brings it,
 * and a lie about the size costs nothing. */
static int ask_pieces(ImapSource *imap, Round *round, Error *error) {
    Asked *asked = round->asked[0];
    for (int piece = 0; piece < PIECES_MAX; piece++) {
        size_t left = asked->limit - asked->raw->length;
        round->offset = asked->raw->length;
        round->length = left < PIECE_BYTES ? left : PIECE_BYTES;
        round->bytes = round->length + LETTER_SLACK;
        asked->answered = asked->has_body = false;
        if (ask(imap, round, NULL, error) < 0)
            return -1;
        size_t came = asked->raw->length - round->offset;
        bool last = came == 0 || asked->raw->length >= asked->limit || (came < round->length && asked->raw->length >= asked->letter->size);
        if (!asked->answered || asked->torn || last)
            return 0;
    }
    asked->torn = true;
    return 0;
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
    asked->answered = asked->has_size = asked->has_body = asked->torn = false;
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
    bool failed = same < 0;
    if (same == 1)
        failed = (round->pieces ? ask_pieces(imap, round, &fault) : ask(imap, round, arena, &fault)) < 0 || settle_unanswered(imap, round, &fault) < 0;
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
        else if (asked->torn)
            error_set(&asked->letter->fault, ERROR_LETTER, EPROTO, "the letter %s in %s cannot be had: the server gives other parts of it than were asked for",
                      asked->letter->name, asked->letter->mailbox);
    }
    return 0;
}

/* ---- rounds ---- */

typedef struct Course { /* of one call */
    ImapSource *imap;
    Arena *arena;
    bool careful; /* each letter is asked for alone */
    size_t had;   /* answers to FETCH: this server can do that */
    size_t unproven; /* letters with which the line broke before there was any */
    int breaks;
    int64_t broke; /* when it did first, by the clock that is never set */
} Course;

static void count_break(Course *course) {
    if (course->breaks++ == 0)
        course->broke = machine_milliseconds() / 1000;
}

static bool broke_too_often(const Course *course) {
    return course->breaks >= BREAKS_MAX || (course->breaks > 0 && machine_milliseconds() / 1000 - course->broke > BREAKS_SECONDS);
}

static bool is_alone(const Course *course, const Asked *asked) {
    return course->careful || is_suspect(course->imap, asked);
}

static bool belongs(const Course *course, const Round *round, const Asked *asked, const Round *as) {
    if (round->count == 0)
        return true;
    const Asked *first = round->asked[0];
    bool alone = is_alone(course, asked) || is_alone(course, first) || as->pieces || round->pieces;
    return !alone && round->count < IMAP_COMMAND_LETTERS && first->folder == asked->folder && first->validity == asked->validity &&
           round->partial == as->partial && round->length == as->length && round->bytes + as->bytes <= ROUND_BYTES_MAX;
}

/* How one letter is to be asked for. */
static Round manner_of(const Course *course, const Asked *asked) {
    const size_t size = asked->letter->size, wanted = size < asked->limit ? size : asked->limit;
    if (asked->raw == NULL)
        return (Round){ .partial = true, .length = HEAD_TAKEN, .bytes = HEAD_TAKEN + LETTER_SLACK };
    if (wanted > ROUND_BYTES_MAX - LETTER_SLACK || is_suspect(course->imap, asked))
        return (Round){ .partial = true, .pieces = true };
    if (size > asked->limit)
        return (Round){ .partial = true, .length = asked->limit, .bytes = asked->limit + LETTER_SLACK };
    return (Round){ .bytes = size + LETTER_SLACK };
}

/* As many letters from `at` on as belong into one command. */
static size_t gather_round(const Course *course, Asked *asked, size_t count, size_t at, Round *ret_round) {
    *ret_round = (Round){ .count = 0 };
    for (; at < count; at++) {
        if (asked[at].folder == NULL) {
            gone(&asked[at]);
            continue;
        }
        Round as = manner_of(course, &asked[at]);
        if (!belongs(course, ret_round, &asked[at], &as))
            break;
        if (ret_round->count > 0)
            ret_round->bytes += as.bytes;
        else
            *ret_round = as;
        ret_round->asked[ret_round->count++] = &asked[at];
    }
    return at;
}

static void blame(ImapSource *imap, Asked *asked, const Error *fault) {
    suspect(imap, asked);
    forget(asked);
    error_set(&asked->letter->fault, ERROR_LETTER, EIO, "the letter %s in %s cannot be had: %s", asked->letter->name, asked->letter->mailbox, fault->text);
}

/* Whether the server answers for this letter where nothing of its contents is wanted, on a new line. 1: it does, or the letter has gone; 0: the line breaks
 * again; -1: there is no new line to be had. */
static int answers(ImapSource *imap, Asked *asked, Error *error) {
    ImapSession *session = &imap->session;
    clist *list = NULL;
    int same = open_folder(imap, asked, error);
    if (same <= 0)
        return same < 0 ? -1 : 1;
    struct mailimap_set *set = imap_set(&asked->uid, 1);
    struct mailimap_fetch_type *what = mailimap_fetch_type_new_fetch_att(mailimap_fetch_att_new_uid());
    imap_begin(session, IMAP_ANSWER_MAX);
    int result = set != NULL && what != NULL ? mailimap_uid_fetch(session->imap, set, what, &list) : MAILIMAP_ERROR_MEMORY;
    if (set != NULL)
        mailimap_set_free(set);
    if (what != NULL)
        mailimap_fetch_type_free(what);
    if (result == MAILIMAP_NO_ERROR && list != NULL)
        mailimap_fetch_list_free(list);
    if (result != MAILIMAP_NO_ERROR)
        imap_fail(session, result, error, "asking for a letter in the folder %s", asked->folder->name);
    return session->line != NULL;
}

/* The line broke with one letter alone. It is at fault if the server answers well on a new line and that breaks with the letter again, or if other
 * letters can be had and not this one. 0: it has its answer or its fault; -1: it is the server, as far as can be told. */
static int try_again(Course *course, Round *round, Error *fault) {
    ImapSource *imap = course->imap;
    Asked *asked = round->asked[0];
    Error doubt = { 0 };
    bool known = is_suspect(imap, asked);
    forget(asked);
    int answered = answers(imap, asked, &doubt);
    if (answered < 0) {
        if (known && course->had > 0) { /* perhaps it takes the whole server with it, each time */
            blame(imap, asked, fault);
            course->breaks = BREAKS_MAX;
            return 0;
        }
        suspect(imap, asked);
        return -1;
    }
    course->had += answered == 1;
    if (answered == 0)
        count_break(course);
    if (answered == 1 && !known) {
        if (asked->raw != NULL)
            round->partial = round->pieces = true;
        error_clear(&doubt);
        if (ask_round(imap, round, course->arena, &doubt) == 0)
            return 0; /* it was the line, or the letter as a whole */
        count_break(course);
        *fault = doubt;
    }
    blame(imap, asked, fault);
    if (course->had == 0 && ++course->unproven >= UNPROVEN_MAX)
        return -1;
    return 0;
}

/* One command's letters, and whatever their breaking the line leads to. */
static int go_on(Course *course, Asked *asked, size_t count, size_t *at, Error *error) {
    ImapSource *imap = course->imap;
    Round round;
    Error fault = { 0 };
    size_t from = *at;
    *at = gather_round(course, asked, count, from, &round);
    if (round.count == 0)
        return 0;
    if (imap_open(&imap->session, error) < 0)
        return -1;
    if (ask_round(imap, &round, course->arena, &fault) == 0) {
        course->had += round.count;
        return 0;
    }
    if (imap->session.line != NULL) /* the folder is refused */
        return error_set(error, fault.grade, fault.code, "%s", fault.text);
    count_break(course);
    if (round.count > 1) { /* one by one, on a new line */
        for (size_t i = 0; i < round.count; i++)
            forget(round.asked[i]);
        course->careful = true;
        *at = from;
        error_set(error, fault.grade, fault.code, "%s", fault.text); /* told if nothing can be had */
        return 0;
    }
    if (try_again(course, &round, &fault) < 0)
        return error_set(error, fault.grade, fault.code, "%s", fault.text);
    if (course->had == 0) /* told as the server's fault if nothing follows */
        error_set(error, fault.grade, fault.code, "%s", fault.text);
    return 0;
}

/* `careful`: of look or of fetch; cleared only by a call in which the line held. */
static int ask_all(ImapSource *imap, bool *careful, Asked *asked, size_t count, Arena *arena, Error *error) {
    Course course = { .imap = imap, .arena = arena, .careful = *careful };
    size_t at = 0;
    imap_source_wait_end(&imap->source);
    int result = 0;
    while (at < count && result == 0 && !broke_too_often(&course))
        result = go_on(&course, asked, count, &at, error);
    *careful = course.breaks > 0 || result < 0;
    if (result < 0 || (course.had == 0 && course.breaks > 0))
        return -1;
    for (; at < count; at++) /* they are tried again after a while */
        error_set(&asked[at].letter->fault, ERROR_LETTER, EAGAIN, "the letter %s in %s was not asked for: the line to the server broke with others too often",
                  asked[at].letter->name, asked[at].letter->mailbox);
    error_clear(error);
    return 0;
}

static int by_place(const void *left, const void *right) {
    const Asked *one = left, *other = right;
    if (one->late != other->late)
        return one->late ? 1 : -1;
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
    asked->late = is_suspect(imap, asked);
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
    int result = ask_all(imap, &imap->careful_look, asked, count, arena, error);
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
    int result = ask_all(imap, &imap->careful_fetch, asked, count, NULL, error);
    free(asked);
    return result;
}
