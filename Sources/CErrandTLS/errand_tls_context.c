#ifdef __linux__
#define _GNU_SOURCE

#include "errand_internal.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

// Called if the server asks for a client certificate and the context has none.
static int note_certificate_request(SSL *ssl, X509 **certificate, EVP_PKEY **key) {
  (void)certificate;
  (void)key;
  errand_tls_note_missing_certificate(ssl);
  return 0;
}

errand_tls_context *errand_tls_context_make(bool demands_tls_1_3) {
  SSL_CTX *context = SSL_CTX_new(TLS_client_method());
  X509_STORE *store = X509_STORE_new();
  if (!context || !store ||
      SSL_CTX_set_min_proto_version(context, demands_tls_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION) != 1) {
    X509_STORE_free(store);
    SSL_CTX_free(context);
    ERR_clear_error();
    return NULL;
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
  // OpenSSL's configuration file, which an environment variable names, may set level 0. Servers without a certificate
  // would then be accepted.
  if (SSL_CTX_get_security_level(context) < 1) SSL_CTX_set_security_level(context, 1);
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  // The caller keeps the sessions, because OpenSSL would not keep them apart by server.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, errand_tls_keep_session);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  // One system call reads several records.
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_client_cert_cb(context, note_certificate_request);
  // An intermediate certificate or the server's own certificate may be the trusted authority, as with libcurl.
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  // The new store trusts only the authorities that are added below.
  SSL_CTX_set_cert_store(context, store);
  return (errand_tls_context *)context;
}

void errand_tls_context_free(errand_tls_context *context) { SSL_CTX_free(errand_ssl_context(context)); }

bool errand_tls_context_trust_file(errand_tls_context *context, const char *path) {
  bool is_loaded = SSL_CTX_load_verify_locations(errand_ssl_context(context), path, NULL) == 1;
  ERR_clear_error();
  return is_loaded;
}

bool errand_tls_context_trust_directory(errand_tls_context *context) {
  const char *directory = X509_get_default_cert_dir();
  bool is_loaded = SSL_CTX_load_verify_locations(errand_ssl_context(context), NULL, directory) == 1;
  ERR_clear_error();
  return is_loaded;
}

bool errand_tls_context_trust_pem(errand_tls_context *context, const void *pem, size_t length) {
  BIO *bio = errand_open_bytes(pem, length);
  X509_STORE *store = SSL_CTX_get_cert_store(errand_ssl_context(context));
  bool is_loaded = false;
  ERR_clear_error();
  X509 *certificate;
  while (bio && (certificate = PEM_read_bio_X509(bio, NULL, errand_give_passphrase, NULL))) {
    is_loaded = X509_STORE_add_cert(store, certificate) == 1;
    X509_free(certificate);
    if (!is_loaded) break;
  }
  is_loaded = is_loaded && errand_pem_has_ended();
  BIO_free(bio);
  ERR_clear_error();
  return is_loaded;
}

void errand_tls_context_trust_same(errand_tls_context *context, errand_tls_context *other) {
  SSL_CTX_set1_cert_store(errand_ssl_context(context), SSL_CTX_get_cert_store(errand_ssl_context(other)));
}

static bool use(SSL_CTX *context, X509 *certificate, EVP_PKEY *key) {
  return certificate && key && SSL_CTX_use_certificate(context, certificate) == 1 &&
         SSL_CTX_use_PrivateKey(context, key) == 1 && SSL_CTX_check_private_key(context) == 1;
}

bool errand_tls_context_use_pem(errand_tls_context *context, const void *certificate, size_t certificate_length,
                                const void *key, size_t key_length, const char *passphrase) {
  BIO *first = errand_open_bytes(certificate, certificate_length);
  BIO *second = errand_open_bytes(key, key_length);
  X509 *x509 = first ? PEM_read_bio_X509(first, NULL, errand_give_passphrase, NULL) : NULL;
  EVP_PKEY *private_key =
      second ? PEM_read_bio_PrivateKey(second, NULL, errand_give_passphrase, (void *)passphrase) : NULL;
  bool is_used = use(errand_ssl_context(context), x509, private_key);
  X509_free(x509);
  ERR_clear_error();
  // The certificates of the authorities follow the client's own certificate.
  while (is_used && (x509 = PEM_read_bio_X509(first, NULL, errand_give_passphrase, NULL))) {
    is_used = SSL_CTX_add1_chain_cert(errand_ssl_context(context), x509) == 1;
    X509_free(x509);
  }
  is_used = is_used && errand_pem_has_ended();
  EVP_PKEY_free(private_key);
  BIO_free(first);
  BIO_free(second);
  ERR_clear_error();
  return is_used;
}

bool errand_tls_context_use_pkcs12(errand_tls_context *context, const void *bytes, size_t length,
                                   const char *passphrase) {
  bool is_open = false;
  EVP_PKEY *key = NULL;
  X509 *certificate = NULL;
  STACK_OF(X509) *chain = NULL;
  bool is_used = errand_read_pkcs12(bytes, length, passphrase, &is_open, &key, &certificate, &chain) && is_open &&
                 use(errand_ssl_context(context), certificate, key);
  for (int place = 0; is_used && place < sk_X509_num(chain); place++) {
    is_used = SSL_CTX_add1_chain_cert(errand_ssl_context(context), sk_X509_value(chain, place)) == 1;
  }
  X509_free(certificate);
  EVP_PKEY_free(key);
  sk_X509_pop_free(chain, X509_free);
  ERR_clear_error();
  return is_used;
}

#else
// Some tools reject an object file without symbols. On systems other than Linux, this file would have no symbol.
int errand_tls_context_is_for_linux_only = 1;
#endif
