/// A hash of 128 bits (FNV-1a). Equal input has the same hash in every process and on every machine. Accidental
/// collisions are very unlikely, but the hash does not resist attacks.
package struct StableHash {
  private var state: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D
  private static let prime: UInt128 = 1 << 88 | 0x13B

  package init() {}

  /// Adds a text and its length. Without the length, the lists "ab", "c" and "a", "bc" would have the same hash.
  package mutating func add(_ text: String) { add(text.utf8) }

  /// Adds bytes and their number. Without the number, different lists of byte sequences could have the same hash.
  package mutating func add(_ bytes: some Collection<UInt8>) {
    for byte in bytes { step(byte) }
    var count = UInt64(bytes.count)
    for _ in 0..<8 {
      step(UInt8(truncatingIfNeeded: count))
      count >>= 8
    }
  }

  /// Adds 32 bits of the hash of a secret. These bits are too few to reconstruct the secret, but enough to distinguish
  /// two accounts.
  package mutating func add(secret: String) {
    var own = StableHash()
    own.add(secret)
    add(String(UInt32(truncatingIfNeeded: own.state >> 64 ^ own.state), radix: 16))
  }

  /// The hash as 32 hexadecimal digits.
  package var text: String {
    let digits = String(state, radix: 16)
    return String(repeating: "0", count: 32 - digits.count) + digits
  }

  private mutating func step(_ byte: UInt8) { state = (state ^ UInt128(byte)) &* Self.prime }
}
