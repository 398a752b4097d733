#include "daemon/inbox/imap_session.h"

#include "core/base/str.h"
#include "daemon/inbox/utf7.h"
#include "daemon/line/stream.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LOGOUT_SECONDS = 3,
    FOLDER_NAME_MAX = 1000, /* bytes on the line */
};

/* ---- errors ---- */

bool imap_refused(int result) {
    return (result >= MAILIMAP_ERROR_APPEND && result <= MAILIMAP_ERROR_UNSUBSCRIBE) || result == MAILIMAP_ERROR_EXTENSION;
}

const char *imap_words(const ImapSession *session) {
    return session->imap != NULL && session->imap->imap_response != NULL ? session->imap->imap_response : "";
}

/* What the server said with a BYE, out of what was read of its last answer; libetpan keeps none of it. */
static bool find_bye(const ImapSession *session, char *ret_words, size_t size) {
    const char *at = session->imap != NULL ? session->imap->imap_stream_buffer->str : "";
    while (at != NULL && strncmp(at, "* BYE ", 6) != 0) {
        at = strchr(at, '\n');
        at = at != NULL ? at + 1 : NULL;
    }
    if (at == NULL)
        return false;
    snprintf(ret_words, size, "%.*s", (int)strcspn(at + 6, "\r\n"), at + 6);
    return true;
}

int imap_fail(ImapSession *session, int result, Error *error, const char *doing, ...) {
    char what[ERROR_TEXT_MAX / 2], words[ERROR_TEXT_MAX / 2];
    va_list arguments;
    va_start(arguments, doing);
    vsnprintf(what, sizeof what, doing, arguments);
    va_end(arguments);
    const char *host = line_host(session->line), *fault = line_fault(session->line);
    if (fault[0] == 0 && imap_refused(result))
        return error_set(error, ERROR_MAILBOX, 0, "%s: %s was refused: %s", host, what, imap_words(session)[0] != 0 ? imap_words(session) : "no reason was given");
    if (find_bye(session, words, sizeof words))
        error_set(error, ERROR_MAILBOX, 0, "%s: the server hung up while %s, saying: %s; a new connection is tried later", host, what, words);
    else if (fault[0] != 0)
        error_set(error, ERROR_MAILBOX, 0, "%s (while %s)", fault, what);
    else if (result == MAILIMAP_ERROR_MEMORY)
        error_set(error, ERROR_MAILBOX, 0, "%s: no memory for the answer while %s; a new connection is tried later", host, what);
    else if (result == MAILIMAP_ERROR_PROTOCOL && imap_words(session)[0] != 0)
        error_set(error, ERROR_MAILBOX, 0, "%s: the server did not take a command while %s, saying: %s; a new connection is tried later", host, what,
                  imap_words(session));
    else
        error_set(error, ERROR_MAILBOX, 0, "%s: the server's answer while %s cannot be read as IMAP; a new connection is tried later", host, what);
    imap_drop(session);
    return -1;
}

/* ---- the line ---- */

void imap_begin(ImapSession *session, size_t bytes) {
    line_begin(session->line, session->account.seconds > 0 ? session->account.seconds : LINE_SECONDS, bytes);
}

void imap_drop(ImapSession *session) {
    if (session->imap != NULL) {
        session->imap->imap_stream = NULL; /* mailimap_free() would say LOGOUT on it and wait for the answer */
        mailimap_free(session->imap);
    }
    if (session->stream != NULL)
        mailstream_close(session->stream);
    line_close(session->line);
    free(session->prefix);
    *session = (ImapSession){ .account = session->account, .number = session->number, .selections = session->selections };
}

static void note_capabilities(ImapSession *session, const struct mailimap_capability_data *data) {
    session->can_move = session->can_uidplus = session->can_idle = session->can_namespace = false;
    for (clistiter *at = clist_begin(data->cap_list); at != NULL; at = clist_next(at)) {
        const struct mailimap_capability *capability = clist_content(at);
        if (capability->cap_type != MAILIMAP_CAPABILITY_NAME || capability->cap_data.cap_name == NULL)
            continue;
        const char *name = capability->cap_data.cap_name;
        session->can_move |= text_equal_nocase(name, "MOVE");
        session->can_uidplus |= text_equal_nocase(name, "UIDPLUS");
        session->can_idle |= text_equal_nocase(name, "IDLE");
        session->can_namespace |= text_equal_nocase(name, "NAMESPACE");
    }
}

int imap_open(ImapSession *session, Error *error) {
    if (session->line != NULL)
        return 0;
    session->line = line_open(&session->account, error);
    if (session->line == NULL)
        return -1;
    session->number++;
    mmap_string_set_ceil(2 * (size_t)LINE_BYTES_MAX); /* libetpan puts long answers into files elsewhere; ours are bounded */
    imap_begin(session, IMAP_ANSWER_MAX);
    session->stream = stream_open(session->line);
    session->imap = mailimap_new(0, NULL);
    if (session->stream == NULL || session->imap == NULL)
        return imap_fail(session, MAILIMAP_ERROR_MEMORY, error, "logging in");
    int result = mailimap_connect(session->imap, session->stream);
    if (result == MAILIMAP_NO_ERROR_AUTHENTICATED)
        result = mailimap_noop(session->imap); /* untagged lines that came with the log-in's answer, or what is left of them, end here */
    struct mailimap_capability_data *data = NULL;
    if (result == MAILIMAP_NO_ERROR)
        result = mailimap_capability(session->imap, &data);
    if (result != MAILIMAP_NO_ERROR || data == NULL) {
        imap_fail(session, imap_refused(result) ? MAILIMAP_ERROR_PROTOCOL : result, error, "beginning after the log-in");
        return -1;
    }
    note_capabilities(session, data);
    mailimap_capability_data_free(data);
    return 0;
}

bool imap_readable(ImapSession *session) {
    return session->stream->read_buffer_len > 0 || line_pending(session->line);
}

/* Bytes that libetpan has read ahead come first. */
int imap_read_byte(ImapSession *session, char *ret_byte, Error *error) {
    if (session->stream->read_buffer_len > 0)
        return mailstream_read(session->stream, ret_byte, 1) == 1 ? 0 : -1;
    return line_read(session->line, ret_byte, 1, error) == 1 ? 0 : -1;
}

int imap_read_line(ImapSession *session, char *ret_text, size_t size, Error *error) {
    size_t length = 0;
    for (;;) {
        char byte = 0;
        if (imap_read_byte(session, &byte, error) < 0)
            return -1;
        if (byte == '\n')
            break;
        if (byte != '\r' && byte != 0 && length + 1 < size)
            ret_text[length++] = byte;
    }
    ret_text[length] = 0;
    return 0;
}

void imap_leave(ImapSession *session) {
    static const char logout[] = "bye LOGOUT\r\n";
    char text[64];
    if (session->line != NULL && line_fault(session->line)[0] == 0) {
        line_begin(session->line, LOGOUT_SECONDS, IMAP_ANSWER_MAX);
        bool said = line_write(session->line, logout, sizeof logout - 1, NULL) == 0;
        while (said && imap_read_line(session, text, sizeof text, NULL) == 0 && strncmp(text, "bye ", 4) != 0)
            continue;
    }
    imap_drop(session);
}

/* ---- folders ---- */

bool imap_folder_init(ImapFolder *ret_folder, const char *name) {
    Str wire;
    *ret_folder = (ImapFolder){ .name = NULL };
    str_init(&wire, FOLDER_NAME_MAX);
    bool inbox = text_equal_nocase(name, "INBOX");
    if (name[0] != 0 && utf7_append(&wire, name)) {
        ret_folder->name = strdup(inbox ? "INBOX" : name);
        ret_folder->wire = strdup(inbox ? "INBOX" : wire.data);
    }
    str_free(&wire);
    if (ret_folder->name != NULL && ret_folder->wire != NULL)
        return true;
    imap_folder_free(ret_folder);
    return false;
}

void imap_folder_free(ImapFolder *folder) {
    free(folder->name);
    free(folder->wire);
    free(folder->found);
    *folder = (ImapFolder){ .name = NULL };
}

static void take_namespace(ImapSession *session, const struct mailimap_namespace_data *data) {
    if (data->ns_personal == NULL || data->ns_personal->ns_data_list == NULL || clist_begin(data->ns_personal->ns_data_list) == NULL)
        return;
    const struct mailimap_namespace_info *info = clist_content(clist_begin(data->ns_personal->ns_data_list));
    session->delimiter = info->ns_delimiter;
    if (info->ns_prefix != NULL && info->ns_prefix[0] != 0)
        session->prefix = strdup(info->ns_prefix);
}

/* How the server divides names, and below what one's own folders lie (RFC 2342; LIST "" "" for the delimiter alone). A server that does not tell
 * has folders as they are named. */
static int find_namespace(ImapSession *session, Error *error) {
    struct mailimap_namespace_data *data = NULL;
    clist *list = NULL;
    session->namespace_known = true;
    if (session->can_namespace) {
        imap_begin(session, IMAP_ANSWER_MAX);
        int result = mailimap_namespace(session->imap, &data);
        if (result == MAILIMAP_NO_ERROR && data != NULL) {
            take_namespace(session, data);
            mailimap_namespace_data_free(data);
        } else if (!imap_refused(result) || line_fault(session->line)[0] != 0) {
            return imap_fail(session, result, error, "asking for the namespace");
        }
    }
    if (session->delimiter != 0)
        return 0;
    imap_begin(session, IMAP_ANSWER_MAX);
    int result = mailimap_list(session->imap, "", "", &list);
    if (result != MAILIMAP_NO_ERROR && !imap_refused(result))
        return imap_fail(session, result, error, "asking for the folders' delimiter");
    if (result == MAILIMAP_NO_ERROR && list != NULL && clist_begin(list) != NULL)
        session->delimiter = ((struct mailimap_mailbox_list *)clist_content(clist_begin(list)))->mb_delimiter;
    if (list != NULL)
        mailimap_list_result_free(list);
    return 0;
}

static bool is_selectable(const struct mailimap_mailbox_list *entry) {
    if (entry->mb_flag == NULL)
        return true;
    if (entry->mb_flag->mbf_type == MAILIMAP_MBX_LIST_FLAGS_SFLAG && entry->mb_flag->mbf_sflag == MAILIMAP_MBX_LIST_SFLAG_NOSELECT)
        return false;
    for (clistiter *at = clist_begin(entry->mb_flag->mbf_oflags); at != NULL; at = clist_next(at)) {
        const struct mailimap_mbx_list_oflag *flag = clist_content(at);
        if (flag->of_type == MAILIMAP_MBX_LIST_OFLAG_FLAG_EXT && flag->of_flag_ext != NULL && strstr(flag->of_flag_ext, "NonExistent") != NULL)
            return false;
    }
    return true;
}

/* 1: there is such a folder; 0: LIST knows none; -1. */
static int is_listed(ImapSession *session, const char *wire, Error *error) {
    clist *list = NULL;
    bool pattern = strpbrk(wire, "*%") != NULL, there = false;
    imap_begin(session, LINE_BYTES_MAX / 8);
    int result = mailimap_list(session->imap, "", wire, &list);
    if (imap_refused(result) && line_fault(session->line)[0] == 0) {
        if (list != NULL)
            mailimap_list_result_free(list);
        return 0;
    }
    if (result != MAILIMAP_NO_ERROR)
        return imap_fail(session, result, error, "looking for the folder %s", wire);
    for (clistiter *at = list != NULL ? clist_begin(list) : NULL; at != NULL; at = clist_next(at)) {
        const struct mailimap_mailbox_list *entry = clist_content(at);
        there = there || ((!pattern || strcmp(entry->mb_name, wire) == 0) && is_selectable(entry));
    }
    if (list != NULL)
        mailimap_list_result_free(list);
    return there;
}

/* The name with the server's own delimiter, below the prefix of one's own folders where it is not so already. */
static char *own_name(const ImapSession *session, const char *wire, bool below_prefix) {
    const char *prefix = session->prefix != NULL && below_prefix ? session->prefix : "";
    char *name = NULL;
    Str text;
    str_init(&text, FOLDER_NAME_MAX + strlen(prefix));
    str_append(&text, wire);
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] == '/' && session->delimiter != 0)
            text.data[i] = session->delimiter;
    if (strncmp(text.data, prefix, strlen(prefix)) == 0)
        prefix = "";
    size_t size = strlen(prefix) + text.length + 1;
    name = malloc(size);
    if (name != NULL)
        snprintf(name, size, "%s%s", prefix, text.data);
    str_free(&text);
    return name;
}

int imap_folder_find(ImapSession *session, ImapFolder *folder, Error *error) {
    if (folder->found != NULL && folder->found_on == session->number && folder->there)
        return 0;
    bool inbox = strcmp(folder->name, "INBOX") == 0;
    if (!inbox && !session->namespace_known && find_namespace(session, error) < 0)
        return -1;
    char *names[] = { strdup(folder->wire), own_name(session, folder->wire, false), own_name(session, folder->wire, true) };
    enum { NAMES = sizeof names / sizeof names[0] };
    int found = inbox, at = 0;
    for (int i = 0; i < NAMES && found == 0; i++) {
        if (names[i] == NULL || (i > 0 && names[i - 1] != NULL && strcmp(names[i], names[i - 1]) == 0))
            continue;
        found = is_listed(session, names[i], error);
        at = found > 0 ? i : NAMES - 1; /* the last is where it is to be made */
    }
    free(folder->found);
    folder->found = found >= 0 ? names[at] : NULL;
    for (int i = 0; i < NAMES; i++)
        if (names[i] != folder->found)
            free(names[i]);
    folder->there = found > 0;
    folder->found_on = session->number;
    if (found >= 0 && folder->found == NULL)
        return error_set(error, ERROR_LATER, 0, "no memory for a folder's name");
    return found < 0 ? -1 : 0;
}

int imap_folder_make(ImapSession *session, ImapFolder *folder, Error *error) {
    imap_begin(session, IMAP_ANSWER_MAX);
    int result = mailimap_create(session->imap, folder->found);
    if (imap_refused(result) && line_fault(session->line)[0] == 0) {
        char words[ERROR_TEXT_MAX / 2];
        snprintf(words, sizeof words, "%s", imap_words(session));
        folder->there = false;
        if (imap_folder_find(session, folder, error) < 0)
            return -1;
        if (folder->there)
            return 0;
        return error_set(error, ERROR_INPUT, 0, "%s: the folder %s could not be made: %s", line_host(session->line), folder->name, words);
    }
    if (result != MAILIMAP_NO_ERROR)
        return imap_fail(session, result, error, "making the folder %s", folder->name);
    folder->there = true;
    imap_begin(session, IMAP_ANSWER_MAX);
    result = mailimap_subscribe(session->imap, folder->found); /* so that mail programs show it; a refusal harms nobody */
    if (result != MAILIMAP_NO_ERROR && !imap_refused(result))
        return imap_fail(session, result, error, "subscribing to the folder %s", folder->name);
    return 0;
}

/* A refusal that says of itself that it is for the moment, or for us (RFC 5530): the folder may well be there. */
static bool refused_for_another_reason(const ImapSession *session) {
    static const char *const reasons[] = { "UNAVAILABLE", "SERVERBUG", "INUSE", "LIMIT", "NOPERM", "CONTACTADMIN", "AUTHORIZATIONFAILED", "CORRUPTION",
                                           "CLIENTBUG", "EXPIRED", "PRIVACYREQUIRED" };
    const struct mailimap_response_info *info = session->imap->imap_response_info;
    for (size_t i = 0; info != NULL && info->rsp_atom != NULL && i < sizeof reasons / sizeof reasons[0]; i++)
        if (text_equal_nocase(info->rsp_atom, reasons[i]))
            return true;
    return false;
}

int imap_select(ImapSession *session, ImapFolder *folder, bool writable, Error *error) {
    session->selected = NULL;
    if (imap_folder_find(session, folder, error) < 0)
        return -1;
    imap_begin(session, IMAP_ANSWER_MAX);
    int result = writable ? mailimap_select(session->imap, folder->found) : mailimap_examine(session->imap, folder->found);
    if (imap_refused(result) && line_fault(session->line)[0] == 0 && !folder->there && !refused_for_another_reason(session))
        return error_set(error, ERROR_INPUT, IMAP_FOLDER_MISSING, "%s: there is no folder %s (%s): correct its name in [mailbox], or make it with "
                         "`epistle check --init`", line_host(session->line), folder->name, imap_words(session));
    if (result != MAILIMAP_NO_ERROR)
        return imap_fail(session, result, error, "opening the folder %s", folder->name);
    const struct mailimap_selection_info *info = session->imap->imap_selection_info;
    if (info == NULL || info->sel_uidvalidity == 0)
        return error_set(error, ERROR_MAILBOX, 0, "%s: the server gives the folder %s no UIDVALIDITY, without which its letters cannot be told apart",
                         line_host(session->line), folder->name);
    session->selected = folder;
    session->selections++;
    session->writable = writable && info->sel_perm != MAILIMAP_MAILBOX_READONLY;
    session->validity = info->sel_uidvalidity;
    session->next = info->sel_uidnext;
    session->exists = info->sel_exists;
    return 0;
}

struct mailimap_set *imap_set(const uint32_t *uids, size_t count) {
    struct mailimap_set *set = mailimap_set_new_empty();
    for (size_t i = 0; i < count && set != NULL;) {
        size_t end = i + 1;
        while (end < count && uids[end] - uids[end - 1] <= 1)
            end++;
        if (mailimap_set_add_interval(set, uids[i], uids[end - 1]) != MAILIMAP_NO_ERROR) {
            mailimap_set_free(set);
            return NULL;
        }
        i = end;
    }
    return set;
}

uint32_t imap_uid_of(const struct mailimap_msg_att *answer) {
    for (clistiter *at = clist_begin(answer->att_list); at != NULL; at = clist_next(at)) {
        const struct mailimap_msg_att_item *item = clist_content(at);
        if (item->att_type == MAILIMAP_MSG_ATT_ITEM_STATIC && item->att_data.att_static->att_type == MAILIMAP_MSG_ATT_UID)
            return item->att_data.att_static->att_data.att_uid;
    }
    return 0;
}
