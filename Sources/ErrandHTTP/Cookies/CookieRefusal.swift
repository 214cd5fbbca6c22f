/// The reason why a cookie of a response is not stored.
package enum CookieRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The cookie contains a control character.
  case control
  /// The cookie has no name.
  case nameless
  /// The name and the value together are longer than ``Cookie/longest`` bytes.
  case tooLong
  /// The `Domain` of the cookie is not a host name in ASCII.
  case invalidDomain
  /// The `Domain` of the cookie does not cover the host that sent the cookie.
  case foreignDomain
  /// The `Domain` of the cookie is a public suffix.
  case publicSuffix
  /// The `Domain` of the cookie covers several hosts, and the jar has no list of public suffixes.
  case unknownSuffix
  /// The cookie is `Secure`, but was sent without TLS.
  case insecure
  /// The cookie was sent without TLS and would replace a `Secure` cookie.
  case coversSecure
  /// The name of the cookie begins with `__Secure-` or `__Host-`, and the cookie violates the requirements of that
  /// prefix.
  case prefix

  package var description: String {
    switch self {
    case .control: "the cookie contains a control character"
    case .nameless: "the cookie has no name"
    case .tooLong: "the name and the value of the cookie have more than \(Cookie.longest) bytes together"
    case .invalidDomain: "the Domain of the cookie is not a host name"
    case .foreignDomain: "the Domain of the cookie does not cover the host that sent the cookie"
    case .publicSuffix: "the Domain of the cookie is a public suffix"
    case .unknownSuffix:
      "the Domain of the cookie covers several hosts, and the jar has no list of public suffixes"
    case .insecure: "the cookie is Secure but was sent over http"
    case .coversSecure: "the cookie was sent over http and would replace a Secure cookie"
    case .prefix:
      "the name of the cookie begins with __Secure- or __Host-, and the cookie violates the requirements of that prefix"
    }
  }
}
