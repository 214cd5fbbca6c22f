package import ErrandCore

/// How the cache took part in a call, as a value of `Cache-Status` (RFC 9211) and in words.
package enum CacheStatus: Sendable, Hashable {
  /// Served from the cache.
  case hit(CacheServing.Reason, secondsLeft: Int64)
  /// The server said that the stored answer still holds.
  case validated(secondsLeft: Int64, collapsed: Bool = false)
  /// The server answered.
  case forwarded(CacheForward, status: Int?, stored: Bool, collapsed: Bool)
  /// Nothing was served and nobody asked.
  case refused(CacheMiss)

  /// The name of this cache in the field.
  package static let name = "Errand"

  /// The field's value, such as `Errand; hit; ttl=52`.
  package var value: String {
    switch self {
    case .hit(.fresh, let left): "\(Self.name); hit\(Self.ttl(left))"
    case .hit(let reason, let left): "\(Self.name); hit\(Self.ttl(left)); detail=\(reason.rawValue)"
    case .validated(let left, let collapsed):
      "\(Self.name); fwd=stale; fwd-status=304\(Self.ttl(left))" + (collapsed ? "; collapsed" : "")
    case .forwarded(let forward, let status, let stored, let collapsed):
      "\(Self.name); fwd=\(forward.token)" + (status.map { "; fwd-status=\($0)" } ?? "")
        + (stored ? "; stored" : "") + (collapsed ? "; collapsed" : "") + "; detail=\(forward.detail)"
    case .refused(let miss): "\(Self.name); detail=\(miss.rawValue)"
    }
  }

  /// One sentence that says why.
  package var sentence: String {
    switch self {
    case .hit(.fresh, let left): "The stored answer is fresh for \(Self.seconds(left))."
    case .hit(.staleWhileRevalidate, let left):
      "The stored answer has been stale for \(Self.seconds(-left)), is served meanwhile and is being refreshed."
    case .hit(.staleAllowed, _): "The stored answer is stale by no more than the request puts up with."
    case .hit(.anyAge, _): "The stored answer is stale, and the call takes it at any age."
    case .hit(.staleIfError, _): "The server could not be reached or failed, and the stored answer may stand in for it."
    case .validated(_, let collapsed):
      "The server said that the stored answer still holds." + Self.sharing(collapsed)
    case .forwarded(let forward, _, _, let collapsed):
      forward.sentence + Self.sharing(collapsed)
    case .refused(let miss): "Nothing was served: \(CacheForward.miss(miss).reason)."
    }
  }

  /// The same for a call that shares the exchange of another one.
  package var collapsed: CacheStatus {
    switch self {
    case .validated(let left, _): .validated(secondsLeft: left, collapsed: true)
    case .forwarded(let forward, let status, let stored, _):
      .forwarded(forward, status: status, stored: stored, collapsed: true)
    case .hit, .refused: self
    }
  }

  private static func sharing(_ collapsed: Bool) -> String { collapsed ? " Another call's answer was shared." : "" }

  private static func ttl(_ left: Int64) -> String { left == .min ? "" : "; ttl=\(left)" }

  private static func seconds(_ count: Int64) -> String {
    count <= .min + 1 || count == .max ? "an unknown time" : count == 1 ? "1 second" : "\(count) seconds"
  }
}
