/// What a response says about the next requests to its origin. A pure function makes the decision.
enum ServerPace: Sendable, Hashable {
  /// The response asks for no pause.
  case unlimited
  /// No request may start for the given time (`Retry-After`).
  case closed(Duration)
  /// At most the given number of requests may start within the given time (`RateLimit`).
  case quota(Int64, Duration)

  /// The longest time for which a response delays requests. A server cannot block an origin for longer by mistake or by
  /// intent (draft-ietf-httpapi-ratelimit-headers-11, on denial of service).
  private static let longest = Duration.seconds(3_600)

  /// Decides from the fields of a response.
  ///
  /// `Retry-After` has precedence over `RateLimit`. It counts with status 429, and with status 503 if the rate follows
  /// the server. The policy with the fewest remaining requests decides. Requests that still run may be missing in the
  /// number of the server, so they are subtracted. Policies without a time, and invalid fields, are ignored.
  ///
  /// - Parameters:
  ///   - running: The number of other exchanges that run with the origin.
  ///   - followsServer: Whether the rate of the host follows the server, see ``HostRate/followsServer``.
  static func decide(
    _ status: Int, _ fields: HTTPFields, running: Int, followsServer: Bool
  ) -> ServerPace {
    if status == 429 || status == 503 && followsServer, let delay = RetryAfter.delay(in: fields) {
      return .closed(min(delay, longest))
    }
    guard followsServer, let (remaining, reset) = strictest(fields) else { return .unlimited }
    return .quota(max(remaining - Int64(max(running, 0)), 0), .seconds(reset))
  }

  /// The policy with the fewest remaining requests: this number, and the seconds until it is reset. Of policies with
  /// equal numbers it is the one that is reset last.
  private static func strictest(_ fields: HTTPFields) -> (remaining: Int64, reset: Int64)? {
    let lines = fields.values(of: "RateLimit")
    guard !lines.isEmpty, let policies = try? StructuredField.list(lines) else { return nil }
    return policies.compactMap(limit).min { ($0.remaining, -$0.reset) < ($1.remaining, -$1.reset) }
  }

  private static func limit(_ member: StructuredField.Member) -> (remaining: Int64, reset: Int64)? {
    guard let item = member.item, case .integer(let remaining)? = item.parameters["r"],
      case .integer(let reset)? = item.parameters["t"], remaining >= 0, reset >= 0
    else { return nil }
    switch item.value {
    case .string, .token: return (remaining, min(reset, longest.components.seconds))
    default: return nil
    }
  }
}
