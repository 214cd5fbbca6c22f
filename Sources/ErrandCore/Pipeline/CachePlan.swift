/// A request whose cache key is used for a response instead of the key of the call's own request.
package struct CacheAlias: Sendable {
  /// The request in the form in which it would be sent.
  package let request: HTTPRequest
  /// The request as the caller declared it. The filters that choose which entries to remove get it.
  package let given: any APIRequest
  /// The cache policy of the request.
  package let policy: CachePolicy
  /// The rule for the cache key of the request.
  package let key: CacheKeyRule
}

/// The decisions about the cache for one call.
package final class CachePlan: Sendable {
  /// The cache policy that the request declares; ``CachePolicy/inherited`` if there is none.
  let declared: CachePolicy
  /// The source of an inherited policy.
  let inheritance: CacheInheritance
  /// How the call reads the cache.
  package let mode: CacheReadMode
  /// True if the server is asked even if a fresh response is stored. This is the second half of `cached, then fresh`.
  package let asksAlways: Bool
  /// True if the server is asked afterwards, whatever the cache lookup finds. This is the first half of `cached, then
  /// fresh`.
  package let isFollowed: Bool
  /// The rule for the cache key.
  package let key: CacheKeyRule
  /// The version of the app.
  package let appVersion: String
  /// The request under whose cache key the response is stored; nil for the call's own request.
  package let alias: CacheAlias?
  /// True if no interceptor of the app wraps the cache. Then nothing changes a body after the cache has returned it.
  package let bodiesAreFinal: Bool
  /// The request as the caller declared it. The filters that choose which entries to remove get it.
  package let request: any APIRequest
  /// The rules by which a stored decoded value is found again; nil if no decoded value can be stored.
  package let decodedRules: DecodedRules?

  init(
    declared: CachePolicy, inheritance: CacheInheritance, mode: CacheReadMode, asksAlways: Bool = false,
    isFollowed: Bool = false, key: CacheKeyRule, appVersion: String, alias: CacheAlias?, bodiesAreFinal: Bool,
    request: any APIRequest, decodedRules: DecodedRules?
  ) {
    self.bodiesAreFinal = bodiesAreFinal
    self.declared = declared
    self.inheritance = inheritance
    self.mode = mode
    self.asksAlways = asksAlways
    self.isFollowed = isFollowed
    self.key = key
    self.appVersion = appVersion
    self.alias = alias
    self.request = request
    self.decodedRules = decodedRules
  }

  /// The cache policy for one request of a redirect chain.
  package func policy(for request: HTTPRequest) -> CachePolicy {
    declared.isInherited ? inheritance.policy(for: request) : declared
  }

  /// A copy of the plan with another read mode.
  package func reading(_ mode: CacheReadMode, asksAlways: Bool = false, isFollowed: Bool = false) -> CachePlan {
    CachePlan(
      declared: declared, inheritance: inheritance, mode: mode, asksAlways: asksAlways, isFollowed: isFollowed,
      key: key,
      appVersion: appVersion, alias: alias, bodiesAreFinal: bodiesAreFinal, request: request, decodedRules: decodedRules
    )
  }
}

/// The cache policy of requests that declare none.
struct CacheInheritance: Sendable {
  let family: CachePolicy
  let rules: [HostCacheRule]
  let standing: CachePolicy

  /// The policy of the request's family, otherwise the policy of the first rule for the host, otherwise the policy of the
  /// client.
  ///
  /// A lifetime that is set by one of these policies applies only to safe methods, so that a request that changes data is always sent.
  func policy(for request: HTTPRequest) -> CachePolicy {
    let host = request.url.host
    let policy = family.isInherited ? rules.first { $0.covers(host) }?.policy ?? standing : family
    return policy.model == .lifetime && !request.method.isSafe ? .none : policy
  }
}
