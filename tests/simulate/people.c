#include "tests/simulate/people.h"

#include "core/chess/movegen.h"
#include "core/notation/notation.h"
#include "tests/simulate/prng.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TEXT_SIZE = 64 * 1024 };

static const char *const first_names[EVERYBODY] = {"Anna", "Bella", "Cesar", "David", "Eva", "Felix", "Gustav", "Hector", "Irma", "Jonas",
                                                   "Kuno", "Lena"};

typedef enum PostWay { POST_ANSWER, POST_UNPROVEN, POST_FORGED } PostWay;

static __attribute__((format(printf, 2, 3))) void complain(People *people, const char *format, ...) {
    if (people->complaint[0])
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(people->complaint, sizeof people->complaint, format, arguments);
    va_end(arguments);
}

static uint64_t dice(People *people, uint64_t below) {
    return prng_below(&people->outside->random, below);
}

void people_begin(People *people, Outside *outside) {
    *people = (People){.outside = outside, .seen = calloc(SENDINGS_MAX, sizeof(bool))};
    if (!people->seen)
        abort();
    for (int p = 0; p < EVERYBODY; p++) {
        snprintf(people->names[p], sizeof people->names[p], "%s Muster", first_names[p]);
        snprintf(people->addresses[p], sizeof people->addresses[p], "%c%s@%c%d.example", first_names[p][0] | 32, first_names[p] + 1,
                 p < PEOPLE ? 'p' : 'n', p);
    }
    for (int g = 0; g < GAMES; g++) {
        SimulatedGame *game = &people->games[g];
        game->players[WHITE] = g;
        game->players[BLACK] = (g + 1 + (int)dice(people, PEOPLE - 1)) % PEOPLE;
        for (int c = 0; c < 2; c++)
            game->sides[c] = (Side){.asked = -1, .sent_for = -1};
    }
}

void people_end(People *people) {
    free(people->seen);
    people->seen = NULL;
}

/* --- reading letters: just enough of MIME for the service's own form --- */

void letter_field(const char *raw, const char *end, const char *name, char *ret, size_t size) {
    size_t length = strlen(name), at = 0;
    ret[0] = 0;
    for (const char *line = raw; line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next + 1 : end;
        if (next - line <= 2)
            return;
        if ((size_t)(next - line) > length && !strncasecmp(line, name, length) && line[length] == ':') {
            const char *value = line + length + 1;
            for (;;) {
                while (value < next && (*value == ' ' || *value == '\t'))
                    value++;
                for (; value < next && *value != '\r' && *value != '\n' && at + 2 < size; value++)
                    ret[at++] = *value;
                if (next >= end || (*next != ' ' && *next != '\t'))
                    break;
                if (at + 2 < size)
                    ret[at++] = ' ';
                value = next;
                next = memchr(next, '\n', (size_t)(end - next));
                next = next ? next + 1 : end;
            }
            ret[at] = 0;
            return;
        }
        line = next;
    }
}

static int hex(char byte) {
    if (byte >= '0' && byte <= '9')
        return byte - '0';
    return byte >= 'A' && byte <= 'F' ? byte - 'A' + 10 : -1;
}

/* The text part, decoded if quoted-printable. */
static void text_part(const char *raw, const char *end, char ret[TEXT_SIZE]) {
    ret[0] = 0;
    const char *part = raw;
    char kind[200], encoding[40];
    for (;;) { /* the header of the letter, then of each part */
        letter_field(part, end, "Content-Type", kind, sizeof kind);
        if (!strncasecmp(kind, "text/plain", 10))
            break;
        const char *next = memmem(part, (size_t)(end - part), "\r\n--", 4);
        if (!next)
            return;
        next = memchr(next + 4, '\n', (size_t)(end - next - 4));
        if (!next)
            return;
        part = next + 1;
    }
    letter_field(part, end, "Content-Transfer-Encoding", encoding, sizeof encoding);
    bool quoted = !strcasecmp(encoding, "quoted-printable");
    const char *body = memmem(part, (size_t)(end - part), "\r\n\r\n", 4);
    if (!body)
        return;
    body += 4;
    const char *stop = memmem(body, (size_t)(end - body), "\r\n--", 4);
    size_t at = 0;
    for (const char *byte = body; byte < (stop ? stop : end) && at + 1 < TEXT_SIZE; byte++) {
        if (*byte == '\r')
            continue;
        if (quoted && *byte == '=' && end - byte > 2) {
            if (byte[1] == '\r' || byte[1] == '\n') {
                byte += byte[1] == '\r' ? 2 : 1;
                continue;
            }
            if (hex(byte[1]) >= 0 && hex(byte[2]) >= 0) {
                ret[at++] = (char)(hex(byte[1]) * 16 + hex(byte[2]));
                byte += 2;
                continue;
            }
        }
        ret[at++] = *byte;
    }
    ret[at] = 0;
}

/* Reads the lines "    | 1. e4 e5 …" behind the score's heading. Number of plies, -1 if the letter has no score. */
static int score_read(const char *text, char ret_score[][16], bool *ret_over) {
    const char *at = strstr(text, "The moves so far:"), *over = strstr(text, "All the moves, result ");
    *ret_over = over != NULL;
    if (over)
        at = over;
    if (!at)
        return strstr(text, " begins: ") ? 0 : -1;
    at = strchr(at, '\n');
    int plies = 0;
    bool begun = false;
    for (; at && *at; at = strchr(at, '\n')) {
        at++;
        const char *word = at + strspn(at, " ");
        if (*word != '|') {
            if (begun)
                break;
            continue;
        }
        begun = true;
        const char *stop = word + strcspn(word, "\n");
        for (word++; word < stop;) {
            word += strspn(word, " ");
            size_t length = strcspn(word, " \n");
            if (length && length < 16 && word[length - 1] != '.' && plies < PLIES_SEEN_MAX) {
                snprintf(ret_score[plies], 16, "%.*s", (int)length, word);
                plies++;
            }
            word += length;
            if (!length)
                break;
        }
    }
    return plies;
}

/* --- writing --- */

static Instant delay(People *people) {
    return people->outside->now + (Instant)(dice(people, 3) ? dice(people, 1800) : dice(people, 20 * 3600));
}

static void post(People *people, int player, int answered, const char *body, PostWay way) {
    Outside *outside = people->outside;
    bool forged = way == POST_FORGED, proven = way == POST_ANSWER;
    char raw[4096], id[MESSAGE_ID_SIZE], date[INSTANT_TEXT_SIZE + 16], reply_to[200] = "chess@club.example", subject[300] = "chess";
    if (answered >= 0) {
        const Sending *sending = &outside->sendings[answered];
        const char *letter = outside->pool + sending->offset, *end = letter + sending->length;
        if (proven)
            letter_field(letter, end, "Reply-To", reply_to, sizeof reply_to);
        letter_field(letter, end, "Subject", subject, sizeof subject);
    }
    snprintf(id, sizeof id, "%d.%s", ++people->letters_sent, people->addresses[player]);
    instant_write_mail(outside->now, date);
    int length = snprintf(raw, sizeof raw,
                          "From: %s <%s>\r\nTo: %s\r\nSubject: Re: %s\r\nDate: %s\r\nMessage-ID: <%s>\r\n%s%s%s"
                          "MIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n%s\r\n",
                          people->names[player], people->addresses[player], reply_to, subject, date, id,
                          answered >= 0 && proven ? "In-Reply-To: <" : "", answered >= 0 && proven ? outside->sendings[answered].id : "",
                          answered >= 0 && proven ? ">\r\n" : "", body);
    int index = outside_post(outside, raw, (size_t)length, id, delay(people), -1, forged);
    while (!forged && index >= 0 && dice(people, 12) == 0) /* delivered once more, by whatever relay */
        outside_post(outside, raw, (size_t)length, id, delay(people), index, false);
}

/* Letters that ask for an answer beside the games. True if it was one. */
static bool letter_special(People *people, int player, int index, const char *text) {
    if (strstr(text, "Did you write it?")) {
        for (int g = 0; g < GAMES; g++)
            for (int c = 0; c < 2; c++) {
                Side *side = &people->games[g].sides[c];
                char told[48];
                /* the present one: an old question may come again, with the answer to a copy */
                snprintf(told, sizeof told, "game %lld: %d.", (long long)people->games[g].id, side->sent_for / 2 + 1);
                if (people->games[g].players[c] != player || !side->unproven || !strstr(text, told))
                    continue;
                side->unproven = false;
                post(people, player, index, "confirm", POST_ANSWER);
            }
        return true;
    }
    Newcomer *newcomer = player >= PEOPLE ? &people->newcomers[player - PEOPLE] : NULL;
    if (newcomer && strstr(text, "Somebody, we hope you,")) {
        if (newcomer->step == NEW_WRITTEN)
            post(people, player, index, "confirm", POST_ANSWER), newcomer->step = NEW_CONFIRMED;
        return true;
    }
    if (newcomer && strstr(text, "Welcome! You are entered")) {
        char body[80];
        snprintf(body, sizeof body, "challenge %s", people->names[dice(people, PEOPLE)]);
        if (newcomer->step == NEW_CONFIRMED)
            post(people, player, index, body, POST_ANSWER), newcomer->step = NEW_INVITING;
        return true;
    }
    if (!strstr(text, " invites you to a game"))
        return false;
    for (int n = 0; n < NEWCOMERS; n++)
        if (strstr(text, people->names[PEOPLE + n]) && people->newcomers[n].step == NEW_INVITING) {
            people->newcomers[n].step = dice(people, 3) ? NEW_ACCEPTED : NEW_DECLINED;
            post(people, player, index, people->newcomers[n].step == NEW_ACCEPTED ? "accept" : "decline", POST_ANSWER);
        }
    return true;
}

static void letter_read_by(People *people, int player, int index) {
    static char text[TEXT_SIZE];
    static char score[PLIES_SEEN_MAX][16];
    const Sending *sending = &people->outside->sendings[index];
    const char *raw = people->outside->pool + sending->offset, *end = raw + sending->length;
    char subject[300];
    text_part(raw, end, text);
    if (letter_special(people, player, index, text))
        return;
    letter_field(raw, end, "Subject", subject, sizeof subject);
    const char *tag = strchr(subject, '#');
    if (!tag)
        return;
    int64_t id = strtoll(tag + 1, NULL, 10);
    for (int g = 0; g < GAMES; g++) {
        SimulatedGame *game = &people->games[g];
        if (game->id != id)
            continue;
        int colour = game->players[WHITE] == player ? WHITE : game->players[BLACK] == player ? BLACK : -1;
        if (colour < 0) {
            complain(people, "%s was sent a letter of game %lld, which is not his", people->names[player], (long long)id);
            return;
        }
        bool over;
        int plies = score_read(text, score, &over);
        if (plies < 0)
            return;
        int known = game->sides[WHITE].seen > game->sides[BLACK].seen ? game->sides[WHITE].seen : game->sides[BLACK].seen;
        for (int i = 0; i < plies; i++) {
            if (i < known && strcmp(game->score[i], score[i]))
                complain(people, "game %lld ply %d was told as %s and as %s", (long long)id, i + 1, game->score[i], score[i]);
            if (i >= known)
                memcpy(game->score[i], score[i], sizeof score[i]);
        }
        Side *side = &game->sides[colour];
        if (over)
            side->over = true;
        if (plies > side->seen || (plies == side->seen && side->asked < 0)) {
            side->seen = plies;
            side->asked = plies % 2 == colour && !over ? index : -1;
            side->offered = side->asked >= 0 && strstr(text, "A draw is offered to you.");
        }
        return;
    }
}

void people_read(People *people) {
    Outside *outside = people->outside;
    for (size_t i = 0; i < outside->sending_count; i++) {
        const Sending *sending = &outside->sendings[i];
        if (people->seen[i] || sending->visible == INSTANT_NONE || sending->visible > outside->now)
            continue;
        people->seen[i] = true;
        for (int p = 0; p < EVERYBODY; p++)
            if (!strcmp(people->addresses[p], sending->to))
                letter_read_by(people, p, (int)i);
    }
}

bool people_waiting(const People *people) {
    for (size_t i = 0; i < people->outside->sending_count; i++)
        if (!people->seen[i] && people->outside->sendings[i].visible != INSTANT_NONE)
            return true;
    return false;
}

/* --- playing --- */

/* A random legal move in the position after the first `plies` plies of the score; false if there is none or the score is wrong. */
static bool choose_move(People *people, const SimulatedGame *game, int plies, char ret_san[NOTATION_MAX]) {
    Position position;
    position_start(&position);
    MoveList list;
    for (int i = 0; i < plies; i++) {
        bool found = false;
        char san[NOTATION_MAX];
        moves_legal(&position, &list);
        for (int m = 0; m < list.count && !found; m++) {
            notation_write(&position, list.moves[m], NOTATION_SAN, san);
            if (!strcmp(san, game->score[i])) {
                position_move(&position, &position, list.moves[m]);
                found = true;
            }
        }
        if (!found) {
            complain(people, "game %lld ply %d: %s is no legal move", (long long)game->id, i + 1, game->score[i]);
            return false;
        }
    }
    moves_legal(&position, &list);
    if (!list.count) {
        complain(people, "game %lld: asked for a move where there is none", (long long)game->id);
        return false;
    }
    moves_sort(&position, &list);
    notation_write(&position, list.moves[dice(people, (uint64_t)list.count)], NOTATION_SAN, ret_san);
    return true;
}

static void side_write(People *people, SimulatedGame *game, Colour colour) {
    Side *side = &game->sides[colour];
    int player = game->players[colour];
    if (side->asked < 0 || side->over || side->resigned || side->agreed || side->sent_for == side->seen || dice(people, 10) < 3)
        return;
    char san[NOTATION_MAX], body[600];
    if (side->seen > 6 && dice(people, 150) == 0) {
        post(people, player, side->asked, "resign", POST_ANSWER);
        side->resigned = true;
        return;
    }
    if (side->offered && dice(people, 2)) {
        post(people, player, side->asked, "accept", POST_ANSWER);
        side->agreed = true;
        return;
    }
    if (side->seen >= PLIES_SEEN_MAX - 2 || !choose_move(people, game, side->seen, san))
        return;
    if (dice(people, 15) == 0) { /* from memory: a new letter, not an answer */
        snprintf(body, sizeof body, "game %lld: %d.%s%s", (long long)game->id, side->seen / 2 + 1, colour == WHITE ? " " : "..", san);
        side->unproven = true;
        post(people, player, side->asked, body, POST_UNPROVEN);
    } else {
        snprintf(body, sizeof body, "%s%s\r\n\r\n%s\r\n\r\nOn %s you wrote:\r\n> It is your move; you have %s.\r\n> resign", san,
                 dice(people, 15) ? "" : " (=)", dice(people, 3) ? "Good luck with that." : "", "Mon, 2 Nov 2026", colour == WHITE ? "White" : "Black");
        post(people, player, side->asked, body, POST_ANSWER);
    }
    side->sent_for = side->seen;
    snprintf(game->sent[side->seen], sizeof game->sent[side->seen], "%.15s", san);
}

void people_write(People *people) {
    for (int n = 0; n < NEWCOMERS; n++)
        if (people->newcomers[n].step == NEW_OUTSIDE) {
            char body[80];
            snprintf(body, sizeof body, "register %s", people->names[PEOPLE + n]);
            post(people, PEOPLE + n, -1, body, POST_UNPROVEN);
            people->newcomers[n].step = NEW_WRITTEN;
        }
    for (int g = 0; g < GAMES; g++) {
        SimulatedGame *game = &people->games[g];
        for (int c = 0; c < 2; c++)
            side_write(people, game, (Colour)c);
        int c = (int)dice(people, 2), asked = game->sides[c].asked;
        if (asked >= 0 && dice(people, 40) == 0)
            post(people, game->players[c], asked, "board", POST_ANSWER);
        if (asked >= 0 && dice(people, 60) == 0)
            post(people, game->players[c], asked, "resign", POST_FORGED); /* somebody else, in his name, without his token */
    }
}
