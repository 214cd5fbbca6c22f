"""TLS servers and proxies that authenticate their clients: doors.py FOLDER

FOLDER contains the files of certificates.sh. All servers listen on loopback and on ports that the system chooses. The
addresses are printed as shell exports when all of them listen.

- ERRAND_DOOR_TLS responds with the request and the number of its connection, as JSON;
  ERRAND_DOOR_TLS_AGAIN is a second server of the same kind.
- ERRAND_DOOR_CLIENT and ERRAND_DOOR_CLIENT_12 require a client certificate, with TLS 1.3 and with TLS 1.2 only.
- ERRAND_DOOR_FLOOD speaks HTTP/2 and sends frames without content, without end.
- ERRAND_DOOR_PROXY is a proxy that requires the user ada with the password opensesame; ERRAND_DOOR_OPEN_PROXY requires
  no credentials.
- ERRAND_DOOR_DIGEST_PROXY requires Digest with SHA-256 or MD5 from the same user, and refuses Basic though it offers it.
  A nonce is good for three requests. Status 407 has a body and keeps the connection open.
- ERRAND_DOOR_CLOSING_PROXY requires Digest with MD5, closes the connection after status 407, and replaces the nonce with
  each response to a plain request.
"""

import base64
import hashlib
import http.server
import itertools
import json
import pathlib
import secrets
import select
import socket
import ssl
import sys
import threading
import urllib.parse
import urllib.request

FOLDER = pathlib.Path(sys.argv[1])
WORD = "Basic " + base64.b64encode(b"ada:opensesame").decode()
NUMBERS = itertools.count(1)


class Server(http.server.ThreadingHTTPServer):
    """A server that does not report disconnected clients."""

    context = None

    def handle_error(self, request, client_address):
        pass


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        self.request.settimeout(30)
        if self.server.context:
            self.request = welcome(self.request, self.server.context)
        self.number = next(NUMBERS)
        super().setup()

    def log_message(self, *arguments):
        pass

    def answer(self, status, body, *fields):
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Echo(Handler):
    """Responds with the request. `/to?url=URL` redirects. The body of `/until-close` ends with the connection, after a
    TLS close_notify; that of `/cut` ends without one."""

    def do_GET(self):
        path = urllib.parse.urlsplit(self.path)
        if path.path == "/to":
            self.answer(302, b"", ("Location", urllib.parse.parse_qs(path.query)["url"][0]))
            return
        if path.path in ("/until-close", "/cut"):
            self.until_close(path.path == "/until-close")
            return
        subject = self.request.getpeercert() if self.server.context else None
        names = dict(pair for part in (subject or {}).get("subject", ()) for pair in part)
        seen = {
            "path": self.path,
            "fields": dict(self.headers.items()),
            "connection": self.number,
            "client": names.get("commonName"),
        }
        self.answer(200, json.dumps(seen).encode(), ("Content-Type", "application/json"))


    def until_close(self, is_announced):
        self.send_response(200)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"hello")
        self.close_connection = True
        if is_announced:
            try:
                self.request.unwrap()
            except OSError:
                pass


class Flood(Handler):
    """Sends its settings, and then frames of an unknown type without content. Never reads a request."""

    def handle(self):
        self.request.sendall(self.frame(4))
        many = self.frame(0x77) * 7000
        while True:
            self.request.sendall(many)

    @staticmethod
    def frame(kind):
        return bytes([0, 0, 0, kind, 0, 0, 0, 0, 0])


def welcome(connection, tls):
    """Performs the handshake. After a failure it reads until the client closes: otherwise the system would reset the
    connection, and the reset can arrive before the alert with the reason."""
    spare = connection.dup()
    try:
        return tls.wrap_socket(connection, server_side=True)
    except OSError:
        with spare:
            spare.settimeout(5)
            spare.shutdown(socket.SHUT_WR)
            while spare.recv(65536):
                pass
        raise
    finally:
        spare.close()


class Proxy(Handler):
    """Opens tunnels and forwards plain HTTP requests."""

    word = WORD

    def is_welcome(self):
        if self.word is None or self.headers.get("Proxy-Authorization") == self.word:
            return True
        self.answer(407, b"", ("Proxy-Authenticate", 'Basic realm="door"'))
        return False

    def do_CONNECT(self):
        if not self.is_welcome():
            return
        host, port = self.path.rsplit(":", 1)
        with socket.create_connection((host.strip("[]"), int(port)), timeout=10) as other:
            self.send_response(200)
            self.end_headers()
            pump(self.connection, other)
        self.close_connection = True

    def do_GET(self):
        if not self.is_welcome():
            return
        url = urllib.parse.urlsplit(self.path)
        with socket.create_connection((url.hostname, url.port or 80), timeout=10) as other:
            kept = [f"{name}: {value}" for name, value in self.headers.items() if not name.lower().startswith("proxy-")]
            head = [f"GET {url.path or '/'} HTTP/1.1", *kept, "Connection: close", "", ""]
            other.sendall("\r\n".join(head).encode())
            while piece := other.recv(65536):
                self.wfile.write(self.marked(piece))
        self.close_connection = True

    def marked(self, piece):
        """The bytes of a response to a plain request, with further fields."""
        return piece


class OpenProxy(Proxy):
    word = None


class DigestProxy(Proxy):
    """Checks Digest authentication (RFC 7616) as a proxy does: the hash, the target, and the count of each nonce."""

    hashes = {"SHA-256": hashlib.sha256, "MD5": hashlib.md5}
    uses = 3
    keeps_open = True
    counts = {}
    lock = threading.Lock()

    def is_welcome(self):
        fields = self.answer_fields()
        verdict = self.verdict(fields) if fields else "unknown"
        if verdict == "right":
            return True
        stale = ", stale=true" if verdict == "stale" else ""
        challenges = [] if not self.keeps_open else [("Proxy-Authenticate", 'Basic realm="door"')]
        for name in reversed(self.hashes):
            challenge = f'Digest realm="door", qop="auth", algorithm={name}, nonce="{self.new_nonce()}"{stale}'
            challenges.append(("Proxy-Authenticate", challenge))
        if not self.keeps_open:
            challenges.append(("Connection", "close"))
        self.answer(407, b"Credentials, please.\n" * 100, *challenges)
        return False

    def new_nonce(self):
        nonce = secrets.token_hex(8)
        with self.lock:
            self.counts[nonce] = []
        return nonce

    def answer_fields(self):
        scheme, _, rest = self.headers.get("Proxy-Authorization", "").partition(" ")
        if scheme != "Digest":
            return None
        return urllib.request.parse_keqv_list(urllib.request.parse_http_list(rest))

    def verdict(self, fields):
        make = self.hashes[fields.get("algorithm", "MD5")]

        def hashed(*parts):
            return make(":".join(parts).encode()).hexdigest()

        secret = hashed("ada", "door", "opensesame")
        request = hashed(self.command, self.path)
        expected = hashed(secret, fields["nonce"], fields["nc"], fields["cnonce"], "auth", request)
        if fields["username"] != "ada" or fields["uri"] != self.path or fields["response"] != expected:
            return "wrong"
        with self.lock:
            used = self.counts.get(fields["nonce"])
            if used is None or len(used) >= self.uses:
                return "stale"
            if fields["nc"] in used:
                return "wrong"
            used.append(fields["nc"])
        return "right"


class ClosingProxy(DigestProxy):
    hashes = {"MD5": hashlib.md5}
    uses = 1
    keeps_open = False
    counts = {}

    def marked(self, piece):
        line, end, rest = piece.partition(b"\r\n")
        if not line.startswith(b"HTTP/"):
            return piece
        return line + end + f'Proxy-Authentication-Info: nextnonce="{self.new_nonce()}"\r\n'.encode() + rest


def pump(one, other):
    """Copies bytes in both directions until one side ends."""
    while True:
        for ready in select.select([one, other], [], [], 30)[0]:
            piece = ready.recv(65536)
            if not piece:
                return
            (other if ready is one else one).sendall(piece)


def context(version=None, demands_certificate=False, protocols=None):
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.load_cert_chain(FOLDER / "server.pem", FOLDER / "server.key")
    if version:
        made.minimum_version = made.maximum_version = version
    if demands_certificate:
        made.load_verify_locations(FOLDER / "ca.pem")
        made.verify_mode = ssl.CERT_REQUIRED
    if protocols:
        made.set_alpn_protocols(protocols)
    return made


def start(handler, tls=None):
    server = Server(("127.0.0.1", 0), handler)
    server.context = tls
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def main():
    ports = {
        "TLS": start(Echo, context()),
        "TLS_AGAIN": start(Echo, context()),
        "CLIENT": start(Echo, context(ssl.TLSVersion.TLSv1_3, True)),
        "CLIENT_12": start(Echo, context(ssl.TLSVersion.TLSv1_2, True)),
        "FLOOD": start(Flood, context(protocols=["h2"])),
        "PROXY": start(Proxy),
        "OPEN_PROXY": start(OpenProxy),
        "DIGEST_PROXY": start(DigestProxy),
        "CLOSING_PROXY": start(ClosingProxy),
    }
    lines = []
    for name, port in ports.items():
        scheme, host = ("http", "127.0.0.1") if "PROXY" in name else ("https", "localhost")
        lines.append(f"export ERRAND_DOOR_{name}={scheme}://{host}:{port}\n")
    print("".join(lines), end="", flush=True)
    threading.Event().wait()


main()
