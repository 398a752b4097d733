/* From a raw letter to its text, in this process: which part is the letter, and what comes out of it. */
#include "daemon/inbox/mime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct Case {
    const char *letter;
    MimeKind kind;
    const char *text;
} Case;

static void check(const char *letter, size_t size, MimeKind kind, const char *text) {
    Arena arena;
    arena_init(&arena, 16 * 1024 * 1024);
    MimeResult result;
    mime_read(&arena, letter, size, &result);
    if (result.kind != kind || strcmp(result.text, text) != 0)
        print_message("letter:\n%s\nread as %d: \"%s\"\n", letter, (int)result.kind, result.text);
    assert_int_equal(result.kind, kind);
    assert_string_equal(result.text, text);
    arena_free(&arena);
}

static void check_all(const Case *cases, size_t count) {
    for (size_t i = 0; i < count; i++)
        check(cases[i].letter, strlen(cases[i].letter), cases[i].kind, cases[i].text);
}

static void test_single(void **state) {
    (void)state;
    static const Case cases[] = {
        { "From: a@x\r\n\r\nNf3\r\n", MIME_TEXT, "Nf3\n" },
        { "From: a@x\r\n\r\n", MIME_EMPTY, "" },
        { "", MIME_EMPTY, "" },
        { "From: a@x\r\n\r\n \r\n\r\n", MIME_EMPTY, "" },
        { "From: a@x\r\nContent-Type: text/plain; charset=koi8-r\r\n\r\n\xeb\xc6\xb3", MIME_TEXT, "КфЁ" },
        { "Content-Type: text/html\r\n\r\n<p>Nf3</p>", MIME_HTML_ONLY, "" },
        { "Content-Type: image/png\r\n\r\nxx", MIME_EMPTY, "" },
        { "Content-Type: message/rfc822\r\n\r\nFrom: a@x\r\n\r\nNf3", MIME_EMPTY, "" },
        { "Content-Type: application/pkcs7-mime; smime-type=enveloped-data\r\n\r\nxx", MIME_ENCRYPTED, "" },
        { "From: a@x\r\n\r\n-----BEGIN PGP MESSAGE-----\r\nabc\r\n", MIME_ENCRYPTED, "" },
        { "Content-Type: text/plain; name=game.txt\r\nContent-Disposition: attachment\r\n\r\nNf3", MIME_TEXT, "Nf3" },
        { "Content-Type: text/plain; format=flowed\r\n\r\nI think \r\nso\r\n> e4 \r\nNf3\r\n", MIME_TEXT, "I think so\n> e4 \nNf3\n" },
    };
    check_all(cases, COUNT(cases));
}

/* What libetpan reads wrong (FACTS.md, second list). */
static void test_libetpans_faults(void **state) {
    (void)state;
    static const Case cases[] = {
        { "Content-Type: text/plain\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\ne8=Q+ done\r\ng1=N\r\n", MIME_TEXT, "e8=Q+ done\ng1=N\n" },
        { "\xef\xbb\xbf" "Content-Type: text/plain; charset=koi8-r\r\n\r\n\xeb\xc6", MIME_TEXT, "Кф" },
        { "From a@x Sat Mar 22 08:30:28 2013\r\nContent-Type: text/plain; charset=koi8-r\r\n\r\n\xeb\xc6", MIME_TEXT, "Кф" },
        { "From: a@x\r\nthis is no field\r\nContent-Type: text/plain; charset=koi8-r\r\n\r\n\xeb\xc6", MIME_TEXT, "Кф" },
        { "From: a@x\r\nContent-Type: text\r\n\r\nhello", MIME_TEXT, "hello" },
        { "From: a@x\r\nContent-Type: multipart/mixed\r\n\r\nhello", MIME_TEXT, "hello" },
        { "From: a@x\r\nContent-Type: multipart/mixed\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nhello\r\n--x--\r\n", MIME_TEXT, "hello" },
        { "From: a@x\r\nContent-Type: multipart/mixed; boundary=wrong\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nhello\r\n--x--\r\n", MIME_TEXT, "hello" },
        { "Content-Type: multipart/mixed; boundary*0=a; boundary*1=b\r\n\r\n--ab\r\n\r\nhello\r\n--ab--\r\n", MIME_TEXT, "hello" },
        { "From: a (comment (inside) <a@x>\r\nContent-Type: text/plain; charset=koi8-r\r\n\r\n\xeb", MIME_TEXT, "К" },
    };
    check_all(cases, COUNT(cases));
    static const char nul[] = "From: a@x\r\n\r\nNf3\0 e4";
    check(nul, sizeof nul - 1, MIME_TEXT, "Nf3 e4");
}

#define PLAIN "Content-Type: text/plain\r\n\r\n"
#define HTML "Content-Type: text/html\r\n\r\n<p>html</p>"
#define MULTI(kind) "Content-Type: multipart/" kind "; boundary=b\r\n\r\n"
#define NEXT "\r\n--b\r\n"
#define END "\r\n--b--\r\n"
#define INNER(kind) "Content-Type: multipart/" kind "; boundary=i\r\n\r\n"

static void test_multipart(void **state) {
    (void)state;
    static const Case cases[] = {
        { MULTI("alternative") NEXT PLAIN "plain" NEXT HTML END, MIME_TEXT, "plain" },
        { MULTI("alternative") NEXT HTML NEXT PLAIN "plain" END, MIME_TEXT, "plain" },
        { MULTI("alternative") NEXT HTML END, MIME_HTML_ONLY, "" },
        { MULTI("alternative") NEXT PLAIN " \r\n" NEXT HTML END, MIME_HTML_ONLY, "" },
        { MULTI("mixed") NEXT PLAIN "one" NEXT PLAIN "two" END, MIME_TEXT, "one\ntwo" },
        { MULTI("mixed") NEXT PLAIN "one" NEXT "Content-Type: image/png\r\n\r\nx" NEXT PLAIN "two" END, MIME_TEXT, "one\ntwo" },
        { MULTI("mixed") NEXT PLAIN "one" NEXT "Content-Disposition: attachment\r\n" PLAIN "two" END, MIME_TEXT, "one" },
        { MULTI("mixed") NEXT "Content-Disposition: attachment\r\n" PLAIN "two" END, MIME_EMPTY, "" },
        { MULTI("mixed") NEXT "Content-Disposition: inline; filename=a.txt\r\n" PLAIN "named" END, MIME_TEXT, "named" },
        { MULTI("mixed") NEXT "Content-Disposition: inline; filename=a.txt\r\n" PLAIN "named" NEXT PLAIN "text" END, MIME_TEXT, "text" },
        { MULTI("mixed") NEXT "Content-Type: message/rfc822\r\n\r\n" PLAIN "forwarded" END, MIME_EMPTY, "" },
        { MULTI("mixed") NEXT PLAIN "mine" NEXT "Content-Type: message/rfc822\r\n\r\n" PLAIN "forwarded" END, MIME_TEXT, "mine" },
        { MULTI("digest") NEXT "\r\nFrom: a@x\r\n\r\nforwarded" END, MIME_EMPTY, "" },
        { MULTI("signed") NEXT PLAIN "signed" NEXT "Content-Type: text/plain\r\n\r\nsignature" END, MIME_TEXT, "signed" },
        { MULTI("encrypted") NEXT "Content-Type: application/pgp-encrypted\r\n\r\nVersion: 1" NEXT PLAIN "no" END, MIME_ENCRYPTED, "" },
        { MULTI("mixed") NEXT INNER("alternative") "--i\r\n" PLAIN "deep" "\r\n--i\r\n" HTML "\r\n--i--" NEXT PLAIN "footer" END, MIME_TEXT, "deep\nfooter" },
        { MULTI("related") NEXT INNER("alternative") "--i\r\n" PLAIN "deep" "\r\n--i--" NEXT PLAIN "no" END, MIME_TEXT, "deep" },
        { MULTI("mixed") NEXT "\r\nno header" END, MIME_TEXT, "no header" },
        { MULTI("mixed") "preamble" NEXT PLAIN "part" END "epilogue", MIME_TEXT, "part" },
        { MULTI("mixed") NEXT PLAIN "cut short", MIME_TEXT, "cut short" }, /* RULINGS 7: the first 64 kB only */
        { MULTI("mixed") NEXT INNER("alternative") "--i\r\n" PLAIN "cut" "\r\n--i\r\nContent-Type: text/html\r\n\r\n<p>", MIME_TEXT, "cut" },
        { MULTI("mixed") NEXT "Content-Type: multipart/mixed; boundary=i\r\nContent-Transfer-Encoding: base64\r\n\r\nLS1pCg0KeA0K" END, MIME_EMPTY, "" },
        { MULTI("mixed") NEXT "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\nTmYz" END, MIME_TEXT, "Nf3" },
    };
    check_all(cases, COUNT(cases));
}

static void test_report(void **state) {
    (void)state;
    static const char letter[] = "Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n"
                                 "--b\r\n\r\nIt failed.\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.x.org\r\n\r\n"
                                 "Final-Recipient: rfc822; a@x.org\r\nAction: failed\r\nStatus: 5.1.1\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n"
                                 "Message-ID: <token@club>\r\nSubject: x\r\n\r\nNf3\r\n--b--\r\n";
    Arena arena;
    arena_init(&arena, 1024 * 1024);
    MimeResult result;
    mime_read(&arena, letter, sizeof letter - 1, &result);
    assert_int_equal(result.kind, MIME_REPORT);
    assert_string_equal(result.text, "It failed.");
    assert_string_equal(result.report, "Reporting-MTA: dns; mx.x.org\n\nFinal-Recipient: rfc822; a@x.org\nAction: failed\nStatus: 5.1.1\n"
                                       "Message-ID: <token@club>\nSubject: x\n");
    arena_free(&arena);
}

static void test_long_text_is_cut(void **state) {
    (void)state;
    enum { SIZE = 600 * 1024 };
    char *letter = malloc(SIZE);
    assert_non_null(letter);
    memset(letter, 'a', SIZE);
    for (size_t i = 2; i + 1 < SIZE; i += 2)
        memcpy(letter + i, "\xc3\xa4", 2);
    memcpy(letter, "\r\n", 2);
    Arena arena;
    arena_init(&arena, 16 * 1024 * 1024);
    MimeResult result;
    mime_read(&arena, letter, SIZE, &result);
    assert_int_equal(result.kind, MIME_TEXT);
    assert_true(result.cut);
    assert_true(strlen(result.text) <= MIME_TEXT_MAX && strlen(result.text) > MIME_TEXT_MAX - 4);
    arena_free(&arena);
    free(letter);
}

static void test_gate_speaks(void **state) {
    (void)state;
    static const char letter[] = "Content-Type: multipart/mixed; boundary=\"\\\"\"\r\n\r\nx";
    Arena arena;
    arena_init(&arena, 1024 * 1024);
    MimeResult result;
    mime_read(&arena, letter, sizeof letter - 1, &result);
    assert_int_equal(result.kind, MIME_UNREADABLE);
    assert_string_not_equal(result.why, "");
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single), cmocka_unit_test(test_libetpans_faults), cmocka_unit_test(test_multipart),
        cmocka_unit_test(test_report), cmocka_unit_test(test_long_text_is_cut), cmocka_unit_test(test_gate_speaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
