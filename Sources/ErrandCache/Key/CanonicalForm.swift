/// Writes what a digest is made of, so that two different lists of things never are the same bytes.
///
/// The format: one byte of version; the purpose; the salt; then one item after the other. A number is written seven bits
/// a byte, the lowest first, all bytes but the last with the high bit set. A text is its length in bytes plus one, and
/// its bytes; an absent one is a zero; a digest is its 32 bytes behind a one, or a zero; a list is its count and its
/// items.
///
/// ```
/// 01 | 04 "url" | 01 | 05 "http" | 02 "h" | 00
/// ```
package struct CanonicalForm: Sendable {
  /// The format that is written. A change of it, or of what a key is made of, makes every stored entry unknown.
  package static let version: UInt8 = 1

  private var bytes: [UInt8] = []

  /// Begins a form.
  /// - Parameters:
  ///   - purpose: What the digest names; those of different purposes never meet.
  ///   - salt: The store's own bytes.
  package init(_ purpose: String, salt: [UInt8], version: UInt8 = Self.version) {
    bytes.reserveCapacity(256)
    bytes.append(version)
    add(purpose)
    add(bytes: salt)
  }

  /// Adds a text, or that there is none.
  package mutating func add(_ text: String?) {
    guard let text else { return add(0) }
    add(bytes: text.utf8)
  }

  /// Adds bytes.
  package mutating func add(bytes added: some Collection<UInt8>) {
    add(UInt64(added.count) &+ 1)
    bytes.append(contentsOf: added)
  }

  /// Adds texts and their count.
  package mutating func add(_ texts: [String]) {
    add(UInt64(texts.count))
    for text in texts { add(text) }
  }

  /// Adds a digest, or that there is none.
  package mutating func add(_ digest: Digest?) {
    guard let digest else { return add(0) }
    add(1)
    let words = digest.words
    withUnsafeBytes(of: (words.0.bigEndian, words.1.bigEndian, words.2.bigEndian, words.3.bigEndian)) {
      bytes.append(contentsOf: $0)
    }
  }

  /// Adds a number.
  package mutating func add(_ number: UInt64) {
    var rest = number
    while rest > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest &>>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// The digest of all that was added.
  package var digest: Digest { SHA256.digest(of: bytes) }
}
