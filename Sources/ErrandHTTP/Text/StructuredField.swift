package import Foundation

/// The value of a structured field (RFC 9651): a list, a dictionary or an item.
///
/// A field that violates the grammar anywhere is invalid as a whole, as the RFC requires. The time of parsing is linear
/// in the length of the field.
package enum StructuredField {
  /// A value without parameters (RFC 9651 section 3.3).
  package enum Value: Sendable, Hashable {
    /// An integer of at most 15 digits.
    case integer(Int64)
    /// A decimal number, as an integral number of thousandths.
    case decimal(thousandths: Int64)
    /// A string of printable ASCII.
    case string(String)
    /// A token.
    case token(String)
    /// A byte sequence.
    case bytes(Data)
    /// A Boolean value.
    case boolean(Bool)
    /// A date in seconds since 1970.
    case date(Int64)
    /// A string of any Unicode scalars.
    case displayString(String)

    /// The text of a string or a token; nil for any other value.
    var text: String? {
      switch self {
      case .string(let text), .token(let text): text
      default: nil
      }
    }
  }

  /// The parameters of an item or a list, in their order. If a key occurs twice, the last value is used.
  package struct Parameters: Sendable, Hashable {
    /// Keys and values in the order of the keys' first occurrence.
    package fileprivate(set) var all: [Parameter] = []

    /// The value of a parameter; nil if there is no such parameter.
    package subscript(key: String) -> Value? { all.first { $0.key == key }?.value }
  }

  /// A parameter, such as `q=0.5`. A key without a value has the value true.
  package struct Parameter: Sendable, Hashable {
    /// The key, which consists of lower-case letters, digits, `_`, `-`, `.` and `*`.
    package let key: String
    /// The value.
    package let value: Value
  }

  /// A value with its parameters (RFC 9651 section 3.3).
  package struct Item: Sendable, Hashable {
    /// The value.
    package let value: Value
    /// The parameters of the value.
    package let parameters: Parameters
  }

  /// A member of a list or a dictionary.
  package enum Member: Sendable, Hashable {
    /// A single item.
    case item(Item)
    /// A list of items in parentheses (RFC 9651 section 3.1.1), with the parameters of the whole list.
    case list([Item], Parameters)

    /// The item; nil for an inner list.
    package var item: Item? { if case .item(let item) = self { item } else { nil } }
  }

  /// A field that violates the grammar.
  package struct ParseError: Error, Hashable {
    /// A clause that names the fault, such as "a byte sequence has no closing colon".
    package let reason: String
    /// Makes the error from a clause.
    package init(_ reason: String) { self.reason = reason }
  }

  /// Parses a list (RFC 9651 section 4.2.1). Several field lines are one list. An absent field is an empty list.
  package static func list(_ lines: [String]) throws(ParseError) -> [Member] {
    var parser = StructuredFieldParser(lines)
    var members: [Member] = []
    try parser.members { parser throws(ParseError) in members.append(try parser.member()) }
    return members
  }

  /// Parses a dictionary (RFC 9651 section 4.2.2). Several field lines are one dictionary. An absent field is an empty
  /// dictionary. If a key occurs twice, the last member is used.
  package static func dictionary(_ lines: [String]) throws(ParseError) -> [String: Member] {
    var parser = StructuredFieldParser(lines)
    var members: [String: Member] = [:]
    try parser.members { parser throws(ParseError) in
      let key = try parser.key()
      members[key] = try parser.dictionaryMember()
    }
    return members
  }
}

/// Reads the bytes of a structured field (RFC 9651 section 4.2).
private struct StructuredFieldParser {
  typealias ParseError = StructuredField.ParseError
  private var rest: ArraySlice<UInt8>

  init(_ lines: [String]) { rest = Array(lines.joined(separator: ", ").utf8)[...] }

  /// Reads members up to the end of the field. The closure reads one member.
  mutating func members(_ read: (inout Self) throws(ParseError) -> Void) throws(ParseError) {
    skip { $0 == 0x20 }
    while !rest.isEmpty {
      try read(&self)
      skip { ASCII.isBlank($0) }
      if rest.isEmpty { return }
      guard take(",") else { throw ParseError("no comma follows a member") }
      skip { ASCII.isBlank($0) }
      if rest.isEmpty { throw ParseError("the value of the field ends in a comma") }
    }
  }

  mutating func key() throws(ParseError) -> String {
    guard let first = rest.first, Self.isLowerCase(first) || first == UInt8(ascii: "*") else {
      throw ParseError("the name of a member does not begin with a lower-case letter")
    }
    return text { Self.isLowerCase($0) || ASCII.isDigit($0) || "_-.*".utf8.contains($0) }
  }

  mutating func dictionaryMember() throws(ParseError) -> StructuredField.Member {
    if take("=") { return try member() }
    return .item(StructuredField.Item(value: .boolean(true), parameters: try parameters()))
  }

  mutating func member() throws(ParseError) -> StructuredField.Member {
    guard take("(") else { return .item(try item()) }
    var items: [StructuredField.Item] = []
    while true {
      skip { $0 == 0x20 }
      if take(")") { return .list(items, try parameters()) }
      if rest.isEmpty { throw ParseError("a list has no closing “)”") }
      items.append(try item())
      guard rest.isEmpty || rest.first == 0x20 || rest.first == UInt8(ascii: ")") else {
        throw ParseError("neither a space nor “)” follows an item of a list")
      }
    }
  }

  private mutating func item() throws(ParseError) -> StructuredField.Item {
    StructuredField.Item(value: try value(), parameters: try parameters())
  }

  private mutating func parameters() throws(ParseError) -> StructuredField.Parameters {
    var parameters = StructuredField.Parameters()
    var places: [String: Int] = [:]
    while take(";") {
      skip { $0 == 0x20 }
      let key = try key()
      let parameter = StructuredField.Parameter(key: key, value: take("=") ? try value() : .boolean(true))
      if let place = places[key] {
        parameters.all[place] = parameter
      } else {
        places[key] = parameters.all.count
        parameters.all.append(parameter)
      }
    }
    return parameters
  }

  // MARK: Values

  private mutating func value() throws(ParseError) -> StructuredField.Value {
    guard let first = rest.first else { throw ParseError("no value follows “=”") }
    switch first {
    case UInt8(ascii: ":"): return .bytes(try bytes())
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "?"): return .boolean(try boolean())
    case UInt8(ascii: "@"): return .date(try date())
    case UInt8(ascii: "%"): return .displayString(try displayString())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: return .token(try token(first))
    }
  }

  private mutating func bytes() throws(ParseError) -> Data {
    rest.removeFirst()
    guard let end = rest.firstIndex(of: UInt8(ascii: ":")) else {
      throw ParseError("a byte sequence has no closing colon")
    }
    defer { rest = rest[(end + 1)...] }
    guard let bytes = Self.base64(rest[..<end]) else { throw ParseError("a byte sequence is not base64") }
    return bytes
  }

  private mutating func string() throws(ParseError) -> String {
    rest.removeFirst()
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let escaped = rest.popFirst(), escaped == UInt8(ascii: "\"") || escaped == byte else {
          throw ParseError("a string contains an invalid escape")
        }
        bytes.append(escaped)
      case 0x20..<0x7F: bytes.append(byte)
      default: throw ParseError("a string contains a character that is not printable ASCII")
      }
    }
    throw ParseError("a string has no closing quote")
  }

  private mutating func boolean() throws(ParseError) -> Bool {
    rest.removeFirst()
    if take("1") { return true }
    guard take("0") else { throw ParseError("a Boolean value is neither ?0 nor ?1") }
    return false
  }

  private mutating func date() throws(ParseError) -> Int64 {
    rest.removeFirst()
    guard case .integer(let seconds) = try number() else { throw ParseError("a date is not a whole number") }
    return seconds
  }

  private mutating func displayString() throws(ParseError) -> String {
    rest.removeFirst()
    guard take("\"") else { throw ParseError("a display string has no opening quote") }
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: bytes, as: UTF8.self) else { break }
        return text
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
  private mutating func number() throws(ParseError) -> StructuredField.Value {
    let sign: Int64 = take("-") ? -1 : 1
    let whole = text(ASCII.isDigit)
    let isInteger = !take(".")
    let fraction = isInteger ? "" : text(ASCII.isDigit)
    let (count, places) = (whole.utf8.count, fraction.utf8.count)
    let fits = isInteger ? (1...15).contains(count) : (1...12).contains(count) && (1...3).contains(places)
    let digits = isInteger ? whole : whole + fraction + String(repeating: "0", count: max(0, 3 - places))
    guard fits, let number = Int64(digits) else { throw ParseError("a number has too few or too many digits") }
    return isInteger ? .integer(sign * number) : .decimal(thousandths: sign * number)
  }

  private mutating func token(_ first: UInt8) throws(ParseError) -> String {
    guard Self.isLowerCase(ASCII.lowercased(first)) || first == UInt8(ascii: "*") else {
      throw ParseError("a value has an unknown type")
    }
    return text { ASCII.isToken($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
  }

  // MARK: Bytes

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func skip(_ rule: (UInt8) -> Bool) { rest = rest.drop(while: rule) }

  private mutating func text(_ rule: (UInt8) -> Bool) -> String {
    let taken = rest.prefix(while: rule)
    rest = rest[taken.endIndex...]
    return String(decoding: taken, as: UTF8.self)
  }

  private mutating func lowerHex() -> UInt8? {
    rest.popFirst().flatMap { ASCII.isDigit($0) || (0x61...0x66).contains($0) ? ASCII.hexValue($0) : nil }
  }

  private static func isLowerCase(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }

  /// Decodes base64 with or without padding. A parser should not require the padding (RFC 9651 section 4.2.7).
  private static func base64(_ characters: ArraySlice<UInt8>) -> Data? {
    let bare = characters.reversed().drop { $0 == UInt8(ascii: "=") }
    guard characters.count - bare.count <= 2 else { return nil }
    let padding = Data(repeating: UInt8(ascii: "="), count: (4 - bare.count % 4) % 4)
    return Data(base64Encoded: Data(bare.reversed()) + padding)
  }
}
