// libcurl for Swift: the variadic calls as typed inline functions, nothing else.
#pragma once

#include <curl/curl.h>
#include <openssl/ssl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

static inline CURLcode haul_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode haul_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode haul_easy_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode haul_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode haul_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(easy, option, value);
}

typedef size_t (*haul_bytes_callback)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode haul_easy_set_bytes_callback(CURL *easy, CURLoption option, haul_bytes_callback callback) {
    return curl_easy_setopt(easy, option, callback);
}

static inline CURLcode haul_easy_info_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode haul_easy_info_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode haul_easy_info_string(CURL *easy, CURLINFO info, char **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode haul_easy_info_pointer(CURL *easy, CURLINFO info, void **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode haul_easy_info_list(CURL *easy, CURLINFO info, struct curl_slist **value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode haul_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

/// The numeric fields of a CURLMsg; the union cannot be read safely from Swift.
static inline CURLcode haul_message_result(const CURLMsg *message) {
    return message->data.result;
}

static inline CURLcode haul_require_close_notify_now(CURL *easy, void *context, void *unused) {
    (void)easy;
    (void)unused;
#ifdef SSL_OP_IGNORE_UNEXPECTED_EOF
    SSL_CTX_clear_options((SSL_CTX *)context, SSL_OP_IGNORE_UNEXPECTED_EOF);
#else
    (void)context;
#endif
    return CURLE_OK;
}

/// A TLS stream that ends without close_notify is an error, not the end of the body (RFC 8446 §6.1).
static inline CURLcode haul_require_close_notify(CURL *easy) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, haul_require_close_notify_now);
}

static inline int haul_small_receive_buffer_now(void *context, curl_socket_t socket, curlsocktype purpose) {
    (void)purpose;
    int bytes = (int)(size_t)context;
    // A refusal only means a larger burst.
    (void)setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    return CURL_SOCKOPT_OK;
}

/// Keeps the kernel from receiving far ahead of a rate limit. SO_RCVBUF is set before connecting (tcp(7)).
static inline CURLcode haul_small_receive_buffer(CURL *easy, size_t bytes) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, (void *)bytes);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, haul_small_receive_buffer_now) : code;
}
