/// Percent-encoding over UTF-8 bytes (RFC 3986 section 2).
package enum PercentEncoding {
  /// Which bytes stay as they are.
  package struct Kept: Sendable {
    fileprivate let table: [Bool]
    /// Whether an escape that stands in the text is kept as one, so that nothing is escaped twice.
    fileprivate let keepsEscapes: Bool

    init(_ marks: String, keepsEscapes: Bool) {
      var table = (0...255).map { ASCII.isAlphanumeric(UInt8($0)) }
      for byte in "-._~".utf8 { table[Int(byte)] = true }
      for byte in marks.utf8 { table[Int(byte)] = true }
      self.table = table
      self.keepsEscapes = keepsEscapes
    }

    /// A value: only letters, digits and `-._~` stay.
    package static let value = Kept("", keepsEscapes: false)
    /// A path as a programmer wrote it.
    package static let pathText = Kept("/!$&'()*+,;=:@", keepsEscapes: true)
    /// A query as a programmer wrote it.
    package static let queryText = Kept("/?!$&'()*+,;=:@", keepsEscapes: true)
  }

  /// Appends `bytes`, what is not kept being escaped.
  package static func append(_ bytes: some Collection<UInt8>, to out: inout [UInt8], keeping kept: Kept) {
    // Nearly all texts are kept as they are.
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

  /// A text with all but letters, digits and `-._~` escaped.
  package static func value(_ text: String) -> String {
    if ASCII.all(text, { Kept.value.table[Int($0)] }) { return text }
    var out: [UInt8] = []
    append(text.utf8, to: &out, keeping: .value)
    return String(decoding: out, as: UTF8.self)
  }

  /// The bytes behind the escapes; nil where a percent sign has no two digits behind it.
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

  private static func startsEscape(_ bytes: some Collection<UInt8>) -> Bool {
    let two = bytes.prefix(2)
    return two.count == 2 && two.allSatisfy { ASCII.hexValue($0) != nil }
  }
}
