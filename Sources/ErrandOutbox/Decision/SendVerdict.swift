import ErrandCore

/// The consequence of an attempt for its entry.
enum SendVerdict: Sendable, Equatable {
  /// The server accepted the request.
  case delivered
  /// Another attempt may succeed.
  case retry(Retry)
  /// The server rejected the request for good, or the request cannot be sent.
  case rejected(OutboxReason, mayHaveBeenCarriedOut: Bool = false)
  /// The app must decide.
  case parked(OutboxReason, mayHaveBeenCarriedOut: Bool = false)
  /// The state on the server does not fit the request. The app may resolve the conflict.
  case conflict(OutboxReason, mayHaveBeenCarriedOut: Bool = false)

  /// The conditions of another attempt.
  struct Retry: Sendable, Equatable {
    var reason: OutboxReason
    /// Whether the server may have carried out the request.
    var mayHaveBeenCarriedOut: Bool
    /// Whether the attempt counts for the limit of attempts.
    var counts: Bool
    /// The shortest wait that the server asks for, in milliseconds.
    var after: Int64?
  }
}

/// The result of a call, as far as the outbox decides by it.
struct SendResult: Sendable, Equatable {
  /// Nil if the call succeeded.
  var stage: APIError.Stage?
  var code: APIError.Code = .other
  var message = ""
  var status: Int?
  /// `Retry-After` in milliseconds; nil if the response does not ask for a wait.
  var retryAfter: Int64?
  /// Whether the call sent nothing that the server may have received.
  var isCertainlyNotSent = false
  /// Whether the server may have carried out an earlier exchange of the call, before the last one.
  var hadUnclearExchange = false
  /// Whether the server responded to an exchange of the call with 301, 302 or 303. Servers respond so to a request that
  /// they have carried out, and the next request then reads the result (RFC 9110 section 15.4.4).
  var wasRedirected = false
  /// Whether the response rejects the credential, although its status is not 401.
  var rejectsCredential = false
  /// Whether the fate of an earlier attempt of the entry is unknown.
  var hadUnknownFate = false

  /// Whether the server may know the key from an earlier exchange, of this call or of an earlier attempt.
  var isRepetition: Bool { hadUnknownFate || hadUnclearExchange }

  init() {}

  init<Value: Sendable>(_ outcome: Outcome<Value>, hadUnknownFate: Bool, isSealed: Bool = false) {
    self.hadUnknownFate = hadUnknownFate
    guard let error = outcome.error else { return }
    (stage, code, status) = (error.stage, error.code, error.status)
    // The response to a call that an interceptor sent says nothing about the request of the entry. The stop of such a
    // call does: usually the call of the entry was stopped, for example because the outbox closes.
    if error.isOfAnotherCall, error.stage != .cancelled { (stage, code, status) = (.interceptor, .interceptor, nil) }
    message = isSealed ? ErrorText.of(error, isSealed: true) : error.message
    retryAfter = error.response.flatMap { RetryAfter.delay(in: $0.fields) }.map { $0.clampedNanoseconds / 1_000_000 }
    rejectsCredential = error.response?.rejectsCredential == true
    wasRedirected = outcome.metrics.exchanges.contains { 301...303 ~= $0.status ?? 0 }
    let wasRepeated = outcome.metrics.retries.contains { retry in
      if case .status(let status) = retry.reason { status >= 500 } else { !retry.isCertainlyNotSent }
    }
    hadUnclearExchange = wasRepeated || wasRedirected
    let unsent = outcome.metrics.retries.count(where: \.isCertainlyNotSent)
    let failure = error.isOfAnotherCall ? nil : TransportFailure.behind(error)
    let isNotSent = failure?.isCertainlyNotSent ?? (outcome.metrics.attempts <= unsent)
    isCertainlyNotSent = isNotSent && !hadUnclearExchange
  }
}

extension SendVerdict {
  /// Statuses with which a server reports that another attempt may succeed, and that it has not carried out the
  /// request.
  private static let notNow: Set<Int> = [408, 425, 429]

  /// Decides about the result of a call.
  init(_ result: SendResult) {
    guard let stage = result.stage else {
      self = .delivered
      return
    }
    switch stage {
    case .build: self = Self.rejected(.build, result)
    case .validate where result.rejectsCredential:
      self = Self.retry(.login, result, counts: false, carriesOut: false)
    case .validate where result.code == .status: self = Self.verdict(onStatus: result.status ?? 0, result)
    case .validate where result.code == .business:
      self = Self.rejected(.status, result)
    case .validate, .decode: self = Self.rejected(.response, result, carriesOut: true)
    case .authorize: self = Self.retry(.login, result, counts: false, carriesOut: false)
    case .admission: self = Self.retry(.offline, result, counts: false)
    case .transport where result.isCertainlyNotSent && Self.mayPass(result.code):
      self = Self.retry(.offline, result, counts: false)
    // URLSession does not show whether a request without a body was sent before the network ended.
    case .transport where result.code == .offline: self = Self.retry(.offline, result, counts: false)
    case .cancelled where result.code == .loggedOut: self = Self.retry(.login, result, counts: false)
    case .cancelled: self = Self.retry(.interrupted, result, counts: false)
    // The call waited too long before it could be sent.
    case .deadline where result.isCertainlyNotSent: self = Self.retry(.offline, result, counts: false)
    case .deadline, .interceptor: self = Self.retry(.failure, result, counts: !result.isCertainlyNotSent)
    case .transport: self = Self.retry(.failure, result, counts: true)
    case .redirect, .cache, .transfer, .group:
      self = Self.rejected(.failure, result, carriesOut: !result.isCertainlyNotSent)
    }
  }

  /// - Parameter carriesOut: Whether the server may have carried out the last exchange.
  private static func rejected(
    _ code: OutboxReason.Code, _ result: SendResult, carriesOut: Bool = false
  ) -> SendVerdict {
    .rejected(
      OutboxReason(code, result.message, status: result.status),
      mayHaveBeenCarriedOut: carriesOut || result.hadUnclearExchange)
  }

  private static func verdict(onStatus status: Int, _ result: SendResult) -> SendVerdict {
    switch status {
    case 401: return retry(.login, result, counts: false, carriesOut: false)
    // Only the result of the request could not be read.
    case 300..<500 where result.wasRedirected && !notNow.contains(status):
      return rejected(.response, result, carriesOut: true)
    case 409 where result.retryAfter != nil || result.isRepetition:
      return retry(.inProgress, result, counts: true, carriesOut: false)
    case 409, 412:
      return .conflict(
        OutboxReason(.conflict, result.message, status: status), mayHaveBeenCarriedOut: result.hadUnclearExchange)
    case 422 where result.isRepetition:
      return .parked(
        OutboxReason(.keyMismatch, result.message, status: status), mayHaveBeenCarriedOut: result.hadUnclearExchange)
    case _ where notNow.contains(status): return retry(.status, result, counts: true, carriesOut: false)
    case 500...: return retry(.status, result, counts: true)
    default: return rejected(.status, result)
    }
  }

  /// - Parameter carriesOut: False if the server has certainly not carried out the last exchange. Nil if that depends
  ///   on whether the request was sent.
  private static func retry(
    _ code: OutboxReason.Code, _ result: SendResult, counts: Bool, carriesOut: Bool? = nil
  ) -> SendVerdict {
    .retry(
      Retry(
        reason: OutboxReason(code, result.message, status: result.status),
        mayHaveBeenCarriedOut: result.hadUnclearExchange || carriesOut ?? !result.isCertainlyNotSent, counts: counts,
        after: result.retryAfter))
  }

  /// Whether a failure before the request was sent may pass by itself, as if the device were offline. The code `proxy`
  /// includes a failed lookup of the proxy's name and a refused connection to the proxy. URLSession reports a server
  /// that does not answer as `idleTimeout`.
  private static func mayPass(_ code: APIError.Code) -> Bool {
    [
      .offline, .nameLookup, .refused, .connectTimeout, .idleTimeout, .proxy, .closedBeforeResponse, .reset, .http2,
    ].contains(code)
  }
}
