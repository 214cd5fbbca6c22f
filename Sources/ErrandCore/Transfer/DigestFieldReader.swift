import Foundation

/// Reads a dictionary of structured fields (RFC 9651 section 4.2.2) and keeps the byte sequences in it.
///
/// Members of other types, of algorithms that nobody here knows, are read past by their grammar: a field that breaks it
/// anywhere says nothing at all, as the RFC wants it.
struct DigestFieldReader {
  /// Why a field cannot be read.
  struct Damage: Error {
    /// The rest of a sentence that begins with the field's name.
    let reason: String
    init(_ reason: String) { self.reason = reason }
  }

  private var rest: ArraySlice<UInt8>

  init(_ text: String) {
    rest = Array(text.utf8)[...]
  }

  /// The members by key; nil for a value that is no byte sequence. Of two with one key the later counts.
  mutating func members() throws(Damage) -> [String: Data?] {
    var members: [String: Data?] = [:]
    skip { $0 == 0x20 }
    while !rest.isEmpty {
      let key = try key()
      let value: Data? = take("=") ? try itemOrList() : nil
      try parameters()
      members.updateValue(value, forKey: key)
      skip(Self.isOptionalSpace)
      if rest.isEmpty { break }
      guard take(",") else { throw Damage("has something other than a comma behind “\(key)”") }
      skip(Self.isOptionalSpace)
      if rest.isEmpty { throw Damage("ends in a comma") }
    }
    return members
  }

  // MARK: Grammar

  private mutating func key() throws(Damage) -> String {
    guard let first = rest.first, Self.isLowerCase(first) || first == UInt8(ascii: "*") else {
      throw Damage("has a member whose name does not begin with a small letter")
    }
    return text { Self.isLowerCase($0) || ASCII.isDigit($0) || "_-.*".utf8.contains($0) }
  }

  private mutating func parameters() throws(Damage) {
    while take(";") {
      skip { $0 == 0x20 }
      _ = try key()
      if take("=") { _ = try item() }
    }
  }

  private mutating func itemOrList() throws(Damage) -> Data? {
    guard take("(") else { return try item() }
    while true {
      skip { $0 == 0x20 }
      if take(")") { return nil }
      _ = try item()
      try parameters()
      guard rest.first == 0x20 || rest.first == UInt8(ascii: ")") else { throw Damage("has a list without its end") }
    }
  }

  /// One bare item; its bytes where it is a byte sequence.
  private mutating func item() throws(Damage) -> Data? {
    guard let first = rest.first else { throw Damage("lacks a value behind “=”") }
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

  private mutating func byteSequence() throws(Damage) -> Data {
    rest.removeFirst()
    guard let end = rest.firstIndex(of: UInt8(ascii: ":")) else { throw Damage("has a byte sequence without its end") }
    defer { rest = rest[(end + 1)...] }
    guard let bytes = Self.base64(rest[..<end]) else { throw Damage("has a byte sequence that is not base64") }
    return bytes
  }

  private mutating func string() throws(Damage) {
    rest.removeFirst()
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return
      case UInt8(ascii: "\\"):
        guard let escaped = rest.popFirst(), escaped == UInt8(ascii: "\"") || escaped == byte else {
          throw Damage("has a string with a wrong escape")
        }
      case 0x20..<0x7F: continue
      default: throw Damage("has a string with a character that may not stand there")
      }
    }
    throw Damage("has a string without its end")
  }

  private mutating func boolean() throws(Damage) {
    rest.removeFirst()
    guard take("0") || take("1") else { throw Damage("has a boolean that is neither ?0 nor ?1") }
  }

  private mutating func date() throws(Damage) {
    rest.removeFirst()
    guard try number() else { throw Damage("has a date that is no whole number") }
  }

  private mutating func displayString() throws(Damage) {
    rest.removeFirst()
    guard take("\"") else { throw Damage("has a display string without its quote") }
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
      throw Damage("has a display string that is damaged")
    }
    throw Damage("has a display string without its end")
  }

  /// An integer of at most 15 digits or a decimal of at most 12 and 3; true for an integer.
  private mutating func number() throws(Damage) -> Bool {
    _ = take("-")
    let whole = text(ASCII.isDigit).utf8.count
    let isInteger = !take(".")
    let fraction = isInteger ? 0 : text(ASCII.isDigit).utf8.count
    let fits = isInteger ? (1...15).contains(whole) : (1...12).contains(whole) && (1...3).contains(fraction)
    guard fits else { throw Damage("has a number of a wrong form") }
    return isInteger
  }

  private mutating func token(_ first: UInt8) throws(Damage) {
    guard Self.isLowerCase(ASCII.lowercased(first)) || first == UInt8(ascii: "*") else {
      throw Damage("has a value of no known type")
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

  /// Base64 with or without its padding, which a reader should not insist on (RFC 9651 section 4.2.7).
  private static func base64(_ characters: ArraySlice<UInt8>) -> Data? {
    let bare = characters.reversed().drop { $0 == UInt8(ascii: "=") }
    guard characters.count - bare.count <= 2 else { return nil }
    let padding = Data(repeating: UInt8(ascii: "="), count: (4 - bare.count % 4) % 4)
    return Data(base64Encoded: Data(bare.reversed()) + padding)
  }
}
