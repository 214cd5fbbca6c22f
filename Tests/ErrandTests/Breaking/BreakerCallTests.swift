@testable import ErrandCore
import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// The circuit breaker in the pipeline: the results that count, the calls that are refused, and the role of the cache.
struct BreakerCallTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/page"
    var joining = JoinRule.never
    var cache = CachePolicy.none
    var retries: RetryPolicy = .inherited
    var timeouts: Timeouts = .inherited
    var overlap: Overlap { Overlap(joining: joining) }
  }

  private static var rule: BreakerRule {
    var rule = BreakerRule()
    (rule.least, rule.window, rule.trials) = (3, 6, 1)
    return rule
  }

  private final class Bench: Sendable {
    let clock = ManualClock()
    let transport: ScriptedTransport
    let client: APIClient

    init(
      _ change: (inout ClientConfiguration) -> Void = { _ in },
      _ answer: @escaping @Sendable (HTTPRequest) async throws -> ScriptedAnswer
    ) {
      transport = ScriptedTransport(answer)
      var configuration = ClientConfiguration(baseURL: "http://h.example")
      configuration.transport = .own(transport)
      configuration.timers = clock
      configuration.servers.breaker = BreakerCallTests.rule
      change(&configuration)
      client = APIClient(configuration)
    }

    func code(_ request: Get = Get()) async -> APIError.Code? { await client.outcome(of: request).error?.code }
  }

  @Test(arguments: [
    (ScriptedAnswer.status(500), true), (.status(503), true), (.failure(.refused, "x"), true),
    (.failure(.idleTimeout, "x"), true),
    (.failure(.reset, "x"), true), (.status(404), false), (.status(429), false), (.failure(.offline, "x"), false),
    (.failure(.tooLarge, "x"), false), (.status(200), false),
  ])
  func `certain results count as failures`(_ answer: ScriptedAnswer, _ opens: Bool) async {
    let bench = Bench { _ in answer }
    for _ in 0..<3 { _ = await bench.code() }
    #expect((await bench.code() == .circuitOpen) == opens)
    #expect(bench.transport.requests.count == (opens ? 3 : 4))
  }

  @Test(arguments: [JoinRule.never, .safe]) func `expired deadlines count as failures`(joining: JoinRule) async {
    let latch = Latch()
    let bench = Bench { _ in
      try await latch.wait()
      return .text("late")
    }
    let request = Get(joining: joining, timeouts: Timeouts(total: .seconds(5)))
    for number in 1...3 {
      async let code = bench.code(request)
      await latch.reached(number)
      bench.clock.advance(by: .seconds(5))
      #expect(await code == .deadline)
    }
    #expect(await eventually { bench.client.services.joining.isIdle })
    #expect(await bench.code(request) == .circuitOpen)
  }

  @Test func `refusal names origin and time left`() async throws {
    let bench = Bench { _ in .status(500) }
    for _ in 0..<3 { _ = await bench.code() }
    bench.clock.advance(by: .seconds(18))
    let error = try #require(await bench.client.outcome(of: Get()).error)
    let cause = try #require(error.cause as? CircuitOpen)
    #expect(error.stage == .admission && cause.origin.host == "h.example" && cause.timeLeft == .seconds(42))
    #expect(error.message.contains("again in at most 42 seconds"))
    #expect(await bench.code(Get(path: "http://other.example/")) == .status, "another origin is not affected")
  }

  @Test func `successful trial closes the circuit`() async {
    let isWell = Recorded<Bool>()
    let bench = Bench { _ in isWell.all.isEmpty ? .status(500) : .text("well") }
    for _ in 0..<3 { _ = await bench.code() }
    bench.clock.advance(by: .seconds(60))
    #expect(await bench.code() == .status, "this call is the trial")
    #expect(await bench.code() == .circuitOpen)
    isWell.append(true)
    bench.clock.advance(by: .seconds(60))
    for _ in 0..<5 { #expect(await bench.code() == nil) }
  }

  @Test func `response headers of a stream end the trial`() async throws {
    let (gate, clock) = (Gate(), ManualClock())
    let server = try LoopbackServer()
    server.enqueue(.status(500), .status(500), .status(500))
    server.enqueue(.chunked(["one", "two"]).dripped(13, of: .body, through: gate), .ok("well"))
    var configuration = ClientConfiguration(baseURL: server.url)
    (configuration.timers, configuration.servers.breaker) = (clock, Self.rule)
    let client = APIClient(configuration)
    for _ in 0..<3 { _ = await client.outcome(of: Get()) }
    #expect(await client.outcome(of: Get()).error?.code == .circuitOpen)
    clock.advance(by: .seconds(60))
    gate.letPass()
    let stream = try await client.stream(Get())
    #expect(try await client.send(Get()) == "well", "the body of the stream may take any time")
    gate.open()
    var whole = Data()
    for try await piece in stream { whole.append(piece) }
    #expect(whole == Data("onetwo".utf8))
  }

  /// Sends a call to the same origin before each exchange, except before the exchange of this call.
  private final class Nonces: Interceptor {
    let client = Recorded<APIClient>()

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      if request.url.path != "/nonce" { for client in client.all { _ = try await client.send(Get(path: "/nonce")) } }
      return try await next(request)
    }
  }

  @Test func `trial may send calls to its origin`() async {
    let (nonces, isWell) = (Nonces(), Recorded<Bool>())
    let bench = Bench({ $0.interceptors.exchanges = [nonces] }) { _ in
      isWell.all.isEmpty ? .status(500) : .text("well")
    }
    for _ in 0..<3 { _ = await bench.code() }
    #expect(await bench.code() == .circuitOpen)
    isWell.append(true)
    nonces.client.append(bench.client)
    bench.clock.advance(by: .seconds(60))
    for _ in 0..<3 { #expect(await bench.code() == nil) }
    _ = nonces.client.takeFirst()
  }

  @Test func `breaker is off by default`() async {
    let bench = Bench({ $0.servers.breaker = nil }) { _ in .status(500) }
    for _ in 0..<50 { #expect(await bench.code() == .status) }
  }

  @Test func `cancelled calls do not count`() async {
    let latch = Latch()
    let bench = Bench { _ in
      try await latch.wait()
      return .text("well")
    }
    for _ in 0..<4 {
      let call = Task { await bench.code() }
      #expect(await eventually { bench.client.admission.running == 1 })
      call.cancel()
      #expect(await call.value == .cancelled)
    }
    latch.open()
    #expect(await bench.code() == nil)
  }

  @Test func `waiting calls are refused too`() async {
    let latch = Latch()
    let bench = Bench({ $0.admission = AdmissionLimits(perHost: 3, total: 3) }) { _ in
      try await latch.wait()
      return .status(500)
    }
    let calls = (0..<10).map { _ in Task { await bench.code() } }
    #expect(await eventually { bench.client.admission.waiting == 7 })
    latch.open()
    var codes: [APIError.Code: Int] = [:]
    for call in calls { if let code = await call.value { codes[code, default: 0] += 1 } }
    #expect(bench.transport.requests.count < 10 && codes[.circuitOpen, default: 0] > 0)
    #expect(codes[.circuitOpen, default: 0] + bench.transport.requests.count == 10)
    #expect(bench.client.admission == (0, 0))
  }

  @Test func `refused calls take no token of a rate`() async {
    let latch = Latch()
    let bench = Bench({
      $0.servers.breaker = BreakerRule(window: 1, least: 1)
      $0.admission.rates = [HostRate("h.example", requests: 1, per: .seconds(10))]
    }) { _ in
      try await latch.wait()
      return .status(500)
    }
    let first = Task { await bench.code() }
    #expect(await latch.reached())
    let codes = Recorded<APIError.Code?>()
    let others = (0..<3).map { _ in Task { codes.append(await bench.code()) } }
    #expect(await eventually { bench.client.admission.waiting == 3 })
    latch.open()
    #expect(await first.value == .status)
    bench.clock.advance(by: .seconds(10))
    #expect(await eventually { codes.count == 3 })
    #expect(codes.all == [.circuitOpen, .circuitOpen, .circuitOpen])
    for other in others { other.cancel() }
  }

  @Test func `open circuit is not retried`() async {
    var policy = RetryPolicy.standard
    policy.attempts = 5
    let broken = Bench({ $0.retries = policy }) { _ in .status(500) }
    for _ in 0..<3 { _ = await broken.code(Get(retries: .none)) }
    #expect(await broken.code() == .circuitOpen && broken.transport.requests.count == 3)
  }

  @Test func `stored response is served while open`() async throws {
    let isWell = Recorded([true])
    let bench = Bench { _ in
      guard isWell.all.last == true else { return .status(500) }
      var answer = ScriptedAnswer.text("stored")
      answer.head.fields["Cache-Control"] = "max-age=0, stale-if-error=600"
      return answer
    }
    #expect(try await bench.client.send(Get(cache: .http)) == "stored")
    isWell.append(false)
    for _ in 0..<5 { _ = await bench.code(Get(path: "/other")) }
    let asked = bench.transport.requests.count
    #expect(await bench.code(Get(path: "/other")) == .circuitOpen)
    #expect(try await bench.client.send(Get(cache: .http)) == "stored")
    #expect(bench.transport.requests.count == asked)
  }
}
