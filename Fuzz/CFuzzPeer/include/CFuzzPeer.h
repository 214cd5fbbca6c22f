#pragma once
#ifdef __linux__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The server's side of TLS in memory, for the fuzz targets. No function blocks or opens a file. Not thread-safe.

typedef struct fuzz_peer fuzz_peer;

// Replaces the random numbers of OpenSSL by a fixed series, so that each input always has the same result. Must be
// called before each input. Also begins the series again.
void fuzz_peer_prepare(void);

// Writes the certificate of all servers in PEM. It is for localhost and signs itself. Returns its length. Must be called
// before the first input, so that the first input has the same random numbers as later ones.
size_t fuzz_peer_certificate(char *buffer, size_t size);

// The settings of a server.
typedef struct {
  bool is_tls_1_2;
  bool asks_for_certificate;
  bool has_small_records; // records of at most 512 bytes
  bool pads;              // fills the records of TLS 1.3 up to multiples of 128 bytes
} fuzz_peer_settings;

// Makes a server before the handshake. Returns null if no memory is available.
fuzz_peer *fuzz_peer_make(fuzz_peer_settings settings);
void fuzz_peer_free(fuzz_peer *peer);

// Takes bytes that the client has sent.
void fuzz_peer_take(fuzz_peer *peer, const void *bytes, size_t count);
// Returns the number of bytes for the client that were written to `buffer`.
size_t fuzz_peer_give(fuzz_peer *peer, void *buffer, size_t size);

// Continues the handshake, and handles messages of the client after it.
void fuzz_peer_advance(fuzz_peer *peer);
bool fuzz_peer_is_established(const fuzz_peer *peer);

// Transfer application data. Return the number of bytes, or 0.
size_t fuzz_peer_read(fuzz_peer *peer, void *bytes, size_t size);
size_t fuzz_peer_write(fuzz_peer *peer, const void *bytes, size_t count);

// Send messages of TLS itself. Return whether a message was sent.
bool fuzz_peer_send_ticket(fuzz_peer *peer);
bool fuzz_peer_update_keys(fuzz_peer *peer, bool asks_client);
bool fuzz_peer_renegotiate(fuzz_peer *peer);
bool fuzz_peer_say_end(fuzz_peer *peer);

// Tells libFuzzer that an input has reached a state. OpenSSL is not built for libFuzzer, so its states would otherwise
// not count as new.
void fuzz_peer_note(uint32_t state);

#endif
