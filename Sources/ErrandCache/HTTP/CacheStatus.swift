package import ErrandCore

/// The way in which the cache handled a call, as a value of the field `Cache-Status` (RFC 9211) and as a sentence.
package enum CacheStatus: Sendable, Hashable {
  /// The response was served from the cache.
  case hit(CacheServing.Reason, secondsLeft: Int64)
  /// The server confirmed the stored response.
  case validated(secondsLeft: Int64, collapsed: Bool = false)
  /// The request was sent to the server.
  case forwarded(CacheForward, status: Int?, stored: Bool, collapsed: Bool)
  /// No response was served and the server was not contacted.
  case refused(CacheMiss)

  /// The name of this cache in the `Cache-Status` field.
  package static let name = "Errand"

  /// The value of the field `Cache-Status`, such as `Errand; hit; ttl=52`.
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

  /// The description, in one or two sentences, of the way in which the cache handled the call.
  package var sentence: String {
    switch self {
    case .hit(.fresh, let left): "The stored response is fresh for \(Self.seconds(left))."
    case .hit(.staleWhileRevalidate, let left):
      "The stored response was stale for \(Self.seconds(-left)); the server's stale-while-revalidate allows serving it."
    case .hit(.staleAllowed, let left) where left > 0:
      "The request's max-age or min-fresh excludes the stored response; the request's max-stale allows serving it."
    case .hit(.staleAllowed, _): "The stored response is stale; the request's max-stale allows serving it."
    case .hit(.unvalidated, let left):
      "The stored response is fresh for \(Self.seconds(left)); the call accepts it although no-cache requires a "
        + "validation."
    case .hit(.anyAge, _): "The stored response is stale, and the call accepts a response of any age."
    case .hit(.staleIfError, _): "The server failed or could not be reached, so the stored response is served."
    case .validated(_, let collapsed):
      "The server confirmed the stored response." + Self.sharing(collapsed)
    case .forwarded(let forward, _, _, let collapsed):
      forward.sentence + Self.sharing(collapsed)
    case .refused(let miss): "No response was served: \(CacheForward.miss(miss).reason)."
    }
  }

  /// A copy of the status for a call that shared the exchange of another call.
  package var collapsed: CacheStatus {
    switch self {
    case .validated(let left, _): .validated(secondsLeft: left, collapsed: true)
    case .forwarded(let forward, let status, let stored, _):
      .forwarded(forward, status: status, stored: stored, collapsed: true)
    case .hit, .refused: self
    }
  }

  private static func sharing(_ collapsed: Bool) -> String {
    collapsed ? " This call shared the response of another call." : ""
  }

  private static func ttl(_ left: Int64) -> String { left == .min ? "" : "; ttl=\(left)" }

  private static func seconds(_ count: Int64) -> String {
    count <= .min + 1 || count == .max ? "an unknown time" : count == 1 ? "1 second" : "\(count) seconds"
  }
}
