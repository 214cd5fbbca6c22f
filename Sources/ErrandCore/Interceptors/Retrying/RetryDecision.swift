/// The decision whether an exchange is tried again, and when. It is made by a pure function.
enum RetryDecision: Equatable {
  /// The result is final.
  case deliver
  /// A new attempt starts after a delay and costs tokens of the origin's budget.
  case retry(RetryReason, after: Duration, cost: Int)

  /// The result of an attempt.
  enum Result {
    case status(Int, retryAfter: Duration?)
    case failure(TransportFailure)
  }

  /// The input of the decision in addition to the result of the attempt.
  struct Question {
    let policy: RetryPolicy
    /// Whether the request may be sent again although the server may have processed it.
    let isIdempotent: Bool
    /// Whether the body can be read again.
    let isReplayable: Bool
    /// Whether bytes of a response were delivered and cannot be taken back.
    let isDelivered: Bool
    /// True if a stored response may be served instead of a failure. Then the call makes no new attempt.
    var hasStandIn: Bool
    /// The number of the attempt that ended, from 1.
    let attempt: Int
    /// The time until the deadline; nil if the call has no deadline.
    let remaining: Duration?
    /// A random number from 0 to 1: the part of the maximum delay that the call waits.
    let chance: Double
  }

  static func decide(_ result: Result, _ question: Question) -> RetryDecision {
    guard question.attempt < question.policy.attempts, question.isReplayable, !question.isDelivered,
      !question.hasStandIn, mayHelp(result, question)
    else { return .deliver }
    var delay = wait(after: result, question)
    if case .status(_, let minimum?) = result {
      if minimum > question.policy.longestRetryAfter { return .deliver }
      // `Retry-After` is a minimum; the jitter keeps clients from retrying all at the same moment.
      delay = minimum + delay
    }
    if let remaining = question.remaining, delay >= remaining { return .deliver }
    return .retry(reason(for: result), after: delay, cost: cost(of: result))
  }

  private static func mayHelp(_ result: Result, _ question: Question) -> Bool {
    switch result {
    case .status(let status, _): question.isIdempotent && question.policy.statuses.contains(status)
    case .failure(let failure):
      failure.kind.isPassing && (failure.isCertainlyNotSent || question.isIdempotent)
    }
  }

  private static func wait(after result: Result, _ question: Question) -> Duration {
    var longest = isBusy(result) ? question.policy.busyDelay : question.policy.firstDelay
    var turn = 1
    // More doublings are never needed: sixty of them turn one nanosecond into 36 years.
    while turn < min(question.attempt, 60), longest < question.policy.longestDelay {
      longest *= 2
      turn += 1
    }
    let chance = min(max(question.chance, 0), 1)
    return max(min(longest, question.policy.longestDelay), .zero) * chance
  }

  private static func isBusy(_ result: Result) -> Bool {
    if case .status(let status, _) = result { status == 429 || status == 503 } else { false }
  }

  private static func reason(for result: Result) -> RetryReason {
    switch result {
    case .status(let status, _): .status(status)
    case .failure(let failure): .failure(failure.kind)
    }
  }

  private static func cost(of result: Result) -> Int {
    guard case .failure(let failure) = result else { return RetryBudget.price }
    let isTimeout = failure.kind == .connectTimeout || failure.kind == .idleTimeout
    return isTimeout ? RetryBudget.timeoutPrice : RetryBudget.price
  }
}

extension TransportFailure.Kind {
  /// Whether a new attempt may succeed. Rejected certificates, protocol errors and exceeded limits are permanent.
  var isPassing: Bool {
    switch self {
    case .nameLookup, .refused, .connectTimeout, .idleTimeout, .closedBeforeResponse, .reset, .truncated, .http2: true
    default: false
    }
  }
}
