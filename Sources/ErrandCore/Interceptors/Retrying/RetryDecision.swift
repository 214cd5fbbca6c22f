/// Whether an exchange is tried again, and when. A function of values; nothing is counted or waited for here.
enum RetryDecision: Equatable {
  /// What came is the end of it.
  case deliver
  /// After a wait, which costs so many tokens of the host's budget.
  case retry(RetryReason, after: Duration, cost: Int)

  /// What an attempt came to.
  enum Result {
    case status(Int, retryAfter: Duration?)
    case failure(TransportFailure)
  }

  /// What is known of a call beside the result.
  struct Question {
    let policy: RetryPolicy
    /// Whether it may be sent again though the server may have seen it.
    let isIdempotent: Bool
    /// Whether its body can be read once more.
    let isReplayable: Bool
    /// Whether bytes of an answer have gone where they cannot be taken back.
    let isDelivered: Bool
    /// Whether a stored answer may be served in place of a failure: then nobody waits.
    var hasStandIn: Bool
    /// The number of the attempt that ended, from 1.
    let attempt: Int
    /// The time left to the deadline; nil without one.
    let remaining: Duration?
    /// Where between nothing and the longest wait this one lies, from 0 to 1.
    let chance: Double
  }

  /// Decides.
  static func decide(_ result: Result, _ question: Question) -> RetryDecision {
    guard question.attempt < question.policy.attempts, question.isReplayable, !question.isDelivered,
      !question.hasStandIn, mayHelp(result, question)
    else { return .deliver }
    var delay = wait(after: result, question)
    if case .status(_, let told?) = result {
      if told > question.policy.longestRetryAfter { return .deliver }
      // Never sooner than told, and not all together.
      delay = told + delay
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
    // Sixty doublings make years of a nanosecond.
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
  /// Whether it may be gone at the next try. Refused certificates, broken rules and limits stay.
  var isPassing: Bool {
    switch self {
    case .nameLookup, .refused, .connectTimeout, .idleTimeout, .closedBeforeResponse, .reset, .truncated, .http2: true
    default: false
    }
  }
}
