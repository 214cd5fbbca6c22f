/// Reads a JSON text (RFC 8259) as a ``DocumentNode``. Unlike the parser of ErrandJSON, it keeps the order of members and
/// the places of values. A repeated name is an error.
package struct JSONReader {
  /// The largest nesting of arrays and objects.
  static let depthLimit = 200

  private let bytes: [UInt8]
  private var here = 0
  private var line = 1
  private var lineStart = 0

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads a text in UTF-8.
  package static func read(_ bytes: [UInt8]) throws(DocumentError) -> DocumentNode {
    var reader = JSONReader(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes)
    reader.skipSpace()
    let node = try reader.value(depth: 0)
    reader.skipSpace()
    guard reader.here == reader.bytes.count else { throw reader.error("text follows the value") }
    return node
  }

  private var next: UInt8 { here < bytes.count ? bytes[here] : 0 }

  private func error(_ reason: String) -> DocumentError {
    DocumentError(reason: reason, line: line, column: here - lineStart + 1)
  }

  private mutating func skipSpace() {
    while here < bytes.count {
      switch bytes[here] {
      case 0x20, 0x09, 0x0D: here += 1
      case 0x0A:
        here += 1
        line += 1
        lineStart = here
      default: return
      }
    }
  }

  private mutating func value(depth: Int) throws(DocumentError) -> DocumentNode {
    guard depth <= Self.depthLimit else { throw error("the value is nested deeper than \(Self.depthLimit) levels") }
    let (line, column) = (line, here - lineStart + 1)
    let content: DocumentNode.Content
    switch next {
    case UInt8(ascii: "{"): content = .object(try members(depth: depth))
    case UInt8(ascii: "["): content = .array(try elements(depth: depth))
    case UInt8(ascii: "\""): content = .string(try string())
    case UInt8(ascii: "-"), 0x30...0x39: content = .number(try number())
    default: content = try word()
    }
    return DocumentNode(content: content, line: line, column: column)
  }

  private mutating func members(depth: Int) throws(DocumentError) -> DocumentMembers {
    var entries: [(key: String, value: DocumentNode)] = []
    var names: Set<[UInt8]> = []
    here += 1
    skipSpace()
    while next != UInt8(ascii: "}") {
      if !entries.isEmpty { try take(",", in: "an object") }
      guard next == UInt8(ascii: "\"") else { throw error("the name of a member is missing") }
      let key = try string()
      guard names.insert(Array(key.utf8)).inserted else { throw error("the name “\(key)” occurs twice in one object") }
      skipSpace()
      try take(":", in: "an object")
      entries.append((key, try value(depth: depth + 1)))
      skipSpace()
    }
    here += 1
    return DocumentMembers(entries)
  }

  private mutating func elements(depth: Int) throws(DocumentError) -> [DocumentNode] {
    var elements: [DocumentNode] = []
    here += 1
    skipSpace()
    while next != UInt8(ascii: "]") {
      if !elements.isEmpty { try take(",", in: "an array") }
      elements.append(try value(depth: depth + 1))
      skipSpace()
    }
    here += 1
    return elements
  }

  private mutating func take(_ character: Unicode.Scalar, in container: String) throws(DocumentError) {
    guard next == UInt8(ascii: character) else { throw error("“\(character)” is missing in \(container)") }
    here += 1
    skipSpace()
  }

  private mutating func word() throws(DocumentError) -> DocumentNode.Content {
    let words: [(String, DocumentNode.Content)] = [("true", .bool(true)), ("false", .bool(false)), ("null", .null)]
    for (word, content) in words where bytes[here...].starts(with: word.utf8) {
      here += word.utf8.count
      return content
    }
    throw error(here < bytes.count ? "a value is missing" : "the text ends before the value is complete")
  }

  private mutating func number() throws(DocumentError) -> String {
    let start = here
    while here < bytes.count, ScalarRules.isNumberByte(bytes[here]) { here += 1 }
    let text = String(decoding: bytes[start..<here], as: UTF8.self)
    guard ScalarRules.isJSONNumber(text) else { throw error("“\(text)” is not a number") }
    return text
  }

  private mutating func string() throws(DocumentError) -> String {
    here += 1
    var text: [UInt8] = []
    var start = here
    while here < bytes.count, bytes[here] != UInt8(ascii: "\"") {
      guard bytes[here] >= 0x20 else { throw error("a string contains a control character; escape it") }
      guard bytes[here] == UInt8(ascii: "\\") else {
        here += 1
        continue
      }
      text += bytes[start..<here]
      here += 1
      try escape(into: &text)
      start = here
    }
    guard here < bytes.count else { throw error("a string is not closed") }
    text += bytes[start..<here]
    here += 1
    guard let string = String(validating: text, as: UTF8.self) else { throw error("a string is not valid UTF-8") }
    return string
  }

  private mutating func escape(into text: inout [UInt8]) throws(DocumentError) {
    let simple: [UInt8: UInt8] = [
      0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F, 0x62: 0x08, 0x66: 0x0C, 0x6E: 0x0A, 0x72: 0x0D, 0x74: 0x09,
    ]
    if let byte = simple[next] {
      here += 1
      return text.append(byte)
    }
    guard next == UInt8(ascii: "u") else { throw error("an escape in a string is unknown") }
    here += 1
    var value = try unit()
    if (0xD800...0xDBFF).contains(value), bytes[here...].starts(with: "\\u".utf8) {
      here += 2
      let low = try unit()
      guard (0xDC00...0xDFFF).contains(low) else { throw error("half of a surrogate pair is missing") }
      value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(value) else { throw error("half of a surrogate pair is missing") }
    text += Array(String(Character(scalar)).utf8)
  }

  private mutating func unit() throws(DocumentError) -> UInt32 {
    let digits = bytes[here...].prefix(4)
    guard digits.count == 4, let value = ScalarRules.hex(digits) else {
      throw error("\\u needs four hexadecimal digits")
    }
    here += 4
    return value
  }
}
