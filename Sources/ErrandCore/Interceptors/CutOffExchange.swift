/// The facts about an exchange that the deadline of its call has cut off. They decide whether the server has failed.
/// The circuit breaker and the order of the fallback servers depend on this decision.
///
/// A deadline alone does not show that the server has failed. Perhaps the call waited for most of its time in the
/// admission queue, or the request was sent only a moment before the deadline.
struct CutOffExchange: Sendable {
  /// The time that is enough for a server to send the first byte of its response.
  static let fairTime = Duration.seconds(1)
  /// The maximum length in bytes of a request body that counts as sent at once.
  static let smallBody: Int64 = 64 << 10

  /// The time from the moment at which the request was passed to the transport until the deadline; nil if no request
  /// was sent.
  var time: Duration?
  /// The total time-out of the call; nil if it has none.
  var totalTimeout: Duration?
  /// Whether the server has sent a byte of its response.
  var hasFirstByte = false
  /// The length of the request body in bytes, which is zero for a request without a body; nil if it is not known.
  var bodyLength: Int64? = 0

  /// Whether the server has failed: it has sent no byte although it had one second, or half of the total time-out of
  /// the call if this is shorter. A server has not failed while a large body is sent to it, because the upload alone
  /// may last until the deadline.
  var isFailureOfServer: Bool {
    guard let time, !hasFirstByte, let bodyLength, bodyLength <= Self.smallBody else { return false }
    return time >= min(Self.fairTime, totalTimeout.map { $0 / 2 } ?? Self.fairTime)
  }
}

extension CutOffExchange {
  /// Whether an exchange ended with this error because the deadline of its call has passed. An interceptor of the app
  /// may have converted the error.
  static func isDeadline(_ error: any Error) -> Bool {
    switch error {
    case let stopped as CallState.Stopped: stopped.reason == .expired
    case let error as APIError: error.stage == .deadline && !APIError.hasEndedAnotherCall(error)
    default: false
    }
  }

  /// Collects the facts about the last exchange of a call. If several exchanges ran at the same time, a byte for one of
  /// them counts for all: their server has not failed.
  ///
  /// - Parameters:
  ///   - start: The moment from which the exchange could be sent. An exchange that began earlier is another one.
  ///   - now: The moment at which the exchange has ended. It may be later than the deadline, for example because an
  ///     interceptor of the app or a body sink needed time to end. This time does not count for the server.
  init(_ request: HTTPRequest, since start: MonotonicInstant, _ context: CallContext, at now: MonotonicInstant) {
    let end = context.call.deadline.map { min($0, now) } ?? now
    if let begun = context.record.begun, begun >= start { time = begun.duration(to: end) }
    totalTimeout = context.plan.sending.totalTimeout
    hasFirstByte = context.record.hasFirstByte
    if let body = request.body { bodyLength = body.length }
  }
}
