import ErrandSupport

/// Percent-encoding of UTF-8 bytes (RFC 3986 section 2).
package enum PercentEncoding {
  /// A set of bytes that stay unchanged. All other bytes are percent-encoded.
  package struct Kept: Sendable {
    fileprivate let table: [Bool]
    /// Whether existing percent-encoding in the text is kept, so that nothing is encoded twice.
    fileprivate let keepsEscapes: Bool

    init(_ marks: String, keepsEscapes: Bool) {
      var table = (0...255).map { ASCII.isAlphanumeric(UInt8($0)) }
      for byte in "-._~".utf8 { table[Int(byte)] = true }
      for byte in marks.utf8 { table[Int(byte)] = true }
      self.table = table
      self.keepsEscapes = keepsEscapes
    }

    /// The bytes that stay unchanged in a value, such as the value of a query item: letters, digits and `-._~`.
    package static let value = Kept("", keepsEscapes: false)
    /// The bytes that stay unchanged in a path that a programmer wrote as text.
    package static let pathText = Kept("/!$&'()*+,;=:@", keepsEscapes: true)
    /// The bytes that stay unchanged in a query that a programmer wrote as text.
    package static let queryText = Kept("/?!$&'()*+,;=:@", keepsEscapes: true)
  }

  /// Appends `bytes` to `out`. Percent-encodes the bytes that are not in `kept`.
  package static func append(_ bytes: ArraySlice<UInt8>, to out: inout [UInt8], keeping kept: Kept) {
    appendAll(bytes, to: &out, keeping: kept)
  }

  /// Appends the UTF-8 bytes of `text` to `out`. Percent-encodes the bytes that are not in `kept`.
  package static func append(_ text: String, to out: inout [UInt8], keeping kept: Kept) {
    appendAll(text.utf8, to: &out, keeping: kept)
  }

  // Other modules cannot specialise a generic function of this module, so it is private.
  private static func appendAll(_ bytes: some Collection<UInt8>, to out: inout [UInt8], keeping kept: Kept) {
    // This is the fast path for nearly all texts: texts in which no byte needs percent-encoding.
    let isKept = bytes.withContiguousStorageIfAvailable { bytes in
      kept.table.withUnsafeBufferPointer { table in
        guard bytes.allSatisfy({ table[Int($0)] }) else { return false }
        out.append(contentsOf: bytes)
        return true
      }
    }
    if isKept == true { return }
    var position = bytes.startIndex
    while position < bytes.endIndex {
      let byte = bytes[position]
      position = bytes.index(after: position)
      if kept.table[Int(byte)] || (kept.keepsEscapes && byte == 0x25 && startsEscape(bytes[position...])) {
        out.append(byte)
      } else {
        out.append(0x25)
        out.append(ASCII.hexDigit(byte >> 4))
        out.append(ASCII.hexDigit(byte & 0xF))
      }
    }
  }

  /// Percent-encodes all bytes of a text except letters, digits and `-._~`.
  package static func value(_ text: String) -> String {
    if ASCII.all(text, { Kept.value.table[Int($0)] }) { return text }
    var out: [UInt8] = []
    append(text, to: &out, keeping: .value)
    return String(decoding: out, as: UTF8.self)
  }

  /// The percent-encoded forms of a text in URLs and HTML forms: the hexadecimal digits may be upper case or lower case
  /// (RFC 3986 section 2.1), and a space may be a plus sign. Empty if no byte of the text is percent-encoded.
  package static func forms(of text: String) -> [String] {
    let upper = Self.value(text)
    guard upper.utf8.contains(0x25) else { return [] }
    var lower = Array(upper.utf8)
    for place in lower.indices where lower[place] == 0x25 {
      for digit in lower.indices.dropFirst(place + 1).prefix(2) { lower[digit] = ASCII.lowercased(lower[digit]) }
    }
    let forms = [upper, String(decoding: lower, as: UTF8.self)]
    return forms + forms.map { $0.replacingBytes(of: "%20", with: "+") }
  }

  /// Decodes percent-encoded bytes; nil if a percent sign is not followed by two hexadecimal digits.
  package static func decoded(_ bytes: some Collection<UInt8>, plusIsSpace: Bool) -> [UInt8]? {
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var rest = bytes.makeIterator()
    while let byte = rest.next() {
      switch byte {
      case 0x25:
        guard let high = rest.next().flatMap(ASCII.hexValue), let low = rest.next().flatMap(ASCII.hexValue) else {
          return nil
        }
        out.append(high << 4 | low)
      case 0x2B where plusIsSpace: out.append(0x20)
      default: out.append(byte)
      }
    }
    return out
  }

  /// Decodes percent-encoded bytes. A percent sign that is not followed by two hexadecimal digits stays unchanged.
  package static func decodedLeniently(_ bytes: some Sequence<UInt8>, plusIsSpace: Bool) -> [UInt8] {
    // Other modules cannot specialise a generic function of this module. The loop reads an array, so it is fast anyway.
    var rest = Array(bytes)[...]
    var out: [UInt8] = []
    out.reserveCapacity(rest.count)
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2)
      if byte == 0x25, digits.count == 2, let high = digits.first.flatMap(ASCII.hexValue),
        let low = digits.last.flatMap(ASCII.hexValue)
      {
        out.append(high << 4 | low)
        rest = rest.dropFirst(2)
      } else {
        out.append(byte == 0x2B && plusIsSpace ? 0x20 : byte)
      }
    }
    return out
  }

  private static func startsEscape(_ bytes: some Collection<UInt8>) -> Bool {
    let two = bytes.prefix(2)
    return two.count == 2 && two.allSatisfy { ASCII.hexValue($0) != nil }
  }
}
