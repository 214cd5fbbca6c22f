/// The reason why a cookie of a response is not stored.
package enum CookieRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The cookie contains a control character.
  case control
  /// The cookie has no name.
  case nameless
  /// The name and the value together are longer than ``Cookie/longest``.
  case tooLong
  /// The `Domain` of the cookie is not a host name in ASCII.
  case invalidDomain
  /// The `Domain` of the cookie does not cover the host that sent the cookie.
  case foreignDomain
  /// The `Domain` of the cookie is a public suffix.
  case publicSuffix
  /// The `Domain` of the cookie covers more than the host, and the jar has no list of public suffixes.
  case unknownSuffix
  /// The cookie is `Secure`, but was sent without TLS.
  case insecure
  /// The cookie was sent without TLS and would replace a `Secure` cookie.
  case coversSecure
  /// The name begins with `__Secure-` or `__Host-`, and the cookie violates the requirements of that prefix.
  case prefix

  package var description: String {
    switch self {
    case .control: "it contains a control character"
    case .nameless: "it has no name"
    case .tooLong: "its name and value have more than \(Cookie.longest) bytes together"
    case .invalidDomain: "its Domain is not a host name"
    case .foreignDomain: "its Domain does not cover the host that sent it"
    case .publicSuffix: "its Domain is a public suffix"
    case .unknownSuffix:
      "its Domain covers more hosts than the one that sent it, and the jar has no list of public suffixes"
    case .insecure: "it is Secure but was sent over http"
    case .coversSecure: "it was sent over http and would replace a Secure cookie"
    case .prefix: "its name begins with __Secure- or __Host-, and it does not meet the requirements of that prefix"
    }
  }
}
