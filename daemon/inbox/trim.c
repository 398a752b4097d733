#include "daemon/inbox/trim.h"

#include "core/base/str.h"
#include "core/base/utf8.h"
#include "daemon/inbox/trim_lines.h"

#include <string.h>

/* What becomes of a line. Kept lines carry the number of the stretch between quotations that they stand in. */
enum { CUT = -1 };

typedef struct Trimmer {
    TrimLines lines;
    int *stretch; /* per line: number of its stretch, or CUT */
    int stretches;
    bool in_signature;
    bool stretch_begun; /* something stands in the current one */
} Trimmer;

static bool is_typographic_blank(uint32_t point) {
    return point == 0xa0 || (point >= 0x2000 && point <= 0x200a) || point == 0x202f || point == 0x205f || point == 0x3000;
}

static bool is_invisible(uint32_t point) {
    return point == 0xad || (point >= 0x200b && point <= 0x200f) || (point >= 0x202a && point <= 0x202e) ||
           (point >= 0x2060 && point <= 0x206f) || point == 0xfeff || point == 0x180e || point == 0x34f;
}

/* Blanks folded, invisible marks dropped, blanks at line ends cut; in the arena. */
static char *fold(Arena *arena, const char *text, size_t size) {
    char *folded = arena_alloc(arena, size + 1); /* folding never lengthens */
    size_t to = 0;
    for (size_t at = 0; folded != NULL && at < size;) {
        uint32_t point = 0xfffd;
        int length = utf8_next(text + at, size - at, &point);
        if (length == 0)
            length = 1;
        if (is_typographic_blank(point)) {
            folded[to++] = ' ';
        } else if (point == '\n') {
            while (to > 0 && (folded[to - 1] == ' ' || folded[to - 1] == '\t' || folded[to - 1] == '\r'))
                to--;
            folded[to++] = '\n';
        } else if (!is_invisible(point)) {
            memcpy(folded + to, text + at, (size_t)length);
            to += (size_t)length;
        }
        at += (size_t)length;
    }
    while (folded != NULL && to > 0 && (folded[to - 1] == ' ' || folded[to - 1] == '\t' || folded[to - 1] == '\r'))
        to--;
    if (folded != NULL)
        folded[to] = 0;
    return folded;
}

static bool split(Arena *arena, char *text, TrimLines *ret_lines) {
    size_t count = 1;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        count++;
    TrimLines lines = { arena_alloc(arena, count * sizeof *lines.text), 0 };
    if (lines.text == NULL)
        return false;
    for (char *line = text; line != NULL;) {
        lines.text[lines.count++] = line;
        line = strchr(line, '\n');
        if (line != NULL)
            *line++ = 0;
    }
    *ret_lines = lines;
    return true;
}

/* The next line at or below `at` that is not empty; count if there is none. */
static size_t next_full(const TrimLines *lines, size_t at) {
    while (at < lines->count && lines->text[at][0] == 0)
        at++;
    return at;
}

static bool quote_follows(const TrimLines *lines, size_t at) {
    size_t next = next_full(lines, at);
    return next < lines->count && trim_is_quote(lines->text[next]);
}

enum { BOARD_WITHIN = 20 /* lines: our letters show the board near their top */ };

static bool board_follows(const TrimLines *lines, size_t at) {
    for (size_t end = at + BOARD_WITHIN; at < end && at < lines->count; at++)
        if (trim_is_board(lines->text[at]))
            return true;
    return false;
}

/* Lines `from` up to `end` are not new; what comes below them is another stretch. */
static void cut_quotation(Trimmer *trimmer, size_t from, size_t end) {
    for (size_t i = from; i < end; i++)
        trimmer->stretch[i] = CUT;
    trimmer->stretches++;
    trimmer->in_signature = false;
    trimmer->stretch_begun = false;
}

/* The lines of the attribution that begins at `at`; 0 if none does. */
static size_t attribution_at(const TrimLines *lines, size_t at) {
    for (size_t end = at; end < lines->count && end < at + TRIM_ATTRIBUTION_LINES && lines->text[end][0] != 0; end++) {
        size_t begin = 0;
        TrimSurety surety = trim_attribution(lines, at, end, &begin);
        bool here = surety != TRIM_NO_ATTRIBUTION && begin == at;
        if (here && (surety == TRIM_SURE || quote_follows(lines, end + 1) || board_follows(lines, end + 1)))
            return end + 1 - at;
    }
    return 0;
}

/* PGP's armour around a clear-signed letter: its lines from `at` on, 0 if it is none. */
static size_t armour_at(const TrimLines *lines, size_t at) {
    size_t end = at;
    if (strcmp(lines->text[at], "-----BEGIN PGP SIGNED MESSAGE-----") == 0) {
        while (end < lines->count && lines->text[end][0] != 0)
            end++; /* "Hash: SHA256" */
    } else if (strcmp(lines->text[at], "-----BEGIN PGP SIGNATURE-----") == 0) {
        while (end < lines->count && strcmp(lines->text[end], "-----END PGP SIGNATURE-----") != 0)
            end++;
        end += end < lines->count;
    }
    return end - at;
}

/* A ruler belongs to what comes below it if that is a mail program's. */
static bool rule_over_quotation(const TrimLines *lines, size_t at) {
    size_t next = next_full(lines, at + 1);
    return next < lines->count && next <= at + 3 &&
           (trim_header_block(lines, next) > 0 || attribution_at(lines, next) > 0 || trim_is_quote(lines->text[next]) ||
            trim_marker(lines->text[next]) != TRIM_NO_MARKER);
}

enum { FOOTER_RULE = 30 /* a mailing list's or Outlook's line of underscores has 32 or more */ };

/* Judges the lines from `at` on; returns the first it did not judge. */
static size_t judge(Trimmer *trimmer, size_t at) {
    const TrimLines *lines = &trimmer->lines;
    const char *line = lines->text[at];
    if (trim_is_quote(line)) {
        cut_quotation(trimmer, at, at + 1);
        return at + 1;
    }
    size_t armour = armour_at(lines, at);
    if (armour > 0) {
        for (size_t i = 0; i < armour; i++)
            trimmer->stretch[at + i] = CUT;
        return at + armour;
    }
    size_t block = trim_header_block(lines, at);
    size_t taken = block > 0 ? block : attribution_at(lines, at);
    TrimMarker marker = taken > 0 ? TRIM_NO_MARKER : trim_marker(line);
    if (taken > 0 || marker != TRIM_NO_MARKER) {
        if (taken == 0)
            taken = 1;
        /* Quoted line by line, what is not quoted below counts; else all below is the old letter. */
        bool marked = marker != TRIM_ABOVE && quote_follows(lines, at + taken);
        size_t end = marked ? at + taken : lines->count;
        cut_quotation(trimmer, at, end);
        return end;
    }
    bool device = trim_is_device(line);
    bool footer = trim_is_rule(line) && strlen(line) >= FOOTER_RULE && line[0] == '_';
    if (trim_is_signature(line) || footer || (device && trimmer->stretch_begun))
        trimmer->in_signature = true;
    bool cut = trimmer->in_signature || device || (trim_is_rule(line) && rule_over_quotation(lines, at));
    trimmer->stretch[at] = cut ? CUT : trimmer->stretches;
    trimmer->stretch_begun |= !cut && *line != 0;
    return at + 1;
}

/* Is there anything in this stretch? */
static bool stretch_full(const Trimmer *trimmer, int stretch) {
    for (size_t i = 0; i < trimmer->lines.count; i++)
        if (trimmer->stretch[i] == stretch && trimmer->lines.text[i][0] != 0)
            return true;
    return false;
}

/* Appends the lines of one stretch, no empty lines at either end; behind the mark, if it is to bear one. */
static void append_stretch(const Trimmer *trimmer, size_t *at, int stretch, bool marked, Str *target) {
    size_t empty = 0;
    bool begun = false;
    for (; *at < trimmer->lines.count && trimmer->stretch[*at] <= stretch; ++*at) {
        const char *line = trimmer->lines.text[*at];
        if (trimmer->stretch[*at] != stretch)
            continue;
        if (*line == 0) {
            empty++;
            continue;
        }
        if (!begun && target->length > 0)
            str_append(target, "\n\n");
        else if (begun)
            str_append_repeated(target, '\n', 1 + empty);
        if (!begun && marked)
            str_append(target, TRIM_BETWEEN_MARK "\n");
        str_append(target, line);
        begun = true;
        empty = 0;
    }
}

/* Stretches stand in the order of their lines: one pass over all of them. */
static void append_marked(const Trimmer *trimmer, int first, int last, Str *target) {
    size_t at = 0;
    for (int stretch = first; stretch <= last; stretch++)
        append_stretch(trimmer, &at, stretch, true, target);
}

const char *trim_new_text(Arena *arena, const char *text) {
    Trimmer trimmer = { 0 };
    size_t size = strlen(text);
    char *folded = fold(arena, text, size);
    if (folded == NULL || !split(arena, folded, &trimmer.lines))
        return NULL;
    trimmer.stretch = arena_alloc(arena, trimmer.lines.count * sizeof *trimmer.stretch);
    if (trimmer.stretch == NULL)
        return NULL;
    for (size_t at = 0; at < trimmer.lines.count;)
        at = judge(&trimmer, at);
    int last = trimmer.stretches;
    size_t begin = 0;
    bool top = stretch_full(&trimmer, 0);
    Str result;
    str_init(&result, size + (trimmer.lines.count + 2) * (sizeof TRIM_BETWEEN_MARK + 2));
    /* Own text stands on top, or below what it answers. */
    append_stretch(&trimmer, &begin, top ? 0 : last, false, &result);
    append_marked(&trimmer, top ? 1 : 0, top ? last : last - 1, &result);
    const char *kept = arena_copy(arena, result.data, result.length);
    str_free(&result);
    return kept;
}
