#pragma once
#ifdef __linux__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The server's side of TLS, for tests. Every function blocks.

typedef struct tls_server tls_server;
typedef struct tls_peer tls_peer;

// Makes a server with a new key and a self-signed certificate for localhost, part*.wild.test, *.whole.test, 127.0.0.1
// and ::1.
tls_server *tls_server_make(void);
// Writes the certificate in PEM. Returns its length.
size_t tls_server_certificate(const tls_server *server, char *buffer, size_t size);
// Restricts the server to TLS 1.2.
void tls_server_use_tls_1_2(tls_server *server);
// Makes the server ask for a client certificate, which it does not require.
void tls_server_ask_for_certificate(tls_server *server);
// Makes the server require a client certificate. It trusts none.
void tls_server_require_certificate(tls_server *server);
// Makes the server choose a protocol, in the form of RFC 7301 section 3.1: a byte with the length, then the name.
void tls_server_choose(tls_server *server, const char *protocol);
// Makes each session ticket of TLS 1.3 longer than a record of this server.
void tls_server_split_tickets(tls_server *server);

// Performs the handshake on a connected socket. Returns null if the handshake fails.
tls_peer *tls_peer_accept(tls_server *server, int descriptor);
// Return the number of transferred bytes, or a number of at most 0 at the end or for an error.
int tls_peer_read(tls_peer *peer, void *bytes, int count);
int tls_peer_write(tls_peer *peer, const void *bytes, int count);
// Whether the client resumed an earlier session.
bool tls_peer_is_resumed(const tls_peer *peer);
// Sends another session ticket.
bool tls_peer_send_ticket(tls_peer *peer);
// Changes the server's keys and asks the client to change its keys.
bool tls_peer_update_keys(tls_peer *peer);
// Keeps the records that the server makes from now on, instead of sending them.
void tls_peer_hold_output(tls_peer *peer);
// Copies the records that were kept, and lets the server send later records again. Returns the number of bytes.
size_t tls_peer_take_output(tls_peer *peer, void *bytes, size_t size);
// Announces the end of the server's data.
void tls_peer_say_end(tls_peer *peer);
// The name that the client sent in the handshake. Null if it sent none.
const char *tls_peer_name(const tls_peer *peer);
// Writes the name of the protocol that the server chose. Returns its length, 0 if it chose none.
unsigned int tls_peer_protocol(const tls_peer *peer, char name[256]);
void tls_peer_free(tls_peer *peer);

// Copies bytes between the TLS connection and a socket until both directions ended. Closes and resets what the other
// side closes and resets.
void tls_peer_relay(tls_peer *peer, int descriptor, int other);

#endif
