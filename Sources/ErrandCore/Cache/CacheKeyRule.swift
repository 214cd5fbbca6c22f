/// The parts of a cache key in addition to method, URL, arguments, body and account.
///
/// ```swift
/// var cacheKey: CacheKeyRule { CacheKeyRule(headers: ["Accept-Language"], leavingOut: ["timestamp"]) }
/// ```
public struct CacheKeyRule: Sendable, Hashable {
  /// Request fields whose values are part of the key.
  public var headers: [HTTPFieldName]
  /// Arguments that are not part of the key, in the query, in a form and at the top level of a JSON body, such as
  /// timestamps.
  public var leftOut: Set<String>

  /// Makes a rule.
  public init(headers: [HTTPFieldName] = [], leavingOut leftOut: Set<String> = []) {
    self.headers = headers
    self.leftOut = leftOut
  }
}
