import ErrandCore

/// Writes numbers, texts and digests as bytes that ``ByteReader`` can parse.
struct ByteWriter {
  var bytes: [UInt8] = []

  mutating func byte(_ value: UInt8) { bytes.append(value) }

  /// Writes a number as eight bytes, least significant first.
  mutating func fixed(_ value: UInt64) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func fixed(_ value: Int64) { fixed(UInt64(bitPattern: value)) }

  /// Writes a length with seven bits per byte, least significant first. The high bit is set in all bytes except the
  /// last.
  mutating func length(_ value: Int) {
    var rest = UInt64(clamping: value)
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

  /// Writes whether there is a text, then the text.
  mutating func optionalText(_ value: String?) {
    byte(value == nil ? 0 : 1)
    if let value { text(value) }
  }

  /// Writes a digest as 32 bytes, most significant first.
  mutating func digest(_ value: Digest) {
    for word in [value.words.0, value.words.1, value.words.2, value.words.3] {
      withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
    }
  }
}
