/// What the cache did for a call, and why.
public struct CacheReport: Sendable {
  /// Where the answer came from.
  public let origin: ResponseOrigin
  /// Why nothing stored was served; nil for a hit.
  public let miss: CacheMiss?
  /// Written only for those who read it: a hit is quick.
  private let words: @Sendable (_ isCollapsed: Bool) -> (reason: String, status: String)
  private var isCollapsed = false

  /// Makes a report.
  /// - Parameter words: Asked whether it is for a call that shares the exchange of another one.
  package init(
    origin: ResponseOrigin, miss: CacheMiss? = nil,
    words: @escaping @Sendable (_ isCollapsed: Bool) -> (reason: String, status: String)
  ) {
    self.origin = origin
    self.miss = miss
    self.words = words
  }

  /// One English sentence that says why.
  public var reason: String { words(isCollapsed).reason }
  /// The same as a value of `Cache-Status` (RFC 9211), such as `Errand; hit; ttl=120`.
  public var status: String { words(isCollapsed).status }

  /// The same for a call that shares the exchange of another one.
  var collapsed: CacheReport {
    var report = self
    report.isCollapsed = true
    return report
  }
}

extension CacheReport: Hashable, CustomStringConvertible {
  /// Whether both say the same.
  public static func == (left: CacheReport, right: CacheReport) -> Bool {
    left.origin == right.origin && left.miss == right.miss && left.status == right.status
  }
  /// Hashes where the answer came from.
  public func hash(into hasher: inout Hasher) { hasher.combine(origin) }
  /// The value of `Cache-Status`.
  public var description: String { status }
}

/// Why the cache had nothing to serve.
public enum CacheMiss: String, Sendable, Hashable, CaseIterable {
  /// The request declares no policy, the client has no cache, the call was started without it, or the body goes to a
  /// file or a sink.
  case disabled
  /// Nothing was stored, or it was removed or evicted.
  case missing
  /// The store could not be asked, or not in time.
  case unavailable
  /// What was stored has expired.
  case expired
  /// It was stored with another version of the policy.
  case otherVersion = "other-version"
  /// It was stored for another account.
  case otherAccount = "other-account"
  /// It was stored by another version of the app.
  case otherAppVersion = "other-app-version"
  /// It was damaged, or this request's rules refuse it.
  case damaged
}
