import Foundation

/// Changes URLs inside a longer text, such as a log line or a recording.
package enum URLText {
  /// Returns the text with changed URLs. The closure `items` changes each query and each fragment. The closure
  /// `userInfo` changes the user name and the password of the first URL.
  ///
  /// The function compares Unicode scalars, not characters. A question mark followed by a combining accent is another
  /// `Character` than a question mark, so a search for characters would miss it.
  package static func changing(
    _ text: String, items: (String) -> String, userInfo: (String) -> String
  ) -> String {
    guard text.utf8.contains(where: { $0 == 0x3F || $0 == 0x23 || $0 == 0x40 }) else { return text }
    var result = ""
    var rest = text.unicodeScalars[...]
    while let start = rest.firstIndex(where: { $0 == "?" || $0 == "#" }) {
      let after = rest.index(after: start)
      let end = rest[after...].firstIndex { " \t\"<>#?".unicodeScalars.contains($0) } ?? rest.endIndex
      result += String(rest[...start]) + items(String(rest[after..<end]))
      rest = rest[end...]
    }
    return changingUserInfo(of: result + String(rest), by: userInfo)
  }

  private static func changingUserInfo(of text: String, by change: (String) -> String) -> String {
    guard let slashes = text.range(of: "://", options: .literal) else { return text }
    let scalars = text.unicodeScalars[slashes.upperBound...]
    let authority = scalars.prefix { !"/?#".unicodeScalars.contains($0) }
    guard let at = authority.lastIndex(of: "@") else { return text }
    return String(text[..<slashes.upperBound]) + change(String(authority[..<at])) + String(scalars[at...])
  }
}
