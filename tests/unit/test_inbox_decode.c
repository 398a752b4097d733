/* Transfer decodings, character sets, parameters, flowed text: tables of what goes in and what comes out. */
#include "daemon/inbox/charset.h"
#include "daemon/inbox/decode.h"
#include "daemon/inbox/mime_flowed.h"
#include "daemon/inbox/mime_type.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void test_quoted_printable(void **state) {
    (void)state;
    static const struct { const char *in, *out; } cases[] = {
        { "", "" },
        { "e8=Q+", "e8=Q+" },            /* FACTS.md: libetpan gives NUL */
        { "g1=N\r\na8=3DQ ok\r\nb8=R\r\n", "g1=N\r\na8=Q ok\r\nb8=R\r\n" },
        { "c1=b", "c1=b" },
        { "f8=\r\nnext", "f8next" },     /* a soft break by the standard */
        { "f8= \t\r\nnext", "f8next" },
        { "f8=\nnext", "f8next" },
        { "=E4=e4=eF", "\xe4\xe4\xef" },
        { "=4", "=4" }, { "=", "" }, { "==3D", "==" }, { "=G1", "=G1" }, { "=1G", "=1G" },
        { "a  \r\nb\t\nc ", "a\r\nb\nc" },
        { "a =20\r\nb", "a  \r\nb" },
        { "=0D=0A", "\r\n" },
        { "x=\r\n\r\ny", "x\r\ny" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        Str out;
        str_init(&out, 1000);
        assert_true(decode_quoted_printable(cases[i].in, strlen(cases[i].in), &out));
        assert_string_equal(out.data, cases[i].out);
        str_free(&out);
    }
}

static void test_base64(void **state) {
    (void)state;
    static const struct { const char *in, *out; } cases[] = {
        { "", "" }, { "TmYz", "Nf3" }, { "TmY=", "Nf" }, { "Tg==", "N" }, { "TmY", "Nf" }, { "Tg", "N" }, { "T", "" },
        { "Tm\r\nYz\r\n", "Nf3" }, { "T m!Y-z", "Nf3" }, { "Tg==TmY=TmYz", "NNfNf3" }, { "====", "" }, { "TmYz=", "Nf3" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        Str out;
        str_init(&out, 1000);
        assert_true(decode_base64(cases[i].in, strlen(cases[i].in), &out));
        assert_string_equal(out.data, cases[i].out);
        str_free(&out);
    }
}

static void test_transfer(void **state) {
    (void)state;
    static const struct { const char *encoding, *in, *out; } cases[] = {
        { NULL, "=41", "=41" }, { "7bit", "=41", "=41" }, { "Quoted-Printable", "=41", "A" }, { " base64 ; x", "QQ==", "A" },
        { "\"base64\"", "QQ==", "A" }, { "x-token", "=41", "=41" }, { "binary", "a", "a" },
        { "x-uuencode", "begin 644 a\r\n#0V%T\r\n`\r\nend\r\n", "Cat" }, { "x-uuencode", "no begin", "no begin" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        Str out;
        str_init(&out, 1000);
        assert_true(decode_transfer(cases[i].encoding, cases[i].in, strlen(cases[i].in), &out));
        assert_string_equal(out.data, cases[i].out);
        str_free(&out);
    }
}

static void test_overflow_is_told(void **state) {
    (void)state;
    Str out;
    str_init(&out, 3);
    assert_false(decode_quoted_printable("12345", 5, &out));
    str_clear(&out);
    assert_false(decode_base64("TmYzTmYz", 8, &out));
    str_free(&out);
}

static void test_charsets(void **state) {
    (void)state;
    static const struct { const char *name, *in, *out; } cases[] = {
        { "utf-8", "sch\xc3\xb6n", "schön" },
        { "iso-8859-1", "\x80 \xe4", "€ ä" }, /* Latin-1 is windows-1252 */
        { NULL, "\xe4", "ä" }, { NULL, "\xc3\xa4", "ä" }, { "us-ascii", "\xc3\xa4", "ä" }, { "us-ascii", "\xe4", "ä" },
        { "x-unknown", "\xc3\xa4", "ä" }, { "unknown-8bit", "\xe4", "ä" }, { "binary", "\xe4", "ä" }, { "ansi", "\xe4", "ä" },
        { "no such thing at all", "\xe4", "ä" }, { "../../etc/passwd", "a", "a" }, { "utf-8", "\xe4", "ä" },
        { "utf-8", "\xd0\x97\xd0\xb4\x81", "Зд\xef\xbf\xbd" },
        { "win-1251", "\xcf\xf0\xe8", "При" }, { "koi8-r", "\xf0\xd2\xc9", "При" }, { "\"KOI8-R\"", "\xf0\xd2\xc9", "При" },
        { "unicode-1-1-utf-7", "+2D3eAA-", "\xf0\x9f\x98\x80" }, { "utf-7", "Nf3 +JmU-", "Nf3 ♥" },
        { "_iso-2022-jp", "\x1b$B8}\x1b(B", "口" }, { "iso-2022-jp", "\x1b$B8}\x1b(B", "口" },
        { "x-gbk", "\xc4\xe3", "你" }, { "gb2312", "\x9e\x48", "濰" }, { "GB18030", "\xc4\xe3", "你" }, { "hz-gb-2312", "~{Dc~}", "你" },
        { "x-sjis", "\x8c\xfb", "口" }, { "big5", "\xa7\x41", "你" }, { "ks_c_5601-1987", "\xb0\xa1", "가" },
        { "cp-850", "\x84", "ä" }, { "iso-8859-2", "\xb3", "ł" }, { "windows-1250", "\xb3", "ł" }, { "koi8-u", "\xa6", "і" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        Str out;
        str_init(&out, 1000);
        assert_true(charset_to_utf8(cases[i].name, cases[i].in, strlen(cases[i].in), &out));
        if (strcmp(out.data, cases[i].out) != 0)
            print_message("%s: \"%s\", not \"%s\"\n", cases[i].name != NULL ? cases[i].name : "(none)", out.data, cases[i].out);
        assert_string_equal(out.data, cases[i].out);
        str_free(&out);
    }
    Str out;
    str_init(&out, 100);
    assert_true(charset_to_utf8("utf-16", "\xff\xfe\x65\x00\x34\x00\x5e\x26", 8, &out));
    assert_string_equal(out.data, "e4♞");
    str_free(&out);
    assert_true(charset_known("win-1251"));
    assert_false(charset_known("x-unknown"));
    assert_false(charset_known(NULL));
}

static void test_clean(void **state) {
    (void)state;
    static const struct { const char *in; size_t size; const char *out; } cases[] = {
        { "a\r\nb\rc\nd", 8, "a\nb\nc\nd" }, { "a\0b", 3, "ab" }, { "\x1b[31mred\x07\t.", 11, "[31mred\t." }, { "\xef\xbb\xbf" "e4", 5, "e4" },
        { "a\xe2\x80\xa8" "b\xc2\x85" "c", 8, "a\nb\nc" }, { "\xff", 1, "\xef\xbf\xbd" }, { "\xc2\x9b" "x\x7f", 4, "x" }, { "\r\r\n\n", 4, "\n\n\n" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        Str out;
        str_init(&out, 1000);
        assert_true(charset_clean(cases[i].in, cases[i].size, &out));
        assert_string_equal(out.data, cases[i].out);
        str_free(&out);
    }
}

static void test_flowed(void **state) {
    (void)state;
    static const struct { const char *in; bool delsp; const char *out; } cases[] = {
        { "one \ntwo\n", false, "one two\n" }, { "one \ntwo\n", true, "onetwo\n" }, { "e4\nNf3\n", false, "e4\nNf3\n" },
        { "text \n> quoted\n", false, "text \n> quoted\n" }, /* never glued to a quotation */
        { "> quoted \n> more\nmine\n", false, "> quoted \n> more\nmine\n" }, { " >e4\n", false, ">e4\n" }, { " From here\n", false, "From here\n" },
        { "text \n-- \nname", false, "text \n-- \nname" }, { "end ", false, "end " }, { "", false, "" }, { "end ", true, "end" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        Str text;
        str_init(&text, 1000);
        str_append(&text, cases[i].in);
        mime_unflow(&text, cases[i].delsp);
        assert_string_equal(text.data, cases[i].out);
        str_free(&text);
    }
}

static void test_types(void **state) {
    (void)state;
    assert_true(mime_type_is(NULL, "text/plain"));
    assert_true(mime_type_is("text", "text/plain"));
    assert_true(mime_type_is("", "text/plain"));
    assert_true(mime_type_is("TEXT/Plain; charset=x", "text/plain"));
    assert_false(mime_type_is("text/plainer", "text/plain"));
    assert_true(mime_type_is(" multipart/Mixed;boundary=x", "multipart/"));
    assert_false(mime_type_is("multiboundary=\"x/y\"", "multipart/"));
    assert_true(mime_type_is("garbage", "text/plain"));
}

static void test_parameters(void **state) {
    (void)state;
    static const struct { const char *value, *name, *out; } cases[] = {
        { "text/plain; charset=utf-8", "charset", "utf-8" }, { "text/plain; CHARSET=\"utf-8\"", "charset", "utf-8" },
        { "text/plain; x; charset = utf-8 ; y=1", "charset", "utf-8" }, { "text/plain;; charset=a", "charset", "a" },
        { "text/plain", "charset", NULL }, { "text/plain; charset2=a", "charset", NULL }, { "a/b; boundary=\"a\\\"b\"", "boundary", "a\"b" },
        { "a/b; boundary*0=\"one\"; boundary*1=\"two\"", "boundary", "onetwo" }, { "a/b; boundary*1=two; boundary*0=one", "boundary", "onetwo" },
        { "a/b; name*=utf-8''N%66%33", "name", "Nf3" }, { "a/b; name*0*=utf-8'en'N%66; name*1=3%41", "name", "Nf3%41" },
        { "a/b; name*=%zz", "name", "%zz" }, { "a/b; charset=", "charset", "" }, { "a/b; charset=\"open", "charset", "open" },
        { NULL, "charset", NULL },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        Arena arena;
        arena_init(&arena, 65536);
        const char *out = mime_parameter(&arena, cases[i].value, cases[i].name);
        if (cases[i].out == NULL)
            assert_null(out);
        else
            assert_string_equal(out != NULL ? out : "(none)", cases[i].out);
        arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quoted_printable), cmocka_unit_test(test_base64), cmocka_unit_test(test_transfer),
        cmocka_unit_test(test_overflow_is_told), cmocka_unit_test(test_charsets), cmocka_unit_test(test_clean),
        cmocka_unit_test(test_flowed), cmocka_unit_test(test_types), cmocka_unit_test(test_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
