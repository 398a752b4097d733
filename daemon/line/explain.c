/* What curl's results mean, in words. Which result comes of which trouble was tried with libcurl 7.88.1 over GnuTLS, the flavour libetpan wants. */
#include "daemon/line/host.h"
#include "daemon/line/line.h"

#include <ctype.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* CURLINFO_SSL_VERIFYRESULT holds gnutls_certificate_status_t. */
enum {
    CERTIFICATE_REVOKED = 1 << 5,
    CERTIFICATE_SIGNER_NOT_FOUND = 1 << 6,
    CERTIFICATE_SIGNER_NOT_CA = 1 << 7,
    CERTIFICATE_WEAK = 1 << 8,
    CERTIFICATE_NOT_YET = 1 << 9,
    CERTIFICATE_EXPIRED = 1 << 10,
    NAME_MAX_SHOWN = 80, /* bytes of a certificate's own texts */
};

typedef struct Trouble {
    const LineAccount *account;
    CURL *easy;
    const char *words; /* curl's */
    const char *reply; /* the server's */
    const char *said;  /* the same without IMAP's tag */
    char host[HOST_MAX];
} Trouble;

static bool scheme_is(const Trouble *trouble, const char *scheme) {
    return text_starts_nocase(trouble->account->url, scheme);
}

/* imaps, pop3s, smtps: TLS from the first byte. */
static bool secured_at_once(const Trouble *trouble) {
    const char *end = strchr(trouble->account->url, ':');
    return end != NULL && end > trouble->account->url && tolower((unsigned char)end[-1]) == 's';
}

static const char *scheme(const Trouble *trouble) { /* without the s */
    return scheme_is(trouble, "imap") ? "imap" : scheme_is(trouble, "pop3") ? "pop3" : "smtp";
}

static const char *kind(const Trouble *trouble) {
    return scheme_is(trouble, "imap") ? "IMAP" : scheme_is(trouble, "pop3") ? "POP3" : "SMTP";
}

/* curl's tags: a letter for the connection, three digits for the command. */
static bool is_tagged(const char *reply) {
    return isupper((unsigned char)*reply) && strspn(reply + 1, "0123456789") >= 3 && strchr(reply, ' ') != NULL;
}

static const char *without_tag(const char *reply) {
    return is_tagged(reply) ? strchr(reply, ' ') + 1 : reply;
}

bool reply_is_status(const char *reply) {
    return is_tagged(reply) || text_starts_nocase(reply, "* ") || text_starts_nocase(reply, "+OK") || text_starts_nocase(reply, "-ERR") ||
           strspn(reply, "0123456789") == 3;
}

bool reply_refuses(const char *reply) {
    if (strspn(reply, "0123456789") == 3)
        return *reply >= '4';
    return text_starts_nocase(reply, "* BYE") || text_starts_nocase(reply, "-ERR") || text_starts_nocase(without_tag(reply), "NO ") ||
           text_starts_nocase(without_tag(reply), "BAD ");
}

/* Whether the server's last line belongs to the protocol that was to be spoken. */
static bool reply_fits(const Trouble *trouble) {
    const char *reply = trouble->reply;
    if (!reply_is_status(reply))
        return false;
    if (scheme_is(trouble, "imap"))
        return *reply == '*' || is_tagged(reply);
    return scheme_is(trouble, "pop3") ? *reply == '+' || *reply == '-' : isdigit((unsigned char)*reply) != 0;
}

static bool has_one_of(const char *text, const char *const *words) {
    for (; *words != NULL; words++)
        for (const char *at = text; *at != 0; at++)
            if (text_starts_nocase(at, *words))
                return true;
    return false;
}

/* ---- certificates ---- */

/* A field of the chain's certificate number `index`, "" where it has none. */
static const char *certificate_field(const struct curl_certinfo *chain, int index, const char *name) {
    size_t length = strlen(name);
    for (const struct curl_slist *field = chain->certinfo[index]; field != NULL; field = field->next)
        if (strncmp(field->data, name, length) == 0)
            return field->data + length;
    return "";
}

static void certificate_name(const struct curl_certinfo *chain, const char *field, char *ret_name, size_t size) {
    const char *whole = chain == NULL || chain->num_of_certs == 0 ? "" : certificate_field(chain, 0, field);
    const char *common = strstr(whole, "CN=");
    text_copy(ret_name, size, common != NULL ? common + 3 : whole);
}

/* The chain's first end, or its last beginning: "2026-03-01 00:00:00 GMT" sorts as text. */
static void certificate_date(const struct curl_certinfo *chain, bool end, char *ret_date, size_t size) {
    const char *found = "";
    for (int i = 0; chain != NULL && i < chain->num_of_certs; i++) {
        const char *date = certificate_field(chain, i, end ? "Expire Date:" : "Start Date:");
        if (*found == 0 || (end ? strcmp(date, found) < 0 : strcmp(date, found) > 0))
            found = date;
    }
    text_copy(ret_date, size, *found == 0 ? "a day it does not tell" : found);
}

static int explain_signer(const Trouble *trouble, const struct curl_certinfo *chain, Error *error) {
    char subject[NAME_MAX_SHOWN], issuer[NAME_MAX_SHOWN];
    certificate_name(chain, "Subject:", subject, sizeof subject);
    certificate_name(chain, "Issuer:", issuer, sizeof issuer);
    if (strcmp(subject, issuer) == 0)
        return error_set(error, ERROR_INPUT, 0, "%s: its certificate is signed by nobody but itself (\"%s\"), so anybody could have made it; if it is your own server's, give the certificate as ca_file",
                         trouble->host, subject);
    if (trouble->account->ca_file != NULL)
        return error_set(error, ERROR_INPUT, 0, "%s: its certificate is signed by \"%s\", which is not among those in ca_file; correct ca_file, or leave it out for a public server", trouble->host, issuer);
    return error_set(error, ERROR_INPUT, 0, "%s: its certificate is signed by \"%s\", which this machine does not know; if you trust it, give its own certificate as ca_file (for a public server: is ca-certificates installed?)",
                     trouble->host, issuer);
}

static int explain_certificate(const Trouble *trouble, Error *error) {
    long found = 0;
    struct curl_certinfo *chain = NULL;
    char text[NAME_MAX_SHOWN];
    curl_easy_getinfo(trouble->easy, CURLINFO_SSL_VERIFYRESULT, &found);
    curl_easy_getinfo(trouble->easy, CURLINFO_CERTINFO, &chain);
    if ((found & CERTIFICATE_REVOKED) != 0)
        return error_set(error, ERROR_INPUT, 0, "%s: its certificate was revoked; whoever runs the server must install another", trouble->host);
    if ((found & CERTIFICATE_EXPIRED) != 0) {
        certificate_date(chain, true, text, sizeof text);
        return error_set(error, ERROR_INPUT, 0, "%s: its certificate ran out on %s; whoever runs the server must renew it, if the clock of this machine is right", trouble->host, text);
    }
    if ((found & CERTIFICATE_NOT_YET) != 0) {
        certificate_date(chain, false, text, sizeof text);
        return error_set(error, ERROR_INPUT, 0, "%s: its certificate is not valid before %s; is the clock of this machine right?", trouble->host, text);
    }
    if ((found & (CERTIFICATE_SIGNER_NOT_FOUND | CERTIFICATE_SIGNER_NOT_CA)) != 0)
        return explain_signer(trouble, chain, error);
    if ((found & CERTIFICATE_WEAK) != 0)
        return error_set(error, ERROR_INPUT, 0, "%s: its certificate is signed in a way that is too weak to be trusted; whoever runs the server must install another", trouble->host);
    if (strstr(trouble->words, "does not match") != NULL) {
        certificate_name(chain, "Subject:", text, sizeof text);
        return error_set(error, ERROR_INPUT, 0, "%s: its certificate is not for this name, but for %s; write the server's own name in the URL", trouble->host, *text == 0 ? "another" : text);
    }
    return error_set(error, ERROR_INPUT, 0, "%s: its certificate cannot be trusted (%s)", trouble->host, trouble->words);
}

static int explain_authorities(const Trouble *trouble, Error *error) {
    if (trouble->account->ca_file != NULL)
        return error_set(error, ERROR_INPUT, 0, "%s: there are no certificates to be read in %s; correct ca_file", trouble->host, trouble->account->ca_file);
    return error_set(error, ERROR_INPUT, 0, "%s: this machine has no certificate authorities to check the server by; install ca-certificates", trouble->host);
}

static int explain_handshake(const Trouble *trouble, Error *error) {
    if (strstr(trouble->words, "unexpected TLS packet") != NULL)
        return error_set(error, ERROR_INPUT, 0, "%s: no TLS is spoken from the first byte on this port; write %s:// without the s, which secures it by STARTTLS, or another port",
                         trouble->host, scheme(trouble));
    if (strstr(trouble->words, "protocol version") != NULL)
        return error_set(error, ERROR_INPUT, 0, "%s: it speaks no TLS of version 1.2 or later, and older ones are not safe; whoever runs the server must update it", trouble->host);
    return error_set(error, ERROR_MAILBOX, 0, "%s: no secured connection could be made (%s); it is tried again later", trouble->host, trouble->words);
}

static int explain_no_tls(const Trouble *trouble, Error *error) {
    if (reply_refuses(trouble->reply))
        return error_set(error, ERROR_MAILBOX, 0, "%s: it refuses to secure the connection by STARTTLS, saying \"%s\"; no password was sent; it is tried again later", trouble->host, trouble->said);
    return error_set(error, ERROR_INPUT, 0, "%s: it does not offer STARTTLS, so that the connection would be open to everybody, and no password was sent; if the server has a port with TLS from the start, write %s",
                     trouble->host, scheme_is(trouble, "imap") ? "imaps:// (993)" : scheme_is(trouble, "pop3") ? "pop3s:// (995)" : "smtps:// (465)");
}

/* ---- logging in ---- */

/* RFC 5530, 2449, 3206, 4954: what passes by itself. */
static bool refused_for_now(const char *reply) {
    static const char *const passing[] = { "[UNAVAILABLE]", "[INUSE]", "[LIMIT]", "[SERVERBUG]", "[IN-USE]", "[LOGIN-DELAY]", "[SYS/TEMP]", "* BYE", NULL };
    return (strspn(reply, "0123456789") == 3 && *reply == '4') || has_one_of(reply, passing);
}

static int explain_login(const Trouble *trouble, Error *error) {
    /* What the large providers say where the account's own password is not enough. */
    static const char *const hints[] = { "app password", "app-specific", "application-specific", "application password", "oauth", "basic auth", "web browser", "webalert",
                                         "two-factor", "2-step", "2fa", "not accepted", "less secure", "5.7.9", "5.7.139", "invalid credentials", NULL };
    const char *user = trouble->account->user == NULL ? "" : trouble->account->user;
    bool token = trouble->account->secret.token != NULL;
    if (!reply_refuses(trouble->reply))
        return error_set(error, ERROR_INPUT, 0, "%s: it offers no way of logging in with %s; use %s", trouble->host, token ? "an OAuth2 token (neither OAUTHBEARER nor XOAUTH2)" : "a password",
                         token ? "a password instead of token_command" : "token_command if it wants OAuth2");
    if (refused_for_now(trouble->reply))
        return error_set(error, ERROR_MAILBOX, 0, "%s: it cannot log %s in for now, saying \"%s\"; it is tried again later", trouble->host, user, trouble->said);
    const char *advice = token ? "is the token fresh, and meant for this user and for reading and sending mail?"
                         : has_one_of(trouble->reply, hints) ? "many providers want an app password, made on their web pages, or OAuth2 (token_command), instead of the account's password"
                                                             : "check the user name and the password";
    return error_set(error, ERROR_INPUT, 0, "%s: it refused the log-in of %s, saying \"%s\"; %s", trouble->host, user, trouble->said, advice);
}

/* ---- connections ---- */

static int explain_connection(const Trouble *trouble, Error *error) {
    long code = 0;
    curl_easy_getinfo(trouble->easy, CURLINFO_OS_ERRNO, &code);
    if (code == ECONNREFUSED)
        return error_set(error, ERROR_MAILBOX, 0, "%s: nothing answers there (connection refused): is the server running, is the port right? It is tried again later", trouble->host);
    return error_set(error, ERROR_MAILBOX, 0, "%s: it cannot be reached (%s): is the network up? It is tried again later", trouble->host, code != 0 ? strerror((int)code) : trouble->words);
}

static int explain_stranger(const Trouble *trouble, Error *error) {
    return error_set(error, ERROR_INPUT, 0, "%s: no %s server answers there, but one that says \"%s\"; correct the scheme or the port", trouble->host, kind(trouble), trouble->said);
}

static int explain_time(const Trouble *trouble, Error *error) {
    double found = 0;
    const char *address = NULL; /* there only when TCP had connected; CURLINFO_CONNECT_TIME counts TLS in */
    curl_easy_getinfo(trouble->easy, CURLINFO_NAMELOOKUP_TIME, &found);
    curl_easy_getinfo(trouble->easy, CURLINFO_PRIMARY_IP, &address);
    if (*trouble->reply != 0 && !reply_fits(trouble))
        return explain_stranger(trouble, error);
    if (*trouble->reply != 0)
        return error_set(error, ERROR_MAILBOX, 0, "%s: it did not answer in time after it had said \"%s\"; it is tried again later", trouble->host, trouble->said);
    if (found <= 0)
        return error_set(error, ERROR_MAILBOX, 0, "%s: its name was not found in time: does this machine's name server answer? It is tried again later", trouble->host);
    if (address == NULL || *address == 0)
        return error_set(error, ERROR_MAILBOX, 0, "%s: no connection could be made in time: is the port right, does a firewall stand between? It is tried again later", trouble->host);
    if (trouble->account->plain)
        return error_set(error, ERROR_MAILBOX, 0, "%s: there is a connection, but no greeting came in time: is the port right? It is tried again later", trouble->host);
    return error_set(error, ERROR_MAILBOX, 0, "%s: there is a connection, but no greeting came in time; if this port %s, write %s%s://; else it is tried again later", trouble->host,
                     secured_at_once(trouble) ? "begins without TLS" : "has TLS from the start", scheme(trouble), secured_at_once(trouble) ? "" : "s");
}

/* The line broke, or what came is none of the protocol. */
static int explain_end(const Trouble *trouble, Error *error) {
    if (strstr(trouble->words, "Too large") != NULL)
        return error_set(error, ERROR_MAILBOX, 0, "%s: it sends without end instead of a greeting; is it %s that answers there? It is tried again later", trouble->host, kind(trouble));
    if (*trouble->reply == 0)
        return error_set(error, ERROR_MAILBOX, 0, "%s: the connection was closed before a greeting came; it is tried again later", trouble->host);
    if (!reply_fits(trouble))
        return explain_stranger(trouble, error);
    if (reply_refuses(trouble->reply))
        return error_set(error, ERROR_MAILBOX, 0, "%s: it does not serve us now, saying \"%s\"; it is tried again later", trouble->host, trouble->said);
    return error_set(error, ERROR_MAILBOX, 0, "%s: the connection broke after it had said \"%s\"; it is tried again later", trouble->host, trouble->said);
}

static int explain(const Trouble *trouble, CURLcode result, Error *error) {
    switch (result) {
    case CURLE_COULDNT_RESOLVE_HOST: /* curl does not tell "no such name" from "nobody to ask", so the grade is the one that tries again */
        return error_set(error, ERROR_MAILBOX, 0, "%s: there is no such name; correct the URL, or, if other names are not found either, this machine's network; it is tried again later", trouble->host);
    case CURLE_COULDNT_CONNECT:
        return explain_connection(trouble, error);
    case CURLE_OPERATION_TIMEDOUT:
        return explain_time(trouble, error);
    case CURLE_SSL_CONNECT_ERROR:
        return explain_handshake(trouble, error);
    case CURLE_PEER_FAILED_VERIFICATION:
        return explain_certificate(trouble, error);
    case CURLE_SSL_CACERT_BADFILE:
        return explain_authorities(trouble, error);
    case CURLE_USE_SSL_FAILED:
        return explain_no_tls(trouble, error);
    case CURLE_LOGIN_DENIED:
        return explain_login(trouble, error);
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_GOT_NOTHING:
        return explain_end(trouble, error);
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        return error_set(error, ERROR_INPUT, 0, "%s: this URL cannot be used (%s)", trouble->host, curl_easy_strerror(result));
    case CURLE_OUT_OF_MEMORY:
        return error_set(error, ERROR_LATER, 0, "%s: no memory for a connection; it is tried again later", trouble->host);
    default:
        return error_set(error, ERROR_MAILBOX, 0, "%s: the connection failed (%s); it is tried again later", trouble->host, *trouble->words != 0 ? trouble->words : curl_easy_strerror(result));
    }
}

void line_explain_curl(const LineAccount *account, int curl_code, void *easy, const char *words, const char *reply, Error *error) {
    Trouble trouble = { .account = account, .easy = easy, .words = words, .reply = reply, .said = without_tag(reply) };
    host_and_port(account->url, trouble.host, sizeof trouble.host);
    explain(&trouble, (CURLcode)curl_code, error);
    if (error != NULL)
        error->code = curl_code;
}
