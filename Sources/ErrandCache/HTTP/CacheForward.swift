package import ErrandCore

/// Why a call went on to the server.
package enum CacheForward: Sendable, Hashable {
  /// Nothing was stored that could be used.
  case miss(CacheMiss)
  /// What was stored had to be asked about, and no longer held.
  case changed
  /// The call went past what is stored.
  case bypass(CacheBypass)

  /// The value of `fwd` (RFC 9211 section 2.2).
  var token: String {
    switch self {
    case .miss(.expired), .changed: "stale"
    case .miss(.disabled), .bypass(.disabled), .bypass(.range): "bypass"
    case .miss: "miss"
    case .bypass(.method): "method"
    case .bypass(.ignored), .bypass(.conditional): "request"
    }
  }

  /// The value of `detail`.
  var detail: String {
    switch self {
    case .miss(let miss): miss.rawValue
    case .changed: "changed"
    case .bypass(let bypass): bypass.rawValue
    }
  }

  /// The clause that says why.
  var reason: String {
    switch self {
    case .miss(.disabled), .bypass(.disabled): "this call does not use the cache"
    case .miss(.missing): "nothing is stored for this request"
    case .miss(.unavailable): "the store could not be asked in time"
    case .miss(.expired): "the stored answer has expired"
    case .miss(.otherVersion): "the answer was stored with another version of the policy"
    case .miss(.otherAccount): "the answer was stored for another account"
    case .miss(.otherAppVersion): "the answer was stored by another version of the app"
    case .miss(.damaged): "the stored answer was damaged or is refused by this request's rules"
    case .changed: "the stored answer had to be asked about, and the server gave a new one"
    case .bypass(.ignored): "this call reads nothing from the cache"
    case .bypass(.method): "answers to this method do not come from the cache"
    case .bypass(.range): "a part of the body was asked for"
    case .bypass(.conditional): "the request asks the server a question of its own"
    }
  }

  /// One sentence that says why.
  var sentence: String { "The server was asked: \(reason)." }
}
