import Foundation

/// Writes the literals, numbers and strings of JSON.
extension JSONBuffer<UInt8> {
  @inline(__always) func write(word: StaticString) {
    let count = word.utf8CodeUnitCount
    reserve(count)
    end.update(from: word.utf8Start, count: count)
    advance(count)
  }

  @inline(__always) func write(_ bool: Bool) { write(word: bool ? "true" : "false") }

  func write(contentsOf bytes: [UInt8]) { bytes.withUnsafeBufferPointer { write(contentsOf: $0) } }

  private func write(contentsOf bytes: UnsafeBufferPointer<UInt8>) {
    guard let first = bytes.baseAddress else { return }
    reserve(bytes.count)
    end.update(from: first, count: bytes.count)
    advance(bytes.count)
  }

  func endsWith(_ word: StaticString) -> Bool {
    let length = word.utf8CodeUnitCount
    return count >= length && memcmp(end - length, word.utf8Start, length) == 0
  }

  func contains(_ byte: UInt8, in range: Range<Int>) -> Bool {
    memchr(start + range.lowerBound, Int32(byte), range.count) != nil
  }

  /// The first eight bytes of a range as a big-endian number, padded with zeros. Comparing two such numbers is the same
  /// as comparing the bytes from left to right.
  @inline(__always) func head(of range: Range<Int>) -> UInt64 {
    let length = range.count
    if range.lowerBound + 8 <= count {
      let word = UInt64(bigEndian: UnsafeRawPointer(start + range.lowerBound).loadUnaligned(as: UInt64.self))
      return length >= 8 ? word : word & ~(UInt64.max >> UInt64(8 * length))
    }
    return (0..<8).reduce(0) { $0 << 8 | ($1 < length ? UInt64(start[range.lowerBound + $1]) : 0) }
  }

  /// Replaces all bytes from `place` to the end by the given parts, in their order and separated by commas. The parts
  /// are ranges of this buffer, and together they cover all of these bytes except the commas between them.
  @inline(__always) func arrange(from place: Int, _ parts: some Sequence<Range<Int>>) {
    // The parts are written behind the end, and then moved.
    let length = count - place
    reserve(length + 1)
    var target = end
    for part in parts {
      target.update(from: start + part.lowerBound, count: part.count)
      target[part.count] = UInt8(ascii: ",")
      target += part.count + 1
    }
    (start + place).update(from: end, count: length)
  }

  /// Compares two ranges by their bytes; negative if `left` comes first. If one range is a prefix of the other, the
  /// shorter range comes first.
  func compare(_ left: Range<Int>, _ right: Range<Int>) -> Int {
    let order = memcmp(start + left.lowerBound, start + right.lowerBound, min(left.count, right.count))
    return order != 0 ? Int(order) : left.count - right.count
  }

  func text(_ range: Range<Int>) -> String {
    String(decoding: UnsafeBufferPointer(start: start + range.lowerBound, count: range.count), as: UTF8.self)
  }

  /// A hash of six bits of the bytes in a range. Ranges with equal bytes have equal hashes.
  @inline(__always) func sixBitHash(of range: Range<Int>) -> UInt64 {
    guard let last = range.last else { return 0 }
    let middle = range.lowerBound + range.count / 2
    let some = UInt64(start[range.lowerBound]) | UInt64(start[middle]) << 8 | UInt64(start[last]) << 16
    return ((some | UInt64(truncatingIfNeeded: range.count) << 24) &* 0x9E37_79B9_7F4A_7C15) >> 58
  }

  var data: Data { Data(bytes: start, count: count) }
}

// MARK: - Numbers

extension JSONBuffer<UInt8> {
  @inline(__always) func write(_ number: some FixedWidthInteger) {
    guard let small = Int64(exactly: number) else { return write(large: number) }
    if small < 0 { append(UInt8(ascii: "-")) }
    write(digits: small.magnitude)
  }

  @inline(never) private func write(large number: some FixedWidthInteger) { write(ascii: String(number)) }

  func write(ascii text: String) {
    var text = text
    text.withUTF8 { write(contentsOf: $0) }
  }

  @inline(__always) func write(digits number: UInt64) { write(digits: number, width: Self.width(of: number)) }

  /// Writes the last `width` digits of a number. A number with fewer digits gets leading zeros.
  func write(digits number: UInt64, width: Int) {
    reserve(width)
    var (rest, place) = (number, end + width)
    let first = end
    let pairs = Self.pairs.utf8Start
    while place - first >= 2 {
      let pair = Int(truncatingIfNeeded: rest % 100) * 2
      rest /= 100
      place -= 2
      (place[0], place[1]) = (pairs[pair], pairs[pair + 1])
    }
    if place > first { first[0] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest % 10) }
    advance(width)
  }

  @inline(__always) static func width(of number: UInt64) -> Int {
    var (rest, width) = (number, 0)
    while rest >= 10_000 { (rest, width) = (rest / 10_000, width + 4) }
    return width + (rest < 10 ? 1 : rest < 100 ? 2 : rest < 1_000 ? 3 : 4)
  }

  private static var pairs: StaticString {
    """
    00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555\
    657585960616263646566676869707172737475767778798081828384858687888990919293949596979899
    """
  }
}

// MARK: - Strings

extension JSONBuffer<UInt8> {
  /// Writes a string in quotation marks.
  /// - Returns: Whether the string is ASCII.
  @discardableResult @inline(__always) func write(_ string: String) -> Bool {
    if let isASCII = string.utf8.withContiguousStorageIfAvailable({ write(quoted: $0) }) { return isASCII }
    return Array(string.utf8).withUnsafeBufferPointer { write(quoted: $0) }
  }

  private func write(quoted text: UnsafeBufferPointer<UInt8>) -> Bool {
    let length = text.count
    reserve(length + 2)
    append(UInt8(ascii: "\""))
    guard let source = UnsafeRawPointer(text.baseAddress) else {
      append(UInt8(ascii: "\""))
      return true
    }
    var (at, all) = (0, 0 as UInt64)
    while at + 8 <= length {
      let eight = source.loadUnaligned(fromByteOffset: at, as: UInt64.self)
      all |= eight
      if Self.mustEscape(eight) {
        for index in at..<(at + 8) { write(escaping: text[index], before: length - index) }
      } else {
        UnsafeMutableRawPointer(end).storeBytes(of: eight, as: UInt64.self)
        advance(8)
      }
      at += 8
    }
    while at < length {
      all |= UInt64(text[at])
      write(escaping: text[at], before: length - at)
      at += 1
    }
    append(UInt8(ascii: "\""))
    return all & 0x8080_8080_8080_8080 == 0
  }

  /// Whether one of eight bytes is a quote, a backslash or a control character.
  @inline(__always) private static func mustEscape(_ eight: UInt64) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = eight ^ (ones &* UInt64(UInt8(ascii: "\"")))
    let backslash = eight ^ (ones &* UInt64(UInt8(ascii: "\\")))
    let found =
      ((quote &- ones) & ~quote) | ((backslash &- ones) & ~backslash) | ((eight &- ones &* 0x20) & ~eight)
    return found & (ones &* 0x80) != 0
  }

  /// Writes one byte of a string, as an escape if necessary. The caller must have reserved one byte for each byte of
  /// the string that is not written yet. An escape needs more bytes, so this function reserves the additional bytes
  /// itself.
  @inline(__always) private func write(escaping byte: UInt8, before rest: Int) {
    if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
      start[count] = byte
      advance(1)
    } else {
      escape(byte, before: rest)
    }
  }

  @inline(never) private func escape(_ byte: UInt8, before rest: Int) {
    switch byte {
    case UInt8(ascii: "\""): write(word: "\\\"")
    case UInt8(ascii: "\\"): write(word: "\\\\")
    case 0x08: write(word: "\\b")
    case 0x0C: write(word: "\\f")
    case UInt8(ascii: "\n"): write(word: "\\n")
    case UInt8(ascii: "\r"): write(word: "\\r")
    case UInt8(ascii: "\t"): write(word: "\\t")
    default:
      write(word: "\\u00")
      append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
      append((byte & 15 < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10) + byte & 15)
    }
    reserve(rest + 1)
  }
}
