import ErrandTesting
import Testing

/// Tests when the server reads the body of a request.
@Suite(.serialized)  // Each test holds sockets, and a process may have no more than 1,024 descriptors.
struct LoopbackReceptionTests {
  private static let head = "POST / HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
  private static let goOn = "HTTP/1.1 100 Continue\r\n\r\n"

  private func start(
    _ reception: LoopbackReception, _ answer: LoopbackAnswer = .status(200, body: "done")
  ) throws -> (LoopbackServer, RawClient) {
    let server = try LoopbackServer()
    server.enqueue(answer, reception: reception)
    return (server, try RawClient(server, sending: Self.head))
  }

  @Test func `100 Continue is sent when expected`() async throws {
    let (server, client) = try start(.automatic)
    #expect(await client.receive(through: "\r\n\r\n").text == Self.goOn)
    client.send("hello")
    #expect(await client.receive(through: "done").text.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(server.requests.map(\.bodyText) == ["hello"])
  }

  @Test func `100 Continue can be disabled`() async throws {
    let (server, client) = try start(.withoutContinue)
    client.send("hello")
    #expect(await client.receive(through: "done").text.hasPrefix("HTTP/1.1 200 OK\r\n"))
    withExtendedLifetime(server) {}
  }

  @Test func `held body waits at its gate`() async throws {
    let gate = Gate()
    let (server, client) = try start(.held(gate))
    try await gate.reached()
    #expect(client.receiveNow().bytes.isEmpty)
    #expect(server.requests.isEmpty)
    gate.open()
    #expect(await client.receive(through: "\r\n\r\n").text == Self.goOn)
    client.send("hello")
    #expect(try await server.request(number: 1).bodyText == "hello")
  }

  @Test func `disconnect during held upload is recorded`() async throws {
    let gate = Gate()
    let (server, client) = try start(.held(gate))
    try await gate.reached()
    client.close()
    try await server.wait { $0.openConnectionCount == 0 }
    #expect(server.record.abandoned.count == 1)
  }

  @Test func `response can precede the body`() async throws {
    let (server, client) = try start(.afterAnswer)
    #expect(await client.receive(through: "done").text.hasPrefix("HTTP/1.1 200 OK\r\n"))
    #expect(server.requests.map(\.isComplete) == [false])
    client.send("hello")
    try await server.wait { $0.requests.first?.isComplete == true }
    #expect(server.requests.map(\.bodyText) == ["hello"])
    client.send("GET /next HTTP/1.1\r\n\r\n")
    #expect(try await server.request(number: 2).indexOnConnection == 2)
  }

  @Test func `unread body closes the connection`() async throws {
    let (server, client) = try start(.never, .status(417))
    let reply = await client.receive()
    #expect(reply.text.hasPrefix("HTTP/1.1 417 Expectation Failed\r\n"))
    #expect(reply.end == .closed)
    #expect(server.requests.map(\.isComplete) == [false])
  }

  @Test func `unread body bytes reset the connection`() async throws {
    let gate = Gate()
    let (server, client) = try start(.never, .status(413).held(at: gate))
    try await gate.reached()
    client.send("hel")
    gate.open()
    try await server.wait { $0.openConnectionCount == 0 }
    #expect(await client.receive().end == .reset)
  }

  @Test func `options choose reception by request`() async throws {
    var options = LoopbackOptions()
    options.reception = { $0.path == "/early" ? .afterAnswer : .automatic }
    let server = try LoopbackServer(options) { .status(200, body: $0.isComplete ? "late" : "early") }
    let early = try RawClient(server, sending: "PUT /early HTTP/1.1\r\nContent-Length: 5\r\n\r\n")
    #expect(await early.receive(through: "early").end == .open)
    let late = try RawClient(server, sending: "PUT / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello")
    #expect(await late.receive(through: "late").end == .open)
    withExtendedLifetime(server) {}
  }
}
