/// What the cache did for a call, and why.
public struct CacheReport: Sendable {
  /// Where the answer came from.
  public let origin: ResponseOrigin
  /// Why nothing stored was served; nil for a hit.
  public let miss: CacheMiss?
  /// Written only for those who read it: a hit is quick.
  private let words: @Sendable () -> (reason: String, status: String)

  /// Makes a report.
  package init(
    origin: ResponseOrigin, miss: CacheMiss? = nil, words: @escaping @Sendable () -> (reason: String, status: String)
  ) {
    self.origin = origin
    self.miss = miss
    self.words = words
  }

  /// One English sentence that says why.
  public var reason: String { words().reason }
  /// The same as a value of `Cache-Status` (RFC 9211), such as `Errand; hit; ttl=120`.
  public var status: String { words().status }
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
