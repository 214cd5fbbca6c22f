import Foundation

/// Short pieces of a document for messages, secrets masked.
enum JSONExcerpt {
  /// The most bytes that an excerpt has.
  static let limit = 120

  /// What contains the place if that is short enough, else what lies at the place, cut to the limit.
  static func around(_ path: JSONPath, in root: JSONValue) -> String {
    if JSONMask.isSecret(path.parent ?? .root) { return "\"\(JSONMask.mark)\"" }
    if let parent = path.parent, let value = root.value(at: parent) {
      let text = masked(value)
      if text.utf8.count <= limit || root.value(at: path) == nil { return cut(text) }
    }
    if JSONMask.isSecret(path) { return "\"\(JSONMask.mark)\"" }
    return root.value(at: path).map { cut(masked($0)) } ?? ""
  }

  /// The beginning of a text that is not JSON, if it is markup: the page of a proxy or of a web server.
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

  /// The text, or as many whole characters of it as fit with an ellipsis.
  private static func cut(_ text: String, to limit: Int = limit) -> String {
    guard text.utf8.count > limit else { return text }
    var short = ""
    var room = limit - JSONMask.mark.utf8.count
    for character in text {
      room -= character.utf8.count
      guard room >= 0 else { break }
      short.append(character)
    }
    return short + JSONMask.mark
  }
}
