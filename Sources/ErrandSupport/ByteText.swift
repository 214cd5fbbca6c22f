/// A text that is compared and hashed by its UTF-8 bytes.
///
/// Swift's `String` treats canonically equivalent texts as equal, such as `"é"` as one scalar and as two scalars.
/// Servers treat them as different. Every key that keeps the data of different callers apart, such as an account, a
/// credential, cookies or a secret header value, must be a `ByteText`, never a `String`.
package struct ByteText: Sendable, Hashable {
  /// The text as it was given.
  package let text: String

  /// Makes a value that compares the given text by its bytes.
  package init(_ text: String) { self.text = text }

  /// Whether both texts have the same UTF-8 bytes.
  package static func == (left: ByteText, right: ByteText) -> Bool { left.text.hasSameBytes(as: right.text) }

  /// Hashes the UTF-8 bytes.
  package func hash(into hasher: inout Hasher) {
    let isHashed: Void? = text.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: .init($0)) }
    if isHashed == nil { for byte in text.utf8 { hasher.combine(byte) } }
  }
}

extension String {
  /// Whether both texts have the same UTF-8 bytes.
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
