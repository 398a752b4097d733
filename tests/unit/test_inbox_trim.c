/* Reply trimming: what is new in a letter, and nothing of what is quoted. */
#include "daemon/inbox/trim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define QUOTE "> Your move.\n> Board\n"
#define BETWEEN TRIM_BETWEEN_MARK "\n"

typedef struct Case {
    const char *in, *out;
} Case;

static void check_all(const Case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        Arena arena;
        arena_init(&arena, 1024 * 1024);
        const char *out = trim_new_text(&arena, cases[i].in);
        assert_non_null(out);
        if (strcmp(out, cases[i].out) != 0)
            print_message("letter:\n%s\n", cases[i].in);
        assert_string_equal(out, cases[i].out);
        arena_free(&arena);
    }
}

static void test_plain(void **state) {
    (void)state;
    static const Case cases[] = {
        { "", "" }, { "\n\n", "" }, { "Nf3", "Nf3" }, { "\n\nNf3  \n\nHello \n\n", "Nf3\n\nHello" },
        { "Nf3\xc2\xa0\n\xe2\x80\x8bHello\xe2\x80\xafyou", "Nf3\nHello you" },
        { "On Sunday I will be away.\nNf3", "On Sunday I will be away.\nNf3" },
        { "On e4 he wrote:\nNf3", "On e4 he wrote:\nNf3" },
        { "He wrote on 3 May 2026:\nNf3", "" },
        { "He wrote:\nNf3", "He wrote:\nNf3" }, /* a sentence: a mail program writes a name */
        { "As Tal once wrote:\nNf3", "As Tal once wrote:\nNf3" },
        { "I thought of it at 10:30\nand then my friend wrote:\nNf3", "I thought of it at 10:30\nand then my friend wrote:\nNf3" },
        { "On Sunday I will be away, as I wrote:\nNf3", "On Sunday I will be away, as I wrote:\nNf3" },
        { "At 10:30 I left.\nNf3", "At 10:30 I left.\nNf3" },
        { "I play:\nNf3", "I play:\nNf3" },
        { "From: here to there\nNf3", "From: here to there\nNf3" },
        { "To: you\nSubject: chess\nNf3", "To: you\nSubject: chess\nNf3" },
        { "12. Nf3 - see you\n---\nTom", "12. Nf3 - see you\n---\nTom" },
        { "Sent by mistake, sorry.\nNf3", "Sent by mistake, sorry.\nNf3" },
    };
    check_all(cases, COUNT(cases));
}

static void test_quotes(void **state) {
    (void)state;
    static const Case cases[] = {
        { "Nf3\n\n" QUOTE, "Nf3" },
        { "Nf3\n  > quoted\n>quoted", "Nf3" },
        { "Nf3\n| e5\n| passed on", "Nf3" },
        { "Nf3\n＞ quoted", "Nf3" },
        { "Nf3\nTB> quoted", "Nf3" },
        { QUOTE, "" },
        { QUOTE "\nNf3\n", "Nf3" }, /* bottom posting */
        { "On 3 May 2026 at 10:00, Chess <chess@club.example> wrote:\n" QUOTE "\nNf3\n\nThanks", "Nf3\n\nThanks" },
        { "Nf3\n" QUOTE "resign\n" QUOTE, "Nf3\n\n" BETWEEN "resign" },
        { QUOTE "resign\n" QUOTE "Nf3", "Nf3\n\n" BETWEEN "resign" },
        { QUOTE "resign\n" QUOTE, BETWEEN "resign" }, /* between quotations nothing is a command */
        { "Nf3\n" QUOTE "\nresign\n\nBye", "Nf3\n\n" BETWEEN "resign\n\nBye" },
        { "Nf3\n" QUOTE "one\n\n\ntwo\n" QUOTE QUOTE "\nthree\n", "Nf3\n\n" BETWEEN "one\n\n\ntwo\n\n" BETWEEN "three" },
    };
    check_all(cases, COUNT(cases));
}

/* Attributions as mail programs write them, here above a quotation. */
static void test_attributions(void **state) {
    (void)state;
    static const char *const lines[] = {
        "On Tue, Mar 3, 2026 at 10:00 AM Chess by Mail <chess@club.example> wrote:",
        "On Tue, Mar 3, 2026 at 10:00 AM Chess by Mail with a very long name <\nchess+abcdefghijklmnopqrstuvwxyz@club.example> wrote:",
        "On 03/03/2026 10:00, Chess by Mail wrote:", "On Mar 3, 2026, at 10:00, Chess by Mail <chess@club.example>\nwrote:",
        "On Tuesday, 3 March 2026, 10:00:00 GMT, Chess by Mail <chess@club.example> wrote:",
        "Am 03.03.26 um 10:00 schrieb Chess by Mail:", "Am Di., 3. März 2026 um 10:00 Uhr schrieb Chess <chess@club.example>:",
        "Chess by Mail <chess@club.example> schrieb am Di., 3. März\n2026, 10:00:", "Le 03/03/2026 à 10:00, Chess by Mail a écrit :",
        "Le mar. 3 mars 2026 à 10:00, Chess by Mail <chess@club.example> a\nécrit :", "El mar, 3 mar 2026 a las 10:00, Chess (<chess@club.example>) escribió:",
        "Il giorno mar 3 mar 2026 alle ore 10:00 Chess <chess@club.example> ha\nscritto:", "Em ter., 3 de mar. de 2026 às 10:00, Chess <chess@club.example>\nescreveu:",
        "Op di 3 mrt 2026 om 10:00 schreef Chess <chess@club.example>:", "Op 3 mrt. 2026 10:00 schreef \"Chess\" <chess@club.example> het\nvolgende geschreven:",
        "Den tis 3 mars 2026 kl 10:00 skrev Chess <chess@club.example>:", "tir. 3. mar. 2026 kl. 10:00 skrev Chess <chess@club.example\n>:",
        "ti 3. maalisk. 2026 klo 10.00 Chess (chess@club.example) kirjoitti:", "wt., 3 mar 2026 o 10:00 Chess <chess@club.example> napisał(a):",
        "út 3. 3. 2026 v 10:00 odesílatel Chess <chess@club.example> napsal:", "Chess <chess@club.example> ezt írta (időpont: 2026. márc. 3., K, 10:00):",
        "вт, 3 мар. 2026 г. в 10:00, Chess <chess@club.example>:", "3 марта 2026 г., в 10:00, Chess написал:",
        "вт, 3 бер. 2026 р. о 10:00 Chess <chess@club.example> пише:", "Chess <chess@club.example>, 3 Mar 2026 Sal, 10:00 tarihinde şunu yazdı:",
        "Στις Τρί 3 Μαρ 2026 στις 10:00 π.μ., ο χρήστης Chess <chess@club.example> έγραψε:", "2026年3月3日(火) 10:00 Chess <chess@club.example>:",
        "Chess <chess@club.example> 于2026年3月3日周二 10:00写道：", "2026년 3월 3일 (화) 오전 10:00, Chess <chess@club.example>님이 작성:",
        "> >On 3 Mar 2026", "Quoting Chess <chess@club.example>:", "2026-03-03 10:00 GMT+01:00 Chess <chess@club.example>:", "---- On Tue, 03 Mar 2026 10:00:00 +0100 Chess <chess@club.example> wrote ----",
    };
    for (size_t i = 0; i < COUNT(lines); i++) {
        char top[1000], bottom[1000];
        snprintf(top, sizeof top, "Nf3\n\nSee you on Sunday\n\n%s\n\n" QUOTE, lines[i]);
        snprintf(bottom, sizeof bottom, "%s\n\n" QUOTE "\nNf3\n", lines[i]);
        const Case cases[] = { { top, "Nf3\n\nSee you on Sunday" }, { bottom, "Nf3" } };
        check_all(cases, 2);
    }
}

static void test_unmarked_quotations(void **state) {
    (void)state;
    static const Case cases[] = {
        { "Nf3\n\nFrom: Chess <chess@club.example>\nSent: Tuesday, 3 March 2026 10:00\nTo: Anna <anna@x.org>\nSubject: [Club #4] Your move\n\nresign\n", "Nf3" },
        { "Nf3\n\n*From:* Chess <chess@club.example>\n*Sent:* Tuesday\n*To:* Anna\n*Subject:* x\n\nresign\n", "Nf3" },
        { "Nf3\n________________________________\nVon: Chess\nGesendet: Dienstag, 3. März 2026 10:00\nAn: Anna\nBetreff: x\n\nresign\n", "Nf3" },
        { "Nf3\n\n-----Original Message-----\nFrom: Chess\n\nresign", "Nf3" },
        { "Nf3\n\n-------- Ursprüngliche Nachricht --------\nresign", "Nf3" },
        { "Nf3\n\n---------- Forwarded message ---------\nFrom: Chess\nresign", "Nf3" },
        { "Nf3\n\nBegin forwarded message:\n\nresign", "Nf3" },
        { "Nf3\n\n--- please answer above this line ---\nresign", "Nf3" },
        { "Nf3\n\nOn Tue, Mar 3, 2026 at 10:00 AM Chess <chess@club.example> wrote:\n\nresign\n", "Nf3" },
        { "From: Chess <chess@club.example>\nSent: Tuesday, 3 March 2026 10:00\nTo: Anna\nSubject: x\n\nresign\n", "" },
        { "-----Original Message-----\n> resign\n\nNf3", "Nf3" },
        { "Nf3\n\nOn Tue, Mar 3, 2026 at 10:00 AM Chess by Mail wrote:\n\n8 r n b\n  a b c d e f g h\n\nresign\n", "Nf3" },
        { "De : Chess <chess@club.example>\nEnvoyé : mardi 3 mars 2026 10:00\nÀ : Anna\nObjet : x\n\nresign", "" },
        { "Nf3\n\n发件人: Chess\n发送时间: 2026年3月3日 10:00\n收件人: Anna\n主题: x\n\nresign", "Nf3" },
    };
    check_all(cases, COUNT(cases));
}

/* An attribution is one whether or not '>' follows: what stands below it unquoted is never new. */
static void test_unquoted_attributions(void **state) {
    (void)state;
    static const char *const lines[] = {
        "On 1 Jun 2026, at 10:00, Boris Klein wrote:", "On 01/06/2026 10:00, Boris wrote:", "On 2026-06-01 10:00, Boris wrote:",
        "On Monday, June 1, 2026, Boris wrote:", "On Monday, June 1, 2026,\nBoris wrote:", "Am 01.06.2026 um 10:00 schrieb Boris:", "Boris Klein wrote:", "Boris wrote:",
        "\"Boris Klein\" wrote:", "Boris van der Klein wrote:", "Quoting Chess <chess@club.example>:", "Zitat von Chess <chess@club.example>:",
        "Boris Klein schrieb:", "Boris Klein a écrit :", "Boris Klein escribió:", "Boris Klein ha scritto:", "Boris Klein escreveu:", "Boris Klein schreef:",
        "Boris Klein skrev:", "Boris Klein kirjoitti:", "Boris Klein napisał(a):", "Boris Klein napsal(a):", "Борис Клейн написал:", "Борис Клейн пише:",
        "Boris Klein yazdı:", "Μπόρις έγραψε:", "鲍里斯写道：",
        "Le 01/06/2026 à 10:00, Boris a écrit :", "El 01/06/2026 10:00, Boris escribió:", "Il 01/06/2026 10:00, Boris ha scritto:", "Em 01/06/2026 10:00, Boris escreveu:",
        "Op 01-06-2026 om 10:00 schreef Boris:", "Den 2026-06-01 kl. 10:00, skrev Boris:", "1.6.2026 klo 10:00 Boris kirjoitti:", "W dniu 01.06.2026 o 10:00, Boris pisze:",
        "Dne 01.06.2026 v 10:00 Boris napsal(a):", "01.06.2026 10:00, Борис написал:", "01.06.2026 10:00 tarihinde Boris yazdı:", "Στις 01/06/2026 10:00, ο Boris έγραψε:",
        "在 2026年6月1日 10:00，鲍里斯写道：",
    };
    for (size_t i = 0; i < COUNT(lines); i++) {
        char top[1000], alone[1000], bottom[1000], mixed[1000];
        snprintf(top, sizeof top, "Nf3\n\nSee you\n\n%s\n\ne4\n", lines[i]);
        snprintf(alone, sizeof alone, "%s\n\ne4\n", lines[i]);
        snprintf(bottom, sizeof bottom, "%s\n" QUOTE "\ne4\n", lines[i]);
        snprintf(mixed, sizeof mixed, "%s\ne4\n" QUOTE "\nresign\n", lines[i]);
        const Case cases[] = { { top, "Nf3\n\nSee you" }, { alone, "" }, { bottom, "e4" }, { mixed, "" } };
        check_all(cases, COUNT(cases));
    }
}

static void test_signatures(void **state) {
    (void)state;
    static const Case cases[] = {
        { "Nf3\n-- \nTom\ne5", "Nf3" }, { "Nf3\n--\nTom", "Nf3" }, { "Nf3\n-- \nTom\n\n" QUOTE, "Nf3" },
        { "-- \nTom\n" QUOTE "Nf3", "Nf3" }, { "Nf3\n\nSent from my iPhone", "Nf3" }, { "Nf3\n\nVon meinem iPhone gesendet\n\n" QUOTE, "Nf3" },
        { "Nf3\n\nSent from my iPhone\n\ne4", "Nf3" }, { "Nf3\nGesendet von meinem iPhone\ne4\n\nresign", "Nf3" }, { "Sent from my iPhone\n\nNf3", "Nf3" },
        { "Nf3\nSent from my iPhone\n" QUOTE "resign", "Nf3\n\n" BETWEEN "resign" }, { QUOTE "Sent from my iPhone\nNf3", "Nf3" },
        { "Nf3\n\nGet Outlook for iOS<https://aka.ms/o0ukef>", "Nf3" }, { "Nf3\nEnvoyé de mon iPhone", "Nf3" },
        { "Nf3\n_______________________________________________\nclub mailing list\nclub@x.org", "Nf3" },
        { "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nNf3\n-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n", "Nf3" },
    };
    check_all(cases, COUNT(cases));
}

/* A megabyte of the worst lines takes no time. */
static void test_linear(void **state) {
    (void)state;
    enum { SIZE = 1024 * 1024 };
    static const char *const pieces[] = {
        "On ", "On 3 May 2026 <a@x.org>\n", "From: a@x.org\n", "a@x.org 10:00:\n", ":\n", "\n", "From: a\n\n", "x wrote:\n", "> \n\n", "wrote ", "-", "On 3 May 2026,\n", "1", "a@", "To:\nx\n", "_",
    };
    char *text = malloc(SIZE + 1);
    assert_non_null(text);
    for (size_t i = 0; i < COUNT(pieces); i++) {
        for (size_t at = 0; at < SIZE; at++)
            text[at] = pieces[i][at % strlen(pieces[i])];
        text[SIZE] = 0;
        Arena arena;
        arena_init(&arena, 64 * 1024 * 1024);
        assert_non_null(trim_new_text(&arena, text));
        arena_free(&arena);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain), cmocka_unit_test(test_quotes), cmocka_unit_test(test_attributions),
        cmocka_unit_test(test_unmarked_quotations), cmocka_unit_test(test_unquoted_attributions),
        cmocka_unit_test(test_signatures), cmocka_unit_test(test_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
