/* Filing: letters that were handled are marked, moved or deleted, by UID and only in the very folder they were read from (RULINGS 7).
 *
 * Whatever a broken line leaves half done is done again by the next call: \Seen and \Deleted are stored once more, letters that were copied and
 * marked as deleted are not copied again, and one that was copied but not yet marked lies twice in the folder where nobody reads. */
#include "daemon/inbox/source_imap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct Filed { /* one letter */
    SourceFile *file;
    ImapFolder *folder;
    uint32_t validity, uid;
} Filed;

/* UID STORE +FLAGS.SILENT of \Seen or \Deleted. 0 or -1. */
static int store_flag(ImapSession *session, const uint32_t *uids, size_t count, struct mailimap_flag *flag, Error *error) {
    struct mailimap_flag_list *flags = mailimap_flag_list_new_empty();
    struct mailimap_set *set = imap_set(uids, count);
    struct mailimap_store_att_flags *change = NULL;
    if (flags != NULL && flag != NULL && mailimap_flag_list_add(flags, flag) == MAILIMAP_NO_ERROR)
        change = mailimap_store_att_flags_new_add_flags_silent(flags);
    imap_begin(session, IMAP_ANSWER_MAX);
    int result = set != NULL && change != NULL ? mailimap_uid_store(session->imap, set, change) : MAILIMAP_ERROR_MEMORY;
    if (set != NULL)
        mailimap_set_free(set);
    if (change != NULL)
        mailimap_store_att_flags_free(change);
    return result == MAILIMAP_NO_ERROR ? 0 : imap_fail(session, result, error, "marking letters in the folder %s", session->selected->name);
}

/* Deletes for good what is marked as deleted, of these letters alone: another program's stay (RULINGS 7). Without UIDPLUS the mark
 * has to do. */
static int expunge(ImapSession *session, const uint32_t *uids, size_t count, Error *error) {
    if (!session->can_uidplus)
        return 0;
    struct mailimap_set *set = imap_set(uids, count);
    imap_begin(session, IMAP_ANSWER_MAX);
    int result = set != NULL ? mailimap_uid_expunge(session->imap, set) : MAILIMAP_ERROR_MEMORY;
    if (set != NULL)
        mailimap_set_free(set);
    return result == MAILIMAP_NO_ERROR ? 0 : imap_fail(session, result, error, "deleting letters from the folder %s", session->selected->name);
}

static int delete(ImapSession *session, const uint32_t *uids, size_t count, Error *error) {
    if (store_flag(session, uids, count, mailimap_flag_new_deleted(), error) < 0)
        return -1;
    return expunge(session, uids, count, error);
}

static struct mailimap_search_key *key_of(struct mailimap_set *set, bool undeleted_only) {
    if (!undeleted_only)
        return mailimap_search_key_new_uid(set);
    struct mailimap_search_key *all = mailimap_search_key_new_multiple_empty();
    struct mailimap_search_key *of = mailimap_search_key_new_uid(set);
    struct mailimap_search_key *undeleted = mailimap_search_key_new(MAILIMAP_SEARCH_KEY_UNDELETED, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
        NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL);
    if (all != NULL && of != NULL && undeleted != NULL && mailimap_search_key_multiple_add(all, of) == MAILIMAP_NO_ERROR &&
        mailimap_search_key_multiple_add(all, undeleted) == MAILIMAP_NO_ERROR)
        return all;
    return NULL;
}

int imap_source_find(ImapSession *session, const uint32_t *uids, size_t count, bool undeleted_only, uint32_t *ret_uids, size_t *ret_count, Error *error) {
    clist *found = NULL;
    struct mailimap_set *set = imap_set(uids, count);
    struct mailimap_search_key *key = set != NULL ? key_of(set, undeleted_only) : NULL;
    *ret_count = 0;
    imap_begin(session, IMAP_ANSWER_MAX);
    int result = key != NULL ? mailimap_uid_search(session->imap, NULL, key, &found) : MAILIMAP_ERROR_MEMORY;
    if (key != NULL)
        mailimap_search_key_free(key);
    if (imap_refused(result) && found != NULL)
        mailimap_search_result_free(found);
    if (result != MAILIMAP_NO_ERROR)
        return imap_fail(session, result, error, "looking for letters in the folder %s", session->selected->name);
    for (size_t i = 0; i < count; i++)
        for (clistiter *at = found != NULL ? clist_begin(found) : NULL; at != NULL; at = clist_next(at))
            if (*(uint32_t *)clist_content(at) == uids[i]) {
                ret_uids[(*ret_count)++] = uids[i];
                break;
            }
    if (found != NULL)
        mailimap_search_result_free(found);
    return 0;
}

/* UID MOVE or UID COPY to the target, which is made if it is not there. */
static int transfer(ImapSource *imap, bool move, const uint32_t *uids, size_t count, Error *error) {
    ImapSession *session = &imap->session;
    int result = MAILIMAP_ERROR_MEMORY;
    for (int tries = 0; tries < 2; tries++) {
        struct mailimap_set *set = imap_set(uids, count);
        imap_begin(session, IMAP_ANSWER_MAX);
        if (set != NULL)
            result = move ? mailimap_uid_move(session->imap, set, imap->target.found) : mailimap_uid_copy(session->imap, set, imap->target.found);
        if (set != NULL)
            mailimap_set_free(set);
        if (result == MAILIMAP_NO_ERROR)
            return 0;
        bool create = imap_refused(result) && line_fault(session->line)[0] == 0 &&
                      (!imap->target.there || session->imap->imap_response_info->rsp_trycreate);
        if (!create || tries > 0)
            break;
        if (imap_folder_make(session, &imap->target, error) < 0)
            return -1;
    }
    return imap_fail(session, result, error, "moving letters from %s to %s", session->selected->name, imap->target.name);
}

/* RFC 6851, or what it stands for where the server has it not. */
static int move(ImapSource *imap, const uint32_t *uids, size_t count, Error *error) {
    ImapSession *session = &imap->session;
    uint32_t left[IMAP_COMMAND_LETTERS];
    size_t left_count = 0;
    if (imap_folder_find(session, &imap->target, error) < 0)
        return -1;
    if (session->can_move)
        return transfer(imap, true, uids, count, error);
    if (imap_source_find(session, uids, count, true, left, &left_count, error) < 0) /* not those that an earlier call has copied and marked */
        return -1;
    if (left_count > 0 && transfer(imap, false, left, left_count, error) < 0)
        return -1;
    return delete(session, uids, count, error);
}

/* Up to IMAP_COMMAND_LETTERS letters of one folder. */
static int file_some(ImapSource *imap, const Filed *filed, size_t count, Error *error) {
    ImapSession *session = &imap->session;
    uint32_t uids[IMAP_COMMAND_LETTERS];
    for (size_t i = 0; i < count; i++)
        uids[i] = filed[i].uid;
    int result = 0;
    switch (imap->after) {
    case AFTER_SEEN:
        result = store_flag(session, uids, count, mailimap_flag_new_seen(), error);
        break;
    case AFTER_DELETE:
        result = delete(session, uids, count, error);
        break;
    case AFTER_MOVE:
        result = move(imap, uids, count, error);
        break;
    }
    for (size_t i = 0; i < count && result == 0; i++)
        filed[i].file->filed = true;
    return result;
}

/* The server has refused these letters together: one may be at fault, or the folder that they are to go to. 0: each is filed or has its fault; -1. */
static int file_singly(ImapSource *imap, const Filed *filed, size_t count, Error *error) {
    ImapSession *session = &imap->session;
    for (size_t i = 0; i < count; i++) {
        Error fault = { 0 };
        if (file_some(imap, filed + i, 1, &fault) == 0)
            continue;
        if (session->line == NULL || fault.grade == ERROR_INPUT)
            return error_set(error, fault.grade, fault.code, "%s", fault.text);
        error_set(&filed[i].file->fault, ERROR_LETTER, EIO, "the letter %s in %s cannot be marked as handled: %s", filed[i].file->name,
                  filed[i].file->mailbox, fault.text);
    }
    return 0;
}

/* A refusal for every one of the letters is no letter's own doing: then none has a fault, and the call fails. */
static int file_many(ImapSource *imap, const Filed *filed, size_t count, Error *error) {
    Error fault = { 0 };
    if (file_some(imap, filed, count, &fault) == 0)
        return 0;
    bool refused = imap->session.line != NULL && fault.grade != ERROR_INPUT;
    if (refused && count > 1) {
        if (file_singly(imap, filed, count, error) < 0)
            return -1;
        for (size_t i = 0; i < count; i++)
            if (filed[i].file->filed)
                return 0;
        for (size_t i = 0; i < count; i++)
            error_clear(&filed[i].file->fault);
    }
    return error_set(error, fault.grade, fault.code, "%s", fault.text);
}

/* 1: the folder is open; 0: there is none; -1. What a folder holds counts as filed for good once the folder has gone: one that a server does not see for
 * a moment is asked for on another line too before that is believed. */
static int select_to_file(ImapSource *imap, ImapFolder *folder, Error *error) {
    ImapSession *session = &imap->session;
    for (int lines = 0; lines < 2; lines++) {
        Error fault = { 0 };
        if (imap_open(session, error) < 0)
            return -1;
        if (imap_select(session, folder, true, &fault) == 0)
            return 1;
        if (fault.code != IMAP_FOLDER_MISSING)
            return error_set(error, fault.grade, fault.code, "%s", fault.text);
        if (lines == 0)
            imap_leave(session);
    }
    return 0;
}

/* All letters of one folder and UIDVALIDITY, `count` of them. */
static int file_folder_once(ImapSource *imap, const Filed *filed, size_t count, Error *error) {
    ImapSession *session = &imap->session;
    int there = select_to_file(imap, filed[0].folder, error);
    if (there < 0)
        return -1;
    if (there == 0 || session->validity != filed[0].validity) { /* they have gone, with their folder or its numbering */
        for (size_t i = 0; i < count; i++)
            filed[i].file->filed = true;
        return 0;
    }
    if (!session->writable)
        return error_set(error, ERROR_INPUT, 0, "%s: letters in the folder %s can be read but not marked as handled: the account needs the right to write",
                         line_host(session->line), filed[0].folder->name);
    for (size_t at = 0; at < count; at += IMAP_COMMAND_LETTERS) {
        size_t some = count - at < IMAP_COMMAND_LETTERS ? count - at : IMAP_COMMAND_LETTERS;
        if (file_many(imap, filed + at, some, error) < 0)
            return -1;
    }
    return 0;
}

static int file_folder(ImapSource *imap, const Filed *filed, size_t count, Error *error) {
    ImapLineBefore before = imap_source_line(imap);
    int result = file_folder_once(imap, filed, count, error);
    if (result < 0 && imap_source_was_stale(imap, before))
        result = file_folder_once(imap, filed, count, error);
    return result;
}

static int by_place(const void *left, const void *right) {
    const Filed *one = left, *other = right;
    if (one->folder != other->folder)
        return one->folder < other->folder ? -1 : 1;
    if (one->validity != other->validity)
        return one->validity < other->validity ? -1 : 1;
    return (one->uid > other->uid) - (one->uid < other->uid);
}

int imap_source_file(MailSource *source, SourceFile *files, size_t count, Error *error) {
    ImapSource *imap = (ImapSource *)source;
    Filed *filed = calloc(count + 1, sizeof *filed);
    size_t known = 0;
    if (filed == NULL)
        return error_set(error, ERROR_LATER, ENOMEM, "no memory for filing letters");
    imap_source_wait_end(source);
    for (size_t i = 0; i < count; i++) {
        Filed *one = &filed[known];
        error_clear(&files[i].fault);
        one->file = &files[i];
        one->folder = imap_source_folder(imap, files[i].mailbox, &one->validity);
        if (one->folder != NULL && imap_source_uid(files[i].name, &one->uid))
            known++;
        else
            files[i].filed = true;
    }
    qsort(filed, known, sizeof *filed, by_place);
    int result = 0;
    for (size_t at = 0; at < known && (result == 0 || imap->session.line != NULL);) { /* a folder that refuses keeps no other from it */
        Error fault = { 0 };
        size_t end = at + 1;
        while (end < known && filed[end].folder == filed[at].folder && filed[end].validity == filed[at].validity)
            end++;
        if (file_folder(imap, filed + at, end - at, &fault) < 0)
            result = error_set(error, fault.grade, fault.code, "%s", fault.text);
        at = end;
    }
    free(filed);
    return result;
}
