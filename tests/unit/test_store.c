/* The store: creation with its key, sealing, keys of letters, names, timers, budgets. */
#include "daemon/store/asks.h"
#include "daemon/store/games.h"
#include "daemon/store/letters_in.h"
#include "daemon/store/letters_out.h"
#include "daemon/store/listing.h"
#include "daemon/store/players.h"
#include "daemon/store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64], path[96], key_file[96];

static void fill(void *data, void *bytes, size_t length) {
    memset(bytes, *(int *)data, length);
}

static Store *open_as(StoreUse use, bool create, Error *error) {
    int seed = 7;
    error_clear(error);
    return store_open(path, key_file, use, create, fill, &seed, NULL, error);
}

static int set_up(void **state) {
    (void)state;
    text_copy(folder, sizeof folder, "/tmp/epistle-store-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/e.db", folder);
    snprintf(key_file, sizeof key_file, "%s/e.key", folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    static const char *const names[] = { "e.db", "e.db-wal", "e.db-shm", "e.db.lock", "e.key", "e.key.new", "away" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char name[160];
        snprintf(name, sizeof name, "%s/%s", folder, names[i]);
        unlink(name);
    }
    return rmdir(folder);
}

static Store *fresh(void) {
    Error error;
    Store *store = open_as(STORE_SERVICE, true, &error);
    assert_non_null(store);
    assert_int_equal(store_begin(store, &error), 0);
    return store;
}

static void test_opening(void **state) {
    (void)state;
    Error error;
    assert_null(open_as(STORE_SERVICE, false, &error));
    assert_int_equal(error.grade, ERROR_INPUT);
    Store *store = open_as(STORE_SERVICE, true, &error);
    assert_non_null(store);
    assert_int_equal(access(key_file, R_OK), 0);
    assert_null(open_as(STORE_SERVICE, false, &error)); /* the lock */
    assert_int_equal(error.grade, ERROR_LATER);
    Store *verb = open_as(STORE_VERB, false, &error); /* verbs need none */
    assert_non_null(verb);
    store_close(verb);
    store_close(store);
}

static void test_key(void **state) {
    (void)state;
    Error error;
    char away[160];
    snprintf(away, sizeof away, "%s/away", folder);
    store_close(open_as(STORE_SERVICE, true, &error));
    assert_int_equal(rename(key_file, away), 0);
    assert_null(open_as(STORE_SERVICE, true, &error)); /* a store without its key */
    assert_int_equal(error.grade, ERROR_DAMAGED);
    char unfinished[160];
    snprintf(unfinished, sizeof unfinished, "%s.new", key_file); /* the end came between commit and rename */
    assert_int_equal(rename(away, unfinished), 0);
    Store *store = open_as(STORE_SERVICE, false, &error);
    assert_non_null(store);
    assert_int_equal(access(key_file, R_OK), 0);
    store_close(store);
    FILE *file = fopen(key_file, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, -2, SEEK_END), 0);
    assert_int_not_equal(fputc('0', file), EOF); /* it was a 7 */
    assert_int_equal(fclose(file), 0);
    assert_null(open_as(STORE_SERVICE, false, &error)); /* another key */
    assert_int_equal(error.grade, ERROR_DAMAGED);
    assert_int_equal(unlink(path), 0);
    assert_null(open_as(STORE_SERVICE, true, &error)); /* a key without its store */
    assert_int_equal(error.grade, ERROR_DAMAGED);
}

static void test_schema_of_a_later_program(void **state) {
    (void)state;
    Error error;
    Store *store = open_as(STORE_SERVICE, true, &error);
    assert_int_equal(sqlite3_exec(store->db, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
    store_close(store);
    assert_null(open_as(STORE_SERVICE, false, &error));
    assert_int_equal(error.grade, ERROR_DAMAGED);
    assert_non_null(strstr(error.text, "99"));
}

static void test_raw_letters_are_sealed(void **state) {
    (void)state;
    Error error;
    Store *store = fresh();
    uint8_t nonce[24] = { 1 };
    Str raw, back;
    str_init(&raw, 1000);
    str_init(&back, 1000);
    str_append(&raw, "Subject: secret words\r\n\r\n");
    str_append_bytes(&raw, "a\0b", 3);
    int64_t id = 0;
    assert_int_equal(letter_in_add(store, "maildir/INBOX", "one", 100, 200, &raw, nonce, &id, &error), 0);
    assert_int_equal(letter_in_known(store, "maildir/INBOX", "one", &error), 1);
    assert_int_equal(letter_in_known(store, "maildir/INBOX", "two", &error), 0);
    assert_int_equal(letter_in_raw(store, id, &back, &error), 1);
    assert_int_equal(back.length, raw.length);
    assert_memory_equal(back.data, raw.data, raw.length);
    sqlite3_stmt *row = NULL;
    assert_int_equal(store_query(store, &error, &row, "SELECT box FROM raw_letter", ""), 1);
    assert_null(memmem(sqlite3_column_blob(row, 0), (size_t)sqlite3_column_bytes(row, 0), "secret", 6));
    store_done(row);
    assert_int_equal(store_execute(store, &error, "UPDATE raw_letter SET box = zeroblob(length(box))", ""), 0);
    assert_int_equal(letter_in_raw(store, id, &back, &error), -1);
    assert_int_equal(error.grade, ERROR_DAMAGED);
    str_free(&raw);
    str_free(&back);
    store_close(store);
}

static void test_letters_in_order_and_their_second_key(void **state) {
    (void)state;
    Error error;
    Store *store = fresh();
    uint8_t nonce[24] = { 0 };
    Str raw;
    str_init(&raw, 10);
    str_append(&raw, "x");
    int64_t late = 0, early = 0, ids[4], same = 0;
    letter_in_add(store, "m", "a", 500, 0, &raw, nonce, &late, &error);
    letter_in_add(store, "m", "b", 400, 0, &raw, nonce, &early, &error);
    assert_int_equal(letters_in_stored(store, ids, 4, &error), 2);
    assert_true(ids[0] == early && ids[1] == late);
    assert_int_equal(letters_in_unfiled(store, ids, 4, &error), 0); /* nothing is filed before it is settled */
    Settlement settlement = { .state = "settled", .kind = "human", .proof = "token", .outcome = "played", .why = "", .message_id = "i@x", .body_hash = "h" };
    assert_int_equal(letter_in_settle(store, early, &settlement, &error), 0);
    assert_int_equal(letters_in_unfiled(store, ids, 4, &error), 1);
    assert_int_equal(letter_in_same(store, "token", "i@x", "h", &same, &error), 1);
    assert_true(same == early);
    assert_int_equal(letter_in_same(store, "none", "i@x", "h", &same, &error), 0);
    assert_int_equal(letter_in_same(store, "token", "i@x", "other", &same, &error), 0);
    assert_int_equal(letter_in_settle(store, late, &settlement, &error), -1); /* the same key twice */
    settlement.same_as = early;
    assert_int_equal(letter_in_settle(store, late, &settlement, &error), 0);
    str_free(&raw);
    store_close(store);
}

static void test_names(void **state) {
    (void)state;
    static const struct { const char *name, *clean; } rows[] = {
        { "  Anna   Smith ", "Anna Smith" }, { "Zoë", "Zoë" }, { "李小龍", "李小龍" }, { "O'Brien-Jones", "O'Brien-Jones" },
        { "", NULL }, { "   ", NULL }, { "42", NULL }, { "a@b", NULL }, { "Anna\nSmith", "Anna Smith" }, { "A\xe2\x80\xae" "b", NULL },
        { "Anna\x01", NULL }, { "\xff", NULL }, { "| Anna", NULL },
        { "ABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJ", "ABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJ" },
        { "ABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJK", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char clean[PLAYER_NAME_MAX] = "";
        assert_int_equal(player_name_clean(rows[i].name, clean), rows[i].clean != NULL);
        if (rows[i].clean != NULL)
            assert_string_equal(clean, rows[i].clean);
    }
}

static void test_addresses(void **state) {
    (void)state;
    static const struct { const char *address; bool good; } rows[] = {
        { "anna@smith.example", true }, { "a.b+c_d@x.example", true }, { "A@X.EXAMPLE", true }, { "@x.example", false }, { "a@", false },
        { "a@b@c", false }, { "a b@c.example", false }, { "a@c..example", false }, { "a@.example", false }, { "a@example.", false },
        { "a\r\nRCPT@c.example", false }, { "<a@c.example>", false }, { "\xc3\xa4@c.example", false }, { "a@c_d.example", false }, { "", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char clean[ADDRESS_MAX];
        assert_int_equal(address_clean(rows[i].address, clean), rows[i].good);
    }
}

static void test_players(void **state) {
    (void)state;
    Error error;
    Store *store = fresh();
    int64_t anna = 0, other = 0, ids[PLAYERS_AT_ADDRESS_MAX];
    assert_int_equal(player_add(store, "Anna Smith", "Anna@smith.example", "en", "UTC", 0, &anna, &error), 1);
    assert_int_equal(player_add(store, "ANNA SMITH", "x@y.example", "en", "UTC", 0, &other, &error), 0); /* one name but for case */
    assert_int_equal(player_by_name(store, "anna smith", &other, &error), 1);
    assert_true(other == anna);
    assert_int_equal(player_add(store, "Tom Smith", "anna@smith.example", "en", "UTC", 0, &other, &error), 1);
    assert_int_equal(players_by_address(store, "ANNA@smith.example", ids, &error), 2); /* a shared address */
    assert_int_equal(players_by_address(store, "nobody@smith.example", ids, &error), 0);
    Player player;
    assert_int_equal(player_get(store, anna, &player, &error), 1);
    assert_string_equal(player.address, "anna@smith.example");
    assert_false(player.blocked);
    assert_int_equal(player_block(store, anna, true, &error), 0);
    player_get(store, anna, &player, &error);
    assert_true(player.blocked);
    store_close(store);
}

static void test_a_ply_is_played_once(void **state) {
    (void)state;
    Error error;
    Store *store = fresh();
    int64_t anna = 0, tom = 0, id = 0;
    player_add(store, "Anna", "a@x.example", "en", "UTC", 0, &anna, &error);
    player_add(store, "Tom", "t@x.example", "en", "UTC", 0, &tom, &error);
    assert_int_equal(game_create(store, anna, tom, "10/50d", NULL, INSTANT_NONE, 1000, 0, &id, &error), 0);
    assert_int_equal(game_create(store, anna, anna, "10/50d", NULL, INSTANT_NONE, 1000, 0, &id, &error), -1);
    Game *one = NULL, *two = NULL;
    assert_int_equal(game_load(store, id, &one, &error), 1);
    assert_int_equal(game_load(store, id, &two, &error), 1);
    Entry entries[2];
    Move e4 = move_make(12, 28, 0), d4 = move_make(11, 27, 0);
    int count = game_plan_move(one, e4, 2000, 1, false, entries, &error);
    assert_int_equal(game_append(store, id, one, entries, count, &error), 0);
    count = game_plan_move(two, d4, 2000, 2, false, entries, &error);
    assert_int_equal(game_append(store, id, two, entries, count, &error), -1);
    /* not even behind another number */
    assert_int_equal(store_execute(store, &error, "INSERT INTO entry SELECT game, number + 1, kind, epoch, ply, line FROM entry WHERE kind = 'move'", ""), -1);
    GameRow row;
    assert_int_equal(game_row(store, id, &row, &error), 1);
    assert_int_equal(row.ply, 1);
    assert_true(row.to_move == tom);
    game_free(one);
    game_free(two);
    store_close(store);
}

static void complain(void *data, const char *sentence) {
    text_copy(data, 200, sentence);
}

static void test_verify_finds_damage(void **state) {
    (void)state;
    Error error;
    Store *store = fresh();
    int64_t anna = 0, tom = 0, id = 0, games = 0, entries = 0;
    char said[200] = "";
    player_add(store, "Anna", "a@x.example", "en", "UTC", 0, &anna, &error);
    player_add(store, "Tom", "t@x.example", "en", "UTC", 0, &tom, &error);
    game_create(store, anna, tom, "3d/move", NULL, INSTANT_NONE, 1000, 0, &id, &error);
    assert_int_equal(games_verify(store, complain, said, &games, &entries, &error), 0);
    assert_true(games == 1 && entries == 1);
    store_execute(store, &error, "UPDATE game SET ply = 3", "");
    assert_int_equal(games_verify(store, complain, said, &games, &entries, &error), 1);
    store_execute(store, &error, "UPDATE game SET ply = 0", "");
    store_execute(store, &error, "UPDATE entry SET line = replace(line, '3d/move', '9d/move')", "");
    assert_int_not_equal(games_verify(store, complain, said, &games, &entries, &error), 0);
    store_close(store);
}

static void test_timers(void **state) {
    (void)state;
    Error error;
    Store *store = fresh();
    TimerRow row;
    timer_set(store, "question 1", "expiry", 500, &error);
    timer_set(store, "question 1", "expiry", 500, &error);
    timer_set(store, "question 2", "expiry", 400, &error);
    assert_int_equal(timer_due(store, 399, &row, &error), 0);
    assert_int_equal(timer_due(store, 400, &row, &error), 1);
    assert_string_equal(row.subject, "question 2");
    assert_int_equal(timer_done(store, &row, &error), 0);
    assert_int_equal(timer_due(store, 500, &row, &error), 1);
    assert_int_equal(timer_done(store, &row, &error), 0);
    assert_int_equal(timer_due(store, 10000, &row, &error), 0); /* it was set twice and is one */
    store_close(store);
}

static void test_letters_out(void **state) {
    (void)state;
    Error error;
    Store *store = fresh();
    Arena arena;
    arena_init(&arena, 1 << 20);
    int64_t id = 0, ids[4], count = 0;
    LetterOut draft = { .kind = "answer", .address = "s@far.example", .scope = "none", .brake = "stranger", .view = "{}", .references = "", .due = 100, .queued = 100 };
    assert_int_equal(letter_out_queue(store, &draft, "club.example", &id, &error), 0);
    LetterOut letter;
    assert_int_equal(letter_out_get(store, &arena, id, &letter, &error), 1);
    int64_t back = 0;
    char token[TOKEN_SIZE];
    memcpy(token, letter.message_id, TOKEN_SIZE - 1);
    token[TOKEN_SIZE - 1] = 0;
    assert_true(token_names(&store->key, token, &back) && back == id);
    assert_int_equal(letter_out_by_token(store, &arena, token, &letter, &error), 1);
    assert_int_equal(store_execute(store, &error, "UPDATE letter_out SET address = 'other@far.example' WHERE id = ?1", "i", id), 0);
    assert_int_equal(letter_out_by_token(store, &arena, token, &letter, &error), 0); /* as after a copy was brought back */
    assert_int_equal(store_execute(store, &error, "UPDATE letter_out SET address = 's@far.example' WHERE id = ?1", "i", id), 0);
    assert_string_equal(letter.message_id + TOKEN_SIZE - 1, "@club.example");
    assert_int_equal(letters_out_due(store, 99, ids, 4, &error), 0);
    assert_int_equal(letters_out_due(store, 100, ids, 4, &error), 1);
    /* due years ahead: put off under a clock that was wrong */
    Ahead ahead;
    assert_int_equal(letters_out_due(store, 100 - LETTER_PUT_OFF_MAX, ids, 4, &error), 0);
    assert_int_equal(letters_out_due(store, 99 - LETTER_PUT_OFF_MAX, ids, 4, &error), 1);
    assert_int_equal(listing_ahead(store, 100 - LETTER_PUT_OFF_MAX, &ahead, &error), 0);
    assert_true(ahead.sending == 100 && ahead.letters == 1);
    assert_int_equal(listing_ahead(store, 99 - LETTER_PUT_OFF_MAX, &ahead, &error), 0);
    assert_true(ahead.sending == 99 - LETTER_PUT_OFF_MAX);
    assert_int_equal(listing_ahead(store, INSTANT_NONE, &ahead, &error), 0);
    assert_true(ahead.sending == 100);
    assert_int_equal(letter_out_note_attempt(store, id, 100, "bytes", 5, &error), 0);
    assert_int_equal(letter_out_note_result(store, id, "trying", 700, INSTANT_NONE, true, true, "line lost", &error), 0);
    assert_int_equal(letter_out_get(store, &arena, id, &letter, &error), 1);
    assert_int_equal(letter.length, 5);
    assert_int_equal(letter.unknowns, 1);
    assert_true(letter.accepted == INSTANT_NONE);
    assert_int_equal(letter_out_note_result(store, id, "accepted", 700, 650, false, false, "250 ok", &error), 0);
    assert_int_equal(letter_out_get(store, &arena, id, &letter, &error), 1);
    assert_null(letter.bytes);
    assert_true(letter.accepted == 650);
    letters_out_answered(store, "stranger", "S@far.example", 99, &count, &error);
    assert_true(count == 1);
    letters_out_answered(store, "stranger", "s@far.example", 100, &count, &error);
    assert_true(count == 0);
    letters_out_answered(store, "answer", "s@far.example", 0, &count, &error);
    assert_true(count == 0);
    letters_out_strangers(store, "far.example", 0, &count, &error);
    assert_true(count == 1);
    letters_out_strangers(store, "ar.example", 0, &count, &error);
    assert_true(count == 0);
    letters_out_strangers(store, NULL, 0, &count, &error);
    assert_true(count == 1);
    arena_free(&arena);
    store_close(store);
}

static void test_draws_repeat(void **state) {
    (void)state;
    Error error;
    Store *store = open_as(STORE_SERVICE, true, &error);
    int white = 0;
    for (int i = 0; i < 200; i++) {
        char label[32];
        snprintf(label, sizeof label, "challenge %d", i);
        assert_int_equal(store_draw(store, label, 2), store_draw(store, label, 2));
        white += store_draw(store, label, 2) == 0;
    }
    assert_in_range(white, 60, 140);
    store_close(store);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        STORE_TEST(test_opening),
        STORE_TEST(test_key),
        STORE_TEST(test_schema_of_a_later_program),
        STORE_TEST(test_raw_letters_are_sealed),
        STORE_TEST(test_letters_in_order_and_their_second_key),
        STORE_TEST(test_players),
        STORE_TEST(test_a_ply_is_played_once),
        STORE_TEST(test_verify_finds_damage),
        STORE_TEST(test_timers),
        STORE_TEST(test_letters_out),
        STORE_TEST(test_draws_repeat),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_addresses),
    };
    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
