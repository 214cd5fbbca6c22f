"""Answers every request with a mutated response: server.py SEED. Prints its port first."""

import random
import socket
import sys
import threading

SEED = int(sys.argv[1])
SAMPLES = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\n X-A: 1\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\n\t3\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: 1\r\n 2\r\n\r\n",
    b"HTTP/1.1 103 Early\r\nLink: a\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nSet-Cookie: a=b\r\n\r\nto the end",
    b"HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"a\", Digest nonce=\"b\"\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 302 Go\r\nLocation: http://[::1/\r\nRetry-After: 9\r\nContent-Length: 0\r\n\r\n",
]
TOKENS = [
    b"\r\n", b"\n", b"\r", b" ", b"\t", b":", b"\0", b"\xff", b"\r\n ", b"\r\n\t", b"\r\n\r\n", b"HTTP/1.1 200 OK\r\n",
    b"HTTP/2 200\r\n", b"Content-Length: -1\r\n", b"Content-Length: 99999999999999999999\r\n", b"A" * 5000,
    b"Transfer-Encoding: gzip, chunked\r\n", b"Content-Encoding: br\r\n", b"Upgrade: h2c\r\nConnection: Upgrade\r\n",
    b"Alt-Svc: h3=\":443\"\r\n", b"Strict-Transport-Security: max-age=1\r\n", b"ffffffffffffffff\r\n", b"0\r\n\r\n",
    b"Connection: close\r\n", b"Trailer: X\r\n",
]  # fmt: skip


def mutated(chance):
    data = bytearray(chance.choice(SAMPLES))
    if chance.random() < 0.2:
        data += chance.choice(SAMPLES)
    for _ in range(chance.choice([0, 1, 1, 2, 3, 8])):
        place = chance.randrange(len(data) + 1)
        kind = chance.randrange(4)
        if kind == 0:
            data[place:place] = chance.choice(TOKENS)
        elif kind == 1:
            del data[place : place + chance.randrange(1, 9)]
        elif kind == 2:
            data[place : place + 1] = bytes([chance.randrange(256)])
        else:
            end = min(len(data), place + chance.randrange(1, 40))
            data[place:place] = data[place:end] * chance.randrange(1, 4)
    return bytes(data)


def serve(connection, number):
    chance = random.Random(SEED * 1_000_003 + number)
    connection.settimeout(5)
    with connection:
        try:
            while connection.recv(65536):
                data = mutated(chance)
                cut = chance.randrange(len(data) + 1) if chance.random() < 0.3 else 0
                for piece in (data[:cut], data[cut:]):
                    if piece:
                        connection.sendall(piece)
                if chance.random() < 0.6:
                    return
        except OSError:
            pass


def main():
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    print(listener.getsockname()[1], flush=True)
    number = 0
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        number += 1
        threading.Thread(target=serve, args=(connection, number), daemon=True).start()


main()
