#include "daemon/service/outage.h"

#include "daemon/service/views.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

const char *outage_name(OutageSubject subject) {
    static const char *const names[OUTAGE_SUBJECTS] = {
        [OUTAGE_MAILBOX] = "mailbox", [OUTAGE_RELAY] = "relay", [OUTAGE_DISK] = "disk", [OUTAGE_FOLDER] = "folder",
    };
    return names[subject];
}

static bool lasts(const Outage *outage) {
    return outage->began != INSTANT_NONE && outage->ended == INSTANT_NONE;
}

static int64_t duration(const Outage *outage, Instant now) {
    Instant until = outage->ended == INSTANT_NONE ? now : outage->ended;
    return until > outage->began ? until - outage->began : 0; /* the clock may have been set back */
}

/* ---- the log ---- */

static void say_failed(const Service *service, Outage *outage, const char *how) {
    static const char *const what[OUTAGE_SUBJECTS] = {
        [OUTAGE_MAILBOX] = "the mailbox cannot be read",
        [OUTAGE_RELAY] = "letters cannot be sent",
        [OUTAGE_DISK] = "the store's disk takes nothing more",
        [OUTAGE_FOLDER] = "a folder of the mailbox cannot be used",
    };
    char line[ERROR_TEXT_MAX + 100];
    if (service->log == NULL)
        return;
    snprintf(line, sizeof line, "%s, %s: %s", what[outage->subject], how, outage->why);
    service->log(line);
    outage->said_ = true;
}

static void say_ended(const Service *service, const Outage *outage) {
    static const char *const what[OUTAGE_SUBJECTS] = {
        [OUTAGE_MAILBOX] = "the mailbox can be read again",
        [OUTAGE_RELAY] = "letters can be sent again",
        [OUTAGE_DISK] = "the store's disk takes letters again",
        [OUTAGE_FOLDER] = "every folder of the mailbox can be used again",
    };
    char line[200], began[INSTANT_TEXT_SIZE];
    int64_t minutes = duration(outage, outage->ended) / 60;
    if (service->log == NULL)
        return;
    instant_write(outage->began, began);
    snprintf(line, sizeof line, "%s; it failed from %s on, for %lld h %lld min, and was tried %d times", what[outage->subject], began,
             (long long)minutes / 60, (long long)minutes % 60, outage->tries);
    service->log(line);
}

/* ---- the operator's letter ---- */

static json_t *outage_view(Service *service, const Outage *outage) {
    char since[INSTANT_TEXT_SIZE], until[INSTANT_TEXT_SIZE];
    json_t *view = view_new(service, "outage", NULL);
    instant_write(outage->began, since);
    json_t *told = json_pack("{s:s, s:s, s:s, s:i}", "code", outage_name(outage->subject), "since", since, "why", outage->why, "tries", outage->tries);
    if (outage->ended != INSTANT_NONE) {
        instant_write(outage->ended, until);
        json_object_set_new(told, "until", json_string(until));
    }
    json_object_set_new(view, "outage", told);
    return view;
}

static int tell(Service *service, const Outage *outage, Error *error) {
    if (service->config->operator_ == NULL)
        return 0;
    Draft draft = { .view = outage_view(service, outage), .scope = "none", .ask = outage->id_, .brake = "" };
    return queue_letter(service, NULL, service->config->operator_, &draft, error);
}

/* Told while it lasted, and the letter still waits for a line: then it may as well tell the end. */
static int renew(Service *service, const Outage *outage, Error *error) {
    json_t *view = outage_view(service, outage);
    char *text = view == NULL ? NULL : json_dumps(view, JSON_COMPACT);
    int result = text == NULL ? error_set(error, ERROR_LATER, 0, "no memory for a letter's view")
                              : outage_letter_renew(service->store, outage->id_, text, error);
    free(text);
    json_decref(view);
    return result;
}

/* ---- noting ---- */

static int put(Service *service, Outage *outage, Error *error) {
    OutageRow row = { .id = outage->id_, .began = outage->began, .ended = outage->ended, .next_try = outage->next_try, .tries = outage->tries,
                      .told = outage->told };
    text_copy(row.subject, sizeof row.subject, outage_name(outage->subject));
    text_copy(row.why, sizeof row.why, outage->why);
    if (outage_put(service->store, &row, error) < 0)
        return -1;
    outage->id_ = row.id;
    return 0;
}

static int note_inside(Service *service, Outage *outage, Error *error) {
    bool was_told = outage->told, sendable = outage->subject != OUTAGE_RELAY || outage->ended != INSTANT_NONE;
    outage->told = was_told || (sendable && duration(outage, world_now(service->world)) >= OUTAGE_TOLD_SECONDS);
    if (put(service, outage, error) < 0)
        return -1;
    if (outage->told && !was_told)
        return tell(service, outage, error);
    return outage->told && outage->ended != INSTANT_NONE ? renew(service, outage, error) : 0;
}

/* In a transaction of its own. On failure nothing is changed, in the store or in mind. */
static int note(Service *service, Outage *outage) {
    Outage noted = *outage;
    Error ignored;
    error_clear(&ignored);
    if (service_begin(service, &ignored) == 0 && note_inside(service, &noted, &ignored) == 0 && service_commit(service, &ignored) == 0) {
        *outage = noted;
        return 0;
    }
    store_rollback(service->store);
    return -1;
}

static void forget(Outage *outage) {
    *outage = (Outage){ .subject = outage->subject, .began = INSTANT_NONE, .ended = INSTANT_NONE, .next_try = INSTANT_NONE };
}

/* ---- what happens ---- */

void outage_failed(Service *service, OutageSubject subject, const char *why) {
    if (service->outages_ == NULL)
        return;
    Outage *outage = &service->outages_[subject];
    Instant now = world_now(service->world);
    bool began = !lasts(outage), other = strncmp(outage->why, why, sizeof outage->why - 1) != 0;
    if (outage->began == INSTANT_NONE)
        outage->began = now;
    outage->ended = INSTANT_NONE; /* one whose end could not be noted goes on */
    int doublings = outage->tries < 7 ? outage->tries : 7;
    int64_t seconds = (int64_t)OUTAGE_RETRY_FIRST << doublings;
    outage->tries++;
    outage->next_try = now + (seconds < OUTAGE_RETRY_MAX ? seconds : OUTAGE_RETRY_MAX);
    text_copy(outage->why, sizeof outage->why, why);
    if (began || other || !outage->said_)
        say_failed(service, outage, began ? "it is tried again from time to time" : outage->said_ ? "now for this reason" : "as it was before the start");
    note(service, outage);
}

void outage_try_now(Service *service) {
    Instant now = world_now(service->world);
    for (int i = 0; i < OUTAGE_SUBJECTS && service->outages_ != NULL; i++)
        if (lasts(&service->outages_[i]) && service->outages_[i].next_try > now)
            service->outages_[i].next_try = now;
}

void outage_over(Service *service, OutageSubject subject) {
    if (service->outages_ == NULL || service->outages_[subject].began == INSTANT_NONE)
        return;
    Outage *outage = &service->outages_[subject];
    Instant now = world_now(service->world);
    bool ends = lasts(outage);
    if (ends)
        outage->ended = now > outage->began ? now : outage->began;
    bool noted = note(service, outage) == 0;
    if (!noted && subject == OUTAGE_DISK) {
        outage->ended = INSTANT_NONE;
        return;
    }
    if (ends) {
        say_ended(service, outage);
        outage_try_now(service); /* what else fails may have failed of the same */
    }
    if (noted)
        forget(outage);
}

Instant outage_next_try(const Service *service, OutageSubject subject) {
    if (!outage_lasts(service, subject, NULL))
        return INSTANT_NONE;
    Instant now = world_now(service->world), next = service->outages_[subject].next_try;
    return next - now > OUTAGE_RETRY_MAX ? now : next; /* set under a clock that was ahead: waiting from now on would begin anew whenever it is asked */
}

bool outage_lasts(const Service *service, OutageSubject subject, Outage *ret_outage) {
    if (service->outages_ == NULL || !lasts(&service->outages_[subject]))
        return false;
    if (ret_outage != NULL)
        *ret_outage = service->outages_[subject];
    return true;
}

void outage_folders(Service *service) {
    const Error *fault = &service->folder_fault_;
    Outage outage;
    if (fault->grade == ERROR_NONE)
        outage_over(service, OUTAGE_FOLDER);
    else if (!outage_lasts(service, OUTAGE_FOLDER, &outage) || !outage.said_ || outage_next_try(service, OUTAGE_FOLDER) <= world_now(service->world) ||
             strncmp(outage.why, fault->text, sizeof outage.why - 1) != 0)
        outage_failed(service, OUTAGE_FOLDER, fault->text);
}

/* ---- the disk ---- */

int outage_room(Service *service, Error *error) {
    const Config *config = service->config;
    struct statvfs disk;
    if (config->free_space == 0 || statvfs(config->store, &disk) != 0)
        return 0;
    if ((uint64_t)disk.f_bavail * disk.f_frsize >= (uint64_t)config->free_space * 1024 * 1024)
        return 0;
    Error fault;
    error_set(&fault, ERROR_LATER, 0,
              "the disk of %.200s has less than the %d MB left that free_space_mb wants: letters wait in the mailbox until there is more, so make room",
              config->store, config->free_space);
    outage_failed(service, OUTAGE_DISK, fault.text);
    return error_set(error, fault.grade, fault.code, "%s", fault.text);
}

bool outage_of_disk(const Error *error) {
    int code = error->code & 0xff;
    return error->grade == ERROR_LATER && (code == SQLITE_FULL || code == SQLITE_IOERR || code == SQLITE_READONLY || code == SQLITE_CANTOPEN);
}

/* ---- start and end ---- */

int outage_load(Service *service, Error *error) {
    OutageRow rows[OUTAGE_SUBJECTS];
    int count = outages_lasting(service->store, rows, OUTAGE_SUBJECTS, error);
    if (count < 0)
        return -1;
    Outage *outages = calloc(OUTAGE_SUBJECTS, sizeof *outages);
    if (outages == NULL)
        return error_set(error, ERROR_LATER, 0, "no memory for the list of outages");
    for (int subject = 0; subject < OUTAGE_SUBJECTS; subject++) {
        Outage *outage = &outages[subject];
        outage->subject = (OutageSubject)subject;
        forget(outage);
        for (int i = 0; i < count; i++) {
            if (strcmp(rows[i].subject, outage_name((OutageSubject)subject)) != 0)
                continue;
            *outage = (Outage){ .subject = (OutageSubject)subject, .began = rows[i].began, .ended = INSTANT_NONE, .next_try = rows[i].next_try,
                                .tries = rows[i].tries, .told = rows[i].told, .id_ = rows[i].id };
            text_copy(outage->why, sizeof outage->why, rows[i].why);
        }
    }
    free(service->outages_);
    service->outages_ = outages;
    return 0;
}

void outage_unload(Service *service) {
    free(service->outages_);
    service->outages_ = NULL;
}
