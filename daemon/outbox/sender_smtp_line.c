#include "daemon/outbox/sender_smtp_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

static void note_offers(SmtpLine *line, const char *bytes, size_t length) {
    if (length >= 3 && memcmp(bytes, "235", 3) == 0)
        line->logged_in = true;
    if (length >= 3 && memcmp(bytes, "220", 3) == 0)
        line->takes_size = false; /* STARTTLS: what was offered before counts no more (RFC 3207 4.2) */
    if (length >= 8 && memcmp(bytes, "250", 3) == 0 && strncasecmp(bytes + 4, "SIZE", 4) == 0)
        line->takes_size = true;
}

/* Curl hands over each line of each reply. Endless ones end the connection. */
static size_t hear(char *bytes, size_t size, size_t count, void *data) {
    SmtpLine *line = data;
    size_t length = size * count;
    note_offers(line, bytes, length);
    if (line->reply.whole || line->reply.broken)
        smtp_reply_begin(&line->reply);
    smtp_reply_feed(&line->reply, bytes, length);
    line->heard_ += length;
    return line->heard_ > SMTP_REPLY_MAX ? 0 : length;
}

static size_t drop(char *bytes, size_t size, size_t count, void *data) {
    (void)bytes, (void)data;
    return size * count;
}

static int prepare(SmtpLine *line, const LineAccount *account, const char *name, int seconds, void *owner, Error *error) {
    if (line_prepare_curl(account, line->easy, error) != 0)
        return -1;
    Str url; /* curl takes the path for EHLO's argument */
    str_init(&url, 2000);
    bool good = str_printf(&url, "%s/%s", account->url, name);
    good = good && curl_easy_setopt(line->easy, CURLOPT_URL, url.data) == CURLE_OK;
    good &= curl_easy_setopt(line->easy, CURLOPT_CONNECT_ONLY, 1L) == CURLE_OK;
    good &= curl_easy_setopt(line->easy, CURLOPT_PRIVATE, owner) == CURLE_OK;
    good &= curl_easy_setopt(line->easy, CURLOPT_ERRORBUFFER, line->words_) == CURLE_OK;
    good &= curl_easy_setopt(line->easy, CURLOPT_HEADERFUNCTION, hear) == CURLE_OK;
    good &= curl_easy_setopt(line->easy, CURLOPT_HEADERDATA, line) == CURLE_OK;
    good &= curl_easy_setopt(line->easy, CURLOPT_WRITEFUNCTION, drop) == CURLE_OK;
    good &= curl_easy_setopt(line->easy, CURLOPT_CONNECTTIMEOUT, (long)seconds) == CURLE_OK;
    good &= curl_easy_setopt(line->easy, CURLOPT_TIMEOUT, (long)seconds) == CURLE_OK;
    good &= curl_easy_setopt(line->easy, CURLOPT_SERVER_RESPONSE_TIMEOUT, (long)seconds) == CURLE_OK;
    str_free(&url);
    return good ? 0 : error_set(error, ERROR_LATER, 0, "no memory for a connection to %s", account->url);
}

int smtp_line_open(SmtpLine *line, CURLM *multi, const LineAccount *account, const char *name, int seconds, void *owner, Error *error) {
    *line = (SmtpLine){ .multi = multi, .easy = curl_easy_init(), .socket = -1 };
    if (line->easy == NULL)
        return error_set(error, ERROR_LATER, 0, "no memory for a connection to %s", account->url);
    int result = prepare(line, account, name, seconds, owner, error);
    if (result == 0 && curl_multi_add_handle(multi, line->easy) != CURLM_OK)
        result = error_set(error, ERROR_LATER, 0, "no memory for a connection to %s", account->url);
    if (result != 0)
        smtp_line_close(line);
    return result;
}

/* A name that is not found may be the network's fault, a 4xx is the server's for now; a 5xx before any letter will be there tomorrow too. */
static bool is_operators(const SmtpLine *line, CURLcode code, const Error *error) {
    if (line->reply.whole && line->reply.code >= 500)
        return true;
    bool passing = code == CURLE_COULDNT_RESOLVE_HOST || (line->reply.whole && line->reply.code >= 400);
    return error->grade == ERROR_INPUT && !passing;
}

int smtp_line_opened(SmtpLine *line, CURLcode code, const LineAccount *account, bool *ret_operators, Error *error) {
    curl_socket_t descriptor = CURL_SOCKET_BAD;
    if (code == CURLE_OK && (curl_easy_getinfo(line->easy, CURLINFO_ACTIVESOCKET, &descriptor) != CURLE_OK || descriptor == CURL_SOCKET_BAD))
        code = CURLE_COULDNT_CONNECT;
    if (code != CURLE_OK) {
        Error fault;
        error_clear(&fault);
        line_explain_curl(account, (int)code, line->easy, line->words_, line->reply.whole ? line->reply.words : "", &fault);
        *ret_operators = is_operators(line, code, &fault);
        bool refused = line->reply.whole && line->reply.code >= 400 && strstr(fault.text, line->reply.words) == NULL;
        return error_set(error, fault.grade, fault.code, refused ? "%s (the server said: %s)" : "%s", fault.text, line->reply.words);
    }
    if (account->user != NULL && !line->logged_in) { /* curl goes on without, where AUTH is not offered */
        *ret_operators = true;
        return error_set(error, ERROR_INPUT, 0, "%s does not offer a log-in (AUTH): correct `url` or remove `user` in [outgoing]", account->url);
    }
    line->socket = descriptor;
    line->connected = true;
    smtp_reply_begin(&line->reply);
    return 0;
}

void smtp_line_close(SmtpLine *line) {
    if (line->easy == NULL)
        return;
    curl_multi_remove_handle(line->multi, line->easy);
    curl_easy_cleanup(line->easy);
    line->easy = NULL;
    line->connected = false;
    line->socket = -1;
}

/* ---- speaking ---- */

/* More of what the server says. CURLE_AGAIN: nothing now; CURLE_GOT_NOTHING: the end. */
static CURLcode fetch(SmtpLine *line) {
    if (line->in_at_ < line->in_length_)
        return CURLE_OK;
    size_t length = 0;
    CURLcode code = curl_easy_recv(line->easy, line->in_, sizeof line->in_, &length);
    line->in_at_ = 0;
    line->in_length_ = code == CURLE_OK ? length : 0;
    return code == CURLE_OK && length == 0 ? CURLE_GOT_NOTHING : code;
}

void smtp_line_say(SmtpLine *line, const char *bytes, size_t length) {
    smtp_reply_begin(&line->reply);
    line->saying_ = bytes;
    line->saying_length_ = length;
    line->said_ = 0;
}

bool smtp_line_said(const SmtpLine *line) {
    return line->said_ == line->saying_length_;
}

static SmtpProgress broken(SmtpLine *line, const char *why, const char *details) {
    snprintf(line->fault, sizeof line->fault, "%s%s%s%s", why, *details == 0 ? "" : " (", details, *details == 0 ? "" : ")");
    return SMTP_BROKEN;
}

SmtpProgress smtp_line_work(SmtpLine *line) {
    /* What comes before the first byte was said is no answer to it: a 421, the connection's end, or a server out of step. Then nothing is said. */
    bool begins = line->said_ == 0 && line->saying_length_ > 0;
    line->untimely = begins && (line->reply.total_ > 0 || fetch(line) != CURLE_AGAIN);
    CURLcode sending = CURLE_OK;
    while (!line->untimely && sending == CURLE_OK && !smtp_line_said(line)) {
        size_t sent = 0;
        sending = curl_easy_send(line->easy, line->saying_ + line->said_, line->saying_length_ - line->said_, &sent);
        line->said_ += sending == CURLE_OK ? sent : 0;
    }
    /* A server that closes while we send may have said why. */
    for (;;) {
        CURLcode code = fetch(line);
        if (code == CURLE_AGAIN && sending != CURLE_OK && sending != CURLE_AGAIN)
            return broken(line, "the connection broke", curl_easy_strerror(sending));
        if (code == CURLE_AGAIN)
            return SMTP_WAITS;
        if (code == CURLE_GOT_NOTHING)
            return broken(line, "the server closed the connection", "");
        if (code != CURLE_OK)
            return broken(line, "the connection broke", curl_easy_strerror(code));
        line->in_at_ += smtp_reply_feed(&line->reply, line->in_ + line->in_at_, line->in_length_ - line->in_at_);
        if (line->reply.broken)
            return broken(line, "the server's answer cannot be read", "");
        if (line->reply.whole)
            return SMTP_REPLIED;
    }
}

bool smtp_line_quiet(SmtpLine *line) {
    return fetch(line) == CURLE_AGAIN;
}
