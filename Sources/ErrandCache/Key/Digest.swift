/// A SHA-256 digest (FIPS 180-4).
public struct Digest: Sendable, Hashable {
  /// The 32 bytes, eight by eight, the first one highest.
  package let words: (UInt64, UInt64, UInt64, UInt64)

  package init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

  /// Hashes bytes.
  public init(of bytes: some Sequence<UInt8>) {
    var hash = SHA256()
    hash.update(Array(bytes))
    self = hash.finished()
  }

  /// The 32 bytes one by one.
  package var bytes: [UInt8] {
    [words.0, words.1, words.2, words.3].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
    }
  }

  /// Whether both are the same bytes.
  public static func == (left: Digest, right: Digest) -> Bool { left.words == right.words }

  /// Hashes the first eight bytes: they are as good as all.
  public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}
