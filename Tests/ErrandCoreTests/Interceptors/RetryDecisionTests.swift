@testable import ErrandCore
import Testing

/// The rules for repeating an exchange, one row for each.
struct RetryDecisionTests {
  private typealias Kind = TransportFailure.Kind

  private func input(
    _ policy: RetryPolicy = .standard, isIdempotent: Bool = true, isReplayable: Bool = true,
    isDelivered: Bool = false, hasFallbackResponse: Bool = false, attempt: Int = 1, remaining: Duration? = nil,
    chance: Double = 1
  ) -> RetryDecision.Input {
    RetryDecision.Input(
      policy: policy, isIdempotent: isIdempotent, isReplayable: isReplayable, isDelivered: isDelivered,
      hasFallbackResponse: hasFallbackResponse, attempt: attempt, remaining: remaining, chance: chance)
  }

  private func failure(_ kind: Kind, isCertainlyNotSent: Bool = false) -> RetryDecision.Result {
    .failure(TransportFailure(kind, "It failed.", isCertainlyNotSent: isCertainlyNotSent))
  }

  private func retries(_ result: RetryDecision.Result, _ input: RetryDecision.Input) -> Bool {
    if case .retry = RetryDecision.decide(result, input) { true } else { false }
  }

  @Test(arguments: [
    (200, false), (304, false), (400, false), (401, false), (404, false), (408, true), (409, false), (425, false),
    (429, true), (500, false), (501, false), (502, true), (503, true), (504, true), (505, false),
  ])
  func `only configured statuses are retried`(status: Int, isRetried: Bool) {
    let result = RetryDecision.Result.status(status, retryAfter: nil)
    #expect(retries(result, input()) == isRetried)
    #expect(!retries(result, input(isIdempotent: false)), "the server may have processed the request")
    #expect(!retries(result, input(RetryPolicy(statuses: []))))
  }

  @Test(arguments: [
    (Kind.nameLookup, true), (.refused, true), (.connectTimeout, true), (.idleTimeout, true),
    (.closedBeforeResponse, true), (.reset, true), (.truncated, true), (.http2, true), (.offline, false),
    (.tls, false), (.proxy, false), (.malformedResponse, false), (.tooLarge, false), (.undecodableContent, false),
    (.sink, false), (.bodySource, false), (.bodyChanged, false), (.unsupported, false), (.other, false),
  ])
  func `only transient failures are retried`(kind: TransportFailure.Kind, isRetried: Bool) {
    #expect(retries(failure(kind), input()) == isRetried)
    #expect(!retries(failure(kind), input(isIdempotent: false)))
    #expect(retries(failure(kind, isCertainlyNotSent: true), input(isIdempotent: false)) == isRetried)
  }

  @Test(arguments: [(1, true), (2, true), (3, false), (4, false)])
  func `number of attempts is limited`(attempt: Int, isRetried: Bool) {
    #expect(retries(failure(.reset), input(attempt: attempt)) == isRetried)
    #expect(!retries(failure(.reset), input(.none, attempt: attempt)))
  }

  @Test func `delivered or one-shot exchange is not retried`() {
    #expect(!retries(failure(.reset), input(isDelivered: true)))
    #expect(!retries(failure(.refused, isCertainlyNotSent: true), input(isReplayable: false)))
    #expect(
      !retries(.status(503, retryAfter: nil), input(hasFallbackResponse: true)),
      "a stored response is served immediately")
  }

  @Test(arguments: [
    (1, 1.0, Duration.milliseconds(100)), (2, 1.0, .milliseconds(200)), (3, 1.0, .milliseconds(400)),
    (8, 1.0, .milliseconds(12_800)), (9, 1.0, .seconds(20)), (60, 1.0, .seconds(20)), (3, 0.5, .milliseconds(200)),
    (3, 0, .zero), (3, -1, .zero), (3, 7, .milliseconds(400)),
  ])
  func `delays double up to the longest`(attempt: Int, chance: Double, delay: Duration) {
    let decision = RetryDecision.decide(
      failure(.reset), input(RetryPolicy(attempts: 100), attempt: attempt, chance: chance))
    #expect(decision == .retry(.failure(.reset), after: delay, cost: 5))
  }

  @Test(arguments: [(408, Duration.milliseconds(100)), (429, .milliseconds(500)), (503, .milliseconds(500))])
  func `busy servers get a longer delay`(status: Int, delay: Duration) {
    #expect(
      RetryDecision.decide(.status(status, retryAfter: nil), input())
        == .retry(.status(status), after: delay, cost: 5))
  }

  @Test(
    arguments: [
      (0, 0.0, Duration.zero), (2, 0, .seconds(2)), (2, 1, .milliseconds(2_500)), (60, 0, .seconds(60)),
      (61, 0, nil), (3_000_000_000, 0, nil),
    ] as [(Int, Double, Duration?)])
  func `Retry-After is used as a minimum`(seconds: Int, chance: Double, delay: Duration?) {
    let decision = RetryDecision.decide(.status(503, retryAfter: .seconds(seconds)), input(chance: chance))
    let refused = RetryDecision.deliver(.retryAfter(.seconds(seconds), limit: .seconds(60)))
    #expect(decision == delay.map { .retry(.status(503), after: $0, cost: 5) } ?? refused)
  }

  @Test func `refusal names its reason`() {
    let busy = RetryDecision.Result.status(503, retryAfter: nil)
    let table: [(RetryDecision.Result, RetryDecision.Input, CallDecision.RetryObstacle)] = [
      (.status(404, retryAfter: nil), input(), .status), (failure(.tls), input(), .permanent),
      (busy, input(isIdempotent: false), .notIdempotent), (busy, input(attempt: 3), .attempts(3)),
      (busy, input(isReplayable: false), .bodyUsedUp), (busy, input(isDelivered: true), .delivered),
      (busy, input(hasFallbackResponse: true), .storedResponse),
      (busy, input(remaining: .zero), .deadline(wait: .milliseconds(500), left: .zero)),
    ]
    for (result, input, obstacle) in table { #expect(RetryDecision.decide(result, input) == .deliver(obstacle)) }
  }

  @Test(arguments: [(Duration.milliseconds(101), true), (.milliseconds(100), false), (.zero, false)])
  func `no retry waits past the deadline`(remaining: Duration, isRetried: Bool) {
    #expect(retries(failure(.reset), input(remaining: remaining)) == isRetried)
  }

  @Test(arguments: [(Kind.connectTimeout, 10), (.idleTimeout, 10), (.refused, 5)])
  func `time-outs cost more budget`(kind: TransportFailure.Kind, cost: Int) {
    #expect(
      RetryDecision.decide(failure(kind), input(chance: 0)) == .retry(.failure(kind), after: .zero, cost: cost))
  }

  @Test(arguments: [Duration.seconds(Int64.min), .seconds(-5), .zero, .seconds(Int64.max)])
  func `extreme delays are clamped`(delay: Duration) {
    let policy = RetryPolicy(attempts: 99, firstDelay: delay, busyDelay: delay, longestDelay: .seconds(1))
    guard case .retry(_, let waited, _) = RetryDecision.decide(failure(.reset), input(policy, attempt: 60)) else {
      Issue.record("the exchange is not retried")
      return
    }
    #expect(waited >= .zero && waited <= .seconds(1))
  }

  @Test(arguments: [
    (Idempotency.byMethod, "GET", true), (.byMethod, "HEAD", true), (.byMethod, "OPTIONS", true),
    (.byMethod, "TRACE", true), (.byMethod, "PUT", true), (.byMethod, "DELETE", true), (.byMethod, "POST", false),
    (.byMethod, "QUERY", true), (.byMethod, "PATCH", false), (.byMethod, "get", false), (.byMethod, "BREW", false),
    (.assumed, "POST", true), (.keyed(), "POST", true), (.never, "GET", false),
  ])
  func `idempotency decides about repetition`(idempotency: Idempotency, method: String, isAllowed: Bool) {
    #expect(idempotency.allows(HTTPMethod(method)) == isAllowed)
  }
}

/// The retry budget of one origin.
struct RetryBudgetTests {
  @Test func `retries spend the budget`() {
    var budget = RetryBudget()
    let paid = (0..<101).map { _ in budget.pay(RetryBudget.price) }
    #expect(paid == Array(repeating: true, count: 100) + [false])
    #expect(budget.tokens == 0)
  }

  @Test func `success refills the budget`() {
    var budget = RetryBudget()
    let isPaid = budget.pay(RetryBudget.timeoutPrice)
    #expect(isPaid && budget.tokens == 490)
    budget.succeed(paid: RetryBudget.price)
    #expect(budget.tokens == 495)
    for _ in 0..<4 { budget.succeed(paid: 0) }
    #expect(budget.tokens == 499 && !budget.isFull)
    budget.succeed(paid: 0)
    budget.succeed(paid: 0)
    #expect(budget.isFull, "the budget never exceeds its maximum")
  }

  @Test func `resumed transfers pay like retries`() {
    let control = RetryControl()
    let origin = HTTPURL.Origin.test("http://red.example")
    #expect(control.payForResume(.failure(.idleTimeout), at: origin) == 10)
    #expect(control.payForResume(.failure(.reset), at: origin) == 5)
    #expect(control.pay(485, at: origin))
    #expect(control.payForResume(.failure(.reset), at: origin) == nil)
  }

  @Test func `each origin has its own budget`() {
    let control = RetryControl()
    let (red, blue) = (HTTPURL.Origin.test("http://red.example"), HTTPURL.Origin.test("http://blue.example"))
    #expect(control.pay(500, at: red))
    #expect(!control.pay(1, at: red))
    #expect(control.pay(1, at: blue))
    control.succeed(paid: 0, at: red)
    #expect(control.pay(1, at: red))
  }

  @Test func `answering origin is credited`() {
    let control = RetryControl()
    let (base, other) = (HTTPURL.Origin.test("http://red.example"), HTTPURL.Origin.test("http://blue.example"))
    #expect(control.pay(500, at: base) && control.pay(500, at: other))
    control.succeed(paid: 0, at: base, servedBy: other)
    #expect(!control.pay(1, at: base) && control.pay(1, at: other))
    control.succeed(paid: 5, at: base, servedBy: other)
    #expect(control.pay(5, at: base) && control.pay(1, at: other) && !control.pay(1, at: other))
    control.succeed(paid: 0, at: base, servedBy: base)
    #expect(control.pay(1, at: base) && !control.pay(1, at: base))
  }

  @Test func `spent budget survives many origins`() {
    let control = RetryControl()
    let spent = HTTPURL.Origin.test("http://spent.example")
    #expect(control.pay(500, at: spent))
    for number in 0..<1_000 { #expect(control.pay(5, at: .test("http://h\(number).example"))) }
    #expect(control.budgetCount == RetryControl.mostOrigins && !control.pay(1, at: spent))
  }
}
