import Errand
@testable import ErrandCore
import ErrandHTTP
import ErrandSupport
import ErrandTesting
import Testing
import TestSupport

/// Exchanges that the deadline of their call cuts off: their effect on the circuit breaker and on the fallback servers.
struct CutOffCallTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/silent"
    var timeouts: Timeouts { Timeouts(total: .seconds(5)) }
    var overlap: Overlap { Overlap(joining: .never) }
  }

  /// Lets time pass before each request is sent.
  private struct Delaying: Interceptor {
    let clock: ManualClock
    let delay: Duration

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      clock.advance(by: delay)
      return try await next(request)
    }
  }

  /// Reports the first byte of each response, and sends the rest when the latch opens.
  private struct SlowBody: Transport {
    let latch: Latch

    func send(_ exchange: Exchange) async throws -> HTTPResponse {
      var metrics = ExchangeMetrics()
      metrics.firstByte = .milliseconds(1)
      exchange.handling.observer?.measured(metrics)
      try await latch.wait()
      return HTTPResponse(head: ResponseHead(status: 200), url: exchange.request.url)
    }
  }

  private func client(
    over transport: any Transport, _ clock: ManualClock, sendingAfter delay: Duration = .zero,
    _ change: (inout ClientConfiguration) -> Void
  ) -> APIClient {
    var configuration = ClientConfiguration(baseURL: "http://first.example")
    configuration.transport = .own(transport)
    configuration.timers = clock
    configuration.interceptors.exchanges = [Delaying(clock: clock, delay: delay)]
    change(&configuration)
    return APIClient(configuration)
  }

  /// Whether the circuit is open after three calls that ended at their deadlines.
  private func opensCircuit(
    _ client: APIClient, _ clock: ManualClock, _ latch: Latch, after rest: Duration
  ) async -> Bool {
    for number in 1...3 {
      async let outcome = client.outcome(of: Get())
      await latch.reached(number)
      clock.advance(by: rest)
      #expect(await outcome.error?.stage == .deadline)
    }
    latch.open()
    return await client.outcome(of: Get()).error?.code == .circuitOpen
  }

  @Test(arguments: [(4_000, true), (4_001, false)])
  func `deadline soon after sending opens no circuit`(delay: Int, opens: Bool) async {
    let (clock, latch) = (ManualClock(), Latch())
    let transport = ScriptedTransport { _ in
      try await latch.wait()
      return .text("late")
    }
    let client = client(over: transport, clock, sendingAfter: .milliseconds(delay)) {
      $0.servers.breaker = BreakerRule(least: 3)
    }
    #expect(await opensCircuit(client, clock, latch, after: .milliseconds(5_000 - delay)) == opens)
  }

  @Test func `slow end after the deadline opens no circuit`() async {
    let (clock, latch) = (ManualClock(), Latch())
    let transport = ScriptedTransport { _ in
      do {
        try await latch.wait()
      } catch {
        clock.advance(by: .seconds(2))
        throw error
      }
      return .text("late")
    }
    let client = client(over: transport, clock, sendingAfter: .milliseconds(4_001)) {
      $0.servers.breaker = BreakerRule(least: 3)
    }
    #expect(await opensCircuit(client, clock, latch, after: .milliseconds(999)) == false)
  }

  @Test func `slow body opens no circuit`() async {
    let (clock, latch) = (ManualClock(), Latch())
    let client = client(over: SlowBody(latch: latch), clock) { $0.servers.breaker = BreakerRule(least: 3) }
    #expect(await opensCircuit(client, clock, latch, after: .seconds(5)) == false)
  }

  @Test(arguments: [(4_000, "second.example"), (4_001, "first.example")])
  func `deadline soon after sending blames no server`(delay: Int, next: String) async {
    let (clock, latch) = (ManualClock(), Latch())
    let transport = ScriptedTransport { request in
      if request.url.path == "/silent" { try await latch.wait() }
      return .text(request.url.host)
    }
    let client = client(over: transport, clock, sendingAfter: .milliseconds(delay)) {
      $0.servers.current.fallbackURLs = ["http://second.example"]
    }
    async let outcome = client.outcome(of: Get())
    await latch.reached(1)
    clock.advance(by: .milliseconds(5_000 - delay))
    #expect(await outcome.error?.stage == .deadline)
    #expect(await client.outcome(of: Get(path: "/thing")).value == next)
  }

  /// Reports the first byte of the first response, and sends the rest when the latch opens. Other responses to the same
  /// path have no first byte before that.
  private final class SlowFirstBody: Transport {
    private let latch: Latch
    private let hasBegun = Locked(false)

    init(latch: Latch) { self.latch = latch }

    func send(_ exchange: Exchange) async throws -> HTTPResponse {
      if exchange.request.url.path == "/silent" {
        let isFirst = hasBegun.withLock { hasBegun in
          defer { hasBegun = true }
          return !hasBegun
        }
        if isFirst {
          var metrics = ExchangeMetrics()
          metrics.firstByte = .milliseconds(1)
          exchange.handling.observer?.measured(metrics)
        }
        try await latch.wait()
      }
      return HTTPResponse(head: ResponseHead(status: 200), url: exchange.request.url)
    }
  }

  /// A client whose first call sent a second copy after 4.5 seconds, and ended at its deadline half a second later.
  /// Both copies wait at the latch.
  private func clientAfterHedging(over transport: any Transport, _ latch: Latch) async -> APIClient {
    let clock = ManualClock()
    let client = client(over: transport, clock) {
      $0.servers.current.fallbackURLs = ["http://second.example"]
      $0.retries = RetryPolicy(attempts: 1, hedging: .after(.milliseconds(4_500)))
    }
    async let outcome = client.outcome(of: Get())
    await latch.reached(1)
    clock.advance(by: .milliseconds(4_500))
    await latch.reached(2)
    clock.advance(by: .milliseconds(500))
    #expect(await outcome.error?.stage == .deadline)
    return client
  }

  @Test func `slow body of a hedged request blames no server`() async {
    let latch = Latch()
    let client = await clientAfterHedging(over: SlowFirstBody(latch: latch), latch)
    #expect(await client.outcome(of: Get(path: "/thing")).request?.url.host == "first.example")
  }

  /// The first copy of a hedged request was silent for long, although the second copy was not.
  @Test func `late hedge does not excuse a server`() async {
    let latch = Latch()
    let transport = ScriptedTransport { request in
      if request.url.path == "/silent" { try await latch.wait() }
      return .text(request.url.host)
    }
    let client = await clientAfterHedging(over: transport, latch)
    #expect(await client.outcome(of: Get(path: "/thing")).value == "second.example")
  }
}
