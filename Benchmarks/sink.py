"""A server that receives bodies and discards them, and sends one file. nginx would write the bodies to the disk."""

import os
import re
import socket
import threading

ROOM = 1 << 20


class Sink:
    """Listens on a free loopback port, with one thread for each connection."""

    def __init__(self, file):
        self.file = file
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection:
            try:
                while take_request(connection, self.file):
                    pass
            except OSError:
                pass


def send_file(connection, path):
    """Responds with a file."""
    with open(path, "rb") as file:
        length, sent = os.fstat(file.fileno()).st_size, 0
        connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n".encode())
        while sent < length:
            sent += os.sendfile(connection.fileno(), file.fileno(), sent, length - sent)


def take_request(connection, file):
    """Responds to one request after its body has arrived. Returns False if the client closed the connection."""
    head, rest = b"", b""
    while b"\r\n\r\n" not in head:
        piece = connection.recv(64 << 10)
        if not piece:
            return False
        head += piece
    head, rest = head.split(b"\r\n\r\n", 1)
    if head.startswith(b"GET "):
        send_file(connection, file)
        return True
    length = re.search(rb"^content-length: *([0-9]+)", head, re.IGNORECASE | re.MULTILINE)
    if not length:
        connection.sendall(b"HTTP/1.1 411 Length Required\r\nContent-Length: 0\r\n\r\n")
        return True
    if re.search(rb"^expect: *100-continue", head, re.IGNORECASE | re.MULTILINE):
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    left, room = int(length[1]) - len(rest), memoryview(bytearray(ROOM))
    while left > 0:
        count = connection.recv_into(room, min(left, ROOM))
        if count == 0:
            return False
        left -= count
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    return True
