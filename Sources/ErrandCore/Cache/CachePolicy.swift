/// Decides whether and how the cache stores the responses to a request.
///
/// ```swift
/// var cache: CachePolicy { .lifetime(.seconds(180), version: 2) }
/// ```
///
/// The first declared policy applies: the policy of the request, then of its ``RequestFamily``, then of the client's
/// rule for the host, then of the client. All kinds of policies share one store. But a policy never reads a cache entry
/// that was stored by a policy of another kind; for example, `.http` reads no entry of `.lifetime`. ``keyed(by:)`` and
/// ``stored(as:)`` change the keys under which responses are stored.
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
  /// The rule for the cache key and the targets; nil if the policy declares neither.
  private var naming: CacheNaming?

  private init(_ model: Model?, _ lifetime: Duration = .zero, _ version: Int = 0, isInherited: Bool = false) {
    self.isInherited = isInherited
    self.model = model
    self.lifetime = lifetime
    self.version = version
  }

  var isNone: Bool { model == nil && !isInherited }
  var key: CacheKeyRule? { naming?.key }
  /// The requests under whose cache keys the response is stored; nil if the policy declares none.
  var targets: CacheTargets? { naming?.targets }

  /// The policy without the rule for the cache key and without targets, as it is stored in a cache entry.
  var withoutNaming: CachePolicy {
    var policy = self
    policy.naming = nil
    return policy
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

  /// Returns a policy that makes the cache key by a rule. The rule of the request applies, otherwise the rule of its
  /// ``RequestFamily``, otherwise that of the policy of the client. In a ``HostCacheRule`` it has no effect. Arguments
  /// that the rule leaves out may also differ between calls that share an exchange (``Overlap/joining``).
  ///
  /// ```swift
  /// var cache: CachePolicy { .http.keyed(by: CacheKeyRule(leavingOut: ["timestamp"])) }
  /// ```
  public func keyed(by rule: CacheKeyRule) -> CachePolicy {
    var policy = self
    policy.naming = CacheNaming(key: rule, targets: targets)
    return policy
  }

  /// Returns a policy that stores the response of a request as the response to other requests. Only the policy of a
  /// request has targets; those of a ``RequestFamily``, of a host and of the client have no effect. Requests cannot be
  /// compared, so a policy with targets is equal only to its own copies.
  ///
  /// ```swift
  /// var cache: CachePolicy { .inherited.stored(as: [GetUser(id: id)]) }
  /// ```
  public func stored(as targets: CacheTargets) -> CachePolicy {
    var policy = self
    policy.naming = CacheNaming(key: key, targets: targets)
    return policy
  }
}

/// The rule for the cache key and the targets of a policy. Few policies have them, so they are in an object, which keeps
/// the other policies small.
private final class CacheNaming: Sendable, Hashable {
  let key: CacheKeyRule?
  let targets: CacheTargets?

  init(key: CacheKeyRule?, targets: CacheTargets?) { (self.key, self.targets) = (key, targets) }

  /// Requests cannot be compared, so targets are equal only to themselves.
  static func == (one: CacheNaming, other: CacheNaming) -> Bool {
    one === other || one.key == other.key && one.targets == nil && other.targets == nil
  }

  func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// The cache policy of a host, or of all hosts below a name.
///
/// ```swift
/// configuration.cache.rules = [HostCacheRule("cdn.example.com", .lifetime(.seconds(31_536_000)))]
/// ```
public struct HostCacheRule: Sendable, Hashable {
  private let pattern: HostPattern
  package let policy: CachePolicy

  /// Makes a rule for a host such as `cdn.example.com`, or for every host below a name that begins with a dot, such as
  /// `.example.com`. Upper case, a scheme, a port and a path in `host` are ignored, so the rule applies to all ports. An
  /// IPv6 address may be in brackets. If several rules of a client apply to a host, the client uses the first one.
  public init(_ host: String, _ policy: CachePolicy) {
    pattern = HostPattern.ignoringRest(of: host)
    self.policy = policy
  }

  /// True if the rule applies to a host. The name of the host must be in lower case.
  package func covers(_ other: String) -> Bool { pattern.covers(other) }
}

/// How one call uses the cache, whatever policy its request declares.
public enum CacheReadMode: Sendable, Hashable, CaseIterable {
  /// A fresh stored response is served. Without a fresh response, the server is asked. This is the default.
  case asDeclared
  /// The call reads nothing from the cache, but stores the response of the server. Use this mode for pull to refresh.
  /// The request has `Cache-Control: no-cache`, also if the client has no cache, so that caches on the way are
  /// refreshed, too.
  case ignoringCache
  /// The call neither reads from the cache nor stores a response.
  case withoutCache
  /// The server validates the stored response (`Cache-Control: max-age=0`). Only a fresh response that the server
  /// marked as `immutable` is served without validation.
  case revalidating
  /// A stored response of any age is served. The server is asked only if no response is stored.
  case cachedElseLoad
  /// A stored response is served if it is fresh, or if the cache policy allows an expired response. The server is not
  /// asked. If no such response is stored, the call fails and reports a ``CacheMiss``.
  case cacheOnly
  /// A stored response of any age is served, and the server is not asked. Without a stored response the call fails and
  /// reports a ``CacheMiss``.
  case cacheOnlyAtAnyAge
  /// The server is asked first. If it cannot be reached, a stored response of any age is served.
  case networkElseCached

  package var usesOnlyCache: Bool { self == .cacheOnly || self == .cacheOnlyAtAnyAge }

  /// The fields to add to a request to the server, so that other caches on the way do not serve a stored response
  /// without asking the server (RFC 9111 section 5.2.1): `Cache-Control: no-cache` if the call ignores the cache, and
  /// `Cache-Control: max-age=0` if it revalidates. Empty in other modes, and if the request has `Cache-Control`.
  package func fieldsToAdd(to fields: HTTPFields) -> [HTTPField] {
    switch self {
    case .ignoringCache where !fields.contains(.cacheControl): [HTTPField(.cacheControl, "no-cache")]
    case .revalidating where !fields.contains(.cacheControl): [HTTPField(.cacheControl, "max-age=0")]
    default: []
    }
  }
}

/// Adds parts to the cache key of a request, or removes parts from it. By default, the key contains method, URL,
/// arguments, body and account.
///
/// ```swift
/// var cache: CachePolicy { .http.keyed(by: CacheKeyRule(headers: ["Accept-Language"])) }
/// ```
public struct CacheKeyRule: Sendable, Hashable {
  /// The names of request header fields whose values are part of the cache key.
  public var headers: [HTTPFieldName]
  /// The names of arguments that are not part of the cache key, such as timestamps. The rule applies to arguments in
  /// the query, in a form and at the top level of a JSON body.
  public var leftOut: Set<String>

  /// Makes a rule. By default, the rule does not change the cache key.
  public init(headers: [HTTPFieldName] = [], leavingOut leftOut: Set<String> = []) {
    self.headers = headers
    self.leftOut = leftOut
  }
}

/// The requests under whose cache keys the response of a request is stored.
///
/// ```swift
/// .inherited.stored(as: [GetUser(id: id)])                       // only as the response to `GetUser`
/// .inherited.stored(as: .own.and(GetUser(id: id), GetProfile())) // also as the response to this request
/// ```
///
/// Under each key the response is stored by the cache policy of the request of that key. The empty list stores nothing.
public struct CacheTargets: Sendable, ExpressibleByArrayLiteral {
  let requests: [any APIRequest]
  /// Whether the response is also stored under the key of the request itself.
  package let includesOwn: Bool

  /// The response is stored under the key of the request itself.
  public static let own = CacheTargets(requests: [], includesOwn: true)

  /// The response is stored under the keys of these requests, and not under the key of the request itself.
  public init(arrayLiteral elements: any APIRequest...) { self.init(requests: elements, includesOwn: false) }

  private init(requests: [any APIRequest], includesOwn: Bool) {
    self.requests = requests
    self.includesOwn = includesOwn
  }

  /// Returns targets that contain further requests.
  public func and(_ others: any APIRequest...) -> CacheTargets {
    CacheTargets(requests: requests + others, includesOwn: includesOwn)
  }
}
