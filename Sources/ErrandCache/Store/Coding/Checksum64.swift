/// A 64-bit checksum that detects damage, not attacks. It computes four sums in parallel, each from words of eight
/// bytes.
///
/// Each step of the computation can be undone. So a change of a single 64-bit word always changes the checksum. Any
/// other change is missed with a probability of 2^-64. The checksum is stored in entries, so a change of the algorithm
/// requires a new version of ``CacheEntryRecord``.
package enum Checksum64 {
  private static let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
  private static let other: UInt64 = 0xC2B2_AE3D_27D4_EB4F

  /// Computes the checksum of the bytes. Their number is part of the input.
  package static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var lanes = SIMD4<UInt64>(1, 2, 3, 4) &* SIMD4(repeating: factor)
    var offset = 0
    while bytes.count - offset >= 32 {
      lanes.x = step(lanes.x, word(bytes, offset))
      lanes.y = step(lanes.y, word(bytes, offset + 8))
      lanes.z = step(lanes.z, word(bytes, offset + 16))
      lanes.w = step(lanes.w, word(bytes, offset + 24))
      offset += 32
    }
    var sum = step(step(step(step(UInt64(bytes.count), lanes.x), lanes.y), lanes.z), lanes.w)
    while bytes.count - offset >= 8 {
      sum = step(sum, word(bytes, offset))
      offset += 8
    }
    for byte in bytes[offset...] { sum = step(sum, UInt64(byte)) }
    sum = (sum ^ sum >> 32) &* other
    return sum ^ sum >> 29
  }

  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  @inline(__always)
  private static func step(_ sum: UInt64, _ word: UInt64) -> UInt64 {
    let product = (sum ^ word) &* factor
    return product << 29 | product >> 35
  }
}
