import Errand
import ErrandJSON
import Foundation

/// Recognizes secrets by their names, so that they are not printed.
enum Secrets {
  /// The replacement of a secret.
  static let mask = "•••"

  private static let parts = [
    "auth", "cookie", "credential", "key", "pass", "secret", "session", "signature", "token",
  ]
  private static let words: Set<String> = ["code", "jwt", "otp", "pin", "pwd", "sig"]

  /// Whether a field, an argument or a key probably contains a secret.
  static func isSecret(_ name: some StringProtocol) -> Bool {
    let plain = name.lowercased()
    return words.contains(plain) || parts.contains { plain.contains($0) }
  }

  /// A query or a form with the values of secret names masked.
  static func maskedPairs(_ text: some StringProtocol) -> String {
    // Splits scalars: to Swift, a separator followed by a combining accent is another character.
    let pairs = Substring(text).unicodeScalars.split(separator: "&", omittingEmptySubsequences: false)
    return pairs.map { pair in
      guard let equals = pair.firstIndex(of: "=") else { return String(pair) }
      let name = String(pair[..<equals])
      return isSecret(name.removingPercentEncoding ?? name) ? String(pair[...equals]) + mask : String(pair)
    }.joined(separator: "&")
  }

  /// A JSON or form body with the values of secret names masked.
  static func maskedBody(_ text: String) -> String {
    guard let value = try? JSONValue(parsing: Data(text.utf8)) else { return maskedPairs(text) }
    return masked(value).description
  }

  private static func masked(_ value: JSONValue) -> JSONValue {
    switch value.content {
    case .object(let members):
      .object(
        Dictionary(uniqueKeysWithValues: members.map { ($0, isSecret($0) ? .string(mask) : masked($1)) }))
    case .array(let elements): .array(elements.map(masked))
    default: value
    }
  }

  /// A request target, or a text with URLs, with masked user information and masked secret values in every query and
  /// fragment.
  static func maskedTarget(_ target: String) -> String {
    URLText.changing(target, items: { maskedPairs($0) }, userInfo: { _ in mask })
  }

  /// The value of a field in the form that is printed. A secret is masked, but the scheme of a credential stays
  /// visible.
  static func shown(_ value: String, of name: String) -> String {
    guard isSecret(name) else { return value }
    let kind = value.split(separator: " ", maxSplits: 1)
    return name.lowercased() == "authorization" && kind.count == 2 ? "\(kind[0]) \(mask)" : mask
  }
}
