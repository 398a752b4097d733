/* MaildirIndex: where each letter of a Maildir lay when its folders were last read; internal to source_maildir.c.
 *
 * A hint: other programs rename letters at any time, so a place found here is tried and, if it has nothing, searched anew.
 * Error codes are errno values, grades ERROR_MAILBOX. */
#ifndef EPISTLE_DAEMON_INBOX_MAILDIR_INDEX_H
#define EPISTLE_DAEMON_INBOX_MAILDIR_INDEX_H

#include "core/base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct MaildirEntry {
    const char *file; /* in the index; its first name_length bytes are the letter's own name, flags follow */
    size_t name_length;
    size_t folder; /* as told to maildir_index_read() */
    bool in_new;   /* else in cur/ */
} MaildirEntry;

typedef struct MaildirPlace {
    const char *part; /* "new" or "cur"; static */
    char file[NAME_MAX + 1];
} MaildirPlace;

typedef struct MaildirIndex MaildirIndex;

/* The letter's own name: without ":2,FLAGS". */
size_t maildir_name_length(const char *file);

MaildirIndex *maildir_index_new(Error *error);
void maildir_index_free(MaildirIndex *index); /* NULL is fine */

/* Adds the letters of new/ and cur/ of the folder at `path`: regular files only, no links, no hidden names, each once. Numbers of folders must
 * grow from call to call. On failure nothing of it is added. */
int maildir_index_read(MaildirIndex *index, size_t folder, const char *path, Error *error);
/* By folder and name. */
const MaildirEntry *maildir_index_entries(const MaildirIndex *index, size_t *ret_count);
bool maildir_index_find(const MaildirIndex *index, size_t folder, const char *name, MaildirPlace *ret_place);

/* Searches the folder's new/ and cur/ for one letter under whatever flags: 1, 0 if it is not there, or -1. */
int maildir_find(const char *path, const char *name, MaildirPlace *ret_place, Error *error);

#endif
