#ifdef __linux__

// Checks certificates and keys before they are used, so that an error message can name the wrong file.

#include "errand_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509v3.h>
#include <string.h>

// Makes OpenSSL keep its memory when the process exits. Otherwise a thread that still uses a connection would use freed
// memory. OpenSSL accepts this option only before its first use, and another part of the process, such as URLSession,
// may use OpenSSL first. So this function runs when the program is loaded.
__attribute__((constructor)) static void keep_memory_at_exit(void) {
  OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}

BIO *errand_open_bytes(const void *bytes, size_t length) {
  static const char nothing[] = "";
  if (length > INT_MAX) return NULL;
  return BIO_new_mem_buf(length > 0 ? bytes : nothing, (int)length);
}

// Without this function, OpenSSL would ask for the passphrase at the terminal.
int errand_give_passphrase(char *buffer, int size, int is_writing, void *passphrase) {
  (void)is_writing;
  if (!passphrase) return -1;
  size_t length = strlen(passphrase);
  if (size < 0 || length > (size_t)size) return -1;
  memcpy(buffer, passphrase, length);
  return (int)length;
}

bool errand_read_pkcs12(const void *bytes, size_t length, const char *passphrase, bool *is_open, EVP_PKEY **key,
                        X509 **certificate, STACK_OF(X509) **chain) {
  BIO *bio = errand_open_bytes(bytes, length);
  PKCS12 *pkcs12 = bio ? d2i_PKCS12_bio(bio, NULL) : NULL;
  BIO_free(bio);
  if (!pkcs12) return false;
  ERR_clear_error();
  *is_open = PKCS12_parse(pkcs12, passphrase ? passphrase : "", key, certificate, chain) == 1;
  PKCS12_free(pkcs12);
  return true;
}

bool errand_pem_has_ended(void) {
  unsigned long error = ERR_peek_last_error();
  return ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
}

int errand_pem_count_certificates(const void *pem, size_t length, int *damaged) {
  *damaged = 0;
  if (length > INT_MAX) return errand_pem_too_long;
  BIO *bio = errand_open_bytes(pem, length);
  if (!bio) return errand_pem_no_memory;
  int count = 0;
  ERR_clear_error();
  errno = 0;
  X509 *certificate;
  while ((certificate = PEM_read_bio_X509(bio, NULL, errand_give_passphrase, NULL))) {
    X509_free(certificate);
    count++;
  }
  bool has_ended = errand_pem_has_ended();
  // If no memory is left, malloc() sets this error number.
  bool lacks_memory = errno == ENOMEM;
  BIO_free(bio);
  ERR_clear_error();
  if (has_ended) return count;
  if (lacks_memory) return errand_pem_no_memory;
  *damaged = count + 1;
  return errand_pem_damaged;
}

// Returns whether OpenSSL has reported that it does not support an algorithm, and empties its queue of errors. OpenSSL 3
// no longer decrypts with old algorithms, such as RC2 with 40 bits, unless its configuration loads the "legacy"
// provider. A text without a key has the same reason, but is an error of the decoders, another part of OpenSSL.
static bool lacked_algorithm(void) {
  bool is_lacking = false;
#ifdef ERR_R_UNSUPPORTED
  unsigned long error;
  while ((error = ERR_get_error())) {
    if (ERR_GET_LIB(error) == ERR_LIB_EVP && ERR_GET_REASON(error) == ERR_R_UNSUPPORTED) is_lacking = true;
  }
#endif
  ERR_clear_error();
  return is_lacking;
}

static errand_pair compare_and_free(X509 *certificate, EVP_PKEY *key) {
  errand_pair pair = errand_pair_fits;
  if (!certificate) {
    pair = errand_pair_no_certificate;
  } else if (!key) {
    pair = errand_pair_no_key;
  } else if (X509_check_private_key(certificate, key) != 1) {
    pair = errand_pair_differs;
  }
  X509_free(certificate);
  EVP_PKEY_free(key);
  ERR_clear_error();
  return pair;
}

errand_pair errand_pem_check_pair(const void *certificate, size_t certificate_length, const void *key,
                                  size_t key_length, const char *passphrase) {
  BIO *first = errand_open_bytes(certificate, certificate_length);
  BIO *second = errand_open_bytes(key, key_length);
  X509 *x509 = first ? PEM_read_bio_X509(first, NULL, errand_give_passphrase, NULL) : NULL;
  ERR_clear_error();
  EVP_PKEY *private_key =
      second ? PEM_read_bio_PrivateKey(second, NULL, errand_give_passphrase, (void *)passphrase) : NULL;
  bool is_unsupported = !private_key && lacked_algorithm();
  BIO_free(first);
  BIO_free(second);
  errand_pair pair = compare_and_free(x509, private_key);
  return pair == errand_pair_no_key && is_unsupported ? errand_pair_unsupported : pair;
}

errand_pair errand_pkcs12_check(const void *bytes, size_t length, const char *passphrase) {
  bool is_open = false;
  EVP_PKEY *key = NULL;
  X509 *certificate = NULL;
  if (!errand_read_pkcs12(bytes, length, passphrase, &is_open, &key, &certificate, NULL)) {
    return compare_and_free(NULL, NULL);
  }
  if (is_open) return compare_and_free(certificate, key);
  return lacked_algorithm() ? errand_pair_unsupported : errand_pair_no_key;
}

bool errand_demand_host(void *parameters, const char *host) {
  unsigned char address[16];
  // OpenSSL would not check an empty name, and would accept every subdomain for a name that begins with a dot.
  if (host[0] == 0 || host[0] == '.') return false;
  // A wildcard stands for a whole label, never for a part of it (RFC 9525 section 6.3).
  X509_VERIFY_PARAM_set_hostflags(parameters,
                                  X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1) {
    return X509_VERIFY_PARAM_set1_ip_asc(parameters, host) == 1;
  }
  return X509_VERIFY_PARAM_set1_host(parameters, host, strlen(host)) == 1;
}

size_t errand_hash_bytes(errand_hash hash, const void *bytes, size_t length, uint8_t digest[32]) {
  unsigned int written = 0;
  const EVP_MD *function = hash == errand_hash_md5 ? EVP_md5() : EVP_sha256();
  bool is_hashed = EVP_Digest(bytes, length, digest, &written, function, NULL) == 1;
  ERR_clear_error();
  return is_hashed ? written : 0;
}

#else
// Some tools reject an object file without symbols. On systems other than Linux, this file would have no symbol.
int errand_certificates_are_for_linux_only = 1;
#endif
