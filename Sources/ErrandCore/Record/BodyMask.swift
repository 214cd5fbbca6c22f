import ErrandJSON
import ErrandSupport
import Foundation

/// Masks the bytes of bodies for curl commands and for the flight record.
enum BodyMask {
  /// Returns a body without secrets. In JSON, the values whose names suggest a secret are masked, and the secrets in
  /// URLs; in a form, all values. A body of another format is replaced by a text that states its size.
  static func masked(_ body: Data, _ fields: HTTPFields) -> Data {
    if body.isEmpty { return body }
    let type = fields.mediaType
    if type?.isJSON == true, let text = try? JSONValue(parsing: body).masked.serialized() { return text }
    if type?.essence == "application/x-www-form-urlencoded" {
      return Data(Redaction.url("?" + String(decoding: body, as: UTF8.self)).utf8.dropFirst())
    }
    return Data(size(body.count).utf8)
  }

  /// The text that replaces a body of the given size.
  static func size(_ count: Int) -> String { "\(Redaction.mask) \(count) bytes" }

  /// Whether a text is one that ``size(_:)`` returns.
  static func isSize(_ text: String) -> Bool {
    let digits = text.utf8.filter { ASCII.isDigit($0) }.map { String(UnicodeScalar($0)) }.joined()
    return Int(digits).map { text.hasSameBytes(as: size($0)) } ?? false
  }
}

extension JSONValue {
  /// A copy in which the values whose names suggest a secret are masked, and the secrets in URLs. Of a name that often
  /// has other values, too, only texts are masked: `{"code": 0}` is a result, `{"code": "4/0AX…"}` a secret.
  fileprivate var masked: JSONValue {
    switch content {
    case .object(let members):
      .object(
        Dictionary(
          uniqueKeysWithValues: members.map { key, value in
            if JSONMask.isSecret(key: key) { return (key, .string(Redaction.mask)) }
            return (key, SecretName.isSecret(key) ? value.maskedTexts : value.masked)
          }))
    case .array(let elements): .array(elements.map(\.masked))
    case .string(let text): .string(FlightMask.maskedURLs(text))
    default: self
    }
  }

  /// A copy in which the text itself, or the texts in the list, are masked. Objects are masked by the names in them.
  private var maskedTexts: JSONValue {
    switch content {
    case .string: .string(Redaction.mask)
    case .array(let elements): .array(elements.map(\.maskedTexts))
    default: masked
    }
  }
}
