/// A SHA-256 digest (FIPS 180-4).
public struct Digest: Sendable, Hashable {
  /// The 32 bytes as four big-endian words.
  package let words: (UInt64, UInt64, UInt64, UInt64)

  package init(words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

  /// Makes a digest from its 32 bytes; nil for any other number of bytes.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == 32 else { return nil }
    var words: [UInt64] = [0, 0, 0, 0]
    for (index, byte) in bytes.enumerated() { words[index / 8] = words[index / 8] << 8 | UInt64(byte) }
    self.init(words: (words[0], words[1], words[2], words[3]))
  }

  /// The 32 bytes. A store can use them as the name of an entry.
  public var bytes: [UInt8] {
    [words.0, words.1, words.2, words.3].flatMap { word in
      (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
    }
  }

  /// Formats eight bytes as sixteen hexadecimal digits in lower case.
  package static func hexadecimal(_ word: UInt64) -> String {
    let digits = String(word, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Whether both digests have the same bytes.
  public static func == (left: Digest, right: Digest) -> Bool { left.words == right.words }

  /// Hashes the first eight bytes, which are uniformly distributed.
  public func hash(into hasher: inout Hasher) { hasher.combine(words.0) }
}

extension Digest {
  /// Makes a random digest with the system's random number generator. Such a digest is the salt of a new store.
  public static func random() -> Digest {
    var system = SystemRandomNumberGenerator()
    return Digest(words: (system.next(), system.next(), system.next(), system.next()))
  }
}
