/// Why a cookie of an answer is not kept.
package enum CookieRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// It holds a control character.
  case control
  /// It has no name.
  case nameless
  /// Name and value are longer than ``Cookie/longest``.
  case tooLong
  /// Its `Domain` is no host name in ASCII.
  case invalidDomain
  /// Its `Domain` does not hold the host that sent it.
  case foreignDomain
  /// Its `Domain` is a name below which strangers live.
  case publicSuffix
  /// Its `Domain` is wider than the host, and nobody knows whether strangers live there.
  case unknownSuffix
  /// It is `Secure`, and came in cleartext.
  case insecure
  /// It came in cleartext, and there is a `Secure` one that it would take the place of.
  case coversSecure
  /// Its name begins with `__Secure-` or `__Host-`, and it does not keep what that promises.
  case prefix

  package var description: String {
    switch self {
    case .control: "it holds a control character"
    case .nameless: "it has no name"
    case .tooLong: "name and value are longer than \(Cookie.longest) bytes"
    case .invalidDomain: "its Domain is no host name"
    case .foreignDomain: "its Domain does not hold the host that sent it"
    case .publicSuffix: "its Domain is a public suffix"
    case .unknownSuffix: "its Domain is wider than its host, and the jar has no list of public suffixes"
    case .insecure: "it is Secure and came over http"
    case .coversSecure: "it came over http and would take the place of a Secure one"
    case .prefix: "it does not keep what its name's prefix promises"
    }
  }
}
