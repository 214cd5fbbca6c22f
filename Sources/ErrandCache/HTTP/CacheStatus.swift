package import ErrandCore

/// The way in which the cache handled a call, as a value of the field `Cache-Status` (RFC 9211) and as a sentence.
package enum CacheStatus: Sendable, Hashable {
  case hit(CacheServing.Reason, secondsLeft: Int64)
  /// The request was sent to the server, which failed or could not be reached, and the response was served from the
  /// cache. The status is that of the server's response.
  case fallback(CacheForward, status: Int?, secondsLeft: Int64)
  /// The server confirmed the stored response.
  case validated(CacheForward, secondsLeft: Int64, collapsed: Bool = false)
  /// The request was sent to the server.
  case forwarded(CacheForward, status: Int?, stored: Bool, collapsed: Bool)
  /// The request was passed on to the server, and no response has arrived.
  case unanswered(CacheForward)
  /// No response was served and the server was not contacted.
  case refused(CacheForward)

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
    case .unanswered(let forward): "\(Self.name)\(Self.forwarded(forward, nil)); detail=\(forward.detail)"
    case .refused(let reason): "\(Self.name); detail=\(reason.detail)"
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
    case .unanswered(let forward): "The cache served no response: \(forward.reason)."
    case .refused(let forward): "No response was served: \(forward.reason)."
    }
  }

  /// A copy of the status for a call that shared the exchange of another call.
  package var collapsed: CacheStatus {
    switch self {
    case .validated(let forward, let left, _): .validated(forward, secondsLeft: left, collapsed: true)
    case .forwarded(let forward, let status, let stored, _):
      .forwarded(forward, status: status, stored: stored, collapsed: true)
    case .hit, .fallback, .unanswered, .refused: self
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

/// The reason why a call was sent to the server, or why it got no response.
package enum CacheForward: Sendable, Hashable {
  /// No stored response could be used.
  case miss(CacheMiss)
  /// The store could not be used. The value is the cause, such as `No space left on device`.
  case unavailable(cause: String)
  /// The stored response is fresh, but the call or its `Cache-Control` requires a validation.
  case requested
  /// The stored response was validated for the given reason, and the server sent a new response.
  indirect case changed(CacheForward)
  /// The call does not read stored responses.
  case bypass(CacheBypass)

  /// The reason for a miss, with the cause of an unavailable store if the store knows it.
  init(_ miss: CacheMiss, of store: any CacheStore) {
    if miss == .unavailable, let cause = (store as? any OutageReporting)?.outageCause {
      self = .unavailable(cause: cause)
    } else {
      self = .miss(miss)
    }
  }

  /// The value of the parameter `fwd` of `Cache-Status` (RFC 9211 section 2.2).
  var token: String {
    switch self {
    case .miss(.expired), .miss(.needsServer): "stale"
    case .changed(let reason): reason.token
    case .miss(.disabled), .bypass(.disabled), .bypass(.range): "bypass"
    case .miss, .unavailable: "miss"
    case .bypass(.method): "method"
    case .bypass(.ignored), .bypass(.conditional), .requested: "request"
    }
  }

  /// The value of the parameter `detail` of `Cache-Status` (RFC 9211 section 2.8).
  var detail: String {
    switch self {
    case .miss(let miss): miss.rawValue
    case .unavailable: CacheMiss.unavailable.rawValue
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
    case .miss(.unavailable): "the cache store was not available, or not in time"
    case .unavailable(let cause): "the cache store cannot be used (\(cause))"
    case .miss(.expired): "the stored response had expired"
    case .miss(.needsServer): "the stored response is fresh, but may be served only after asking the server"
    case .miss(.otherVersion): "the response was stored with another version of the cache policy"
    case .miss(.otherAccount): "the response was stored for another account"
    case .miss(.otherAppVersion): "the response was stored by another version of the app"
    case .miss(.damaged): "the stored response is damaged, or the checks of the request reject the response"
    case .requested: "the stored response is fresh, but the call or its Cache-Control asks the server"
    case .changed: "the stored response was validated, and the server sent a new response"
    case .bypass(.ignored): "this call does not read from the cache"
    case .bypass(.method): "responses to this method are not served from the cache"
    case .bypass(.range): "the request asks for a part of the body"
    case .bypass(.conditional): "the request has a condition such as If-None-Match"
    }
  }
}
