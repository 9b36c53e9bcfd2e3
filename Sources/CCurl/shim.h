// libcurl for Swift: the variadic calls as typed inline functions, nothing else.
#pragma once

#include <curl/curl.h>
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

static inline CURLcode haul_watch_context(CURL *easy, void *context, void *watch) {
    (void)easy;
    ((void (*)(void *))watch)(context);
    return CURLE_OK;
}

/// Has `watch` called with the SSL_CTX of each TLS connection that the handle makes.
static inline CURLcode haul_watch_tls(CURL *easy, void (*watch)(void *context)) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, (void *)watch);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, haul_watch_context) : code;
}

/// The SSL object of a running transfer; NULL when there is none, or TLS is not OpenSSL's.
static inline void *haul_tls_of(CURL *easy) {
    struct curl_tlssessioninfo *info = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &info) != CURLE_OK || info == NULL) return NULL;
    return info->backend == CURLSSLBACKEND_OPENSSL ? info->internals : NULL;
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
