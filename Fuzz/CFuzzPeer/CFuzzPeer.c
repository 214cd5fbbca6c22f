#ifdef __linux__
#define OPENSSL_SUPPRESS_DEPRECATED // RAND_set_rand_method()
#include "CFuzzPeer.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

struct fuzz_peer {
  SSL *ssl;
  BIO *in, *out; // owned by `ssl`
};

// MARK: Random numbers

static uint64_t state;

static int fill(unsigned char *bytes, int count) {
  for (int place = 0; place < count; place++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    bytes[place] = (unsigned char)(state >> 56);
  }
  return 1;
}

static int is_ready(void) { return 1; }

void fuzz_peer_prepare(void) {
  static const RAND_METHOD method = {NULL, fill, NULL, NULL, fill, is_ready};
  static bool is_set = false;
  if (!is_set) {
    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
    RAND_set_rand_method(&method);
    is_set = true;
  }
  state = 1;
}

// MARK: States for libFuzzer

// libFuzzer treats the bytes of this section like counters of the code's edges.
__attribute__((section("__libfuzzer_extra_counters"), used)) static uint8_t counters[1 << 14];

void fuzz_peer_note(uint32_t number) {
  uint32_t hash = number * 2654435761u;
  counters[hash >> 18] = 1;
}

// MARK: The certificate

static EVP_PKEY *key;
static X509 *certificate;

static void make_certificate(void) {
  key = EVP_EC_gen("P-256");
  certificate = X509_new();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  // The time of the run does not change the bytes of the certificate.
  ASN1_TIME_set_string(X509_getm_notBefore(certificate), "20200101000000Z");
  ASN1_TIME_set_string(X509_getm_notAfter(certificate), "21000101000000Z");
  X509_set_pubkey(certificate, key);
  const unsigned char name[] = "test";
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC, name, -1, -1, 0);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  X509V3_CTX extended;
  X509V3_set_ctx(&extended, certificate, certificate, NULL, NULL, 0);
  char names[] = "DNS:localhost";
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &extended, NID_subject_alt_name, names);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  X509_sign(certificate, key, EVP_sha256());
}

// MARK: The server

static SSL_CTX *context;

static void make_context(void) {
  if (context) return;
  make_certificate();
  context = SSL_CTX_new(TLS_server_method());
  SSL_CTX_use_certificate(context, certificate);
  SSL_CTX_use_PrivateKey(context, key);
  // Without a cache, no input depends on an earlier one.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

size_t fuzz_peer_certificate(char *buffer, size_t size) {
  make_context();
  BIO *bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, certificate);
  int count = BIO_read(bio, buffer, (int)size);
  BIO_free(bio);
  return count > 0 ? (size_t)count : 0;
}

static int accept_any(int is_valid, X509_STORE_CTX *verified) {
  (void)is_valid;
  (void)verified;
  return 1;
}

fuzz_peer *fuzz_peer_make(fuzz_peer_settings settings) {
  make_context();
  fuzz_peer *peer = calloc(1, sizeof *peer);
  if (!peer) return NULL;
  peer->ssl = SSL_new(context);
  peer->in = BIO_new(BIO_s_mem());
  peer->out = BIO_new(BIO_s_mem());
  if (!peer->ssl || !peer->in || !peer->out) abort();
  BIO_set_mem_eof_return(peer->in, -1);
  BIO_set_mem_eof_return(peer->out, -1);
  SSL_set_bio(peer->ssl, peer->in, peer->out);
  if (settings.is_tls_1_2) SSL_set_max_proto_version(peer->ssl, TLS1_2_VERSION);
  if (settings.asks_for_certificate) SSL_set_verify(peer->ssl, SSL_VERIFY_PEER, accept_any);
  if (settings.has_small_records) SSL_set_max_send_fragment(peer->ssl, 512);
  if (settings.pads) SSL_set_block_padding(peer->ssl, 128);
  SSL_set_accept_state(peer->ssl);
  return peer;
}

void fuzz_peer_free(fuzz_peer *peer) {
  if (!peer) return;
  SSL_free(peer->ssl);
  free(peer);
  ERR_clear_error();
}

void fuzz_peer_take(fuzz_peer *peer, const void *bytes, size_t count) { BIO_write(peer->in, bytes, (int)count); }

size_t fuzz_peer_give(fuzz_peer *peer, void *buffer, size_t size) {
  int count = BIO_read(peer->out, buffer, (int)size);
  return count > 0 ? (size_t)count : 0;
}

void fuzz_peer_advance(fuzz_peer *peer) {
  ERR_clear_error();
  SSL_do_handshake(peer->ssl);
  ERR_clear_error();
}

bool fuzz_peer_is_established(const fuzz_peer *peer) { return SSL_is_init_finished(peer->ssl) == 1; }

size_t fuzz_peer_read(fuzz_peer *peer, void *bytes, size_t size) {
  size_t count = 0;
  ERR_clear_error();
  if (SSL_read_ex(peer->ssl, bytes, size, &count) != 1) count = 0;
  ERR_clear_error();
  return count;
}

size_t fuzz_peer_write(fuzz_peer *peer, const void *bytes, size_t count) {
  size_t written = 0;
  ERR_clear_error();
  if (SSL_write_ex(peer->ssl, bytes, count, &written) != 1) written = 0;
  ERR_clear_error();
  return written;
}

static bool finish_message(fuzz_peer *peer, bool is_made) {
  ERR_clear_error();
  bool is_sent = is_made && SSL_do_handshake(peer->ssl) == 1;
  ERR_clear_error();
  return is_sent;
}

bool fuzz_peer_send_ticket(fuzz_peer *peer) { return finish_message(peer, SSL_new_session_ticket(peer->ssl) == 1); }

bool fuzz_peer_update_keys(fuzz_peer *peer, bool asks_client) {
  int kind = asks_client ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED;
  return finish_message(peer, SSL_key_update(peer->ssl, kind) == 1);
}

bool fuzz_peer_renegotiate(fuzz_peer *peer) {
  ERR_clear_error();
  bool is_made = SSL_version(peer->ssl) == TLS1_2_VERSION && SSL_renegotiate(peer->ssl) == 1;
  if (is_made) SSL_do_handshake(peer->ssl);
  ERR_clear_error();
  return is_made;
}

bool fuzz_peer_say_end(fuzz_peer *peer) {
  ERR_clear_error();
  bool is_said = SSL_is_init_finished(peer->ssl) && SSL_shutdown(peer->ssl) >= 0;
  ERR_clear_error();
  return is_said;
}

#else
int cfuzzpeer_is_for_linux_only = 1;
#endif
