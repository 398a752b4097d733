/* Clocks, from the tables in tests/data/clock: columns parted by blanks, '#' begins a comment line, the first other line names the
 * columns. A director of tournaments should be able to read and to extend them. */
#include "core/game/clock.h"

#include "core/base/str.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COLUMNS_MAX = 8, LINE_MAX_ = 256 };

typedef struct Table {
    FILE *file;
    const char *path;
    int line;
    int rows;
    char text[LINE_MAX_];
    char *cells[COLUMNS_MAX];
} Table;

static int split(char *text, char **ret_cells) {
    int count = 0;
    for (char *at = text;;) {
        at += strspn(at, " \n");
        if (*at == 0)
            return count;
        assert_true(count < COLUMNS_MAX);
        ret_cells[count++] = at;
        at += strcspn(at, " \n");
        if (*at != 0)
            *at++ = 0;
    }
}

/* The next row that is no comment; false at the end. */
static bool table_next(Table *table, int columns) {
    while (fgets(table->text, sizeof table->text, table->file) != NULL) {
        table->line++;
        if (table->text[0] == '#')
            continue;
        int count = split(table->text, table->cells);
        if (count != columns)
            fail_msg("%s:%d: %d columns, not %d", table->path, table->line, count, columns);
        table->rows++;
        return true;
    }
    return false;
}

static void table_open(Table *table, const char *path, const char *heading) {
    *table = (Table){ .file = fopen(path, "r"), .path = path };
    if (table->file == NULL)
        fail_msg("%s is missing; run from the project's root", path);
    char expected[LINE_MAX_], *names[COLUMNS_MAX];
    assert_true(text_copy(expected, sizeof expected, heading));
    int columns = split(expected, names);
    assert_true(table_next(table, columns));
    for (int i = 0; i < columns; i++)
        assert_string_equal(table->cells[i], names[i]);
    table->rows = 0;
}

static void table_close(Table *table, int rows_at_least) {
    fclose(table->file);
    assert_true(table->rows >= rows_at_least);
}

static void equal(const Table *table, const char *what, int64_t is, int64_t should) {
    if (is != should)
        fail_msg("%s:%d: %s is %lld, not %lld", table->path, table->line, what, (long long)is, (long long)should);
}

static int64_t number(const char *cell) {
    char *end;
    int64_t value = strtoll(cell, &end, 10);
    assert_true(*cell != 0 && *end == 0);
    return value;
}

static Instant instant(const char *cell) {
    Instant value = INSTANT_NONE;
    if (strcmp(cell, "-") != 0)
        assert_true(instant_read(cell, &value));
    return value;
}

static Control control(const char *text) {
    Control value;
    assert_int_equal(control_read(text, &value, NULL), 0);
    return value;
}

static void test_doubled(void **state) {
    (void)state;
    Table table;
    table_open(&table, "tests/data/clock/doubled.txt", "days charged");
    while (table_next(&table, 2))
        equal(&table, "charged", clock_doubled((int)number(table.cells[0])), number(table.cells[1]));
    table_close(&table, 6);
    assert_int_equal(clock_doubled(-1), 0);
    assert_int_equal(clock_doubled(INT_MIN), 0);
    assert_int_equal(clock_doubled(INT_MAX), INT_MAX);
}

static void test_deadlines(void **state) {
    (void)state;
    Table table;
    table_open(&table, "tests/data/clock/deadlines.txt", "control left start deadline");
    while (table_next(&table, 4)) {
        Control rules = control(table.cells[0]);
        Clock clock = { .left = number(table.cells[1]) * SECONDS_PER_DAY };
        equal(&table, "deadline", clock_deadline(&rules, &clock, instant(table.cells[2])), instant(table.cells[3]));
    }
    table_close(&table, 10);
}

static void test_charges(void **state) {
    (void)state;
    Table table;
    table_open(&table, "tests/data/clock/charges.txt", "control left start arrival days charged late");
    while (table_next(&table, 7)) {
        Control rules = control(table.cells[0]);
        Clock clock = { .left = number(table.cells[1]) * SECONDS_PER_DAY };
        Charge charge;
        clock_charge(&rules, &clock, instant(table.cells[2]), instant(table.cells[3]), &charge);
        equal(&table, "days", charge.days, number(table.cells[4]));
        equal(&table, "charged", charge.charged, number(table.cells[5]));
        equal(&table, "late", charge.late, number(table.cells[6]));
        equal(&table, "deadline", charge.deadline, clock_deadline(&rules, &clock, instant(table.cells[2])));
    }
    table_close(&table, 20);
}

static void test_ten_in_fifty(void **state) {
    (void)state;
    const Instant start = 1796126400;
    Control rules = control("10/50d");
    Clock clock;
    clock_start(&rules, &clock);
    int64_t used = 0;
    Table table;
    table_open(&table, "tests/data/clock/ten-in-fifty.txt", "move days charged left late");
    while (table_next(&table, 5)) {
        /* days and a bit: inside the period after the free one */
        int64_t days = number(table.cells[1]);
        Charge charge;
        clock_charge(&rules, &clock, start, start + days * SECONDS_PER_DAY + 4711, &charge);
        equal(&table, "days", charge.days, days);
        equal(&table, "charged", charge.charged, number(table.cells[2]) * SECONDS_PER_DAY);
        equal(&table, "late", charge.late > 0, strcmp(table.cells[4], "yes") == 0);
        clock_move(&rules, &clock, &charge, &clock);
        used += charge.charged;
        equal(&table, "move", clock.moves_made, number(table.cells[0]));
        equal(&table, "left", clock.left, number(table.cells[3]) * SECONDS_PER_DAY);
        equal(&table, "used", clock.used, used);
    }
    table_close(&table, 30);
}

/* clock_deadline() says what clock_charge() says: in time up to it, late a second after it, for every content of a clock. */
static void test_deadline_is_the_edge(void **state) {
    (void)state;
    static const char *const controls[] = { "10/50d", "10/30d", "3d/move", "1/1d" };
    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++) {
        Control rules = control(controls[i]);
        for (int left = -3; left < 130; left++) {
            Clock clock = { .left = (int64_t)left * SECONDS_PER_DAY };
            Instant start = 1000000007, deadline = clock_deadline(&rules, &clock, start);
            Charge charge;
            clock_charge(&rules, &clock, start, deadline, &charge);
            assert_int_equal(charge.late, 0);
            assert_true(charge.charged <= clock.left || clock.left < 0);
            clock_charge(&rules, &clock, start, deadline + 1, &charge);
            assert_int_equal(charge.late, 1);
            assert_true(charge.charged > clock.left);
        }
    }
}

static void test_days_per_move(void **state) {
    (void)state;
    Control rules = control("3d/move");
    Clock clock;
    clock_start(&rules, &clock);
    static const int64_t thought[] = { 0, 1, 86400, 259200, 259201, 864000, 17 };
    int64_t used = 0;
    for (size_t i = 0; i < sizeof thought / sizeof thought[0]; i++) {
        Charge charge;
        clock_charge(&rules, &clock, 500, 500 + thought[i], &charge);
        clock_move(&rules, &clock, &charge, &clock);
        used += thought[i];
        assert_int_equal(clock.left, 3 * SECONDS_PER_DAY);
        assert_int_equal(clock.used, used);
        assert_int_equal(clock.moves_made, (int)i + 1);
    }
}

static void test_none(void **state) {
    (void)state;
    Control rules = control("none");
    Clock clock;
    Charge charge;
    clock_start(&rules, &clock);
    clock_charge(&rules, &clock, 0, 1000000000, &charge);
    clock_move(&rules, &clock, &charge, &clock);
    assert_int_equal(charge.elapsed, 1000000000);
    assert_int_equal(charge.charged, 0);
    assert_int_equal(clock.left, 0);
    assert_int_equal(clock.used, 0);
    assert_int_equal(clock.moves_made, 1);
}

/* No instant overflows (this is for the sanitizers), and nobody is late by arriving early. */
static void test_absurd_instants(void **state) {
    (void)state;
    static const Instant instants[] = { INSTANT_NONE, INT64_MIN + 1, INT64_MIN + 86400, -1, 0, 1, INT64_MAX - 86400,
                                        INT64_MAX - 1, INT64_MAX };
    static const int64_t lefts[] = { INT64_MIN, INT64_MIN + 1, -1, 0, 50 * 86400, INT64_MAX };
    static const char *const controls[] = { "10/50d", "1000/3650d", "3650d/move", "none" };
    enum { INSTANTS = sizeof instants / sizeof instants[0], LEFTS = sizeof lefts / sizeof lefts[0] };
    for (int c = 0; c < 4; c++) {
        Control rules = control(controls[c]);
        for (int s = 0; s < INSTANTS * INSTANTS * LEFTS; s++) {
            Instant start = instants[s % INSTANTS], arrival = instants[s / INSTANTS % INSTANTS];
            Clock clock = { .left = lefts[s / INSTANTS / INSTANTS], .used = INT64_MAX - 5 };
            Charge charge;
            clock_charge(&rules, &clock, start, arrival, &charge);
            assert_true(charge.charged >= 0 && charge.late >= 0 && charge.elapsed >= 0 && charge.days >= 0);
            if (start == INSTANT_NONE || arrival <= start)
                assert_true(charge.charged == 0 && charge.late == 0);
            clock_move(&rules, &clock, &charge, &clock);
            if (rules.kind != CONTROL_NONE && start != INSTANT_NONE)
                assert_true(clock_deadline(&rules, &clock, start) >= start);
        }
    }
}

static void test_control_read(void **state) {
    (void)state;
    static const struct { const char *text, *canonical; int moves, days; } good[] = {
        { "10/50d", "10/50d", 10, 50 }, { " 10/50D\r\n", "10/50d", 10, 50 }, { "010/030d", "10/30d", 10, 30 },
        { "1000/3650d", "1000/3650d", 1000, 3650 }, { "1/1d", "1/1d", 1, 1 }, { "3d/move", "3d/move", 0, 3 },
        { "\t3D/Move ", "3d/move", 0, 3 }, { "3650d/move", "3650d/move", 0, 3650 }, { "none", "none", 0, 0 },
        { " NONE ", "none", 0, 0 }, { "\r\n 3d/move\n", "3d/move", 0, 3 },
    };
    static const char *const bad[] = {
        "", " ", "0/50d", "10/0d", "1001/50d", "10/3651d", "10/50", "10/50d exact", "10 / 50d", "-10/50d", "10/-50d", "+1/5d",
        "3d", "0d/move", "3651d/move", "3 d/move", "3d/moves", "none none", "nonesuch", "99999999999999999999/50d",
        "10/99999999999999999999d", "10/50d10/50d", "triple 50d", "d/move", "/50d", "10/d",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        Control value;
        Error error = { .grade = ERROR_NONE };
        assert_int_equal(control_read(good[i].text, &value, &error), 0);
        assert_string_equal(value.text, good[i].canonical);
        assert_int_equal(value.moves, good[i].moves);
        assert_int_equal(value.days, good[i].days);
        assert_int_equal(error.grade, ERROR_NONE);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        Control value = { .days = 77 };
        Error error = { .grade = ERROR_NONE };
        if (control_read(bad[i], &value, &error) == 0)
            fail_msg("“%s” was read as a time control", bad[i]);
        assert_int_equal(value.days, 77);
        assert_int_equal(error.grade, ERROR_INPUT);
        assert_non_null(strstr(error.text, "10/50d"));
        assert_non_null(strstr(error.text, "3d/move"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubled),       cmocka_unit_test(test_deadlines),
        cmocka_unit_test(test_charges),       cmocka_unit_test(test_ten_in_fifty),
        cmocka_unit_test(test_deadline_is_the_edge), cmocka_unit_test(test_days_per_move),
        cmocka_unit_test(test_none),          cmocka_unit_test(test_absurd_instants),
        cmocka_unit_test(test_control_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
