#pragma once
#ifdef __linux__

#include "errand_openssl.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

// An errand_tls_context is a context of OpenSSL.
static inline SSL_CTX *errand_ssl_context(errand_tls_context *context) { return (SSL_CTX *)context; }

// OpenSSL calls these functions for a connection: the first if the server asks for a client certificate and the context
// has none, the second if the server offers to resume the session later.
void errand_tls_note_missing_certificate(SSL *ssl);
int errand_tls_keep_session(SSL *ssl, SSL_SESSION *session);

// Opens bytes for reading. Returns null if there are too many bytes or no memory is available.
BIO *errand_open_bytes(const void *bytes, size_t length);

// OpenSSL calls this function for the passphrase of a key.
int errand_give_passphrase(char *buffer, int size, int is_writing, void *passphrase);

// After PEM_read_bio_X509() has returned null: returns whether the text contains no further certificate. Otherwise the
// next certificate is damaged, or no memory is available, and the rest of the text was not read. OpenSSL's queue of
// errors must have been empty before the text was read.
bool errand_pem_has_ended(void);

// Reads a PKCS #12 file. The caller must free the certificate, the key and the chain. Each may be null. Returns false
// if the bytes are no PKCS #12 file. `is_open` tells whether the file was decrypted. If it is false, OpenSSL's queue of
// errors contains the reason.
bool errand_read_pkcs12(const void *bytes, size_t length, const char *passphrase, bool *is_open, EVP_PKEY **key,
                        X509 **certificate, STACK_OF(X509) **chain);

#endif
