import ErrandJSON
import ErrandSupport

/// Recognizes secrets by their names, for outputs that people and agents read.
///
/// The rule masks more than the rule for JSON keys: a masked value that is no secret costs little there. A redirect to
/// another origin does not take along fields with such names, unless its policy lists them.
package enum SecretName {
  private static let parts = [
    "auth", "cookie", "credential", "key", "pass", "secret", "session", "signature", "token",
  ]
  /// In addition to common names, the parameters of log-ins by RFC 6749, RFC 7521, RFC 7636, RFC 8628 and SAML.
  private static let words: Set<String> = [
    "assertion", "clientassertion", "code", "codeverifier", "devicecode", "jwt", "otp", "pin", "pwd", "samlresponse",
    "sig",
  ]
  /// Fields whose names contain a word of a secret, but whose values are public.
  private static let publicFields: Set<HTTPFieldName> = [
    ":authority", "Access-Control-Allow-Credentials", "Proxy-Authenticate", "WWW-Authenticate",
  ]

  /// Whether an argument, a query item or a key probably contains a secret.
  package static func isSecret(_ name: some StringProtocol) -> Bool {
    let plain = name.asciiLetters
    return words.contains(plain) || parts.contains { plain.contains(bytesOf: $0) }
      || JSONMask.isSecret(key: String(name))
  }

  /// Whether a query item probably contains a secret, given its name as it is written in the query.
  package static func isSecret(encoded name: Substring) -> Bool {
    if isSecret(name) { return true }
    // Most names are not encoded.
    return name.utf8.contains { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") } && isSecret(decoded(name))
  }

  /// Whether a header field probably contains a secret.
  package static func isSecret(_ name: HTTPFieldName) -> Bool {
    !publicFields.contains(name) && isSecret(name.rawValue)
  }

  /// A name or a value of a query or a form without percent-encoding.
  static func decoded(_ text: Substring) -> String {
    PercentEncoding.decoded(text.utf8, plusIsSpace: true).map { String(decoding: $0, as: UTF8.self) } ?? String(text)
  }
}
