/// A text that is compared and hashed by its UTF-8 bytes.
///
/// Swift's `String` treats canonically equivalent texts as equal, such as `"é"` as one scalar and as two scalars.
/// Servers treat them as different. Every key that keeps the data of different callers apart, such as an account, a
/// credential, cookies or a secret header value, must be a `ByteText`, never a `String`.
package struct ByteText: Sendable, Hashable {
  package let text: String

  /// Makes a value that compares the given text by its bytes.
  package init(_ text: String) { self.text = text }

  package static func == (left: ByteText, right: ByteText) -> Bool { left.text.hasSameBytes(as: right.text) }

  package func hash(into hasher: inout Hasher) {
    let isHashed: Void? = text.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: .init($0)) }
    if isHashed == nil { for byte in text.utf8 { hasher.combine(byte) } }
  }
}

extension String {
  package func hasSameBytes(as other: String) -> Bool {
    let isSame = utf8.withContiguousStorageIfAvailable { mine in
      other.utf8.withContiguousStorageIfAvailable { other in
        // `elementsEqual` takes several times as long for short texts, because it uses iterators.
        mine.count == other.count && mine.indices.allSatisfy { mine[$0] == other[$0] }
      }
    }
    if case .some(.some(let isSame)) = isSame { return isSame }
    return utf8.elementsEqual(other.utf8)
  }

  /// Returns true if this text comes before `other` when texts are sorted by their UTF-8 bytes.
  package func precedesByBytes(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}

extension String? {
  /// Whether both texts are nil or have the same UTF-8 bytes.
  package func hasSameBytes(as other: String?) -> Bool {
    switch (self, other) {
    case (nil, nil): true
    case (let mine?, let theirs?): mine.hasSameBytes(as: theirs)
    case (nil, _?), (_?, nil): false
    }
  }
}

extension [String] {
  /// Whether both arrays have texts with the same UTF-8 bytes in the same order.
  package func haveSameBytes(as others: [String]) -> Bool { elementsEqual(others) { $0.hasSameBytes(as: $1) } }

  /// Whether one of the texts has the same UTF-8 bytes as `text`.
  package func containsBytes(of text: String) -> Bool { contains { $0.hasSameBytes(as: text) } }
}

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

extension String {
  /// Whether the text contains the UTF-8 bytes of another text that is not empty. `contains` of the standard library
  /// takes many times as long.
  package func contains(bytesOf part: String) -> Bool {
    var (text, part) = (self, part)
    return text.withUTF8 { text in
      part.withUTF8 { part in
        guard let first = part.first, text.count >= part.count else { return false }
        return (0...text.count - part.count).contains { start in
          text[start] == first && part.indices.allSatisfy { text[start + $0] == part[$0] }
        }
      }
    }
  }
}

extension StringProtocol {
  /// The ASCII letters of the text in lower case, without all that is between them, such as digits, separators and
  /// combining accents. Code that recognises secrets by their names compares these letters, because an accent after a
  /// letter makes it another character and would hide the word.
  package var asciiLetters: String {
    String(decoding: utf8.filter { 0x41...0x5A ~= $0 & 0xDF }.map { $0 | 0x20 }, as: UTF8.self)
  }

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
