#include "daemon/store/verify.h"

#include <stdio.h>

/* Each query counts what must not be and names the first. A human letter that is settled has an outcome of each command, or was a
 * duplicate, or was passed over; raw bytes are dropped with age, so their lack is a fault only beside a younger letter's. */
static const struct {
    const char *sql, *what;
} checks[] = {
    { "SELECT count(*), min(id) FROM letter_in WHERE answer IS NOT NULL AND answer NOT IN (SELECT id FROM letter_out)",
      "letters in whose answer is missing" },
    { "SELECT count(*), min(id) FROM letter_in WHERE same_as IS NOT NULL AND same_as NOT IN (SELECT id FROM letter_in)",
      "letters in that repeat one which is missing" },
    { "SELECT count(*), min(id) FROM letter_in WHERE state = 'stored' AND id NOT IN (SELECT letter FROM raw_letter)",
      "letters not yet settled whose bytes are missing" },
    { "SELECT count(*), min(id) FROM letter_in WHERE id > (SELECT min(letter) FROM raw_letter) AND id NOT IN (SELECT letter FROM raw_letter)",
      "letters whose bytes are missing" },
    { "SELECT count(*), min(id) FROM letter_in WHERE kind = 'human' AND state = 'settled' AND outcome NOT IN ('ignored', 'set aside')"
      " AND id NOT IN (SELECT letter FROM outcome)",
      "settled letters without outcomes" },
    { "SELECT count(*), min(id) FROM letter_in WHERE state = 'awaiting' AND id NOT IN (SELECT letter FROM question WHERE kind = 'confirm' AND state = 'open')",
      "letters that await a confirmation nobody was asked for" },
    { "SELECT count(*), min(id) FROM question WHERE kind = 'confirm' AND state = 'open'"
      " AND letter NOT IN (SELECT id FROM letter_in WHERE state = 'awaiting')",
      "open questions whose letter does not wait" },
    { "SELECT count(*), min(id) FROM question WHERE kind = 'confirm' AND state = 'open' AND 'question ' || id NOT IN (SELECT subject FROM timer)",
      "open questions without a timer" },
    { "SELECT count(*), min(id) FROM registration WHERE state = 'open' AND 'registration ' || id NOT IN (SELECT subject FROM timer)",
      "open registrations without a timer" },
    { "SELECT count(*), min(id) FROM challenge WHERE state = 'open' AND 'challenge ' || id NOT IN (SELECT subject FROM timer)",
      "open challenges without a timer" },
    { "SELECT count(*), min(id) FROM letter_out WHERE scope = 'confirm' AND ask NOT IN (SELECT id FROM question)",
      "letters out that ask a question which is missing" },
    { "SELECT count(*), min(id) FROM letter_out WHERE cause IS NOT NULL AND cause NOT IN (SELECT id FROM letter_in)",
      "letters out whose cause is missing" },
    { "SELECT count(*), min(game) FROM entry WHERE kind = 'notice' AND NOT EXISTS"
      " (SELECT 1 FROM letter_out WHERE instr(entry.line, ' letter=' || letter_out.id || ' ') > 0 AND letter_out.game = entry.game)",
      "notices in the record of a game whose letter is missing" },
};

int verify_letters(Store *store, void (*complain)(void *data, const char *sentence), void *data, Error *error) {
    int faults = 0;
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
        sqlite3_stmt *row = NULL;
        if (store_query(store, error, &row, checks[i].sql, "") < 0)
            return -1;
        int64_t count = sqlite3_column_int64(row, 0), first = sqlite3_column_int64(row, 1);
        store_done(row);
        if (count == 0)
            continue;
        char sentence[300];
        snprintf(sentence, sizeof sentence, "%s: %lld, the first is %lld", checks[i].what, (long long)count, (long long)first);
        complain(data, sentence);
        faults++;
    }
    return faults;
}
