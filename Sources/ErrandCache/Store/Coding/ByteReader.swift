import ErrandCore

/// Parses bytes that ``ByteWriter`` wrote. Throws at the first invalid value, and never traps, whatever the bytes are.
struct ByteReader {
  /// Thrown if the bytes are not a valid record.
  struct Malformed: Error {}

  private let bytes: UnsafeRawBufferPointer
  private var place = 0

  /// Makes a reader. The bytes must stay valid as long as the reader is used.
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { place == bytes.count }

  mutating func byte() throws(Malformed) -> UInt8 {
    try take(1)[0]
  }

  mutating func flag() throws(Malformed) -> Bool {
    let value = try byte()
    guard value < 2 else { throw Malformed() }
    return value == 1
  }

  mutating func fixed() throws(Malformed) -> UInt64 {
    UInt64(littleEndian: try take(8).loadUnaligned(as: UInt64.self))
  }

  mutating func signed() throws(Malformed) -> Int64 { Int64(bitPattern: try fixed()) }

  /// Reads a length or a count, which is never negative.
  mutating func length() throws(Malformed) -> Int {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 63, by: 7) {
      let byte = try byte()
      value |= UInt64(byte & 0x7F) << shift
      guard byte & 0x80 != 0 else { return Int(truncatingIfNeeded: value) }
    }
    throw Malformed()
  }

  mutating func text() throws(Malformed) -> String {
    let bytes = try take(try length())
    guard let text = String(validating: bytes, as: UTF8.self) else { throw Malformed() }
    return text
  }

  mutating func optionalText() throws(Malformed) -> String? {
    try flag() ? try text() : nil
  }

  mutating func digest() throws(Malformed) -> Digest {
    let bytes = try take(32)
    func word(_ offset: Int) -> UInt64 {
      UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    return Digest(words: (word(0), word(8), word(16), word(24)))
  }

  /// Reads the next bytes without copying them.
  mutating func take(_ count: Int) throws(Malformed) -> UnsafeRawBufferPointer {
    guard count >= 0, count <= bytes.count - place else { throw Malformed() }
    defer { place += count }
    return UnsafeRawBufferPointer(rebasing: bytes[place..<(place + count)])
  }

  /// Reads the number of items in a list. Each item takes at least one byte. So the number is invalid if it is larger
  /// than the number of bytes left.
  mutating func count() throws(Malformed) -> Int {
    let count = try length()
    guard count <= bytes.count - place else { throw Malformed() }
    return count
  }
}

/// Writes numbers, texts and digests as bytes that ``ByteReader`` can parse.
struct ByteWriter {
  var bytes: [UInt8] = []

  mutating func byte(_ value: UInt8) { bytes.append(value) }

  /// Writes a number as eight bytes, least significant first.
  mutating func fixed(_ value: UInt64) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func fixed(_ value: Int64) { fixed(UInt64(bitPattern: value)) }

  mutating func length(_ value: Int) { number(UInt64(clamping: value)) }

  /// Writes a number with seven bits per byte, least significant first. The high bit is set in all bytes except the
  /// last.
  mutating func number(_ value: UInt64) {
    var rest = value
    while rest > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Writes the length of a text, then the text in UTF-8.
  mutating func text(_ value: String) {
    length(value.utf8.count)
    bytes.append(contentsOf: value.utf8)
  }

  mutating func optionalText(_ value: String?) {
    byte(value == nil ? 0 : 1)
    if let value { text(value) }
  }

  /// Writes a digest as 32 bytes, most significant first.
  mutating func digest(_ value: Digest) {
    let words = value.words
    withUnsafeBytes(of: (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)) {
      bytes.append(contentsOf: $0)
    }
  }
}
