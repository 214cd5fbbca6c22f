import ErrandCore
import Foundation

extension Masking {
  /// How much of a text that is no JSON as a whole has to be JSON.
  private enum Expectation {
    /// Every line of it.
    case all
    /// What begins like JSON.
    case some
    /// Nothing.
    case none

    init(_ type: MediaType?, _ body: Data) {
      switch type?.essence {
      case let essence? where essence.contains("json"): self = .all  // ASCII
      // A zero byte stands in no text, and text without a type could be a picture.
      case nil, "text/plain", "text/event-stream": self = body.contains(0) ? .none : .some
      default: self = .none
      }
    }
  }

  /// Lines that are JSON, as in a stream of values or events.
  ///
  /// What should be JSON and cannot be read, as where a body broke off, is masked whole: of a field of events all of its
  /// lines, of anything else all that follows, since nobody knows where it ends.
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

  /// A line that is JSON behind words at most; nil for any other.
  private mutating func masked(_ line: TextLine) -> Data? {
    let (words, value) = line.parts
    return value.isEmpty ? nil : json(value).map { words + $0 }
  }

  /// The lines of one field of an event: each a value of its own, or all of them together one.
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

/// A line of a body, taken apart as far as masking needs it.
struct TextLine {
  static let end = UInt8(ascii: "\n")

  let whole: Data
  /// The name of a field with its colon, as in server-sent events; nil where none stands at the beginning.
  let name: Data?
  /// What stands behind the name.
  let content: Data

  init(_ line: Data) {
    whole = Data(line)
    let letters = whole.prefix { Self.isBlank($0) || Self.isLetter($0) }
    let isField = letters.contains { Self.isLetter($0) } && whole.dropFirst(letters.count).first == Self.colon
    name = isField ? Data(whole.prefix(letters.count + 1)) : nil
    content = isField ? Data(whole.dropFirst(letters.count + 1)) : whole
  }

  var isBlank: Bool { whole.allSatisfy { Self.isBlank($0) } }

  /// Whether its content begins as an object or an array does; `[DONE]` and `[info]` are none.
  var beginsAsJSON: Bool {
    let text = content.drop { Self.isBlank($0) }
    guard text.first == UInt8(ascii: "[") else { return text.first == UInt8(ascii: "{") }
    guard let next = text.dropFirst().first(where: { !Self.isBlank($0) }) else { return true }
    return !Self.isLetter(next) || "tfn".utf8.contains(next)
  }

  /// Words and colons at the beginning, and an object or array behind them; that is empty where there is none.
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

  /// Blanks, the bytes of a byte order mark and the separator of JSON text sequences (RFC 7464) among them.
  private static func isBlank(_ byte: UInt8) -> Bool { " \t\r\u{1E}\u{FEFF}".utf8.contains(byte) }
}
