/* The SMTP sender against tests/mail/fake_smtp.py, a relay that follows rules: each fault at each stage, and what becomes of the letter, of those behind
 * it and of the line. Run from the project's folder. */
#include "core/base/str.h"
#include "daemon/outbox/sender.h"

#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { WORDS_MAX = 16, LETTERS_MAX = 64, BIG = 6 * 1024 * 1024, NOON = 1000000, PATIENCE = 60 };

/* ---- the relay ---- */

typedef struct Relay {
    pid_t process;
    int input, output;
    char url[60];
    Str heard; /* after relay_end(): a line for each thing that happened, "1 MAIL FROM:<…>" */
} Relay;

/* Rules divided by blanks; '_' stands for a blank in them. */
static void relay_start(Relay *relay, const char *rules) {
    int in[2], out[2];
    char text[1000], python[] = "/usr/bin/python3", server[] = "tests/mail/fake_smtp.py", *words[WORDS_MAX + 3] = { python, server };
    size_t count = 2;
    assert_true(text_copy(text, sizeof text, rules));
    for (char *at = text; *at != 0;) {
        assert_true(count < WORDS_MAX);
        words[count++] = at;
        for (; *at != 0 && *at != ' '; at++)
            if (*at == '_')
                *at = ' ';
        if (*at != 0)
            *at++ = 0;
    }
    words[count] = NULL;
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    relay->process = fork();
    if (relay->process == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        execv(words[0], words);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    relay->input = in[1];
    relay->output = out[0];
    str_init(&relay->heard, (size_t)1024 * 1024);
    char port[20] = "";
    for (size_t at = 0; at < sizeof port - 1 && (at == 0 || port[at - 1] != '\n'); at++)
        assert_int_equal(read(relay->output, port + at, 1), 1);
    snprintf(relay->url, sizeof relay->url, "smtp://127.0.0.1:%ld", strtol(port, NULL, 10));
}

static void relay_end(Relay *relay) {
    close(relay->input);
    char piece[4096];
    for (ssize_t length; (length = read(relay->output, piece, sizeof piece)) > 0;)
        str_append_bytes(&relay->heard, piece, (size_t)length);
    close(relay->output);
    int status;
    assert_int_equal(waitpid(relay->process, &status, 0), relay->process);
    assert_int_equal(status, 0);
    assert_false(relay->heard.overflowed);
}

static int heard(const Relay *relay, const char *what) {
    int count = 0;
    for (const char *at = relay->heard.data; (at = strstr(at, what)) != NULL; at++)
        count++;
    return count;
}

/* ---- letters ---- */

typedef struct Batch {
    Mailing mailings[LETTERS_MAX];
    size_t count;
} Batch;

static const char small[] = "Subject: x\r\n\r\n.\r\n..e4\r\n.e5\r\n";
static char *big;

static Instant clock_now(void *data) {
    (void)data;
    return NOON;
}

static int alive_calls;
static void count_alive(void) {
    alive_calls++;
}

static int64_t seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static LineAccount account_of(const Relay *relay) {
    return (LineAccount){ .url = relay->url, .plain = true, .seconds = 1, .alive = count_alive };
}

static MailSender *open_sender(const LineAccount *account, int lines) {
    Error error = { 0 };
    MailSender *sender = sender_smtp_open(account, lines, "chess@club.example", &error);
    assert_non_null(sender);
    return sender;
}

static void begin(MailSender *sender, Batch *batch, size_t count, const char *from, const char *bytes, size_t length) {
    memset(batch, 0, sizeof *batch);
    batch->count = count;
    for (size_t i = 0; i < count; i++)
        batch->mailings[i] = (Mailing){ .envelope = { from, "anna@example.org", "1@club.example" }, .bytes = bytes, .length = length };
    sender->operations->begin(sender, batch->mailings, count, clock_now, NULL);
}

static void finish(MailSender *sender, Batch *batch) {
    int64_t until = seconds() + PATIENCE;
    while (sender->operations->work(sender, NULL, 0, 1000) > 0)
        assert_true(seconds() < until);
    for (size_t i = 0; i < batch->count; i++) {
        assert_true(batch->mailings[i].done);
        assert_int_equal(batch->mailings[i].report.at, NOON);
        assert_true(batch->mailings[i].report.words[0] != 0);
    }
}

static void send_batch(MailSender *sender, Batch *batch, size_t count) {
    begin(sender, batch, count, "chess+b.x@club.example", small, sizeof small - 1);
    finish(sender, batch);
}

static int count_results(const Batch *batch, SendResult result, bool relay, bool unbegun) {
    int count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        const SendReport *report = &batch->mailings[i].report;
        count += report->result == result && report->relay == relay && report->unbegun == unbegun;
    }
    return count;
}

static void expect_all(const Batch *batch, SendResult result) {
    for (size_t i = 0; i < batch->count; i++)
        if (batch->mailings[i].report.result != result)
            fail_msg("letter %zu: %d, %s", i, (int)batch->mailings[i].report.result, batch->mailings[i].report.words);
}

/* ---- one letter, one fault ---- */

enum { NOTHING = 0, RELAY = 1, OPERATORS = 2, LARGE = 4 };

typedef struct Fault {
    const char *rules;
    SendResult result;
    int flags; /* RELAY, OPERATORS: of the report; LARGE: of the letter */
    const char *words; /* part of the report's */
} Fault;

static const Fault faults[] = {
    { "", SEND_ACCEPTED, NOTHING, "250 2.0.0 ok: queued as 1" },
    { "--size 100000", SEND_ACCEPTED, NOTHING, "250" },
    { "connect=slow:0.5;220_hello", SEND_ACCEPTED, NOTHING, "250" },
    { "ehlo=502_5.5.1_what", SEND_ACCEPTED, NOTHING, "250" }, /* HELO then */
    { "mail=drip:0.01;250_ok rcpt=251_2.1.5_will_forward", SEND_ACCEPTED, NOTHING, "250" },
    { "dot=250-2.0.0_thank|250-2.0.0_you|250_2.0.0_Anna", SEND_ACCEPTED, NOTHING, "250 2.0.0 thank you Anna" },
    /* before any letter it is the relay's fault, whatever the code */
    { "connect=421_4.3.2_busy;drop", SEND_LATER, RELAY, "421 4.3.2 busy" },
    { "connect=450_4.3.2_busy", SEND_LATER, RELAY, "450 4.3.2 busy" },
    { "connect=554_5.7.1_not_you", SEND_LATER, RELAY | OPERATORS, "554 5.7.1 not you" },
    { "connect=drop", SEND_LATER, RELAY, "" },
    { "connect=reset", SEND_LATER, RELAY, "" },
    { "connect=silent", SEND_LATER, RELAY, "" },
    { "connect=endless", SEND_LATER, RELAY, "" },
    { "ehlo=flood", SEND_LATER, RELAY, "" },
    { "ehlo=drop", SEND_LATER, RELAY, "" },
    { "ehlo=421_4.7.0_later;drop", SEND_LATER, RELAY, "421 4.7.0 later" },
    { "ehlo=550_5.7.1_who helo=550_5.7.1_who", SEND_LATER, RELAY | OPERATORS, "550 5.7.1 who" },
    /* MAIL: a 4xx is the letter's, a 5xx speaks of us, but for the letter's size */
    { "mail=451_4.3.0_later", SEND_LATER, NOTHING, "451 4.3.0 later" },
    { "mail=421_4.7.0_later;drop", SEND_LATER, RELAY, "421 4.7.0 later" },
    { "mail=550_5.7.1_not_you", SEND_LATER, RELAY | OPERATORS, "550 5.7.1 not you" },
    { "mail=530_5.7.0_log_in", SEND_LATER, RELAY | OPERATORS, "530 5.7.0 log in" },
    { "mail=552_5.3.4_too_large", SEND_REFUSED, NOTHING, "552 5.3.4 too large" },
    { "mail=554_5.3.4_too_large", SEND_REFUSED, NOTHING, "554 5.3.4 too large" },
    { "mail=drop", SEND_LATER, RELAY, "the server closed the connection at MAIL" },
    { "mail=reset", SEND_LATER, RELAY, "at MAIL" },
    { "mail=silent", SEND_LATER, RELAY, "did not answer in time at MAIL" },
    { "mail=354_what", SEND_LATER, RELAY, "at MAIL" },
    { "mail=endless", SEND_LATER, RELAY, "cannot be read at MAIL" },
    { "mail=flood", SEND_LATER, RELAY, "cannot be read at MAIL" },
    { "rcpt=450_4.2.1_greylisted", SEND_LATER, NOTHING, "450 4.2.1 greylisted" },
    { "rcpt=550-5.1.1_no_such|550_5.1.1_user", SEND_REFUSED, NOTHING, "550 5.1.1 no such user" },
    { "rcpt=530_5.7.0_log_in", SEND_LATER, RELAY | OPERATORS, "530 5.7.0 log in" },
    { "rcpt=drop", SEND_LATER, NOTHING, "closed the connection at RCPT" },
    { "rcpt=421_4.7.0_later;drop", SEND_LATER, NOTHING, "421 4.7.0 later" },
    { "rcpt=silent", SEND_LATER, NOTHING, "at RCPT" },
    { "data=451_4.3.0_later", SEND_LATER, NOTHING, "451 4.3.0 later" },
    { "data=554_5.6.0_no", SEND_REFUSED, NOTHING, "554 5.6.0 no" },
    { "data=503_5.5.1_no", SEND_LATER, RELAY | OPERATORS, "503 5.5.1 no" },
    { "data=drop", SEND_LATER, NOTHING, "at DATA" },
    { "data=250_what", SEND_LATER, NOTHING, "at DATA" },
    { "data=354_go|250_accepted_already", SEND_LATER, NOTHING, "out of turn" },
    /* the letter itself */
    { "body=drop", SEND_LATER, LARGE, "" },
    { "body=552_5.3.4_too_large;drop", SEND_REFUSED, LARGE, "552 5.3.4 too large" },
    { "body=452_4.3.1_full;drop", SEND_LATER, LARGE, "452 4.3.1 full" },
    { "body=250_accepted_already;drop", SEND_LATER, LARGE, "" },
    { "dot=250_ok", SEND_ACCEPTED, LARGE, "250 ok" },
    { "dot=451_4.3.0_later", SEND_LATER, NOTHING, "451 4.3.0 later" },
    { "dot=550_5.7.1_spam", SEND_REFUSED, NOTHING, "550 5.7.1 spam" },
    { "dot=552_5.2.2_full", SEND_REFUSED, NOTHING, "552 5.2.2 full" },
    { "dot=421_4.3.2_going;drop", SEND_LATER, NOTHING, "421 4.3.2 going" },
    { "dot=drop", SEND_UNKNOWN, NOTHING, "closed the connection at the end of the letter" },
    { "dot=reset", SEND_UNKNOWN, NOTHING, "at the end of the letter" },
    { "dot=silent", SEND_UNKNOWN, NOTHING, "did not answer in time at the end of the letter" },
    { "dot=hello", SEND_UNKNOWN, NOTHING, "at the end of the letter" },
    { "dot=354_more", SEND_UNKNOWN, NOTHING, "at the end of the letter" },
    { "dot=250-ok|550_no", SEND_UNKNOWN, NOTHING, "at the end of the letter" },
    { "dot=25", SEND_UNKNOWN, NOTHING, "at the end of the letter" },
    { "dot=flood", SEND_UNKNOWN, NOTHING, "at the end of the letter" },
    { "dot=endless", SEND_UNKNOWN, NOTHING, "at the end of the letter" },
};

static void test_faults(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const Fault *fault = &faults[i];
        Relay relay;
        relay_start(&relay, fault->rules);
        LineAccount account = account_of(&relay);
        account.seconds = strstr(fault->rules, "silent") != NULL || strstr(fault->rules, "connect=endless") != NULL ? 1 : 5;
        MailSender *sender = open_sender(&account, 2);
        Batch batch;
        bool large = (fault->flags & LARGE) != 0;
        begin(sender, &batch, 1, "chess+b.x@club.example", large ? big : small, large ? BIG : sizeof small - 1);
        finish(sender, &batch);
        sender->operations->close(sender);
        relay_end(&relay);
        const SendReport *report = &batch.mailings[0].report;
        if (report->result != fault->result || report->relay != ((fault->flags & RELAY) != 0) ||
            report->operators != ((fault->flags & OPERATORS) != 0) || report->unbegun || strstr(report->words, fault->words) == NULL)
            fail_msg("%s: result %d%s%s%s, \"%s\"", fault->rules, (int)report->result, report->relay ? ", relay" : "", report->operators ? ", operators" : "",
                     report->unbegun ? ", unbegun" : "", report->words);
        /* tried once, and good-bye said wherever the connection bears it */
        assert_int_equal(heard(&relay, " CONNECT\n"), 1);
        if (fault->result == SEND_ACCEPTED || fault->result == SEND_REFUSED)
            assert_int_equal(heard(&relay, " QUIT\n"), strstr(fault->rules, "drop") == NULL);
        str_free(&relay.heard);
    }
}

static void test_wire(void **state) {
    (void)state;
    Relay relay;
    relay_start(&relay, "--size 100000");
    LineAccount account = account_of(&relay);
    MailSender *sender = open_sender(&account, 1);
    Batch batch;
    send_batch(sender, &batch, 1);
    expect_all(&batch, SEND_ACCEPTED);
    begin(sender, &batch, 1, "", "A: b\r\n\r\nno line end", 19);
    finish(sender, &batch);
    expect_all(&batch, SEND_ACCEPTED);
    sender->operations->close(sender);
    relay_end(&relay);
    char expected[400];
    snprintf(expected, sizeof expected,
             "1 CONNECT\n1 EHLO club.example\n1 MAIL FROM:<chess+b.x@club.example> SIZE=%zu\n1 RCPT TO:<anna@example.org>\n1 DATA\n1 LETTER ", sizeof small - 1);
    assert_memory_equal(relay.heard.data, expected, strlen(expected));
    char hex[200];
    for (size_t i = 0; i < sizeof small - 1; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned)small[i]);
    assert_int_equal(heard(&relay, hex), 1);
    assert_int_equal(heard(&relay, "6e6f206c696e6520656e640d0a\n"), 1); /* and its end was added */
    assert_int_equal(heard(&relay, "1 MAIL FROM:<> SIZE=19\n"), 1);
    str_free(&relay.heard);
}

/* ---- several letters ---- */

typedef struct Course { /* of `letters` letters over `lines` lines */
    const char *rules;
    int lines, letters;
    int accepted, refused, unknown, later, relay, unbegun; /* what becomes of them; unbegun: of the relay's fault */
    int connections; /* −1: does not matter */
    int arrived;     /* at the relay, whole; −1 likewise */
} Course;

static const Course courses[] = {
    /* one line is kept */
    { "", 1, 10, 10, 0, 0, 0, 0, 0, 1, 10 },
    { "rcpt=550_5.1.1_no", 1, 5, 0, 5, 0, 0, 0, 0, 1, 0 },
    { "rcpt=450_4.2.1_no", 1, 5, 0, 0, 0, 5, 0, 0, 1, 0 },
    { "mail=450_4.7.1_no", 1, 5, 0, 0, 0, 5, 0, 0, 1, 0 },
    { "data=451_4.3.0_no", 1, 5, 0, 0, 0, 5, 0, 0, 1, 0 },
    { "dot=451_4.3.0_no", 1, 5, 0, 0, 0, 5, 0, 0, 1, 5 },
    { "rcpt#2=550_5.1.1_no", 1, 5, 4, 1, 0, 0, 0, 0, 1, 4 },
    { "rcpt#2=550_5.1.1_no rset=500_what", 1, 5, 4, 1, 0, 0, 0, 0, 2, 4 },
    /* a reused line that ends: the same letter at once on a new one */
    { "mail@1+2=421_4.4.2_idle;drop", 1, 4, 4, 0, 0, 0, 0, 0, 2, 4 },
    { "rcpt@1+2=421_4.4.2_idle;drop", 1, 4, 4, 0, 0, 0, 0, 0, 2, 4 },
    { "data@1+2=421_4.4.2_idle;drop", 1, 4, 4, 0, 0, 0, 0, 0, 2, 4 },
    { "mail@1+2=drop", 1, 4, 4, 0, 0, 0, 0, 0, 2, 4 },
    { "rcpt@1+3=reset", 1, 4, 4, 0, 0, 0, 0, 0, 2, 4 },
    { "data+2=drop", 1, 4, 4, 0, 0, 0, 0, 0, 4, 4 },
    { "dot=250_ok;drop", 1, 4, 4, 0, 0, 0, 0, 0, 4, 4 },
    { "dot=250_ok|421_4.4.2_that_was_all;drop", 1, 4, 4, 0, 0, 0, 0, 0, 4, 4 },
    /* but once only, and never a letter that may have been taken */
    { "mail@1+2=421_4.4.2_idle;drop connect@2=421_4.3.2_busy;drop", 1, 4, 1, 0, 0, 0, 1, 2, 2, 1 },
    { "mail@1+2=421_4.4.2_idle;drop mail@2=421_4.3.2_busy;drop", 1, 4, 1, 0, 0, 0, 1, 2, 2, 1 },
    { "dot@1+2=drop", 1, 4, 3, 0, 1, 0, 0, 0, 2, 4 },
    { "dot@1+2=421_4.3.2_going;drop", 1, 4, 3, 0, 0, 1, 0, 0, 2, 4 },
    /* the relay's fault: one is tried, the others are not begun */
    { "connect=421_4.3.2_busy;drop", 1, 5, 0, 0, 0, 0, 1, 4, 1, 0 },
    { "connect=drop", 4, 9, 0, 0, 0, 0, 1, 8, 4, 0 },
    { "mail=550_5.7.1_not_you", 1, 5, 0, 0, 0, 0, 1, 4, 1, 0 },
    { "mail#3=421_4.7.0_enough mail@2=421_4.7.0_enough", 1, 5, 2, 0, 0, 0, 1, 2, 2, 2 },
    /* lost in the middle: the letter's own fault, at the second in a row the relay's */
    { "rcpt#1=drop", 1, 5, 4, 0, 0, 1, 0, 0, 2, 4 },
    { "rcpt=drop", 1, 5, 0, 0, 0, 1, 1, 3, 2, 0 },
    { "dot=drop", 1, 5, 0, 0, 2, 0, 0, 3, 2, 2 },
    { "dot@1=drop dot@2+2=drop", 1, 5, 3, 0, 2, 0, 0, 0, -1, 5 },
    /* a relay that bears few lines */
    { "connect@3=421_4.7.0_too_many;drop connect@4=421_4.7.0_too_many;drop dot=slow:0.1;250_ok", 4, 12, 12, 0, 0, 0, 0, 0, 4, 12 },
    { "dot=slow:0.3;250_ok", 4, 12, 12, 0, 0, 0, 0, 0, 4, 12 },
    { "dot=slow:0.3;250_ok", 4, 2, 2, 0, 0, 0, 0, 0, 2, 2 },
};

static void test_courses(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof courses / sizeof courses[0]; i++) {
        const Course *course = &courses[i];
        Relay relay;
        relay_start(&relay, course->rules);
        LineAccount account = account_of(&relay);
        account.seconds = 10;
        MailSender *sender = open_sender(&account, course->lines);
        Batch batch;
        send_batch(sender, &batch, (size_t)course->letters);
        sender->operations->close(sender);
        relay_end(&relay);
        int found[] = { count_results(&batch, SEND_ACCEPTED, false, false), count_results(&batch, SEND_REFUSED, false, false),
                        count_results(&batch, SEND_UNKNOWN, false, false), count_results(&batch, SEND_LATER, false, false),
                        count_results(&batch, SEND_LATER, true, false), count_results(&batch, SEND_LATER, true, true),
                        course->connections < 0 ? -1 : heard(&relay, " CONNECT\n"), course->arrived < 0 ? -1 : heard(&relay, " LETTER ") };
        int expected[] = { course->accepted, course->refused, course->unknown, course->later, course->relay, course->unbegun, course->connections,
                           course->arrived };
        if (memcmp(found, expected, sizeof found) != 0)
            fail_msg("%s: accepted %d, refused %d, unknown %d, later %d, relay %d, unbegun %d, connections %d, arrived %d", course->rules, found[0], found[1],
                     found[2], found[3], found[4], found[5], found[6], found[7]);
        str_free(&relay.heard);
    }
}

static void test_null_sender(void **state) {
    (void)state;
    Relay relay;
    relay_start(&relay, "mail~FROM:<>=550_5.7.1_no_null_sender");
    LineAccount account = account_of(&relay);
    MailSender *sender = open_sender(&account, 1);
    Batch batch;
    for (int round = 0; round < 2; round++) {
        begin(sender, &batch, 2, "", small, sizeof small - 1);
        finish(sender, &batch);
        expect_all(&batch, SEND_ACCEPTED);
    }
    sender->operations->close(sender);
    relay_end(&relay);
    assert_int_equal(heard(&relay, "MAIL FROM:<>"), 1); /* then it is known */
    assert_int_equal(heard(&relay, "MAIL FROM:<chess@club.example>"), 4);
    assert_int_equal(heard(&relay, " CONNECT\n"), 1);
    str_free(&relay.heard);

    /* a relay that refuses us altogether has said nothing about the null sender */
    relay_start(&relay, "mail#1=550_5.7.1_no mail#2=550_5.7.1_no");
    account = account_of(&relay);
    sender = open_sender(&account, 1);
    begin(sender, &batch, 2, "", small, sizeof small - 1);
    finish(sender, &batch);
    assert_int_equal(count_results(&batch, SEND_LATER, true, false), 1);
    assert_int_equal(count_results(&batch, SEND_LATER, true, true), 1);
    begin(sender, &batch, 1, "", small, sizeof small - 1);
    finish(sender, &batch);
    expect_all(&batch, SEND_ACCEPTED);
    sender->operations->close(sender);
    relay_end(&relay);
    assert_int_equal(heard(&relay, "MAIL FROM:<>"), 2);
    assert_int_equal(heard(&relay, "MAIL FROM:<chess@club.example>"), 1);
    str_free(&relay.heard);
}

/* The next batch tries anew. */
static void test_after_fault(void **state) {
    (void)state;
    Relay relay;
    relay_start(&relay, "connect@1=421_4.3.2_busy;drop");
    LineAccount account = account_of(&relay);
    MailSender *sender = open_sender(&account, 1);
    Batch batch;
    send_batch(sender, &batch, 3);
    assert_int_equal(count_results(&batch, SEND_LATER, true, true), 2);
    send_batch(sender, &batch, 3);
    expect_all(&batch, SEND_ACCEPTED);
    sender->operations->close(sender);
    relay_end(&relay);
    str_free(&relay.heard);
}

/* Nothing that could be read as something else by a relay leaves us. */
static void test_never_sent(void **state) {
    (void)state;
    static const char *const addresses[] = { "anna@example.org>\r\nRCPT TO:<eve@example.org", "an na@example.org", "anna@example.org\n", "j\xc3\xb6rg@example.org",
                                             "anna@ex\xc3\xa4mple.org", "", "anna", "anna@example.org> SIZE=1", "a\x01@example.org" };
    static const char *const letters[] = { "A: b\n\nx\r\n", "A: b\r\n\r\nx\n.\nMAIL FROM:<>\r\n", "A: b\r\n\r\nx\r.\r\n", "A: b\r\n\r\n\xc3\xa4\r\n", "A: b\r\n\r\nx\r" };
    Relay relay;
    relay_start(&relay, "");
    LineAccount account = account_of(&relay);
    MailSender *sender = open_sender(&account, 1);
    size_t address_count = sizeof addresses / sizeof addresses[0], letter_count = sizeof letters / sizeof letters[0];
    for (size_t i = 0; i < 2 * address_count + letter_count; i++) {
        const char *from = "chess@club.example", *to = "anna@example.org", *text = "A: b\r\n\r\nx\r\n";
        if (i < address_count)
            to = addresses[i];
        else if (i < 2 * address_count)
            from = addresses[i - address_count];
        else
            text = letters[i - 2 * address_count];
        if (*from == 0)
            continue; /* the null sender is one */
        Batch batch = { .count = 1 };
        batch.mailings[0] = (Mailing){ .envelope = { from, to, "1@club.example" }, .bytes = text, .length = strlen(text) };
        sender->operations->begin(sender, batch.mailings, 1, clock_now, NULL);
        assert_int_equal(sender->operations->work(sender, NULL, 0, 5000), 0);
        expect_all(&batch, SEND_REFUSED);
        assert_int_equal(batch.mailings[0].report.at, NOON);
    }
    sender->operations->close(sender);
    relay_end(&relay);
    assert_int_equal(heard(&relay, "CONNECT"), 0);
    str_free(&relay.heard);
}

/* Slow replies to the final dot: lines wait side by side, work() keeps to its time, the caller's descriptors are heard. */
static void test_one_loop(void **state) {
    (void)state;
    Relay relay;
    relay_start(&relay, "dot=slow:3;250_ok quit=silent");
    LineAccount account = account_of(&relay);
    account.seconds = 30;
    MailSender *sender = open_sender(&account, 4);
    Batch batch;
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    int64_t began = seconds();
    begin(sender, &batch, 4, "", small, sizeof small - 1);
    for (int i = 0; i < 5; i++)
        assert_int_equal(sender->operations->work(sender, NULL, 0, 100), 4);
    assert_true(seconds() - began <= 2);
    struct pollfd extra[] = { { .fd = ends[0], .events = POLLIN, .revents = 99 } };
    assert_int_equal(sender->operations->work(sender, extra, 1, 100), 4);
    assert_int_equal(extra[0].revents, 0);
    assert_int_equal(write(ends[1], "x", 1), 1);
    assert_int_equal(sender->operations->work(sender, extra, 1, 60000), 4);
    assert_true((extra[0].revents & POLLIN) != 0);
    finish(sender, &batch);
    expect_all(&batch, SEND_ACCEPTED);
    assert_true(seconds() - began < 9); /* one after the other: twelve */
    assert_true(alive_calls >= 3);
    /* with nothing under way it only waits: for the descriptor, its hang-up too */
    char byte;
    assert_int_equal(read(ends[0], &byte, 1), 1);
    began = seconds();
    assert_int_equal(sender->operations->work(sender, extra, 1, 1200), 0);
    assert_true(seconds() - began >= 1);
    assert_int_equal(extra[0].revents, 0);
    close(ends[1]);
    began = seconds();
    assert_int_equal(sender->operations->work(sender, extra, 1, 60000), 0);
    assert_true(extra[0].revents != 0);
    close(ends[0]);
    sender->operations->close(sender); /* nor for the reply to QUIT */
    assert_true(seconds() - began < 20);
    relay_end(&relay);
    str_free(&relay.heard);
}

/* serve lets letters go on while it waits for the mailbox, by work() without waiting; who waits for their end then still learns of it at once. */
static void test_beside(void **state) {
    (void)state;
    Relay relay;
    relay_start(&relay, "");
    LineAccount account = account_of(&relay);
    account.seconds = 30;
    MailSender *sender = open_sender(&account, 2);
    Batch batch;
    begin(sender, &batch, 3, "", small, sizeof small - 1);
    int64_t until = seconds() + PATIENCE;
    while (sender->operations->work(sender, NULL, 0, 0) > 0) {
        assert_true(seconds() < until);
        poll(NULL, 0, 10);
    }
    expect_all(&batch, SEND_ACCEPTED);
    int64_t began = seconds();
    assert_int_equal(sender->operations->work(sender, NULL, 0, 60000), 0);
    assert_true(seconds() - began < 30);
    sender->operations->close(sender);
    relay_end(&relay);
    str_free(&relay.heard);
}

static void test_stop(void **state) {
    (void)state;
    Relay relay;
    relay_start(&relay, "dot=slow:1;250_ok");
    LineAccount account = account_of(&relay);
    account.seconds = 30;
    MailSender *sender = open_sender(&account, 1);
    Batch batch;
    begin(sender, &batch, 6, "", small, sizeof small - 1);
    int64_t until = seconds() + PATIENCE;
    while (sender->operations->work(sender, NULL, 0, 100) > 5) /* the first is done, the second under way */
        assert_true(seconds() < until);
    sender->operations->stop(sender);
    finish(sender, &batch);
    assert_int_equal(count_results(&batch, SEND_ACCEPTED, false, false), 2);
    assert_int_equal(count_results(&batch, SEND_LATER, false, true), 4);
    /* nothing is begun: nothing is waited for */
    begin(sender, &batch, 2, "", small, sizeof small - 1);
    sender->operations->stop(sender);
    assert_int_equal(sender->operations->work(sender, NULL, 0, 60000), 0);
    assert_int_equal(count_results(&batch, SEND_LATER, false, true), 2);
    sender->operations->stop(sender);
    sender->operations->close(sender);
    relay_end(&relay);
    assert_int_equal(heard(&relay, " LETTER "), 2);
    str_free(&relay.heard);
    /* closed in the middle */
    relay_start(&relay, "dot=silent");
    account = account_of(&relay);
    account.seconds = 30;
    sender = open_sender(&account, 1);
    begin(sender, &batch, 2, "", small, sizeof small - 1);
    assert_int_equal(sender->operations->work(sender, NULL, 0, 500), 2);
    sender->operations->close(sender);
    relay_end(&relay);
    str_free(&relay.heard);
}

/* A relay that ends idle lines costs nobody a try. */
static void test_idle(void **state) {
    (void)state;
    Relay relay;
    relay_start(&relay, "dot@1=250_ok|421_4.4.2_idle;drop");
    LineAccount account = account_of(&relay);
    MailSender *sender = open_sender(&account, 1);
    Batch batch;
    send_batch(sender, &batch, 1);
    expect_all(&batch, SEND_ACCEPTED);
    sender->operations->work(sender, NULL, 0, 300);
    send_batch(sender, &batch, 1);
    expect_all(&batch, SEND_ACCEPTED);
    sender->operations->close(sender);
    relay_end(&relay);
    assert_int_equal(heard(&relay, " CONNECT\n"), 2);
    assert_int_equal(heard(&relay, "1 MAIL"), 1);
    str_free(&relay.heard);
}

static void test_login(void **state) {
    (void)state;
    char path[] = "/tmp/epistle-smtp-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, "sesame\n", 7), 7);
    close(file);
    static const struct {
        const char *rules;
        SendResult result;
        bool operators;
        const char *words;
    } rows[] = {
        { "--auth club:sesame", SEND_ACCEPTED, false, "250" },
        { "--auth club:other", SEND_LATER, true, "535 5.7.8 wrong user or password" },
        { "--auth club:sesame auth=454_4.7.0_later", SEND_LATER, false, "454 4.7.0 later" },
        { "--auth club:sesame auth=421_4.7.0_later;drop", SEND_LATER, false, "421 4.7.0 later" },
        { "--auth club:sesame auth=drop", SEND_LATER, false, "" },
        { "", SEND_LATER, true, "does not offer a log-in" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Relay relay;
        relay_start(&relay, rows[i].rules);
        LineAccount account = account_of(&relay);
        account.user = "club";
        account.secret.file = path;
        MailSender *sender = open_sender(&account, 1);
        Batch batch;
        Error error = { 0 };
        assert_int_equal(sender->operations->probe(sender, &error), rows[i].result == SEND_ACCEPTED ? 0 : -1);
        assert_true(rows[i].result == SEND_ACCEPTED || strstr(error.text, rows[i].words) != NULL);
        send_batch(sender, &batch, 2);
        const SendReport *report = &batch.mailings[0].report;
        if (report->result != rows[i].result || report->relay != (report->result == SEND_LATER) || report->operators != rows[i].operators ||
            strstr(report->words, rows[i].words) == NULL)
            fail_msg("%s: result %d%s, \"%s\"", rows[i].rules, (int)report->result, report->operators ? ", operators" : "", report->words);
        assert_null(strstr(report->words, "sesame"));
        sender->operations->close(sender);
        relay_end(&relay);
        assert_int_equal(heard(&relay, " MAIL"), report->result == SEND_ACCEPTED ? 2 : 0);
        assert_int_equal(heard(&relay, " QUIT"), report->result == SEND_ACCEPTED ? 2 : 0);
        str_free(&relay.heard);
    }
    unlink(path);
}

/* A command for the password may take its time: one is run, then whoever called gets his turn. */
static void test_login_by_command(void **state) {
    (void)state;
    char folder[] = "/tmp/epistle-login-XXXXXX", counter[64], command[200];
    assert_non_null(mkdtemp(folder));
    snprintf(counter, sizeof counter, "%s/runs", folder);
    snprintf(command, sizeof command, "sh -c 'echo >>%s; echo sesame'", counter);
    Relay relay;
    relay_start(&relay, "--auth club:sesame dot=slow:1;250_ok");
    LineAccount account = account_of(&relay);
    account.seconds = 30;
    account.user = "club";
    account.secret.command = command;
    MailSender *sender = open_sender(&account, 3);
    Batch batch;
    struct stat status;
    begin(sender, &batch, 3, "", small, sizeof small - 1);
    for (int runs = 1; runs <= 3; runs++) {
        assert_int_equal(sender->operations->work(sender, NULL, 0, 0), 3);
        assert_int_equal(stat(counter, &status), 0);
        assert_int_equal(status.st_size, runs);
    }
    finish(sender, &batch);
    expect_all(&batch, SEND_ACCEPTED);
    sender->operations->close(sender);
    relay_end(&relay);
    str_free(&relay.heard);
    unlink(counter);
    rmdir(folder);
}

static void test_no_tls(void **state) {
    (void)state;
    Relay relay;
    relay_start(&relay, "");
    LineAccount account = account_of(&relay);
    account.plain = false;
    MailSender *sender = open_sender(&account, 1);
    Batch batch;
    send_batch(sender, &batch, 1);
    sender->operations->close(sender);
    relay_end(&relay);
    const SendReport *report = &batch.mailings[0].report;
    assert_true(report->result == SEND_LATER && report->relay && report->operators);
    assert_int_equal(heard(&relay, " MAIL"), 0);
    str_free(&relay.heard);
}

static void test_probe(void **state) {
    (void)state;
    Relay relay;
    relay_start(&relay, "connect@2=554_5.7.1_not_you");
    LineAccount account = account_of(&relay);
    MailSender *sender = open_sender(&account, 2);
    Error error = { 0 };
    assert_int_equal(sender->operations->probe(sender, &error), 0);
    assert_int_equal(sender->operations->probe(sender, &error), -1);
    assert_non_null(strstr(error.text, "554 5.7.1 not you"));
    sender->operations->close(sender);
    relay_end(&relay);
    assert_int_equal(heard(&relay, "1 QUIT"), 1);
    assert_int_equal(heard(&relay, "MAIL"), 0);
    str_free(&relay.heard);
    /* nobody there */
    sender = open_sender(&account, 2);
    assert_int_equal(sender->operations->probe(sender, &error), -1);
    Batch batch;
    send_batch(sender, &batch, 3);
    assert_int_equal(count_results(&batch, SEND_LATER, true, false), 1);
    assert_int_equal(count_results(&batch, SEND_LATER, true, true), 2);
    sender->operations->close(sender);
    assert_null(sender_smtp_open(&account, 0, "chess@club.example", &error));
    assert_int_equal(error.grade, ERROR_INPUT);
    assert_null(sender_smtp_open(&account, 2, "nobody", &error));
}

static int make_big(void **state) {
    (void)state;
    big = malloc(BIG);
    if (big == NULL)
        return -1;
    for (size_t at = 0; at < BIG; at++)
        big[at] = at % 64 == 62 ? '\r' : at % 64 == 63 ? '\n' : 'x';
    return 0;
}

static int free_big(void **state) {
    (void)state;
    free(big);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wire),        cmocka_unit_test(test_faults), cmocka_unit_test(test_courses),    cmocka_unit_test(test_null_sender),
        cmocka_unit_test(test_after_fault), cmocka_unit_test(test_beside), cmocka_unit_test(test_never_sent), cmocka_unit_test(test_one_loop),
        cmocka_unit_test(test_stop),        cmocka_unit_test(test_idle),   cmocka_unit_test(test_login),      cmocka_unit_test(test_no_tls),
        cmocka_unit_test(test_probe),       cmocka_unit_test(test_login_by_command),
    };
    return cmocka_run_group_tests(tests, make_big, free_big);
}
