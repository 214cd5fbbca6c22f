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

/// Computes a SHA-256 digest incrementally (FIPS 180-4).
package struct SHA256: Sendable {
  private static let blockLength = 64
  /// The initial hash state: the first 32 fractional bits of the square roots of the first eight primes.
  private static let start = SIMD8<UInt32>(
    0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A,
    0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19)
  /// The round constants: the first 32 fractional bits of the cube roots of the first 64 primes.
  private static let constants: [UInt32] = [
    0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4, 0xAB1C_5ED5,
    0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174,
    0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
    0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967,
    0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85,
    0xA2BF_E8A1, 0xA81A_664B, 0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
    0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
    0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
  ]

  private var state = Self.start
  private var pending: [UInt8] = []
  private var length: UInt64 = 0

  package init() {}

  package static func digest(of bytes: some Collection<UInt8>) -> Digest {
    var hash = SHA256()
    hash.update(bytes)
    return hash.finished()
  }

  /// Appends bytes to the message.
  package mutating func update(_ bytes: some Collection<UInt8>) {
    if bytes.withContiguousStorageIfAvailable({ update(UnsafeRawBufferPointer($0)) }) == nil {
      Array(bytes).withUnsafeBytes { update($0) }
    }
  }

  /// Appends bytes to the message.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    length &+= UInt64(bytes.count)
    var rest = bytes[...]
    if !pending.isEmpty {
      let taken = rest.prefix(Self.blockLength - pending.count)
      pending.append(contentsOf: taken)
      rest = rest.dropFirst(taken.count)
      guard pending.count == Self.blockLength else { return }
      state = pending.withUnsafeBytes { [state] in Self.compressed($0[...], into: state) }
      pending.removeAll(keepingCapacity: true)
    }
    let whole = rest.count / Self.blockLength * Self.blockLength
    if whole > 0 { state = Self.compressed(rest.prefix(whole), into: state) }
    pending.append(contentsOf: rest.dropFirst(whole))
  }

  /// The digest of all bytes added so far. More bytes may be added afterwards.
  package func finished() -> Digest {
    var last = pending
    last.append(0x80)
    let room = (last.count + 8 + Self.blockLength - 1) / Self.blockLength * Self.blockLength
    last.append(contentsOf: repeatElement(0, count: room - 8 - last.count))
    let bits = length &<< 3
    for shift in stride(from: UInt64(56), through: 0, by: -8) { last.append(UInt8(truncatingIfNeeded: bits &>> shift)) }
    let state = last.withUnsafeBytes { Self.compressed($0[...], into: self.state) }
    let word = { (index: Int) in UInt64(state[index]) &<< 32 | UInt64(state[index + 1]) }
    return Digest(words: (word(0), word(2), word(4), word(6)))
  }

  /// Returns the hash state after the processing of whole blocks of 64 bytes.
  private static func compressed(
    _ blocks: Slice<UnsafeRawBufferPointer>, into state: SIMD8<UInt32>
  ) -> SIMD8<UInt32> {
    var state = state
    let bytes = UnsafeRawBufferPointer(rebasing: blocks)
    withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
      constants.withUnsafeBufferPointer { constants in
        for start in stride(from: 0, to: bytes.count, by: blockLength) {
          expand(bytes, from: start, into: schedule)
          state &+= rounds(schedule, constants, from: state)
        }
      }
    }
    return state
  }

  /// Fills the message schedule of one block: its sixteen words and 48 derived words.
  private static func expand(
    _ bytes: UnsafeRawBufferPointer, from start: Int, into schedule: UnsafeMutableBufferPointer<UInt32>
  ) {
    for index in 0..<16 {
      let word = bytes.loadUnaligned(fromByteOffset: start &+ 4 &* index, as: UInt32.self)
      schedule.initializeElement(at: index, to: UInt32(bigEndian: word))
    }
    for index in 16..<64 {
      let (early, late) = (schedule[index &- 15], schedule[index &- 2])
      let first = rotated(early, 7) ^ rotated(early, 18) ^ (early &>> 3)
      let second = rotated(late, 17) ^ rotated(late, 19) ^ (late &>> 10)
      schedule.initializeElement(at: index, to: schedule[index &- 16] &+ first &+ schedule[index &- 7] &+ second)
    }
  }

  private static func rounds(
    _ schedule: UnsafeMutableBufferPointer<UInt32>, _ constants: UnsafeBufferPointer<UInt32>,
    from state: SIMD8<UInt32>
  ) -> SIMD8<UInt32> {
    var (a, b, c, d) = (state[0], state[1], state[2], state[3])
    var (e, f, g, h) = (state[4], state[5], state[6], state[7])
    // In each round, every variable takes over the role of another variable. Instead of moving the values, eight rounds
    // are written out with the variables in different positions. After eight rounds each variable has its first role
    // again.
    for index in stride(from: 0, to: 64, by: 8) {
      let word = { (offset: Int) in constants[index &+ offset] &+ schedule[index &+ offset] }
      round(word(0), a, b, c, &d, e, f, g, &h)
      round(word(1), h, a, b, &c, d, e, f, &g)
      round(word(2), g, h, a, &b, c, d, e, &f)
      round(word(3), f, g, h, &a, b, c, d, &e)
      round(word(4), e, f, g, &h, a, b, c, &d)
      round(word(5), d, e, f, &g, h, a, b, &c)
      round(word(6), c, d, e, &f, g, h, a, &b)
      round(word(7), b, c, d, &e, f, g, h, &a)
    }
    return SIMD8(a, b, c, d, e, f, g, h)
  }

  @inline(__always)
  private static func round(
    _ word: UInt32, _ a: UInt32, _ b: UInt32, _ c: UInt32, _ d: inout UInt32, _ e: UInt32, _ f: UInt32, _ g: UInt32,
    _ h: inout UInt32
  ) {
    let choice = g ^ (e & (f ^ g))
    let majority = (a & b) | (c & (a | b))
    let first = h &+ word &+ choice &+ (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25))
    d &+= first
    h = first &+ majority &+ (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22))
  }

  @inline(__always)
  private static func rotated(_ word: UInt32, _ distance: UInt32) -> UInt32 {
    word &>> distance | word &<< (32 &- distance)
  }
}
