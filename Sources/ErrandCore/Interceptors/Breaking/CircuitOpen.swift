/// The cause of an error with the code ``APIError/Code/circuitOpen``.
public struct CircuitOpen: Error, Sendable, Hashable, CustomStringConvertible {
  /// The origin that keeps failing.
  public let origin: HTTPURL.Origin
  /// How long calls are refused at most; some are let through earlier where it turns out to be well.
  public let timeLeft: Duration

  /// Origin and time.
  public var description: String { "\(origin) fails too often, and is left alone for \(timeLeft) at most" }
}

extension APIError {
  static func circuitOpen(_ origin: HTTPURL.Origin, for timeLeft: Duration) -> APIError {
    let seconds = (max(timeLeft.clampedNanoseconds, 1) - 1) / 1_000_000_000 + 1
    return APIError(
      .admission, .circuitOpen,
      "Too many of the last calls to \(origin) failed, so the request was not sent; "
        + "calls go there again in \(seconds) \(seconds == 1 ? "second" : "seconds") at most.",
      cause: CircuitOpen(origin: origin, timeLeft: timeLeft))
  }
}
