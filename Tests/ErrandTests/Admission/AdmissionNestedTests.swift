import Errand
@testable import ErrandCore
import ErrandSupport
import ErrandTesting
import Testing
import TestSupport

/// Calls that are sent for a call that holds a slot: they must not wait for that slot.
struct AdmissionNestedTests {
  private typealias Named = AdmissionFixture.Named

  /// Performs work before the exchange of each call, except of the calls that this work sends.
  private final class Errands: Interceptor {
    private let work = Locked<(@Sendable () async throws -> Void)?>(nil)

    func doing(_ work: (@Sendable () async throws -> Void)?) { self.work.withLock { $0 = work } }

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      if request.url.path.hasPrefix("/call"), let work = work.withLock({ $0 }) { try await work() }
      return try await next(request)
    }
  }

  /// The token is old until it is refreshed by a request to the same host.
  private final class Tokens: RefreshingProvider {
    let client = Recorded<APIClient>()
    private let isNew = Locked(false)
    var account: String? { nil }

    func credential(for account: String?) async throws -> Credential? {
      .bearer(isNew.withLock { $0 } ? "new" : "old")
    }

    func refresh(_ old: Credential, for account: String?) async throws -> Credential {
      if let client = client.takeFirst() { _ = try await client.send(Named(name: "token")) }
      isNew.withLock { $0 = true }
      return .bearer("new")
    }
  }

  private let errands = Errands()

  private func fixture(
    _ limits: AdmissionLimits = AdmissionLimits(perHost: 1), _ change: (inout ClientConfiguration) -> Void = { _ in }
  ) -> AdmissionFixture {
    let fixture = AdmissionFixture(limits) {
      $0.interceptors.exchanges = [errands]
      $0.timeouts = Timeouts(total: .never)
      change(&$0)
    }
    fixture.latch.open()
    return fixture
  }

  @Test func `interceptor's own call needs no second slot`() async {
    let fixture = fixture()
    errands.doing { [client = fixture.client] in _ = try await client.send(Named(name: "nonce")) }
    async let first = fixture.client.outcome(of: Named(name: "call/a"))
    async let second = fixture.client.outcome(of: Named(name: "call/b"))
    #expect(await first.error == nil)
    #expect(await second.error == nil)
    #expect(fixture.sent.count == 4)
    errands.doing(nil)
    await fixture.finish()
  }

  @Test func `call beyond the limit did not wait`() async {
    let fixture = fixture { $0.record = .ring(calls: 10) }
    errands.doing { [client = fixture.client] in _ = try await client.send(Named(name: "nonce")) }
    #expect(await fixture.client.outcome(of: Named(name: "call/a")).error == nil)
    let calls = fixture.client.flightRecord.calls
    let waits = calls.flatMap(\.decisions).filter { if case .waited = $0.decision { true } else { false } }
    #expect(calls.count == 2 && waits.isEmpty)
    errands.doing(nil)
    await fixture.finish()
  }

  @Test func `interceptor's own call joins no waiting call`() async {
    let fixture = fixture { $0.overlap.joining = .safe }
    let isQueued = Latch()
    errands.doing { [client = fixture.client] in
      try await isQueued.wait()
      _ = try await client.send(Named(name: "nonce"))
    }
    async let outcome = fixture.client.outcome(of: Named(name: "call/a"))
    await isQueued.reached(1)
    async let other = fixture.client.outcome(of: Named(name: "nonce"))
    #expect(await eventually { fixture.client.admission == (1, 1) })
    isQueued.open()
    #expect(await outcome.error == nil)
    #expect(await other.error == nil)
    #expect(fixture.sent.all == ["nonce", "call/a", "nonce"])
    errands.doing(nil)
    await fixture.finish()
  }

  @Test func `refresh for a nested call needs no slot`() async {
    let tokens = Tokens()
    let fixture = fixture {
      $0.credentials = tokens
      $0.transport = .own(
        ScriptedTransport { request in
          request.url.path != "/nonce" || request.fields[.authorization] == "Bearer new" ? .text("in") : .status(401)
        })
    }
    tokens.client.append(fixture.client)
    errands.doing { [client = fixture.client] in _ = try await client.send(Named(name: "nonce")) }
    let outcome = await fixture.client.outcome(of: Named(name: "call/a"))
    #expect(outcome.value == "in", "\(outcome.error?.message ?? "")")
    errands.doing(nil)
    await fixture.finish()
  }

  @Test func `nested call obeys the rate`() async {
    let fixture = fixture(AdmissionLimits(perHost: 1, rates: [HostRate("h.example", requests: 1)]))
    errands.doing { [client = fixture.client] in _ = try await client.send(Named(name: "nonce")) }
    async let outcome = fixture.client.outcome(of: Named(name: "call/a"))
    #expect(await eventually { fixture.clock.pending == 1 })
    fixture.clock.advance(by: .milliseconds(999))
    #expect(fixture.sent.all.isEmpty)
    fixture.clock.advance(by: .milliseconds(1))
    #expect(await outcome.metrics.queue == .zero, "the exchange itself did not wait")
    #expect(fixture.sent.all == ["nonce", "call/a"])
    errands.doing(nil)
    await fixture.finish()
  }

  @Test func `cancelled nested call takes no token`() async {
    let fixture = fixture(AdmissionLimits(perHost: 1, rates: [HostRate("h.example", requests: 1)]))
    errands.doing { [client = fixture.client] in
      _ = try await client.send(Named(name: "nonce"), options: .deadline(.milliseconds(300)))
    }
    async let outcome = fixture.client.outcome(of: Named(name: "call/a"))
    #expect(await eventually { fixture.clock.pending == 2 })
    fixture.clock.advance(by: .milliseconds(300))
    #expect(await outcome.error != nil)
    errands.doing(nil)
    fixture.clock.advance(by: .milliseconds(700))
    #expect(await fixture.client.outcome(of: Named(name: "call/b")).error == nil)
    #expect(fixture.sent.all == ["call/b"])
    await fixture.finish()
  }

  /// The call "b" first waits for the token after the one that the nested call has reserved.
  @Test func `cancelled nested call's token admits another`() async {
    let limits = AdmissionLimits(perHost: 2, rates: [HostRate("h.example", requests: 1)])
    let fixture = AdmissionFixture(limits) { $0.interceptors.exchanges = [errands] }
    errands.doing { [client = fixture.client] in
      _ = await client.outcome(of: Named(name: "nonce"), options: .deadline(.milliseconds(300)))
    }
    await fixture.start("call/a")
    #expect(await eventually { fixture.clock.pending == 2 }, "the deadline and the token of the nested call")
    await fixture.start("b")
    #expect(await eventually { fixture.clock.pending == 3 })
    fixture.clock.advance(by: .milliseconds(300))
    #expect(await eventually { fixture.sent.all == ["call/a"] })
    fixture.clock.advance(by: .milliseconds(700))
    #expect(await eventually { fixture.sent.all == ["call/a", "b"] })
    errands.doing(nil)
    await fixture.finish()
  }

  @Test func `task left behind waits like other calls`() async {
    let (hasEnded, held) = (Latch(), Latch())
    let tasks = Recorded<Task<Void, Never>>()
    let fixture = fixture {
      $0.transport = .own(
        ScriptedTransport { request in
          if request.url.path == "/first" { try await held.wait() }
          return .text("")
        })
    }
    errands.doing { [client = fixture.client] in
      tasks.append(
        Task {
          try? await hasEnded.wait()
          _ = await client.outcome(of: Named(name: "late"))
        })
    }
    #expect(await fixture.client.outcome(of: Named(name: "call/a")).error == nil)
    errands.doing(nil)
    await fixture.start("first")
    hasEnded.open()
    #expect(await eventually { fixture.client.admission == (1, 1) })
    held.open()
    await fixture.finish()
    for task in tasks.all { await task.value }
  }

  @Test func `slot at another client does not count`() async {
    let (fixture, other) = (fixture(), AdmissionFixture())
    await other.start("first")
    errands.doing { [client = other.client] in
      _ = await client.outcome(of: Named(name: "second"))
    }
    async let outcome = fixture.client.outcome(of: Named(name: "call/a"))
    #expect(await eventually { other.client.admission == (1, 1) })
    await other.finish()
    #expect(await outcome.error == nil)
    errands.doing(nil)
    await fixture.finish()
  }
}
