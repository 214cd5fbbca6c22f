/// What the cache did for a call, and the reason.
public struct CacheReport: Sendable {
  /// The origin of the response.
  public let origin: ResponseOrigin
  /// Why no stored response was served; nil for a hit.
  public let miss: CacheMiss?
  /// Computes the texts when they are read, so that a hit stays fast.
  private let words: @Sendable (_ isCollapsed: Bool) -> (reason: String, status: String)
  private var isCollapsed = false

  /// Makes a report.
  /// - Parameter words: Computes the texts. The argument is true if the call shares the exchange of another call.
  package init(
    origin: ResponseOrigin, miss: CacheMiss? = nil,
    words: @escaping @Sendable (_ isCollapsed: Bool) -> (reason: String, status: String)
  ) {
    self.origin = origin
    self.miss = miss
    self.words = words
  }

  /// One English sentence that gives the reason.
  public var reason: String { words(isCollapsed).reason }
  /// The decision of the cache as a value of `Cache-Status` (RFC 9211), such as `Errand; hit; ttl=120`.
  public var status: String { words(isCollapsed).status }

  /// A copy of the report for a call that shares the exchange of another call.
  var collapsed: CacheReport {
    var report = self
    report.isCollapsed = true
    return report
  }
}

extension CacheReport: Hashable, CustomStringConvertible {
  /// Whether two reports have the same content.
  public static func == (left: CacheReport, right: CacheReport) -> Bool {
    left.origin == right.origin && left.miss == right.miss && left.status == right.status
  }
  /// Hashes the origin of the response.
  public func hash(into hasher: inout Hasher) { hasher.combine(origin) }
  /// The value of `Cache-Status`.
  public var description: String { status }
}

/// Why the cache had no response to serve.
public enum CacheMiss: String, Sendable, Hashable, CaseIterable {
  /// The request declares no policy, the client has no cache, the call was started without it, or the body goes to a
  /// file or a sink.
  case disabled
  /// No response was stored, or it was removed or evicted.
  case missing
  /// The store was not available, or did not respond in time.
  case unavailable
  /// The stored response has expired.
  case expired
  /// The response was stored with another version of the policy.
  case otherVersion = "other-version"
  /// The response was stored for another account.
  case otherAccount = "other-account"
  /// The response was stored by another version of the app.
  case otherAppVersion = "other-app-version"
  /// The stored response was damaged, or the rules of this request reject the response.
  case damaged
}
