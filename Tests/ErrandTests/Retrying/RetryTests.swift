@testable import ErrandCore
import Errand
import ErrandTesting
import Foundation
import Testing
import TestSupport

/// Calls that are retried, with a manual clock.
struct RetryTests {
  private struct Page: APIRequest {
    typealias Response = String
    var path: Path = "/page"
    var method = HTTPMethod.get
    var body: RequestBody?
    var retries: RetryPolicy = .inherited
    var idempotency = Idempotency.byMethod
    var headers = RequestHeaders()
  }

  /// A client whose server responds to the n-th exchange by a script.
  private final class Fixture: Sendable {
    let clock = ManualClock()
    let seen = Recorded<HTTPRequest>()
    let client: APIClient

    init(
      _ policy: RetryPolicy = .standard, _ change: (inout ClientConfiguration) -> Void = { _ in },
      answer: @escaping @Sendable (Int) -> ScriptedAnswer
    ) {
      var configuration = ClientConfiguration(baseURL: "http://h.example")
      configuration.timers = clock
      configuration.retries = policy
      configuration.transport = .own(
        ScriptedTransport { [seen] request in
          seen.append(request)
          return answer(seen.count)
        })
      change(&configuration)
      client = APIClient(configuration)
    }

    /// Sends the request and advances the clock whenever the call waits.
    func outcome(of page: Page, total: TimeLimit = .never) async -> Outcome<String> {
      async let outcome = client.outcome(of: page, options: .deadline(total))
      let turning = Task { @concurrent in
        while !Task.isCancelled {
          if clock.pending > (total == .never ? 0 : 1) { clock.advance(by: .milliseconds(250)) }
          await Task.yield()
        }
      }
      defer { turning.cancel() }
      return await outcome
    }
  }

  @Test func `call options override the retry policy`() async {
    let fixture = Fixture { _ in .status(503) }
    let once = await fixture.client.outcome(of: Page(retries: .standard), options: CallOptions(retries: .none))
    #expect(once.error?.status == 503 && once.metrics.attempts == 1)
    fixture.client.configure { $0.retries = .none }
    let zero = RetryPolicy(attempts: 2, firstDelay: .zero, busyDelay: .zero)
    let twice = await fixture.client.outcome(of: Page(), options: CallOptions(retries: zero))
    #expect(twice.error?.status == 503 && twice.metrics.attempts == 2)
  }

  @Test func `third attempt succeeds`() async {
    let fixture = Fixture { $0 < 3 ? .status(503) : .text("at last") }
    let outcome = await fixture.outcome(of: Page())
    #expect(outcome.value == "at last")
    #expect(outcome.metrics.attempts == 3)
    #expect(outcome.metrics.retries.map(\.reason) == [.status(503), .status(503)])
    #expect(outcome.metrics.retries.allSatisfy { $0.delay <= .seconds(1) })
  }

  @Test func `last failure is reported`() async {
    let fixture = Fixture { .failure($0 == 3 ? .reset : .closedBeforeResponse) }
    let outcome = await fixture.outcome(of: Page())
    #expect(outcome.error?.transportKind == .reset)
    #expect(fixture.seen.count == 3)
    #expect(outcome.metrics.retries.map(\.reason) == Array(repeating: .failure(.closedBeforeResponse), count: 2))
  }

  @Test func `default policy does not retry`() async {
    let fixture = Fixture(ClientConfiguration(baseURL: "").retries) { _ in .status(503) }
    #expect(await fixture.outcome(of: Page()).error?.status == 503)
    #expect(fixture.seen.count == 1)
  }

  @Test func `request overrides the client's policy`() async {
    let fixture = Fixture { _ in .status(503) }
    _ = await fixture.outcome(of: Page(retries: .none))
    #expect(fixture.seen.count == 1)
    _ = await fixture.outcome(of: Page(retries: RetryPolicy(attempts: 5)))
    #expect(fixture.seen.count == 6)
  }

  @Test func `POST is not retried`() async {
    let fixture = Fixture { _ in .failure(.reset) }
    #expect(await fixture.outcome(of: Page(method: .post, body: .text("pay"))).error?.transportKind == .reset)
    #expect(fixture.seen.count == 1)
  }

  @Test func `idempotency key is kept across attempts`() async throws {
    let fixture = Fixture { $0 % 3 == 0 ? .text("paid") : .failure(.reset) }
    let page = Page(method: .post, body: .text("pay"), idempotency: .keyed())
    #expect(await fixture.outcome(of: page).value == "paid")
    let keys = fixture.seen.all.map { $0.fields["Idempotency-Key"] }
    #expect(keys.count == 3 && Set(keys).count == 1 && keys.first??.count == 36)
    #expect(await fixture.outcome(of: page).value == "paid")
    #expect(Set(fixture.seen.all.map { $0.fields["Idempotency-Key"] }).count == 2, "each call has a separate key")
    var own = page
    own.headers = ["Idempotency-Key": "order-7"]
    #expect(await fixture.outcome(of: own).value == "paid")
    #expect(fixture.seen.all.last?.fields.values(of: "Idempotency-Key") == ["order-7"])
  }

  @Test func `one-shot body is sent once`() async {
    let fixture = Fixture { _ in .failure(.closedBeforeResponse) }
    let stream = AsyncStream<Data> {
      $0.yield(Data("once".utf8))
      $0.finish()
    }
    let outcome = await fixture.outcome(of: Page(method: .put, body: .pieces(stream)))
    #expect(outcome.error?.transportKind == .closedBeforeResponse && fixture.seen.count == 1)
  }

  @Test func `no attempt starts before Retry-After`() async {
    let fixture = Fixture(RetryPolicy(busyDelay: .seconds(1))) {
      $0 == 1 ? ScriptedAnswer(status: 503, fields: ["Retry-After": "30"]) : .text("ready")
    }
    async let outcome = fixture.client.outcome(of: Page(), options: .deadline(.never))
    #expect(await fixture.clock.waitForTimers(1))
    fixture.clock.advance(by: .milliseconds(29_999))
    #expect(fixture.seen.count == 1 && fixture.clock.pending == 1)
    fixture.clock.advance(by: .milliseconds(1_001))
    #expect(await outcome.value == "ready")
    #expect(await outcome.metrics.retries.first.map { $0.delay >= .seconds(30) && $0.delay <= .seconds(31) } == true)
  }

  @Test func `too long Retry-After fails immediately`() async {
    let fixture = Fixture { _ in ScriptedAnswer(status: 429, fields: ["Retry-After": "61"]) }
    #expect(await fixture.outcome(of: Page()).error?.status == 429)
    #expect(fixture.seen.count == 1)
  }

  @Test func `no retry waits past the deadline`() async {
    let fixture = Fixture { _ in ScriptedAnswer(status: 503, fields: ["Retry-After": "10"]) }
    let outcome = await fixture.client.outcome(of: Page(), options: .deadline(.seconds(5)))
    #expect(outcome.error?.status == 503, "the response is delivered immediately, not a deadline error")
    #expect(fixture.seen.count == 1 && fixture.clock.pending == 0)
  }

  @Test func `cancel ends the retry delay`() async {
    let fixture = Fixture { _ in ScriptedAnswer(status: 503, fields: ["Retry-After": "10"]) }
    async let outcome = fixture.client.outcome(of: Page(), options: .deadline(.never))
    #expect(await fixture.clock.waitForTimers(1))
    #expect(fixture.client.admission == (0, 0), "a call that waits for a retry holds no slot")
    fixture.client.cancelAll()
    #expect(await outcome.error?.isCancelled == true)
    // The caller has already left. The exchange, which no other call shares, ends in its own task.
    #expect(await eventually { fixture.clock.pending == 0 })
    #expect(fixture.seen.count == 1)
  }

  @Test func `empty budget ends retries`() async {
    let fixture = Fixture(RetryPolicy(attempts: 2, busyDelay: .zero)) { _ in .status(503) }
    for _ in 0..<150 { _ = await fixture.outcome(of: Page()) }
    #expect(fixture.seen.count == 250, "the budget pays for a hundred retries")
  }

  @Test(arguments: [408, 425]) func `retried status is not a success`(status: Int) async {
    let policy = RetryPolicy(attempts: 2, statuses: [408, 425], firstDelay: .zero, busyDelay: .zero)
    let fixture = Fixture(policy) { _ in .status(status) }
    for _ in 0..<150 { _ = await fixture.outcome(of: Page()) }
    #expect(fixture.seen.count == 250)
  }

  @Test func `joined calls share retries`() async {
    let fixture = Fixture(RetryPolicy(busyDelay: .zero)) { $0 < 3 ? .status(503) : .text("shared") }
    let latch = Latch()
    fixture.client.configure {
      $0.interceptors.exchanges = [Held(latch: latch)]
    }
    async let one = fixture.outcome(of: Page())
    async let other = fixture.outcome(of: Page())
    #expect(await eventually { fixture.client.services.joining.counts.waiting == 2 })
    latch.open()
    let outcomes = await [one, other]
    #expect(outcomes.map(\.value) == ["shared", "shared"])
    #expect(fixture.seen.count == 3)
    #expect(outcomes.allSatisfy { $0.metrics.retries.count == 2 })
  }

  private struct Held: Interceptor {
    let latch: Latch

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      try await latch.wait()
      return try await next(request)
    }
  }

  @Test func `stale response is served without delay`() async {
    let fixture = Fixture(.standard, { $0.cache.policy = .http }) {
      $0 == 1
        ? ScriptedAnswer(
          status: 200, fields: ["Cache-Control": "max-age=0, stale-if-error=600", "ETag": "\"1\""],
          body: Data("old".utf8))
        : .status(503)
    }
    #expect(await fixture.client.outcome(of: Page()).value == "old")
    let outcome = await fixture.client.outcome(of: Page())
    #expect(outcome.value == "old" && outcome.origin == .cacheStale)
    #expect(fixture.seen.count == 2 && outcome.metrics.retries.isEmpty)
  }
}
