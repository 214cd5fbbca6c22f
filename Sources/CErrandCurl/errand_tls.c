#ifdef __linux__
#define _GNU_SOURCE

// What OpenSSL can do for strictness and libcurl does not ask it for. OpenSSL is looked up among what libcurl brought
// along, so there is nothing to link; with another TLS library these functions do nothing.

#include "errand_curl.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

enum {
  ex_index_of_ssl = 0,        // CRYPTO_EX_INDEX_SSL
  never_check_subject = 0x20, // X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
  read_alert = 0x4004,        // SSL_CB_READ_ALERT
  close_notify = 0,           // SSL_AD_CLOSE_NOTIFY
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
} tls;

static int data_index = -1;
static bool is_known = false;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void look_up(void) {
  const char *version = curl_version_info(CURLVERSION_NOW)->ssl_version;
  if (!version || strncmp(version, "OpenSSL/", 8) != 0) return;
  *(void **)&tls.context_parameters = dlsym(RTLD_DEFAULT, "SSL_CTX_get0_param");
  *(void **)&tls.set_host_flags = dlsym(RTLD_DEFAULT, "X509_VERIFY_PARAM_set_hostflags");
  *(void **)&tls.set_host = dlsym(RTLD_DEFAULT, "X509_VERIFY_PARAM_set1_host");
  *(void **)&tls.set_address = dlsym(RTLD_DEFAULT, "X509_VERIFY_PARAM_set1_ip_asc");
  *(void **)&tls.new_index = dlsym(RTLD_DEFAULT, "CRYPTO_get_ex_new_index");
  *(void **)&tls.set_data = dlsym(RTLD_DEFAULT, "SSL_set_ex_data");
  *(void **)&tls.get_data = dlsym(RTLD_DEFAULT, "SSL_get_ex_data");
  *(void **)&tls.set_info_callback = dlsym(RTLD_DEFAULT, "SSL_set_info_callback");
  if (!tls.context_parameters || !tls.set_host_flags || !tls.set_host || !tls.set_address || !tls.new_index ||
      !tls.set_data || !tls.get_data || !tls.set_info_callback) {
    return;
  }
  data_index = tls.new_index(ex_index_of_ssl, 0, NULL, NULL, NULL, NULL);
  is_known = data_index > 0;
}

static bool has_openssl(void) {
  pthread_once(&once, look_up);
  return is_known;
}

bool errand_tls_demand_host(void *context, const char *host) {
  unsigned char address[16];
  if (!has_openssl()) return true;
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
  bool *closed = tls.get_data(ssl, data_index);
  if (closed) *closed = true;
}

bool errand_tls_watch_close(CURL *easy, bool *closed) {
  struct curl_tlssessioninfo *session = NULL;
  if (!has_openssl()) return false;
  if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK) return false;
  if (!session || session->backend != CURLSSLBACKEND_OPENSSL || !session->internals) return false;
  if (tls.set_data(session->internals, data_index, closed) != 1) return false;
  tls.set_info_callback(session->internals, note_alert);
  return true;
}

#endif
