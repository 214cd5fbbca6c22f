package import ErrandCore

/// The reason why a call was sent to the server.
package enum CacheForward: Sendable, Hashable {
  /// No stored response could be used.
  case miss(CacheMiss)
  /// The stored response had to be validated, and the server sent a new response.
  case changed
  /// The call does not read stored responses.
  case bypass(CacheBypass)

  /// The value of the parameter `fwd` of `Cache-Status` (RFC 9211 section 2.2).
  var token: String {
    switch self {
    case .miss(.expired), .changed: "stale"
    case .miss(.disabled), .bypass(.disabled), .bypass(.range): "bypass"
    case .miss: "miss"
    case .bypass(.method): "method"
    case .bypass(.ignored), .bypass(.conditional): "request"
    }
  }

  /// The value of the parameter `detail` of `Cache-Status` (RFC 9211 section 2.8).
  var detail: String {
    switch self {
    case .miss(let miss): miss.rawValue
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
    case .miss(.otherVersion): "the response was stored with another version of the cache policy"
    case .miss(.otherAccount): "the response was stored for another account"
    case .miss(.otherAppVersion): "the response was stored by another version of the app"
    case .miss(.damaged): "the stored response is damaged, or the checks of the request reject the response"
    case .changed: "the stored response had to be validated, and the server sent a new response"
    case .bypass(.ignored): "this call does not read from the cache"
    case .bypass(.method): "responses to this method are not served from the cache"
    case .bypass(.range): "the request asks for a part of the body"
    case .bypass(.conditional): "the request has a condition such as If-None-Match"
    }
  }

  /// The reason why the call was sent to the server, as a complete sentence.
  var sentence: String { "The request was sent to the server: \(reason)." }
}
