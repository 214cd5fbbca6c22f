#ifdef __linux__
#define _GNU_SOURCE

// Checks certificates and keys before libcurl receives them, so that an error message can name the wrong file. OpenSSL
// is found at run time, as in errand_tls.c.

#include "errand_curl.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

typedef int password_callback(char *buffer, int size, int is_writing, void *passphrase);

static struct {
  void *(*open)(const void *bytes, int length);
  int (*close)(void *bio);
  void *(*read_certificate)(void *bio, void **, password_callback *, void *);
  void (*free_certificate)(void *certificate);
  void *(*read_key)(void *bio, void **, password_callback *, void *);
  void (*free_key)(void *key);
  int (*fits)(const void *certificate, const void *key);
  void *(*read_pkcs12)(void *bio, void **);
  int (*parse_pkcs12)(void *pkcs12, const char *passphrase, void **key, void **certificate, void *authorities);
  void (*free_pkcs12)(void *pkcs12);
  void (*clear_errors)(void);
} crypto;

static bool is_known = false;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void look_up(void) {
  const char *version = curl_version_info(CURLVERSION_NOW)->ssl_version;
  if (!version || strncmp(version, "OpenSSL/", 8) != 0) return;
  errand_tls_keep_memory_at_exit();
  *(void **)&crypto.open = dlsym(RTLD_DEFAULT, "BIO_new_mem_buf");
  *(void **)&crypto.close = dlsym(RTLD_DEFAULT, "BIO_free");
  *(void **)&crypto.read_certificate = dlsym(RTLD_DEFAULT, "PEM_read_bio_X509");
  *(void **)&crypto.free_certificate = dlsym(RTLD_DEFAULT, "X509_free");
  *(void **)&crypto.read_key = dlsym(RTLD_DEFAULT, "PEM_read_bio_PrivateKey");
  *(void **)&crypto.free_key = dlsym(RTLD_DEFAULT, "EVP_PKEY_free");
  *(void **)&crypto.fits = dlsym(RTLD_DEFAULT, "X509_check_private_key");
  *(void **)&crypto.read_pkcs12 = dlsym(RTLD_DEFAULT, "d2i_PKCS12_bio");
  *(void **)&crypto.parse_pkcs12 = dlsym(RTLD_DEFAULT, "PKCS12_parse");
  *(void **)&crypto.free_pkcs12 = dlsym(RTLD_DEFAULT, "PKCS12_free");
  *(void **)&crypto.clear_errors = dlsym(RTLD_DEFAULT, "ERR_clear_error");
  is_known = crypto.open && crypto.close && crypto.read_certificate && crypto.free_certificate && crypto.read_key &&
             crypto.free_key && crypto.fits && crypto.read_pkcs12 && crypto.parse_pkcs12 && crypto.free_pkcs12 &&
             crypto.clear_errors;
}

static bool has_openssl(void) {
  pthread_once(&once, look_up);
  return is_known;
}

static void *open_bytes(const void *bytes, size_t length) {
  static const char nothing[] = "";
  if (length > INT_MAX) return NULL;
  return crypto.open(length > 0 ? bytes : nothing, (int)length);
}

// OpenSSL calls this function for the passphrase of a key. Without it, OpenSSL would ask for the passphrase at the
// terminal.
static int give_passphrase(char *buffer, int size, int is_writing, void *passphrase) {
  (void)is_writing;
  if (!passphrase) return -1;
  size_t length = strlen(passphrase);
  if (size < 0 || length > (size_t)size) return -1;
  memcpy(buffer, passphrase, length);
  return (int)length;
}

int errand_pem_count_certificates(const void *pem, size_t length) {
  if (!has_openssl()) return errand_pem_unknown;
  if (length > INT_MAX) return errand_pem_too_long;
  void *bio = open_bytes(pem, length);
  if (!bio) return errand_pem_no_memory;
  int count = 0;
  errno = 0;
  void *certificate;
  while ((certificate = crypto.read_certificate(bio, NULL, give_passphrase, NULL))) {
    crypto.free_certificate(certificate);
    count++;
  }
  // OpenSSL ends the text at the first failure, also if no memory is left. malloc() then sets this error number.
  bool lacks_memory = count == 0 && errno == ENOMEM;
  crypto.close(bio);
  crypto.clear_errors();
  return lacks_memory ? errand_pem_no_memory : count;
}

static errand_pair compare_and_free(void *certificate, void *key) {
  errand_pair pair = errand_pair_fits;
  if (!certificate) {
    pair = errand_pair_no_certificate;
  } else if (!key) {
    pair = errand_pair_no_key;
  } else if (crypto.fits(certificate, key) != 1) {
    pair = errand_pair_differs;
  }
  if (certificate) crypto.free_certificate(certificate);
  if (key) crypto.free_key(key);
  crypto.clear_errors();
  return pair;
}

errand_pair errand_pem_check_pair(const void *certificate, size_t certificate_length, const void *key,
                                  size_t key_length, const char *passphrase) {
  if (!has_openssl()) return errand_pair_unknown;
  void *first = open_bytes(certificate, certificate_length);
  void *second = open_bytes(key, key_length);
  void *x509 = first ? crypto.read_certificate(first, NULL, give_passphrase, NULL) : NULL;
  void *private_key = second ? crypto.read_key(second, NULL, give_passphrase, (void *)passphrase) : NULL;
  if (first) crypto.close(first);
  if (second) crypto.close(second);
  return compare_and_free(x509, private_key);
}

errand_pair errand_pkcs12_check(const void *bytes, size_t length, const char *passphrase) {
  if (!has_openssl()) return errand_pair_unknown;
  void *bio = open_bytes(bytes, length);
  void *pkcs12 = bio ? crypto.read_pkcs12(bio, NULL) : NULL;
  if (bio) crypto.close(bio);
  if (!pkcs12) return compare_and_free(NULL, NULL);
  void *key = NULL, *certificate = NULL;
  int is_read = crypto.parse_pkcs12(pkcs12, passphrase ? passphrase : "", &key, &certificate, NULL);
  crypto.free_pkcs12(pkcs12);
  if (is_read == 1) return compare_and_free(certificate, key);
  crypto.clear_errors();
  return errand_pair_no_key;
}

#endif
