#ifdef __linux__
#define _GNU_SOURCE

#include "errand_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct errand_tls {
  SSL *ssl;
  int descriptor;
  int system_error;
  unsigned long error;       // OpenSSL's code for the TLS failure, or 0
  errand_tls_result reading; // errand_tls_done while reading is possible
  errand_tls_result writing; // errand_tls_done while writing is possible
  bool lacked_certificate;
  bool has_ended;  // the socket has no more bytes, because the server closed it
  bool is_drained; // the last read of this call returned fewer bytes than were requested
  bool stops_if_drained;
  bool is_established;  // the handshake is complete
  size_t messages;      // the messages of TLS itself that were received, those of the handshake until it is complete
  size_t content;       // the bytes of application data that were read
  size_t unfinished;    // the bytes of content in a record that the socket has not accepted completely
  size_t record_end;    // the end of this record in the bytes that the socket has not accepted
  char *unsent;         // the bytes that OpenSSL has written and the socket has not accepted; null if there are none
  size_t unsent_start, unsent_end;
  SSL_SESSION *session; // the last session that the server offered, until the caller takes it
};

// The bytes of content in the largest record (RFC 8446 section 5.1).
enum { largest_record = 16 << 10 };

// The number of messages of TLS itself that are accepted during the handshake, of which a server needs fewer than ten;
// those, such as session tickets, that are accepted after it; and the number of bytes of content for which one more is
// accepted. Within one call, OpenSSL reads messages until the handshake is complete or content arrives. So without a
// limit, a server could hold the calling thread.
enum { most_handshake_messages = 64, most_messages = 1000, content_per_message = 64 << 10 };

static bool is_flooded(const errand_tls *tls) {
  if (!tls->is_established) return tls->messages > most_handshake_messages;
  return tls->messages > most_messages + tls->content / content_per_message;
}

static void count_message(int is_written, int version, int type, const void *bytes, size_t length, SSL *ssl,
                          void *context) {
  (void)version;
  (void)bytes;
  (void)length;
  (void)ssl;
  errand_tls *tls = context;
  if (!is_written && type == SSL3_RT_HANDSHAKE) tls->messages++;
}

void errand_tls_note_missing_certificate(SSL *ssl) {
  errand_tls *tls = SSL_get_app_data(ssl);
  if (tls) tls->lacked_certificate = true;
}

// MARK: The socket

// OpenSSL's own functions for sockets use write(), and the signal SIGPIPE would end the process if the server has
// closed the connection. Returns the number of bytes that the socket accepts now, or -1 if the connection is broken.
static ssize_t send_bytes(errand_tls *tls, const char *bytes, size_t count) {
  ssize_t sent;
  do {
    sent = send(tls->descriptor, bytes, count, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent >= 0) return sent;
  if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
  tls->system_error = errno;
  return -1;
}

static void drop_unsent(errand_tls *tls) {
  free(tls->unsent);
  tls->unsent = NULL;
  tls->unsent_start = tls->unsent_end = 0;
}

// Sends the bytes that the socket has not accepted yet. Returns true if none are left.
static bool send_unsent(errand_tls *tls) {
  if (!tls->unsent) return true;
  ssize_t sent = send_bytes(tls, tls->unsent + tls->unsent_start, tls->unsent_end - tls->unsent_start);
  if (sent < 0) {
    tls->writing = errand_tls_broken;
    drop_unsent(tls);
    return false;
  }
  tls->unsent_start += (size_t)sent;
  if (tls->unsent_start < tls->unsent_end) return false;
  drop_unsent(tls);
  return true;
}

// Sends the bytes that the socket has not accepted yet. Returns true if none of the last record with content are left. An
// answer to a server's KeyUpdate may follow the record.
static bool send_record(errand_tls *tls) {
  return send_unsent(tls) || (tls->writing == errand_tls_done && tls->unsent_start >= tls->record_end);
}

static bool keep_unsent(errand_tls *tls, const char *bytes, size_t count) {
  char *more = realloc(tls->unsent, tls->unsent_end + count);
  if (!more) return false;
  memcpy(more + tls->unsent_end, bytes, count);
  tls->unsent = more;
  tls->unsent_end += count;
  return true;
}

// Accepts all bytes from OpenSSL, and keeps those that the socket does not accept. If OpenSSL kept a part of a record
// itself, it could not answer a server's KeyUpdate while it reads, and the connection would fail with "bad length".
// There is at most one record, and short answers, whose number is limited like that of the server's messages.
static int write_socket(BIO *bio, const char *bytes, int count) {
  errand_tls *tls = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  ssize_t sent = tls->unsent ? 0 : send_bytes(tls, bytes, (size_t)count);
  if (sent < 0) return -1;
  if (sent < count && !keep_unsent(tls, bytes + sent, (size_t)(count - sent))) {
    tls->system_error = ENOMEM;
    return -1;
  }
  return count;
}

static int read_socket(BIO *bio, char *bytes, int count) {
  errand_tls *tls = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  ssize_t received;
  if (tls->is_drained && tls->stops_if_drained) {
    BIO_set_retry_read(bio);
    return -1;
  }
  if (is_flooded(tls)) {
    tls->system_error = EPROTO;
    return -1;
  }
  do {
    received = recv(tls->descriptor, bytes, (size_t)count, 0);
  } while (received < 0 && errno == EINTR);
  if (received > 0) {
    tls->is_drained = received < count;
    return (int)received;
  }
  if (received == 0) {
    tls->has_ended = true;
  } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
    BIO_set_retry_read(bio);
  } else {
    tls->system_error = errno;
  }
  return (int)received;
}

static long control_socket(BIO *bio, int command, long number, void *data) {
  (void)number;
  (void)data;
  errand_tls *tls = BIO_get_data(bio);
  switch (command) {
  case BIO_CTRL_FLUSH:
    return 1;
  case BIO_CTRL_EOF:
    return tls && tls->has_ended;
  default:
    return 0;
  }
}

static int open_socket(BIO *bio) {
  BIO_set_init(bio, 1);
  return 1;
}

static BIO_METHOD *method = NULL;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_method(void) {
  BIO_METHOD *made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "errand socket");
  if (!made) return;
  BIO_meth_set_write(made, write_socket);
  BIO_meth_set_read(made, read_socket);
  BIO_meth_set_ctrl(made, control_socket);
  BIO_meth_set_create(made, open_socket);
  method = made;
}

// MARK: The connection

// Server Name Indication contains names only, never addresses (RFC 6066 section 3).
static bool set_names(SSL *ssl, const char *host) {
  unsigned char address[16];
  if (!errand_demand_host(SSL_get0_param(ssl), host)) return false;
  if (inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1) return true;
  return SSL_set_tlsext_host_name(ssl, host) == 1;
}

errand_tls *errand_tls_make(errand_tls_context *context, int descriptor, const char *host, const uint8_t *protocols,
                            size_t protocols_length) {
  pthread_once(&once, make_method);
  errand_tls *tls = calloc(1, sizeof *tls);
  if (!tls) return NULL;
  tls->descriptor = descriptor;
  tls->ssl = SSL_new(errand_ssl_context(context));
  BIO *bio = method ? BIO_new(method) : NULL;
  if (!tls->ssl || !bio || !set_names(tls->ssl, host) ||
      (protocols_length > 0 && SSL_set_alpn_protos(tls->ssl, protocols, (unsigned int)protocols_length) != 0)) {
    BIO_free(bio);
    SSL_free(tls->ssl);
    free(tls);
    ERR_clear_error();
    return NULL;
  }
  BIO_set_data(bio, tls);
  SSL_set_bio(tls->ssl, bio, bio);
  SSL_set_app_data(tls->ssl, tls);
  SSL_set_msg_callback(tls->ssl, count_message);
  SSL_set_msg_callback_arg(tls->ssl, tls);
  SSL_set_connect_state(tls->ssl);
  return tls;
}

void errand_tls_free(errand_tls *tls, bool says_end) {
  if (!tls) return;
  // OpenSSL forbids SSL_shutdown() after a fatal error and during the handshake.
  bool is_intact = tls->writing == errand_tls_done &&
                   (tls->reading == errand_tls_done || tls->reading == errand_tls_closed);
  if (says_end && is_intact && SSL_is_init_finished(tls->ssl)) SSL_shutdown(tls->ssl);
  SSL_free(tls->ssl);
  SSL_SESSION_free(tls->session);
  drop_unsent(tls);
  free(tls);
  ERR_clear_error();
}

// MARK: Sessions

int errand_tls_keep_session(SSL *ssl, SSL_SESSION *session) {
  errand_tls *tls = SSL_get_app_data(ssl);
  if (!tls || !SSL_SESSION_is_resumable(session)) return 0;
  SSL_SESSION_free(tls->session);
  tls->session = session;
  return 1;
}

errand_tls_session *errand_tls_take_session(errand_tls *tls) {
  SSL_SESSION *session = tls->session;
  tls->session = NULL;
  return (errand_tls_session *)session;
}

void errand_tls_resume(errand_tls *tls, errand_tls_session *session) {
  if (SSL_SESSION_is_resumable((SSL_SESSION *)session)) SSL_set_session(tls->ssl, (SSL_SESSION *)session);
  ERR_clear_error();
}

bool errand_tls_is_resumed(const errand_tls *tls) { return SSL_session_reused(tls->ssl) == 1; }

bool errand_tls_session_is_reusable(const errand_tls_session *session) {
  return SSL_SESSION_get_protocol_version((const SSL_SESSION *)session) < TLS1_3_VERSION;
}

void errand_tls_session_free(errand_tls_session *session) { SSL_SESSION_free((SSL_SESSION *)session); }

// MARK: Transfers

// Interprets a failed call of OpenSSL.
static errand_tls_result interpret(errand_tls *tls, int result) {
  int code = SSL_get_error(tls->ssl, result);
  unsigned long error = ERR_peek_error();
  ERR_clear_error();
  switch (code) {
  case SSL_ERROR_WANT_READ:
  case SSL_ERROR_WANT_WRITE:
    return errand_tls_later;
  case SSL_ERROR_ZERO_RETURN:
    return errand_tls_closed;
  case SSL_ERROR_SYSCALL:
    return tls->system_error != 0 ? errand_tls_broken : errand_tls_cut;
  default:
    break;
  }
#ifdef SSL_R_UNEXPECTED_EOF_WHILE_READING
  if (ERR_GET_REASON(error) == SSL_R_UNEXPECTED_EOF_WHILE_READING) return errand_tls_cut;
#endif
  tls->error = error;
  // After a failure of TLS itself, OpenSSL can neither read nor write.
  tls->reading = tls->writing = errand_tls_failed;
  return errand_tls_failed;
}

// Frees OpenSSL's buffers, which have 17 KB each, between two records. OpenSSL allocates them when it needs them again.
// By itself it keeps them after messages without content, such as session tickets. Within a record the buffers must
// stay: before OpenSSL 3.0.14, 3.1.6, 3.2.2 and 3.3.1, SSL_free_buffers() frees memory that is still used if only the
// header of a record was received, or if a part of its content was not read yet (CVE-2024-4741).
static void free_buffers(errand_tls *tls) {
  bool is_between_records = strcmp(SSL_rstate_string(tls->ssl), "RH") == 0;
  if (is_between_records && SSL_pending(tls->ssl) == 0) SSL_free_buffers(tls->ssl);
}

errand_tls_result errand_tls_handshake(errand_tls *tls) {
  send_unsent(tls);
  ERR_clear_error();
  int result = SSL_do_handshake(tls->ssl);
  errand_tls_result last = result == 1 ? errand_tls_done : interpret(tls, result);
  if (last == errand_tls_done) {
    tls->is_established = true;
    tls->messages = 0;
  } else if (is_flooded(tls)) {
    tls->error = ERR_PACK(ERR_LIB_SSL, 0, SSL_R_UNEXPECTED_MESSAGE);
    last = tls->reading = tls->writing = errand_tls_failed;
  }
  free_buffers(tls);
  return last;
}

// The socket was drained if it returned fewer bytes than were requested. The poller reports later bytes, so another
// request would waste a system call. But if the bytes contained only messages of TLS itself, the caller learns nothing
// from the result and would not ask again, so the end of the stream after these messages must be read in this call.
errand_tls_result errand_tls_read(errand_tls *tls, void *bytes, size_t length, size_t *count) {
  *count = 0;
  tls->is_drained = false;
  // The end of a record with content is sent by errand_tls_write(), which then reports the content as sent.
  if (tls->unfinished == 0) send_unsent(tls);
  errand_tls_result last = tls->reading;
  while (*count < length && last == errand_tls_done) {
    size_t read = 0;
    tls->stops_if_drained = *count > 0;
    ERR_clear_error();
    int result = SSL_read_ex(tls->ssl, (char *)bytes + *count, length - *count, &read);
    *count += read;
    tls->content += read;
    if (result != 1) last = interpret(tls, result);
  }
  if (last != errand_tls_later) tls->reading = last;
  free_buffers(tls);
  return *count > 0 ? errand_tls_done : last;
}

// Each call of OpenSSL gets the content of one record. The content counts as sent when the socket has accepted the whole
// record, because the server cannot read a part of it. Until then, the caller passes the same content again.
errand_tls_result errand_tls_write(errand_tls *tls, const void *bytes, size_t length, size_t *count) {
  *count = 0;
  tls->stops_if_drained = false;
  errand_tls_result last = errand_tls_done;
  while (*count < length && tls->writing == errand_tls_done && last == errand_tls_done) {
    size_t left = length - *count;
    if (tls->unfinished == 0) {
      ERR_clear_error();
      int result = SSL_write_ex(tls->ssl, (const char *)bytes + *count, left < largest_record ? left : largest_record,
                                &tls->unfinished);
      if (result != 1) last = interpret(tls, result);
      if (last != errand_tls_later) tls->writing = last;
      tls->record_end = tls->unsent_end;
    }
    if (last == errand_tls_done && !send_record(tls)) last = errand_tls_later;
    if (last == errand_tls_done) {
      *count += tls->unfinished < left ? tls->unfinished : left;
      tls->unfinished = 0;
    }
  }
  if (*count > 0) return errand_tls_done;
  return tls->writing == errand_tls_done ? last : tls->writing;
}

bool errand_tls_has_unread(errand_tls *tls) {
  char byte;
  size_t read = 0;
  if (tls->reading != errand_tls_done) return true;
  ERR_clear_error();
  tls->stops_if_drained = false;
  int result = SSL_peek_ex(tls->ssl, &byte, 1, &read);
  if (result == 1) return true;
  errand_tls_result last = interpret(tls, result);
  if (last != errand_tls_later) tls->reading = last;
  free_buffers(tls);
  return last != errand_tls_later || SSL_has_pending(tls->ssl);
}

bool errand_tls_has_buffered(const errand_tls *tls) {
  return tls->reading != errand_tls_done || SSL_has_pending(tls->ssl);
}

bool errand_tls_has_unsent(const errand_tls *tls) { return tls->unsent != NULL; }

bool errand_tls_is_cut(const errand_tls *tls) { return tls->reading == errand_tls_cut; }

int errand_tls_system_error(const errand_tls *tls) { return tls->system_error; }

const char *errand_tls_reason(const errand_tls *tls) {
  return tls->error == 0 ? NULL : ERR_reason_error_string(tls->error);
}

bool errand_tls_is_foreign(const errand_tls *tls) {
  return tls->error != 0 && ERR_GET_LIB(tls->error) == ERR_LIB_SSL &&
         (ERR_GET_REASON(tls->error) == SSL_R_WRONG_VERSION_NUMBER ||
          ERR_GET_REASON(tls->error) == SSL_R_HTTP_REQUEST);
}

long errand_tls_verify_result(const errand_tls *tls) { return SSL_get_verify_result(tls->ssl); }

const char *errand_tls_verify_text(long result) { return X509_verify_cert_error_string(result); }

bool errand_tls_lacked_own_certificate(const errand_tls *tls) { return tls->lacked_certificate; }

const uint8_t *errand_tls_protocol(const errand_tls *tls, unsigned int *length) {
  const unsigned char *name = NULL;
  SSL_get0_alpn_selected(tls->ssl, &name, length);
  return name;
}

bool errand_tls_public_key_digest(const errand_tls *tls, uint8_t digest[32]) {
  X509 *certificate = SSL_get_peer_certificate(tls->ssl);
  if (!certificate) return false;
  unsigned char *bytes = NULL;
  int length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &bytes);
  X509_free(certificate);
  if (length <= 0) return false;
  bool is_hashed = EVP_Digest(bytes, (size_t)length, digest, NULL, EVP_sha256(), NULL) == 1;
  OPENSSL_free(bytes);
  ERR_clear_error();
  return is_hashed;
}

#else
// Some tools reject an object file without symbols. On systems other than Linux, this file would have no symbol.
int errand_tls_is_for_linux_only = 1;
#endif
