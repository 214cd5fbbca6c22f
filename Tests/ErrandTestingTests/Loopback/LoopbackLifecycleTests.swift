import ErrandSupport
import Errand
import Foundation
import Testing

@testable import ErrandTesting

/// Tests that starting and stopping a server leaves no resources behind.
@Suite(.serialized)  // Each test holds sockets, and a process may have no more than 1,024 descriptors.
struct LoopbackLifecycleTests {
  private static let get = "GET / HTTP/1.1\r\n\r\n"

  @Test(arguments: [
    LoopbackAnswer.stall(), .ok("hello").stalled(after: 2), .endless(), .ok("a"),
    .ok("hello").dripped(every: .seconds(1000)), .ok("hello").delayed(.seconds(1000)), .ok("a").closed(at: Gate()),
  ])
  func `stop ends every response`(answer: LoopbackAnswer) async throws {
    let server = try LoopbackServer { _ in answer }
    let client = try RawClient(server, sending: Self.get)
    try await server.request(number: 1)
    let start = ContinuousClock.now
    server.stop()
    #expect(ContinuousClock.now - start < .seconds(30))
    #expect(await client.receive().end != .open)
    #expect(server.openConnectionCount == 0)
    #expect(throws: RawClient.Failure.self) { try RawClient(server.port) }
    server.stop()
  }

  @Test func `deallocation stops the server`() async throws {
    var server: LoopbackServer? = try LoopbackServer { _ in .stall() }
    let client = try RawClient(try #require(server), sending: Self.get)
    let port = try #require(server?.port)
    try await server?.request(number: 1)
    server = nil
    #expect(await client.receive().end == .closed)
    #expect(throws: RawClient.Failure.self) { try RawClient(port) }
  }

  @Test func `handler may stop its server`() async throws {
    let box = WeakServer()
    let server = try LoopbackServer { _ in
      box.server?.stop()
      return .ok("a")
    }
    box.server = server
    #expect(try await RawClient.exchange(server).bytes.isEmpty)
    try await server.wait { $0.openConnectionCount == 0 }
  }

  @Test func `all descriptors are closed`() async {
    await #expect(processExitsWith: .success) {
      let answers: [LoopbackAnswer] = [
        .ok("a"), .stall(), .closeBeforeAnswer, .resetBeforeAnswer, .endless(), .ok("a").held(at: Gate()),
      ]
      // The first rounds open descriptors that the runtime and the two gates need once. A leak would grow in every
      // round.
      var counts: [Int] = []
      while counts.count < 3 || counts.count < 10 && Set(counts.suffix(3)).count > 1 {
        for answer in answers { try await Descriptors.useServer(answer) }
        counts.append(Descriptors.count())
      }
      #expect(Set(counts.suffix(3)).count == 1, "\(counts)")
    }
  }

  @Test func `three hundred connections work concurrently`() async {
    await #expect(processExitsWith: .success) {
      let gate = Gate()
      let server = try LoopbackServer { _ in .status(200, body: "z").held(at: gate) }
      let clients = try (0..<300).map { _ in try RawClient(server, sending: "GET / HTTP/1.1\r\n\r\n") }
      try await gate.reached(times: 300)
      #expect(server.openConnectionCount == 300)
      gate.open()
      for client in clients { #expect(await client.receive(through: "z").end == .open) }
      server.stop()
      #expect(server.openConnectionCount == 0)
    }
  }

  @Test func `wait throws after its limit`() async throws {
    let server = try LoopbackServer()
    await #expect(throws: LoopbackError.notReached("request 1", within: .milliseconds(1))) {
      try await server.request(number: 1, within: .milliseconds(1))
    }
  }

  @Test func `stop ends pending waits`() async throws {
    let server = try LoopbackServer()
    let waiting = Task { try await server.request(number: 1) }
    server.stop()
    await #expect(throws: LoopbackError.stopped(waitingFor: "request 1")) { _ = try await waiting.value }
  }

  @Test func `stop in a handler ends waits`() async throws {
    let box = Locked<LoopbackServer?>(nil)
    let server = try LoopbackServer { _ in
      box.withLock { $0 }?.stop()
      return .ok()
    }
    box.withLock { $0 = server }
    defer { box.withLock { $0 = nil } }
    let waiting = Task { try await server.request(number: 2) }
    _ = try? await APIClient(baseURL: server.url).send(Stop())
    await #expect(throws: LoopbackError.stopped(waitingFor: "request 2")) { _ = try await waiting.value }
  }

  private struct Stop: APIRequest {
    var path: Path { "/stop" }
  }

  @Test func `cancellation ends a wait`() async throws {
    let server = try LoopbackServer()
    let waiting = Task { try await server.request(number: 1) }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { _ = try await waiting.value }
  }

  @Test func `errors name the remedy`() {
    #expect(
      "\(LoopbackError.notReached("request 1", within: .seconds(2)))"
        == "timed out after 2.0 seconds waiting for request 1: check in `server.requests` what the client has sent so far"
    )
    #expect(
      "\(LoopbackError.stopped(waitingFor: "request 1"))"
        == "the loopback server stopped during a wait for request 1: keep the server alive until the test ends")
    #expect("\(LoopbackError.system(call: "bind", code: 98))" == "the system call bind failed with errno 98")
  }

  @Test func `refusing port refuses connections`() throws {
    let nobody = try RefusingPort()
    #expect(nobody.url == "http://127.0.0.1:\(nobody.port)")
    for _ in 0..<3 {
      do {
        _ = try RawClient(nobody.port)
        Issue.record("a refusing port accepted")
      } catch let error as RawClient.Failure {
        #expect(error.code == ECONNREFUSED)
      }
    }
  }

  @Test func `disconnected client does no harm`() async throws {
    let server = try LoopbackServer { _ in .generated(count: 50_000_000) }
    for _ in 0..<5 { try RawClient(server, sending: Self.get).close() }
    try await server.wait { $0.connectionCount == 5 && $0.openConnectionCount == 0 }
  }
}

/// Gives a handler a weak reference to its server.
private final class WeakServer: @unchecked Sendable {  // Set once, before the first request is sent.
  weak var server: LoopbackServer?
}

/// Counts the open descriptors of this process.
enum Descriptors {
  /// Starts a server with ten clients, and closes half of the clients before the server stops.
  static func useServer(_ answer: LoopbackAnswer) async throws {
    let server = try LoopbackServer { _ in answer }
    let clients = try (0..<10).map { _ in try RawClient(server, sending: "GET / HTTP/1.1\r\n\r\n") }
    try await server.request(number: 10)
    clients.prefix(5).forEach { $0.close() }
    server.stop()
    clients.forEach { $0.close() }
  }

  static func count() -> Int {
    (0..<Int32(4096)).filter { fcntl($0, F_GETFD) >= 0 }.count
  }
}
