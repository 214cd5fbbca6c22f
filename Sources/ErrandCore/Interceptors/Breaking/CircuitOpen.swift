/// The cause of an error with the code ``APIError/Code/circuitOpen``.
public struct CircuitOpen: Error, Sendable, Hashable, CustomStringConvertible {
  /// The origin that keeps failing.
  public let origin: HTTPURL.Origin
  /// The longest time for which further calls are rejected. The rejections end earlier if test requests show that the
  /// origin has recovered.
  public let timeLeft: Duration

  /// The reason for the rejection as a part of a sentence. The text contains the origin and the remaining time.
  public var description: String {
    "too many calls to \(origin) failed; new calls are rejected for at most \(timeLeft)"
  }
}

extension APIError {
  static func circuitOpen(_ origin: HTTPURL.Origin, for timeLeft: Duration) -> APIError {
    let seconds = (max(timeLeft.clampedNanoseconds, 1) - 1) / 1_000_000_000 + 1
    return APIError(
      .admission, .circuitOpen,
      "Too many of the last calls to \(origin) failed, so the request was not sent; "
        + "the origin is tried again in at most \(seconds) \(seconds == 1 ? "second" : "seconds").",
      cause: CircuitOpen(origin: origin, timeLeft: timeLeft))
  }
}
