#include "daemon/line/host.h"

#include "core/base/str.h"
#include "daemon/line/line.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

/* NULL if the part is not there; the caller frees it by curl_free(). */
static char *url_part(const char *url, CURLUPart part) {
    char *text = NULL;
    CURLU *parsed = curl_url();
    if (parsed == NULL)
        return NULL;
    if (curl_url_set(parsed, CURLUPART_URL, url, 0) != CURLUE_OK || curl_url_get(parsed, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK)
        text = NULL;
    curl_url_cleanup(parsed);
    return text;
}

void host_and_port(const char *url, char *ret_host, size_t size) {
    char *host = url_part(url, CURLUPART_HOST), *port = url_part(url, CURLUPART_PORT);
    if (host != NULL && port != NULL)
        snprintf(ret_host, size, "%s:%s", host, port);
    else
        text_copy(ret_host, size, url);
    curl_free(host);
    curl_free(port);
}

bool line_host_is_local(const char *url) {
    char *host = url_part(url, CURLUPART_HOST);
    if (host == NULL)
        return false;
    size_t length = strlen(host);
    if (length > 0 && host[length - 1] == '.')
        host[--length] = 0;
    bool local = text_equal_nocase(host, "localhost") || strcmp(host, "[::1]") == 0 ||
                 (length > 10 && text_equal_nocase(host + length - 10, ".localhost"));
    /* curl writes every spelling of an IPv4 address (127.1, 0x7f000001) as four decimals */
    local = local || (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == length);
    curl_free(host);
    return local;
}
