import Errand
import ErrandCore
import ErrandTesting
import Testing
import TestSupport

/// A later attempt that the client itself refuses: the outcome is that of the attempt before.
struct RefusedAttemptTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/page"
    var retries = RetryPolicy.none
    var overlap: Overlap { Overlap(joining: .never) }
  }

  private static let retrying = Get(retries: RetryPolicy(firstDelay: .seconds(1), busyDelay: .seconds(1)))

  private let clock = ManualClock()

  private func client(_ transport: ScriptedTransport, _ change: (inout ClientConfiguration) -> Void) -> APIClient {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    configuration.timers = clock
    change(&configuration)
    return APIClient(configuration)
  }

  @Test func `opened circuit keeps the response`() async {
    let transport = ScriptedTransport { _ in .status(503) }
    let client = client(transport) { $0.servers.breaker = BreakerRule(window: 6, least: 3) }
    for _ in 0..<2 { _ = await client.outcome(of: Get()) }
    async let outcome = client.outcome(of: Self.retrying)
    #expect(await clock.waitForTimers(2), "the deadline and the wait for the second attempt")
    clock.advance(by: .seconds(1))
    #expect(await outcome.error?.status == 503)
    #expect(await outcome.metrics.attempts == 1)
    #expect(await client.outcome(of: Self.retrying).error?.code == .circuitOpen, "this call sent nothing")
    #expect(transport.requests.count == 3)
  }

  @Test func `full queue keeps the response`() async throws {
    let latch = Latch()
    let transport = ScriptedTransport { request in
      guard request.url.path == "/held" else { return .status(503) }
      try await latch.wait()
      return .text("held")
    }
    let client = client(transport) { $0.admission = AdmissionLimits(perHost: 1, waiting: 0) }
    async let outcome = client.outcome(of: Self.retrying)
    #expect(await clock.waitForTimers(2), "the deadline and the wait for the second attempt")
    async let held = client.send(Get(path: "/held"))
    await latch.reached()
    clock.advance(by: .seconds(1))
    #expect(await outcome.error?.status == 503)
    latch.open()
    #expect(try await held == "held")
    #expect(transport.requests.count == 2)
  }

  @Test func `full queue of a fallback server keeps the response`() async {
    let latch = Latch()
    let transport = ScriptedTransport { request in
      guard request.url.path == "/held", request.url.host == "second.example" else { return .status(503) }
      try await latch.wait()
      return .text("held")
    }
    let client = client(transport) {
      $0.servers.current.fallbackURLs = ["http://second.example"]
      $0.admission = AdmissionLimits(perHost: 1, waiting: 0)
    }
    async let held = client.outcome(of: Get(path: "/held"))
    await latch.reached()
    clock.advance(by: .seconds(5))  // the first server is asked first again
    let outcome = await client.outcome(of: Get())
    #expect(outcome.error?.status == 503)
    #expect(outcome.metrics.attempts == 1)
    latch.open()
    #expect(await held.value == "held")
  }
}
