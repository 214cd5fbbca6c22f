import ErrandSupport
import Foundation

/// Decides which parts of a JSON text must not appear in messages and logs.
package enum JSONMask {
  /// The replacement for a masked value.
  static let mark = "…"

  /// The maximum number of characters of a string that is shown. Longer strings are masked.
  static let longestShown = 24

  /// Whether a string is too long to be shown.
  static func isLong(_ string: String) -> Bool {
    string.utf8.count > longestShown && !string.dropFirst(longestShown).isEmpty
  }

  /// Whether the values under a key are probably secrets. The words in the key decide.
  package static func isSecret(key: String) -> Bool {
    let plain = key.asciiLetters
    return fragments.contains { plain.contains(bytesOf: $0) } || !words(of: key).isDisjoint(with: secretWords)
      || plain.hasSuffix("key")  // `plain` is ASCII, so no combining mark can hide the suffix
  }

  /// Whether the name of any key on a path suggests a secret.
  static func isSecret(_ path: JSONPath) -> Bool {
    path.steps.contains { if case .key(let key) = $0 { isSecret(key: key) } else { false } }
  }

  private static let fragments = [
    "password", "passwd", "passphrase", "passcode", "token", "secret", "authorization", "credential", "cookie",
    "signature",
    "privatekey", "apikey", "sessionid",
  ]

  private static let secretWords: Set<String> = [
    "key", "keys", "auth", "pwd", "pin", "otp", "jwt", "sid", "cvv", "cvc", "ssn", "iban", "bearer", "session",
  ]

  /// The words of a key in lower case: `apiKey`, `api_key` and `API-Key` give "api" and "key". Combining accents and
  /// invisible scalars are left out, so that they do not hide a word.
  private static func words(of key: String) -> Set<String> {
    if key.utf8.allSatisfy({ $0 < 0x80 }) { return words(ofASCII: key) }
    var words: Set<String> = []
    var word = ""
    var wasLower = false
    for scalar in key.unicodeScalars {
      let properties = scalar.properties
      if properties.isGraphemeExtend || properties.generalCategory == .format { continue }
      if !properties.isAlphabetic || (wasLower && properties.isUppercase) {
        words.insert(word)
        word = ""
      }
      if properties.isAlphabetic { word += properties.lowercaseMapping }
      wasLower = properties.isLowercase
    }
    words.insert(word)
    return words
  }

  /// The same for a key in ASCII, which needs no properties of Unicode. A flight record tests the name of each field.
  private static func words(ofASCII key: String) -> Set<String> {
    var words: Set<String> = []
    var word = ""
    var wasLower = false
    for byte in key.utf8 {
      let (isUpper, isLower) = (0x41...0x5A ~= byte, 0x61...0x7A ~= byte)
      if !(isUpper || isLower) || (wasLower && isUpper) {
        words.insert(word)
        word = ""
      }
      if isUpper || isLower { word.unicodeScalars.append(Unicode.Scalar(byte | 0x20)) }
      wasLower = isLower
    }
    words.insert(word)
    return words
  }
}

/// Short excerpts of a document for messages, with secrets masked.
enum JSONExcerpt {
  /// The maximum length of an excerpt, in bytes.
  static let limit = 120

  /// Returns a short excerpt of the document around the value at a path:
  /// - The text of the value's container if this text is within the limit, or if the value is missing.
  /// - Otherwise the text of the value itself.
  ///
  /// An excerpt that exceeds the limit is truncated.
  static func around(_ path: JSONPath, in root: JSONValue) -> String {
    if JSONMask.isSecret(path.parent ?? .root) { return "\"\(JSONMask.mark)\"" }
    if let parent = path.parent, let value = root.value(at: parent) {
      let text = masked(value)
      if text.utf8.count <= limit || root.value(at: path) == nil { return cut(text) }
    }
    if JSONMask.isSecret(path) { return "\"\(JSONMask.mark)\"" }
    return root.value(at: path).map { cut(masked($0)) } ?? ""
  }

  /// The beginning of a text that is not JSON but markup, such as an error page of a proxy or a web server.
  static func markup(in data: Data) -> String {
    let text = String(decoding: data.prefix(256), as: UTF8.self)
    guard let start = text.firstIndex(where: { !$0.isWhitespace && $0 != "\u{FEFF}" }), text[start] == "<" else {
      return ""
    }
    return cut(String(text[start...].prefix { !$0.isNewline }), to: 48)
  }

  private static func masked(_ value: JSONValue) -> String {
    var writer = JSONWriter(strict: false, masking: true, limit: limit + 1)
    do throws(JSONError) { try writer.write(value) } catch { return "" }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Truncates a text that exceeds the limit: keeps as many whole characters as fit, and appends an ellipsis.
  private static func cut(_ text: String, to limit: Int = limit) -> String {
    guard text.utf8.count > limit else { return text }
    var short = ""
    var bytesLeft = limit - JSONMask.mark.utf8.count
    for character in text {
      bytesLeft -= character.utf8.count
      guard bytesLeft >= 0 else { break }
      short.append(character)
    }
    return short + JSONMask.mark
  }
}
