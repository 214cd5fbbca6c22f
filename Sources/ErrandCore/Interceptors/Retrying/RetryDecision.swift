/// The decision whether and when an exchange is tried again. A pure function makes the decision.
enum RetryDecision: Equatable {
  /// The result is final and is returned to the caller, for the given reason.
  case deliver(CallDecision.RetryObstacle)
  /// A new attempt starts after a delay. The attempt takes tokens, as many as `cost`, from the retry budget of the
  /// origin.
  case retry(RetryReason, after: Duration, cost: Int)

  enum Result {
    case status(Int, retryAfter: Duration?)
    case failure(TransportFailure)

    /// The status of the response; nil if no response arrived.
    var status: Int? { if case .status(let status, _) = self { status } else { nil } }

    /// Whether the attempt sent nothing that the server may have received.
    var isCertainlyNotSent: Bool { if case .failure(let failure) = self { failure.isCertainlyNotSent } else { false } }
  }

  /// The data on which the decision about a new attempt depends. The result of the last attempt is not a part of the
  /// data.
  struct Input {
    let policy: RetryPolicy
    /// Whether the request may be sent again although the server may already have processed the first attempt.
    let isIdempotent: Bool
    /// Whether the request body can be read again for another attempt.
    let isReplayable: Bool
    /// Whether a body sink has accepted a response. The bytes in the sink cannot be taken back, so the request must not
    /// be sent again.
    let isDelivered: Bool
    /// True if a stored response is served instead of this result. In this case the call makes no new attempt.
    var hasFallbackResponse: Bool
    /// The number of the attempt that has just ended. The first attempt has the number 1.
    let attempt: Int
    /// The time until the deadline; nil if the call has no deadline.
    let remaining: Duration?
    /// A random number from 0 to 1. The call waits this fraction of the maximum delay.
    let chance: Double
  }

  static func decide(_ result: Result, _ input: Input) -> RetryDecision {
    if let obstacle = obstacle(to: result, input) { return .deliver(obstacle) }
    var delay = wait(after: result, input)
    if case .status(_, let minimum?) = result {
      let limit = input.policy.longestRetryAfter
      if minimum > limit { return .deliver(.retryAfter(minimum, limit: limit)) }
      // The server sets the minimum delay by `Retry-After`. The random delay is added, so that not all clients retry at
      // the same moment.
      delay = minimum + delay
    }
    if let remaining = input.remaining, delay >= remaining { return .deliver(.deadline(wait: delay, left: remaining)) }
    return .retry(reason(for: result), after: delay, cost: cost(of: result))
  }

  /// Whether another attempt may succeed after a result: by the statuses of a policy, or by the kind of the failure.
  static func mayHelp(after result: Result, _ policy: RetryPolicy) -> Bool {
    switch result {
    case .status(let status, _): policy.statuses.contains(status)
    case .failure(let failure): failure.kind.isPassing
    }
  }

  /// The reason why another attempt is not made, apart from its delay; nil if there is no such reason.
  private static func obstacle(to result: Result, _ input: Input) -> CallDecision.RetryObstacle? {
    if !mayHelp(after: result, input.policy) {
      if case .status = result { return .status } else { return .permanent }
    }
    if !result.isCertainlyNotSent, !input.isIdempotent { return .notIdempotent }
    if input.attempt >= input.policy.attempts { return .attempts(input.policy.attempts) }
    if !input.isReplayable { return .bodyUsedUp }
    if input.isDelivered { return .delivered }
    return input.hasFallbackResponse ? .storedResponse : nil
  }

  private static func wait(after result: Result, _ input: Input) -> Duration {
    let first = isBusy(result) ? input.policy.busyDelay : input.policy.firstDelay
    let longest = first.doubled(upTo: input.policy.longestDelay, attempt: input.attempt)
    let chance = min(max(input.chance, 0), 1)
    return max(longest, .zero) * chance
  }

  private static func isBusy(_ result: Result) -> Bool {
    if case .status(let status, _) = result { status == 429 || status == 503 } else { false }
  }

  static func reason(for result: Result) -> RetryReason {
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

extension Duration {
  /// The delay after the given number of attempts: this duration, doubled with each attempt after the first, and at most
  /// `longest`.
  func doubled(upTo longest: Duration, attempt: Int) -> Duration {
    // A negative delay counts as zero. It would always be shorter than the longest delay, and be doubled until the
    // multiplication overflows.
    var delay = max(self, .zero)
    var turn = 1
    // The number of doublings is limited. Sixty doublings would already turn one nanosecond into 36 years.
    while turn < min(attempt, 60), delay < longest {
      delay *= 2
      turn += 1
    }
    return min(delay, longest)
  }
}

extension TransportFailure.Kind {
  /// Whether a new attempt may succeed after this failure. Rejected certificates, protocol errors and exceeded limits
  /// are permanent failures.
  var isPassing: Bool {
    switch self {
    case .nameLookup, .refused, .connectTimeout, .idleTimeout, .closedBeforeResponse, .reset, .truncated, .http2: true
    default: false
    }
  }
}
