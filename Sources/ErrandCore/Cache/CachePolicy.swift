/// Whether and how the responses to a request are stored.
///
/// ```swift
/// var cache: CachePolicy { .lifetime(.seconds(180), version: 2) }
/// ```
///
/// The first policy that is declared applies: the policy of the request, then of its family, then of the client's rule
/// for the host, then of the client. All kinds of policies share one store, but a policy never reads an entry that was
/// stored by a policy of another kind.
public struct CachePolicy: Sendable, Hashable {
  /// How a response is stored.
  package enum Model: UInt8, Sendable, Hashable {
    /// The response is stored for the declared lifetime.
    case lifetime = 1
    /// The response is stored as the server's fields allow.
    case http = 2
    /// The response is stored as the server's fields allow. If they contain no explicit freshness, it is stored for the
    /// declared lifetime.
    case httpElse = 3
  }

  /// True if the policy of the family or the client applies.
  package let isInherited: Bool
  /// The model; nil if nothing is stored.
  package let model: Model?
  /// The declared lifetime; zero for a model without one.
  package let lifetime: Duration
  /// The version of the stored response. An entry with another version is never used.
  package let version: Int

  private init(_ model: Model?, _ lifetime: Duration = .zero, _ version: Int = 0, isInherited: Bool = false) {
    self.isInherited = isInherited
    self.model = model
    self.lifetime = lifetime
    self.version = version
  }

  /// The policy of the family, the client's rule for the host, or the client. By default nothing is stored.
  public static let inherited = CachePolicy(nil, isInherited: true)
  /// Nothing is stored and nothing is read.
  public static let none = CachePolicy(nil)

  /// Stores responses for the declared time, whatever the server's fields are. With zero or less nothing is stored.
  ///
  /// The policy applies to any method if the request declares the policy. If the request's family, a rule for the host
  /// or the client declares the policy, it applies only to safe methods, so that requests that change data are always
  /// sent.
  ///
  /// With `no-store` from the server the response is not written to disk. An expired response is validated if possible.
  public static func lifetime(_ lifetime: Duration, version: Int = 0) -> CachePolicy {
    lifetime > .zero ? CachePolicy(.lifetime, lifetime, version) : .none
  }

  /// Stores responses as the server's fields allow, by the rules of a private cache (RFC 9111, RFC 5861, RFC 8246).
  public static let http = http(version: 0)

  /// Stores responses as the server's fields allow. An entry with another version is never used.
  public static func http(version: Int) -> CachePolicy { CachePolicy(.http, .zero, version) }

  /// Stores responses as the server's fields allow. If the fields contain no explicit freshness, responses are stored
  /// for `lifetime`.
  public static func httpElse(_ lifetime: Duration, version: Int = 0) -> CachePolicy {
    CachePolicy(.httpElse, lifetime, version)
  }
}

/// The cache policy of a host, or of all hosts below a name.
///
/// ```swift
/// configuration.cacheRules = [HostCacheRule("cdn.example.com", .lifetime(.seconds(31_536_000)))]
/// ```
public struct HostCacheRule: Sendable, Hashable {
  private let pattern: HostPattern
  /// The policy for responses of the host.
  package let policy: CachePolicy

  /// Makes a rule for a host such as `cdn.example.com`, or for every host below a name that begins with a dot, such as
  /// `.example.com`. The first rule that fits applies.
  public init(_ host: String, _ policy: CachePolicy) {
    pattern = HostPattern(host)
    self.policy = policy
  }

  /// Whether the rule applies to a host, which is in lower case.
  package func covers(_ other: String) -> Bool { pattern.covers(other) }
}
