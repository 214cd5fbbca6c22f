/// Writes the input of a digest. Different lists of items always produce different bytes.
///
/// The format: one version byte; the purpose; the salt; then the items. A number is written with seven bits per byte,
/// least significant first, with the high bit set in all bytes except the last. A text is its length in bytes plus one,
/// followed by its bytes. An absent text is a zero. A digest is a one followed by its 32 bytes, or a zero if it is
/// absent. A list is its count followed by its items.
///
/// ```
/// 02 | 04 "url" | 01 | 05 "http" | 02 "h" | 00
/// ```
package struct CanonicalForm: Sendable {
  /// The version of the format. If the format or the items of a key change, the version changes, and no stored entry is
  /// found any more.
  package static let version: UInt8 = 2

  private var writer = ByteWriter()

  /// Starts the input of a digest.
  /// - Parameters:
  ///   - purpose: The kind of the digest. Digests with different purposes are never equal.
  ///   - salt: The random bytes of the store.
  package init(_ purpose: String, salt: [UInt8], version: UInt8 = Self.version) {
    writer.bytes.reserveCapacity(256)
    writer.byte(version)
    add(purpose)
    add(bytes: salt)
  }

  /// Adds a text. Nil marks an absent text.
  package mutating func add(_ text: String?) {
    guard let text else { return add(0) }
    add(bytes: text.utf8)
  }

  /// Adds a sequence of bytes: first the number of bytes plus one, then the bytes.
  package mutating func add(bytes added: some Collection<UInt8>) {
    add(UInt64(added.count) &+ 1)
    writer.bytes.append(contentsOf: added)
  }

  /// Adds a list of texts: first the number of texts, then each text.
  package mutating func add(_ texts: [String]) {
    add(UInt64(texts.count))
    for text in texts { add(text) }
  }

  /// Adds a digest. Nil marks an absent digest.
  package mutating func add(_ digest: Digest?) {
    guard let digest else { return add(0) }
    add(1)
    writer.digest(digest)
  }

  package mutating func add(_ number: UInt64) { writer.number(number) }

  /// The digest of everything added so far.
  package var digest: Digest { SHA256.digest(of: writer.bytes) }
}
