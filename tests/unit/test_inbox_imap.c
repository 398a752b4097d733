/* The IMAP source against a scripted server: names of folders, times of arrival, waiting, and letters that a server cannot give. What the whole
 * program does on broken servers is told by tests/mail/test_imap_faults.py and test_imap_odd.py. */
#include "daemon/inbox/source_imap.h"
#include "daemon/inbox/utf7.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- modified UTF-7 ---- */

static void names_in_modified_utf7(void **state) {
    (void)state;
    static const struct {
        const char *name, *wire;
    } cases[] = {
        { "INBOX", "INBOX" },
        { "Junk mail", "Junk mail" },
        { "R&D", "R&-D" },
        { "&", "&-" },
        { "Entwürfe", "Entw&APw-rfe" },
        { "Züge & Pläne", "Z&APw-ge &- Pl&AOQ-ne" },
        { "~peter/mail/台北/日本語", "~peter/mail/&U,BTFw-/&ZeVnLIqe-" }, /* RFC 3501, 5.1.3 */
        { "♘♞", "&JlgmXg-" },
        { "😀", "&2D3eAA-" },
        { "é&é", "&AOk-&-&AOk-" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Str wire;
        str_init(&wire, 100);
        assert_true(utf7_append(&wire, cases[i].name));
        assert_string_equal(wire.data, cases[i].wire);
        str_free(&wire);
    }
}

static void names_that_cannot_be(void **state) {
    (void)state;
    static const char *const names[] = { "a\r\nb", "\x7f", "tab\there", "\xff", "Entw\xfcrfe", "\xc2\x85" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        Str wire;
        Error error = { 0 };
        LineAccount account = { .url = "imap://127.0.0.1:1" };
        str_init(&wire, 100);
        assert_false(utf7_append(&wire, names[i]));
        str_free(&wire);
        assert_null(source_imap_open(&account, names[i], NULL, 0, AFTER_SEEN, NULL, &error));
        assert_int_equal(error.grade, ERROR_INPUT);
    }
}

static void folders_that_are_read_and_moved_into(void **state) {
    (void)state;
    static const char *const twice[] = { "Junk", "Junk" }, *const inbox[] = { "inbox" }, *const junk[] = { "Junk" };
    LineAccount account = { .url = "imap://127.0.0.1:1" };
    Error error = { 0 };
    assert_null(source_imap_open(&account, NULL, twice, 2, AFTER_SEEN, NULL, &error));
    assert_null(source_imap_open(&account, NULL, inbox, 1, AFTER_SEEN, NULL, &error));
    assert_null(source_imap_open(&account, NULL, junk, 1, AFTER_MOVE, "Junk", &error));
    assert_int_equal(error.grade, ERROR_INPUT);
    MailSource *source = source_imap_open(&account, NULL, junk, 1, AFTER_MOVE, "Done", &error);
    assert_non_null(source);
    source->operations->close(source);
}

static void uids(void **state) {
    (void)state;
    uint32_t uid = 0;
    assert_true(imap_source_uid("1", &uid) && uid == 1);
    assert_true(imap_source_uid("4294967295", &uid) && uid == UINT32_MAX);
    static const char *const bad[] = { "", "0", "01", "-1", "4294967296", "99999999999", "1 ", "1:*", "x" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(imap_source_uid(bad[i], &uid));
}

/* A letter is known by its account too: the same folder, UIDVALIDITY and UID of another one name another letter. */
static void mailboxes_of_other_accounts(void **state) {
    (void)state;
    static const char *const junk[] = { "Junk" };
    LineAccount account = { .url = "imaps://Mail.club.example", .user = "a/b@club.example" };
    MailSource *source = source_imap_open(&account, NULL, junk, 1, AFTER_SEEN, NULL, NULL);
    assert_non_null(source);
    ImapSource *imap = (ImapSource *)source;
    uint32_t validity = 0;
    assert_ptr_equal(imap_source_folder(imap, "imap/a/b@club.example@mail.club.example:993/Junk;12", &validity), &imap->folders[1]);
    assert_int_equal(validity, 12);
    static const char *const others[] = {
        "INBOX;12", "imap/a/b@club.example@mail.club.example:143/INBOX;12", "imap/a/c@club.example@mail.club.example:993/INBOX;12",
        "imap/a/b@club.example@mail.clus.example:993/INBOX;12", "imap/a/b@club.example@mail.club.example:993/Junk",
        "imap/a/b@club.example@mail.club.example:993/Spam;12", "imap/a/b@club.example@mail.club.example:993/INBOX;0", "", "imap/",
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_null(imap_source_folder(imap, others[i], &validity));
    source->operations->close(source);
}

static void names_longer_than_the_store_has_room_for(void **state) {
    (void)state;
    LineAccount account = { .url = "imap://127.0.0.1:143", .user = "chess" };
    char name[SOURCE_MAILBOX_MAX], key[SOURCE_MAILBOX_MAX + 100];
    Error error = { 0 };
    memset(name, 'x', sizeof name);
    name[SOURCE_MAILBOX_MAX - strlen("imap/chess@127.0.0.1:143/;4294967295") - 1] = 0;
    assert_int_equal(snprintf(key, sizeof key, "imap/chess@127.0.0.1:143/%s;4294967295", name) + 1, SOURCE_MAILBOX_MAX);
    MailSource *source = source_imap_open(&account, name, NULL, 0, AFTER_SEEN, NULL, &error);
    assert_non_null(source);
    source->operations->close(source);
    name[strlen(name)] = 'x';
    name[SOURCE_MAILBOX_MAX - strlen("imap/chess@127.0.0.1:143/;4294967295")] = 0;
    const char *const also[] = { name };
    assert_null(source_imap_open(&account, NULL, also, 1, AFTER_SEEN, NULL, &error));
    assert_int_equal(error.grade, ERROR_INPUT);
    assert_non_null(strstr(error.text, "too long"));
}

/* ---- a scripted server ---- */

typedef struct Step { /* one command that the server waits for, and what it answers */
    const char *command; /* how it begins behind its tag; NULL: the end of the script. "DONE" has no tag */
    const char *answer;  /* a line "$ …" gets the command's tag; NULL: it hangs up */
} Step;

/* curl's part and what imap_open() asks, on every line; EXAMINE and IDLE are the test's own. */
static const Step log_in[] = {
    { "CAPABILITY", "* CAPABILITY IMAP4rev1 AUTH=PLAIN SASL-IR\r\n$ OK done\r\n" },
    { "AUTHENTICATE", "$ OK in\r\n" },
    { "NOOP", "$ OK done\r\n" },
    { "CAPABILITY", "* CAPABILITY IMAP4rev1 IDLE UIDPLUS MOVE\r\n$ OK done\r\n" },
    { 0 },
};
#define OPEN(EXISTS, NEXT) \
    { "EXAMINE INBOX", "* " EXISTS " EXISTS\r\n* OK [UIDVALIDITY 7] so\r\n* OK [UIDNEXT " NEXT "] so\r\n$ OK [READ-ONLY] open\r\n" }
#define LISTED { "UID SEARCH", "* SEARCH 1 2 3\r\n$ OK done\r\n" }
#define LOG_OUT { "LOGOUT", "* BYE\r\n$ OK done\r\n" }

static pid_t server;
static int port;

static void say(int line, const char *tag, const char *answer) {
    char bytes[4096];
    size_t length = 0;
    for (bool begins = true; *answer != 0; begins = *answer++ == '\n') {
        if (begins && *answer == '$')
            length += (size_t)snprintf(bytes + length, sizeof bytes - length, "%s", tag);
        else
            bytes[length++] = *answer;
    }
    if (write(line, bytes, length) < 0)
        _exit(3);
}

/* Follows the script; anything else is said on standard error and ends the server. False: it hung up. */
static bool follow(int line, const Step *steps) {
    FILE *input = fdopen(dup(line), "r");
    char text[4096], tag[32];
    bool stays = true;
    for (; steps->command != NULL && stays; steps++) {
        if (fgets(text, sizeof text, input) == NULL)
            _exit(4);
        size_t tagged = strcmp(steps->command, "DONE") == 0 ? 0 : strcspn(text, " ") + 1;
        if (tagged > 0)
            snprintf(tag, sizeof tag, "%.*s", (int)tagged - 1, text);
        if (strncmp(text + tagged, steps->command, strlen(steps->command)) != 0) {
            fprintf(stderr, "the script has %s, but the client says %s", steps->command, text);
            _exit(5);
        }
        stays = steps->answer != NULL;
        if (stays)
            say(line, tag, steps->answer);
    }
    fclose(input);
    return stays;
}

/* Each script is one line to the server. */
static void serve(const Step *const *scripts) {
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    assert_true(bind(listener, (struct sockaddr *)&address, size) == 0 && listen(listener, 8) == 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    port = ntohs(address.sin_port);
    server = fork();
    assert_true(server >= 0);
    if (server > 0) {
        close(listener);
        return;
    }
    alarm(60);
    for (; *scripts != NULL; scripts++) {
        int line = accept(listener, NULL, NULL);
        if (write(line, "* OK here\r\n", 11) < 0 || !follow(line, log_in) || !follow(line, *scripts)) {
            close(line);
            continue;
        }
        char rest[256]; /* until the client hangs up */
        while (read(line, rest, sizeof rest) > 0)
            continue;
        close(line);
    }
    _exit(0);
}

/* The whole script was followed. */
static void served(void) {
    int status = 0;
    assert_int_equal(waitpid(server, &status, 0), server);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    server = 0;
}

static int end_server(void **state) {
    (void)state;
    if (server > 0) {
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
    }
    server = 0;
    return 0;
}

static char url[64], password_file[] = "/tmp/epistle-imap-XXXXXX";

static MailSource *open_with(int seconds, const char *const *also, size_t also_count, AfterKind after) {
    snprintf(url, sizeof url, "imap://127.0.0.1:%d", port);
    LineAccount account = { .url = url, .user = "chess", .secret.file = password_file, .plain = true, .seconds = seconds };
    MailSource *source = source_imap_open(&account, NULL, also, also_count, after, after == AFTER_MOVE ? "Done" : NULL, NULL);
    assert_non_null(source);
    return source;
}

static MailSource *open_source(int seconds) {
    return open_with(seconds, NULL, 0, AFTER_SEEN);
}

static void list(MailSource *source, Arena *arena, SourceList *ret_list) {
    Error error = { 0 };
    if (source->operations->list(source, arena, ret_list, &error) < 0)
        fail_msg("%s", error.text);
}

/* ---- reading ---- */

static void letters_are_looked_at(void **state) {
    (void)state;
    static const Step steps[] = {
        OPEN("5", "6"), { "UID SEARCH", "* SEARCH 1 2 3 4 5\r\n$ OK done\r\n" },
        { "UID FETCH 1:5 (UID RFC822.SIZE INTERNALDATE BODY.PEEK[HEADER]<0.16384>)",
          "* 2 FETCH (UID 2 RFC822.SIZE 700 INTERNALDATE \" 1-Mar-2026 00:30:00 -0330\" BODY[HEADER]<0> {8}\r\nA: b\r\n\r\n)\r\n"
          "* 1 FETCH (UID 1 INTERNALDATE \"30-Nov-2026 02:09:11 +0130\" RFC822.SIZE 12 BODY[HEADER]<0> {8}\r\nC: d\r\n\r\n)\r\n"
          "* 5 FETCH (UID 5 RFC822.SIZE 50)\r\n$ OK done\r\n" },
        { "UID SEARCH UID 3:5", "* SEARCH 5 4\r\n$ OK done\r\n" },
        LOG_OUT, { 0 },
    };
    static const Step *const scripts[] = { steps, NULL };
    serve(scripts);
    Arena arena;
    SourceList found = { .letters = NULL };
    Error error = { 0 };
    arena_init(&arena, 1024 * 1024);
    MailSource *source = open_source(5);
    list(source, &arena, &found);
    assert_int_equal(found.count, 5);
    char mailbox[100];
    snprintf(mailbox, sizeof mailbox, "imap/chess@127.0.0.1:%d/INBOX;7", port);
    assert_string_equal(found.letters[0].mailbox, mailbox);
    assert_string_equal(found.letters[2].name, "3");
    SourceLetter *letters[] = { &found.letters[2], &found.letters[4], &found.letters[3], &found.letters[1], &found.letters[0] };
    assert_int_equal(source->operations->look(source, &arena, letters, 5, &error), 0);
    char when[INSTANT_TEXT_SIZE];
    instant_write(found.letters[0].received, when);
    assert_string_equal(when, "2026-11-30T00:39:11Z");
    instant_write(found.letters[1].received, when);
    assert_string_equal(when, "2026-03-01T04:00:00Z");
    assert_int_equal(found.letters[1].size, 700);
    assert_int_equal(found.letters[0].head_length, 8);
    assert_memory_equal(found.letters[0].head, "C: d\r\n\r\n", 8);
    assert_int_equal(found.letters[0].file_time, INSTANT_NONE);
    assert_int_equal(found.letters[0].fault.grade, ERROR_NONE);
    assert_int_equal(found.letters[2].fault.code, ENOENT); /* it was not answered for and is no longer listed: it has gone */
    assert_int_equal(found.letters[3].fault.code, EIO);    /* it is listed, so it is there */
    assert_int_equal(found.letters[4].fault.code, EIO);
    source->operations->close(source);
    arena_free(&arena);
    served();
}

/* The line breaks with letter 2 each time. Within one call the others are had, and 2 is told as the one that cannot be had, once the server has
 * answered for it and its bytes have broken the line again; later it comes last, and is asked for once. */
static void a_letter_that_breaks_the_line_is_found_out(void **state) {
    (void)state;
#define ONE { "UID FETCH 1 (UID BODY.PEEK[])", "* 1 FETCH (UID 1 BODY[] {3}\r\none)\r\n$ OK done\r\n" }
#define THREE { "UID FETCH 3 (UID BODY.PEEK[])", "* 3 FETCH (UID 3 BODY[] {5}\r\nthree)\r\n$ OK done\r\n" }
#define TWO_IS_THERE { "UID FETCH 2 UID", "* 2 FETCH (UID 2)\r\n$ OK done\r\n" }
#define TWO_BREAKS { "UID FETCH 2 (UID BODY.PEEK[]<0.100>)", NULL }
    static const Step first[] = { OPEN("3", "4"), LISTED, { "UID FETCH 1:3", NULL }, { 0 } };
    static const Step second[] = { OPEN("3", "4"), ONE, { "UID FETCH 2 (UID BODY.PEEK[])", NULL }, { 0 } };
    static const Step third[] = { OPEN("3", "4"), TWO_IS_THERE, TWO_BREAKS, { 0 } };
    static const Step fourth[] = { OPEN("3", "4"), THREE, ONE, THREE, TWO_BREAKS, { 0 } };
    static const Step fifth[] = { OPEN("3", "4"), TWO_IS_THERE, LOG_OUT, { 0 } };
    static const Step *const scripts[] = { first, second, third, fourth, fifth, NULL };
    serve(scripts);
    Arena arena;
    SourceList found = { .letters = NULL };
    Error error = { 0 };
    Str raw[3];
    SourceFetch fetches[3];
    arena_init(&arena, 1024 * 1024);
    MailSource *source = open_source(5);
    list(source, &arena, &found);
    assert_int_equal(found.count, 3);
    for (int i = 0; i < 3; i++) {
        str_init(&raw[i], 1000);
        found.letters[i].size = 5;
        fetches[i] = (SourceFetch){ &found.letters[i], 100, &raw[i] };
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++)
            str_clear(&raw[i]);
        assert_int_equal(source->operations->fetch(source, fetches, 3, &error), 0);
        assert_string_equal(raw[0].data, "one");
        assert_string_equal(raw[2].data, "three");
        assert_int_equal(found.letters[0].fault.grade, ERROR_NONE);
        assert_int_equal(found.letters[1].fault.grade, ERROR_LETTER);
        assert_int_equal(found.letters[1].fault.code, EIO);
    }
    for (int i = 0; i < 3; i++)
        str_free(&raw[i]);
    source->operations->close(source);
    arena_free(&arena);
    served();
}

/* ---- lines that were lost in the meantime ---- */

#define SELECT { "SELECT INBOX", "* 3 EXISTS\r\n* OK [UIDVALIDITY 7] so\r\n$ OK [READ-WRITE] open\r\n" }

/* Between any two operations the server hangs up on the line that says nothing: none of them fails by that. */
static void a_line_that_was_lost_between_two_operations(void **state) {
    (void)state;
    static const Step first[] = { OPEN("3", "4"), LISTED, { "EXAMINE", NULL }, { 0 } };
    static const Step second[] = { OPEN("3", "4"), LISTED, { "SELECT", NULL }, { 0 } };
    static const Step third[] = { SELECT, { "UID STORE 2 +FLAGS.SILENT (\\Seen)", "$ OK done\r\n" }, { "SELECT", NULL }, { 0 } };
    static const Step fourth[] = { SELECT, { "EXAMINE", NULL }, { 0 } };
    static const Step fifth[] = { OPEN("3", "4"), { "IDLE", "+\r\n" }, { "DONE", "$ OK done\r\n" }, LOG_OUT, { 0 } };
    static const Step *const scripts[] = { first, second, third, fourth, fifth, NULL };
    serve(scripts);
    Arena arena;
    SourceList found = { .letters = NULL };
    Error error = { 0 };
    int descriptor = -1;
    arena_init(&arena, 1024 * 1024);
    MailSource *source = open_source(5);
    list(source, &arena, &found);
    list(source, &arena, &found);
    assert_int_equal(found.count, 3);
    SourceFile file = { .mailbox = found.letters[1].mailbox, .name = found.letters[1].name };
    assert_int_equal(source->operations->file(source, &file, 1, &error), 0);
    assert_true(file.filed);
    assert_int_equal(source->operations->probe(source, false, &error), 0);
    assert_int_equal(source->operations->wait_begin(source, &descriptor, &error), 0);
    assert_true(descriptor >= 0);
    source->operations->close(source);
    arena_free(&arena);
    served();
}

/* A new line that breaks is no old one: nothing is tried again at once, the server has enough to do. */
static void a_new_line_that_breaks_is_an_outage(void **state) {
    (void)state;
    static const Step first[] = { { "EXAMINE", NULL }, { 0 } };
    static const Step *const scripts[] = { first, NULL };
    serve(scripts);
    Arena arena;
    SourceList found = { .letters = NULL };
    Error error = { 0 };
    arena_init(&arena, 1024 * 1024);
    MailSource *source = open_source(5);
    assert_int_equal(source->operations->list(source, &arena, &found, &error), -1);
    assert_int_equal(error.grade, ERROR_MAILBOX);
    assert_non_null(strstr(error.text, "closed the connection"));
    source->operations->close(source);
    arena_free(&arena);
    served();
}

/* The line breaks with one further folder each time: the mailbox itself and the folder behind it are read. */
static void a_further_folder_that_breaks_the_line(void **state) {
    (void)state;
    static const char *const also[] = { "Junk", "Spam" };
    static const Step first[] = {
        OPEN("3", "4"), LISTED, { "LIST \"\" \"\"", "* LIST (\\Noselect) \"/\" \"\"\r\n$ OK done\r\n" },
        { "LIST \"\" \"Junk\"", "* LIST () \"/\" Junk\r\n$ OK done\r\n" }, { "EXAMINE Junk", NULL }, { 0 } };
    static const Step second[] = {
        { "LIST \"\" \"\"", "* LIST (\\Noselect) \"/\" \"\"\r\n$ OK done\r\n" }, { "LIST \"\" \"Spam\"", "* LIST () \"/\" Spam\r\n$ OK done\r\n" },
        { "EXAMINE Spam", "* 1 EXISTS\r\n* OK [UIDVALIDITY 9] so\r\n$ OK [READ-ONLY] open\r\n" },
        { "UID SEARCH", "* SEARCH 44\r\n$ OK done\r\n" }, LOG_OUT, { 0 } };
    static const Step *const scripts[] = { first, second, NULL };
    serve(scripts);
    Arena arena;
    SourceList found = { .letters = NULL };
    arena_init(&arena, 1024 * 1024);
    MailSource *source = open_with(5, also, 2, AFTER_SEEN);
    list(source, &arena, &found);
    assert_int_equal(found.count, 4);
    assert_non_null(strstr(found.letters[3].mailbox, "/Spam;9"));
    assert_int_equal(found.fault.grade, ERROR_MAILBOX);
    assert_non_null(strstr(found.fault.text, "Junk"));
    source->operations->close(source);
    arena_free(&arena);
    served();
}

/* ---- waiting ---- */

static MailSource *waiting_source(const Step *const *scripts, int *ret_descriptor) {
    Arena arena;
    SourceList found = { .letters = NULL };
    Error error = { 0 };
    serve(scripts);
    arena_init(&arena, 1024 * 1024);
    MailSource *source = open_source(3);
    list(source, &arena, &found);
    arena_free(&arena);
    if (source->operations->wait_begin(source, ret_descriptor, &error) < 0)
        fail_msg("%s", error.text);
    return source;
}

/* As serve asks: at once, then each time the descriptor is readable. */
static bool hears_within(MailSource *source, int descriptor, int seconds) {
    bool heard = source->operations->wait_heard(source);
    for (int i = 0; i < seconds * 10 && !heard; i++) {
        struct pollfd ready = { .fd = descriptor, .events = POLLIN };
        if (poll(&ready, 1, 100) > 0)
            heard = source->operations->wait_heard(source);
    }
    return heard;
}


static void waits(const char *answer, bool heard, bool hangs_up) {
    const Step steps[] = {
        OPEN("3", "4"), LISTED, OPEN("3", "4"), { "IDLE", answer },
        { "DONE", hangs_up ? NULL : "* 5 EXISTS\r\n* OK still\r\n$ OK done\r\n" }, LOG_OUT, { 0 },
    };
    const Step *const scripts[] = { steps, NULL };
    int descriptor = -1;
    MailSource *source = waiting_source(scripts, &descriptor);
    assert_true(descriptor >= 0);
    assert_int_equal(hears_within(source, descriptor, heard ? 20 : 1), heard);
    source->operations->wait_end(source);
    source->operations->wait_end(source); /* harmless */
    source->operations->close(source);
    served();
}

static void news_with_the_plus_sign(void **state) {
    (void)state;
    waits("+ idling\r\n* 4 EXISTS\r\n", true, false);
}
static void news_before_the_plus_sign(void **state) {
    (void)state;
    waits("* 4 EXISTS\r\n+ idling\r\n", true, false);
}
static void idle_talk_is_no_news(void **state) {
    (void)state;
    waits("* FLAGS (\\Seen)\r\n* OK wait\r\n+ idling\r\n* OK still here\r\n* 1 FETCH (FLAGS (\\Seen))\r\n* 2 EXPUNGE\r\n* 4 EXI", false, false);
}
static void a_line_lost_while_waiting_ends_is_no_error(void **state) {
    (void)state;
    waits("+ idling\r\n* 1 RECENT\r\n", true, true);
}

static void the_end_of_the_line_is_heard(void **state) {
    (void)state;
    static const Step steps[] = { OPEN("3", "4"), LISTED, OPEN("3", "4"), { "IDLE", "+ idling\r\n* BYE so late\r\n" }, { "DONE", NULL }, { 0 } };
    static const Step again[] = { OPEN("3", "4"), LISTED, OPEN("4", "5"), { "IDLE", "+\r\n" }, { "DONE", "$ OK done\r\n" }, LOG_OUT, { 0 } };
    static const Step *const scripts[] = { steps, again, NULL };
    int descriptor = -1;
    MailSource *source = waiting_source(scripts, &descriptor);
    assert_true(hears_within(source, descriptor, 20));
    source->operations->wait_end(source);
    Arena arena;
    SourceList found = { .letters = NULL };
    arena_init(&arena, 1024 * 1024);
    list(source, &arena, &found); /* on a new line */
    assert_int_equal(found.count, 3);
    arena_free(&arena);
    Error error = { 0 };
    assert_int_equal(source->operations->wait_begin(source, &descriptor, &error), 0);
    assert_true(source->operations->wait_heard(source)); /* a letter came between list() and IDLE: UIDNEXT has grown */
    source->operations->close(source);
    served();
}

static void a_server_that_will_not_wait(void **state) {
    (void)state;
    static const Step steps[] = { OPEN("3", "4"), LISTED, OPEN("3", "4"), { "IDLE", "* OK hm\r\n$ NO not today\r\n" }, LOG_OUT, { 0 } };
    static const Step *const scripts[] = { steps, NULL };
    int descriptor = 5;
    MailSource *source = waiting_source(scripts, &descriptor);
    assert_int_equal(descriptor, -1);
    source->operations->wait_end(source);
    source->operations->close(source);
    served();
}

static void a_server_that_does_not_answer_idle(void **state) {
    (void)state;
    static const Step steps[] = { OPEN("3", "4"), LISTED, OPEN("3", "4"), { "IDLE", "* OK one moment\r\n" }, { 0 } };
    static const Step *const scripts[] = { steps, NULL };
    serve(scripts);
    Arena arena;
    SourceList found = { .letters = NULL };
    Error error = { 0 };
    int descriptor = -1;
    arena_init(&arena, 1024 * 1024);
    MailSource *source = open_source(1);
    list(source, &arena, &found);
    assert_int_equal(source->operations->wait_begin(source, &descriptor, &error), -1);
    assert_int_equal(error.grade, ERROR_MAILBOX);
    assert_int_equal(descriptor, -1);
    source->operations->wait_end(source);
    source->operations->close(source);
    arena_free(&arena);
    served();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_in_modified_utf7),
        cmocka_unit_test(names_that_cannot_be),
        cmocka_unit_test(folders_that_are_read_and_moved_into),
        cmocka_unit_test(uids),
        cmocka_unit_test(mailboxes_of_other_accounts),
        cmocka_unit_test(names_longer_than_the_store_has_room_for),
        cmocka_unit_test_teardown(letters_are_looked_at, end_server),
        cmocka_unit_test_teardown(a_letter_that_breaks_the_line_is_found_out, end_server),
        cmocka_unit_test_teardown(a_line_that_was_lost_between_two_operations, end_server),
        cmocka_unit_test_teardown(a_new_line_that_breaks_is_an_outage, end_server),
        cmocka_unit_test_teardown(a_further_folder_that_breaks_the_line, end_server),
        cmocka_unit_test_teardown(news_with_the_plus_sign, end_server),
        cmocka_unit_test_teardown(news_before_the_plus_sign, end_server),
        cmocka_unit_test_teardown(idle_talk_is_no_news, end_server),
        cmocka_unit_test_teardown(a_line_lost_while_waiting_ends_is_no_error, end_server),
        cmocka_unit_test_teardown(the_end_of_the_line_is_heard, end_server),
        cmocka_unit_test_teardown(a_server_that_will_not_wait, end_server),
        cmocka_unit_test_teardown(a_server_that_does_not_answer_idle, end_server),
    };
    signal(SIGPIPE, SIG_IGN);
    int file = mkstemp(password_file);
    if (file < 0 || write(file, "secret\n", 7) != 7 || close(file) != 0)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(password_file);
    return failed;
}
