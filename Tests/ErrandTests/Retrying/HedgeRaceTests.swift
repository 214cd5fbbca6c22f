@testable import ErrandCore
@testable import ErrandHTTP
import Errand
import ErrandSupport
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// The two copies of a slow read, with a scripted transport and a manual clock.
struct HedgeRaceTests {
  private struct Get: APIRequest {
    typealias Response = String
    var path: Path = "/fast"
  }

  private static func client(
    _ transport: any Transport, _ clock: ManualClock, _ rule: HedgeRule = .after(.milliseconds(10)), attempts: Int = 1,
    _ change: (inout ClientConfiguration) -> Void = { _ in }
  ) -> APIClient {
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    configuration.timers = clock
    configuration.overlap.joining = .never
    configuration.retries = RetryPolicy(attempts: attempts, firstDelay: .zero, busyDelay: .zero, hedging: rule)
    change(&configuration)
    return APIClient(configuration)
  }

  /// A client over a server that responds to `/fast` at once, and holds each request for `/slow` at its own latch.
  private final class Bench: Sendable {
    let clock = ManualClock()
    let latches = Recorded<Latch>()
    let client: APIClient

    init(_ rule: HedgeRule, _ change: (inout ClientConfiguration) -> Void = { _ in }) {
      let transport = ScriptedTransport { [latches] request in
        guard request.url.path == "/slow" else { return .text("fast") }
        let latch = Latch()
        latches.append(latch)
        try await latch.wait()
        return .text("slow")
      }
      client = HedgeRaceTests.client(transport, clock, rule, change)
    }

    /// Returns when `count` requests for `/slow` have arrived.
    func reached(_ count: Int) async -> Bool { await eventually { latches.count == count } }
  }

  @Test func `hedged response times count from first copy`() async throws {
    let bench = Bench(.slowerThan(0.9))
    for _ in 0..<20 { #expect(try await bench.client.send(Get()) == "fast") }
    for round in 0..<3 {
      async let outcome = bench.client.outcome(of: Get(path: "/slow"))
      #expect(await bench.reached(2 * round + 1))
      bench.clock.advance(by: .milliseconds(10))
      #expect(await bench.reached(2 * round + 2))
      bench.clock.advance(by: .milliseconds(20))
      bench.latches.all.last?.open()
      #expect(await outcome.value == "slow")
    }
    let history = bench.client.services.retrying.latencies(of: try HTTPURL("http://h.example").origin)
    #expect(history?.time(of: 0.9) == .milliseconds(30))
    // A request is now sent twice only after 30 milliseconds.
    async let outcome = bench.client.outcome(of: Get(path: "/slow"))
    #expect(await bench.reached(7))
    bench.clock.advance(by: .milliseconds(29))
    bench.latches.all.last?.open()
    #expect(await outcome.metrics.attempts == 1)
  }

  @Test(arguments: [408, 429, 500, 503]) func `rejections are no response times`(status: Int) async throws {
    let client = Self.client(ScriptedTransport { _ in .status(status) }, ManualClock(), .slowerThan(0.9))
    for _ in 0..<20 { #expect(await client.outcome(of: Get()).error?.status == status) }
    let origin = try HTTPURL("http://h.example").origin
    #expect(client.services.retrying.latencies(of: origin) == nil)
  }

  /// Records the start of the exchange whose response is delivered.
  private struct Starts: Interceptor {
    let starts: Recorded<MonotonicInstant>

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      let response = try await next(request)
      if let begun = context.record.begun { starts.append(begun) }
      return response
    }
  }

  @Test(arguments: [0, 1]) func `record describes the delivered exchange`(winner: Int) async {
    let starts = Recorded<MonotonicInstant>()
    let bench = Bench(.after(.milliseconds(10))) { $0.interceptors.calls = [Starts(starts: starts)] }
    let start = bench.clock.now
    async let outcome = bench.client.outcome(of: Get(path: "/slow"))
    #expect(await bench.reached(1))
    bench.clock.advance(by: .milliseconds(10))
    #expect(await bench.reached(2))
    bench.latches.all[winner].open()
    #expect(await outcome.value == "slow")
    #expect(starts.all == [start.advanced(by: .milliseconds(10 * winner))])
    #expect(await outcome.metrics.attempts == 2)
  }

  /// Supplies a credential, and records each request for it.
  private struct Provider: CredentialProvider {
    let asked: Recorded<String?>
    var account: String? { "ada" }

    func credential(for account: String?) async throws -> Credential? {
      asked.append(account)
      return .bearer("t")
    }
  }

  @Test(arguments: [ScriptedAnswer.status(503), .failure(.reset)])
  func `unsent hedge does not hide the failure`(answer: ScriptedAnswer) async throws {
    let (clock, latch, asked) = (ManualClock(), Latch(), Recorded<String?>())
    let transport = ScriptedTransport { _ in
      guard latch.arrivals == 0 else { return .text("right") }
      try await latch.wait()
      return answer
    }
    let client = Self.client(transport, clock, attempts: 2) { configuration in
      configuration.admission = AdmissionLimits(perHost: 1, waiting: 0)
      configuration.credentials = Provider(asked: asked)
    }
    async let outcome = client.outcome(of: Get())
    await latch.reached()
    clock.advance(by: .milliseconds(10))
    // The second copy asks for its credential, is rejected by the full queue, and is removed from the followers of the
    // call.
    #expect(await eventually { asked.count == 2 })
    let call = try #require(client.registry.running.first?.state)
    #expect(await eventually { call.priorityState.withLock { $0.followers.count } == 1 })
    latch.open()
    let ended = await outcome
    #expect(ended.value == "right", "\(ended.error?.message ?? "")")
    #expect(transport.requests.count == 2)
  }

  /// Reports at its first request before and after it waits at a latch, even if the client has stopped the exchange.
  private struct LateReporting: Transport {
    let latch: Latch
    let hasReported: Latch
    let asked = Recorded<String>()
    var capabilities: TransportCapabilities { [.progress, .informational] }

    func send(_ exchange: Exchange) async throws -> HTTPResponse {
      asked.append(exchange.request.url.path)
      if asked.count == 1 {
        exchange.onProgress?(TransferProgress(.download, bytes: 1, total: nil))
        await latch.waitStubbornly()
        exchange.onProgress?(TransferProgress(.download, bytes: 2, total: nil))
        exchange.onInformational?(ResponseHead(status: 103))
        hasReported.open()
      }
      return HTTPResponse(head: ResponseHead(status: 200), body: Data("value".utf8), url: exchange.request.url)
    }
  }

  /// Records the reports of the exchanges below it.
  private struct Listening: Interceptor {
    let reports: Recorded<String>

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      let listening = context.with { [reports] parts in
        parts.onProgress = { reports.append("progress \($0.bytes)") }
        parts.onInformational = { reports.append("head \($0.status)") }
      }
      return try await next(request, in: listening)
    }
  }

  @Test func `loser reports nothing after the end`() async {
    let (clock, latch, hasReported) = (ManualClock(), Latch(), Latch())
    let reports = Recorded<String>()
    let client = Self.client(LateReporting(latch: latch, hasReported: hasReported), clock) { configuration in
      configuration.interceptors.calls = [Listening(reports: reports)]
    }
    async let outcome = client.outcome(of: Get())
    await latch.reached()
    clock.advance(by: .milliseconds(10))
    #expect(await outcome.value == "value")
    latch.open()
    await hasReported.waitStubbornly()
    #expect(reports.all == ["progress 1"])
  }
}
