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

// Bytes that libcurl copies; none where `length` is 0.
CURLcode errand_easy_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t length);

static inline CURLMcode errand_multi_set_long(CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

// Sets the callbacks of one transfer. All of them are handed `data`.
void errand_easy_set_callbacks(CURL *easy, curl_write_callback head, curl_write_callback body,
                               curl_read_callback upload, curl_prereq_callback before_request,
                               curl_debug_callback words, void *data);

// Sets the callbacks that open and close sockets, and what they are handed. That of closing must outlive the handle.
void errand_easy_set_socket_callbacks(CURL *easy, curl_opensocket_callback open, void *open_data,
                                      curl_closesocket_callback close, void *close_data);

// What libcurl knows of a transfer; zero or null where it knows nothing.
long errand_easy_long(CURL *easy, CURLINFO info);
int64_t errand_easy_offset(CURL *easy, CURLINFO info);
void *errand_easy_private(CURL *easy);

// One message of a multi handle: the easy handle of a transfer that has ended, or null when there is none.
CURL *errand_multi_next_done(CURLM *multi, CURLcode *code);

// Opens a socket of the kind an address needs, close-on-exec.
curl_socket_t errand_socket_open(const struct curl_sockaddr *address);

// The bytes of an address in network order: 4 or 16 of them, or 0 where it is none of the internet protocol.
size_t errand_address_bytes(const struct curl_sockaddr *address, uint8_t bytes[16]);

// The same of an address in numbers.
size_t errand_address_parse(const char *text, uint8_t bytes[16]);

// Closes it. 0 when it went well.
int errand_socket_close(curl_socket_t socket);

// Whether a socket runs between these two ends. Addresses are numeric texts.
bool errand_socket_is_between(int fd, const char *local, int local_port, const char *remote, int remote_port);

// Whether a socket holds unread bytes, its end of stream or an error.
bool errand_socket_has_unread(int fd);

// Whether the other end has closed or reset a socket, and no byte is left to read.
bool errand_socket_has_ended(int fd);

// Whether a socket could not be opened for lack of descriptors or memory, by the system's error number.
bool errand_error_is_lack_of_room(int error);

// The bytes a TCP socket has received in its life; -1 where the system does not tell.
int64_t errand_socket_received(int fd);

// The bytes of a TCP socket that have been read; 0 if the system does not tell.
int64_t errand_socket_consumed(int fd);

// Resets a TCP connection and drops what has not been read. The descriptor stays open: from any thread.
void errand_socket_disconnect(int fd);

// Called with each new TLS context, in the form of OpenSSL.
static inline CURLcode errand_easy_set_context_callback(CURL *easy, curl_ssl_ctx_callback callback, void *data) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, callback);
  return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, data) : code;
}

// Has OpenSSL leave what it holds where a process exits: a thread that closes connections meanwhile would use what is
// freed. To be called before libcurl is set up; no effect with another TLS library, or where OpenSSL is in use already.
void errand_tls_outlive_exit(void);

// Demands of a TLS context that the certificate names this host or address among its alternative names; the common
// name does not count (RFC 9110 section 4.3.4). False where that cannot be had.
bool errand_tls_demand_host(void *context, const char *host);

// Records whether the server announced the end of a TLS connection (close_notify). It is not thread-safe: handle and
// connections belong to one thread.
typedef struct errand_close_watch errand_close_watch;

// Null if there is no memory.
errand_close_watch *errand_close_watch_make(void);
void errand_close_watch_release(errand_close_watch *watch);
bool errand_close_watch_has_closed(const errand_close_watch *watch);

// Watches the TLS connection of a running transfer from now on. False if the TLS library does not support it.
bool errand_tls_watch_close(CURL *easy, errand_close_watch *watch);

// Gives the handshakes of a TLS context a number above 0, by which to ask about them.
void errand_tls_number(void *context, uintptr_t number);

// Whether the server asked for a certificate in the handshake of this number and got none. To be asked on the thread
// that made it, and soon.
bool errand_tls_lacked_certificate(uintptr_t number);

// The number of certificates in PEM; -1 where that cannot be told.
int errand_pem_count_certificates(const void *pem, size_t length);

// Whether a certificate and a key can be used together.
typedef enum {
  errand_pair_unknown, // there is no OpenSSL to ask
  errand_pair_fits,
  errand_pair_no_certificate,
  errand_pair_no_key, // none there, or not with this passphrase
  errand_pair_differs,
} errand_pair;

errand_pair errand_pem_check_pair(const void *certificate, size_t certificate_length, const void *key,
                                  size_t key_length, const char *passphrase);
errand_pair errand_pkcs12_check(const void *bytes, size_t length, const char *passphrase);

// The version of the libcurl that runs, which may differ from that of these headers: 8 bits each for major, minor and
// patch.
unsigned int errand_curl_version_number(void);

// The file of certificate authorities that libcurl was built for, or null.
const char *errand_system_authorities(void);

#endif
