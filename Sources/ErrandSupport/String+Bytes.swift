extension String {
  /// The text with every occurrence of another one replaced, found byte by byte.
  ///
  /// Swift and Foundation look for characters: a letter with a combining accent behind it is another one than the letter
  /// alone, and is not found. Where text is quoted or masked, what is not found does harm.
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
  /// The parts between two occurrences of an ASCII character, found byte by byte; empty ones are left out.
  package func parts(at separator: Unicode.Scalar) -> [Substring] {
    Substring(self).unicodeScalars.split(separator: separator).map { Substring($0) }
  }

  /// The text before the first occurrence of an ASCII character and the text behind it; nil if there is none. Found byte
  /// by byte.
  package func cut(at separator: Unicode.Scalar) -> (before: Substring, behind: Substring)? {
    let scalars = Substring(self).unicodeScalars
    guard let place = scalars.firstIndex(of: separator) else { return nil }
    return (Substring(scalars[..<place]), Substring(scalars[scalars.index(after: place)...]))
  }
}
