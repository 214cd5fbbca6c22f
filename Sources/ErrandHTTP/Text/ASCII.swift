/// Functions for ASCII characters in HTTP messages and URLs.
package enum ASCII {
  /// Returns the lower-case form of an ASCII letter, and any other byte unchanged.
  @inline(__always)
  package static func lowercased(_ byte: UInt8) -> UInt8 {
    byte &- 0x41 < 26 ? byte | 0x20 : byte
  }

  /// Whether two byte sequences are equal without regard to ASCII case.
  package static func equalFolded(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
    let isEqual = left.withContiguousStorageIfAvailable { left in
      right.withContiguousStorageIfAvailable { right in
        left.count == right.count && left.indices.allSatisfy { lowercased(left[$0]) == lowercased(right[$0]) }
      }
    }
    if case .some(.some(let isEqual)) = isEqual { return isEqual }
    return left.count == right.count && zip(left, right).allSatisfy { lowercased($0) == lowercased($1) }
  }

  /// Whether a byte may occur in a token: `tchar` of RFC 9110 section 5.6.2. The function uses a table with one bit for
  /// each byte below 128.
  @inline(__always)
  package static func isToken(_ byte: UInt8) -> Bool {
    let marks: UInt64 = byte < 64 ? 0x03FF_6CFA_0000_0000 : 0x57FF_FFFF_C7FF_FFFE
    return byte < 128 && marks >> UInt64(byte & 63) & 1 == 1
  }

  /// Whether a text is a token (RFC 9110 section 5.6.2). An empty text is not a token.
  package static func isToken(_ text: String) -> Bool { !text.isEmpty && all(text) { isToken($0) } }

  /// Whether every byte of a text matches a rule. Reads contiguous memory for speed, because this function runs for
  /// each field of each call.
  @inline(__always)
  package static func all(_ text: String, _ rule: (UInt8) -> Bool) -> Bool {
    text.utf8.withContiguousStorageIfAvailable { $0.allSatisfy(rule) } ?? text.utf8.allSatisfy(rule)
  }

  /// Whether a byte may occur in a field value: every byte except control characters other than tab (RFC 9110 section
  /// 5.5).
  package static func isFieldValue(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != 0x7F || byte == 0x09
  }

  package static func isAlphanumeric(_ byte: UInt8) -> Bool {
    lowercased(byte) &- 0x61 < 26 || isDigit(byte)
  }

  /// Whether a byte is a space or a tab.
  @inline(__always)
  package static func isBlank(_ byte: UInt8?) -> Bool { byte == 0x20 || byte == 0x09 }

  /// Returns a text without spaces and tabs at both ends.
  package static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View { withoutBlanks(text) }

  /// Returns a text without spaces and tabs at both ends.
  static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> { withoutBlanks(text) }

  @inline(__always)
  private static func withoutBlanks<Text: BidirectionalCollection<UInt8>>(_ text: Text) -> Text
  where Text.SubSequence == Text {
    var text = text.drop { isBlank($0) }
    while isBlank(text.last) { text = text.dropLast() }
    return text
  }

  /// Takes the rest of a quoted string, up to its closing quote (RFC 9110 section 5.6.4) or the end of the text. The
  /// opening quote has been taken.
  static func takeQuoted(from rest: inout Substring.UTF8View) -> String {
    var bytes: [UInt8] = []
    while let byte = rest.popFirst(), byte != 0x22 {
      if byte == 0x5C, let escaped = rest.popFirst() { bytes.append(escaped) } else { bytes.append(byte) }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  package static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

  /// The value of a hexadecimal digit; nil for a byte that is not a hexadecimal digit.
  package static func hexValue(_ byte: UInt8) -> UInt8? {
    if isDigit(byte) { return byte &- 0x30 }
    let letter = lowercased(byte) &- 0x61
    return letter < 6 ? letter &+ 10 : nil
  }

  /// The upper-case hexadecimal digit of a 4-bit value.
  package static func hexDigit(_ half: UInt8) -> UInt8 {
    half < 10 ? 0x30 &+ half : 0x41 &+ (half &- 10)
  }

  /// The bytes in lower-case hexadecimal digits, two for each byte.
  package static func hex(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: bytes.flatMap { [lowercased(hexDigit($0 >> 4)), lowercased(hexDigit($0 & 0xF))] }, as: UTF8.self)
  }

  /// The three bytes of a percent-encoded byte (RFC 3986 section 2.1), such as `%2F`.
  package static func percentEncoded(_ byte: UInt8) -> [UInt8] { [0x25, hexDigit(byte >> 4), hexDigit(byte & 0xF)] }
}
