/// What belongs to the key of stored answers beside method, URL, arguments, body and account.
///
/// ```swift
/// var cacheKey: CacheKeyRule { CacheKeyRule(headers: ["Accept-Language"], leavingOut: ["timestamp"]) }
/// ```
public struct CacheKeyRule: Sendable, Hashable {
  /// Fields of the request whose values belong to the key.
  public var headers: [HTTPFieldName]
  /// Arguments that do not, in the query, in a form and at the top of a JSON body: time stamps, for one.
  public var leftOut: Set<String>

  /// Makes a rule.
  public init(headers: [HTTPFieldName] = [], leavingOut leftOut: Set<String> = []) {
    self.headers = headers
    self.leftOut = leftOut
  }
}
