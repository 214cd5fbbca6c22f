@testable import ErrandCore
@testable import ErrandHTTP
import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Slow reads that are sent a second time (hedged), over real sockets.
struct HedgeTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/thing"
    var method = HTTPMethod.get
    var body: RequestBody?
    var idempotency = Idempotency.byMethod
  }

  /// Starts a second copy although the first response has arrived, as a call may that was about to start it.
  private struct LateCopy: Interceptor {
    let followers: Recorded<Int>

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      let race = HedgeRace(context)
      race.begin(request, next)
      let came = try await race.outcome(by: nil)
      race.begin(request, next)
      await race.leave()
      followers.append(context.call.priorityState.withLock { $0.followers.count })
      return try (came ?? .failure(CancellationError())).get()
    }
  }

  private func client(
    _ server: LoopbackServer, _ rule: HedgeRule = .after(.milliseconds(20)), attempts: Int = 1
  ) -> APIClient {
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.retries = RetryPolicy(attempts: attempts, firstDelay: .zero, busyDelay: .zero, hedging: rule)
    configuration.overlap.joining = .never
    return APIClient(configuration)
  }

  /// Responds to the exchanges in order; the last response is used for all later ones.
  private func server(_ answers: LoopbackAnswer...) throws -> LoopbackServer {
    let count = Locked(0)
    return try LoopbackServer { _ in
      let turn = count.withLock { count in
        defer { count += 1 }
        return count
      }
      return answers[min(turn, answers.count - 1)]
    }
  }

  @Test func `hedge wins if first is slow`() async throws {
    let gate = Gate()
    let server = try server(.ok("slow").held(at: gate), .ok("fast"))
    let client = client(server)
    let outcome = await client.outcome(of: Get())
    #expect(outcome.value == "fast" && outcome.metrics.attempts == 2)
    #expect(outcome.metrics.retries == [RetryMetrics(reason: .slow, delay: .milliseconds(20))])
    #expect(outcome.metrics.exchanges.count == 2, "the metrics include the abandoned exchange")
    #expect(await eventually { client.admission == (0, 0) }, "the losing exchange is stopped")
    gate.open()
  }

  /// Waits at a latch before the request is sent.
  private struct Waiting: Interceptor {
    let latch: Latch

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      try await latch.wait()
      return try await next(request)
    }
  }

  @Test func `waiting before the exchange does not count`() async throws {
    let (clock, latch) = (ManualClock(), Latch())
    let transport = ScriptedTransport { _ in .text("ok") }
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.retries = RetryPolicy(attempts: 1, hedging: .after(.milliseconds(300)))
    configuration.interceptors.exchanges = [Waiting(latch: latch)]
    configuration.overlap.joining = .never
    configuration.transport = .own(transport)
    configuration.timers = clock
    let client = APIClient(configuration)
    async let outcome = client.outcome(of: Get())
    await latch.reached(1)
    for _ in 0..<5 {
      #expect(await clock.waitForTimers(1))
      clock.advance(by: .milliseconds(300))
    }
    latch.open()
    #expect(await outcome.value == "ok" && transport.requests.count == 1)
  }

  @Test func `first may win after a hedge`() async throws {
    let (gate, other) = (Gate(), Gate())
    let server = try server(.ok("first").held(at: gate), .ok("second").held(at: other))
    async let outcome = client(server).outcome(of: Get())
    try await other.reached()
    gate.open()
    let came = await outcome
    #expect(came.value == "first" && came.metrics.attempts == 2)
    other.open()
  }

  @Test func `fast response sends no hedge`() async throws {
    let server = try server(.ok("quick"))
    let outcome = await client(server, .after(.seconds(60))).outcome(of: Get())
    #expect(outcome.value == "quick" && server.requests.count == 1 && outcome.metrics.retries.isEmpty)
  }

  @Test func `late copy leaves nothing behind`() async throws {
    let server = try server(.ok("quick"))
    let followers = Recorded<Int>()
    var configuration = ClientConfiguration(baseURL: server.url)
    configuration.interceptors.exchanges = [LateCopy(followers: followers)]
    let outcome = await APIClient(configuration).outcome(of: Get())
    #expect(outcome.value == "quick" && server.requests.count == 1)
    #expect(followers.all == [0])
  }

  @Test func `failure waits for the other exchange`() async throws {
    let (gate, other) = (Gate(), Gate())
    let server = try server(.status(500).held(at: gate), .ok("right").held(at: other))
    async let outcome = client(server).outcome(of: Get())
    try await other.reached()
    gate.open()
    other.open()
    let came = await outcome
    #expect(came.value == "right")
  }

  @Test(arguments: [408, 429, 503]) func `busy status ends only the hedge`(status: Int) async throws {
    let gate = Gate()
    let server = try server(.ok("slow").held(at: gate), .status(status))
    let (client, clock) = (client(server), ManualClock())
    client.configure { $0.timers = clock }
    async let outcome = client.outcome(of: Get())
    try await gate.reached()
    clock.advance(by: .milliseconds(20))
    #expect(await eventually { server.requests.count == 2 })
    #expect(await eventually { client.admission.running == 1 }, "the first exchange continues")
    gate.open()
    let came = await outcome
    #expect(came.value == "slow" && came.metrics.attempts == 2)
  }

  @Test func `failure of both is reported once`() async throws {
    let (gate, other) = (Gate(), Gate())
    let server = try server(.status(500).held(at: gate), .status(502).held(at: other))
    async let outcome = client(server).outcome(of: Get())
    try await other.reached()
    gate.open()
    other.open()
    let error = await outcome.error
    #expect([500, 502].contains(error?.status) && error?.attempts == 2)
  }

  @Test func `fast failure is retried without hedge`() async throws {
    let server = try server(.status(503), .ok("right"))
    let outcome = await client(server, .after(.seconds(60)), attempts: 2).outcome(of: Get())
    #expect(outcome.value == "right" && outcome.metrics.retries.map(\.reason) == [.status(503)])
  }

  @Test(arguments: [HTTPMethod.post, .put, .delete]) func `writes are not hedged`(method: HTTPMethod) async throws {
    let gate = Gate()
    let server = try server(.ok("slow").held(at: gate))
    async let outcome = client(server, .after(.zero)).outcome(of: Get(method: method, body: .text("x")))
    try await gate.reached()
    gate.open()
    let came = await outcome
    #expect(came.value == "slow" && server.requests.count == 1)
  }

  @Test func `non-idempotent read is not hedged`() async throws {
    let gate = Gate()
    let server = try server(.ok("slow").held(at: gate))
    async let outcome = client(server, .after(.zero)).outcome(of: Get(idempotency: .never))
    try await gate.reached()
    gate.open()
    #expect(await outcome.value == "slow" && server.requests.count == 1)
  }

  @Test func `queue time does not start a hedge`() async throws {
    let (gate, clock) = (Gate(), ManualClock())
    let server = try server(.ok("first").held(at: gate), .ok("second"))
    let client = client(server)
    client.configure { configuration in
      configuration.timers = clock
      configuration.admission = AdmissionLimits(perHost: 1)
    }
    async let first = client.outcome(of: Get(method: .post, body: .text("x")))
    try await gate.reached()
    async let second = client.outcome(of: Get())
    #expect(await eventually { client.admission(at: "127.0.0.1").waiting == 1 })
    for _ in 0..<5 {
      clock.advance(by: .seconds(1))
      #expect(await eventually { clock.pending > 0 })
    }
    #expect(client.admission(at: "127.0.0.1").waiting == 1)
    gate.open()
    #expect(await first.value == "first")
    #expect(await second.value == "second")
    #expect(await second.metrics.retries.isEmpty && server.requests.count == 2)
  }

  @Test func `cancel ends both exchanges`() async throws {
    let gate = Gate()
    let server = try server(.ok("slow").held(at: gate))
    let client = client(server)
    let task = Task { await client.outcome(of: Get()) }
    try await gate.reached(times: 2)
    task.cancel()
    #expect(await task.value.error?.stage == .cancelled)
    #expect(await eventually { client.admission == (0, 0) && client.running.isEmpty })
    gate.open()
  }

  @Test func `deadline ends both exchanges`() async throws {
    let gate = Gate()
    let server = try server(.ok("slow").held(at: gate))
    let (client, clock) = (client(server, .after(.zero)), ManualClock())
    client.configure { $0.timers = clock }
    async let outcome = client.outcome(of: Get(), options: .deadline(.milliseconds(300)))
    try await gate.reached(times: 2)
    clock.advance(by: .milliseconds(300))
    let ended = await outcome
    #expect(ended.error?.stage == .deadline && ended.metrics.attempts == 2)
    #expect(await eventually { client.admission == (0, 0) })
    gate.open()
  }

  @Test func `hedge delay is learned from past responses`() async throws {
    let gate = Gate()
    let isHeld = Locked(false)
    let server = try LoopbackServer { request in
      guard request.path == "/last" else { return .ok("fast") }
      let wasHeld = isHeld.withLock { isHeld in
        defer { isHeld = true }
        return isHeld
      }
      return wasHeld ? .ok("fast") : .ok("slow").held(at: gate)
    }
    let client = client(server, .slowerThan(1))
    for _ in 0..<30 { _ = try await client.send(Get()) }
    let outcome = await client.outcome(of: Get(path: "/last"))
    #expect(outcome.value == "fast" && outcome.metrics.retries.map(\.reason) == [.slow])
    gate.open()
  }

  @Test func `retry budget limits hedges`() async throws {
    let server = try LoopbackServer { _ in .ok("late").delayed(.milliseconds(5)) }
    let client = client(server, .after(.zero))
    for _ in 0..<300 { _ = try await client.send(Get()) }
    #expect(server.requests.count <= 300 + 100 + 100, "\(server.requests.count)")
  }
}
