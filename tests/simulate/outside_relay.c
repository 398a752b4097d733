/* The simulated relay: several lines at once, and what each may do, by the outside's dice. A letter has left when its last byte is handed over; what
 * the relay says to it comes later, out of order, or never. */
#include "tests/simulate/outside.h"

#include "tests/simulate/prng.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 3 };

typedef struct Flight { /* one line with a letter on it */
    Mailing *mailing; /* NULL: free */
    Sending *sending;
    SendReport report; /* what the relay will say */
} Flight;

typedef struct SimulatedSender {
    MailSender base;
    Outside *outside;
    Mailing *mailings;
    size_t count, next;
    Flight flights[LINES];
    bool failed, well; /* in this batch: a fault of the relay, a letter that it took or refused */
} SimulatedSender;

/* What becomes of one letter. */
static SendResult fate(Outside *outside, const Envelope *envelope, bool *ret_delivered) {
    *ret_delivered = true;
    if (outside_one_in(outside, outside->faults.later)) {
        *ret_delivered = false;
        return SEND_LATER;
    }
    bool arbiter = !strncmp(envelope->to, "td@", 3);
    if (outside_one_in(outside, arbiter && outside->faults.refused ? 2 : outside->faults.refused)) {
        /* a newcomer's letter, once refused, is given up, rightly: there is no player yet */
        if (strstr(envelope->to, "@n"))
            return SEND_ACCEPTED;
        *ret_delivered = false;
        return SEND_REFUSED;
    }
    if (outside_one_in(outside, outside->faults.unknown)) {
        *ret_delivered = outside_one_in(outside, 2);
        return SEND_UNKNOWN;
    }
    return SEND_ACCEPTED;
}

static void hand_over(SimulatedSender *sender, Flight *flight) {
    Outside *outside = sender->outside;
    Mailing *mailing = flight->mailing = &sender->mailings[sender->next++];
    bool delivered;
    outside_step(outside);
    SendResult result = fate(outside, &mailing->envelope, &delivered);
    flight->report = (SendReport){.result = result};
    snprintf(flight->report.words, sizeof flight->report.words, "simulated %d", (int)result);
    if (outside->sending_count == SENDINGS_MAX)
        abort();
    Sending *sending = flight->sending = &outside->sendings[outside->sending_count];
    *sending = (Sending){.length = mailing->length, .at = outside->now, .visible = INSTANT_NONE, .reported = result};
    snprintf(sending->to, sizeof sending->to, "%s", mailing->envelope.to);
    snprintf(sending->id, sizeof sending->id, "%s", mailing->envelope.id);
    if (!outside_keep(outside, mailing->bytes, mailing->length, &sending->offset))
        abort();
    if (delivered)
        sending->visible = outside->now + (Instant)prng_below(&outside->random, outside->faults.delay_hours * 3600u + 1);
    outside->sending_count++;
    outside_step(outside); /* dies with the letter gone and the answer unheard */
}

static void land(SimulatedSender *sender, Flight *flight) {
    flight->mailing->report = flight->report;
    flight->mailing->report.at = sender->outside->now;
    flight->mailing->done = true;
    flight->sending->heard = true;
    flight->mailing = NULL;
    sender->well = sender->well || flight->report.result == SEND_ACCEPTED || flight->report.result == SEND_REFUSED;
    outside_step(sender->outside);
}

static void put_off(SimulatedSender *sender, bool unbegun, bool relay, const char *words) {
    sender->outside->relay_failures += relay && !sender->outside->relay_failing;
    sender->outside->relay_failing = sender->outside->relay_failing || relay;
    sender->failed = sender->failed || relay;
    Mailing *mailing = &sender->mailings[sender->next++];
    mailing->report = (SendReport){.result = SEND_LATER, .relay = relay, .unbegun = unbegun, .operators = relay && sender->outside->operators,
                                   .at = sender->outside->now};
    snprintf(mailing->report.words, sizeof mailing->report.words, "%s", words);
    mailing->done = true;
}

static size_t in_flight(const SimulatedSender *sender) {
    size_t count = 0;
    for (int i = 0; i < LINES; i++)
        count += sender->flights[i].mailing != NULL;
    return count;
}

static void sender_begin(MailSender *base, Mailing *mailings, size_t count, Instant (*clock)(void *data), void *clock_data) {
    SimulatedSender *sender = (SimulatedSender *)base;
    (void)clock, (void)clock_data;
    if (in_flight(sender) || sender->next < sender->count)
        abort(); /* one batch at a time */
    for (size_t i = 0; i < count; i++)
        mailings[i].done = false;
    sender->mailings = mailings;
    sender->count = count;
    sender->next = 0;
    sender->failed = sender->well = false;
    outside_step(sender->outside);
}

/* One thing happens: a letter is handed over, or the relay answers on one of the lines, or it turns all away. */
static size_t sender_work(MailSender *base, struct pollfd *extra, size_t extra_count, int milliseconds) {
    SimulatedSender *sender = (SimulatedSender *)base;
    Outside *outside = sender->outside;
    for (size_t i = 0; i < extra_count; i++)
        extra[i].revents = 0;
    if (milliseconds > 0)
        outside_wait(outside, sender->next < sender->count || in_flight(sender));
    outside_step(outside);
    bool waiting = sender->next < sender->count;
    if (waiting && (outside->now < outside->relay_back || outside_one_in(outside, outside->faults.hang_up))) {
        for (bool first = true; sender->next < sender->count; first = false)
            put_off(sender, !first, true, "421 the simulated relay takes nothing now");
    } else {
        Flight *flight = &sender->flights[prng_below(&outside->random, LINES)];
        if (flight->mailing)
            land(sender, flight);
        else if (waiting)
            hand_over(sender, flight);
    }
    size_t left = sender->count - sender->next + in_flight(sender);
    if (left == 0 && sender->well && !sender->failed)
        outside->relay_failing = false;
    return left;
}

static void sender_stop(MailSender *base) {
    SimulatedSender *sender = (SimulatedSender *)base;
    while (sender->next < sender->count)
        put_off(sender, true, false, "not begun");
}

static int sender_probe(MailSender *base, Error *error) {
    Outside *outside = ((SimulatedSender *)base)->outside;
    outside_step(outside);
    bool fails = outside->now < outside->relay_back;
    outside->relay_failures += fails && !outside->relay_failing;
    outside->relay_failing = fails;
    return fails ? error_set(error, ERROR_MAILBOX, 0, "the simulated relay is not to be had") : 0;
}

static void sender_close(MailSender *base) {
    free(base);
}

MailSender *outside_relay(Outside *outside) {
    static const MailSenderOperations operations = {sender_begin, sender_work, sender_stop, sender_probe, sender_close};
    SimulatedSender *sender = calloc(1, sizeof *sender);
    if (!sender)
        abort();
    *sender = (SimulatedSender){.base = {&operations}, .outside = outside};
    return &sender->base;
}
