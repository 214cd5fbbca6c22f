extension CallDecision: CustomStringConvertible {
  /// The decision and the inputs that settled it, as one sentence without a capital letter and a full stop.
  public var description: String { Redaction.visible(sentence) }

  private var sentence: String {
    switch self {
    case .cache(let step): step.sentence
    case .joined(let call): "joined the exchange of call \(call)"
    case .notJoined(let obstacle): "shared no exchange: \(obstacle.clause)"
    case .waited(let time, let shortage): "waited \(Self.text(time)): \(shortage.clause)"
    case .retried(let reason, let attempt, let most, let delay):
      "retried \(delay > .zero ? "after \(Self.text(delay))" : "at once"): \(reason), attempt \(attempt) of \(most)"
    case .notRetried(let reason, let method, let obstacle):
      "not retried after \(reason): \(obstacle.clause(method))"
    case .circuitOpen(let origin, let time):
      "rejected by the circuit breaker: too many calls to \(origin) failed; "
        + "it tries again in at most \(Self.text(time))"
    case .refreshed(let cause, let result): result.sentence(cause)
    case .redirected(let redirect): redirect.sentence
    case .notRedirected(let status, let reason): "redirect with status \(status) not followed: \(reason)"
    case .failedOver(let reason, let old, let new): "sent to \(new) instead: \(old) failed (\(reason))"
    case .hedged(let delay): "sent a second time in parallel: no response within \(Self.text(delay))"
    case .notHedged(let delay, let origin):
      "not sent a second time: no response within \(Self.text(delay)), but the retry budget of \(origin) is used up"
    case .sentAgain(let interceptor): "sent again by the interceptor \(interceptor)"
    case .download(let step): step.sentence
    case .sent(let route): route.sentence
    case .deadlinePassed(let limit):
      limit.map { "stopped: the total time-out of \(Self.text($0)) passed" }
        ?? "stopped: the deadline of the group passed"
    case .cancelled(let message): "cancelled" + (message.map { ": \($0)" } ?? " by the app")
    }
  }

  /// A duration in the largest unit that keeps three digits, such as `420 ms` or `1.5 s`.
  static func text(_ duration: Duration) -> String {
    let microseconds = duration.clampedNanoseconds / 1_000
    return switch microseconds.magnitude {
    case ..<1_000: "\(microseconds) µs"
    case ..<10_000: "\(decimal(microseconds / 100)) ms"
    case ..<1_000_000: "\(microseconds / 1_000) ms"
    default: "\(decimal(microseconds / 100_000)) s"
    }
  }

  /// A number of tenths as a decimal number, without a zero after the point.
  private static func decimal(_ tenths: Int64) -> String {
    tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\((tenths % 10).magnitude)"
  }
}

extension CallDecision.CacheStep {
  fileprivate var sentence: String {
    switch self {
    case .served(let rule, let age, let refresh): rule.sentence(age) + refresh.clause
    case .validating(let age): "asked the server whether the stored response is still valid: \(age.clause)"
    case .revalidated(let time): "served from the cache after status 304" + Self.fresh(time)
    case .notServed(_, let reason): "not served from the cache: \(reason)"
    case .stored(let time): "stored in the cache" + Self.fresh(time)
    case .notStored(let reason): "not stored in the cache: \(reason)"
    }
  }

  private static func fresh(_ time: Duration?) -> String {
    guard let time else { return "" }
    return time > .zero ? ": fresh for \(CallDecision.text(time))" : ": stale from the start"
  }
}

extension CallDecision.ServingRule {
  fileprivate func sentence(_ age: CallDecision.StoredAge) -> String {
    switch self {
    case .fresh: "served fresh from the cache: \(age.clause)"
    case .staleWhileRevalidate(let limit): "served stale: \(age.clause), \(Self.limit("stale-while-revalidate", limit))"
    case .maxStale(let limit): "served stale: \(age.clause), \(Self.limit("max-stale of the request", limit))"
    case .withoutValidation: "served without the validation that no-cache requires, as the call wants: \(age.clause)"
    case .anyAge: "served stale, as the call accepts any age: \(age.clause)"
    case .staleIfError: "served stale, because the server failed: \(age.clause)"
    }
  }

  private static func limit(_ name: String, _ limit: Duration?) -> String {
    limit.map { "\(name) \(CallDecision.text($0))" } ?? name
  }
}

extension CallDecision.StoredAge {
  fileprivate var clause: String {
    let old = age.map { "\(CallDecision.text($0)) old" } ?? "age unknown"
    return switch source {
    case .response: "\(old), max-age \(CallDecision.text(lifetime))"
    case .lastModified: "\(old), lifetime \(CallDecision.text(lifetime)) by Last-Modified"
    case .request: "\(old), lifetime \(CallDecision.text(lifetime)) by the request"
    case .unknown: "\(old), without a lifetime"
    }
  }
}

extension CallDecision.BackgroundRefresh {
  fileprivate var clause: String {
    switch self {
    case .none: ""
    case .started: "; refresh started"
    case .notStarted: "; no refresh started, because one is running or failed recently"
    }
  }
}

extension CallDecision.JoinObstacle {
  fileprivate var clause: String {
    switch self {
    case .streamedBody: "the request body is streamed"
    case .insideProvider: "a credential provider sent the call"
    case .insideExchange: "an exchange interceptor sent the call"
    case .unknownAccount: "the response may belong to another account"
    }
  }
}

extension CallDecision.AdmissionShortage {
  fileprivate var clause: String {
    switch self {
    case .host(let origin, let taken, let limit, let calls):
      "\(taken) of \(limit) places at \(origin.host) were taken" + Self.takers(calls)
    case .total(let taken, let limit, let calls):
      "\(taken) of \(limit) places of the client were taken" + Self.takers(calls)
    case .rate(let origin): "the rate limit of \(origin.host) was reached"
    case .queue(let origin, 0): "a place at \(origin.host) became free only after the call had asked for it"
    case .queue(let origin, let ahead): "\(ahead == 1 ? "1 call" : "\(ahead) calls") to \(origin.host) waited already"
    }
  }

  private static func takers(_ calls: [UInt64]) -> String {
    let shown = calls.prefix(3).map(String.init).joined(separator: ", ")
    if calls.isEmpty { return "" }
    return calls.count == 1 ? " by call \(shown)" : " by calls \(shown)" + (calls.count > 3 ? " …" : "")
  }
}

extension CallDecision.RetryObstacle {
  fileprivate func clause(_ method: HTTPMethod) -> String {
    switch self {
    case .policy: "the retry policy is `.none`"
    case .status: "the retry policy does not list this status"
    case .permanent: "another attempt would fail in the same way"
    case .notIdempotent where method.isIdempotent:
      "the server may have processed the \(method.rawValue) request, and its `idempotency` is `.never`"
    case .notIdempotent: "the server may have processed the \(method.rawValue) request, and it has no idempotency key"
    case .attempts(let most): most == 1 ? "the retry policy allows one attempt" : "all \(most) attempts are used"
    case .bodyUsedUp: "the request body cannot be sent again"
    case .delivered: "a part of the response was already delivered"
    case .storedResponse: "a stored response can be served instead"
    case .retryAfter(let wait, let limit):
      "Retry-After asks for \(CallDecision.text(wait)), more than the limit of \(CallDecision.text(limit))"
    case .deadline(let wait, let left):
      "the wait of \(CallDecision.text(wait)) would not end before the deadline in \(CallDecision.text(left))"
    case .budget(let origin): "the retry budget of \(origin) is used up"
    }
  }
}

extension CallDecision.RefreshResult {
  fileprivate func sentence(_ cause: CallDecision.RefreshCause) -> String {
    let why =
      switch cause {
      case .rejected: "status 401"
      case .rejectedInBody: "a response rejected it"
      case .expiring: "it expires soon"
      }
    return switch self {
    case .refreshed: "refreshed the credential: \(why)"
    case .waited: "used the credential that another call refreshed: \(why)"
    case .alreadyNewer: "used a credential that was refreshed in the meantime: \(why)"
    case .failed(let message): "could not refresh the credential after \(why): \(message)"
    case .refreshedBefore: "credential not refreshed after \(why): this call has refreshed it before"
    case .notPossible: "credential not refreshed after \(why): no provider can refresh the credential of this request"
    case .bodyUsedUp: "credential not refreshed after \(why): the request body cannot be sent again"
    case .delivered: "credential not refreshed after \(why): a part of the response was already delivered"
    case .refused: "credential not refreshed after \(why): no newer credential is available"
    }
  }
}

extension CallDecision.Redirect {
  fileprivate var sentence: String {
    "followed the redirect with status \(status) to \(target)"
      + (method == newMethod ? "" : ", as \(newMethod.rawValue) instead of \(method.rawValue)")
      + (removesSecrets ? ", without credentials" : "")
  }
}

extension CallDecision.DownloadStep {
  fileprivate var sentence: String {
    switch self {
    case .resumed(let start, let total?): "resumed the download at byte \(start) of \(total)"
    case .resumed(let start, nil): "resumed the download at byte \(start)"
    case .whole(let reason): "requested the whole file: \(reason)"
    case .startedOver(let reason): "started the download again from the beginning: \(reason)"
    case .existing(let bytes): "requested nothing: the existing file of \(bytes) bytes counts as the download"
    }
  }
}

extension CallDecision.Route {
  fileprivate var sentence: String {
    let why =
      switch choice {
      case .platform: "the transport of the platform"
      case .named(let name): "the configuration names \"\(name)\""
      case .configured: "set in the configuration"
      }
    let connection = isConnectionReused.map { $0 ? " on a reused connection" : " on a new connection" } ?? ""
    return "sent by \(transport) (\(why))" + connection + (address.map { " to \($0)" } ?? "")
  }
}
