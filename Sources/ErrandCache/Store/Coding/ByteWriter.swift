import ErrandCore

/// Appends numbers, texts and digests to bytes, in the form that ``ByteReader`` reads.
struct ByteWriter {
  var bytes: [UInt8] = []

  mutating func byte(_ value: UInt8) { bytes.append(value) }

  /// Eight bytes, the lowest first.
  mutating func fixed(_ value: UInt64) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func fixed(_ value: Int64) { fixed(UInt64(bitPattern: value)) }

  /// Seven bits a byte, the lowest first; the eighth says that more follow.
  mutating func length(_ value: Int) {
    var rest = UInt64(clamping: value)
    while rest > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// The length, then UTF-8.
  mutating func text(_ value: String) {
    length(value.utf8.count)
    bytes.append(contentsOf: value.utf8)
  }

  /// Whether there is one, then the text.
  mutating func optionalText(_ value: String?) {
    byte(value == nil ? 0 : 1)
    if let value { text(value) }
  }

  /// Thirty-two bytes, the highest first.
  mutating func digest(_ value: Digest) {
    for word in [value.words.0, value.words.1, value.words.2, value.words.3] {
      withUnsafeBytes(of: word.bigEndian) { bytes.append(contentsOf: $0) }
    }
  }
}
