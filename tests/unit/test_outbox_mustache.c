/* The Mustache specification's facts as cases in the folder tests/data/mustache, the words file and the folder of templates. */
#include "daemon/outbox/mustache.h"
#include "daemon/outbox/template.h"
#include "daemon/outbox/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void run_file(const char *name) {
    char path[200];
    snprintf(path, sizeof path, "tests/data/mustache/%s.json", name);
    json_t *cases = json_load_file(path, JSON_DECODE_ANY, NULL);
    assert_true(json_array_size(cases) > 9);
    size_t index;
    json_t *test;
    json_array_foreach(cases, index, test) {
        Str out;
        str_init(&out, 100000);
        Error error = { 0 };
        int result = mustache_render(json_string_value(json_object_get(test, "template")), json_object_get(test, "data"),
                                     json_object_get(test, "partials"), json_object_get(test, "html") == NULL, &out, &error);
        const char *title = json_string_value(json_object_get(test, "name"));
        if (json_is_true(json_object_get(test, "error"))) {
            if (result == 0 || error.grade != ERROR_INPUT)
                fail_msg("%s, %s: no error", name, title);
        } else if (result != 0) {
            fail_msg("%s, %s: %s", name, title, error.text);
        } else if (strcmp(out.data, json_string_value(json_object_get(test, "expected"))) != 0) {
            fail_msg("%s, %s: \"%s\"", name, title, out.data);
        }
        str_free(&out);
    }
    json_decref(cases);
}

static void test_interpolation(void **state) { (void)state; run_file("interpolation"); }
static void test_sections(void **state) { (void)state; run_file("sections"); }
static void test_inverted(void **state) { (void)state; run_file("inverted"); }
static void test_comments(void **state) { (void)state; run_file("comments"); }
static void test_partials(void **state) { (void)state; run_file("partials"); }
static void test_delimiters(void **state) { (void)state; run_file("delimiters"); }

/* A template of few bytes cannot keep the service busy, nor fill its memory. */
static void test_bounds(void **state) {
    (void)state;
    json_t *list = json_array();
    for (int i = 0; i < 1000; i++)
        json_array_append_new(list, json_integer(i));
    json_t *context = json_pack("{s:o}", "l", list);
    Str out;
    str_init(&out, 100000);
    Error error = { 0 };
    assert_int_equal(mustache_render("{{#l}}{{#l}}{{#l}}{{#l}}{{/l}}{{/l}}{{/l}}{{/l}}", context, NULL, false, &out, &error), -1);
    assert_non_null(strstr(error.text, "too much work"));
    str_clear(&out);
    assert_int_equal(mustache_render("{{#l}}{{#l}}0123456789{{/l}}{{/l}}", context, NULL, false, &out, &error), -1);
    assert_non_null(strstr(error.text, "longer than 100000"));
    str_free(&out);
    json_decref(context);
}

static void test_error_lines(void **state) {
    (void)state;
    Error error = { 0 };
    assert_null(mustache_parse("one\ntwo {{#a}}\nthree\n{{/b}}\n", "move.md", &error));
    assert_non_null(strstr(error.text, "move.md:4:"));
    assert_non_null(strstr(error.text, "line 2"));
    assert_null(mustache_parse("one\n{{#open}}\n", "move.md", &error));
    assert_non_null(strstr(error.text, "move.md:2:"));
    assert_null(mustache_parse("\n\n{{x\n", "move.md", &error));
    assert_non_null(strstr(error.text, "move.md:3:"));
}

static void check_words(const Words *words, const char *name, int64_t first, int64_t second, const char *expected) {
    Str out;
    str_init(&out, 1000);
    int64_t numbers[] = { first, second };
    assert_true(words_write(words, name, numbers, 2, &out));
    assert_string_equal(out.data, expected);
    str_free(&out);
}

static void test_words(void **state) {
    (void)state;
    Error error = { 0 };
    Words *words = words_open("; comment\n\nknight = Springer\nlong = one\n   two\n\n  three\n"
                              "days = {0, plural, one {# day} few {# dny} other {# days}}\n"
                              "both = {1, number} of {0, plural, =0 {no} one {one} other {#}}\n"
                              "ordinal = {0, selectordinal, one {#st} two {#nd} few {#rd} other {#th}}\n"
                              "quoted = it''s '{'0'}' o'clock\nequals = a = b\n",
                              "words.ini", "en", &error);
    if (words == NULL)
        fail_msg("%s", error.text);
    assert_string_equal(words_text(words, "knight"), "Springer");
    assert_string_equal(words_text(words, "long"), "one two three");
    assert_string_equal(words_text(words, "quoted"), "it's {0} o'clock");
    assert_string_equal(words_text(words, "equals"), "a = b");
    assert_null(words_text(words, "days"));
    assert_null(words_text(words, "gone"));
    check_words(words, "days", 1, 0, "1 day");
    check_words(words, "days", 0, 0, "0 days");
    check_words(words, "days", 12345, 0, "12,345 days");
    check_words(words, "both", 0, 7, "7 of no");
    check_words(words, "ordinal", 22, 0, "22nd");
    Str out;
    str_init(&out, 1000);
    assert_false(words_write(words, "days", NULL, 0, &out));
    assert_false(words_write(words, "gone", NULL, 0, &out));
    str_free(&out);
    words_close(words);

    words = words_open("days = {0, plural, one {# den} few {# dny} many {# dne} other {# dní}}\n", "words.ini", "cs", &error);
    assert_non_null(words);
    check_words(words, "days", 1, 0, "1 den");
    check_words(words, "days", 3, 0, "3 dny");
    check_words(words, "days", 5, 0, "5 dní");
    words_close(words);
}

static void test_words_errors(void **state) {
    (void)state;
    static const char *const broken[] = {
        "no sign\n", " first line indented\n", "= x\n", "a = x\na = y\n", "a = {0}\n", "a = {name, number}\n", "a = {4, number}\n",
        "a = {0, date}\n", "a = {0, number, integer}\n", "a = {0, plural, one {x}}\n", "a = {0, plural, one {x} other {y}\n", "a = }\n",
        "a = '{ open\n", "a = {0, plural, offset:1 one {x} other {y}}\n", "a = {0, select, one {x} other {y}}\n", "a = {", "a = {0", "a = {0,",
        "a = {0, plural,", "a = {0, plural, other", "a = {0, plural, other {", "a = {0, plural, other {{0, plural, other {", "a = \xff\n",
    };
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        Error error = { 0 };
        Words *words = words_open(broken[i], "words.ini", "en", &error);
        if (words != NULL || strncmp(error.text, "words.ini:", 10) != 0)
            fail_msg("%s gives no error with a line: %s", broken[i], error.text);
    }
}

static void write_text(const char *folder, const char *name, const char *text) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void check_render(const Templates *templates, const char *language, const char *name, TemplateEscape escape, const char *expected) {
    json_t *context = json_pack("{s:s, s:i}", "x", "*a* <b> 1.", "n", 1);
    Str out;
    str_init(&out, 10000);
    Error error = { 0 };
    if (template_render(templates, language, name, context, escape, &out, &error) != 0)
        fail_msg("%s", error.text);
    assert_string_equal(out.data, expected);
    str_free(&out);
    json_decref(context);
}

static void test_folder(void **state) {
    (void)state;
    char folder[] = "/tmp/epistle-templates-XXXXXX", en[100], de[100];
    assert_non_null(mkdtemp(folder));
    snprintf(en, sizeof en, "%s/en", folder);
    snprintf(de, sizeof de, "%s/de", folder);
    Error error = { 0 };
    assert_null(templates_open(folder, &error)); /* no English */
    assert_int_equal(mkdir(en, 0700), 0);
    assert_null(templates_open(folder, &error)); /* no words */
    assert_non_null(strstr(error.text, "words.ini"));
    write_text(en, "words.ini", "knight = knight\nonly = English\n");
    write_text(en, "a.md", "{{words.knight}} {{x}} {{{x}}} {{> b}}");
    write_text(en, "b.md", "{{#words.only}}{{words.only}}{{/words.only}}{{^words.gone}}.{{/words.gone}}");
    write_text(en, "notes.txt", "{{#");
    write_text(folder, "README", "not a folder");
    assert_int_equal(mkdir(de, 0700), 0);
    write_text(de, "words.ini", "knight = Springer\n");
    Templates *templates = templates_open(folder, &error);
    if (templates == NULL)
        fail_msg("%s", error.text);
    assert_true(templates_have_language(templates, "de"));
    assert_false(templates_have_language(templates, "fr"));
    assert_false(templates_have_language(templates, "../en"));
    check_render(templates, "en", "a", ESCAPE_NONE, "knight *a* <b> 1. *a* <b> 1. English.");
    check_render(templates, "de", "a", ESCAPE_MARKDOWN, "Springer \\*a\\* \\<b\\> 1\\. *a* <b> 1. English.");
    check_render(templates, "../../etc", "a", ESCAPE_NONE, "knight *a* <b> 1. *a* <b> 1. English.");
    Str out;
    str_init(&out, 1000);
    assert_int_equal(template_render(templates, "en", "../b", NULL, ESCAPE_NONE, &out, &error), -1);
    assert_int_equal(words_format(templates, "de", "only", NULL, 0, &out, &error), 0);
    assert_int_equal(words_format(templates, "de", "gone", NULL, 0, &out, &error), -1);
    str_free(&out);
    templates_close(templates);

    write_text(en, "b.md", "{{> c}}");
    assert_null(templates_open(folder, &error));
    assert_non_null(strstr(error.text, "\"c\""));
    write_text(en, "b.md", "\n{{#c}}");
    assert_null(templates_open(folder, &error));
    assert_non_null(strstr(error.text, "en/b.md:2:"));
    char command[200];
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interpolation), cmocka_unit_test(test_sections), cmocka_unit_test(test_inverted),
        cmocka_unit_test(test_comments),      cmocka_unit_test(test_partials), cmocka_unit_test(test_delimiters),
        cmocka_unit_test(test_bounds),        cmocka_unit_test(test_error_lines), cmocka_unit_test(test_words),
        cmocka_unit_test(test_words_errors),  cmocka_unit_test(test_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
