#pragma once
#ifdef __linux__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// MARK: Certificates and keys

// Reasons why errand_pem_count_certificates() could not count.
enum {
  errand_pem_no_memory = -2,
  errand_pem_too_long = -3,
  errand_pem_damaged = -4,
};

// Returns the number of certificates in a PEM text, or one of the negative reasons above. If a certificate is damaged,
// writes its number in the text to `damaged`, beginning with 1; otherwise writes 0.
int errand_pem_count_certificates(const void *pem, size_t length, int *damaged);

// The result of checking whether a certificate and a private key belong together.
typedef enum {
  errand_pair_fits,
  errand_pair_no_certificate,
  errand_pair_no_key, // the key is missing, or the passphrase does not decrypt the key
  errand_pair_differs,
  errand_pair_unsupported, // OpenSSL does not support the encryption
} errand_pair;

errand_pair errand_pem_check_pair(const void *certificate, size_t certificate_length, const void *key,
                                  size_t key_length, const char *passphrase);
errand_pair errand_pkcs12_check(const void *bytes, size_t length, const char *passphrase);

// Makes OpenSSL require that a certificate names a host or an IP address among its alternative names. The common name
// does not count (RFC 9110 section 4.3.4). `parameters` is an X509_VERIFY_PARAM. Returns false without memory.
bool errand_demand_host(void *parameters, const char *host);

// MARK: Hashes

typedef enum { errand_hash_sha256, errand_hash_md5 } errand_hash;

// Writes the hash of bytes and returns its length. Returns 0 if OpenSSL cannot compute the hash, for example without
// memory, or because a policy of the system forbids MD5.
size_t errand_hash_bytes(errand_hash hash, const void *bytes, size_t length, uint8_t digest[32]);

// MARK: Contexts

// What the TLS connections of a client have in common: the trusted authorities, the oldest version and the client
// certificate. A context must not be changed after the first connection uses it.
typedef struct errand_tls_context errand_tls_context;

// Creates a context that trusts no authority. Returns null if no memory is available.
errand_tls_context *errand_tls_context_make(bool demands_tls_1_3);
void errand_tls_context_free(errand_tls_context *context);

// The functions below return false if the file or the bytes cannot be used, or no memory is available.

// Trusts the authorities in a file of PEM certificates.
bool errand_tls_context_trust_file(errand_tls_context *context, const char *path);
// Trusts the authorities in the directory that OpenSSL was built with.
bool errand_tls_context_trust_directory(errand_tls_context *context);
// Trusts the authorities in a PEM text. Returns false also if one of its certificates is damaged.
bool errand_tls_context_trust_pem(errand_tls_context *context, const void *pem, size_t length);
// Trusts the authorities of another context, which are not read again.
void errand_tls_context_trust_same(errand_tls_context *context, errand_tls_context *other);
// Sets the certificate that is sent to servers that ask for one, its key, and the certificates of its authorities.
bool errand_tls_context_use_pem(errand_tls_context *context, const void *certificate, size_t certificate_length,
                                const void *key, size_t key_length, const char *passphrase);
bool errand_tls_context_use_pkcs12(errand_tls_context *context, const void *bytes, size_t length,
                                   const char *passphrase);

// MARK: Connections

// The client's side of a TLS connection over a non-blocking socket. Not thread-safe.
typedef struct errand_tls errand_tls;

typedef enum {
  errand_tls_done,   // the handshake is complete, or bytes were transferred
  errand_tls_later,  // the socket must become readable or writable first
  errand_tls_closed, // the server has announced the end of its data (close_notify)
  errand_tls_cut,    // the stream ended without this announcement
  errand_tls_broken, // the system reported an error: errand_tls_system_error()
  errand_tls_failed, // TLS failed: errand_tls_reason()
} errand_tls_result;

// Creates a connection to `host`, a name or a numeric IP address without brackets. The context must outlive the
// connection. `protocols` are the names of the offered protocols, each after a byte with its length (RFC 7301 section
// 3.1). Returns null if no memory is available.
errand_tls *errand_tls_make(errand_tls_context *context, int descriptor, const char *host, const uint8_t *protocols,
                            size_t protocols_length);
// Frees the connection, but does not close its socket. If `says_end` is true, announces the end of the client's data,
// unless this would wait.
void errand_tls_free(errand_tls *tls, bool says_end);

// What a server offers so that a later connection to it needs no new key exchange and no check of its certificate.
typedef struct errand_tls_session errand_tls_session;

// Returns the last session that the server offered since the last call, or null. The caller frees it.
errand_tls_session *errand_tls_take_session(errand_tls *tls);
void errand_tls_session_free(errand_tls_session *session);
// Returns whether several connections may resume the session. From TLS 1.3 on, a server offers a new session each time,
// and a session is used once (RFC 8446 appendix C.4).
bool errand_tls_session_is_reusable(const errand_tls_session *session);
// Before the handshake: offers the server to resume a session. It must be from the same server and the same context. If
// the server rejects the session, the handshake is a full one.
void errand_tls_resume(errand_tls *tls, errand_tls_session *session);
// After the handshake: returns whether a session was resumed.
bool errand_tls_is_resumed(const errand_tls *tls);

errand_tls_result errand_tls_handshake(errand_tls *tls);

// Reads until `length` bytes are read or the socket has no more bytes. The result is errand_tls_done if `count` is
// above 0. A failure or an end after these bytes is then the result of the next call.
errand_tls_result errand_tls_read(errand_tls *tls, void *bytes, size_t length, size_t *count);

// Writes until all bytes are written or the socket accepts no more bytes. The next call must begin with the bytes that
// were not written, because OpenSSL may have encrypted them already.
errand_tls_result errand_tls_write(errand_tls *tls, const void *bytes, size_t length, size_t *count);

// Returns whether unread application data, an incomplete record, the end of the stream or an error is available.
// Complete messages of TLS itself, such as session tickets, are processed and do not count.
bool errand_tls_has_unread(errand_tls *tls);

// Returns whether errand_tls_read() may have a result although the socket has no more bytes.
bool errand_tls_has_buffered(const errand_tls *tls);

// Returns whether the socket has not accepted all bytes. The next read or write sends them.
bool errand_tls_has_unsent(const errand_tls *tls);

// Returns whether the stream ended without the server's announcement of the end.
bool errand_tls_is_cut(const errand_tls *tls);

// Returns the system's error number of a broken connection, or 0.
int errand_tls_system_error(const errand_tls *tls);
// Returns OpenSSL's text for the TLS failure. Returns null without a failure or if OpenSSL has no text.
const char *errand_tls_reason(const errand_tls *tls);
// Returns whether TLS failed because the first bytes of the server are not TLS.
bool errand_tls_is_foreign(const errand_tls *tls);

// Returns OpenSSL's result of verifying the server's certificate. 0 means that no error was found.
long errand_tls_verify_result(const errand_tls *tls);
const char *errand_tls_verify_text(long result);

// Returns whether the server asked for a client certificate and received none.
bool errand_tls_lacked_own_certificate(const errand_tls *tls);

// Returns the name of the protocol that the server chose, without a final null byte. Returns null if it chose none.
const uint8_t *errand_tls_protocol(const errand_tls *tls, unsigned int *length);

// Writes the SHA-256 of the public key of the server's certificate (SubjectPublicKeyInfo, RFC 5280 section 4.1.2.7).
// Returns false if there is no certificate or no memory.
bool errand_tls_public_key_digest(const errand_tls *tls, uint8_t digest[32]);

#endif
