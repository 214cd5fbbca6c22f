#pragma once
#ifdef __linux__

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// libcurl's functions are variadic, and Swift cannot call variadic C functions. Each function below passes a value of
// one type.

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

// Sets an option to bytes, which libcurl copies. Removes the bytes of the option if `length` is 0.
CURLcode errand_easy_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t length);

static inline CURLMcode errand_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

// Sets the callbacks of one transfer. libcurl passes `data` to all of these callbacks.
void errand_easy_set_callbacks(CURL *easy, curl_write_callback head, curl_write_callback body,
                               curl_read_callback upload, curl_prereq_callback before_request,
                               curl_debug_callback debug, void *data);

// Sets the callbacks that open and close sockets, and the pointer that libcurl passes to each callback. `close_data`
// must outlive the handle.
void errand_easy_set_socket_callbacks(CURL *easy, curl_opensocket_callback open, void *open_data,
                                      curl_closesocket_callback close, void *close_data);

// Reads a value that libcurl knows about a transfer. Returns 0 or null if libcurl does not know the value.
long errand_easy_long(CURL *easy, CURLINFO info);
int64_t errand_easy_offset(CURL *easy, CURLINFO info);
void *errand_easy_private(CURL *easy);

// Returns the easy handle of the next transfer that has ended, and writes its result to `code`. Returns null if no such
// transfer is left.
CURL *errand_multi_next_done(CURLM *multi, CURLcode *code);

// Opens a socket of the kind that an address needs. The socket is not inherited by new programs (close-on-exec).
curl_socket_t errand_socket_open(const struct curl_sockaddr *address);

// Writes the bytes of an IP address in network order. Returns their number, 4 or 16. Returns 0 if the address is not an
// IP address.
size_t errand_address_bytes(const struct curl_sockaddr *address, uint8_t bytes[16]);

// Parses a numeric IP address and writes its bytes in network order. Returns their number, 4 or 16. Returns 0 if the
// text is not a numeric address.
size_t errand_address_parse(const char *text, uint8_t bytes[16]);

// Closes a socket. Returns 0 on success.
int errand_socket_close(curl_socket_t socket);

// Returns whether a socket connects the two given ends. The addresses are numeric texts.
bool errand_socket_is_between(int fd, const char *local, int local_port, const char *remote, int remote_port);

// Returns whether unread bytes, the end of the stream or an error is available on a socket.
bool errand_socket_has_unread(int fd);

// Returns whether the other end has closed or reset the connection, and all received bytes were read.
bool errand_socket_has_ended(int fd);

// Returns whether an error number of the system means that no file descriptor or memory is left.
bool errand_error_is_lack_of_resources(int error);

// Returns the number of bytes that a TCP socket has received since it was opened, or -1 if the system does not report
// the number.
int64_t errand_socket_received(int fd);

// Returns the number of bytes that were read from a TCP socket, or 0 if the system does not report the number.
int64_t errand_socket_consumed(int fd);

// Resets a TCP connection and drops the unread bytes. The descriptor stays open, so any thread may call this function.
void errand_socket_disconnect(int fd);

// Sets the callback that libcurl calls with each new TLS context. The context is an OpenSSL object.
static inline CURLcode errand_easy_set_context_callback(CURL *easy, curl_ssl_ctx_callback callback, void *data) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, callback);
  return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, data) : code;
}

// Makes a TLS context require that the certificate names this host or address among its alternative names. The common
// name does not count (RFC 9110 section 4.3.4). Returns false if OpenSSL cannot enforce this requirement.
bool errand_tls_demand_host(void *context, const char *host);

// Records whether the server announced the end of a TLS connection (close_notify). This object is not thread-safe: the
// handle and its connections must belong to one thread.
typedef struct errand_close_watch errand_close_watch;

// Creates a close watch. Returns null if no memory is available.
errand_close_watch *errand_close_watch_make(void);
void errand_close_watch_release(errand_close_watch *watch);
bool errand_close_watch_has_closed(const errand_close_watch *watch);

// Watches the TLS connection of a running transfer. Returns false if the TLS library cannot report the end of the
// connection.
bool errand_tls_watch_close(CURL *easy, errand_close_watch *watch);

// Gives the handshakes of a TLS context a number above 0. errand_tls_lacked_certificate() identifies them by this
// number.
void errand_tls_number_handshakes(void *context, uintptr_t number);

// Returns whether the server asked for a client certificate in the handshake with this number and received none. Must
// be called on the thread that made the handshake, and soon: only the latest 64 such handshakes are recorded.
bool errand_tls_lacked_certificate(uintptr_t number);

// Returns the version of the running libcurl, with 8 bits each for major, minor and patch. The version may differ from
// the version of the headers.
unsigned int errand_curl_version_number(void);

// Returns the path of the certificate authority file that libcurl was built with, or null.
const char *errand_system_authorities(void);

#endif
