import ErrandTesting
import Testing

/// Tests each fault on the wire.
@Suite(.serialized)  // Each test holds sockets, and a process may have no more than 1,024 descriptors.
struct LoopbackFaultTests {
  private static let plain = LoopbackAnswer.status(200, body: "hello")
  private static let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"

  @Test(arguments: [
    (plain.cut(after: 2), head + "he", RawClient.End.closed),
    (plain.cut(after: 0), head, .closed),
    (plain.cut(after: 99), head + "hello", .closed),
    (plain.cut(after: 10, of: .everything), "HTTP/1.1 2", .closed),
    (plain.cut(after: 0, of: .everything), "", .closed),
    (plain.reset(after: 2), head + "he", .reset),
    (plain.reset(after: 10, of: .everything), "HTTP/1.1 2", .reset),
    (.status(204).reset(after: 0), "HTTP/1.1 204 No Content\r\n\r\n", .reset),
    (plain.halfClosed(after: 2), head + "he", .closed),
    (.closeBeforeAnswer, "", .closed),
    (.resetBeforeAnswer, "", .reset),
    (.raw("gibberish\0"), "gibberish\0", .closed),
    (plain.setting("Content-Length", to: "-2").closed(), "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nhello", .closed),
    (
      plain.adding("Content-Length", "6").closed(),
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello", .closed
    ),
    (plain.extra("more").closed(), head + "hellomore", .closed),
    (plain.dripped(every: .microseconds(100)).closed(), head + "hello", .closed),
    (plain.dripped(3, of: .body, every: .zero).cut(after: 4), head + "hell", .closed),
    (plain.delayed(.milliseconds(1)).closed(), head + "hello", .closed),
    (LoopbackAnswer([.bytes([0x61], times: 3), .body([0x62], times: 2), .close]), "aaabb", .closed),
    (LoopbackAnswer([.head(status: 7, reason: "", headers: ["": " "]), .reset]), "HTTP/1.1 7 \r\n:  \r\n\r\n", .reset),
  ])
  func `fault is sent as described`(answer: LoopbackAnswer, text: String, end: RawClient.End) async throws {
    let server = try LoopbackServer { _ in answer }
    let reply = try await RawClient.exchange(server)
    #expect(reply.text == text)
    #expect(reply.end == end)
    try await server.wait { $0.openConnectionCount == 0 || end == .closed }
  }

  @Test(arguments: [
    (LoopbackAnswer.closeBeforeAnswer, "", RawClient.End.closed), (.resetBeforeAnswer, "", .reset),
    (.raw("HTTP/1.1 408 Request Timeout\r\n\r\n"), "HTTP/1.1 408 Request Timeout\r\n\r\n", .closed),
  ])
  func `greeting precedes any request`(answer: LoopbackAnswer, text: String, end: RawClient.End) async throws {
    var options = LoopbackOptions()
    options.greeting = { $0 == 1 ? answer : nil }
    // A reset during `connect` would make `connect` fail, so the client connects before the server accepts.
    let gate = Gate()
    options.acceptGate = gate
    let server = try LoopbackServer(options) { _ in Self.plain.closing() }
    let client = try RawClient(server)
    gate.open()
    let reply = await client.receive()
    #expect(reply.text == text)
    #expect(reply.end == end)
    #expect(try await RawClient.exchange(server).body == "hello")
    #expect(server.connectionCount == 2)
  }

  /// The rest of a longer response is dropped, even if the response is endless.
  @Test(arguments: [
    (plain, 5), (plain, 2), (plain.dripped(1, of: .body, every: .zero), 2), (.chunked(["hello", "more"]), 4),
    (.endless(), 7),
  ])
  func `half close keeps receiving side open`(answer: LoopbackAnswer, count: Int) async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in answer.halfClosed(after: count, until: gate) }
    let client = try RawClient(server, sending: "GET / HTTP/1.1\r\n\r\n")
    let reply = await client.receive()
    #expect(reply.end == .closed && reply.body.utf8.count == count)
    try await gate.reached()
    #expect(server.openConnectionCount == 1)
    #expect(client.send("more"))
    #expect(await client.receive().end == .closed)
    client.close()
    try await server.wait { $0.openConnectionCount == 0 }
  }

  @Test func `half close ends the requests`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in Self.plain.halfClosed(after: 5, until: gate) }
    let client = try RawClient(server, sending: "GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\n")
    #expect(await client.receive().end == .closed)
    gate.open()
    try await server.wait { $0.openConnectionCount == 0 }
    #expect(server.requests.map(\.target) == ["/1"])
  }

  @Test(arguments: [false, true])
  func `endless content ends with the client`(chunked: Bool) async throws {
    let server = try LoopbackServer { _ in .endless(chunked: chunked) }
    let client = try RawClient(server, sending: "GET / HTTP/1.1\r\n\r\n")
    #expect(await client.receive(10_000_000).bytes.count >= 10_000_000)
    client.close()
    try await server.wait { $0.openConnectionCount == 0 }
  }

  @Test func `paced pieces arrive separately`() async throws {
    let gate = Gate()
    let server = try LoopbackServer { _ in Self.plain.dripped(2, of: .body, through: gate) }
    let client = try RawClient(server, sending: "GET / HTTP/1.1\r\n\r\n")
    for (number, piece) in [Self.head + "he", "ll", "o"].enumerated() {
      #expect(await client.receive(through: piece).text == piece)
      #expect(client.receiveNow().bytes.isEmpty)
      if number < 2 { try await gate.reached(times: number + 1) }
      gate.letPass()
    }
    withExtendedLifetime(server) {}
  }
}
