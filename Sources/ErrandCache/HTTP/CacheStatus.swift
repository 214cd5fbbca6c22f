package import ErrandCore

/// The way in which the cache handled a call, as a value of the field `Cache-Status` (RFC 9211) and as a sentence.
package enum CacheStatus: Sendable, Hashable {
  /// The response was served from the cache.
  case hit(CacheServing.Reason, secondsLeft: Int64)
  /// The request was sent to the server, which failed or could not be reached, and the response was served from the
  /// cache. The status is that of the server's response.
  case fallback(CacheForward, status: Int?, secondsLeft: Int64)
  /// The server confirmed the stored response.
  case validated(CacheForward, secondsLeft: Int64, collapsed: Bool = false)
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
    case .fallback(let forward, let status, let left):
      "\(Self.name)\(Self.forwarded(forward, status))\(Self.ttl(left)); detail="
        + CacheServing.Reason.staleIfError.rawValue
    case .validated(let forward, let left, let collapsed):
      "\(Self.name)\(Self.forwarded(forward, 304))\(Self.ttl(left))" + (collapsed ? "; collapsed" : "")
    case .forwarded(let forward, let status, let stored, let collapsed):
      "\(Self.name)\(Self.forwarded(forward, status))" + (stored ? "; stored" : "") + (collapsed ? "; collapsed" : "")
        + "; detail=\(forward.detail)"
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
    case .hit(.staleIfError, _), .fallback:
      "The server failed or could not be reached, so the stored response is served."
    case .validated(_, _, let collapsed):
      "The server confirmed the stored response." + Self.sharing(collapsed)
    case .forwarded(let forward, _, _, let collapsed):
      "The request was sent to the server: \(forward.reason)." + Self.sharing(collapsed)
    case .refused(let miss): "No response was served: \(CacheForward.miss(miss).reason)."
    }
  }

  /// A copy of the status for a call that shared the exchange of another call.
  package var collapsed: CacheStatus {
    switch self {
    case .validated(let forward, let left, _): .validated(forward, secondsLeft: left, collapsed: true)
    case .forwarded(let forward, let status, let stored, _):
      .forwarded(forward, status: status, stored: stored, collapsed: true)
    case .hit, .fallback, .refused: self
    }
  }

  private static func sharing(_ collapsed: Bool) -> String {
    collapsed ? " This call shared the response of another call." : ""
  }

  private static func forwarded(_ forward: CacheForward, _ status: Int?) -> String {
    "; fwd=\(forward.token)" + (status.map { "; fwd-status=\($0)" } ?? "")
  }

  private static func ttl(_ left: Int64) -> String { left == .min ? "" : "; ttl=\(left)" }

  private static func seconds(_ count: Int64) -> String {
    count <= .min + 1 || count == .max ? "an unknown time" : count == 1 ? "1 second" : "\(count) seconds"
  }
}

/// The reason why a call was sent to the server.
package enum CacheForward: Sendable, Hashable {
  /// No stored response could be used.
  case miss(CacheMiss)
  /// The stored response is fresh, but the call or its `Cache-Control` requires a validation.
  case requested
  /// The stored response had to be validated for the given reason, and the server sent a new response.
  indirect case changed(CacheForward)
  /// The call does not read stored responses.
  case bypass(CacheBypass)

  /// The value of the parameter `fwd` of `Cache-Status` (RFC 9211 section 2.2).
  var token: String {
    switch self {
    case .miss(.expired), .miss(.needsServer): "stale"
    case .changed(let reason): reason.token
    case .miss(.disabled), .bypass(.disabled), .bypass(.range): "bypass"
    case .miss: "miss"
    case .bypass(.method): "method"
    case .bypass(.ignored), .bypass(.conditional), .requested: "request"
    }
  }

  /// The value of the parameter `detail` of `Cache-Status` (RFC 9211 section 2.8).
  var detail: String {
    switch self {
    case .miss(let miss): miss.rawValue
    case .requested: "requested"
    case .changed: "changed"
    case .bypass(let bypass): bypass.rawValue
    }
  }

  /// The reason why the call was sent to the server, as a part of a sentence: without a capital letter and a full stop.
  var reason: String {
    switch self {
    case .miss(.disabled), .bypass(.disabled): "this call does not use the cache"
    case .miss(.missing): "nothing is stored for this request"
    case .miss(.unavailable): "the cache store was not available in time"
    case .miss(.expired): "the stored response has expired"
    case .miss(.needsServer): "the stored response is fresh, but may be served only after asking the server"
    case .miss(.otherVersion): "the response was stored with another version of the cache policy"
    case .miss(.otherAccount): "the response was stored for another account"
    case .miss(.otherAppVersion): "the response was stored by another version of the app"
    case .miss(.damaged): "the stored response is damaged, or the checks of the request reject the response"
    case .requested: "the stored response is fresh, but the call or its Cache-Control asks the server"
    case .changed: "the stored response had to be validated, and the server sent a new response"
    case .bypass(.ignored): "this call does not read from the cache"
    case .bypass(.method): "responses to this method are not served from the cache"
    case .bypass(.range): "the request asks for a part of the body"
    case .bypass(.conditional): "the request has a condition such as If-None-Match"
    }
  }
}
