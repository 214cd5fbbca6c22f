"""A server that responds only when all requests wait: hold.py plain|tls|h2|h2-cleartext COUNT [CERTIFICATE KEY]

It prints its port. The first request is answered at once. The others are answered two seconds after COUNT of them have
arrived, so that the client can measure the memory that they need at the same time.
"""

import asyncio
import ssl
import sys

SETTLE = 2
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING = 0, 1, 4, 6
ACKNOWLEDGE, END_STREAM, END_HEADERS = 1, 1, 4
# The number of concurrent streams that common servers allow on a connection.
STREAMS = 128
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Crowd:
    """The requests that wait for their response."""

    def __init__(self, count):
        self.count, self.waiting, self.is_first = count, [], True

    def arrived(self, respond):
        if self.is_first:
            self.is_first = False
            return respond()
        self.waiting.append(respond)
        if len(self.waiting) == self.count:
            asyncio.get_running_loop().call_later(SETTLE, self.respond)

    def respond(self):
        waiting, self.waiting = self.waiting, []
        for respond in waiting:
            respond()


class HTTP1(asyncio.Protocol):
    def __init__(self, crowd):
        self.crowd, self.bytes = crowd, b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.bytes += data
        while b"\r\n\r\n" in self.bytes:
            self.bytes = self.bytes.split(b"\r\n\r\n", 1)[1]
            self.crowd.arrived(lambda: self.transport.write(RESPONSE))


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


class HTTP2(HTTP1):
    def connection_made(self, transport):
        super().connection_made(transport)
        self.skip = len(PREFACE)
        transport.write(frame(SETTINGS, 0, 0, b"\0\3" + STREAMS.to_bytes(4, "big")))

    def data_received(self, data):
        self.bytes += data
        if self.skip and len(self.bytes) >= self.skip:
            self.bytes, self.skip = self.bytes[self.skip:], 0
        while not self.skip and len(self.bytes) >= 9:
            end = 9 + int.from_bytes(self.bytes[:3], "big")
            if len(self.bytes) < end:
                return
            one, self.bytes = self.bytes[:end], self.bytes[end:]
            self.take(one[3], one[4], int.from_bytes(one[5:9], "big"), one[9:])

    def take(self, kind, flags, stream, payload):
        if kind in (SETTINGS, PING) and not flags & ACKNOWLEDGE:
            self.transport.write(frame(kind, ACKNOWLEDGE, 0, payload if kind == PING else b""))
        if kind == HEADERS:
            # 0x88 is `:status: 200` (RFC 7541, appendix A).
            response = frame(HEADERS, END_HEADERS, stream, b"\x88") + frame(DATA, END_STREAM, stream, b"ok")
            self.crowd.arrived(lambda: self.transport.write(response))


async def main():
    kind, crowd = sys.argv[1], Crowd(int(sys.argv[2]))
    context = None
    if kind in ("tls", "h2"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*sys.argv[3:5])
        context.set_alpn_protocols(["h2" if kind == "h2" else "http/1.1"])
    protocol = HTTP2 if kind.startswith("h2") else HTTP1
    server = await asyncio.get_running_loop().create_server(
        lambda: protocol(crowd), "127.0.0.1", 0, ssl=context, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
