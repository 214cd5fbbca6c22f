/// A value of a document: JSON, or the subset of YAML that has the same values. Members keep their order, and each
/// value knows its place in the text.
package struct DocumentNode: Sendable {
  package enum Content: Sendable {
    case null
    case bool(Bool)
    /// A number as it is written.
    case number(String)
    case string(String)
    case array([DocumentNode])
    case object(DocumentMembers)
  }

  package let content: Content
  /// The line of the value, from 1.
  package let line: Int
  /// The column of the value in bytes, from 1.
  package let column: Int

  package var text: String? { if case .string(let text) = content { text } else { nil } }
  package var bool: Bool? { if case .bool(let value) = content { value } else { nil } }
  package var elements: [DocumentNode]? { if case .array(let elements) = content { elements } else { nil } }
  package var members: DocumentMembers? { if case .object(let members) = content { members } else { nil } }
  package var isNull: Bool { if case .null = content { true } else { false } }

  /// The text of a scalar for documentation; nil for null, arrays and objects.
  var scalarText: String? {
    switch content {
    case .bool(let value): "\(value)"
    case .number(let text), .string(let text): text
    case .null, .array, .object: nil
    }
  }

  package subscript(key: String) -> DocumentNode? { members?[key] }
}

/// The members of an object in the order of the text. Names are unique.
package final class DocumentMembers: Sendable {
  package let entries: [(key: String, value: DocumentNode)]
  /// The places of the names; nil for a few members, which are searched one by one.
  private let places: [String: Int]?

  package init(_ entries: [(key: String, value: DocumentNode)]) {
    self.entries = entries
    guard entries.count > 8 else {
      places = nil
      return
    }
    var places: [String: Int] = [:]
    for (place, entry) in entries.enumerated() { places[entry.key] = place }
    self.places = places
  }

  package subscript(key: String) -> DocumentNode? {
    if let places { return places[key].map { entries[$0].value } }
    return entries.first { $0.key == key }?.value
  }
}

/// A document cannot be read. The message names the place.
package struct DocumentError: Error, Equatable, CustomStringConvertible {
  package let reason: String
  package let line: Int
  package let column: Int

  package var description: String { "line \(line), column \(column): \(reason)" }
}

// Documents that the program makes itself have no places.
extension DocumentNode: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
  init(_ content: Content) { self.init(content: content, line: 1, column: 1) }
  init(members entries: [(key: String, value: DocumentNode)]) { self.init(.object(DocumentMembers(entries))) }

  package init(stringLiteral text: String) { self.init(.string(text)) }
  package init(arrayLiteral elements: DocumentNode...) { self.init(.array(elements)) }
  package init(dictionaryLiteral entries: (String, DocumentNode)...) {
    self.init(members: entries.map { (key: $0.0, value: $0.1) })
  }
}

/// The rules by which the text of a scalar is recognised.
enum ScalarRules {
  static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  /// The value of hexadecimal digits; nil if another byte is among them, such as a sign, or if they are too many.
  static func hex(_ digits: some Collection<UInt8>) -> UInt32? {
    let isHex = digits.allSatisfy { byte in
      isDigit(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
    }
    return isHex ? UInt32(String(decoding: digits, as: UTF8.self), radix: 16) : nil
  }

  static func isNumberByte(_ byte: UInt8) -> Bool {
    isDigit(byte) || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains(byte)
  }

  static func isJSONNumber(_ text: String) -> Bool {
    var rest = text.utf8[...]
    if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
    let whole = rest.prefix(while: isDigit)
    guard !whole.isEmpty, whole.count == 1 || whole.first != 0x30 else { return false }
    rest = rest.dropFirst(whole.count)
    if rest.first == UInt8(ascii: ".") {
      let digits = rest.dropFirst().prefix(while: isDigit)
      guard !digits.isEmpty else { return false }
      rest = rest.dropFirst(digits.count + 1)
    }
    guard let mark = rest.first else { return true }
    guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return false }
    rest = rest.dropFirst()
    if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
    return !rest.isEmpty && rest.allSatisfy(isDigit)
  }
}
