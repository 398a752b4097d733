/* The verbs' common ground: options, numbers, times; and that nothing printed holds control characters (RULINGS 50). */
#include "core/base/error.h"
#include "daemon/log.h"
#include "daemon/verbs/open.h"
#include "daemon/verbs/verbs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORDS_MAX = 8 };

typedef struct Parsed {
    const char *words[3], *value;
    int count, status;
    bool flag, good;
} Parsed;

static Parsed parse(const char *const *arguments, int least, int most) {
    Parsed parsed = { .status = -1 };
    char copies[WORDS_MAX][40], *argv[WORDS_MAX];
    int argc = 0;
    for (; arguments[argc] != NULL; argc++) {
        assert_true(text_copy(copies[argc], sizeof copies[argc], arguments[argc]));
        argv[argc] = copies[argc];
    }
    const VerbOption options[] = { { "value", &parsed.value, NULL }, { "flag", NULL, &parsed.flag }, { 0 } };
    VerbCall call = { .argc = argc, .argv = argv };
    parsed.good = verb_arguments(&call, "try", "", options, parsed.words, least, most, &parsed.count, &parsed.status);
    if (parsed.value != NULL) /* the copies end here */
        parsed.value = strcmp(parsed.value, "x y") == 0 ? "x y" : strcmp(parsed.value, "") == 0 ? "" : "other";
    return parsed;
}

static void test_arguments(void **state) {
    (void)state;
    Parsed parsed = parse((const char *const[]){ "try", "a", "--flag", "--value", "x y", "b", NULL }, 0, 3);
    assert_true(parsed.good && parsed.flag);
    assert_int_equal(parsed.count, 2);
    assert_string_equal(parsed.value, "x y");
    parsed = parse((const char *const[]){ "try", "--value=", NULL }, 0, 0);
    assert_true(parsed.good);
    assert_string_equal(parsed.value, "");
    parsed = parse((const char *const[]){ "try", "--", "--flag", "-", NULL }, 0, 2);
    assert_true(parsed.good && !parsed.flag);
    assert_int_equal(parsed.count, 2);
    parsed = parse((const char *const[]){ "try", "-", NULL }, 1, 1);
    assert_true(parsed.good);
}

static void test_usage_errors(void **state) {
    (void)state;
    static const char *const wrong[][4] = {
        { "try", NULL },                     /* too few */
        { "try", "a", "b", NULL },           /* too many */
        { "try", "a", "--value", NULL },     /* without its value */
        { "try", "a", "--flags", NULL },     /* a longer name */
        { "try", "a", "--fla", NULL },       /* a shorter one */
        { "try", "a", "--flag=yes", NULL },  /* takes none */
        { "try", "a", "-f", NULL },
        { "try", "a", "-v", NULL },          /* only where there is a --verbose */
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        Parsed parsed = parse(wrong[i], 1, 1);
        assert_false(parsed.good);
        assert_int_equal(parsed.status, STATUS_USAGE);
    }
}

static void test_numbers(void **state) {
    (void)state;
    int64_t number = 0;
    assert_true(verb_number("42", &number));
    assert_int_equal(number, 42);
    assert_true(verb_number("#7", &number));
    assert_int_equal(number, 7);
    static const char *const wrong[] = { "", "0", "000", "-1", "+1", "1 ", " 1", "1a", "0x1", "99999999999999999999", "#", "##1" };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(verb_number(wrong[i], &number));
    assert_int_equal(number, 7);
}

static void test_times(void **state) {
    (void)state;
    Instant instant = 0, expected = 0;
    assert_true(verb_time("now", NULL, &instant));
    assert_true(instant == INSTANT_NONE);
    assert_true(instant_read("2026-11-30T00:00:00Z", &expected));
    assert_true(verb_time("start", "2026-11-30", &instant));
    assert_true(instant == expected);
    assert_true(verb_time("now", "2026-11-30T01:00:00+01:00", &instant));
    assert_true(instant == expected);
    assert_false(verb_time("now", "2026-11-31T", &instant));
}

static void test_grades(void **state) {
    (void)state;
    static const struct { ErrorGrade grade; int status; } cases[] = {
        { ERROR_INPUT, 1 }, { ERROR_LETTER, 1 }, { ERROR_MAILBOX, 75 }, { ERROR_LATER, 75 }, { ERROR_DAMAGED, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Error error;
        error_set(&error, cases[i].grade, 0, "a test of exit statuses");
        assert_int_equal(verb_fail(&error), cases[i].status);
    }
}

/* What a stream got, as text. */
static void printed(void (*print)(FILE *stream, const char *text), const char *text, char *ret_out, size_t size) {
    char *data = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&data, &length);
    assert_non_null(stream);
    print(stream, text);
    fclose(stream);
    assert_true(text_copy(ret_out, size, data));
    free(data);
}

static void print_as_line(FILE *stream, const char *text) {
    print_line(stream, "%s", text);
}

static void test_clean_output(void **state) {
    (void)state;
    static const struct { const char *text, *line, *lines; } cases[] = {
        { "Zoë – ♘f3", "Zoë – ♘f3\n", "Zoë – ♘f3\n" },
        { "a\x1b[31mb", "a?[31mb\n", "a?[31mb\n" },
        { "a\nb\n", "a?b?\n", "a\nb\n" },
        { "a\r\n\tb", "a???b\n", "a?\n\tb\n" },
        { "\xc2\x9b" "31m \x7f", "?31m ?\n", "?31m ?\n" },                  /* C1 controls */
        { "\xe2\x80\xae" "x\xe2\x81\xa6y\xe2\x80\xa8", "?x?y?\n", "?x?y?\n" }, /* bidi marks, line separator */
        { "\xff\xc3", "??\n", "??\n" },
        { "", "\n", "" },
    };
    char out[200];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        printed(print_as_line, cases[i].text, out, sizeof out);
        assert_string_equal(out, cases[i].line);
        printed(print_text, cases[i].text, out, sizeof out);
        assert_string_equal(out, cases[i].lines);
    }
}

static void test_json_and_paths(void **state) {
    (void)state;
    json_t *text = json_text("a\xff" "b");
    assert_string_equal(json_string_value(text), "a?b");
    json_decref(text);
    json_t *none = json_instant(INSTANT_NONE);
    assert_true(json_is_null(none));
    assert_true(json_is_null(json_number(0)));
    assert_string_equal(maildir_path("maildir:///var/mail/x"), "/var/mail/x");
    assert_null(maildir_path("imaps://x/INBOX"));
    assert_null(maildir_path(NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments), cmocka_unit_test(test_usage_errors), cmocka_unit_test(test_numbers), cmocka_unit_test(test_times),
        cmocka_unit_test(test_grades),    cmocka_unit_test(test_clean_output), cmocka_unit_test(test_json_and_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
