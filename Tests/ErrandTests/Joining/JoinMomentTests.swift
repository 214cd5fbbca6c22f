import Errand
@testable import ErrandCore
import ErrandTesting
import Testing
import TestSupport

/// A shared exchange knows its waiting calls from the moment at which a call joins until the call is separated.
struct JoinMomentTests {
  /// Records the time left for the exchange at each change of its priority.
  private struct TimeWatch: Interceptor {
    let left: Recorded<Duration?>

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      let call = context.call
      call.whenPriorityChanges { [left] _ in left.append(context.timeLeft) }
      defer { call.whenPriorityChanges(nil) }
      return try await next(request)
    }
  }

  @Test func `deadline counts from the moment of joining`() async {
    let left = Recorded<Duration?>()
    let fixture = JoinFixture {
      $0.retries = .standard
      $0.interceptors.exchanges = [TimeWatch(left: left)]
    }
    let short = CallOptions(timeouts: Timeouts(total: .seconds(5)), priority: .low)
    let first = Task { await fixture.client.outcome(of: JoinText(), options: short) }
    await fixture.exchange.reached()
    let long = CallOptions(timeouts: Timeouts(total: .never), priority: .high)
    let second = Task { await fixture.client.outcome(of: JoinText(), options: long) }
    #expect(await fixture.waiting(2))
    // The call that joins changes the priority before it begins to wait.
    #expect(await eventually { left.count == 1 })
    #expect(left.all == [Duration?.none], "the exchange may be retried without a time limit")
    fixture.exchange.open()
    for call in [first, second] { #expect(await call.value.value == "value") }
    #expect(await fixture.isIdle())
  }

  /// Records the priorities of the first call's exchange. Adds a credential of an unknown account after the latch.
  private struct Separating: Interceptor {
    let seen: Recorded<CallPriority>
    let latch: Latch

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      let call = context.call
      if context.info.tag == "first" { call.whenPriorityChanges { [seen] in seen.append($0) } }
      defer { call.whenPriorityChanges(nil) }
      try await latch.wait()
      var request = request
      request.fields.append(HTTPField(.cookie, "session=\(context.info.id)"))
      return try await next(request)
    }
  }

  @Test func `separated calls no longer raise the priority`() async {
    let (seen, latch) = (Recorded<CallPriority>(), Latch())
    let fixture = JoinFixture { $0.interceptors.exchanges = [Separating(seen: seen, latch: latch)] }
    let low = CallOptions(priority: .low, tag: "first")
    let first = Task { await fixture.client.outcome(of: JoinText(), options: low) }
    await latch.reached()
    let second = Task { await fixture.client.outcome(of: JoinText(), options: CallOptions(priority: .high)) }
    #expect(await fixture.waiting(2))
    #expect(await eventually { seen.all == [.high] })
    latch.open()
    #expect(await eventually { seen.all == [.high, .low] }, "\(seen.all)")
    fixture.exchange.open()
    for call in [first, second] { #expect(await call.value.value == "value") }
    #expect(await fixture.isIdle())
  }
}
