import Foundation

/// Operations on the bytes of a text. Every pointer must point into a text that is followed by zero bytes.
enum JSONBytes {
  /// Whether two byte sequences are equal. Most sequences are keys of up to 16 bytes. For 4 to 16 bytes, two integers
  /// are compared: the first bytes and the last bytes, which may overlap. This is faster than a call of `memcmp`.
  @inline(__always)
  static func areSame(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    switch count {
    case 0: true
    case 1...3: left[0] == right[0] && left[count >> 1] == right[count >> 1] && left[count - 1] == right[count - 1]
    case 4...7: areEqual(left, right, at: 0, UInt32.self) && areEqual(left, right, at: count - 4, UInt32.self)
    case 8...16: areEqual(left, right, at: 0, UInt64.self) && areEqual(left, right, at: count - 8, UInt64.self)
    default: memcmp(left, right, count) == 0
    }
  }

  @inline(__always)
  private static func areEqual<Word: FixedWidthInteger & BitwiseCopyable>(
    _ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, at offset: Int, _ word: Word.Type
  ) -> Bool {
    UnsafeRawPointer(left + offset).loadUnaligned(as: word)
      == UnsafeRawPointer(right + offset).loadUnaligned(as: word)
  }

  /// The number that eight ASCII digits form; nil if one of the bytes is not a digit.
  @inline(__always)
  static func eightDigits(_ text: UnsafePointer<UInt8>) -> UInt64? {
    let bytes = UInt64(littleEndian: UnsafeRawPointer(text).loadUnaligned(as: UInt64.self))
    let digits = bytes &- 0x3030_3030_3030_3030
    guard (digits | (bytes &+ 0x4646_4646_4646_4646)) & 0x8080_8080_8080_8080 == 0 else { return nil }
    // Combines neighbouring digits to pairs, then the pairs to two halves, then the halves to the number.
    let pairs = digits &* 10 &+ (digits >> 8)
    let upper = (pairs & 0x0000_00FF_0000_00FF) &* 0x000F_4240_0000_0064
    let lower = (pairs >> 16 & 0x0000_00FF_0000_00FF) &* 0x0000_2710_0000_0001
    return (upper &+ lower) >> 32
  }

  /// Sets the high bit of each of eight bytes that is a quote, a backslash, a control character or not ASCII. Only the
  /// lowest of the set high bits is reliable, because a subtraction borrows from the bytes above.
  static func special(in eight: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = eight ^ (ones &* UInt64(UInt8(ascii: "\"")))
    let backslash = eight ^ (ones &* UInt64(UInt8(ascii: "\\")))
    let found = (quote &- ones) | (backslash &- ones) | (eight &- ones &* 0x20) | eight
    return found & (ones &* 0x80)
  }

  /// The number that four hexadecimal digits form; nil if one of the bytes is not a hexadecimal digit.
  static func hexadecimal(_ digits: UnsafePointer<UInt8>) -> UInt32? {
    var number: UInt32 = 0
    for index in 0..<4 {
      let digit: UInt8
      switch digits[index] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = digits[index] - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = digits[index] - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = digits[index] - UInt8(ascii: "A") + 10
      default: return nil
      }
      number = number << 4 | UInt32(digit)
    }
    return number
  }

  /// The text between the quotes of a string that the parser has validated.
  static func string(_ bytes: UnsafePointer<UInt8>, _ count: Int, isEscaped: Bool) -> String {
    guard isEscaped else {
      return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
    // A decoded escape is never longer than the escape itself.
    return String(unsafeUninitializedCapacity: count) { buffer in unescape(bytes, count, into: buffer) }
  }

  private static func unescape(
    _ bytes: UnsafePointer<UInt8>, _ count: Int, into buffer: UnsafeMutableBufferPointer<UInt8>
  ) -> Int {
    guard let text = buffer.baseAddress else { return 0 }
    var (read, written) = (0, 0)
    while read < count {
      let escape = memchr(bytes + read, Int32(UInt8(ascii: "\\")), count - read)
      let plain = escape.map { UnsafeRawPointer($0) - UnsafeRawPointer(bytes + read) } ?? count - read
      (text + written).update(from: bytes + read, count: plain)
      (read, written) = (read + plain, written + plain)
      guard read < count else { break }
      written += write(unescaped(bytes + read, &read), to: text + written)
    }
    return written
  }

  /// Writes a Unicode scalar in UTF-8 and returns the number of bytes.
  private static func write(_ scalar: Unicode.Scalar, to text: UnsafeMutablePointer<UInt8>) -> Int {
    guard !scalar.isASCII else {
      text[0] = UInt8(truncatingIfNeeded: scalar.value)
      return 1
    }
    var count = 0
    for unit in scalar.utf8 {
      text[count] = unit
      count += 1
    }
    return count
  }

  /// Decodes the escape at the pointer and advances `read` past it.
  private static func unescaped(_ escape: UnsafePointer<UInt8>, _ read: inout Int) -> Unicode.Scalar {
    read += 2
    switch escape[1] {
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: return Unicode.Scalar(escape[1])
    }
    read += 4
    let unit = hexadecimal(escape + 2) ?? 0xFFFD
    guard unit & 0xFC00 == 0xD800 else { return Unicode.Scalar(unit) ?? "\u{FFFD}" }
    read += 6
    let low = hexadecimal(escape + 8) ?? 0xDC00
    return Unicode.Scalar(0x10000 + (unit & 0x3FF) << 10 + low & 0x3FF) ?? "\u{FFFD}"
  }
}
