#ifdef __linux__
#define _GNU_SOURCE
#include "CTLSServer.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct tls_server {
  SSL_CTX *context;
  X509 *certificate;
  char protocol[32];
};

static X509 *make_certificate(EVP_PKEY *key) {
  X509 *made = X509_new();
  X509_set_version(made, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
  X509_gmtime_adj(X509_getm_notBefore(made), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made), 86400);
  X509_set_pubkey(made, key);
  const unsigned char name[] = "test";
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC, name, -1, -1, 0);
  X509_set_issuer_name(made, X509_get_subject_name(made));
  X509V3_CTX context;
  X509V3_set_ctx(&context, made, made, NULL, NULL, 0);
  char names[] = "DNS:localhost,DNS:part*.wild.test,DNS:*.whole.test,IP:127.0.0.1,IP:::1";
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, NID_subject_alt_name, names);
  X509_add_ext(made, extension, -1);
  X509_EXTENSION_free(extension);
  X509_sign(made, key, EVP_sha256());
  return made;
}

static int choose(SSL *ssl, const unsigned char **chosen, unsigned char *length, const unsigned char *offered,
                  unsigned int offered_length, void *data) {
  (void)ssl;
  const tls_server *server = data;
  if (server->protocol[0] == 0) return SSL_TLSEXT_ERR_NOACK;
  unsigned char *found;
  int result = SSL_select_next_proto(&found, length, (const unsigned char *)server->protocol,
                                     (unsigned int)strlen(server->protocol), offered, offered_length);
  *chosen = found;
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

tls_server *tls_server_make(void) {
  OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
  tls_server *server = calloc(1, sizeof *server);
  EVP_PKEY *key = EVP_EC_gen("P-256");
  server->certificate = make_certificate(key);
  server->context = SSL_CTX_new(TLS_server_method());
  SSL_CTX_use_certificate(server->context, server->certificate);
  SSL_CTX_use_PrivateKey(server->context, key);
  SSL_CTX_set_alpn_select_cb(server->context, choose, server);
  SSL_CTX_set_mode(server->context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  EVP_PKEY_free(key);
  return server;
}

size_t tls_server_certificate(const tls_server *server, char *buffer, size_t size) {
  BIO *bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, server->certificate);
  int count = BIO_read(bio, buffer, (int)size);
  BIO_free(bio);
  return count > 0 ? (size_t)count : 0;
}

void tls_server_use_tls_1_2(tls_server *server) {
  SSL_CTX_set_max_proto_version(server->context, TLS1_2_VERSION);
}

void tls_server_ask_for_certificate(tls_server *server) {
  SSL_CTX_set_verify(server->context, SSL_VERIFY_PEER, NULL);
  // Without this context, OpenSSL rejects a client that resumes a session.
  SSL_CTX_set_session_id_context(server->context, (const unsigned char *)"tests", 5);
}

void tls_server_require_certificate(tls_server *server) {
  SSL_CTX_set_verify(server->context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
}

void tls_server_choose(tls_server *server, const char *protocol) {
  strncpy(server->protocol, protocol, sizeof server->protocol - 1);
}

static int lengthen_ticket(SSL *ssl, void *data) {
  (void)data;
  static const char padding[600] = {0};
  return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), padding, sizeof padding);
}

void tls_server_split_tickets(tls_server *server) {
  SSL_CTX_set_session_ticket_cb(server->context, lengthen_ticket, NULL, NULL);
  SSL_CTX_set_max_send_fragment(server->context, 512);
}

tls_peer *tls_peer_accept(tls_server *server, int descriptor) {
  // OpenSSL writes to the socket by write(). Only this thread ignores the signal, so that the tests notice if the
  // client causes it.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  SSL *ssl = SSL_new(server->context);
  SSL_set_fd(ssl, descriptor);
  if (SSL_accept(ssl) == 1) return (tls_peer *)ssl;
  SSL_free(ssl);
  ERR_clear_error();
  return NULL;
}

int tls_peer_read(tls_peer *peer, void *bytes, int count) {
  ERR_clear_error();
  return SSL_read((SSL *)peer, bytes, count);
}

int tls_peer_write(tls_peer *peer, const void *bytes, int count) {
  ERR_clear_error();
  int written = 0;
  while (written < count) {
    int result = SSL_write((SSL *)peer, (const char *)bytes + written, count - written);
    if (result <= 0) return result;
    written += result;
  }
  return written;
}

bool tls_peer_is_resumed(const tls_peer *peer) { return SSL_session_reused((const SSL *)peer) == 1; }

// OpenSSL reports success for a ticket to a client that has closed the connection, so the socket is checked, too.
bool tls_peer_send_ticket(tls_peer *peer) {
  char byte;
  ssize_t count = recv(SSL_get_fd((SSL *)peer), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return false;
  return SSL_new_session_ticket((SSL *)peer) == 1 && SSL_do_handshake((SSL *)peer) == 1;
}

bool tls_peer_update_keys(tls_peer *peer) {
  return SSL_key_update((SSL *)peer, SSL_KEY_UPDATE_REQUESTED) == 1 && SSL_do_handshake((SSL *)peer) == 1;
}

void tls_peer_hold_output(tls_peer *peer) { SSL_set0_wbio((SSL *)peer, BIO_new(BIO_s_mem())); }

size_t tls_peer_take_output(tls_peer *peer, void *bytes, size_t size) {
  int count = BIO_read(SSL_get_wbio((SSL *)peer), bytes, (int)size);
  BIO *bio = SSL_get_rbio((SSL *)peer);
  BIO_up_ref(bio);
  SSL_set0_wbio((SSL *)peer, bio);
  return count > 0 ? (size_t)count : 0;
}

void tls_peer_say_end(tls_peer *peer) { SSL_shutdown((SSL *)peer); }

const char *tls_peer_name(const tls_peer *peer) {
  return SSL_get_servername((const SSL *)peer, TLSEXT_NAMETYPE_host_name);
}

unsigned int tls_peer_protocol(const tls_peer *peer, char name[256]) {
  const unsigned char *found = NULL;
  unsigned int length = 0;
  SSL_get0_alpn_selected((const SSL *)peer, &found, &length);
  if (length > 0 && length < 256) memcpy(name, found, length);
  return length;
}

void tls_peer_free(tls_peer *peer) {
  SSL_free((SSL *)peer);
  ERR_clear_error();
}

// MARK: Relay

typedef struct {
  char bytes[16384];
  size_t start, end;
  bool has_ended, is_closed;
} channel;

static bool is_waiting(SSL *ssl, int result) {
  int code = SSL_get_error(ssl, result);
  ERR_clear_error();
  return code == SSL_ERROR_WANT_READ || code == SSL_ERROR_WANT_WRITE;
}

static void reset(int descriptor) {
  struct linger linger = {1, 0};
  setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

static void move_up(SSL *ssl, int other, channel *up) {
  if (up->start == up->end && !up->has_ended) {
    ERR_clear_error();
    int count = SSL_read(ssl, up->bytes, sizeof up->bytes);
    if (count > 0) {
      up->start = 0, up->end = (size_t)count;
    } else if (!is_waiting(ssl, count)) {
      up->has_ended = true;
    }
  }
  while (up->start < up->end) {
    ssize_t sent = send(other, up->bytes + up->start, up->end - up->start, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EAGAIN) break;
    // A server that has closed may have responded before. The rest of the request is dropped.
    up->start = sent < 0 ? up->end : up->start + (size_t)sent;
  }
  if (up->has_ended && up->start == up->end && !up->is_closed) {
    shutdown(other, SHUT_WR);
    up->is_closed = true;
  }
}

// Returns false if the connection broke.
static bool move_down(SSL *ssl, int descriptor, int other, channel *down) {
  if (down->start == down->end && !down->has_ended) {
    ssize_t count = recv(other, down->bytes, sizeof down->bytes, MSG_DONTWAIT);
    if (count > 0) {
      down->start = 0, down->end = (size_t)count;
    } else if (count == 0) {
      down->has_ended = true;
    } else if (errno != EAGAIN) {
      reset(descriptor);
      return false;
    }
  }
  while (down->start < down->end) {
    ERR_clear_error();
    int count = SSL_write(ssl, down->bytes + down->start, (int)(down->end - down->start));
    if (count > 0) {
      down->start += (size_t)count;
    } else if (is_waiting(ssl, count)) {
      break;
    } else {
      reset(other);
      return false;
    }
  }
  if (down->has_ended && down->start == down->end && !down->is_closed) {
    SSL_shutdown(ssl);
    shutdown(descriptor, SHUT_WR);
    down->is_closed = true;
  }
  return true;
}

void tls_peer_relay(tls_peer *peer, int descriptor, int other) {
  SSL *ssl = (SSL *)peer;
  channel *up = calloc(1, sizeof *up), *down = calloc(1, sizeof *down);
  fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  while (!(up->is_closed && down->is_closed)) {
    move_up(ssl, other, up);
    if (!move_down(ssl, descriptor, other, down)) break;
    if (SSL_pending(ssl) > 0 && up->start == up->end) continue;
    struct pollfd polled[2] = {{.fd = descriptor}, {.fd = other}};
    if (up->start == up->end && !up->has_ended) polled[0].events |= POLLIN;
    if (down->start < down->end) polled[0].events |= POLLOUT;
    if (down->start == down->end && !down->has_ended) polled[1].events |= POLLIN;
    if (up->start < up->end) polled[1].events |= POLLOUT;
    // A socket without a wanted event is left out, because the end of its stream would end every wait at once.
    for (int place = 0; place < 2; place++) {
      if (polled[place].events == 0) polled[place].fd = -1;
    }
    poll(polled, 2, 10000);
  }
  free(up);
  free(down);
}

#else
int ctlsserver_is_for_linux_only = 1;
#endif
