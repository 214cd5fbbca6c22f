/// The header fields of one message, after a transport received and checked them. The fields are stored as bytes: each
/// line is `Name:value` and a line feed.
package final class RawFieldBlock: Sendable {
  private let bytes: [UInt8]
  package let count: Int
  /// The bits ``HTTPFieldName/filterBit`` of all names, combined in one number.
  let filterBits: UInt64

  /// Stores lines of the form `Name:value` and a line feed. The caller has removed white space around the values.
  /// `count` is the number of lines.
  package convenience init(bytes: [UInt8], count: Int) {
    var filterBits: UInt64 = 0
    Self.forEach(in: bytes) { name, _ in
      filterBits |= HTTPFieldName.filterBit(of: name)
      return true
    }
    self.init(bytes: bytes, count: count, filterBits: filterBits)
  }

  /// Stores lines whose caller has combined the bits ``HTTPFieldName/filterBit`` of all names.
  init(bytes: [UInt8], count: Int, filterBits: UInt64) {
    self.bytes = bytes
    self.count = count
    self.filterBits = filterBits
  }

  package var all: [HTTPField] {
    var fields: [HTTPField] = []
    fields.reserveCapacity(count)
    Self.forEach(in: bytes) { name, value in
      let name = HTTPFieldName(Self.text(name))
      fields.append(HTTPField(name, Reading(of: name).text(value)))
      return true
    }
    return fields
  }

  package func values(of name: HTTPFieldName) -> [String] {
    let reading = Reading(of: name)
    var values: [String] = []
    Self.forEach(in: bytes) { candidate, value in
      if ASCII.equalFolded(candidate, name.rawValue.utf8) { values.append(reading.text(value)) }
      return true
    }
    return values
  }

  /// The bytes of a field's value, from which a block reads the same value again.
  package static func bytes(of field: HTTPField) -> [UInt8] {
    guard Reading(of: field.name) == .octets, FieldOctets.holds(field.value) else { return Array(field.value.utf8) }
    return FieldOctets.bytes(of: field.value)
  }

  /// How the bytes of a field's value become text.
  private enum Reading {
    /// The bytes are UTF-8, or else ISO 8859-1.
    case text
    /// The value contains URLs. If it is not valid UTF-8, its bytes over 127 are percent-encoded, so that a request to
    /// the URL sends the received bytes.
    case reference
    /// The client sends the value back. The text represents the received bytes exactly; see ``FieldOctets``.
    case octets

    init(of name: HTTPFieldName) {
      self =
        switch name.rawValue.utf8.count {
        case 4 where name == .eTag: .octets
        case 4 where name == "Link": .reference
        case 8 where name == .location: .reference
        case 10 where name == .setCookie: .octets
        case 16 where name == "Content-Location": .reference
        case 16 where name == "WWW-Authenticate": .octets
        case 18 where name == "Proxy-Authenticate": .octets
        case 19 where name == "Authentication-Info": .octets
        case 25 where name == "Proxy-Authentication-Info": .octets
        default: .text
        }
    }

    func text(_ value: UnsafeBufferPointer<UInt8>) -> String {
      switch self {
      case .text: RawFieldBlock.text(value)
      case .reference: RawFieldBlock.reference(value)
      case .octets: FieldOctets.text(value)
      }
    }
  }

  private static func reference(_ value: UnsafeBufferPointer<UInt8>) -> String {
    if let text = String(validating: value, as: UTF8.self) { return text }
    var escaped: [UInt8] = []
    for byte in value { escaped += byte < 0x80 ? [byte] : ASCII.percentEncoded(byte) }
    return String(decoding: escaped, as: UTF8.self)
  }

  func contains(_ name: HTTPFieldName) -> Bool {
    var isThere = false
    Self.forEach(in: bytes) { candidate, _ in
      isThere = ASCII.equalFolded(candidate, name.rawValue.utf8)
      return !isThere
    }
    return isThere
  }

  /// Calls `body` with the name and the value of each line until `body` returns false.
  private static func forEach(
    in bytes: [UInt8], _ body: (_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) -> Bool
  ) {
    bytes.withUnsafeBufferPointer { bytes in
      var start = 0
      while let end = bytes[start...].firstIndex(of: 0x0A) {
        if let colon = bytes[start..<end].firstIndex(of: 0x3A),
          !body(.init(rebasing: bytes[start..<colon]), .init(rebasing: bytes[(colon + 1)..<end]))
        {
          return
        }
        start = end + 1
      }
    }
  }

  /// Decodes the bytes as UTF-8 if they are valid, otherwise as ISO 8859-1 (RFC 9110 section 5.5 treats bytes over 127
  /// as opaque).
  package static func text(_ bytes: some Collection<UInt8>) -> String {
    String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }
}

/// Converts the bytes of field values to text and back without loss. Used for values that a client sends back: cookies,
/// entity tags, and the realm and the nonce of a challenge (RFC 9110 section 5.5 treats bytes over 127 as opaque).
///
/// Valid UTF-8 is stored as normal text. In any other value, each byte over 127 becomes a private-use scalar, U+F780 to
/// U+F7FF. Different values always have different texts, and the texts can be stored and joined with other texts.
package enum FieldOctets {
  private static let base: UInt32 = 0xF700

  static func text(_ value: some Collection<UInt8>) -> String {
    if let text = String(validating: value, as: UTF8.self), !holds(text) { return text }
    var scalars = String.UnicodeScalarView()
    for byte in value {
      let scalar = byte < 0x80 ? Unicode.Scalar(byte) : Unicode.Scalar(base + UInt32(byte)) ?? "\u{FFFD}"
      scalars.append(scalar)
    }
    return String(scalars)
  }

  /// Whether a text contains private-use scalars, which represent the bytes of a value that is not valid UTF-8.
  package static func holds(_ text: String) -> Bool {
    // In UTF-8, the scalars U+F780 to U+F7FF begin with the bytes EF 9E or EF 9F. Most texts contain no byte EF, and
    // need no slower search.
    text.utf8.contains(0xEF) && text.unicodeScalars.contains { byte(of: $0) != nil }
  }

  /// Returns the bytes that the text represents: the bytes of the field value as it was received.
  package static func bytes(of text: String) -> [UInt8] {
    text.unicodeScalars.flatMap { scalar in byte(of: scalar).map { [$0] } ?? Array(UTF8.encode(scalar) ?? .init()) }
  }

  /// The number of bytes that the text represents. Limits for the sizes of received and sent values use this number.
  static func count(of text: String) -> Int {
    // A scalar that represents one byte has three bytes in UTF-8.
    holds(text) ? text.utf8.count - 2 * text.unicodeScalars.count { byte(of: $0) != nil } : text.utf8.count
  }

  /// Returns the text with each private-use scalar replaced by an ISO 8859-1 character. Used by transports whose
  /// interface takes field values as text.
  package static func readable(_ text: String) -> String {
    guard holds(text) else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.map { byte(of: $0).map { Unicode.Scalar($0) } ?? $0 }))
  }

  private static func byte(of scalar: Unicode.Scalar) -> UInt8? {
    (0xF780...0xF7FF).contains(scalar.value) ? UInt8(truncatingIfNeeded: scalar.value) : nil
  }
}
