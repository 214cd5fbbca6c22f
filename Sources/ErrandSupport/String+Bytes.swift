extension String {
  /// Returns the text with every occurrence of `wanted` replaced. The search compares bytes.
  ///
  /// Swift and Foundation compare characters, so their searches do not find a letter that is followed by a combining
  /// accent. In code that quotes or masks text, a missed occurrence would be a security hole.
  package func replacingBytes(of wanted: String, with replacement: String) -> String {
    let wanted = Array(wanted.utf8)
    guard !wanted.isEmpty else { return self }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(utf8.count)
    var rest = Array(utf8)[...]
    while let first = rest.first {
      if first == wanted[0], rest.starts(with: wanted) {
        bytes += replacement.utf8
        rest = rest.dropFirst(wanted.count)
      } else {
        bytes.append(first)
        rest = rest.dropFirst()
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension StringProtocol {
  /// The parts of the text between the occurrences of an ASCII character. Empty parts are left out. The search compares
  /// Unicode scalars.
  package func parts(at separator: Unicode.Scalar) -> [Substring] {
    Substring(self).unicodeScalars.split(separator: separator).map { Substring($0) }
  }

  /// The text before and after the first occurrence of an ASCII character; nil if the text does not contain it. The
  /// search compares Unicode scalars.
  package func cut(at separator: Unicode.Scalar) -> (before: Substring, behind: Substring)? {
    let scalars = Substring(self).unicodeScalars
    guard let place = scalars.firstIndex(of: separator) else { return nil }
    return (Substring(scalars[..<place]), Substring(scalars[scalars.index(after: place)...]))
  }
}
