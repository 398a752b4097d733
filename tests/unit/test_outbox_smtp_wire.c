/* What goes over an SMTP line: replies read, bodies written. */
#include "core/base/str.h"
#include "daemon/outbox/sender_smtp_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_replies(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        int code; /* 0: broken; −1: not whole yet */
        size_t taken;
        const char *words;
    } rows[] = {
        { "250 ok\r\n", 250, 8, "250 ok" },
        { "250\r\n", 250, 5, "250" },
        { "250 \r\n", 250, 6, "250" },
        { "250 ok\n", 250, 7, "250 ok" },
        { "250 ok\r\n354 go\r\n", 250, 8, "250 ok" },
        { "550-5.1.1 no such\r\n550 5.1.1 user\r\n", 550, 35, "550 5.1.1 no such user" },
        { "550-5.1.1 no such\r\n550 5.1.10 user\r\n", 550, 36, "550 5.1.1 no such 5.1.10 user" },
        { "550-no such\r\n550 5.1.1 user\r\n", 550, 29, "550 no such 5.1.1 user" },
        { "550 5.1.1\r\n", 550, 11, "550 5.1.1" },
        { "550 a\tb\x01\x7f\xc3\xa4\xff\xc2\x9b\r\n", 550, 16, "550 a?b??\xc3\xa4??" },
        { "250-a\r\n", -1, 7, "250 a" },
        { "25", -1, 2, "" },
        { "250-a\r\n251 b\r\n", 0, 14, "" },
        { "ok\r\n", 0, 4, "" },
        { "25\r\n", 0, 4, "" },
        { "\r\n", 0, 2, "" },
        { "2500 ok\r\n", 0, 9, "" },
        { "150 ok\r\n", 0, 8, "" },
        { "600 ok\r\n", 0, 8, "" },
        { "-50 ok\r\n", 0, 8, "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t piece = 1; piece < 40; piece += 38) { /* byte by byte, and at once */
            SmtpReply reply;
            smtp_reply_begin(&reply);
            size_t length = strlen(rows[i].bytes), taken = 0;
            while (taken < length) {
                size_t part = length - taken < piece ? length - taken : piece;
                size_t now = smtp_reply_feed(&reply, rows[i].bytes + taken, part);
                taken += now;
                if (now < part)
                    break;
            }
            if (reply.broken != (rows[i].code == 0) || reply.whole != (rows[i].code > 0) || taken != rows[i].taken)
                fail_msg("row %zu: code %d, whole %d, broken %d, taken %zu", i, reply.code, (int)reply.whole, (int)reply.broken, taken);
            assert_true(rows[i].code == 0 || strcmp(reply.words, rows[i].words) == 0);
            assert_true(rows[i].code <= 0 || reply.code == rows[i].code);
        }
}

static void test_long_replies(void **state) {
    (void)state;
    SmtpReply reply;
    char line[3000];
    memset(line, 'x', sizeof line);
    memcpy(line, "550 ", 4);
    memcpy(line + 250, "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", 8); /* cut between two code points only */
    line[sizeof line - 1] = '\n';
    smtp_reply_begin(&reply);
    assert_int_equal(smtp_reply_feed(&reply, line, sizeof line), sizeof line);
    assert_true(reply.whole && reply.code == 550);
    assert_int_equal(strlen(reply.words), 254);
    smtp_reply_begin(&reply);
    line[3] = '-';
    for (int i = 0; i < 21; i++)
        assert_int_equal(smtp_reply_feed(&reply, line, sizeof line), sizeof line);
    assert_false(reply.broken);
    smtp_reply_feed(&reply, line, sizeof line);
    assert_true(reply.broken);
    smtp_reply_begin(&reply);
    smtp_reply_feed(&reply, "552 5.3.4 x\r\n", 13);
    assert_true(smtp_reply_enhanced(&reply, "5.3.4"));
    assert_false(smtp_reply_enhanced(&reply, "5.3."));
    assert_false(smtp_reply_enhanced(&reply, "5.3.5"));
    smtp_reply_begin(&reply);
    smtp_reply_feed(&reply, "552 5.3.44\r\n", 12);
    assert_false(smtp_reply_enhanced(&reply, "5.3.4"));
}

static void test_bodies(void **state) {
    (void)state;
    static const char *const rows[][2] = { { "", ".\r\n" },
                                           { "a\r\n", "a\r\n.\r\n" },
                                           { "a", "a\r\n.\r\n" },
                                           { ".", "..\r\n.\r\n" },
                                           { ".\r\n", "..\r\n.\r\n" },
                                           { "a.\r\n.b\r\n..\r\n\r\n.", "a.\r\n..b\r\n...\r\n\r\n..\r\n.\r\n" } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Str out;
        size_t length = strlen(rows[i][0]);
        str_init(&out, 2 * length + 8);
        assert_int_equal(smtp_body_write(rows[i][0], length, &out), SMTP_BODY_GOOD);
        assert_string_equal(out.data, rows[i][1]);
        str_free(&out);
        str_init(&out, 1);
        assert_int_equal(smtp_body_write(rows[i][0], length, &out), SMTP_BODY_NO_MEMORY);
        str_free(&out);
    }
    Str out;
    str_init(&out, 20);
    assert_int_equal(smtp_body_write("a\0b\r\n", 5, &out), SMTP_BODY_BAD);
    str_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_replies), cmocka_unit_test(test_long_replies), cmocka_unit_test(test_bodies) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
