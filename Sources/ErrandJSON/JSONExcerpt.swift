import Foundation

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
