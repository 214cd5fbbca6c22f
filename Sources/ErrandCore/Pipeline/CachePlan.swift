/// Another request that an answer is stored under.
package struct CacheAlias: Sendable {
  /// The request, built.
  package let request: HTTPRequest
  /// The request as it was given, for filters of the folder.
  package let given: any APIRequest
  /// Its policy.
  package let policy: CachePolicy
  /// What belongs to its key.
  package let key: CacheKeyRule
}

/// What was decided about the cache for one call.
package final class CachePlan: Sendable {
  /// The request's policy; ``CachePolicy/inherited`` where it declares none.
  let declared: CachePolicy
  /// What counts then.
  let inheritance: CacheInheritance
  /// How the call uses the cache.
  package let mode: CacheReadMode
  /// Whether the server is asked even where a fresh answer is stored: the second half of `cached, then fresh`.
  package let asksAlways: Bool
  /// Whether the server is asked next, whatever is found: the first half of `cached, then fresh`.
  package let isFollowed: Bool
  /// What belongs to the key.
  package let key: CacheKeyRule
  /// The version of the app.
  package let appVersion: String
  /// The request that the answer is stored under, if not its own.
  package let alias: CacheAlias?
  /// Whether no interceptor of the app stands above that may turn bodies.
  package let bodiesAreFinal: Bool
  /// The request as it was given, for filters of the folder.
  package let request: any APIRequest
  /// What decoded values are kept under; nil where none can be.
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

  /// The policy for one hop.
  package func policy(for request: HTTPRequest) -> CachePolicy {
    declared.isInherited ? inheritance.policy(for: request) : declared
  }

  /// The same plan with another way to read.
  package func reading(_ mode: CacheReadMode, asksAlways: Bool = false, isFollowed: Bool = false) -> CachePlan {
    CachePlan(
      declared: declared, inheritance: inheritance, mode: mode, asksAlways: asksAlways, isFollowed: isFollowed,
      key: key,
      appVersion: appVersion, alias: alias, bodiesAreFinal: bodiesAreFinal, request: request, decodedRules: decodedRules
    )
  }
}
