import Testing

@testable import ErrandTesting

/// Tests gates, which stop the server at chosen points.
@Suite(.serialized)  // Each test holds sockets, and a process may have no more than 1,024 descriptors.
struct LoopbackGateTests {
  private static let get = "GET / HTTP/1.1\r\n\r\n"

  private func start(
    _ answer: LoopbackAnswer, _ request: String = get
  ) throws -> (server: LoopbackServer, client: RawClient) {
    let server = try LoopbackServer { _ in answer }
    return (server, try RawClient(server, sending: request))
  }

  @Test func `stall is silent until opened`() async throws {
    let gate = Gate()
    let (server, client) = try start(.stall(until: gate))
    try await gate.reached()
    #expect(client.receiveNow().end == .open)
    #expect(server.requests.count == 1)
    gate.open()
    let reply = await client.receive()
    #expect(reply.bytes.isEmpty)
    #expect(reply.end == .closed)
    withExtendedLifetime(server) {}
  }

  @Test func `stalled response continues after opening`() async throws {
    let gate = Gate()
    let (server, client) = try start(.status(200, body: "hello").stalled(after: 2, until: gate))
    try await gate.reached()
    #expect(await client.receive(through: "he").text == "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe")
    #expect(client.receiveNow().bytes.isEmpty)
    gate.open()
    #expect(await client.receive(3).text == "llo")
    withExtendedLifetime(server) {}
  }

  @Test func `held response waits at its gate`() async throws {
    let gate = Gate()
    let (server, client) = try start(.ok("a").held(at: gate))
    try await gate.reached()
    #expect(client.receiveNow().bytes.isEmpty)
    gate.letPass()
    #expect(await client.receive(through: "a").text.hasSuffix("\r\n\r\na"))
    withExtendedLifetime(server) {}
  }

  @Test(arguments: [
    LoopbackAnswer.stall(), .ok("hello").stalled(), .ok("hello").stalled(after: 3), .ok("a").held(at: Gate()),
    .ok("hello").dripped(every: .seconds(1000)), .ok("hello").delayed(.seconds(1000)), .ok("a").closed(at: Gate()),
  ])
  func `client disconnect ends every wait`(answer: LoopbackAnswer) async throws {
    let (server, client) = try start(answer)
    try await server.request(number: 1)
    client.close()
    try await server.wait { $0.openConnectionCount == 0 }
  }

  @Test func `unsolicited bytes follow on idle connection`() async throws {
    let (gate, sent) = (Gate(), Gate())
    let (server, client) = try start(.ok("a").unsolicited("HTTP/1.1 200 OK\r\n\r\n", at: gate, sent: sent))
    _ = await client.receive(through: "a")
    try await gate.reached()
    #expect(client.receiveNow().bytes.isEmpty)
    gate.open()
    try await sent.reached()
    #expect(await client.receive(through: "\r\n\r\n").text == "HTTP/1.1 200 OK\r\n\r\n")
    withExtendedLifetime(server) {}
  }

  @Test func `idle connection closes at its gate`() async throws {
    let gate = Gate()
    let (server, client) = try start(.ok("a").closed(at: gate))
    #expect(await client.receive(through: "a").end == .open)
    gate.open()
    #expect(await client.receive().end == .closed)
    withExtendedLifetime(server) {}
  }

  @Test func `accept gate delays clients`() async throws {
    let gate = Gate()
    var options = LoopbackOptions()
    options.acceptGate = gate
    let server = try LoopbackServer(options) { _ in .ok("a") }
    let first = try RawClient(server, sending: Self.get)
    let second = try RawClient(server, sending: Self.get)
    try await gate.reached()
    #expect(first.receiveNow().end == .open)
    #expect(server.connectionCount == 0)
    gate.letPass()
    #expect(await first.receive(through: "a").end == .open)
    #expect(server.connectionCount == 1)
    gate.open()
    #expect(await second.receive(through: "a").end == .open)
    withExtendedLifetime(server) {}
  }

  @Test func `passes are counted one by one`() async throws {
    let gate = Gate()
    gate.letPass(2)
    let server = try LoopbackServer { _ in .ok("a").held(at: gate) }
    let clients = try (0..<3).map { _ in try RawClient(server, sending: Self.get) }
    try await gate.reached(times: 3)
    #expect(gate.arrivals == 3)
    gate.letPass(0)
    gate.letPass(-1)
    gate.letPass(1)
    for client in clients { #expect(await client.receive(through: "a").end == .open) }
    withExtendedLifetime(server) {}
  }

  /// A waiting connection must not miss a permission that other connections have left.
  @Test(arguments: [1, 10_000]) func `gate is ready while passes are left`(count: Int) throws {
    let gate = Gate()
    let descriptor = try gate.wakeDescriptor()
    func isReady() -> Bool { SystemPoll.wait(for: [(descriptor, SystemPoll.readable)], timeout: .zero)[0] != 0 }
    #expect(!isReady())
    for _ in 0..<2 {
      gate.letPass(count)
      #expect((0..<count).allSatisfy { _ in isReady() && gate.takePass() })
      #expect(!gate.takePass() && !isReady())
    }
    gate.letPass(.max)
    gate.letPass(count)
    #expect(gate.takePass() && isReady())
  }

  @Test func `open gate does not block`() async throws {
    let gate = Gate()
    gate.open()
    gate.open()
    let (server, client) = try start(.ok("a").held(at: gate))
    #expect(await client.receive(through: "a").end == .open)
    #expect(gate.arrivals == 1)
    withExtendedLifetime(server) {}
  }

  @Test func `wait throws after its limit`() async throws {
    await #expect(throws: LoopbackError.notReached("arrival 1 at a gate", within: .milliseconds(1))) {
      try await Gate().reached(within: .milliseconds(1))
    }
  }

  @Test func `cancelled wait throws at once`() async throws {
    let gate = Gate()
    let waiting = Task { try await gate.reached() }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
  }
}
