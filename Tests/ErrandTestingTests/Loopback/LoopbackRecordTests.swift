import ErrandTesting
import Foundation
import Testing

/// Tests the server's record of requests.
@Suite(.serialized)  // Each test holds sockets, and a process may have no more than 1,024 descriptors.
struct LoopbackRecordTests {
  private func record(_ text: String) async throws -> RecordedRequest {
    let server = try LoopbackServer { _ in .ok().closing() }
    _ = try await RawClient.exchange(server, text)
    return try await server.request(number: 1)
  }

  @Test func `request line and fields are recorded`() async throws {
    let head = "PATCH /a%20b?q=1?&r HTTP/1.1\r\nB:  2 \t\r\nA: 1\r\nb: 3\r\nEmpty:\r\n\r\n"
    let request = try await record(head)
    #expect(request.method == "PATCH")
    #expect(request.target == "/a%20b?q=1?&r")
    #expect(request.path == "/a%20b")
    #expect(request.query == "q=1?&r")
    #expect(request.version == "HTTP/1.1")
    #expect(request.headers.fields.map(\.name) == ["B", "A", "b", "Empty"])
    #expect(request.headers["b"] == "2")
    #expect(request.headers.values("B") == ["2", "3"])
    #expect(request.headers["EMPTY"] == "")
    #expect(request.headers["C"] == nil)
    #expect(request.head == Array(head.utf8))
    #expect(request.body.isEmpty)
    #expect(request.isComplete)
    #expect((request.number, request.connection, request.indexOnConnection) == (1, 1, 1))
  }

  @Test func `combining mark may begin a query`() async throws {
    let request = try await record("GET /a?\u{301}b HTTP/1.1\r\n\r\n")
    #expect(request.path == "/a")
    #expect(request.query == "\u{301}b")
  }

  @Test func `path without query has nil query`() async throws {
    let request = try await record("GET /a HTTP/1.1\r\n\r\n")
    #expect(request.path == "/a")
    #expect(request.query == nil)
  }

  @Test func `body with Content-Length is recorded`() async throws {
    let request = try await record("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nh\0\r\ni")
    #expect(request.body == Array("h\0\r\ni".utf8))
    #expect(request.bodyData == Data("h\0\r\ni".utf8))
    #expect(request.bodyLength == 5)
  }

  @Test func `chunked body is recorded without framing`() async throws {
    let request = try await record(
      "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n2;x=y\r\nab\r\nA\r\n0123456789\r\n0\r\nT: 1\r\n\r\n")
    #expect(request.bodyText == "ab0123456789")
    #expect(request.trailers["t"] == "1")
  }

  @Test func `body over the limit is counted`() async throws {
    var options = LoopbackOptions()
    options.recordedBodyLimit = 3
    let server = try LoopbackServer(options) { _ in .ok().closing() }
    let body = String(repeating: "x", count: 1_000_000)
    _ = try await RawClient.exchange(server, "PUT / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n\(body)")
    let request = try await server.request(number: 1)
    #expect(request.bodyText == "xxx")
    #expect(request.bodyLength == 1_000_000)
  }

  @Test func `connections and requests are numbered`() async throws {
    let server = try LoopbackServer { .ok($0.path) }
    let first = try RawClient(server, sending: "GET /1 HTTP/1.1\r\n\r\n")
    _ = await first.receive(through: "\r\n\r\n/1")
    let second = try RawClient(server, sending: "GET /2 HTTP/1.1\r\n\r\n")
    _ = await second.receive(through: "\r\n\r\n/2")
    first.send("GET /3 HTTP/1.1\r\n\r\n")
    let third = try await server.request(number: 3)
    #expect((third.number, third.connection, third.indexOnConnection) == (3, 1, 2))
    #expect(server.requests.map(\.connection) == [1, 2, 1])
    #expect(server.connectionCount == 2)
    #expect(server.openConnectionCount == 2)
    withExtendedLifetime((first, second)) {}
  }

  @Test func `request is recorded before its response`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in .stall(until: gate) }
    let client = try RawClient(server, sending: "GET /x HTTP/1.1\r\n\r\n")
    #expect(try await server.request(number: 1).path == "/x")
    #expect(client.receiveNow().bytes.isEmpty)
  }

  @Test(arguments: [
    "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
  ])
  func `interrupted upload is recorded as abandoned`(text: String) async throws {
    let server = try LoopbackServer { _ in .ok() }
    try RawClient(server, sending: text).close()
    try await server.wait { $0.openConnectionCount == 0 && $0.connectionCount == 1 }
    #expect(server.record.abandoned.map(\.bodyText) == ["ab"])
    #expect(server.requests.isEmpty)
  }

  @Test func `interrupted upload uses no enqueued response`() async throws {
    let server = try LoopbackServer()
    server.enqueue(.ok("first").closing(), .ok("second").closing())
    try RawClient(server, sending: "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nab").close()
    try await server.wait { $0.openConnectionCount == 0 && $0.connectionCount == 1 }
    let client = try RawClient(server, sending: "GET / HTTP/1.1\r\n\r\n")
    #expect(await client.receive().body == "first")
  }

  @Test(arguments: [
    ("GET /\r\n\r\n", "the request line is invalid"), ("G\u{1}T / HTTP/1.1\r\n\r\n", "the request line is invalid"),
    ("GET  / HTTP/1.1\r\n\r\n", "the request line is invalid"), ("\r\n\r\n", "the request line is invalid"),
    ("\u{16}\u{3}\u{1}", "the request line is invalid"),
    ("GET / HTTP/2.0\r\n\r\n", "the version is not HTTP/1.1 or HTTP/1.0"),
    ("GET / http/1.1\r\n\r\n", "the version is not HTTP/1.1 or HTTP/1.0"),
    ("GET / HTTP/1.1\r\nno colon\r\n\r\n", "a header field does not have the form 'name: value'"),
    ("GET / HTTP/1.1\r\nA : 1\r\n\r\n", "a header field does not have the form 'name: value'"),
    ("GET / HTTP/1.1\r\nA: 1\r\n folded\r\n\r\n", "a header field does not have the form 'name: value'"),
    ("GET / HTTP/1.1\r\nA: 1\nB: 2\r\n\r\n", "a line does not end with CRLF"),
    ("GET / HTTP/1.1\r\nA: 1\rB: 2\r\n\r\n", "a header line contains a CR or NUL"),
    ("GET / HTTP/1.1\r\nA: \0\r\n\r\n", "a header line contains a CR or NUL"),
    ("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "Content-Length is not a single number"),
    ("GET / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", "Content-Length is not a single number"),
    ("GET / HTTP/1.1\r\nContent-Length:\r\n\r\n", "Content-Length is not a single number"),
    ("GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", "Content-Length is not a single number"),
    ("GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", "Content-Length is not a single number"),
    ("GET / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "Transfer-Encoding is not chunked"),
    (
      "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
      "the request has both Content-Length and Transfer-Encoding"
    ),
    (
      "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
      "a chunk size is not a hexadecimal number of up to 15 digits"
    ),
    (
      "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
      "a chunk size is not a hexadecimal number of up to 15 digits"
    ),
    (
      "GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
      "the data of a chunk is longer than the stated chunk size"
    ),
    ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\n", "a line does not end with CRLF"),
  ])
  func `malformed request is rejected`(text: String, reason: String) async throws {
    let server = try LoopbackServer { _ in .ok("fine").closing() }
    let reply = try await RawClient.exchange(server, text)
    #expect(reply.text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
    #expect(server.record.refusals == [reason])
    #expect(server.requests.isEmpty)
    #expect(try await RawClient.exchange(server).body == "fine")
  }

  @Test(arguments: ["", "\r\n\r\n"]) func `headers over the limit are rejected`(end: String) async throws {
    var options = LoopbackOptions()
    options.headLimit = 1000
    let server = try LoopbackServer(options) { _ in .ok() }
    let client = try RawClient(server, sending: "GET / HTTP/1.1\r\nA: " + String(repeating: "a", count: 2000) + end)
    _ = await client.receive()
    #expect(server.record.refusals == ["the headers are longer than 1000 bytes"] && server.requests.isEmpty)
  }

  @Test func `headers of the limit are accepted`() async throws {
    let request = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"
    var options = LoopbackOptions()
    options.headLimit = request.utf8.count
    let server = try LoopbackServer(options) { _ in .ok("fine") }
    #expect(try await RawClient.exchange(server, request).body == "fine")
  }
}
