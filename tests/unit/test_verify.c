/* verify_letters: each lack among the rows that letters leave behind is found. */
#include "daemon/store/verify.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void fill(void *data, void *bytes, size_t length) {
    (void)data;
    memset(bytes, 9, length);
}

enum { SAID_MAX = 2000 };

static void remember(void *data, const char *sentence) {
    char *said = data;
    size_t length = strlen(said);
    text_copy(said + length, SAID_MAX - length, sentence);
}

/* One settled letter with its answer, one that awaits its confirmation; all as it must be. */
static const char sound[] =
    "INSERT INTO player(id, name, name_folded, language, zone, created) VALUES(1, 'Anna', 'anna', 'en', 'UTC', 0);"
    "INSERT INTO letter_out(id, kind, address, scope, ask, notice, brake, view, message_id, refs, null_sender, state, due, queued)"
    " VALUES(5, 'answer', 'a@x.example', 'none', NULL, 0, '', '{}', 'm', '', 0, 'accepted', 0, 0),"
    " (6, 'confirm', 'a@x.example', 'confirm', 3, 0, '', '{}', 'n', '', 0, 'accepted', 0, 0);"
    "INSERT INTO letter_in(id, mailbox, name, arrival, stored, state, kind, outcome, answer) VALUES"
    " (1, 'm', 'a', 0, 0, 'settled', 'human', 'played', 5), (2, 'm', 'b', 0, 0, 'awaiting', 'human', 'awaiting proof', 6);"
    "INSERT INTO raw_letter VALUES(1, x'00'), (2, x'00');"
    "INSERT INTO outcome VALUES(1, 1, 'move', 'played', '{}'), (2, 1, 'move', 'awaiting proof', '{}');"
    "INSERT INTO question VALUES(3, 2, 'confirm', 1, 1, 1, 0, 'e2e4', 0, '', 0, 'open');"
    "INSERT INTO timer VALUES('question 3', 'expiry', 100);";

static void test_each_lack(void **state) {
    (void)state;
    static const struct {
        const char *damage, *said; /* NULL: nothing is wrong */
    } rows[] = {
        { "SELECT 1", NULL },
        { "UPDATE letter_in SET answer = 77 WHERE id = 1", "whose answer is missing" },
        { "UPDATE letter_in SET same_as = 77 WHERE id = 1", "repeat one" },
        { "DELETE FROM raw_letter WHERE letter = 2", "whose bytes are missing" },
        { "DELETE FROM raw_letter WHERE letter = 1", NULL }, /* the oldest go with age */
        { "UPDATE letter_in SET state = 'stored' WHERE id = 2; DELETE FROM raw_letter", "not yet settled" },
        { "DELETE FROM outcome WHERE letter = 1", "without outcomes" },
        { "UPDATE letter_in SET state = 'settled' WHERE id = 2", "whose letter does not wait" },
        { "UPDATE question SET state = 'expired'", "nobody was asked for" },
        { "DELETE FROM timer", "without a timer" },
        { "DELETE FROM question; DELETE FROM timer; UPDATE letter_in SET state = 'settled'", "ask a question" },
        { "UPDATE letter_out SET cause = 77 WHERE id = 5", "whose cause is missing" },
    };
    char folder[] = "/tmp/epistle-verify-XXXXXX", path[64], key[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/e.db", folder);
    snprintf(key, sizeof key, "%s/e.key", folder);
    Error error;
    Store *store = store_open(path, key, STORE_VERB, true, fill, NULL, NULL, &error);
    assert_non_null(store);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char said[SAID_MAX] = "";
        assert_int_equal(store_begin(store, &error), 0);
        assert_int_equal(sqlite3_exec(store->db, "PRAGMA defer_foreign_keys = ON", NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_exec(store->db, sound, NULL, NULL, NULL), SQLITE_OK);
        assert_int_equal(sqlite3_exec(store->db, rows[i].damage, NULL, NULL, NULL), SQLITE_OK);
        int faults = verify_letters(store, remember, said, &error);
        if (rows[i].said == NULL ? faults != 0 : faults <= 0 || strstr(said, rows[i].said) == NULL)
            print_error("%s: %d, %s\n", rows[i].damage, faults, said);
        assert_true(rows[i].said == NULL ? faults == 0 : faults > 0 && strstr(said, rows[i].said) != NULL);
        store_rollback(store);
    }
    store_close(store);
    unlink(path);
    unlink(key);
    assert_int_equal(rmdir(folder), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_each_lack) };
    return cmocka_run_group_tests_name("verify", tests, NULL, NULL);
}
