/// Writes what a digest is made of, so that two different lists of things never are the same bytes.
///
/// The format: one byte of version; the purpose; then one item after the other. An item is its length in bytes (eight
/// bytes, highest first) and its bytes; an absent one is eight bytes of 255; a list is its count and its items.
///
/// ```
/// 01 | 00…03 "url" | 00…04 "http" | 00…01 "h" | FF…FF
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
    bytes.reserveCapacity(512)
    bytes.append(version)
    add(purpose)
    add(bytes: salt)
  }

  /// Adds a text, or that there is none.
  package mutating func add(_ text: String?) {
    guard let text else { return add(.max) }
    add(bytes: text.utf8)
  }

  /// Adds bytes.
  package mutating func add(bytes added: some Collection<UInt8>) {
    add(UInt64(added.count))
    bytes.append(contentsOf: added)
  }

  /// Adds texts and their count.
  package mutating func add(_ texts: [String]) {
    add(UInt64(texts.count))
    for text in texts { add(text) }
  }

  /// Adds a digest, or that there is none.
  package mutating func add(_ digest: Digest?) {
    guard let digest else { return add(.max) }
    add(32)
    for word in [digest.words.0, digest.words.1, digest.words.2, digest.words.3] { add(word) }
  }

  /// Adds a number.
  package mutating func add(_ number: UInt64) {
    for shift in stride(from: UInt64(56), through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number &>> shift))
    }
  }

  /// The digest of all that was added.
  package var digest: Digest { SHA256.digest(of: bytes) }
}
