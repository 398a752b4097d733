/* The gate: what can crash or stall libetpan's parser stays out, what people send comes in. */
#include "core/base/str.h"
#include "daemon/inbox/gate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool passes(const char *letter) {
    const char *why = NULL;
    bool pass = gate_pass(letter, strlen(letter), &why);
    assert_true(pass == (why == NULL));
    return pass;
}

static void test_boundaries(void **state) {
    (void)state;
    static const char *const bad[] = {
        "Content-Type: multipart/mixed; boundary=\"\\\"\"\r\n\r\n",
        "content-type:multipart/mixed;boundary=\"\\\"\"\n\n",
        "From: a@x\r\nContent-Type: multipart/mixed;\r\n boundary=\"\\\"\"\r\n\r\n",
        "Content-Type: multipart/mixed;\r\n boundary=\r\n \"\\\"\"\r\n\r\n",
        "Content-Type : multipart/mixed; boundary=\"\\\"\"\r\n\r\n",
        "Content-Type: multipart/mixed; boundary=(c)\"\\\"\"\r\n\r\n",
        "Content-Type: multipart/mixed; boundary (c) =\"\\\"\"\r\n\r\n",
        "Content-Type: multipart/mixed; boundary*0=\"\\\"\"; boundary*1=x\r\n\r\n",
        "Content-Type: multipart/mixed; boundary*=\"\\\"\"\r\n\r\n",
        "Content-Type: multipart/mixed; boundary=\"a\"; boundary=\"\\\"\"\r\n\r\n",
        "Content-Type: multipart/mixed; BOUNDARY=\"\\\"\"\r\n\r\n",
        "Content-Type: multipart/mixed; boundary=a\"b\r\n\r\n",
        "Content-Type: multipart/mixed; boundary=\\a\r\n\r\n",
        "Content-Type: multipart/mixed; boundary=\"\\a\"\r\n\r\n",
        "Content-Type: multipart/mixed; boundary=\"\xc3\xa4\"\r\n\r\n",
        "X: y\rContent-Type: multipart/mixed; boundary=\"\\\"\"\r\n\r\n",
        /* inside */
        "Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: multipart/mixed; boundary=\"\\\"\"\r\n\r\n--x--\r\n",
        "Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: message/rfc822\r\n\r\nContent-Type:\r\n\tmultipart/mixed;\r\n\tboundary=\"\\\"\"\r\n",
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (passes(bad[i]))
            print_message("passed: %s\n", bad[i]);
        assert_false(passes(bad[i]));
    }
    static const char *const good[] = {
        "", "\r\n", "e4", "From: a@x\r\n\r\ne4\r\n",
        "Content-Type: multipart/mixed; boundary=\"=_NextPart 1'()+_,-./:=?\"\r\n\r\n",
        "Content-Type: multipart/mixed; boundary=simple; x=y\r\n\r\n",
        "Content-Type: multipart/mixed; boundary=\"odd*&!@{}boundary\"\r\n\r\n",
        "Content-Type: multipart/mixed; boundary=\"\"\r\n\r\n",
        "Content-Type: text/plain; name=\"C:\\\\game.txt\"\r\n\r\n",
        "Content-Type: text/plain\r\n\r\nThe boundary=\"\\\" kills it, they say.\r\n",
        "Subject: the boundary=\"\\\"\" trick\r\n\r\nContent-Type is a header\r\n",
        "Content-Type: multipart/mixed\r\n\r\n",
    };
    for (size_t i = 0; i < COUNT(good); i++) {
        if (!passes(good[i]))
            print_message("refused: %s\n", good[i]);
        assert_true(passes(good[i]));
    }
}

/* `head`, then `piece` count times, then `tail`. */
static bool passes_repeated(const char *head, const char *piece, size_t count, const char *tail) {
    Str letter;
    str_init(&letter, 4 * 1024 * 1024);
    str_append(&letter, head);
    for (size_t i = 0; i < count; i++)
        str_append(&letter, piece);
    str_append(&letter, tail);
    assert_false(letter.overflowed);
    const char *why;
    bool pass = gate_pass(letter.data, letter.length, &why);
    str_free(&letter);
    return pass;
}

static void test_measures(void **state) {
    (void)state;
    assert_false(passes_repeated("From: ", "(", 100000, "\r\n\r\nx"));
    assert_false(passes_repeated("From: ", "\r\n (", 100000, "\r\n\r\nx"));
    assert_false(passes_repeated("Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nSubject: ", "(", 100000, "\r\n\r\nx"));
    assert_true(passes_repeated("From: ", "(", 1000, "\r\n\r\nx"));
    assert_true(passes_repeated("From: a@x\r\n\r\n", "(a (b) c)\r\n", 50000, ""));
    assert_false(passes_repeated("", "Content-Type: message/rfc822\r\n\r\n", 28000, "x"));
    assert_false(passes_repeated("", "Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n", 5000, "x"));
    assert_true(passes_repeated("", "Content-Type: message/rfc822\r\n\r\n", 100, "x"));
    assert_false(passes_repeated("Content-Type: multipart/mixed; boundary=x\r\n\r\n", "--x\r\n\r\n", 100000, ""));
    assert_true(passes_repeated("Content-Type: multipart/mixed; boundary=x\r\n\r\n", "--x\r\n\r\n", 1000, ""));
    assert_false(passes_repeated("To: ", "a@example.org, ", 100000, "\r\n\r\nx"));
    assert_true(passes_repeated("To: ", "a@example.org, ", 2000, "\r\n\r\nx"));
    assert_false(passes_repeated("", "X-A: b\r\n", 100000, "\r\nx"));
    assert_true(passes_repeated("", "X-A: b\r\n", 1000, "\r\nx"));
    assert_true(passes_repeated("From: a@x\r\n\r\n", "x", 1500000, "")); /* one long line of text */
    assert_true(passes_repeated("From: a@x\r\n\r\n", " continued\r\n", 100000, ""));
    assert_false(passes_repeated("From: a@x\r\n\r\n", "x", GATE_LETTER_MAX, ""));
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_boundaries), cmocka_unit_test(test_measures) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
