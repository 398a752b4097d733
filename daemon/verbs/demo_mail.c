#include "daemon/verbs/demo_mail.h"

#include "daemon/inbox/header.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEMO_LETTERS_MAX = 16, DEMO_RAW_MAX = 1024 * 1024, DEMO_ARENA_MAX = 16 * 1024 * 1024 };

typedef struct Found {
    int64_t id; /* of the letter in the service's queue: the order of writing */
    char name[NAME_MAX + 1];
    DemoLetter letter;
} Found;

static int read_file(const char *path, Str *ret_raw, Error *error) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return error_set(error, ERROR_LATER, errno, "%s: %s", path, strerror(errno));
    char piece[8192];
    size_t taken;
    while ((taken = fread(piece, 1, sizeof piece, file)) > 0)
        str_append_bytes(ret_raw, piece, taken);
    fclose(file);
    return 0;
}

static void take_field(Arena *arena, const Header *header, const char *name, char ret_value[DEMO_FIELD_MAX]) {
    const char *value = header_field(header, name, 0);
    text_copy(ret_value, DEMO_FIELD_MAX, value == NULL ? "" : header_decode(arena, value));
}

/* "TOKEN@domain": which of the service's letters it is. */
static int64_t letter_number(const TokenKey *key, const char *message_id) {
    char token[TOKEN_SIZE];
    int64_t id = 0;
    if (*message_id == '<')
        message_id++;
    text_copy(token, sizeof token, message_id); /* cut before the @ */
    return token_names(key, token, &id) ? id : 0;
}

static int read_letter(const char *path, MimeReader *mime, DemoLetter *ret_letter, Error *error) {
    Arena arena;
    Str raw;
    Header header;
    MimeResult result;
    arena_init(&arena, DEMO_ARENA_MAX);
    str_init(&raw, DEMO_RAW_MAX);
    int done = read_file(path, &raw, error);
    if (done == 0 && !header_scan(&arena, raw.data, raw.length, &header))
        done = error_set(error, ERROR_LATER, 0, "no memory");
    if (done == 0) {
        take_field(&arena, &header, "From", ret_letter->from);
        take_field(&arena, &header, "To", ret_letter->to);
        take_field(&arena, &header, "Subject", ret_letter->subject);
        take_field(&arena, &header, "Date", ret_letter->date);
        take_field(&arena, &header, "Reply-To", ret_letter->reply_to);
        take_field(&arena, &header, "Message-ID", ret_letter->message_id);
        done = mime_reader_read(mime, &arena, raw.data, raw.length, &result, error);
    }
    if (done == 0)
        text_copy(ret_letter->text, sizeof ret_letter->text, result.kind == MIME_UNREADABLE ? result.why : result.text);
    str_free(&raw);
    arena_free(&arena);
    return done;
}

static int by_id(const void *left, const void *right) {
    const Found *one = left, *other = right;
    return one->id < other->id ? -1 : one->id > other->id;
}

static int file_as_read(const DemoPlayer *player, const char *name, Error *error) {
    char from[PATH_MAX + 300], to[PATH_MAX + 300];
    snprintf(from, sizeof from, "%s/new/%s", player->folder, name);
    snprintf(to, sizeof to, "%s/cur/%s:2,S", player->folder, name);
    if (rename(from, to) != 0)
        return error_set(error, ERROR_LATER, errno, "%s: %s", from, strerror(errno));
    return 0;
}

static int collect(const DemoPlayer *player, MimeReader *mime, const TokenKey *key, Found *found, Error *error) {
    char path[PATH_MAX + 300];
    int count = 0;
    snprintf(path, sizeof path, "%s/new", player->folder);
    DIR *folder = opendir(path);
    if (folder == NULL)
        return 0; /* made when the first letter goes there */
    for (struct dirent *entry; count >= 0 && count < DEMO_LETTERS_MAX && (entry = readdir(folder)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        text_copy(found[count].name, sizeof found[count].name, entry->d_name);
        snprintf(path, sizeof path, "%s/new/%s", player->folder, entry->d_name);
        if (read_letter(path, mime, &found[count].letter, error) < 0) {
            count = -1;
        } else {
            found[count].id = letter_number(key, found[count].letter.message_id);
            count++;
        }
    }
    closedir(folder);
    return count;
}

int demo_receive(DemoPlayer *player, MimeReader *mime, const TokenKey *key, void (*show)(const DemoPlayer *player, const DemoLetter *letter),
                 Error *error) {
    Found *found = calloc(DEMO_LETTERS_MAX, sizeof *found);
    if (found == NULL)
        return error_set(error, ERROR_LATER, 0, "no memory");
    int count = collect(player, mime, key, found, error);
    if (count > 1)
        qsort(found, (size_t)count, sizeof *found, by_id);
    for (int i = 0; i < count; i++) {
        show(player, &found[i].letter);
        player->newest = found[i].letter;
        if (file_as_read(player, found[i].name, error) < 0) {
            count = -1;
            break;
        }
    }
    free(found);
    return count;
}

static void quote(Str *raw, const DemoLetter *letter) {
    str_printf(raw, "\nOn %s, %s wrote:\n", letter->date, letter->from);
    for (const char *line = letter->text; *line != 0;) {
        size_t length = strcspn(line, "\n");
        str_printf(raw, "> %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

int demo_answer(DemoPlayer *player, const char *mailbox, const char *words, Instant now, Error *error) {
    char date[INSTANT_TEXT_SIZE], name[64], from[PATH_MAX + 300], to[PATH_MAX + 300];
    const DemoLetter *letter = &player->newest;
    Str raw;
    str_init(&raw, DEMO_RAW_MAX);
    instant_write_mail(now, date);
    player->written++;
    str_printf(&raw, "From: %s <%s>\nTo: %s\nSubject: %s%s\nDate: %s\nMessage-ID: <%d.%lld.%s>\n", player->name, player->address, letter->reply_to,
               text_starts_nocase(letter->subject, "Re:") ? "" : "Re: ", letter->subject, date, player->written, (long long)now, player->address);
    str_printf(&raw, "In-Reply-To: %s\nReferences: %s\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
               "Content-Transfer-Encoding: 8bit\n\n%s\n", letter->message_id, letter->message_id, words);
    quote(&raw, letter);
    snprintf(name, sizeof name, "%lld.%d_demo.%.20s", (long long)now, player->written, player->name);
    for (char *byte = name; *byte != 0; byte++)
        if (*byte == ' ')
            *byte = '-';
    snprintf(from, sizeof from, "%s/tmp/%s", mailbox, name);
    snprintf(to, sizeof to, "%s/new/%s", mailbox, name);
    FILE *file = fopen(from, "wb");
    bool good = file != NULL && fwrite(raw.data, 1, raw.length, file) == raw.length;
    if (file != NULL && fclose(file) != 0)
        good = false;
    str_free(&raw);
    if (!good || rename(from, to) != 0)
        return error_set(error, ERROR_LATER, errno, "%s: %s", to, strerror(errno));
    return 0;
}
