/* Timers: what happens when nobody writes. Each fires in the transaction that does its work (RULINGS 35). */
#include "daemon/service/settling.h"

#include "daemon/service/challenges.h"

#include <stdlib.h>
#include <string.h>

static int question_expire(Service *service, int64_t id, Error *error) {
    QuestionRow question;
    int found = question_get(service->store, id, &question, error);
    if (found <= 0 || strcmp(question.state, "open") != 0)
        return found < 0 ? -1 : 0;
    if (question_finish(service->store, id, "expired", error) < 0)
        return -1;
    return letter_in_set_state(service->store, question.letter, "settled", OUTCOME_REFUSED, "nobody confirmed it in time", error);
}

static int registration_expire(Service *service, int64_t id, Error *error) {
    RegistrationRow row;
    int found = registration_get(service->store, id, &row, error);
    if (found <= 0 || strcmp(row.state, "open") != 0)
        return found < 0 ? -1 : 0;
    return registration_finish(service->store, id, "expired", 0, error);
}

static int fire(Service *service, const TimerRow *timer, Error *error) {
    static const struct {
        const char *noun;
        int (*expire)(Service *service, int64_t id, Error *error);
    } subjects[] = {
        { "question ", question_expire },
        { "registration ", registration_expire },
        { "challenge ", challenge_expire },
    };
    for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
        size_t length = strlen(subjects[i].noun);
        if (strncmp(timer->subject, subjects[i].noun, length) == 0)
            return subjects[i].expire(service, strtoll(timer->subject + length, NULL, 10), error);
    }
    return error_set(error, ERROR_DAMAGED, 0, "a timer for \"%s\" that nobody knows", timer->subject);
}

static int run_batch(Service *service, CycleReport *report, bool *ret_more, Error *error) {
    TimerRow timer;
    *ret_more = false;
    int found = timer_due(service->store, world_now(service->world), &timer, error);
    if (found <= 0)
        return found;
    if (service_begin(service, error) < 0) {
        store_rollback(service->store);
        return -1;
    }
    int count = 0;
    while ((found = timer_due(service->store, world_now(service->world), &timer, error)) == 1 && count < BATCH_SIZE) {
        if (timer_done(service->store, &timer, error) < 0 || fire(service, &timer, error) < 0) {
            found = -1;
            break;
        }
        count++;
    }
    if (found < 0 || service_commit(service, error) < 0) {
        store_rollback(service->store);
        return -1;
    }
    report->timers += count;
    *ret_more = found == 1;
    return 0;
}

int timers_run(Service *service, CycleReport *report, Error *error) {
    bool more = true;
    while (more)
        if (run_batch(service, report, &more, error) < 0)
            return -1;
    return 0;
}
