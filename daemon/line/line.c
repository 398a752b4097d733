#include "daemon/line/line.h"

#include "core/base/str.h"
#include "daemon/line/host.h"
#include "daemon/machine_clock.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ALIVE_MILLISECONDS = 500, /* between two calls of alive(), which wants one a second at least */
    AHEAD_MAX = 4096,         /* bytes taken out of the TLS layer by line_pending() */
};

struct Line {
    CURLM *multi;
    CURL *easy; /* stays in multi: curl finds the connection of a CONNECT_ONLY handle by way of it */
    int socket;
    void (*alive)(void);
    int64_t alive_due;
    int64_t deadline; /* of the operation under way */
    int seconds;
    size_t left; /* bytes the operation may still read */
    size_t ahead_at, ahead_length;
    char host[HOST_MAX];
    Error fault; /* the first one */
    char words[CURL_ERROR_SIZE];
    char reply[REPLY_MAX];
    char ahead[AHEAD_MAX];
};

static int curl_made = -1;
static int connect_seconds = LINE_CONNECT_SECONDS; /* the unit test shortens it */

/* ---- opening ---- */

static size_t swallow(char *bytes, size_t size, size_t count, void *data) {
    (void)bytes, (void)data;
    return size * count;
}

/* The last line by which the server said how things went, or the first line that it said at all. */
static size_t keep_reply(char *bytes, size_t size, size_t count, void *data) {
    Line *line = data;
    size_t length = size * count;
    char text[REPLY_MAX];
    while (length > 0 && (bytes[length - 1] == '\n' || bytes[length - 1] == '\r'))
        length--;
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text), bytes);
    if (*line->reply == 0 || reply_is_status(text))
        text_copy(line->reply, sizeof line->reply, text);
    return size * count;
}

static bool has_controls(const char *text) {
    for (; *text != 0; text++)
        if (iscntrl((unsigned char)*text))
            return true;
    return false;
}

static int set_login(const LineAccount *account, CURL *easy, Error *error) {
    if (account->user == NULL)
        return 0;
    if (*account->user == 0 || has_controls(account->user))
        return error_set(error, ERROR_INPUT, 0, "the user name for %s is empty or has a control character in it: correct `user`", account->url);
    Str secret;
    str_init(&secret, SECRET_MAX);
    int result = secret_read(&account->secret, account->alive, &secret, error);
    if (result == 0) {
        bool token = account->secret.token != NULL;
        bool good = curl_easy_setopt(easy, CURLOPT_USERNAME, account->user) == CURLE_OK;
        good = good && curl_easy_setopt(easy, token ? CURLOPT_XOAUTH2_BEARER : CURLOPT_PASSWORD, secret.data) == CURLE_OK;
        /* Only what shows the secret to the server as it is, inside TLS: curl prefers CRAM-MD5, NTLM or Kerberos where they are offered, and gives up
         * when they fail. */
        good = good && curl_easy_setopt(easy, CURLOPT_LOGIN_OPTIONS, token ? "AUTH=OAUTHBEARER;AUTH=XOAUTH2" : "AUTH=PLAIN;AUTH=LOGIN") == CURLE_OK;
        if (!good)
            result = error_set(error, ERROR_LATER, 0, "no memory for logging in to %s", account->url);
    }
    secret_free(&secret);
    return result;
}

static int limit_of(const LineAccount *account) {
    return account->seconds > 0 ? account->seconds : connect_seconds;
}

static bool set_connection(const LineAccount *account, CURL *easy) {
    bool good = true;
    good &= curl_easy_setopt(easy, CURLOPT_URL, account->url) == CURLE_OK;
    good &= curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "imap,imaps,pop3,pop3s,smtp,smtps") == CURLE_OK;
    good &= curl_easy_setopt(easy, CURLOPT_PROXY, "") == CURLE_OK; /* none from the environment */
    good &= curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
    good &= curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L) == CURLE_OK; /* does not wait for a name server that does not answer */
    good &= curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L) == CURLE_OK;
    good &= curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT, (long)limit_of(account)) == CURLE_OK;
    good &= curl_easy_setopt(easy, CURLOPT_USE_SSL, account->plain ? (long)CURLUSESSL_NONE : (long)CURLUSESSL_ALL) == CURLE_OK;
    good &= curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK; /* RFC 8314 4.1 */
    good &= curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK;
    good &= curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK;
    good &= curl_easy_setopt(easy, CURLOPT_CERTINFO, 1L) == CURLE_OK; /* for telling what is wrong with a certificate */
    if (account->ca_file != NULL) {
        good &= curl_easy_setopt(easy, CURLOPT_CAINFO, account->ca_file) == CURLE_OK;
        good &= curl_easy_setopt(easy, CURLOPT_CAPATH, NULL) == CURLE_OK;
    }
    return good;
}

int line_prepare_curl(const LineAccount *account, void *easy, Error *error) {
    if (!set_connection(account, easy))
        return error_set(error, ERROR_LATER, 0, "no memory for a connection to %s", account->url);
    return set_login(account, easy, error);
}

static void tell_alive(Line *line, int64_t now) {
    if (line->alive == NULL || now < line->alive_due)
        return;
    line->alive();
    int64_t took = machine_milliseconds() - now; /* what else was done meanwhile (letters went out, a command was asked for a token) is not the server's time */
    line->deadline += took;
    line->alive_due = now + took + ALIVE_MILLISECONDS;
}

/* Lets curl connect and log in; by its multi interface, so that alive() is called in between whatever the server does. */
static CURLcode connect_now(Line *line) {
    int running = 1;
    while (curl_multi_perform(line->multi, &running) == CURLM_OK && running > 0) {
        int64_t now = machine_milliseconds();
        tell_alive(line, now);
        if (now >= line->deadline)
            return CURLE_OPERATION_TIMEDOUT;
        int64_t slice = line->deadline - now < ALIVE_MILLISECONDS ? line->deadline - now : ALIVE_MILLISECONDS;
        if (curl_multi_poll(line->multi, NULL, 0, (int)slice, NULL) != CURLM_OK)
            return CURLE_OUT_OF_MEMORY;
    }
    int queued = 0;
    const CURLMsg *message = curl_multi_info_read(line->multi, &queued);
    return message != NULL && message->msg == CURLMSG_DONE ? message->data.result : CURLE_OUT_OF_MEMORY;
}

static Line *line_new(const LineAccount *account) {
    if (curl_made != 0)
        curl_made = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? 0 : -1;
    Line *line = curl_made == 0 ? calloc(1, sizeof *line) : NULL;
    if (line == NULL)
        return NULL;
    line->socket = -1;
    line->alive = account->alive;
    line->multi = curl_multi_init();
    line->easy = curl_easy_init();
    host_and_port(account->url, line->host, sizeof line->host);
    if (line->multi != NULL && line->easy != NULL)
        return line;
    line_close(line);
    return NULL;
}

static int prepare(Line *line, const LineAccount *account, Error *error) {
    bool good = true;
    good &= curl_easy_setopt(line->easy, CURLOPT_CONNECT_ONLY, 1L) == CURLE_OK;
    good &= curl_easy_setopt(line->easy, CURLOPT_ERRORBUFFER, line->words) == CURLE_OK;
    good &= curl_easy_setopt(line->easy, CURLOPT_HEADERFUNCTION, keep_reply) == CURLE_OK;
    good &= curl_easy_setopt(line->easy, CURLOPT_HEADERDATA, line) == CURLE_OK;
    good &= curl_easy_setopt(line->easy, CURLOPT_WRITEFUNCTION, swallow) == CURLE_OK;
    good &= curl_easy_setopt(line->easy, CURLOPT_TIMEOUT, (long)limit_of(account)) == CURLE_OK;
    if (!good)
        return error_set(error, ERROR_LATER, 0, "no memory for a connection to %s", line->host);
    return line_prepare_curl(account, line->easy, error);
}

static CURLcode connect_once(Line *line) {
    if (curl_multi_add_handle(line->multi, line->easy) != CURLM_OK)
        return CURLE_OUT_OF_MEMORY;
    *line->words = *line->reply = 0;
    CURLcode result = connect_now(line);
    curl_socket_t descriptor = CURL_SOCKET_BAD;
    if (result == CURLE_OK && (curl_easy_getinfo(line->easy, CURLINFO_ACTIVESOCKET, &descriptor) != CURLE_OK || descriptor == CURL_SOCKET_BAD))
        result = CURLE_COULDNT_CONNECT;
    line->socket = descriptor;
    return result;
}

static CURLcode connect_line(Line *line, const LineAccount *account) {
    line_begin(line, limit_of(account), LINE_BYTES_MAX);
    CURLcode result = connect_once(line);
    if (result != CURLE_LOGIN_DENIED || reply_refuses(line->reply) || account->secret.token != NULL)
        return result;
    /* The server was not even asked, for it knows neither PLAIN nor LOGIN of SASL: then whatever curl finds (LOGIN of IMAP, USER of POP3). */
    curl_multi_remove_handle(line->multi, line->easy);
    if (curl_easy_setopt(line->easy, CURLOPT_LOGIN_OPTIONS, NULL) != CURLE_OK)
        return CURLE_OUT_OF_MEMORY;
    return connect_once(line);
}

Line *line_open(const LineAccount *account, Error *error) {
    Line *line = line_new(account);
    if (line == NULL) {
        error_set(error, ERROR_LATER, 0, "no memory for a connection to %s", account->url);
        return NULL;
    }
    if (prepare(line, account, error) != 0)
        goto failed;
    CURLcode result = connect_line(line, account);
    if (result != CURLE_OK) {
        line_explain_curl(account, result, line->easy, line->words, line->reply, error);
        goto failed;
    }
    line_begin(line, LINE_SECONDS, LINE_BYTES_MAX);
    return line;
failed:
    line_close(line);
    return NULL;
}

void line_close(Line *line) {
    if (line == NULL)
        return;
    if (line->multi != NULL && line->easy != NULL)
        curl_multi_remove_handle(line->multi, line->easy);
    curl_easy_cleanup(line->easy);
    curl_multi_cleanup(line->multi);
    free(line);
}

/* ---- speaking ---- */

void line_begin(Line *line, int seconds, size_t bytes) {
    line->seconds = seconds;
    line->deadline = machine_milliseconds() + (int64_t)seconds * 1000;
    line->left = bytes;
}

static int broken_again(const Line *line, Error *error) {
    if (error != NULL)
        *error = line->fault;
    return -1;
}

/* The first fault is the line's for ever. */
__attribute__((format(printf, 3, 4))) static int break_line(Line *line, Error *error, const char *format, ...) {
    if (line->fault.grade == ERROR_NONE) {
        char text[ERROR_TEXT_MAX];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        error_set(&line->fault, ERROR_MAILBOX, 0, "%s", text);
        error_prefix(&line->fault, "%s", line->host);
    }
    return broken_again(line, error);
}

/* Waits until the socket is ready, or for a part of the time; -1 when the operation's time is over. */
static int wait_for(Line *line, short events, Error *error) {
    int64_t now = machine_milliseconds();
    tell_alive(line, now);
    if (now >= line->deadline)
        return break_line(line, error, "the server was not done after %d s; the connection was given up, and a new one is tried later", line->seconds);
    int64_t slice = line->deadline - now < ALIVE_MILLISECONDS ? line->deadline - now : ALIVE_MILLISECONDS;
    struct pollfd ready = { .fd = line->socket, .events = events };
    if (poll(&ready, 1, (int)slice) < 0 && errno != EINTR)
        return break_line(line, error, "cannot wait for the server: %s", strerror(errno));
    return 0;
}

static ssize_t read_ahead(Line *line, void *ret_bytes, size_t size) {
    size_t length = line->ahead_length - line->ahead_at;
    length = length < size ? length : size;
    memcpy(ret_bytes, line->ahead + line->ahead_at, length);
    line->ahead_at += length;
    return (ssize_t)length;
}

/* Bytes, 0 where there are none yet, -1 at the end. */
static ssize_t receive(Line *line, void *ret_bytes, size_t size, Error *error) {
    if (line->ahead_at < line->ahead_length)
        return read_ahead(line, ret_bytes, size);
    size_t length = 0;
    CURLcode result = curl_easy_recv(line->easy, ret_bytes, size, &length);
    if (result == CURLE_AGAIN)
        return 0;
    if (result == CURLE_OK && length > 0)
        return (ssize_t)length;
    if (result == CURLE_OK)
        return break_line(line, error, "the server closed the connection; a new one is tried later");
    return break_line(line, error, "the connection broke while reading (%s); a new one is tried later", curl_easy_strerror(result));
}

ssize_t line_read(Line *line, void *ret_bytes, size_t size, Error *error) {
    if (line->fault.grade != ERROR_NONE)
        return broken_again(line, error);
    if (line->left == 0)
        return break_line(line, error, "the server sent more than was to be expected; the connection was given up, and a new one is tried later");
    size = size < line->left ? size : line->left;
    ssize_t length = 0;
    int64_t now = machine_milliseconds();
    tell_alive(line, now);
    while (now >= line->deadline || (length = receive(line, ret_bytes, size, error)) == 0) {
        if (wait_for(line, POLLIN, error) != 0)
            return -1;
        now = machine_milliseconds();
    }
    if (length > 0)
        line->left -= (size_t)length;
    return length;
}

int line_write(Line *line, const void *bytes, size_t length, Error *error) {
    if (line->fault.grade != ERROR_NONE)
        return broken_again(line, error);
    for (size_t at = 0; at < length;) {
        size_t sent = 0;
        CURLcode result = curl_easy_send(line->easy, (const char *)bytes + at, length - at, &sent);
        if (result != CURLE_OK && result != CURLE_AGAIN)
            return break_line(line, error, "the connection broke while writing (%s); a new one is tried later", curl_easy_strerror(result));
        at += sent;
        if (at < length && wait_for(line, POLLOUT, error) != 0)
            return -1;
    }
    return 0;
}

int line_descriptor(const Line *line) {
    return line->socket;
}

bool line_pending(Line *line) {
    if (line->fault.grade != ERROR_NONE || line->ahead_at < line->ahead_length)
        return true;
    size_t length = 0;
    CURLcode result = curl_easy_recv(line->easy, line->ahead, sizeof line->ahead, &length);
    if (result == CURLE_AGAIN)
        return false;
    line->ahead_at = 0;
    line->ahead_length = result == CURLE_OK ? length : 0; /* the end and errors come again with line_read() */
    return true;
}

const char *line_fault(const Line *line) {
    return line->fault.text;
}

const char *line_host(const Line *line) {
    return line->host;
}
