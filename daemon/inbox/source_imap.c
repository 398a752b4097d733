/* An IMAP mailbox: opening it, what lies in it, and whether it can be read and filed. */
#include "daemon/inbox/source_imap.h"

#include "daemon/line/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    UID_TEXT = 12,      /* "4294967295 " and a little; also ";4294967295" with NUL */
    ENTRY_TEXT = 64,    /* "* 1000000 FETCH (UID 4294967295)" likewise */
};

bool imap_source_uid(const char *name, uint32_t *ret_uid) {
    uint64_t uid = 0;
    size_t length = strlen(name);
    if (length == 0 || length > 10 || strspn(name, "0123456789") != length || name[0] == '0')
        return false;
    for (const char *at = name; *at != 0; at++)
        uid = uid * 10 + (uint64_t)(*at - '0');
    if (uid > UINT32_MAX)
        return false;
    *ret_uid = (uint32_t)uid;
    return true;
}

ImapFolder *imap_source_folder(ImapSource *imap, const char *mailbox, uint32_t *ret_validity) {
    size_t account = strlen(imap->account);
    if (strncmp(mailbox, imap->account, account) != 0)
        return NULL;
    const char *name = mailbox + account, *end = strrchr(name, ';');
    if (end == NULL || !imap_source_uid(end + 1, ret_validity))
        return NULL;
    for (size_t i = 0; i < imap->folder_count; i++)
        if (strncmp(imap->folders[i].name, name, (size_t)(end - name)) == 0 && imap->folders[i].name[end - name] == 0)
            return &imap->folders[i];
    return NULL;
}

ImapLineBefore imap_source_line(const ImapSource *imap) {
    return (ImapLineBefore){ imap->session.line != NULL, imap->session.selections };
}

bool imap_source_was_stale(const ImapSource *imap, ImapLineBefore before) {
    return before.open && imap->session.line == NULL && imap->session.selections == before.selections;
}

/* ---- list ---- */

typedef struct Uids {
    uint32_t *numbers;
    size_t count;
} Uids;

static int by_number(const void *left, const void *right) {
    uint32_t one = *(const uint32_t *)left, other = *(const uint32_t *)right;
    return (one > other) - (one < other);
}

/* In order, each once, without 0, whatever the server told. */
static void tidy(Uids *uids) {
    size_t kept = 0;
    if (uids->count > 1)
        qsort(uids->numbers, uids->count, sizeof *uids->numbers, by_number);
    for (size_t i = 0; i < uids->count; i++)
        if (uids->numbers[i] != 0 && (kept == 0 || uids->numbers[i] != uids->numbers[kept - 1]))
            uids->numbers[kept++] = uids->numbers[i];
    uids->count = kept;
}

static bool take_uids(clist *list, bool fetched, Uids *ret_uids) {
    size_t count = list != NULL ? (size_t)clist_count(list) : 0;
    ret_uids->numbers = calloc(count + 1, sizeof *ret_uids->numbers);
    if (ret_uids->numbers == NULL)
        return false;
    for (clistiter *at = count > 0 ? clist_begin(list) : NULL; at != NULL; at = clist_next(at))
        ret_uids->numbers[ret_uids->count++] = fetched ? imap_uid_of(clist_content(at)) : *(uint32_t *)clist_content(at);
    tidy(ret_uids);
    return true;
}

/* UID SEARCH ALL. 1 if the server refuses it. */
static int search_uids(ImapSession *session, Uids *ret_uids, Error *error) {
    clist *list = NULL;
    struct mailimap_search_key *all = mailimap_search_key_new_all();
    imap_begin(session, IMAP_ANSWER_MAX + (size_t)session->exists * UID_TEXT);
    int result = all != NULL ? mailimap_uid_search(session->imap, NULL, all, &list) : MAILIMAP_ERROR_MEMORY;
    if (all != NULL)
        mailimap_search_key_free(all);
    if (imap_refused(result)) {
        if (list != NULL)
            mailimap_search_result_free(list);
        return 1;
    }
    if (result != MAILIMAP_NO_ERROR)
        return imap_fail(session, result, error, "listing the letters in %s", session->selected->name);
    bool taken = take_uids(list, false, ret_uids);
    if (list != NULL)
        mailimap_search_result_free(list);
    return taken ? 0 : error_set(error, ERROR_LATER, ENOMEM, "no memory for the list of letters in %s", session->selected->name);
}

/* The same by FETCH, for servers whose search is out of order. */
static int fetch_uids(ImapSession *session, Uids *ret_uids, Error *error) {
    clist *list = NULL;
    struct mailimap_set *all = mailimap_set_new_interval(1, 0); /* 1:* */
    struct mailimap_fetch_type *what = mailimap_fetch_type_new_fetch_att(mailimap_fetch_att_new_uid());
    imap_begin(session, IMAP_ANSWER_MAX + (size_t)session->exists * ENTRY_TEXT);
    int result = all != NULL && what != NULL ? mailimap_uid_fetch(session->imap, all, what, &list) : MAILIMAP_ERROR_MEMORY;
    if (all != NULL)
        mailimap_set_free(all);
    if (what != NULL)
        mailimap_fetch_type_free(what);
    if (result != MAILIMAP_NO_ERROR)
        return imap_fail(session, result, error, "listing the letters in %s", session->selected->name);
    bool taken = take_uids(list, true, ret_uids);
    if (list != NULL)
        mailimap_fetch_list_free(list);
    return taken ? 0 : error_set(error, ERROR_LATER, ENOMEM, "no memory for the list of letters in %s", session->selected->name);
}

static int find_uids(ImapSession *session, Uids *ret_uids, Error *error) {
    if (session->exists > IMAP_LETTERS_MAX)
        return error_set(error, ERROR_MAILBOX, 0, "%s: the folder %s holds %u letters, more than can be listed: move old ones elsewhere",
                         line_host(session->line), session->selected->name, session->exists);
    int found = search_uids(session, ret_uids, error);
    if (found == 1 && session->exists == 0) /* some servers refuse to search an empty folder */
        return 0;
    return found == 1 ? fetch_uids(session, ret_uids, error) : found;
}

/* An array that grows, in the heap, so that the arena holds only what is given back. */
typedef struct Gathered {
    SourceLetter *letters;
    size_t count;
} Gathered;

static bool gather(Gathered *gathered, const Uids *uids, const char *mailbox, Arena *arena) {
    SourceLetter *letters = realloc(gathered->letters, (gathered->count + uids->count + 1) * sizeof *letters);
    if (letters == NULL || mailbox == NULL)
        return letters != NULL ? (gathered->letters = letters, false) : false;
    gathered->letters = letters;
    for (size_t i = 0; i < uids->count; i++) {
        char *name = arena_printf(arena, "%u", uids->numbers[i]);
        if (name == NULL)
            return false;
        letters[gathered->count++] = (SourceLetter){ .mailbox = mailbox, .name = name, .received = INSTANT_NONE, .file_time = INSTANT_NONE };
    }
    return true;
}

static int list_folder(ImapSource *imap, size_t number, Arena *arena, Gathered *gathered, Error *error) {
    ImapSession *session = &imap->session;
    Uids uids = { NULL, 0 };
    if (imap_open(session, error) < 0 || imap_select(session, &imap->folders[number], false, error) < 0)
        return -1;
    int result = find_uids(session, &uids, error);
    if (result == 0 && !gather(gathered, &uids, arena_printf(arena, "%s%s;%u", imap->account, imap->folders[number].name, session->validity), arena))
        result = error_set(error, ERROR_MAILBOX, ENOMEM, "no memory for the list of letters in %s", imap->folders[number].name);
    if (result == 0 && number == 0) {
        imap->listed_validity = session->validity;
        imap->listed_next = session->next;
        imap->listed_count = uids.count;
    }
    free(uids.numbers);
    return result;
}

/* A further folder that the server does not give, be it that the line breaks with it each time, keeps no letter of the others waiting. */
static int list_further(ImapSource *imap, Arena *arena, Gathered *gathered, SourceList *list, Error *error) {
    for (size_t i = 1; i < imap->folder_count; i++) {
        Error fault = { 0 };
        if (list_folder(imap, i, arena, gathered, &fault) == 0)
            continue;
        if (fault.grade == ERROR_LATER) /* that is not the folder's doing */
            return error_set(error, fault.grade, fault.code, "%s", fault.text);
        if (list->fault.grade == ERROR_NONE)
            list->fault = fault;
        if (imap->session.line == NULL && imap_open(&imap->session, &fault) < 0)
            break; /* no new one: the others cannot be had either */
    }
    return 0;
}

static int imap_source_list(MailSource *source, Arena *arena, SourceList *ret_list, Error *error) {
    ImapSource *imap = (ImapSource *)source;
    Gathered gathered = { NULL, 0 };
    SourceList list = { .letters = NULL };
    imap_source_wait_end(source);
    ImapLineBefore before = imap_source_line(imap);
    int result = list_folder(imap, 0, arena, &gathered, error);
    if (result < 0 && imap_source_was_stale(imap, before))
        result = list_folder(imap, 0, arena, &gathered, error);
    if (result == 0)
        result = list_further(imap, arena, &gathered, &list, error);
    list.count = gathered.count;
    list.letters = result == 0 ? arena_alloc(arena, (gathered.count + 1) * sizeof *list.letters) : NULL;
    if (result == 0 && list.letters == NULL)
        result = error_set(error, ERROR_MAILBOX, ENOMEM, "%s: the mailbox holds more letters than can be listed", imap->folders[0].name);
    if (result == 0) {
        if (gathered.count > 0)
            memcpy(list.letters, gathered.letters, gathered.count * sizeof *list.letters);
        *ret_list = list;
    }
    free(gathered.letters);
    return result;
}

/* ---- probe ---- */

static bool keeps_flag(const struct mailimap_selection_info *info, int flag) {
    if (info->sel_perm_flags == NULL)
        return true; /* all of them (RFC 3501, 6.3.1) */
    for (clistiter *at = clist_begin(info->sel_perm_flags); at != NULL; at = clist_next(at)) {
        const struct mailimap_flag_perm *perm = clist_content(at);
        if (perm->fl_type == MAILIMAP_FLAG_PERM_FLAG && perm->fl_flag != NULL && perm->fl_flag->fl_type == flag)
            return true;
    }
    return false;
}

static int probe_marking(ImapSource *imap, const ImapFolder *folder, Error *error) {
    ImapSession *session = &imap->session;
    int flag = imap->after == AFTER_SEEN ? MAILIMAP_FLAG_SEEN : MAILIMAP_FLAG_DELETED;
    bool marks = session->writable && (keeps_flag(session->imap->imap_selection_info, flag) || (imap->after == AFTER_MOVE && session->can_move));
    if (!marks)
        return error_set(error, ERROR_INPUT, 0, "%s: letters in the folder %s can be read but not marked as handled: the account needs the right to write",
                         line_host(session->line), folder->name);
    return 0;
}

/* Looks for the folder, and makes it if that is wanted. 1: it is missing. */
static int probe_folder(ImapSession *session, ImapFolder *folder, bool make, Error *error) {
    folder->there = false; /* looked for anew */
    if (imap_folder_find(session, folder, error) < 0)
        return -1;
    if (folder->there)
        return 0;
    return make ? imap_folder_make(session, folder, error) : 1;
}

static int probe(ImapSource *imap, bool make, Error *error) {
    ImapSession *session = &imap->session;
    char missing[ERROR_TEXT_MAX / 2] = "";
    size_t length = 0;
    if (imap_open(session, error) < 0)
        return -1;
    if (imap->after == AFTER_DELETE && !session->can_uidplus)
        return error_set(error, ERROR_INPUT, 0, "%s: the server cannot delete single letters (it has no UIDPLUS), and Epistle never deletes others': "
                         "set `after = seen` or `after = move:FOLDER`", line_host(session->line));
    for (size_t i = 0; i <= imap->folder_count; i++) {
        ImapFolder *folder = i < imap->folder_count ? &imap->folders[i] : &imap->target;
        int result = folder->name != NULL ? probe_folder(session, folder, make, error) : 0;
        if (result < 0)
            return -1;
        if (result == 1 && length < sizeof missing)
            length += (size_t)snprintf(missing + length, sizeof missing - length, "%s%s", length > 0 ? ", " : "", folder->name);
    }
    if (length > 0)
        return error_set(error, ERROR_INPUT, IMAP_FOLDER_MISSING, "%s: there is no folder %s: correct the name in [mailbox], or make it with "
                         "`epistle check --init`", line_host(session->line), missing);
    for (size_t i = 0; i < imap->folder_count; i++)
        if (imap_select(session, &imap->folders[i], true, error) < 0 || probe_marking(imap, &imap->folders[i], error) < 0)
            return -1;
    return 0;
}

static int imap_source_probe(MailSource *source, bool make, Error *error) {
    ImapSource *imap = (ImapSource *)source;
    imap_source_wait_end(source);
    ImapLineBefore before = imap_source_line(imap);
    int result = probe(imap, make, error);
    if (result < 0 && imap_source_was_stale(imap, before))
        result = probe(imap, make, error);
    return result;
}

/* ---- opening and closing ---- */

static void imap_source_close(MailSource *source) {
    if (source == NULL)
        return;
    ImapSource *imap = (ImapSource *)source;
    imap_source_wait_end(source);
    imap_leave(&imap->session);
    for (size_t i = 0; i < imap->folder_count; i++)
        imap_folder_free(&imap->folders[i]);
    imap_folder_free(&imap->target);
    free(imap->folders);
    free(imap);
}

static const MailSourceOperations operations = {
    .list = imap_source_list,
    .look = imap_source_look,
    .fetch = imap_source_fetch,
    .file = imap_source_file,
    .probe = imap_source_probe,
    .wait_begin = imap_source_wait_begin,
    .wait_heard = imap_source_wait_heard,
    .wait_end = imap_source_wait_end,
    .close = imap_source_close,
};

static int name_folder(ImapFolder *ret_folder, const char *name, Error *error) {
    if (imap_folder_init(ret_folder, name))
        return 0;
    return error_set(error, ERROR_INPUT, 0, "\"%s\" cannot be the name of an IMAP folder: it is empty, too long, or holds a control character", name);
}

/* The store has room for SOURCE_MAILBOX_MAX; a name that was cut off might be another folder's. */
static int check_lengths(const ImapSource *imap, Error *error) {
    for (size_t i = 0; i < imap->folder_count; i++)
        if (strlen(imap->account) + strlen(imap->folders[i].name) + UID_TEXT > SOURCE_MAILBOX_MAX)
            return error_set(error, ERROR_INPUT, 0, "the name of the IMAP folder %.60s is too long: user, server and folder may have %d bytes together; "
                             "give the folder a shorter name", imap->folders[i].name, SOURCE_MAILBOX_MAX - UID_TEXT);
    return 0;
}

/* A folder read twice would give each letter twice; letters moved into one that is read would come back as new ones. */
static int check_names(const ImapSource *imap, Error *error) {
    for (size_t i = 0; i < imap->folder_count; i++) {
        for (size_t k = 0; k < i; k++)
            if (strcmp(imap->folders[i].name, imap->folders[k].name) == 0)
                return error_set(error, ERROR_INPUT, 0, "the folder %s is named twice: take it from `also`", imap->folders[i].name);
        if (imap->target.name != NULL && strcmp(imap->folders[i].name, imap->target.name) == 0)
            return error_set(error, ERROR_INPUT, 0, "letters are to be moved to %s, which is read itself: name another folder in `after`", imap->target.name);
    }
    return 0;
}

MailSource *source_imap_open(const LineAccount *account, const char *folder, const char *const *also, size_t also_count, AfterKind after,
                             const char *after_folder, Error *error) {
    ImapSource *imap = calloc(1, sizeof *imap);
    ImapFolder *folders = calloc(also_count + 1, sizeof *folders);
    if (imap == NULL || folders == NULL) {
        free(imap);
        free(folders);
        error_set(error, ERROR_LATER, ENOMEM, "no memory for the mailbox");
        return NULL;
    }
    imap->source.operations = &operations;
    imap->session.account = *account;
    imap->after = after;
    imap->folders = folders;
    char host[HOST_MAX];
    host_and_port(account->url, host, sizeof host);
    for (char *at = host; *at != 0; at++) /* it is the same server, however it is written */
        *at = (char)(*at >= 'A' && *at <= 'Z' ? *at - 'A' + 'a' : *at);
    snprintf(imap->account, sizeof imap->account, "imap/%s@%s/", account->user != NULL ? account->user : "", host);
    int result = 0;
    for (size_t i = 0; i <= also_count && result == 0; i++, imap->folder_count++)
        result = name_folder(&folders[i], i > 0 ? also[i - 1] : folder != NULL ? folder : "INBOX", error);
    if (result == 0 && after == AFTER_MOVE)
        result = name_folder(&imap->target, after_folder != NULL ? after_folder : "", error);
    if (result == 0)
        result = check_lengths(imap, error);
    if (result == 0)
        result = check_names(imap, error);
    if (result == 0)
        return &imap->source;
    imap_source_close(&imap->source);
    return NULL;
}
