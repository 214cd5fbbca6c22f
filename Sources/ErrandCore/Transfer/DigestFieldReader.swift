import Foundation

/// Parses a dictionary of structured fields (RFC 9651 section 4.2.2) and returns the members that are byte sequences.
///
/// Members of other types are parsed and skipped. A field that violates the grammar anywhere is ignored as a whole, as
/// the RFC requires.
struct DigestFieldReader {
  /// The error if a field cannot be parsed.
  struct ParseError: Error {
    /// A clause that names the fault, such as "a byte sequence has no closing colon".
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  private var rest: ArraySlice<UInt8>

  init(_ text: String) {
    rest = Array(text.utf8)[...]
  }

  /// Parses the field and returns its members by key. The value of a member is nil if it is not a byte sequence. If a
  /// key occurs twice, the last member is used.
  mutating func members() throws(ParseError) -> [String: Data?] {
    var members: [String: Data?] = [:]
    skip { $0 == 0x20 }
    while !rest.isEmpty {
      let key = try key()
      let value: Data? = take("=") ? try itemOrList() : nil
      try parameters()
      members.updateValue(value, forKey: key)
      skip(Self.isOptionalSpace)
      if rest.isEmpty { break }
      guard take(",") else { throw ParseError("no comma follows the member “\(key)”") }
      skip(Self.isOptionalSpace)
      if rest.isEmpty { throw ParseError("the value of the field ends in a comma") }
    }
    return members
  }

  // MARK: Grammar

  private mutating func key() throws(ParseError) -> String {
    guard let first = rest.first, Self.isLowerCase(first) || first == UInt8(ascii: "*") else {
      throw ParseError("the name of a member does not begin with a lower-case letter")
    }
    return text { Self.isLowerCase($0) || ASCII.isDigit($0) || "_-.*".utf8.contains($0) }
  }

  private mutating func parameters() throws(ParseError) {
    while take(";") {
      skip { $0 == 0x20 }
      _ = try key()
      if take("=") { _ = try item() }
    }
  }

  private mutating func itemOrList() throws(ParseError) -> Data? {
    guard take("(") else { return try item() }
    while true {
      skip { $0 == 0x20 }
      if take(")") { return nil }
      if rest.isEmpty { throw ParseError("a list has no closing “)”") }
      _ = try item()
      try parameters()
      guard rest.isEmpty || rest.first == 0x20 || rest.first == UInt8(ascii: ")") else {
        throw ParseError("neither a space nor “)” follows an item of a list")
      }
    }
  }

  /// Parses one item without its parameters. Returns the bytes if the item is a byte sequence, otherwise nil.
  private mutating func item() throws(ParseError) -> Data? {
    guard let first = rest.first else { throw ParseError("no value follows “=”") }
    switch first {
    case UInt8(ascii: ":"): return try byteSequence()
    case UInt8(ascii: "\""): try string()
    case UInt8(ascii: "?"): try boolean()
    case UInt8(ascii: "@"): try date()
    case UInt8(ascii: "%"): try displayString()
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): _ = try number()
    default: try token(first)
    }
    return nil
  }

  private mutating func byteSequence() throws(ParseError) -> Data {
    rest.removeFirst()
    guard let end = rest.firstIndex(of: UInt8(ascii: ":")) else {
      throw ParseError("a byte sequence has no closing colon")
    }
    defer { rest = rest[(end + 1)...] }
    guard let bytes = Self.base64(rest[..<end]) else { throw ParseError("a byte sequence is not base64") }
    return bytes
  }

  private mutating func string() throws(ParseError) {
    rest.removeFirst()
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return
      case UInt8(ascii: "\\"):
        guard let escaped = rest.popFirst(), escaped == UInt8(ascii: "\"") || escaped == byte else {
          throw ParseError("a string contains an invalid escape")
        }
      case 0x20..<0x7F: continue
      default: throw ParseError("a string contains a character that is not printable ASCII")
      }
    }
    throw ParseError("a string has no closing quote")
  }

  private mutating func boolean() throws(ParseError) {
    rest.removeFirst()
    guard take("0") || take("1") else { throw ParseError("a Boolean value is neither ?0 nor ?1") }
  }

  private mutating func date() throws(ParseError) {
    rest.removeFirst()
    guard try number() else { throw ParseError("a date is not a whole number") }
  }

  private mutating func displayString() throws(ParseError) {
    rest.removeFirst()
    guard take("\"") else { throw ParseError("a display string has no opening quote") }
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""):
        guard String(validating: bytes, as: UTF8.self) != nil else { break }
        return
      case UInt8(ascii: "%"):
        guard let high = lowerHex(), let low = lowerHex() else { break }
        bytes.append(high << 4 | low)
        continue
      case 0x20..<0x7F:
        bytes.append(byte)
        continue
      default: break
      }
      throw ParseError("a display string contains an invalid character or escape")
    }
    throw ParseError("a display string has no closing quote")
  }

  /// Parses an integer of at most 15 digits, or a decimal of at most 12 digits before and 3 digits after the point.
  /// Returns true for an integer.
  private mutating func number() throws(ParseError) -> Bool {
    _ = take("-")
    let whole = text(ASCII.isDigit).utf8.count
    let isInteger = !take(".")
    let fraction = isInteger ? 0 : text(ASCII.isDigit).utf8.count
    let fits = isInteger ? (1...15).contains(whole) : (1...12).contains(whole) && (1...3).contains(fraction)
    guard fits else { throw ParseError("a number has too few or too many digits") }
    return isInteger
  }

  private mutating func token(_ first: UInt8) throws(ParseError) {
    guard Self.isLowerCase(ASCII.lowercased(first)) || first == UInt8(ascii: "*") else {
      throw ParseError("a value has an unknown type")
    }
    skip { ASCII.isToken($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
  }

  // MARK: Bytes

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func skip(_ rule: (UInt8) -> Bool) {
    rest = rest.drop(while: rule)
  }

  private mutating func text(_ rule: (UInt8) -> Bool) -> String {
    let taken = rest.prefix(while: rule)
    rest = rest[taken.endIndex...]
    return String(decoding: taken, as: UTF8.self)
  }

  private mutating func lowerHex() -> UInt8? {
    rest.popFirst().flatMap { ASCII.isDigit($0) || (0x61...0x66).contains($0) ? ASCII.hexValue($0) : nil }
  }

  private static func isLowerCase(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }

  private static func isOptionalSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// Decodes base64 with or without padding. A parser should not require the padding (RFC 9651 section 4.2.7).
  private static func base64(_ characters: ArraySlice<UInt8>) -> Data? {
    let bare = characters.reversed().drop { $0 == UInt8(ascii: "=") }
    guard characters.count - bare.count <= 2 else { return nil }
    let padding = Data(repeating: UInt8(ascii: "="), count: (4 - bare.count % 4) % 4)
    return Data(base64Encoded: Data(bare.reversed()) + padding)
  }
}
