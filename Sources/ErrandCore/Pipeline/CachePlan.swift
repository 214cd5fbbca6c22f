/// Another request that ``CachePolicy/stored(as:)`` names. The response is stored under the cache key of this request.
package struct CacheAlias: Sendable {
  /// The request in the form in which it would be sent.
  package let request: HTTPRequest
  /// The request as the caller declared it. Filters that select cache entries for removal receive this request.
  package let given: any APIRequest
  package let policy: CachePolicy
  package let key: CacheKeyRule
}

/// The cache settings of one call.
package final class CachePlan: Sendable {
  /// The cache policy that the request declares; ``CachePolicy/inherited`` if the request declares no policy.
  let declared: CachePolicy
  /// The cache policies of the request's ``RequestFamily`` and of the client, for a request that declares no policy.
  let inheritance: CacheInheritance
  package let mode: CacheReadMode
  /// True if a request is sent to the server even if a fresh response is stored. A `cachedThenFresh` call first returns
  /// the stored response, then asks the server. The value is true while the call asks the server.
  package let asksAlways: Bool
  /// True if a request is sent to the server after this cache lookup, whatever the lookup finds. A `cachedThenFresh`
  /// call first returns the stored response, then asks the server. The value is true for the first of these steps.
  package let isFollowed: Bool
  let commonHeaders: RequestHeaders
  /// The version of the app. A stored response is used only by the version of the app that stored it.
  package let appVersion: String
  /// The other requests under whose cache keys the response is stored.
  package let aliases: [CacheAlias]
  /// Whether the response is stored under the cache key of the call's own request.
  package let storesOwn: Bool
  /// True if no interceptor of the app wraps the cache. In this case no code changes a response body after the cache
  /// has returned the response.
  package let bodiesAreFinal: Bool
  /// The rules by which the value of the call is validated and decoded. The call uses a decoded value in the cache only
  /// if that value was decoded by equal rules. Nil if the value of the call cannot be stored in the cache.
  package let decodedRules: DecodedRules?

  init(
    declared: CachePolicy, inheritance: CacheInheritance, mode: CacheReadMode, asksAlways: Bool = false,
    isFollowed: Bool = false, commonHeaders: RequestHeaders, appVersion: String, aliases: [CacheAlias],
    storesOwn: Bool, bodiesAreFinal: Bool, decodedRules: DecodedRules?
  ) {
    (self.declared, self.inheritance, self.mode) = (declared, inheritance, mode)
    (self.asksAlways, self.isFollowed) = (asksAlways, isFollowed)
    (self.commonHeaders, self.appVersion) = (commonHeaders, appVersion)
    (self.aliases, self.storesOwn) = (aliases, storesOwn)
    (self.bodiesAreFinal, self.decodedRules) = (bodiesAreFinal, decodedRules)
  }

  package func policy(for request: HTTPRequest) -> CachePolicy {
    declared.isInherited ? inheritance.policy(for: request) : declared
  }

  package func reading(_ mode: CacheReadMode, asksAlways: Bool = false, isFollowed: Bool = false) -> CachePlan {
    CachePlan(
      declared: declared, inheritance: inheritance, mode: mode, asksAlways: asksAlways, isFollowed: isFollowed,
      commonHeaders: commonHeaders, appVersion: appVersion, aliases: aliases, storesOwn: storesOwn,
      bodiesAreFinal: bodiesAreFinal, decodedRules: decodedRules)
  }
}

/// The cache policies that apply to requests that declare no policy.
struct CacheInheritance: Sendable {
  let family: CachePolicy
  let rules: [HostCacheRule]
  let standing: CachePolicy

  /// The policy of the request's ``RequestFamily``, otherwise the policy of the first rule for the host, otherwise the
  /// policy of the client.
  ///
  /// A policy with a fixed lifetime applies only to safe methods, so that a request that changes data is always sent.
  func policy(for request: HTTPRequest) -> CachePolicy {
    let host = request.url.host
    let policy = family.isInherited ? rules.first { $0.covers(host) }?.policy ?? standing : family
    return policy.model == .lifetime && !request.method.isSafe ? .none : policy.withoutNaming
  }
}

/// A cache for a client. The cache supplies two interceptors: one looks up stored responses, and one stores responses.
package protocol ClientCache: AccountCache {
  /// The interceptor that looks up the stored response to a request. The interceptor runs for each request of a
  /// redirect chain.
  var lookUp: any Interceptor { get }
  /// The interceptor that stores or updates the response of an exchange. The interceptor runs only once for an exchange
  /// that several calls share.
  var storing: any Interceptor { get }

  var isRefreshing: Bool { get }
  /// Waits until no background refresh is in progress.
  func refreshesEnded() async
  func cancelRefreshes()
  /// Waits until the pending writes have been carried out.
  func flush() async
}

/// Which cache a client uses.
public struct CacheChoice: Sendable {
  package enum Kind: Sendable {
    case standard, off
    case own(any ClientCache)
  }

  package let kind: Kind

  package init(_ kind: Kind) { self.kind = kind }

  /// A cache of 16 MiB in memory that belongs to this client alone. Nothing is written to disk.
  public static let standard = CacheChoice(.standard)
  /// No cache: no response is stored, whatever cache policy the requests declare.
  public static let off = CacheChoice(.off)
}
