/// What the cache did for a call, and why.
public struct CacheReport: Sendable, Hashable {
  /// Where the answer came from.
  public let origin: ResponseOrigin
  /// Why nothing stored was served; nil for a hit.
  public let miss: CacheMiss?
  /// One English sentence that says why.
  public let reason: String
  /// The same as a value of `Cache-Status` (RFC 9211), such as `Errand; hit; ttl=120`.
  public let status: String

  /// Makes a report.
  package init(origin: ResponseOrigin, miss: CacheMiss? = nil, reason: String, status: String) {
    self.origin = origin
    self.miss = miss
    self.reason = reason
    self.status = status
  }
}
