/* Header signs of automatic mail, and when a letter arrived. */
#include "core/base/str.h"
#include "daemon/inbox/arrival.h"
#include "daemon/inbox/automatic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define ANNA "From: Anna <anna@x.org>\r\n"

static void test_kinds(void **state) {
    (void)state;
    static const struct { const char *header; LetterKind kind; } cases[] = {
        { ANNA "Subject: Re: [Club #4] Your move\r\n", LETTER_HUMAN },
        { ANNA "Auto-Submitted: no\r\n", LETTER_HUMAN },
        { ANNA "Auto-Submitted: no (really)\r\n", LETTER_HUMAN },
        { ANNA "Auto-Submitted: auto-replied\r\n", LETTER_AUTOMATIC },
        { ANNA "Auto-Submitted: auto-generated; x=y\r\n", LETTER_AUTOMATIC },
        { ANNA "Auto-Submitted: none\r\n", LETTER_AUTOMATIC },
        { ANNA "X-Auto-Response-Suppress: All\r\n", LETTER_HUMAN }, /* proves nothing: Exchange puts it on everything */
        { ANNA "Return-Path: <>\r\n", LETTER_AUTOMATIC },
        { ANNA "Return-Path: < >\r\n", LETTER_AUTOMATIC },
        { ANNA "Return-Path: <anna@x.org>\r\n", LETTER_HUMAN },
        { "From: MAILER-DAEMON@x.org\r\n", LETTER_BOUNCE },
        { "From: Mail Delivery System <Mailer-Daemon@x.org>\r\nSubject: hello\r\n", LETTER_BOUNCE },
        { "From: <postmaster@x.org>\r\n", LETTER_BOUNCE },
        { "From: postmasters@x.org\r\n", LETTER_HUMAN },
        { "From:\r\n", LETTER_AUTOMATIC },
        { "From: <>\r\nReturn-Path: <>\r\n", LETTER_AUTOMATIC },
        { "From: no-reply@x.org\r\n", LETTER_AUTOMATIC },
        { ANNA "Content-Type: multipart/report; report-type=delivery-status; boundary=x\r\n", LETTER_BOUNCE },
        { ANNA "Content-Type: multipart/report; boundary=x; report-type=\"disposition-notification\"\r\n", LETTER_RECEIPT },
        { ANNA "Content-Type: multipart/report; report-type=feedback-report\r\n", LETTER_BOUNCE },
        { ANNA "Content-Type: message/delivery-status\r\n", LETTER_BOUNCE },
        { ANNA "Content-Type: text/calendar; method=REPLY\r\n", LETTER_AUTOMATIC },
        { ANNA "X-Failed-Recipients: b@x.org\r\n", LETTER_BOUNCE },
        { "From: x\r\nSubject: Undelivered Mail Returned to Sender\r\n", LETTER_BOUNCE },
        { ANNA "Subject: failure notice\r\n", LETTER_HUMAN },
        { ANNA "Precedence: bulk\r\n", LETTER_AUTOMATIC },
        { ANNA "Precedence: junk\r\n", LETTER_AUTOMATIC },
        { ANNA "Precedence: auto_reply\r\n", LETTER_AUTOMATIC },
        { ANNA "Precedence: list\r\n", LETTER_LIST },
        { ANNA "Precedence: first-class\r\n", LETTER_HUMAN },
        { ANNA "List-Id: <club.x.org>\r\n", LETTER_LIST },
        { ANNA "List-Post: <mailto:club@x.org>\r\n", LETTER_LIST },
        { ANNA "X-Autoreply: yes\r\n", LETTER_AUTOMATIC },
        { ANNA "X-Autoreply: no\r\n", LETTER_HUMAN },
        { ANNA "X-Autorespond: I am away\r\n", LETTER_AUTOMATIC },
        { ANNA "Subject: Automatic reply: Your move\r\n", LETTER_AUTOMATIC },
        { ANNA "Subject: Out of Office: Your move\r\n", LETTER_AUTOMATIC },
        { ANNA "Subject: =?utf-8?q?R=C3=A9ponse_automatique_=3A_x?=\r\n", LETTER_AUTOMATIC },
        { ANNA "Subject: Re: Out of Office\r\n", LETTER_HUMAN },
        { ANNA "Subject: Accepted: deadline\r\n", LETTER_AUTOMATIC },
        { ANNA "X-Epistle-Loop: chess@club.example\r\n", LETTER_OWN },
        { ANNA "X-Epistle-Loop: CHESS@Club.Example\r\n", LETTER_OWN },
        { ANNA "X-Epistle-Loop: other@else.example\r\n", LETTER_HUMAN },
        { ANNA "Message-ID: <abcdefghijklmnopqrstuvwxyz@club.example>\r\n", LETTER_OWN },
        { ANNA "Message-ID: <abcdefghijklmnopqrstuvwxyz@x.org>\r\n", LETTER_HUMAN },
        { ANNA "Message-ID: <abc@club.example>\r\n", LETTER_HUMAN },
        { "Subject: no From\r\n", LETTER_HUMAN },
        /* every field of a name is looked at */
        { ANNA "Auto-Submitted: no\r\nAuto-Submitted: auto-replied\r\n", LETTER_AUTOMATIC },
        { ANNA "Auto-Submitted: no\r\nAuto-Submitted: no\r\n", LETTER_HUMAN },
        { ANNA "Auto-Submitted:\r\nAuto-Submitted: auto-generated\r\n", LETTER_AUTOMATIC },
        { ANNA "Precedence: first-class\r\nPrecedence: bulk\r\n", LETTER_AUTOMATIC },
        { ANNA "Precedence: first-class\r\nPrecedence: list\r\n", LETTER_LIST },
        { ANNA "Return-Path: <anna@x.org>\r\nReturn-Path: <>\r\n", LETTER_AUTOMATIC },
        { ANNA "List-Id:\r\nList-Id: <club.x.org>\r\n", LETTER_LIST },
        { ANNA "X-Autoreply: no\r\nX-Autoreply: yes\r\n", LETTER_AUTOMATIC },
        { ANNA "X-Autorespond: false\r\nX-Autorespond: false\r\n", LETTER_HUMAN },
        { ANNA "Content-Type: text/plain\r\nContent-Type: multipart/report; report-type=delivery-status\r\n", LETTER_BOUNCE },
        { ANNA "Content-Type: text/plain\r\nContent-Type: text/calendar; method=REPLY\r\n", LETTER_AUTOMATIC },
        { ANNA "From: MAILER-DAEMON@x.org\r\n", LETTER_BOUNCE },
        { ANNA "From: no-reply@x.org\r\n", LETTER_AUTOMATIC },
        { ANNA "From:\r\n", LETTER_AUTOMATIC },
        { ANNA "Subject: Your move\r\nSubject: Out of Office: x\r\n", LETTER_AUTOMATIC },
        { ANNA "Delivered-To: anna@x.org\r\nDelivered-To: autoresponder@x.org\r\n", LETTER_AUTOMATIC },
        { ANNA "X-POST-MessageClass: 8\r\nX-POST-MessageClass: 9; Autoresponder\r\n", LETTER_AUTOMATIC },
        { ANNA "X-Epistle-Loop: other@else.example\r\nX-Epistle-Loop: chess@club.example\r\n", LETTER_OWN },
        { ANNA "Message-ID: <abc@x.org>\r\nMessage-ID: <abcdefghijklmnopqrstuvwxyz@club.example>\r\n", LETTER_OWN },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        Arena arena;
        arena_init(&arena, 65536);
        Header header;
        assert_true(header_scan(&arena, cases[i].header, strlen(cases[i].header), &header));
        const char *why = NULL;
        LetterKind kind = automatic_kind(&header, "chess@club.example", &why);
        if (kind != cases[i].kind)
            print_message("%s is %s (%s)\n", cases[i].header, letter_kind_name(kind), why);
        assert_int_equal(kind, cases[i].kind);
        assert_true((kind == LETTER_HUMAN) == (why[0] == 0));
        arena_free(&arena);
    }
    assert_string_equal(letter_kind_name(LETTER_BOUNCE), "bounce");
    assert_string_equal(letter_kind_name(LETTER_UNREADABLE), "unreadable");
}

static Instant at(const char *text) {
    Instant instant = 0;
    assert_true(instant_read(text, &instant));
    return instant;
}

#define OURS(time) "Received: from a.org (a.org [192.0.2.1]) by mx.club.example (Postfix) with ESMTP id X; Tue, 3 Mar 2026 " time " +0000\r\n"
#define INNER(time) "Received: from mx.club.example by Store.Club.Example. with LMTP;\r\n Tue, 3 Mar 2026 " time " +0000\r\n"
#define LOCAL(time) "Received: from x (unknown [172.20.1.1]) by store.club.example; Tue, 3 Mar 2026 " time " +0000\r\n"
#define THEIRS(time) "Received: from home by a.org; Tue, 3 Mar 2026 " time " +0000\r\n"

static void test_arrival(void **state) {
    (void)state;
    static const char *const hosts[] = { "mx.club.example", "store.club.example" };
    static const char *const now = "2026-03-03T12:00:00Z";
    static const struct { const char *header, *received, *file, *fixed, *arrival; } cases[] = {
        { OURS("10:00:00") THEIRS("09:00:00"), NULL, NULL, NULL, "2026-03-03T10:00:00Z" },
        { INNER("10:00:30") OURS("10:00:00") THEIRS("09:00:00"), NULL, NULL, NULL, "2026-03-03T10:00:00Z" },
        { INNER("10:00:30") OURS("10:00:00"), "2026-03-03T09:59:00Z", NULL, NULL, "2026-03-03T09:59:00Z" },
        { OURS("10:00:00"), "2026-03-03T11:00:00Z", "2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z", "2026-03-03T10:00:00Z" },
        { THEIRS("08:00:00") OURS("10:00:00"), NULL, "2026-03-03T11:00:00Z", NULL, "2026-03-03T11:00:00Z" }, /* the run is broken: forged below */
        { OURS("10:00:00") THEIRS("09:00:00") OURS("01:00:00"), NULL, NULL, NULL, "2026-03-03T10:00:00Z" },
        { OURS("10:00:00") OURS("01:00:00"), NULL, NULL, NULL, "2026-03-03T10:00:00Z" }, /* the second is the sender's own work */
        { LOCAL("10:00:30") OURS("10:00:00"), NULL, NULL, NULL, "2026-03-03T10:00:00Z" },
        { "Received: from a.org by mx.club.example; Tue, 3 Mar 2026 10:00:00 +0000\r\n" OURS("09:00:00"), NULL, NULL, NULL, "2026-03-03T09:00:00Z" },
        { OURS("13:00:00"), NULL, NULL, NULL, "2026-03-03T12:00:00Z" }, /* never later than now */
        { THEIRS("08:00:00"), NULL, "2026-03-03T11:00:00Z", "2026-03-03T11:30:00Z", "2026-03-03T11:30:00Z" },
        { "Date: Tue, 3 Mar 2026 01:00:00 +0000\r\n", NULL, NULL, NULL, "2026-03-03T12:00:00Z" }, /* never the Date header */
        { "", NULL, "2026-03-04T00:00:00Z", NULL, "2026-03-03T12:00:00Z" },
        { "Received: by mx.club.example (Postfix, from userid 1000; (x)) id 1; Tue, 3 Mar 2026 10:00:00 +0000\r\n", NULL, NULL, NULL, "2026-03-03T10:00:00Z" },
        { "Received: from x (by mx.club.example) by evil.org; Tue, 3 Mar 2026 01:00:00 +0000\r\n", NULL, NULL, NULL, "2026-03-03T12:00:00Z" },
        { "Received: from by mx.club.example by evil.org; Tue, 3 Mar 2026 01:00:00 +0000\r\n", NULL, NULL, NULL, "2026-03-03T12:00:00Z" },
        { "Received: by mx.club.example; no date\r\n" OURS("10:00:00"), NULL, NULL, NULL, "2026-03-03T10:00:00Z" },
        { "Received: by notmx.club.example; Tue, 3 Mar 2026 01:00:00 +0000\r\n", NULL, NULL, NULL, "2026-03-03T12:00:00Z" },
        { "Received:\r\n", NULL, NULL, NULL, "2026-03-03T12:00:00Z" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        Arena arena;
        arena_init(&arena, 65536);
        Header header;
        assert_true(header_scan(&arena, cases[i].header, strlen(cases[i].header), &header));
        Instant arrival = arrival_of(&header, hosts, 2, cases[i].received != NULL ? at(cases[i].received) : INSTANT_NONE,
                                     cases[i].file != NULL ? at(cases[i].file) : INSTANT_NONE,
                                     cases[i].fixed != NULL ? at(cases[i].fixed) : INSTANT_NONE, at(now));
        char text[INSTANT_TEXT_SIZE];
        instant_write(arrival, text);
        if (strcmp(text, cases[i].arrival) != 0)
            print_message("%s\n", cases[i].header);
        assert_string_equal(text, cases[i].arrival);
        arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_kinds), cmocka_unit_test(test_arrival) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
