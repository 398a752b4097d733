/* Hostile letters through the zygote, each within a second and the next letter fine; then every letter of the public
 * corpus beside the project (../shared/mail-corpus, where it exists) and how many of its expected texts come out. */
#include "core/base/str.h"
#include "daemon/inbox/mime_wire.h"
#include "daemon/inbox/trim.h"

#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define CORPUS "../shared/mail-corpus"
#define COUNT(array) (sizeof(array) / sizeof *(array))

static MimeReader *reader;

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void read_letter(Arena *arena, const char *letter, size_t size, MimeResult *ret_result) {
    Error error = { 0 };
    assert_int_equal(mime_reader_read(reader, arena, letter, size, ret_result, &error), 0);
}

static void expect_next_letter_fine(void) {
    Arena arena;
    arena_init(&arena, 1024 * 1024);
    MimeResult result;
    read_letter(&arena, "From: a@x\r\n\r\nNf3\r\n", 18, &result);
    assert_int_equal(result.kind, MIME_TEXT);
    assert_string_equal(result.text, "Nf3\n");
    arena_free(&arena);
}

/* FACTS.md, first list: head, piece repeated, tail. set_aside: the gate must stop it; else it only must not hurt. */
static const struct { const char *head, *piece; size_t count; const char *tail; bool set_aside; } hostile[] = {
    { "Content-Type: multipart/mixed; boundary=\"\\\"\"\r\n\r\nx", "", 0, "", true },
    { "Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: multipart/mixed; boundary=\"\\\"\"\r\n\r\n--x--\r\n", "", 0, "", true },
    { "From: ", "(", 150000, "\r\n\r\nx", true },
    { "Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nSubject: ", "(", 150000, "\r\n\r\nx\r\n--x--\r\n", true },
    { "", "Content-Type: message/rfc822\r\n\r\n", 50000, "x", true },
    { "", "Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n", 20000, "x", true },
    { "Content-Type: multipart/mixed; boundary=x\r\n\r\n", "--x\r\n\r\n", 100000, "--x--\r\n", true },
    { "To: ", "a@x.org, ", 150000, "\r\n\r\nx", true },
    { "", "X-A: b\r\n", 150000, "\r\nx", true },
    { "Return-Path: <<<(((@\r\n\r\nx", "", 0, "", false },
    { "Content-Type: text/plain; charset=utf-7\r\n\r\n", "+", 1000000, "", false },
    { "Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n", "=", 1000000, "", false },
    { "Content-Type: text/plain; ", "a=b;", 20000, "\r\n\r\nx", false },
    { "Content-Type: multipart/mixed; boundary=x\r\n\r\n", "--x\r\n\r\n", 9000, "--x--\r\n", false },
    { "", "Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n", 240, "x", false },
    { "", "Content-Type: message/rfc822\r\n\r\n", 240, "x", false },
    { "Subject: ", "(", 3900, "\r\n\r\nx", false },
};

static void test_hostile(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(hostile); i++) {
        Str letter;
        str_init(&letter, GATE_LETTER_MAX);
        str_append(&letter, hostile[i].head);
        for (size_t n = 0; n < hostile[i].count; n++)
            str_append(&letter, hostile[i].piece);
        str_append(&letter, hostile[i].tail);
        assert_false(letter.overflowed);
        Arena arena;
        arena_init(&arena, 8 * 1024 * 1024);
        MimeResult result;
        int64_t begin = now_ms();
        read_letter(&arena, letter.data, letter.length, &result);
        int64_t took = now_ms() - begin;
        if (took >= 1000 || (result.kind == MIME_UNREADABLE) != hostile[i].set_aside)
            print_message("%s…: %s in %d ms\n", hostile[i].head, result.why, (int)took);
        assert_int_equal(result.kind == MIME_UNREADABLE, hostile[i].set_aside);
#if !defined(__SANITIZE_ADDRESS__)
        assert_true(took < 1000);
#endif
        arena_free(&arena);
        str_free(&letter);
        expect_next_letter_fine();
    }
}

static bool read_file(const char *name, Str *ret_bytes) {
    FILE *file = fopen(name, "rb");
    if (file == NULL)
        return false;
    char buffer[4096];
    for (size_t got; (got = fread(buffer, 1, sizeof buffer, file)) > 0;)
        str_append_bytes(ret_bytes, buffer, got);
    fclose(file);
    return !ret_bytes->overflowed;
}

/* Letters of our own that once crashed or misled a reader; each must come out, one way or the other. */
static void test_our_collection(void **state) {
    (void)state;
    FILE *list = fopen("tests/data/mail/list", "r");
    if (list == NULL)
        skip();
    char name[200], path[300];
    while (fgets(name, sizeof name, list) != NULL) {
        name[strcspn(name, "\n")] = 0;
        snprintf(path, sizeof path, "tests/data/mail/%s", name);
        Str raw;
        str_init(&raw, GATE_LETTER_MAX);
        assert_true(read_file(path, &raw));
        Arena arena;
        arena_init(&arena, 8 * 1024 * 1024);
        MimeResult result;
        read_letter(&arena, raw.data, raw.length, &result);
        assert_null(strstr(result.why, "died"));
        assert_non_null(trim_new_text(&arena, result.text));
        arena_free(&arena);
        str_free(&raw);
    }
    fclose(list);
}

static bool is_blank(char byte) {
    return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static bool same_but_blanks(const char *left, const char *right) {
    for (;; left++, right++) {
        while (is_blank(*left))
            left++;
        while (is_blank(*right))
            right++;
        if (*left != *right)
            return false;
        if (*left == 0)
            return true;
    }
}

typedef struct Tally {
    int letters, unreadable, dead, unread_human, expected, matched, html;
} Tally;

static void judge_letter(json_t *entry, const char *raw, size_t size, Tally *tally) {
    const char *file = json_string_value(json_object_get(entry, "file")), *class = json_string_value(json_object_get(entry, "cls"));
    const char *expected = json_string_value(json_object_get(entry, "expect_reply"));
    Arena arena;
    arena_init(&arena, 16 * 1024 * 1024);
    MimeResult result;
    read_letter(&arena, raw, size, &result);
    tally->letters++;
    tally->unreadable += result.kind == MIME_UNREADABLE;
    if (strstr(result.why, "died") != NULL || strstr(result.why, "long") != NULL) {
        tally->dead++;
        print_message("    %s: %s\n", file, result.why);
    }
    if (strcmp(class, "human") == 0 && result.kind == MIME_UNREADABLE) {
        tally->unread_human++;
        print_message("    %s: %s\n", file, result.why);
    }
    bool comparable = expected != NULL && expected[0] != '(' && expected[0] != '*';
    if (comparable && result.kind == MIME_HTML_ONLY) {
        tally->html++;
    } else if (comparable) {
        const char *new_text = trim_new_text(&arena, result.text);
        bool reply = strcmp(class, "human") == 0; /* of the others the corpus gives the text untrimmed */
        bool match = same_but_blanks(new_text, expected) || (!reply && same_but_blanks(result.text, expected));
        tally->expected++;
        tally->matched += match;
        if (!match)
            print_message("    %s: another text\n", file);
    }
    arena_free(&arena);
}

static void test_corpus(void **state) {
    (void)state;
    FILE *manifest = fopen(CORPUS "/manifest.jsonl", "r");
    if (manifest == NULL)
        skip();
    Tally tally = { 0 };
    static char line[65536];
    while (fgets(line, sizeof line, manifest) != NULL) {
        json_t *entry = json_loads(line, 0, NULL);
        assert_non_null(entry);
        char path[500];
        snprintf(path, sizeof path, CORPUS "/%s", json_string_value(json_object_get(entry, "file")));
        Str raw;
        str_init(&raw, GATE_LETTER_MAX);
        assert_true(read_file(path, &raw));
        judge_letter(entry, raw.data, raw.length, &tally);
        str_free(&raw);
        json_decref(entry);
    }
    fclose(manifest);
    print_message("    corpus: %d letters, %d kept out by the gate, %d died; new text as expected in %d of %d; %d are HTML only\n", tally.letters,
                  tally.unreadable, tally.dead, tally.matched, tally.expected, tally.html);
    assert_int_equal(tally.dead, 0);
    assert_true(tally.unreadable <= 1); /* mimekit/stack-overflow.eml, a thousand levels */
    assert_int_equal(tally.unread_human, 0);
    assert_true(tally.matched * 100 >= tally.expected * 90);
}

/* The synthetic hostile letters are not in the manifest. */
static void test_torture(void **state) {
    (void)state;
    static const struct { const char *file; MimeKind kind; const char *text; } cases[] = {
        { "v_bquote.eml", MIME_UNREADABLE, "" }, { "qp_raw_eq.eml", MIME_TEXT, "e8=Q+ done\ng1=N\na8=Q ok\nb8=R\nc1=b\nf8" },
        { "badct.eml", MIME_TEXT, "hello\n" }, { "nobound.eml", MIME_TEXT, "hello" }, { "nocolon.eml", MIME_TEXT, "body\n" },
        { "utf16.eml", MIME_TEXT, "e4 ♞" }, { "v_uu.eml", MIME_TEXT, "Cat" }, { "onlyhdr.eml", MIME_EMPTY, "" }, { "empty.eml", MIME_EMPTY, "" },
        { "nest_mp_1000.eml", MIME_UNREADABLE, "" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char path[500];
        snprintf(path, sizeof path, CORPUS "/torture/%s", cases[i].file);
        Str raw;
        str_init(&raw, GATE_LETTER_MAX);
        if (!read_file(path, &raw))
            skip();
        Arena arena;
        arena_init(&arena, 8 * 1024 * 1024);
        MimeResult result;
        read_letter(&arena, raw.data, raw.length, &result);
        if (result.kind != cases[i].kind || strcmp(result.text, cases[i].text) != 0)
            print_message("    %s: %d \"%s\"\n", cases[i].file, (int)result.kind, result.text);
        assert_int_equal(result.kind, cases[i].kind);
        assert_string_equal(result.text, cases[i].text);
        arena_free(&arena);
        str_free(&raw);
        expect_next_letter_fine();
    }
}

int main(int argc, char **argv) {
    if (argc > 0 && strcmp(argv[0], MIME_ZYGOTE_NAME) == 0)
        return mime_zygote_main();
    signal(SIGPIPE, SIG_IGN);
    reader = mime_reader_start(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hostile), cmocka_unit_test(test_our_collection), cmocka_unit_test(test_corpus), cmocka_unit_test(test_torture),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mime_reader_stop(reader);
    return failed;
}
