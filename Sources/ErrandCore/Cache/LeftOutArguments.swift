package import Foundation

/// Removes arguments that do not affect the response, such as a timestamp, from the parts of a cache key.
///
/// An argument is identified by its percent-decoded name. The name of a list also identifies the elements of the list:
/// `tags` also removes `tags[]` and `tags[0]`. The bytes of the remaining arguments do not change.
package struct LeftOutArguments: Sendable, Hashable {
  private let names: Set<[UInt8]>

  package init(_ names: [String]) { self.names = Set(names.map { Array($0.utf8) }) }

  /// Returns a query without the arguments that must be removed; nil if `query` is nil or no argument remains.
  package func query(_ query: String?) -> String? {
    guard !names.isEmpty, let query else { return query }
    let pairs = query.utf8.split(separator: 0x26, omittingEmptySubsequences: false)
    let kept = pairs.filter { !isLeftOut(pair: $0) }
    if kept.count == pairs.count { return query }
    return kept.isEmpty ? nil : String(decoding: Array(kept.joined(separator: [0x26])), as: UTF8.self)
  }

  /// Returns the parts of a form or of a JSON object that remain after the arguments were removed. Nil if the body is
  /// of another type, or if no names of arguments to remove are given. The whole body is then part of the cache key.
  package func pieces(of body: Data, type: String?) -> [ArraySlice<UInt8>]? {
    guard !names.isEmpty, let type = type.flatMap({ MediaType($0) }) else { return nil }
    if type.essence == "application/x-www-form-urlencoded" {
      let pairs = Array(body).split(separator: 0x26, omittingEmptySubsequences: false)
      return pairs.filter { !isLeftOut(pair: $0) }
    }
    guard type.isJSON, let members = JSONMembers.read(body) else { return nil }
    return members.filter { !names.contains($0.name) }.flatMap { [$0.key, $0.value] }
  }

  private func isLeftOut(pair: some Collection<UInt8>) -> Bool {
    let name = PercentEncoding.decodedLeniently(pair.prefix { $0 != 0x3D }, plusIsSpace: true)
    if names.contains(name) { return true }
    guard let bracket = name.firstIndex(of: 0x5B), bracket > 0 else { return false }
    return names.contains(Array(name[..<bracket]))
  }
}

/// Splits a JSON object in UTF-8 into its members. The bytes of the members do not change, so that they can become part
/// of a cache key.
///
/// The type finds the beginning and end of each member and validates nothing else.
private struct JSONMembers {
  /// One member of a JSON object: a name and its value.
  struct Member {
    /// The name of the member in UTF-8, without quotes and with decoded escape sequences.
    let name: [UInt8]
    /// The name of the member as it is written in the JSON text, including quotes.
    let key: ArraySlice<UInt8>
    /// The value of the member as it is written in the JSON text.
    let value: ArraySlice<UInt8>
  }

  private var rest: ArraySlice<UInt8>

  /// Returns the members of a JSON object in the order of the text; nil if the text is not a JSON object.
  static func read(_ text: Data) -> [Member]? {
    var reader = JSONMembers(rest: Array(text)[...])
    return reader.members()
  }

  private mutating func members() -> [Member]? {
    guard take(0x7B) else { return nil }
    if take(0x7D) { return isAtEnd ? [] : nil }
    var members: [Member] = []
    repeat {
      guard let key = string(), take(0x3A), let value = value(), !value.isEmpty else { return nil }
      members.append(Member(name: Self.unescaped(key), key: key, value: value))
    } while take(0x2C)
    return take(0x7D) && isAtEnd ? members : nil
  }

  private var isAtEnd: Bool { rest.allSatisfy { Self.isSpace($0) } }

  private mutating func skipSpace() { rest = rest.drop { Self.isSpace($0) } }

  /// Skips spaces, then consumes the next byte if it is the given byte. Returns false if it is another byte.
  private mutating func take(_ byte: UInt8) -> Bool {
    skipSpace()
    guard rest.first == byte else { return false }
    rest = rest.dropFirst()
    return true
  }

  /// Skips spaces, then consumes a string. Returns the string with its quotes; nil if no complete string follows.
  private mutating func string() -> ArraySlice<UInt8>? {
    skipSpace()
    let start = rest
    guard rest.popFirst() == 0x22 else { return nil }
    while let byte = rest.popFirst() {
      if byte == 0x22 { return start.prefix(start.count - rest.count) }
      if byte == 0x5C, rest.popFirst() == nil { return nil }
    }
    return nil
  }

  /// Consumes a value up to the comma or the bracket that ends the value. Returns the value without trailing spaces;
  /// nil if a string in the value is incomplete.
  private mutating func value() -> ArraySlice<UInt8>? {
    skipSpace()
    let start = rest
    var depth = 0
    scan: while let byte = rest.first {
      switch byte {
      case 0x22:
        guard string() != nil else { return nil }
        continue scan
      case 0x5B, 0x7B: depth += 1
      case 0x5D, 0x7D:
        if depth == 0 { break scan }
        depth -= 1
      case 0x2C:
        if depth == 0 { break scan }
      default: break
      }
      rest = rest.dropFirst()
    }
    var value = start.prefix(start.count - rest.count)
    while let last = value.last, Self.isSpace(last) { value = value.dropLast() }
    return value
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte &- 0x09 < 2 || byte == 0x0D }

  /// The content of a string in UTF-8, without quotes and with decoded escape sequences (RFC 8259, section 7).
  private static func unescaped(_ string: ArraySlice<UInt8>) -> [UInt8] {
    guard string.contains(0x5C) else { return Array(string.dropFirst().dropLast()) }
    var units: [UInt16] = []
    var text = String(decoding: string.dropFirst().dropLast(), as: UTF8.self).utf16[...]
    while let unit = text.popFirst() {
      guard unit == 0x5C, let escape = text.popFirst() else {
        units.append(unit)
        continue
      }
      switch escape {
      case 0x75: units.append(codeUnit(&text))
      case 0x62: units.append(0x08)
      case 0x66: units.append(0x0C)
      case 0x6E: units.append(0x0A)
      case 0x72: units.append(0x0D)
      case 0x74: units.append(0x09)
      default: units.append(escape)
      }
    }
    return Array(String(decoding: units, as: UTF16.self).utf8)
  }

  /// Consumes up to four hexadecimal digits of an escape sequence and returns their UTF-16 code unit.
  private static func codeUnit(_ text: inout Substring.UTF16View) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let digit = text.first.flatMap({ UInt8(exactly: $0) }).flatMap(ASCII.hexValue) else { break }
      unit = unit << 4 | UInt16(digit)
      text = text.dropFirst()
    }
    return unit
  }
}
