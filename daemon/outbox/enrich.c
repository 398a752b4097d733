#include "daemon/outbox/enrich.h"

#include "core/base/utf8.h"
#include "daemon/outbox/board.h"
#include "daemon/outbox/layout.h"
#include "daemon/zone.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/udat.h>
#include <unicode/ustring.h>

typedef struct Enrich {
    const Templates *templates;
    const char *language, *zone; /* zone NULL: UTC, or one nobody knows */
    UDateFormat *dates;
    bool failed; /* memory ran out */
} Enrich;

enum { ENRICH_DEPTH_MAX = 12 };

/* Small helpers: what is missing is "" or nothing. */

static const char *get_text(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? "" : text;
}

static void put(Enrich *enrich, json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, value) != 0)
        enrich->failed = true;
}

static void put_text(Enrich *enrich, json_t *object, const char *key, const char *text) {
    put(enrich, object, key, json_string(text));
}

static void put_true(Enrich *enrich, json_t *object, const char *key) {
    if (json_object_get(object, key) == NULL)
        put(enrich, object, key, json_true());
}

/* An entry of the words file, or nothing at all where the files have none. */
static void put_words(Enrich *enrich, json_t *object, const char *key, const char *name, const int64_t *numbers, int count) {
    Str text;
    str_init(&text, 4096);
    if (words_format(enrich->templates, enrich->language, name, numbers, count, &text, NULL) == 0) {
        str_trim_end(&text);
        put_text(enrich, object, key, text.data);
    }
    str_free(&text);
}

/* Cleaning. */

/* Controls, line and paragraph separators, and the marks by which a text can be turned round or hidden. */
static bool unwanted(uint32_t point) {
    return point == 0x200b || point == 0x200e || point == 0x200f || (point >= 0x202a && point <= 0x202e) ||
           (point >= 0x2060 && point <= 0x2069) || point == 0x061c || point == 0xfeff || point == 0x00ad || (point >= 0xfff9 && point <= 0xfffb) ||
           (point >= 0xe0000 && point <= 0xe007f);
}

static bool like_blank(uint32_t point) {
    return point <= 0x20 || (point >= 0x7f && point <= 0xa0) || point == 0x2028 || point == 0x2029 || (point >= 0x2000 && point <= 0x200a) ||
           point == 0x202f || point == 0x3000;
}

static json_t *clean_text(const char *text, size_t most, bool keep_blanks) {
    Str out;
    str_init(&out, 4 * most + 8);
    size_t length = strlen(text), count = 0;
    bool gap = false;
    for (size_t at = 0; at < length;) {
        uint32_t point;
        int size = utf8_next(text + at, length - at, &point);
        if (size == 0)
            break;
        at += (size_t)size;
        if (unwanted(point))
            continue;
        if (like_blank(point) && !keep_blanks) {
            gap = count > 0;
            continue;
        }
        if (count + (gap ? 1 : 0) >= most) {
            str_append(&out, "…");
            break;
        }
        if (gap)
            str_append_char(&out, ' ');
        count += gap ? 2 : 1;
        gap = false;
        utf8_append(&out, like_blank(point) ? ' ' : point);
    }
    json_t *value = json_stringn(out.data, out.length);
    str_free(&out);
    return value;
}

static size_t text_limit(const char *key) {
    static const struct { const char *key; size_t most; } limits[] = {
        { "name", NAME_COLUMNS }, { "white", NAME_COLUMNS }, { "black", NAME_COLUMNS }, { "opponent", NAME_COLUMNS },
        { "who", NAME_COLUMNS },  { "from", NAME_COLUMNS },  { "to", NAME_COLUMNS },    { "subject", LINE_COLUMNS },
        { "line", LINE_COLUMNS }, { "given", NAME_COLUMNS }, { "recorded", NAME_COLUMNS }, { "option", NAME_COLUMNS },
        { "topic", NAME_COLUMNS }, { "lines", LINE_COLUMNS }, { "remark", REMARK_LINE_COLUMNS },
    };
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (strcmp(limits[i].key, key) == 0)
            return limits[i].most;
    return VIEW_TEXT_COLUMNS;
}

/* A deep copy with clean strings. `key`: the member it stands in; NULL on failure. */
static json_t *clean_copy(const json_t *value, const char *key, int depth) {
    if (depth > ENRICH_DEPTH_MAX)
        return NULL;
    if (json_is_string(value))
        return clean_text(json_string_value(value), text_limit(key), strcmp(key, "remark") == 0);
    if (json_is_array(value)) {
        json_t *copy = json_array();
        for (size_t i = 0; i < json_array_size(value); i++)
            if (json_array_append_new(copy, clean_copy(json_array_get(value, i), key, depth + 1)) != 0) {
                json_decref(copy);
                return NULL;
            }
        return copy;
    }
    if (!json_is_object(value))
        return json_copy((json_t *)(uintptr_t)value);
    json_t *copy = json_object();
    const char *name;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)value, name, member)
        if (json_object_set_new(copy, name, clean_copy(member, name, depth + 1)) != 0) {
            json_decref(copy);
            return NULL;
        }
    return copy;
}

/* Dates and durations. */

/* Opened once a letter: it is most of what a letter costs. */
static UDateFormat *date_format(Enrich *enrich) {
    static const UChar utc[] = { 'U', 'T', 'C', 0 };
    Str pattern;
    str_init(&pattern, 256);
    UChar wide_pattern[256];
    UErrorCode status = U_ZERO_ERROR;
    if (enrich->dates == NULL) {
        if (words_format(enrich->templates, enrich->language, "date-time", NULL, 0, &pattern, NULL) != 0)
            str_append(&pattern, "yyyy-MM-dd HH:mm");
        u_strFromUTF8(wide_pattern, 256, NULL, pattern.data, -1, &status);
        if (U_SUCCESS(status))
            enrich->dates = udat_open(UDAT_PATTERN, UDAT_PATTERN, enrich->language, utc, -1, wide_pattern, -1, &status);
    }
    str_free(&pattern);
    return enrich->dates;
}

static bool write_date(Enrich *enrich, Instant instant, Str *out) {
    UChar wide[256];
    char text[3 * 256 + 1] = "";
    UErrorCode status = U_ZERO_ERROR;
    const UDateFormat *format = date_format(enrich);
    if (format == NULL)
        return false;
    udat_format(format, (double)instant * 1000.0, wide, 256, NULL, &status);
    u_strToUTF8(text, (int32_t)sizeof text, NULL, wide, -1, &status);
    return U_SUCCESS(status) && str_append(out, text);
}

/* "NAME_words" and "NAME_utc" beside an instant (RFC 3339, or as a letter's Date has it). The offset comes from glibc, the words
 * from ICU (RULINGS 34). */
static void add_date(Enrich *enrich, json_t *object, const char *name) {
    Instant instant;
    const char *text = get_text(object, name);
    if (*text == 0 || (!instant_read(text, &instant) && !instant_read_mail(text, &instant)))
        return;
    int offset = 0;
    bool local = enrich->zone != NULL && zone_offset(enrich->zone, instant, &offset);
    Str words, utc;
    str_init(&words, 400);
    str_init(&utc, 400);
    if (write_date(enrich, instant, &utc) && str_append(&utc, " UTC") && write_date(enrich, instant + offset, &words)) {
        if (local)
            str_printf(&words, " (%s)", enrich->zone);
        char key[64];
        snprintf(key, sizeof key, "%s_words", name);
        put_text(enrich, object, key, local ? words.data : utc.data);
        snprintf(key, sizeof key, "%s_utc", name);
        put_text(enrich, object, key, utc.data);
    }
    str_free(&words);
    str_free(&utc);
}

static void put_duration(Enrich *enrich, json_t *object, const char *key, int64_t seconds) {
    int64_t numbers[3] = { seconds / SECONDS_PER_DAY, seconds % SECONDS_PER_DAY / 3600, seconds % 3600 / 60 };
    put_words(enrich, object, key, seconds < 60 ? "duration-short" : "duration", numbers, 3);
}

/* What any object may hold. */

static void add_code(Enrich *enrich, json_t *object) {
    char name[64], flag[70];
    if (!text_copy(name, sizeof name, get_text(object, "code")) || name[0] == 0)
        return;
    for (char *at = name; *at != 0; at++)
        if (*at == '_')
            *at = '-';
    snprintf(flag, sizeof flag, "is-%s", name);
    put_true(enrich, object, flag);
    put_true(enrich, object, name);
}

static void add_numbered(Enrich *enrich, json_t *object) {
    const json_t *number = json_object_get(object, "number");
    if (!json_is_integer(number))
        return;
    const char *san = get_text(object, "san");
    char label[32], text[96];
    snprintf(label, sizeof label, "%" JSON_INTEGER_FORMAT "%s", json_integer_value(number), json_is_true(json_object_get(object, "black")) ? "..." : ".");
    put_text(enrich, object, "label", label);
    if (*san != 0) {
        snprintf(text, sizeof text, "%s %.60s", label, san);
        put_text(enrich, object, "numbered", text);
    }
}

static void add_piece(Enrich *enrich, json_t *object, const char *key) {
    char entry[40], target[40];
    const char *piece = get_text(object, key);
    if (*piece == 0 || strlen(piece) > 20)
        return;
    snprintf(entry, sizeof entry, "piece-%s", piece);
    snprintf(target, sizeof target, "%s_name", key);
    put_words(enrich, object, target, entry, NULL, 0);
}

static void add_control(Enrich *enrich, json_t *object) {
    const char *control = get_text(object, "control");
    if (*control == 0)
        return;
    char *end;
    int64_t numbers[2] = { strtol(control, &end, 10), 0 };
    if (strcmp(control, "none") == 0) {
        put_words(enrich, object, "control_words", "control-none", NULL, 0);
    } else if (end != control && strcmp(end, "d/move") == 0) {
        put_words(enrich, object, "control_words", "control-each", numbers, 1);
    } else if (end != control && *end == '/') {
        numbers[1] = strtol(end + 1, &end, 10);
        if (strcmp(end, "d") == 0)
            put_words(enrich, object, "control_words", "control-moves", numbers, 2);
        if (strcmp(end, "d") == 0)
            put_words(enrich, object, "control_rules", "control-moves-rules", numbers, 2);
    }
    if (json_object_get(object, "control_words") == NULL)
        put_text(enrich, object, "control_words", control);
}

/* "NAME_words": the list's parts in one line, each quoted, so that none stands alone on it. */
static void add_joined(Enrich *enrich, json_t *object, const char *name) {
    const json_t *list = json_object_get(object, name);
    if (!json_is_array(list) || json_array_size(list) == 0)
        return;
    Str joined;
    str_init(&joined, 4096);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *part = json_array_get(list, i);
        const char *text = json_is_string(part) ? json_string_value(part) : get_text(part, "san");
        str_printf(&joined, "%s\"%s\"", i == 0 ? "" : ", ", text);
        const char *form = get_text(part, "long");
        bool becomes = strchr(text, '=') != NULL; /* four of them stand in a row, told apart by their ends */
        if (*form != 0 && strcmp(form, text) != 0 && !becomes)
            str_printf(&joined, " (%s)", form);
    }
    char key[64];
    snprintf(key, sizeof key, "%s_words", name);
    put_text(enrich, object, key, joined.data);
    str_free(&joined);
}

static void add_cause(Enrich *enrich, json_t *fault) {
    static const char *const squares[] = { "cause", "attacker", "square2" };
    static const char *const pieces[] = { "cause_piece", "attacker_piece" };
    for (size_t i = 0; i < 3; i++)
        if (*get_text(fault, squares[i]) != 0) {
            put_text(enrich, fault, "cause", get_text(fault, squares[i]));
            break;
        }
    for (size_t i = 0; i < 2; i++)
        if (*get_text(fault, pieces[i]) != 0) {
            put_text(enrich, fault, "cause_piece", get_text(fault, pieces[i]));
            break;
        }
}

/* "days" and "hours" as counted words. */
static void add_counts(Enrich *enrich, json_t *object) {
    static const char *const counts[] = { "days", "hours" };
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const json_t *count = json_object_get(object, counts[i]);
        int64_t number = json_integer_value(count);
        char key[32];
        snprintf(key, sizeof key, "%s_words", counts[i]);
        if (json_is_integer(count))
            put_words(enrich, object, key, counts[i], &number, 1);
    }
}

static void add_lists(Enrich *enrich, json_t *object) {
    static const char *const lists[] = { "outcomes", "readings", "candidates", "games", "lines", "remark", "moves", "remark_lines", "board", "score" };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        char key[64];
        snprintf(key, sizeof key, "has_%s", lists[i]);
        if (json_array_size(json_object_get(object, lists[i])) > 0)
            put_true(enrich, object, key);
    }
}

static void add_side(Enrich *enrich, json_t *object, const char *key, const char *if_white, const char *if_black) {
    const char *side = get_text(object, key);
    if (strcmp(side, "white") == 0)
        put_true(enrich, object, if_white);
    if (strcmp(side, "black") == 0)
        put_true(enrich, object, if_black);
}

static void add_common(Enrich *enrich, json_t *object) {
    static const char *const dates[] = { "at", "since", "date", "deadline", "started", "until" };
    for (size_t i = 0; i < sizeof dates / sizeof dates[0]; i++)
        add_date(enrich, object, dates[i]);
    add_code(enrich, object);
    add_numbered(enrich, object);
    if (*get_text(object, "long") != 0 && strcmp(get_text(object, "long"), get_text(object, "san")) != 0)
        put_text(enrich, object, "long_form", get_text(object, "long"));
    add_piece(enrich, object, "piece");
    add_piece(enrich, object, "cause_piece");
    add_control(enrich, object);
    add_counts(enrich, object);
    add_joined(enrich, object, "lines");
    add_joined(enrich, object, "readings");
    add_joined(enrich, object, "candidates");
    add_side(enrich, object, "you", "is_white", "is_black");
    add_side(enrich, object, "turn", "turn_white", "turn_black");
    char meant[80];
    snprintf(meant, sizeof meant, "meant-%.60s", get_text(object, "meant"));
    if (meant[6] != 0)
        put_true(enrich, object, meant);
    const json_t *late = json_object_get(object, "late");
    if (json_is_integer(late) && json_integer_value(late) <= 0)
        json_object_del(object, "late");
    else if (json_is_integer(late))
        put_duration(enrich, object, "late_words", json_integer_value(late));
}

/* A game. */

static void add_board(Enrich *enrich, json_t *game) {
    char lines[BOARD_LINES][BOARD_LINE_SIZE];
    if (!board_text(get_text(game, "squares"), strcmp(get_text(game, "you"), "black") == 0, lines))
        return;
    json_t *list = json_array();
    for (int i = 0; i < BOARD_LINES; i++)
        json_array_append_new(list, json_string(lines[i]));
    put(enrich, game, "board", list);
}

static void put_lines(Enrich *enrich, json_t *object, const char *key, const char *text) {
    json_t *list = json_array();
    for (; *text != 0; text += strcspn(text, "\n"), text += *text == '\n')
        json_array_append_new(list, json_stringn(text, strcspn(text, "\n")));
    put(enrich, object, key, list);
}

/* "| 1. e4 e5 2. Nf3", each line behind its bar so that trimming takes it for ours. Number and move stay together. */
static void add_score(Enrich *enrich, json_t *game) {
    const json_t *moves = json_object_get(game, "moves");
    size_t count = json_array_size(moves);
    json_int_t number = json_integer_value(json_object_get(game, "first_number"));
    bool black = json_is_true(json_object_get(game, "first_black"));
    if (count == 0)
        return;
    if (number < 1)
        number = 1;
    Str out;
    str_init(&out, 64 + 40 * count);
    size_t width = 0;
    for (size_t i = 0; i < count; i++) {
        const char *san = json_string_value(json_array_get(moves, i));
        char part[64];
        if (!black || i == 0)
            snprintf(part, sizeof part, "%" JSON_INTEGER_FORMAT "%s %.20s", number, black ? "..." : ".", san == NULL ? "?" : san);
        else
            snprintf(part, sizeof part, "%.20s", san == NULL ? "?" : san);
        if (width > 0 && width + 1 + strlen(part) > OUR_LINE_WIDTH) {
            str_append_char(&out, '\n');
            width = 0;
        }
        str_printf(&out, width == 0 ? "| %s" : " %s", part);
        width += strlen(part) + (width == 0 ? 2 : 1);
        number += black;
        black = !black;
    }
    put_lines(enrich, game, "score", out.data);
    str_free(&out);
}

static void add_clock(Enrich *enrich, json_t *clock) {
    if (!json_is_object(clock))
        return;
    const json_t *days = json_object_get(clock, "left_days");
    const json_t *seconds = json_object_get(clock, "left_seconds");
    const json_t *moves = json_object_get(clock, "moves_left");
    int64_t numbers[2] = { json_integer_value(days), json_integer_value(moves) };
    bool exact = json_is_true(json_object_get(clock, "exact"));
    int64_t left = exact ? json_integer_value(seconds) : numbers[0] * SECONDS_PER_DAY;
    if (left < 0 || (exact && left == 0)) {
        put_words(enrich, clock, "left_words", "clock-none", NULL, 0);
    } else if (exact) {
        put_duration(enrich, clock, "left_words", left);
    } else {
        put_words(enrich, clock, "left_words", json_integer_value(moves) > 0 ? "clock-days-moves" : "clock-days", numbers, 2);
    }
}

static void add_result(Enrich *enrich, json_t *game) {
    const char *result = get_text(game, "result");
    const char *winner = strcmp(result, "1-0") == 0 ? "white" : strcmp(result, "0-1") == 0 ? "black" : NULL;
    if (winner != NULL) {
        put_text(enrich, game, "winner", get_text(game, winner));
        put_text(enrich, game, "loser", get_text(game, winner[0] == 'w' ? "black" : "white"));
        put_true(enrich, game, strcmp(get_text(game, "you"), winner) == 0 ? "you_won" : "you_lost");
    }
    if (strcmp(result, "1/2-1/2") == 0)
        put_true(enrich, game, "drawn");
    char flag[64];
    snprintf(flag, sizeof flag, "end-%.40s", get_text(game, "reason"));
    for (char *at = flag; *at != 0; at++)
        if (*at == '_')
            *at = '-';
    put_true(enrich, game, flag);
}

static void add_game(Enrich *enrich, json_t *game) {
    add_board(enrich, game);
    add_score(enrich, game);
    bool over = json_is_true(json_object_get(game, "over"));
    bool black_to_move = strcmp(get_text(game, "turn"), "black") == 0;
    put_text(enrich, game, "turn_name", get_text(game, black_to_move ? "black" : "white"));
    if (over)
        add_result(enrich, game);
    if (over || !json_is_true(json_object_get(game, "your_move")))
        json_object_del(game, "your_move");
    if (!over && json_object_get(game, "your_move") == NULL)
        put_true(enrich, game, "waiting");
    const char *offer = get_text(game, "offer");
    if (strcmp(offer, "mine") == 0 || strcmp(offer, "theirs") == 0)
        put_true(enrich, game, offer[0] == 'm' ? "offer_mine" : "offer_theirs");
    char example[64];
    json_int_t number = json_integer_value(json_object_get(game, "move_number"));
    if (number > 0) {
        const char *move = get_text(game, "example_move");
        snprintf(example, sizeof example, "%" JSON_INTEGER_FORMAT "%s %s", number, black_to_move ? "..." : ".",
                 move[0] != 0 ? move : black_to_move ? "Nf6" : "Nf3");
        put_text(enrich, game, "example", example);
    }
    if (strcmp(get_text(game, "control"), "none") == 0)
        json_object_del(game, "clocks");
    json_t *clocks = json_object_get(game, "clocks");
    add_clock(enrich, json_object_get(clocks, "white"));
    add_clock(enrich, json_object_get(clocks, "black"));
}

/* "Your time began … + 21 × 24 hours = …": whole days as such, else days, hours and minutes. */
static void add_sum(Enrich *enrich, json_t *deadline) {
    Instant at, since;
    if (!instant_read(get_text(deadline, "at"), &at) || !instant_read(get_text(deadline, "since"), &since) || at <= since)
        return;
    int64_t days = (at - since) / SECONDS_PER_DAY;
    if ((at - since) % SECONDS_PER_DAY == 0)
        put_words(enrich, deadline, "sum", "days-of-24-hours", &days, 1);
    else
        put_duration(enrich, deadline, "sum", at - since);
}

static void add_remark(Enrich *enrich, json_t *view) {
    const json_t *remark = json_object_get(view, "remark");
    if (json_array_size(remark) == 0)
        return;
    Str out;
    str_init(&out, 4 * 1024 * 1024);
    for (size_t i = 0; i < json_array_size(remark); i++) {
        const char *line = json_string_value(json_array_get(remark, i));
        layout_prefixed(line == NULL ? "" : line, "| ", OUR_LINE_WIDTH, &out);
    }
    put_lines(enrich, view, "remark_lines", out.data);
    str_free(&out);
}

static void walk(Enrich *enrich, json_t *value) {
    size_t index;
    json_t *member;
    const char *name;
    if (json_is_array(value)) {
        json_array_foreach(value, index, member)
            walk(enrich, member);
        return;
    }
    if (!json_is_object(value))
        return;
    json_object_foreach(value, name, member)
        walk(enrich, member);
    add_cause(enrich, json_object_get(value, "fault"));
    json_t *fault = json_object_get(value, "fault");
    add_common(enrich, fault);
    if (json_object_get(fault, "candidates") != NULL && json_object_get(value, "candidates") == NULL)
        put(enrich, value, "candidates", json_incref(json_object_get(fault, "candidates")));
    json_t *first = json_array_get(json_object_get(value, "games"), 0);
    if (first != NULL)
        put(enrich, value, "first_id", json_deep_copy(json_object_get(first, "id")));
    add_common(enrich, value);
}

json_t *view_enrich(const Templates *templates, const json_t *view, Error *error) {
    json_t *copy = clean_copy(view, "", 0);
    if (!json_is_object(copy)) {
        json_decref(copy);
        error_set(error, ERROR_INPUT, 0, "A letter's view is no object, or is nested too deeply.");
        return NULL;
    }
    const json_t *player = json_object_get(copy, "player");
    const char *zone = get_text(player, "zone");
    Enrich enrich = { .templates = templates, .language = get_text(player, "language"), .zone = zone };
    if (!templates_have_language(templates, enrich.language))
        enrich.language = "en";
    if (!zone_known(zone) || strcmp(zone, "UTC") == 0 || strcmp(zone, "Etc/UTC") == 0)
        enrich.zone = NULL;

    walk(&enrich, copy);
    json_t *game = json_object_get(copy, "game");
    if (json_is_object(game)) {
        add_game(&enrich, game);
        add_lists(&enrich, game);
    }
    json_t *deadline = json_object_get(copy, "deadline");
    if (json_is_object(deadline)) {
        add_sum(&enrich, deadline);
        if (enrich.zone == NULL)
            put_true(&enrich, deadline, "zone_utc");
    }
    add_remark(&enrich, copy);
    add_lists(&enrich, copy);
    size_t index;
    json_t *outcome;
    json_array_foreach(json_object_get(copy, "outcomes"), index, outcome) {
        add_lists(&enrich, outcome);
        /* a number here would hide the view's own "game" from the template */
        if (json_is_integer(json_object_get(outcome, "game"))) {
            put(&enrich, outcome, "game_id", json_incref(json_object_get(outcome, "game")));
            json_object_del(outcome, "game");
        }
    }
    char flag[64];
    snprintf(flag, sizeof flag, "is-%.50s", get_text(copy, "kind"));
    put_true(&enrich, copy, flag);
    if (enrich.dates != NULL)
        udat_close(enrich.dates);
    if (enrich.failed) {
        json_decref(copy);
        error_set(error, ERROR_LATER, 0, "There is no memory for a letter's view.");
        return NULL;
    }
    return copy;
}
