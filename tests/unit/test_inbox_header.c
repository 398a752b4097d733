/* The header scanner and the address reader: who wrote a letter depends on nothing else. */
#include "core/base/str.h"
#include "daemon/inbox/header.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static Header scan(Arena *arena, const char *raw, size_t size) {
    Header header = { 0 };
    assert_true(header_scan(arena, raw, size, &header));
    return header;
}

static void expect_fields(const char *raw, size_t size, const char *fields, const char *body) {
    Arena arena;
    arena_init(&arena, 1024 * 1024);
    Header header = scan(&arena, raw, size);
    char joined[2000] = "";
    for (size_t i = 0; i < header.count; i++) {
        size_t used = strlen(joined);
        snprintf(joined + used, sizeof joined - used, "%s=%s|", header.fields[i].name, header.fields[i].value);
    }
    assert_string_equal(joined, fields);
    assert_int_equal(size - header.body, strlen(body));
    assert_memory_equal(raw + header.body, body, strlen(body));
    arena_free(&arena);
}

static void test_scan(void **state) {
    (void)state;
    static const struct { const char *raw, *fields, *body; } cases[] = {
        { "From: a@x\r\nSubject: y\r\n\r\nbody\r\n", "From=a@x|Subject=y|", "body\r\n" },
        { "From: a@x\nSubject: y\n\nbody\n", "From=a@x|Subject=y|", "body\n" },
        { "From: a@x\rSubject: y\r\rbody\r", "From=a@x|Subject=y|", "body\r" },
        { "\xef\xbb\xbf" "From: a@x\r\n\r\nb", "From=a@x|", "b" },
        { "From a@x Sat Mar 22 08:30:28 2013\nFrom: a@x\n\nb", "From=a@x|", "b" },
        { ">From a@x Sat Mar 22 08:30:28 2013\nFrom: a@x\n\nb", "From=a@x|", "b" },
        { "\xef\xbb\xbf" "From a@x Sat Mar 22 08:30:28 2013\nFrom: a@x\n\nb", "From=a@x|", "b" },
        { "From: a@x\r\nthis is no field\r\n its continuation\r\nSubject: y\r\n\r\nb", "From=a@x|Subject=y|", "b" },
        { "From : a@x\r\n\r\nb", "From=a@x|", "b" },
        { "Subject: one\r\n two\r\n\tthree\r\n\r\nb", "Subject=one two three|", "b" },
        { "Subject:\r\n folded\r\n\r\nb", "Subject=folded|", "b" },
        { "Subject: x \r\n \r\nFrom: a@x\r\n\r\nb", "Subject=x|From=a@x|", "b" }, /* blanks alone do not end it */
        { "Subject: x", "Subject=x|", "" },
        { "\r\nbody", "", "body" },
        { "no header here", "", "" },
        { "", "", "" },
        { ": value\r\nA: b\r\n\r\n", "A=b|", "" },
        { "X:\r\n\r\nb", "X=|", "b" },
        { "FROM: a@x\r\nfrom: b@x\r\n\r\n", "FROM=a@x|from=b@x|", "" },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        expect_fields(cases[i].raw, strlen(cases[i].raw), cases[i].fields, cases[i].body);
    static const char nul[] = "Subject: a\0b\x07" "c\r\n\r\nb\0c";
    expect_fields(nul, 19, "Subject=a b c|", "b");
}

static void test_fields(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1024 * 1024);
    const char *raw = "Received: 1\r\nFROM: a@x\r\nreceived: 2\r\n\r\n";
    Header header = scan(&arena, raw, strlen(raw));
    assert_string_equal(header_field(&header, "Received", 1), "2");
    assert_null(header_field(&header, "Received", 2));
    assert_string_equal(header_field(&header, "from", 0), "a@x");
    assert_int_equal(header_count(&header, "RECEIVED"), 2);
    assert_int_equal(header_count(&header, "Receive"), 0);
    arena_free(&arena);
}

/* 5,000 fields: the first thousand are kept, in little time. */
static void test_many_fields(void **state) {
    (void)state;
    Str raw;
    str_init(&raw, 1024 * 1024);
    for (int i = 0; i < 5000; i++)
        str_printf(&raw, "X-%d: y\r\n", i);
    str_append(&raw, "\r\nbody");
    Arena arena;
    arena_init(&arena, 4 * 1024 * 1024);
    Header header = scan(&arena, raw.data, raw.length);
    assert_int_equal(header.count, HEADER_FIELDS_MAX);
    assert_string_equal(raw.data + header.body, "body");
    arena_free(&arena);
    arena_init(&arena, 100);
    assert_false(header_scan(&arena, raw.data, raw.length, &header));
    arena_free(&arena);
    str_free(&raw);
}

/* `addresses`: all of them, each with a blank behind it. */
static const struct { const char *value, *addresses; } address_cases[] = {
    { "john@x.org", "john@x.org " },
    { "  john@x.org  ", "john@x.org " },
    { "John Doe <john@x.org>", "john@x.org " },
    { "\"Doe, John\" <john@x.org>", "john@x.org " },
    { "john@X.Org", "john@x.org " },
    { "John@x.org", "John@x.org " },
    { "<john@x.org>", "john@x.org " },
    { "john@x.org (John Doe)", "john@x.org " },
    { "(first) john@x.org", "john@x.org " },
    { "john@x.org, anna@y.org", "john@x.org anna@y.org " },
    { "John <john@x.org>, Anna <anna@y.org>", "john@x.org anna@y.org " },
    { "John <john@x.org>; Anna <anna@y.org>", "john@x.org anna@y.org " },
    { "John Doe john@x.org", "" },                   /* FACTS.md: no JohnDoejohn@x.org */
    { "john@x.org John Doe", "" },
    { "john@x.org anna@y.org", "" },
    { "John", "" },
    { "", "" },
    { "<>", "" },
    { "John <>", "" },
    { "undisclosed-recipients:;", "" },
    { "club: john@x.org, Anna <anna@y.org>; tom@z.org", "john@x.org anna@y.org tom@z.org " },
    { "Pete(A nice \\) chap) <pete(his account)@silly.test(his host)>", "pete@silly.test " },
    { "A Group(Some people)\r\n :Chris Jones <c@(Chris's host.)public.example>,joe@example.org", "c@public.example joe@example.org " },
    { "john(nested (comments (here)))@x.org", "john@x.org " },
    { "john@x.org (unclosed", "john@x.org " },
    { "\"john doe\"@x.org", "\"john doe\"@x.org " },
    { "\"john\"@x.org", "john@x.org " },
    { "\"jo\\\"hn\"@x.org", "\"jo\\\"hn\"@x.org " },
    { "\"a@b\"@x.org", "\"a@b\"@x.org " },
    { "\"unclosed <john@x.org>", "" },
    { "john . doe @ x . org", "john.doe@x.org " },
    { "john@[192.0.2.1]", "john@[192.0.2.1] " },
    { "john@[IPv6:2001:DB8::1]", "john@[ipv6:2001:db8::1] " },
    { "<@relay.org,@other.org:john@x.org>", "john@x.org " },
    { "<john@x.org", "" },
    { "john@x.org>", "" },
    { "a@b@c", "" }, { "a@@b", "" }, { "@x.org", "" }, { "john@", "" }, { "john@x..org", "" }, { "john@.org", "" },
    { "a..b@docomo.example", "a..b@docomo.example " },
    { "a.@docomo.example", "a.@docomo.example " },
    { "A <a@x.org> B <b@y.org>", "a@x.org b@y.org " }, /* counted as two, so that nobody takes it for one */
    { "a@x.org <b@y.org>", "b@y.org " },
    { "'a@x.org'", "" },
    { "chess+abc234@club.example", "chess+abc234@club.example " },
    { "=?utf-8?q?J=C3=B6rg?= <joerg@x.org>", "joerg@x.org " },
    { "j\xc3\xb6rg@x.org", "j\xc3\xb6rg@x.org " },
    { "j\xf6rg@x.org", "" },
    { "john@x.org,", "john@x.org " }, { ",,john@x.org", "john@x.org " }, { ";", "" }, { "(((((", "" }, { "<<john@x.org>>", "john@x.org " },
    { "mailto:john@x.org", "john@x.org " },
    { "john@x_y.org", "john@x_y.org " }, { "john@x.org/", "" }, { "john@localhost", "john@localhost " },
};

static void test_addresses(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(address_cases); i++) {
        Arena arena;
        arena_init(&arena, 65536);
        const char *addresses[8] = { NULL };
        size_t count = header_addresses(&arena, address_cases[i].value, addresses, NULL, 8);
        char joined[1000] = "";
        for (size_t n = 0; n < count; n++) {
            size_t used = strlen(joined);
            snprintf(joined + used, sizeof joined - used, "%s ", addresses[n]);
        }
        if (strcmp(joined, address_cases[i].addresses) != 0)
            print_message("case \"%s\"\n", address_cases[i].value);
        assert_string_equal(joined, address_cases[i].addresses);
        assert_int_equal(header_addresses(&arena, address_cases[i].value, addresses, NULL, 0), count);
        arena_free(&arena);
    }
}

static void test_names(void **state) {
    (void)state;
    static const struct { const char *value, *name; } cases[] = {
        { "John Doe <john@x.org>", "John Doe" }, { "\"Doe, \\\"J\\\"\" <john@x.org>", "Doe, \"J\"" }, { "john@x.org (John Doe)", "John Doe" },
        { "john@x.org", "" }, { "=?utf-8?B?SsO2cmc=?= =?utf-8?q?_M=C3=BCller?= <j@x.org>", "Jörg Müller" }, { "<j@x.org> (John)", "" },
        { "  John   Doe   <john@x.org>", "John Doe" }, { "J\xf6rg <j@x.org>", "Jörg" }, { "\"=?iso-8859-1?q?J=F6rg?=\" <j@x.org>", "Jörg" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        Arena arena;
        arena_init(&arena, 65536);
        const char *addresses[2], *names[2] = { NULL, NULL };
        assert_int_equal(header_addresses(&arena, cases[i].value, addresses, names, 2), 1);
        assert_string_equal(names[0], cases[i].name);
        arena_free(&arena);
    }
}

static void test_decode(void **state) {
    (void)state;
    static const struct { const char *value, *out; } cases[] = {
        { "plain", "plain" }, { "=?utf-8?q?Nf3=21?=", "Nf3!" }, { "=?UTF-8?B?4pmYZjM=?=", "♘f3" }, { "a =?utf-8?q?b?= c", "a b c" },
        { "=?utf-8?q?a?= =?utf-8?q?b?=", "ab" }, { "=?utf-8?q?a?=  x", "a  x" }, { "=?utf-8?q?a?= =?iso-8859-1?q?=E4?=", "aä" },
        { "=?utf-8?q?=C3?= =?utf-8?q?=A4?=", "ä" }, /* a character cut in two */
        { "=?iso-2022-jp?B?GyRCOH0bKEI=?=", "口" }, { "=?x?z?y?=", "=?x?z?y?=" }, { "=?utf-8?q?open", "=?utf-8?q?open" }, { "=?", "=?" },
        { "=?utf-8?q?a_b=5F?=", "a b_" }, { "=?utf-8*en?q?x?=", "x" }, { "1=?utf-8?q?2?=3", "123" }, { "\xe4", "ä" }, { "=?utf-8?q?=0A=07x?=", " x" },
        { "e8=Q", "e8=Q" }, { "=?no-such?q?=C3=A4?=", "ä" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        Arena arena;
        arena_init(&arena, 65536);
        assert_string_equal(header_decode(&arena, cases[i].value), cases[i].out);
        arena_free(&arena);
    }
}

static void test_message_ids(void **state) {
    (void)state;
    static const struct { const char *value, *ids; } cases[] = {
        { "<a@b>", "a@b " }, { "<a@b> <c@d>", "a@b c@d " }, { "<a@b><c@d>", "a@b c@d " }, { "a@b", "" }, { "<a b@c>", "" }, { "<ab>", "" }, { "<@b>", "" }, { "<a@>", "" },
        { "<a@b", "" }, { "<x<a@b>", "a@b " }, { "junk <a@b> (comment)", "a@b " }, { "<a@b@c>", "" }, { "<>", "" }, { "", "" }, { "<a@b>,<c@d>", "a@b c@d " },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        Arena arena;
        arena_init(&arena, 65536);
        const char *ids[8];
        size_t count = header_message_ids(&arena, cases[i].value, ids, 8);
        char joined[200] = "";
        for (size_t n = 0; n < count; n++) {
            size_t used = strlen(joined);
            snprintf(joined + used, sizeof joined - used, "%s ", ids[n]);
        }
        assert_string_equal(joined, cases[i].ids);
        arena_free(&arena);
    }
}

/* A megabyte of one kind of byte takes no time. */
static void test_linear(void **state) {
    (void)state;
    enum { SIZE = 1024 * 1024 };
    static const char *const pieces[] = { "(", ")", "<", "\"", "\\", "=?", "=?a?q?", "a@b,", ":", "\r\n ", "<a@", " ", "\"a\"." };
    char *text = malloc(SIZE + 1);
    assert_non_null(text);
    for (size_t i = 0; i < COUNT(pieces); i++) {
        for (size_t at = 0; at < SIZE; at++)
            text[at] = pieces[i][at % strlen(pieces[i])];
        text[SIZE] = 0;
        Arena arena;
        arena_init(&arena, 64 * 1024 * 1024);
        const char *out[4], *names[4];
        header_addresses(&arena, text, out, names, 4);
        header_message_ids(&arena, text, out, 4);
        assert_non_null(header_decode(&arena, text));
        Header header;
        header_scan(&arena, text, SIZE, &header);
        arena_free(&arena);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scan), cmocka_unit_test(test_fields), cmocka_unit_test(test_many_fields), cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_names), cmocka_unit_test(test_decode), cmocka_unit_test(test_message_ids), cmocka_unit_test(test_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
