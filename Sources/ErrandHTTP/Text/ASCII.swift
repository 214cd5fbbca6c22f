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

  /// Whether a byte may occur in a token: `tchar` of RFC 9110 section 5.6.2.
  package static func isToken(_ byte: UInt8) -> Bool {
    isToken(byte, in: tokenBits)
  }

  /// The parameter `bits` is ``tokenBits``, which a loop over many bytes reads only once.
  @inline(__always)
  private static func isToken(_ byte: UInt8, in bits: SIMD2<UInt64>) -> Bool {
    let half = byte < 64 ? bits.x : bits.y
    return byte < 128 && half & (1 << UInt64(byte & 63)) != 0
  }

  /// Whether a text is a token (RFC 9110 section 5.6.2). An empty text is not a token.
  package static func isToken(_ text: String) -> Bool {
    let bits = tokenBits
    return !text.isEmpty && all(text) { isToken($0, in: bits) }
  }

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

  /// Returns a text without spaces and tabs at both ends.
  package static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
    var text = text.drop { $0 == 0x20 || $0 == 0x09 }
    while let last = text.last, last == 0x20 || last == 0x09 { text = text.dropLast() }
    return text
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

  /// One bit for each ASCII character; the bit is set if the character may occur in a token.
  private static let tokenBits: SIMD2<UInt64> = {
    var bits = SIMD2<UInt64>()
    for byte in UInt8(0)..<128 where isAlphanumeric(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte) {
      bits[Int(byte >> 6)] |= 1 << UInt64(byte & 63)
    }
    return bits
  }()
}
