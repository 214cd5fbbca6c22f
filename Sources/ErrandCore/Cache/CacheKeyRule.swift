/// Adds parts to the cache key of a request, or removes parts from it. By default, the key contains method, URL,
/// arguments, body and account.
///
/// ```swift
/// var cacheKey: CacheKeyRule { CacheKeyRule(headers: ["Accept-Language"], leavingOut: ["timestamp"]) }
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
