import Foundation

/// Masks what nobody should read in a log: query values, credentials in URLs, secret fields.
package enum Redaction {
  package static let mask = "•••"

  /// A URL with the values of its query and its user info masked.
  package static func url(_ text: String) -> String {
    var text = text
    if let start = text.range(of: "://")?.upperBound {
      let end = text[start...].firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? text.endIndex
      if let at = text[start..<end].lastIndex(of: "@") { text.replaceSubrange(start..<at, with: mask) }
    }
    guard let question = text.firstIndex(of: "?") else { return text }
    let pairs = text[text.index(after: question)...].split(separator: "&", omittingEmptySubsequences: false)
    return text[...question] + pairs.map(pair).joined(separator: "&")
  }

  private static func pair(_ pair: Substring) -> String {
    guard let equals = pair.firstIndex(of: "=") else { return String(pair) }
    return pair[...equals] + (pair.index(after: equals) == pair.endIndex ? "" : mask)
  }
}
