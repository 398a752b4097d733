/* The SMTP sender: letters of a batch over a few lines to one relay.
 *
 *     lane        what came                          letter                      lane goes to
 *     connecting  curl: connected                    is begun: MAIL              mail
 *                 curl: not, other lanes are open    waits for one of those      closed, and one lane fewer for this batch
 *                 curl: not, no other lane is open   later, relay's fault        closed; the rest of the batch is not begun
 *     mail        2xx                                                            rcpt
 *                 4xx                                later                       idle
 *                 5xx to <>                          again with our own address  mail
 *                 5xx too large                      refused                     idle
 *                 5xx else                           later, relay's fault        quitting; the rest is not begun
 *     rcpt        2xx                                                            data
 *                 4xx, 5xx                           later, refused              reset
 *     data        354                                is said                     dot
 *                 4xx, 55x                           later, refused              reset
 *                 50x                                later, relay's fault        quitting
 *     dot         2xx, 4xx, 5xx                      accepted, later, refused    idle
 *     reset       2xx                                                            idle
 *     mail … data 421 or loss, on a lane that has    once again at once          connecting
 *                 served a letter before
 *     mail        421 or loss on a new lane          later, relay's fault        closed; the rest is not begun
 *     rcpt … dot  421 or loss                        later; unknown from the     closed; at the second such loss in a row the rest is
 *                                                    last byte on                not begun
 *     idle        anything, or idle for too long                                 quitting
 *
 * A loss in mid-transaction is the letter's own: a letter that kills its relay's filter must not keep all others waiting. When the next one is
 * lost too it is the relay. */
#include "core/base/utf8.h"
#include "daemon/outbox/encode_mail.h"
#include "daemon/outbox/sender.h"
#include "daemon/outbox/sender_smtp_line.h"
#include "daemon/machine_clock.h"

#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LANES_MAX = 16,          /* more at once no relay likes */
    EXTRA_MAX = 16,          /* descriptors of the caller's; serve has two or three */
    ALIVE_MILLISECONDS = 500,
    IDLE_MILLISECONDS = 30 * 1000,  /* many relays close after a minute or five, none before */
    QUIT_MILLISECONDS = 2000,       /* for the reply to QUIT, which tells nothing */
    CLOSE_MILLISECONDS = 1000,      /* for all of them at the end */
    SILENCE_FACTOR = 4,      /* a relay may look at a recipient for four times as long as another server at anything */
    LETTER_FACTOR = 10,      /* a letter in all */
    LOSSES_MAX = 2,          /* in a row; then it is the relay */
    COMMAND_SIZE = 600,
};

typedef enum Step { STEP_CLOSED, STEP_CONNECT, STEP_IDLE, STEP_MAIL, STEP_RCPT, STEP_DATA, STEP_DOT, STEP_RESET, STEP_QUIT } Step;
static const char *const step_names[] = { "", "connecting", "waiting", "MAIL", "RCPT", "DATA", "the end of the letter", "RSET", "QUIT" };

typedef struct Lane {
    SmtpLine line;
    Step step;
    bool used;       /* a letter got an answer on this connection */
    bool stand_in;   /* this letter goes with our own address for the null sender */
    int letter;      /* its number in the batch; −1: none */
    int64_t letter_until, reply_until, idle_since;
    Str body;
    char command[COMMAND_SIZE];
} Lane;

typedef struct Post { /* beside each letter of the batch */
    bool taken;       /* by a lane */
    bool again;       /* it was begun once and its lane was lost */
} Post;

typedef struct SmtpSender {
    MailSender base;
    LineAccount account;
    CURLM *multi;
    char fallback[MAIL_ADDRESS_MAX + 1];
    bool null_refused; /* this relay takes no null sender */
    int lines;
    Lane lanes[LANES_MAX + 1]; /* the last one is the probe's */
    /* the batch */
    Mailing *mailings;
    Post *posts;
    size_t count, left, told; /* told: what work() returned last to one who waits */
    size_t first; /* all before are taken or done */
    int limit;    /* lanes that the relay seems to bear */
    int losses;   /* in a row */
    Instant (*clock)(void *data);
    void *clock_data;
    int64_t alive_due;
} SmtpSender;

static void tell_alive(SmtpSender *sender) {
    int64_t now = machine_milliseconds();
    if (sender->account.alive == NULL || now < sender->alive_due)
        return;
    sender->alive_due = now + ALIVE_MILLISECONDS;
    sender->account.alive();
}

static int operation_seconds(const SmtpSender *sender) {
    return sender->account.seconds > 0 ? sender->account.seconds : LINE_SECONDS;
}
static int connect_seconds(const SmtpSender *sender) {
    return sender->account.seconds > 0 ? sender->account.seconds : LINE_CONNECT_SECONDS;
}
static int letter_seconds(const SmtpSender *sender) {
    int seconds = operation_seconds(sender);
    return seconds < SENDER_LETTER_SECONDS / LETTER_FACTOR ? LETTER_FACTOR * seconds : SENDER_LETTER_SECONDS;
}

/* ---- what became of letters ---- */

static void settle(SmtpSender *sender, int number, SendReport report, const char *words) {
    Mailing *mailing = &sender->mailings[number];
    report.at = sender->clock(sender->clock_data);
    text_copy(report.words, sizeof report.words, words);
    while (!utf8_valid(report.words, strlen(report.words))) /* cut in the middle of a character */
        report.words[strlen(report.words) - 1] = 0;
    mailing->report = report;
    mailing->done = true;
    sender->posts[number].taken = true;
    sender->left--;
}

static void settle_lane(SmtpSender *sender, Lane *lane, SendResult result, const char *words) {
    settle(sender, lane->letter, (SendReport){ .result = result }, words);
    lane->letter = -1;
}

static void lane_close(Lane *lane) {
    smtp_line_close(&lane->line);
    str_free(&lane->body);
    lane->step = STEP_CLOSED;
}

static void lane_say(Lane *lane, Step step, int64_t until, const char *bytes, size_t length) {
    lane->step = step;
    lane->reply_until = until;
    smtp_line_say(&lane->line, bytes, length);
}

static void lane_quit(Lane *lane) {
    lane_say(lane, STEP_QUIT, machine_milliseconds() + QUIT_MILLISECONDS, "QUIT\r\n", 6);
}

static void lane_rest(Lane *lane) {
    str_free(&lane->body);
    lane->step = STEP_IDLE;
    lane->used = true;
    lane->idle_since = machine_milliseconds();
}

/* Letters that wait, and those of lanes that only connect, are done without having been begun. */
static void drop_rest(SmtpSender *sender, SendReport report, const char *words) {
    for (int i = 0; i < sender->lines; i++) {
        Lane *lane = &sender->lanes[i];
        if (lane->step != STEP_CONNECT || sender->posts[lane->letter].again)
            continue;
        sender->posts[lane->letter].taken = false;
        lane->letter = -1;
        lane_close(lane);
    }
    for (size_t i = 0; i < sender->count; i++)
        if (!sender->posts[i].taken) {
            report.unbegun = !sender->posts[i].again;
            settle(sender, (int)i, report, words);
        }
    sender->first = sender->count;
}

/* The lane's letter is not to blame, and no other is tried. */
static void relay_fault(SmtpSender *sender, Lane *lane, bool operators, const char *words) {
    SendReport report = { .result = SEND_LATER, .relay = true, .operators = operators };
    if (lane != NULL) {
        settle(sender, lane->letter, report, words);
        lane->letter = -1;
    }
    drop_rest(sender, report, words);
}

/* ---- a letter's way ---- */

static void begin_letter(SmtpSender *sender, Lane *lane);

static void lane_connect_failed(SmtpSender *sender, Lane *lane, bool operators, const char *words) {
    lane_close(lane);
    int others = 0;
    for (int i = 0; i < sender->lines; i++)
        others += sender->lanes[i].step != STEP_CLOSED && sender->lanes[i].step != STEP_QUIT;
    if (others == 0) {
        relay_fault(sender, lane, operators, words);
        return;
    }
    /* Relays bound the lines of one client: those that are open do the work. */
    sender->limit = others;
    sender->posts[lane->letter].taken = false;
    if ((size_t)lane->letter < sender->first)
        sender->first = (size_t)lane->letter;
    lane->letter = -1;
}

static void lane_connect(SmtpSender *sender, Lane *lane) {
    Error error;
    error_clear(&error);
    const char *name = strrchr(sender->fallback, '@') + 1;
    lane->step = STEP_CONNECT;
    lane->used = false;
    if (smtp_line_open(&lane->line, sender->multi, &sender->account, name, connect_seconds(sender), lane, &error) != 0)
        lane_connect_failed(sender, lane, error.grade == ERROR_INPUT, error.text);
}

/* No more words can be had on this lane; what: why. late: because time was over. */
static void lane_lost(SmtpSender *sender, Lane *lane, const char *what, bool late) {
    Step step = lane->step;
    bool handed_over = step == STEP_DOT && smtp_line_said(&lane->line);
    bool answered = lane->line.reply.whole && lane->line.reply.code == 421;
    lane_close(lane);
    if (lane->letter < 0)
        return;
    Post *post = &sender->posts[lane->letter];
    char words[SMTP_WORDS_SIZE];
    if (answered)
        text_copy(words, sizeof words, what);
    else
        snprintf(words, sizeof words, "%s at %s", what, step_names[step]);
    if (!handed_over && lane->used && !late && !post->again) {
        post->again = true;
        lane_connect(sender, lane);
        return;
    }
    if (step == STEP_MAIL) {
        relay_fault(sender, lane, false, words);
        return;
    }
    bool row = ++sender->losses >= LOSSES_MAX;
    if (row)
        sender->losses = 0;
    if (handed_over && !answered)
        settle_lane(sender, lane, SEND_UNKNOWN, words);
    else if (!row)
        settle_lane(sender, lane, SEND_LATER, words);
    if (row)
        relay_fault(sender, lane->letter < 0 ? NULL : lane, false, words);
}

static void say_command(SmtpSender *sender, Lane *lane, Step step, int length) {
    int64_t until = machine_milliseconds() + (int64_t)SILENCE_FACTOR * operation_seconds(sender) * 1000;
    if (length < 0 || length >= COMMAND_SIZE) /* addresses were looked at, so never */
        length = snprintf(lane->command, COMMAND_SIZE, "NOOP\r\n");
    lane_say(lane, step, until < lane->letter_until ? until : lane->letter_until, lane->command, (size_t)length);
}

static void say_mail(SmtpSender *sender, Lane *lane) {
    const Mailing *mailing = &sender->mailings[lane->letter];
    const char *from = lane->stand_in ? sender->fallback : mailing->envelope.from;
    char size[40] = "";
    if (lane->line.takes_size)
        snprintf(size, sizeof size, " SIZE=%zu", mailing->length);
    say_command(sender, lane, STEP_MAIL, snprintf(lane->command, COMMAND_SIZE, "MAIL FROM:<%s>%s\r\n", from, size));
}

static void begin_letter(SmtpSender *sender, Lane *lane) {
    const Mailing *mailing = &sender->mailings[lane->letter];
    str_init(&lane->body, 2 * mailing->length + 8);
    if (smtp_body_write(mailing->bytes, mailing->length, &lane->body) != SMTP_BODY_GOOD) { /* that it is good begin() saw */
        settle_lane(sender, lane, SEND_LATER, "no memory for sending the letter");
        lane_rest(lane);
        return;
    }
    lane->stand_in = *mailing->envelope.from == 0 && sender->null_refused;
    say_mail(sender, lane);
}

static void say_reset(SmtpSender *sender, Lane *lane) {
    str_free(&lane->body);
    lane->used = true;
    lane->letter_until = INT64_MAX;
    say_command(sender, lane, STEP_RESET, snprintf(lane->command, COMMAND_SIZE, "RSET\r\n"));
}

/* Codes that speak of us and our log-in wherever they are said (RFC 4954 6). */
static bool is_about_us(int code) {
    return code == 530 || code == 534 || code == 535 || code == 538;
}

static void fault_of_reply(SmtpSender *sender, Lane *lane) {
    relay_fault(sender, lane, true, lane->line.reply.words);
    lane_quit(lane);
}

static void on_mail(SmtpSender *sender, Lane *lane, const SmtpReply *reply) {
    const Mailing *mailing = &sender->mailings[lane->letter];
    if (reply->code < 300) {
        sender->null_refused = sender->null_refused || lane->stand_in;
        say_command(sender, lane, STEP_RCPT, snprintf(lane->command, COMMAND_SIZE, "RCPT TO:<%s>\r\n", mailing->envelope.to));
        return;
    }
    bool too_large = reply->code == 552 || smtp_reply_enhanced(reply, "5.3.4");
    if (reply->code < 500 || too_large) {
        settle_lane(sender, lane, reply->code < 500 ? SEND_LATER : SEND_REFUSED, reply->words);
        lane_rest(lane);
    } else if (*mailing->envelope.from == 0 && !lane->stand_in && !is_about_us(reply->code)) {
        lane->stand_in = true; /* RULINGS 37 */
        say_mail(sender, lane);
    } else
        fault_of_reply(sender, lane);
}

static void on_rcpt(SmtpSender *sender, Lane *lane, const SmtpReply *reply) {
    if (reply->code < 300)
        say_command(sender, lane, STEP_DATA, snprintf(lane->command, COMMAND_SIZE, "DATA\r\n"));
    else if (is_about_us(reply->code))
        fault_of_reply(sender, lane);
    else {
        sender->losses = 0;
        settle_lane(sender, lane, reply->code < 500 ? SEND_LATER : SEND_REFUSED, reply->words);
        say_reset(sender, lane);
    }
}

static void on_data(SmtpSender *sender, Lane *lane, const SmtpReply *reply) {
    if (reply->code == 354)
        lane_say(lane, STEP_DOT, lane->letter_until, lane->body.data, lane->body.length);
    else if (reply->code >= 500 && (reply->code < 550 || is_about_us(reply->code)))
        fault_of_reply(sender, lane);
    else {
        sender->losses = 0;
        settle_lane(sender, lane, reply->code < 500 ? SEND_LATER : SEND_REFUSED, reply->words);
        say_reset(sender, lane);
    }
}

static void on_dot(SmtpSender *sender, Lane *lane, const SmtpReply *reply) {
    bool said = smtp_line_said(&lane->line); /* a verdict before that ends the connection too */
    sender->losses = 0;
    settle_lane(sender, lane, reply->code < 300 ? SEND_ACCEPTED : reply->code < 500 ? SEND_LATER : SEND_REFUSED, reply->words);
    if (said)
        lane_rest(lane);
    else
        lane_close(lane);
}

static void lane_reply(SmtpSender *sender, Lane *lane) {
    const SmtpReply *reply = &lane->line.reply;
    int kind = reply->code / 100;
    bool expected = lane->step == STEP_DATA ? reply->code == 354 || kind >= 4 : kind == 2 || kind >= 4;
    if (lane->step == STEP_DOT && kind == 2 && !smtp_line_said(&lane->line))
        expected = false; /* accepted what it cannot have */
    /* Out of turn only a good-bye counts, and a no to a letter that begins to come */
    bool out_of_turn = lane->line.untimely && reply->code != 421 && (lane->step != STEP_DOT || kind < 4);
    if (lane->step == STEP_QUIT || (lane->step == STEP_RESET && kind != 2))
        lane_close(lane);
    else if (out_of_turn)
        lane_lost(sender, lane, "the server spoke out of turn", false);
    else if (!expected)
        lane_lost(sender, lane, "the server gave an answer that is none", false);
    else if (reply->code == 421)
        lane_lost(sender, lane, reply->words, false);
    else if (lane->step == STEP_MAIL)
        on_mail(sender, lane, reply);
    else if (lane->step == STEP_RCPT)
        on_rcpt(sender, lane, reply);
    else if (lane->step == STEP_DATA)
        on_data(sender, lane, reply);
    else if (lane->step == STEP_DOT)
        on_dot(sender, lane, reply);
    else
        lane_rest(lane);
}

/* ---- all lanes ---- */

/* Whether anything changed. */
static bool lane_work(SmtpSender *sender, Lane *lane) {
    bool changed = false;
    for (;;) {
        Step step = lane->step;
        int64_t now = machine_milliseconds();
        if (step == STEP_CLOSED)
            return changed;
        if (step == STEP_CONNECT) { /* curl's own limit comes first, but for a letter that is begun again */
            if (now >= lane->letter_until)
                lane_connect_failed(sender, lane, false, "no connection in time");
            return changed || lane->step != step;
        }
        if (step == STEP_IDLE) {
            if (!smtp_line_quiet(&lane->line))
                lane_close(lane);
            else if (now - lane->idle_since >= IDLE_MILLISECONDS)
                lane_quit(lane);
            else
                return changed;
            continue;
        }
        SmtpProgress progress = smtp_line_work(&lane->line);
        if (progress == SMTP_REPLIED)
            lane_reply(sender, lane);
        else if (progress == SMTP_BROKEN)
            lane_lost(sender, lane, lane->line.fault, false);
        else if (now >= lane->reply_until)
            lane_lost(sender, lane, "the server did not answer in time", true);
        else
            return changed;
        changed = true;
    }
}

static bool connect_work(SmtpSender *sender) {
    bool connecting = false, changed = false;
    for (int i = 0; i <= sender->lines; i++)
        connecting |= sender->lanes[i].step == STEP_CONNECT;
    if (!connecting)
        return false;
    int running = 0, queued = 0;
    curl_multi_perform(sender->multi, &running);
    for (CURLMsg *message; (message = curl_multi_info_read(sender->multi, &queued)) != NULL;) {
        void *owner = NULL;
        if (message->msg != CURLMSG_DONE || curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owner) != CURLE_OK || owner == NULL)
            continue;
        Lane *lane = owner;
        Error error;
        error_clear(&error);
        bool operators = false;
        int result = smtp_line_opened(&lane->line, message->data.result, &sender->account, &operators, &error);
        if (result == 0 && lane->letter >= 0)
            begin_letter(sender, lane);
        else if (result == 0)
            lane_rest(lane);
        else
            lane_connect_failed(sender, lane, operators, error.text);
        changed = true;
    }
    return changed;
}

/* An idle lane first, then a new one. NULL: all that may be are busy. */
static Lane *find_lane(SmtpSender *sender) {
    Lane *closed = NULL;
    int open = 0;
    for (int i = 0; i < sender->lines; i++) {
        Lane *lane = &sender->lanes[i];
        if (lane->step == STEP_IDLE)
            return lane;
        if (lane->step == STEP_CLOSED)
            closed = lane;
        else if (lane->step != STEP_QUIT)
            open++;
    }
    return open < sender->limit ? closed : NULL;
}

/* Each new lane runs the command for the secret: one at a time, so that whoever called gets his turn. */
static bool opens_slowly(const SmtpSender *sender) {
    return sender->account.secret.command != NULL || sender->account.secret.token != NULL;
}

static bool hand_out(SmtpSender *sender, bool *opened) {
    bool changed = false;
    for (;; changed = true) {
        while (sender->first < sender->count && sender->posts[sender->first].taken)
            sender->first++;
        Lane *lane = sender->first < sender->count ? find_lane(sender) : NULL;
        if (lane == NULL || (lane->step != STEP_IDLE && *opened && opens_slowly(sender)))
            return changed;
        sender->posts[sender->first].taken = true;
        lane->letter = (int)sender->first;
        lane->letter_until = machine_milliseconds() + (int64_t)letter_seconds(sender) * 1000;
        if (lane->step == STEP_IDLE)
            begin_letter(sender, lane);
        else {
            *opened = true;
            lane_connect(sender, lane);
        }
    }
}

/* All that can be done without waiting. Whether anything changed. */
static bool advance(SmtpSender *sender) {
    bool changed = false, opened = false, more;
    do {
        more = connect_work(sender);
        for (int i = 0; i < sender->lines; i++)
            more |= lane_work(sender, &sender->lanes[i]);
        more |= hand_out(sender, &opened);
        changed |= more;
        tell_alive(sender);
    } while (more);
    return changed;
}

/* Until a socket or one of the caller's descriptors is ready. */
static void wait_for_any(SmtpSender *sender, const struct pollfd *extra, size_t extra_count, int milliseconds) {
    struct curl_waitfd descriptors[EXTRA_MAX + LANES_MAX + 1];
    unsigned count = 0;
    for (size_t i = 0; i < extra_count && i < EXTRA_MAX; i++)
        if (extra[i].fd >= 0)
            descriptors[count++] = (struct curl_waitfd){ .fd = extra[i].fd, .events = CURL_WAIT_POLLIN };
    for (int i = 0; i <= sender->lines; i++) {
        const SmtpLine *line = &sender->lanes[i].line;
        if (sender->lanes[i].step > STEP_CONNECT)
            descriptors[count++] = (struct curl_waitfd){ .fd = line->socket,
                                                         .events = smtp_line_said(line) ? CURL_WAIT_POLLIN : CURL_WAIT_POLLIN | CURL_WAIT_POLLOUT };
    }
    curl_multi_poll(sender->multi, descriptors, count, milliseconds, NULL);
}

static size_t smtp_work(MailSender *base, struct pollfd *extra, size_t extra_count, int milliseconds) {
    SmtpSender *sender = (SmtpSender *)base;
    int64_t until = machine_milliseconds() + milliseconds;
    for (;;) {
        advance(sender);
        /* curl's own waiting tells of no hang-up */
        int ready = extra_count > 0 ? poll(extra, (nfds_t)extra_count, 0) : 0;
        int64_t now = machine_milliseconds();
        if (ready != 0 || now >= until || sender->left < sender->told) {
            if (milliseconds > 0) /* who does not wait need not be the one who waits for the end */
                sender->told = sender->left;
            return sender->left;
        }
        int64_t slice = until - now < ALIVE_MILLISECONDS ? until - now : ALIVE_MILLISECONDS;
        wait_for_any(sender, extra, extra_count, (int)slice);
    }
}

/* ---- the table of functions ---- */

static const char *envelope_fault(const Envelope *envelope) {
    const char *addresses[] = { envelope->to, *envelope->from == 0 ? "x@x" : envelope->from };
    for (size_t i = 0; i < 2; i++)
        for (const char *byte = addresses[i]; *byte != 0; byte++)
            if ((unsigned char)*byte > 0x7e)
                return "the address is not ASCII, and no other is sent to";
    return mail_address_good(addresses[0]) && mail_address_good(addresses[1]) ? NULL : "an address of the envelope is not well-formed";
}

/* A fault of ours: it is seen before the letter goes, and never sent as it is. */
static const char *letter_fault(const Mailing *mailing) {
    Str body;
    str_init(&body, 2 * mailing->length + 8);
    bool bad = smtp_body_write(mailing->bytes, mailing->length, &body) == SMTP_BODY_BAD;
    str_free(&body);
    return bad ? "the letter holds a CR or LF alone, a NUL, or bytes that are not 7-bit: it was not sent" : NULL;
}

static void smtp_begin(MailSender *base, Mailing *mailings, size_t count, Instant (*clock)(void *data), void *clock_data) {
    SmtpSender *sender = (SmtpSender *)base;
    free(sender->posts);
    sender->posts = calloc(count + 1, sizeof *sender->posts);
    sender->mailings = mailings;
    sender->count = sender->posts == NULL ? 0 : count;
    sender->told = sender->left = sender->count;
    sender->first = 0;
    sender->limit = sender->lines;
    sender->losses = 0;
    sender->clock = clock;
    sender->clock_data = clock_data;
    for (size_t i = 0; i < count; i++)
        mailings[i].done = false;
    for (size_t i = 0; i < sender->count; i++) {
        const char *fault = envelope_fault(&mailings[i].envelope);
        if (fault == NULL)
            fault = letter_fault(&mailings[i]);
        if (fault != NULL)
            settle(sender, (int)i, (SendReport){ .result = SEND_REFUSED }, fault);
    }
    for (size_t i = sender->count; i < count; i++) { /* no memory */
        mailings[i].done = true;
        mailings[i].report = (SendReport){ .result = SEND_LATER, .unbegun = true, .at = clock(clock_data), .words = "no memory for sending" };
    }
}

static void smtp_stop(MailSender *base) {
    drop_rest((SmtpSender *)base, (SendReport){ .result = SEND_LATER }, "not begun: the service was stopped");
}

/* Says good-bye on all lanes without a letter, and waits a little for the answers. */
static void quit_all(SmtpSender *sender, int milliseconds) {
    int64_t until = machine_milliseconds() + milliseconds;
    for (;;) {
        int quitting = 0;
        for (int i = 0; i <= sender->lines; i++) {
            Lane *lane = &sender->lanes[i];
            if (lane->step == STEP_RESET || lane->step == STEP_QUIT)
                lane_work(sender, lane);
            if (lane->step == STEP_IDLE) {
                lane_quit(lane);
                lane_work(sender, lane);
            }
            quitting += lane->step == STEP_RESET || lane->step == STEP_QUIT;
        }
        int64_t now = machine_milliseconds();
        if (quitting == 0 || now >= until)
            return;
        tell_alive(sender);
        wait_for_any(sender, NULL, 0, until - now < ALIVE_MILLISECONDS ? (int)(until - now) : ALIVE_MILLISECONDS);
    }
}

static int smtp_probe(MailSender *base, Error *error) {
    SmtpSender *sender = (SmtpSender *)base;
    Lane *lane = &sender->lanes[sender->lines];
    const char *name = strrchr(sender->fallback, '@') + 1;
    CURLM *multi = curl_multi_init(); /* of its own: a batch's lanes are not its business */
    if (multi == NULL)
        return error_set(error, ERROR_LATER, 0, "no memory for a connection to %s", sender->account.url);
    int result = smtp_line_open(&lane->line, multi, &sender->account, name, connect_seconds(sender), lane, error);
    if (result == 0) {
        int running = 1, queued = 0;
        while (curl_multi_perform(multi, &running) == CURLM_OK && running > 0) {
            tell_alive(sender);
            curl_multi_poll(multi, NULL, 0, ALIVE_MILLISECONDS, NULL);
        }
        const CURLMsg *message = curl_multi_info_read(multi, &queued);
        bool operators;
        CURLcode code = message == NULL || message->msg != CURLMSG_DONE ? CURLE_OUT_OF_MEMORY : message->data.result;
        result = smtp_line_opened(&lane->line, code, &sender->account, &operators, error);
    }
    if (result == 0) {
        lane_rest(lane);
        quit_all(sender, CLOSE_MILLISECONDS);
    }
    lane_close(lane);
    curl_multi_cleanup(multi);
    return result;
}

static void smtp_close(MailSender *base) {
    SmtpSender *sender = (SmtpSender *)base;
    quit_all(sender, CLOSE_MILLISECONDS);
    for (int i = 0; i <= sender->lines; i++)
        lane_close(&sender->lanes[i]);
    curl_multi_cleanup(sender->multi);
    free(sender->posts);
    free(sender);
}

MailSender *sender_smtp_open(const LineAccount *account, int lines, const char *fallback, Error *error) {
    static const MailSenderOperations operations = { smtp_begin, smtp_work, smtp_stop, smtp_probe, smtp_close };
    if (lines < 1 || lines > LANES_MAX || !mail_address_good(fallback)) {
        error_set(error, ERROR_INPUT, 0, "Letters go over 1 to %d lines and are the service's own address's: correct `lines` in [outgoing] or `address` in [service].",
                  LANES_MAX);
        return NULL;
    }
    bool made = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    SmtpSender *sender = made ? calloc(1, sizeof *sender) : NULL;
    if (sender != NULL)
        sender->multi = curl_multi_init();
    if (sender == NULL || sender->multi == NULL) {
        error_set(error, ERROR_LATER, 0, "There is no memory for sending letters by SMTP.");
        free(sender);
        return NULL;
    }
    sender->base.operations = &operations;
    sender->account = *account;
    sender->lines = lines;
    text_copy(sender->fallback, sizeof sender->fallback, fallback);
    for (int i = 0; i <= lines; i++) {
        sender->lanes[i].letter = -1;
        str_init(&sender->lanes[i].body, 0);
    }
    return &sender->base;
}
