/* Composing: what goes on the wire, read back by Python's email package (tests/data/letters/read_letter.py). */
#include "daemon/outbox/compose.h"
#include "daemon/outbox/encode_mail.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static ComposeHeader usual(void) {
    return (ComposeHeader){ .from_name = "Anytown Chess by Mail", .from_address = "chess@club.example", .to_name = "Anna Smith",
                            .to_address = "anna@example.org", .reply_to = "chess+abcdefghijklmnopqrstuvwxyz@club.example",
                            .message_id = "abcdefghijklmnopqrstuvwxyz.1@club.example", .auto_submitted = "auto-replied",
                            .loop_value = "chess@club.example", .date = 1796004551, .pgn_name = "game-42.pgn" };
}

/* Composes, writes to a file, lets Python read it. */
static json_t *read_back(const ComposeHeader *header, const RenderedLetter *letter) {
    Str out;
    str_init(&out, 1 << 22);
    Error error = { 0 };
    if (compose_letter(header, letter, &out, &error) != 0)
        fail_msg("%s", error.text);
    char path[] = "/tmp/epistle-compose-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, out.data, out.length), (ssize_t)out.length);
    close(file);
    str_free(&out);
    char command[200];
    const char *python = getenv("PYTHON");
    snprintf(command, sizeof command, "%s tests/data/letters/read_letter.py %s", python == NULL ? "/usr/bin/python3" : python, path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    json_t *found = json_loadf(pipe, 0, NULL);
    assert_int_equal(pclose(pipe), 0);
    unlink(path);
    assert_non_null(found);
    assert_int_equal(json_integer_value(json_object_get(found, "bare")), 0);
    assert_true(json_is_true(json_object_get(found, "seven_bit")));
    assert_int_equal(json_array_size(json_object_get(found, "defects")), 0);
    return found;
}

static void check(const json_t *found, const char *key, const char *expected) {
    const char *text = json_string_value(json_object_get(found, key));
    if (text == NULL || strcmp(text, expected) != 0)
        fail_msg("%s is \"%s\" and not \"%s\"", key, text == NULL ? "(null)" : text, expected);
}

static void check_mailbox(const json_t *found, const char *key, const char *name, const char *address) {
    const json_t *mailbox = json_array_get(json_object_get(found, key), 0);
    assert_int_equal(json_array_size(json_object_get(found, key)), 1);
    assert_string_equal(json_string_value(json_array_get(mailbox, 0)), name);
    assert_string_equal(json_string_value(json_array_get(mailbox, 1)), address);
}

static void check_tree(const json_t *found, const char *expected) {
    json_t *tree = json_loads(expected, JSON_DECODE_ANY, NULL);
    assert_true(json_equal(tree, json_object_get(found, "tree")));
    json_decref(tree);
}

/* No literals in a RenderedLetter: it owns its texts in life. */
static RenderedLetter letter_of(const char *subject, const char *text, const char *html, const char *pgn) {
    return (RenderedLetter){ strdup(subject), strdup(text), html == NULL ? NULL : strdup(html), pgn == NULL ? NULL : strdup(pgn) };
}

static void test_structure(void **state) {
    (void)state;
    static const char text[] = "Dear Anna,\n\nplain\n", html[] = "<p>é e8=Q</p>\n", pgn[] = "[Event \"x\"]\n\n1. e4 *\n\n";
    ComposeHeader header = usual();
    RenderedLetter letter = letter_of("[Anytown #42] Anna - Bob", text, html, pgn);
    json_t *found = read_back(&header, &letter);
    check_tree(found, "[\"multipart/mixed\",[\"multipart/alternative\",\"text/plain\",\"text/html\"],\"application/x-chess-pgn\"]");
    check(found, "text/plain", text);
    check(found, "text/html", html);
    check(found, "application/x-chess-pgn", pgn);
    check(found, "file", "game-42.pgn");
    check(found, "Subject", "[Anytown #42] Anna - Bob");
    check(found, "Date", "Mon, 30 Nov 2026 02:09:11 +0000");
    check(found, "Message-ID", "<abcdefghijklmnopqrstuvwxyz.1@club.example>");
    check(found, "Auto-Submitted", "auto-replied");
    check(found, "X-Auto-Response-Suppress", "DR, RN, NRN, OOF, AutoReply");
    check(found, "X-Epistle-Loop", "chess@club.example");
    check(found, "MIME-Version", "1.0");
    assert_true(json_is_null(json_object_get(found, "In-Reply-To")));
    assert_true(json_is_null(json_object_get(found, "References")));
    check_mailbox(found, "From", "Anytown Chess by Mail", "chess@club.example");
    check_mailbox(found, "Reply-To", "Anytown Chess by Mail", "chess+abcdefghijklmnopqrstuvwxyz@club.example");
    check_mailbox(found, "To", "Anna Smith", "anna@example.org");
    json_decref(found);

    free(letter.pgn);
    letter.pgn = NULL;
    header.reply_to = NULL;
    header.to_name = "";
    found = read_back(&header, &letter);
    check_tree(found, "[\"multipart/alternative\",\"text/plain\",\"text/html\"]");
    check_mailbox(found, "To", "", "anna@example.org");
    assert_int_equal(json_array_size(json_object_get(found, "Reply-To")), 0);
    json_decref(found);

    free(letter.html);
    letter.html = NULL;
    found = read_back(&header, &letter);
    check_tree(found, "\"text/plain\"");
    check(found, "text/plain", text);
    json_decref(found);
    rendered_letter_free(&letter);
}

static void test_names(void **state) {
    (void)state;
    static const char *const names[] = {
        "Anna Smith", "Jörg Müller", "Robert \"Bob\" O'Neill, Jr.", "back\\slash", "😀", "山田太郎", "=?UTF-8?Q?x?=", "a@b", "(comment)", "<x>",
        "Maximilian-Alexander Freiherr von und zu Hohenlohe-Langenburg", "Łukasz Żółć-Gęślą-Jaźń 😀😀😀 żółw żółw żółw żółw żółw żółw żółw 😀",
        "two  blanks", "Aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        ComposeHeader header = usual();
        header.to_name = header.from_name = names[i];
        RenderedLetter letter = letter_of(names[i], "x\n", NULL, NULL);
        json_t *found = read_back(&header, &letter);
        check_mailbox(found, "To", names[i], "anna@example.org");
        check_mailbox(found, "From", names[i], "chess@club.example");
        if (strncmp(names[i], "=?", 2) != 0)
            check(found, "Subject", names[i]);
        check(found, "Subject by parts", names[i]);
        assert_true(json_integer_value(json_object_get(found, "lines")) <= 78);
        json_decref(found);
        rendered_letter_free(&letter);
    }
}

/* Nothing in a value ends a header line. */
static void test_injection(void **state) {
    (void)state;
    ComposeHeader header = usual();
    header.to_name = "Anna\r\nBcc: evil@example.net";
    RenderedLetter letter = letter_of("x\nX-Evil: 1\r\n\r\nbody", "x\n", NULL, "y");
    header.pgn_name = "a\"\r\nX-Evil: \xc3\xbc.pgn";
    Str out;
    str_init(&out, 100000);
    assert_int_equal(compose_letter(&header, &letter, &out, NULL), 0);
    assert_null(strstr(out.data, "\nBcc:"));
    assert_null(strstr(out.data, "\nX-Evil"));
    str_free(&out);
    json_t *found = read_back(&header, &letter);
    check_mailbox(found, "To", "Anna  Bcc: evil@example.net", "anna@example.org");
    json_decref(found);
    rendered_letter_free(&letter);
}

static void test_addresses(void **state) {
    (void)state;
    static const char *const good[] = { "a@b", "first.last+tag@mail.example.org", "o'neill@example.org", "a=b%c!d@x.example" };
    static const char *const bad[] = { "", "a", "@b", "a@", "a@b@c", "a b@c", "a@b\r\nRCPT TO:<x@y>", "<a@b>", "a@b,c@d", "\"q q\"@x", "a@b..c", "a@.b", "ü@x", "a\n@b", "a@b>" };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(mail_address_good(good[i]));
    RenderedLetter letter = letter_of("s", "t\n", NULL, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(mail_address_good(bad[i]));
        ComposeHeader headers[] = { usual(), usual(), usual(), usual() };
        headers[0].to_address = headers[1].from_address = headers[2].reply_to = headers[3].loop_value = bad[i];
        for (size_t n = 0; n < 4; n++) {
            Str out;
            str_init(&out, 100000);
            Error error = { 0 };
            assert_int_equal(compose_letter(&headers[n], &letter, &out, &error), -1);
            assert_int_equal(error.grade, ERROR_INPUT);
            str_free(&out);
        }
    }
    rendered_letter_free(&letter);
}

static void test_references(void **state) {
    (void)state;
    const char *ids[] = { "one@example.org", "bad id@x", "evil\r\nX: y@z", "<in@angles>", "two@[192.0.2.1]", "no-at", "three@example.org" };
    ComposeHeader header = usual();
    header.references = ids;
    header.reference_count = sizeof ids / sizeof ids[0];
    header.in_reply_to = "three@example.org";
    RenderedLetter letter = letter_of("s", "t\n", NULL, NULL);
    json_t *found = read_back(&header, &letter);
    check(found, "References", "<one@example.org> <two@[192.0.2.1]> <three@example.org>");
    check(found, "In-Reply-To", "<three@example.org>");
    json_decref(found);
    header.in_reply_to = "not well formed";
    header.references = ids + 1;
    header.reference_count = 1;
    found = read_back(&header, &letter);
    assert_true(json_is_null(json_object_get(found, "In-Reply-To")));
    assert_true(json_is_null(json_object_get(found, "References")));
    json_decref(found);
    rendered_letter_free(&letter);
}

static void test_bodies(void **state) {
    (void)state;
    Str wide;
    str_init(&wide, 100000);
    for (int i = 0; i < 3000; i++)
        str_append(&wide, i % 7 == 0 ? "é" : i % 11 == 0 ? "😀" : i % 5 == 0 ? " " : "=");
    str_append(&wide, "\n");
    const char *bodies[] = {
        "From the start\n.\n..\nFrom here\n", "e8=Q+ =3D =\n", "blanks at the end  \nand a tab\t\n", "no line end", "\n\n\n", "é\n", wide.data,
        "a line of more than seventy-six columns that has to be broken softly by the encoding and not hard\n",
        "--=_alternative_x\n--\n", "tab\tinside\n",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        ComposeHeader header = usual();
        RenderedLetter letter = letter_of("s", bodies[i], bodies[i], bodies[i]);
        json_t *found = read_back(&header, &letter);
        check(found, "text/plain", bodies[i]);
        check(found, "text/html", bodies[i]);
        check(found, "application/x-chess-pgn", bodies[i]);
        assert_true(json_integer_value(json_object_get(found, "lines")) <= 78);
        json_decref(found);
        rendered_letter_free(&letter);
    }
    str_free(&wide);
}

/* A name in a file's name that is not ASCII (RFC 2231), also over more lines than one. */
static void test_file_name(void **state) {
    (void)state;
    static const char *const names[] = { "Spiel 42 (Jörg).pgn", "ein sehr langer Name mit Umlauten äöü äöü äöü äöü äöü äöü äöü äöü äöü äöü.pgn" };
    for (size_t i = 0; i < 2; i++) {
        ComposeHeader header = usual();
        header.pgn_name = names[i];
        RenderedLetter letter = letter_of("s", "t\n", NULL, "p\n");
        json_t *found = read_back(&header, &letter);
        check(found, "file", names[i]);
        assert_true(json_integer_value(json_object_get(found, "lines")) <= 78);
        json_decref(found);
        rendered_letter_free(&letter);
    }
}

static void test_same_bytes(void **state) {
    (void)state;
    ComposeHeader header = usual();
    RenderedLetter letter = letter_of("s ü", "t ü\n", "<p>", "p\n");
    Str one, two;
    str_init(&one, 100000);
    str_init(&two, 100000);
    assert_int_equal(compose_letter(&header, &letter, &one, NULL), 0);
    assert_int_equal(compose_letter(&header, &letter, &two, NULL), 0);
    assert_string_equal(one.data, two.data);
    header.message_id = "other@club.example";
    str_clear(&two);
    assert_int_equal(compose_letter(&header, &letter, &two, NULL), 0);
    assert_string_not_equal(strstr(one.data, "=_mixed_"), strstr(two.data, "=_mixed_"));
    str_free(&one);
    str_init(&one, 500);
    Error error = { 0 };
    assert_int_equal(compose_letter(&header, &letter, &one, &error), -1);
    str_free(&one);
    str_free(&two);
    rendered_letter_free(&letter);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structure),  cmocka_unit_test(test_names),     cmocka_unit_test(test_injection),
        cmocka_unit_test(test_addresses),  cmocka_unit_test(test_references), cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_file_name),  cmocka_unit_test(test_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
