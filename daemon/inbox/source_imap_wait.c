/* Waiting for letters by IDLE (RFC 2177): a hint only. libetpan takes untagged data before "+" for an error, misses what comes in one piece with it,
 * and waits by select(); so these few lines are spoken here (RULINGS 47). */
#include "daemon/inbox/source_imap.h"

#include <string.h>

enum {
    END_SECONDS = 5,
    LINES_MAX = 1000, /* untagged ones before "+"; a server that says more is not waiting */
};

static const char tag[] = "wait ";

/* "* 5 EXISTS", "* 2 RECENT", "* BYE …": worth a look. Flags, EXPUNGE and "* OK still here" are not. What is no untagged line is the end. */
static bool is_news(const char *text) {
    if (strncmp(text, "* ", 2) != 0)
        return true;
    const char *word = text + 2;
    if (*word >= '0' && *word <= '9') {
        word += strspn(word, "0123456789");
        word += strspn(word, " ");
        return text_starts_nocase(word, "EXISTS") || text_starts_nocase(word, "RECENT");
    }
    return text_starts_nocase(word, "BYE");
}

/* Whether something new lies in the mailbox itself since list() looked. */
static bool came_since(const ImapSource *imap) {
    const ImapSession *session = &imap->session;
    if (imap->listed_validity != session->validity)
        return true;
    if (imap->listed_next != 0 && session->next != 0)
        return imap->listed_next != session->next;
    return imap->listed_count != session->exists;
}

/* Reads up to "+". 1: the server waits with us; 0: it does not want to; -1: the line is broken. */
static int begin(ImapSource *imap, Error *error) {
    ImapSession *session = &imap->session;
    static const char idle[] = "wait IDLE\r\n";
    char text[256];
    imap_begin(session, IMAP_ANSWER_MAX);
    int result = line_write(session->line, idle, sizeof idle - 1, error);
    for (int i = 0; i < LINES_MAX && result == 0; i++) {
        result = imap_read_line(session, text, sizeof text, error);
        if (result == 0 && text[0] == '+')
            return 1;
        if (result == 0 && strncmp(text, tag, sizeof tag - 1) == 0)
            return 0;
        imap->heard = imap->heard || is_news(text);
    }
    if (result == 0)
        error_set(error, ERROR_MAILBOX, 0, "%s: the server does not answer IDLE; a new connection is tried later", line_host(session->line));
    imap_drop(session);
    return -1;
}

static int wait_begin(ImapSource *imap, int *ret_descriptor, Error *error) {
    ImapSession *session = &imap->session;
    *ret_descriptor = -1;
    if (imap_open(session, error) < 0)
        return -1;
    if (!session->can_idle)
        return 0;
    if (imap_select(session, &imap->folders[0], false, error) < 0)
        return -1;
    imap->heard = came_since(imap);
    imap->wait_length = 0;
    int begun = begin(imap, error);
    if (begun < 0)
        return -1;
    if (begun == 0) {
        session->can_idle = false; /* on this line */
        return 0;
    }
    imap->waiting = true;
    *ret_descriptor = line_descriptor(session->line);
    return 0;
}

int imap_source_wait_begin(MailSource *source, int *ret_descriptor, Error *error) {
    ImapSource *imap = (ImapSource *)source;
    imap_source_wait_end(source);
    ImapLineBefore before = imap_source_line(imap);
    int result = wait_begin(imap, ret_descriptor, error);
    if (result < 0 && imap_source_was_stale(imap, before))
        result = wait_begin(imap, ret_descriptor, error);
    return result;
}

bool imap_source_wait_heard(MailSource *source) {
    ImapSource *imap = (ImapSource *)source;
    ImapSession *session = &imap->session;
    if (!imap->waiting || session->line == NULL)
        return true;
    imap_begin(session, IMAP_ANSWER_MAX);
    while (!imap->heard && imap_readable(session)) {
        char byte = 0;
        if (imap_read_byte(session, &byte, NULL) < 0)
            return imap->heard = true;
        if (byte != '\n') {
            if (byte != '\r' && byte != 0 && imap->wait_length + 1 < sizeof imap->wait_text)
                imap->wait_text[imap->wait_length++] = byte;
            continue;
        }
        imap->wait_text[imap->wait_length] = 0;
        imap->wait_length = 0;
        imap->heard = is_news(imap->wait_text);
    }
    return imap->heard;
}

/* DONE, and what comes up to the answer. A line already begun is read on to its end. */
void imap_source_wait_end(MailSource *source) {
    ImapSource *imap = (ImapSource *)source;
    ImapSession *session = &imap->session;
    static const char done[] = "DONE\r\n";
    char text[256];
    if (!imap->waiting)
        return;
    imap->waiting = false;
    if (session->line == NULL)
        return;
    line_begin(session->line, END_SECONDS, IMAP_ANSWER_MAX);
    bool good = line_write(session->line, done, sizeof done - 1, NULL) == 0;
    bool first = imap->wait_length > 0, answered = false;
    while (good && !answered) {
        good = imap_read_line(session, text, sizeof text, NULL) == 0;
        answered = good && !first && strncmp(text, tag, sizeof tag - 1) == 0;
        first = false;
    }
    imap->wait_length = 0;
    if (!answered)
        imap_drop(session);
}
