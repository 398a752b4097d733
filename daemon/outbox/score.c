#include "daemon/outbox/score.h"

#include "core/game/clock.h"
#include "core/notation/pgn.h"

#include <stdio.h>
#include <string.h>

static void write_date(Instant began, char *text, size_t size) {
    if (began == INSTANT_NONE) {
        snprintf(text, size, "????.??.??");
        return;
    }
    CivilTime civil = instant_civil(began);
    snprintf(text, size, "%04u.%02u.%02u", (unsigned)civil.year % 10000, (unsigned)civil.month % 100, (unsigned)civil.day % 100);
}

static void write_time_control(const char *text, char *ret, size_t size) {
    Control control;
    if (control_read(text, &control, NULL) < 0) {
        snprintf(ret, size, "?");
        return;
    }
    long long seconds = (long long)control.days * SECONDS_PER_DAY;
    switch (control.kind) {
    case CONTROL_NONE: snprintf(ret, size, "-"); break;
    case CONTROL_MOVES_IN_DAYS: snprintf(ret, size, "%d/%lld", control.moves, seconds); break;
    case CONTROL_DAYS_PER_MOVE: snprintf(ret, size, "1/%lld", seconds); break;
    }
}

static const char *termination(const char *reason) {
    static const char *const words[][2] = {
        { "checkmate", "normal" }, { "resignation", "normal" },   { "agreement", "normal" },
        { "stalemate", "normal" }, { "dead-position", "normal" }, { "ruling", "adjudication" },
    };
    if (reason == NULL)
        return "unterminated";
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i][0], reason) == 0)
            return words[i][1];
    return NULL;
}

static const char *pgn_result(const char *result) {
    static const char *const results[] = { "1-0", "0-1", "1/2-1/2" };
    for (size_t i = 0; result != NULL && i < sizeof results / sizeof results[0]; i++)
        if (strcmp(result, results[i]) == 0)
            return results[i];
    return "*";
}

bool score_write(Str *out, const Score *score) {
    char date[16], control[64], name[80];
    write_date(score->began, date, sizeof date);
    write_time_control(score->control, control, sizeof control);
    size_t local = strcspn(score->address, "@");
    snprintf(name, sizeof name, "%.*s-%lld", local < 50 ? (int)local : 50, score->address, (long long)score->id);
    const char *end = termination(score->reason);
    PgnTag tags[] = {
        { "Event", score->service },     { "Site", score->address },    { "Date", date },
        { "Round", "-" },                { "White", score->white },     { "Black", score->black },
        { "Mode", "EM" },                { "TimeControl", control },    { "WhiteNA", score->address },
        { "BlackNA", score->address },   { "CmailGameName", name },     { "Termination", end },
    };
    const PgnGame game = { .tags = tags, .tag_count = sizeof tags / sizeof tags[0] - (end == NULL), .start = *score->start,
                           .moves = score->moves, .move_count = score->move_count, .result = pgn_result(score->result) };
    return pgn_write(out, &game);
}
