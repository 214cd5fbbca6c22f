/// A hash of 128 bits that is the same in every process and on every machine: FNV-1a. Against chance, not attack.
package struct StableHash {
  private var state: UInt128 = 0x6C62_272E_07BB_0142_62B8_2175_6295_C58D
  private static let prime: UInt128 = 1 << 88 | 0x13B

  package init() {}

  /// Adds a text and its length, so that no two lists of texts are alike.
  package mutating func add(_ text: String) { add(text.utf8) }

  /// Adds bytes and their number.
  package mutating func add(_ bytes: some Collection<UInt8>) {
    for byte in bytes { step(byte) }
    var count = UInt64(bytes.count)
    for _ in 0..<8 {
      step(UInt8(truncatingIfNeeded: count))
      count >>= 8
    }
  }

  /// Adds a secret, of which no more than 32 bits come in: too few for anybody to find it again, enough to tell two
  /// accounts apart.
  package mutating func add(secret: String) {
    var own = StableHash()
    own.add(secret)
    add(String(UInt32(truncatingIfNeeded: own.state >> 64 ^ own.state), radix: 16))
  }

  /// 32 hexadecimal digits.
  package var text: String {
    let digits = String(state, radix: 16)
    return String(repeating: "0", count: 32 - digits.count) + digits
  }

  private mutating func step(_ byte: UInt8) { state = (state ^ UInt128(byte)) &* Self.prime }
}
