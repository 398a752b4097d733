#include "daemon/outbox/view.h"

#include "core/base/instant.h"
#include "core/chess/fen.h"
#include "core/notation/notation.h"
#include "core/notation/pgn.h"
#include "daemon/outbox/enrich.h"
#include "daemon/outbox/layout.h"
#include "daemon/outbox/score.h"

#include <cmark.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LETTER_MAX = 4 * 1024 * 1024, /* of a rendered part; a game of 6,000 moves is 60 kB */
    SUBJECT_MAX = 400,
};

static const char *get_text(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text == NULL ? "" : text;
}

/* Blanks at lines' ends would be hard breaks in Markdown and joints in format=flowed. */
static void trim_lines(Str *text) {
    size_t to = 0;
    for (size_t at = 0; at < text->length; at++) {
        if (text->data[at] == '\n')
            while (to > 0 && (text->data[to - 1] == ' ' || text->data[to - 1] == '\t'))
                to--;
        text->data[to++] = text->data[at];
    }
    str_truncate(text, to);
}

static int render_subject(const Templates *templates, const char *language, const json_t *view, char **ret_subject, Error *error) {
    Str raw, line;
    str_init(&raw, 8192);
    str_init(&line, SUBJECT_MAX);
    int result = template_render(templates, language, "subject", view, ESCAPE_NONE, &raw, error);
    for (const char *word = raw.data; result == 0 && *word != 0;) {
        word += strspn(word, " \t\r\n");
        size_t length = strcspn(word, " \t\r\n");
        if (length > 0 && line.length > 0)
            str_append_char(&line, ' ');
        str_append_bytes(&line, word, length);
        word += length;
    }
    if (result == 0 && (*ret_subject = str_take(&line)) == NULL)
        result = error_set(error, ERROR_INPUT, 0, "A letter's subject is longer than %d bytes.", SUBJECT_MAX);
    str_free(&raw);
    str_free(&line);
    return result;
}

static int render_text(const Templates *templates, const char *language, const json_t *view, char **ret_text, Error *error) {
    Str raw, commands, text;
    str_init(&raw, LETTER_MAX);
    str_init(&commands, 8192);
    str_init(&text, LETTER_MAX);
    int result = template_render(templates, language, get_text(view, "kind"), view, ESCAPE_NONE, &raw, error);
    if (result == 0)
        result = words_format(templates, "en", "commands", NULL, 0, &commands, error);
    if (result == 0 && strcmp(language, "en") != 0) {
        str_append_char(&commands, ' ');
        words_format(templates, language, "commands", NULL, 0, &commands, NULL);
    }
    if (result == 0 && (!layout_text(raw.data, commands.data, &text) || (*ret_text = str_take(&text)) == NULL))
        result = error_set(error, ERROR_INPUT, 0, "A letter is longer than %d bytes.", LETTER_MAX);
    str_free(&raw);
    str_free(&commands);
    str_free(&text);
    return result;
}

static void append_html(Str *out, const char *text) {
    for (; *text != 0; text++) {
        switch (*text) {
        case '&': str_append(out, "&amp;"); break;
        case '<': str_append(out, "&lt;"); break;
        case '>': str_append(out, "&gt;"); break;
        case '"': str_append(out, "&quot;"); break;
        default: str_append_char(out, *text);
        }
    }
}

/* Large letters and a fixed pitch for the board are all the style a letter needs. */
static int render_html(const Templates *templates, const char *language, const json_t *view, const char *subject, char **ret_html, Error *error) {
    Str raw, html;
    str_init(&raw, LETTER_MAX);
    str_init(&html, LETTER_MAX);
    int result = template_render(templates, language, get_text(view, "kind"), view, ESCAPE_MARKDOWN, &raw, error);
    char *body = NULL;
    if (result == 0) {
        trim_lines(&raw);
        body = cmark_markdown_to_html(raw.data, raw.length, CMARK_OPT_SAFE | CMARK_OPT_VALIDATE_UTF8);
        str_append(&html, "<!DOCTYPE html>\n<html lang=\"");
        append_html(&html, language);
        str_append(&html, "\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
        append_html(&html, subject);
        str_append(&html, "</title>\n<style>\nbody { font-size: 17px; line-height: 1.45; max-width: 42em; }\n"
                          "pre { font-size: 16px; line-height: 1.35; }\n</style>\n</head>\n<body>\n");
        str_append(&html, body == NULL ? "" : body);
        str_append(&html, "</body>\n</html>\n");
        if (body == NULL || (*ret_html = str_take(&html)) == NULL)
            result = error_set(error, ERROR_INPUT, 0, "A letter is longer than %d bytes.", LETTER_MAX);
    }
    free(body);
    str_free(&raw);
    str_free(&html);
    return result;
}

/* PGN. */

static bool wants_pgn(const json_t *view) {
    const json_t *game = json_object_get(view, "game");
    if (!json_is_object(game))
        return false;
    if (json_is_true(json_object_get(game, "over")))
        return true;
    size_t index;
    const json_t *outcome;
    json_array_foreach(json_object_get(view, "outcomes"), index, outcome)
        if (strcmp(get_text(outcome, "code"), "pgn") == 0)
            return true;
    return false;
}

/* Replays the view's moves; no attachment (NULL) if they do not make a game from its start, which the store's own checks
 * exclude: a letter goes out without rather than not at all. */
static char *build_pgn(const json_t *view) {
    const json_t *game = json_object_get(view, "game");
    const json_t *service = json_object_get(view, "service");
    const json_t *list = json_object_get(game, "moves");
    size_t count = json_array_size(list);
    Position start, position;
    position_start(&start);
    const char *fen = get_text(game, "fen");
    unsigned flags = json_object_get(game, "chess960") != NULL ? FEN_CHESS960 : 0u;
    if ((*fen != 0 && !fen_read(fen, flags, &start, NULL)) || count > PGN_PLIES_MAX)
        return NULL;
    Move *moves = calloc(count + 1, sizeof *moves);
    if (moves == NULL)
        return NULL;
    position = start;
    char *text = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *san = json_string_value(json_array_get(list, i));
        Reading reading;
        notation_read(&position, san == NULL ? "" : san, 0, &reading);
        if (reading.kind != READING_MOVE)
            goto done;
        moves[i] = reading.move;
        position_move(&position, &position, reading.move);
    }
    Instant began;
    if (!instant_read(get_text(game, "created"), &began))
        began = INSTANT_NONE;
    bool over = json_is_true(json_object_get(game, "over"));
    const Score score = { .id = json_integer_value(json_object_get(game, "id")), .service = get_text(service, "name"),
                          .address = get_text(service, "address"), .white = get_text(game, "white"), .black = get_text(game, "black"),
                          .control = get_text(game, "control"), .result = over ? get_text(game, "result") : NULL,
                          .reason = over ? get_text(game, "reason") : NULL, .began = began, .start = &start, .moves = moves,
                          .move_count = count };
    Str out;
    str_init(&out, LETTER_MAX);
    if (score_write(&out, &score))
        text = str_take(&out);
    str_free(&out);
done:
    free(moves);
    return text;
}

int view_render(const Templates *templates, const json_t *view, RenderedLetter *ret_letter, Error *error) {
    json_t *full = view_enrich(templates, view, error);
    if (full == NULL)
        return -1;
    RenderedLetter letter = { 0 };
    const char *language = get_text(json_object_get(full, "player"), "language");
    if (!templates_have_language(templates, language))
        language = "en";
    int result = render_subject(templates, language, full, &letter.subject, error);
    if (result == 0)
        result = render_text(templates, language, full, &letter.text, error);
    if (result == 0)
        result = render_html(templates, language, full, letter.subject, &letter.html, error);
    if (result == 0 && wants_pgn(full))
        letter.pgn = build_pgn(full);
    json_decref(full);
    if (result == 0)
        *ret_letter = letter;
    else
        rendered_letter_free(&letter);
    return result;
}

void rendered_letter_free(RenderedLetter *letter) {
    if (letter == NULL)
        return;
    free(letter->subject);
    free(letter->text);
    free(letter->html);
    free(letter->pgn);
    *letter = (RenderedLetter){ 0 };
}
