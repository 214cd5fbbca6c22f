/// Reads scalars and white space of YAML.
struct YAMLScanner {
  private let bytes: [UInt8]
  private var here = 0
  private(set) var line = 1
  private var lineStart = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
  }

  var next: UInt8 { here < bytes.count ? bytes[here] : 0 }
  var isAtEnd: Bool { here >= bytes.count }
  var column: Int { here - lineStart }
  var place: (line: Int, column: Int) { (line, column + 1) }
  private var isBreak: Bool { next == 0x0A || next == 0x0D }

  /// Whether only a comment or nothing follows on the line.
  var isAtLineEnd: Bool { isAtEnd || isBreak || next == UInt8(ascii: "#") }

  func error(_ reason: String) -> DocumentError { DocumentError(reason: reason, line: line, column: column + 1) }

  func isSpace(after count: Int) -> Bool {
    here + count >= bytes.count || [0x20, 0x09, 0x0A, 0x0D].contains(bytes[here + count])
  }

  func startsMarker(_ marker: String) -> Bool {
    column == 0 && bytes[here...].starts(with: marker.utf8) && isSpace(after: 3)
  }

  mutating func advance(_ count: Int) { here = min(here + count, bytes.count) }
  mutating func skipSpaces() { while next == 0x20 || next == 0x09 { here += 1 } }

  private mutating func skipBreak() {
    here += next == 0x0D && here + 1 < bytes.count && bytes[here + 1] == 0x0A ? 2 : 1
    line += 1
    lineStart = here
  }

  private mutating func skipComment() { while !isAtEnd, !isBreak { here += 1 } }

  /// Skips white space, empty lines and comments up to the next value. A tab in the indentation is an error.
  mutating func skipBlank() throws(DocumentError) {
    while !isAtEnd {
      if next == 0x20 {
        here += 1
      } else if next == 0x09 {
        guard bytes[lineStart..<here].contains(where: { $0 != 0x20 && $0 != 0x09 }) else {
          throw error("a tab cannot indent a line; use spaces")
        }
        here += 1
      } else if isBreak {
        skipBreak()
      } else if next == UInt8(ascii: "#"), here == lineStart || [0x20, 0x09].contains(bytes[here - 1]) {
        skipComment()
      } else {
        return
      }
    }
  }

  mutating func skipFlowSpace() throws(DocumentError) {
    while !isAtEnd {
      if next == 0x20 || next == 0x09 {
        here += 1
      } else if isBreak {
        skipBreak()
      } else if next == UInt8(ascii: "#") {
        skipComment()
      } else {
        return
      }
    }
    throw error("a bracket is not closed")
  }

  /// The name of an anchor or an alias.
  mutating func name() -> String {
    let start = here
    while !isAtEnd, ![0x20, 0x09, 0x0A, 0x0D, 0x2C, 0x5B, 0x5D, 0x7B, 0x7D].contains(next) { here += 1 }
    return String(decoding: bytes[start..<here], as: UTF8.self)
  }

  mutating func anchor() throws(DocumentError) -> String? {
    guard next == UInt8(ascii: "&") else { return nil }
    here += 1
    let name = name()
    guard !name.isEmpty else { throw error("the name of the anchor is missing") }
    skipSpaces()
    return name
  }

  // MARK: - Keys

  /// Whether a key with a colon begins here.
  func startsKey() throws(DocumentError) -> Bool {
    if "{[|>!&".utf8.contains(next) { return false }
    var copy = self
    if next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") {
      _ = try copy.quoted()
      guard copy.line == line else { return false }
    } else {
      copy.skipPlain()
    }
    copy.skipSpaces()
    return copy.next == UInt8(ascii: ":") && copy.isSpace(after: 1)
  }

  /// Reads a key and its colon.
  mutating func key() throws(DocumentError) -> String {
    let start = here
    var text = ""
    if next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") {
      text = try quoted()
    } else {
      skipPlain()
      text = trimmed(start, here)
    }
    skipSpaces()
    here += 1
    return text
  }

  mutating func flowKey() throws(DocumentError) -> String {
    if next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") { return try quoted() }
    if "!&".utf8.contains(next) { throw error("anchors and tags in brackets are not supported") }
    let text = flowPlain()
    guard !text.isEmpty else { throw error("a key is missing") }
    return text
  }

  /// Skips plain text up to a colon or a comment, or to the end of the line.
  private mutating func skipPlain() {
    while !isAtEnd, !isBreak {
      if next == UInt8(ascii: ":"), isSpace(after: 1) { return }
      if next == UInt8(ascii: "#"), here > lineStart, [0x20, 0x09].contains(bytes[here - 1]) { return }
      here += 1
    }
  }

  private func trimmed(_ start: Int, _ end: Int) -> String {
    var end = end
    while end > start, [0x20, 0x09].contains(bytes[end - 1]) { end -= 1 }
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }

  // MARK: - Scalars

  /// Reads a plain scalar of one or more lines.
  mutating func plain(parent: Int) throws(DocumentError) -> String {
    var text = ""
    var breaks = 0
    while true {
      let start = here
      skipPlain()
      if next == UInt8(ascii: ":"), !isAtEnd { throw error("a mapping cannot begin here; put the text in quotes") }
      let row = trimmed(start, here)
      if !text.isEmpty || breaks > 0 { text += breaks == 1 ? " " : String(repeating: "\n", count: max(0, breaks - 1)) }
      text += row
      guard !isAtEnd, isBreak else { return text }
      let before = self
      breaks = 0
      while !isAtEnd, isBreak {
        skipBreak()
        breaks += 1
        while next == 0x20 { here += 1 }
      }
      let ends = isAtEnd || column <= parent || next == UInt8(ascii: "#") || startsMarker("---") || startsMarker("...")
      if ends {
        self = before
        return text
      }
    }
  }

  mutating func flowPlain() -> String {
    let start = here
    while !isAtEnd, !isBreak, ![0x2C, 0x5B, 0x5D, 0x7B, 0x7D].contains(next) {
      let isColon = next == UInt8(ascii: ":") && (isSpace(after: 1) || [0x2C, 0x5D, 0x7D].contains(bytes[here + 1]))
      if isColon || (next == UInt8(ascii: "#") && here > start && bytes[here - 1] == 0x20) { break }
      here += 1
    }
    return trimmed(start, here)
  }

  /// Reads a scalar in single or double quotes. Line breaks in it become spaces.
  mutating func quoted() throws(DocumentError) -> String {
    let quote = next
    let start = error("the quote is not closed")
    var text: [UInt8] = []
    here += 1
    while true {
      guard !isAtEnd else { throw start }
      let byte = next
      if byte == quote {
        here += 1
        guard quote == UInt8(ascii: "'"), next == quote else { return String(decoding: text, as: UTF8.self) }
        text.append(quote)
        here += 1
      } else if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
        here += 1
        try escape(into: &text)
      } else if isBreak {
        fold(into: &text)
      } else {
        text.append(byte)
        here += 1
      }
    }
  }

  private mutating func fold(into text: inout [UInt8]) {
    while let last = text.last, last == 0x20 || last == 0x09 { text.removeLast() }
    var breaks = 0
    while !isAtEnd, isBreak {
      skipBreak()
      breaks += 1
      skipSpaces()
    }
    text += breaks == 1 ? [0x20] : Array(repeating: 0x0A, count: breaks - 1)
  }

  private mutating func escape(into text: inout [UInt8]) throws(DocumentError) {
    let simple: [UInt8: String] = [
      0x22: "\"", 0x5C: "\\", 0x2F: "/", 0x62: "\u{8}", 0x66: "\u{C}", 0x6E: "\n", 0x72: "\r", 0x74: "\t", 0x20: " ",
      0x30: "\0", 0x61: "\u{7}", 0x65: "\u{1B}", 0x76: "\u{B}", 0x4E: "\u{85}", 0x5F: "\u{A0}", 0x4C: "\u{2028}",
      0x50: "\u{2029}",
    ]
    if let scalar = simple[next] {
      here += 1
      return text += Array(scalar.utf8)
    }
    if isBreak {
      skipBreak()
      return skipSpaces()
    }
    let digits = [UInt8(ascii: "x"): 2, UInt8(ascii: "u"): 4, UInt8(ascii: "U"): 8][next] ?? 0
    guard digits > 0 else { throw error("the escape is unknown") }
    here += 1
    var value = try hex(digits)
    if (0xD800...0xDBFF).contains(value), bytes[here...].starts(with: "\\u".utf8) {
      here += 2
      let low = try hex(4)
      guard (0xDC00...0xDFFF).contains(low) else { throw error("half of a surrogate pair is missing") }
      value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(value) else { throw error("the escape is no character") }
    text += Array(String(Character(scalar)).utf8)
  }

  private mutating func hex(_ count: Int) throws(DocumentError) -> UInt32 {
    let digits = bytes[here...].prefix(count)
    guard digits.count == count, let value = ScalarRules.hex(digits) else {
      throw error("the escape needs \(count) hexadecimal digits")
    }
    here += count
    return value
  }

  // MARK: - Literal and folded scalars

  /// Reads a scalar after `|` or `>`.
  mutating func blockScalar(parent: Int) throws(DocumentError) -> String {
    let folds = next == UInt8(ascii: ">")
    here += 1
    var chomping: UInt8 = 0
    var indent: Int?
    while !isAtLineEnd, next != 0x20 {
      switch next {
      case UInt8(ascii: "+"), UInt8(ascii: "-"): chomping = next
      case 0x31...0x39: indent = max(parent, 0) + Int(next - 0x30)
      default: throw error("the indicator of the block is unknown")
      }
      here += 1
    }
    skipSpaces()
    guard isAtLineEnd else { throw error("text follows the indicator of the block") }
    skipComment()
    if !isAtEnd { skipBreak() }
    let rows = rows(parent: parent, indent: indent)
    return Self.joined(rows, folds: folds, chomping: chomping)
  }

  /// The lines of a block without their indentation.
  private mutating func rows(parent: Int, indent given: Int?) -> [String] {
    var rows: [String] = []
    var indent = given
    while !isAtEnd {
      let start = here
      while next == 0x20, indent.map({ column < $0 }) ?? true { here += 1 }
      if isAtEnd || isBreak {
        rows.append("")
        if !isAtEnd { skipBreak() }
        continue
      }
      let isInside = indent.map { column >= $0 } ?? (column > parent)
      guard isInside, !startsMarker("---"), !startsMarker("...") else {
        here = start
        break
      }
      indent = indent ?? column
      let rowStart = here
      skipComment()
      rows.append(String(decoding: bytes[rowStart..<here], as: UTF8.self))
      if !isAtEnd { skipBreak() }
    }
    return rows
  }

  private static func joined(_ rows: [String], folds: Bool, chomping: UInt8) -> String {
    let count = rows.reversed().drop { $0.isEmpty }.count
    let (full, tail) = (rows.prefix(count), rows.count - count)
    var text = ""
    var previous: String?
    for row in full {
      if let last = previous {
        let isPlain = folds && !last.hasPrefix(" ") && !row.hasPrefix(" ")
        if !isPlain {
          text += "\n"
        } else if row.isEmpty || last.isEmpty {
          text += row.isEmpty ? "\n" : ""
        } else {
          text += " "
        }
      }
      text += row
      previous = row
    }
    if chomping == UInt8(ascii: "-") || (full.isEmpty && chomping == 0) { return text }
    return text + (chomping == 0 ? "\n" : String(repeating: "\n", count: tail + (full.isEmpty ? 0 : 1)))
  }
}
