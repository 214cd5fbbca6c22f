package import Foundation

/// A file of any size that is made by rule and never kept: which byte stands where follows from a seed.
///
/// Two seeds give two versions of a file, which differ in about 255 of 256 places. The bytes repeat only after a prime
/// number of them (1,048,583), so that a piece put in a wrong place shows.
package struct RangeResource: Sendable {
  /// The number of bytes.
  package let size: Int
  /// What the bytes are made of.
  package let seed: UInt64
  /// The bytes up to where they repeat; never empty.
  private let period: [UInt8]

  /// Describes a file; a size below zero counts as zero.
  package init(size: Int, seed: UInt64 = 1) {
    self.size = max(0, size)
    self.seed = seed
    period = Self.bytes(count: min(max(1, size), 1_048_583), seed: seed)
  }

  /// The strong entity tag of this version, quotes included.
  package var entityTag: String { "\"v\(seed)-\(size)\"" }

  /// The bytes of a piece, held to the file.
  package func bytes(in piece: Range<Int>) -> Data {
    var data = Data()
    for run in runs(in: piece) {
      for _ in 0..<run.times { data += run.bytes }
    }
    return data
  }

  /// Whether bytes are those that stand from `offset` on.
  package func has(_ bytes: some Collection<UInt8>, at offset: Int) -> Bool {
    firstDifference(bytes, at: offset) == nil
  }

  /// The place in the file of the first byte that is not this file's, or that lies outside it.
  package func firstDifference(_ bytes: some Collection<UInt8>, at offset: Int = 0) -> Int? {
    guard offset >= 0 else { return offset }
    var place = offset
    for byte in bytes {
      guard place < size, period[place % period.count] == byte else { return place }
      place += 1
    }
    return nil
  }

  /// A stretch of bytes, so many times in a row.
  struct Run: Sendable {
    let bytes: [UInt8]
    let times: Int
  }

  /// A piece, held to the file, as at most three runs: the rest of a period, whole ones, the start of one.
  func runs(in piece: Range<Int>) -> [Run] {
    let piece = piece.clamped(to: 0..<size)
    guard !piece.isEmpty else { return [] }
    let start = piece.lowerBound % period.count
    let first = min(piece.count, period.count - start)
    let left = piece.count - first
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
