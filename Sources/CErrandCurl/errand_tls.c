#ifdef __linux__
#define _GNU_SOURCE

// Strict TLS settings that libcurl does not request from OpenSSL. With another TLS library, the functions of this file
// do nothing.

#include "errand_curl.h"

#include <errand_openssl.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int data_index = -1;
static int context_index = -1;
static bool is_known = false;
static pthread_once_t once = PTHREAD_ONCE_INIT;

// The state of watched TLS connections, with a reference count. A handle and each connection that it watches own a
// reference, because a connection may end after its handle.
struct errand_close_watch {
  int holders;
  bool closed;
};

errand_close_watch *errand_close_watch_make(void) {
  errand_close_watch *watch = calloc(1, sizeof *watch);
  if (watch) watch->holders = 1;
  return watch;
}

void errand_close_watch_release(errand_close_watch *watch) {
  if (watch && --watch->holders == 0) free(watch);
}

bool errand_close_watch_has_closed(const errand_close_watch *watch) { return watch->closed; }

// OpenSSL calls this function for each connection that it frees.
static void free_watch(void *ssl, void *watch, CRYPTO_EX_DATA *data, int index, long argument, void *pointer) {
  (void)ssl, (void)data, (void)index, (void)argument, (void)pointer;
  errand_close_watch_release(watch);
}

// Returns whether libcurl uses the OpenSSL that this program is linked with, or an OpenSSL of the same major version.
static bool is_openssl(void) {
  char prefix[32];
  const char *version = curl_version_info(CURLVERSION_NOW)->ssl_version;
  int length = snprintf(prefix, sizeof prefix, "OpenSSL/%lu.", OpenSSL_version_num() >> 28);
  return version && length > 0 && strncmp(version, prefix, (size_t)length) == 0;
}

static void look_up(void) {
  if (!is_openssl()) return;
  data_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, free_watch);
  context_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL);
  is_known = data_index > 0 && context_index > 0;
}

static bool has_openssl(void) {
  pthread_once(&once, look_up);
  return is_known;
}

bool errand_tls_demand_host(void *context, const char *host) {
  if (!has_openssl()) return true;
  // Since 8.15.0, libcurl lets OpenSSL read ahead. Bytes that a server sends without a request would then be in
  // OpenSSL's buffer, and the check of the socket before each reuse would not find these bytes.
  SSL_CTX_set_read_ahead(context, 0);
  // libcurl writes the keys of each session to the file that the environment variable SSLKEYLOGFILE names. Other users
  // could read that file.
  SSL_CTX_set_keylog_callback(context, NULL);
  void *parameters = SSL_CTX_get0_param(context);
  return parameters && errand_demand_host(parameters, host);
}

static void note_alert(const SSL *ssl, int where, int value) {
  if (where != SSL_CB_READ_ALERT || (value & 0xff) != SSL_AD_CLOSE_NOTIFY) return;
  errand_close_watch *watch = SSL_get_ex_data(ssl, data_index);
  if (watch) watch->closed = true;
}

bool errand_tls_watch_close(CURL *easy, errand_close_watch *watch) {
  watch->closed = false;
  struct curl_tlssessioninfo *session = NULL;
  if (!has_openssl()) return false;
  if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK) return false;
  if (!session || session->backend != CURLSSLBACKEND_OPENSSL || !session->internals) return false;
  errand_close_watch *former = SSL_get_ex_data(session->internals, data_index);
  if (SSL_set_ex_data(session->internals, data_index, watch) != 1) return false;
  watch->holders++;
  errand_close_watch_release(former);
  SSL_set_info_callback(session->internals, note_alert);
  return true;
}

// The numbers of the latest handshakes in which a server asked for a client certificate and received none. The array
// belongs to the thread: the handshake and the question about it run on one thread. Numbers, unlike pointers, stay
// valid after the connection ends.
enum { remembered = 64 };
static _Thread_local uintptr_t handshakes_without_certificate[remembered];
static _Thread_local unsigned int next_handshake_without_certificate = 0;

static int note_certificate_request(SSL *ssl, X509 **certificate, EVP_PKEY **key) {
  (void)certificate;
  (void)key;
  uintptr_t number = (uintptr_t)SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), context_index);
  handshakes_without_certificate[next_handshake_without_certificate++ % remembered] = number;
  return 0;
}

void errand_tls_number_handshakes(void *context, uintptr_t number) {
  if (!has_openssl()) return;
  if (SSL_CTX_set_ex_data(context, context_index, (void *)number) != 1) return;
  SSL_CTX_set_client_cert_cb(context, note_certificate_request);
}

bool errand_tls_lacked_certificate(uintptr_t number) {
  for (unsigned int place = 0; number != 0 && place < remembered; place++) {
    if (handshakes_without_certificate[place] == number) return true;
  }
  return false;
}

#endif
