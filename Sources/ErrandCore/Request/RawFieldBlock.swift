/// Field lines as a transport received them, `Name:value` and a line feed each, checked and without framing bytes.
package final class RawFieldBlock: Sendable {
  private let bytes: [UInt8]
  package let count: Int

  /// Takes lines of the form `Name:value\n`, surrounding white space of the value removed. `count` is their number.
  package init(bytes: [UInt8], count: Int) {
    self.bytes = bytes
    self.count = count
  }

  package var all: [HTTPField] {
    var fields: [HTTPField] = []
    fields.reserveCapacity(count)
    forEach { name, value in
      fields.append(HTTPField(HTTPFieldName(Self.text(name)), Self.text(value)))
      return true
    }
    return fields
  }

  package func values(of name: HTTPFieldName) -> [String] {
    var values: [String] = []
    forEach { candidate, value in
      if ASCII.equalFolded(candidate, name.rawValue.utf8) { values.append(Self.text(value)) }
      return true
    }
    return values
  }

  private func forEach(_ body: (ArraySlice<UInt8>, ArraySlice<UInt8>) -> Bool) {
    var rest = bytes[...]
    while let end = rest.firstIndex(of: 0x0A) {
      let line = rest[..<end]
      if let colon = line.firstIndex(of: 0x3A), !body(line[..<colon], line[(colon + 1)...]) { return }
      rest = rest[(end + 1)...]
    }
  }

  /// UTF-8 where it is valid, ISO 8859-1 otherwise (RFC 9110 section 5.5 leaves bytes over 127 opaque).
  package static func text(_ bytes: some Collection<UInt8>) -> String {
    String(validating: bytes, as: UTF8.self) ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }
}
