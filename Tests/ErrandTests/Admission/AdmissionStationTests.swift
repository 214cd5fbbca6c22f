import Errand
@testable import ErrandCore
import ErrandSupport
import ErrandTesting
import Testing
import TestSupport

/// The queue as an interceptor: its effect on calls.
struct AdmissionStationTests {
  @Test func `full queue fails a new call`() async {
    let fixture = AdmissionFixture(AdmissionLimits(perHost: 1, waiting: 2))
    for name in ["a", "b", "c"] { await fixture.start(name) }
    let outcome = await fixture.client.outcome(of: AdmissionFixture.Named(name: "d"))
    #expect(outcome.error?.stage == .admission)
    #expect(outcome.error?.code == .queueFull)
    #expect(
      outcome.error?.message
        == "The queue is full (2 calls waiting), so the request was not sent; start fewer calls at a time, or raise `admission.waiting`."
    )
    #expect(outcome.error?.attempts == 0)
    #expect(outcome.error?.request?.url.path == "/d")
    #expect(fixture.client.admission == (1, 2))
    await fixture.finish()
    #expect(fixture.sent.all == ["a", "b", "c"])
  }

  @Test func `owners take turns in the pipeline`() async {
    let fixture = AdmissionFixture()
    let (one, other) = (CallOwner(), CallOwner())
    await fixture.start("first")
    for name in ["a1", "a2", "a3"] { await fixture.start(name, owner: one) }
    for name in ["b1", "b2"] { await fixture.start(name, owner: other) }
    await fixture.finish()
    #expect(fixture.sent.all == ["first", "a1", "b1", "a2", "b2", "a3"])
    withExtendedLifetime((one, other)) {}
  }

  @Test func `long wait raises priority`() async {
    let fixture = AdmissionFixture()
    await fixture.start("first")
    await fixture.start("old", .low)
    fixture.clock.advance(by: .seconds(10))
    await fixture.start("new", .high)
    await fixture.finish()
    #expect(fixture.sent.all == ["first", "old", "new"])
  }

  @Test func `deadline in the queue names the queue`() async {
    let fixture = AdmissionFixture()
    await fixture.start("first")
    let named = AdmissionFixture.Named(name: "late")
    async let late = fixture.client.outcome(of: named, options: .deadline(.seconds(5)))
    #expect(await eventually { fixture.client.admission.waiting == 1 })
    fixture.clock.advance(by: .seconds(5))
    let error = await late.error
    #expect(error?.stage == .deadline && error?.attempts == 0)
    #expect(error?.message.contains("The call waited 5.0 s of this time in the queue of the client;") == true)
    await fixture.finish()
    #expect(fixture.sent.all == ["first"])
  }

  @Test func `deadline after a short wait does not name the queue`() async {
    let fixture = AdmissionFixture()
    let first = await fixture.start("first")
    let named = AdmissionFixture.Named(name: "next")
    async let next = fixture.client.outcome(of: named, options: .deadline(.seconds(5)))
    #expect(await eventually { fixture.client.admission.waiting == 1 })
    fixture.clock.advance(by: .seconds(2))
    first.cancel()
    #expect(await eventually { fixture.sent.all == ["first", "next"] })
    fixture.clock.advance(by: .seconds(3))
    let error = await next.error
    #expect(error?.stage == .deadline && error?.message.contains("queue") == false)
    await fixture.finish()
  }

  /// The timer of a deadline may fire late, for example after those of many other calls.
  @Test(arguments: [JoinRule.never, .safe]) func `call past its deadline gets no slot`(joining: JoinRule) async {
    let timers = LateTimers()
    let fixture = AdmissionFixture {
      $0.overlap.joining = joining
      $0.timers = timers
    }
    await fixture.start("first")
    await fixture.start("late", total: .seconds(5))
    await fixture.start("next")
    timers.advanceWithoutFiring(by: .seconds(5))
    await fixture.finish()
    #expect(fixture.sent.all == ["first", "next"])
    #expect(Set(fixture.ended.all) == ["first success", "late deadline", "next success"])
  }

  /// The client gets another clock while a call waits for the slot of an earlier call.
  @Test func `deadline counts by the clock of its call`() async {
    let fixture = AdmissionFixture()
    fixture.clock.advance(by: .seconds(10))
    await fixture.start("first")
    let clock = ManualClock()
    fixture.client.configure { $0.timers = clock }
    await fixture.start("second", total: .seconds(5))
    await fixture.finish()
    #expect(fixture.sent.all == ["first", "second"])
    #expect(Set(fixture.ended.all) == ["first success", "second success"])
  }

  /// Lets a deadline pass before each request is sent.
  private struct Delaying: Interceptor {
    let timers: LateTimers

    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      timers.advanceWithoutFiring(by: .seconds(5))
      return try await next(request)
    }
  }

  @Test(arguments: [JoinRule.never, .safe], [false, true])
  func `call past its deadline is not sent`(joining: JoinRule, isHedged: Bool) async {
    let timers = LateTimers()
    let transport = ScriptedTransport { _ in .text("") }
    var configuration = ClientConfiguration(baseURL: "http://h.example")
    configuration.transport = .own(transport)
    configuration.timers = timers
    configuration.overlap.joining = joining
    configuration.retries = RetryPolicy(attempts: 1, hedging: isHedged ? .after(.seconds(60)) : nil)
    configuration.interceptors.exchanges = [Delaying(timers: timers)]
    let client = APIClient(configuration)
    let outcome = await client.outcome(of: AdmissionFixture.Named(name: "a"), options: .deadline(.seconds(5)))
    #expect(outcome.error?.stage == .deadline)
    #expect(await eventually { client.services.joining.isIdle && client.admission == (0, 0) })
    #expect(transport.requests.isEmpty)
  }

  @Test func `counts are per host`() async {
    let fixture = AdmissionFixture()
    await fixture.start("a")
    await fixture.start("b")
    await fixture.start("c", host: "other.example")
    #expect(fixture.client.admission(at: "H.example") == (1, 1))
    #expect(fixture.client.admission(at: "other.example") == (1, 0))
    #expect(fixture.client.admission(at: "third.example") == (0, 0))
    await fixture.finish()
    #expect(fixture.client.admission(at: "h.example") == (0, 0))
  }

  /// The code of the call can continue only when its executor is free.
  @Test func `cancelled call leaves queue with busy executor`() async {
    let fixture = AdmissionFixture(AdmissionLimits(perHost: 1, waiting: 1))
    await fixture.start("a")
    let (owner, executor) = (CallOwner(), HeldExecutor())
    let waiting = Task(executorPreference: executor) {
      await fixture.client.outcome(of: AdmissionFixture.Named(name: "b"), options: CallOptions(owner: owner))
    }
    #expect(await eventually { fixture.client.admission == (1, 1) })
    executor.hold()
    owner.cancelAll()
    #expect(fixture.client.admission == (1, 0))
    executor.release()
    #expect(await waiting.value.error?.isCancelled == true)
    await fixture.finish()
  }

  // MARK: - Changes of priority

  /// With an interceptor of the app, the call waits in a separate call state.
  @Test(arguments: [false, true]) func `waiting call can be raised`(isIntercepted: Bool) async {
    let fixture = AdmissionFixture { if isIntercepted { $0.interceptors.calls = [Passing()] } }
    await fixture.start("first")
    await fixture.start("a")
    let late = await fixture.start("b", .low)
    await fixture.start("c")
    #expect(late.priority == .low)
    late.change(priority: .high)
    #expect(late.priority == .high)
    #expect(late.info.priority == .low, "the info keeps the priority at the start")
    await fixture.finish()
    #expect(fixture.sent.all == ["first", "b", "a", "c"])
  }

  @Test func `priority change after the end is ignored`() async {
    let fixture = AdmissionFixture()
    let call = await fixture.start("a", .low)
    await fixture.finish()
    call.change(priority: .high)
    #expect(call.priority == .low)
  }

  @Test func `exchange has the current priority`() async {
    let seen = Recorded<CallPriority>()
    let fixture = AdmissionFixture { $0.transport = .own(Watching(seen, latch: Latch())) }
    let first = await fixture.start("first")
    let second = await fixture.start("second", .low)
    second.change(priority: .high)
    #expect(await eventually { seen.count == 1 }, "the first exchange has begun, not only been admitted")
    first.cancel()
    #expect(await eventually { seen.count == 2 })
    second.cancel()
    await fixture.finish()
    #expect(seen.all == [.normal, .high])
  }

  @Test func `priority changes race with admission`() async {
    for _ in 0..<rounds {
      let fixture = AdmissionFixture()
      var calls: [Call] = []
      for name in ["a", "b", "c"] { calls.append(await fixture.start(name)) }
      let cancelled = await fixture.start("d")
      await withTaskGroup(of: Void.self) { group in
        for call in calls {
          for priority in CallPriority.allCases { group.addTask { call.change(priority: priority) } }
        }
        group.addTask { fixture.latch.open() }
        group.addTask { cancelled.cancel() }
      }
      await fixture.finish()
      #expect(fixture.ended.count == 4)
    }
  }

  // MARK: - Ten thousand

  private static let many = isSanitized ? 1_000 : 10_000

  @Test(arguments: [CallState.StopReason.cancelled, .expired])
  func `ten thousand waiters leave at once`(reason: CallState.StopReason) async {
    let fixture = AdmissionFixture()
    await fixture.start("first")
    let owners = (0..<100).map { _ in CallOwner() }
    for number in 0..<Self.many {
      let options = CallOptions(
        timeouts: Timeouts(total: reason == .expired ? .seconds(60) : .never),
        priority: CallPriority.allCases[number % 3], owner: owners[number % 100], tag: "many")
      fixture.client.start(outcomeOf: AdmissionFixture.Named(name: "\(number)"), on: .inPlace, options: options) {
        fixture.ended.append($0.told)
      }
    }
    #expect(await eventually(turns: 1_000_000) { fixture.client.admission == (1, Self.many) })
    switch reason {
    case .cancelled: fixture.client.cancel(tag: "many")
    case .expired: fixture.clock.advance(by: .seconds(60))
    }
    #expect(await eventually(turns: 1_000_000) { fixture.ended.count == Self.many })
    #expect(await eventually { fixture.client.admission == (1, 0) }, "every place in the queue is released")
    #expect(Set(fixture.ended.all) == [reason == .cancelled ? "cancelled" : "deadline"])
    await fixture.finish()
    #expect(fixture.sent.all == ["first"], "no request of a waiting call was sent")
    withExtendedLifetime(owners) {}
  }
}

/// A clock whose timers do not fire, although its time advances.
private final class LateTimers: Timers {
  private let clock = ManualClock()
  private let delay = Locked(Duration.zero)

  var now: MonotonicInstant { clock.now.advanced(by: delay.withLock { $0 }) }

  func advanceWithoutFiring(by duration: Duration) { delay.withLock { $0 += duration } }

  func schedule(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    clock.schedule(at: instant, action)
  }

  func cancel(_ token: TimerToken) { clock.cancel(token) }
}

/// An interceptor that does nothing.
private struct Passing: Interceptor {
  func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
    try await next(request)
  }
}

/// A transport that records the priority of each exchange.
private struct Watching: Transport {
  let seen: Recorded<CallPriority>
  let latch: Latch

  init(_ seen: Recorded<CallPriority>, latch: Latch) {
    self.seen = seen
    self.latch = latch
  }

  func send(_ exchange: Exchange) async throws -> HTTPResponse {
    seen.append(exchange.priority)
    try await latch.wait()
    return HTTPResponse(head: ResponseHead(status: 200), url: exchange.request.url)
  }
}
