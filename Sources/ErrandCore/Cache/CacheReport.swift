/// Describes what the cache did for a call, and the reason.
public struct CacheReport: Sendable {
  /// The source of the response, such as the network or the cache.
  public let origin: ResponseOrigin
  /// The reason why no stored response could be served without asking the server; nil for a cache hit, and if the call
  /// itself asked for the server.
  public let miss: CacheMiss?
  /// Computes the texts of ``reason`` and ``status`` when they are read, so that a cache hit stays fast.
  private let makeTexts: @Sendable (_ isCollapsed: Bool) -> (reason: String, status: String)
  private var isCollapsed = false
  /// The fields of the response, from which ``servers`` is computed.
  private let fields: HTTPFields

  /// Makes a report.
  /// - Parameter makeTexts: A closure that computes the texts of ``reason`` and ``status``. Its argument is true if the
  ///   call shares the exchange of another call.
  /// - Parameter fields: The fields of the response, as the server sent them.
  package init(
    origin: ResponseOrigin, miss: CacheMiss? = nil, fields: HTTPFields = HTTPFields(),
    makeTexts: @escaping @Sendable (_ isCollapsed: Bool) -> (reason: String, status: String)
  ) {
    self.origin = origin
    self.miss = miss
    self.fields = fields
    self.makeTexts = makeTexts
  }

  /// One English sentence that explains what the cache did.
  public var reason: String { makeTexts(isCollapsed).reason }
  /// The decision of the cache as a value of `Cache-Status` (RFC 9211), such as `Errand; hit; ttl=120`.
  public var status: String { makeTexts(isCollapsed).status }
  /// What the caches of the server's side reported in `Cache-Status` (RFC 9211), such as a CDN: first the one nearest to
  /// the server. For a stored response, this is what they reported in the exchange in which it arrived or was last
  /// confirmed. Empty if there is no response.
  public var servers: [ServerCache] { fields.serverCaches }

  /// A copy of the report for a call that shares the exchange of another call.
  var collapsed: CacheReport {
    var report = self
    report.isCollapsed = true
    return report
  }
}

extension CacheReport: Hashable, ComparedByBytes, CustomStringConvertible {
  package var identity: some Hashable { Parts(origin, miss, reason, status, servers) }
  /// The same text as ``status``: a value of the header field `Cache-Status`.
  public var description: String { status }
}

/// Why the cache had no response to serve.
public enum CacheMiss: String, Sendable, Hashable, CaseIterable {
  /// The call does not use the cache. Either the request declares no policy, or the client has no cache, or the call
  /// was started without the cache, or the response body goes to a file or a `BodySink`.
  case disabled
  /// No response to the request is stored, or the stored response was removed or evicted.
  case missing
  /// The cache store was not available, or did not respond in time.
  case unavailable
  /// The stored response has expired.
  case expired
  /// The stored response is fresh, but this request may be served only after asking the server: because of `no-cache`,
  /// because of its own `max-age` or `min-fresh`, or because the requested range cannot be cut out of the response.
  case needsServer = "needs-server"
  /// The response was stored with another version of the request's cache policy.
  case otherVersion = "other-version"
  /// The response was stored for another account.
  case otherAccount = "other-account"
  /// The response was stored by another version of the app.
  case otherAppVersion = "other-app-version"
  /// The stored response was damaged, or the rules of this request reject the response.
  case damaged
}
