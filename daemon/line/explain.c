#include "daemon/line/line.h"

#include <curl/curl.h>
void line_explain_curl(const LineAccount *account, int curl_code, void *easy, const char *words, const char *reply, Error *error) {
    (void)easy;
    ErrorGrade grade = curl_code == CURLE_LOGIN_DENIED || curl_code == CURLE_PEER_FAILED_VERIFICATION || curl_code == CURLE_USE_SSL_FAILED ? ERROR_INPUT : ERROR_MAILBOX;
    error_set(error, grade, curl_code, "%s: %s: %s (%s)", account->url, curl_easy_strerror((CURLcode)curl_code), words, reply);
}
