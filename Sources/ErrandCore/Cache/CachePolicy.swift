/// Decides whether and how the cache stores the responses to a request.
///
/// ```swift
/// var cache: CachePolicy { .lifetime(.seconds(180), version: 2) }
/// ```
///
/// The first declared policy applies: the policy of the request, then of its ``RequestFamily``, then of the client's
/// rule for the host, then of the client. All kinds of policies share one store. But a policy never reads a cache entry
/// that was stored by a policy of another kind; for example, `.http` reads no entry of `.lifetime`.
public struct CachePolicy: Sendable, Hashable {
  /// The kind of a cache policy. The kind decides where the lifetime of a stored response comes from.
  package enum Model: UInt8, Sendable, Hashable {
    /// The response is stored for the lifetime that the policy declares.
    case lifetime = 1
    /// The response is stored as its header fields allow (RFC 9111).
    case http = 2
    /// The response is stored as its header fields allow (RFC 9111). If the fields contain no explicit expiration time,
    /// the response is stored for the lifetime that the policy declares.
    case httpElse = 3
  }

  /// True for ``inherited``: the policy of the ``RequestFamily``, of a rule for the host or of the client applies.
  package let isInherited: Bool
  /// The kind of the policy; nil if no response is stored.
  package let model: Model?
  /// The lifetime that the policy declares; zero for a policy that declares no lifetime.
  package let lifetime: Duration
  /// The version of the stored responses, which the app chooses. A cache entry with another version is never used.
  package let version: Int

  private init(_ model: Model?, _ lifetime: Duration = .zero, _ version: Int = 0, isInherited: Bool = false) {
    self.isInherited = isInherited
    self.model = model
    self.lifetime = lifetime
    self.version = version
  }

  /// The policy of the ``RequestFamily``, of the client's rule for the host or of the client applies. If no policy is
  /// declared, nothing is stored.
  public static let inherited = CachePolicy(nil, isInherited: true)
  /// The cache stores no response to the request, and serves none.
  public static let none = CachePolicy(nil)

  /// Stores responses for the declared time, whatever lifetime the header fields of the response contain. If `lifetime`
  /// is zero or negative, nothing is stored.
  ///
  /// If the request itself declares the policy, the policy applies to any method. If the ``RequestFamily``, a rule for
  /// the host or the client declares the policy, it applies only to safe methods (RFC 9110, section 9.2.1), so that
  /// requests that change data are always sent.
  ///
  /// If the server sends `no-store`, the response is not written to disk. An expired response is validated with the
  /// server if the response contains a validator (`ETag` or `Last-Modified`).
  public static func lifetime(_ lifetime: Duration, version: Int = 0) -> CachePolicy {
    lifetime > .zero ? CachePolicy(.lifetime, lifetime, version) : .none
  }

  /// Stores responses as their header fields allow, by the rules of a private cache (RFC 9111, RFC 5861, RFC 8246).
  public static let http = http(version: 0)

  /// Stores responses as their header fields allow. A cache entry with another version is never used.
  public static func http(version: Int) -> CachePolicy { CachePolicy(.http, .zero, version) }

  /// Stores responses as their header fields allow. If the fields contain no explicit expiration time, responses are
  /// stored for `lifetime`.
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
  /// `.example.com`. If several rules of a client apply to a host, the client uses the first one.
  public init(_ host: String, _ policy: CachePolicy) {
    pattern = HostPattern(host)
    self.policy = policy
  }

  /// True if the rule applies to a host. The name of the host must be in lower case.
  package func covers(_ other: String) -> Bool { pattern.covers(other) }
}
