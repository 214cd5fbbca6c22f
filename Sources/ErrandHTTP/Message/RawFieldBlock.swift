/// Field lines as a transport received them, `Name:value` and a line feed each, checked and without framing bytes.
package final class RawFieldBlock: Sendable {
  private let bytes: [UInt8]
  package let count: Int
  /// The marks of all names.
  let marks: UInt64

  /// Takes lines of the form `Name:value\n`, surrounding white space of the value removed. `count` is their number.
  package init(bytes: [UInt8], count: Int) {
    self.bytes = bytes
    self.count = count
    var marks: UInt64 = 0
    Self.forEach(in: bytes) { name, _ in
      marks |= HTTPFieldName.mark(name)
      return true
    }
    self.marks = marks
  }

  package var all: [HTTPField] {
    var fields: [HTTPField] = []
    fields.reserveCapacity(count)
    Self.forEach(in: bytes) { name, value in
      fields.append(HTTPField(HTTPFieldName(Self.text(name)), Self.text(value)))
      return true
    }
    return fields
  }

  package func values(of name: HTTPFieldName) -> [String] { values(of: name) { Self.text($0) } }

  /// The fields in the form that keeps the bytes of what is sent back.
  var kept: [HTTPField] {
    var fields: [HTTPField] = []
    fields.reserveCapacity(count)
    Self.forEach(in: bytes) { name, value in
      let name = HTTPFieldName(Self.text(name))
      let text =
        switch name {
        case .location, "Content-Location", "Link": Self.reference(value)
        case .setCookie, .eTag: FieldOctets.text(value)
        default: Self.text(value)
        }
      fields.append(HTTPField(name, text))
      return true
    }
    return fields
  }

  /// The values, their bytes that are not UTF-8 percent-encoded.
  func references(of name: HTTPFieldName) -> [String] { values(of: name, Self.reference) }

  /// The values as ``FieldOctets`` writes them.
  func octets(of name: HTTPFieldName) -> [String] { values(of: name) { FieldOctets.text($0) } }

  private static func reference(_ value: UnsafeBufferPointer<UInt8>) -> String {
    if let text = String(validating: value, as: UTF8.self) { return text }
    var escaped: [UInt8] = []
    for byte in value {
      escaped += byte < 0x80 ? [byte] : [0x25, ASCII.hexDigit(byte >> 4), ASCII.hexDigit(byte & 0xF)]
    }
    return String(decoding: escaped, as: UTF8.self)
  }

  private func values(
    of name: HTTPFieldName, _ text: (UnsafeBufferPointer<UInt8>) -> String
  ) -> [String] {
    var values: [String] = []
    Self.forEach(in: bytes) { candidate, value in
      if ASCII.equalFolded(candidate, name.rawValue.utf8) { values.append(text(value)) }
      return true
    }
    return values
  }

  func contains(_ name: HTTPFieldName) -> Bool {
    var isThere = false
    Self.forEach(in: bytes) { candidate, _ in
      isThere = ASCII.equalFolded(candidate, name.rawValue.utf8)
      return !isThere
    }
    return isThere
  }

  /// Goes over the lines for as long as `body` says true.
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

  /// UTF-8 where it is valid, ISO 8859-1 otherwise (RFC 9110 section 5.5 leaves bytes over 127 opaque).
  package static func text(_ bytes: some Collection<UInt8>) -> String {
    String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }
}

/// Text for field values that a client sends back as the bytes that came: cookies and entity tags (RFC 9110 section 5.5
/// leaves bytes over 127 opaque).
///
/// Valid UTF-8 is its own text. In any other value each byte over 127 becomes a scalar for private use, U+F780 to
/// U+F7FF, so the text can be stored and put together with others, and no two values have the same text.
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

  /// Whether a text holds bytes that are not UTF-8.
  package static func holds(_ text: String) -> Bool {
    // U+F780 to U+F7FF begin with the bytes EF 9E and EF 9F.
    text.utf8.contains(0xEF) && text.unicodeScalars.contains { byte(of: $0) != nil }
  }

  /// The bytes that the text stands for.
  package static func bytes(of text: String) -> [UInt8] {
    text.unicodeScalars.flatMap { scalar in byte(of: scalar).map { [$0] } ?? Array(UTF8.encode(scalar) ?? .init()) }
  }

  /// The text with those bytes read as ISO 8859-1, for transports whose fields are text.
  package static func readable(_ text: String) -> String {
    guard holds(text) else { return text }
    return String(String.UnicodeScalarView(text.unicodeScalars.map { byte(of: $0).map { Unicode.Scalar($0) } ?? $0 }))
  }

  private static func byte(of scalar: Unicode.Scalar) -> UInt8? {
    (0xF780...0xF7FF).contains(scalar.value) ? UInt8(truncatingIfNeeded: scalar.value) : nil
  }
}
