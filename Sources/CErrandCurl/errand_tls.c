#ifdef __linux__
#define _GNU_SOURCE

// Strict TLS settings that libcurl does not request from OpenSSL. The OpenSSL functions are found at run time in the
// library that libcurl has loaded, so nothing is linked. With another TLS library, the functions of this file do
// nothing.

#include "errand_curl.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
  ex_index_of_ssl = 0,        // CRYPTO_EX_INDEX_SSL
  ex_index_of_context = 1,    // CRYPTO_EX_INDEX_SSL_CTX
  never_check_subject = 0x20, // X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
  read_alert = 0x4004,        // SSL_CB_READ_ALERT
  close_notify = 0,           // SSL_AD_CLOSE_NOTIFY
  set_read_ahead = 41,        // SSL_CTRL_SET_READ_AHEAD
};

static struct {
  void *(*context_parameters)(void *context);
  void (*set_host_flags)(void *parameters, unsigned int flags);
  int (*set_host)(void *parameters, const char *name, size_t length);
  int (*set_address)(void *parameters, const char *address);
  int (*new_index)(int class_index, long, void *, void *, void *, void *);
  int (*set_data)(void *ssl, int index, void *data);
  void *(*get_data)(const void *ssl, int index);
  void (*set_info_callback)(void *ssl, void (*callback)(const void *ssl, int where, int value));
  int (*set_context_data)(void *context, int index, void *data);
  void *(*get_context_data)(const void *context, int index);
  void *(*context_of)(const void *ssl);
  void (*set_certificate_callback)(void *context, int (*callback)(void *ssl, void **certificate, void **key));
  long (*control_context)(void *context, int command, long number, void *data);
  // This function does not exist in OpenSSL before 1.1.1.
  void (*set_key_log)(void *context, void (*callback)(const void *ssl, const char *line));
} tls;

static int data_index = -1;
static int context_index = -1;
static bool is_known = false;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool is_openssl(void) {
  const char *version = curl_version_info(CURLVERSION_NOW)->ssl_version;
  return version && strncmp(version, "OpenSSL/", 8) == 0;
}

void errand_tls_keep_memory_at_exit(void) {
  const uint64_t no_atexit = 0x00080000; // the value of OPENSSL_INIT_NO_ATEXIT
  int (*init)(uint64_t options, const void *settings) = NULL;
  if (!is_openssl()) return;
  *(void **)&init = dlsym(RTLD_DEFAULT, "OPENSSL_init_crypto");
  if (init) init(no_atexit, NULL);
}

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
static void free_watch(void *ssl, void *watch, void *data, int index, long argument, void *pointer) {
  (void)ssl, (void)data, (void)index, (void)argument, (void)pointer;
  errand_close_watch_release(watch);
}

static void look_up(void) {
  if (!is_openssl()) return;
  errand_tls_keep_memory_at_exit();
  *(void **)&tls.context_parameters = dlsym(RTLD_DEFAULT, "SSL_CTX_get0_param");
  *(void **)&tls.set_host_flags = dlsym(RTLD_DEFAULT, "X509_VERIFY_PARAM_set_hostflags");
  *(void **)&tls.set_host = dlsym(RTLD_DEFAULT, "X509_VERIFY_PARAM_set1_host");
  *(void **)&tls.set_address = dlsym(RTLD_DEFAULT, "X509_VERIFY_PARAM_set1_ip_asc");
  *(void **)&tls.new_index = dlsym(RTLD_DEFAULT, "CRYPTO_get_ex_new_index");
  *(void **)&tls.set_data = dlsym(RTLD_DEFAULT, "SSL_set_ex_data");
  *(void **)&tls.get_data = dlsym(RTLD_DEFAULT, "SSL_get_ex_data");
  *(void **)&tls.set_info_callback = dlsym(RTLD_DEFAULT, "SSL_set_info_callback");
  *(void **)&tls.set_context_data = dlsym(RTLD_DEFAULT, "SSL_CTX_set_ex_data");
  *(void **)&tls.get_context_data = dlsym(RTLD_DEFAULT, "SSL_CTX_get_ex_data");
  *(void **)&tls.context_of = dlsym(RTLD_DEFAULT, "SSL_get_SSL_CTX");
  *(void **)&tls.set_certificate_callback = dlsym(RTLD_DEFAULT, "SSL_CTX_set_client_cert_cb");
  *(void **)&tls.control_context = dlsym(RTLD_DEFAULT, "SSL_CTX_ctrl");
  *(void **)&tls.set_key_log = dlsym(RTLD_DEFAULT, "SSL_CTX_set_keylog_callback");
  if (!tls.context_parameters || !tls.set_host_flags || !tls.set_host || !tls.set_address || !tls.new_index ||
      !tls.set_data || !tls.get_data || !tls.set_info_callback || !tls.set_context_data || !tls.get_context_data ||
      !tls.context_of || !tls.set_certificate_callback || !tls.control_context) {
    return;
  }
  data_index = tls.new_index(ex_index_of_ssl, 0, NULL, NULL, NULL, (void *)free_watch);
  context_index = tls.new_index(ex_index_of_context, 0, NULL, NULL, NULL, NULL);
  is_known = data_index > 0 && context_index > 0;
}

static bool has_openssl(void) {
  pthread_once(&once, look_up);
  return is_known;
}

bool errand_tls_demand_host(void *context, const char *host) {
  unsigned char address[16];
  if (!has_openssl()) return true;
  // Since 8.15.0, libcurl lets OpenSSL read ahead. Bytes that a server sends without a request would then be in
  // OpenSSL's buffer, and the check of the socket before each reuse would not find these bytes.
  tls.control_context(context, set_read_ahead, 0, NULL);
  // libcurl writes the keys of each session to the file that the environment variable SSLKEYLOGFILE names. Other users
  // could read that file.
  if (tls.set_key_log) tls.set_key_log(context, NULL);
  void *parameters = tls.context_parameters(context);
  if (!parameters) return false;
  tls.set_host_flags(parameters, never_check_subject);
  if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1) {
    return tls.set_address(parameters, host) == 1;
  }
  return tls.set_host(parameters, host, strlen(host)) == 1;
}

static void note_alert(const void *ssl, int where, int value) {
  if (where != read_alert || (value & 0xff) != close_notify) return;
  errand_close_watch *watch = tls.get_data(ssl, data_index);
  if (watch) watch->closed = true;
}

bool errand_tls_watch_close(CURL *easy, errand_close_watch *watch) {
  watch->closed = false;
  struct curl_tlssessioninfo *session = NULL;
  if (!has_openssl()) return false;
  if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK) return false;
  if (!session || session->backend != CURLSSLBACKEND_OPENSSL || !session->internals) return false;
  errand_close_watch *former = tls.get_data(session->internals, data_index);
  if (tls.set_data(session->internals, data_index, watch) != 1) return false;
  watch->holders++;
  errand_close_watch_release(former);
  tls.set_info_callback(session->internals, note_alert);
  return true;
}

// The numbers of the latest handshakes in which a server asked for a client certificate and received none. The array
// belongs to the thread: the handshake and the question about it run on one thread. Numbers, unlike pointers, stay
// valid after the connection ends.
enum { remembered = 64 };
static _Thread_local uintptr_t handshakes_without_certificate[remembered];
static _Thread_local unsigned int next_handshake_without_certificate = 0;

static int note_certificate_request(void *ssl, void **certificate, void **key) {
  (void)certificate;
  (void)key;
  uintptr_t number = (uintptr_t)tls.get_context_data(tls.context_of(ssl), context_index);
  handshakes_without_certificate[next_handshake_without_certificate++ % remembered] = number;
  return 0;
}

void errand_tls_number_handshakes(void *context, uintptr_t number) {
  if (!has_openssl()) return;
  if (tls.set_context_data(context, context_index, (void *)number) != 1) return;
  tls.set_certificate_callback(context, note_certificate_request);
}

bool errand_tls_lacked_certificate(uintptr_t number) {
  for (unsigned int place = 0; number != 0 && place < remembered; place++) {
    if (handshakes_without_certificate[place] == number) return true;
  }
  return false;
}

#endif
