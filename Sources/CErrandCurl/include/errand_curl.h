#pragma once
#ifdef __linux__

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// libcurl's variadic functions, one typed form for each kind of value.

static inline CURLcode errand_easy_set_long(CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode errand_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode errand_easy_set_string(CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode errand_easy_set_pointer(CURL *easy, CURLoption option, const void *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLcode errand_easy_set_list(CURL *easy, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(easy, option, value);
}

static inline CURLMcode errand_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

// Sets the callbacks of one transfer. All of them are handed `data`.
void errand_easy_set_callbacks(CURL *easy, curl_write_callback head, curl_write_callback body,
                               curl_read_callback upload, curl_prereq_callback before_request, void *data);

// Sets the callbacks that open and close sockets. Both are handed `data`.
void errand_easy_set_socket_callbacks(CURL *easy, curl_opensocket_callback open, curl_closesocket_callback close,
                                      void *data);

// What libcurl knows of a transfer; zero or null where it knows nothing.
long errand_easy_long(CURL *easy, CURLINFO info);
int64_t errand_easy_offset(CURL *easy, CURLINFO info);
void *errand_easy_private(CURL *easy);

// One message of a multi handle: the easy handle of a transfer that has ended, or null when there is none.
CURL *errand_multi_next_done(CURLM *multi, CURLcode *code);

// Opens a socket of the kind an address needs, close-on-exec.
curl_socket_t errand_socket_open(const struct curl_sockaddr *address);

// Closes it. 0 when it went well.
int errand_socket_close(curl_socket_t socket);

// Whether a socket runs between these two ends. Addresses are numeric texts.
bool errand_socket_is_between(int fd, const char *local, int local_port, const char *remote, int remote_port);

// Whether a socket holds unread bytes, its end of stream or an error.
bool errand_socket_has_unread(int fd);

// The bytes a TCP socket has received in its life; -1 where the system does not tell.
int64_t errand_socket_received(int fd);

// Called with each new TLS context, in the form of OpenSSL.
static inline CURLcode errand_easy_set_context_callback(CURL *easy, curl_ssl_ctx_callback callback, void *data) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, callback);
  return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, data) : code;
}

// Demands of a TLS context that the certificate names this host or address among its alternative names; the common
// name does not count (RFC 9110 section 4.3.4). False where that cannot be had.
bool errand_tls_demand_host(void *context, const char *host);

// From now on sets `*closed` when the server says that it closes the TLS connection of a running transfer. False where
// that cannot be told. `closed` has to outlive the connection.
bool errand_tls_watch_close(CURL *easy, bool *closed);

// The file of certificate authorities that libcurl was built for, or null.
const char *errand_system_authorities(void);

#endif
