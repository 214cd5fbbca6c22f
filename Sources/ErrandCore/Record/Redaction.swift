import Foundation

/// Masks what nobody should read in a log: query values, credentials in URLs, secret fields, line breaks of others.
package enum Redaction {
  package static let mask = "•••"

  /// A text on one line: control characters and line separators are written as escapes.
  package static func visible(_ text: String) -> String {
    let isHidden: (Unicode.Scalar) -> Bool = {
      $0.value < 0x20 || (0x7F...0x9F).contains($0.value) || $0.value == 0x2028 || $0.value == 0x2029
    }
    guard text.unicodeScalars.contains(where: isHidden) else { return text }
    return text.unicodeScalars.map { isHidden($0) ? "\\u{\(String($0.value, radix: 16))}" : String($0) }.joined()
  }

  /// A URL on one line; its user info, the values of its query and its fragment masked.
  package static func url(_ text: String) -> String {
    var text = visible(text)
    if let start = (text.hasPrefix("//") ? text.range(of: "//") : text.range(of: "://"))?.upperBound {
      let end = text[start...].firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? text.endIndex
      // Where no port follows the colon, a password with a slash in it was meant.
      let port = text[start..<end].split(separator: ":").dropFirst().last ?? "0"
      let reach = port.allSatisfy { $0.isASCII && $0.isNumber || $0 == "]" } ? end : text.endIndex
      if let at = text[start..<reach].lastIndex(of: "@") { text.replaceSubrange(start..<at, with: mask) }
    }
    if let hash = text.firstIndex(of: "#"), text.index(after: hash) < text.endIndex {
      text.replaceSubrange(text.index(after: hash)..., with: mask)
    }
    let end = text.firstIndex(of: "#") ?? text.endIndex
    guard let question = text[..<end].firstIndex(of: "?") else { return text }
    let pairs = text[text.index(after: question)..<end].split(separator: "&", omittingEmptySubsequences: false)
    return text[...question] + pairs.map(pair).joined(separator: "&") + text[end...]
  }

  /// A word without a value may itself be the secret.
  private static func pair(_ pair: Substring) -> String {
    guard let equals = pair.firstIndex(of: "=") else { return pair.isEmpty ? "" : mask }
    return pair[...equals] + (pair.index(after: equals) == pair.endIndex ? "" : mask)
  }
}
