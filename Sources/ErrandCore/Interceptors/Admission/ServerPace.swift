/// What a response says about the next requests to its origin. A pure function makes the decision.
enum ServerPace: Sendable, Hashable {
  /// No request may start for the given time (`Retry-After`).
  case closed(Duration)
  /// What the policies that the response names still allow (`RateLimit`); empty if the response names no policy. The
  /// flag is true if the server refused the request because of its load.
  case limits([Limit], isRefused: Bool)

  /// A policy of a server: its name, and the partition of the quota that counts the request, such as one user.
  struct Policy: Sendable, Hashable {
    let name: String
    let partition: StructuredField.Value?
  }

  /// What one policy still allows: a number of requests until its reset.
  struct Limit: Sendable, Hashable {
    let policy: Policy
    let remaining: Int64
    /// The time from the response to the reset.
    let reset: Duration
  }

  /// The longest time for which a response delays requests. A server cannot block an origin for longer by mistake or by
  /// intent (draft-ietf-httpapi-ratelimit-headers-11, on denial of service).
  private static let longest = Duration.seconds(3_600)
  /// The number of policies that count, of one response and of all responses of an origin.
  static let mostPolicies = 8

  /// Decides from the status and the fields of a response.
  ///
  /// `Retry-After` has precedence over `RateLimit`. With status 429, and with status 503 if the rate follows the
  /// server, it closes the origin. With other statuses it may concern only this request, such as 202 or 301, so it
  /// replaces the reset of the policies. Invalid fields are ignored, and so are policies without a reset and policies
  /// that count other units than requests. If there are too many policies, the policies with the fewest remaining
  /// requests count.
  ///
  /// - Parameter followsServer: Whether the rate of the host follows the server, see ``HostRate/followsServer``.
  static func decide(_ status: Int, _ fields: HTTPFields, followsServer: Bool) -> ServerPace {
    let isRefused = status == 429 || status == 503
    let delay = RetryAfter.delay(in: fields).map { min($0, longest) }
    if isRefused, status == 429 || followsServer, let delay { return .closed(delay) }
    guard followsServer else { return .limits([], isRefused: isRefused) }
    let limits = items("RateLimit", fields).compactMap { limit($0, delay) }
    let counted = limits.isEmpty ? [] : withoutOtherUnits(limits, fields)
    let strictest = counted.sorted { $0.remaining < $1.remaining }.prefix(mostPolicies)
    return .limits(Array(strictest), isRefused: isRefused)
  }

  private static func limit(_ item: StructuredField.Item, _ delay: Duration?) -> Limit? {
    guard let name = name(item), case .integer(let remaining)? = item.parameters["r"],
      case .integer(let reset)? = item.parameters["t"], remaining >= 0, reset >= 0
    else { return nil }
    let policy = Policy(name: name, partition: item.parameters["pk"])
    return Limit(policy: policy, remaining: remaining, reset: delay ?? min(.seconds(reset), longest))
  }

  /// Removes policies whose unit in `RateLimit-Policy` is not a request, for example `content-bytes`.
  private static func withoutOtherUnits(_ limits: [Limit], _ fields: HTTPFields) -> [Limit] {
    let units = ["request", "requests"].map(StructuredField.Value.string)
    let others = items("RateLimit-Policy", fields).filter { item in
      item.parameters["qu"].map { !units.contains($0) } ?? false
    }
    let names = Set(others.compactMap(name))
    return limits.filter { !names.contains($0.policy.name) }
  }

  private static func items(_ field: HTTPFieldName, _ fields: HTTPFields) -> [StructuredField.Item] {
    let lines = fields.values(of: field)
    guard !lines.isEmpty, let members = try? StructuredField.list(lines) else { return [] }
    return members.compactMap(\.item)
  }

  private static func name(_ item: StructuredField.Item) -> String? {
    switch item.value {
    case .string(let name), .token(let name): name
    default: nil
    }
  }
}
