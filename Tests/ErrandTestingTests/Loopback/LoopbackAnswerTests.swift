import ErrandTesting
import Foundation
import Testing

/// Tests correct responses on the wire.
@Suite(.serialized)  // Each test holds sockets, and a process may have no more than 1,024 descriptors.
struct LoopbackAnswerTests {
  private static let sample = ["X-B": "2", "X-A": "1", "Content-Type": "text/csv"]
  private static let get = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

  private func reply(
    to answer: LoopbackAnswer, _ request: String = get
  ) async throws -> RawClient.Reply {
    let server = try LoopbackServer { _ in answer }
    return try await RawClient.exchange(server, request)
  }

  @Test(arguments: [
    (LoopbackAnswer.ok("hello"), "200 OK", "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 5", "hello"),
    (.ok(), "200 OK", "Content-Type: text/plain; charset=utf-8\r\nContent-Length: 0", ""),
    (
      .ok("a", fields: LoopbackHeaders(Self.sample)), "200 OK",
      "Content-Type: text/csv\r\nX-A: 1\r\nX-B: 2\r\nContent-Length: 1", "a"
    ),
    (.json("{}"), "200 OK", "Content-Type: application/json\r\nContent-Length: 2", "{}"),
    (
      .json("[]", status: 422), "422 Unprocessable Content", "Content-Type: application/json\r\nContent-Length: 2", "[]"
    ),
    (.status(404), "404 Not Found", "Content-Length: 0", ""),
    (.status(299, headers: ["A": "1", "a": "2"]), "299 Status", "A: 1\r\na: 2\r\nContent-Length: 0", ""),
    (.data([0x68, 0x69]), "200 OK", "Content-Type: application/octet-stream\r\nContent-Length: 2", "hi"),
    (.redirect(to: "/b"), "302 Found", "Location: /b\r\nContent-Length: 0", ""),
    (.redirect(to: nil, status: 308), "308 Permanent Redirect", "Content-Length: 0", ""),
    (
      .ok("a").adding("X", "1").adding("X", "2").setting("Content-Type", to: nil), "200 OK",
      "Content-Length: 1\r\nX: 1\r\nX: 2", "a"
    ),
    (.ok("a").setting("Content-Type", to: nil).reason("Fine"), "200 Fine", "Content-Length: 1", "a"),
    (.status(200, body: "a").closing(), "200 OK", "Content-Length: 1\r\nConnection: close", "a"),
  ])
  func `response is sent as described`(
    answer: LoopbackAnswer, status: String, fields: String, body: String
  ) async throws {
    let reply = try await reply(to: answer)
    #expect(reply.text == "HTTP/1.1 \(status)\r\n\(fields)\r\n\r\n\(body)")
    #expect(reply.end == .closed)
  }

  @Test(arguments: [204, 304])
  func `status without content has no length`(status: Int) async throws {
    #expect(try await !reply(to: .status(status)).text.contains("Content-Length"))
  }

  @Test func `explicit content of 204 is sent`() async throws {
    #expect(try await reply(to: .status(204, body: "x")).text.hasSuffix("Content-Length: 1\r\n\r\nx"))
  }

  @Test func `head request gets no content`() async throws {
    let reply = try await reply(to: .ok("hello"), "HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n")
    #expect(reply.text.hasSuffix("Content-Length: 5\r\n\r\n"))
  }

  @Test func `chunks and trailers are framed`() async throws {
    let reply = try await reply(to: .chunked(["ab", "0123456789abcdef"], trailers: ["T": "1"]))
    #expect(reply.text.contains("Transfer-Encoding: chunked\r\n"))
    #expect(reply.body == "2\r\nab\r\n10\r\n0123456789abcdef\r\n0\r\nT: 1\r\n\r\n")
  }

  @Test func `empty elements end no content`() async throws {
    let reply = try await reply(to: .chunked(["a", "", "b"]))
    #expect(reply.body == "1\r\na\r\n1\r\nb\r\n0\r\n\r\n")
  }

  @Test func `incomplete chunks have no last chunk`() async throws {
    let reply = try await reply(to: .chunked([[0x61], [0x62]], isComplete: false))
    #expect(reply.body == "1\r\na\r\n1\r\nb\r\n")
    #expect(reply.end == .closed)
  }

  @Test func `informational responses come first`() async throws {
    let reply = try await reply(to: .ok("a").informational(103, headers: ["Link": "x"], times: 2))
    let early = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    #expect(reply.text.hasPrefix(early + early + "HTTP/1.1 200 OK\r\n"))
  }

  @Test(arguments: [0, 1, 64255, 64256, 64257, 5_000_000])
  func `generated content has the given length`(count: Int) async throws {
    let reply = try await reply(to: .generated(count: count))
    let period = (0..<251).map { LoopbackAnswer.generatedByte(at: $0) }
    var whole: [UInt8] = []
    while whole.count < count { whole += period }
    #expect(reply.bytes.suffix(count) == whole.prefix(count))
    #expect(reply.bytes.count == "HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n".utf8.count + count)
  }

  @Test func `connection stays open by default`() async throws {
    let server = try LoopbackServer { .ok($0.path) }
    let client = try RawClient(server, sending: "GET /1 HTTP/1.1\r\n\r\n")
    _ = await client.receive(through: "\r\n\r\n/1")
    client.send("GET /2 HTTP/1.1\r\n\r\n")
    #expect(await client.receive(through: "\r\n\r\n/2").end == .open)
    #expect(server.requests.map(\.indexOnConnection) == [1, 2])
    #expect(server.connectionCount == 1)
  }

  @Test func `pipelined requests are answered in order`() async throws {
    let server = try LoopbackServer { .ok($0.path) }
    let two = "POST /1 HTTP/1.1\r\nContent-Length: 2\r\n\r\nabGET /2 HTTP/1.1\r\nConnection: close\r\n\r\n"
    let reply = try await RawClient.exchange(server, two)
    #expect(reply.text.components(separatedBy: "200 OK").count == 3)
    #expect(server.requests.map(\.target) == ["/1", "/2"])
    #expect(server.requests.map(\.bodyText) == ["ab", ""])
  }

  @Test(arguments: [
    ("GET / HTTP/1.1\r\nConnection: x, Close\r\n\r\n", LoopbackAnswer.ok("z")),
    ("GET / HTTP/1.0\r\n\r\n", .ok("z")),
    ("GET / HTTP/1.1\r\n\r\n", .ok("z").closing()),
    ("GET / HTTP/1.1\r\n\r\n", .ok("z").closed()),
    ("GET / HTTP/1.1\r\n\r\n", .ok("z").setting("Content-Length", to: nil)),
    ("GET / HTTP/1.1\r\n\r\n", .raw("z")),
  ])
  func `connection closes when required`(request: String, answer: LoopbackAnswer) async throws {
    let reply = try await reply(to: answer, request)
    #expect(reply.text.hasSuffix("z"))
    #expect(reply.end == .closed)
  }

  @Test(arguments: [
    ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", LoopbackAnswer.ok("z")),
    ("GET / HTTP/1.1\r\n\r\n", .raw("z", thenCloses: false)),
  ])
  func `connection stays open when allowed`(request: String, answer: LoopbackAnswer) async throws {
    let server = try LoopbackServer { _ in answer }
    let client = try RawClient(server, sending: request)
    #expect(await client.receive(through: "z").end == .open)
    client.send(request)
    #expect(await client.receive(through: "z").end == .open)
    withExtendedLifetime(server) {}
  }

  @Test(arguments: [("/user", #"{"nick":"x"}"#), ("/other", "")])
  func `handler responds by path`(path: String, body: String) async throws {
    let server = try LoopbackServer { request in
      switch request.path {
      case "/user": .json(#"{"nick":"x"}"#)
      default: .status(404)
      }
    }
    #expect(try await RawClient.exchange(server, "GET \(path) HTTP/1.0\r\n\r\n").body == body)
  }

  @Test func `enqueued responses precede the handler`() async throws {
    let server = try LoopbackServer { _ in .ok("handler") }
    server.enqueue(.ok("one"), .ok("two"))
    for expected in ["one", "two", "handler"] {
      #expect(try await RawClient.exchange(server, Self.get).body == expected)
    }
  }

  @Test func `missing enqueued response is reported`() async throws {
    let server = try LoopbackServer()
    let reply = try await RawClient.exchange(server, Self.get)
    #expect(reply.text.hasPrefix("HTTP/1.1 500 "))
    #expect(reply.body == "LoopbackServer: no response is enqueued for GET /\n")
  }
}
