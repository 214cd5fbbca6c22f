import Errand
import ErrandCore
import ErrandJSON
import ErrandSupport
import Foundation

/// Recognizes secrets by their names, so that they are not printed.
enum Secrets {
  static let mask = Redaction.mask

  /// Whether a field, an argument or a key probably contains a secret.
  static func isSecret(_ name: some StringProtocol) -> Bool { SecretName.isSecret(name) }

  /// Returns a query or a form in which the values of secret names are masked.
  static func maskedPairs(_ text: some StringProtocol) -> String {
    URLText.changing(items: String(text), masked)
  }

  /// The text for a secret value of a query or a form; nil if the value is not secret.
  private static func masked(_ name: Substring, _ value: Substring) -> String? {
    isSecret(name.removingPercentEncoding ?? String(name)) ? mask : nil
  }

  /// Returns a JSON or form body in which the values of secret names are masked.
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

  /// Returns a request target, or a text with URLs, in which the user information and the secret values of every query
  /// and fragment are masked.
  static func maskedTarget(_ target: String) -> String {
    URLText.changing(target, item: masked, userInfo: { _ in mask })
  }

  /// The printed form of a field's value. A secret is masked, but the scheme of a credential stays visible.
  static func shown(_ value: String, of name: String) -> String {
    guard isSecret(name) else { return value }
    guard HTTPFieldName(name) == .authorization, let (scheme, _) = value.cut(at: " ") else { return mask }
    return "\(scheme) \(mask)"
  }
}
