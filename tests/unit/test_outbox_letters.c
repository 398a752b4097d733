/* Every letter we write: the views in tests/data/letters, rendered and held against the text beside them. With
 * EPISTLE_GOLDEN_UPDATE=1 in the environment the texts are written anew; read the difference before it is committed. */
#include "daemon/inbox/command.h"
#include "daemon/inbox/trim.h"
#include "daemon/outbox/compose.h"
#include "daemon/outbox/layout.h"
#include "daemon/outbox/view.h"

#include <ctype.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FOLDER "tests/data/letters/"

enum { LETTERS_MAX = 400 };

static Templates *templates;
static char *names[LETTERS_MAX];
static size_t name_count;

static int by_name(const void *left, const void *right) {
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static int open_all(void **state) {
    (void)state;
    Error error;
    templates = templates_open("templates", &error);
    if (templates == NULL) {
        fprintf(stderr, "%s\n", error.text);
        return -1;
    }
    DIR *list = opendir(FOLDER);
    if (list == NULL)
        return -1;
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        char *dot = strrchr(entry->d_name, '.');
        if (dot != NULL && strcmp(dot, ".json") == 0 && name_count < LETTERS_MAX)
            names[name_count++] = strndup(entry->d_name, (size_t)(dot - entry->d_name));
    }
    closedir(list);
    qsort(names, name_count, sizeof *names, by_name);
    return name_count > 50 ? 0 : -1;
}

static int close_all(void **state) {
    (void)state;
    templates_close(templates);
    for (size_t i = 0; i < name_count; i++)
        free(names[i]);
    return 0;
}

static json_t *load(const char *name) {
    char path[300];
    snprintf(path, sizeof path, FOLDER "%s.json", name);
    json_error_t error;
    json_t *view = json_load_file(path, 0, &error);
    if (view == NULL)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    return view;
}

static void render(const char *name, RenderedLetter *letter) {
    json_t *view = load(name);
    json_t *before = json_deep_copy(view);
    Error error = { 0 };
    if (view_render(templates, view, letter, &error) != 0)
        fail_msg("%s: %s", name, error.text);
    assert_true(json_equal(view, before));
    json_decref(view);
    json_decref(before);
}

static char *read_whole(const char *path) {
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return NULL;
    char *text = calloc(1, 1 << 20);
    size_t length = fread(text, 1, (1 << 20) - 1, file);
    text[length] = 0;
    fclose(file);
    return text;
}

static bool same_as_golden(const char *name, const char *ending, const char *text, bool optional) {
    char path[300];
    snprintf(path, sizeof path, FOLDER "%s.%s", name, ending);
    char *golden = read_whole(path);
    bool update = getenv("EPISTLE_GOLDEN_UPDATE") != NULL;
    bool same = golden == NULL ? text == NULL || optional : text != NULL && strcmp(golden, text) == 0;
    if (!same && update && text != NULL) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
        same = true;
    }
    if (!same)
        fprintf(stderr, "%s differs; EPISTLE_GOLDEN_UPDATE=1 writes it anew\n", path);
    free(golden);
    return same;
}

/* HTML is kept for the letters where a file NAME.html is there already. */
static void test_golden(void **state) {
    (void)state;
    bool same = true;
    for (size_t i = 0; i < name_count; i++) {
        RenderedLetter letter;
        render(names[i], &letter);
        Str text;
        str_init(&text, 1 << 20);
        str_printf(&text, "Subject: %s\n\n%s", letter.subject, letter.text);
        same = same_as_golden(names[i], "txt", text.data, false) && same;
        same = same_as_golden(names[i], "html", letter.html, true) && same;
        same = same_as_golden(names[i], "pgn", letter.pgn, false) && same;
        str_free(&text);
        rendered_letter_free(&letter);
    }
    assert_true(same);
}

static bool first_word_is_command(const char *line, size_t length, const char *commands, size_t *ret_words) {
    char word[32] = "";
    size_t at = 0, size = 0;
    while (at < length && !isalnum((unsigned char)line[at]) && (unsigned char)line[at] < 0x80)
        at++;
    while (at + size < length && line[at + size] != ' ' && size < sizeof word - 1) {
        word[size] = (char)tolower((unsigned char)line[at + size]);
        size++;
    }
    while (size > 0 && !isalnum((unsigned char)word[size - 1]))
        size--;
    word[size] = 0;
    *ret_words = 1;
    for (size_t i = 0; i < length; i++)
        *ret_words += line[i] == ' ';
    for (const char *command = commands; *command != 0;) {
        size_t width = strcspn(command, " ");
        if (width == size && strncmp(command, word, size) == 0)
            return true;
        command += width;
        command += strspn(command, " ");
    }
    return false;
}

/* RULINGS 10 as far as this side can tell: a line begins with no command's word, no digit and no castling, unless a bar stands
 * before it; a line of up to three words is not near a command either. */
static void check_line(const char *name, const char *line, size_t length, const char *commands) {
    if (length == 0 || line[0] == '|')
        return;
    size_t words;
    bool command = first_word_is_command(line, length, commands, &words);
    size_t start = strspn(line, "-\"( ");
    size_t first = strcspn(line + start, " \n");
    bool digit = isdigit((unsigned char)line[start]) || strncmp(line + start, "O-O", 3) == 0;
    bool near = words <= 3 && layout_guarded(line + start, first, commands);
    if (command || digit || near)
        fail_msg("%s: this line reads as a command: %.*s", name, (int)length, line);
}

static void test_lines(void **state) {
    (void)state;
    Str commands;
    str_init(&commands, 8192);
    assert_int_equal(words_format(templates, "en", "commands", NULL, 0, &commands, NULL), 0);
    for (size_t i = 0; i < name_count; i++) {
        RenderedLetter letter;
        render(names[i], &letter);
        bool wide_allowed = strncmp(names[i], "hostile", 7) == 0;
        assert_true(strncmp(letter.text, "Dear ", 5) == 0 || strncmp(letter.text, "Good day,", 9) == 0);
        for (const char *line = letter.text; *line != 0; line += strcspn(line, "\n") + 1) {
            size_t length = strcspn(line, "\n"), width = 0;
            assert_int_equal(line[length], '\n');
            for (size_t at = 0; at < length; at++) {
                width += ((unsigned char)line[at] & 0xc0) != 0x80;
                assert_true((unsigned char)line[at] >= 0x20);
            }
            if (length > 0 && line[length - 1] == ' ')
                fail_msg("%s: a line ends in a blank", names[i]);
            if (width > LAYOUT_WIDTH && !wide_allowed)
                fail_msg("%s: %zu columns: %.*s", names[i], width, (int)length, line);
            check_line(names[i], line, length, commands.data);
        }
        assert_null(strstr(letter.text, "\n\n\n"));
        assert_null(strstr(letter.text, "{{"));
        assert_null(strchr(letter.subject, '\n'));
        rendered_letter_free(&letter);
    }
    str_free(&commands);
}

static void check_reading(const char *name, const char *what, const char *text) {
    static const char *const players[] = { "Anna Smith", "Anna", "Smith", "Robert Jones", "Robert", "Jones" };
    CommandContext context = { .names = players, .name_count = sizeof players / sizeof players[0], .language = "en" };
    Arena arena;
    arena_init(&arena, 4 << 20);
    const char *trimmed = trim_new_text(&arena, text);
    assert_non_null(trimmed);
    CommandReading reading;
    assert_true(command_read(&arena, trimmed, &context, &reading));
    if (reading.count > 0)
        fail_msg("%s, %s: read as a command: %s", name, what, reading.commands[0].line);
    if (reading.problem != PROBLEM_NONE)
        fail_msg("%s, %s: near a command: %s", name, what, reading.problem_lines[0]);
    if (reading.asked_count > 0)
        fail_msg("%s, %s: a command in the remark: %s", name, what, reading.asked[0]);
    arena_free(&arena);
}

/* RULINGS 10 with the reader of letters itself: a letter sent back whole and unquoted, as its text, and as a mail program makes text
 * of the HTML, each paragraph one line. */
static void test_sent_back(void **state) {
    (void)state;
    for (size_t i = 0; i < name_count; i++) {
        RenderedLetter letter;
        render(names[i], &letter);
        check_reading(names[i], "text", letter.text);
        char *plain = calloc(1, strlen(letter.html) + 1), *to = plain;
        for (const char *from = strstr(letter.html, "<body>"); *from != 0;) {
            static const struct { const char *name; char byte; } entities[] = { { "&quot;", '"' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&amp;", '&' } };
            size_t n = 0;
            while (n < 4 && strncmp(from, entities[n].name, strlen(entities[n].name)) != 0)
                n++;
            if (n < 4) {
                *to++ = entities[n].byte;
                from += strlen(entities[n].name);
            } else if (*from == '<') {
                from += strcspn(from, ">") + 1;
            } else {
                *to++ = *from++;
            }
        }
        check_reading(names[i], "html", plain);
        free(plain);
        rendered_letter_free(&letter);
    }
}

/* Nothing of a value becomes markup: what a hostile name or line holds stands there as text. */
static void test_html(void **state) {
    (void)state;
    for (size_t i = 0; i < name_count; i++) {
        RenderedLetter letter;
        render(names[i], &letter);
        const char *body = strstr(letter.html, "<body>");
        assert_non_null(body);
        static const char *const forbidden[] = { "<script", "<img", "<a ", "<h1", "<h2", "<em>", "<strong>", "<hr", "<blockquote", "<table", "<ol", "<code class" };
        for (size_t n = 0; n < sizeof forbidden / sizeof forbidden[0]; n++)
            if (strstr(body, forbidden[n]) != NULL)
                fail_msg("%s: %s in the HTML", names[i], forbidden[n]);
        rendered_letter_free(&letter);
    }
}

static void test_composed(void **state) {
    (void)state;
    ComposeHeader header = {
        .from_name = "Anytown Chess by Mail", .from_address = "chess@club.example", .to_name = "Jörg \"Schorsch\" Müller 😀",
        .to_address = "joerg@example.org", .reply_to = "chess+abc@club.example", .message_id = "abc@club.example",
        .auto_submitted = "auto-generated", .loop_value = "chess@club.example", .date = 1796004000, .pgn_name = "game-42.pgn",
    };
    for (size_t i = 0; i < name_count; i++) {
        RenderedLetter letter;
        render(names[i], &letter);
        Str out;
        str_init(&out, 1 << 22);
        Error error = { 0 };
        if (compose_letter(&header, &letter, &out, &error) != 0)
            fail_msg("%s: %s", names[i], error.text);
        size_t width = 0;
        for (size_t at = 0; at < out.length; at++) {
            unsigned char byte = (unsigned char)out.data[at];
            assert_true(byte < 0x7f && (byte >= 0x20 || byte == '\t' || byte == '\r' || byte == '\n'));
            if (byte == '\n')
                assert_true(at > 0 && out.data[at - 1] == '\r');
            if (byte == '\r')
                assert_true(out.data[at + 1] == '\n');
            width = byte == '\n' ? 0 : width + (byte != '\r');
            assert_true(width <= 78);
        }
        str_free(&out);
        rendered_letter_free(&letter);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_sent_back),
        cmocka_unit_test(test_html),
        cmocka_unit_test(test_composed),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
