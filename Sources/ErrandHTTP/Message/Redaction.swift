import Foundation

/// Prepares text for logs: masks query values, credentials in URLs and secret fields, and escapes line breaks.
package enum Redaction {
  package static let mask = "•••"

  /// Returns the text on one line. Control characters, line separators, bidirectional controls and other invisible
  /// scalars are escaped.
  package static func visible(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isHidden) else { return text }
    return text.unicodeScalars.map { isHidden($0) ? escaped($0) : String($0) }.joined()
  }

  /// Whether a scalar can move the cursor, end the line, change the direction of the text, or is invisible. The
  /// zero-width joiners (U+200C and U+200D) are allowed, because emoji and some scripts need them.
  package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF,
      0xFFF9...0xFFFB:
      true
    // The tags, which repeat ASCII: a person does not see them, but a language model reads them.
    case 0xE0000...0xE007F: true
    default: false
    }
  }

  /// The scalar as Swift code writes it, such as `\u{202e}`.
  package static func escaped(_ scalar: Unicode.Scalar) -> String { "\\u{\(String(scalar.value, radix: 16))}" }

  /// Returns a URL on one line, with the user info, the values of the query and the fragment masked.
  ///
  /// The function compares Unicode scalars, not characters. A question mark followed by a combining accent is another
  /// `Character` than a question mark, so a search for characters would miss it.
  package static func url(_ text: String) -> String {
    var text = visible(text).unicodeScalars
    maskUserInfo(of: &text)
    if let hash = text.firstIndex(of: "#"), text.index(after: hash) < text.endIndex {
      text.replaceSubrange(text.index(after: hash)..., with: mask.unicodeScalars)
    }
    let end = text.firstIndex(of: "#") ?? text.endIndex
    guard let question = text[..<end].firstIndex(of: "?") else { return String(text) }
    let query = text[text.index(after: question)..<end]
    let pairs = query.split(separator: "&", omittingEmptySubsequences: false)  // compares scalars
    return String(text[...question]) + pairs.map(pair).joined(separator: "&") + String(text[end...])
  }

  private static func maskUserInfo(of text: inout String.UnicodeScalarView) {
    guard let start = authorityStart(of: text) else { return }
    let end = text[start...].firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? text.endIndex
    // If the text after the host's colon is not a port number, it is probably a password that contains a slash. The `@`
    // that ends the password is then searched in the whole text.
    let parts = text[start..<end].split(separator: ":")  // compares scalars
    let port = parts.dropFirst().last ?? "0".unicodeScalars[...]
    let reach = port.allSatisfy { ("0"..."9").contains($0) || $0 == "]" } ? end : text.endIndex
    if let at = text[start..<reach].lastIndex(of: "@") { text.replaceSubrange(start..<at, with: mask.unicodeScalars) }
  }

  /// The position after `//` at the start of the text; otherwise the position after the first `://`.
  private static func authorityStart(of text: String.UnicodeScalarView) -> String.Index? {
    if text.starts(with: "//".unicodeScalars) { return text.index(text.startIndex, offsetBy: 2) }
    var rest = text[...]
    while let colon = rest.firstIndex(of: ":") {
      rest = text[text.index(after: colon)...]
      if rest.starts(with: "//".unicodeScalars) { return text.index(rest.startIndex, offsetBy: 2) }
    }
    return nil
  }

  /// Masks the value of one query item (`name=value`). An item without an equals sign is masked completely, because the
  /// whole item may be a secret.
  private static func pair(_ pair: Substring.UnicodeScalarView) -> String {
    guard let equals = pair.firstIndex(of: "=") else { return pair.isEmpty ? "" : mask }
    return String(pair[...equals]) + (pair.index(after: equals) == pair.endIndex ? "" : mask)
  }
}

/// Changes URLs inside a longer text, such as a log line or a recording.
///
/// The functions compare Unicode scalars, not characters. A question mark followed by a combining accent is another
/// `Character` than a question mark, so a search for characters would miss it.
package enum URLText {
  /// Returns the new value of a query item; nil if the item stays as it is. The name and the value are passed as they
  /// are written.
  package typealias Change = (_ name: Substring, _ value: Substring) -> String?

  /// Returns the text with changed URLs. The closure `item` changes the items of each query and each fragment. The
  /// closure `userInfo` changes the user name and the password of each URL.
  package static func changing(_ text: String, item: Change, userInfo: (String) -> String) -> String {
    guard text.utf8.contains(where: { $0 == 0x3F || $0 == 0x23 || $0 == 0x40 }) else { return text }
    var result = ""
    var rest = text.unicodeScalars[...]
    while let start = rest.firstIndex(where: isMark) {
      let after = rest.index(after: start)
      let end = rest[after...].firstIndex { " \t\"<>".unicodeScalars.contains($0) } ?? rest.endIndex
      result += String(rest[...start]) + changing(items: rest[after..<end], item)
      rest = rest[end...]
    }
    return changingUserInfo(of: result + String(rest), by: userInfo)
  }

  /// Returns a query, a fragment or a form with changed items.
  package static func changing(items: String, _ change: Change) -> String {
    changing(items: items.unicodeScalars[...], change)
  }

  private static func changing(items: Substring.UnicodeScalarView, _ change: Change) -> String {
    let parts = items.split(separator: "&", omittingEmptySubsequences: false)  // compares scalars
    return parts.map { changing(item: $0, change) }.joined(separator: "&")
  }

  /// A value that is changed extends to the end of the item, also if it contains a question mark or a number sign. The
  /// other values are searched for items of their own, as in `next=/page?token=…`.
  private static func changing(item: Substring.UnicodeScalarView, _ change: Change) -> String {
    var result = ""
    var rest = item
    while true {
      let end = rest.firstIndex(where: isMark)
      if let equals = rest[..<(end ?? rest.endIndex)].firstIndex(of: "=") {
        let value = Substring(rest[rest.index(after: equals)...])
        if let new = change(Substring(rest[..<equals]), value) { return result + String(rest[...equals]) + new }
      }
      guard let end else { return result + String(rest) }
      result += String(rest[...end])
      rest = rest[rest.index(after: end)...]
    }
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool { scalar == "?" || scalar == "#" }

  /// The authority of a URL ends where the URL ends, or where the text around it continues, as in a `Link` field. A URL
  /// at the start of a text is the whole text, also if its password has characters that should be percent-encoded.
  private static func changingUserInfo(of text: String, by change: (String) -> String) -> String {
    guard text.utf8.contains(UInt8(ascii: "@")) else { return text }
    var changed: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
      let isWhole = changed.isEmpty && rest[..<colon].allSatisfy(isOfScheme)
      changed += rest[...colon]
      rest = rest[(colon + 1)...]
      guard rest.starts(with: "//".utf8) else { continue }
      changed += rest.prefix(2)
      rest = rest.dropFirst(2)
      let ends = isWhole ? "/?#" : "/?#\"<> \t\r\n"
      let authority = rest.prefix { !ends.utf8.contains($0) }
      guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { continue }
      changed += change(String(decoding: authority[..<at], as: UTF8.self)).utf8
      rest = rest[at...]
    }
    return String(decoding: changed + rest, as: UTF8.self)
  }

  private static func isOfScheme(_ byte: UInt8) -> Bool { ASCII.isAlphanumeric(byte) || "+-.".utf8.contains(byte) }
}

/// A value that is printed without its secrets. An interpolated text, a collection of such values and the debugger show
/// only the ``description``; `dump(_:)` shows only the ``shownParts``.
package protocol Masked: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The parts that `dump(_:)` shows; by default only the description.
  var shownParts: KeyValuePairs<String, Any> { get }
}

extension Masked {
  package var shownParts: KeyValuePairs<String, Any> { ["description": description] }
  /// The same as `description`.
  public var debugDescription: String { description }
  /// The mirror that a dump shows, without secrets.
  public var customMirror: Mirror { Mirror(self, children: shownParts) }
}
