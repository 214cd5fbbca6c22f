import ErrandCore

/// The file name in a `Content-Disposition` field (RFC 6266). Parsing takes linear time.
struct ContentDisposition {
  /// The value of the parameter `filename*`, or the value of `filename` if there is no `filename*`. The name comes from
  /// the server, so use it only after ``FileName/safe(_:)``.
  let fileName: String?

  init(_ text: String) {
    var reader = Reader(rest: Array(text.utf8)[...])
    var plain: String?
    var extended: String?
    reader.skip(to: [0x3B])
    while reader.take(0x3B) {
      let name = reader.name()
      guard reader.take(0x3D) else {
        reader.skip(to: [0x3B])
        continue
      }
      let value = reader.value()
      // If a parameter appears more than once, the first valid value is used.
      if ASCII.equalFolded(name, "filename".utf8) {
        plain = plain ?? String(validating: value, as: UTF8.self)
      } else if ASCII.equalFolded(name, "filename*".utf8) {
        extended = extended ?? Self.extended(value)
      }
    }
    fileName = extended ?? plain
  }

  /// Decodes an extended parameter value such as `UTF-8'en'%e2%82%ac` (RFC 8187). Nil if the character set is neither
  /// UTF-8 nor ISO 8859-1, or if the bytes are invalid in the character set.
  private static func extended(_ value: [UInt8]) -> String? {
    let parts = value.split(separator: 0x27, maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[2].allSatisfy({ ASCII.isToken($0) }) else { return nil }
    let bytes = PercentEncoding.decodedLeniently(parts[2], plusIsSpace: false)
    if ASCII.equalFolded(parts[0], "utf-8".utf8) { return String(validating: bytes, as: UTF8.self) }
    guard ASCII.equalFolded(parts[0], "iso-8859-1".utf8) else { return nil }
    return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }

  /// Reads a field value from left to right. `rest` contains the bytes that are not read yet.
  private struct Reader {
    var rest: ArraySlice<UInt8>

    mutating func take(_ byte: UInt8) -> Bool {
      skipSpace()
      guard rest.first == byte else { return false }
      rest = rest.dropFirst()
      return true
    }

    mutating func skipSpace() { rest = rest.drop { $0 == 0x20 || $0 == 0x09 } }

    /// Skips all bytes before the next byte that `ends` contains. Bytes inside quoted strings are always skipped.
    mutating func skip(to ends: [UInt8]) {
      while let byte = rest.first, !ends.contains(byte) {
        if byte == 0x22 { _ = quoted() } else { rest = rest.dropFirst() }
      }
    }

    mutating func name() -> [UInt8] {
      skipSpace()
      let name = rest.prefix { ASCII.isToken($0) }
      rest = rest[name.endIndex...]
      return Array(name)
    }

    /// Reads a parameter value: a quoted string, or the text before the next semicolon.
    mutating func value() -> [UInt8] {
      skipSpace()
      guard rest.first == 0x22 else {
        var value = rest.prefix { $0 != 0x3B }
        rest = rest[value.endIndex...]
        while let last = value.last, last == 0x20 || last == 0x09 { value = value.dropLast() }
        return Array(value)
      }
      let value = quoted()
      skip(to: [0x3B])
      return value
    }

    private mutating func quoted() -> [UInt8] {
      var out: [UInt8] = []
      rest = rest.dropFirst()
      while let byte = rest.popFirst(), byte != 0x22 {
        if byte != 0x5C { out.append(byte) } else if let escaped = rest.popFirst() { out.append(escaped) }
      }
      return out
    }
  }
}
