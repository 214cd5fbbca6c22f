public import Foundation

/// A generated file of any size. The file is never stored, because a seed determines all its bytes.
///
/// Two seeds give two versions of a file, which differ in about 255 of 256 bytes. The bytes repeat after 1,048,583
/// bytes. This period is a prime number, so that bytes from a wrong offset differ from the expected bytes.
public struct RangeResource: Sendable {
  /// The number of bytes of the file.
  public let size: Int
  /// The seed from which the bytes of the file are generated.
  public let seed: UInt64
  /// The bytes that the file repeats; never empty.
  private let period: [UInt8]

  /// Creates a file. A negative size counts as zero.
  public init(size: Int, seed: UInt64 = 1) {
    self.size = max(0, size)
    self.seed = seed
    period = Self.bytes(count: min(max(1, size), 1_048_583), seed: seed)
  }

  /// The strong entity tag of this version of the file, including quotation marks.
  public var entityTag: String { "\"v\(seed)-\(size)\"" }

  /// The bytes in a range of the file. A range beyond the end is shortened.
  public func bytes(in range: Range<Int>) -> Data {
    var data = Data()
    for run in runs(in: range) {
      for _ in 0..<run.times { data += run.bytes }
    }
    return data
  }

  /// Whether the given bytes equal the bytes of the file from `offset` on.
  public func has(_ bytes: some Collection<UInt8>, at offset: Int) -> Bool {
    firstDifference(bytes, at: offset) == nil
  }

  /// The offset of the first byte that differs from the file or is beyond its end; nil if all bytes are equal.
  public func firstDifference(_ bytes: some Collection<UInt8>, at offset: Int = 0) -> Int? {
    guard offset >= 0 else { return offset }
    var place = offset
    for byte in bytes {
      guard place < size, period[place % period.count] == byte else { return place }
      place += 1
    }
    return nil
  }

  /// A sequence of bytes that is repeated `times` times.
  struct Run: Sendable {
    let bytes: [UInt8]
    let times: Int
  }

  /// The bytes in a range of the file, as at most three runs. The file repeats the sequence `period`: the first run
  /// is the end of this sequence, the second run repeats the whole sequence, and the third run is the start of the
  /// sequence. A range beyond the end of the file is shortened.
  func runs(in range: Range<Int>) -> [Run] {
    let range = range.clamped(to: 0..<size)
    guard !range.isEmpty else { return [] }
    let start = range.lowerBound % period.count
    let first = min(range.count, period.count - start)
    let left = range.count - first
    let runs = [
      Run(bytes: Array(period[start..<(start + first)]), times: 1),
      Run(bytes: period, times: left / period.count),
      Run(bytes: Array(period.prefix(left % period.count)), times: 1),
    ]
    return runs.filter { !$0.bytes.isEmpty && $0.times > 0 }
  }

  private static func bytes(count: Int, seed: UInt64) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      var numbers = SeededNumbers(seed: seed)
      var word: UInt64 = 0
      for index in 0..<count {
        if index & 7 == 0 { word = numbers.next() }
        buffer[index] = UInt8(truncatingIfNeeded: word)
        word >>= 8
      }
      initialized = count
    }
  }
}

/// A pseudorandom number generator (SplitMix64). The same seed gives the same numbers in every run.
package struct SeededNumbers: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// A pseudorandom number from 0 up to, but not including, `limit`.
  package mutating func next(below limit: Int) -> Int { Int(next() % UInt64(max(limit, 1))) }

  /// Returns true with the given probability in percent.
  package mutating func happens(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
}
