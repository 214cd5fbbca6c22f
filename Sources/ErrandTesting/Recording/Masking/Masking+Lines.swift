import ErrandCore
import Foundation

extension Masking {
  /// The rule that decides which lines must be JSON. It is used for a body that is not JSON as a whole.
  private enum Expectation {
    /// Every line must be JSON.
    case all
    /// A line must be JSON if it begins like a JSON object or array.
    case some
    /// Every line may be any text.
    case none

    init(_ type: MediaType?, _ body: Data) {
      switch type?.essence {
      case let essence? where essence.contains("json"): self = .all  // ASCII
      // A text has no zero bytes. A body with zero bytes and without a content type could be an image.
      case nil, "text/plain", "text/event-stream": self = body.contains(0) ? .none : .some
      default: self = .none
      }
    }
  }

  /// Masks the lines of a body that are JSON, as in a stream of values or events.
  ///
  /// JSON that cannot be parsed, for example because the body is incomplete, is masked completely. If such JSON is in a
  /// field of a server-sent event, all lines of the field are masked. Elsewhere, the end of such JSON is unknown, so
  /// the rest of the body is masked.
  mutating func lines(_ body: Data, _ type: MediaType?) -> Data {
    let expectation = Expectation(type, body)
    var written: [Data] = []
    var rest = body.split(separator: TextLine.end, omittingEmptySubsequences: false).map { TextLine($0) }[...]
    while let line = rest.first {
      if expectation == .some, let name = line.name {
        let field = rest.prefix { $0.name == name }
        rest = rest.dropFirst(field.count)
        written += self.field(Array(field))
      } else if let masked = masked(line) {
        written.append(masked)
        rest = rest.dropFirst()
      } else if line.isBlank || expectation == .none || expectation == .some && !line.beginsAsJSON {
        written.append(line.whole)
        rest = rest.dropFirst()
      } else {
        written.append(Data(RecordingMask.mark.utf8))
        rest = []
      }
    }
    return Data(written.joined(separator: [TextLine.end]))
  }

  /// The masked line if the line is JSON; nil for all other lines. Words may precede the JSON, such as the field name
  /// `data:`.
  private mutating func masked(_ line: TextLine) -> Data? {
    let (words, value) = line.parts
    return value.isEmpty ? nil : json(value).map { words + $0 }
  }

  /// Masks the lines of one field of a server-sent event. Either each line is a JSON value, or all lines together are
  /// one value.
  private mutating func field(_ lines: [TextLine]) -> [Data] {
    let whole = lines.map(\.whole)
    var masked: [Data] = []
    for line in lines {
      guard let value = self.masked(line) ?? (line.beginsAsJSON ? nil : line.whole) else { break }
      masked.append(value)
    }
    if masked.count == lines.count { return masked }
    let value = Data(lines.map(\.content).joined(separator: [TextLine.end]))
    let text = json(value) ?? Data(RecordingMask.mark.utf8)
    return text == value ? whole : [(lines.first?.name ?? Data()) + Data(" ".utf8) + text]
  }
}

/// A line of a body, divided into the parts that masking needs.
struct TextLine {
  static let end = UInt8(ascii: "\n")

  let whole: Data
  /// The name of a field and the colon after it, as in server-sent events; nil if the line does not begin with a name.
  let name: Data?
  /// The content after the field name. If the line has no field name, this is the whole line.
  let content: Data

  init(_ line: Data) {
    whole = Data(line)
    let letters = whole.prefix { Self.isBlank($0) || Self.isLetter($0) }
    let isField = letters.contains { Self.isLetter($0) } && whole.dropFirst(letters.count).first == Self.colon
    name = isField ? Data(whole.prefix(letters.count + 1)) : nil
    content = isField ? Data(whole.dropFirst(letters.count + 1)) : whole
  }

  var isBlank: Bool { whole.allSatisfy { Self.isBlank($0) } }

  /// Whether the content begins like a JSON object or array. `[DONE]` and `[info]` do not begin like JSON.
  var beginsAsJSON: Bool {
    let text = content.drop { Self.isBlank($0) }
    guard text.first == UInt8(ascii: "[") else { return text.first == UInt8(ascii: "{") }
    guard let next = text.dropFirst().first(where: { !Self.isBlank($0) }) else { return true }
    return !Self.isLetter(next) || "tfn".utf8.contains(next)
  }

  /// The words and colons at the beginning of the line, and the JSON text after them. The JSON text is empty if the
  /// line has no JSON.
  var parts: (words: Data, value: Data) {
    let words = whole.prefix { Self.isBlank($0) || Self.isLetter($0) || $0 == Self.colon }
    let value = whole.dropFirst(words.count)
    let isJSON = value.first.map { "{[\"".utf8.contains($0) } ?? false
    return (Data(words), isJSON ? Data(value) : Data())
  }

  private static let colon = UInt8(ascii: ":")

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte & 0xDF)
  }

  /// Whether the byte is white space, part of a byte order mark, or the separator of JSON text sequences (RFC 7464).
  private static func isBlank(_ byte: UInt8) -> Bool { " \t\r\u{1E}\u{FEFF}".utf8.contains(byte) }
}
